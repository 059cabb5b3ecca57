// Navigation fields with drawn guidance: the equation against brute force, and where people go.
// SPDX-License-Identifier: Apache-2.0
#include "lattice.h"
#include "plan/guided/solve.h"
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
        strokes[k] = (th_stroke){"s", 0, ends[k], 2, radius, 0.95f, -1};
    }
    th_scene drawn = *l->on.scene;
    drawn.guidance = strokes;
    drawn.guidance_count = 60;
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

// Whatever the guidance, from node to node: one of the two that a direction passes between is nearer.
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

// ---- people

static th_scene *scene_with(const char *path, const char *override) {
    th_scene_options options = {.overrides = &override, .override_count = override ? 1 : 0};
    char file[300];
    snprintf(file, sizeof file, "%s/%s", TH_SOURCE_DIR, path);
    th_scene *scene;
    assert_int_equal(th_scene_load_file(file, &options, &scene, NULL), TH_OK);
    return scene;
}

// Passages of all lines together, and everybody has arrived.
static void run_scene(const th_scene *scene, uint64_t seed, double limit, int *lines) {
    th_world *world = world_of(scene, 1, seed);
    run_to_end(world, limit);
    th_statistics statistics = th_world_statistics(world);
    if (statistics.left != statistics.spawned)
        fail_msg("seed %d: %d of %d arrived", (int)seed, (int)statistics.left,
                 (int)statistics.spawned);
    assert_int_equal(statistics.unreachable, 0);
    for (int k = 0; k < scene->measure_line_count; ++k) {
        th_line_count line = th_world_line(world, k);
        lines[k] += (int)(line.forward + line.backward);
    }
    th_world_destroy(world);
}

static double upper_share(const char *override) {
    th_scene *scene = scene_with("scenes/guided/two_corridors.json", override);
    int lines[2] = {0, 0};
    for (uint64_t seed = 1; seed <= (uint64_t)CROWDS(4); ++seed) run_scene(scene, seed, 200, lines);
    th_scene_destroy(scene);
    return (double)lines[0] / (lines[0] + lines[1]);
}

static void two_corridors(void **state) {
    (void)state;
    double with = upper_share(NULL), without = upper_share("groups.0.plan.follow=0");
    print_message("  %.0f %% take the corridor with the stroke, %.0f %% without it\n", 100.0 * with,
                  100.0 * without);
    assert_true(with > 0.8);
    assert_true(without > 0.25 && without < 0.75);
}

static void against_the_shortest_way(void **state) {
    (void)state;
    th_scene *scene = scene_with("scenes/guided/against.json", NULL);
    int lines[2] = {0, 0}, plain[2] = {0, 0}, crowds = CROWDS(10);
    for (uint64_t seed = 1; seed <= (uint64_t)crowds; ++seed) run_scene(scene, seed, 200, lines);
    th_scene_destroy(scene);
    scene = scene_with("scenes/guided/against.json", "groups.0.plan=field");
    run_scene(scene, 1, 200, plain);
    th_scene_destroy(scene);
    print_message("  %.1f of 80 go around, %.1f by the short way\n", (double)lines[0] / crowds,
                  (double)lines[1] / crowds);
    assert_true(lines[0] >= 50 * crowds); // all of the first group, some of the second
    assert_true(lines[1] <= 30 * crowds);
    assert_true(plain[1] >= 50); // whom the strokes do not concern
}

// The door at the end of the guided corridor jams. Those who count the crowd take the other corridor.
static void jam(void **state) {
    (void)state;
    int crowds = CROWDS(3), lines[2][2] = {{0}};
    for (int counts = 0; counts < 2; ++counts) {
        th_scene *scene =
            scene_with("scenes/guided/jam.json", counts ? NULL : "groups.0.plan.every=0");
        for (uint64_t seed = 1; seed <= (uint64_t)crowds; ++seed)
            run_scene(scene, seed, 300, lines[counts]);
        th_scene_destroy(scene);
    }
    print_message("  %.1f of 200 take the other way, %.1f who count the crowd\n",
                  (double)lines[0][1] / crowds, (double)lines[1][1] / crowds);
    assert_true(lines[0][1] < 20 * crowds);
    assert_true(lines[1][1] > 30 * crowds);
}

// As a static one: any threads, and a snapshot between two solutions; with a door that was shut at the time.
static void crowd_restored(void **state) {
    (void)state;
    th_scene *scene = scene_with("scenes/guided/jam.json", "groups.0.plan.every=7");
    assert_any_threads(scene, 3, 40);
    assert_restores(scene, 24, 40);
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 10);
    const th_model *model = th_models(NULL)[TH_PLAN_GUIDED];
    size_t size = model->saved_size(world, TH_PLAN_GUIDED);
    unsigned char *bytes = malloc(size);
    model->save(world, TH_PLAN_GUIDED, bytes);
    assert_true(model->saved_is_sound(world, TH_PLAN_GUIDED, bytes, size));
    assert_false(model->saved_is_sound(world, TH_PLAN_GUIDED, bytes, size - 1));
    bytes[size - 1] = 2;
    assert_false(model->saved_is_sound(world, TH_PLAN_GUIDED, bytes, size));
    bytes[size - 1] = 1;
    const float bad[] = {NAN, -1.0f,
                         7.0f}; // a direction that is too long at the end, costs at the beginning
    for (int k = 0; k < 3; ++k) {
        unsigned char *at = k < 2 ? bytes : bytes + size - 1 - sizeof(float), before[sizeof(float)];
        memcpy(before, at, sizeof before);
        memcpy(at, &bad[k], sizeof bad[k]);
        assert_false(model->saved_is_sound(world, TH_PLAN_GUIDED, bytes, size));
        memcpy(at, before, sizeof before);
    }
    free(bytes);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Each group passes the middle on the side of its own stroke.
static void four_destinations(void **state) {
    (void)state;
    th_scene *scene = scene_with("scenes/guided/four_destinations.json", NULL);
    int lines[4] = {0}, crowds = CROWDS(3);
    for (uint64_t seed = 1; seed <= (uint64_t)crowds; ++seed) run_scene(scene, seed, 200, lines);
    th_scene_destroy(scene);
    for (int k = 0; k < 4; ++k) {
        print_message("  %.1f of 50 pass on their side\n", (double)lines[k] / crowds);
        assert_true(lines[k] >= 45 * crowds && lines[k] <= 55 * crowds);
    }
}

// How many of 40 cross a zone on the straight way.
static int through_zone(const char *zone) {
    char text[1000];
    snprintf(
        text, sizeof text,
        TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 40, 20]}}], "zones": [%s],
                 "exits": [{"id": "e", "line": [[40, 9], [40, 11]]}, {"id": "w", "line": [[0, 19], [0, 20]]}],
                 "groups": [{"area": {"rect": [1, 8, 5, 12]}, "count": 40, "plan": "guided", "move": "orca", "to": "e"}],
                 "measure": {"lines": [{"line": [[20, 6], [20, 14]]}]}}),
                                                               zone);
    th_scene *scene = scene_of(text);
    int lines[1] = {0};
    run_scene(scene, 1, 200, lines);
    th_scene_destroy(scene);
    return lines[0];
}

static void discomfort(void **state) {
    (void)state;
    assert_true(through_zone("") > 30);
    assert_true(through_zone(TH_JSON({"area": {"rect": [18, 6, 22, 14]}, "discomfort": 20})) < 3);
    assert_true(through_zone(
        TH_JSON({"area": {"rect": [18, 6, 22, 14]}, "discomfort": 20, "to": "w"})) > 30);
}

static double statistic(const th_world *world, const char *name) {
    th_model_value values[8];
    int count = th_world_model_statistics(world, th_model_find(TH_STAGE_PLAN, "guided"), values, 8);
    for (int k = 0; k < count && k < 8; ++k)
        if (strcmp(values[k].name, name) == 0) return values[k].value;
    fail_msg("no statistic %s", name);
    return 0.0;
}

// Two floors that nothing joins, two groups below, one of which shares its goal with the third; a door on each floor.
static const char floors_json[] = TH_JSON({
    "levels": [{"id": "low", "walkable": {"rect": [0, 0, 16, 10]}, "walls": [[[8, 0], [8, 10]]]},
        {"id": "high", "walkable": {"rect": [0, 0, 16, 10]}, "walls": [[[8, 0], [8, 10]]]}],
    "doors": [{"id": "d", "level": "low", "line": [[8, 1], [8, 4]], "schedule": [[4, "close"], [9, "open"]]},
        {"id": "d2", "level": "low", "line": [[8, 7], [8, 9]]}, {"id": "u", "level": "high", "line": [[8, 3], [8, 7]]}],
    "exits": [{"id": "a", "level": "low", "line": [[16, 0], [16, 10]]}, {"id": "b", "level": "low", "line": [[0, 0], [0, 10]]},
        {"id": "c", "level": "high", "line": [[16, 0], [16, 10]]}],
    "guidance": [{"level": "low", "line": [[1, 2], [15, 2]], "to": "a"}, {"level": "high", "line": [[1, 2], [7, 8]]}],
    "groups": [{"level": "low", "area": {"rect": [0.5, 0.5, 6, 9]}, "count": 30, "to": "a", "plan": "guided", "move": "orca"},
        {"level": "low", "area": {"rect": [0.5, 0.5, 6, 9]}, "count": 10, "to": "a", "plan": "guided"},
        {"level": "low", "area": {"rect": [10, 0.5, 15, 9]}, "count": 20, "to": "b", "plan": "guided"},
        {"level": "high", "area": {"rect": [0.5, 0.5, 6, 9]}, "count": 30, "to": "c", "plan": "guided"}]});

// Solved once, again when a door closes or opens, and only on its floor.
static void solved_once(void **state) {
    (void)state;
    th_scene *scene = scene_of(floors_json);
    th_world *world = world_of(scene, 2, 3);
    th_world_step(world, 20);
    assert_near(statistic(world, "fields"), 3.0, 0.0);
    assert_near(statistic(world, "solutions"), 3.0, 0.0);
    th_world_step(world, 25); // closed: the two fields below
    assert_near(statistic(world, "solutions"), 5.0, 0.0);
    run_to_end(world, 100.0);
    assert_int_equal(th_world_statistics(world).left, 90);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static void any_threads(void **state) {
    (void)state;
    th_scene *scene = scene_of(floors_json);
    assert_any_threads(scene, 5, 110);
    th_scene_destroy(scene);
}

// While the door is closed, into a world that saw it open.
static void restored(void **state) {
    (void)state;
    th_scene *scene = scene_of(floors_json);
    assert_restores(scene, 55, 60);
    th_scene_destroy(scene);
}

// A live wall across the guided corridor: the other one, and everybody arrives. Live parameters: the stroke is forgotten.
static void live_edits(void **state) {
    (void)state;
    th_scene *scene = scene_with("scenes/guided/two_corridors.json", "groups.0.count=60");
    th_world *world = world_of(scene, 1, 4);
    th_world_step(world, 50);
    th_error error;
    int wall;
    assert_int_equal(th_world_add_wall(world, 0, th_v(30, 14), th_v(30, 17), &wall, &error), TH_OK);
    run_to_end(world, 250.0);
    assert_int_equal(th_world_statistics(world).left, 60);
    assert_true(th_world_line(world, 1).backward + th_world_line(world, 1).forward >= 60);
    th_world_destroy(world);
    world = world_of(scene, 1, 4);
    th_world_step(world, 5);
    assert_int_equal(th_world_set_param(world, 0, "follow", 0.0, &error), TH_OK);
    run_to_end(world, 250.0);
    assert_true(th_world_line(world, 1).backward + th_world_line(world, 1).forward >= 15);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Over stairs, with a stroke above: levels, portals, and an open plane without walls.
static void other_grounds(void **state) {
    (void)state;
    static const char stairs_json[] = TH_JSON({
        "levels": [{"id": "g", "walkable": {"rect": [0, 0, 10, 10]}}, {"id": "u", "walkable": {"rect": [13, 0, 30, 10]}}],
        "stairs": [{"level": "g", "to": "u", "area": {"rect": [10, 4, 13, 6]}, "top": [[13, 4], [13, 6]]}],
        "exits": [{"id": "e", "level": "u", "line": [[30, 0], [30, 2]]}],
        "guidance": [{"level": "u", "line": [[14, 6], [20, 9], [28, 9]], "radius": 3}, {"level": "g", "line": [[9, 5], [1, 5]], "strength": 0.95}],
        "groups": [{"level": "g", "count": 30, "plan": "guided", "move": "orca", "to": "e"}]});
    static const char plane_json[] = TH_JSON({"exits": [{"id": "e", "area": {"rect": [20, -1, 22, 1]}}],
        "guidance": [{"line": [[0, 0], [5, 8], [15, 8], [21, 1]], "radius": 4}],
        "groups": [{"area": {"rect": [-3, -3, 3, 3]}, "count": 20, "plan": "guided", "move": "orca", "to": "e"}],
        "measure": {"lines": [{"line": [[10, 4], [10, 12]]}]}});
    int lines[1] = {0};
    th_scene *scene = scene_of(stairs_json);
    for (uint64_t seed = 1; seed <= (uint64_t)CROWDS(5); ++seed) run_scene(scene, seed, 200, lines);
    th_scene_destroy(scene);
    scene = scene_of(plane_json);
    run_scene(scene, 1, 100, lines);
    assert_true(lines[0] > 15);
    th_scene_destroy(scene);
}

// Who does not fit through the gap that the stroke leads through goes the other way.
static void wide_people(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON({
        "levels": [{"walkable": {"rect": [0, 0, 20, 12]}, "obstacles": [{"rect": [9, 0, 11, 2]}, {"rect": [9, 2.6, 11, 8]}, {"rect": [9, 10, 11, 12]}]}],
        "exits": [{"id": "e", "line": [[20, 0], [20, 12]]}],
        "guidance": [{"line": [[1, 2.3], [19, 2.3]], "radius": 3, "strength": 0.9}],
        "groups": [{"area": {"rect": [1, 1, 7, 11]}, "count": 10, "radius": 0.2, "plan": "guided", "move": "orca", "to": "e"},
            {"area": {"rect": [1, 1, 7, 11]}, "count": 10, "radius": 0.4, "plan": "guided", "move": "orca", "to": "e"}],
        "measure": {"lines": [{"line": [[10, 2], [10, 2.6]]}]}}));
    assert_int_equal(scene->size_count, 2);
    int lines[1] = {0};
    run_scene(scene, 1, 200, lines);
    assert_true(lines[0] >= 8 && lines[0] <= 10);
    th_scene_destroy(scene);
}

// ---- messages

static void refused(const char *guidance, const char *path, const char *says) {
    char text[800];
    snprintf(text, sizeof text,
             TH_JSON({"levels": [{"id": "g", "walkable": {"rect": [0, 0, 10, 10]}}], "exits": [{"id": "out", "line": [[10, 4], [10, 6]]}],
                      "groups": [{"count": 1}], "guidance": [{"line": [[1, 1], [5, 1]]}, %s]}), guidance);
    th_scene *scene;
    th_error error;
    assert_int_equal(th_scene_load_json(text, strlen(text), "bad", NULL, NULL, &scene, &error),
                     TH_BAD_SCENE);
    if (!strstr(error.path, path) || !strstr(error.message, says))
        fail_msg("%s: %s", error.path, error.message);
}

static void messages(void **state) {
    (void)state;
    refused(TH_JSON({"line": [[12, 1], [15, 5]]}), "guidance[1].line", "outside the walkable area");
    refused(TH_JSON({"line": [[1, 1]]}), "guidance[1].line", "two points");
    refused(TH_JSON({}), "guidance[1].line", "two points");
    refused(TH_JSON({"line": [[1, 1], [1, 1]]}), "guidance[1].line", "no length");
    refused(TH_JSON({"line": [[1, 1], ["a", 1]]}), "guidance[1].line[1]", "number");
    refused(TH_JSON({"line": [[1, 1], [1e30, 1]]}), "guidance[1].line", "place on earth");
    refused(TH_JSON({"line": [[1, 1], [2, 1]], "radius": 0}), "guidance[1].radius", "radius is 0");
    refused(TH_JSON({"line": [[1, 1], [2, 1]], "radius": 50}), "guidance[1].radius", "20");
    refused(TH_JSON({"line": [[1, 1], [2, 1]], "strength": 1}), "guidance[1].strength",
                     "less than 1");
    refused(TH_JSON({"line": [[1, 1], [2, 1]], "strength": -0.5}), "guidance[1].strength",
                     "more than 0");
    refused(TH_JSON({"line": [[1, 1], [2, 1]], "level": "h"}), "guidance[1].level", "level");
    refused(TH_JSON({"line": [[1, 1], [2, 1]], "to": "ouf"}), "guidance[1].to",
                     "did you mean \"out\"");
    refused(TH_JSON({"line": [[1, 1], [2, 1]], "width": 2}), "guidance[1].width", "unknown key");
    refused(TH_JSON({"line": [[-9000, 5], [9000, 5000]], "radius": 20}), "guidance", "cover");
    // Half outside is fine.
    th_scene *scene = scene_of(TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 10, 10]}}], "guidance": [{"line": [[-5, 5], [15, 5]]}]}));
    assert_int_equal(scene->guidance_count, 1);
    assert_int_equal(scene->guidance[0].to, -1);
    th_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(travel_time),
        cmocka_unit_test(triangle),
        cmocka_unit_test(strokes_fade),
        cmocka_unit_test(solver),
        cmocka_unit_test(in_the_open),
        cmocka_unit_test(no_cycles),
        cmocka_unit_test(no_dead_ends),
        cmocka_unit_test(spread),
        cmocka_unit_test(two_corridors),
        cmocka_unit_test(against_the_shortest_way),
        cmocka_unit_test(four_destinations),
        cmocka_unit_test(discomfort),
        cmocka_unit_test(solved_once),
        cmocka_unit_test(any_threads),
        cmocka_unit_test(restored),
        cmocka_unit_test(live_edits),
        cmocka_unit_test(other_grounds),
        cmocka_unit_test(wide_people),
        cmocka_unit_test(messages),
        cmocka_unit_test(crowd_costs),
        cmocka_unit_test(no_dead_ends_in_crowds),
        cmocka_unit_test(jam),
        cmocka_unit_test(crowd_restored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
