// Stairs, doors and zones that some people never use: each different set of them is a bar, and its groups find walls there.
// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "scene/compile.h"
#include <string.h>

// Stairs, then doors, then zones, as one list.
static int way_count(const th_compiler *c) {
    return c->def->stairs_count + c->scene->door_count + c->def->zone_count;
}

static const char *way_id(const th_compiler *c, int k) {
    const th_scene *scene = c->scene;
    if (k < c->def->stairs_count) return scene->links[k].id;
    k -= c->def->stairs_count;
    if (k < scene->door_count) return scene->doors[k].exit >= 0 ? "" : scene->doors[k].id;
    return scene->zones[k - scene->door_count].id;
}

static bool is_exit(const th_compiler *c, const char *id) {
    for (int g = 0; g < c->scene->goal_count; ++g)
        if (c->scene->goals[g].kind == TH_GOAL_EXIT && strcmp(c->scene->goals[g].id, id) == 0)
            return true;
    return false;
}

void th_check_way(th_compiler *c, const char *id) {
    enum { MOST = 256 };
    const char *known[MOST];
    int count = 0, ways = way_count(c);
    if (c->result != TH_OK || is_exit(c, id)) return;
    for (int k = 0; k < ways; ++k) {
        if (strcmp(way_id(c, k), id) == 0) return;
        if (count < MOST) known[count++] = way_id(c, k);
    }
    for (int g = 0; g < c->scene->goal_count && count < MOST; ++g)
        if (c->scene->goals[g].kind == TH_GOAL_EXIT) known[count++] = c->scene->goals[g].id;
    const char *near = count ? th_nearest_word(id, known, count) : NULL;
    if (near)
        th_bad(c, "no stairs, door, zone or exit has the id \"%.60s\"; did you mean \"%.60s\"?", id,
               near);
    else
        th_bad(c, "no stairs, door, zone or exit has the id \"%.60s\"", id);
}

// The ways that a group avoids; false: none but exits.
static bool list_avoided(th_compiler *c, const th_group_def *group, uint8_t *avoided) {
    for (int a = 0; a < group->avoid_count && c->result == TH_OK; ++a) {
        th_check_way(c, group->avoid[a]);
        for (int k = 0; k < way_count(c); ++k)
            if (strcmp(way_id(c, k), group->avoid[a]) == 0) avoided[k] = 1;
    }
    bool any = false;
    for (int k = 0; k < way_count(c); ++k) any = any || avoided[k];
    return any;
}

void th_gather_bars(th_compiler *c) {
    size_t ways = (size_t)way_count(c);
    for (int g = 0; g < c->def->group_count && c->result == TH_OK; ++g) {
        const th_group_def *group = &c->def->groups[g];
        if (group->avoid_count == 0) continue;
        th_at(c, "groups[%d].avoid", g);
        uint8_t *avoided = th_arena_alloc(&c->work, ways + 1, 1);
        if (!avoided) {
            th_no_memory(c);
            return;
        }
        if (!list_avoided(c, group, avoided)) continue;
        int bar = 0;
        while (bar < c->scene->bar_count && memcmp(c->bars[bar], avoided, ways) != 0) ++bar;
        if (bar == TH_BAR_MAX) {
            th_bad(c,
                   "groups avoid more than %d different sets of stairs, doors and zones; let some "
                   "avoid the same",
                   TH_BAR_MAX);
            return;
        }
        if (bar == c->scene->bar_count) c->bars[c->scene->bar_count++] = avoided;
        c->list.groups[g].bar = bar + 1;
    }
}

static void add_line(th_compiler *c, th_wall_builder *builder, int bar, const th_line *line) {
    if (c->result != TH_OK) return;
    if (!th_wall_builder_add_door(builder, line, TH_NARROW_GAP)) {
        th_no_memory(c);
        return;
    }
    for (int w = builder->count - 2; w < builder->count; ++w)
        builder->walls[w].gap = -1.0f - (float)bar;
}

// A little beside the line on either side, as a sight over it ends on it and goes on from there; and a little longer.
static void add_top(th_compiler *c, th_wall_builder *builder, int bar, const th_link *link) {
    const float beside = 0.02f; // [m]
    th_vec2 up = th_perp_left(th_unit(th_sub(link->b, link->a)));
    th_vec2 more = th_scale(beside, th_unit(th_sub(link->b, link->a)));
    for (int side = -1; side <= 1; side += 2) {
        th_vec2 shift = th_scale((float)side * beside, up);
        th_line line = {builder->level, th_sub(th_add(link->a, shift), more),
                        th_add(th_add(link->b, shift), more)};
        add_line(c, builder, bar, &line);
    }
}

static void add_outline(th_compiler *c, th_wall_builder *builder, int bar, int zone) {
    int level = c->scene->zones[zone].area.level;
    th_area area = th_compile_area(c, &c->def->zones[zone].area, level);
    for (int r = 0; r < area.shape.ring_count; ++r) {
        int begin = area.shape.ring_start[r], end = area.shape.ring_start[r + 1];
        for (int i = begin, j = end - 1; i < end; j = i++) {
            th_line edge = {level, area.shape.points[j], area.shape.points[i]};
            if (th_length(th_sub(edge.b, edge.a)) > TH_SAME_POINT) add_line(c, builder, bar, &edge);
        }
    }
}

void th_add_bars(th_compiler *c, int level, th_wall_builder *builder) {
    const th_scene *scene = c->scene;
    int stairs = c->def->stairs_count, doors = scene->door_count;
    for (int bar = 0; bar < scene->bar_count && c->result == TH_OK; ++bar)
        for (int k = 0; k < way_count(c); ++k) {
            if (!c->bars[bar][k]) continue;
            if (k < stairs) {
                const th_link *link = &scene->links[k];
                if (link->level[0] == level || link->level[1] == level)
                    add_top(c, builder, bar, link);
            } else if (k < stairs + doors) {
                const th_line *line = &scene->doors[k - stairs].line;
                if (line->level == level) add_line(c, builder, bar, line);
            } else if (scene->zones[k - stairs - doors].area.level == level) {
                add_outline(c, builder, bar, k - stairs - doors);
            }
        }
}
