// Error lines, progress, Ctrl-C and the printing of runs. SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"
#include "core/system/system.h"
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Bytes of the UTF-8 character at `at`; 0: it is none, or controls the terminal.
static size_t printable_bytes(const unsigned char *at) {
    if (at[0] < 0x80) return at[0] >= ' ' && at[0] != 0x7f;
    size_t bytes = at[0] >= 0xf0 && at[0] <= 0xf4   ? 4
                   : at[0] >= 0xe0 && at[0] <= 0xef ? 3
                   : at[0] >= 0xc2 && at[0] <= 0xdf ? 2
                                                    : 0;
    for (size_t k = 1; k < bytes; ++k)
        if (at[k] < 0x80 || at[k] > 0xbf) return 0;
    return bytes == 2 && at[0] == 0xc2 && at[1] < 0xa0 ? 0 : bytes;
}

const char *th_printable(char *out, size_t size, const char *text, bool lines) {
    size_t used = 0;
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        size_t bytes = lines && *at == '\n' ? 1 : printable_bytes(at),
               needed = bytes > 0 ? bytes : 4;
        if (used + needed >= size) break;
        if (bytes > 0)
            memcpy(out + used, at, bytes);
        else
            snprintf(out + used, size - used, "\\x%02x", *at);
        used += needed;
        at += bytes > 0 ? bytes : 1;
    }
    out[used] = '\0';
    return out;
}

int th_report_error(const char *fallback_file, const th_error *error) {
    char path[2 * sizeof error->path], message[2 * sizeof error->message];
    const char *file = error->file[0] ? error->file : fallback_file;
    if (error->line > 0)
        fprintf(stderr, "%s:%d:%d: ", file, error->line, error->column);
    else
        fprintf(stderr, "%s: ", file);
    if (error->path[0])
        fprintf(stderr, "%s: ", th_printable(path, sizeof path, error->path, false));
    const char *what = error->message[0] ? error->message : th_result_text(error->code);
    fprintf(stderr, "%s\n", th_printable(message, sizeof message, what, true));
    bool machine = error->code == TH_NO_MEMORY || error->code == TH_NO_DEVICE;
    return machine ? TH_EXIT_FAILED : TH_EXIT_SCENE;
}

int th_report_failure(const char *fallback_file, const th_error *error) {
    th_report_error(fallback_file, error);
    return TH_EXIT_FAILED;
}

int th_report_option(const th_command *command, const th_error *error) {
    th_complain(command, "--%s %s", error->path, error->message);
    return TH_EXIT_USAGE;
}

int th_load_plugins(const th_text_list *plugins) {
    for (int i = 0; i < plugins->count; ++i) {
        th_error error = {0};
        if (th_plugin_load(plugins->items[i], &error) != TH_OK)
            return th_report_error(plugins->items[i], &error);
    }
    return TH_EXIT_OK;
}

int th_load_scene(const char *path, const th_text_list *overrides, bool allow_links,
                  th_scene **scene) {
    th_scene_options options = {.allow_links = allow_links};
    options.overrides = overrides ? overrides->items : NULL;
    options.override_count = overrides ? overrides->count : 0;
    th_error error = {0};
    th_result result = th_scene_load_file(path, &options, scene, &error);
    if (result == TH_OK) return TH_EXIT_OK;
    error.code = result;
    return th_report_error(path, &error);
}

int th_make_world(const char *path, const th_scene *scene, long long seed, int threads, double step,
                  th_backend backend, th_world **world) {
    th_world_def def = th_world_def_default();
    def.backend = backend;
    def.threads = threads;
    if (seed >= 0) def.seed = (uint64_t)seed;
    if (step > 0) def.step = step;
    th_error error = {0};
    th_result result = th_world_create(scene, &def, world, &error);
    if (result == TH_OK) return TH_EXIT_OK;
    error.code = result;
    return th_report_error(path, &error);
}

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

// ---- Ctrl-C

// A signal handler has no context argument, hence the variables of the program. Atomic, because runs in other
// threads look at them too.
static atomic_int interrupt_seen;
static _Atomic(th_runs *) interruptible;

static void on_interrupt(int number) {
    (void)number;
    atomic_store(&interrupt_seen, 1);
    th_runs *runs = atomic_load(&interruptible);
    if (runs) th_runs_interrupt(runs);
    th_system_noted();
}

void th_watch_interrupt(void) {
    // Reset after the first, so that an impatient second Ctrl-C ends the program.
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    // A terminal that closes; `nohup` has it ignored, and so it stays.
    struct sigaction before = {0};
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL);
        // A limit on file sizes is then an error of write, which is handled, instead of the end.
#ifdef SIGXFSZ
    signal(SIGXFSZ, SIG_IGN);
#endif
}

bool th_interrupted(void) {
    return atomic_load_explicit(&interrupt_seen, memory_order_relaxed) != 0;
}

// Ctrl-C, also one that came before, ends these runs; NULL: none any more.
static void let_interrupt(th_runs *runs) {
    atomic_store(&interruptible, runs);
    if (runs && th_interrupted()) th_runs_interrupt(runs);
}

// ---- held for a test

void th_reached(const char *point) { th_system_reached(point); }

// ---- progress

// A terminal is refreshed as often as an eye follows; a log file gets a line as rarely as a reader wants.
static const double TERMINAL_INTERVAL = 0.2, LOG_INTERVAL = 5.0; // [s] of wall clock

enum { TELLING_COUNT = 20 };           // departures before a rate is shown
static const double RATE_INTERVAL = 5; // [s] simulated; shorter ones see single people

th_progress th_progress_start(bool shown, double end_time) {
    th_progress progress = {.shown = shown, .terminal = isatty(STDERR_FILENO) != 0};
    progress.started = th_monotonic_seconds();
    progress.last_shown = progress.started;
    progress.end_time = end_time;
    return progress;
}

bool th_progress_due(const th_progress *progress) {
    if (!progress->shown) return false;
    double interval = progress->terminal ? TERMINAL_INTERVAL : LOG_INTERVAL;
    return th_monotonic_seconds() - progress->last_shown >= interval;
}

// The rate at which people leave, smoothed over a few looks, because exits come in bursts. No departure since
// the last look, or hardly any yet, says nothing about the end: no rate, no estimate.
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
    progress->last_shown = th_monotonic_seconds();
}

// "3:07"; leaves the text alone when it would be days.
static void print_minutes(double seconds, char *text, size_t size) {
    if (!(seconds >= 0 && seconds < 360000)) return;
    int whole = (int)(seconds + 0.5);
    snprintf(text, size, "%d:%02d", whole / 60, whole % 60);
}

void th_progress_show(th_progress *progress, double time, uint64_t inside, uint64_t left,
                      uint64_t still_to_come) {
    double wall = th_monotonic_seconds() - progress->started;
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
    double wall = th_monotonic_seconds() - progress->started;
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

void th_share_start(th_share *share, const char *what, bool quiet) {
    *share = (th_share){.what = what, .terminal = !quiet && isatty(STDERR_FILENO)};
}

bool th_share_show(double done, void *context) {
    th_share *share = context;
    th_reached("frame");
    double now = share->terminal ? th_monotonic_seconds() : 0;
    if (share->terminal && now - share->last_shown > 0.25) { // [s] as often as an eye can follow
        fprintf(stderr, "\r%s: %3.0f %%", share->what, 100 * done);
        fflush(stderr);
        share->last_shown = now;
    }
    return !th_interrupted();
}

void th_share_end(const th_share *share) {
    if (share->last_shown > 0) fputs("\r                \r", stderr);
}

// ---- runs

static void print_beginning(const th_runs_display *d, const th_runs_progress *now) {
    const th_runs_info *about = th_runs_about(d->runs);
    const char *most = about->until_ci > 0 ? "at most " : "";
    if (about->sweep) {
        printf("%s, %d combination%s, %s%d runs each", about->scene_name, about->point_count,
               about->point_count == 1 ? "" : "s", most, about->runs);
        if (about->found > 0) printf("; %d runs are finished already", about->found);
        putchar('\n');
    } else if (about->runs > 1 && !d->json) {
        printf("%s (%s), %s%d runs\n", about->scene_name, about->scene_file, most, about->runs);
    } else if (*now->text && !d->quiet) {
        fprintf(stderr, "%s: going on at %.1f s\n", now->text, now->time);
    }
}

// One of many runs on a line.
static void print_run(const th_runs *runs) {
    int count = 0;
    const th_run_outcome *run = th_runs_outcomes(runs, &count) + count - 1;
    if (isfinite(run->egress_time))
        printf("  seed %-8" PRIu64 " egress time %8.1f s   hash %016" PRIx64 "\n", run->seed,
               run->egress_time, run->hash);
    else
        printf("  seed %-8" PRIu64 " %" PRIu64 " still inside at %.1f s   hash %016" PRIx64 "\n",
               run->seed, run->inside, run->time, run->hash);
    fflush(stdout);
}

static void print_point(th_runs_display *d, int point) {
    char *text = d->json ? th_runs_json(d->runs) : th_runs_text(d->runs, point);
    if (text) fputs(text, stdout);
    if (text && d->json) putchar('\n');
    d->unprinted = !text;
    th_free(text);
    fflush(stdout);
}

static void show(th_runs_display *d, const th_runs_progress *now) {
    if (!th_progress_due(&d->progress)) return;
    d->progress.end_time = now->end_time;
    if (now->moment == TH_RUNS_STEPPED)
        th_progress_show(&d->progress, now->time, now->inside, now->left, 0);
    else
        th_progress_show_runs(&d->progress, now->done, now->count, now->time, now->ci_relative);
}

bool th_runs_display_watch(const th_runs_progress *now, void *context) {
    th_runs_display *d = context;
    const th_runs_info *about = th_runs_about(d->runs);
    if (now->moment == TH_RUNS_STEPPED || now->moment == TH_RUNS_WAITING) {
        show(d, now);
        if (now->moment == TH_RUNS_STEPPED) th_reached("step");
        return true;
    }
    // A terminal shows the phase; a log needs no line about a second's work.
    if (now->moment == TH_RUNS_WRITING) {
        if (d->progress.terminal) th_progress_say(&d->progress, now->text);
        return true;
    }
    bool line = now->moment == TH_RUNS_RUN_DONE && !about->sweep && !d->json;
    if (line || now->moment != TH_RUNS_RUN_DONE) th_progress_end(&d->progress);
    if (now->moment == TH_RUNS_BEGUN) print_beginning(d, now);
    if (now->moment == TH_RUNS_NOTE) fprintf(stderr, "%s\n", now->text);
    if (now->moment == TH_RUNS_POINT_DONE) print_point(d, now->point);
    if (line) print_run(d->runs);
    if (now->moment == TH_RUNS_RUN_DONE) {
        show(d, now);
        th_reached("run");
    }
    return true;
}

static int report_trouble(const th_runs_info *about, const th_error *error) {
    const char *file = about->sweep ? about->folder : about->scene_file;
    // More people than fit is the scene's fault; all other failures are the machine's.
    bool scene = error->code == TH_NO_ROOM || error->code == TH_BAD_SCENE;
    return scene ? th_report_error(file, error) : th_report_failure(file, error);
}

// Breaks lines at spaces to the width of a terminal.
static void print_wrapped(const char *text) {
    enum { WIDTH = 96 };
    const char *lead = "  - ";
    while (*text) {
        size_t length = strlen(text);
        if (length > WIDTH) {
            length = WIDTH;
            while (length > 0 && text[length] != ' ') --length;
            if (length == 0) length = WIDTH;
        }
        printf("%s%.*s\n", lead, (int)length, text);
        lead = "    ";
        text += length;
        while (*text == ' ') ++text;
    }
}

void th_print_findings(const th_findings *findings) {
    int count = 0;
    const th_finding *list = th_findings_list(findings, &count);
    if (count > 0) printf("\nfindings\n");
    for (int i = 0; i < count; ++i) {
        char text[2000];
        snprintf(text, sizeof text, "%s%s%s%s",
                 list[i].severity == TH_SEVERITY_DANGER ? "DANGER: " : "", list[i].text,
                 *list[i].cure ? " " : "", list[i].cure);
        print_wrapped(text);
    }
}

int th_perform_runs(th_runs_display *d) {
    th_error error = {0};
    const th_runs_info *about = th_runs_about(d->runs);
    d->progress = th_progress_start(!d->quiet, 0);
    let_interrupt(d->runs);
    th_result result = th_runs_execute(d->runs, &error);
    let_interrupt(NULL);
    th_progress_end(&d->progress);
    if (result != TH_OK) return report_trouble(about, &error);
    bool interrupted = about->state == TH_RUNS_STATE_INTERRUPTED;
    int points = 0;
    th_runs_points(d->runs, &points);
    if (!about->sweep && !d->json) th_print_findings(th_runs_findings(d->runs));
    if (about->state == TH_RUNS_STATE_SHARED) {
        if (!d->quiet)
            printf("%s: nothing is left here, others have the last runs; throng status %s\n",
                   about->folder, about->folder);
    } else if ((about->sweep || about->shared) && interrupted)
        fprintf(stderr, "%s: interrupted; `throng resume %s` makes the runs that are missing\n",
                about->folder, about->folder);
    else if (*about->folder && points > 0 && !d->json)
        printf("\n%s/%s\n", about->folder, about->page);
    if (about->cut_short || d->unprinted) return TH_EXIT_FAILED;
    return interrupted ? TH_EXIT_INTERRUPTED : TH_EXIT_OK;
}

int th_create_and_perform(const th_command *command, int argc, char **argv, th_runs_def *def,
                          th_runs_display *d) {
    th_error error = {0};
    char *command_line = th_command_line(command, argc, argv);
    if (!command_line) return TH_EXIT_FAILED;
    def->command_line = command_line;
    def->watch = th_runs_display_watch;
    def->context = d;
    th_watch_interrupt(); // before anything can be seen of the runs
    int code = TH_EXIT_OK;
    th_result result = th_runs_create(def, &d->runs, &error);
    if (result == TH_BAD_ARGUMENT && error.path[0])
        code = th_report_option(command, &error);
    else if (result != TH_OK)
        code = th_report_error(def->scene, &error);
    else
        code = th_perform_runs(d);
    th_runs_destroy(d->runs);
    free(command_line);
    return code;
}
