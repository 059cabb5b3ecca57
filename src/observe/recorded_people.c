// People of a recording, for scenes that begin where it stops or let people come as they came. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/memory.h"
#include "observe/walkers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct takers {
    const th_recording_request *request;
    const th_trajectory_info *info;
    int *level_of;  // the scene's level of each of the recording's; -1: none
    int64_t *taken; // ids, ascending
    int count, capacity;
    double begin; // [s] in the recording
    th_error *error;
} takers;

static bool is_among(const int64_t *ids, int count, int64_t id) {
    int low = 0, high = count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && ids[low] == id;
}

static int compare_ids(const void *a, const void *b) {
    int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;
    return (p > q) - (p < q);
}

// A level of the recording is the scene's of the same name, or else the one of the same number.
static bool map_levels(takers *t) {
    int count = t->info->level_count > 0 ? t->info->level_count : 1;
    t->level_of = malloc((size_t)count * sizeof *t->level_of);
    for (int l = 0; t->level_of && l < count; ++l) {
        t->level_of[l] = l < t->request->level_count ? l : -1;
        for (int k = 0; l < t->info->level_count && k < t->request->level_count; ++k)
            if (strcmp(t->info->levels[l].id, t->request->levels[k]) == 0) t->level_of[l] = k;
    }
    return t->level_of != NULL;
}

static th_result take_frame(takers *t, const th_moment *m) {
    int before = t->count;
    for (int i = 0; i < m->count; ++i) {
        int32_t level = m->level ? m->level[i] : 0;
        if (is_among(t->taken, before, m->id[i])) continue;
        if (t->level_of[level] < 0)
            return th_fail(t->error, TH_BAD_SCENE, "",
                           "frame %lld: person %lld is on level %d, which the scene does not have",
                           (long long)m->number, (long long)m->id[i], (int)level);
        double vx = m->velocity_x[i], vy = m->velocity_y[i];
        bool moves = isfinite(vx) && isfinite(vy) && !th_is_jump(vx, vy, 1.0);
        // A hair early, as frames and steps round their times each in their own way.
        double since = m->time - t->begin;
        const th_recorded_person person = {
            .id = m->id[i],
            .time = fmax(since - 1e-6, 0.5 * since),
            .place = {m->x[i], m->y[i]},
            .velocity = {moves ? (float)vx : 0.0f, moves ? (float)vy : 0.0f},
            .level = t->level_of[level],
        };
        if (!t->request->take(t->request->context, &person)) continue;
        if (!TH_RESERVE(t->taken, t->capacity, t->count + 1))
            return th_fail(t->error, TH_NO_MEMORY, "", "no memory for the people of the recording");
        t->taken[t->count++] = m->id[i];
    }
    if (t->count > before) qsort(t->taken, (size_t)t->count, sizeof *t->taken, compare_ids);
    return TH_OK;
}

static bool has_begun(const th_recording_def *def, const th_moment *m) {
    return m->number >= def->frame && m->time >= def->time - 1e-6;
}

static th_result take_all(takers *t, th_motion *motion) {
    const th_recording_def *def = t->request->def;
    bool begun = false;
    for (;;) {
        th_moment moment;
        th_result result = th_motion_next(motion, &moment, t->error);
        if (result != TH_OK) return result;
        if (moment.count < 0) break;
        if (!begun && !has_begun(def, &moment)) continue;
        if (!begun) t->begin = moment.time;
        if (begun && def->no_entries) return TH_OK;
        begun = true;
        result = take_frame(t, &moment);
        if (result != TH_OK) return result;
    }
    if (begun) return TH_OK;
    return th_fail(t->error, TH_BAD_SCENE, "",
                   "ends before the run would begin: its last frame is %lld at %g s",
                   (long long)t->info->last_frame, (double)t->info->last_frame / t->info->fps);
}

static th_result read_people(const th_recording_request *request, th_error *error) {
    th_motion_def def = th_motion_def_default();
    def.window = 0.0; // the nearest frames alone: where people go now
    def.assumed = (th_trajectory_assumed){.fps = request->def->fps, .unit = request->def->unit};
    th_motion *motion = NULL;
    th_result result = th_motion_open(request->path, &def, &motion, error);
    if (result != TH_OK) return result;
    takers t = {.request = request, .info = th_motion_about(motion), .error = error};
    result = map_levels(&t)
                 ? take_all(&t, motion)
                 : th_fail(error, TH_NO_MEMORY, "", "no memory for the recording's levels");
    th_motion_close(motion);
    free(t.level_of);
    free(t.taken);
    return result;
}

void th_record_serve_scenes(void) { th_scene_read_recordings_with(read_people); }
