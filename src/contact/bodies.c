// Bodies moved by hand: the program's calls and the CPU's loops. SPDX-License-Identifier: Apache-2.0
#include "contact/bodies.h"
#include "core/error.h"
#include "core/parallel.h"
#include "plan/plan.h"
#include "state/device.h"
#include "throng/live.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- shapes

enum { BODY_COOKIE = 0x74686264, ROUND = 12, ROUND_OF_MANY = 8, POINTS_MAX = 64 };

th_body_def th_body_def_default(void) { return (th_body_def){.cookie = BODY_COOKIE}; }

static int by_place(const void *left, const void *right) {
    const th_vec2 *a = left, *b = right;
    if (a->x != b->x) return a->x < b->x ? -1 : 1;
    return a->y < b->y ? -1 : a->y > b->y;
}

// The convex hull, counter-clockwise, without points on its edges; sorts the points. Returns the number of corners.
static int hull_of(th_vec2 *points, int count, th_vec2 *hull) {
    qsort(points, (size_t)count, sizeof *points, by_place);
    int n = 0;
    for (int pass = 0; pass < 2; ++pass) { // the lower side to the right, the upper one back
        int begin = n;
        for (int k = 0; k < count; ++k) {
            th_vec2 p = points[pass == 0 ? k : count - 1 - k];
            while (n >= begin + 2 && th_orientation(hull[n - 2], hull[n - 1], p) <= 1e-9) --n;
            hull[n++] = p;
        }
        --n; // it begins the other side
    }
    return n;
}

// Every point of the outline becomes a regular polygon around a circle of the radius; the body is their hull.
static int corners_of(const th_body_def *def, th_vec2 *corners) {
    const th_vec2 middle = {0.0f, 0.0f};
    const th_vec2 *outline = def->outline_count > 0 ? def->outline : &middle;
    int count = def->outline_count > 0 ? def->outline_count : 1, n = 0;
    int round = !(def->radius > 0.0f) ? 1 : count <= 4 ? ROUND : ROUND_OF_MANY;
    th_vec2 points[POINTS_MAX], hull[POINTS_MAX + 2];
    double sine, cosine;
    th_sincos_turn(0.5 / round, &sine, &cosine);
    float radius = round > 1 ? def->radius / (float)cosine : 0.0f;
    for (int k = 0; k < count; ++k)
        for (int m = 0; m < round; ++m) {
            th_sincos_turn((m + 0.5) / round, &sine, &cosine);
            points[n++] = th_add(outline[k], th_scale(radius, th_v((float)cosine, (float)sine)));
        }
    n = hull_of(points, n, hull);
    if (n <= TH_BODY_CORNERS) memcpy(corners, hull, (size_t)n * sizeof *corners);
    return n;
}

static bool is_in_reach(th_vec2 p) { return th_length(p) < 1e6f; } // false for NaN

static th_result check_pose(const th_body_pose *pose, th_error *error) {
    if (!is_in_reach(pose->position) || !(th_length(pose->velocity) <= 100.0f) ||
        !(fabsf(pose->angle) < 1e6f) || !(fabsf(pose->spin) <= 100.0f))
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "a body's pose needs a position within 1000 km, at most 100 m/s and 100 "
                       "rad/s, and an angle below a million");
    return TH_OK;
}

static th_result check_body(const th_world *world, const th_body_def *def, th_error *error) {
    if (def->cookie != BODY_COOKIE)
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "a th_body_def has to start from th_body_def_default()");
    if (def->level < 0 || def->level >= world->scene->level_count)
        return th_fail(error, TH_BAD_ARGUMENT, "", "level %d does not exist; the scene has %d",
                       def->level, world->scene->level_count);
    int most = def->radius > 0.0f ? ROUND_OF_MANY : TH_BODY_CORNERS;
    bool few = def->outline_count >= 0 && def->outline_count <= most;
    if (!few || (def->outline_count > 0 && !def->outline) || !(def->radius >= 0.0f) ||
        !(def->radius <= 100.0f))
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "a body has a radius of 0 to 100 m and an outline of at most %d points, %d "
                       "with a radius",
                       (int)TH_BODY_CORNERS, (int)ROUND_OF_MANY);
    for (int k = 0; k < def->outline_count; ++k)
        if (!(th_length(def->outline[k]) <= 100.0f))
            return th_fail(error, TH_BAD_ARGUMENT, "",
                           "point %d of a body's outline is further than 100 m from its origin", k);
    return check_pose(&def->pose, error);
}

// ---- the program's calls

// Worlds without walls skip everything about them: the first body takes the place of a removed live wall.
static void make_walls_count(th_world *world) {
    if (world->wall_count == 0) {
        memset(world->walls, 0, 2 * sizeof *world->walls);
        world->wall_count = 2;
    }
}

static void changed(th_world *world) {
    if (world->device) world->device->bodies_changed(world);
}

th_result th_world_add_body(th_world *world, const th_body_def *def, int *number, th_error *error) {
    if (world->ranks)
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "a world over ranks has no bodies moved by hand yet; run it in one process");
    th_result result = check_body(world, def, error);
    if (result != TH_OK) return result;
    th_body body = {.level = def->level};
    body.corner_count = corners_of(def, body.corners);
    if (body.corner_count < 3 || body.corner_count > TH_BODY_CORNERS ||
        (!(def->radius > 0.0f) && body.corner_count != def->outline_count))
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "a body without a radius needs a convex outline of 3 to %d corners that are "
                       "not in a line",
                       (int)TH_BODY_CORNERS);
    int b = 0;
    while (b < TH_BODY_MAX && world->bodies[b].corner_count > 0) ++b;
    if (b == TH_BODY_MAX)
        return th_fail(error, TH_FULL, "", "all %d bodies are in use; remove one first",
                       (int)TH_BODY_MAX);
    result = th_plan_world_reserve(world, error); // used once it is parked
    if (result != TH_OK) return result;
    for (int k = 0; k < body.corner_count; ++k)
        body.reach = th_max(body.reach, th_length(body.corners[k]));
    body.first_edge = th_body_edge(world, b);
    body.position = body.before = def->pose.position;
    body.angle = def->pose.angle;
    body.heading = body.before_heading = th_heading_of(body.angle);
    body.velocity = def->pose.velocity;
    body.spin = def->pose.spin;
    world->bodies[b] = body;
    world->body_count = b >= world->body_count ? b + 1 : world->body_count;
    make_walls_count(world);
    th_body_place_edges(world, &world->bodies[b]);
    changed(world);
    if (number) *number = b;
    return TH_OK;
}

static th_result find_body(th_world *world, int number, th_error *error) {
    if (number >= 0 && number < world->body_count && world->bodies[number].corner_count > 0)
        return TH_OK;
    return th_fail(error, TH_BAD_ARGUMENT, "", "there is no body %d", number);
}

th_result th_world_move_body(th_world *world, int number, const th_body_pose *pose,
                             th_error *error) {
    th_result result = find_body(world, number, error);
    if (result == TH_OK) result = check_pose(pose, error);
    if (result != TH_OK) return result;
    th_body *body = &world->bodies[number];
    body->position = pose->position;
    body->velocity = pose->velocity;
    body->angle = pose->angle;
    body->spin = pose->spin;
    changed(world);
    return TH_OK;
}

th_result th_world_remove_body(th_world *world, int number, th_error *error) {
    th_result result = find_body(world, number, error);
    if (result != TH_OK) return result;
    bool was_parked = world->bodies[number].parked;
    world->bodies[number].corner_count = 0;
    world->bodies[number].parked = false;
    while (world->body_count > 0 && world->bodies[world->body_count - 1].corner_count == 0)
        --world->body_count;
    changed(world);
    if (was_parked) {
        if (world->device) world->device->fetch(world, TH_ALL_FIELDS);
        world->walls_version++;
        th_plan_walls_changed(world);
        if (world->device) world->device->changed(world);
    }
    return TH_OK;
}

th_body_state th_world_body(const th_world *world, int number) {
    th_body_state state = {.corner_count = 0};
    if (number < 0 || number >= world->body_count) return state;
    if (world->device) world->device->fetch_bodies((th_world *)world);
    const th_body *body = &world->bodies[number];
    state.pose = (th_body_pose){body->position, body->velocity, body->angle, body->spin};
    state.level = body->level;
    state.corner_count = body->corner_count;
    state.cornered = (int)body->cornered;
    for (int k = 0; k < body->corner_count; ++k)
        state.corners[k] =
            th_add(body->position, th_turned(body->corners[k], th_heading_of(body->angle)));
    return state;
}

// ---- the step

static bool is_parked(const th_body *body) {
    return body->corner_count > 0 && body->rest >= TH_BODY_PARKED;
}

bool th_bodies_advance(th_world *world) {
    bool park = false;
    for (int b = 0; b < world->body_count; ++b) {
        th_body_advance(world, &world->bodies[b]);
        park = park || is_parked(&world->bodies[b]) != world->bodies[b].parked;
    }
    return park;
}

void th_bodies_tell_planners(th_world *world) {
    for (int b = 0; b < world->body_count; ++b)
        world->bodies[b].parked = is_parked(&world->bodies[b]);
    world->walls_version++;
    th_plan_walls_changed(world);
}

void th_bodies_restored(th_world *world) {
    world->body_count = 0;
    for (int b = 0; b < TH_BODY_MAX; ++b)
        if (world->bodies[b].corner_count > 0) {
            th_body_place_edges(world, &world->bodies[b]);
            world->body_count = b + 1;
        }
    if (world->body_count > 0) make_walls_count(world);
    changed(world);
}

void th_bodies_move(th_world *world) {
    if (world->body_count == 0) return;
    if (th_bodies_advance(world)) th_bodies_tell_planners(world);
#pragma omp parallel for num_threads(world->threads) schedule(static)
    for (int i = 0; i < world->agents.count; ++i) {
        uint64_t cornered = th_bodies_carry(world, (uint32_t)i);
        for (int b = 0; cornered; ++b, cornered >>= 1)
            if (cornered & 1) {
#pragma omp atomic
                world->bodies[b].cornered++;
            }
    }
    for (int b = 0; b < world->body_count; ++b) th_body_arrive(&world->bodies[b]);
}

void th_bodies_step_aside(th_world *world) {
    if (world->body_count == 0) return;
#pragma omp parallel for num_threads(world->threads) schedule(static)
    for (int i = 0; i < world->agents.count; ++i) th_bodies_make_way(world, (uint32_t)i);
}
