// Videos: the program ffmpeg, and the two ways to its pictures. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/system/system.h"
#include "draw/plan_drawing.h"
#include "observe/density.h"
#include "studio/exchange.h"
#include "studio/studio.h"
#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- the program ffmpeg, which need not be there

typedef struct ffmpeg {
    pid_t process;
    int to;              // its standard input; -1: not started
    void (*before)(int); // what SIGPIPE did: an ffmpeg that gives up is told by its end
} ffmpeg;

extern char **environ;

static int spawn(ffmpeg *e, char *const *arguments) {
    int ends[2];
    if (pipe(ends) != 0) return errno;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    int failed = posix_spawnp(&e->process, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    if (failed == 0)
        e->to = ends[1];
    else
        close(ends[1]);
    return failed;
}

// Pictures of so many pixels as cairo's RGB24 has them; width 0: JPEG pictures, which say so themselves.
static th_result encoder_start(ffmpeg *e, const char *path, double fps, int width, int height,
                               th_error *error) {
    char size[32], rate[32], file[4200], name[] = "ffmpeg";
    snprintf(size, sizeof size, "%dx%d", width, height);
    snprintf(rate, sizeof rate, "%g", fps);
    snprintf(file, sizeof file, "file:%s", path); // a name is never an option or an address
    // The pixels of cairo's RGB24 on little-endian machines; yuv420p is what every player shows.
    char *const raw[] = {name,       "-hide_banner", "-loglevel", "error",   "-nostdin", "-y", "-f",
                         "rawvideo", "-pix_fmt",     "bgr0",      "-s",      size,       "-r", rate,
                         "-i",       "pipe:0",       "-pix_fmt",  "yuv420p", file,       NULL};
    char *const jpeg[] = {name, "-hide_banner", "-loglevel", "error",   "-nostdin", "-y",
                          "-f", "image2pipe",   "-c:v",      "mjpeg",   "-r",       rate,
                          "-i", "pipe:0",       "-pix_fmt",  "yuv420p", file,       NULL};
    e->to = -1;
    int failed = spawn(e, width > 0 ? raw : jpeg);
    if (failed == 0) {
        e->before = signal(SIGPIPE, SIG_IGN);
        return TH_OK;
    }
    return th_fail(
        error, TH_NO_FILE, "",
        "the program ffmpeg, which makes videos, was not found on the PATH (%s); install "
        "it (Debian and Ubuntu: apt install ffmpeg), or write a page that plays in a "
        "browser with --html FILE",
        strerror(failed));
}

// False: ffmpeg has ended.
static bool encoder_put(const ffmpeg *e, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    while (size > 0) {
        ssize_t written = write(e->to, at, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        at += written;
        size -= (size_t)written;
    }
    return true;
}

// Waits for the video. Where that or `result` is a failure no file is left.
static th_result encoder_end(ffmpeg *e, const char *path, th_result result, th_error *error) {
    int status = 0;
    if (e->to < 0) return result;
    close(e->to);
    e->to = -1;
    while (waitpid(e->process, &status, 0) < 0 && errno == EINTR) continue;
    signal(SIGPIPE, e->before);
    bool made = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (made && result == TH_OK) return TH_OK;
    remove(path);
    if (result != TH_OK && (made || (error && error->message[0]))) return result;
    return th_fail(error, TH_NO_FILE, "",
                   "ffmpeg did not make the video (it says why above); give a file that can be "
                   "written, named .mp4, .webm, .mkv or .gif");
}

// ---- videos of the plan

// A recording as a video: pages of the plan, drawn one by one and handed to ffmpeg as raw pictures. ffmpeg is a program of
// its own that need not be there.

// ---- the crowd between two recorded moments

typedef struct drawn {
    int room;
    int64_t *id;
    double *x, *y, *velocity_x, *velocity_y, *radius;
    int32_t *level, *group, *phase;
    bool *door_closed;
} drawn;

static void release_drawn(drawn *d) {
    free(d->id);
    free(d->x);
    free(d->y);
    free(d->velocity_x);
    free(d->velocity_y);
    free(d->radius);
    free(d->level);
    free(d->group);
    free(d->phase);
    free(d->door_closed);
}

static bool make_drawn(drawn *d, const th_studio *studio) {
    const th_studio_history *h = &studio->history;
    for (int k = h->first; k < h->count; ++k)
        if (h->moments[k]->count > d->room) d->room = h->moments[k]->count;
    size_t room = (size_t)d->room + 1;
    d->id = malloc(room * sizeof *d->id);
    d->x = malloc(room * sizeof *d->x);
    d->y = malloc(room * sizeof *d->y);
    d->velocity_x = malloc(room * sizeof *d->velocity_x);
    d->velocity_y = malloc(room * sizeof *d->velocity_y);
    d->radius = malloc(room * sizeof *d->radius);
    d->level = malloc(room * sizeof *d->level);
    d->group = malloc(room * sizeof *d->group);
    d->phase = malloc(room * sizeof *d->phase);
    d->door_closed = malloc((size_t)th_replay_scene(studio->replay)->door_count + 1);
    return d->id && d->x && d->y && d->velocity_x && d->velocity_y && d->radius && d->level &&
           d->group && d->phase && d->door_closed;
}

// All people of `now`, on the straight way to their places in `next` (NULL: there is none). Rows ascend in id.
static th_moment between(drawn *d, const th_studio_moment *now, const th_studio_moment *next,
                         double time) {
    double share = next ? (time - now->time) / (next->time - now->time) : 0.0;
    for (int i = 0, k = 0; i < now->count; ++i) {
        const th_studio_row *row = &now->rows[i];
        while (next && k < next->count && next->rows[k].id < row->id) ++k;
        const th_studio_row *to = next && k < next->count && next->rows[k].id == row->id &&
                                          next->rows[k].level == row->level
                                      ? &next->rows[k]
                                      : row;
        double speed = (double)(TH_STUDIO_SPEED_STEP * (float)row->speed),
               angle = row->heading * (6.283185307179586 / 256.0);
        d->id[i] = row->id;
        d->x[i] = (double)row->x + share * ((double)to->x - (double)row->x);
        d->y[i] = (double)row->y + share * ((double)to->y - (double)row->y);
        d->velocity_x[i] = speed * cos(angle);
        d->velocity_y[i] = speed * sin(angle);
        d->radius[i] = 0.01 * row->radius;
        d->level[i] = row->level;
        d->group[i] = row->group;
        d->phase[i] = row->phase;
    }
    return (th_moment){.time = time,
                       .count = now->count,
                       .id = d->id,
                       .x = d->x,
                       .y = d->y,
                       .velocity_x = d->velocity_x,
                       .velocity_y = d->velocity_y,
                       .level = d->level,
                       .group = d->group,
                       .phase = d->phase,
                       .radius = d->radius};
}

// By the timetable: what else opened and shut doors a recording does not tell.
static void set_doors(drawn *d, const th_scene_view *scene, double time) {
    for (int k = 0; k < scene->door_count; ++k) {
        const th_door *door = &scene->doors[k];
        d->door_closed[k] = door->closed;
        for (int c = 0; c < door->schedule_count && door->schedule[c].time <= time; ++c)
            d->door_closed[k] = !door->schedule[c].open;
    }
}

// ---- the pictures

// A row at a time: rows of the page may be longer, and videos have an even number of them.
static bool put_page(const ffmpeg *e, int width, int height, const th_canvas *page) {
    cairo_surface_flush(page->surface);
    const unsigned char *pixels = cairo_image_surface_get_data(page->surface);
    int stride = cairo_image_surface_get_stride(page->surface);
    if (!pixels) return false;
    if (stride == 4 * width) return encoder_put(e, pixels, (size_t)stride * (size_t)height);
    for (int y = 0; y < height; ++y)
        if (!encoder_put(e, pixels + (size_t)y * (size_t)stride, 4 * (size_t)width)) return false;
    return true;
}

// ---- the video

// The page of a moment between moment k of the recording and the next. No surface: no memory.
static th_canvas draw_page(const th_studio *studio, th_plan_view *view, drawn *d, int k,
                           double time) {
    const th_studio_history *h = &studio->history;
    const th_studio_moment *now = h->moments[k],
                           *next = k + 1 < h->count ? h->moments[k + 1] : NULL;
    th_moment crowd = between(d, now, next, fmax(time, now->time));
    const json_t *row = th_charts_row(&studio->plays[0].charts, time);
    set_doors(d, view->scene, time);
    view->left = (uint64_t)json_integer_value(json_array_get(row, 2));
    view->crowd = &crowd;
    view->time = time;
    float *density = view->colour_by == TH_BY_DENSITY
                         ? th_people_density(th_replay_scene(studio->replay), &crowd)
                         : NULL;
    view->density = density;
    th_canvas page = {0};
    if (density || view->colour_by != TH_BY_DENSITY) page = th_plan_page(view);
    view->crowd = NULL;
    view->density = NULL;
    free(density);
    return page;
}

static th_result draw_all(const th_studio *studio, ffmpeg *e, th_plan_view *view,
                          const th_video_def *def, const char *path, drawn *d, th_error *error) {
    const th_studio_history *h = &studio->history;
    double begin = h->moments[h->first]->time, end = h->moments[h->count - 1]->time;
    int frames = (int)floor((end - begin) * def->fps + 1e-6) + 1;
    for (int f = 0, k = h->first; f < frames; ++f) {
        double time = begin + f / def->fps;
        while (k + 1 < h->count && h->moments[k + 1]->time <= time + 1e-9) ++k;
        th_canvas page = draw_page(studio, view, d, k, time);
        if (!page.surface)
            return th_fail(error, TH_NO_MEMORY, "", "no memory for a picture of the video");
        th_result result = TH_OK;
        int height = (int)page.height & ~1;
        if (f == 0) result = encoder_start(e, path, def->fps, view->width, height, error);
        if (result == TH_OK && !put_page(e, view->width, height, &page))
            result = TH_NO_FILE; // its end tells why
        th_canvas_destroy(&page);
        if (result == TH_OK && def->progress && !def->progress((f + 1.0) / frames, def->context))
            result = TH_NO_FILE;
        if (result != TH_OK) return result;
    }
    return TH_OK;
}

th_result th_video_write(const th_studio *studio, const char *path, const th_video_def *def,
                         th_error *error) {
    const th_scene_view *scene = th_replay_scene(studio->replay);
    drawn d = {0};
    ffmpeg e = {.to = -1};
    if (!make_drawn(&d, studio)) {
        release_drawn(&d);
        return th_fail(error, TH_NO_MEMORY, "", "no memory for the people of the video");
    }
    th_plan_view view = {.scene = scene,
                         .door_closed = d.door_closed,
                         .colour_by = (th_colour_by)def->colour_by,
                         .box = studio->plays[0].catalogue->box,
                         .width = def->width & ~1,
                         .title = *scene->name ? scene->name : studio->name};
    float margin = fmaxf(
        0.5f, 0.02f * fmaxf(view.box.max_x - view.box.min_x, view.box.max_y - view.box.min_y));
    view.box = (th_box){view.box.min_x - margin, view.box.min_y - margin, view.box.max_x + margin,
                        view.box.max_y + margin};
    th_result result = draw_all(studio, &e, &view, def, path, &d, error);
    release_drawn(&d);
    return encoder_end(&e, path, result, error);
}

// ---- videos of the page

// A recording as a video in 3D: the studio's own page draws it in a browser without a window, one picture per frame, and
// sends each back (the page's film.ts). The browser is a program of its own that need not be there.

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
    char address[256 + TH_VIDEO_PATH], size[64];
    int height = def->width * 9 / 16 & ~1;
    snprintf(address, sizeof address,
             "http://127.0.0.1:%d/?token=%s#view=3d&colour=%s&theme=light&film=%dx%d%s%s",
             th_studio_server_port(f->server), th_studio_server_token(f->server), def->colour,
             def->width, height, def->path ? "&camera=path&path=" : "", def->path ? def->path : "");
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

// All people of moment k, on the straight way to the next one.
static th_studio_moment *time_between(const th_studio *studio, int k, double time) {
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
static bool take_picture(const th_studio_request *request, double time, const ffmpeg *encoder,
                         bool *put) {
    const char *verb = json_string_value(json_object_get(request->message, "do"));
    const json_t *data = json_object_get(request->message, "data");
    const json_t *of = json_object_get(request->message, "time");
    if (!verb || strcmp(verb, "picture") != 0) return false;
    if (!json_is_number(of) || fabs(json_number_value(of) - time) > 1e-6) return false;
    size_t length = json_string_length(data);
    unsigned char *bytes = malloc(length + 1);
    size_t size = bytes ? th_base64_decode(json_string_value(data), length, bytes) : SIZE_MAX;
    *put = size != SIZE_MAX && size > 0 && encoder_put(encoder, bytes, size);
    free(bytes);
    return true;
}

static th_result wait_for_picture(film *f, double time, const ffmpeg *encoder,
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

static th_result film_all(film *f, ffmpeg *encoder, const th_video_def *def, const char *path,
                          th_error *error) {
    const th_studio_history *h = &f->studio->history;
    double begin = h->moments[h->first]->time, end = h->moments[h->count - 1]->time;
    int frames = (int)floor((end - begin) * def->fps + 1e-6) + 1;
    th_result result = encoder_start(encoder, path, def->fps, 0, 0, error);
    if (result == TH_OK) result = open_page(f, def, error);
    for (int n = 0, k = h->first; n < frames && result == TH_OK; ++n) {
        double time = begin + n / def->fps;
        while (k + 1 < h->count && h->moments[k + 1]->time <= time + 1e-9) ++k;
        th_studio_moment *moment = time_between(f->studio, k, time);
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
    ffmpeg encoder = {.to = -1};
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
    result = film_all(&f, &encoder, def, path, error);
    close_page(&f);
    atomic_store(&f.stop, true);
    th_studio_server_wake(f.server);
    pthread_join(f.serving, NULL);
    th_gate_lock(studio->exchange.gate);
    studio->exchange.wake = NULL;
    th_gate_unlock(studio->exchange.gate);
    th_studio_server_destroy(f.server);
    return encoder_end(&encoder, path, result, error);
}
