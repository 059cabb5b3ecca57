// throng check: is this scene good, and what is in it. SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"
#include "report/findings.h"
#include "throng/model.h"
#include "throng/rooms.h"
#include "throng/scene_view.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- gaps that somebody does not fit through

enum { GAPS_MOST = 32 }; // told

static double width_of(const th_line *line) {
    return hypot((double)(line->b.x - line->a.x), (double)(line->b.y - line->a.y));
}

static th_point middle_of(const th_scene_view *scene, const th_line *line) {
    return (th_point){(double)(line->a.x + line->b.x) / 2 + scene->origin.x,
                      (double)(line->a.y + line->b.y) / 2 + scene->origin.y};
}

// The two mouths of one opening are told once.
static bool is_same(const th_scene_view *scene, const th_line *one, const th_line *other) {
    const double apart = 1.0, wider = 0.01; // [m]
    th_point p = middle_of(scene, one), q = middle_of(scene, other);
    return one->level == other->level && hypot(p.x - q.x, p.y - q.y) < apart &&
           fabs(width_of(one) - width_of(other)) < wider;
}

static void begin_warning(const char *path, const th_scene_view *scene, const th_line *line) {
    th_point at = middle_of(scene, line);
    printf("%s: warning: the gap of %.2f m at (%.2f, %.2f) on level %s is too narrow for ", path,
           width_of(line), at.x, at.y, scene->levels[line->level].id);
}

static void warn_of_closed_gaps(const char *path, const th_scene_view *scene) {
    for (int k = 0; k < scene->closed_gap_count && k < GAPS_MOST; ++k) {
        bool told = false;
        for (int j = 0; j < k; ++j)
            told = told || is_same(scene, &scene->closed_gaps[j], &scene->closed_gaps[k]);
        if (told) continue;
        begin_warning(path, scene, &scene->closed_gaps[k]);
        printf("everybody and counts as a wall; widen it or close it with a wall\n");
    }
}

static void warn_group(const char *path, const th_scene_view *scene, const th_narrow_gap *gap,
                       int g) {
    const th_group *group = &scene->groups[g];
    double needed = th_group_gap(group, true);
    if ((double)gap->width >= needed) return;
    bool some = th_group_gap(group, false) < (double)gap->width;
    bool around = th_scene_widest_with_way(scene->scene, g) >= needed;
    begin_warning(path, scene, &gap->line);
    printf("people of group %s, who need %s%.2f m; %s\n", group->id, some ? "up to " : "", needed,
           around ? "they go around it" : "they have no other way and would stay: widen it");
}

static void warn_of_gaps(const char *path, const th_scene_view *scene) {
    warn_of_closed_gaps(path, scene);
    for (int k = 0; k < scene->narrow_gap_count && k < GAPS_MOST; ++k) {
        bool told = false;
        for (int j = 0; j < k; ++j)
            told = told || is_same(scene, &scene->narrow_gaps[j].line, &scene->narrow_gaps[k].line);
        for (int g = 0; g < scene->group_count && !told; ++g)
            warn_group(path, scene, &scene->narrow_gaps[k], g);
    }
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
static void warn_of_open_stairs(const char *path, const th_scene_view *scene) {
    for (int z = 0; z < scene->zone_count; ++z) {
        const th_zone *zone = &scene->zones[z];
        const th_polygons *shape = &zone->area.shape;
        if (zone->up_direction.x == 0.0f && zone->up_direction.y == 0.0f) continue;
        for (int r = 0; r < shape->ring_count; ++r) {
            int begin = shape->ring_start[r], end = shape->ring_start[r + 1];
            for (int i = begin, j = end - 1; i < end; j = i++) {
                th_vec2 a = shape->points[j], b = shape->points[i];
                float length = hypotf(b.x - a.x, b.y - a.y);
                float rise =
                    fabsf((b.x - a.x) * zone->up_direction.x + (b.y - a.y) * zone->up_direction.y);
                if (length < 0.1f || rise < 0.7f * length ||
                    is_on_link(scene, (th_vec2){(a.x + b.x) / 2, (a.y + b.y) / 2}) ||
                    !is_open(scene, zone->area.level, a, b))
                    continue;
                printf("%s: warning: stairs %s are open to the floor along their side from "
                       "(%.2f, %.2f) to (%.2f, %.2f), where people step off; put a wall there\n",
                       path, zone->id, (double)a.x + scene->origin.x, (double)a.y + scene->origin.y,
                       (double)b.x + scene->origin.x, (double)b.y + scene->origin.y);
            }
        }
    }
}

// ---- doors that do not do what they seem to

static float distance_to_line(th_vec2 p, const th_line *line) {
    float dx = line->b.x - line->a.x, dy = line->b.y - line->a.y;
    float t = ((p.x - line->a.x) * dx + (p.y - line->a.y) * dy) / (dx * dx + dy * dy);
    t = fminf(fmaxf(t, 0.0f), 1.0f);
    return hypotf(p.x - line->a.x - t * dx, p.y - line->a.y - t * dy);
}

static void begin_door_warning(const char *path, const th_scene_view *scene, int d) {
    const th_line *line = &scene->doors[d].line;
    printf("%s: warning: doors[%d], \"%s\" from (%.2f, %.2f) to (%.2f, %.2f), ", path, d,
           scene->doors[d].id, (double)line->a.x + scene->origin.x,
           (double)line->a.y + scene->origin.y, (double)line->b.x + scene->origin.x,
           (double)line->b.y + scene->origin.y);
}

static bool is_on_door(const th_scene_view *scene, int level, th_vec2 p, int but) {
    for (int d = 0; d < scene->door_count; ++d)
        if (d != but && scene->doors[d].line.level == level &&
            distance_to_line(p, &scene->doors[d].line) < 0.01f)
            return true;
    return false;
}

static bool warn_of_free_end(const char *path, const th_scene_view *scene, int d, th_vec2 end) {
    const float touches = 0.01f; // [m] as openings in walls
    int level = scene->doors[d].line.level;
    float distance = th_scene_distance(scene->scene, level, end);
    if (distance <= touches || is_on_door(scene, level, end, d)) return false;
    begin_door_warning(path, scene, d);
    printf("ends %.2f m from the nearest wall and closes nothing: people pass its end at "
           "(%.2f, %.2f); draw it up to the wall\n",
           (double)distance, (double)end.x + scene->origin.x, (double)end.y + scene->origin.y);
    return true;
}

static bool warn_of_same_door(const char *path, const th_scene_view *scene, int d) {
    const th_line *line = &scene->doors[d].line;
    for (int e = 0; e < d; ++e) {
        const th_line *other = &scene->doors[e].line;
        if (other->level != line->level || distance_to_line(line->a, other) > 0.02f ||
            distance_to_line(line->b, other) > 0.02f)
            continue;
        begin_door_warning(path, scene, d);
        printf("lies on door \"%s\": either of them shut closes the way; leave one out\n",
               scene->doors[e].id);
        return true;
    }
    return false;
}

// A door that is no portal, though it reaches from wall to wall.
static void warn_of_no_portal(const char *path, const th_scene_view *scene, int d) {
    const float on = 0.03f; // [m] what lies between is no room
    const th_line *line = &scene->doors[d].line;
    th_vec2 middle = {(line->a.x + line->b.x) / 2, (line->a.y + line->b.y) / 2};
    begin_door_warning(path, scene, d);
    for (int g = 0; g < scene->goal_count; ++g) {
        const th_goal *goal = &scene->goals[g];
        if (!goal->is_line || goal->line.level != line->level ||
            distance_to_line(middle, &goal->line) > on)
            continue;
        printf("lies on the line of \"%s\": who has the behaviour hidac does not learn that it is "
               "shut; let the ground go on behind it, with that line 0.1 m or more further out\n",
               goal->id);
        return;
    }
    for (int l = 0; l < scene->link_count; ++l) {
        const th_link *link = &scene->links[l];
        th_line top = {line->level, link->a, link->b};
        if ((link->level[0] != line->level && link->level[1] != line->level) ||
            distance_to_line(middle, &top) > on)
            continue;
        printf("lies on the top of stairs \"%s\": who has the behaviour hidac does not learn that "
               "it is shut; move it 0.1 m or more away from the top\n",
               link->id);
        return;
    }
    if (fabsf(th_scene_distance(scene->scene, line->level, middle)) < 0.01f)
        printf("lies along a wall that it does not open; draw it on the wall, no more than 1 cm "
               "off, or where there is a gap\n");
    else
        printf("parts no rooms: what is on both sides of it is joined elsewhere by more than %g m, "
               "so who has the behaviour hidac does not learn that it is shut; close that with a "
               "wall or a door if it should\n",
               TH_PASSAGE_WIDTH_MAX);
}

static void warn_of_doors(const char *path, const th_scene_view *scene, const th_rooms *rooms) {
    for (int d = 0; d < scene->door_count; ++d) {
        const th_line *line = &scene->doors[d].line;
        bool portal = false;
        for (int p = 0; p < rooms->portal_count; ++p)
            portal = portal ||
                     (rooms->portals[p].kind == TH_PORTAL_DOOR && rooms->portals[p].index == d);
        if (!warn_of_free_end(path, scene, d, line->a) &&
            !warn_of_free_end(path, scene, d, line->b) && !warn_of_same_door(path, scene, d) &&
            !portal)
            warn_of_no_portal(path, scene, d);
    }
}

// What its models are known not to manage. The scene is good all the same.
static void print_doubts(const th_scene_view *scene) {
    enum { MOST = 8 };
    th_doubt doubts[MOST];
    int count = th_scene_doubts(scene->scene, doubts, MOST);
    for (int k = 0; k < count && k < MOST; ++k) printf("  doubtful: %s\n", doubts[k].text);
    if (count > MOST) printf("  doubtful: %d more\n", count - MOST);
    if (count > 0) printf("  `throng list models` says what other models manage\n");
}

static void print_rooms(const char *path, const th_scene_view *scene) {
    enum { WALLS_MOST = 8000 }; // finding them takes 60 s for 80 000
    if (scene->wall_count > WALLS_MOST) {
        printf("  rooms: not counted, as there are %d walls\n", scene->wall_count);
        return;
    }
    th_rooms *rooms = NULL;
    th_error error;
    if (th_rooms_create(scene->scene, TH_PASSAGE_WIDTH_MAX, &rooms, &error) != TH_OK) {
        printf("  rooms: %s\n", error.message);
        return;
    }
    int kinds[3] = {0};
    for (int p = 0; p < rooms->portal_count; ++p) kinds[rooms->portals[p].kind]++;
    printf("  %d %s, %d %s: %d doors, %d passages, %d stairs\n", rooms->room_count,
           rooms->room_count == 1 ? "room" : "rooms", rooms->portal_count,
           rooms->portal_count == 1 ? "portal" : "portals", kinds[TH_PORTAL_DOOR],
           kinds[TH_PORTAL_PASSAGE], kinds[TH_PORTAL_STAIRS]);
    warn_of_doors(path, scene, rooms);
    th_rooms_destroy(rooms);
}

static int run_check(const th_command *command, int argc, char **argv) {
    bool quiet = false;
    th_text_list overrides = {0}, plugins = {0};
    const th_option options[] = {
        {"set", TH_OPTION_LIST, &overrides, "PATH=VALUE", "change a value of the scene; repeatable",
         0, 0},
        TH_PLUGIN_OPTION(&plugins),
        {"quiet", TH_OPTION_FLAG, &quiet, NULL, "say nothing when the scene is good", 0, 0},
    };
    const char *path = NULL;
    th_parse_result parsed = th_args_parse(command, options, 3, argc, argv, &path);
    if (parsed != TH_PARSE_OK) return parsed == TH_PARSE_HELP ? TH_EXIT_OK : TH_EXIT_USAGE;

    th_scene *scene = NULL;
    th_world *world = NULL;
    int code = th_load_plugins(&plugins);
    if (code == TH_EXIT_OK) code = th_load_scene(path, &overrides, &scene);
    if (code != TH_EXIT_OK) return code;
    // Only placing the people tells whether they fit.
    code = th_make_world(path, scene, -1, 1, 0, TH_BACKEND_CPU, &world);
    if (code == TH_EXIT_OK && !quiet) {
        th_statistics now = th_world_statistics(world);
        th_run_settings settings = th_scene_view_of(scene)->run;
        printf("%s: good: %s, %llu people at the start, ", path, th_scene_view_of(scene)->name,
               (unsigned long long)now.inside);
        if (settings.duration > 0)
            printf("runs %g s", settings.duration);
        else
            printf("runs until empty, at most %g s", settings.max_time);
        printf(", step %g s\n", settings.step);
        print_rooms(path, th_scene_view_of(scene));
        print_doubts(th_scene_view_of(scene));
        warn_of_gaps(path, th_scene_view_of(scene));
        warn_of_open_stairs(path, th_scene_view_of(scene));
        char coarse[600];
        if (th_plan_warning(th_scene_view_of(scene), coarse, sizeof coarse))
            printf("%s: warning: %s\n", path, coarse);
    }
    th_world_destroy(world);
    th_scene_destroy(scene);
    return code;
}

const th_command th_command_check = {
    .name = "check",
    .operands = "SCENE",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "tell whether a scene file is good",
    .detail =
        "Reads the scene, compiles it, and places its people. Prints one line and exits 0, or\n"
        "prints `file:line:column: path: what is wrong; what would be right` and exits 2.\n"
        "Says how many rooms the plan has and what joins them (`throng picture --layer rooms`).\n"
        "Warns of gaps that some of the people do not fit through, of doors that close nothing, "
        "of\n"
        "stairs without side walls, and of plans too large for their number of destinations.",
    .examples = "  throng check scenes/station.json\n"
                "  throng check scenes/station.json --set groups.0.count=4000\n",
    .run = run_check,
};
