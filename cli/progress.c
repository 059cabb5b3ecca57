// Progress: simulated time, people inside, speed against real time, time to go.
// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"
#include "cli/commands.h"
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

// A terminal is refreshed as often as an eye follows; a log file gets a line as rarely as a reader wants.
static const double TERMINAL_INTERVAL = 0.2, LOG_INTERVAL = 5.0; // [s] of wall clock

enum { TELLING_COUNT = 20 };           // people gone before a rate is worth telling
static const double RATE_INTERVAL = 5; // [s] simulated; shorter ones see single people

th_progress th_progress_start(bool shown, double end_time) {
    th_progress progress = {.shown = shown, .terminal = isatty(STDERR_FILENO) != 0};
    progress.started = th_wall_clock();
    progress.last_shown = progress.started;
    progress.end_time = end_time;
    return progress;
}

bool th_progress_due(const th_progress *progress) {
    if (!progress->shown) return false;
    double interval = progress->terminal ? TERMINAL_INTERVAL : LOG_INTERVAL;
    return th_wall_clock() - progress->last_shown >= interval;
}

// The rate at which people leave, smoothed over a few looks, because exits come in bursts. Nobody since
// the last look, or hardly anybody yet, says nothing about the end: no rate, no estimate.
static void update_rate(th_progress *progress, double time, uint64_t left) {
    double elapsed = time - progress->mark_time;
    if (elapsed < RATE_INTERVAL) return;
    double rate = (double)(left - progress->mark_left) / elapsed;
    bool first = progress->leaving_rate <= 0, telling = rate > 0 && left >= TELLING_COUNT;
    progress->leaving_rate = !telling ? 0
                             : first  ? rate
                                      : 0.8 * progress->leaving_rate + 0.2 * rate;
    progress->mark_time = time;
    progress->mark_left = left;
}

__attribute__((format(printf, 2, 3))) static void show_line(th_progress *progress,
                                                            const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (progress->terminal) fputs("\r\033[K", stderr);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    if (!progress->terminal) fputc('\n', stderr);
    fflush(stderr);
    progress->dirty = progress->terminal;
    progress->last_shown = th_wall_clock();
}

// "3:07"; leaves the text alone when it would be days.
static void print_minutes(double seconds, char *text, size_t size) {
    if (!(seconds >= 0 && seconds < 360000)) return;
    int whole = (int)(seconds + 0.5);
    snprintf(text, size, "%d:%02d", whole / 60, whole % 60);
}

void th_progress_show(th_progress *progress, double time, uint64_t inside, uint64_t left,
                      uint64_t still_to_come) {
    double wall = th_wall_clock() - progress->started;
    double speed = wall > 0 ? time / wall : 0;
    update_rate(progress, time, left);
    double to_go = -1; // simulated seconds; negative: unknown
    if (progress->end_time > 0)
        to_go = progress->end_time - time;
    else if (progress->leaving_rate > 0)
        to_go = (double)(inside + still_to_come) / progress->leaving_rate;
    char eta[32] = "unknown";
    if (to_go >= 0 && speed > 0) print_minutes(to_go / speed, eta, sizeof eta);
    show_line(progress,
              "simulated %.1f s | %" PRIu64 " inside, %" PRIu64 " left | %.1fx real time | ETA %s",
              time, inside, left, speed, eta);
}

void th_progress_show_runs(th_progress *progress, int done, int count, double simulated,
                           double interval) {
    double wall = th_wall_clock() - progress->started;
    char eta[32] = "unknown", width[48] = "", next[48] = "";
    if (done > 0) print_minutes(wall / done * (count - done), eta, sizeof eta);
    if (simulated > 0) snprintf(next, sizeof next, " | the next is at %.0f s", simulated);
    if (isfinite(interval))
        snprintf(width, sizeof width, " | interval of the mean %.1f %% wide", 100 * interval);
    show_line(progress, "%d of %d runs done%s%s | ETA %s", done, count, next, width, eta);
}

void th_progress_say(th_progress *progress, const char *what) {
    if (progress->shown) show_line(progress, "%s", what);
}

void th_progress_end(th_progress *progress) {
    if (progress->dirty) fputs("\r\033[K", stderr);
    progress->dirty = false;
}
