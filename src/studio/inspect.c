// Facts about one person and marks to draw. SPDX-License-Identifier: Apache-2.0
#include "record/moment.h"
#include "studio/studio.h"
#include "throng/model.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static void fact(json_t *facts, const char *name, double value, const char *unit) {
    if (isfinite(value))
        json_array_append_new(
            facts, json_pack("{s:s,s:f,s:s}", "name", name, "value", value, "unit", unit));
}

// With what it means, for a tooltip.
static void explain(json_t *facts, const char *doc) {
    json_t *last = json_array_get(facts, json_array_size(facts) - 1);
    if (doc && doc[0]) json_object_set_new(last, "doc", json_string(doc));
}

static void fact_text(json_t *facts, const char *name, const char *value) {
    json_array_append_new(facts,
                          json_pack("{s:s,s:s,s:s}", "name", name, "value", value, "unit", ""));
}

// Marks that go with a person, `of`, wherever it is by the time they are drawn.
static void mark_arrow(json_t *drawing, th_vec2 from, th_vec2 by, const char *role, uint32_t of) {
    json_array_append_new(drawing,
                          json_pack("{s:s,s:[[f,f],[f,f]],s:s,s:I}", "what", "arrow", "points",
                                    (double)from.x, (double)from.y, (double)(from.x + by.x),
                                    (double)(from.y + by.y), "role", role, "of", (json_int_t)of));
}

static void mark_ring(json_t *drawing, th_vec2 at, double radius, const char *role, uint32_t of) {
    json_array_append_new(drawing, json_pack("{s:s,s:[[f,f]],s:f,s:s,s:I}", "what", "ring",
                                             "points", (double)at.x, (double)at.y, "radius", radius,
                                             "role", role, "of", (json_int_t)of));
}

// Down the distance field in steps of half a metre, until the target or 200 steps.
static void mark_way(json_t *drawing, const th_world *world, int target, int level, th_vec2 from) {
    json_t *points = json_array();
    th_vec2 at = from;
    for (int step = 0; step < 200; ++step) {
        enum { AROUND = 16 };
        th_vec2 tried[AROUND + 1] = {at};
        float distances[AROUND + 1];
        for (int k = 0; k < AROUND; ++k) {
            float angle = (float)k * (6.2831853f / AROUND);
            tried[k + 1] = (th_vec2){at.x + 0.5f * cosf(angle), at.y + 0.5f * sinf(angle)};
        }
        th_world_distances(world, target, level, tried, AROUND + 1, distances);
        json_array_append_new(points, json_pack("[f,f]", (double)at.x, (double)at.y));
        int best = 0;
        for (int k = 1; k <= AROUND; ++k)
            if (distances[k] < distances[best] &&
                th_scene_walkable(th_world_scene(world), level, tried[k]))
                best = k;
        if (best == 0 || distances[0] < 0.5f) break;
        at = tried[best];
    }
    json_array_append_new(
        drawing, json_pack("{s:s,s:o,s:s}", "what", "line", "points", points, "role", "way"));
}

static void add_goal(json_t *facts, json_t *drawing, const th_world *world, const th_group *group,
                     uint32_t leg, int level, th_vec2 at) {
    const th_scene_view *scene = th_scene_view_of(th_world_scene(world));
    int t = th_group_target(group, leg);
    if (t < 0) return;
    const th_target *target = &scene->targets[t];
    float distance;
    th_world_distances(world, t, level, &at, 1, &distance);
    fact(facts, "way to go", (double)distance, "m");
    for (int g = 0; g < target->goal_count; ++g) {
        const th_goal *goal = &scene->goals[target->goals[g]];
        fact_text(facts, "goal", goal->id);
        if (!goal->is_line || goal->line.level != level) continue;
        json_array_append_new(drawing,
                              json_pack("{s:s,s:[[f,f],[f,f]],s:s,s:s}", "what", "line", "points",
                                        (double)goal->line.a.x, (double)goal->line.a.y,
                                        (double)goal->line.b.x, (double)goal->line.b.y, "role",
                                        "goal", "label", goal->id));
    }
    mark_way(drawing, world, t, level, at);
}

// The values that the models of the group keep of the person.
static void add_own_values(json_t *facts, th_world *world, const th_group *group, int k) {
    const th_model_choice *choice;
    for (int c = 0; (choice = th_group_model(group, c)); ++c) {
        const th_model *model = th_models(NULL)[choice->model];
        fact_text(facts, th_stage_name(model->stage), model->name);
        explain(facts, model->doc);
        for (int f = 0; f < model->field_count; ++f) {
            char name[TH_STUDIO_NAME], label[TH_STUDIO_NAME], unit[16];
            snprintf(name, sizeof name, "%s/%s.%s", th_stage_name(model->stage), model->name,
                     model->fields[f].name); // models of two stages may have one name
            int field = th_world_field(world, name);
            const void *view = field < 0 ? NULL : th_world_map(world, field, TH_ACCESS_READ);
            if (!view) continue;
            double value = model->fields[f].is_float ? (double)((const float *)view)[k]
                                                     : (double)((const uint32_t *)view)[k];
            th_world_unmap(world, field);
            if (!isfinite(value)) continue;
            th_studio_field_words(&model->fields[f], label, unit);
            fact(facts, label, value, unit);
            explain(facts, model->fields[f].doc);
            json_t *last = json_array_get(facts, json_array_size(facts) - 1);
            if (model->fields[f].hashed) // others are the model's own affair
                json_object_set_new(last, "field", json_string(name)); // for the edit `person`
        }
    }
}

// ---- what the models say drives the person (throng/model.h)

// The four corners and the first again.
static json_t *corners_of(const th_influence *r) {
    float length = hypotf(r->vector.x, r->vector.y), half = 0.5f * r->size;
    json_t *points = json_array();
    if (!(length > 0.0f)) return points;
    float ux = r->vector.x / length, uy = r->vector.y / length;
    for (int k = 0; k < 5; ++k) {
        float along = (k == 1 || k == 2 ? 0.5f : -0.5f) * length, across = k % 4 < 2 ? -half : half;
        json_array_append_new(points,
                              json_pack("[f,f]", (double)(r->at.x + along * ux - across * uy),
                                        (double)(r->at.y + along * uy + across * ux)));
    }
    return points;
}

// The person that a mark moves with: a circle with the person in it, all else with the inspected one. 0: it stays.
static uint32_t goes_with(const th_influence *one, th_vec2 place, uint32_t person) {
    if (one->kind == TH_INFLUENCE_CIRCLE && one->other) return one->other;
    bool around = hypotf(one->at.x - place.x, one->at.y - place.y) < 0.02f;
    bool of_velocities = one->kind == TH_INFLUENCE_HALF_PLANE && strcmp(one->unit, "m") != 0;
    return around || of_velocities || one->kind == TH_INFLUENCE_RECTANGLE ? person : 0;
}

static void mark_influence(json_t *drawing, const th_influence *one, uint32_t of) {
    json_t *at = json_pack("[f,f]", (double)one->at.x, (double)one->at.y), *mark = NULL;
    double scale = th_influence_metres(one->unit);
    if (one->kind == TH_INFLUENCE_VECTOR) {
        json_t *tip = json_pack("[f,f]", (double)one->at.x + scale * (double)one->vector.x,
                                (double)one->at.y + scale * (double)one->vector.y);
        mark = json_pack("{s:s,s:[O,o]}", "what", "arrow", "points", at, tip);
        if (strcmp(one->unit, "-") != 0) {
            char text[40];
            snprintf(text, sizeof text, "1 m: %g %s", 1 / scale, one->unit);
            json_object_set_new(mark, "scale", json_string(text));
        }
    } else if (one->kind == TH_INFLUENCE_RECTANGLE) {
        mark = json_pack("{s:s,s:o}", "what", "line", "points", corners_of(one));
    } else if (one->kind == TH_INFLUENCE_CIRCLE) {
        mark =
            json_pack("{s:s,s:[O],s:f}", "what", "ring", "points", at, "radius", (double)one->size);
    } else {
        mark = json_pack("{s:s,s:[O,[f,f]]}", "what", "half_plane", "points", at,
                         (double)one->vector.x, (double)one->vector.y);
    }
    // Every person has that arrow, whatever its models tell.
    bool wish = strcmp(one->name, "preferred velocity") == 0;
    json_object_set_new(mark, "role", json_string(wish ? "preferred" : one->name));
    if (of) json_object_set_new(mark, "of", json_integer((json_int_t)of));
    json_array_append_new(drawing, mark);
    json_decref(at);
}

static void add_influences(json_t *facts, json_t *drawing, th_world *world,
                           const th_studio_row *row) {
    enum { MOST = 256 };
    th_influence list[MOST];
    const th_vec2 place = {row->x, row->y};
    int count = th_world_influences(world, (th_agent_id){row->id}, -1, list, MOST);
    for (int k = 0; k < count && k < MOST; ++k) {
        if (list[k].kind == TH_INFLUENCE_FIGURE)
            fact(facts, list[k].name, (double)list[k].size,
                 strcmp(list[k].unit, "-") == 0 ? "" : list[k].unit);
        else
            mark_influence(drawing, &list[k], goes_with(&list[k], place, row->id));
    }
}

// In no order.
static int find_row(const th_studio_moment *moment, uint32_t id) {
    for (int i = 0; i < moment->count; ++i)
        if (moment->rows[i].id == id) return i;
    return -1;
}

int th_studio_find_view(th_world *world, uint32_t id) {
    const uint32_t *ids = th_world_map(world, TH_FIELD_ID, TH_ACCESS_READ);
    int low = 0, high = ids ? th_world_agent_count(world) - 1 : -1;
    while (low <= high) {
        int middle = low + (high - low) / 2;
        if (ids[middle] == id) return middle;
        if (ids[middle] < id)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return -1;
}

static void add_neighbours(json_t *drawing, const th_studio_moment *moment, int k) {
    const th_studio_row *me = &moment->rows[k];
    const float reach = 2.0f;
    int shown = 0;
    for (int i = 0; i < moment->count && shown < 32; ++i) {
        const th_studio_row *row = &moment->rows[i];
        float dx = row->x - me->x, dy = row->y - me->y;
        if (i == k || row->level != me->level || dx * dx + dy * dy > reach * reach) continue;
        mark_ring(drawing, (th_vec2){row->x, row->y}, 0.01 * row->radius, "neighbour", row->id);
        shown++;
    }
}

static void add_world_facts(json_t *facts, json_t *drawing, th_world *world,
                            const th_studio_row *row, int k) {
    const th_scene_view *scene = th_scene_view_of(th_world_scene(world));
    const float *px = th_world_map(world, TH_FIELD_PREFERRED_X, TH_ACCESS_READ);
    const float *py = th_world_map(world, TH_FIELD_PREFERRED_Y, TH_ACCESS_READ);
    const float *vx = th_world_map(world, TH_FIELD_VELOCITY_X, TH_ACCESS_READ);
    const float *vy = th_world_map(world, TH_FIELD_VELOCITY_Y, TH_ACCESS_READ);
    const float *wish = th_world_map(world, TH_FIELD_SPEED, TH_ACCESS_READ);
    const uint32_t *leg = th_world_map(world, TH_FIELD_LEG, TH_ACCESS_READ);
    th_vec2 at = {row->x, row->y};
    if (!px || !py || !vx || !vy || !wish || !leg) return;
    fact(facts, "preferred speed", (double)wish[k], "m/s");
    mark_arrow(drawing, at, (th_vec2){px[k], py[k]}, "preferred", row->id);
    mark_arrow(drawing, at, (th_vec2){vx[k], vy[k]}, "velocity", row->id);
    if (row->group < scene->group_count) {
        const th_group *group = &scene->groups[row->group];
        fact_text(facts, "group", group->id);
        add_goal(facts, drawing, world, group, leg[k], row->level, at);
        add_own_values(facts, world, group, k);
    }
}

static void tell(th_studio *studio, const th_inspection *inspection, th_studio_moment *moment) {
    static const char *const phases[] = {"standing", "walking",  "waiting", "arrived",
                                         "fallen",   "scripted", "body"};
    th_world *world = studio->plays[inspection->world].world;
    int k = find_row(moment, inspection->person);
    json_t *facts = json_array(), *drawing = json_array();
    const th_studio_row *row = k < 0 ? NULL : &moment->rows[k];
    if (row) {
        fact(facts, "speed", (double)(TH_STUDIO_SPEED_STEP * (float)row->speed), "m/s");
        fact(facts, "radius", 0.01 * row->radius, "m");
        fact_text(facts, "state", row->phase < 7 ? phases[row->phase] : "?");
        mark_ring(drawing, (th_vec2){row->x, row->y}, 0.01 * row->radius, "person", row->id);
        add_neighbours(drawing, moment, k);
        if (world && !studio->scrubbing && moment->step == th_world_step_count(world)) {
            int view = th_studio_find_view(world, row->id);
            if (view >= 0) add_world_facts(facts, drawing, world, row, view);
            add_influences(facts, drawing, world, row);
        }
    }
    json_t *place = row ? json_pack("[f,f]", (double)row->x, (double)row->y) : json_null();
    th_studio_say(&studio->exchange, inspection->client, false,
                  json_pack("{s:s,s:i,s:I,s:b,s:f,s:i,s:o,s:o,s:o}", "event", "person", "world",
                            inspection->world, "person", (json_int_t)inspection->person, "gone",
                            row == NULL, "time", moment->time, "level", row ? row->level : 0,
                            "place", place, "facts", facts, "drawing", drawing));
}

void th_inspect(th_studio *studio) {
    for (int k = 0; k < studio->inspection_count; ++k) {
        th_studio_shown shown = th_studio_look(&studio->exchange, studio->inspections[k].world);
        if (shown.moment) tell(studio, &studio->inspections[k], shown.moment);
        th_studio_moment_release(shown.moment);
    }
}
