// The progress line of a long run, on stderr. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CLI_PROGRESS_H
#define TH_CLI_PROGRESS_H
#include <stdbool.h>
#include <stdint.h>

typedef struct th_progress {
    bool shown;                     // false: silent
    bool terminal;                  // rewrite one line; otherwise a new line every few seconds
    bool dirty;                     // something stands on the terminal's line
    double started, last_shown;     // wall clock [s]
    double end_time;                // simulated time of the end, 0: when empty [s]
    double mark_time, leaving_rate; // for the estimate: people per simulated second
    uint64_t mark_left;
} th_progress;

th_progress th_progress_start(bool shown, double end_time);
// True when it is time to show a line; asking costs one clock reading.
bool th_progress_due(const th_progress *progress);
void th_progress_show(th_progress *progress, double time, uint64_t inside, uint64_t left,
                      uint64_t still_to_come);
// Many runs: how many are done, how far the one is that is waited for [s] (0: just begun), and how wide the
// interval of the mean is (NaN: not known yet) [-].
void th_progress_show_runs(th_progress *progress, int done, int count, double simulated,
                           double interval);
// A phase that has no measure: "writing the report".
void th_progress_say(th_progress *progress, const char *what);
void th_progress_end(th_progress *progress);
#endif
