// Small files that ask for much: each is refused or bounded, within five seconds of processor time and a stated amount of
// memory from its text to the first step. Some are known to have been slow; the others are drawn at random from things
// that make planners, walls and models expensive: long strips, many goals, levels, doors and zones, small cells, every
// planner and model. With THRONG_LONG many more of them. SPDX-License-Identifier: Apache-2.0
#include "core/hash.h"
#include "core/kernel.h"
#include "observe/findings.h"
#include "plan/prepared.h"
#include "space/rooms.h"
#include "support.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef TH_SLOW_BUILD
enum { PATIENCE = 12 };
#else
enum {
    PATIENCE = 2
}; // the aim is five seconds on a quiet machine; neighbours on one cost up to half of it
#endif
static const double SECONDS_MOST = 5.0;
static const int64_t BYTES_MOST = INT64_C(900) << 20;

static double processor_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

// ---- texts

enum { TEXT_SIZE = 1 << 16 };
static char text[TEXT_SIZE];
static size_t used;

#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
static void
put(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    used += (size_t)vsnprintf(text + used, sizeof text - used, format, arguments);
    va_end(arguments);
    assert_true(used < sizeof text);
}

static uint64_t stream;
static int draw(int most) { // 0 .. most - 1
    stream = th_hash_add(stream, 1);
    return (int)((stream >> 20) % (uint64_t)most);
}

// Names of a stage's models, small cells where they have any.
static void put_model(th_stage stage) {
    int count;
    const th_model *const *models = th_models(&count);
    const th_model *model;
    do model = models[draw(count)];
    while (model->stage != stage || model->internal);
    put(", \"%s\": {\"model\": \"%s\"", th_stage_name(stage), model->name);
    for (int p = 0; p < model->param_count; ++p) {
        const th_param_info *param = &model->params[p];
        if (strstr(param->name, "cell") && draw(3) == 0)
            put(", \"%s\": %.9g", param->name, fmax(param->min, 0.1 * param->max * draw(3) / 2));
        else if (draw(25) == 0)
            put(", \"%s\": %.9g", param->name, draw(2) ? param->min : param->max);
    }
    put("}");
}

static void put_pillars(double width, double height) {
    int count = 20 + draw(300);
    put(", \"obstacles\": [");
    for (int k = 0; k < count; ++k)
        put("%s{\"circle\": [%.5g, %.5g, %.3g]}", k ? ", " : "",
            width * (0.1 + 0.8 * draw(1000) / 1000.0), height * (0.1 + 0.8 * draw(1000) / 1000.0),
            0.05 * (1 + draw(20)));
    put("]");
}

static void put_doors(double width, double height) {
    int count = draw(3) ? draw(4) : draw(200);
    put(", \"doors\": [");
    for (int k = 0; k < count; ++k)
        put("%s{\"id\": \"d%d\", \"level\": \"l0\", \"line\": [[%.5g, %.5g], [%.5g, %.5g]]}",
            k ? ", " : "", k, width * (0.2 + 0.6 * k / count), 0.3 * height,
            width * (0.2 + 0.6 * k / count), 0.7 * height);
    put("]");
}

static void put_walls(double width, double height) {
    int kind = draw(5), count = kind == 0 ? 0 : 20 + draw(300);
    if (kind == 4) {
        put_pillars(width, height);
        return;
    }
    put(", \"walls\": [");
    for (int k = 0; k < count; ++k) {
        double x = width * (0.2 + 0.6 * k / count);
        if (k) put(", ");
        if (kind == 1) // a comb
            put("[[%.4g, %.4g], [%.4g, %.4g]]", x, 0.1 * height, x, 0.9 * height);
        else if (kind == 2) // all of them through one place
            put("[[%.4g, %.4g], [%.4g, %.4g]]", x, 0.2 * height, width - x, 0.8 * height);
        else // short ones close together
            put("[[%.5g, %.5g], [%.5g, %.5g]]", 0.5 * width + 0.02 * k,
                0.5 * height + 0.3 * (k % 7), 0.5 * width + 0.02 * k + 0.01,
                0.5 * height + 0.3 * (k % 7) + 0.2);
    }
    put("]");
}

// Many of one thing that models, planners or results count: places across the ground.
static void put_many(double width, double height) {
    static const struct {
        const char *name, *before, *between, *after; // a pair of corners, or of ends
    } things[] = {
        {"\"strips\": [", "\"line\": [[", "], [", "]], \"width\": 100"},
        {"\"guidance\": [", "\"line\": [[", "], [", "]], \"radius\": 20"},
        {"\"interests\": [", "\"area\": {\"rect\": [", ", ", "]}"},
        {"\"measure\": {\"areas\": [", "\"area\": {\"rect\": [", ", ", "]}"},
        {"\"measure\": {\"lines\": [", "\"line\": [[", "], [", "]]"},
        {"\"exits\": [", "\"area\": {\"rect\": [", ", ", "]}"},
        {"\"scripted\": [", "\"radius\": 2, \"path\": [[0, ", "], [1, ", "]]"},
    };
    size_t kinds = sizeof things / sizeof *things, kind = (size_t)draw(2 * (int)kinds);
    if (kind >= kinds) return;
    int count = 10 + draw(90);
    double reach = draw(2) ? 0.9 : 0.01;
    put(", %s", things[kind].name);
    for (int k = 0; k < count; ++k) {
        double x = width * (0.02 + (0.95 - reach) * draw(1000) / 1000.0);
        double y = height * (0.02 + (0.95 - reach) * draw(1000) / 1000.0);
        put("%s{\"level\": \"l0\", %s%.5g, %.5g%s%.5g, %.5g%s}", k ? ", " : "", things[kind].before,
            x, y, things[kind].between, x + reach * width, y + reach * height, things[kind].after);
    }
    put("%s", strncmp(things[kind].name, "\"measure", 8) == 0 ? "]}" : "]");
}

// Writes the number of a group's people: few, or as many as the text allows.
static void put_people(double width, double height) {
    switch (draw(24)) {
    case 0: put(", \"count\": 1000000"); return;
    case 1: put(", \"density\": 20"); return;
    case 2: put(", \"source\": {\"rate\": 1e5}"); return;
    case 3: put(", \"source\": {\"timetable\": [[0, 1000000], [1e6, 1000000]]}"); return;
    case 4: put(", \"count\": 500, \"radius\": {\"uniform\": [0.05, 2]}"); return;
    case 5:
        put(", \"count\": 300, \"area\": {\"rect\": [%g, %g, %g, %g]}", 0.5 * width, 0.5 * height,
            0.5 * width + 4, 0.5 * height + 4);
        return;
    default: put(", \"count\": %d", 1 + draw(8));
    }
}

static void put_scene(void) {
    static const double sizes[] = {8, 60, 60, 400, 3000, 40000};
    double width = sizes[draw(6)], height = sizes[draw(6)];
    int levels = draw(5) ? 1 : 1 + draw(60), goals = draw(3) ? 1 + draw(3) : 1 + draw(200);
    int groups = draw(2) ? 1 + draw(3) : goals, zones = draw(6) ? 0 : draw(300);
    used = 0;
    put("{\"levels\": [");
    for (int l = 0; l < levels; ++l) {
        put("%s{\"id\": \"l%d\", \"walkable\": {\"rect\": [0, 0, %g, %g]}", l ? ", " : "", l, width,
            height);
        if (l == 0) put_walls(width, height);
        put("}");
    }
    put("]");
    if (draw(8) == 0) put(", \"plan_cell\": 0.02");
    if (draw(8) == 0) put(", \"run\": {\"step\": 0.0001}");
    put_doors(width, height);
    put_many(width, height);
    put(", \"waypoints\": [");
    for (int g = 0; g < goals; ++g) {
        double x = width * (0.02 + 0.9 * g / goals), y = height * 0.02;
        put("%s{\"id\": \"w%d\", \"level\": \"l0\", \"area\": {\"rect\": [%.6g, %.6g, %.6g, "
            "%.6g]}}",
            g ? ", " : "", g, x, y, x + 1, y + 1);
    }
    put("], \"zones\": [");
    for (int z = 0; z < zones; ++z)
        put("%s{\"level\": \"l0\", \"area\": {\"circle\": [%.4g, %.4g, %.3g]}, \"speed\": 0.9}",
            z ? ", " : "", 0.5 * width, 0.5 * height, 0.001 * width * (1 + z));
    put("], \"groups\": [");
    for (int g = 0; g < groups; ++g) {
        put("%s{\"id\": \"g%d\", \"level\": \"l0\", \"to\": \"w%d\"", g ? ", " : "", g, g % goals);
        if (g < 3)
            put_people(width, height);
        else
            put(", \"count\": %d", 1 + draw(8));
        if (g % 50 == 0 || draw(8) == 0) { // else the usual ones, so that the text stays small
            put_model(TH_STAGE_PLAN);
            put_model(TH_STAGE_MOVE);
            if (draw(2)) put_model(TH_STAGE_BEHAVE);
            if (draw(2)) put_model(TH_STAGE_FILTER);
        } else {
            put(", \"plan\": \"%s\"", groups > 20 ? "guided" : "continuum");
        }
        put("}");
    }
    put("]}");
}

// ---- what they take

typedef struct cost {
    double seconds;
    int64_t bytes;
    bool refused;
    char why[400];
} cost;

static void say(cost *of, const th_error *error) {
    of->refused = true;
    snprintf(of->why, sizeof of->why, "%.100s: %.290s", error->path, error->message);
    assert_true(error->message[0] != '\0');
}

// From the text to the first step, as `throng check` and `throng run` do.
static cost cost_of(const char *file) {
    ledger l = {0};
    cost found = {0};
    th_scene_options options = {.allocator = {counted_alloc, counted_free, &l}};
    th_scene *scene = NULL;
    th_world *world = NULL;
    th_error error = {0};
    double begin = processor_seconds();
    th_result result =
        file ? th_scene_load_file(file, &options, &scene, &error)
             : th_scene_load_json(text, used, "nasty", NULL, &options, &scene, &error);
    th_world_def def = th_world_def_default();
    def.allocator = options.allocator;
    def.threads = 1;
    if (result == TH_OK) result = th_world_create(scene, &def, &world, &error);
    th_findings *findings = NULL;
    if (result == TH_OK) result = th_scene_findings(scene, &findings, &error);
    if (result == TH_OK) th_world_step(world, 1);
    if (result != TH_OK) say(&found, &error);
    found.seconds = processor_seconds() - begin;
    found.bytes = l.most;
    th_findings_destroy(findings);
    th_world_destroy(world);
    th_scene_destroy(scene);
    return found;
}

static void assert_bounded(const char *name, cost of) {
    print_message("  %-20s %5.2f s, %4d MB%s%.90s\n", name, of.seconds, (int)(of.bytes >> 20),
                  of.refused ? ", refused: " : "", of.why);
    if (of.seconds > SECONDS_MOST * PATIENCE || of.bytes > BYTES_MOST) {
        fwrite(text, 1, used, stderr); // print_message has an end
        fail_msg("%s takes %.1f s of processor time and %d MB", name, of.seconds,
                 (int)(of.bytes >> 20));
    }
}

static void known_ones(void **state) {
    (void)state;
    cost rings = cost_of(TH_SOURCE_DIR "/tests/data/scene/harm/rings.json"),
         strip = cost_of(TH_SOURCE_DIR "/tests/data/scene/harm/strip.json");
    used = 0;
    assert_bounded("rings", rings);
    assert_bounded("strip", strip);
    assert_non_null(strstr(strip.why, "cannot reach"));
}

// The search for the narrowest passage ends with its work, however many walls there are.
static void passages_end_with_their_work(void **state) {
    (void)state;
    th_scene *scene = scene_file("tests/data/scene/harm/rings.json");
    th_arena arena = th_arena_of(NULL);
    int64_t work = 100000;
    th_narrowest_passage_within(scene, &arena, 0.4f, 8.0f, &work);
    assert_true(work <= 0 && work > -1000000);
    th_arena_release(&arena);
    th_scene_destroy(scene);
}

static void portals_end_with_their_work(void **state) {
    (void)state;
    th_scene *scene = scene_file("tests/data/scene/harm/rings.json");
    th_arena arena = th_arena_of(NULL);
    th_portals found;
    int64_t work = 100000;
    assert_true(th_portals_find(scene, 3.0f, &work, &arena, &found));
    assert_true(work <= 0 && work > -1000000);
    th_arena_release(&arena);
    th_scene_destroy(scene);
}

// A forest of pillars, for the behaviour hidac.
static void put_forest(int count, double radius, double apart) {
    int side = (int)ceil(sqrt(count));
    used = 0;
    put("{\"levels\": [{\"walkable\": {\"rect\": [0, 0, %g, %g]}, \"obstacles\": [",
        (side + 1) * apart, (side + 1) * apart);
    for (int k = 0; k < count; ++k)
        put("%s{\"circle\": [%.4g, %.4g, %g]}", k ? ", " : "", (1 + k % side) * apart,
            (1 + k / side) * apart, radius);
    put("]}], \"exits\": [{\"id\": \"e\", \"line\": [[0, 0], [%g, 0]]}], \"groups\": "
        "[{\"count\": 5, \"radius\": 0.1, \"behave\": \"hidac\"}]}",
        apart);
}

// Pillars as in a large hall have rooms and ways; where too many corners are close together, the plan is refused.
static void many_pillars(void **state) {
    (void)state;
    put_forest(400, 1.0, 5.0);
    cost hall = cost_of(NULL);
    assert_bounded("400 pillars", hall);
    assert_false(hall.refused);
    put_forest(900, 0.05, 0.4);
    cost forest = cost_of(NULL);
    assert_bounded("900 poles", forest);
    assert_non_null(strstr(forest.why, "too many corners close together"));
}

// A corridor with so many chambers beside it that lines of sight between them would be compared for ever.
static void many_chambers(void **state) {
    (void)state;
    used = 0;
    put("{\"levels\": [{\"walkable\": {\"rect\": [0, 0, 2501, 10]}, \"walls\": [");
    for (int k = 1; k < 2500; ++k) put("%s[[%d, 2], [%d, 10]]", k > 1 ? ", " : "", k, k);
    put("]}], \"exits\": [{\"id\": \"e\", \"line\": [[0, 0], [0, 2]]}], \"groups\": "
        "[{\"count\": 5, \"behave\": \"hidac\"}]}");
    cost chambers = cost_of(NULL);
    assert_bounded("2500 chambers", chambers);
    assert_false(chambers.refused);
}

// Cells of the road map grow until filling them is bounded.
static void comb_of_two_kilometres(void **state) {
    (void)state;
    used = 0;
    put("{\"levels\": [{\"walkable\": {\"rect\": [0, 0, 2000, 2000]}, \"walls\": [");
    for (int k = 0; k < 300; ++k)
        put("%s[[%d, 100], [%d, 1900]]", k ? ", " : "", 6 * k + 100, 6 * k + 100);
    put("]}], \"exits\": [{\"id\": \"e\", \"line\": [[2000, 0], [2000, 10]]}], \"groups\": "
        "[{\"area\": {\"rect\": [0, 0, 50, 10]}, \"count\": 30, \"behave\": \"hidac\"}]}");
    assert_bounded("comb of 2 km", cost_of(NULL));
    th_scene *scene = scene_of(text);
    assert_non_null(scene->plan->plans[0].roadmap);
    assert_true(scene->plan->plans[0].roadmap->cell > 10.0f); // 5 m by the number of cells alone
    th_scene_destroy(scene);
}

// The strip, with a way to its goals: the road map of 40 km.
static void long_strip(void **state) {
    (void)state;
    used = 0;
    put("{\"levels\": [{\"walkable\": {\"rect\": [0, 0, 40000, 10]}, \"walls\": [");
    for (int k = 0; k < 100; ++k)
        put("%s[[%d, %d], [%d, %d]]", k ? ", " : "", 400 * k + 200, k % 2 ? 0 : 3, 400 * k + 200,
            k % 2 ? 7 : 10);
    put("]}], \"exits\": [{\"id\": \"e\", \"line\": [[40000, 0], [40000, 10]]}], \"groups\": "
        "[{\"area\": {\"rect\": [0, 0, 50, 10]}, \"count\": 30, \"behave\": \"hidac\"}]}");
    assert_bounded("road map of 40 km", cost_of(NULL));
}

static void many_guided_goals(void **state) {
    (void)state;
    used = 0;
    put("{\"levels\": [{\"walkable\": {\"rect\": [0, 0, 300, 300]}}], \"waypoints\": [");
    for (int g = 0; g < 300; ++g)
        put("%s{\"id\": \"w%d\", \"area\": {\"rect\": [%d, 0, %d, 1]}}", g ? ", " : "", g, g,
            g + 1);
    put("], \"groups\": [");
    for (int g = 0; g < 300; ++g)
        put("%s{\"count\": 1, \"plan\": \"guided\", \"to\": \"w%d\"}", g ? ", " : "", g);
    put("]}");
    assert_bounded("300 guided goals", cost_of(NULL));
}

static void small_continuum_cells(void **state) {
    (void)state;
    used = 0;
    put("{\"levels\": [{\"walkable\": {\"rect\": [0, 0, 3000, 3000]}}], \"exits\": [{\"line\": "
        "[[0, 0], "
        "[0, 9]]}], \"groups\": [{\"count\": 9, \"plan\": {\"model\": \"continuum\", \"cell\": "
        "0.1}}]}");
    assert_bounded("continuum", cost_of(NULL));
    th_scene *scene = scene_of(text);
    th_findings *findings;
    int count, told = 0;
    assert_int_equal(th_scene_findings(scene, &findings, NULL), TH_OK);
    const th_finding *list = th_findings_list(findings, &count);
    for (int k = 0; k < count; ++k)
        told += list[k].kind == TH_FINDING_COARSE_PLAN && strstr(list[k].text, "\"continuum\"");
    assert_int_equal(told, 1);
    th_findings_destroy(findings);
    th_scene_destroy(scene);
}

// Outlines of 500 corners all over a square kilometre: nodes that ask each of them take half a minute.
static void zones_of_many_corners(void **state) {
    (void)state;
    enum { TEETH = 250, ZONES = 6 };
    used = 0;
    put("{\"levels\": [{\"walkable\": {\"rect\": [0, 0, 1000, 1000]}}], \"exits\": [{\"id\": "
        "\"e\", "
        "\"line\": [[0, 0], [0, 3]]}], \"groups\": [{\"count\": 3}], \"zones\": [");
    for (int z = 0; z < ZONES; ++z) {
        put("%s{\"speed\": 0.5, \"area\": {\"points\": [", z ? ", " : "");
        for (int k = 0; k < 2 * TEETH; ++k) { // a ribbon of teeth there and back, 5 cm wide
            int tooth = k < TEETH ? k : 2 * TEETH - 1 - k;
            put("%s[%.5g, %d]", k ? ", " : "", 3 + 3.9 * tooth,
                (tooth % 2 ? 970 : 10 + z) + (k < TEETH ? 0 : 12));
        }
        put("]}}");
    }
    put("]}");
    assert_bounded("zones of 500 corners", cost_of(NULL));
}

// Grids of rooms and maps are as fine as all levels together allow.
static void sixty_large_levels(void **state) {
    (void)state;
    used = 0;
    put("{\"levels\": [");
    for (int l = 0; l < 60; ++l)
        put("%s{\"id\": \"l%d\", \"walkable\": {\"rect\": [0, 0, 600, 600]}}", l ? ", " : "", l);
    put("], \"exits\": [{\"id\": \"e\", \"level\": \"l0\", \"line\": [[0, 0], [0, 3]]}], "
        "\"groups\": [{\"level\": \"l0\", \"count\": 3}]}");
    assert_bounded("60 levels of 600 m", cost_of(NULL));
    th_scene *scene = scene_of(text);
    th_kernel kernel;
    assert_true(th_kernel_create(th_scene_view_of(scene), 7, 0.5, NULL, &kernel));
    assert_true(60.0 * kernel.nx * kernel.ny <= 16e6);
    assert_near(kernel.cell, 2.0, 0.0);
    th_kernel_release(&kernel);
    th_rooms *rooms = NULL;
    assert_int_equal(th_rooms_create(scene, TH_PASSAGE_WIDTH_MAX, &rooms, NULL), TH_OK);
    const th_room_grid *grid = &th_room_store_of(rooms)->grids[7];
    assert_true(grid->nx > 100 && 60.0 * grid->nx * grid->ny < 4.1e6);
    th_rooms_destroy(rooms);
    th_scene_destroy(scene);
}

static void drawn_by_chance(void **state) {
    (void)state;
    int count = getenv("THRONG_LONG") ? 600 : 6, accepted = 0;
    for (int k = 0; k < count; ++k) {
        char name[40];
        stream = th_hash_add(UINT64_C(29), (uint64_t)k);
        put_scene();
        snprintf(name, sizeof name, "scene %d, %.1f kB", k, 1e-3 * (double)used);
        cost of = cost_of(NULL);
        accepted += !of.refused;
        assert_bounded(name, of);
    }
    assert_true(accepted > count / 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_ones),
        cmocka_unit_test(passages_end_with_their_work),
        cmocka_unit_test(portals_end_with_their_work),
        cmocka_unit_test(many_pillars),
        cmocka_unit_test(many_chambers),
        cmocka_unit_test(comb_of_two_kilometres),
        cmocka_unit_test(long_strip),
        cmocka_unit_test(many_guided_goals),
        cmocka_unit_test(small_continuum_cells),
        cmocka_unit_test(zones_of_many_corners),
        cmocka_unit_test(sixty_large_levels),
        cmocka_unit_test(drawn_by_chance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
