// A passage is a straight line between two walls, on ground, whose circle (the line being its diameter) no wall enters:
// what is narrower than its surroundings. The corner of a room is none, a bend of a wall neither, a door, a corridor and
// the space between two pillars are. Both walls are within reach of the cell of the wall grid that holds the line's
// middle, so one cell after the other is looked at. Cost: cells x pairs of walls near them.
// SPDX-License-Identifier: Apache-2.0
#include "space/passages.h"
#include "space/distance_grid.h"

typedef struct search {
    const th_scene *scene;
    th_walls walls;
    int level;
    float least, narrowest;
    int64_t pairs; // looked at
} search;

// A second or two. Beyond, thousands of walls meet in single cells, and the narrowest so far will do.
static const int64_t PAIRS_MOST = 200000000;

// Equal widths are common, and one of them is enough.
static const float NARROWER = 0.99f;

static void try_line(search *s, th_vec2 p, th_vec2 q) {
    float width = th_length(th_sub(q, p));
    if (!(width >= s->least && width < NARROWER * s->narrowest)) return;
    th_vec2 middle = th_scale(0.5f, th_add(p, q));
    int nearest;
    float distance2;
    if (th_walls_near(&s->walls, s->level, middle, 0.49f * width, &nearest, &distance2, 1) > 0)
        return;
    if (th_walkable(s->scene, s->level, middle)) s->narrowest = width;
}

// The shortest lines between two walls begin or end at one's end, or, where they run side by side, anywhere along them:
// the middle of that stretch is the least likely to be beside something else.
static void try_pair(search *s, const th_wall *a, const th_wall *b) {
    if (!th_boxes_touch(a->a, a->b, b->a, b->b, s->narrowest)) return;
    th_vec2 start = th_nearest_on_segment(b->a, a->a, a->b),
            end = th_nearest_on_segment(b->b, a->a, a->b);
    th_vec2 middle = th_scale(0.5f, th_add(start, end));
    try_line(s, start, b->a);
    try_line(s, end, b->b);
    try_line(s, a->a, th_nearest_on_segment(a->a, b->a, b->b));
    try_line(s, a->b, th_nearest_on_segment(a->b, b->a, b->b));
    try_line(s, middle, th_nearest_on_segment(middle, b->a, b->b));
}

static void search_level(search *s) {
    const th_wall_grid *grid = &s->scene->wall_grids[s->level];
    for (int cell = 0; cell < grid->nx * grid->ny; ++cell) {
        const int *list = grid->list + grid->start[cell];
        int count = grid->start[cell + 1] - grid->start[cell];
        for (int m = 0; m < count; ++m) {
            const th_wall *a = &s->scene->walls[list[m]];
            if (a->door >= 0 || (s->pairs += count) > PAIRS_MOST) continue;
            for (int n = m + 1; n < count; ++n)
                if (s->scene->walls[list[n]].door < 0) try_pair(s, a, &s->scene->walls[list[n]]);
        }
    }
}

float th_narrowest_passage(const th_scene *scene, th_arena *arena, float least, float most) {
    const uint8_t *doors = th_arena_alloc(arena, (size_t)scene->door_count, sizeof *doors);
    search s = {
        .scene = scene, .walls = th_walls_of(scene, doors), .least = least, .narrowest = most};
    for (s.level = 0; doors && s.level < scene->level_count; ++s.level) search_level(&s);
    return s.narrowest;
}
