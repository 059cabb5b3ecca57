// Scenes that would do harm: openings onto nothing, and small files that ask for much time or memory.
// SPDX-License-Identifier: Apache-2.0
#include "observe/findings.h"
#include "plan/prepared.h"
#include "space/distance_grid.h"
#include "support.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

// ---- openings onto nothing

typedef struct place {
    double angle, x, y; // [rad], [m]: the hall is turned about (0, 0) and then moved
} place;

static th_point turned(place at, double x, double y) {
    return (th_point){at.x + cos(at.angle) * x - sin(at.angle) * y,
                      at.y + sin(at.angle) * x + cos(at.angle) * y};
}

static void write_points(char *text, size_t size, place at, const double (*points)[2], int count) {
    size_t used = (size_t)snprintf(text, size, "[");
    for (int i = 0; i < count; ++i) {
        th_point p = turned(at, points[i][0], points[i][1]);
        used +=
            (size_t)snprintf(text + used, size - used, "%s[%.9f, %.9f]", i ? ", " : "", p.x, p.y);
    }
    snprintf(text + used, size - used, "]");
}

// A hall of 10 m by 10 m with a pillar, on the ground floor, and a floor above that reaches from x = 20 to 30.
// `more` holds %s for the line from (x0, y0) to (x1, y1).
static th_result load_hall(place at, const double line[4], const char *more, th_error *error) {
    static const double hall[4][2] = {{0, 0}, {10, 0}, {10, 10}, {0, 10}};
    static const double pillar[4][2] = {{4, 4}, {6, 4}, {6, 6}, {4, 6}};
    static const double above[4][2] = {{20, 0}, {30, 0}, {30, 10}, {20, 10}};
    char shape[3][400], ends[200], with_line[1000], json[4000];
    write_points(shape[0], sizeof shape[0], at, hall, 4);
    write_points(shape[1], sizeof shape[1], at, pillar, 4);
    write_points(shape[2], sizeof shape[2], at, above, 4);
    const double points[2][2] = {{line[0], line[1]}, {line[2], line[3]}};
    write_points(ends, sizeof ends, at, points, 2);
    const char *mark = strstr(more, "%s");
    assert_non_null(mark);
    snprintf(with_line, sizeof with_line, "%.*s%s%s", (int)(mark - more), more, ends, mark + 2);
    snprintf(json, sizeof json,
             TH_JSON({"levels": [{"id": "g", "walkable": %s, "obstacles": %s},
                                 {"id": "u", "walkable": %s}], %s}),
                      shape[0], shape[1], shape[2], with_line);
    th_scene *scene = NULL;
    th_result result = th_scene_load_json(json, strlen(json), "s.json", NULL, NULL, &scene, error);
    th_scene_destroy(scene);
    return result;
}

typedef struct opening {
    const char *json, *path;
} opening;

static const opening OPENINGS[] = {
    {TH_JSON("doors": [{"level": "g", "line": %s}]), "doors[0].line"},
     {TH_JSON("doors": [{"level": "g", "line": %s, "closed": true, "schedule": [[5, "open"]]}]),
                         "doors[0].line"},
              {TH_JSON("waypoints": [{"level": "g", "line": %s}]), "waypoints[0].line"},
               {TH_JSON("waiting_areas": [{"level": "g", "line": %s, "wait": 5}]),
                                          "waiting_areas[0].line"},
                {TH_JSON("stairs": [{"level": "g", "to": "u", "top": %s}]), "stairs[0].top"},
                 {TH_JSON("stairs": [{"level": "u", "to": "g", "top": %s}]), "stairs[0].top"},
};
enum { OPENING_COUNT = sizeof OPENINGS / sizeof OPENINGS[0] };
static const place PLACES[] = {
    {0.0, 0.0, 0.0}, {0.3, 7.0, -3.0}, {1.0, 1000.1, 500.7}, {2.4, 0.0, 0.0}, {4.0, 3e6, 5e6},
};
enum { PLACE_COUNT = sizeof PLACES / sizeof PLACES[0] };

static void assert_refused(place at, const double line[4], const opening *kind) {
    th_error error;
    if (load_hall(at, line, kind->json, &error) == TH_OK)
        fail_msg("opens onto nothing at (%g, %g) .. (%g, %g), angle %g: %s", line[0], line[1],
                 line[2], line[3], at.angle, kind->json);
    assert_string_equal(error.path, kind->path);
    assert_true(error.line > 0);
    assert_non_null(strstr(error.message, "opens onto nothing"));
}

static void openings_onto_nothing(void **state) {
    (void)state;
    static const double lines[][4] = {
        {10, 3, 10, 5},         // on the outer edge
        {10.008, 3, 10.008, 5}, // just outside
        {9.992, 5, 9.992, 3},   // just inside, the other way round
        {10.004, 3, 9.996, 5},  // a little askew
        {10, 8, 10, 12},        // half of it beside the hall
        {0, 0, 10, 0},          // the whole side
        {4.2, 4, 5.8, 4},       // on the pillar
        {3, 6, 7, 6},           // along the pillar and past it
    };
    for (int p = 0; p < PLACE_COUNT; ++p)
        for (size_t i = 0; i < sizeof lines / sizeof lines[0]; ++i)
            for (int k = 0; k < OPENING_COUNT; ++k)
                assert_refused(PLACES[p], lines[i], &OPENINGS[k]);
}

static void openings_within(void **state) {
    (void)state;
    static const double lines[][4] = {
        {2, 2, 2, 4},       // on open ground
        {10, 3, 7, 3},      // one end at the wall
        {0, 5, 4, 5},       // from the wall to the pillar
        {9.95, 3, 9.95, 5}, // beside the wall, which stays whole
    };
    th_error error;
    for (int p = 0; p < PLACE_COUNT; ++p)
        for (size_t i = 0; i < sizeof lines / sizeof lines[0]; ++i)
            for (int k = 0; k < 4; ++k) // stairs lead to the other level
                if (load_hall(PLACES[p], lines[i], OPENINGS[k].json, &error) != TH_OK)
                    fail_msg("%s at line %d of test", error.message, (int)i);
}

static const double SIDE[4] = {10, 3, 10, 5};
#define EXIT_LINE TH_JSON("exits": [{"level": "g", "line": %s}])

// An exit may lie behind the edge, as a line at the same place or as an area outside.
static void openings_to_exits(void **state) {
    (void)state;
    static const char *const good[] = {
        TH_JSON("exits": [{"level": "g", "line": %s}]),
            TH_JSON("doors": [{"level": "g", "line": [[10, 3], [10, 5]]}],
                "exits": [{"level": "g", "line": %s}]),
                TH_JSON("doors": [{"level": "g", "line": [[10, 3.5], [10, 4.5]]}],
                "waypoints": [{"level": "g", "line": [[10, 3], [10, 5]]}],
                "exits": [{"level": "g", "line": %s}]),
                        TH_JSON("doors": [{"level": "g", "line": %s}],
                "exits": [{"level": "g", "area": {"rect": [10, 2, 12, 6]}}]),
                                                    TH_JSON("doors": [{"level": "g", "line": %s}],
                "exits": [{"level": "g", "line": [[10, 3], [10, 4]]},
                          {"level": "g", "line": [[10, 4], [10, 5]]}]),
                                                             };
    static const char *const bad[] = {
        TH_JSON("doors": [{"level": "g", "line": [[10, 2.5], [10, 5]]}],
                "exits": [{"level": "g", "line": %s}]), // the door is wider
            TH_JSON("doors": [{"level": "g", "line": %s}],
                "exits": [{"level": "g", "area": {"rect": [10, 2, 12, 4]}}]),
                                        TH_JSON("doors": [{"level": "g", "line": %s}],
                "exits": [{"level": "u", "area": {"rect": [10, 2, 12, 6]}}]),
                                        };
    th_error error;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; ++i)
        if (load_hall(PLACES[0], SIDE, good[i], &error) != TH_OK)
            fail_msg("%s: %s", good[i], error.message);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i)
        assert_refused(PLACES[0], SIDE, &(opening){bad[i], "doors[0].line"});
}

// Rooms drawn with a gap of a centimetre between them are joined by a door in it.
static void door_in_a_gap(void **state) {
    (void)state;
    th_scene *scene = scene_of(
        TH_JSON(
        {"levels": [{"walkable": [{"rect": [0, 0, 5, 5]}, {"rect": [5.01, 0, 10, 5]}]}],
         "doors": [{"line": [[5.005, 2], [5.005, 3]]}]}));
    th_scene_destroy(scene);
}

static void stairs_between_floors(void **state) {
    (void)state;
    static const char *const good[] = {
        TH_JSON({"levels": [{"id": "g", "walkable": {"rect": [0, 0, 10, 10]}},
                            {"id": "u", "walkable": {"rect": [10, 0, 20, 10]}}],
                 "stairs": [{"level": "g", "to": "u", "top": [[10, 3], [10, 5]]}]}),
                        TH_JSON({"levels": [{"id": "g", "walkable": {"rect": [0, 0, 10, 10]}},
                            {"id": "u", "walkable": {"rect": [12, 0, 20, 10]}}],
                 "stairs": [{"level": "g", "to": "u", "area": {"rect": [10, 3, 12, 5]},
                             "top": [[12, 3], [12, 5]]}],
                 "doors": [{"level": "u", "line": [[12, 3], [12, 5]]}]}),
                                 };
    // The upper floor begins further on, is narrower than the stairs, or lies on the same side.
    static const char *const bad[] = {
        TH_JSON({"levels": [{"id": "g", "walkable": {"rect": [0, 0, 10, 10]}},
                            {"id": "u", "walkable": {"rect": [11, 0, 20, 10]}}],
                 "stairs": [{"level": "g", "to": "u", "top": [[10, 3], [10, 5]]}]}),
                        TH_JSON({"levels": [{"id": "g", "walkable": {"rect": [0, 0, 10, 10]}},
                            {"id": "u", "walkable": {"rect": [10, 0, 20, 4]}}],
                 "stairs": [{"level": "g", "to": "u", "top": [[10, 3], [10, 5]]}]}),
                                        TH_JSON({"levels": [{"id": "g", "walkable": {"rect": [0, 0, 10, 10]}},
                            {"id": "u", "walkable": {"rect": [0, 0, 10, 10]}}],
                 "stairs": [{"level": "g", "to": "u", "top": [[10, 3], [10, 5]]}]}),
                                            };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; ++i) th_scene_destroy(scene_of(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        th_scene *scene = NULL;
        th_error error;
        th_scene_load_json(bad[i], strlen(bad[i]), "s", NULL, NULL, &scene, &error);
        if (scene) fail_msg("accepted: %s", bad[i]);
        assert_string_equal(error.path, "stairs[0].top");
    }
}

// One flight must not begin where another one ends the other way: agents would change level there instead of climbing on.
// Flights above each other that lead the same way are fine.
static void stairs_over_stairs(void **state) {
    (void)state;
    static const struct {
        const char *second, *path;
    } flights[] = {{TH_JSON({"id": "s2", "level": "b", "to": "c", "area": {"rect": [10, 0.2, 14, 2.2]}, "top": [[10, 0.2], [10, 2.2]]}), "stairs[1].area"},
         {TH_JSON({"id": "s2", "level": "b", "to": "c", "area": {"rect": [10, -1, 14, 1]}, "top": [[10, -1], [10, 1]]}),
                            "stairs[1].area"},
                   {TH_JSON({"id": "s2", "level": "a", "to": "c", "area": {"rect": [9, 0, 12, 2]}, "top": [[9, 0], [9, 2]]}),
                                      "stairs[1].area"},
                             {TH_JSON({"id": "s2", "level": "b", "to": "c", "area": {"rect": [10, 1.1, 14, 3]}, "top": [[10, 1.1], [10, 3]]}), NULL},
                                       {TH_JSON({"id": "s2", "level": "b", "to": "c", "area": {"rect": [10, -1, 14, 1]}, "top": [[14, -1], [14, 1]]}), NULL}};
    for (size_t k = 0; k < sizeof flights / sizeof flights[0]; ++k) {
        char json[1500];
        snprintf(
            json, sizeof json,
            TH_JSON({"levels": [{"id": "a", "walkable": {"rect": [-10, -6, 10, 6]}},
                                     {"id": "b", "walkable": [{"rect": [14, -6, 24, 6]}, {"rect": [2, -6, 10, 6]}]},
                                     {"id": "c", "walkable": [{"rect": [-10, -6, 10, 6]}, {"rect": [14, -6, 24, 6]}]}],
                          "stairs": [{"id": "s1", "level": "a", "to": "b", "area": {"rect": [10, -1, 14, 1]},
                                      "top": [[14, -1], [14, 1]]}, %s]}),
                                                      flights[k].second);
        th_scene *scene = NULL;
        th_error error;
        th_result result = th_scene_load_json(json, strlen(json), "s", NULL, NULL, &scene, &error);
        th_scene_destroy(scene);
        if (!flights[k].path && result != TH_OK) fail_msg("%d: %s", (int)k, error.message);
        if (!flights[k].path) continue;
        if (result == TH_OK) fail_msg("accepted: %s", flights[k].second);
        assert_string_equal(error.path, flights[k].path);
        if (!strstr(error.message, "\"s1\"") || !strstr(error.message, "\"s2\""))
            fail_msg("%s", error.message);
    }
}

// A crowd presses against a door beside the exit, which is an inner one, with every model.
static void no_agent_walks_out(void **state) {
    (void)state;
    static const char *const models[] = {
        "orca", "social_force",         "helbing_molnar",        "pbd",
        "uic",  "collision_free_speed", "anticipation_velocity", "power_law"};
    for (size_t m = 0; m < sizeof models / sizeof models[0]; ++m) {
        char json[1000];
        snprintf(json, sizeof json,
                 TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 12, 8]}, "walls": [[[6, 0], [6, 8]]]}],
                          "doors": [{"line": [[6, 3], [6, 5]]}],
                          "waypoints": [{"id": "w", "line": [[9, 0], [9, 8]]}],
                          "exits": [{"id": "e", "line": [[12, 3], [12, 5]]}],
                          "groups": [{"area": {"rect": [1, 1, 5, 7]}, "count": 30, "route": ["w", "e"],
                                      "move": "%s"}],
                          "run": {"max_time": 60}}),
                                                              models[m]);
        th_scene *scene = scene_of(json);
        th_world *world = world_of(scene, 1, 1);
        run_to_end(world, 60.0); // fails where an agent stands outside
        assert_true(th_world_statistics(world).left > 0);
        th_world_destroy(world);
        th_scene_destroy(scene);
    }
}

// Four micrometres before the line of an exit, far from every wall, is ground; so is an agent that stands there.
static void ground_ends_at_an_exit(void **state) {
    (void)state;
    th_scene *scene = scene_file("scenes/uic/crossing_120.json");
    for (int k = 0; k < 400; ++k) {
        float y = -29.0f + 0.1451f * (float)k, before = nextafterf(50.0f, 0.0f),
              past = nextafterf(50.0f, 99.0f);
        assert_true(th_scene_walkable(scene, 0, (th_vec2){before, y}));
        assert_true(th_scene_walkable(scene, 0, (th_vec2){-before, y}));
        assert_true(th_scene_walkable(scene, 0, (th_vec2){y, before}));
        assert_true(th_scene_walkable(scene, 0, (th_vec2){y, -before}));
        assert_false(th_scene_walkable(scene, 0, (th_vec2){past, y}));
        assert_false(th_scene_walkable(scene, 0, (th_vec2){y, -past}));
    }
    th_scene_destroy(scene);
}

// ---- small files that ask for much

static char *text;
static size_t text_used;
enum { TEXT_SIZE = 4 << 20 };

static void write_text(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    text_used += (size_t)vsnprintf(text + text_used, TEXT_SIZE - text_used, format, arguments);
    va_end(arguments);
    assert_true(text_used < TEXT_SIZE);
}

static int text_begin(void **state) {
    (void)state;
    text = malloc(TEXT_SIZE);
    text_used = 0;
    return text ? 0 : -1;
}

static int text_end(void **state) {
    (void)state;
    free(text);
    return 0;
}

#ifdef TH_SLOW_BUILD
enum { PATIENCE = 10 };
#else
enum { PATIENCE = 1 };
#endif

static double processor_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static th_result load_text(th_error *error) {
    th_scene *scene = NULL;
    double begin = processor_seconds();
    th_result result = th_scene_load_json(text, text_used, "s.json", "/tmp", NULL, &scene, error);
    double seconds = processor_seconds() - begin;
    th_scene_destroy(scene);
    // At most 0.6 s here; without the bounds it took hours, or never ended.
    if (seconds > 60.0 * PATIENCE) fail_msg("took %.1f s of processor time", seconds);
    return result;
}

static void assert_text_refused(const char *path, const char *part) {
    th_error error;
    assert_int_equal(load_text(&error), TH_BAD_SCENE);
    assert_string_equal(error.path, path);
    if (!strstr(error.message, part)) fail_msg("%s", error.message);
}

// Nine nodes per level and leg are the least there can be: the search for a spacing never ended.
static void test_levels_times_legs(void **state) {
    (void)state;
    enum { LEVELS = 4000, LEGS = 6000 };
    write_text("{\"levels\": [");
    for (int i = 0; i < LEVELS; ++i) write_text("%s{\"id\": \"%d\"}", i ? "," : "", i);
    write_text("]");
    write_text(
        ", \"zones\": [{\"level\": \"0\", \"area\": {\"rect\": [0, 0, 1, 1]}, \"speed\": 0.5}]");
    write_text(", \"waypoints\": [");
    for (int i = 0; i < LEGS; ++i)
        write_text("%s{\"id\": \"w%d\", \"level\": \"0\", \"area\": {\"rect\": [0, 0, 1, 1]}}",
                   i ? "," : "", i);
    write_text("], \"groups\": [{\"level\": \"0\", \"positions\": [[0, 0]], \"route\": [");
    for (int i = 0; i < LEGS; ++i) write_text("%s\"w%d\"", i ? "," : "", i);
    write_text("]}]}");
    assert_text_refused("levels", "too many to plan");
}

static void test_crossing_walls(void **state) {
    (void)state;
    write_text("{\"levels\": [{\"walls\": [");
    for (int i = 0; i < 2000; ++i)
        write_text("%s[[0, %d], [2000, %d]], [[%d, 0], [%d, 2000]]", i ? "," : "", i, i, i, i);
    write_text("]}]}");
    assert_text_refused("levels[0].walls", "cross each other more than");
}

static void test_crossing_obstacles(void **state) {
    (void)state;
    write_text("{\"levels\": [{\"obstacles\": [");
    for (int i = 0; i < 1500; ++i)
        write_text("%s{\"rect\": [0, %d, 2000, %d.5]}, {\"rect\": [%d, 0, %d.5, 2000]}",
                   i ? "," : "", i, i, i, i);
    write_text("]}]}");
    assert_text_refused("levels[0].obstacles", "cross each other more than");
}

// Twenty thousand ids of a hundred characters that differ in the last ones.
static void test_long_ids(void **state) {
    (void)state;
    write_text("{\"waypoints\": [");
    for (int i = 0; i < 20000; ++i)
        write_text("%s{\"id\": \"%090d\", \"area\": {\"rect\": [0,0,1,1]}}", i ? "," : "", i);
    write_text("]}");
    th_error error;
    assert_int_equal(load_text(&error), TH_OK);
}

static th_scene *loaded_text(const th_scene_options *options) {
    th_scene *scene = NULL;
    th_error error;
    if (th_scene_load_json(text, text_used, "s", NULL, options, &scene, &error) != TH_OK)
        fail_msg("%s: %s", error.path, error.message);
    return scene;
}

// Two thousand fields: the lattice is coarser, so that they are solved within seconds. They end at the walls of a
// room here, or the test would take those seconds.
static void test_many_legs(void **state) {
    (void)state;
    enum { LEGS = 2000 };
    write_text("{\"levels\": [{\"walkable\": [{\"rect\": [0, 0, 40, 40]}, "
               "{\"rect\": [50, 0, 700, 700]}]}], \"waypoints\": [");
    for (int i = 0; i < LEGS; ++i)
        write_text("%s{\"id\": \"w%d\", \"area\": {\"rect\": [1, 1, 39, 39]}}", i ? "," : "", i);
    write_text("], \"groups\": [{\"count\": 1, \"area\": {\"rect\": [1, 1, 39, 39]}, \"route\": [");
    for (int i = 0; i < LEGS; ++i) write_text("%s\"w%d\"", i ? "," : "", i);
    write_text("]}]}");
    th_scene *scene = loaded_text(NULL);
    assert_int_equal(scene->target_count, LEGS);
    assert_in_range(scene->plan->nodes.count, 1000, 30000000 / LEGS);
    th_scene_destroy(scene);
}

static void test_many_zones(void **state) {
    (void)state;
    write_text("{\"zones\": [");
    for (int i = 0; i < 1001; ++i)
        write_text("%s{\"area\": {\"rect\": [0,0,1,1]}, \"speed\": 1}", i ? "," : "");
    write_text("]}");
    assert_text_refused("zones", "at most 1000");
}

// Five thousand floors, people on one of them: 2.7 GB before.
static void test_many_levels(void **state) {
    (void)state;
    write_text("{\"levels\": [");
    for (int i = 0; i < 5000; ++i)
        write_text("%s{\"id\": \"%d\", \"walkable\": {\"rect\": [0, 0, 100, 100]}}", i ? "," : "",
                   i);
    write_text("], \"groups\": [{\"level\": \"0\", \"count\": 10}]}");
    ledger l = {0};
    th_scene_options options = {.allocator = {counted_alloc, counted_free, &l}};
    th_scene *scene = loaded_text(&options);
    th_world_def def = th_world_def_default();
    def.allocator = options.allocator;
    th_world *world = NULL;
    assert_int_equal(th_world_create(scene, &def, &world, NULL), TH_OK);
    assert_true(l.most < INT64_C(600) << 20);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Whether a point is on the ground is asked millions of times before the first step, for the maps. The edges at
// its height answer it, and give the answer that all of them give.
static void test_many_corners(void **state) {
    (void)state;
    enum { CORNERS = 20000 };
    write_text("{\"levels\": [{\"walkable\": \"POLYGON ((");
    for (int i = 0; i <= CORNERS; ++i) {
        double angle = 2.0 * acos(-1.0) * (i % CORNERS) / CORNERS, r = i & 1 ? 100.5 : 100.0;
        write_text("%s%.3f %.3f", i ? ", " : "", r * cos(angle), r * sin(angle));
    }
    write_text("))\"}]}");
    th_scene *scene = loaded_text(NULL);
    const th_polygons *ground = &scene->levels[0].walkable;
    const th_edge_rows *rows = &scene->wall_grids[0].distance->edges;
    double looked_at = 0.0;
    for (int k = 0; k < 3000; ++k) {
        float angle = (float)k * 2.399963f, r = 99.9f + 0.0007f * (float)(k % 1000);
        th_vec2 p = {r * cosf(angle), r * sinf(angle)};
        if (k % 3 == 0) p = ground->points[k * 6];
        assert_int_equal(th_edge_rows_contain(rows, p), th_polygons_contain(ground, p));
        int row = th_edge_row(rows, p.y);
        looked_at += rows->start[row + 1] - rows->start[row];
    }
    assert_true(looked_at / 3000 < 0.01 * CORNERS);
    th_scene_destroy(scene);
}

#ifdef TH_SLOW_BUILD
enum { OBSTACLES = 2000, IN_A_ROW = 50 };
#else
enum { OBSTACLES = 20000, IN_A_ROW = 142 };
#endif

// A square of obstacles that touch nothing, but for the first two; the second is drawn twice.
static th_scene *scene_of_obstacles(int count, double *seconds) {
    text_used = 0;
    write_text("{\"levels\": [{\"walkable\": {\"rect\": [0, 0, %d, %d]}, \"obstacles\": [",
               2 * IN_A_ROW + 2, 2 * IN_A_ROW + 2);
    for (int i = 0; i < count; ++i) {
        int x = 1 + i % IN_A_ROW * 2, y = 1 + i / IN_A_ROW * 2;
        write_text("%s{\"rect\": [%d, %d, %d, %d]}", i ? "," : "", x, y, x + 1 + (i == 0), y + 1);
    }
    write_text(",{\"rect\": [3, 1, 4, 2]}]}]}");
    double begin = processor_seconds();
    th_scene *scene = loaded_text(NULL);
    *seconds = processor_seconds() - begin;
    return scene;
}

// Obstacles that touch nothing are not united with each other, and not all pairs of walls are looked at: eight times as many
// take about eight times as long, whatever the machine, and not 64 times.
static void test_many_obstacles(void **state) {
    (void)state;
    double few, many;
    th_scene_destroy(scene_of_obstacles(OBSTACLES / 8, &few));
    th_scene *scene = scene_of_obstacles(OBSTACLES, &many);
    print_message("%d obstacles: %.2f s, %d: %.2f s\n", OBSTACLES / 8, few, OBSTACLES, many);
    assert_true(many < 24 * few);
    // The edge of the ground, and four walls each; the first is one with the second.
    assert_int_equal(scene->wall_count, 4 + 4 * (OBSTACLES - 1));
    assert_false(th_scene_walkable(scene, 0, (th_vec2){2.5f, 1.5f}));
    assert_true(th_scene_walkable(scene, 0, (th_vec2){4.5f, 1.5f}));
    th_scene_destroy(scene);
}

#ifndef TH_SLOW_BUILD
// Too many nodes: planned on fewer, and said so.
static void test_coarse_plan(void **state) {
    (void)state;
    write_text("{\"levels\": [{\"walkable\": {\"rect\": [0, 0, 600, 600]}}], \"exits\": [{\"id\": "
               "\"gate\", \"line\": [[600, 1], [600, 2]]}], \"groups\": [{\"count\": 1, \"to\": "
               "\"gate\"}]}");
    th_scene *scene = loaded_text(NULL);
    float wanted, spacing = th_scene_plan_spacing(scene, &wanted);
    assert_true(wanted == 0.2f && spacing > 0.24f);
    th_findings *findings;
    int count;
    assert_int_equal(th_scene_findings(scene, &findings, NULL), TH_OK);
    const th_finding *list = th_findings_list(findings, &count);
    assert_int_equal(count, 1);
    assert_int_equal(list[0].kind, TH_FINDING_COARSE_PLAN);
    const char *told = list[0].text;
    assert_non_null(strstr(told, "0.25 m apart instead of 0.2 m"));
    assert_non_null(strstr(told, "\"gate\" at (600.0, 1.5)"));
    assert_non_null(strstr(list[0].cure, "set plan_cell to 0.25"));
    th_findings_destroy(findings);
    th_scene_destroy(scene);
}
#endif

// The area's box is the whole scene, the area a thread across it.
static void test_thin_area(void **state) {
    (void)state;
    write_text(
        "{\"levels\": [{\"walkable\": {\"rect\": [0, 0, 5000, 5000]}}], \"groups\": [{\"area\": "
        "[[0, 0], [5000, 4999.99], [5000, 5000]], \"count\": 100000}]}");
    th_scene *scene = NULL;
    th_error error;
    assert_int_equal(th_scene_load_json(text, text_used, "s", NULL, NULL, &scene, &error), TH_OK);
    th_world_def def = th_world_def_default();
    th_world *world = NULL;
    double begin = processor_seconds();
    assert_int_not_equal(th_world_create(scene, &def, &world, &error), TH_OK);
    assert_true(processor_seconds() - begin < 15.0 * PATIENCE); // 0.3 s here
    th_scene_destroy(scene);
}

static void name_not_utf8(void **state) {
    (void)state;
    static const char *const bad[] = {"\xff", "a\xc3", "\xc0\x80", "\xed\xa0\x80",
                                      "\xf5\x80\x80\x80"};
    th_scene *scene = NULL;
    th_error error;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        th_scene_def def = th_scene_def_default();
        def.name = bad[i];
        assert_int_equal(th_scene_create(&def, &scene, &error), TH_BAD_SCENE);
        assert_string_equal(error.path, "name");
    }
    th_scene_def def = th_scene_def_default();
    def.name = "Gro\xc3\x9f"
               "er \xe2\x82\xac \xf0\x9f\x9a\xb6";
    assert_int_equal(th_scene_create(&def, &scene, &error), TH_OK);
    th_scene_destroy(scene);
}

// 64 kB that unpack to 64 MB, as a scene, as a shape and as positions.
static void write_bomb(const char *name, const char *end) {
    static char blanks[1 << 20];
    memset(blanks, ' ', sizeof blanks);
    gzFile file = gzopen(name, "wb9");
    assert_non_null(file);
    for (int k = 0; k < 60; ++k)
        assert_int_equal(gzwrite(file, blanks, sizeof blanks), sizeof blanks);
    gzputs(file, end);
    gzclose(file);
}

static void test_gzip_bombs(void **state) {
    (void)state;
    static const char *const formats[] = {"%s",
                                          "{\"levels\": [{\"obstacles\": {\"file\": \"%s\"}}]}",
                                          "{\"groups\": [{\"positions_file\": \"%s\"}]}"};
    static const char *const ends[] = {"{}", "POLYGON ((0 0, 1 0, 1 1, 0 0))", "\n0,0\n"};
    static const char *const kinds[] = {"json", "wkt", "csv"};
    for (int i = 0; i < 3; ++i) {
        char name[100];
        snprintf(name, sizeof name, "/tmp/throng-bomb-%ld.%s", (long)getpid(), kinds[i]);
        write_bomb(name, ends[i]);
        th_scene *scene = NULL;
        th_error error;
        text_used = (size_t)snprintf(text, TEXT_SIZE, formats[i], name);
        assert_int_equal(i ? load_text(&error) : th_scene_load_file(name, NULL, &scene, &error),
                         TH_NO_FILE);
        assert_non_null(strstr(error.message, "grows more than"));
        remove(name);
    }
}

// GEOS 3.11 reads past the end of a place without coordinates. An empty list elsewhere, as in properties, is fine.
static void test_place_without_coordinates(void **state) {
    (void)state;
    static const char *const places[] = {"[[], [1, 1]]", "[[1, 1], [ ]]", "[[1, 1], [2, 1]]"};
    for (int i = 0; i < 3; ++i) {
        char name[100];
        snprintf(name, sizeof name, "/tmp/throng-place-%ld.geojson", (long)getpid());
        FILE *file = fopen(name, "w");
        assert_non_null(file);
        fprintf(file,
                "{\"type\": \"Feature\", \"properties\": {\"tags\": []}, \"geometry\": "
                "{\"type\": \"LineString\", \"coordinates\": %s}}",
                places[i]);
        fclose(file);
        th_error error;
        text_used = (size_t)snprintf(text, TEXT_SIZE,
                                     "{\"levels\": [{\"walkable\": {\"rect\": [0, 0, 5, 5]}, "
                                     "\"walls\": [{\"file\": \"%s\"}]}]}",
                                     name);
        th_result result = load_text(&error);
        assert_int_equal(result, i < 2 ? TH_BAD_SCENE : TH_OK);
        if (i < 2) assert_non_null(strstr(error.message, "a place has no coordinates"));
        remove(name);
    }
}

#define TEXT_TEST(test) cmocka_unit_test_setup_teardown(test, text_begin, text_end)
int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ground_ends_at_an_exit),
        cmocka_unit_test(openings_onto_nothing),
        cmocka_unit_test(openings_within),
        cmocka_unit_test(openings_to_exits),
        cmocka_unit_test(door_in_a_gap),
        cmocka_unit_test(stairs_between_floors),
        cmocka_unit_test(stairs_over_stairs),
        cmocka_unit_test(no_agent_walks_out),
        TEXT_TEST(test_levels_times_legs),
        TEXT_TEST(test_crossing_walls),
        TEXT_TEST(test_crossing_obstacles),
        TEXT_TEST(test_many_obstacles),
#ifndef TH_SLOW_BUILD
        TEXT_TEST(test_coarse_plan),
#endif
        TEXT_TEST(test_long_ids),
        TEXT_TEST(test_many_legs),
        TEXT_TEST(test_many_zones),
        TEXT_TEST(test_many_levels),
        TEXT_TEST(test_many_corners),
        TEXT_TEST(test_thin_area),
        cmocka_unit_test(name_not_utf8),
        TEXT_TEST(test_gzip_bombs),
        TEXT_TEST(test_place_without_coordinates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
