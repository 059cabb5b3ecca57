// Sizes in words, and units. SPDX-License-Identifier: Apache-2.0
#include "cli/trajectory_text.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

void th_size_text(char *text, size_t size, double bytes) {
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    int unit = 0;
    while (bytes >= 1000 && unit < 4) {
        bytes /= 1000;
        ++unit;
    }
    snprintf(text, size, unit == 0 || bytes >= 100 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
}

int64_t th_file_bytes(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 ? (int64_t)about.st_size : -1;
}

bool th_unit_option(const th_command *command, const char *text, double *unit) {
    *unit = 0;
    if (!text) return true;
    if (strcmp(text, "m") == 0) *unit = 1;
    if (strcmp(text, "cm") == 0) *unit = 0.01;
    if (*unit <= 0) th_complain(command, "--unit is m or cm, not '%s'", text);
    return *unit > 0;
}
