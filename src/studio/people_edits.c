// People placed and taken away by hand: the brush. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "studio/requests.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct disc {
    int level;
    th_vec2 at;
    float radius;
} disc;

static bool get_disc(const th_scene_view *scene, const json_t *asked, disc *d, th_error *error) {
    double radius = 2.0;
    d->level = th_request_level(scene, json_object_get(asked, "level"), error);
    if (d->level < 0) return false;
    if (!th_request_point(json_object_get(asked, "at"), &d->at) ||
        (json_object_get(asked, "radius") &&
         !th_request_number(asked, "radius", 0.1, 100, &radius))) {
        th_request_refuse(error, "at", "give a place [x, y], and a radius from 0.1 to 100 m");
        return false;
    }
    d->radius = (float)radius;
    return true;
}

// Places of people within the disc and a little beyond.
static int people_near(th_world *world, const disc *d, th_vec2 *places, th_agent_id *ids, int most,
                       float beyond) {
    const float *x = th_world_map(world, TH_FIELD_POSITION_X, TH_ACCESS_READ);
    const float *y = th_world_map(world, TH_FIELD_POSITION_Y, TH_ACCESS_READ);
    const uint32_t *level = th_world_map(world, TH_FIELD_LEVEL, TH_ACCESS_READ);
    const uint32_t *id = th_world_map(world, TH_FIELD_ID, TH_ACCESS_READ);
    const uint32_t *group = th_world_map(world, TH_FIELD_GROUP, TH_ACCESS_READ);
    int count = th_world_agent_count(world), found = 0;
    float reach = d->radius + beyond;
    uint32_t groups = (uint32_t)th_scene_view_of(th_world_scene(world))->group_count;
    for (int k = 0; x && y && level && id && group && k < count && found < most; ++k) {
        float dx = x[k] - d->at.x, dy = y[k] - d->at.y;
        if (level[k] != (uint32_t)d->level || dx * dx + dy * dy > reach * reach ||
            (ids && group[k] >= groups)) // scripted ones cannot be taken away
            continue;
        if (places) places[found] = (th_vec2){x[k], y[k]};
        if (ids) ids[found].serial = id[k];
        found++;
    }
    return found;
}

static bool spot_is_free(const th_scene_view *scene, int level, th_vec2 p, float body,
                         const th_vec2 *others, int count) {
    if (scene->levels[level].bounded && (!th_scene_walkable(scene->scene, level, p) ||
                                         th_scene_distance(scene->scene, level, p) < body))
        return false;
    for (int k = 0; k < count; ++k) {
        float dx = others[k].x - p.x, dy = others[k].y - p.y;
        if (dx * dx + dy * dy < 4.0f * body * body) return false;
    }
    return true;
}

// Random spots in the disc; the same for the same world and step.
static int find_spots(const th_scene_view *scene, uint64_t random, const disc *d, th_vec2 *taken,
                      int taken_count, int wanted) {
    const float body = 0.22f;
    int found = 0;
    for (int tries = 0; tries < 60 * wanted && found < wanted; ++tries) {
        float u[2];
        for (int k = 0; k < 2; ++k) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            u[k] = (float)(random >> 40) / 16777216.0f;
        }
        float r = d->radius * sqrtf(u[0]), angle = 6.2831853f * u[1];
        th_vec2 p = {d->at.x + r * cosf(angle), d->at.y + r * sinf(angle)};
        if (!spot_is_free(scene, d->level, p, body, taken, taken_count + found)) continue;
        taken[taken_count + found++] = p;
    }
    return found;
}

// One more polygon, about as large as the disc, for the area of those who were added. Caller frees; NULL: no memory.
static char *joined_area(const char *before, const th_scene_view *scene, const disc *d) {
    enum { CORNERS = 12, ROOM = 700 };
    static const char begin[] = "MULTIPOLYGON (";
    size_t length = before ? strlen(before) - 1 : sizeof begin - 1; // without the last bracket
    char *text = malloc(length + ROOM);
    if (!text) return NULL;
    snprintf(text, length + 1, "%s", before ? before : begin);
    length += (size_t)snprintf(text + length, ROOM, "%s((", before ? ", " : "");
    for (int k = 0; k <= CORNERS; ++k) {
        double angle = (k % CORNERS) * (6.283185307179586 / CORNERS), r = (double)d->radius + 0.25;
        length += (size_t)snprintf(text + length, 60, "%s%.3f %.3f", k ? ", " : "",
                                   (double)d->at.x + scene->origin.x + r * cos(angle),
                                   (double)d->at.y + scene->origin.y + r * sin(angle));
    }
    snprintf(text + length, 8, ")))");
    return text;
}

// People added by hand come again at a restart: a group of their own beside the one they joined, with the discs of the
// brush as its area. Where they were added somebody else may stand at the start.
static void note_added(th_play *play, int group, const disc *d, int count) {
    static const char *const dropped[] = {"count", "density", "positions", "positions_file",
                                          "source"};
    const th_scene_view *scene = th_scene_view_of(th_world_scene(play->world));
    json_t *groups = json_object_get(play->document, "groups"), *element = NULL, *other;
    char id[80];
    size_t k;
    snprintf(id, sizeof id, "%.50s_added_%d", scene->groups[group].id, d->level);
    json_array_foreach(groups, k, other) {
        const char *name = json_string_value(json_object_get(other, "id"));
        if (name && strcmp(name, id) == 0) element = other;
    }
    const char *before =
        json_string_value(json_object_get(json_object_get(element, "area"), "wkt"));
    if (!element) {
        element = json_deep_copy(json_array_get(groups, (size_t)group));
        for (int m = 0; m < 5; ++m) json_object_del(element, dropped[m]);
        json_object_set_new(element, "id", json_string(id));
        json_object_set_new(element, "level", json_string(scene->levels[d->level].id));
        json_array_append_new(groups, element);
    }
    char *area = joined_area(before, scene, d);
    json_int_t all = json_integer_value(json_object_get(element, "count")) + count;
    if (area) json_object_set_new(element, "area", json_pack("{s:s}", "wkt", area));
    json_object_set_new(element, "count", json_integer(all));
    free(area);
}

static th_result spawn(th_studio *studio, int w, int group, const disc *d, const th_vec2 *places,
                       int count, th_error *error) {
    th_agent_def *people = calloc((size_t)count + 1, sizeof *people);
    if (!people) return th_fail(error, TH_NO_MEMORY, "", "no memory for %d people", count);
    for (int k = 0; k < count; ++k) {
        people[k] = th_agent_def_default();
        people[k].position = places[k];
        people[k].level = people[k].goal_level = d->level;
        people[k].group = group;
        people[k].goal = d->at;
    }
    th_result result = th_world_spawn(studio->plays[w].world, people, count, NULL, error);
    if (result == TH_FULL) { // a world with more room
        int lost;
        result = th_play_reload(studio, w, json_deep_copy(studio->plays[w].document), count + 20000,
                                &lost, error);
        if (result == TH_OK)
            result = th_world_spawn(studio->plays[w].world, people, count, NULL, error);
    }
    free(people);
    return result;
}

json_t *th_edit_people(th_studio *studio, int w, const json_t *asked, th_error *error) {
    enum { MOST = 20000 };
    th_play *play = &studio->plays[w];
    const th_scene_view *scene = th_scene_view_of(th_world_scene(play->world));
    disc d;
    double wanted = 10;
    int group = th_request_group(scene, json_object_get(asked, "group"), error);
    if (group < 0 || !get_disc(scene, asked, &d, error)) return NULL;
    if (json_object_get(asked, "count") && !th_request_number(asked, "count", 1, MOST, &wanted))
        return th_request_refuse(error, "count", "give 1 to 20000 people");
    th_vec2 *places = malloc((size_t)th_world_agent_count(play->world) * sizeof *places +
                             (MOST + 1) * sizeof *places);
    if (!places) return th_request_refuse(error, "", "no memory to place people");
    int taken = people_near(play->world, &d, places, NULL, th_world_agent_count(play->world), 1.0f);
    uint64_t random = th_world_step_count(play->world) * 2654435761u +
                      (uint64_t)th_world_agent_count(play->world);
    int found = find_spots(scene, random, &d, places, taken, (int)wanted);
    th_undo_push(studio, &studio->undo, w, "people");
    th_result result = spawn(studio, w, group, &d, places + taken, found, error);
    if (result == TH_OK && found > 0) note_added(play, group, &d, found);
    free(places);
    if (result != TH_OK) {
        th_undo_drop(&studio->undo);
        return NULL;
    }
    th_undo_clear(&studio->redo);
    play->dirty = true;
    th_studio_tell_edited(studio, w, "people added", "live", 0);
    return json_pack("{s:s,s:i}", "how", "live", "added", found);
}

json_t *th_edit_remove_people(th_studio *studio, int w, const json_t *asked, th_error *error) {
    th_play *play = &studio->plays[w];
    const json_t *person = json_object_get(asked, "person");
    disc d;
    if (!json_is_integer(person) &&
        !get_disc(th_scene_view_of(th_world_scene(play->world)), asked, &d, error))
        return NULL;
    int count = th_world_agent_count(play->world);
    th_agent_id *ids = malloc(((size_t)count + 1) * sizeof *ids);
    if (!ids) return th_request_refuse(error, "", "no memory to remove people");
    ids[0].serial = (uint32_t)json_integer_value(person);
    int found = json_is_integer(person) ? 1 : people_near(play->world, &d, NULL, ids, count, 0.0f);
    th_undo_push(studio, &studio->undo, w, "people removed");
    th_undo_clear(&studio->redo);
    int removed = th_world_remove(play->world, ids, found);
    free(ids);
    th_studio_tell_edited(studio, w, "people removed", "live", 0);
    return json_pack("{s:s,s:i}", "how", "live", "removed", removed);
}
