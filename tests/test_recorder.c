// The recorder: which frames, which people, where they look; going on in a file; and what PedPy asks of
// trajectories. The kill and the full disk stand in test_kill.c. SPDX-License-Identifier: Apache-2.0
#include "record/backend.h"
#include "support.h"
#include "throng/record.h"
#include "throng/scene_view.h"
#include <geos_c.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const th_trajectory_format recorded[] = {TH_TRAJECTORY_SQLITE, TH_TRAJECTORY_COMPACT,
                                                TH_TRAJECTORY_TEXT};
enum { RECORDED = sizeof recorded / sizeof recorded[0] };

// Two floors, a source, a scripted guard, and a cart of many discs that is not a person.
#define EVERYTHING "tests/data/scene/good/everything.json"

// ---- a fresh folder per test

typedef struct folder {
    char path[64];
    char file[2][128];
} folder;

static int make_folder(void **state) {
    folder *f = calloc(1, sizeof *f);
    assert_non_null(f);
    char path[] = "/tmp/throng-recorder-XXXXXX";
    assert_non_null(mkdtemp(path));
    snprintf(f->path, sizeof f->path, "%s", path);
    for (int i = 0; i < 2; ++i)
        snprintf(f->file[i], sizeof f->file[i], "%s/%s", path, i ? "second" : "first");
    *state = f;
    return 0;
}

static void remove_files(folder *f) {
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    for (int i = 0; i < 2; ++i)
        for (size_t k = 0; k < sizeof endings / sizeof endings[0]; ++k) {
            char name[160];
            snprintf(name, sizeof name, "%s%s", f->file[i], endings[k]);
            unlink(name);
        }
}

static int remove_folder(void **state) {
    folder *f = *state;
    remove_files(f);
    int left = rmdir(f->path); // fails when an unknown file is there
    free(f);
    return left;
}

#define ASSERT_OK(call, error) \
    if ((call) != TH_OK) fail_msg("%s: %s", (error).file, (error).message)

// ---- people as the views show them, to compare with

typedef struct moment {
    int64_t number;
    int count;
    uint32_t *id, *level;
    float *x, *y, *velocity_x, *velocity_y;
} moment;
typedef struct film {
    moment *moments;
    int count;
    th_point origin;
    th_edge *edges;
    int edge_count;
} film;

static void *grow(void *list, size_t count, size_t size) {
    void *grown = realloc(list, count * size);
    assert_non_null(grown);
    return grown;
}

static void *copy_field(th_world *world, th_field field, const uint32_t *phase) {
    int all = th_world_agent_count(world), people = 0;
    const float *view = field_of(world, field);
    float *copy = grow(NULL, (size_t)all + 1, sizeof *copy);
    for (int i = 0; i < all; ++i)
        if (phase[i] != TH_PHASE_BODY) memcpy(&copy[people++], &view[i], sizeof *copy);
    return copy;
}

static void take(film *f, th_world *world, int64_t number) {
    const uint32_t *phase = (const uint32_t *)field_of(world, TH_FIELD_PHASE);
    moment m = {.number = number};
    for (int i = 0; i < th_world_agent_count(world); ++i) m.count += phase[i] != TH_PHASE_BODY;
    m.id = copy_field(world, TH_FIELD_ID, phase);
    m.level = copy_field(world, TH_FIELD_LEVEL, phase);
    m.x = copy_field(world, TH_FIELD_POSITION_X, phase);
    m.y = copy_field(world, TH_FIELD_POSITION_Y, phase);
    m.velocity_x = copy_field(world, TH_FIELD_VELOCITY_X, phase);
    m.velocity_y = copy_field(world, TH_FIELD_VELOCITY_Y, phase);
    f->moments = grow(f->moments, (size_t)f->count + 1, sizeof *f->moments);
    f->moments[f->count++] = m;
}

static void drop(film *f) {
    for (int i = 0; i < f->count; ++i) {
        moment *m = &f->moments[i];
        free(m->id);
        free(m->level);
        free(m->x);
        free(m->y);
        free(m->velocity_x);
        free(m->velocity_y);
    }
    free(f->moments);
    free(f->edges);
    *f = (film){0};
}

// ---- runs

static th_recorder *recorder_of(th_world *world, const char *path, th_trajectory_format format,
                                double fps, bool resume) {
    th_recorder *recorder = NULL;
    th_error error = {0};
    th_recorder_def def = th_recorder_def_default();
    def.path = path;
    def.format = format;
    def.fps = fps;
    def.resume = resume;
    ASSERT_OK(th_recorder_create(world, &def, &recorder, &error), error);
    return recorder;
}

static void see(th_recorder *recorder, th_world *world) {
    th_error error = {0};
    ASSERT_OK(th_recorder_see(recorder, world, &error), error);
}

static th_recorder_totals finish(th_recorder *recorder) {
    th_recorder_totals totals;
    th_error error = {0};
    ASSERT_OK(th_recorder_close(recorder, &totals, &error), error);
    return totals;
}

// Sees the world now and after each of the steps; `kept` (or NULL) takes every n-th.
static void run_and_see(th_recorder *recorder, th_world *world, int steps, film *kept, int every) {
    for (int s = 0;; ++s) {
        uint64_t now = th_world_step_count(world);
        see(recorder, world);
        if (kept && now % (uint64_t)every == 0) take(kept, world, (int64_t)now / every);
        if (s == steps) return;
        th_world_step(world, 1);
    }
}

static th_trajectory *open_it(const char *path) {
    th_trajectory *trajectory = NULL;
    th_error error = {0};
    ASSERT_OK(th_trajectory_open(path, &trajectory, &error), error);
    return trajectory;
}

static th_moment next_of(th_trajectory *trajectory) {
    th_moment frame = {0};
    th_error error = {0};
    ASSERT_OK(th_trajectory_next(trajectory, &frame, &error), error);
    return frame;
}

// ---- what is in the file is what was seen

// An agent that stands within a quantum of an exit or of the line between two levels is set off it.
static bool near_edge(const film *f, const moment *m, int i, double quantum) {
    for (int e = 0; e < f->edge_count; ++e) {
        const th_edge *edge = &f->edges[e];
        double x = (double)(m->x[i] - edge->a.x), y = (double)(m->y[i] - edge->a.y);
        double across = y * (double)edge->direction.x - x * (double)edge->direction.y;
        if (edge->level == (int32_t)m->level[i] && fabs(across) < quantum) return true;
    }
    return false;
}

static void assert_same_people(const th_moment *frame, const film *f, const moment *m,
                               double quantum, bool levels) {
    assert_int_equal(frame->number, m->number);
    assert_int_equal(frame->count, m->count);
    for (int i = 0; i < m->count; ++i) {
        double tolerance = (near_edge(f, m, i, quantum) ? 1.5 : 0.5) * quantum + 1e-9;
        assert_int_equal(frame->id[i], m->id[i]);
        assert_true(fabs(frame->x[i] - f->origin.x - (double)m->x[i]) <= tolerance);
        assert_true(fabs(frame->y[i] - f->origin.y - (double)m->y[i]) <= tolerance);
        if (levels) assert_int_equal(frame->level ? frame->level[i] : 0, m->level[i]);
    }
}

static void assert_looks_ahead(const th_moment *frame, const moment *m, double tolerance) {
    for (int i = 0; i < m->count; ++i) {
        double x = frame->orientation_x[i], y = frame->orientation_y[i];
        assert_true(fabs(hypot(x, y) - 1) < 1e-6);
        double speed = hypot((double)m->velocity_x[i], (double)m->velocity_y[i]);
        if (speed < 0.03) continue;
        double cosine = (x * (double)m->velocity_x[i] + y * (double)m->velocity_y[i]) / speed;
        assert_true(cosine > cos(tolerance) - 1e-6);
    }
}

// Step 0.05 s: 5 frames a second are every 4th step, 7 are nearest to every 3rd, 100 are all there is.
static void test_frames_are_every_nth_step(void **state) {
    static const struct {
        double wanted, written;
        int every;
    } rates[] = {{5, 5, 4}, {7, 1 / (3 * 0.05), 3}, {100, 20, 1}, {0.5, 0.5, 40}};
    folder *f = *state;
    th_scene *scene = scene_file(EVERYTHING);
    for (int k = 0; k < RECORDED * 4; ++k) {
        th_trajectory_format format = recorded[k % RECORDED];
        int rate = k / RECORDED;
        th_world *world = world_of(scene, 1, 0);
        th_recorder *recorder = recorder_of(world, f->file[0], format, rates[rate].wanted, false);
        film kept = {.origin = scene->origin};
        kept.edges = th_edges_of(th_scene_view_of(scene), &kept.edge_count);
        run_and_see(recorder, world, 90, &kept, rates[rate].every);
        th_recorder_totals totals = finish(recorder);
        th_trajectory *trajectory = open_it(f->file[0]);
        const th_trajectory_info *info = th_trajectory_about(trajectory);
        assert_int_equal(info->format, format);
        assert_true(fabs(info->fps - rates[rate].written) < 1e-9);
        assert_int_equal(kept.count, 90 / rates[rate].every + 1);
        assert_int_equal(info->frame_count, kept.count);
        assert_int_equal(totals.frames, kept.count);
        assert_int_equal(totals.rows, info->row_count);
        assert_true(totals.bytes > 0 && totals.waited >= 0);
        double quantum = info->quantum, turn = format == TH_TRAJECTORY_COMPACT ? 0.013 : 1e-6;
        if (format == TH_TRAJECTORY_SQLITE) assert_true(quantum == 0);
        for (int i = 0; i < kept.count; ++i) {
            th_moment frame = next_of(trajectory);
            assert_same_people(&frame, &kept, &kept.moments[i], quantum,
                               format != TH_TRAJECTORY_TEXT);
            assert_true((frame.orientation_x != NULL) == (format != TH_TRAJECTORY_TEXT));
            if (frame.orientation_x) assert_looks_ahead(&frame, &kept.moments[i], turn);
        }
        assert_int_equal(next_of(trajectory).count, -1);
        th_trajectory_close(trajectory);
        remove_files(f);
        drop(&kept);
        th_world_destroy(world);
    }
    th_scene_destroy(scene);
}

// The cart is 1.2 m by 0.8 m of discs; the guard is one agent.
static void test_bodies_are_not_people(void **state) {
    folder *f = *state;
    th_scene *scene = scene_file(EVERYTHING);
    th_world *world = world_of(scene, 1, 0);
    int all = th_world_agent_count(world);
    th_recorder *recorder = recorder_of(world, f->file[0], TH_TRAJECTORY_SQLITE, 5, false);
    see(recorder, world);
    th_recorder_totals totals = finish(recorder);
    th_statistics s = th_world_statistics(world);
    assert_true(all > (int)s.inside + 1);
    assert_int_equal(totals.rows, s.inside);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// An agent walks to the north-east and then stands: the record keeps that direction, also after a resume.
static void test_standing_people_look_where_they_walked(void **state) {
    folder *f = *state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels":[{"id":"yard", "walkable":{"rect":[0,0,20,20]}}],
        "groups":[{"id":"g", "positions":[[2,2]], "own_goal":{"opposite":[3,3]}}],
        "run":{"step":0.1, "duration":100, "until_empty":false}}));
    for (int k = 0; k < 2; ++k) {
        th_world *world = world_of(scene, 1, 0);
        th_recorder *recorder = recorder_of(world, f->file[0], recorded[k], 10, false);
        run_and_see(recorder, world, 60, NULL, 1);
        finish(recorder);
        recorder = recorder_of(world, f->file[0], recorded[k], 10, true);
        run_and_see(recorder, world, 10, NULL, 1);
        finish(recorder);
        th_trajectory *trajectory = open_it(f->file[0]);
        th_moment frame = next_of(trajectory);
        assert_true(frame.orientation_x[0] == 1 &&
                    frame.orientation_y[0] == 0); // nothing known yet
        for (int i = 1; i <= 70; ++i) frame = next_of(trajectory);
        assert_int_equal(frame.number, 70);
        assert_true(fabs(frame.orientation_x[0] - M_SQRT1_2) < 0.02);
        assert_true(fabs(frame.orientation_y[0] - M_SQRT1_2) < 0.02);
        assert_true(fabs(frame.x[0] - 4) < 0.3); // the agent is there
        th_trajectory_close(trajectory);
        th_world_destroy(world);
        remove_files(f);
    }
    th_scene_destroy(scene);
}

// ---- going on

static void assert_same_doubles(const double *a, const double *b, int count) {
    assert_int_equal(a == NULL, b == NULL);
    if (a && count > 0) assert_memory_equal(a, b, (size_t)count * sizeof *a);
}

static void assert_same_files(const char *a, const char *b) {
    th_trajectory *one = open_it(a), *two = open_it(b);
    assert_int_equal(th_trajectory_about(one)->frame_count, th_trajectory_about(two)->frame_count);
    assert_int_equal(th_trajectory_about(one)->row_count, th_trajectory_about(two)->row_count);
    for (;;) {
        th_moment x = next_of(one), y = next_of(two);
        assert_int_equal(x.count, y.count);
        if (x.count < 0) break;
        assert_int_equal(x.number, y.number);
        for (int i = 0; i < x.count; ++i) assert_int_equal(x.id[i], y.id[i]);
        assert_same_doubles(x.x, y.x, x.count);
        assert_same_doubles(x.y, y.y, x.count);
        assert_same_doubles(x.orientation_x, y.orientation_x, x.count);
        assert_same_doubles(x.orientation_y, y.orientation_y, x.count);
        assert_int_equal(x.level == NULL, y.level == NULL);
        if (x.level && x.count > 0)
            assert_memory_equal(x.level, y.level, (size_t)x.count * sizeof *x.level);
    }
    th_trajectory_close(one);
    th_trajectory_close(two);
}

// A checkpoint at step 50, 33 more steps that are lost, then on from the checkpoint. The rate is such
// that the checkpoint falls on a frame once and between two frames once.
static void test_resumed_equals_uninterrupted(void **state) {
    folder *f = *state;
    th_scene *scene = scene_file(EVERYTHING);
    for (int k = 0; k < RECORDED * 2; ++k) {
        th_trajectory_format format = recorded[k % RECORDED];
        double fps = k < RECORDED ? 10 : 5;
        th_world *world = world_of(scene, 1, 0);
        th_recorder *whole = recorder_of(world, f->file[0], format, fps, false);
        run_and_see(whole, world, 160, NULL, 1);
        finish(whole);
        uint64_t hash = th_world_hash(world);
        th_world_destroy(world);

        world = world_of(scene, 1, 0);
        th_recorder *part = recorder_of(world, f->file[1], format, fps, false);
        run_and_see(part, world, 50, NULL, 1);
        size_t size = th_world_snapshot_size(world);
        void *bytes = malloc(size);
        assert_int_equal(th_world_snapshot(world, bytes, size, NULL), TH_OK);
        run_and_see(part, world, 33, NULL, 1);
        finish(part);
        assert_int_equal(th_world_restore(world, bytes, size, NULL), TH_OK);
        part = recorder_of(world, f->file[1], format, fps, true);
        run_and_see(part, world, 110, NULL, 1);
        finish(part);
        assert_int_equal(th_world_hash(world), hash);
        assert_same_files(f->file[0], f->file[1]);
        free(bytes);
        th_world_destroy(world);
        remove_files(f);
    }
    th_scene_destroy(scene);
}

// ---- what cannot be

static th_result try_to_create(th_world *world, const th_recorder_def *def, th_error *error) {
    th_recorder *recorder = NULL;
    *error = (th_error){0};
    th_result result = th_recorder_create(world, def, &recorder, error);
    assert_int_equal(recorder == NULL, result != TH_OK);
    assert_int_equal(th_recorder_close(recorder, NULL, NULL), TH_OK);
    return result;
}

static void test_refusals_say_why(void **state) {
    folder *f = *state;
    th_scene *scene = scene_of(TH_JSON(
        {"groups":[{"id":"g", "positions":[[0,0],[3,0]], "own_goal":{"opposite":[5,5]}}],
        "run":{"step":0.1}}));
    th_world *world = world_of(scene, 1, 0);
    th_error error;
    th_recorder_def def = th_recorder_def_default();
    def.path = f->file[0];
    def.format = TH_TRAJECTORY_TEXT;
    def.fps = 10;
    const double bad_rates[] = {0, -1, (double)NAN, (double)INFINITY};
    for (int i = 0; i < 4; ++i) {
        def.fps = bad_rates[i];
        assert_int_equal(try_to_create(world, &def, &error), TH_BAD_ARGUMENT);
        assert_string_equal(error.path, "fps");
    }
    def.fps = 10;
    def.format = TH_TRAJECTORY_HDF5;
    assert_int_equal(try_to_create(world, &def, &error), TH_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "convert"));
    def.format = TH_TRAJECTORY_TEXT;
    def.max_queued_frames = -1;
    assert_int_equal(try_to_create(world, &def, &error), TH_BAD_ARGUMENT);
    def.max_queued_frames = 1;
    assert_int_equal(access(f->file[0], F_OK), -1); // nothing was left behind so far

    th_recorder *recorder = recorder_of(world, f->file[0], TH_TRAJECTORY_TEXT, 10, false);
    run_and_see(recorder, world, 5, NULL, 1);
    finish(recorder);
    assert_int_not_equal(try_to_create(world, &def, &error), TH_OK); // it is there already
    assert_string_equal(error.file, f->file[0]);

    def.resume = true;
    def.fps = 5;
    assert_int_equal(try_to_create(world, &def, &error), TH_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "frames per second"));
    def.fps = 10;
    th_world_step(world, 3); // frames 6 and 7 were never written
    assert_int_equal(try_to_create(world, &def, &error), TH_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "missing"));
    def.path = f->file[1];
    assert_int_equal(try_to_create(world, &def, &error), TH_NO_FILE);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Seeing one moment twice writes it once; seeing none leaves a file without frames that opens.
static void test_seen_twice_and_never(void **state) {
    folder *f = *state;
    th_scene *scene = scene_file(EVERYTHING);
    for (int k = 0; k < RECORDED; ++k) {
        th_world *world = world_of(scene, 1, 0);
        th_recorder *recorder = recorder_of(world, f->file[0], recorded[k], 5, false);
        see(recorder, world);
        see(recorder, world);
        assert_int_equal(finish(recorder).frames, 1);
        remove_files(f);
        assert_int_equal(finish(recorder_of(world, f->file[0], recorded[k], 5, false)).frames, 0);
        th_trajectory *trajectory = open_it(f->file[0]);
        assert_int_equal(th_trajectory_about(trajectory)->frame_count, 0);
        assert_int_equal(next_of(trajectory).count, -1);
        th_trajectory_close(trajectory);
        th_world_destroy(world);
        remove_files(f);
    }
    th_scene_destroy(scene);
}

// ---- what PedPy demands: no two on one point in a frame, all inside the area

typedef struct spot {
    double x, y;
    int32_t level;
} spot;

static int compare_spots(const void *a, const void *b) {
    const spot *p = a, *q = b;
    if (p->level != q->level) return p->level < q->level ? -1 : 1;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    return (p->y > q->y) - (p->y < q->y);
}

typedef struct areas {
    GEOSContextHandle_t geos;
    GEOSGeometry *shapes[8];
    const GEOSPreparedGeometry *prepared[8];
    int count;
} areas;

static areas open_areas(const th_trajectory_info *info) {
    areas a = {.geos = GEOS_init_r(), .count = info->level_count};
    assert_true(a.count > 0 && a.count <= 8);
    for (int l = 0; l < a.count; ++l) {
        a.shapes[l] = GEOSGeomFromWKT_r(a.geos, info->levels[l].wkt);
        assert_non_null(a.shapes[l]);
        a.prepared[l] = GEOSPrepare_r(a.geos, a.shapes[l]);
    }
    return a;
}

static bool inside(const areas *a, int level, double x, double y) {
    GEOSGeometry *point = GEOSGeom_createPointFromXY_r(a->geos, x, y);
    char found = GEOSPreparedContains_r(a->geos, a->prepared[level], point);
    GEOSGeom_destroy_r(a->geos, point);
    return found == 1;
}

static void close_areas(areas *a) {
    for (int l = 0; l < a->count; ++l) {
        GEOSPreparedGeom_destroy_r(a->geos, a->prepared[l]);
        GEOSGeom_destroy_r(a->geos, a->shapes[l]);
    }
    GEOS_finish_r(a->geos);
}

static void assert_pedpy_takes(const char *path) {
    th_trajectory *trajectory = open_it(path);
    areas a = open_areas(th_trajectory_about(trajectory));
    spot *spots = NULL;
    for (th_moment frame = next_of(trajectory); frame.count >= 0; frame = next_of(trajectory)) {
        spots = grow(spots, (size_t)frame.count + 1, sizeof *spots);
        for (int i = 0; i < frame.count; ++i) {
            int32_t level = frame.level ? frame.level[i] : 0;
            spots[i] = (spot){frame.x[i], frame.y[i], level};
            if (!inside(&a, level, frame.x[i], frame.y[i]))
                fail_msg("frame %lld: person %lld at (%.6f, %.6f) is outside the area",
                         (long long)frame.number, (long long)frame.id[i], frame.x[i], frame.y[i]);
        }
        qsort(spots, (size_t)frame.count, sizeof *spots, compare_spots);
        for (int i = 1; i < frame.count; ++i)
            if (compare_spots(&spots[i - 1], &spots[i]) == 0)
                fail_msg("frame %lld: two people at (%.6f, %.6f)", (long long)frame.number,
                         spots[i].x, spots[i].y);
    }
    free(spots);
    close_areas(&a);
    th_trajectory_close(trajectory);
}

static void assert_scene_pleases_pedpy(folder *f, th_scene *scene, int steps) {
    for (int k = 0; k < 2; ++k) {
        th_world *world = world_of(scene, 1, 0);
        th_recorder *recorder = recorder_of(world, f->file[0], recorded[k], 4, false);
        run_and_see(recorder, world, steps, NULL, 1);
        th_recorder_totals totals = finish(recorder);
        assert_true(totals.rows > 1000);
        if (steps > 200) assert_true(th_world_statistics(world).left > 0);
        assert_pedpy_takes(f->file[0]);
        if (recorded[k] == TH_TRAJECTORY_COMPACT) {
            th_error error = {0};
            ASSERT_OK(th_trajectory_convert(f->file[0], f->file[1], TH_TRAJECTORY_SQLITE, NULL,
                                            NULL, &error),
                      error);
            assert_pedpy_takes(f->file[1]);
        }
        th_world_destroy(world);
        remove_files(f);
    }
    th_scene_destroy(scene);
}

static void test_pedpy_takes_a_dense_room(void **state) {
    assert_scene_pleases_pedpy(*state, scene_file("scenes/door.json"), CROWDS(4) * 300);
}

static void test_pedpy_takes_a_station(void **state) {
    assert_scene_pleases_pedpy(*state, scene_file("scenes/station.json"), CROWDS(2) * 100);
}

// Twelve people a second over a line that lies on the edge of the area, recorded in every step: one in
// 250 of them is seen within half a millimetre of it.
static void test_pedpy_takes_a_busy_exit(void **state) {
    th_scene *scene = scene_of(TH_JSON(
        {"levels":[{"id":"hall", "walkable":{"rect":[0,0,6,12]}}],
        "exits":[{"id":"east", "line":[[6,0],[6,12]]}],
        "groups":[{"id":"g", "area":{"rect":[0.5,1,3,11]}, "source":{"rate":12},
            "to":"east"}],
        "run":{"step":0.25, "seed":11}}));
    assert_scene_pleases_pedpy(*state, scene, CROWDS(8) * 300);
}

static void edges_keep_their_distance(void **state) {
    (void)state;
    th_scene *scene = scene_file(EVERYTHING);
    int count = 0;
    th_edge *edges = th_edges_of(th_scene_view_of(scene), &count);
    assert_true(count >= 3); // exits, and the top of the stairs on two levels
    for (int e = 0; e < count; ++e) {
        th_edge edge = edges[e];
        th_vec2 out = {-edge.direction.y, edge.direction.x};
        const float from[] = {0, 0.0004f, -0.0004f, 0.0011f, -0.5f};
        const float to[] = {edge.side * 0.001f, 0.001f, -0.001f, 0.0011f, -0.5f};
        for (int i = 0; i < 5; ++i) {
            double x = (double)(edge.a.x + 0.3f * edge.direction.x + from[i] * out.x);
            double y = (double)(edge.a.y + 0.3f * edge.direction.y + from[i] * out.y);
            double before_x = x, before_y = y;
            int32_t elsewhere = edge.level + 1;
            th_keep_clear(&edge, 1, 0.001f, 1, &x, &y, &elsewhere);
            assert_true(x == before_x && y == before_y);
            th_keep_clear(&edge, 1, 0.001f, 1, &x, &y, &edge.level);
            float across = ((float)x - edge.a.x) * out.x + ((float)y - edge.a.y) * out.y;
            assert_float_equal(across, to[i], 2e-5f);
        }
    }
    free(edges);
    th_scene_destroy(scene);
}

static void test_pedpy_takes_two_levels(void **state) {
    assert_scene_pleases_pedpy(*state, scene_file(EVERYTHING), CROWDS(2) * 600);
}

#ifdef TH_PROGRAM
// A small table of `throng bench --record`: every storage, hashes equal, nothing left behind.
static void test_bench_table(void **state) {
    folder *f = *state;
    char command[1024], line[512];
    snprintf(command, sizeof command,
             "'%s' bench --record --agents 200 --threads 1 --quiet --out '%s' --csv '%s' >'%s'",
             TH_PROGRAM, f->path, f->file[0], f->file[1]);
    assert_int_equal(system(command), 0);
    FILE *csv = fopen(f->file[0], "r");
    assert_non_null(csv);
    assert_non_null(fgets(line, sizeof line, csv)); // the head
    for (int k = 0; k < RECORDED; ++k) {
        int agents = 0, steps = 0, same = 0;
        char storage[16] = "";
        double plain = 0, slow = 0, bytes = 0, rate = 0, waited = -1;
        assert_non_null(fgets(line, sizeof line, csv));
        assert_int_equal(sscanf(line, "%d,%15[a-z],1,%d,10,%lf,%*f,%lf,%*f,%*f,%lf,%lf,%lf,%d",
                                &agents, storage, &steps, &plain, &slow, &bytes, &rate, &waited,
                                &same),
                         9);
        assert_int_equal(agents, 200);
        assert_int_equal(steps, 400);
        assert_int_equal(same, 1);
        assert_true(plain > 0 && slow > -100 && waited >= 0 && rate > 1000);
        bool compact = strcmp(storage, "compact") == 0;
        assert_true(compact ? bytes < 5 : bytes > 15 && bytes < 120);
    }
    assert_null(fgets(line, sizeof line, csv));
    fclose(csv);
}
#endif

int main(void) {
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_keep_their_distance),
        IN_FOLDER(test_frames_are_every_nth_step),
        IN_FOLDER(test_bodies_are_not_people),
        IN_FOLDER(test_standing_people_look_where_they_walked),
        IN_FOLDER(test_resumed_equals_uninterrupted),
        IN_FOLDER(test_refusals_say_why),
        IN_FOLDER(test_seen_twice_and_never),
        IN_FOLDER(test_pedpy_takes_a_dense_room),
        IN_FOLDER(test_pedpy_takes_a_station),
        IN_FOLDER(test_pedpy_takes_a_busy_exit),
        IN_FOLDER(test_pedpy_takes_two_levels),
#ifdef TH_PROGRAM
        IN_FOLDER(test_bench_table),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
