// Questions (throng/ask.h): each answer against a search over all agents or a figure worked out by hand, wrong use, and
// several threads that ask at once. SPDX-License-Identifier: Apache-2.0
#include "observe/density.h"
#include "support.h"
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const char hall[] = TH_JSON({
    "levels": [{"id": "low", "walkable": {"rect": [0, 0, 30, 20]}, "walls": [[[15, 0], [15, 8]], [[15, 10], [15, 20]]]}],
    "doors": [{"id": "gate", "line": [[15, 8], [15, 10]]}],
    "exits": [{"id": "out", "line": [[30, 8], [30, 11]]}],
    "groups": [{"id": "people", "count": 150, "area": {"rect": [1, 1, 12, 19]}, "to": "out"},
               {"id": "staff", "count": 0, "to": "out"}],
    "measure": {"lines": [{"id": "line", "line": [[20, 0], [20, 20]]}],
                "areas": [{"id": "area", "area": {"rect": [16, 0, 20, 20]}}]},
    "run": {"step": 0.05}});

typedef struct fixture {
    th_scene *scene;
    th_world *world;
} fixture;

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->scene = scene_of(hall);
    f->world = world_of(f->scene, 1, 7);
    th_world_step(f->world, 37);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    th_world_destroy(f->world);
    th_scene_destroy(f->scene);
    free(f);
    return 0;
}

// ---- all agents, one by one

typedef struct crowd {
    int count;
    const uint32_t *id;
    const float *x, *y;
} crowd;

static crowd crowd_of(th_world *world) {
    crowd c = {.count = th_world_agent_count(world)};
    c.id = th_world_map(world, TH_FIELD_ID, TH_ACCESS_READ);
    c.x = th_world_map(world, TH_FIELD_POSITION_X, TH_ACCESS_READ);
    c.y = th_world_map(world, TH_FIELD_POSITION_Y, TH_ACCESS_READ);
    return c;
}

static float away(const crowd *c, int i, th_vec2 p) { return hypotf(c->x[i] - p.x, c->y[i] - p.y); }

static int nearer_than(const crowd *c, th_vec2 p, float distance) {
    int count = 0;
    for (int i = 0; i < c->count; ++i) count += away(c, i, p) < distance;
    return count;
}

static bool is_among(const th_seen *list, int count, uint32_t id) {
    for (int k = 0; k < count; ++k)
        if (list[k].id.serial == id) return true;
    return false;
}

static void nearest_agents_come_in_order(void **state) {
    th_world *w = ((fixture *)*state)->world;
    crowd c = crowd_of(w);
    th_seen found[9];
    const th_vec2 points[] = {{5, 5}, {0.1f, 0.1f}, {14.9f, 9}, {29, 19}};
    for (int k = 0; k < 4; ++k) {
        assert_int_equal(th_world_nearest(w, 0, points[k], 100.0f, found, 9), 9);
        for (int n = 0; n < 9; ++n)
            assert_int_equal(nearer_than(&c, points[k], found[n].distance - 1e-5f), n);
        float reach = 0.5f * (found[3].distance + found[4].distance);
        assert_int_equal(th_world_nearest(w, 0, points[k], reach, found, 9), 4);
    }
}

static bool in_box(const crowd *c, int i, void *unused) {
    (void)unused;
    return c->x[i] >= 3 && c->x[i] <= 7 && c->y[i] >= 2 && c->y[i] <= 9;
}
static bool in_circle(const crowd *c, int i, void *centre) {
    return away(c, i, *(th_vec2 *)centre) <= 4.0f;
}
static bool in_triangle(const crowd *c, int i, void *unused) {
    (void)unused; // corners (2, 2), (12, 2), (2, 12)
    return c->x[i] > 2 && c->y[i] > 2 && c->x[i] + c->y[i] < 14;
}

static void assert_same(const crowd *c, const th_seen *found, int count,
                        bool (*inside)(const crowd *, int, void *), void *context) {
    int wanted = 0;
    for (int i = 0; i < c->count; ++i) {
        bool is = inside(c, i, context);
        wanted += is;
        assert_int_equal(is_among(found, count, c->id[i]), is);
    }
    assert_int_equal(count, wanted);
    assert_true(wanted > 3);
}

static void shapes_hold_the_agents_inside(void **state) {
    th_world *w = ((fixture *)*state)->world;
    crowd c = crowd_of(w);
    th_seen found[200];
    th_vec2 centre = {6, 10}, corners[] = {{2, 2}, {12, 2}, {2, 12}};
    int count = th_world_agents_in_circle(w, 0, centre, 4.0f, found, 200);
    assert_same(&c, found, count, in_circle, &centre);
    assert_int_equal(th_world_agents_in_circle(w, 0, centre, 4.0f, NULL, 0), count);
    count = th_world_agents_in_box(w, 0, (th_box){3, 2, 7, 9}, found, 200);
    assert_same(&c, found, count, in_box, NULL);
    count = th_world_agents_in_polygon(w, 0, corners, 3, found, 200);
    assert_same(&c, found, count, in_triangle, NULL);
}

// Cells are those of the last step: agents that came since and agents moved by hand are found all the same.
static void agents_are_found_where_they_are_now(void **state) {
    th_world *w = ((fixture *)*state)->world;
    th_agent_def agent = th_agent_def_default();
    th_agent_id id;
    th_seen found;
    agent.position = (th_vec2){25, 3};
    assert_int_equal(th_world_spawn(w, &agent, 1, &id, NULL), TH_OK);
    assert_int_equal(th_world_nearest(w, 0, agent.position, 0.1f, &found, 1), 1);
    assert_int_equal(found.id.serial, id.serial);
    float *x = th_world_map(w, TH_FIELD_POSITION_X, TH_ACCESS_WRITE);
    x[0] = 28.0f;
    th_world_unmap(w, TH_FIELD_POSITION_X);
    assert_int_equal(th_world_agents_in_box(w, 0, (th_box){27, 0, 29, 20}, &found, 1), 1);
    int level = -1;
    assert_true(th_world_agent(w, id, &found, &level));
    assert_int_equal(level, 0);
    assert_near(found.position.x, 25, 1e-6);
    th_world_remove(w, &id, 1);
    assert_false(th_world_agent(w, id, &found, NULL));
    assert_int_equal(th_world_nearest(w, 0, agent.position, 0.1f, &found, 1), 0);
}

// ---- rays

static void rays_stop_at_walls_and_doors(void **state) {
    th_world *w = ((fixture *)*state)->world;
    th_agent_id none = {0};
    th_hit hit = th_world_ray(w, 0, (th_vec2){20, 4}, (th_vec2){10, 4}, TH_RAY_WALLS, none);
    assert_int_equal(hit.kind, TH_HIT_WALL);
    assert_near(hit.distance, 5, 1e-4);
    assert_near(hit.point.x, 15, 1e-4);
    assert_near(hit.normal.x, 1, 1e-6);
    assert_int_equal(hit.door, -1);
    hit = th_world_ray(w, 0, (th_vec2){20, 9}, (th_vec2){10, 9}, TH_RAY_WALLS, none);
    assert_int_equal(hit.kind, TH_HIT_NOTHING);
    assert_near(hit.distance, 10, 1e-4);
    assert_int_equal(th_world_set_door(w, "gate", false, NULL), TH_OK);
    hit = th_world_ray(w, 0, (th_vec2){20, 9}, (th_vec2){10, 9}, TH_RAY_WALLS, none);
    assert_int_equal(hit.kind, TH_HIT_WALL);
    assert_int_equal(hit.door, 0);
}

static void rays_stop_at_the_first_agent(void **state) {
    th_world *w = ((fixture *)*state)->world;
    crowd c = crowd_of(w);
    const float *radius = th_world_map(w, TH_FIELD_RADIUS, TH_ACCESS_READ);
    for (int k = 0; k < 40; ++k) {
        th_vec2 from = {0.2f, 0.5f * (float)k + 0.2f}, to = {14.8f, 19.7f - 0.5f * (float)k};
        float length = hypotf(to.x - from.x, to.y - from.y), best = length + 1.0f;
        th_vec2 along = {(to.x - from.x) / length, (to.y - from.y) / length};
        uint32_t first = 0;
        for (int i = 0; i < c.count; ++i) { // by steps of a millimetre
            float at = (c.x[i] - from.x) * along.x + (c.y[i] - from.y) * along.y;
            float off = fabsf((c.x[i] - from.x) * along.y - (c.y[i] - from.y) * along.x);
            if (off > radius[i] || at < 0.0f || at > length) continue;
            float met = at - sqrtf(radius[i] * radius[i] - off * off);
            if (met < best) {
                best = met;
                first = c.id[i];
            }
        }
        th_hit hit = th_world_ray(w, 0, from, to, TH_RAY_WALLS | TH_RAY_AGENTS, (th_agent_id){0});
        assert_int_equal(hit.agent.serial, first);
        if (first == 0) continue;
        assert_near(hit.distance, best, 1e-3);
        th_hit past = th_world_ray(w, 0, from, to, TH_RAY_AGENTS, hit.agent);
        assert_true(past.agent.serial != first && past.distance >= hit.distance);
    }
}

// ---- ways and places

static void paths_go_through_the_door(void **state) {
    th_world *w = ((fixture *)*state)->world;
    th_way_point from = {{10, 2}, 0}, to = {{20, 2}, 0}, way[16];
    float length;
    int count = th_world_path(w, from, to, 0.25f, way, 16, &length);
    assert_true(count >= 2 && count <= 6);
    assert_near(way[count - 1].point.x, 20, 0);
    // Around the corner (15, 8) and back: 2 hypot(5, 6) = 15.62 for a point, some more for a body.
    assert_true(length > 15.62f && length < 16.6f);
    float sum = 0.0f;
    th_vec2 at = from.point;
    for (int k = 0; k < count; ++k) {
        sum += hypotf(way[k].point.x - at.x, way[k].point.y - at.y);
        th_hit hit = th_world_ray(w, 0, at, way[k].point, TH_RAY_WALLS, (th_agent_id){0});
        assert_int_equal(hit.kind, TH_HIT_NOTHING);
        at = way[k].point;
    }
    assert_near(sum, length, 1e-3);
    assert_int_equal(th_world_path(w, from, to, 0.25f, way, 1, NULL), count);
    assert_int_equal(th_world_path(w, from, to, 1.2f, way, 16, &length), 0); // wider than the door
    assert_true(isinf(length));
    th_world_set_door(w, "gate", false, NULL);
    assert_int_equal(th_world_path(w, from, to, 0.25f, way, 16, &length), 0);
    assert_true(isinf(length));
    assert_int_equal(th_world_path(w, from, (th_way_point){{10, 8}, 0}, 0.25f, way, 16, &length),
                     1);
    assert_near(length, 6, 1e-4);
}

static void free_places_are_free(void **state) {
    th_world *w = ((fixture *)*state)->world;
    for (int k = 0; k < 60; ++k) {
        th_vec2 wish = {0.5f + 0.24f * (float)k, 0.3f * (float)k + 1.0f}, p;
        assert_true(th_world_free_place(w, 0, wish, 0.3f, 8.0f, &p));
        assert_true(th_scene_distance(th_world_scene(w), 0, p) >= 0.299f);
        th_seen near[8];
        int count = th_world_nearest(w, 0, p, 2.0f, near, 8);
        for (int n = 0; n < count; ++n) assert_true(near[n].distance >= 0.2999f + near[n].radius);
        assert_true(hypotf(p.x - wish.x, p.y - wish.y) <= 8.001f);
    }
    th_vec2 p;
    th_agent_def agent = th_agent_def_default(); // in the way on this side of the wall
    agent.position = (th_vec2){14.5f, 3};
    agent.radius = 0.25f;
    assert_int_equal(th_world_spawn(w, &agent, 1, NULL, NULL), TH_OK);
    assert_true(th_world_free_place(w, 0, (th_vec2){14.9f, 3}, 0.3f, 8.0f, &p));
    assert_true(p.x < 15.0f); // not behind the wall
    assert_false(th_world_free_place(w, 0, (th_vec2){200, 3}, 0.3f, 8.0f, &p));
}

// ---- the crowd

// The same kernel over the whole level.
static void density_is_that_of_the_maps(void **state) {
    fixture *f = *state;
    crowd c = crowd_of(f->world);
    const float *vx = th_world_map(f->world, TH_FIELD_VELOCITY_X, TH_ACCESS_READ);
    const float *vy = th_world_map(f->world, TH_FIELD_VELOCITY_Y, TH_ACCESS_READ);
    th_kernel kernel;
    th_kernel_work work;
    assert_true(th_kernel_create(th_scene_view_of(f->scene), 0, 0.5, NULL, &kernel));
    assert_true(th_kernel_work_create(&kernel, &work));
    for (int i = 0; i < c.count; ++i) th_kernel_note(&kernel, &work, c.x[i], c.y[i]);
    for (int i = 0; i < c.count; ++i)
        th_kernel_put(&kernel, &work, c.x[i], c.y[i], (th_vec2){vx[i], vy[i]},
                      th_kernel_alone(&kernel, &work, c.x[i], c.y[i]));
    th_kernel_spread(&kernel, &work);
    float highest = 0.0f;
    for (int k = 0; k < 400; ++k) {
        th_vec2 p = {0.01f + 0.0374f * (float)(k * 7 % 400), 0.05f * (float)k + 0.01f};
        int cell = th_kernel_cell(&kernel, p.x, p.y);
        float sums[TH_SUMS];
        th_kernel_read(&kernel, &work, cell % kernel.nx, cell / kernel.nx, sums);
        th_crowd crowd_here;
        assert_true(th_world_crowd_at(f->world, 0, p, NULL, &crowd_here));
        assert_near(crowd_here.density, th_kernel_density(&kernel, (size_t)cell, sums), 2e-4);
        if (sums[TH_SUM_PEOPLE] > 0.1f)
            assert_near(crowd_here.speed, sums[TH_SUM_SPEED] / sums[TH_SUM_PEOPLE], 2e-3);
        highest = fmaxf(highest, crowd_here.density);
    }
    assert_true(highest > 1.0f);
    th_kernel_work_release(&work);
    th_kernel_release(&kernel);
}

// A row of agents pressed against a wall: each one is squeezed by what those behind it lean on with.
static void pressure_is_the_mean_line_pressure(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON({
        "levels": [{"id": "g", "walkable": {"rect": [0, 0, 10, 6]}}],
        "exits": [{"id": "out", "line": [[10, 2], [10, 4]], "closed": true}],
        "groups": [{"id": "p", "positions": [[9.75, 3], [9.25, 3], [8.75, 3]], "radius": 0.25, "to": "out"}],
        "run": {"step": 0.05}}));
    th_world *w = world_of(scene, 1, 1);
    float forces[3];
    th_crowd crowd_here;
    th_world_step(w, 1);
    assert_true(th_world_contact_forces(w, forces));
    assert_true(th_world_crowd_at(w, 0, (th_vec2){9.25f, 3}, forces, &crowd_here));
    float low = fminf(forces[0], fminf(forces[1], forces[2])),
          high = fmaxf(forces[0], fmaxf(forces[1], forces[2]));
    float line = 0.5f / (6.2831853f * 0.25f);
    assert_true(crowd_here.pressure >= line * low - 1e-3f &&
                crowd_here.pressure <= line * high + 1e-3f);
    assert_true(th_world_crowd_at(w, 0, (th_vec2){2, 3}, forces, &crowd_here));
    assert_true(isnan(crowd_here.pressure) && isnan(crowd_here.speed) &&
                crowd_here.density == 0.0f);
    th_world_destroy(w);
    th_scene_destroy(scene);
}

// ---- wrong use

static void wrong_questions_have_neutral_answers(void **state) {
    th_world *w = ((fixture *)*state)->world;
    th_seen seen[2];
    th_crowd crowd_here;
    th_way_point way[2];
    th_vec2 p = {5, 5}, out, corners[] = {{2, 2}, {12, 2}, {2, 12}};
    const int wrong[] = {-1, 1, INT_MAX, INT_MIN};
    for (int k = 0; k < 4; ++k) {
        int level = wrong[k];
        assert_int_equal(th_world_nearest(w, level, p, 3, seen, 2), 0);
        assert_int_equal(th_world_agents_in_circle(w, level, p, 3, seen, 2), 0);
        assert_int_equal(th_world_agents_in_box(w, level, (th_box){0, 0, 9, 9}, seen, 2), 0);
        assert_int_equal(th_world_agents_in_polygon(w, level, corners, 3, seen, 2), 0);
        assert_int_equal(th_world_ray(w, level, p, corners[0], 3, (th_agent_id){0}).kind,
                         TH_HIT_NOTHING);
        assert_int_equal(
            th_world_path(w, (th_way_point){p, level}, (th_way_point){p, 0}, 0.2f, way, 2, NULL),
            0);
        assert_int_equal(
            th_world_path(w, (th_way_point){p, 0}, (th_way_point){p, level}, 0.2f, way, 2, NULL),
            0);
        assert_false(th_world_free_place(w, level, p, 0.3f, 3, &out));
        assert_false(th_world_crowd_at(w, level, p, NULL, &crowd_here));
    }
    const th_vec2 bad[] = {{NAN, 5}, {5, INFINITY}, {1e30f, 5}};
    for (int k = 0; k < 3; ++k) {
        assert_int_equal(th_world_nearest(w, 0, bad[k], 3, seen, 2), 0);
        assert_int_equal(th_world_agents_in_circle(w, 0, bad[k], 3, seen, 2), 0);
        assert_int_equal(
            th_world_agents_in_polygon(w, 0, (th_vec2[]){{0, 0}, {9, 0}, bad[k]}, 3, seen, 2), 0);
        assert_int_equal(th_world_ray(w, 0, bad[k], p, 3, (th_agent_id){0}).kind, TH_HIT_NOTHING);
        assert_int_equal(th_world_ray(w, 0, p, bad[k], 3, (th_agent_id){0}).kind, TH_HIT_NOTHING);
        assert_int_equal(
            th_world_path(w, (th_way_point){bad[k], 0}, (th_way_point){p, 0}, 0.2f, way, 2, NULL),
            0);
        assert_false(th_world_free_place(w, 0, bad[k], 0.3f, 3, &out));
        assert_false(th_world_crowd_at(w, 0, bad[k], NULL, &crowd_here));
    }
    assert_int_equal(th_world_agents_in_box(w, 0, (th_box){NAN, 0, 9, 9}, seen, 2), 0);
    assert_int_equal(th_world_agents_in_box(w, 0, (th_box){9, 9, 0, 0}, seen, 2), 0);
    assert_int_equal(th_world_agents_in_polygon(w, 0, corners, 2, seen, 2), 0);
    assert_int_equal(th_world_nearest(w, 0, p, NAN, seen, 2), 0);
    assert_int_equal(th_world_nearest(w, 0, p, -1, seen, 2), 0);
    assert_int_equal(th_world_nearest(w, 0, p, 3, NULL, 0), 0);
    assert_int_equal(th_world_nearest(w, 0, p, 3, NULL, -5), 0);
    assert_true(th_world_agents_in_circle(w, 0, p, 3, NULL, -5) > 0);
    assert_int_equal(th_world_agents_in_circle(w, 0, p, NAN, seen, 2), 0);
    assert_false(th_world_free_place(w, 0, p, 0, 3, &out));
    assert_false(th_world_free_place(w, 0, p, NAN, 3, &out));
    assert_int_equal(
        th_world_path(w, (th_way_point){p, 0}, (th_way_point){p, 0}, NAN, way, 2, NULL), 0);
    assert_false(th_world_agent(w, (th_agent_id){0}, seen, NULL));
    assert_false(th_world_agent(w, (th_agent_id){UINT32_MAX}, seen, NULL));
}

static void names_have_numbers(void **state) {
    const th_scene *scene = ((fixture *)*state)->scene;
    assert_int_equal(th_scene_find(scene, TH_LIST_LEVELS, "low"), 0);
    assert_int_equal(th_scene_find(scene, TH_LIST_GROUPS, "staff"), 1);
    assert_int_equal(th_scene_find(scene, TH_LIST_GOALS, "out"), 0);
    assert_int_equal(th_scene_find(scene, TH_LIST_DOORS, "gate"), 0);
    assert_int_equal(th_scene_find(scene, TH_LIST_LINES, "line"), 0);
    assert_int_equal(th_scene_find(scene, TH_LIST_AREAS, "area"), 0);
    assert_int_equal(th_scene_find(scene, TH_LIST_DOORS, "out"), -1);
    assert_int_equal(th_scene_find(scene, TH_LIST_DOORS, NULL), -1);
    assert_int_equal(th_scene_find(scene, TH_LIST_COUNT, "out"), -1);
    assert_int_equal(th_scene_find(scene, (th_list)-1, "out"), -1);
}

// Before the first step there are no cells yet.
static void a_new_world_can_be_asked(void **state) {
    th_world *w = world_of(((fixture *)*state)->scene, 1, 3);
    th_seen found[200];
    assert_int_equal(th_world_agents_in_box(w, 0, (th_box){0, 0, 30, 20}, found, 200), 150);
    th_crowd crowd_here;
    assert_true(th_world_crowd_at(w, 0, (th_vec2){6, 10}, NULL, &crowd_here));
    assert_true(crowd_here.density > 0.2f);
    th_world_destroy(w);
}

// ---- threads

typedef struct asker {
    const th_world *world;
    uint64_t digest;
} asker;

static void *ask_all(void *context) {
    asker *a = context;
    for (int k = 0; k < 200; ++k) {
        th_vec2 p = {0.1f + 0.07f * (float)k, 0.5f + 0.09f * (float)k}, out = {0};
        th_seen found[12];
        th_crowd crowd_here;
        th_way_point way[8];
        int count = th_world_nearest(a->world, 0, p, 5, found, 12);
        th_hit hit = th_world_ray(a->world, 0, p, (th_vec2){20, 15}, 3, (th_agent_id){0});
        th_world_crowd_at(a->world, 0, p, NULL, &crowd_here);
        th_world_free_place(a->world, 0, p, 0.3f, 5, &out);
        int corners = k % 20 ? 0
                             : th_world_path(a->world, (th_way_point){p, 0},
                                             (th_way_point){{20, 3}, 0}, 0.2f, way, 8, NULL);
        uint32_t bits[3];
        memcpy(bits, &crowd_here.density, 4);
        memcpy(bits + 1, &out.x, 4);
        memcpy(bits + 2, &hit.distance, 4);
        a->digest = a->digest * 31 + bits[0] + bits[1] + bits[2] + (uint64_t)count +
                    (uint64_t)corners + (count ? found[count - 1].id.serial : 0) + hit.agent.serial;
    }
    return NULL;
}

static void threads_ask_at_once(void **state) {
    asker askers[2] = {{((fixture *)*state)->world, 0}, {((fixture *)*state)->world, 0}};
    pthread_t thread;
    uint64_t hash = th_world_hash(askers[0].world);
    assert_int_equal(pthread_create(&thread, NULL, ask_all, &askers[1]), 0);
    ask_all(&askers[0]);
    pthread_join(thread, NULL);
    assert_true(askers[0].digest == askers[1].digest && askers[0].digest != 0);
    assert_true(th_world_hash(askers[0].world) == hash);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(nearest_agents_come_in_order),
        TEST(shapes_hold_the_agents_inside),
        TEST(agents_are_found_where_they_are_now),
        TEST(rays_stop_at_walls_and_doors),
        TEST(rays_stop_at_the_first_agent),
        TEST(paths_go_through_the_door),
        TEST(free_places_are_free),
        TEST(density_is_that_of_the_maps),
        cmocka_unit_test(pressure_is_the_mean_line_pressure),
        TEST(wrong_questions_have_neutral_answers),
        TEST(names_have_numbers),
        TEST(a_new_world_can_be_asked),
        TEST(threads_ask_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
