// Narrow passages of a plan: the narrowest one, and those that part rooms.
// SPDX-License-Identifier: Apache-2.0
#include "space/distance_grid.h"
#include "space/rooms.h"
#include <stdlib.h>
#include <string.h>

// ---- the narrowest passage of a plan
// Here a passage is a straight line between two walls, on ground, whose circle (the line being its diameter) no wall
// enters: it is narrower than its surroundings. Corners of rooms and bends of walls are none; doors, corridors and spaces
// between two pillars are. Both walls are within reach of the cell of the wall grid that holds
// the line's middle, so one cell after the other is looked at. Cost: cells x pairs of walls near them.

typedef struct narrow_search {
    const th_scene *scene;
    th_walls walls;
    int level;
    int stopped_by; // the wall that was last in a circle: often in the next one too
    float least, narrowest;
    int64_t left; // work [walls looked at]
} narrow_search;

// Many passages have equal widths; one of each width is enough.
static const float NARROWER = 0.99f;
// [walls looked at] Work of a pair of walls whose boxes are near, and of asking whether a point is on ground.
enum { PAIR_WORK = 8, GROUND_WORK = 32 };

static bool is_within(narrow_search *s, int wall, th_vec2 p, float range2) {
    const th_wall *w = &s->walls.walls[wall];
    --s->left;
    if (th_segment_distance2(p, w->a, w->b) > range2 || !th_wall_stands(&s->walls, w)) return false;
    s->stopped_by = wall;
    return true;
}

// Is no wall within `range` of p? Ends at the first one found.
static bool is_clear(narrow_search *s, th_vec2 p, float range) {
    const th_wall_grid *grid = &s->walls.grids[s->level];
    float range2 = range * range;
    if (range < th_walls_clear(&s->walls, s->level, p)) return true;
    if (s->stopped_by >= 0 && is_within(s, s->stopped_by, p, range2)) return false;
    th_wall_cells cells = th_wall_cells_around(grid, p, p, range <= grid->reach ? 0.0f : range);
    for (int row = cells.row0; row <= cells.row1 && grid->nx > 0; ++row) {
        int begin = grid->start[row * grid->nx + cells.column0];
        int end = grid->start[row * grid->nx + cells.column1 + 1];
        for (int i = begin; i < end; ++i)
            if (is_within(s, grid->list[i], p, range2)) return false;
    }
    return true;
}

static void try_line(narrow_search *s, th_vec2 p, th_vec2 q) {
    float width = th_length(th_sub(q, p));
    if (!(width >= s->least && width < NARROWER * s->narrowest)) return;
    th_vec2 middle = th_scale(0.5f, th_add(p, q));
    if (!is_clear(s, middle, 0.49f * width)) return;
    s->left -= GROUND_WORK;
    if (th_walkable(s->scene, s->level, middle)) s->narrowest = width;
}

// The shortest lines between two walls begin or end at one's end, or, where they run side by side, anywhere along them:
// the middle of that stretch is the least likely to be beside something else.
static void try_pair(narrow_search *s, const th_wall *a, const th_wall *b) {
    if (!th_boxes_touch(a->a, a->b, b->a, b->b, s->narrowest)) return;
    s->left -= PAIR_WORK;
    th_vec2 start = th_nearest_on_segment(b->a, a->a, a->b),
            end = th_nearest_on_segment(b->b, a->a, a->b);
    th_vec2 middle = th_scale(0.5f, th_add(start, end));
    try_line(s, start, b->a);
    try_line(s, end, b->b);
    try_line(s, a->a, th_nearest_on_segment(a->a, b->a, b->b));
    try_line(s, a->b, th_nearest_on_segment(a->b, b->a, b->b));
    try_line(s, middle, th_nearest_on_segment(middle, b->a, b->b));
}

static void search_level(narrow_search *s) {
    const th_wall_grid *grid = &s->scene->wall_grids[s->level];
    s->stopped_by = -1;
    for (int cell = 0; cell < grid->nx * grid->ny; ++cell) {
        const int *list = grid->list + grid->start[cell];
        int count = grid->start[cell + 1] - grid->start[cell];
        for (int m = 0; m < count && s->left > 0; ++m) {
            const th_wall *a = &s->scene->walls[list[m]];
            s->left -= count;
            for (int n = m + 1; a->door < 0 && n < count && s->left > 0; ++n)
                if (s->scene->walls[list[n]].door < 0) try_pair(s, a, &s->scene->walls[list[n]]);
        }
    }
}

float th_narrowest_passage_within(const th_scene *scene, th_arena *arena, float least, float most,
                                  int64_t *work) {
    const uint8_t *doors = th_arena_alloc(arena, (size_t)scene->door_count, sizeof *doors);
    narrow_search s = {.scene = scene,
                       .walls = th_walls_of(scene, doors),
                       .least = least,
                       .narrowest = most,
                       .left = *work};
    for (s.level = 0; doors && s.level < scene->level_count; ++s.level) search_level(&s);
    *work = s.left;
    return s.narrowest;
}

float th_narrowest_passage(const th_scene *scene, th_arena *arena, float least, float most) {
    int64_t work = TH_PASSAGE_WORK;
    return th_narrowest_passage_within(scene, arena, least, most, &work);
}

// ---- portals
// Here a passage is a straight line from a corner that juts out into the ground to the nearest point of another wall,
// whose circle no wall enters: it is narrower than what lies on both sides. This is where the distance to the walls,
// followed along the medial axis, has a minimum, found without making the axis. A corner bears one passage, its
// narrowest: at a door beside a corridor the door, not the lines across the corridor. Cost: corners x walls within
// `widest` of them; the search ends with its work.

enum { NEAR_MOST = 256 };
static const float SAME_PLACE = 0.002f; // [m] corners this close are one
static const float ON_DOOR = 0.1f;      // [m] a passage this close to a door's line is the door
static const float NARROWEST = 0.05f;   // [m] of passages; narrower slits are not passable
static const float ALIKE = 0.98f;       // widths that differ by less count as the same
static const float INTO_WALL = 0.005f;  // [m] a slit's line reaches so far, so that lines meet

typedef struct passage {
    th_vec2 a, b;
    float width;
    float rank;             // what the passages of a corner are compared by
    int corner_a, corner_b; // walls that begin there; -1: amid a wall
    int level;
} passage;

typedef struct search {
    const th_scene *scene;
    th_walls walls;
    th_arena *arena;
    float widest;
    narrow_search clear; // its walls and its work
    int *seen;           // by wall: 1 + the corner it was last near to
    passage *found;
    int count, capacity;
    bool wants_slits;
    th_line *slits;
    int slit_count, slit_capacity;
} search;

// Does the solid jut out at the beginning of the wall? Ends of thin walls do, bends of a straight wall do not.
static bool juts_out(const th_scene *scene, const th_wall *wall) {
    if (wall->door >= 0 || !wall->a_convex || wall->prev < 0) return false;
    th_vec2 before = scene->walls[wall->prev].direction;
    return th_det(before, wall->direction) > 0.05f || th_dot(before, wall->direction) < 0.0f;
}

// From a corner over a slit and a little into the wall behind it. The end of a thin wall goes on straight in any case:
// it may touch a wall, or the edge of the ground, but for a rounding.
static bool add_slit(search *s, const th_wall *corner, th_vec2 across) {
    th_vec2 way = th_length(across) > SAME_PLACE ? across : s->scene->walls[corner->prev].direction;
    th_vec2 end = th_add(th_add(corner->a, across), th_scale(INTO_WALL, th_unit(way)));
    if (!s->wants_slits) return true;
    if (!th_arena_reserve(s->arena, (void *)&s->slits, &s->slit_capacity, s->slit_count + 1,
                          sizeof *s->slits))
        return false;
    s->slits[s->slit_count++] = (th_line){corner->level, corner->a, end};
    return true;
}

// Do the directions leave more than half a turn free between two of them that are neighbours?
static bool leave_half_turn(const th_vec2 *directions, int count) {
    for (int k = 0; k < count; ++k) {
        bool free = true;
        for (int j = 0; j < count && free; ++j) { // none on the left of k, but for k itself
            float left = th_det(directions[k], directions[j]);
            free = left < -0.05f || (left < 0.05f && th_dot(directions[k], directions[j]) > 0.0f);
        }
        if (free) return true;
    }
    return false;
}

// A thin wall that ends on another wall has no corner there, nor have walls that meet like a T or a cross.
static bool ends_on_wall(const search *s, const th_wall *corner) {
    enum { MOST = 16 };
    int near[MOST];
    th_vec2 directions[2 * MOST];
    int count = th_walls_near(&s->walls, corner->level, corner->a, SAME_PLACE, near, NULL, MOST),
        here = 0;
    for (int k = 0; k < count; ++k) {
        const th_wall *wall = &s->scene->walls[near[k]];
        bool from_a = th_length(th_sub(corner->a, wall->a)) <= 2.0f * SAME_PLACE,
             from_b = th_length(th_sub(corner->a, wall->b)) <= 2.0f * SAME_PLACE;
        if (!from_a && !from_b) return true;
        directions[here++] = from_a ? wall->direction : th_scale(-1.0f, wall->direction);
    }
    return here > 0 && !leave_half_turn(directions, here);
}

// A line that sticks out of a wall by no more than NARROWEST was drawn too long; it is not a corner.
static bool is_stub(const search *s, const th_wall *tip) {
    int near[16];
    if (tip->length > NARROWEST || tip->next != tip->prev) return false;
    int count = th_walls_near(&s->walls, tip->level, tip->b, SAME_PLACE, near, NULL, 16);
    for (int k = 0; k < count; ++k) {
        const th_wall *wall = &s->scene->walls[near[k]];
        if (wall != tip && near[k] != tip->next) return true;
    }
    return false;
}

static bool is_free(search *s, int level, th_vec2 a, th_vec2 b, float width) {
    th_vec2 middle = th_scale(0.5f, th_add(a, b));
    s->clear.level = level;
    if (!is_clear(&s->clear, middle, 0.49f * width)) return false;
    s->clear.left -= GROUND_WORK;
    // Nor does it lead through a wall that its end all but touches.
    th_vec2 in = th_scale(0.5f * SAME_PLACE / width, th_sub(b, a));
    return th_walkable(s->scene, level, middle) &&
           th_walls_first_crossing(&s->walls, level, th_add(a, in), th_sub(b, in), NULL) < 0;
}

static bool try_across(search *s, int corner, int other) {
    const th_wall *from = &s->scene->walls[corner], *wall = &s->scene->walls[other];
    th_vec2 q = th_nearest_on_segment(from->a, wall->a, wall->b);
    float width = th_length(th_sub(q, from->a));
    if (width <= NARROWEST) return add_slit(s, from, th_sub(q, from->a));
    if (!(width <= s->widest) || !is_free(s, from->level, from->a, q, width)) return true;
    int end = -1;
    if (th_length(th_sub(q, wall->a)) < SAME_PLACE) end = other;
    if (th_length(th_sub(q, wall->b)) < SAME_PLACE) end = wall->next;
    if (!th_arena_reserve(s->arena, (void *)&s->found, &s->capacity, s->count + 1,
                          sizeof *s->found))
        return false;
    // A gap in a thin wall is the door, not the corridor of the same width beside it: the gap continues the wall.
    float ahead = fabsf(th_dot(th_sub(q, from->a), s->scene->walls[from->prev].direction)) / width;
    bool thin = th_dot(s->scene->walls[from->prev].direction, from->direction) < -0.99f;
    float rank = thin && ahead > 0.9f ? ALIKE * width : width;
    s->found[s->count++] = (passage){from->a, q, width, rank, corner, end, from->level};
    return true;
}

// Can a passage lead from the corner to the wall?
static bool may_end_at(const search *s, int corner, int other) {
    const th_wall *from = &s->scene->walls[corner], *wall = &s->scene->walls[other];
    if (wall->door >= 0 || other == corner || other == from->prev) return false;
    return th_det(wall->direction, th_sub(from->a, wall->a)) <= 0.0f; // else its solid side
}

// Walls that passages from the corner may lead to, nearest first. A wall is in the lists of many cells; it is looked at
// once.
static int walls_across(search *s, int corner, float reach, int *near) {
    const th_wall *from = &s->scene->walls[corner];
    const th_wall_grid *grid = &s->walls.grids[from->level];
    float distances2[NEAR_MOST], wide = reach + 0.01f;
    th_wall_near_list list = {near, distances2, 0, NEAR_MOST, reach * reach, wide * wide};
    th_wall_cells cells =
        th_wall_cells_around(grid, from->a, from->a, reach <= grid->reach ? 0.0f : reach);
    for (int row = cells.row0; row <= cells.row1 && grid->nx > 0; ++row) {
        int begin = grid->start[row * grid->nx + cells.column0];
        int end = grid->start[row * grid->nx + cells.column1 + 1];
        s->clear.left -= end - begin;
        for (int i = begin; i < end; ++i) {
            int other = grid->list[i];
            if (s->seen[other] == corner + 1) continue;
            s->seen[other] = corner + 1;
            if (may_end_at(s, corner, other)) th_wall_try_near(&list, &s->walls, other, from->a);
        }
    }
    s->clear.left -= list.count * PAIR_WORK;
    return list.count;
}

static bool search_corner(search *s, int corner) {
    const th_wall *wall = &s->scene->walls[corner];
    if (s->clear.left <= 0 || !juts_out(s->scene, wall)) return true;
    bool thin = th_dot(s->scene->walls[wall->prev].direction, wall->direction) < -0.99f;
    if (thin && !add_slit(s, wall, th_v(0.0f, 0.0f))) return false;
    // An end that is not a corner may still stop short of a second wall.
    float reach = ends_on_wall(s, wall) || is_stub(s, wall) ? NARROWEST : s->widest;
    int near[NEAR_MOST], count = walls_across(s, corner, reach, near);
    for (int k = 0; k < count; ++k)
        if (!try_across(s, corner, near[k])) return false;
    return true;
}

static int by_rank(const void *left, const void *right) {
    const passage *a = left, *b = right;
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    return (a->corner_a > b->corner_a) - (a->corner_a < b->corner_a);
}

typedef enum relation { FREE, ON_ONE, ACROSS_ONE } relation;

// The relation of a passage to the portals already taken: on one, or on several side by side (the leaves of a door); across
// one, but not along it.
static relation relation_to(const th_room_portal *portals, int count, const passage *p) {
    enum { POINTS = 32 }; // 0.1 m apart in the widest passages
    bool covered[POINTS] = {false};
    int left = POINTS;
    for (int k = 0; k < count && left > 0; ++k) {
        const th_room_portal *other = &portals[k];
        bool here = other->levels[0] == p->level || other->levels[1] == p->level;
        if (!here || !th_boxes_touch(p->a, p->b, other->a, other->b, ON_DOOR)) continue;
        for (int i = 0; i < POINTS; ++i) {
            float t = (float)i / (float)(POINTS - 1);
            th_vec2 q = th_add(p->a, th_scale(t, th_sub(p->b, p->a)));
            if (covered[i] || th_segment_distance2(q, other->a, other->b) >= ON_DOOR * ON_DOOR)
                continue;
            covered[i] = true;
            --left;
        }
        if (left == 0) return ON_ONE;
        float a = th_segment_distance2(p->a, other->a, other->b);
        float b = th_segment_distance2(p->b, other->a, other->b);
        float turned = fabsf(th_det(th_sub(p->b, p->a), th_sub(other->b, other->a)));
        if (th_segment_crossing(p->a, p->b, other->a, other->b) != 0 &&
            fminf(a, b) > SAME_PLACE * SAME_PLACE && turned > 0.1f * p->width * other->width)
            return ACROSS_ONE;
    }
    return left > 0 ? FREE : ON_ONE;
}

static th_room_portal portal_of(th_portal_kind kind, int index, th_vec2 a, th_vec2 b, int level) {
    th_room_portal portal = {.kind = kind, .index = index, .a = a, .b = b};
    portal.width = th_length(th_sub(b, a));
    portal.rooms[0] = portal.rooms[1] = -1;
    portal.levels[0] = portal.levels[1] = level;
    portal.over = th_unit(th_perp_right(th_sub(b, a)));
    return portal;
}

typedef struct portal_list {
    th_arena *arena;
    th_room_portal *portals;
    int count, capacity;
} portal_list;

static bool add_portal(portal_list *list, th_room_portal portal) {
    if (!th_arena_reserve(list->arena, (void *)&list->portals, &list->capacity, list->count + 1,
                          sizeof *list->portals))
        return false;
    list->portals[list->count++] = portal;
    return true;
}

// ---- doors: their lines as far as they are on ground. A line may run on into a wall or over it into the next room.

typedef struct cut_list {
    th_arena *arena;
    float *at; // [m] along the line
    int count, capacity;
} cut_list;

static int ascending(const void *left, const void *right) {
    float a = *(const float *)left, b = *(const float *)right;
    return (a > b) - (a < b);
}

static bool add_cut(cut_list *cuts, float at) {
    if (!th_arena_reserve(cuts->arena, (void *)&cuts->at, &cuts->capacity, cuts->count + 1,
                          sizeof *cuts->at))
        return false;
    cuts->at[cuts->count++] = at;
    return true;
}

// Where the wall crosses the line from `a` in the direction `along`, and where it ends on it.
static bool cut_at_wall(cut_list *cuts, th_vec2 a, th_vec2 along, float length,
                        const th_wall *wall) {
    th_vec2 p = th_sub(wall->a, a), q = th_sub(wall->b, a);
    float off_p = th_det(along, p), off_q = th_det(along, q);
    float at_p = th_dot(along, p), at_q = th_dot(along, q);
    bool on_p = fabsf(off_p) <= SAME_PLACE, on_q = fabsf(off_q) <= SAME_PLACE;
    if (!on_p && !on_q) {
        if ((off_p > 0.0f) == (off_q > 0.0f)) return true;
        at_p += (at_q - at_p) * off_p / (off_p - off_q);
        on_p = true;
    }
    if (on_p && at_p > 0.0f && at_p < length && !add_cut(cuts, at_p)) return false;
    return !on_q || at_q <= 0.0f || at_q >= length || add_cut(cuts, at_q);
}

// Ground on both sides of the line's middle, and no wall along it?
static bool leads_over(const th_scene *scene, const th_walls *walls, const th_room_portal *portal) {
    th_vec2 middle = th_scale(0.5f, th_add(portal->a, portal->b)),
            beside = th_scale(TH_BESIDE_PORTAL, portal->over);
    int nearest;
    float distance2;
    if (th_walls_near(walls, portal->levels[0], middle, SAME_PLACE, &nearest, &distance2, 1) > 0)
        return false;
    return th_walkable(scene, portal->levels[0], th_sub(middle, beside)) &&
           th_walkable(scene, portal->levels[1], th_add(middle, beside));
}

static bool add_door(portal_list *list, const th_scene *scene, const th_walls *walls, int d) {
    const th_line *line = &scene->doors[d].line;
    const th_level *level = &scene->levels[line->level];
    float length = th_length(th_sub(line->b, line->a));
    th_vec2 along = th_scale(1.0f / length, th_sub(line->b, line->a));
    cut_list cuts = {.arena = list->arena};
    if (!add_cut(&cuts, 0.0f) || !add_cut(&cuts, length)) return false;
    for (int w = level->wall_begin; w < level->wall_end; ++w) {
        const th_wall *wall = &scene->walls[w];
        if (wall->door < 0 && th_boxes_touch(wall->a, wall->b, line->a, line->b, SAME_PLACE) &&
            !cut_at_wall(&cuts, line->a, along, length, wall))
            return false;
    }
    qsort(cuts.at, (size_t)cuts.count, sizeof *cuts.at, ascending);
    for (int k = 1; k < cuts.count; ++k) {
        if (cuts.at[k] - cuts.at[k - 1] <= NARROWEST && length > NARROWEST) continue;
        th_vec2 a = th_add(line->a, th_scale(cuts.at[k - 1], along));
        th_vec2 b = cuts.at[k] < length ? th_add(line->a, th_scale(cuts.at[k], along)) : line->b;
        th_room_portal portal = portal_of(TH_PORTAL_DOOR, d, a, b, line->level);
        if (leads_over(scene, walls, &portal) && !add_portal(list, portal)) return false;
    }
    return true;
}

static bool add_named(portal_list *list, const th_scene *scene, const th_walls *walls) {
    for (int d = 0; d < scene->door_count; ++d)
        if (!add_door(list, scene, walls, d)) return false;
    for (int l = 0; l < scene->link_count; ++l) {
        const th_link *link = &scene->links[l];
        th_room_portal portal = portal_of(TH_PORTAL_STAIRS, l, link->a, link->b, link->level[0]);
        portal.levels[1] = link->level[1];
        portal.over = link->up;
        if (!add_portal(list, portal)) return false;
    }
    return true;
}

// False: no memory.
static bool begin_search(search *s, int64_t work) {
    const th_scene *scene = s->scene;
    const uint8_t *open = th_arena_alloc(s->arena, (size_t)scene->door_count + 1, sizeof *open);
    s->seen = th_arena_alloc(s->arena, (size_t)scene->wall_count + 1, sizeof *s->seen);
    s->walls = th_walls_of(scene, open);
    s->clear = (narrow_search){.scene = scene, .walls = s->walls, .stopped_by = -1, .left = work};
    return open && s->seen;
}

bool th_portals_find(const th_scene *scene, float widest, int64_t *work, th_arena *arena,
                     th_portals *found) {
    bool *used = th_arena_alloc(arena, (size_t)scene->wall_count + 1, sizeof *used);
    search s = {.scene = scene, .arena = arena, .widest = widest, .wants_slits = true};
    if (!used || !begin_search(&s, *work)) return false;
    for (int w = 0; w < scene->wall_count; ++w)
        if (!search_corner(&s, w)) return false;
    portal_list list = {.arena = arena};
    if (!add_named(&list, scene, &s.walls)) return false;
    if (s.count > 1) qsort(s.found, (size_t)s.count, sizeof *s.found, by_rank);
    for (int k = 0; k < s.count && s.clear.left > 0; ++k) {
        const passage *p = &s.found[k];
        s.clear.left -= list.count;
        if (used[p->corner_a] || (p->corner_b >= 0 && used[p->corner_b])) continue;
        relation lies = relation_to(list.portals, list.count, p);
        if (lies == ACROSS_ONE) continue;
        used[p->corner_a] = true;
        if (p->corner_b >= 0) used[p->corner_b] = true;
        if (lies == ON_ONE) continue;
        if (!add_portal(&list, portal_of(TH_PORTAL_PASSAGE, -1, p->a, p->b, p->level)))
            return false;
    }
    *work = s.clear.left;
    *found = (th_portals){list.portals, list.count, s.slits, s.slit_count};
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
    search s = {.widest = widest, .scene = scene, .arena = arena};
    int count = 0;
    if (!begin_search(&s, TH_PASSAGE_WORK)) return -1;
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
