// throng studio and throng replay: a live crowd, or a recording, in the browser. SPDX-License-Identifier: Apache-2.0
#include "studio/studio.h"
#include "cli/terminal.h"
#include "core/file.h"
#include "studio/exchange.h"
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__APPLE__)
#define TH_BROWSER_OPENER "open"
#else
#define TH_BROWSER_OPENER "xdg-open"
#endif

extern char **environ;

typedef struct studio_options {
    long long port, threads, seed, room;
    const char *listen, *device, *unit, *snapshot;
    double fps, replan;
    bool no_browser, paused, allow_links;
    th_text_list plugins, overrides;
} studio_options;

static atomic_bool stopping;
static th_studio_server *serving; // for the signal handler; set once before it is installed

static void on_signal(int number) {
    (void)number;
    if (atomic_exchange(&stopping, true)) _exit(TH_EXIT_INTERRUPTED);
    th_studio_server_wake(serving);
}

static void watch_signals(th_studio_server *server) {
    serving = server;
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static bool can_show_browser(void) {
    return isatty(STDOUT_FILENO) && (getenv("DISPLAY") || getenv("WAYLAND_DISPLAY") ||
                                     strcmp(TH_BROWSER_OPENER, "open") == 0);
}

// The opener of the desktop, which returns at once; where there is none the address is enough.
static void open_browser(const char *address) {
    char opener[] = TH_BROWSER_OPENER, url[256];
    snprintf(url, sizeof url, "%s", address);
    char *arguments[] = {opener, url, NULL};
    posix_spawn_file_actions_t quiet;
    pid_t child;
    if (posix_spawn_file_actions_init(&quiet) != 0) return;
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", 1, 0);
    posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", 1, 0);
    posix_spawnp(&child, opener, &quiet, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&quiet);
}

static bool is_folder(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

// A scene is JSON: it begins with a brace or a comment. Everything else is taken for a recording.
static bool is_scene(const char *path) {
    bool plain = th_file_check_plain(path, NULL) == TH_OK; // a pipe would keep it waiting
    FILE *file = plain ? fopen(path, "rb") : NULL;
    if (!file) return true; // loading it says what is wrong
    int c = fgetc(file);
    while (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == 0xef || c == 0xbb || c == 0xbf)
        c = fgetc(file);
    fclose(file);
    return c == '{' || c == '/';
}

static void folder_of(const char *path, char folder[TH_PATH_MAX]) {
    const char *slash = strrchr(path, '/');
    if (!slash)
        snprintf(folder, TH_PATH_MAX, ".");
    else
        snprintf(folder, TH_PATH_MAX, "%.*s", (int)(slash == path ? 1 : slash - path), path);
}

static th_result open_scene(th_studio *studio, const char *path, const studio_options *o,
                            th_error *error) {
    char *text = NULL, folder[TH_PATH_MAX];
    th_scene_options options = {.overrides = o->overrides.items,
                                .override_count = o->overrides.count};
    th_result result = th_scene_overridden_json(path, &options, &text, error);
    if (result != TH_OK) return result;
    json_t *document = th_document_read(text, strlen(text), path, error);
    th_free(text);
    if (!document) return TH_BAD_SCENE;
    folder_of(path, folder);
    return th_play_open(studio, document, path, folder, error);
}

static th_result open_template(th_studio *studio, const char *name, th_error *error) {
    for (int k = 0; k < th_studio_template_count; ++k) {
        const th_studio_template *t = &th_studio_templates[k];
        if (strcmp(t->name, name) != 0) continue;
        char file[128];
        snprintf(file, sizeof file, "%s.json", name);
        json_t *document = th_document_read((const char *)t->text, t->size, file, error);
        return document ? th_play_open(studio, document, file, NULL, error) : TH_BAD_SCENE;
    }
    return TH_BAD_ARGUMENT;
}

static void *run_studio(void *studio) {
    th_studio_run(studio);
    return NULL;
}

static void print_address(const th_studio_server *server, const studio_options *o,
                          const char *name) {
    const char *host = o->listen ? o->listen : "127.0.0.1";
    char address[256];
    bool anywhere = strcmp(host, "0.0.0.0") == 0;
    snprintf(address, sizeof address, "http://%s:%d/?token=%s", anywhere ? "127.0.0.1" : host,
             th_studio_server_port(server), th_studio_server_token(server));
    printf("throng studio: %s\n%s\n", name, address);
    if (o->listen)
        printf("All who reach %s and know the token can watch and change this crowd; the "
               "connection is "
               "not encrypted.\n",
               o->listen);
    if (th_studio_page_size() == 0)
        printf("This build has no studio page, because Node or its packages were missing; `make "
               "build` with Node and a network brings it. The server speaks "
               "docs/studio-protocol.md.\n");
    printf("Ctrl-C ends it.\n");
    fflush(stdout);
    if (!o->no_browser && can_show_browser()) open_browser(address);
}

static int serve(th_studio *studio, th_studio_server *server) {
    pthread_t runner;
    watch_signals(server);
    if (pthread_create(&runner, NULL, run_studio, studio) != 0) {
        fprintf(stderr, "throng studio: no thread could be started\n");
        return TH_EXIT_FAILED;
    }
    th_studio_server_run(server, &stopping);
    th_studio_stop(&studio->exchange);
    pthread_join(runner, NULL);
    return TH_EXIT_OK;
}

// The world on show goes on from a moment that a program kept.
static th_result restore(th_studio *studio, const char *path, th_error *error) {
    size_t size;
    char *bytes = th_file_content(path, &size, error);
    if (!bytes) return error->code;
    th_result result = th_world_restore(studio->plays[0].world, bytes, size, error);
    if (result != TH_OK) snprintf(error->file, sizeof error->file, "%s", path);
    free(bytes);
    return result;
}

static th_result open_shown(th_studio *studio, const char *path, const studio_options *o,
                            bool recordings_only, th_error *error) {
    bool scene = path && !recordings_only && !is_folder(path) && is_scene(path);
    if (!path) return open_template(studio, TH_STUDIO_OPENING, error);
    if (!scene) return th_replay_open(studio, path, error);
    th_result result = open_scene(studio, path, o, error);
    if (result == TH_OK && o->seed > 0) {
        studio->seed = (uint64_t)o->seed;
        result = th_play_restart(studio, error);
    }
    return result == TH_OK && o->snapshot ? restore(studio, o->snapshot, error) : result;
}

// The address is printed first: a large scene takes a while, and the page waits for it.
static int open_and_serve(th_studio *studio, const char *path, const studio_options *o,
                          bool recordings_only) {
    th_studio_server_def def = {.address = o->listen, .port = (int)o->port};
    th_studio_server *server = NULL;
    th_error error = {0};
    const char *name = path ? path : TH_STUDIO_OPENING;
    th_result listening = th_studio_server_create(&def, &studio->exchange, &server, &error);
    if (listening != TH_OK && o->port == TH_STUDIO_PORT) { // taken
        def.port = 0;
        error = (th_error){0};
        listening = th_studio_server_create(&def, &studio->exchange, &server, &error);
    }
    if (listening == TH_OK) print_address(server, o, name);
    th_error wrong = {0};
    th_result result = open_shown(studio, path, o, recordings_only, &wrong);
    int code = result != TH_OK      ? th_report_error(name, &wrong)
               : listening != TH_OK ? th_report_failure("studio", &error)
                                    : serve(studio, server);
    th_studio_server_destroy(server);
    return code;
}

static int show(const th_command *command, const char *path, const studio_options *o,
                bool recordings_only) {
    th_studio studio;
    th_backend backend = TH_BACKEND_CPU;
    if (!th_read_backend(command, o->device, &backend)) return TH_EXIT_USAGE;
    int code = th_load_plugins(&o->plugins);
    if (code != TH_EXIT_OK) return code;
    if (!th_studio_init(&studio)) return TH_EXIT_FAILED;
    studio.backend = backend;
    studio.threads = (int)o->threads;
    studio.replan = o->replan;
    studio.room = (int)o->room;
    studio.allow_links = o->allow_links;
    studio.playing = !o->paused;
    studio.assumed = (th_trajectory_assumed){.fps = o->fps};
    code = th_read_unit(command, o->unit, &studio.assumed.unit)
               ? open_and_serve(&studio, path, o, recordings_only)
               : TH_EXIT_USAGE;
    th_studio_release(&studio);
    return code;
}

static int parse_and_show(const th_command *command, int argc, char **argv, bool recordings_only) {
    studio_options o = {.device = "cpu", .port = TH_STUDIO_PORT};
    const th_option options[] = {
        {"port", TH_OPTION_INTEGER, &o.port, "N",
         "TCP port (default 8747, or any that is free; 0: any)", 0, 65535},
        {"listen", TH_OPTION_TEXT, &o.listen, "ADDRESS",
         "listen there instead of 127.0.0.1; others can then reach it, unencrypted", 0, 0},
        {"no-browser", TH_OPTION_FLAG, &o.no_browser, NULL, "print the address only", 0, 0},
        {"paused", TH_OPTION_FLAG, &o.paused, NULL, "do not start playing", 0, 0},
        {"fps", TH_OPTION_REAL, &o.fps, "N", "frame rate of a recorded text that does not say it",
         1e-6, 1e6},
        {"unit", TH_OPTION_TEXT, &o.unit, "m|cm",
         "of a recorded text that does not say it; default m", 0, 0},
        {"seed", TH_OPTION_INTEGER, &o.seed, "N", "random seed (default: the scene's)", 1, 9e18},
        {"threads", TH_OPTION_INTEGER, &o.threads, "N", "0 for as many cores as pay", 0, 1024},
        {"device", TH_OPTION_TEXT, &o.device, "D", "cpu (default) or cuda", 0, 0},
        {"set", TH_OPTION_LIST, &o.overrides, "PATH=VALUE",
         "change a value of the scene; repeatable", 0, 0},
        {"snapshot", TH_OPTION_TEXT, &o.snapshot, "FILE",
         "go on from a moment of SCENE that th_world_snapshot kept", 0, 0},
        {"replan", TH_OPTION_REAL, &o.replan, "S",
         "ways follow changed doors and walls within so many seconds (default 0: at once)", 0, 60},
        {"room", TH_OPTION_INTEGER, &o.room, "N",
         "most agents at once (default: what the scene brings)", 1, 2e8},
        TH_LINKS_OPTION(&o.allow_links),
        TH_PLUGIN_OPTION(&o.plugins),
    };
    // A recording is not simulated: the options after "unit" are not for it.
    int count = recordings_only ? 6 : (int)(sizeof options / sizeof options[0]);
    const char *path = NULL;
    th_parse_result parsed = th_args_parse(command, options, count, argc, argv, &path);
    if (parsed != TH_PARSE_OK) return parsed == TH_PARSE_HELP ? TH_EXIT_OK : TH_EXIT_USAGE;
    if (o.snapshot && (!path || is_folder(path) || !is_scene(path))) {
        th_complain(command, "--snapshot is for a scene file");
        return TH_EXIT_USAGE;
    }
    return show(command, path, &o, recordings_only);
}

static int run_studio_command(const th_command *command, int argc, char **argv) {
    return parse_and_show(command, argc, argv, false);
}

static int run_replay(const th_command *command, int argc, char **argv) {
    return parse_and_show(command, argc, argv, true);
}

const th_command th_command_studio = {
    .name = "studio",
    .operands = "[SCENE|RUN]",
    .operand_min = 0,
    .operand_max = 1,
    .summary = "a live crowd in the browser, edited while it runs",
    .detail = "Starts a server on this machine, prints its address and opens the browser where "
              "there is one.\n"
              "Without a scene it shows people leaving a stadium. RUN is a run's folder or a "
              "recording, shown "
              "as it was.\n\n"
              "Only this machine can connect, and only with the token in the address, which is new "
              "at every\n"
              "start. docs/studio-protocol.md says how other programs can be clients.",
    .examples = "  throng studio\n"
                "  throng studio scenes/station.json\n"
                "  throng studio scenes/door.json --port 8080 --no-browser\n"
                "  throng studio runs/station\n",
    .run = run_studio_command,
};

const th_command th_command_replay = {
    .name = "replay",
    .operands = "RUN",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "a recording in the browser: a run, an experiment, another program's",
    .detail = "RUN is the folder of a run that was recorded (throng run --record sqlite), or a "
              "recording in any\n"
              "format that `throng info` reads: SQLite (JuPedSim), compact, Juelich text, HDF5.",
    .examples = "  throng replay runs/station\n"
                "  throng replay experiment.txt --fps 16 --unit cm\n"
                "  throng replay trajectory.sqlite --no-browser\n",
    .run = run_replay,
};
