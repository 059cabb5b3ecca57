// Keeping to one side of marked strips: the field of the thesis in strips of any direction, agents that are held by one
// and those that are let go, and where people walk. SPDX-License-Identifier: Apache-2.0
#include "filter/keep_side/keep_side.h"
#include "support.h"
#include <stdlib.h>
#include <string.h>

static const th_keep_side_params usual = {
#define VALUE(name, value, min, max, unit, source, doc) (float)(value),
    TH_KEEP_SIDE_PARAMS(VALUE)
#undef VALUE
};

// ---- a corridor of 20 m by 6 m in any direction, from (-10, -3) to (10, 3) before it is turned and moved

typedef struct turned {
    double angle, x, y; // [degrees] [m]
} turned;

static th_point turn(turned t, double x, double y) {
    double a = t.angle * 3.14159265358979 / 180.0;
    return (th_point){t.x + x * cos(a) - y * sin(a), t.y + x * sin(a) + y * cos(a)};
}

static const char *point_text(turned t, double x, double y) {
    static char texts[32][64];
    static int next;
    char *text = texts[next++ % 32];
    th_point p = turn(t, x, y);
    snprintf(text, sizeof texts[0], "[%.6f, %.6f]", p.x, p.y);
    return text;
}

// `strip`: the rest of the strip; `walls`, `more`: of the level and of the scene.
static th_scene *corridor(turned t, const char *strip, const char *walls, const char *more) {
    char text[4000];
    snprintf(text, sizeof text,
             TH_JSON({"levels": [{"walkable": [%s, %s, %s, %s], "walls": [%s]}],
                 "exits": [{"id": "e", "line": [%s, %s]}, {"id": "w", "line": [%s, %s]}],
                 "strips": [{"line": [%s, %s], %s}], "groups": [
                 {"count": 40, "to": "e", "filter": "keep_side", "move": "orca", "speed": 1.3},
                 {"count": 40, "to": "w", "filter": "keep_side", "move": "orca", "speed": 1.3}] %s}),
                                        point_text(t, -10, -3), point_text(t, 10, -3),
                                        point_text(t, 10, 3), point_text(t, -10, 3), walls,
                                        point_text(t, 10, -3), point_text(t, 10, 3),
                                        point_text(t, -10, -3), point_text(t, -10, 3),
                                        point_text(t, -9, 0), point_text(t, 9, 0), strip, more);
    return scene_of(text);
}

static const turned straight = {0, 0, 0};
static const turned directions[] = {{0, 0, 0},       {17.3, 5.21, -3.07}, {45, 0.1, 0.2},
                                    {90, -3.3, 2.9}, {133.7, 100.5, 7.7}, {251, -20.25, 33.1}};
enum { DIRECTIONS = sizeof directions / sizeof *directions };

// The fields of a world, as its first step builds them.
static th_keep_side *fields_of(th_world *world) {
    th_keep_side *s = world->model_state[TH_FILTER_KEEP_SIDE];
    assert_non_null(s);
    th_strips_update(s, world);
    return s;
}

// ---- places

static void places(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON({"strips": [{"line": [[0, 0], [10, 0], [10, 10]], "width": 4}],
        "groups": [{"count": 1, "area": {"rect": [0, 0, 1, 1]}, "own_goal": {"opposite": [5, 5]}, "filter": "keep_side"}]}));
    th_world *world = world_of(scene, 1, 1);
    const th_strip_field *strip = &fields_of(world)->strips[0];
    static const struct {
        float x, y, along, aside, beyond;
    } rows[] = {
        {3.0f, 1.0f, 3.0f, 1.0f, 0.0f},     {3.0f, -1.5f, 3.0f, -1.5f, 0.0f},
        {-1.0f, 0.5f, 0.0f, 0.5f, 1.0f},    {3.0f, 3.0f, 3.0f, 2.0f, 1.0f},
        {-3.0f, 6.0f, 0.0f, 2.0f, 5.0f},    {9.0f, 7.0f, 17.0f, 1.0f, 0.0f},
        {11.0f, 7.0f, 17.0f, -1.0f, 0.0f},  {10.5f, 13.0f, 20.0f, -0.5f, 3.0f},
        {10.6f, -0.8f, 10.0f, -1.0f, 0.0f}, // around the bend
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
        th_strip_place place = th_strip_place_of(strip, th_v(rows[k].x, rows[k].y));
        assert_near(place.along, rows[k].along, 1e-5);
        assert_near(place.aside, rows[k].aside, 1e-5);
        assert_near(place.beyond, rows[k].beyond, 1e-5);
    }
    th_vec2 axis, p = th_strip_point(strip, 17.0f, -1.0f, &axis);
    assert_near(p.x, 11.0, 1e-5);
    assert_near(p.y, 7.0, 1e-5);
    assert_near(axis.y, 1.0, 1e-6);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// ---- the field

// Figure 3.5: straight on beside the wall on one's own side, then turned towards it by 45, 67.5, 78.75 degrees ..., for
// both senses, both sides and strips in any direction.
static void published_field(void **state) {
    (void)state;
    for (int n = 0; n < 2 * DIRECTIONS; ++n) {
        bool left = n & 1;
        th_scene *scene = corridor(directions[n / 2],
                                   left ? "\"width\": 6, \"track\": 0, \"side\": \"left\""
                                        : "\"width\": 6, \"track\": 0",
                                   "", "");
        th_world *world = world_of(scene, 1, 1);
        const th_strip_field *strip = &fields_of(world)->strips[0];
        assert_int_equal(strip->rows, 12);
        assert_int_equal(strip->columns, 36);
        for (int sense = 0; sense < 2; ++sense) {
            bool own_is_low = (sense == 0) != left;
            double angle = 0.0;
            for (int k = 0; k < strip->rows; ++k) {
                int row = own_is_low ? k : strip->rows - 1 - k;
                const th_strip_cell *cell = &strip->cells[sense][row * strip->columns + 18];
                assert_near(cell->direction.x, cos(angle), 1e-4);
                assert_near(cell->direction.y, sin(angle), 1e-4);
                assert_near(cell->hold, 1.0, 1e-5);
                angle = 0.5 * (angle + 1.57079632679490);
            }
        }
        th_world_destroy(world);
        th_scene_destroy(scene);
    }
}

// In the world: walking along and to the right, or the left, as far as one may turn; onwards where the track is.
static void direction_in_the_world(void **state) {
    (void)state;
    for (int n = 0; n < 2 * DIRECTIONS; ++n) {
        turned t = directions[n / 2];
        bool left = n & 1;
        th_scene *scene =
            corridor(t, left ? "\"width\": 6, \"side\": \"left\"" : "\"width\": 6", "", "");
        th_world *world = world_of(scene, 1, 1);
        const th_strip_field *strip = &fields_of(world)->strips[0];
        th_point zero = turn((turned){t.angle, 0, 0}, 1, 0);
        th_vec2 axis = {(float)zero.x, (float)zero.y};
        for (int sense = 0; sense < 2; ++sense) {
            float onwards = sense ? -1.0f : 1.0f;
            float own = (sense == 0) != left ? -1.0f : 1.0f; // which y is the own side's
            for (int row = 0; row < 2; ++row) {
                th_point at = turn(t, 1.3, (double)(row ? own * 2.0f : -own * 2.2f));
                th_vec2 p = {(float)(at.x - scene->origin.x), (float)(at.y - scene->origin.y)};
                th_strip_place place = th_strip_place_of(strip, p);
                float hold;
                th_vec2 local = th_strip_look_up(strip, &place, sense, 0.5f, &hold);
                th_vec2 d = th_strip_direction(strip, &place, sense, local);
                assert_near(th_dot(d, axis) * onwards, row ? 1.0 : 0.5, 1e-3);
                assert_near(th_det(axis, d) * own, row ? 0.0 : 0.866025, 1e-3);
            }
        }
        th_world_destroy(world);
        th_scene_destroy(scene);
    }
}

// The cells at a place of the straight corridor.
static const th_strip_cell *cell_at(const th_strip_field *strip, int sense, float x, float y) {
    th_strip_place place = th_strip_place_of(strip, th_v(x, y));
    int column = (int)(place.along / strip->column),
        row = (int)((place.aside + 0.5f * strip->width) / strip->row);
    return &strip->cells[sense][row * strip->columns + column];
}

// A block in the strip: no agent can be in it, one that walks towards it follows the planner, one that passes it keeps
// its own side is on a track. A thin wall parts cells.
static void walls_in_the_strip(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON({"levels": [{"walkable": {"rect": [-10, -3, 10, 3]},
        "obstacles": [{"rect": [-1, -1, 1, 0.5]}], "walls": [[[4, 1.01], [8, 1.01]]]}],
        "exits": [{"id": "e", "line": [[10, -3], [10, 3]]}],
        "strips": [{"line": [[-9, 0], [9, 0]], "width": 6, "track": 0}],
        "groups": [{"count": 4, "to": "e", "filter": "keep_side"}]}));
    th_world *world = world_of(scene, 1, 1);
    const th_strip_field *strip = &fields_of(world)->strips[0];
    assert_near(th_length(cell_at(strip, 0, 0.1f, 0.1f)->direction), 0.0, 0.0);
    assert_near(cell_at(strip, 0, 0.1f, 0.1f)->hold, 0.0, 0.0);
    assert_near(cell_at(strip, 0, -1.2f, 0.1f)->hold, 0.0, 1e-6); // in front of it
    assert_near(cell_at(strip, 1, -1.2f, 0.1f)->hold, 1.0, 1e-6); // away from it
    assert_near(cell_at(strip, 1, 1.2f, 0.1f)->hold, 0.0, 1e-6);
    float near = cell_at(strip, 0, -2.2f, 0.1f)->hold;
    assert_true(near > 0.3f && near < 0.7f);
    assert_near(cell_at(strip, 0, -3.7f, 0.1f)->hold, 1.0, 1e-6);
    assert_near(cell_at(strip, 0, -1.2f, 2.1f)->hold, 1.0, 1e-6);       // beside it
    assert_near(cell_at(strip, 0, 0.1f, 0.7f)->direction.x, 1.0, 1e-6); // with it on the right
    assert_true(cell_at(strip, 1, 0.1f, 0.7f)->direction.x < 0.9f);     // on the left
    assert_near(cell_at(strip, 0, 6.1f, 1.2f)->direction.x, 1.0, 1e-6);
    assert_true(cell_at(strip, 0, 6.1f, 0.8f)->direction.x < 0.9f);
    assert_int_equal(cell_at(strip, 0, 6.1f, 0.8f)->joined, 0);
    assert_int_equal(cell_at(strip, 0, 6.1f, -0.8f)->joined, 1);
    // Looked up beside the thin wall: the own cell's, whatever lies behind.
    th_strip_place place = th_strip_place_of(strip, th_v(6.1f, 1.03f));
    float hold;
    assert_near(th_strip_look_up(strip, &place, 0, 0.0f, &hold).x, 1.0, 1e-6);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Passes do not see what is behind a wall across the strip; no agent looks through the wall at its end either.
static void walls_across_the_strip(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON({"levels": [{"walkable": {"rect": [-10, -3, 10, 3]}, "obstacles": [{"rect": [-4.9, -3, -3, 1]}],
                     "walls": [[[-5, -3], [-5, 3]]]}],
                 "exits": [{"id": "e", "line": [[10, -3], [10, 3]]}],
                 "strips": [{"line": [[-9, 0], [9, 0]], "width": 6, "track": 0}],
                 "groups": [{"area": {"rect": [0, -3, 9, 3]}, "count": 4, "to": "e", "filter": "keep_side"}]}));
    th_world *world = world_of(scene, 1, 1);
    const th_strip_field *strip = &fields_of(world)->strips[0];
    assert_near(cell_at(strip, 0, -4.8f, 1.2f)->direction.x, 1.0, 1e-6);
    assert_true(cell_at(strip, 0, -5.2f, 1.2f)->direction.x < 0.05f);
    float beside = cell_at(strip, 0, -2.8f, 1.2f)
                       ->direction.x; // the mean of both where nothing stands between
    assert_true(beside > 0.5f && beside < 0.9f);
    assert_near(cell_at(strip, 0, 8.7f, 2.1f)->hold, 1.0, 1e-6);
    assert_near(cell_at(strip, 1, -8.7f, 2.1f)->hold, 0.5, 1e-3); // 1.25 m to the wall
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// `--set strips.0.width` is the key of the strip; that of a door is the length of its line.
static void the_width_can_be_overridden(void **state) {
    (void)state;
    static const char *const overrides[] = {"strips.0.width=2.5", "measure.lines.0.width=3"};
    const th_scene_options options = {.overrides = overrides, .override_count = 2};
    static const char text[] = TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 20, 6]}}],
                 "measure": {"lines": [{"line": [[10, 2], [10, 4]]}]},
                 "strips": [{"line": [[1, 3], [19, 3]], "width": 5}]});
    th_scene *scene = NULL;
    th_error error = {0};
    if (th_scene_load_json(text, strlen(text), "strip", NULL, &options, &scene, &error) != TH_OK)
        fail_msg("%s: %s", error.path, error.message);
    int count = 0;
    const th_strip *strips = th_scene_items(scene, "strips", &count);
    assert_int_equal(count, 1);
    assert_near(strips[0].width, 2.5, 0);
    assert_near(strips[0].line.length, 18, 1e-5);
    const th_line *line = &th_scene_view_of(scene)->measure_lines[0].line;
    assert_near(hypotf(line->b.x - line->a.x, line->b.y - line->a.y), 3, 1e-5);
    th_scene_destroy(scene);
}

// The track follows walls that do not run along the line; its width is a part of the free width.
static void track(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON({"levels": [{"walkable": [[0, 0], [20, 4], [20, 10], [0, 8]]}],
        "exits": [{"id": "e", "line": [[20, 4], [20, 10]]}],
        "strips": [{"line": [[0, 5], [20, 5]], "width": 12, "track": 0.5}],
        "groups": [{"count": 4, "to": "e", "filter": "keep_side"}]}));
    th_world *world = world_of(scene, 1, 1);
    const th_strip_field *strip = &fields_of(world)->strips[0];
    th_vec2 up =
        cell_at(strip, 0, 10.2f, 2.7f)->direction; // away from the own side, as the wall does
    assert_near(up.x, 0.980581, 1e-4);
    assert_near(up.y, -0.196116, 1e-4);
    th_vec2 down = cell_at(strip, 1, 10.2f, 8.2f)->direction;
    assert_near(down.x, 0.995037, 1e-4);
    assert_near(down.y, -0.099504, 1e-4);
    // Free from 2.04 to 9.02: half of it is the track.
    assert_near(cell_at(strip, 0, 10.2f, 5.2f)->direction.y, -0.196116, 1e-4);
    assert_true(cell_at(strip, 0, 10.2f, 6.2f)->direction.y > 0.2f);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// ---- held agents

static void share_fades(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON({"levels": [{"id": "a", "walkable": {"rect": [-20, -10, 20, 10]}, "walls": [[[-5, 2.2], [5, 2.2]]]},
            {"id": "b", "walkable": {"rect": [-20, -10, 20, 10]}}],
        "exits": [{"id": "e", "level": "a", "line": [[20, -3], [20, 3]]}],
        "strips": [{"level": "a", "line": [[-9, 0], [9, 0]], "width": 4}, {"level": "a", "line": [[0, -9], [0, 9]], "width": 4}],
        "groups": [{"level": "a", "count": 4, "to": "e", "filter": "keep_side"}]}));
    th_world *world = world_of(scene, 1, 1);
    th_keep_side *s = fields_of(world);
    th_walls walls = th_world_walls(world);
    th_vec2 east = {1.0f, 0.0f}, south = {0.0f, -1.0f};
    static const struct {
        float x, y, blend, share;
        int level;
    } rows[] = {{-7, 1.9f, 1, 1, 0},     {-7, 2.5f, 1, 0.5f, 0}, {-7, 3.1f, 1, 0, 0},
                {-7, 3.1f, 2, 0.45f, 0}, {-7, 2.1f, 0, 0, 0},    {9.25f, 0, 1, 0.75f, 0},
                {-7, 1, 1, 0, 1},        {-4, 2.5f, 1, 0, 0}, // behind the wall
                {-4, -2.5f, 1, 0.5f, 0}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
        th_strip_choice choice = th_strip_choose(&s->fields, &walls, rows[k].level,
                                                 th_v(rows[k].x, rows[k].y), east, rows[k].blend);
        assert_int_equal(choice.strip, rows[k].share > 0.0f ? 0 : -1);
        assert_near(choice.share, rows[k].share, 1e-4);
        if (choice.strip >= 0) assert_near(choice.fit, 1.0, 1e-6);
    }
    // Where two lie over each other: the one along which an agent walks.
    assert_int_equal(th_strip_choose(&s->fields, &walls, 0, th_v(0.1f, 0.3f), east, 1).strip, 0);
    th_strip_choice down = th_strip_choose(&s->fields, &walls, 0, th_v(0.1f, 0.3f), south, 1);
    assert_int_equal(down.strip, 1);
    assert_near(down.fit, -1.0, 1e-6);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Direction and speed of an agent at a place of the straight corridor that planned to walk at 1.3 m/s.
static th_vec2 filtered(th_world *world, float x, float y, float angle, float keep) {
    th_agents *agents = &world->agents;
    agents->position_x[0] = x;
    agents->position_y[0] = y;
    agents->phase[0] = TH_PHASE_WALKING;
    agents->preferred_x[0] = 1.3f * cosf(angle);
    agents->preferred_y[0] = 1.3f * sinf(angle);
    world->groups[agents->group[0]].filter_params[0] = keep;
    th_models(NULL)[TH_FILTER_KEEP_SIDE]->run(world, TH_FILTER_KEEP_SIDE);
    return th_v(agents->preferred_x[0], agents->preferred_y[0]);
}

// Only the direction comes from the field, by group, place and cells.
static void mixture(void **state) {
    (void)state;
    th_scene *scene = corridor(straight, "\"width\": 4", TH_JSON([[4, -2], [4, 0]]), "");
    th_world *world = world_of(scene, 1, 1);
    th_vec2 v = filtered(world, 0.0f, 1.5f, 0.2f, 1.0f);
    assert_near(v.x, 1.3 * 0.5, 1e-4);
    assert_near(v.y, -1.3 * 0.866025, 1e-4);
    v = filtered(world, 0.0f, 1.5f, 0.0f, 0.5f); // half way: 30 degrees
    assert_near(v.x, 1.3 * 0.866025, 1e-4);
    assert_near(v.y, -1.3 * 0.5, 1e-4);
    v = filtered(world, 0.0f, 2.5f, 0.0f, 1.0f); // half a metre beyond
    assert_near(v.x, 1.3 * 0.866025, 1e-4);
    v = filtered(world, 0.0f, -1.5f, 3.1415927f, 1.0f); // the other way
    assert_near(v.x, -1.3 * 0.5, 1e-4);
    assert_near(v.y, 1.3 * 0.866025, 1e-4);
    v = filtered(world, 3.8f, -1.0f, 0.4f, 1.0f); // before the wall
    assert_near(v.x, 1.3 * cos(0.4), 1e-4);
    v = filtered(world, 0.0f, 1.5f, 0.2f, 0.0f);
    assert_near(v.y, 1.3 * sin(0.2), 1e-4);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static void let_go(void **state) {
    (void)state;
    th_keep_side_params params = usual;
    th_strip_choice choice = {.strip = 2, .share = 1.0f, .fit = 0.9f};
    uint32_t held = 0;
    float leaving = 0.0f;
    assert_int_equal(th_keep_side_sense(&params, &choice, 0.1f, &held, &leaving), 0);
    assert_int_equal(held, 5);
    choice.fit = -0.9f; // turns around
    assert_int_equal(th_keep_side_sense(&params, &choice, 0.1f, &held, &leaving), 1);
    assert_int_equal(held, 6);
    choice.fit = 0.3f; // wants to leave: keeps its sense for a second
    for (int k = 0; k < 9; ++k)
        assert_int_equal(th_keep_side_sense(&params, &choice, 0.1f, &held, &leaving), 1);
    th_keep_side_sense(&params, &choice, 0.1f, &held, &leaving);
    assert_int_equal(th_keep_side_sense(&params, &choice, 0.1f, &held, &leaving), -1);
    assert_int_equal(held, 0);
    assert_int_equal(th_keep_side_sense(&params, &choice, 0.1f, &held, &leaving),
                     -1); // and stays so
    choice.fit = 0.51f;
    assert_int_equal(th_keep_side_sense(&params, &choice, 0.1f, &held, &leaving), 0);
    choice.fit = 0.49f;
    assert_int_equal(th_keep_side_sense(&params, &choice, 0.1f, &held, &leaving), 0);
    choice.fit = 0.9f; // has thought better of it
    th_keep_side_sense(&params, &choice, 0.1f, &held, &leaving);
    assert_near(leaving, 0.0, 0.0);
    choice.strip = 1; // another strip, across: does not count as the one that held
    choice.fit = 0.1f;
    assert_int_equal(th_keep_side_sense(&params, &choice, 0.1f, &held, &leaving), -1);
    choice.strip = -1;
    assert_int_equal(th_keep_side_sense(&params, &choice, 0.1f, &held, &leaving), -1);
}

// ---- people

// The mean distance of the two streams of a corridor to the left of the middle [m], seen along the line; every agent
// must arrive.
static void streams(turned t, const char *strip, const char *walls, uint64_t seed,
                    double aside[2]) {
    th_scene *scene = corridor(t, strip, walls, "");
    th_world *world = world_of(scene, 1, seed);
    double sum[2] = {0.0, 0.0};
    int count[2] = {0, 0};
    th_point axis = turn((turned){t.angle, 0, 0}, 1, 0);
    for (int step = 0; step < 600 && th_world_agent_count(world) > 0; ++step) {
        th_world_step(world, 1);
        const th_agents *agents = &world->agents;
        for (int i = 0; i < agents->count && step > 50; ++i) { // they have found their side
            double x = (double)agents->position_x[i] + scene->origin.x - t.x,
                   y = (double)agents->position_y[i] + scene->origin.y - t.y;
            if (th_gone(agents->phase[i]) || fabs(x * axis.x + y * axis.y) > 6.0) continue;
            sum[agents->group[i]] += axis.x * y - axis.y * x;
            count[agents->group[i]]++;
        }
    }
    run_to_end(world, 200.0);
    assert_invariants(world);
    assert_int_equal(th_world_statistics(world).left, 80);
    assert_int_equal(th_world_statistics(world).wall_crossings, 0);
    for (int g = 0; g < 2; ++g) aside[g] = sum[g] / (count[g] > 0 ? count[g] : 1);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Card: in a corridor of 6 m both streams are on their own side and more than a metre apart.
static void both_streams_keep(void **state) {
    (void)state;
    double least = 10.0, most = -10.0;
    for (int n = 0; n < CROWDS(10); ++n) {
        double aside[2];
        bool left = n % 3 == 2;
        streams(directions[n % DIRECTIONS],
                left ? "\"width\": 6, \"side\": \"left\"" : "\"width\": 6", "", (uint64_t)(n + 1),
                aside);
        double sign = left ? -1.0 : 1.0, right = -sign * aside[0], other = sign * aside[1];
        least = fmin(least, fmin(right, other));
        most = fmax(most, fmax(right, other));
        assert_true(right > 0.5 && other > 0.5 && right + other > 1.0);
    }
    print_message("  streams walk %.2f to %.2f m on their own side of the middle\n", least, most);
}

// Blocks, and thin walls at odd angles, in the way of either stream: no agent stays.
static void no_agent_stays(void **state) {
    (void)state;
    static const char *const walls[] = {TH_JSON([[-2, -3], [-2, -1]]),
                                                 TH_JSON([[0, -1], [0.7, 1.3]]),
                                                          TH_JSON([[-4, 3], [-3.3, 0.6]], [[4, -3], [3.1, -0.4]]),
                                                                     TH_JSON([[-6, 0], [6, 0.1]])};
    int count = (int)(sizeof walls / sizeof *walls);
    for (int n = 0; n < CROWDS(10); ++n) {
        double aside[2];
        streams(straight, n & 1 ? "\"width\": 8" : "\"width\": 6, \"side\": \"left\"",
                walls[n % count], (uint64_t)(n + 1), aside);
    }
}

// A door in the left wall of a corridor, and a way point on the wrong side of the strip: an agent that wants to leave
// is let go.
static void leaving(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON({"levels": [{"walkable": [{"rect": [0, 0, 30, 5]}, {"rect": [14, 5, 16, 9]}]}],
        "exits": [{"id": "side", "line": [[14, 9], [16, 9]]}, {"id": "end", "line": [[30, 0], [30, 5]]}],
        "waypoints": [{"id": "shop", "area": {"rect": [20, 4, 21, 5]}}],
        "strips": [{"line": [[0, 2.5], [30, 2.5]], "width": 5}],
        "groups": [{"area": {"rect": [1, 1, 6, 4]}, "count": 25, "to": "side", "filter": "keep_side", "move": "orca"},
            {"area": {"rect": [24, 1, 29, 4]}, "count": 25, "to": "side", "filter": "keep_side", "move": "orca"},
            {"area": {"rect": [1, 1, 6, 4]}, "count": 15, "route": ["shop", "end"], "filter": "keep_side", "move": "orca"}]}));
    for (uint64_t seed = 1; seed <= (uint64_t)CROWDS(10); ++seed) {
        th_world *world = world_of(scene, 1, seed);
        run_to_end(world, 120.0);
        assert_invariants(world);
        assert_int_equal(th_world_statistics(world).left, 65);
        th_world_destroy(world);
    }
    th_scene_destroy(scene);
}

// ---- the model in a world

static const char doors_json[] = TH_JSON({
    "levels": [{"id": "g", "walkable": {"rect": [0, 0, 20, 6]}, "walls": [[[10, 0], [10, 6]]]}],
    "doors": [{"id": "d", "line": [[10, 0], [10, 3]], "schedule": [[3, "close"], [8, "open"]]}, {"id": "f", "line": [[10, 3.5], [10, 6]]}],
    "exits": [{"id": "e", "line": [[20, 0], [20, 6]]}, {"id": "w", "line": [[0, 0], [0, 6]]}],
    "strips": [{"line": [[1, 3], [8, 3], [19, 3.5]], "width": 5}, {"line": [[4, 0], [4, 6]], "width": 2, "side": "left"}],
    "groups": [{"area": {"rect": [0.5, 0.5, 8, 5.5]}, "count": 40, "to": "e", "filter": "keep_side", "move": "orca"},
        {"area": {"rect": [12, 0.5, 19, 5.5]}, "count": 40, "to": "w", "filter": {"model": "keep_side", "keep": 0.8}, "move": "orca"}]});

static void any_threads(void **state) {
    (void)state;
    th_scene *scene = scene_of(doors_json);
    assert_any_threads(scene, 5, 110);
    th_scene_destroy(scene);
}

// While the door is closed, into a world that saw it open; and bytes that no world could have saved.
static void restored(void **state) {
    (void)state;
    th_scene *scene = scene_of(doors_json);
    assert_restores(scene, 45, 60);
    // Restores into a world whose walls changed as often, but are others.
    th_world *world = world_of(scene, 1, 1), *other = world_of(scene, 1, 1);
    th_error error;
    th_world_step(world, 35);
    assert_int_equal(th_world_add_wall(other, 0, th_v(6, 1), th_v(6, 3), NULL, &error), TH_OK);
    th_world_step(other, 5);
    assert_int_equal(world->walls_version, other->walls_version);
    size_t size = th_world_snapshot_size(world);
    void *bytes = malloc(size);
    assert_non_null(bytes);
    assert_int_equal(th_world_snapshot(world, bytes, size, &error), TH_OK);
    assert_int_equal(th_world_restore(other, bytes, size, &error), TH_OK);
    free(bytes);
    th_keep_side *s = fields_of(world);
    assert_memory_equal(fields_of(other)->cells, s->cells, s->cell_count * sizeof *s->cells);
    th_world_destroy(other);
    const th_model *model = th_models(NULL)[TH_FILTER_KEEP_SIDE];
    static const struct {
        uint32_t held;
        float leaving;
        bool sound;
    } rows[] = {{0, 0, true},   {4, 0.5f, true}, {5, 0, false},       {UINT32_MAX, 0, false},
                {1, -1, false}, {1, NAN, false}, {1, INFINITY, false}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
        uint32_t fields[2] = {rows[k].held, 0};
        memcpy(&fields[1], &rows[k].leaving, sizeof fields[1]);
        assert_int_equal(model->fields_are_sound(world, TH_FILTER_KEEP_SIDE, 0, fields),
                         rows[k].sound);
    }
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static double statistic(const th_world *world, const char *name) {
    th_model_value values[8];
    int count = th_world_model_statistics(world, TH_FILTER_KEEP_SIDE, values, 8);
    for (int k = 0; k < count && k < 8; ++k)
        if (strcmp(values[k].name, name) == 0) return values[k].value;
    fail_msg("no statistic %s", name);
    return 0.0;
}

// Built once, and again when walls change: a closed door ahead leaves people to the planner.
static void built_again(void **state) {
    (void)state;
    th_scene *scene = scene_of(doors_json);
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 5);
    assert_near(statistic(world, "builds"), 1.0, 0.0);
    assert_true(statistic(world, "people_on_strips") > 20);
    th_keep_side *s = world->model_state[TH_FILTER_KEEP_SIDE];
    assert_near(cell_at(&s->strips[0], 0, 9.2f, 1.5f)->hold, 1.0, 1e-6);
    th_world_step(world, 30); // closed
    assert_near(statistic(world, "builds"), 2.0, 0.0);
    assert_true(cell_at(&s->strips[0], 0, 9.2f, 1.5f)->hold < 0.5f);
    th_influence shown;
    const th_agents *agents = &world->agents;
    int told = 0;
    for (int i = 0; i < agents->count; ++i) {
        th_agent_id id = {agents->id[i]};
        told += th_world_influences(world, id, TH_FILTER_KEEP_SIDE, &shown, 1);
    }
    assert_int_equal(told, (int)statistic(world, "people_on_strips"));
    run_to_end(world, 120.0);
    assert_int_equal(th_world_statistics(world).left, 80);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// ---- messages

static void refused(const char *strip, const char *path, const char *says) {
    char text[800];
    snprintf(text, sizeof text,
             TH_JSON({"levels": [{"id": "g", "walkable": {"rect": [0, 0, 10, 10]}}],
        "groups": [{"count": 1, "own_goal": {"opposite": [5, 5]}}], "strips": [{"line": [[1, 1], [5, 1]]}, %s]}), strip);
    th_scene *scene;
    th_error error;
    assert_int_equal(th_scene_load_json(text, strlen(text), "bad", NULL, NULL, &scene, &error),
                     TH_BAD_SCENE);
    if (!strstr(error.path, path) || !strstr(error.message, says))
        fail_msg("%s: %s", error.path, error.message);
}

static void messages(void **state) {
    (void)state;
    refused(TH_JSON({"line": [[12, 1], [15, 5]]}), "strips[1].line", "outside the walkable area");
    refused(TH_JSON({"line": [[1, 1]]}), "strips[1].line", "two points");
    refused(TH_JSON({"line": [[1, 1], [1, 1]]}), "strips[1].line", "no length");
    refused(TH_JSON({"line": [[1, 1], [2, 1]], "width": 0.1}), "strips[1].width", "0.5");
    refused(TH_JSON({"line": [[1, 1], [2, 1]], "width": 101}), "strips[1].width", "100");
    refused(TH_JSON({"line": [[1, 1], [2, 1]], "track": 1.1}), "strips[1].track", "track is 1.1");
    refused(TH_JSON({"line": [[1, 1], [2, 1]], "side": "up"}), "strips[1].side",
                     "unknown word \"up\"; give one of: right left");
    refused(TH_JSON({"line": [[1, 1], [2, 1]], "side": 3}), "strips[1].side", "found");
    refused(TH_JSON({"line": [[1, 1], [2, 1]], "level": "h"}), "strips[1].level", "level");
    refused(TH_JSON({"line": [[1, 1], [2, 1]], "sides": "left"}), "strips[1].sides", "side");
    refused(TH_JSON({"line": [[-900, 5], [900, 5]], "width": 100}), "strips", "cover");
    refused(TH_JSON({"id": "strip_1", "line": [[1, 1], [2, 1]]}, {"id": "strip_1", "line": [[1, 1], [2, 1]]}),
                                                "strips[2].id", "strip_1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places),
        cmocka_unit_test(published_field),
        cmocka_unit_test(direction_in_the_world),
        cmocka_unit_test(walls_in_the_strip),
        cmocka_unit_test(the_width_can_be_overridden),
        cmocka_unit_test(track),
        cmocka_unit_test(share_fades),
        cmocka_unit_test(let_go),
        cmocka_unit_test(mixture),
        cmocka_unit_test(walls_across_the_strip),
        cmocka_unit_test(both_streams_keep),
        cmocka_unit_test(no_agent_stays),
        cmocka_unit_test(leaving),
        cmocka_unit_test(any_threads),
        cmocka_unit_test(restored),
        cmocka_unit_test(built_again),
        cmocka_unit_test(messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
