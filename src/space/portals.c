// A passage is a straight line from a corner that juts out into the ground to the nearest point of another wall, whose
// circle (the line being its diameter) no wall enters: it is narrower than what lies on both sides. This is where the
// distance to the walls, followed along the medial axis, has a minimum, found without making the axis. A corner bears one
// passage, its narrowest: at a door beside a corridor the door, not the lines across the corridor.
// Cost: corners x walls within `widest` of them. SPDX-License-Identifier: Apache-2.0
#include "space/portals.h"
#include "space/distance_grid.h"
#include <stdlib.h>
#include <string.h>

enum { NEAR_MOST = 256 };
static const float SAME_PLACE = 0.002f; // [m] corners this close are one
static const float ON_DOOR = 0.1f;      // [m] a passage this close to a door's line is the door

typedef struct passage {
    th_vec2 a, b;
    float width;
    int corner_a, corner_b; // walls that begin there; -1: amid a wall
    int level;
} passage;

typedef struct search {
    const th_scene *scene;
    th_walls walls;
    th_arena *arena;
    float widest;
    passage *found;
    int count, capacity;
} search;

// Does the solid jut out at the beginning of the wall? Ends of thin walls do, bends of a straight wall do not.
static bool juts_out(const th_scene *scene, const th_wall *wall) {
    if (wall->door >= 0 || !wall->a_convex || wall->prev < 0) return false;
    th_vec2 before = scene->walls[wall->prev].direction;
    return th_det(before, wall->direction) > 0.05f || th_dot(before, wall->direction) < 0.0f;
}

// A thin wall that ends on another wall has no corner there.
static bool ends_on_wall(const search *s, const th_wall *corner) {
    int near[16];
    int count = th_walls_near(&s->walls, corner->level, corner->a, SAME_PLACE, near, NULL, 16);
    for (int k = 0; k < count; ++k) {
        const th_wall *wall = &s->scene->walls[near[k]];
        float from_a = th_length(th_sub(corner->a, wall->a)),
              from_b = th_length(th_sub(corner->a, wall->b));
        if (from_a > 2.0f * SAME_PLACE && from_b > 2.0f * SAME_PLACE) return true;
    }
    return false;
}

static bool is_free(const search *s, int level, th_vec2 a, th_vec2 b, float width) {
    th_vec2 middle = th_scale(0.5f, th_add(a, b));
    int nearest;
    float distance2;
    if (th_walls_near(&s->walls, level, middle, 0.49f * width, &nearest, &distance2, 1) > 0)
        return false;
    return th_walkable(s->scene, level, middle);
}

static bool try_across(search *s, int corner, int other) {
    const th_wall *from = &s->scene->walls[corner], *wall = &s->scene->walls[other];
    if (wall->door >= 0 || other == corner || other == from->prev) return true;
    if (th_det(wall->direction, th_sub(from->a, wall->a)) > 0.0f) return true; // its solid side
    th_vec2 q = th_nearest_on_segment(from->a, wall->a, wall->b);
    float width = th_length(th_sub(q, from->a));
    if (!(width > 0.05f && width <= s->widest) || !is_free(s, from->level, from->a, q, width))
        return true;
    int end = -1;
    if (th_length(th_sub(q, wall->a)) < SAME_PLACE) end = other;
    if (th_length(th_sub(q, wall->b)) < SAME_PLACE) end = wall->next;
    if (!th_arena_reserve(s->arena, (void *)&s->found, &s->capacity, s->count + 1,
                          sizeof *s->found))
        return false;
    s->found[s->count++] = (passage){from->a, q, width, corner, end, from->level};
    return true;
}

static bool search_corner(search *s, int corner) {
    const th_wall *wall = &s->scene->walls[corner];
    if (!juts_out(s->scene, wall) || ends_on_wall(s, wall)) return true;
    int near[NEAR_MOST];
    float distances2[NEAR_MOST];
    int count =
        th_walls_near(&s->walls, wall->level, wall->a, s->widest, near, distances2, NEAR_MOST);
    for (int k = 0; k < count; ++k)
        if (!try_across(s, corner, near[k])) return false;
    return true;
}

static int by_width(const void *left, const void *right) {
    const passage *a = left, *b = right;
    if (a->width != b->width) return a->width < b->width ? -1 : 1;
    return (a->corner_a > b->corner_a) - (a->corner_a < b->corner_a);
}

typedef enum relation { FREE, ON_ONE, ACROSS_ONE } relation;

// How the passage lies to the portals already taken.
static relation relation_to(const th_room_portal *portals, int count, const passage *p) {
    for (int k = 0; k < count; ++k) {
        const th_room_portal *other = &portals[k];
        bool here = other->levels[0] == p->level || other->levels[1] == p->level;
        if (!here || !th_boxes_touch(p->a, p->b, other->a, other->b, ON_DOOR)) continue;
        float a = th_segment_distance2(p->a, other->a, other->b);
        float b = th_segment_distance2(p->b, other->a, other->b);
        if (a < ON_DOOR * ON_DOOR && b < ON_DOOR * ON_DOOR) return ON_ONE;
        if (th_segment_crossing(p->a, p->b, other->a, other->b) != 0 &&
            fminf(a, b) > SAME_PLACE * SAME_PLACE)
            return ACROSS_ONE;
    }
    return FREE;
}

static th_room_portal portal_of(th_portal_kind kind, int index, th_vec2 a, th_vec2 b, int level) {
    th_room_portal portal = {.kind = kind, .index = index, .a = a, .b = b};
    portal.width = th_length(th_sub(b, a));
    portal.rooms[0] = portal.rooms[1] = -1;
    portal.levels[0] = portal.levels[1] = level;
    portal.over = th_unit(th_perp_right(th_sub(b, a)));
    return portal;
}

static void add_named(const th_scene *scene, th_room_portal *portals, int *count) {
    for (int d = 0; d < scene->door_count; ++d) {
        const th_line *line = &scene->doors[d].line;
        portals[(*count)++] = portal_of(TH_PORTAL_DOOR, d, line->a, line->b, line->level);
    }
    for (int l = 0; l < scene->link_count; ++l) {
        const th_link *link = &scene->links[l];
        th_room_portal portal = portal_of(TH_PORTAL_STAIRS, l, link->a, link->b, link->level[0]);
        portal.levels[1] = link->level[1];
        portal.over = link->up;
        portals[(*count)++] = portal;
    }
}

bool th_portals_find(const th_scene *scene, float widest, th_arena *arena, th_room_portal **portals,
                     int *count) {
    const uint8_t *open = th_arena_alloc(arena, (size_t)scene->door_count + 1, sizeof *open);
    bool *used = th_arena_alloc(arena, (size_t)scene->wall_count + 1, sizeof *used);
    search s = {.scene = scene, .arena = arena, .widest = widest};
    s.walls = th_walls_of(scene, open);
    *count = 0;
    if (!open || !used) return false;
    for (int w = 0; w < scene->wall_count; ++w)
        if (!search_corner(&s, w)) return false;
    *portals = th_arena_alloc(arena, (size_t)(s.count + scene->door_count + scene->link_count) + 1,
                              sizeof **portals);
    if (!*portals) return false;
    add_named(scene, *portals, count);
    if (s.count > 1) qsort(s.found, (size_t)s.count, sizeof *s.found, by_width);
    for (int k = 0; k < s.count; ++k) {
        const passage *p = &s.found[k];
        if (used[p->corner_a] || (p->corner_b >= 0 && used[p->corner_b])) continue;
        relation lies = relation_to(*portals, *count, p);
        if (lies == ACROSS_ONE) continue;
        used[p->corner_a] = true;
        if (p->corner_b >= 0) used[p->corner_b] = true;
        if (lies == ON_ONE) continue;
        (*portals)[(*count)++] = portal_of(TH_PORTAL_PASSAGE, -1, p->a, p->b, p->level);
    }
    return true;
}

// The door that the passage is; -1: none.
static int door_in(const th_scene *scene, const passage *p) {
    for (int d = 0; d < scene->door_count; ++d) {
        const th_line *door = &scene->doors[d].line;
        if (door->level == p->level &&
            th_segment_distance2(p->a, door->a, door->b) < ON_DOOR * ON_DOOR &&
            th_segment_distance2(p->b, door->a, door->b) < ON_DOOR * ON_DOOR)
            return d;
    }
    return -1;
}

int th_gaps_find(const th_scene *scene, float widest, th_arena *arena, th_narrow_gap *gaps,
                 int most) {
    const uint8_t *open = th_arena_alloc(arena, (size_t)scene->door_count + 1, sizeof *open);
    search s = {.widest = widest, .scene = scene, .arena = arena};
    s.walls = th_walls_of(scene, open);
    int count = 0;
    if (!open) return -1;
    for (int w = 0; w < scene->wall_count && count < most; ++w) {
        int before = s.count;
        if (!search_corner(&s, w)) return -1;
        const passage *best = NULL;
        for (int k = before; k < s.count; ++k)
            if (!best || s.found[k].width < best->width) best = &s.found[k];
        // The other corner of the pair finds the same line.
        bool twice = best && best->corner_b >= 0 && best->corner_b < w;
        if (best && !twice)
            gaps[count++] =
                (th_narrow_gap){{best->level, best->a, best->b}, best->width, door_in(scene, best)};
    }
    return count;
}
