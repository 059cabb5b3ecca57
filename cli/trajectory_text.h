// What the two commands about trajectory files share: sizes in words, units. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CLI_TRAJECTORY_TEXT_H
#define TH_CLI_TRAJECTORY_TEXT_H
#include "cli/args.h"
#include <stdint.h>

// "812 bytes", "4.1 kB", "1.3 GB": powers of ten.
void th_size_text(char *text, size_t size, double bytes);
// -1: there is no such file.
int64_t th_file_bytes(const char *path);
// "m", "cm" or NULL, as metres; NULL gives 0. Complains and returns false for anything else.
bool th_unit_option(const th_command *command, const char *text, double *unit);
#endif
