// Fields of the planner guided: formulas and solver.
// SPDX-License-Identifier: Apache-2.0
#include "guided_field.h"
#include "lattice.h"
#include "plan/guided/guided.h"
#include "plan/prepared.h"
#include "support.h"
#include <stdlib.h>
#include <string.h>

static const th_guided_params usual = {
#define VALUE(name, value, min, max, unit, source, doc) (float)(value),
    TH_GUIDED_PARAMS(VALUE)
#undef VALUE
};

static float uniform(float low, float high) {
    return low + (high - low) * (float)rand() / (float)RAND_MAX;
}

// ---- formulas

static void travel_time(void **state) {
    (void)state;
    srand(5);
    for (int n = 0; n < 5000; ++n) {
        th_vec2 g = th_limit(th_v(uniform(-1, 1), uniform(-1, 1)), 0.95f);
        th_vec2 d = th_v(uniform(-3, 3), uniform(-3, 3));
        float time = th_guided_time(d, g);
        // The velocity d / time is guidance and a unit vector of one's own.
        assert_near(th_length(th_sub(th_scale(1.0f / time, d), g)), 1.0, 1e-4);
        // Eq. 4.10: the speed in that direction.
        th_vec2 a = th_unit(d);
        float along = th_dot(a, g), s = along + sqrtf(along * along - th_length2(g) + 1.0f);
        assert_near(th_length(d) / time, s, 1e-4);
    }
    assert_near(th_guided_time(th_v(1, 0), th_v(0.95f, 0)), 1.0 / 1.95, 1e-5);
    assert_near(th_guided_time(th_v(1, 0), th_v(-0.95f, 0)), 1.0 / 0.05, 1e-3);
    assert_near(th_guided_time(th_v(0, 0), th_v(0.5f, 0)), 0.0, 0.0);
}

// (1 - b) axis + b diagonal + cost T((1, b)), in double precision.
static double crossing(double axis, double diagonal, th_vec2 g, double cost, double b) {
    double gx = (double)g.x, gy = (double)g.y, along = gx + b * gy;
    double less = 1.0 - gx * gx - gy * gy;
    double time = (-along + sqrt(along * along + (1.0 + b * b) * less)) / less;
    return (1.0 - b) * axis + b * diagonal + cost * time;
}

// The least of it by thirds: it is convex.
static double best_crossing(double axis, double diagonal, th_vec2 g, double cost, double *at) {
    double low = 0.0, high = 1.0;
    for (int n = 0; n < 40; ++n) {
        double a = low + (high - low) / 3.0, b = high - (high - low) / 3.0;
        if (crossing(axis, diagonal, g, cost, a) < crossing(axis, diagonal, g, cost, b))
            high = b;
        else
            low = a;
    }
    *at = 0.5 * (low + high);
    return fmin(
        crossing(axis, diagonal, g, cost, *at),
        fmin(crossing(axis, diagonal, g, cost, 0.0), crossing(axis, diagonal, g, cost, 1.0)));
}

static void triangle(void **state) {
    (void)state;
    srand(11);
    int inside = 0;
    for (int n = 0; n < 20000; ++n) {
        th_vec2 g = th_limit(th_v(uniform(-1, 1), uniform(-1, 1)), 0.95f);
        float cost = uniform(0.05f, 2.0f), axis = uniform(0.0f, 5.0f);
        float diagonal = axis + cost * uniform(-3.0f, 3.0f);
        th_guided_step step = th_guided_triangle(axis, diagonal, g, cost);
        double at, best = best_crossing((double)axis, (double)diagonal, g, (double)cost, &at);
        assert_near(step.value, best, 2e-5 * (double)cost / (1.0 - (double)th_length2(g)) + 1e-5);
        if (at < 0.02 || at > 0.98) continue;
        ++inside; // where the minimum is flat its place is known less well than its value
        assert_near(step.direction.y / step.direction.x, at, 0.02);
    }
    assert_true(inside > 2000);
}

static void strokes_fade(void **state) {
    (void)state;
    assert_near(th_stroke_weight(0.0f, 3.0f), 1.0, 0.0);
    assert_near(th_stroke_weight(2.25f, 3.0f), 0.5625, 1e-6);
    assert_near(th_stroke_weight(9.0f, 3.0f), 0.0, 0.0);
    assert_near(th_stroke_weight(25.0f, 3.0f), 0.0, 0.0);
}

// ---- the solver

typedef struct lattice {
    test_lattice on;
    th_guided_work work;
    th_guided_field field;
    th_guided_problem problem;
} lattice;

static void take_lattice(lattice *l, const char *json, double cell) {
    memset(l, 0, sizeof *l);
    take_nodes(&l->on, json, cell);
    assert_true(th_guided_work_create(&l->work, l->on.nodes.count, &l->on.arena));
    size_t count = (size_t)l->on.nodes.count;
    l->field.potential = th_arena_alloc(&l->on.arena, count, sizeof(float));
    l->field.direction = th_arena_alloc(&l->on.arena, count, sizeof(th_vec2));
    l->problem = (th_guided_problem){&l->on.graph, &l->on.walls, 0, &usual, NULL};
    th_guided_spread(&l->problem, &l->work);
}

static void release_lattice(lattice *l) { release_nodes(&l->on); }

static void guide_all(lattice *l, th_vec2 g) {
    for (int i = 0; i < l->on.nodes.count; ++i) l->work.guidance[i] = g;
}

static void guide_at_random(lattice *l, float most) {
    for (int i = 0; i < l->on.nodes.count; ++i)
        l->work.guidance[i] = th_limit(th_v(uniform(-2, 2), uniform(-2, 2)), most);
}

// Everything that a node may cost by its neighbours in sight, searched and not solved.
static double brute_update(const lattice *l, const double *value, int node) {
    int nx = l->on.nodes.levels[0].nx;
    double best = 1e30, unused;
    for (int k = 0; k < 8; k += 2)
        for (int turn = -1; turn <= 1; turn += 2) {
            int axis = th_neighbour(&l->on.graph, node, k, nx);
            int diagonal = th_neighbour(&l->on.graph, node, (k + turn) & 7, nx);
            th_vec2 g = l->work.guidance[node];
            int side = (k + 2 * turn) & 7;
            th_vec2 turned = {g.x * (float)th_direction_x[k] + g.y * (float)th_direction_y[k],
                              g.x * (float)th_direction_x[side] +
                                  g.y * (float)th_direction_y[side]};
            double cost = (double)(l->on.nodes.spacing * l->work.slowness[node] *
                                   th_node_slowness(&l->on.nodes, node, k));
            double a = axis >= 0 ? value[axis] : 1e30, d = diagonal >= 0 ? value[diagonal] : 1e30;
            best = fmin(best, a + crossing(0.0, 0.0, turned, cost, 0.0));
            best = fmin(best, d + crossing(0.0, 0.0, turned, cost, 1.0));
            if (a < 1e29 && d < 1e29 && th_neighbour(&l->on.graph, axis, side, nx) == diagonal)
                best = fmin(best, best_crossing(a, d, turned, cost, &unused));
        }
    return best;
}

static const char *walls_and(const char *more) {
    static char text[900];
    snprintf(text, sizeof text,
             TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 15, 10]}, "obstacles": [{"rect": [4, 0, 4.5, 7.5]},
                 {"circle": [10, 5, 1.5]}], "walls": [[[12.5, 2], [12.5, 10]]%s]}],
                 "exits": [{"line": [[15, 0], [15, 10]]}], "groups": [{"count": 1, "plan": "guided"}],
                 "guidance": [{"line": [[2, 1], [2, 8], [8, 8]], "radius": 2, "strength": 0.9}]}),
                                                                   more);
    return text;
}

// The front against value iteration in double precision with searched minima, and the residual of its own equation.
static void solver(void **state) {
    (void)state;
    lattice l;
    srand(3);
    take_lattice(&l, walls_and(TH_JSON(, [[9, 3.4], [7.65, 3.4]])), 0.5); // ends within a triangle
    double worst = 0.0, residual = 0.0, again = 0.0;
    double *value = calloc((size_t)l.on.nodes.count, sizeof *value);
    assert_non_null(value);
    for (int trial = 0; trial < 2; ++trial) {
        if (trial > 0) guide_at_random(&l, 0.95f);
        th_guided_solve(&l.problem, &l.work, &l.field);
        int reached = 0;
        for (int i = 0; i < l.on.nodes.count; ++i) { // goal nodes begin alike
            bool near_goal = l.field.potential[i] < TH_UNREACHABLE &&
                             th_node_position(&l.on.nodes, &l.on.nodes.levels[0], i).x > 14.2f;
            value[i] = near_goal ? (double)l.field.potential[i] : 1e30;
            reached += l.field.potential[i] < TH_UNREACHABLE;
        }
        for (int sweep = 0, changed = 1; changed; ++sweep) {
            changed = 0;
            for (int n = 0; n < l.on.nodes.count; ++n) {
                int i = sweep & 1 ? n : l.on.nodes.count - 1 - n;
                double update = brute_update(&l, value, i);
                if (update < value[i] * (1.0 - 1e-12)) value[i] = update, changed = 1;
            }
            assert_true(sweep < 500);
        }
        for (int i = 0; i < l.on.nodes.count; ++i) {
            float found = l.field.potential[i];
            assert_int_equal(found >= TH_UNREACHABLE, value[i] > 1e29);
            if (found >= TH_UNREACHABLE) continue;
            worst = fmax(worst, fabs((double)found / value[i] - 1.0));
            float update =
                th_guided_update(&l.problem, &l.work, l.field.potential, i, l.on.nodes.levels[0].nx)
                    .value;
            if (th_node_position(&l.on.nodes, &l.on.nodes.levels[0], i).x < 14.2f)
                residual = fmax(residual, (double)(fabsf(update - found) / found));
        }
        again = fmax(again, (double)l.work.settled / reached);
    }
    free(value);
    print_message("  against value iteration %.1e, residual %.1e, nodes settled up to %.1f times\n",
                  worst, residual, again);
    assert_true(worst < 2e-5);
    assert_true(residual < 1e-5);
    assert_true(again < 20.0);
    release_lattice(&l);
}

static const char open_json[] =
    TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 41, 41]}}],
        "exits": [{"area": {"circle": [20.5, 20.5, 0.05]}}], "groups": [{"count": 1, "plan": "guided"}]});

// The largest error of the cost-to-go of a point goal in the open, against the travel time.
static double error_in_the_open(lattice *l, th_vec2 g) {
    double worst = 0.0;
    guide_all(l, g);
    th_guided_solve(&l->problem, &l->work, &l->field);
    for (int i = 0; i < l->on.nodes.count; ++i) {
        th_vec2 p = th_node_position(&l->on.nodes, &l->on.nodes.levels[0], i);
        th_vec2 d = th_sub(th_v(20.5f, 20.5f), p);
        bool inner = p.x > 1.0f && p.y > 1.0f && p.x < 40.0f && p.y < 40.0f;
        if (l->field.potential[i] >= TH_UNREACHABLE || !inner || th_length(d) < 4.0f) continue;
        worst = fmax(worst, fabs((double)(l->field.potential[i] / th_guided_time(d, g)) - 1.0));
    }
    return worst;
}

// Eq. 4.11 as printed, G = 0: the least alpha Ce + (1 - alpha) Cn + h is the smaller of the two neighbours and h.
static double error_as_printed(const lattice *l) {
    const th_node_level *grid = &l->on.nodes.levels[0];
    double worst = 0.0;
    int column0 = (int)((20.5f - grid->origin.x) * l->on.nodes.inverse_spacing + 0.5f);
    int row0 = (int)((20.5f - grid->origin.y) * l->on.nodes.inverse_spacing + 0.5f);
    for (int i = 0; i < l->on.nodes.count; ++i) { // what it leads to: the Manhattan metric
        int column = abs(i % grid->nx - column0), row = abs(i / grid->nx - row0);
        double distance = hypot(column, row);
        if (distance > 8.0) worst = fmax(worst, fabs((column + row) / distance - 1.0));
    }
    return worst;
}

static void in_the_open(void **state) {
    (void)state;
    lattice l;
    take_lattice(&l, open_json, 0.5);
    double none = error_in_the_open(&l, th_v(0, 0)), some = error_in_the_open(&l, th_v(0.3f, 0.4f));
    double much = error_in_the_open(&l, th_v(-0.55f, 0.7f)), printed = error_as_printed(&l);
    print_message("  cost-to-go of a point within %.1f %%, %.1f and %.1f with guidance of 0.5 and "
                  "0.89; %.0f as printed\n",
                  100.0 * none, 100.0 * some, 100.0 * much, 100.0 * printed);
    assert_true(none < 0.03);
    assert_true(some < 0.08);
    assert_true(much < 0.08);
    assert_true(printed > 0.08);
    release_lattice(&l);
}

// Where the field of a lattice leads from a place: steps of 8 cm until the goal on the right; false: not within 240 m.
static bool leads_to_goal(const lattice *l, th_vec2 *p) {
    for (int steps = 0; steps < 3000; ++steps) {
        if (p->x > 14.7f) return true;
        th_way way = th_guided_way(&l->on.graph, &l->on.walls, &l->field, 0, *p);
        assert_true(way.distance < TH_UNREACHABLE);
        assert_near(th_length(way.direction), 1.0, 1e-4);
        th_vec2 next = th_add(*p, th_scale(0.08f, way.direction));
        if (th_walls_first_crossing(&l->on.walls, 0, *p, next, NULL) < 0) *p = next;
    }
    return false;
}

// Strokes at random, as strong as they may be, all over the ground.
static void draw_at_random(lattice *l, float radius) {
    th_vec2 ends[60][2];
    th_stroke strokes[60];
    for (int k = 0; k < 60; ++k) {
        ends[k][0] = th_v(uniform(0, 15), uniform(0, 10));
        ends[k][1] = th_add(ends[k][0], th_v(uniform(-4, 4), uniform(-4, 4)));
        strokes[k] = (th_stroke){{"s", 0}, {ends[k], 2, 1.0f}, radius, 0.95f, -1};
    }
    th_scene drawn = *l->on.scene;
    th_section section = {.info = &th_strokes_section, .items = strokes, .count = 60};
    drawn.sections = &section;
    drawn.section_count = 1;
    l->on.nodes.scene = &drawn;
    th_guided_spread(&l->problem, &l->work);
    l->on.nodes.scene = l->on.scene;
}

// From every free node walking where the field says leads to the goal, against uniform guidance of 0.9; and among sixty
// strokes that point everywhere, some narrower than a cell, from all but one in a thousand: there a point may turn back and
// forth in a corner between a wall and a stroke.
static void no_cycles(void **state) {
    (void)state;
    lattice l;
    srand(17);
    take_lattice(&l, walls_and(""), 0.25);
    int stride = CROWDS(10) > 1 ? 3 : 21, stuck = 0, starts = 0;
    for (int trial = 0; trial < 12; ++trial) {
        if (trial == 0) guide_all(&l, th_v(-0.9f, 0));
        if (trial > 0) draw_at_random(&l, trial < 10 ? 1.0f : 0.1f);
        th_guided_solve(&l.problem, &l.work, &l.field);
        for (int i = trial; i < l.on.nodes.count; i += stride) {
            if (!(l.on.nodes.flags[i] & TH_NODE_WALKABLE) || l.on.nodes.links[i] == 0) continue;
            th_vec2 p = th_node_position(&l.on.nodes, &l.on.nodes.levels[0], i);
            stuck += !leads_to_goal(&l, &p);
            ++starts;
        }
        if (trial == 0) assert_int_equal(stuck, 0);
    }
    print_message("  %d of %d starts do not lead to the goal\n", stuck, starts);
    assert_true(stuck * 1000 <= starts);
    release_lattice(&l);
}

// With any guidance one of the two nodes that a direction passes between is nearer to the goal.
static void no_dead_ends(void **state) {
    (void)state;
    lattice l;
    srand(19);
    take_lattice(&l, walls_and(""), 0.5);
    const th_node_level *grid = &l.on.nodes.levels[0];
    guide_at_random(&l, 0.95f);
    th_guided_solve(&l.problem, &l.work, &l.field);
    int looked_at = 0;
    for (int i = 0; i < l.on.nodes.count; ++i) {
        th_vec2 d = l.field.direction[i];
        if (l.field.potential[i] >= TH_UNREACHABLE ||
            th_node_position(&l.on.nodes, grid, i).x > 14.2f)
            continue;
        float least = TH_UNREACHABLE;
        for (int k = 0; k < 8; ++k) {
            th_vec2 to = th_unit(th_v((float)th_direction_x[k], (float)th_direction_y[k]));
            int other = th_neighbour(&l.on.graph, i, k, grid->nx);
            if (other >= 0 && th_dot(to, d) > 0.7070f)
                least = th_min(least, l.field.potential[other]);
        }
        assert_true(least < l.field.potential[i]);
        ++looked_at;
    }
    assert_true(looked_at > 400);
    release_lattice(&l);
}

// ---- the crowd

static void take_random_crowd(lattice *l, th_continuum *crowd) {
    size_t count = (size_t)l->on.nodes.count;
    crowd->density = th_arena_alloc(&l->on.arena, count, sizeof(float));
    crowd->flow_x = th_arena_alloc(&l->on.arena, count, sizeof(float));
    crowd->flow_y = th_arena_alloc(&l->on.arena, count, sizeof(float));
    for (size_t i = 0; i < count; ++i) {
        crowd->density[i] = uniform(0.0f, 1.2f);
        crowd->flow_x[i] = uniform(-1.5f, 1.5f);
        crowd->flow_y[i] = uniform(-1.5f, 1.5f);
    }
    l->problem.crowd = crowd;
}

// Freely through few people and with the flow, as slowly as can be against it; in between the continuum's speed.
static void crowd_costs(void **state) {
    (void)state;
    float density[] = {0.5f, 0.8f, 0.65f, 2.0f}, x[] = {-1, 1.34f, 0.67f, -0.9f},
          y[] = {0, 0, 0, 0};
    th_continuum crowd = {.density = density, .flow_x = x, .flow_y = y};
    th_guided_problem problem = {.params = &usual, .crowd = &crowd};
    assert_near(th_guided_crowd_cost(&problem, 0, 0), 1.0, 0.0);          // few
    assert_near(th_guided_crowd_cost(&problem, 1, 0), 1.0, 1e-6);         // with the flow
    assert_near(th_guided_crowd_cost(&problem, 1, 4), 1.34 / 0.05, 1e-3); // against it
    assert_near(th_guided_crowd_cost(&problem, 2, 0), 1.34 / 1.005,
                1e-4); // half way: 1.34 and 0.67
    assert_near(th_guided_crowd_cost(&problem, 3, 3), 1.34 / (0.9 * sqrt(0.5)), 1e-3);
    assert_near(th_guided_crowd_cost(&problem, -1, 0), 1.0, 0.0);
}

// In whatever crowd, too, every node has a nearer one in its direction, and all nodes have a way.
static void no_dead_ends_in_crowds(void **state) {
    (void)state;
    lattice l;
    th_continuum crowd = {0};
    srand(23);
    take_lattice(&l, walls_and(""), 0.5);
    const th_node_level *grid = &l.on.nodes.levels[0];
    th_guided_solve(&l.problem, &l.work, &l.field);
    int ways = 0, ways_then = 0, dearer = 0;
    float *free_cost = th_arena_alloc(&l.on.arena, (size_t)l.on.nodes.count, sizeof(float));
    for (int i = 0; i < l.on.nodes.count; ++i) {
        free_cost[i] = l.field.potential[i];
        ways += free_cost[i] < TH_UNREACHABLE;
    }
    take_random_crowd(&l, &crowd);
    guide_at_random(&l, 0.8f);
    th_guided_solve(&l.problem, &l.work, &l.field);
    for (int i = 0; i < l.on.nodes.count; ++i) {
        if (l.field.potential[i] >= TH_UNREACHABLE) continue;
        ++ways_then;
        dearer += l.field.potential[i] > 1.2f * free_cost[i];
        if (th_node_position(&l.on.nodes, grid, i).x > 14.2f) continue;
        float least = TH_UNREACHABLE;
        for (int k = 0; k < 8; ++k) {
            th_vec2 to = th_unit(th_v((float)th_direction_x[k], (float)th_direction_y[k]));
            int other = th_neighbour(&l.on.graph, i, k, grid->nx);
            if (other >= 0 && th_dot(to, l.field.direction[i]) > 0.7070f)
                least = th_min(least, l.field.potential[other]);
        }
        assert_true(least < l.field.potential[i]);
    }
    assert_int_equal(ways_then, ways);
    assert_true(dearer > 100);
    release_lattice(&l);
}

// Guidance of a node is the stroke's, of unit direction, and cut where strokes add up; of those for the goal only.
static void spread(void **state) {
    (void)state;
    lattice l;
    take_lattice(
        &l,
        TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 20, 20]}}],
        "exits": [{"id": "a", "line": [[20, 0], [20, 20]]}, {"id": "b", "line": [[0, 0], [0, 20]]}],
        "groups": [{"count": 1, "to": "a"}, {"count": 1, "to": "b"}],
        "zones": [{"area": {"rect": [0, 0, 5, 5]}, "discomfort": 3, "to": "b"}, {"area": {"rect": [15, 15, 20, 20]}, "discomfort": 2}],
        "guidance": [{"line": [[2, 10.25], [18, 10.25]], "radius": 2, "strength": 0.8, "to": "a"},
            {"line": [[6.25, 18], [6.25, 3]], "radius": 2, "strength": 0.6},
            {"line": [[10, 1], [18, 1]], "radius": 0.1, "strength": 0.5}]}),
                                                            0.5);
    const th_node_level *grid = &l.on.nodes.levels[0];
    int counted = 0;
    for (int target = 0; target < 2; ++target) {
        l.problem.target = target;
        bool to_a = l.on.scene->goals[l.on.scene->targets[target].goals[0]].id[0] == 'a';
        th_guided_spread(&l.problem, &l.work);
        for (int i = 0; i < l.on.nodes.count; ++i) {
            th_vec2 p = th_node_position(&l.on.nodes, grid, i), g = l.work.guidance[i];
            if (fabsf(p.x - 12.25f) < 0.1f && fabsf(p.y - 10.25f) < 0.1f) {
                ++counted; // on the first stroke
                assert_near(g.x, to_a ? 0.8 : 0.0, 1e-5);
                assert_near(g.y, 0.0, 1e-5);
            }
            if (fabsf(p.x - 6.25f) < 0.1f && fabsf(p.y - 10.25f) < 0.1f) {
                ++counted; // where they cross: (0.8, -0.6) is longer than 0.95
                assert_near(th_length(g), to_a ? 0.95 : 0.6, 1e-5);
                assert_near(g.x / g.y, to_a ? -0.8 / 0.6 : 0.0, 1e-5);
            }
            if (fabsf(p.x - 14.25f) < 0.1f && fabsf(p.y - 0.75f) < 0.1f) {
                ++counted; // narrower than a cell, taken as two cells wide
                assert_near(g.x, 0.5 * 0.9375 * 0.9375, 1e-5);
            }
            if (p.y > 12.3f && (p.x > 8.3f || p.x < 4.2f)) assert_near(th_length(g), 0.0, 0.0);
            float slow = l.work.slowness[i];
            if (p.x < 4.9f && p.x > 0.1f && p.y > 0.1f && p.y < 4.9f)
                assert_near(slow, to_a ? 1.0 : 4.0, 1e-5);
            if (p.x > 15.1f && p.y > 15.1f && p.x < 19.9f && p.y < 19.9f)
                assert_near(slow, 3.0, 1e-5);
        }
    }
    assert_int_equal(counted, 6);
    release_lattice(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(travel_time),  cmocka_unit_test(triangle),
        cmocka_unit_test(strokes_fade), cmocka_unit_test(solver),
        cmocka_unit_test(in_the_open),  cmocka_unit_test(no_cycles),
        cmocka_unit_test(no_dead_ends), cmocka_unit_test(spread),
        cmocka_unit_test(crowd_costs),  cmocka_unit_test(no_dead_ends_in_crowds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
