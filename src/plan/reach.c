// Checks, before any agent sets off, that every group can reach its goals with all doors open; doors may open later.
// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "plan/prepared.h"
#include <math.h>
#include <stdio.h>

enum { SAMPLES = 400 };
// An isolated corner of an area is allowed; a tenth of the people without a way is not.
static const float STRANDED_SHARE = 0.1f;

typedef struct th_reach {
    const th_scene *scene;
    const th_nodes *nodes;
    const uint8_t *links; // fixed walls only: doors open
    const float *distance;
    int reached, stranded;
} th_reach;

static void sample_node(th_reach *reach, int node) {
    if (reach->links[node] == 0) return; // solid, or a nook smaller than the spacing
    if (reach->distance[node] < TH_UNREACHABLE)
        ++reach->reached;
    else
        ++reach->stranded;
}

static int column_of(const th_nodes *nodes, float x, float origin, int count) {
    float at = (x - origin) * nodes->inverse_spacing;
    return !(at > 0.0f) ? 0 : at >= (float)(count - 1) ? count - 1 : (int)at;
}

// Nodes of an area (or of a whole level when it has no rings), about SAMPLES of them. A small area
// falls between nodes, so the ones around it count too.
static void sample_area(th_reach *reach, int level, const th_polygons *shape, th_box box) {
    const th_nodes *nodes = reach->nodes;
    const th_node_level *grid = &nodes->levels[level];
    int column0 = column_of(nodes, box.min_x, grid->origin.x, grid->nx);
    int column1 = column_of(nodes, box.max_x, grid->origin.x, grid->nx);
    int row0 = column_of(nodes, box.min_y, grid->origin.y, grid->ny);
    int row1 = column_of(nodes, box.max_y, grid->origin.y, grid->ny);
    double cells = (double)(column1 - column0 + 1) * (double)(row1 - row0 + 1);
    int stride = (int)ceil(sqrt(cells / SAMPLES));
    if (stride < 1) stride = 1;
    for (int row = row0; row <= row1; row += stride)
        for (int column = column0; column <= column1; column += stride) {
            int node = grid->first + row * grid->nx + column;
            th_vec2 p = th_node_position(nodes, grid, node);
            if (shape->ring_count == 0 || th_polygons_contain(shape, p)) sample_node(reach, node);
        }
    if (reach->reached + reach->stranded > 0) return;
    for (int row = row0; row <= row1 + 1 && row < grid->ny; ++row)
        for (int column = column0; column <= column1 + 1 && column < grid->nx; ++column)
            sample_node(reach, grid->first + row * grid->nx + column);
}

static void sample_place(th_reach *reach, int level, th_vec2 p) {
    const th_nodes *nodes = reach->nodes;
    const th_node_level *grid = &nodes->levels[level];
    int column = column_of(nodes, p.x, grid->origin.x, grid->nx - 1);
    int row = column_of(nodes, p.y, grid->origin.y, grid->ny - 1);
    int node = grid->first + row * grid->nx + column;
    int corners[4] = {node, node + 1, node + grid->nx, node + grid->nx + 1};
    bool any = false;
    for (int k = 0; k < 4; ++k) any |= reach->distance[corners[k]] < TH_UNREACHABLE;
    if (any)
        ++reach->reached;
    else
        ++reach->stranded;
}

static void sample_start(th_reach *reach, const th_group *group) {
    for (int k = 0; k < group->entry_count; k += group->entry_count / SAMPLES + 1)
        sample_place(reach, group->entries[k].level, group->entries[k].position);
    if (group->entries) return;
    if (!group->positions) {
        const th_level *level = &reach->scene->levels[group->level];
        bool whole = group->area.shape.ring_count == 0;
        sample_area(reach, group->level, &group->area.shape,
                    whole ? level->box : group->area.shape.box);
        return;
    }
    int64_t stride = group->count / SAMPLES + 1;
    for (int64_t i = 0; i < group->count; i += stride)
        sample_place(reach, group->level, group->positions[i]);
}

// From the goals of the leg before: one of them must lead on.
static void sample_goals(th_reach *reach, const th_target *target) {
    float h = reach->nodes->spacing;
    for (int g = 0; g < target->goal_count; ++g) {
        const th_goal *goal = &reach->scene->goals[target->goals[g]];
        th_polygons none = {0};
        th_box box = goal->area.shape.box;
        if (goal->is_line) {
            box.min_x = th_min(goal->line.a.x, goal->line.b.x) - h;
            box.min_y = th_min(goal->line.a.y, goal->line.b.y) - h;
            box.max_x = th_max(goal->line.a.x, goal->line.b.x) + h;
            box.max_y = th_max(goal->line.a.y, goal->line.b.y) + h;
        }
        sample_area(reach, th_goal_level(goal), goal->is_line ? &none : &goal->area.shape, box);
    }
    if (reach->reached > 0) reach->stranded = 0;
}

typedef enum th_obstruction { NO_START, NO_GOAL, NO_WAY } th_obstruction;

static const char *const advice[] = {
    [NO_START] = "the start lies in a solid or outside the walkable area",
    [NO_GOAL] = "the goal itself lies in a solid, outside the walkable area or on another level, "
                "or has no room for a "
                "body",
    [NO_WAY] = "look for a wall, a gap in the ground, missing stairs or too narrow a passage",
};

static th_result refuse(const th_scene *scene, int group, int leg, th_obstruction why,
                        th_error *error) {
    char path[64], goals[256] = "";
    const th_group *g = &scene->groups[group];
    const th_target *target = &scene->targets[g->route[leg]];
    size_t used = 0;
    for (int i = 0; i < target->goal_count && used < sizeof goals - 1; ++i) {
        int wrote = snprintf(goals + used, sizeof goals - used, "%s\"%s\"", i ? ", " : "",
                             scene->goals[target->goals[i]].id);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
    snprintf(path, sizeof path, "groups[%d].route[%d]", group, leg);
    const char *from = leg == 0 ? "where it starts" : "the leg before";
    return th_fail(error, TH_BAD_SCENE, path,
                   "group \"%s\" cannot reach %s from %s, even with all doors open; %s", g->id,
                   goals, from, advice[why]);
}

static th_obstruction find_obstruction(const th_reach *reach, int leg) {
    if (leg == 0 && reach->reached + reach->stranded == 0) return NO_START;
    for (int i = 0; i < reach->nodes->count; ++i)
        if (reach->distance[i] < TH_UNREACHABLE) return NO_WAY;
    return NO_GOAL;
}

static bool is_reached(th_reach *reach, const th_group *group, int leg) {
    reach->reached = reach->stranded = 0;
    if (leg == 0)
        sample_start(reach, group);
    else
        sample_goals(reach, &reach->scene->targets[group->route[leg - 1]]);
    float all = (float)(reach->reached + reach->stranded);
    return reach->reached > 0 && (float)reach->stranded <= STRANDED_SHARE * all;
}

static th_result check_target(th_reach *reach, int target, th_error *error) {
    const th_scene *scene = reach->scene;
    for (int g = 0; g < scene->group_count; ++g) {
        const th_group *group = &scene->groups[g];
        if (!th_models(NULL)[group->plan.model]->needs_lattice) continue;
        for (int k = 0; k < group->route_count; ++k)
            if (group->route[k] == target && !is_reached(reach, group, k))
                return refuse(scene, g, k, find_obstruction(reach, k), error);
    }
    return TH_OK;
}

// On open ground everything on the own level can be reached and nothing else.
static th_result check_flat(const th_scene *scene, th_error *error) {
    for (int g = 0; g < scene->group_count; ++g) {
        int level = scene->groups[g].level;
        for (int k = 0; k < scene->groups[g].route_count; ++k) {
            const th_target *target = &scene->targets[scene->groups[g].route[k]];
            bool found = false;
            for (int i = 0; i < target->goal_count; ++i)
                found |= th_goal_level(&scene->goals[target->goals[i]]) == level;
            if (!found) return refuse(scene, g, k, NO_GOAL, error);
        }
    }
    return TH_OK;
}

// Fields of people of a size with all doors open. Those of the plans, where no door is closed at the start.
typedef struct open_doors {
    const th_scene *scene;
    const th_plans *plans;
    th_walls walls;
    th_graph graph;
    th_front front;
    float *distance; // NULL: no door is closed
    uint8_t *open;   // by door: all zero
} open_doors;

static void doors_close(open_doors *doors) {
    const th_memory *memory = &doors->scene->arena->memory;
    int nodes = doors->scene->plan->nodes.count;
    th_front_destroy(&doors->front, nodes, memory);
    th_graph_destroy(&doors->graph, memory);
    th_dealloc(memory, doors->distance, (size_t)nodes, sizeof *doors->distance);
    th_dealloc(memory, doors->open, (size_t)doors->scene->door_count, 1);
}

static bool doors_open(open_doors *doors, const th_scene *scene, int size) {
    const th_nodes *nodes = &scene->plan->nodes;
    const th_memory *memory = &scene->arena->memory;
    bool any_closed = false;
    for (int d = 0; d < scene->door_count; ++d) any_closed |= scene->doors[d].closed;
    *doors = (open_doors){.scene = scene, .plans = &scene->plan->plans[size]};
    if (!any_closed) return true;
    doors->open = th_alloc(memory, (size_t)scene->door_count, 1);
    doors->distance = th_alloc(memory, (size_t)nodes->count, sizeof *doors->distance);
    if (!doors->open || !doors->distance || !th_graph_create(&doors->graph, nodes, memory) ||
        !th_front_create(&doors->front, nodes->count, memory)) {
        doors_close(doors);
        return false;
    }
    th_walls walls = th_walls_of(scene, doors->open);
    doors->walls = th_walls_for(scene, walls, size);
    th_graph_update(&doors->graph, &doors->walls);
    return true;
}

static th_reach reach_of(open_doors *doors, int target) {
    const th_scene *scene = doors->scene;
    const th_nodes *nodes = &scene->plan->nodes;
    if (doors->distance)
        th_field_solve(&doors->graph, &doors->walls, &scene->targets[target], &doors->front,
                       doors->distance);
    return (th_reach){scene,
                      nodes,
                      nodes->links,
                      doors->distance ? doors->distance : doors->plans->fields[target],
                      0,
                      0};
}

static th_result check_with_doors_open(const th_scene *scene, th_error *error) {
    open_doors doors;
    if (!doors_open(&doors, scene, 0))
        return th_fail(error, TH_NO_MEMORY, "", "no memory to check that goals can be reached");
    th_result result = TH_OK;
    for (int t = 0; result == TH_OK && t < scene->target_count; ++t) {
        if (!doors.plans->fields[t]) continue;
        th_reach reach = reach_of(&doors, t);
        result = check_target(&reach, t, error);
    }
    doors_close(&doors);
    return result;
}

th_result th_plan_check_reach(const th_scene *scene, th_error *error) {
    if (scene->plan->flat_open) return check_flat(scene, error);
    if (!scene->plan->nodes.scene) return TH_OK;
    return check_with_doors_open(scene, error);
}

// Without memory the check is skipped.
static bool has_way(const th_scene *scene, const th_group *group, int size) {
    open_doors doors;
    bool good = true;
    if (!doors_open(&doors, scene, size)) return true;
    for (int k = 0; k < group->route_count && good; ++k) {
        if (!doors.plans->fields[group->route[k]]) continue;
        th_reach reach = reach_of(&doors, group->route[k]);
        good = is_reached(&reach, group, k);
    }
    doors_close(&doors);
    return good;
}

double th_scene_widest_with_way(const th_scene *scene, int group) {
    if (group < 0 || group >= scene->group_count) return HUGE_VAL;
    const th_group *of = &scene->groups[group];
    if (!scene->plan->nodes.scene || !th_models(NULL)[of->plan.model]->needs_lattice)
        return HUGE_VAL;
    for (int size = 1; size < scene->size_count - scene->bar_count && of->bar == 0; ++size)
        if (!has_way(scene, of, size)) return (double)(scene->sizes[size - 1] + TH_FITS);
    return HUGE_VAL;
}

double th_scene_share_without_way(const th_scene *scene, int group) {
    if (group < 0 || group >= scene->group_count) return 0.0;
    const th_group *of = &scene->groups[group];
    if (!scene->plan->nodes.scene || of->route_count == 0 ||
        !th_models(NULL)[of->plan.model]->needs_lattice)
        return 0.0;
    open_doors doors;
    int size = of->bar > 0 ? scene->size_count - scene->bar_count + of->bar - 1 : 0;
    if (!doors_open(&doors, scene, size)) return 0.0;
    double share = 0.0;
    if (doors.plans->fields[of->route[0]]) {
        th_reach reach = reach_of(&doors, of->route[0]);
        sample_start(&reach, of);
        int all = reach.reached + reach.stranded;
        if (all > 0) share = (double)reach.stranded / all;
    }
    doors_close(&doors);
    return share;
}
