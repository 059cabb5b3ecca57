// One crowd over several worlds: who owns which ground, and what they tell each other. SPDX-License-Identifier: Apache-2.0
#include "state/ranks.h"
#include "core/error.h"
#include "formula/vec.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    TILES_PER_RANK = 256, // at least, so that people can be shared out evenly
    TILES_MOST = 1 << 20,
    SHARE_OUT_AFTER = 64, // steps
    NEWCOMERS_ROOM = 64,
};
static const float TILE_LEAST = 1.0f, TILE_MOST = 16.0f; // [m]
// The ground is shared out anew when a rank has this much more people than the mean.
static const double UNEVEN = 1.05;
// Contact lets no person go faster [m/s]; scripted bodies do as they are told.
static const float FASTEST = 25.0f;

__attribute__((format(printf, 2, 3))) static void stop(const th_ranks *r, const char *format, ...) {
    char text[480], why[400];
    va_list values;
    va_start(values, format);
    vsnprintf(why, sizeof why, format, values);
    va_end(values);
    snprintf(text, sizeof text, "rank %d of %d: %s", r->comm->rank, r->comm->size, why);
    r->comm->stop(r->comm, text);
}

// ---- the ground

static int tile_along(float at, float origin, float inverse_tile, int count) {
    float c = (at - origin) * inverse_tile; // tiles at the border have no end
    return !(c > 0.0f) ? 0 : c >= (float)count ? count - 1 : (int)c;
}
static int column_of(const th_ranks *r, float x) {
    return tile_along(x, r->origin.x, r->inverse_tile, r->nx);
}
static int row_of(const th_ranks *r, float y) {
    return tile_along(y, r->origin.y, r->inverse_tile, r->ny);
}
static int tile_of(const th_ranks *r, th_vec2 p) {
    return row_of(r, p.y) * r->nx + column_of(r, p.x);
}

bool th_ranks_is_here(const th_ranks *r, th_vec2 p) {
    return r->owner[tile_of(r, p)] == r->comm->rank;
}

// The ranks with ground in the columns and rows, each once; returns how many.
static int owners_within(const th_ranks *r, int column0, int column1, int row0, int row1,
                         uint16_t *list) {
    int count = 0;
    for (int row = row0; row <= row1; ++row)
        for (int column = column0; column <= column1; ++column) {
            uint16_t owner = r->owner[row * r->nx + column];
            int k = 0;
            while (k < count && list[k] != owner) ++k;
            if (k < count) continue;
            if (count == TH_RANKS_NEAR)
                stop(r, "more than %d ranks meet in one place; take fewer ranks", TH_RANKS_NEAR);
            list[count++] = owner;
        }
    return count;
}

// The ranks that see a person at p.
static int ranks_around(const th_ranks *r, th_vec2 p, uint16_t *list) {
    return owners_within(r, column_of(r, p.x - r->halo), column_of(r, p.x + r->halo),
                         row_of(r, p.y - r->halo), row_of(r, p.y + r->halo), list);
}

static void find_inner(th_ranks *r) {
    int reach = (int)ceilf(r->halo * r->inverse_tile) + 1; // one more for what rounding may do
    uint16_t list[TH_RANKS_NEAR];
    for (int row = 0; row < r->ny; ++row)
        for (int column = 0; column < r->nx; ++column) {
            int tile = row * r->nx + column;
            int x0 = column > reach ? column - reach : 0, y0 = row > reach ? row - reach : 0;
            int x1 = column + reach < r->nx ? column + reach : r->nx - 1;
            int y1 = row + reach < r->ny ? row + reach : r->ny - 1;
            bool own = r->owner[tile] == r->comm->rank;
            r->inner[tile] = own && owners_within(r, x0, x1, y0, y1, list) == 1;
        }
}

// Place d of the Hilbert curve over a square of `side` tiles, a power of two.
static void curve_at(int side, uint64_t d, int *x, int *y) {
    *x = *y = 0;
    for (int s = 1; s < side; s *= 2, d /= 4) {
        int right = (int)(d / 2 & 1), up = (int)((d ^ (d / 2)) & 1);
        if (up == 0) {
            if (right == 1) {
                *x = s - 1 - *x;
                *y = s - 1 - *y;
            }
            int swap = *x;
            *x = *y;
            *y = swap;
        }
        *x += s * right;
        *y += s * up;
    }
}

static void make_curve(th_ranks *r) {
    int side = 1, count = 0;
    while (side < r->nx || side < r->ny) side *= 2;
    for (uint64_t d = 0; d < (uint64_t)side * (uint64_t)side; ++d) {
        int x, y;
        curve_at(side, d, &x, &y);
        if (x < r->nx && y < r->ny) r->curve[count++] = (uint32_t)(y * r->nx + x);
    }
}

// Cuts the curve into pieces with the same number of people, and the ground without people evenly.
static void cut_curve(th_ranks *r) {
    uint64_t all = 0, so_far = 0, size = (uint64_t)r->comm->size;
    uint64_t per_person = 16; // a tile without people counts as a sixteenth of one
    for (int t = 0; t < r->tiles; ++t) all += per_person * r->people[t] + 1;
    for (int k = 0; k < r->tiles; ++k) {
        uint64_t weight = per_person * r->people[r->curve[k]] + 1;
        uint64_t owner = (2 * so_far + weight) * size / (2 * all);
        r->owner[r->curve[k]] = (uint16_t)(owner < size ? owner : size - 1);
        so_far += weight;
    }
    r->moves++;
    r->halo = -1.0f; // the inner tiles are others now
}

// ---- memory

static void *take(const th_ranks *r, size_t count, size_t size) {
    return th_alloc(&r->memory, count, size);
}

static void lay_out(th_ranks *r, const th_world *world) {
    th_box all = world->scene->levels[0].box;
    for (int l = 1; l < world->scene->level_count; ++l) {
        const th_box *box = &world->scene->levels[l].box;
        all = (th_box){th_min(all.min_x, box->min_x), th_min(all.min_y, box->min_y),
                       th_max(all.max_x, box->max_x), th_max(all.max_y, box->max_y)};
    }
    double width = (double)th_max(all.max_x - all.min_x, 1.0f),
           height = (double)th_max(all.max_y - all.min_y, 1.0f);
    double tile = sqrt(width * height / (TILES_PER_RANK * (double)r->comm->size));
    tile = fmin(fmax(tile, (double)TILE_LEAST), (double)TILE_MOST);
    while ((width / tile + 1.0) * (height / tile + 1.0) > TILES_MOST) tile *= 1.25;
    r->origin = th_v(all.min_x, all.min_y);
    r->inverse_tile = (float)(1.0 / tile);
    r->nx = (int)(width / tile) + 1;
    r->ny = (int)(height / tile) + 1;
    r->tiles = r->nx * r->ny;
}

static size_t count_words(const th_world *world) {
    return (size_t)world->scene->goal_count +
           2 * (size_t)(world->scene->measure_line_count + world->scene->door_count);
}
enum { COUNTERS = 8 };

// All arrays whose length does not change: X(name, length).
#define FIXED(X, r, capacity, size, words) \
    X(curve, (r)->tiles)                   \
    X(people, (r)->tiles)                  \
    X(owner, (r)->tiles)                   \
    X(inner, (r)->tiles)                   \
    X(ghost, (capacity) + TH_ARRAY_PAD)    \
    X(out.first, (size) + 1)               \
    X(in.first, (size) + 1)                \
    X(to_count, size)                      \
    X(from_count, size)                    \
    X(to, size)                            \
    X(from, size)                          \
    X(to_size, size)                       \
    X(from_size, size)                     \
    X(before, words)                       \
    X(sum, (words) + COUNTERS)

int th_ranks_capacity(const th_comm *comm, int people) {
    int64_t share = 2 * (int64_t)people / comm->size + 50000;
    return share < people ? (int)share : people;
}

// Until people are placed: each group's spread over its area's box.
static void expect_people(th_ranks *r, const th_scene *scene) {
    for (int g = 0; g < scene->group_count; ++g) {
        const th_group *group = &scene->groups[g];
        const th_box *box = group->area.shape.ring_count ? &group->area.shape.box
                                                         : &scene->levels[group->level].box;
        int x0 = column_of(r, box->min_x), x1 = column_of(r, box->max_x);
        int y0 = row_of(r, box->min_y), y1 = row_of(r, box->max_y);
        int64_t tiles = (int64_t)(x1 - x0 + 1) * (y1 - y0 + 1);
        for (int row = y0; row <= y1; ++row)
            for (int column = x0; column <= x1; ++column)
                r->people[row * r->nx + column] += (uint32_t)(group->count / tiles + 1);
    }
}

// The furthest that an agent may go in a step [m].
static float furthest_way(const th_world *world) {
    double speed = (double)FASTEST;
    for (int s = 0; s < world->scene->scripted_count; ++s) {
        const th_scripted *body = &world->scene->scripted[s];
        for (int k = 1; k < body->path_count; ++k) {
            double x = body->path[k].x - body->path[k - 1].x,
                   y = body->path[k].y - body->path[k - 1].y;
            double time = body->path[k].time - body->path[k - 1].time;
            if (time > 0.0) speed = fmax(speed, sqrt(x * x + y * y) / time);
        }
    }
    return (float)(1.01 * speed * (double)world->dt);
}

th_ranks *th_ranks_create(const th_world *world, const th_comm *comm, int capacity,
                          th_error *error) {
    th_ranks *r = th_alloc(&world->memory, 1, sizeof *r);
    bool whole = r != NULL;
    if (r) {
        r->comm = comm;
        r->memory = world->memory;
        r->capacity = capacity;
        lay_out(r, world);
        size_t words = count_words(world);
#define TAKE(name, length)                                \
    r->name = take(r, (size_t)(length), sizeof *r->name); \
    whole = whole && r->name;
        FIXED(TAKE, r, capacity, comm->size, words)
#undef TAKE
    }
    if (!whole) {
        th_world owner = {.ranks = r, .scene = world->scene, .memory = world->memory};
        th_ranks_destroy(&owner);
        th_fail(error, TH_NO_MEMORY, "", "no memory for the ranks' map of the ground");
        return NULL;
    }
    r->travel = furthest_way(world);
    make_curve(r);
    expect_people(r, world->scene);
    cut_curve(r);
    r->moves = 0;
    r->steps_since = SHARE_OUT_AFTER; // as soon as all are placed
    return r;
}

void th_ranks_destroy(th_world *world) {
    th_ranks *r = world->ranks;
    if (!r) return;
    size_t words = count_words(world);
    int size = r->comm ? r->comm->size : 0;
#define GIVE(name, length) th_dealloc(&world->memory, r->name, (size_t)(length), sizeof *r->name);
    FIXED(GIVE, r, r->capacity, size, words)
    GIVE(out.place, r->out.room)
    GIVE(in.place, r->in.room)
    GIVE(pair, r->pair_room)
    GIVE(hole, r->hole_room)
    GIVE(sent, r->sent_room)
    GIVE(received, r->received_room)
    GIVE(near_position, r->near_room[0])
    GIVE(near_radius, r->near_room[1])
    GIVE(near_level, r->near_room[2])
#undef GIVE
    th_dealloc(&world->memory, r, 1, sizeof *r);
    world->ranks = NULL;
}

// Work space that grows with the borders; a rank cannot go on without it.
static void reserve(const th_ranks *r, void *array, int *room, int64_t needed, size_t element) {
    bool fits = needed <= INT32_MAX;
    if (!fits || !th_alloc_reserve(&r->memory, array, room, (int)needed, element))
        stop(r, "no memory for %lld bytes of its borders", (long long)needed * (long long)element);
}
#define RESERVE(r, array, room, needed) reserve(r, &(array), &(room), needed, sizeof *(array))

// ---- lists of people by rank

static void note_pair(th_ranks *r, int rank, int place) {
    RESERVE(r, r->pair, r->pair_room, 2 * (int64_t)r->pair_count + 2);
    r->pair[2 * r->pair_count] = (uint32_t)rank;
    r->pair[2 * r->pair_count++ + 1] = (uint32_t)place;
}

// The pairs noted, rank by rank, those of a rank in the order in which they were noted.
static void sort_pairs(th_ranks *r, th_rank_list *list) {
    int size = r->comm->size;
    RESERVE(r, list->place, list->room, r->pair_count);
    memset(list->first, 0, ((size_t)size + 1) * sizeof *list->first);
    for (int k = 0; k < r->pair_count; ++k) list->first[r->pair[2 * k] + 1]++;
    for (int k = 0; k < size; ++k) list->first[k + 1] += list->first[k];
    for (int k = 0; k < r->pair_count; ++k)
        list->place[list->first[r->pair[2 * k]]++] = r->pair[2 * k + 1];
    for (int k = size; k > 0; --k) list->first[k] = list->first[k - 1];
    list->first[0] = 0;
    list->count = r->pair_count;
    r->pair_count = 0;
}

// ---- messages

static void exchange(th_ranks *r) {
    for (int k = 0; k < r->comm->size; ++k) {
        if (k == r->comm->rank || r->to_size[k] == 0) continue;
        r->messages++;
        r->bytes += r->to_size[k];
    }
    r->comm->exchange(r->comm, r->to, r->to_size, (void *const *)r->from, r->from_size);
}

// Packs values of the people on a list, `arrays` of them for each rank one after the other, and says where they lie.
static void pack(th_ranks *r, const th_rank_list *list, void *const *arrays, int count) {
    RESERVE(r, r->sent, r->sent_room, 4 * (int64_t)list->count * count);
    uint32_t *to = (void *)r->sent;
    for (int k = 0; k < r->comm->size; ++k) {
        r->to[k] = to;
        r->to_size[k] = 4 * (size_t)count * (size_t)(list->first[k + 1] - list->first[k]);
        for (int a = 0; a < count; ++a) {
            const uint32_t *of = arrays[a];
            for (int n = list->first[k]; n < list->first[k + 1]; ++n) *to++ = of[list->place[n]];
        }
    }
}

static void prepare_to_receive(th_ranks *r, const int *first, int count) {
    int size = r->comm->size;
    RESERVE(r, r->received, r->received_room, 4 * (int64_t)first[size] * count);
    for (int k = 0; k < size; ++k) {
        r->from[k] = r->received + 4 * (size_t)count * (size_t)first[k];
        r->from_size[k] = 4 * (size_t)count * (size_t)(first[k + 1] - first[k]);
    }
}

void th_ranks_send(const th_world *world, void *const *arrays, int count) {
    th_ranks *r = world->ranks;
    pack(r, &r->out, arrays, count);
    prepare_to_receive(r, r->in.first, count);
    exchange(r);
    for (int k = 0; k < r->comm->size; ++k) {
        const uint32_t *from = r->from[k];
        for (int a = 0; a < count; ++a) {
            uint32_t *to = arrays[a];
            for (int n = r->in.first[k]; n < r->in.first[k + 1]; ++n) to[r->in.place[n]] = *from++;
        }
    }
}

uint64_t th_ranks_sum(const th_world *world, uint64_t value) {
    if (world->ranks) world->ranks->comm->sum(world->ranks->comm, &value, 1);
    return value;
}
void th_ranks_sum32(const th_world *world, uint32_t *values, int count) {
    if (world->ranks) world->ranks->comm->sum32(world->ranks->comm, values, count);
}
float th_ranks_highest(const th_world *world, float value) {
    if (!world->ranks) return value;
    double highest = (double)value;
    world->ranks->comm->highest(world->ranks->comm, &highest, 1);
    return (float)highest;
}

void th_ranks_check_way(const th_world *world, float moved) {
    const th_ranks *r = world->ranks;
    if (r && !(moved <= r->travel))
        stop(r,
             "at %g s an agent goes %g m in one step, further than the ranks look around their "
             "ground (%g m); take a shorter step",
             world->time, (double)moved, (double)r->travel);
}

// ---- the halo

static float reach_of(const th_world *world, int m, const float *params) {
    const th_model *model = th_models(NULL)[m];
    if (model->reach) return model->reach(world, params);
    if (!model->agent) return 0.0f;
    th_sight sight = model->sight;
    if (model->look) model->look(params, &sight);
    return sight.neighbours > 0 ? th_clamp(sight.neighbour_range, 0.0f, 50.0f) : 0.0f;
}

// Whatever a person may see, touch or be pushed by in a step stood within this distance when it began: two agents may walk
// towards each other, contact's passes push both, and searches reach a metre further (th_substep).
static float halo_of(const th_world *world) {
    float reach = 2.0f * world->max_radius;
    int passes = 0;
    for (int g = 0; g < world->scene->group_count; ++g) {
        float *params;
        th_group_state *group = &world->groups[g];
        for (int k = 0; th_state_model(group, k, &params) != TH_NO_MODEL; ++k)
            reach = th_max(reach, reach_of(world, (int)th_state_model(group, k, &params), params));
        if (group->body.separation_passes > passes) passes = group->body.separation_passes;
    }
    return reach + 2.0f * world->ranks->travel + 1.0f + (float)passes * world->max_radius;
}

// ---- sharing out

static void count_people(const th_world *world) {
    th_ranks *r = world->ranks;
    memset(r->people, 0, (size_t)r->tiles * sizeof *r->people);
    for (int i = 0; i < world->agents.count; ++i)
        if (!th_gone(world->agents.phase[i]))
            r->people[tile_of(r, th_position(&world->agents, (uint32_t)i))]++;
    r->comm->sum32(r->comm, r->people, r->tiles);
}

static bool is_uneven(const th_ranks *r, uint64_t *loads) {
    uint64_t all = 0, most = 0;
    int size = r->comm->size;
    memset(loads, 0, (size_t)size * sizeof *loads);
    for (int t = 0; t < r->tiles; ++t) {
        loads[r->owner[t]] += r->people[t];
        all += r->people[t];
    }
    for (int k = 0; k < size; ++k) most = loads[k] > most ? loads[k] : most;
    return (double)most * size > UNEVEN * (double)all + 16.0 * size;
}

static void share_out(th_world *world) {
    th_ranks *r = world->ranks;
    if (++r->steps_since < SHARE_OUT_AFTER) return;
    r->steps_since = 0;
    uint64_t loads[TH_RANKS_MOST];
    count_people(world);
    if (is_uneven(r, loads)) cut_curve(r);
}

// ---- migration and copies

static void note_hole(th_ranks *r, int place) {
    RESERVE(r, r->hole, r->hole_room, (int64_t)r->hole_count + 1);
    r->hole[r->hole_count++] = (uint32_t)place;
}

// Notes where each person has to be; ghost[i] says that it does not stay here.
static void find_ways(th_world *world) {
    th_ranks *r = world->ranks;
    const th_agents *agents = &world->agents;
    uint16_t list[TH_RANKS_NEAR];
    r->hole_count = 0;
    for (int i = 0; i < agents->count; ++i) {
        th_vec2 p = th_position(agents, (uint32_t)i);
        r->ghost[i] = 0;
        if (th_gone(agents->phase[i])) {
            note_hole(r, i);
            continue;
        }
        if (r->inner[tile_of(r, p)]) continue;
        int count = ranks_around(r, p, list);
        bool stays = false;
        for (int k = 0; k < count; ++k) {
            if (list[k] == r->comm->rank)
                stays = true;
            else
                note_pair(r, list[k], i);
        }
        r->ghost[i] = !stays;
    }
}

static void **all_fields(th_world *world, void **fields) {
    for (int f = 0; f < th_field_count(&world->agents); ++f)
        fields[f] = th_field_get(&world->agents, f);
    return fields;
}

static void let_go(th_world *world) {
    th_ranks *r = world->ranks;
    for (int i = 0; i < world->agents.count; ++i)
        if (r->ghost[i]) {
            world->agents.phase[i] = TH_PHASE_REMOVED;
            note_hole(r, i);
        }
}

// Where the n-th newcomer goes: the place of one that is gone, or the end.
static uint32_t place_for(const th_ranks *r, const th_agents *agents, int n) {
    return n < r->hole_count ? r->hole[n] : (uint32_t)(agents->count + n - r->hole_count);
}

static void take_in(th_world *world, void *const *fields, int field_count, const int *first) {
    th_ranks *r = world->ranks;
    th_agents *agents = &world->agents;
    int size = r->comm->size, more = first[size] - r->hole_count;
    if (more > 0 && agents->count > agents->capacity - more)
        stop(r,
             "no room for %d people and copies of others (%d); the crowd is uneven, so take fewer "
             "ranks or a larger max_agents",
             agents->count + more, agents->capacity);
    for (int k = 0; k < size; ++k) {
        const uint32_t *from = r->from[k];
        for (int f = 0; f < field_count; ++f) {
            uint32_t *to = fields[f];
            for (int n = first[k]; n < first[k + 1]; ++n) to[place_for(r, agents, n)] = *from++;
        }
    }
    if (more > 0) agents->count += more;
}

void th_ranks_meet(th_world *world) {
    th_ranks *r = world->ranks;
    void *fields[TH_FIELD_COUNT + TH_MODEL_MAX * TH_MODEL_FIELD_MAX];
    int field_count = th_field_count(&world->agents), size = r->comm->size;
    r->places = false;
    share_out(world);
    float halo = halo_of(world);
    if (halo != r->halo) {
        r->halo = halo;
        find_inner(r);
    }
    all_fields(world, fields);
    find_ways(world);
    sort_pairs(r, &r->out);
    pack(r, &r->out, fields, field_count);
    for (int k = 0; k < size; ++k)
        r->to_count[k] = (uint32_t)(r->out.first[k + 1] - r->out.first[k]);
    r->comm->numbers(r->comm, r->to_count, r->from_count);
    r->messages += (uint64_t)size - 1;
    r->bytes += 4 * ((uint64_t)size - 1);
    r->in.first[0] = 0;
    for (int k = 0; k < size; ++k) r->in.first[k + 1] = r->in.first[k] + (int)r->from_count[k];
    let_go(world);
    prepare_to_receive(r, r->in.first, field_count);
    exchange(r);
    take_in(world, fields, field_count, r->in.first);
}

void th_ranks_list(th_world *world) {
    th_ranks *r = world->ranks;
    const th_agents *agents = &world->agents;
    uint16_t list[TH_RANKS_NEAR];
    r->own = 0;
    for (int i = 0; i < agents->count; ++i) {
        int tile = tile_of(r, th_position(agents, (uint32_t)i));
        r->ghost[i] = r->owner[tile] != r->comm->rank;
        r->own += !r->ghost[i];
        if (r->ghost[i]) note_pair(r, r->owner[tile], i);
    }
    sort_pairs(r, &r->in);
    for (int i = 0; i < agents->count; ++i) {
        th_vec2 p = th_position(agents, (uint32_t)i);
        if (r->ghost[i] || r->inner[tile_of(r, p)]) continue;
        int count = ranks_around(r, p, list);
        for (int k = 0; k < count; ++k)
            if (list[k] != r->comm->rank) note_pair(r, list[k], i);
    }
    sort_pairs(r, &r->out);
    world->ghost = r->ghost;
}

void th_ranks_part(th_world *world) {
    th_ranks *r = world->ranks;
    if (!r) return;
    for (int k = 0; k < r->in.count; ++k) world->agents.phase[r->in.place[k]] = TH_PHASE_REMOVED;
}

void th_ranks_meet_again(const th_world *world) {
    const th_agents *a = &world->agents;
    th_ranks_send4(world, a->position_x, a->position_y, a->level, a->phase);
}

// ---- counts

// Every count that ranks add to: visit(where it is, what it was when they were last added up).
typedef struct count_words_of {
    uint64_t *now[COUNTERS], *before[COUNTERS];
} counters_of;
static counters_of counters(th_world *world) {
    th_counters *now = &world->counters, *then = &world->ranks->counted;
#define BOTH(X) \
    X(left)     \
    X(removed) X(left_digest) X(wall_crossings) X(wall_stops) X(repairs) X(falls) X(unreachable)
#define NOW(name) &now->name,
#define THEN(name) &then->name,
    return (counters_of){{BOTH(NOW)}, {BOTH(THEN)}};
}

static void note_time(double time, uint64_t before, uint64_t more, double *first, double *last) {
    if (more == 0) return;
    if (before == 0) *first = time;
    *last = time;
}

void th_ranks_count(th_world *world, bool step) {
    th_ranks *r = world->ranks;
    if (!r) return;
    counters_of c = counters(world);
    const th_scene *scene = world->scene;
    int exits = scene->goal_count, lines = scene->measure_line_count + scene->door_count, n = 0;
    if (step) r->counted.unreachable = 0; // counted anew in every step
    for (int k = 0; k < COUNTERS; ++k) r->sum[n++] = *c.now[k] - *c.before[k];
    for (int k = 0; k < exits; ++k) r->sum[n++] = world->exits[k].left - r->before[k];
    for (int k = 0; k < lines; ++k) {
        r->sum[n++] = world->lines[k].forward - r->before[exits + 2 * k];
        r->sum[n++] = world->lines[k].backward - r->before[exits + 2 * k + 1];
    }
    r->comm->sum(r->comm, r->sum, n);
    const uint64_t *more = r->sum;
    if (more[0] > 0) world->counters.last_left_time = world->time;
    for (int k = 0; k < COUNTERS; ++k) *c.now[k] = *c.before[k] += *more++;
    for (int k = 0; k < exits; ++k) {
        th_exit_count *exit = &world->exits[k];
        note_time(world->time, r->before[k], more[k], &exit->first_time, &exit->last_time);
        exit->left = r->before[k] += more[k];
    }
    more += exits;
    for (int k = 0; k < lines; ++k, more += 2) {
        th_line_count *line = &world->lines[k];
        uint64_t *before = r->before + exits + 2 * k;
        note_time(world->time, before[0] + before[1], more[0] + more[1], &line->first_time,
                  &line->last_time);
        line->forward = before[0] += more[0];
        line->backward = before[1] += more[1];
    }
}

void th_ranks_restored(th_world *world) {
    th_ranks *r = world->ranks;
    if (!r) return;
    uint64_t *before = r->before;
    r->counted = world->counters;
    for (int k = 0; k < world->scene->goal_count; ++k) *before++ = world->exits[k].left;
    for (int k = 0; k < world->scene->measure_line_count + world->scene->door_count; ++k) {
        *before++ = world->lines[k].forward;
        *before++ = world->lines[k].backward;
    }
    r->steps_since = SHARE_OUT_AFTER; // where the people are is not known yet
}

// ---- sources

static void note_near(th_ranks *r, th_vec2 p, float radius, uint32_t level) {
    int needed = r->near_count + 1;
    RESERVE(r, r->near_position, r->near_room[0], needed);
    RESERVE(r, r->near_radius, r->near_room[1], needed);
    RESERVE(r, r->near_level, r->near_room[2], needed);
    r->near_position[r->near_count] = p;
    r->near_radius[r->near_count] = radius;
    r->near_level[r->near_count++] = level;
}

// Is it so near to the area of a source that no newcomer may appear in some part of it?
static bool is_by_source(const th_world *world, uint32_t i) {
    const th_scene *scene = world->scene;
    th_vec2 p = th_position(&world->agents, i);
    for (int g = 0; g < scene->group_count; ++g) {
        const th_group *group = &scene->groups[g];
        if (group->entries) return true; // people come anywhere
        if ((group->rate <= 0.0 && group->arrival_count == 0) ||
            (uint32_t)group->level != world->agents.level[i])
            continue;
        const th_box *box = group->area.shape.ring_count
                                ? &group->area.shape.box
                                : &scene->levels[group->level].walkable.box;
        const th_body_rules *body = &world->groups[g].body;
        float reach =
            th_max(body->newcomer_bodies * 2.0f * world->max_radius, body->newcomer_metres) + 1.0f;
        if (p.x >= box->min_x - reach && p.x <= box->max_x + reach && p.y >= box->min_y - reach &&
            p.y <= box->max_y + reach)
            return true;
    }
    return false;
}

// x, y, radius and level of each go to all ranks.
static void tell_all(th_world *world) {
    th_ranks *r = world->ranks;
    const th_agents *agents = &world->agents;
    int size = r->comm->size, mine = 0, total = 0;
    for (int i = 0; i < agents->count; ++i)
        if (th_in_the_way(agents->phase[i]) && is_by_source(world, (uint32_t)i)) {
            RESERVE(r, r->sent, r->sent_room, 16 * (int64_t)mine + 16);
            uint32_t *to = (uint32_t *)(void *)r->sent + 4 * mine++;
            memcpy(to, &agents->position_x[i], 4);
            memcpy(to + 1, &agents->position_y[i], 4);
            memcpy(to + 2, &agents->radius[i], 4);
            to[3] = agents->level[i];
        }
    for (int k = 0; k < size; ++k) r->to_count[k] = (uint32_t)mine;
    r->comm->numbers(r->comm, r->to_count, r->from_count);
    for (int k = 0; k < size; ++k) total += (int)r->from_count[k];
    RESERVE(r, r->received, r->received_room, 16 * (int64_t)total);
    char *from = r->received;
    for (int k = 0; k < size; ++k) {
        bool other = k != r->comm->rank;
        r->to[k] = r->sent;
        r->to_size[k] = other ? 16 * (size_t)mine : 0;
        r->from[k] = from;
        r->from_size[k] = other ? 16 * (size_t)r->from_count[k] : 0;
        from += 16 * (size_t)r->from_count[k];
    }
    if (mine > 0) memcpy(r->from[r->comm->rank], r->sent, 16 * (size_t)mine);
    exchange(r);
    r->near_count = 0;
    for (int n = 0; n < total; ++n) {
        float v[3];
        uint32_t level;
        memcpy(v, r->received + 16 * n, 12);
        memcpy(&level, r->received + 16 * n + 12, 4);
        note_near(r, th_v(v[0], v[1]), v[2], level);
    }
}

void th_ranks_see_sources(th_world *world) {
    uint64_t present = 0;
    const th_agents *agents = &world->agents;
    for (int i = 0; i < agents->count; ++i) present += agents->phase[i] != TH_PHASE_REMOVED;
    world->ranks->places = true;
    world->ranks->crowd = (int)th_ranks_sum(world, present);
    tell_all(world);
}

void th_ranks_keep(th_world *world) {
    th_ranks *r = world->ranks;
    if (!r) return;
    th_agents *agents = &world->agents;
    uint32_t last = (uint32_t)agents->count - 1;
    r->crowd++;
    if (r->places)
        note_near(r, th_position(agents, last), agents->radius[last], agents->level[last]);
    if (!th_ranks_is_here(r, th_position(agents, last))) agents->count--;
    if (agents->count == agents->capacity && world->crowd_capacity > agents->capacity)
        stop(r,
             "no room for more than %d people; the crowd is uneven, so take fewer ranks or a "
             "larger max_agents",
             agents->capacity);
}

// ---- from outside

bool th_world_rank_state(const th_world *world, th_rank_state *state) {
    const th_ranks *r = world->ranks;
    *state = (th_rank_state){0};
    if (!r) return false;
    *state = (th_rank_state){.own = r->own,
                             .copies = r->in.count,
                             .capacity = world->agents.capacity,
                             .halo = r->halo,
                             .bytes = r->bytes,
                             .messages = r->messages,
                             .moves = (uint64_t)r->moves,
                             .memory = world->arena.bytes};
    return true;
}

th_result th_ranks_check(const th_scene *scene, th_error *error) {
    for (int g = 0; g < scene->group_count; ++g) {
        const th_model_choice *choice;
        char path[64];
        snprintf(path, sizeof path, "groups[%d]", g);
        for (int k = 0; (choice = th_group_model(&scene->groups[g], k)); ++k) {
            const th_model *model = th_models(NULL)[choice->model];
            bool apart = model->reach || (model->agent && !model->begin);
            if (!apart)
                return th_fail(error, TH_BAD_ARGUMENT, path,
                               "group '%s': the %s model \"%s\" looks at the whole crowd and does "
                               "not run over ranks yet; run the scene in one process, or choose "
                               "another model (docs/cluster.md)",
                               scene->groups[g].id, th_stage_name(model->stage), model->name);
        }
    }
    return TH_OK;
}
