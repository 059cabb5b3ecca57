// A recording on show: all of it as moments, thinned in time where it would take more than a gigabyte. The scene is that of the
// run's folder or, without one, the walkable area in the recording. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/file.h"
#include "record/moment.h"
#include "studio/studio.h"
#include "throng/record.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MEMORY ((size_t)1 << 30)

typedef struct th_replay th_replay;
struct th_replay {
    th_scene *scene;
    double start, end, frame; // [s]
};

double th_replay_duration(const th_replay *replay) { return replay->end; }
double th_replay_frame(const th_replay *replay) { return replay->frame; }
const th_scene_view *th_replay_scene(const th_replay *replay) {
    return th_scene_view_of(replay->scene);
}

void th_replay_release(th_replay *replay) {
    if (!replay) return;
    th_scene_destroy(replay->scene);
    free(replay);
}

// ---- the scene

static bool is_file(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

// A run's folder holds one of these.
static bool find_recording(const char *path, char file[TH_PATH_MAX]) {
    static const char *const names[] = {"trajectory.sqlite", "trajectory.txt", "trajectory.h5"};
    struct stat about;
    snprintf(file, TH_PATH_MAX, "%s", path);
    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode)) return true;
    for (int k = 0; k < 3; ++k) {
        snprintf(file, TH_PATH_MAX, "%.4000s/%s", path, names[k]);
        if (is_file(file)) return true;
    }
    return false;
}

// The scene as it was run lies beside the recording.
static th_scene *scene_beside(const char *file) {
    char path[TH_PATH_MAX];
    const char *slash = strrchr(file, '/');
    if (strncmp(slash ? slash + 1 : file, "trajectory.", 11) != 0) return NULL;
    snprintf(path, sizeof path, "%.*sscene.json", slash ? (int)(slash + 1 - file) : 0, file);
    th_scene *scene = NULL;
    th_scene_options options = th_scene_options_default();
    if (is_file(path)) th_scene_load_file(path, &options, &scene, NULL);
    return scene;
}

static th_result scene_of(const th_trajectory_info *info, th_scene **scene, th_error *error) {
    enum { MOST = TH_STUDIO_LEVELS };
    th_level_def levels[MOST] = {0};
    th_shape shapes[MOST] = {0};
    th_scene_def def = th_scene_def_default();
    int count = info->level_count < MOST ? info->level_count : MOST;
    for (int l = 0; l < count; ++l) {
        levels[l] = th_level_def_default();
        levels[l].id = info->levels[l].id;
        levels[l].z = info->levels[l].z;
        if (!info->levels[l].wkt) continue;
        shapes[l].wkt = info->levels[l].wkt;
        levels[l].walkable = &shapes[l];
        levels[l].walkable_count = 1;
    }
    def.name = "recording";
    def.levels = levels;
    def.level_count = count;
    def.no_files = true;
    th_result result = th_scene_create(&def, scene, error);
    if (result == TH_OK) return result;
    def.level_count = 0; // an outline that throng does not take: people on an open plane
    return th_scene_create(&def, scene, error);
}

// ---- the frames

typedef struct before {
    int64_t *id;
    double *x, *y;
    int count, room;
    double time;
} before;

static bool remember(before *b, const th_moment *m) {
    if (m->count > b->room) {
        int room = m->count + m->count / 2 + 16;
        int64_t *id = realloc(b->id, (size_t)room * sizeof *id);
        if (id) b->id = id;
        double *x = realloc(b->x, (size_t)room * sizeof *x);
        if (x) b->x = x;
        double *y = realloc(b->y, (size_t)room * sizeof *y);
        if (y) b->y = y;
        if (!id || !x || !y) return false;
        b->room = room;
    }
    for (int i = 0; i < m->count; ++i) {
        b->id[i] = m->id[i];
        b->x[i] = th_moment_x(m, i);
        b->y[i] = th_moment_y(m, i);
    }
    b->count = m->count;
    b->time = m->time;
    return true;
}

// The recorded velocity, or the one since the last frame; both lists ascend in id.
static th_vec2 velocity_of(const th_moment *m, int i, const before *b, int *k) {
    if (m->velocity_x && isfinite(m->velocity_x[i]) && isfinite(m->velocity_y[i]))
        return (th_vec2){(float)m->velocity_x[i], (float)m->velocity_y[i]};
    while (*k < b->count && b->id[*k] < m->id[i]) ++*k;
    double elapsed = m->time - b->time;
    if (*k >= b->count || b->id[*k] != m->id[i] || !(elapsed > 0)) return (th_vec2){0};
    return (th_vec2){(float)((th_moment_x(m, i) - b->x[*k]) / elapsed),
                     (float)((th_moment_y(m, i) - b->y[*k]) / elapsed)};
}

static void fill_row(th_studio_row *row, const th_moment *m, int i, const th_scene_view *scene,
                     th_vec2 velocity) {
    float speed = sqrtf(velocity.x * velocity.x + velocity.y * velocity.y);
    bool faces = m->orientation_x && isfinite(m->orientation_x[i]) && speed < 0.05f;
    double radius = m->radius ? m->radius[i] : 0.2;
    *row = (th_studio_row){
        .id = (uint32_t)m->id[i],
        .x = (float)(th_moment_x(m, i) - scene->origin.x),
        .y = (float)(th_moment_y(m, i) - scene->origin.y),
        .heading = faces ? th_studio_heading((float)m->orientation_x[i], (float)m->orientation_y[i])
                         : th_studio_heading(velocity.x, velocity.y),
        .speed = th_studio_speed(speed),
        .phase = (uint8_t)(m->phase ? (th_phase)m->phase[i] : TH_PHASE_WALKING),
        .level = (uint8_t)(th_moment_level(m, i) & 255),
        .group = (uint8_t)(m->group && m->group[i] >= 0 && m->group[i] < 255 ? m->group[i] : 0),
        .goal = TH_STUDIO_NOTHING,
        .radius = (uint8_t)(radius > 0 && radius < 2.5 ? 100.0 * radius + 0.5 : 20.0)};
}

static th_studio_moment *moment_of(const th_moment *m, const th_scene_view *scene,
                                   th_studio_catalogue *catalogue, const before *b) {
    th_studio_moment *moment = th_studio_moment_create(catalogue, m->count);
    if (!moment) return NULL;
    int k = 0;
    for (int i = 0; i < m->count; ++i)
        fill_row(&moment->rows[i], m, i, scene, velocity_of(m, i, b, &k));
    moment->time = m->time;
    moment->step = (uint64_t)m->number;
    return moment;
}

static th_result read_frames(th_studio *studio, th_trajectory *trajectory, int stride,
                             th_error *error) {
    th_play *play = &studio->plays[0];
    before b = {0};
    th_result result;
    for (int64_t n = 0;; ++n) {
        th_moment m;
        result = th_trajectory_next(trajectory, &m, error);
        if (result != TH_OK || m.count < 0) break;
        if (!th_charts_see_frame(studio, &m)) {
            result = th_fail(error, TH_NO_MEMORY, "", "no memory for the recording");
            break;
        }
        if (n % stride == 0) {
            th_studio_moment *moment =
                moment_of(&m, th_scene_view_of(studio->replay->scene), play->catalogue, &b);
            if (!moment) {
                result = th_fail(error, TH_NO_MEMORY, "", "no memory for the recording");
                break;
            }
            th_history_add(&studio->history, moment, (size_t)-1);
            th_charts_of_moment(studio, moment);
            th_studio_moment_release(moment);
        }
        if (!remember(&b, &m)) {
            result = th_fail(error, TH_NO_MEMORY, "", "no memory for the recording");
            break;
        }
    }
    free(b.id);
    free(b.x);
    free(b.y);
    if (result == TH_OK && !th_charts_end_recording(studio))
        result = th_fail(error, TH_NO_MEMORY, "", "no memory for the recording");
    return result;
}

// An open plane has no size of its own.
static void set_boxes(th_studio_catalogue *c, const th_scene_view *scene,
                      const th_trajectory_info *info) {
    th_box seen = {(float)(info->min_x - scene->origin.x) - 1.0f,
                   (float)(info->min_y - scene->origin.y) - 1.0f,
                   (float)(info->max_x - scene->origin.x) + 1.0f,
                   (float)(info->max_y - scene->origin.y) + 1.0f};
    for (int l = 0; l < c->level_count; ++l)
        if (!scene->levels[l].bounded) c->level_boxes[l] = seen;
    c->box = c->level_boxes[0];
    for (int l = 1; l < c->level_count; ++l) {
        c->box.min_x = fminf(c->box.min_x, c->level_boxes[l].min_x);
        c->box.min_y = fminf(c->box.min_y, c->level_boxes[l].min_y);
        c->box.max_x = fmaxf(c->box.max_x, c->level_boxes[l].max_x);
        c->box.max_y = fmaxf(c->box.max_y, c->level_boxes[l].max_y);
    }
}

static th_result show_recording(th_studio *studio, th_trajectory *trajectory, const char *file,
                                th_error *error) {
    const th_trajectory_info *info = th_trajectory_about(trajectory);
    th_replay *replay = studio->replay;
    if (info->frame_count == 0)
        return th_fail(error, TH_BAD_ARGUMENT, "", "the recording holds no frames");
    replay->scene = scene_beside(file);
    th_result result = replay->scene ? TH_OK : scene_of(info, &replay->scene, error);
    if (result != TH_OK) return result;
    th_studio_catalogue *catalogue =
        th_studio_catalogue_create(th_scene_view_of(replay->scene), NULL);
    if (!catalogue) return th_fail(error, TH_NO_MEMORY, "", "no memory for the recording");
    studio->plays[0].catalogue = catalogue;
    set_boxes(catalogue, th_scene_view_of(replay->scene), info);
    if (!th_studio_catalogue_fit(catalogue, th_scene_view_of(replay->scene)))
        return th_fail(error, TH_NO_MEMORY, "", "no memory for the recording");
    int stride = (int)((size_t)info->row_count * sizeof(th_studio_row) / MEMORY) + 1;
    replay->frame = stride / info->fps;
    replay->start = (double)info->first_frame / info->fps;
    replay->end = (double)info->last_frame / info->fps;
    studio->cursor = replay->start;
    return read_frames(studio, trajectory, stride, error);
}

th_result th_replay_open(th_studio *studio, const char *path, th_error *error) {
    char file[TH_PATH_MAX];
    if (!find_recording(path, file))
        return th_file_fail(error, path,
                            "the folder holds no recording; run with --record sqlite to get one");
    th_trajectory *trajectory = NULL;
    th_result result = th_trajectory_open_assuming(file, studio->assumed, &trajectory, error);
    if (result != TH_OK) return result;
    studio->replay = calloc(1, sizeof *studio->replay);
    snprintf(studio->name, sizeof studio->name, "%.250s", path);
    result = studio->replay ? show_recording(studio, trajectory, file, error)
                            : th_fail(error, TH_NO_MEMORY, "", "no memory for the recording");
    th_trajectory_close(trajectory);
    return result;
}

th_result th_replay_put(th_studio *studio, const char *path, const char *name, th_error *error) {
    th_studio *opened = malloc(sizeof *opened);
    if (!opened || !th_studio_init(opened)) {
        free(opened);
        return th_fail(error, TH_NO_MEMORY, "", "no memory for the recording");
    }
    th_result result = th_replay_open(opened, path, error);
    if (result == TH_OK) {
        th_play_leave(studio);
        studio->plays[0] = opened->plays[0];
        studio->history = opened->history;
        studio->replay = opened->replay;
        studio->cursor = opened->cursor;
        opened->plays[0] = (th_play){0};
        opened->history = (th_studio_history){0};
        opened->replay = NULL;
        snprintf(studio->name, sizeof studio->name, "%.250s", name);
        studio->playing = studio->changed = true;
        th_studio_repace(studio);
    }
    th_studio_release(opened);
    free(opened);
    return result;
}
