// The scene and the plans on the device: a copy of every array that a person may look at, with the pointers
// of the copies. Names, lists of positions and the rest stay on the host. SPDX-License-Identifier: Apache-2.0
#ifndef TH_DEVICE_UPLOAD_CUH
#define TH_DEVICE_UPLOAD_CUH
#include "device/device.cuh"
#include "plan/prepared.h"
#include "space/distance_grid.h"
#include "space/walls.h"
#include "state/world.h"

namespace th {

inline th_polygons copy_polygons(store &s, th_polygons shape) {
    int points = shape.ring_count > 0 ? shape.ring_start[shape.ring_count] : 0;
    shape.ring_start = s.copy(shape.ring_start, (size_t)shape.ring_count + 1);
    shape.points = s.copy(shape.points, (size_t)points);
    return shape;
}
inline th_area copy_area(store &s, th_area area) {
    area.shape = copy_polygons(s, area.shape);
    return area;
}

// A copy of an array whose elements have arrays of their own: `change` sends those and sets the pointers.
template <class T, class Change> T *copy_each(store &s, const T *host, int n, Change change) {
    T *staged = (T *)malloc((size_t)(n > 0 ? n : 1) * sizeof(T));
    if (!staged) {
        s.failed = true;
        return nullptr;
    }
    for (int k = 0; k < n; ++k) {
        staged[k] = host[k];
        change(staged[k]);
    }
    T *device = s.copy(staged, (size_t)n);
    free(staged);
    return device;
}

inline const th_wall_grid *copy_wall_grids(store &s, const th_scene *scene) {
    return copy_each(s, scene->wall_grids, scene->level_count, [&](th_wall_grid &grid) {
        if (grid.nx == 0) return;
        size_t cells = (size_t)grid.nx * (size_t)grid.ny;
        size_t entries = (size_t)grid.start[cells];
        grid.start = s.copy(grid.start, cells + 1);
        grid.list = s.copy(grid.list, entries);
        grid.clear = s.copy(grid.clear, (size_t)grid.clear_nx * (size_t)grid.clear_ny);
        if (!grid.distance) return;
        th_distance_grid distance = *grid.distance;
        distance.distance = s.copy(distance.distance, (size_t)distance.nx * (size_t)distance.ny);
        th_edge_rows *edges = &distance.edges;
        if (edges->count > 0) {
            size_t rows = (size_t)edges->count, corners = 2 * (size_t)edges->start[rows];
            edges->start = s.copy(edges->start, rows + 1);
            edges->corner = s.copy(edges->corner, corners);
        }
        grid.distance = s.copy(&distance, 1);
    });
}

inline th_roadmap *copy_roadmap(store &s, const th_roadmap *host, const th_nodes *lattice,
                                const th_scene *scene) {
    if (!host) return nullptr;
    th_roadmap map = *host;
    size_t n = (size_t)map.count;
    map.lattice = lattice;
    map.nodes = s.copy(map.nodes, n);
    map.table = s.copy(map.table, n * n);
    map.levels = s.copy(map.levels, (size_t)scene->level_count);
    map.cells = s.copy(map.cells, (size_t)map.cell_count);
    return s.copy(&map, 1);
}

inline th_plans copy_plans(store &s, const th_plans *host, const th_nodes *host_nodes,
                           const th_nodes *nodes, const th_scene *scene) {
    th_plans plans = *host;
    plans.graph.nodes = nodes;
    plans.graph.crowd = nullptr; // only the solvers of fields read these
    plans.graph.crowd_cost = nullptr;
    plans.graph.links = s.copy(plans.graph.links, (size_t)host_nodes->count);
    plans.graph.portals = s.copy(plans.graph.portals, (size_t)host_nodes->portal_count);
    if (host->fields)
        plans.fields = copy_each(s, host->fields, scene->target_count, [&](float *&field) {
            field = s.copy((const float *)field, (size_t)host_nodes->count);
        });
    plans.roadmap = copy_roadmap(s, host->roadmap, nodes, scene);
    return plans;
}

inline struct th_plan_scene *copy_plan(store &s, const struct th_plan_scene *host,
                                       const th_scene *scene, const th_scene *device_scene,
                                       th_nodes **nodes) {
    struct th_plan_scene plan = *host;
    plan.nodes.scene = host->nodes.scene ? device_scene : nullptr;
    plan.nodes.levels = s.copy(plan.nodes.levels, (size_t)scene->level_count);
    plan.nodes.flags = s.copy(plan.nodes.flags, (size_t)plan.nodes.count);
    plan.nodes.links = nullptr;
    plan.nodes.clearance = nullptr;
    plan.nodes.zone = nullptr;
    plan.nodes.portals = nullptr;
    struct th_plan_scene *device = s.room<struct th_plan_scene>(1);
    *nodes = device ? &device->nodes : nullptr;
    for (int size = 0; size < scene->size_count; ++size)
        plan.plans[size] = copy_plans(s, &host->plans[size], &host->nodes, *nodes, scene);
    plan.door_closed = nullptr;
    if (device && !put(device, &plan, sizeof plan)) s.failed = true;
    return device;
}

// The elements of a section, with the points of their lines and areas; ids stay on the host.
inline char *copy_items(store &s, const th_section &section) {
    const th_section_info *info = section.info;
    size_t size = (size_t)section.count * info->item_size;
    char *staged = (char *)malloc(size > 0 ? size : 1);
    if (!staged) {
        s.failed = true;
        return nullptr;
    }
    if (size > 0) memcpy(staged, section.items, size);
    for (size_t at = 0; at < size; at += info->item_size) {
        ((th_item *)(staged + at))->id = nullptr;
        for (int k = 0; k < info->key_count; ++k) {
            char *value = staged + at + info->keys[k].offset;
            th_polyline *line = (th_polyline *)value;
            th_polygons *area = (th_polygons *)value;
            if (info->keys[k].kind == TH_KEY_LINE)
                line->points = s.copy(line->points, (size_t)line->count);
            if (info->keys[k].kind == TH_KEY_AREA) *area = copy_polygons(s, *area);
        }
    }
    char *device = s.copy(staged, size);
    free(staged);
    return device;
}

// An element on the device, of one on the host.
inline const th_item *device_item(const th_scene *host, const th_section *sections,
                                  const th_item *item) {
    for (int k = 0; item && k < host->section_count; ++k) {
        const th_section &section = host->sections[k];
        ptrdiff_t at = (const char *)item - (const char *)section.items;
        if (section.count > 0 && at >= 0 && (size_t)at < section.count * section.info->item_size)
            return (const th_item *)((const char *)sections[k].items + at);
    }
    return nullptr;
}

inline th_scene *copy_scene(store &s, const th_scene *host, th_nodes **nodes) {
    th_scene scene = *host;
    th_scene *device = s.room<th_scene>(1);
    scene.levels = copy_each(s, host->levels, host->level_count, [&](th_level &level) {
        level.id = nullptr;
        level.walkable = copy_polygons(s, level.walkable);
    });
    scene.walls = s.copy(host->walls, (size_t)host->wall_count);
    scene.links = s.copy(host->links, (size_t)host->link_count);
    scene.zones = copy_each(s, host->zones, host->zone_count,
                            [&](th_zone &zone) { zone.area = copy_area(s, zone.area); });
    scene.doors = s.copy(host->doors, (size_t)host->door_count);
    th_section *sections = (th_section *)calloc((size_t)host->section_count + 1, sizeof *sections);
    for (int k = 0; sections && k < host->section_count; ++k) {
        sections[k] = host->sections[k];
        sections[k].items = copy_items(s, host->sections[k]);
        sections[k].info = nullptr; // read on the host only
    }
    if (!sections) s.failed = true;
    scene.sections = s.copy(sections, sections ? (size_t)host->section_count : 0);
    scene.names = nullptr;
    scene.goals = copy_each(s, host->goals, host->goal_count, [&](th_goal &goal) {
        if (!goal.is_line) goal.area = copy_area(s, goal.area);
        if (sections) goal.item = device_item(host, sections, goal.item);
    });
    free(sections);
    scene.targets = copy_each(s, host->targets, host->target_count, [&](th_target &target) {
        target.goals = s.copy(target.goals, (size_t)target.goal_count);
    });
    scene.groups = copy_each(s, host->groups, host->group_count, [&](th_group &group) {
        group.area = copy_area(s, group.area);
        group.own_goal_area = copy_area(s, group.own_goal_area);
        group.positions = nullptr;
        group.route = s.copy(group.route, (size_t)(group.route_count + group.detour_count));
        group.weights = s.copy(group.weights, (size_t)host->name_count);
        group.arrivals = s.copy(group.arrivals, (size_t)group.arrival_count);
        if (group.entries) group.entries = s.copy(group.entries, (size_t)group.entry_count);
    });
    scene.scripted = copy_each(s, host->scripted, host->scripted_count, [&](th_scripted &body) {
        body.discs = s.copy(body.discs, (size_t)body.disc_count);
        body.path = s.copy(body.path, (size_t)body.path_count);
    });
    scene.measure_lines = s.copy(host->measure_lines, (size_t)host->measure_line_count);
    scene.measure_areas = nullptr;
    scene.wall_grids = copy_wall_grids(s, host);
    scene.goal_grids = copy_each(s, host->goal_grids, host->level_count, [&](th_goal_grid &grid) {
        if (grid.near) grid.near = s.copy(grid.near, (size_t)grid.nx * (size_t)grid.ny);
    });
    scene.plan = copy_plan(s, host->plan, host, device, nodes);
    if (device && !put(device, &scene, sizeof scene)) s.failed = true;
    return device;
}

} // namespace th
#endif
