// Shared by the verbs: loading scenes, error lines, progress, Ctrl-C, the printing of runs.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_CLI_TERMINAL_H
#define TH_CLI_TERMINAL_H
#include "cli/args.h"
#include "throng/findings.h"
#include "throng/run.h"
#include "throng/throng.h"

// Prints `file:line:column: path: message` on stderr and returns the exit code that fits.
// `fallback_file` is named where the error names no file.
int th_report_error(const char *fallback_file, const th_error *error);

// The same where the scene is known to be good: returns TH_EXIT_FAILED.
int th_report_failure(const char *fallback_file, const th_error *error);

// An argument that a library refused, its path being the name of the option: "throng run: --record mp4: give ...".
int th_report_option(const th_command *command, const th_error *error);

// The text as a terminal may show it: what would control it (escape sequences of a file from elsewhere) and bytes that
// are not UTF-8 become \x1b and the like. `lines`: line ends stay. Cut after `size` bytes. Returns `out`.
const char *th_printable(char *out, size_t size, const char *text, bool lines);
// Loads --plugin libraries; on failure reports and returns its exit code.
int th_load_plugins(const th_text_list *plugins);
// Loads a scene with --set overrides; on failure reports and returns its exit code.
int th_load_scene(const char *path, const th_text_list *overrides, bool allow_links,
                  th_scene **scene);
// Makes a world; negative seed: the scene's. On failure reports and returns its exit code.
int th_make_world(const char *path, const th_scene *scene, long long seed, int threads, double step,
                  th_backend backend, th_world **world);
// "812 bytes", "4.1 kB", "1.3 GB": powers of ten.
void th_size_text(char *text, size_t size, double bytes);
// -1: there is no such file.
int64_t th_file_bytes(const char *path);

// Ctrl-C asks the running loop to stop; the second one ends the program at once.
void th_watch_interrupt(void);
bool th_interrupted(void);

// Tests kill and interrupt the program at a known point, however fast the machine is: with THRONG_HOLD=step:150 in the
// environment the program stops itself (SIGSTOP) when it reaches the point `step` for the 150th time, and the test,
// which sees the stop, sends its signal and SIGCONT. With step:150:interrupt it goes on when the handler of the signal is
// done. Without the variable nothing happens. Points:
//   step   a step of a single run is done, its frame handed to the recorder, its checkpoint written
//   run    one of several runs is done, its row written
//   frame  a frame of a conversion or a measurement is done
//   taken  a run of a folder that several processes share was taken (th_system_reached in src/run/shared.c)
// tests/program.h has the other side (program_hold).
void th_reached(const char *point);

// ---- the progress line of something long, on stderr
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

// The share done of a recording that is read: "converting: 40 %". th_share_show fits th_convert_fn.
typedef struct th_share {
    const char *what;
    bool terminal;
    double last_shown; // [s]
} th_share;
void th_share_start(th_share *share, const char *what, bool quiet);
bool th_share_show(double done, void *context);
void th_share_end(const th_share *share);

// ---- runs, printed as they go
typedef struct th_runs_display {
    th_runs *runs; // set it before th_perform_runs
    bool json, quiet;
    th_progress progress;
    bool unprinted; // there was no memory for the text
} th_runs_display;
// For th_runs_def.watch, with the display as context.
bool th_runs_display_watch(const th_runs_progress *progress, void *context);
// Executes, prints progress and results; returns the exit code.
int th_perform_runs(th_runs_display *display);
// Creates them first; the command line goes into the folder.
int th_create_and_perform(const th_command *command, int argc, char **argv, th_runs_def *def,
                          th_runs_display *display);
// Prints the findings of a scene, of runs or of a recording; nothing for an empty list.
void th_print_findings(const th_findings *findings);
#endif
