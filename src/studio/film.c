// A recording as a video in 3D: the studio's own page draws it in a browser without a window, one picture per frame, and
// sends each back (the page's film.ts). The browser is a program of its own that need not be there.
// SPDX-License-Identifier: Apache-2.0
#include "core/clock.h"
#include "core/error.h"
#include "studio/encoder.h"
#include "studio/server.h"
#include "studio/studio.h"
#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define PATIENCE 600.0 // [s] for a picture; without a GPU and on a busy machine a minute

typedef struct film {
    th_studio *studio;
    th_studio_server *server;
    pthread_t serving;
    atomic_bool stop;
    char profile[64]; // folder of the browser's own files
    pid_t browser;    // 0: none
} film;

// ---- the browser

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *at) {
    (void)about, (void)kind, (void)at;
    remove(path);
    return 0;
}

static bool start_browser(film *f, const char *name, char *address, char *size) {
    char program[256], profile[96];
    snprintf(program, sizeof program, "%s", name);
    snprintf(profile, sizeof profile, "--user-data-dir=%s", f->profile);
    // The pictures are drawn on the processor, as on a machine without a screen; root has no sandbox.
    char *const arguments[] = {program,
                               "--headless",
                               profile,
                               size,
                               "--no-first-run",
                               "--hide-scrollbars",
                               "--mute-audio",
                               "--disable-extensions",
                               "--disable-background-timer-throttling",
                               "--use-gl=angle",
                               "--use-angle=swiftshader",
                               "--enable-unsafe-swiftshader",
                               "--ignore-gpu-blocklist",
                               geteuid() == 0 ? "--no-sandbox" : "--no-default-browser-check",
                               address,
                               NULL};
    posix_spawn_file_actions_t quiet;
    posix_spawnattr_t own_group;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", 1, 0);
    posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", 1, 0);
    posix_spawnattr_init(&own_group); // so that its helpers end with it
    posix_spawnattr_setflags(&own_group, POSIX_SPAWN_SETPGROUP);
    int failed = posix_spawnp(&f->browser, program, &quiet, &own_group, arguments, environ);
    posix_spawn_file_actions_destroy(&quiet);
    posix_spawnattr_destroy(&own_group);
    if (failed) f->browser = 0;
    return failed == 0;
}

static th_result open_page(film *f, const th_video_def *def, th_error *error) {
    static const char *const names[] = {"chromium", "chromium-browser", "google-chrome", "chrome"};
    char address[256], size[64];
    int height = def->width * 9 / 16 & ~1;
    snprintf(address, sizeof address,
             "http://127.0.0.1:%d/?token=%s#view=3d&colour=%s&theme=light&film=%dx%d",
             th_studio_server_port(f->server), th_studio_server_token(f->server), def->colour,
             def->width, height);
    snprintf(size, sizeof size, "--window-size=%d,%d", def->width, height);
    snprintf(f->profile, sizeof f->profile, "/tmp/throng-browser-XXXXXX");
    if (!mkdtemp(f->profile)) {
        f->profile[0] = '\0';
        return th_fail(error, TH_NO_FILE, "", "no folder for the browser's files in /tmp: %s",
                       strerror(errno));
    }
    const char *own = getenv("TH_BROWSER");
    if (own && *own) {
        if (start_browser(f, own, address, size)) return TH_OK;
    } else {
        for (size_t k = 0; k < sizeof names / sizeof names[0]; ++k)
            if (start_browser(f, names[k], address, size)) return TH_OK;
    }
    return th_fail(error, TH_NO_FILE, "",
                   "a video in 3D is drawn by a browser, and none of chromium, chromium-browser, "
                   "google-chrome and chrome is on the PATH; install one (Debian: apt install "
                   "chromium), name it in TH_BROWSER, or draw the plan with --view plan");
}

static void close_page(film *f) {
    int status;
    if (f->browser > 0) {
        bool gone = false;
        for (int k = 0; k < 50 && !gone; ++k) { // asked for 5 s, then told
            kill(-f->browser, k == 0 ? SIGTERM : 0);
            gone = waitpid(f->browser, &status, WNOHANG) != 0;
            if (!gone) usleep(100000);
        }
        kill(-f->browser, SIGKILL);
        if (!gone) waitpid(f->browser, &status, 0);
    }
    if (f->profile[0]) nftw(f->profile, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

// ---- the pictures

// Everybody of moment k, on the straight way to the next one.
static th_studio_moment *between(const th_studio *studio, int k, double time) {
    const th_studio_history *h = &studio->history;
    const th_studio_moment *now = h->moments[k],
                           *next = k + 1 < h->count ? h->moments[k + 1] : NULL;
    th_studio_moment *moment = th_studio_moment_create(now->catalogue, now->count);
    if (!moment) return NULL;
    double gap = next ? next->time - now->time : 0.0;
    float share = gap > 0 ? (float)fmin(fmax((time - now->time) / gap, 0.0), 1.0) : 0.0f;
    moment->time = time;
    moment->step = now->step;
    if (now->count > 0) memcpy(moment->rows, now->rows, (size_t)now->count * sizeof *moment->rows);
    for (int i = 0, j = 0; next && i < now->count; ++i) { // both ascend in id
        th_studio_row *row = &moment->rows[i];
        while (j < next->count && next->rows[j].id < row->id) ++j;
        if (j == next->count || next->rows[j].id != row->id || next->rows[j].level != row->level)
            continue;
        row->x += share * (next->rows[j].x - row->x);
        row->y += share * (next->rows[j].y - row->y);
    }
    return moment;
}

// Takes the picture that a request brings. False: it is another request, or a picture of another moment.
static bool take_picture(const th_studio_request *request, double time, const th_encoder *encoder,
                         bool *put) {
    const char *verb = json_string_value(json_object_get(request->message, "do"));
    const json_t *data = json_object_get(request->message, "data");
    const json_t *of = json_object_get(request->message, "time");
    if (!verb || strcmp(verb, "picture") != 0) return false;
    if (!json_is_number(of) || fabs(json_number_value(of) - time) > 1e-6) return false;
    size_t length = json_string_length(data);
    unsigned char *bytes = malloc(length + 1);
    size_t size = bytes ? th_base64_decode(json_string_value(data), length, bytes) : SIZE_MAX;
    *put = size != SIZE_MAX && size > 0 && th_encoder_put(encoder, bytes, size);
    free(bytes);
    return true;
}

static th_result wait_for_picture(film *f, double time, const th_encoder *encoder,
                                  const th_video_def *def, double share, th_error *error) {
    double until = th_monotonic_seconds() + PATIENCE;
    bool taken = false, put = false;
    while (!taken && th_monotonic_seconds() < until) {
        int status;
        if (waitpid(f->browser, &status, WNOHANG) == f->browser) {
            f->browser = 0;
            return th_fail(error, TH_NO_FILE, "",
                           "the browser that draws in 3D ended by itself; start it by hand to see "
                           "why, name another in TH_BROWSER, or draw the plan with --view plan");
        }
        if (def->progress && !def->progress(share, def->context)) return TH_NO_FILE;
        th_studio_wait(&f->studio->exchange, 0.2);
        for (th_studio_request *r = th_studio_take_requests(&f->studio->exchange), *next; r;
             r = next) {
            next = r->next;
            if (!taken && take_picture(r, time, encoder, &put))
                taken = true;
            else
                th_studio_answer(f->studio, r);
            th_studio_request_destroy(r);
        }
    }
    if (!taken)
        return th_fail(error, TH_NO_FILE, "",
                       "the browser drew no picture within %.0f s; a smaller --width is quicker",
                       PATIENCE);
    return put ? TH_OK : TH_NO_FILE; // the encoder's end tells why
}

static th_result draw_all(film *f, th_encoder *encoder, const th_video_def *def, const char *path,
                          th_error *error) {
    const th_studio_history *h = &f->studio->history;
    double begin = h->moments[h->first]->time, end = h->moments[h->count - 1]->time;
    int frames = (int)floor((end - begin) * def->fps + 1e-6) + 1;
    th_result result = th_encoder_start(encoder, path, def->fps, 0, 0, error);
    if (result == TH_OK) result = open_page(f, def, error);
    for (int n = 0, k = h->first; n < frames && result == TH_OK; ++n) {
        double time = begin + n / def->fps;
        while (k + 1 < h->count && h->moments[k + 1]->time <= time + 1e-9) ++k;
        th_studio_moment *moment = between(f->studio, k, time);
        if (!moment) return th_fail(error, TH_NO_MEMORY, "", "no memory for a picture");
        th_studio_show(&f->studio->exchange, 0, moment, false);
        th_studio_moment_release(moment);
        result = wait_for_picture(f, time, encoder, def, (double)n / frames, error);
    }
    return result;
}

static void *serve(void *argument) {
    film *f = argument;
    th_studio_server_run(f->server, &f->stop);
    return NULL;
}

th_result th_film_write(th_studio *studio, const char *path, const th_video_def *def,
                        th_error *error) {
    film f = {.studio = studio};
    th_encoder encoder = {.to = -1};
    if (th_studio_page_size() == 0)
        return th_fail(error, TH_NO_FILE, "",
                       "this build has no studio page, which draws in 3D, because Node or its "
                       "packages were missing; `make build` with Node and a network brings it, or "
                       "draw the plan with --view plan");
    th_studio_server_def server = {0};
    th_result result = th_studio_server_create(&server, &studio->exchange, &f.server, error);
    if (result != TH_OK) return result;
    if (pthread_create(&f.serving, NULL, serve, &f) != 0) {
        th_studio_server_destroy(f.server);
        return th_fail(error, TH_NO_MEMORY, "", "no thread could be started");
    }
    result = draw_all(&f, &encoder, def, path, error);
    close_page(&f);
    atomic_store(&f.stop, true);
    th_studio_server_wake(f.server);
    pthread_join(f.serving, NULL);
    pthread_mutex_lock(&studio->exchange.lock);
    studio->exchange.wake = NULL;
    pthread_mutex_unlock(&studio->exchange.lock);
    th_studio_server_destroy(f.server);
    return th_encoder_end(&encoder, path, result, error);
}
