// Drawings: DXF read, joined and made a scene; a scene written and read again. SPDX-License-Identifier: Apache-2.0
#include "core/file.h"
#include "draw/plan_drawing.h"
#include "import/drawing.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Pairs of a DXF as one text, parted by blanks; ~ is an empty value.
static char *dxf_of(const char *units, const char *blocks, const char *entities) {
    static char text[20000];
    char *to = text;
    to += sprintf(to, "0\nSECTION\n2\nHEADER\n9\n$INSUNITS\n70\n%s\n0\nENDSEC\n", units);
    const char *parts[] = {"0 SECTION 2 BLOCKS", blocks, "0 ENDSEC 0 SECTION 2 ENTITIES", entities,
                           "0 ENDSEC 0 EOF"};
    for (int k = 0; k < 5; ++k)
        for (const char *at = parts[k] + strspn(parts[k], " "); *at;) {
            size_t length = strcspn(at, " ");
            to += sprintf(to, "%.*s\n", (int)length, at);
            at += length + strspn(at + length, " ");
        }
    return text;
}

typedef struct imported {
    th_arena arena;
    th_drawing drawing;
    json_t *scene;
    const char *told;
    th_error error;
    th_result result;
} imported;

static imported import_text(const char *text, const th_import_settings *settings) {
    imported in = {.arena = th_arena_of(NULL)};
    char *copy = strdup(text);
    in.result = th_dxf_read(&in.drawing, &in.arena, copy, strlen(text), settings->unit, &in.error);
    if (in.result == TH_OK) {
        in.scene = th_plan_import(&in.drawing, settings, &in.told, &in.error);
        in.result = in.scene ? TH_OK : in.error.code;
    }
    // Names of layers are copies; nothing points into the text.
    memset(copy, 'x', strlen(text));
    free(copy);
    return in;
}

static void release(imported *in) {
    json_decref(in->scene);
    th_arena_release(&in->arena);
}

static th_scene *scene_from(const imported *in) {
    if (in->result != TH_OK) fail_msg("%s", in->error.message);
    char *text = json_dumps(in->scene, JSON_REAL_PRECISION(12));
    th_scene *scene = scene_of(text);
    free(text);
    return scene;
}

static double area_of(const th_scene *scene) { return scene->levels[0].walkable.area; }

#define WALL(x0, y0, x1, y1) " 0 LINE 8 WALL 10 " #x0 " 20 " #y0 " 11 " #x1 " 21 " #y1
#define LINE_ON(layer, x0, y0, x1, y1) \
    " 0 LINE 8 " layer " 10 " #x0 " 20 " #y0 " 11 " #x1 " 21 " #y1

// Two rooms of 5 x 5 m in millimetres, a door between them, an exit; one corner is open by 30 mm.
static const char two_rooms[] = WALL(0, 0, 10000, 0) WALL(10000, 0, 10000, 2000)
    WALL(10000, 3000, 10000, 5000) WALL(10000, 5000, 0, 5000) WALL(0, 4970, 0, 0)
        WALL(5000, 0, 5000, 2000) WALL(5000, 3200, 5000, 5000)
            LINE_ON("DOOR", 5000, 2000, 5000, 3200) LINE_ON("EXIT", 10000, 2000, 10000, 3000);

static void rooms_become_ground(void **state) {
    (void)state;
    th_import_settings settings = th_import_settings_default();
    settings.people = 20;
    imported in = import_text(dxf_of("4", "", two_rooms), &settings);
    th_scene *scene = scene_from(&in);
    assert_near(area_of(scene), 50.0, 0.2);
    assert_int_equal(scene->door_count, 1);
    assert_non_null(strstr(in.told, "closed a gap of 30 mm at (0.000, 5.000)"));
    th_world *world = world_of(scene, 1, 1);
    run_to_end(world, 120.0);
    assert_int_equal(th_world_statistics(world).left, 20);
    th_world_destroy(world);
    th_scene_destroy(scene);
    release(&in);
}

static void larger_gaps_stay_open(void **state) {
    (void)state;
    th_import_settings settings = th_import_settings_default();
    settings.close = 0.02;
    imported in = import_text(dxf_of("4", "", two_rooms), &settings);
    assert_int_equal(in.result, TH_OK);
    assert_null(strstr(in.told, "closed a gap"));
    char *text = json_dumps(in.scene, 0);
    th_scene *scene = NULL;
    th_error error = {0};
    // The west room is open, so there is no ground behind the door.
    assert_int_equal(th_scene_load_json(text, strlen(text), "test", NULL, NULL, &scene, &error),
                     TH_BAD_SCENE);
    assert_non_null(strstr(error.path, "doors[0]"));
    free(text);
    release(&in);
}

// The same in inches and feet by $INSUNITS, and by a unit that is given.
static void units_count(void **state) {
    (void)state;
    static const struct {
        const char *units;
        double given, side;
    } cases[] = {{"1", 0, 0.0254}, {"2", 0, 0.3048}, {"6", 0, 1}, {"5", 0, 0.01}, {"4", 1, 1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        th_import_settings settings = th_import_settings_default();
        settings.unit = cases[k].given;
        imported in = import_text(
            dxf_of(cases[k].units, "",
                   "0 LWPOLYLINE 8 GROUND 90 4 70 1 10 0 20 0 10 800 20 0 10 800 20 400 10 0 20 400"
                   " 0 LINE 8 EXIT 10 800 20 100 11 800 21 300"),
            &settings);
        th_scene *scene = scene_from(&in);
        double side = cases[k].side;
        assert_near(area_of(scene) / (320000.0 * side * side), 1.0, 1e-4);
        th_scene_destroy(scene);
        release(&in);
    }
    th_import_settings settings = th_import_settings_default();
    imported in = import_text(dxf_of("0", "", two_rooms), &settings);
    assert_int_equal(in.result, TH_BAD_SCENE);
    assert_non_null(strstr(in.error.message, "--unit"));
    release(&in);
}

// A block of 2 x 1 about its base (1, 1), placed, turned by 90 degrees and twice as large, on layer 0: it takes the layer of
// the reference.
static void blocks_are_placed(void **state) {
    (void)state;
    th_import_settings settings = th_import_settings_default();
    imported in =
        import_text(dxf_of("6",
                           "0 BLOCK 2 B 10 1 20 1 0 LINE 8 0 10 1 20 1 11 3 21 2 0 ENDBLK 0 BLOCK "
                           "2 IN 10 0 20 0 0 INSERT 8 0 2 B 10 10 20 0 0 ENDBLK",
                           "0 INSERT 8 GROUND 2 B 10 50 20 20 41 2 42 2 50 90"
                           " 0 INSERT 8 WALL 2 IN 10 0 20 0 41 -1 42 1 70 2 71 1 44 5"),
                    &settings);
    const th_point *p = in.drawing.points;
    assert_int_equal(in.drawing.path_count, 3);
    assert_string_equal(in.drawing.layers[in.drawing.paths[0].layer].name, "GROUND");
    assert_near(p[0].x, 50, 1e-9);
    assert_near(p[0].y, 20, 1e-9);
    assert_near(p[1].x, 48, 1e-9); // (2, 1) turned: (-1, 2), doubled
    assert_near(p[1].y, 24, 1e-9);
    assert_near(p[2].x, -10, 1e-9); // mirrored, in a block of its own
    assert_near(p[3].x, -12, 1e-9);
    assert_near(p[4].x, -5, 1e-9); // the second column
    release(&in);
}

static void arcs_and_bulges_are_round(void **state) {
    (void)state;
    th_import_settings settings = th_import_settings_default();
    imported in = import_text(dxf_of("6", "",
                                     "0 ARC 8 WALL 10 1 20 2 40 3 50 350 51 80"
                                     " 0 LWPOLYLINE 8 WALL 90 2 70 0 10 0 20 0 42 1 10 4 20 0"
                                     " 0 CIRCLE 8 WALL 10 0 20 0 40 1"),
                              &settings);
    assert_int_equal(in.drawing.path_count, 3);
    const th_drawn_path *arc = &in.drawing.paths[0], *bulge = &in.drawing.paths[1];
    for (int i = 0; i < arc->count; ++i) {
        th_point q = in.drawing.points[arc->first + i];
        assert_near(hypot(q.x - 1.0, q.y - 2.0), 3.0, 1e-9);
    }
    assert_near(in.drawing.points[arc->first].y, 2.0 + 3.0 * sin(-10.0 / 57.29577951), 1e-6);
    double lowest = 0.0;
    for (int i = 0; i < bulge->count; ++i) {
        th_point q = in.drawing.points[bulge->first + i];
        assert_near(hypot(q.x - 2.0, q.y), 2.0, 1e-9);
        lowest = fmin(lowest, q.y);
    }
    assert_near(lowest, -2.0, 0.01); // above 0 it bulges to the right of its way
    assert_true(in.drawing.paths[2].closed);
    release(&in);
}

// A leaf drawn open, and its swing.
// Ground with a hole and a quarter cut from it, an obstacle with its outline, and walls whose hatch is no wall.
static void hatches_are_areas(void **state) {
    (void)state;
    th_import_settings settings = th_import_settings_default();
    imported in = import_text(
        dxf_of(
            "6", "",
            " 0 HATCH 8 GROUND 10 0 20 0 30 0 2 SOLID 70 1 71 0 91 2"
            " 92 3 72 0 73 1 93 4 10 0 20 0 10 20 20 0 10 20 20 10 10 0 20 10 97 0"
            " 92 16 93 5 72 1 10 12 20 4 11 14 21 4 72 1 10 14 20 4 11 14 21 5"
            " 72 2 10 14 20 6 40 1 50 90 51 180 73 0"
            " 72 1 10 13 20 6 11 12 21 6 72 1 10 12 20 6 11 12 21 4 97 0 75 0 76 1 98 1 10 1 20 1"
            " 0 LWPOLYLINE 8 COLUMN 90 4 70 1 10 2 20 2 10 3 20 2 10 3 20 3 10 2 20 3"
            " 0 HATCH 8 COLUMN 91 1 92 2 72 0 73 1 93 4 10 2 20 2 10 3 20 2 10 3 20 3 10 2 20 3"
            " 97 0 75 0"
            " 0 HATCH 8 WALL 91 1 92 2 72 0 73 1 93 3 10 6 20 2 10 8 20 2 10 8 20 5 97 0 75 0"
            " 0 HATCH 8 COLUMN 91 1 92 1 93 1 72 4 94 3 10 6 20 2 10 8 20 2 97 0"),
        &settings);
    th_scene *scene = scene_from(&in);
    // The cut: a circle of 1 m about (14, 6), of which the quarter to the south west lies within the hole.
    assert_near(area_of(scene), 200.0 - (4.0 - 0.25 * 3.14159265) - 1.0, 0.01);
    assert_int_equal(json_array_size(json_object_get(
                         json_array_get(json_object_get(in.scene, "levels"), 0), "obstacles")),
                     2);
    assert_non_null(strstr(in.told, "2 hatches are left out"));
    assert_non_null(strstr(in.told, "HATCH with splines"));
    th_scene_destroy(scene);
    release(&in);
}

static void a_door_is_where_its_leaf_shuts(void **state) {
    (void)state;
    th_import_settings settings = th_import_settings_default();
    imported in =
        import_text(dxf_of("6",
                           "0 BLOCK 2 D 10 0 20 0 0 LINE 8 0 10 0 20 0 11 0 21 1 0 ARC 8 0 10 0 20 "
                           "0 40 1 50 0 51 90 0 ENDBLK",
                           "0 LWPOLYLINE 8 GROUND 90 4 70 1 10 0 20 0 10 9 20 0 10 9 20 9 10 0 20 9"
                           " 0 LINE 8 EXIT 10 9 20 1 11 9 21 3 0 INSERT 8 DOOR 2 D 10 4 20 5"),
                    &settings);
    th_scene *scene = scene_from(&in);
    assert_int_equal(scene->door_count, 1);
    assert_near(fabsf(scene->doors[0].line.b.x - scene->doors[0].line.a.x), 1.0, 1e-3);
    assert_near(scene->doors[0].line.a.y, 5.0, 1e-3);
    assert_near(scene->doors[0].line.b.y, 5.0, 1e-3);
    th_scene_destroy(scene);
    release(&in);
}

static void layers_are_mapped(void **state) {
    (void)state;
    static const char text[] =
        "0 LWPOLYLINE 8 ROOMS 90 4 70 1 10 0 20 0 10 9 20 0 10 9 20 9 10 0 20 9"
        " 0 LWPOLYLINE 8 ROOMS 90 4 70 1 10 4 20 4 10 5 20 4 10 5 20 5 10 4 20 5"
        " 0 LINE 8 Way-Out 10 9 20 1 11 9 21 3 0 LINE 8 Furniture 10 1 20 1 11 1 21 2 0 TEXT 8 "
        "Furniture 1 x";
    th_import_settings settings = th_import_settings_default();
    imported none = import_text(dxf_of("6", "", text), &settings);
    assert_non_null(strstr(none.error.message, "--layer"));
    release(&none);
    assert_true(th_import_add_rule(&settings, "rooms=ground@low"));
    assert_true(th_import_add_rule(&settings, "way*=exits@low"));
    assert_false(th_import_add_rule(&settings, "x=roof"));
    imported in = import_text(dxf_of("6", "", text), &settings);
    th_scene *scene = scene_from(&in);
    assert_near(area_of(scene), 80.0, 1e-3); // the ring in the ring is a hole
    assert_string_equal(scene->levels[0].id, "low");
    assert_non_null(strstr(in.told, "Furniture"));
    assert_non_null(strstr(in.told, "TEXT"));
    // The recipe does the same.
    th_import_settings again = th_import_settings_default();
    th_error error;
    assert_int_equal(th_import_recipe(&again, in.scene, &error), TH_OK);
    imported second = import_text(dxf_of("0", "", text), &again);
    assert_true(
        json_equal(json_object_get(in.scene, "levels"), json_object_get(second.scene, "levels")));
    th_scene_destroy(scene);
    release(&in);
    release(&second);
}

static void damage_is_told(void **state) {
    (void)state;
    char bomb[4000] = "";
    for (int k = 0; k < 16; ++k) // each holds the next ten times
        sprintf(bomb + strlen(bomb),
                "0 BLOCK 2 B%d 10 0 20 0 0 INSERT 8 WALL 2 B%d 70 10 44 1 0 LINE 8 WALL 10 0 20 0 "
                "11 1 21 1 0 ENDBLK ",
                k, k + 1);
    const struct {
        char *text;
        const char *words;
    } cases[] = {
        {strdup("hello\nworld\n"), "group code"},
        {strdup(""), "ENTITIES"},
        {strdup("AutoCAD Binary DXF\r\n"), "binary DXF"},
        {strdup("AC1027xxxx"), "DWG"},
        {strdup(dxf_of("6", "", "0 LINE 8 WALL 10 abc 20 0 11 1 21 1")), "a number is due"},
        {strdup(dxf_of("6", "", "0 LINE 8 WALL 10 nan 20 0 11 1 21 1")), "a number is due"},
        {strdup(dxf_of("6", "0 BLOCK 2 B 10 0 20 0 0 INSERT 2 B 8 WALL 0 ENDBLK",
                       "0 INSERT 2 B 8 WALL")),
         "in themselves"},
        {strdup(dxf_of("6", "", "0 INSERT 2 B 70 100000 71 100000")), NULL},
        {strdup(dxf_of("6", bomb, "0 INSERT 8 WALL 2 B0")), "million"},
        {strdup(dxf_of("6", "", "0 LINE 8 WALL 10 0 20 0 11 1 21 1")), "no room"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        th_import_settings settings = th_import_settings_default();
        imported in = import_text(cases[k].text, &settings);
        if (in.result == TH_OK) fail_msg("case %zu is taken", k);
        if (cases[k].words && !strstr(in.error.message, cases[k].words))
            fail_msg("case %zu: %s", k, in.error.message);
        release(&in);
        free(cases[k].text);
    }
}

// ---- there and back

static float wall_apart(const th_scene *scene, int level, th_vec2 p, th_point shift) {
    float least = 1e9f;
    p.x += (float)shift.x;
    p.y += (float)shift.y;
    for (int w = scene->levels[level].wall_begin; w < scene->levels[level].wall_end; ++w) {
        const th_wall *wall = &scene->walls[w];
        if (wall->door >= 0) continue;
        th_vec2 q = th_nearest_on_segment(p, wall->a, wall->b);
        least = fminf(least, hypotf(q.x - p.x, q.y - p.y));
    }
    return least;
}

// The largest distance of a point on a wall of one scene to the walls of the other [m].
static float walls_apart(const th_scene *one, const th_scene *other) {
    float most = 0.0f;
    th_point shift = {one->origin.x - other->origin.x, one->origin.y - other->origin.y};
    for (int w = 0; w < one->wall_count; ++w) {
        const th_wall *wall = &one->walls[w];
        if (wall->door >= 0) continue;
        for (int k = 0; k <= 10; ++k) {
            float t = (float)k / 10.0f;
            th_vec2 p = {wall->a.x + t * (wall->b.x - wall->a.x),
                         wall->a.y + t * (wall->b.y - wall->a.y)};
            most = fmaxf(most, wall_apart(other, wall->level, p, shift));
        }
    }
    return most;
}

static void scenes_come_back(void **state) {
    (void)state;
    static const char *const scenes[] = {"scenes/station.json",
                                         "scenes/door.json",
                                         "scenes/bottleneck.json",
                                         "scenes/templates/stairs.json",
                                         "scenes/templates/concourse.json",
                                         "tests/data/scene/good/everything.json"};
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; ++k) {
        th_error error;
        size_t length;
        th_scene *scene = NULL;
        if (th_scene_load_file(scenes[k], NULL, &scene, &error) == TH_NO_FILE) continue;
        assert_non_null(scene);
        char *text = th_dxf_write(th_scene_view_of(scene), &length);
        th_import_settings settings = th_import_settings_default();
        imported in = import_text(text, &settings);
        th_scene *back = scene_from(&in);
        assert_int_equal(back->level_count, scene->level_count);
        assert_int_equal(back->link_count, scene->link_count);
        float there = walls_apart(scene, back), again = walls_apart(back, scene);
        if (there > 1e-3f || again > 1e-3f)
            fail_msg("%s: walls are %g m and %g m apart", scenes[k], (double)there, (double)again);
        for (int l = 0; l < scene->level_count; ++l)
            assert_near(back->levels[l].walkable.area, scene->levels[l].walkable.area,
                        1e-3 * (1.0 + scene->levels[l].walkable.area));
        th_scene_destroy(back);
        th_scene_destroy(scene);
        free(text);
        release(&in);
    }
}

// ---- IFC

// One step of stairs, two triangles that look up.
static char *put_step(char *to, double x0, double x1, double y0, double y1, double z) {
    return to + sprintf(to, "%g,%g,%g,%g,%g,%g,%g,%g,%g,%g,%g,%g,%g,%g,%g,%g,%g,%g,", x0, y0, z, x1,
                        y0, z, x1, y1, z, x0, y0, z, x1, y1, z, x0, y1, z);
}

// Two storeys of 12 x 5 m with a flight of ten steps up to the east, from 3 to 6 m, and a wall that juts out over its upper
// end by 2 cm.
static char *two_storeys(void) {
    static char text[20000];
    static const char walls[] = "[\"walls@%s\",false,[12,2,12,0,0,0,0,5,12,5,12,3]],[\"walls@%s\","
                                "true,[5.98,1,6.2,1,6.2,3,5.98,3]],"
                                "[\"IfcSpace@%s\",true,[0,0,3,0,3,5,0,5],\"101 Hall\"],";
    char *to = text + sprintf(text, "{\"levels\":[{\"name\":\"low\",\"z\":0},{\"name\":\"high\","
                                    "\"z\":2.5}],\"paths\":[");
    to += sprintf(to, walls, "low", "low", "low");
    to +=
        sprintf(to, "[\"walls@high\",true,[0,0,12,0,12,5,0,5]],[\"doors@low\",false,[12,2,12,3]]],"
                    "\"stairs\":[{\"from\":\"low\",\"to\":\"high\",\"flights\":[[");
    for (int k = 0; k < 10; ++k)
        to = put_step(to, 3 + 0.3 * k, 3.3 + 0.3 * k, 1.5, 2.5, 0.25 * (k + 1));
    sprintf(to - 1, "]]}],\"left_out\":{\"furniture\":3}}");
    return text;
}

static void storeys_are_joined(void **state) {
    (void)state;
    imported in = {.arena = th_arena_of(NULL)};
    const char *text = two_storeys();
    th_import_settings settings = th_import_settings_default();
    settings.people = 20;
    in.result = th_ifc_take(&in.drawing, &in.arena, text, strlen(text), &in.error);
    if (in.result == TH_OK) in.scene = th_plan_import(&in.drawing, &settings, &in.told, &in.error);
    in.result = in.error.code;
    th_scene *scene = scene_from(&in);
    assert_int_equal(scene->level_count, 2);
    assert_near(scene->levels[1].z, 2.5, 1e-6);
    assert_int_equal(scene->link_count, 1);
    // The top is the edge at x = 6, from y 1.5 to 2.5; the hole above it is the stairs' ground.
    th_vec2 a = scene->links[0].a, b = scene->links[0].b;
    assert_near((double)a.x + scene->origin.x, 6.0, 1e-3);
    assert_near((double)b.x + scene->origin.x, 6.0, 1e-3);
    assert_near(fabsf(a.y - b.y), 1.0, 1e-3);
    assert_near(scene->levels[1].walkable.area, 60.0 - 3.0, 0.01);
    assert_non_null(strstr(in.told, "door1 leads out of level low and is taken as exit1"));
    assert_non_null(strstr(in.told, "furniture"));
    assert_int_equal(scene->measure_area_count, 1);
    assert_string_equal(scene->measure_areas[0].id, "101 Hall");
    th_world *world = world_of(scene, 1, 1);
    run_to_end(world, 120.0);
    assert_int_equal(th_world_statistics(world).left, 20);
    th_world_destroy(world);
    th_scene_destroy(scene);
    release(&in);
}

// IFC 4 in millimetres, by Node and web-ifc.
static void an_ifc_file_runs(void **state) {
    (void)state;
    setenv("NODE_PATH", TH_SOURCE_DIR "/studio/node_modules", 1);
    imported in = {.arena = th_arena_of(NULL)};
    th_import_settings settings = th_import_settings_default();
    settings.people = 40;
    in.scene = th_import_file(&in.arena, "tests/data/import/two_storeys.ifc", &settings, &in.told,
                              NULL, &in.error);
    if (!in.scene && strstr(in.error.message, "web-ifc")) {
        print_message("skipped: %s\n", in.error.message);
        release(&in);
        skip();
    }
    in.result = in.scene ? TH_OK : in.error.code;
    th_scene *scene = scene_from(&in);
    assert_int_equal(scene->level_count, 2);
    assert_int_equal(scene->door_count, 2);
    assert_near(scene->levels[1].z, 3.0, 1e-6);
    // 9.6 x 5.8 m without the wall across, its opening apart; the stairs of 4.2 x 1.2 m on it, the column off it.
    assert_near(scene->levels[0].walkable.area, 9.6 * 5.8 - 0.12 * (4.4 - 0.9) + 1.2 * 0.1 - 0.16,
                0.2);
    th_world *world = world_of(scene, 1, 1);
    run_to_end(world, 120.0);
    assert_int_equal(th_world_statistics(world).left, 40);
    th_world_destroy(world);
    th_scene_destroy(scene);
    release(&in);
}

static void damaged_ifc_is_told(void **state) {
    (void)state;
    static const char *const texts[] = {"", "[]", "{", "{\"levels\":[{}]}",
                                        "{\"stairs\":[{\"from\":1}]}"};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; ++k) {
        th_arena arena = th_arena_of(NULL);
        th_drawing drawing;
        th_error error;
        assert_int_equal(th_ifc_take(&drawing, &arena, texts[k], strlen(texts[k]), &error),
                         TH_BAD_SCENE);
        assert_true(error.message[0]);
        th_arena_release(&arena);
    }
}

// ---- maps and other simulators

static imported import_file(const char *path, const th_import_settings *settings) {
    imported in = {.arena = th_arena_of(NULL)};
    in.scene = th_import_file(&in.arena, path, settings, &in.told, NULL, &in.error);
    in.result = in.scene ? TH_OK : in.error.code;
    return in;
}

// A building of 0.0006 by 0.0004 degrees at 48.15 degrees north: 44.65 x 44.48 m on WGS 84.
static void maps_are_in_metres(void **state) {
    (void)state;
    th_import_settings settings = th_import_settings_default();
    settings.people = 30;
    settings.has_area = true;
    memcpy(settings.area, (double[4]){-70, -60, 70, 60}, sizeof settings.area);
    imported in = import_file("tests/data/import/square.geojson", &settings);
    if (in.result != TH_OK && strstr(in.error.message, "ogr2ogr, which is not here")) {
        print_message("skipped: %s\n", in.error.message);
        release(&in);
        skip();
    }
    th_scene *scene = scene_from(&in);
    double building = 44.646 * 44.484;
    assert_near(area_of(scene), 140.0 * 120.0 - building, 0.001 * building);
    assert_non_null(strstr(in.told, "north, east, south and west"));
    assert_int_equal(json_array_size(json_object_get(in.scene, "exits")), 4);
    size_t walls = json_array_size(
        json_object_get(json_array_get(json_object_get(in.scene, "levels"), 0), "walls"));
    assert_int_equal(walls, 1); // the fence, not the kerb
    th_world *world = world_of(scene, 1, 1);
    run_to_end(world, 200.0);
    assert_int_equal(th_world_statistics(world).left, 30);
    th_world_destroy(world);
    // The recipe keeps the origin: another map of the place falls on this one.
    th_import_settings again = th_import_settings_default();
    assert_int_equal(th_import_recipe(&again, in.scene, &in.error), TH_OK);
    assert_true(again.has_origin && again.has_area);
    assert_near(again.origin[1], 48.15, 0.001);
    th_scene_destroy(scene);
    release(&in);
}

static int leaves(const imported *in, double seconds) {
    th_scene *scene = scene_from(in);
    th_world *world = world_of(scene, 1, 1);
    run_to_end(world, seconds);
    int left = (int)th_world_statistics(world).left;
    th_world_destroy(world);
    th_scene_destroy(scene);
    return left;
}

static void vadere_comes_in(void **state) {
    (void)state;
    th_import_settings settings = th_import_settings_default();
    imported in = import_file("tests/data/import/others.scenario", &settings);
    th_scene *scene = scene_from(&in);
    assert_near(area_of(scene), 20.0 * 10.0 - 6.0 - 0.5, 0.01);
    assert_int_equal(scene->group_count, 2);
    assert_int_equal(scene->goal_count, 2);
    assert_near(scene->groups[0].radius.a, 0.195, 1e-9);
    assert_int_equal(scene->groups[0].route_count, 2);
    th_scene_destroy(scene);
    assert_int_equal(leaves(&in, 120.0), 12 + 5);
    release(&in);
}

static void jupedsim_comes_in(void **state) {
    (void)state;
    th_import_settings settings = th_import_settings_default();
    imported in = import_file("tests/data/import/jupedsim.json", &settings);
    th_scene *scene = scene_from(&in);
    assert_near(area_of(scene), 200.0 - 4.0, 0.01);
    assert_int_equal(scene->group_count, 2);
    assert_int_equal(scene->groups[0].route_count, 2);
    assert_int_equal(scene->groups[0].premovement.kind, TH_DISTRIBUTION_GAMMA);
    assert_string_equal(json_string_value(json_object_get(
                            json_array_get(json_object_get(in.scene, "groups"), 1), "move")),
                        "collision_free_speed");
    assert_non_null(strstr(in.told, "limit of throughput is left out"));
    th_scene_destroy(scene);
    assert_int_equal(leaves(&in, 120.0), 15 + 10);
    release(&in);
}

static void people_come_from_a_table(void **state) {
    (void)state;
    static const char table[] =
        "Name;X (m);Y (m);Z (m);Profile;Exit;Max Speed (m/s);Diameter (cm)\r\n"
        ";m;m;m;;;;\r\n"
        "Anna;1.5;2.5;0;adult;east;1.2;\r\n"
        "\"Bo; b.\";2.5;2.5;0.1;adult;east;1.2;\r\n"
        "Cy;3.5;2.5;3.1;wizard;moon;0.9;\r\n";
    char told[600];
    th_error error = {0};
    json_t *scene = json_pack("{s:[{s:s},{s:s,s:f}],s:[{s:s}]}", "levels", "id", "low", "id",
                              "high", "z", 3.0, "exits", "id", "east");
    assert_int_equal(th_import_people(scene, table, strlen(table), told, sizeof told, &error),
                     TH_OK);
    const json_t *groups = json_object_get(scene, "groups"), *first = json_array_get(groups, 0);
    const json_t *second = json_array_get(groups, 1);
    assert_int_equal(json_array_size(groups), 2);
    assert_int_equal(json_array_size(json_object_get(first, "positions")), 2);
    assert_string_equal(json_string_value(json_object_get(first, "profiles")), "adult");
    assert_string_equal(json_string_value(json_object_get(first, "to")), "east");
    assert_near(json_number_value(json_object_get(first, "speed")), 1.2, 1e-9);
    assert_string_equal(json_string_value(json_object_get(second, "level")), "high");
    assert_null(json_object_get(second, "profiles"));
    assert_null(json_object_get(second, "to"));
    assert_non_null(strstr(told, "3 people in 2 groups; 1 lines"));
    assert_non_null(strstr(told, "unknown profiles"));
    assert_int_equal(th_import_people(scene, "a,b\n1,2\n", 8, told, sizeof told, &error),
                     TH_BAD_SCENE);
    json_decref(scene);
}

static int brightness(const th_canvas *page, const th_plan_view *plan, double x, double y) {
    th_panel_page panels = th_panel_page_fit(&plan->box, 1, 9, 5.2 * 9, 5.6 * 9,
                                             plan->width - 10.5 * 9 - 1.5 * 9, 1.4 * plan->width);
    th_panel panel = th_panel_page_level(page, &panels, plan->scene, &plan->box, 0);
    cairo_surface_flush(page->surface);
    const unsigned char *pixels = cairo_image_surface_get_data(page->surface);
    int row = (int)th_panel_y(&panel, y), column = (int)th_panel_x(&panel, x);
    return pixels[row * cairo_image_surface_get_stride(page->surface) + 4 * column + 1];
}

static bool is_darker(const th_canvas *page, const th_plan_view *plan, double x, double y,
                      double than_x, double than_y) {
    return brightness(page, plan, x, y) + 40 < brightness(page, plan, than_x, than_y);
}

// Its left half is black; a quarter turn makes that the southern one.
static void pictures_are_traced(void **state) {
    (void)state;
    char folder[] = "/tmp/throng-trace-XXXXXX", from[64], to[64];
    assert_non_null(mkdtemp(folder));
    snprintf(from, sizeof from, "%s/floor.png", folder);
    snprintf(to, sizeof to, "%s/plan.png", folder);
    th_canvas drawn = th_canvas_create(200, 100, 10);
    cairo_rectangle(drawn.cairo, 0, 0, 100, 100);
    cairo_set_source_rgb(drawn.cairo, 0, 0, 0);
    cairo_fill(drawn.cairo);
    th_error error = {0};
    assert_int_equal(th_canvas_write(&drawn, from, &error), TH_OK);
    th_canvas_destroy(&drawn);
    th_import_settings settings = th_import_settings_default();
    settings.turn = 90.0;
    settings.picture = to;
    imported in = import_file(from, &settings);
    assert_non_null(strstr(in.error.message, "--width"));
    release(&in);
    settings.width = 20.0;
    in = import_file(from, &settings);
    th_scene *scene = scene_from(&in);
    assert_near(area_of(scene), 200.0, 1e-3);
    assert_near(scene->levels[0].box.min_x, -10.0, 1e-4);
    char *json = json_dumps(in.scene, 0);
    const th_scene_view *view = th_scene_view_of(scene);
    th_plan_underlay *list = NULL;
    assert_int_equal(th_underlays_read(view, json, folder, false, &list, &error), 1);
    assert_near(list[0].metres_per_pixel, 0.1, 1e-9);
    th_moment crowd = {0};
    th_plan_view plan = {.scene = view,
                         .crowd = &crowd,
                         .width = 800,
                         .title = "traced",
                         .underlays = list,
                         .underlay_count = 1,
                         .box = {-11, -1, 1, 21}};
    th_canvas page = th_plan_page(&plan);
    assert_true(is_darker(&page, &plan, -5.0, 5.0, -5.0, 15.0));
    th_canvas_destroy(&page);
    plan.underlay_count = 0;
    page = th_plan_page(&plan);
    assert_false(is_darker(&page, &plan, -5.0, 5.0, -5.0, 15.0));
    th_canvas_destroy(&page);
    th_underlays_free(list, 1);
    // A file that is gone is told, and the rest is drawn.
    remove(to);
    assert_int_equal(th_underlays_read(view, json, folder, false, &list, &error), 0);
    assert_string_equal(error.path, "underlays[0].file");
    th_underlays_free(list, 0);
    free(json);
    th_scene_destroy(scene);
    release(&in);
    remove(from);
    rmdir(folder);
}

// Without the program that draws them the error says what to install.
static void missing_programs_are_told(void **state) {
    (void)state;
    static const char *const cases[][2] = {{"/tmp/throng-none.svg", "librsvg2-bin"},
                                           {"/tmp/throng-none.pdf", "poppler-utils"}};
    const char *path = getenv("PATH");
    char *before = strdup(path ? path : "/usr/bin");
    th_import_settings settings = th_import_settings_default();
    settings.width = 10.0;
    settings.picture = "/tmp/throng-none.png";
    setenv("PATH", "/nonexistent", 1);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        FILE *file = fopen(cases[k][0], "w");
        assert_non_null(file);
        fclose(file);
        imported in = import_file(cases[k][0], &settings);
        remove(cases[k][0]);
        assert_non_null(strstr(in.error.message, cases[k][1]));
        release(&in);
    }
    setenv("PATH", before, 1);
    free(before);
}

static void other_files_are_told(void **state) {
    (void)state;
    static const char *const texts[] = {"{", "{}", "[]", "{\"scenario\":{}}",
                                        "{\"scenario\":{\"topography\":[]}}"};
    th_import_settings settings = th_import_settings_default();
    for (size_t k = 0; k < sizeof texts / sizeof *texts; ++k) {
        th_arena arena = th_arena_of(NULL);
        th_error error = {0};
        const char *told;
        assert_null(
            th_others_take(&arena, texts[k], strlen(texts[k]), NULL, &settings, &told, &error));
        assert_true(error.message[0]);
        th_arena_release(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_are_in_metres),
        cmocka_unit_test(vadere_comes_in),
        cmocka_unit_test(jupedsim_comes_in),
        cmocka_unit_test(people_come_from_a_table),
        cmocka_unit_test(pictures_are_traced),
        cmocka_unit_test(missing_programs_are_told),
        cmocka_unit_test(other_files_are_told),
        cmocka_unit_test(storeys_are_joined),
        cmocka_unit_test(an_ifc_file_runs),
        cmocka_unit_test(damaged_ifc_is_told),
        cmocka_unit_test(rooms_become_ground),
        cmocka_unit_test(larger_gaps_stay_open),
        cmocka_unit_test(units_count),
        cmocka_unit_test(blocks_are_placed),
        cmocka_unit_test(arcs_and_bulges_are_round),
        cmocka_unit_test(hatches_are_areas),
        cmocka_unit_test(a_door_is_where_its_leaf_shuts),
        cmocka_unit_test(layers_are_mapped),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(scenes_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
