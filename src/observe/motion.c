// Positions and velocities, frame by frame. Only the frames of the window are in memory: a ring of
// copies, each linked to the one before it person by person. A person that is absent in a frame, or jumps farther than
// people can run, begins a new track there, so that an id used twice, a lost detection or the seam of a periodic
// corridor never becomes a velocity. Cost per frame: people x frames of the window.
// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/memory.h"
#include "observe/walkers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Faster than people run (the 100 m record peaks at 12.3 m/s), and beyond the error of a head found in a
// picture: a step longer than both together is no step. [m/s], [m]
static const double RUN_LIMIT = 12.5, PLACE_ERROR = 0.5;
// Frames on either side at most: a ring of some ten thousand crowds would not fit anyway.
enum { REACH_LIMIT = 4096 };

// A copy of one frame.
typedef struct kept_frame {
    int64_t number;
    int count, room;
    int64_t *id;
    double *x, *y;
    int32_t *level;
    bool has_level;
    int *before, *after; // where the same person is in the frame before and after; -1: not there
} kept_frame;

struct th_motion {
    th_motion_def def;
    th_trajectory *trajectory;
    int reach;         // frames looked at on either side [frames]
    kept_frame *ring;  // ring_room of them; frame k of the reading is ring[k % ring_room]
    int ring_room;     // 2 reach + 2
    int64_t read, now; // how many frames were read; which is shown next
    int64_t oldest;    // still in the ring
    bool at_end;
    int velocity_room;
    double *velocity_x, *velocity_y;
};

th_motion_def th_motion_def_default(void) {
    // Five frames at 16 per second, which is how PedPy's examples and the readings the tests compare with look at
    // the Juelich experiments. A step takes longer: part of the head's swing from foot to foot stays in.
    return (th_motion_def){.window = 0.3, .first = 0, .last = -1};
}

static th_result no_memory(th_error *error) {
    return th_fail(error, TH_NO_MEMORY, "",
                   "no memory for the frames of the window; use a shorter window");
}

// Where only every tenth frame number is used, the nearest frame is ten away.
static int reach_of(const th_motion_def *def, const th_trajectory_info *info) {
    double reach = round(def->window * info->fps), stride = 1.0;
    if (info->frame_count > 1)
        stride = round(((double)info->last_frame - (double)info->first_frame) /
                       (double)(info->frame_count - 1));
    return (int)fmin(fmax(reach, fmax(stride, 1.0)), 1e9);
}

th_result th_motion_open(const char *path, const th_motion_def *def, th_motion **out,
                         th_error *error) {
    *out = NULL;
    if (!(def->window >= 0.0) || !(def->window < 1e6))
        return th_fail(error, TH_BAD_ARGUMENT, "", "a window of %g s; it is 0 or more",
                       def->window);
    th_motion *motion = calloc(1, sizeof *motion);
    if (!motion) return no_memory(error);
    motion->def = *def;
    th_result result = th_trajectory_open_assuming(path, def->assumed, &motion->trajectory, error);
    if (result == TH_OK) {
        const th_trajectory_info *info = th_trajectory_about(motion->trajectory);
        motion->reach = reach_of(def, info);
        int64_t frames = info->frame_count < motion->reach ? info->frame_count : motion->reach;
        motion->ring_room = 2 * (int)(frames < REACH_LIMIT ? frames : REACH_LIMIT) + 2;
        motion->ring = calloc((size_t)motion->ring_room, sizeof *motion->ring);
        if (frames > REACH_LIMIT)
            result =
                th_fail(error, TH_BAD_ARGUMENT, "",
                        "a window of %g s is more than %d frames to either side; use a shorter one",
                        def->window, REACH_LIMIT);
        else if (!motion->ring)
            result = no_memory(error);
    }
    if (result != TH_OK) {
        th_motion_close(motion);
        return result;
    }
    *out = motion;
    return TH_OK;
}

const th_trajectory_info *th_motion_about(const th_motion *motion) {
    return th_trajectory_about(motion->trajectory);
}

void th_motion_rewind(th_motion *motion) {
    th_trajectory_rewind(motion->trajectory);
    motion->read = motion->now = motion->oldest = 0;
    motion->at_end = false;
}

static void release_frame(kept_frame *frame) {
    free(frame->id);
    free(frame->x);
    free(frame->y);
    free(frame->level);
    free(frame->before);
    free(frame->after);
}

void th_motion_close(th_motion *motion) {
    if (!motion) return;
    for (int k = 0; motion->ring && k < motion->ring_room; ++k) release_frame(&motion->ring[k]);
    th_trajectory_close(motion->trajectory);
    free(motion->ring);
    free(motion->velocity_x);
    free(motion->velocity_y);
    free(motion);
}

static kept_frame *kept(const th_motion *motion, int64_t k) {
    return &motion->ring[k % motion->ring_room];
}

static bool make_room(kept_frame *frame, int count) {
    if (count < frame->room) return true;
    int room = count + count / 4 + 16;
    size_t n = (size_t)room;
    release_frame(frame);
    *frame = (kept_frame){.room = room,
                          .id = malloc(n * sizeof *frame->id),
                          .x = malloc(n * sizeof *frame->x),
                          .y = malloc(n * sizeof *frame->y),
                          .level = malloc(n * sizeof *frame->level),
                          .before = malloc(n * sizeof *frame->before),
                          .after = malloc(n * sizeof *frame->after)};
    if (frame->id && frame->x && frame->y && frame->level && frame->before && frame->after)
        return true;
    release_frame(frame);
    *frame = (kept_frame){0};
    return false;
}

bool th_is_jump(double dx, double dy, double time) {
    return hypot(dx, dy) > RUN_LIMIT * time + PLACE_ERROR;
}

// Both have ascending ids.
static void link_frames(kept_frame *earlier, kept_frame *later, double fps) {
    int i = 0;
    double time = (double)(later->number - earlier->number) / fps;
    for (int k = 0; k < earlier->count; ++k) earlier->after[k] = -1;
    for (int j = 0; j < later->count; ++j) {
        while (i < earlier->count && earlier->id[i] < later->id[j]) ++i;
        if (i >= earlier->count || earlier->id[i] != later->id[j]) continue;
        if (th_is_jump(later->x[j] - earlier->x[i], later->y[j] - earlier->y[i], time)) continue;
        later->before[j] = i;
        earlier->after[i] = j;
    }
}

static th_result read_frame(th_motion *motion, th_error *error) {
    th_moment frame = {0};
    th_result result = th_trajectory_next(motion->trajectory, &frame, error);
    if (result != TH_OK) return result;
    if (frame.count < 0) {
        motion->at_end = true;
        return TH_OK;
    }
    kept_frame *copy = kept(motion, motion->read);
    if (!make_room(copy, frame.count)) return no_memory(error);
    size_t n = (size_t)frame.count;
    copy->number = frame.number;
    copy->count = frame.count;
    copy->has_level = frame.level != NULL;
    if (n > 0) {
        memcpy(copy->id, frame.id, n * sizeof *copy->id);
        memcpy(copy->x, frame.x, n * sizeof *copy->x);
        memcpy(copy->y, frame.y, n * sizeof *copy->y);
        if (frame.level) memcpy(copy->level, frame.level, n * sizeof *copy->level);
    }
    for (int i = 0; i < frame.count; ++i) copy->before[i] = copy->after[i] = -1;
    if (motion->read > 0)
        link_frames(kept(motion, motion->read - 1), copy, th_motion_about(motion)->fps);
    ++motion->read;
    if (motion->oldest < motion->read - motion->ring_room)
        motion->oldest = motion->read - motion->ring_room;
    return TH_OK;
}

// Everything up to the last frame the window of frame `now` reaches, as far as the ring has room.
static th_result read_ahead(th_motion *motion, th_error *error) {
    th_result result = TH_OK;
    while (result == TH_OK && !motion->at_end) {
        if (motion->read > motion->now) {
            int64_t newest = kept(motion, motion->read - 1)->number;
            if (newest - kept(motion, motion->now)->number >= motion->reach ||
                motion->read - motion->now > motion->ring_room / 2)
                break;
        }
        result = read_frame(motion, error);
    }
    return result;
}

// From the oldest to the newest frame of the window, as long as the person is present throughout.
static void find_velocity(const th_motion *motion, int person, double fps) {
    int64_t first = motion->now, last = motion->now;
    int i = person, j = person;
    int64_t number = kept(motion, motion->now)->number;
    while (first > motion->oldest) {
        int before = kept(motion, first)->before[i];
        if (before < 0 || number - kept(motion, first - 1)->number > motion->reach) break;
        i = before;
        --first;
    }
    while (last + 1 < motion->read) {
        int after = kept(motion, last)->after[j];
        if (after < 0 || kept(motion, last + 1)->number - number > motion->reach) break;
        j = after;
        ++last;
    }
    const kept_frame *a = kept(motion, first), *b = kept(motion, last);
    double time = (double)(b->number - a->number) / fps;
    motion->velocity_x[person] = first < last ? (b->x[j] - a->x[i]) / time : (double)NAN;
    motion->velocity_y[person] = first < last ? (b->y[j] - a->y[i]) / time : (double)NAN;
}

static bool make_velocity_room(th_motion *motion, int count) {
    if (count < motion->velocity_room) return true;
    size_t room = th_array_capacity((size_t)motion->velocity_room, (size_t)count + 1);
    if (!TH_RESIZE(motion->velocity_x, room) || !TH_RESIZE(motion->velocity_y, room)) return false;
    motion->velocity_room = (int)room;
    return true;
}

static th_result show_frame(th_motion *motion, th_moment *moment, th_error *error) {
    const kept_frame *frame = kept(motion, motion->now);
    double fps = th_motion_about(motion)->fps;
    if (!make_velocity_room(motion, frame->count)) return no_memory(error);
    for (int i = 0; i < frame->count; ++i) find_velocity(motion, i, fps);
    *moment = (th_moment){.number = frame->number,
                          .time = (double)frame->number / fps,
                          .count = frame->count,
                          .id = frame->id,
                          .x = frame->x,
                          .y = frame->y,
                          .velocity_x = motion->velocity_x,
                          .velocity_y = motion->velocity_y,
                          .level = frame->has_level ? frame->level : NULL};
    ++motion->now;
    return TH_OK;
}

th_result th_motion_next(th_motion *motion, th_moment *moment, th_error *error) {
    *moment = (th_moment){.count = -1};
    for (;;) {
        th_result result = read_ahead(motion, error);
        if (result != TH_OK) return result;
        if (motion->now >= motion->read) return TH_OK;
        int64_t number = kept(motion, motion->now)->number;
        if (motion->def.last >= 0 && number > motion->def.last) return TH_OK;
        if (number >= motion->def.first) return show_frame(motion, moment, error);
        ++motion->now;
    }
}
