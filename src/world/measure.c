// The measure stage: departures and crossings of lines and doors; advances the clock. Areas, overlaps and the state hash
// are measured when asked. SPDX-License-Identifier: Apache-2.0
#include "world/measure.h"
#include "behave/route/route.h"
#include "core/hash.h"
#include "core/parallel.h"
#include "formula/segment.h"
#include "space/distance_grid.h"
#include "state/device.h"
#include "state/ranks.h"
#include "throng/live.h"
#include "world/spawn.h"
#include "world/world.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void count_leaving(th_exit_count *exit, double time) {
    if (exit->left++ == 0) exit->first_time = time;
    exit->last_time = time;
}

static float box_distance2(const th_box *box, th_vec2 p) {
    float dx = th_max(th_max(box->min_x - p.x, p.x - box->max_x), 0.0f);
    float dy = th_max(th_max(box->min_y - p.y, p.y - box->max_y), 0.0f);
    return dx * dx + dy * dy;
}

// The waiting area in which a person of this leg waits: the nearest of its goals. -1: none.
static int waits_in(const th_world *world, int i) {
    const th_scene *scene = world->scene;
    const th_agents *agents = &world->agents;
    const th_group *group = &scene->groups[agents->group[i]];
    if ((int)agents->group[i] >= scene->group_count ||
        agents->leg[i] >= (uint32_t)group->route_count)
        return -1;
    const th_target *target = &scene->targets[group->route[agents->leg[i]]];
    th_vec2 p = th_position(agents, (uint32_t)i);
    float least = INFINITY;
    int best = -1;
    for (int k = 0; k < target->goal_count; ++k) {
        const th_goal *goal = &scene->goals[target->goals[k]];
        if (goal->kind != TH_GOAL_WAITING) continue;
        bool inside = th_route_goal_reached(goal, agents->level[i], p, p);
        float apart = inside          ? 0.0f
                      : goal->is_line ? th_segment_distance2(p, goal->line.a, goal->line.b)
                                      : box_distance2(&goal->area.shape.box, p);
        if (apart >= least) continue;
        least = apart;
        best = target->goals[k];
    }
    return best;
}

// Counts the people in a refuge or a waiting area that holds so many, and lets in those that ask, in storage order.
static void admit(th_world *world, int g) {
    const th_goal *goal = &world->scene->goals[g];
    th_agents *agents = &world->agents;
    th_exit_count *count = &world->exits[g];
    uint64_t before = count->left;
    count->left = 0;
    for (int i = 0; i < agents->count; ++i)
        count->left +=
            (agents->phase[i] == TH_PHASE_ARRIVED || agents->phase[i] == TH_PHASE_WAITING) &&
            waits_in(world, i) == g;
    for (int i = 0; i < agents->count && goal->capacity > 0; ++i) {
        if (agents->phase[i] != TH_PHASE_STANDING || agents->wait_until[i] != TH_ASKS ||
            (int)agents->exit[i] != g)
            continue;
        if (count->left >= (uint64_t)goal->capacity) {
            agents->wait_until[i] = (float)world->time + TH_ASKS_AGAIN;
            continue;
        }
        ++count->left;
        agents->phase[i] = goal->refuge ? TH_PHASE_ARRIVED : TH_PHASE_WAITING;
        agents->wait_until[i] = (float)world->time + goal->wait;
    }
    if (count->left <= before) return;
    if (count->first_time == 0.0) count->first_time = world->time;
    count->last_time = world->time;
}

static void admit_all(th_world *world) {
    for (int g = 0; g < world->scene->goal_count; ++g)
        if (world->scene->goals[g].refuge || world->scene->goals[g].capacity > 0) admit(world, g);
}

// Storage order is the same for any thread count, so the list of events is too.
static void report_leaving(th_world *world) {
    const th_agents *agents = &world->agents;
    for (int i = 0; i < agents->count; ++i) {
        if (agents->phase[i] != TH_PHASE_LEFT) continue;
        world->counters.left_digest += th_leaving_digest(world, (uint32_t)i);
        count_leaving(&world->exits[agents->exit[i]], world->time);
        th_push_event(world, (th_event){.kind = TH_EVENT_LEFT,
                                        .time = world->time,
                                        .index = (int)agents->exit[i],
                                        .agent = {agents->id[i]}});
    }
    world->counters.left += (uint64_t)world->left_in_step;
    world->counters.last_left_time = world->time;
    world->left_in_step = 0;
}

void th_name_line(th_world *world, int l) {
    const th_scene *scene = world->scene;
    int doors_from = scene->measure_line_count;
    const th_line *line = th_counted_line(scene, l);
    double dx = (double)line->b.x - (double)line->a.x, dy = (double)line->b.y - (double)line->a.y;
    world->lines[l].id =
        l < doors_from ? scene->measure_lines[l].id : scene->doors[l - doors_from].id;
    world->lines[l].length = sqrt(dx * dx + dy * dy);
}

// The box of the part of a..b between the heights low and high; false when there is none.
static bool part_between(th_vec2 a, th_vec2 b, float low, float high, float *min_x, float *max_x) {
    if (a.y > b.y) {
        th_vec2 swap = a;
        a = b;
        b = swap;
    }
    if (b.y < low || a.y > high) return false;
    float rise = b.y - a.y, at_low = a.x, at_high = b.x;
    if (rise > 0.0f && a.y < low) at_low = a.x + (b.x - a.x) * ((low - a.y) / rise);
    if (rise > 0.0f && b.y > high) at_high = a.x + (b.x - a.x) * ((high - a.y) / rise);
    *min_x = th_min(at_low, at_high);
    *max_x = th_max(at_low, at_high);
    return true;
}

static void count_run(const th_agents *agents, const th_line *line, uint32_t begin, uint32_t end,
                      th_line_count *crossings) {
    for (uint32_t i = begin; i < end; ++i) {
        int side = th_line_crossing(agents, line, i);
        crossings->forward += side > 0;
        crossings->backward += side < 0;
    }
}

// The index holds the positions before this step, so agents that cross the line were then within the
// longest move of it: only the cells along the line are looked at, row by row.
static void count_along(const th_world *world, const th_level_grid *grid, const th_line *line,
                        float reach, th_line_count *crossings) {
    int first = th_grid_row(grid, th_min(line->a.y, line->b.y) - reach);
    int last = th_grid_row(grid, th_max(line->a.y, line->b.y) + reach);
    for (int row = first; row <= last; ++row) {
        // Outsiders sit in border cells, so these reach outward without end.
        float low = row == 0 ? -1e30f : grid->origin.y + (float)row * grid->cell - reach;
        float high =
            row == grid->ny - 1 ? 1e30f : grid->origin.y + (float)(row + 1) * grid->cell + reach;
        float min_x, max_x;
        if (!part_between(line->a, line->b, low, high, &min_x, &max_x)) continue;
        uint32_t begin, end;
        th_index_run(&world->index, grid, row, th_grid_column(grid, min_x - reach),
                     th_grid_column(grid, max_x + reach), &begin, &end);
        count_run(&world->agents, line, begin, end, crossings);
    }
}

static void count_line(th_world *world, int l) {
    const th_line *line = th_counted_line(world->scene, l);
    th_line_count crossings = {0};
    // Walls may push a little further than max_moved says; rounding is far below that too.
    float reach = world->max_moved + 2.0f * world->max_radius + 0.01f;
    // An agent that changed level in this step is still sorted into the cells of the other one.
    for (int level = 0; level < world->index.level_count; ++level)
        if (level == line->level || world->scene->link_count > 0)
            count_along(world, &world->index.grids[level], line, reach, &crossings);
    if (crossings.forward + crossings.backward == 0) return;
    th_line_count *result = &world->lines[l];
    if (result->forward + result->backward == 0) result->first_time = world->time;
    result->last_time = world->time;
    result->forward += crossings.forward;
    result->backward += crossings.backward;
}

void th_stage_measure(th_world *world) {
    world->step_count++;
    world->time = (double)world->step_count * world->step_length;
    for (int l = 0; l < th_counted_line_count(world->scene); ++l) count_line(world, l);
    if (world->left_in_step > 0) report_leaving(world);
    admit_all(world);
    if (world->step_count % th_steps_per_second(world) == 0) {
        th_statistics sample = {0};
        th_ranks_meet_again(world);
        th_sample_overlaps(world, &sample);
        th_ranks_part(world);
        world->counters.wall_crossings += th_count_in_solids(world);
    }
}

int th_world_line_count(const th_world *world) { return world->scene->measure_line_count; }

// ---- results by number; those of a number that does not exist are all zero

th_line_count th_world_line(const th_world *world, int line) {
    if (line < 0 || line >= world->scene->measure_line_count) return (th_line_count){.id = ""};
    th_refresh(world, 0);
    return world->lines[line];
}
th_exit_count th_world_exit(const th_world *world, int goal) {
    if (goal < 0 || goal >= world->scene->goal_count) return (th_exit_count){.id = ""};
    th_refresh(world, 0);
    th_exit_count count = world->exits[goal];
    count.id = world->scene->goals[goal].id;
    return count;
}
int th_world_door_count(const th_world *world) { return world->scene->door_count; }
static bool is_door(const th_world *world, int door) {
    return door >= 0 && door < world->scene->door_count;
}
th_line_count th_world_door(const th_world *world, int door) {
    if (!is_door(world, door)) return (th_line_count){.id = ""};
    th_refresh(world, 0);
    return world->lines[world->scene->measure_line_count + door];
}
bool th_world_door_open(const th_world *world, int door) {
    return is_door(world, door) && !world->door_closed[door];
}
int th_world_area_count(const th_world *world) { return world->scene->measure_area_count; }

static void add_run(const th_world *world, const th_area *area, uint32_t begin, uint32_t end,
                    int *count, double *speed) {
    const th_agents *agents = &world->agents;
    for (uint32_t i = begin; i < end; ++i) {
        if (agents->level[i] != (uint32_t)area->level || agents->phase[i] >= TH_PHASE_BODY)
            continue;
        if (!th_polygons_contain(&area->shape, th_position(agents, i))) continue;
        *count += 1;
        *speed += sqrt((double)th_length2(th_velocity(agents, i)));
    }
}

// Looks at the cells under the area's box only, widened by what people may have moved since they were
// sorted; agents spawned by hand after that are at the end of the arrays.
th_area_state th_world_area(const th_world *world, int area) {
    if (area < 0 || area >= world->scene->measure_area_count) return (th_area_state){.id = ""};
    const th_measure_area *measured = &world->scene->measure_areas[area];
    const th_box *box = &measured->area.shape.box;
    th_area_state state = {.id = measured->id, .area = measured->walkable_area};
    float reach = world->max_moved + 2.0f * world->max_radius + 0.01f;
    double speed = 0.0;
    if (world->device) { // the index is on the device: look at all agents
        th_refresh(world, TH_ALL_FIELDS);
        add_run(world, &measured->area, 0, (uint32_t)world->agents.count, &state.count, &speed);
    } else {
        for (int level = 0; level < world->index.level_count; ++level) {
            if (level != measured->area.level && world->scene->link_count == 0) continue;
            const th_level_grid *grid = &world->index.grids[level];
            th_rows rows = {
                th_grid_row(grid, box->min_y - reach), th_grid_row(grid, box->max_y + reach),
                th_grid_column(grid, box->min_x - reach), th_grid_column(grid, box->max_x + reach)};
            for (uint32_t begin, end; th_next_run(&world->index, grid, &rows, &begin, &end);)
                add_run(world, &measured->area, begin, end, &state.count, &speed);
        }
        add_run(world, &measured->area, world->index.cell_start[world->index.cell_count],
                (uint32_t)world->agents.count, &state.count, &speed);
    }
    if (state.count > 0) state.mean_speed = speed / state.count;
    if (state.area > 0.0) state.density = state.count / state.area;
    return state;
}

// ---- statistics, overlaps, the state hash

void th_sample_overlaps(th_world *world, th_statistics *statistics) {
    const th_agents *agents = &world->agents;
    uint32_t indexed = world->index.cell_start[world->index.cell_count];
    // No agent is faster than the contact stage allows within a step; see th_stage_contact.
    float moved = world->max_moved;
    uint64_t overlapping = 0, pairs_twice = 0;
    float deepest = 0.0f;
#pragma omp parallel for num_threads(world->threads) schedule(dynamic, TH_BLOCK) reduction(+ : overlapping, pairs_twice) \
    reduction(max : deepest)
    for (uint32_t i = 0; i < indexed; ++i) {
        if (agents->phase[i] >= TH_PHASE_BODY || th_is_ghost(world, i)) continue;
        int deep;
        float depth = th_overlaps_of(world, i, 2.0f * moved, &deep);
        deepest = depth > deepest ? depth : deepest;
        overlapping += deep > 0;
        pairs_twice += (uint64_t)deep;
    }
    deepest = th_ranks_highest(world, deepest);
    statistics->overlaps = th_ranks_sum(world, pairs_twice) / 2;
    statistics->overlapping_agents = th_ranks_sum(world, overlapping);
    statistics->deepest_overlap = deepest;
    world->counters.largest_overlap = th_max(world->counters.largest_overlap, deepest);
}

uint64_t th_count_in_solids(const th_world *world) {
    th_walls walls = th_world_walls(world);
    uint64_t inside = 0;
#pragma omp parallel for num_threads(world->threads) schedule(static) reduction(+ : inside)
    for (int i = 0; i < world->agents.count; ++i) inside += (uint64_t)th_in_solid(world, &walls, i);
    return inside;
}

static uint64_t people_inside(const th_world *world) {
    return world->counters.spawned - world->counters.left - world->counters.removed;
}

static void add_counts(const th_world *world, th_statistics *statistics) {
    const th_counters *counters = &world->counters;
    statistics->spawned = counters->spawned;
    statistics->inside = people_inside(world);
    statistics->left = counters->left;
    statistics->removed = counters->removed;
    for (int g = 0; g < world->scene->group_count; ++g) {
        uint64_t due = world->sources[g].due;
        double announced = th_source_announced(&world->scene->groups[g]);
        statistics->waiting_to_enter += due - world->sources[g].placed;
        if (isfinite(announced)) statistics->still_to_come += (uint64_t)announced - due;
    }
    statistics->time = world->time;
    statistics->steps = world->step_count;
    statistics->last_left_time = counters->last_left_time;
    statistics->wall_crossings = counters->wall_crossings;
    statistics->wall_stops = counters->wall_stops;
    statistics->largest_overlap = counters->largest_overlap;
    statistics->repairs = counters->repairs;
    statistics->fallen = counters->fallen;
    statistics->falls = counters->falls;
    statistics->unreachable = counters->unreachable;
}

th_statistics th_world_counts(const th_world *world) {
    th_statistics statistics = {0};
    th_refresh(world, 0);
    add_counts(world, &statistics);
    return statistics;
}

th_statistics th_world_statistics(th_world *world) {
    th_statistics statistics = {0};
    if (world->device) {
        world->device->sample_overlaps(world, &statistics); // sorts, as below
        world->id_order_valid = false;
        world->device->fetch(world, 0);
    } else {
        // The index may be older than hand-made changes; sorting again changes no state.
        th_stage_index(world);
        world->max_moved = 0.0f;
        th_sample_overlaps(world, &statistics);
        th_ranks_part(world);
    }
    add_counts(world, &statistics);
    return statistics;
}

double th_world_time(const th_world *world) { return world->time; }
double th_world_step_length(const th_world *world) { return world->step_length; }
uint64_t th_world_step_count(const th_world *world) { return world->step_count; }
uint64_t th_world_seed(const th_world *world) { return world->seed; }
const th_scene *th_world_scene(const th_world *world) { return world->scene; }

int th_world_model_statistics(const th_world *world, int model, th_model_value *values, int max) {
    int known;
    th_models(&known);
    if (model < 0 || model >= known || max < 0) return 0;
    const th_model *found = th_models(NULL)[model];
    th_refresh(world, 0);
    return found->statistics && world->model_state[model]
               ? found->statistics(world, model, values, max)
               : 0;
}

bool th_world_done(const th_world *world) {
    const th_scene *scene = world->scene;
    const th_agents *agents = &world->agents;
    th_refresh(world, 0);
    // Counts placed agents, not the clock: agents due now are placed in the next step.
    for (int g = 0; g < scene->group_count; ++g)
        if ((double)world->sources[g].placed < th_source_announced(&scene->groups[g])) return false;
    if (world->device) return !world->device->anybody_under_way((th_world *)world);
    uint64_t under_way = 0;
    for (int i = 0; i < agents->count && under_way == 0; ++i)
        under_way = th_under_way(world, (uint32_t)i);
    return th_ranks_sum(world, under_way) == 0;
}

th_profile th_world_profile(const th_world *world) { return world->profile; }
void th_world_reset_profile(th_world *world) { world->profile = (th_profile){0}; }
size_t th_world_device_bytes(const th_world *world) {
    return world->device ? world->device->bytes(world) : 0;
}

// Agents' hashes are added up, so that their order in memory does not matter.
uint64_t th_world_hash(const th_world *world) {
    const th_agents *agents = &world->agents;
    uint64_t sum = 0;
    th_refresh(world, 0);
    if (world->device) {
        sum = world->device->hash_people((th_world *)world);
    } else {
#pragma omp parallel for num_threads(world->threads) schedule(static) reduction(+ : sum)
        for (int i = 0; i < agents->count; ++i) sum += th_agent_hash(world, i);
    }
    sum = th_ranks_sum(world, sum);
    uint64_t h = th_hash_add(world->step_count, sum + world->counters.left_digest);
    h = th_hash_add(h, world->counters.spawned);
    h = th_hash_add(h, world->counters.left);
    return th_hash_add(h, world->counters.removed);
}

const char *th_version(void) { return TH_VERSION; }
int th_version_number(void) { return TH_VERSION_NUMBER; }
void th_free(void *memory) { free(memory); }

const char *th_build_info(void) {
#ifdef TH_CUDA
#define TH_BACKENDS ", cuda"
#else
#define TH_BACKENDS ""
#endif
#if defined(__clang__)
#define TH_COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define TH_COMPILER "gcc " __VERSION__
#else
#define TH_COMPILER "unknown compiler"
#endif
    return "throng " TH_VERSION ", " TH_COMPILER ", contraction off, backends: cpu" TH_BACKENDS;
}
