// Openings in the edge of the ground. Each leads to ground, to the other level of its stairs or to an exit along
// its whole length; otherwise people would walk out of the building, and the scene is refused. Cost O(gaps x log
// corners) but for gaps with ground behind a part of them only. SPDX-License-Identifier: Apache-2.0
#include "formula/segment.h"
#include "formula/vec.h"
#include "scene/compile.h"
#include <math.h>
#include <stdlib.h>

static const double BEHIND =
    0.05; // [m] behind the edge ground is looked for: an opening may bridge a gap between
          // two grounds of twice TH_OPENING_REACH
static const double OFF_GROUND = 2.0 * (double)TH_OPENING_REACH; // [m] further off no door opens
static const float NARROW = 0.03f; // [m] too narrow for the smallest body, 0.1 m

// ---- openings

static th_opening opening_of(th_line line, th_opening_kind kind, int index, int side) {
    float more = 5.0f * TH_OPENING_REACH; // what is near, and roundings as on a map
    th_box box = {th_min(line.a.x, line.b.x) - more, th_min(line.a.y, line.b.y) - more,
                  th_max(line.a.x, line.b.x) + more, th_max(line.a.y, line.b.y) + more};
    return (th_opening){line, box, kind, index, side};
}

const th_opening *th_collect_openings(th_compiler *c, int *count) {
    const th_scene *scene = c->scene;
    int most = scene->door_count + 2 * scene->link_count + scene->goal_count;
    th_opening *openings = th_arena_alloc(&c->work, (size_t)most + 1, sizeof *openings);
    *count = 0;
    if (!openings) {
        th_no_memory(c);
        return NULL;
    }
    for (int i = 0; i < scene->door_count; ++i)
        openings[(*count)++] = opening_of(scene->doors[i].line, TH_OPENING_DOOR, i, 0);
    for (int i = 0; i < scene->goal_count; ++i)
        if (scene->goals[i].is_line)
            openings[(*count)++] = opening_of(scene->goals[i].line, TH_OPENING_GOAL, i, 0);
    for (int i = 0; i < scene->link_count; ++i)
        for (int side = 0; side < 2; ++side) {
            th_line top = {scene->links[i].level[side], scene->links[i].a, scene->links[i].b};
            openings[(*count)++] = opening_of(top, TH_OPENING_STAIRS, i, side);
        }
    return openings;
}

// ---- where openings lead

typedef struct span {
    float begin, end; // [m] along an edge
} span;

typedef struct checker {
    th_compiler *c;
    const GEOSPreparedGeometry **ground; // by level, NULL until asked for
    span *good;                          // parts of the edge that lead somewhere
    int good_count, good_capacity;
    const th_gap *gap; // the one being looked at
} checker;

static bool is_exit(const checker *k, const th_gap *gap) {
    return gap->opening->kind == TH_OPENING_GOAL &&
           k->c->scene->goals[gap->opening->index].kind == TH_GOAL_EXIT;
}

static void add_span(checker *k, float begin, float end) {
    if (!th_arena_reserve(&k->c->work, &k->good, &k->good_capacity, k->good_count + 1,
                          sizeof *k->good)) {
        th_no_memory(k->c);
        return;
    }
    k->good[k->good_count++] = (span){begin, end};
}

// In the scene's own coordinates, `along` metres along the gap's edge and `behind` metres behind it.
static th_point point_at(const checker *k, float along, double behind) {
    const th_gap *gap = k->gap;
    double dx = (double)gap->direction.x, dy = (double)gap->direction.y, s = (double)along;
    return (th_point){(double)gap->a.x + s * dx - behind * dy + k->c->scene->origin.x,
                      (double)gap->a.y + s * dy + behind * dx + k->c->scene->origin.y};
}

static GEOSGeometry *line_behind(const checker *k) {
    GEOSContextHandle_t geos = k->c->geometry.geos;
    GEOSCoordSequence *ends = GEOSCoordSeq_create_r(geos, 2, 2);
    if (!ends) return NULL;
    th_point p = point_at(k, k->gap->begin, BEHIND), q = point_at(k, k->gap->end, BEHIND);
    GEOSCoordSeq_setXY_r(geos, ends, 0, p.x, p.y);
    GEOSCoordSeq_setXY_r(geos, ends, 1, q.x, q.y);
    return GEOSGeom_createLineString_r(geos, ends);
}

static bool add_piece(void *context, const th_vec2 *points, int count, bool ring, bool hole) {
    (void)ring;
    (void)hole;
    checker *k = context;
    float s = th_dot(th_sub(points[0], k->gap->a), k->gap->direction);
    float t = th_dot(th_sub(points[count - 1], k->gap->a), k->gap->direction);
    add_span(k, th_min(s, t), th_max(s, t));
    return k->c->result == TH_OK;
}

// The parts of the gap behind which `shape` lies.
static void add_common(checker *k, const GEOSGeometry *line, const GEOSGeometry *shape) {
    GEOSContextHandle_t geos = k->c->geometry.geos;
    GEOSGeometry *common = GEOSIntersection_r(geos, line, shape);
    if (common && !th_geometry_visit(&k->c->geometry, common, k->c->scene->origin, add_piece, k))
        th_no_memory(k->c);
    if (common) GEOSGeom_destroy_r(geos, common);
}

static void add_ground(checker *k, const GEOSGeometry *line, int level) {
    th_compiler *c = k->c;
    if (!c->walkable[level]) { // an open plane
        add_span(k, k->gap->begin, k->gap->end);
        return;
    }
    if (!k->ground[level]) k->ground[level] = GEOSPrepare_r(c->geometry.geos, c->walkable[level]);
    if (!k->ground[level])
        th_no_memory(c);
    else if (GEOSPreparedCovers_r(c->geometry.geos, k->ground[level], line) == 1)
        add_span(k, k->gap->begin, k->gap->end);
    else if (GEOSPreparedIntersects_r(c->geometry.geos, k->ground[level], line) == 1)
        add_common(k, line, c->walkable[level]);
}

static void add_exit_areas(checker *k, const GEOSGeometry *line, int level) {
    const th_scene_def *def = k->c->def;
    for (int i = 0; i < def->goal_count && k->c->result == TH_OK; ++i) {
        if (def->goals[i].kind != TH_GOAL_EXIT || def->goals[i].has_line) continue;
        if (k->c->scene->goals[i].area.level != level) continue;
        const GEOSGeometry *area = th_shape_geometry(k->c, &def->goals[i].area);
        if (area && GEOSIntersects_r(k->c->geometry.geos, line, area) == 1)
            add_common(k, line, area);
    }
}

static void add_behind(checker *k) {
    const th_opening *opening = k->gap->opening;
    GEOSGeometry *line = line_behind(k);
    if (!line) {
        th_no_memory(k->c);
        return;
    }
    if (opening->kind == TH_OPENING_STAIRS) {
        const th_link *link = &k->c->scene->links[opening->index];
        // An agent that crosses the top changes level only in the direction that leads there.
        float up = th_det(k->gap->direction, link->up);
        if (opening->side == 0 ? up > 0.0f : up < 0.0f)
            add_ground(k, line, link->level[1 - opening->side]);
    } else {
        int before = k->good_count;
        add_ground(k, line, opening->line.level);
        if (k->good_count == before || k->good[before].begin > k->gap->begin ||
            k->good[before].end < k->gap->end)
            add_exit_areas(k, line, opening->line.level);
    }
    GEOSGeom_destroy_r(k->c->geometry.geos, line);
}

static int compare_spans(const void *left, const void *right) {
    const span *a = left, *b = right;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

static void at_opening(th_compiler *c, const th_opening *opening) {
    if (opening->kind == TH_OPENING_DOOR)
        th_at_door(c, opening->index, "line");
    else if (opening->kind == TH_OPENING_GOAL)
        th_at_goal(c, opening->index, "line");
    else
        th_at(c, "stairs[%d].top", opening->index);
}

static void refuse(checker *k, float along) {
    const th_opening *opening = k->gap->opening;
    th_point p = point_at(k, along, 0.0);
    at_opening(k->c, opening);
    if (opening->kind == TH_OPENING_STAIRS)
        th_bad(k->c,
               "the edge of the ground opens onto nothing at (%.10g, %.10g): level \"%.60s\" has "
               "no ground "
               "behind it there; let the two levels meet along the whole top",
               p.x, p.y,
               k->c->scene->levels[k->c->scene->links[opening->index].level[1 - opening->side]].id);
    else
        th_bad(k->c,
               "the edge of the ground opens onto nothing at (%.10g, %.10g); move the line to "
               "where there is "
               "ground on both sides, or put an exit at the same place",
               p.x, p.y);
}

// The spans are in order.
static void check_gap(checker *k) {
    float at = k->gap->begin;
    for (int i = 0; i < k->good_count && k->good[i].begin <= at + NARROW; ++i)
        at = th_max(at, k->good[i].end);
    if (at + NARROW >= k->gap->end) return;
    float next = k->gap->end;
    for (int i = 0; i < k->good_count; ++i)
        if (k->good[i].begin > at) next = th_min(next, k->good[i].begin);
    refuse(k, 0.5f * (at + next));
}

static void check_edge(checker *k, const th_gap *gaps, int count) {
    k->good_count = 0;
    for (int i = 0; i < count && k->c->result == TH_OK; ++i) {
        k->gap = &gaps[i];
        if (is_exit(k, k->gap))
            add_span(k, k->gap->begin, k->gap->end);
        else
            add_behind(k);
    }
    if (k->c->result != TH_OK) return;
    if (k->good_count) qsort(k->good, (size_t)k->good_count, sizeof *k->good, compare_spans);
    for (int i = 0; i < count && k->c->result == TH_OK; ++i) {
        k->gap = &gaps[i];
        if (!is_exit(k, k->gap)) check_gap(k);
    }
}

static bool same_edge(const th_gap *p, const th_gap *q) {
    return p->opening->line.level == q->opening->line.level && p->a.x == q->a.x &&
           p->a.y == q->a.y && p->direction.x == q->direction.x && p->direction.y == q->direction.y;
}

// A door in the middle of a wall or off the ground is a mistake: no agent could reach it.
static void check_door(th_compiler *c, int i) {
    GEOSContextHandle_t geos = c->geometry.geos;
    const th_point *ends = c->def->doors[i].line;
    const GEOSGeometry *ground = c->walkable[c->scene->doors[i].line.level];
    GEOSCoordSequence *points = ground ? GEOSCoordSeq_create_r(geos, 2, 2) : NULL;
    if (!ground) return; // an open plane
    if (points) {
        GEOSCoordSeq_setXY_r(geos, points, 0, ends[0].x, ends[0].y);
        GEOSCoordSeq_setXY_r(geos, points, 1, ends[1].x, ends[1].y);
    }
    GEOSGeometry *line = points ? GEOSGeom_createLineString_r(geos, points) : NULL;
    double distance = 0;
    if (!line)
        th_no_memory(c);
    else if (GEOSDistance_r(geos, line, ground, &distance) == 1 && distance > OFF_GROUND) {
        th_at_door(c, i, "line");
        th_bad(c,
               "the door from (%.10g, %.10g) to (%.10g, %.10g) lies in a wall or off the ground, "
               "%.2g m from it; move its line to where there is ground on both sides",
               ends[0].x, ends[0].y, ends[1].x, ends[1].y, distance);
    }
    if (line) GEOSGeom_destroy_r(geos, line);
}

// ---- stairs over stairs
// An agent that crosses the top line of stairs changes level. It never reaches other stairs of that level behind the line, so
// stairs must lie apart. Flights above each other are fine: their top lines coincide and lead the same way.

static const float STAIRS_ASIDE = 0.05f; // [m] how far behind a line is looked
static const float STAIRS_OVER = 0.1f;   // [m] of a line: less is drawn carelessly and not walked
enum { STAIRS_SAMPLES = 40 };

static bool continues(const th_link *below, const th_link *above, th_vec2 p) {
    return th_dot(below->up, above->up) > 0.9f &&
           th_segment_distance2(p, above->a, above->b) < 4.0f * STAIRS_ASIDE * STAIRS_ASIDE;
}

// Metres of the top line of `one` behind which, on the level that `other` begins at, the area of `other` lies.
static float length_over(const th_link *one, const th_link *other, const th_polygons *area) {
    int level = other->level[0];
    if (one->level[0] != level && one->level[1] != level) return 0.0f;
    th_vec2 behind = th_scale(one->level[1] == level ? -STAIRS_ASIDE : STAIRS_ASIDE, one->up);
    int over = 0;
    for (int k = 0; k < STAIRS_SAMPLES; ++k) {
        float t = ((float)k + 0.5f) / STAIRS_SAMPLES;
        th_vec2 p = th_add(th_add(one->a, th_scale(t, th_sub(one->b, one->a))), behind);
        over += th_polygons_contain(area, p) && !continues(one, other, p);
    }
    return th_length(th_sub(one->b, one->a)) * (float)over / STAIRS_SAMPLES;
}

static bool areas_meet(const th_polygons *a, const th_polygons *b) {
    th_box box = {th_max(a->box.min_x, b->box.min_x), th_max(a->box.min_y, b->box.min_y),
                  th_min(a->box.max_x, b->box.max_x), th_min(a->box.max_y, b->box.max_y)};
    float width = box.max_x - box.min_x, height = box.max_y - box.min_y;
    if (!(width > STAIRS_OVER && height > STAIRS_OVER)) return false;
    for (int k = 0; k < STAIRS_SAMPLES * STAIRS_SAMPLES; ++k) {
        th_vec2 p = {box.min_x + width * ((float)(k % STAIRS_SAMPLES) + 0.5f) / STAIRS_SAMPLES,
                     box.min_y +
                         height * ((float)k / STAIRS_SAMPLES + 0.5f) / (STAIRS_SAMPLES + 1.0f)};
        if (th_polygons_contain(a, p) && th_polygons_contain(b, p)) return true;
    }
    return false;
}

static void check_pair(th_compiler *c, int i, int j, const th_polygons *const *areas) {
    const th_link *one = &c->scene->links[i], *other = &c->scene->links[j];
    const char *level = c->scene->levels[other->level[0]].id;
    if (!areas[j]) return;
    th_at(c, "stairs[%d].area", j);
    float over = length_over(one, other, areas[j]);
    if (over > STAIRS_OVER)
        th_bad(c,
               "the stairs \"%.60s\" lie behind %.2g m of the top line of the stairs \"%.60s\" on "
               "level \"%.60s\": agents there would change level instead of reaching them; move "
               "one of the two aside",
               other->id, (double)over, one->id, level);
    else if (i < j && areas[i] && one->level[0] == other->level[0] &&
             areas_meet(areas[i], areas[j]))
        th_bad(
            c,
            "the stairs \"%.60s\" and \"%.60s\" lie over each other on level \"%.60s\"; move one "
            "of the two aside",
            one->id, other->id, level);
}

void th_check_stairs_apart(th_compiler *c) {
    const th_scene *scene = c->scene;
    const th_polygons **areas = th_arena_alloc(&c->work, (size_t)scene->link_count, sizeof *areas);
    if (!areas) th_no_memory(c);
    for (int i = 0, z = c->def->zone_count; areas && i < scene->link_count; ++i)
        if (z < scene->zone_count && scene->zones[z].id == scene->links[i].id)
            areas[i] = &scene->zones[z++].area.shape;
    for (int i = 0; i < scene->link_count && c->result == TH_OK; ++i)
        for (int j = 0; j < scene->link_count && c->result == TH_OK; ++j)
            if (i != j) check_pair(c, i, j, areas);
}

void th_check_openings(th_compiler *c) {
    checker k = {.c = c};
    for (int i = 0; i < c->scene->door_count && c->result == TH_OK; ++i) check_door(c, i);
    k.ground = th_arena_alloc(&c->work, (size_t)c->level_count, sizeof *k.ground);
    if (!k.ground) th_no_memory(c);
    for (int i = 0, end; i < c->gap_count && c->result == TH_OK; i = end) {
        for (end = i + 1; end < c->gap_count && same_edge(&c->gaps[i], &c->gaps[end]);) ++end;
        check_edge(&k, &c->gaps[i], end - i);
    }
    for (int l = 0; k.ground && l < c->level_count; ++l)
        if (k.ground[l]) GEOSPreparedGeom_destroy_r(c->geometry.geos, k.ground[l]);
}
