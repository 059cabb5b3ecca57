// Where a fundamental diagram's samples come from: a recording, or a scene that is run first.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_CLI_FD_SOURCE_H
#define TH_CLI_FD_SOURCE_H
#include "cli/args.h"
#include "observe/fundamental.h"

typedef struct th_fd_area {
    char name[64]; // "" none
    const char *wkt;
} th_fd_area;

// Samples of one area of one file.
typedef struct th_fd_samples {
    char name[160]; // file, and area where there are several
    th_fundamental_samples samples;
} th_fd_samples;

typedef struct th_fd_request {
    th_fundamental_def def;  // area and walkable are filled in
    const th_fd_area *areas; // none: a scene's own
    int area_count;
    const th_text_list *overrides; // of scenes
    long long seed;                // of scenes; negative: the scene's
} th_fd_request;

enum { TH_FD_MOST = 32 }; // series in one diagram
typedef struct th_fd_list {
    th_fd_samples items[TH_FD_MOST];
    int count;
} th_fd_list;

// Adds what the file holds; complains on stderr and returns an exit code.
int th_fd_take(const th_command *command, const th_fd_request *request, const char *path,
               th_fd_list *list);
void th_fd_release(th_fd_list *list);
#endif
