// Findings of a scene before a run: gaps that some do not fit through, doors that close nothing, stairs without
// sides, plans too large to plan well, models asked for more than they manage. Findings of one kind and cause are one.
// Cost: that of finding the rooms. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/memory.h"
#include "observe/findings.h"
#include "throng/model.h"
#include "throng/rooms.h"
#include "throng/scene_view.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WALLS_MOST = 8000 }; // finding the rooms takes 60 s for 80 000

typedef struct looker {
    th_findings *out;
    const th_scene_view *scene;
    const th_rooms *rooms; // NULL: not known, people may be anywhere
    bool *reached;         // by group and room
} looker;

static double width_of(const th_line *line) {
    return hypot((double)(line->b.x - line->a.x), (double)(line->b.y - line->a.y));
}

static th_vec2 middle_of(const th_line *line) {
    return (th_vec2){(line->a.x + line->b.x) / 2, (line->a.y + line->b.y) / 2};
}

static void set_place(const looker *l, th_finding *about, int level, th_vec2 p) {
    about->level = level;
    about->x = (double)p.x + l->scene->origin.x;
    about->y = (double)p.y + l->scene->origin.y;
}

// "(12.50, 3.00)", with the level where there are several.
static void place_words(const looker *l, char words[160], const th_finding *about) {
    int length = snprintf(words, 160, "(%.2f, %.2f)", about->x, about->y);
    if (l->scene->level_count > 1)
        snprintf(words + length, (size_t)(160 - length), " on level \"%.80s\"",
                 l->scene->levels[about->level].id);
}

// ---- where people can come

// The rooms that a group starts in: at the corners and the middle of its area, slightly inside.
static void mark_starts(const looker *l, int g) {
    const th_group *group = &l->scene->groups[g];
    bool *reached = &l->reached[(size_t)g * (size_t)l->rooms->room_count], any = false;
    const th_polygons *shape = &group->area.shape;
    const th_box *box = &shape->box;
    for (int k = 0; shape->ring_count > 0 && k < 25; ++k) {
        th_vec2 p = {box->min_x + (box->max_x - box->min_x) * (0.02f + 0.24f * (float)(k % 5)),
                     box->min_y + (box->max_y - box->min_y) * (0.02f + 0.24f * (float)(k / 5))};
        int room = th_rooms_at(l->rooms, group->area.level, p);
        if (room < 0) continue;
        reached[room] = any = true;
    }
    for (int r = 0; !any && r < l->rooms->room_count; ++r) reached[r] = true; // not known where
}

static void spread_through_portals(const looker *l, int g) {
    bool *reached = &l->reached[(size_t)g * (size_t)l->rooms->room_count], more = true;
    double needed = th_group_gap(&l->scene->groups[g], false);
    while (more) {
        more = false;
        for (int p = 0; p < l->rooms->portal_count; ++p) {
            const th_room_portal *portal = &l->rooms->portals[p];
            int a = portal->rooms[0], b = portal->rooms[1];
            if (a < 0 || b < 0 || reached[a] == reached[b] || (double)portal->width < needed)
                continue;
            reached[a] = reached[b] = more = true;
        }
    }
}

static void find_reached(looker *l) {
    if (!l->rooms || l->rooms->room_count == 0) return;
    l->reached = calloc((size_t)(l->scene->group_count + 1) * (size_t)l->rooms->room_count, 1);
    for (int g = 0; l->reached && g < l->scene->group_count; ++g) {
        mark_starts(l, g);
        spread_through_portals(l, g);
    }
}

// Can people of the group come to either side of the gap?
static bool comes_to(const looker *l, int g, const th_line *gap) {
    if (!l->reached) return true;
    const float beside = 0.3f; // [m]
    float length = (float)width_of(gap);
    th_vec2 m = middle_of(gap);
    th_vec2 n = {-(gap->b.y - gap->a.y) / length * beside, (gap->b.x - gap->a.x) / length * beside};
    int rooms[2] = {th_rooms_at(l->rooms, gap->level, (th_vec2){m.x + n.x, m.y + n.y}),
                    th_rooms_at(l->rooms, gap->level, (th_vec2){m.x - n.x, m.y - n.y})};
    if (rooms[0] < 0 && rooms[1] < 0) return true;
    const bool *reached = &l->reached[(size_t)g * (size_t)l->rooms->room_count];
    return (rooms[0] >= 0 && reached[rooms[0]]) || (rooms[1] >= 0 && reached[rooms[1]]);
}

// ---- gaps

// The two mouths of an opening count as one.
static bool is_same_gap(const th_line *one, const th_line *other) {
    const double apart = 1.0, wider = 0.01; // [m]
    th_vec2 p = middle_of(one), q = middle_of(other);
    return one->level == other->level && hypot((double)(p.x - q.x), (double)(p.y - q.y)) < apart &&
           fabs(width_of(one) - width_of(other)) < wider;
}

typedef struct gap_count {
    int count;
    const th_line *narrowest;
} gap_count;

static void count_gap(gap_count *found, const th_line *line) {
    found->count++;
    if (!found->narrowest || width_of(line) < width_of(found->narrowest)) found->narrowest = line;
}

// "The gap of 0.40 m at (1, 2) is" or "33 gaps are"; the rest of the sentence about the narrowest.
static void gap_words(const looker *l, const gap_count *found, th_finding *about, char begin[240],
                      char end[240]) {
    char where[160];
    set_place(l, about, found->narrowest->level, middle_of(found->narrowest));
    place_words(l, where, about);
    about->value = width_of(found->narrowest);
    about->unit = "m";
    end[0] = '\0';
    if (found->count == 1) {
        snprintf(begin, 240, "The gap of %.2f m at %s is", about->value, where);
        return;
    }
    snprintf(begin, 240, "%d gaps are", found->count);
    snprintf(end, 240, " The narrowest, %.2f m, is at %s.", about->value, where);
}

static void find_closed_gaps(const looker *l) {
    const th_scene_view *scene = l->scene;
    gap_count found = {0};
    for (int k = 0; k < scene->closed_gap_count; ++k) {
        const th_line *line = &scene->closed_gaps[k];
        bool told = false, comes = scene->group_count == 0;
        for (int j = 0; j < k && !told; ++j) told = is_same_gap(&scene->closed_gaps[j], line);
        for (int g = 0; g < scene->group_count && !comes; ++g) comes = comes_to(l, g, line);
        if (!told && comes) count_gap(&found, line);
    }
    if (found.count == 0) return;
    char begin[240], end[240];
    th_finding about = th_finding_of(TH_FINDING_CLOSED_GAP, found.count);
    gap_words(l, &found, &about, begin, end);
    th_findings_add(l->out, about,
                    found.count == 1 ? "Widen it or close it with a wall."
                                     : "Widen them or close them with walls.",
                    "%s too narrow for all people and %s.%s", begin,
                    found.count == 1 ? "counts as a wall" : "count as walls", end);
}

static void find_narrow_gaps(const looker *l, int g) {
    const th_scene_view *scene = l->scene;
    const th_group *group = &scene->groups[g];
    double needed = th_group_gap(group, true);
    gap_count found = {0};
    bool some = false;
    for (int k = 0; k < scene->narrow_gap_count; ++k) {
        const th_narrow_gap *gap = &scene->narrow_gaps[k];
        bool told = (double)gap->width >= needed || !comes_to(l, g, &gap->line);
        for (int j = 0; j < k && !told; ++j)
            told = is_same_gap(&scene->narrow_gaps[j].line, &gap->line);
        if (told) continue;
        count_gap(&found, &gap->line);
        some = some || th_group_gap(group, false) < (double)gap->width;
    }
    if (found.count == 0) return;
    bool around = th_scene_widest_with_way(scene->scene, g) >= needed, one = found.count == 1;
    char begin[240], end[240];
    th_finding about = th_finding_of(TH_FINDING_NARROW_GAP, found.count);
    gap_words(l, &found, &about, begin, end);
    about.limit = needed;
    th_findings_add(l->out, about,
                    around ? ""
                    : one  ? "Widen it."
                           : "Widen them.",
                    "%s too narrow for people of group \"%s\", who need %s%.2f m; %s.%s", begin,
                    group->id, some ? "up to " : "", needed,
                    !around ? "they have no other way and would stay"
                    : one   ? "they go around it"
                            : "they go around them",
                    end);
}

// ---- stairs whose sides are open to the floor

static bool is_on_link(const th_scene_view *scene, th_vec2 p) {
    for (int l = 0; l < scene->link_count; ++l) {
        const th_link *link = &scene->links[l];
        float dx = link->b.x - link->a.x, dy = link->b.y - link->a.y;
        float length = sqrtf(dx * dx + dy * dy);
        float off = fabsf((p.x - link->a.x) * dy - (p.y - link->a.y) * dx) / length;
        if (off < 0.05f) return true;
    }
    return false;
}

// Is there walkable ground on both sides of the middle of a -> b, and no wall between?
static bool is_open(const th_scene_view *scene, int level, th_vec2 a, th_vec2 b) {
    const float beside = 0.05f; // [m]
    th_vec2 m = {(a.x + b.x) / 2, (a.y + b.y) / 2};
    float length = hypotf(b.x - a.x, b.y - a.y);
    float nx = -(b.y - a.y) / length * beside, ny = (b.x - a.x) / length * beside;
    return th_scene_walkable(scene->scene, level, (th_vec2){m.x + nx, m.y + ny}) &&
           th_scene_walkable(scene->scene, level, (th_vec2){m.x - nx, m.y - ny}) &&
           th_scene_distance(scene->scene, level, m) > beside / 2;
}

// The sides of stairs run up: along their edges people rise. The foot and the top lie across.
static bool is_open_side(const th_scene_view *scene, const th_zone *zone, th_vec2 a, th_vec2 b) {
    float length = hypotf(b.x - a.x, b.y - a.y);
    float rise = fabsf((b.x - a.x) * zone->up_direction.x + (b.y - a.y) * zone->up_direction.y);
    return length >= 0.1f && rise >= 0.7f * length &&
           !is_on_link(scene, (th_vec2){(a.x + b.x) / 2, (a.y + b.y) / 2}) &&
           is_open(scene, zone->area.level, a, b);
}

static void find_open_stairs(const looker *l) {
    const th_scene_view *scene = l->scene;
    for (int z = 0; z < scene->zone_count; ++z) {
        const th_zone *zone = &scene->zones[z];
        const th_polygons *shape = &zone->area.shape;
        th_finding about = th_finding_of(TH_FINDING_OPEN_STAIRS, 0);
        char sides[200] = "";
        if (zone->up_direction.x == 0.0f && zone->up_direction.y == 0.0f) continue;
        for (int r = 0; r < shape->ring_count; ++r) {
            int begin = shape->ring_start[r], end = shape->ring_start[r + 1];
            for (int i = begin, j = end - 1; i < end; j = i++) {
                th_vec2 a = shape->points[j], b = shape->points[i];
                if (!is_open_side(scene, zone, a, b)) continue;
                if (about.count++ > 0) continue; // the place of the first
                set_place(l, &about, zone->area.level, (th_vec2){(a.x + b.x) / 2, (a.y + b.y) / 2});
                snprintf(sides, sizeof sides, "from (%.2f, %.2f) to (%.2f, %.2f)",
                         (double)a.x + scene->origin.x, (double)a.y + scene->origin.y,
                         (double)b.x + scene->origin.x, (double)b.y + scene->origin.y);
            }
        }
        if (about.count > 0)
            th_findings_add(l->out, about,
                            about.count == 1 ? "Put a wall there." : "Put walls there.",
                            "Stairs \"%s\" are open to the floor along %s, where people step off: "
                            "%s%s.",
                            zone->id, about.count == 1 ? "a side" : "their sides", sides,
                            about.count == 1 ? "" : " and others");
    }
}

// ---- doors that do not do what they seem to

static float distance_to_line(th_vec2 p, const th_line *line) {
    float dx = line->b.x - line->a.x, dy = line->b.y - line->a.y;
    float t = ((p.x - line->a.x) * dx + (p.y - line->a.y) * dy) / (dx * dx + dy * dy);
    t = fminf(fmaxf(t, 0.0f), 1.0f);
    return hypotf(p.x - line->a.x - t * dx, p.y - line->a.y - t * dy);
}

// A finding about door d: "Door "a", doors[3], " goes before the text.
static void add_door(const looker *l, int d, const char *cure, const char *text) {
    const th_line *line = &l->scene->doors[d].line;
    th_finding about = th_finding_of(TH_FINDING_DOOR, 1);
    char where[160];
    set_place(l, &about, line->level, middle_of(line));
    place_words(l, where, &about);
    th_findings_add(l->out, about, cure, "Door \"%s\" (doors[%d]) at %s %s", l->scene->doors[d].id,
                    d, where, text);
}

static bool is_on_door(const th_scene_view *scene, int level, th_vec2 p, int but) {
    for (int d = 0; d < scene->door_count; ++d)
        if (d != but && scene->doors[d].line.level == level &&
            distance_to_line(p, &scene->doors[d].line) < 0.01f)
            return true;
    return false;
}

static bool has_free_end(const looker *l, int d, th_vec2 end) {
    const float touches = 0.01f; // [m] as openings in walls
    int level = l->scene->doors[d].line.level;
    float distance = th_scene_distance(l->scene->scene, level, end);
    if (distance <= touches || is_on_door(l->scene, level, end, d)) return false;
    char text[240];
    snprintf(text, sizeof text,
             "ends %.2f m from the nearest wall and closes nothing: people pass its end at "
             "(%.2f, %.2f).",
             (double)distance, (double)end.x + l->scene->origin.x,
             (double)end.y + l->scene->origin.y);
    add_door(l, d, "Draw it up to the wall.", text);
    return true;
}

static bool is_double(const looker *l, int d) {
    const th_line *line = &l->scene->doors[d].line;
    for (int e = 0; e < d; ++e) {
        const th_line *other = &l->scene->doors[e].line;
        if (other->level != line->level || distance_to_line(line->a, other) > 0.02f ||
            distance_to_line(line->b, other) > 0.02f)
            continue;
        char text[240];
        snprintf(text, sizeof text, "lies on door \"%.80s\": either of them shut closes the way.",
                 l->scene->doors[e].id);
        add_door(l, d, "Leave one out.", text);
        return true;
    }
    return false;
}

#define ON_LINE 0.03f // [m] a space between is not a room

// The exit on whose line the door lies; -1: none.
static int exit_under(const th_scene_view *scene, int d) {
    const th_line *line = &scene->doors[d].line;
    for (int g = 0; g < scene->goal_count; ++g) {
        const th_goal *goal = &scene->goals[g];
        if (goal->kind == TH_GOAL_EXIT && goal->is_line && goal->line.level == line->level &&
            distance_to_line(middle_of(line), &goal->line) <= ON_LINE)
            return g;
    }
    return -1;
}

static bool is_never_open(const th_door *door) {
    for (int k = 0; k < door->schedule_count; ++k)
        if (door->schedule[k].open) return false;
    return door->closed;
}

// An exit that is shut for the whole run does not count.
static bool is_shut_exit(const looker *l, int d) {
    const th_door *door = &l->scene->doors[d];
    int exit = exit_under(l->scene, d);
    if (exit < 0 || !is_never_open(door)) return false;
    th_finding about = th_finding_of(TH_FINDING_DOOR, 1);
    char where[160];
    set_place(l, &about, door->line.level, middle_of(&door->line));
    place_words(l, where, &about);
    th_findings_add(l->out, about, "Open it at some time, or leave the exit out.",
                    "Exit \"%s\" at %s is shut during the whole run: people do not go there.",
                    l->scene->goals[exit].id, where);
    return true;
}

// A behaviour whose people choose the rooms and doors of their way, and so have to learn that one is shut; NULL: none.
static const char *door_learners(const th_scene_view *scene) {
    for (int g = 0; g < scene->group_count; ++g)
        for (int k = 0; k < scene->groups[g].behave_count; ++k) {
            const th_model *model = th_models(NULL)[scene->groups[g].behave[k].model];
            if (model->decides & TH_DECIDES_AIM) return model->name;
        }
    return NULL;
}

static bool lies_on_goal(const looker *l, int d, th_vec2 middle) {
    const float on = ON_LINE;
    const char *learners = door_learners(l->scene);
    const th_scene_view *scene = l->scene;
    int level = scene->doors[d].line.level;
    char text[300];
    for (int g = 0; g < scene->goal_count; ++g) {
        const th_goal *goal = &scene->goals[g];
        if (!goal->is_line || goal->line.level != level ||
            distance_to_line(middle, &goal->line) > on)
            continue;
        snprintf(text, sizeof text,
                 "lies on the line of \"%.80s\": people with the behaviour %.40s do not learn that "
                 "it is shut.",
                 goal->id, learners ? learners : "");
        if (learners)
            add_door(l, d,
                     "Let the ground go on behind it, with that line 0.1 m or more further out.",
                     text);
        return true;
    }
    for (int k = 0; k < scene->link_count; ++k) {
        const th_link *link = &scene->links[k];
        th_line top = {level, link->a, link->b};
        if ((link->level[0] != level && link->level[1] != level) ||
            distance_to_line(middle, &top) > on)
            continue;
        snprintf(text, sizeof text,
                 "lies on the top of stairs \"%.80s\": people with the behaviour %.40s do not "
                 "learn that it is shut.",
                 link->id, learners ? learners : "");
        if (learners) add_door(l, d, "Move it 0.1 m or more away from the top.", text);
        return true;
    }
    return false;
}

// A door that is not a portal, though it reaches from wall to wall.
static void find_no_portal(const looker *l, int d) {
    const th_line *line = &l->scene->doors[d].line;
    th_vec2 middle = middle_of(line);
    char text[300];
    if (lies_on_goal(l, d, middle)) return;
    if (fabsf(th_scene_distance(l->scene->scene, line->level, middle)) < 0.01f) {
        add_door(l, d, "Draw it on the wall, no more than 1 cm off, or where there is a gap.",
                 "lies along a wall that it does not open.");
        return;
    }
    const char *learners = door_learners(l->scene);
    snprintf(text, sizeof text,
             "parts no rooms: what is on both sides of it is joined elsewhere by more than %g "
             "m%s%.40s%s.",
             TH_PASSAGE_WIDTH_MAX, learners ? ", so people with the behaviour " : "",
             learners ? learners : "", learners ? " do not learn that it is shut" : "");
    add_door(l, d, "Close that with a wall or a door if it should.", text);
}

static bool is_portal(const th_rooms *rooms, int d) {
    for (int p = 0; p < rooms->portal_count; ++p)
        if (rooms->portals[p].kind == TH_PORTAL_DOOR && rooms->portals[p].index == d) return true;
    return false;
}

static void find_doors(const looker *l) {
    for (int d = 0; l->rooms && d < l->scene->door_count; ++d) {
        const th_line *line = &l->scene->doors[d].line;
        if (is_shut_exit(l, d) || l->scene->doors[d].exit >= 0) continue;
        if (!has_free_end(l, d, line->a) && !has_free_end(l, d, line->b) && !is_double(l, d) &&
            !is_portal(l->rooms, d))
            find_no_portal(l, d);
    }
}

// ---- goals

enum { CUTS_MOST = 32 };

static bool leads_to_goal(const th_scene_view *scene, const th_group *group, int goal) {
    for (int k = 0; k < group->route_count + group->detour_count; ++k) {
        const th_target *target = &scene->targets[group->route[k]];
        for (int n = 0; n < target->goal_count; ++n)
            if (target->goals[n] == goal) return true;
    }
    return false;
}

// Width that the smallest people of the goal need between walls [m]; 0: no group goes there.
static double needed_at(const th_scene_view *scene, int goal) {
    double needed = HUGE_VAL;
    for (int g = 0; g < scene->group_count; ++g)
        if (leads_to_goal(scene, &scene->groups[g], goal))
            needed = fmin(needed, th_group_gap(&scene->groups[g], false));
    return isfinite(needed) ? needed : 0;
}

// The places at which walls cross a goal line or end on it: ways along it [m], from 0 to its length. Returns their
// number.
static int find_cuts(const th_scene_view *scene, const th_line *line, double *cuts) {
    const double touches = 0.01; // [m] as doors reach a wall
    double x = (double)(line->b.x - line->a.x), y = (double)(line->b.y - line->a.y);
    double length = width_of(line);
    int count = 1;
    cuts[0] = 0;
    for (int w = 0; w < scene->wall_count && count < CUTS_MOST - 1; ++w) {
        const th_wall *wall = &scene->walls[w];
        if (wall->level != line->level || wall->door >= 0) continue;
        double wx = (double)wall->direction.x, wy = (double)wall->direction.y;
        double from_x = (double)(wall->a.x - line->a.x), from_y = (double)(wall->a.y - line->a.y);
        double turn = (x * wy - y * wx) / length; // sine of the angle between them
        if (fabs(turn) < 0.05) continue;
        double at = (from_x * wy - from_y * wx) / turn;
        double along = (from_x * y - from_y * x) / (turn * length);
        if (at < touches || at > length - touches || along < -touches ||
            along > (double)wall->length + touches)
            continue;
        int k = count++;
        for (; cuts[k - 1] > at; --k) cuts[k] = cuts[k - 1];
        cuts[k] = at;
    }
    cuts[count++] = length;
    return count;
}

// Is there ground on one side of the line so far along it?
static bool has_ground(const looker *l, const th_line *line, double at) {
    double length = width_of(line), t = at / length;
    double x = (double)(line->b.x - line->a.x), y = (double)(line->b.y - line->a.y);
    for (int side = -1; side <= 1; side += 2) {
        th_vec2 p = {(float)((double)line->a.x + t * x - side * 0.05 * y / length),
                     (float)((double)line->a.y + t * y + side * 0.05 * x / length)};
        if (th_scene_walkable(l->scene->scene, line->level, p)) return true;
    }
    return false;
}

static void add_goal(const looker *l, int goal, th_vec2 p, double width, double needed,
                     const char *cure, const char *text) {
    const th_goal *of = &l->scene->goals[goal];
    th_finding about = th_finding_of(TH_FINDING_GOAL, 1);
    char where[160];
    set_place(l, &about, of->is_line ? of->line.level : of->area.level, p);
    place_words(l, where, &about);
    about.value = width;
    about.limit = needed;
    about.unit = "m";
    th_findings_add(l->out, about, cure, "%s \"%s\" at %s %s",
                    of->kind == TH_GOAL_EXIT ? "Exit" : "Goal", of->id, where, text);
}

// Pieces of a line, cut off by walls, that are narrower than the body, and lines all of whose pieces are.
static void find_narrow_line(const looker *l, int goal, double needed) {
    const th_line *line = &l->scene->goals[goal].line;
    double cuts[CUTS_MOST], widest = 0, lost = 0, lost_at = 0;
    int count = find_cuts(l->scene, line, cuts);
    for (int k = 1; k < count; ++k) {
        double width = cuts[k] - cuts[k - 1], middle = 0.5 * (cuts[k] + cuts[k - 1]);
        if (!has_ground(l, line, middle)) continue;
        widest = fmax(widest, width);
        if (width >= needed - 1e-3) continue;
        lost += width;
        lost_at = middle;
    }
    char text[240];
    if (widest < needed - 1e-3) {
        snprintf(text, sizeof text,
                 "is %.2f m wide where it is widest; the smallest people need %.2f m: it does not "
                 "count.",
                 widest, needed);
        add_goal(l, goal, middle_of(line), widest, needed, "Widen it.", text);
    } else if (lost > 0) {
        float t = (float)(lost_at / width_of(line));
        th_vec2 p = {line->a.x + t * (line->b.x - line->a.x),
                     line->a.y + t * (line->b.y - line->a.y)};
        snprintf(text, sizeof text,
                 "reaches %.2f m past a wall, where no body fits: that part does not count.", lost);
        add_goal(l, goal, p, lost, needed, "Draw it up to the wall.", text);
    }
}

// An area into which no middle of a body comes.
static void find_narrow_area(const looker *l, int goal, double needed) {
    enum { ACROSS = 24 };
    const th_area *area = &l->scene->goals[goal].area;
    const th_box *box = &area->shape.box;
    double most = 0;
    bool any = false;
    for (int k = 0; k < ACROSS * ACROSS; ++k) {
        th_vec2 p = {box->min_x + (box->max_x - box->min_x) * ((float)(k % ACROSS) + 0.5f) / ACROSS,
                     box->min_y +
                         (box->max_y - box->min_y) * ((float)(k / ACROSS) + 0.5f) / ACROSS};
        if (!th_polygons_surround(&area->shape, p) ||
            !th_scene_walkable(l->scene->scene, area->level, p))
            continue;
        any = true;
        most = fmax(most, 2 * (double)th_scene_distance(l->scene->scene, area->level, p));
        if (most >= needed) return;
    }
    if (!any || !(most < 0.9 * needed)) return; // places between those looked at
    char text[240];
    snprintf(text, sizeof text,
             "is between walls %.2f m apart; the smallest people need %.2f m: it does not count.",
             most, needed);
    th_vec2 middle = {0.5f * (box->min_x + box->max_x), 0.5f * (box->min_y + box->max_y)};
    add_goal(l, goal, middle, most, needed, "Draw it where people can stand.", text);
}

static void find_narrow_goals(const looker *l) {
    for (int g = 0; g < l->scene->goal_count; ++g) {
        const th_goal *goal = &l->scene->goals[g];
        double needed = needed_at(l->scene, g);
        if (!(needed > 0) || goal->kind == TH_GOAL_DETOUR) continue;
        if (goal->is_line)
            find_narrow_line(l, g, needed);
        else
            find_narrow_area(l, g, needed);
    }
}

static void find_people_without_way(const looker *l) {
    for (int g = 0; g < l->scene->group_count; ++g) {
        const th_group *group = &l->scene->groups[g];
        double share = th_scene_share_without_way(l->scene->scene, g);
        if (!(share > 0)) continue;
        int people = (int)ceil(share * (double)group->count);
        th_finding about = th_finding_of(TH_FINDING_UNREACHABLE, people);
        about.value = share;
        about.limit = 0;
        char many[80];
        if (people > 0)
            snprintf(many, sizeof many, "About %d of %d people", people, (int)group->count);
        else
            snprintf(many, sizeof many, "About %.0f %% of the people", ceil(100 * share));
        if (group->bar > 0)
            th_findings_add(
                l->out, about,
                "Give them a lift, a ramp, a waiting area or an exit on their level, or "
                "let them use what they avoid.",
                "%s of group \"%s\" cannot get out: no way leads to a goal without what "
                "they avoid, all doors open.",
                many, group->id);
        else
            th_findings_add(
                l->out, about, "Take that ground out of its area, or open a way.",
                "%s of group \"%s\" start where no way leads to a goal, all doors open.", many,
                group->id);
    }
}

// ---- planning and models

// The narrowest door or goal line; NULL: there is none.
static const th_line *narrowest_line(const th_scene_view *scene, const char **id) {
    const th_line *narrowest = NULL;
    for (int d = 0; d < scene->door_count; ++d) {
        const th_line *line = &scene->doors[d].line;
        if (narrowest && width_of(line) >= width_of(narrowest)) continue;
        narrowest = line;
        *id = scene->doors[d].id;
    }
    for (int g = 0; g < scene->goal_count; ++g) {
        const th_line *line = &scene->goals[g].line;
        if (!scene->goals[g].is_line || (narrowest && width_of(line) >= width_of(narrowest)))
            continue;
        narrowest = line;
        *id = scene->goals[g].id;
    }
    return narrowest;
}

static void find_coarse_plan(const looker *l) {
    const th_scene_view *scene = l->scene;
    float wanted, spacing = th_scene_plan_spacing(scene->scene, &wanted);
    if (!(spacing > 1.001f * wanted)) return;
    const char *id = "";
    char where[240] = "", cure[200];
    th_finding about = th_finding_of(TH_FINDING_COARSE_PLAN, 1);
    const th_line *narrowest = narrowest_line(scene, &id);
    if (narrowest) {
        set_place(l, &about, narrowest->level, middle_of(narrowest));
        snprintf(where, sizeof where,
                 " (the narrowest door or goal is \"%.40s\" at (%.1f, %.1f), %.2g m)", id, about.x,
                 about.y, width_of(narrowest));
    }
    about.value = (double)spacing;
    about.limit = (double)wanted;
    about.unit = "m";
    snprintf(cure, sizeof cure,
             "Let groups share destinations, leave out ground that is not walked on, or set "
             "plan_cell to %.2g to accept it.",
             (double)spacing);
    th_findings_add(l->out, about, cure,
                    "The plan is too large for its %d %s: ways are planned on points %.2g m apart "
                    "instead of %.2g m, and passages narrower than %.2g m may be missed%s.",
                    scene->target_count, scene->target_count == 1 ? "destination" : "destinations",
                    (double)spacing, (double)wanted, 2.0 * (double)spacing, where);
}

static bool is_planned_with(const th_scene_view *scene, int model) {
    for (int g = 0; g < scene->group_count; ++g)
        if (scene->groups[g].plan.model == model) return true;
    return false;
}

// Lattices of planners that have their own.
static void find_coarse_lattices(const looker *l) {
    int count;
    const th_model *const *models = th_models(&count);
    for (int m = 0; m < count; ++m) {
        float wanted = 0.0f;
        if (!models[m]->spacing || !is_planned_with(l->scene, m)) continue;
        float spacing = models[m]->spacing(l->scene->scene, m, &wanted);
        if (!(spacing > 1.001f * wanted)) continue;
        th_finding about = th_finding_of(TH_FINDING_COARSE_PLAN, 1);
        about.value = (double)spacing;
        about.limit = (double)wanted;
        about.unit = "m";
        th_findings_add(
            l->out, about,
            "Let groups share destinations, leave out ground that is not walked on, or "
            "give the plan a larger cell to accept it.",
            "The ground is too large for the plan \"%s\" with so many destinations: its "
            "cells are %.2g m instead of %.2g m, and passages narrower than %.2g m may "
            "be missed.",
            models[m]->name, (double)spacing, (double)wanted, 2.0 * (double)spacing);
    }
}

static void find_doubts(const looker *l) {
    enum { MOST = 16 };
    th_doubt doubts[MOST];
    int count = th_scene_doubts(l->scene->scene, doubts, MOST);
    for (int k = 0; k < count && k < MOST; ++k)
        th_findings_add(
            l->out, th_finding_of(doubts[k].no_effect ? TH_FINDING_NO_EFFECT : TH_FINDING_DOUBT, 1),
            doubts[k].no_effect ? "" : "`throng list models` says what other models manage.", "%s.",
            doubts[k].text);
    if (count > MOST)
        th_findings_add(l->out, th_finding_of(TH_FINDING_DOUBT, count - MOST), "",
                        "There are %d more such doubts.", count - MOST);
}

// ---- steps

// Falls follow from the pushes of a moment: their number holds up to half of the step up to which the motion does.
static float longest_step_of(const th_model_choice *choice) {
    const th_model *model = th_models(NULL)[choice->model];
    bool falls = model->stage == TH_STAGE_MOVE && th_model_body(model, choice->params).falls;
    return falls ? 0.5f * model->longest_step : model->longest_step;
}

// The group's model with the shortest longest step that `step` is beyond.
static void find_long_step(const looker *l, double step) {
    const th_model *worst = NULL;
    const char *group = "";
    float least = INFINITY;
    for (int g = 0; g < l->scene->group_count; ++g) {
        const th_model_choice *choice;
        for (int k = 0; (choice = th_group_model(&l->scene->groups[g], k)) != NULL; ++k) {
            float longest = longest_step_of(choice);
            if (!(longest > 0.0f && longest < least) || step <= 1.001 * (double)longest) continue;
            worst = th_models(NULL)[choice->model];
            group = l->scene->groups[g].id;
            least = longest;
        }
    }
    if (!worst) return;
    th_finding about = th_finding_of(TH_FINDING_LONG_STEP, 1);
    about.value = step;
    about.limit = (double)least;
    about.unit = "s";
    char cure[80];
    snprintf(cure, sizeof cure, "Give a step of %g s or less (run.step, --step).", about.limit);
    th_findings_add(l->out, about, cure,
                    "The step of %g s is longer than the model \"%s\" of group \"%s\" is made for, "
                    "%g s: its results depend on the step.",
                    step, worst->name, group, about.limit);
}

// ---- all

void th_findings_add_scene(th_findings *findings, const th_scene_view *scene, double step) {
    looker l = {.out = findings, .scene = scene};
    th_rooms *rooms = NULL;
    bool asked = scene->door_count + scene->closed_gap_count + scene->narrow_gap_count > 0;
    if (asked && scene->wall_count > WALLS_MOST)
        th_findings_add(findings, th_finding_of(TH_FINDING_NOT_CHECKED, 1), "",
                        "Doors were not looked at, as there are %d walls.", scene->wall_count);
    else if (asked && th_rooms_create(scene->scene, TH_PASSAGE_WIDTH_MAX, &rooms, NULL) == TH_OK)
        l.rooms = rooms;
    find_reached(&l);
    find_doors(&l);
    find_closed_gaps(&l);
    find_narrow_goals(&l);
    find_people_without_way(&l);
    for (int g = 0; g < scene->group_count; ++g) find_narrow_gaps(&l, g);
    find_open_stairs(&l);
    find_coarse_lattices(&l);
    find_coarse_plan(&l);
    find_doubts(&l);
    find_long_step(&l, step);
    free(l.reached);
    th_rooms_destroy(rooms);
}

th_result th_scene_findings(const th_scene *scene, th_findings **findings, th_error *error) {
    th_findings made = {0};
    const th_scene_view *view = th_scene_view_of(scene);
    th_findings_add_scene(&made, view, view->run.step);
    return th_findings_finish(&made, findings, error);
}

// ---- a running world

// A watch over a running world (throng/findings.h): an observer without tracks.

struct th_watch {
    th_observer *observer;
    th_findings *of_scene;
    const th_scene_view *scene;
    bool over; // the world is done, and the observation complete
};

th_result th_watch_create(th_world *world, th_watch **out, th_error *error) {
    th_observer_def def = th_observer_def_default();
    def.track_count = 0;
    th_watch *watch = *out = calloc(1, sizeof *watch);
    if (!watch) return th_fail(error, TH_NO_MEMORY, "", "no memory for a watch; free some");
    watch->scene = th_scene_view_of(th_world_scene(world));
    th_findings made = {0};
    th_findings_add_scene(&made, watch->scene, th_world_step_length(world));
    th_result result = th_findings_finish(&made, &watch->of_scene, error);
    if (result == TH_OK) result = th_observer_create(world, &def, &watch->observer, error);
    if (result == TH_OK) result = th_observer_see(watch->observer, world, error);
    if (result == TH_OK) return result;
    th_watch_destroy(watch);
    *out = NULL;
    return result;
}

void th_watch_destroy(th_watch *watch) {
    if (!watch) return;
    th_observer_destroy(watch->observer);
    th_findings_destroy(watch->of_scene);
    free(watch);
}

th_result th_watch_see(th_watch *watch, th_world *world, th_error *error) {
    th_result result = th_observer_see(watch->observer, world, error);
    bool done = th_world_done(world);
    if (result == TH_OK && done && !watch->over)
        result = th_observer_finish(watch->observer, world, error);
    watch->over = done && result == TH_OK;
    return result;
}

bool th_watch_over(const th_watch *watch) { return watch->over; }

th_result th_watch_findings(const th_watch *watch, th_findings **findings, th_error *error) {
    return th_observation_findings(watch->scene, watch->of_scene, th_watch_observation(watch),
                                   watch->over, findings, error);
}

th_observation *th_watch_observation(const th_watch *watch) {
    return th_observer_observation(watch->observer);
}
