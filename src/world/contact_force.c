// Contact forces between bodies, from positions, masses and preferred velocities alone, so they exist for every model.
//
// A model with soft bodies gives the force of two that overlap (th_model.contact_force); where contact lets them give way
// (th_body_rules.stiffness), walls bear what is left of these forces. All other bodies are hard, and
// the forces that keep them apart are computed. Walking agents push forward with m v0 / tau, the drive of Helbing, Farkas
// and Vicsek 2000 (80 kg, 1.34 m/s: 214 N); standing agents brace alike. The velocities nearest to the preferred ones
// with which no agent walks into an agent or wall that it touches solve
//     min sum_i m_i |w_i - u_i|^2 / 2   with   (w_i - w_j) . n_ij >= -gap / tau   for all that touch, walls too,
// and its multipliers over tau are the contact forces: without friction, pushing only, passed from body to body to a wall
// or to agents that brace. They hold for a crowd that pushes as hard as it wants to walk; in a queue that does not push
// the forces are smaller.
//
// The multipliers are found by projected gradients, preconditioned by a bound on the rows and accelerated with restarts
// (Nesterov; O'Donoghue and Candes 2015). A row of n people against a wall takes about 3 n iterations, which limits the
// forces found in very long rows. Sums run over people and touches in the order of the ids and over fixed blocks: the
// same bits for any number of threads and on any device. Links between levels carry no force.
// Cost: O(people + touches x iterations). SPDX-License-Identifier: Apache-2.0
#include "core/parallel.h"
#include "formula/vec.h"
#include "move/substep.h"
#include "state/device.h"
#include "world/world.h"
#include <math.h>
#include <string.h>

#define TOUCHING 0.02f // [m] clothes and flesh give that much
#define TAU 0.5f       // [s] Helbing, Farkas, Vicsek 2000
#define SMALL 1.0f     // [N] no force changes by more in an iteration: found
enum { ITERATIONS = 300, SUM_BLOCK = 4096, WALLS_MAX = 16 };

// Two that touch; n points from j to i. j -1: a wall.
typedef struct touch {
    int i, j;
    th_vec2 n;
    float gap; // [m] negative: they overlap
} touch;

// All agents in the order of the ids.
typedef struct bodies {
    int count;
    const float *x, *y, *radius, *mass, *speed, *preferred_x, *preferred_y, *velocity_x,
        *velocity_y;
    const uint32_t *level, *phase, *group;
} bodies;

typedef struct network {
    const th_world *world;
    const th_memory *memory;
    bodies people;
    touch *touches;
    int count, room;
    int *start, *list;           // of person i: touches list[start[i]] .. list[start[i + 1] - 1]
    th_vec2 *wish;               // [m/s]
    float *yields;               // 1 / mass; 0: does not give way [1/kg]
    float *now, *before, *ahead; // multipliers per touch [kg m/s]
    th_vec2 *velocity;
} network;

// ---- touching pairs

static float largest_radius(const bodies *people) {
    float largest = 0.0f;
    for (int i = 0; i < people->count; ++i) largest = fmaxf(largest, people->radius[i]);
    return largest;
}

typedef struct cell {
    int32_t column, row;
} cell;

// Agents by cell, hashed: a plane without end has too many.
typedef struct buckets {
    cell *cells;   // of all agents
    int *start;    // per bucket
    int *list;     // people, by bucket and then by id
    uint32_t mask; // buckets - 1
    float size;    // of a cell [m]
} buckets;

static uint32_t bucket_of(const buckets *b, cell at, uint32_t level) {
    uint32_t h =
        (uint32_t)at.column * 0x9e3779b1u ^ (uint32_t)at.row * 0x85ebca77u ^ level * 0xc2b2ae3du;
    return (h ^ h >> 15) & b->mask;
}

static size_t bucket_count(int people) {
    size_t count = 16;
    while (count < (size_t)people) count *= 2;
    return count;
}

static void release_buckets(const th_memory *memory, buckets *b, int people) {
    th_dealloc(memory, b->cells, (size_t)people, sizeof *b->cells);
    th_dealloc(memory, b->start, bucket_count(people) + 1, sizeof *b->start);
    th_dealloc(memory, b->list, (size_t)people, sizeof *b->list);
}

static bool make_buckets(const th_memory *memory, const bodies *people, buckets *b) {
    size_t count = bucket_count(people->count);
    *b = (buckets){.mask = (uint32_t)count - 1,
                   .size = 2.0f * largest_radius(people) + TOUCHING + 1e-3f};
    b->cells = th_alloc(memory, (size_t)people->count, sizeof *b->cells);
    b->start = th_alloc(memory, count + 1, sizeof *b->start);
    b->list = th_alloc(memory, (size_t)people->count, sizeof *b->list);
    if (!b->cells || !b->start || !b->list) return false;
    for (int i = 0; i < people->count; ++i) {
        b->cells[i] = (cell){(int32_t)floorf(people->x[i] / b->size),
                             (int32_t)floorf(people->y[i] / b->size)};
        b->start[bucket_of(b, b->cells[i], people->level[i]) + 1]++;
    }
    for (size_t k = 0; k < count; ++k) b->start[k + 1] += b->start[k];
    for (int i = people->count - 1; i >= 0; --i) // from the end, so that ids ascend
        b->list[--b->start[bucket_of(b, b->cells[i], people->level[i]) + 1]] = i;
    // start[k + 1] is now where bucket k begins; its end is where the next begins.
    memmove(b->start, b->start + 1, count * sizeof *b->start);
    b->start[count] = people->count;
    return true;
}

// Touches as they are found: into a list that grows, or, where several threads look, counted first and then put in place.
typedef struct finder {
    network *net;
    th_walls walls;
    buckets buckets;
    bool grows;
    touch *place; // where the next one goes; NULL: only counted
    int count;
} finder;

static bool add_touch(finder *f, touch one) {
    network *net = f->net;
    if (f->place) f->place[f->count] = one;
    f->count++;
    if (!f->grows) return true;
    if (!th_alloc_reserve(net->memory, &net->touches, &net->room, net->count + 1, sizeof one))
        return false;
    net->touches[net->count++] = one;
    return true;
}

static bool touch_person(finder *f, int i, int j) {
    const bodies *people = &f->net->people;
    th_vec2 p = {people->x[i], people->y[i]}, q = {people->x[j], people->y[j]};
    th_vec2 apart = th_sub(p, q);
    float reach = people->radius[i] + people->radius[j], distance2 = th_length2(apart), t;
    if (distance2 >= (reach + TOUCHING) * (reach + TOUCHING) || !(distance2 > 1e-12f)) return true;
    if (th_walls_first_crossing(&f->walls, (int)people->level[i], p, q, &t) >= 0) return true;
    float distance = sqrtf(distance2);
    return add_touch(f, (touch){i, j, th_scale(1.0f / distance, apart), distance - reach});
}

static bool touch_people(finder *f, int i) {
    const bodies *people = &f->net->people;
    const buckets *b = &f->buckets;
    for (int k = 0; k < 9; ++k) {
        cell at = {b->cells[i].column + k % 3 - 1, b->cells[i].row + k / 3 - 1};
        uint32_t bucket = bucket_of(b, at, people->level[i]);
        for (int n = b->start[bucket]; n < b->start[bucket + 1]; ++n) {
            int j = b->list[n];
            if (j <= i || people->level[j] != people->level[i] || b->cells[j].column != at.column ||
                b->cells[j].row != at.row)
                continue;
            if (!touch_person(f, i, j)) return false;
        }
    }
    return true;
}

static bool touch_walls(finder *f, int i) {
    const bodies *people = &f->net->people;
    th_vec2 p = {people->x[i], people->y[i]}, points[WALLS_MAX];
    const th_group_state *group = &f->net->world->groups[people->group[i]];
    bool rigid = th_is_rigid_body(group->rigid, people->radius[i]);
    float radius = (rigid ? 1.0f : group->body.depth) * people->radius[i];
    int count =
        th_wall_points(&f->walls, (int)people->level[i], p, radius + TOUCHING, points, WALLS_MAX);
    for (int k = 0; k < count; ++k) {
        th_vec2 off = th_sub(p, points[k]);
        float distance = th_length(off);
        if (!(distance > 1e-6f)) continue;
        if (!add_touch(f, (touch){i, -1, th_scale(1.0f / distance, off), distance - radius}))
            return false;
    }
    return true;
}

static bool touch_range(finder *f, int first, int last) {
    bool memory = true;
    for (int i = first; memory && i < last; ++i) {
        memory = touch_people(f, i);
        if (memory && f->net->people.phase[i] < TH_PHASE_SCRIPTED) memory = touch_walls(f, i);
    }
    return memory;
}

// Block by block: so many touches before block b.
static void touch_blocks(const finder *all, int *before, int blocks, bool place) {
    const network *net = all->net;
#pragma omp parallel for num_threads(net->world->threads) schedule(dynamic, 4)
    for (int b = 0; b < blocks; ++b) {
        int first = b * TH_BLOCK, last = first + TH_BLOCK;
        finder f = *all;
        f.place = place ? net->touches + before[b] : NULL;
        touch_range(&f, first, last < net->people.count ? last : net->people.count);
        if (!place) before[b + 1] = f.count;
    }
}

static bool touch_in_parallel(const finder *all) {
    network *net = all->net;
    int blocks = th_block_count(net->people.count);
    int *before = th_alloc(net->memory, (size_t)blocks + 1, sizeof *before);
    if (!before) return false;
    touch_blocks(all, before, blocks, false);
    for (int b = 0; b < blocks; ++b) before[b + 1] += before[b];
    net->count = net->room = before[blocks];
    net->touches = th_alloc(net->memory, (size_t)net->room, sizeof *net->touches);
    if (net->touches) touch_blocks(all, before, blocks, true);
    th_dealloc(net->memory, before, (size_t)blocks + 1, sizeof *before);
    return net->touches != NULL;
}

static bool find_touches(network *net) {
    const bodies *people = &net->people;
    finder all = {.net = net, .walls = th_world_walls(net->world)};
    bool memory = make_buckets(net->memory, people, &all.buckets);
    all.grows = net->world->threads == 1;
    if (memory) memory = all.grows ? touch_range(&all, 0, people->count) : touch_in_parallel(&all);
    release_buckets(net->memory, &all.buckets, people->count);
    return memory;
}

// ---- preferred velocities

static const th_model *move_of(const th_world *world, uint32_t group) {
    return th_models(NULL)[world->groups[group].move];
}
static bool is_soft(const network *net, int i) {
    return i >= 0 && move_of(net->world, net->people.group[i])->contact_force != NULL;
}

static void find_wish(network *net, int i) {
    const bodies *people = &net->people;
    bool gives_way = people->phase[i] < TH_PHASE_SCRIPTED;
    th_vec2 preferred = {people->preferred_x[i], people->preferred_y[i]};
    net->yields[i] = gives_way && people->mass[i] > 0.0f ? 1.0f / people->mass[i] : 0.0f;
    net->wish[i] = (th_vec2){0.0f, 0.0f};
    if (!gives_way)
        net->wish[i] = (th_vec2){people->velocity_x[i], people->velocity_y[i]};
    else if (people->phase[i] == TH_PHASE_WALKING)
        net->wish[i] = th_scale(people->speed[i], th_unit(preferred));
}

// ---- the solve

static void find_velocity(network *net, const float *multipliers, int i) {
    th_vec2 push = {0.0f, 0.0f};
    for (int k = net->start[i]; k < net->start[i + 1]; ++k) {
        const touch *one = &net->touches[net->list[k]];
        float by = one->i == i ? multipliers[net->list[k]] : -multipliers[net->list[k]];
        push = th_add(push, th_scale(by, one->n));
    }
    net->velocity[i] = th_add(net->wish[i], th_scale(net->yields[i], push));
}

static bool counts(const network *net, const touch *one) {
    return !(is_soft(net, one->i) && (one->j < 0 || is_soft(net, one->j)));
}

// One projected step of a touch from `ahead`. Returns the new multiplier.
static float take_step(const network *net, const touch *one, float ahead) {
    int i = one->i, j = one->j;
    float rows = net->yields[i] * (float)(net->start[i + 1] - net->start[i]);
    th_vec2 closing = net->velocity[i];
    if (j >= 0) {
        rows += net->yields[j] * (float)(net->start[j + 1] - net->start[j]);
        closing = th_sub(closing, net->velocity[j]);
    }
    if (!(rows > 0.0f) || !counts(net, one)) return 0.0f;
    float free_way = fmaxf(one->gap, 0.0f) / TAU;
    return fmaxf(ahead - (th_dot(closing, one->n) + free_way) / rows, 0.0f);
}

// The change of an iteration over a block of touches.
typedef struct progress {
    double against; // momentum that points uphill: time to restart
    float largest;  // change [kg m/s]
} progress;

static progress step_block(network *net, int first, int last) {
    progress p = {0.0, 0.0f};
    for (int c = first; c < last; ++c) {
        float next = take_step(net, &net->touches[c], net->ahead[c]), change = next - net->now[c];
        p.against += (double)(net->ahead[c] - next) * (double)change;
        p.largest = fmaxf(p.largest, fabsf(change));
        net->before[c] = net->now[c];
        net->now[c] = next;
    }
    return p;
}

static progress iterate(network *net, progress *parts) {
    int blocks = (net->count + SUM_BLOCK - 1) / SUM_BLOCK;
#pragma omp parallel for num_threads(net->world->threads) schedule(static)
    for (int i = 0; i < net->people.count; ++i) find_velocity(net, net->ahead, i);
#pragma omp parallel for num_threads(net->world->threads) schedule(static)
    for (int b = 0; b < blocks; ++b) {
        int last = (b + 1) * SUM_BLOCK < net->count ? (b + 1) * SUM_BLOCK : net->count;
        parts[b] = step_block(net, b * SUM_BLOCK, last);
    }
    progress all = {0.0, 0.0f};
    for (int b = 0; b < blocks; ++b) {
        all.against += parts[b].against;
        all.largest = fmaxf(all.largest, parts[b].largest);
    }
    return all;
}

static bool solve(network *net) {
    int blocks = (net->count + SUM_BLOCK - 1) / SUM_BLOCK;
    progress *parts = th_alloc(net->memory, (size_t)blocks, sizeof *parts);
    if (!parts) return false;
    float t = 1.0f;
    for (int k = 0; k < ITERATIONS; ++k) {
        progress done = iterate(net, parts);
        if (done.largest < SMALL * TAU * 0.1f) break;
        float next = done.against > 0.0 ? 1.0f : 0.5f * (1.0f + sqrtf(1.0f + 4.0f * t * t));
        float momentum = done.against > 0.0 ? 0.0f : (t - 1.0f) / next;
#pragma omp parallel for num_threads(net->world->threads) schedule(static)
        for (int c = 0; c < net->count; ++c)
            net->ahead[c] = net->now[c] + momentum * (net->now[c] - net->before[c]);
        t = next;
    }
    th_dealloc(net->memory, parts, (size_t)blocks, sizeof *parts);
    return true;
}

// ---- forces of a world

static bool make_network(network *net) {
    size_t people = (size_t)net->people.count;
    net->start = th_alloc(net->memory, people + 1, sizeof *net->start);
    net->wish = th_alloc(net->memory, people, sizeof *net->wish);
    net->velocity = th_alloc(net->memory, people, sizeof *net->velocity);
    net->yields = th_alloc(net->memory, people, sizeof *net->yields);
    if (!net->start || !net->wish || !net->velocity || !net->yields || !find_touches(net))
        return false;
    size_t touches = (size_t)net->count;
    net->list = th_alloc(net->memory, 2 * touches, sizeof *net->list);
    net->now = th_alloc(net->memory, touches, sizeof *net->now);
    net->before = th_alloc(net->memory, touches, sizeof *net->before);
    net->ahead = th_alloc(net->memory, touches, sizeof *net->ahead);
    if (!net->list || !net->now || !net->before || !net->ahead) return false;
    for (int c = 0; c < net->count; ++c) {
        net->start[net->touches[c].i + 1]++;
        if (net->touches[c].j >= 0) net->start[net->touches[c].j + 1]++;
    }
    for (size_t i = 0; i < people; ++i) net->start[i + 1] += net->start[i];
    for (int c = net->count - 1; c >= 0; --c) {
        net->list[--net->start[net->touches[c].i + 1]] = c;
        if (net->touches[c].j >= 0) net->list[--net->start[net->touches[c].j + 1]] = c;
    }
    memmove(net->start, net->start + 1, people * sizeof *net->start);
    net->start[people] = 0;
    for (int c = 0; c < net->count; ++c) net->start[people] += net->touches[c].j >= 0 ? 2 : 1;
#pragma omp parallel for num_threads(net->world->threads) schedule(static)
    for (int i = 0; i < net->people.count; ++i) find_wish(net, i);
    return true;
}

static void release_network(network *net) {
    size_t people = (size_t)net->people.count, touches = (size_t)net->count;
    th_dealloc(net->memory, net->start, people + 1, sizeof *net->start);
    th_dealloc(net->memory, net->wish, people, sizeof *net->wish);
    th_dealloc(net->memory, net->velocity, people, sizeof *net->velocity);
    th_dealloc(net->memory, net->yields, people, sizeof *net->yields);
    th_dealloc(net->memory, net->list, 2 * touches, sizeof *net->list);
    th_dealloc(net->memory, net->now, touches, sizeof *net->now);
    th_dealloc(net->memory, net->before, touches, sizeof *net->before);
    th_dealloc(net->memory, net->ahead, touches, sizeof *net->ahead);
    th_dealloc(net->memory, net->touches, (size_t)net->room, sizeof *net->touches);
}

// A body that gives way presses by its own law, and a wall holds the balance of what presses it there.
static float force_on_soft(const network *net, int i) {
    const th_group_state *group = &net->world->groups[net->people.group[i]];
    const th_model *model = move_of(net->world, net->people.group[i]);
    th_vec2 push = {0.0f, 0.0f};
    float sum = 0.0f;
    for (int walls = 0; walls < 2; ++walls)
        for (int k = net->start[i]; k < net->start[i + 1]; ++k) {
            const touch *one = &net->touches[net->list[k]];
            if ((one->j < 0) != walls) continue;
            float own = one->i == i ? 1.0f : -1.0f;
            float force = walls             ? fmaxf(-th_dot(push, one->n), 0.0f)
                          : one->gap < 0.0f ? model->contact_force(group->move_params, -one->gap)
                                            : 0.0f;
            push = th_add(push, th_scale(own * force, one->n));
            sum += force;
        }
    return sum;
}

static float force_on(const network *net, int i) {
    float sum = 0.0f;
    if (is_soft(net, i) && net->world->groups[net->people.group[i]].body.stiffness > 0.0f)
        return force_on_soft(net, i);
    uint32_t group = net->people.group[i];
    const th_model *model = move_of(net->world, group);
    for (int k = net->start[i]; k < net->start[i + 1]; ++k) {
        int c = net->list[k];
        if (model->contact_force)
            sum += net->touches[c].gap < 0.0f
                       ? model->contact_force(net->world->groups[group].move_params,
                                              -net->touches[c].gap)
                       : 0.0f;
        else
            sum += net->now[c] / TAU;
    }
    return sum;
}

static bool map_people(th_world *world, bodies *people) {
    people->count = th_world_agent_count(world);
    people->x = th_world_map(world, TH_FIELD_POSITION_X, TH_ACCESS_READ);
    people->y = th_world_map(world, TH_FIELD_POSITION_Y, TH_ACCESS_READ);
    people->radius = th_world_map(world, TH_FIELD_RADIUS, TH_ACCESS_READ);
    people->mass = th_world_map(world, TH_FIELD_MASS, TH_ACCESS_READ);
    people->speed = th_world_map(world, TH_FIELD_SPEED, TH_ACCESS_READ);
    people->preferred_x = th_world_map(world, TH_FIELD_PREFERRED_X, TH_ACCESS_READ);
    people->preferred_y = th_world_map(world, TH_FIELD_PREFERRED_Y, TH_ACCESS_READ);
    people->velocity_x = th_world_map(world, TH_FIELD_VELOCITY_X, TH_ACCESS_READ);
    people->velocity_y = th_world_map(world, TH_FIELD_VELOCITY_Y, TH_ACCESS_READ);
    people->level = th_world_map(world, TH_FIELD_LEVEL, TH_ACCESS_READ);
    people->phase = th_world_map(world, TH_FIELD_PHASE, TH_ACCESS_READ);
    people->group = th_world_map(world, TH_FIELD_GROUP, TH_ACCESS_READ);
    return people->x && people->y && people->radius && people->mass && people->speed &&
           people->preferred_x && people->preferred_y && people->velocity_x && people->velocity_y &&
           people->level && people->phase && people->group;
}

bool th_world_contact_forces(th_world *world, float *forces) {
    if (world->ranks) return false; // a chain of contacts may lead over every border
    network net = {.world = world, .memory = &world->memory};
    if (!map_people(world, &net.people)) return false;
    bool memory = make_network(&net) && (net.count == 0 || solve(&net));
    int count = memory ? net.people.count : 0;
#pragma omp parallel for num_threads(world->threads) schedule(static)
    for (int i = 0; i < count; ++i) forces[i] = force_on(&net, i);
    release_network(&net);
    return memory;
}
