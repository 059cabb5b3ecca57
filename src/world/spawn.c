// Adds people: at the start, from sources, or by a call. SPDX-License-Identifier: Apache-2.0
#include "world/spawn.h"
#include "core/error.h"
#include "formula/random.h"
#include "scene/place.h"
#include "world/world.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    SOURCE_CAPACITY = 1 << 18,    // most people a rate alone reserves memory for
    TIMETABLE_CAPACITY = 1 << 22, // and a timetable, whose numbers are given
};

int th_spawn_capacity(const th_scene *scene, double end) {
    double total = 0.0;
    if (!(end > 0.0)) end = scene->run.duration > 0.0 ? scene->run.duration : scene->run.max_time;
    for (int g = 0; g < scene->group_count; ++g) {
        const th_group *group = &scene->groups[g];
        total += (double)group->count;
        double arriving = 0.0;
        for (int a = 0; a < group->arrival_count; ++a) arriving += group->arrivals[a].count;
        total += arriving < TIMETABLE_CAPACITY ? arriving : TIMETABLE_CAPACITY;
        double until = group->rate_end < end ? group->rate_end : end;
        if (group->rate > 0.0 && until > group->rate_start) {
            double people = group->rate * (until - group->rate_start) + 1.0;
            total += people < SOURCE_CAPACITY ? people : SOURCE_CAPACITY;
        }
    }
    for (int s = 0; s < scene->scripted_count; ++s) total += scene->scripted[s].disc_count;
    return total < 2e9 ? (int)total : 2000000000;
}

// Refuses more discs than the densest packing has in the area's box, before memory for them is taken.
th_result th_spawn_check(const th_scene *scene, th_error *error) {
    for (int g = 0; g < scene->group_count; ++g) {
        const th_group *group = &scene->groups[g];
        const th_level *level = &scene->levels[group->level];
        th_box box = group->area.shape.ring_count ? group->area.shape.box : level->box;
        double radius = group->radius.min;
        double width = (double)box.max_x - (double)box.min_x + 2.0 * radius;
        double height = (double)box.max_y - (double)box.min_y + 2.0 * radius;
        double most = width * height / (3.4641 * radius * radius) + 1.0; // 2 sqrt(3) r^2 each
        if (group->positions || (double)group->count <= most) continue;
        char path[64];
        snprintf(path, sizeof path, "groups[%d].count", g);
        return th_fail(error, TH_NO_ROOM, path,
                       "group '%s' asks for %lld people, but its area cannot hold more than %.0f; "
                       "ask for fewer, or enlarge the area",
                       group->id, (long long)group->count, most);
    }
    return TH_OK;
}

// People of all parts of the group.
static int64_t people_of(const th_scene *scene, int first) {
    int64_t people = 0;
    for (int k = 0; k < scene->groups[first].part.count; ++k)
        people += scene->groups[first + k].count;
    return people;
}

static void append_at(th_world *world, int g, th_vec2 position, float radius) {
    const th_entry place = {.position = position, .level = world->scene->groups[g].level};
    th_append_member(world, th_part_of(world, g, world->next_id), &place, radius);
    th_keep_own(world);
}

// Given positions of all parts, one part after the other.
static void take_positions(const th_scene *scene, int first, th_vec2 *positions) {
    int count = 0;
    for (int k = 0; k < scene->groups[first].part.count; ++k) {
        const th_group *part = &scene->groups[first + k];
        for (int64_t p = 0; p < part->count; ++p) positions[count++] = part->positions[p];
    }
}

th_result th_recorded_check(const th_scene *scene, th_error *error) {
    for (int g = 0; g < scene->group_count; ++g) {
        const th_group *group = &scene->groups[g];
        for (int k = 0; k < group->entry_count; ++k) {
            const th_entry *entry = &group->entries[k];
            if (!scene->levels[entry->level].bounded ||
                th_scene_walkable(scene, entry->level, entry->position))
                continue;
            char path[64];
            snprintf(path, sizeof path, "groups[%d].recording", g);
            return th_fail(error, TH_BAD_SCENE, path,
                           "person %d of group '%s' comes at (%.3f, %.3f) on level '%s', where no "
                           "ground is; give the group an \"area\" in which people are taken over, "
                           "or correct the plan",
                           k, group->id, (double)entry->position.x + scene->origin.x,
                           (double)entry->position.y + scene->origin.y,
                           scene->levels[entry->level].id);
        }
    }
    return TH_OK;
}

// People of recordings that are there from the start. Where two of them overlap the contact stage pushes them apart.
static void place_recorded(th_world *world, int g) {
    const th_scene *scene = world->scene;
    const th_group *group = &scene->groups[g];
    int present = (int)th_source_due(group, 0.0);
    for (int k = 0; k < present; ++k) {
        int part = th_part_of(world, g, world->next_id);
        th_append_member(
            world, part, &group->entries[k],
            th_draw(&scene->groups[part].radius, world->seed, TH_STREAM_RADIUS, world->next_id));
        th_keep_own(world);
    }
    world->sources[g].placed = world->sources[g].due = (uint64_t)present;
}

// With all parts of a group that has profiles; `g` is the first. Which part a person belongs to is drawn.
static th_result place_group(th_world *world, int g, th_placer *placer, float *radii,
                             th_vec2 *positions, th_error *error) {
    const th_scene *scene = world->scene;
    const th_group *group = &scene->groups[g];
    int count = (int)people_of(scene, g);
    for (int k = 0; k < count; ++k) {
        uint32_t id = world->next_id + (uint32_t)k;
        radii[k] = th_draw(&scene->groups[th_part_of(world, g, id)].radius, world->seed,
                           TH_STREAM_RADIUS, id);
    }
    char path[64];
    if (group->positions) {
        take_positions(scene, g, positions);
        for (int k = 0; k < count; ++k) {
            if (!th_placer_free_at(placer, group->level, positions[k], radii[k])) {
                snprintf(path, sizeof path, "groups[%d].positions", g);
                return th_fail(
                    error, TH_NO_ROOM, path,
                    "position %d (%.3f, %.3f) of group '%s' lies in a wall or over another person "
                    "(radius %.3f m); move it, or make the people smaller",
                    k, (double)positions[k].x + scene->origin.x,
                    (double)positions[k].y + scene->origin.y, group->id, (double)radii[k]);
            }
            th_placer_add(placer, group->level, positions[k], radii[k]);
            append_at(world, g, positions[k], radii[k]);
        }
        return TH_OK;
    }
    th_area area = group->area;
    area.level = group->level;
    int placed =
        th_placer_fill(placer, &area, count, radii, world->seed, world->next_id, positions);
    if (placed < 0)
        return th_fail(error, TH_NO_MEMORY, "groups", "no memory to place %d people", count);
    if (placed < count) {
        snprintf(path, sizeof path, "groups[%d].count", g);
        return th_fail(
            error, TH_NO_ROOM, path,
            "group '%s' asks for %d people, but only %d fit into its area without overlapping; "
            "ask for %d or fewer, or enlarge the area",
            group->id, count, placed, placed);
    }
    for (int k = 0; k < count; ++k) {
        append_at(world, g, positions[k], radii[k]);
    }
    return TH_OK;
}

static th_vec2 disc_at_start(const th_scripted *body, int d) {
    return th_v((float)body->path[0].x + body->discs[d].x,
                (float)body->path[0].y + body->discs[d].y);
}

void th_spawn_scripted(th_world *world) {
    const th_scene *scene = world->scene;
    for (int s = 0; s < scene->scripted_count; ++s) {
        const th_scripted *body = &scene->scripted[s];
        for (int d = 0; d < body->disc_count; ++d) {
            th_agent_def def = {.level = body->level,
                                .group = scene->group_count + s,
                                .radius = body->radius,
                                .mass = 80.0f};
            def.position = disc_at_start(body, d);
            uint32_t i =
                th_append_agent(world, &def, body->is_body ? TH_PHASE_BODY : TH_PHASE_SCRIPTED);
            th_own_words(world, TH_MOVE_SCRIPTED, 0)[i] = (uint32_t)d;
            th_keep_own(world);
        }
    }
}

static void add_scripted(const th_scene *scene, th_placer *placer) {
    for (int s = 0; s < scene->scripted_count; ++s)
        for (int d = 0; d < scene->scripted[s].disc_count; ++d)
            th_placer_add(placer, scene->scripted[s].level, disc_at_start(&scene->scripted[s], d),
                          scene->scripted[s].radius);
}

th_result th_spawn_scene(th_world *world, th_error *error) {
    const th_scene *scene = world->scene;
    int64_t largest = 0, total = 0;
    float max_radius = 0.05f;
    for (int g = 0; g < scene->group_count; ++g) {
        const th_group *group = &scene->groups[g];
        int64_t people = group->part.index == 0 ? people_of(scene, g) : 0;
        if (people > largest) largest = people;
        total += group->count;
        if (group->entries) total += (int64_t)th_source_due(group, 0.0);
        double top =
            group->radius.kind == TH_DISTRIBUTION_CONSTANT ? group->radius.a : group->radius.max;
        if (group->radius.kind == TH_DISTRIBUTION_UNIFORM) top = group->radius.b;
        if ((float)top > max_radius) max_radius = (float)top;
    }
    for (int s = 0; s < scene->scripted_count; ++s)
        if (scene->scripted[s].radius > max_radius) max_radius = scene->scripted[s].radius;
    int64_t discs = 0;
    for (int s = 0; s < scene->scripted_count; ++s) discs += scene->scripted[s].disc_count;
    if (total + discs > world->crowd_capacity)
        return th_fail(
            error, TH_FULL, "groups",
            "the groups bring %lld people but the world was created for %d; raise max_agents",
            (long long)total, world->crowd_capacity);
    th_spawn_scripted(world);
    bool recorded = false;
    for (int g = 0; g < scene->group_count; ++g) recorded |= scene->groups[g].entries != NULL;
    if (total == 0 && !recorded) return TH_OK;
    float *radii = th_alloc(&world->memory, (size_t)largest + 1, sizeof *radii);
    th_vec2 *positions = th_alloc(&world->memory, (size_t)largest + 1, sizeof *positions);
    th_placer *placer = th_placer_create(&world->memory, scene, max_radius, (int)(total + discs));
    th_result result = TH_OK;
    if (!radii || !positions || !placer) {
        result = th_fail(error, TH_NO_MEMORY, "groups", "no memory to place %lld people",
                         (long long)total);
    } else {
        add_scripted(scene, placer);
        for (int g = 0; g < scene->group_count && result == TH_OK; ++g)
            if (scene->groups[g].entries)
                place_recorded(world, g);
            else if (scene->groups[g].part.index == 0 && people_of(scene, g) > 0)
                result = place_group(world, g, placer, radii, positions, error);
    }
    th_placer_destroy(placer);
    th_dealloc(&world->memory, positions, (size_t)largest + 1, sizeof *positions);
    th_dealloc(&world->memory, radii, (size_t)largest + 1, sizeof *radii);
    return result;
}

// ---- by hand

#define AGENT_COOKIE 0x74686167u

th_agent_def th_agent_def_default(void) { return (th_agent_def){.cookie = AGENT_COOKIE}; }

static th_result check_agent(const th_world *world, const th_agent_def *def, int k,
                             th_error *error) {
    const th_scene *scene = world->scene;
    if (def->cookie != AGENT_COOKIE)
        return th_fail(error, TH_BAD_ARGUMENT, "", "agent %d: start from th_agent_def_default()",
                       k);
    if (def->group < 0 || def->group >= scene->group_count)
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "agent %d: group %d does not exist; the scene has %d", k, def->group,
                       scene->group_count);
    if (def->level < 0 || def->level >= scene->level_count || def->goal_level < 0 ||
        def->goal_level >= scene->level_count)
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "agent %d: level %d or goal level %d does not exist; the scene has %d", k,
                       def->level, def->goal_level, scene->level_count);
    // The sums are not finite, or too large, when any part is.
    float places = fabsf(def->position.x) + fabsf(def->position.y) + fabsf(def->velocity.x) +
                   fabsf(def->velocity.y) + fabsf(def->goal.x) + fabsf(def->goal.y);
    float body = fabsf(def->radius) + fabsf(def->speed) + fabsf(def->mass);
    if (!(places < 1e6f && body < 1e4f && def->radius <= 5.0f))
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "agent %d: position, velocity and goal must be numbers within 1000 km, the "
                       "radius at most 5 m, speed and mass ordinary numbers",
                       k);
    if (scene->levels[def->level].bounded && !th_scene_walkable(scene, def->level, def->position))
        return th_fail(
            error, TH_BAD_ARGUMENT, "", "agent %d: (%.3f, %.3f) is not walkable on level '%s'", k,
            (double)def->position.x, (double)def->position.y, scene->levels[def->level].id);
    return TH_OK;
}

th_result th_world_spawn(th_world *world, const th_agent_def *agents, int count, th_agent_id *ids,
                         th_error *error) {
    th_fetch_to_change(world);
    int present = (int)th_ranks_sum(world, (uint64_t)world->agents.count);
    if (count < 0 || present > world->crowd_capacity - count)
        return th_fail(error, TH_FULL, "",
                       "no room for %d more agents; max_agents is %d and %d are alive", count,
                       world->crowd_capacity, present);
    for (int k = 0; k < count; ++k) {
        th_result result = check_agent(world, &agents[k], k, error);
        if (result != TH_OK) return result;
    }
    for (int k = 0; k < count; ++k) {
        th_agent_def def = agents[k];
        th_draw_properties(world, &world->scene->groups[def.group], world->next_id, &def);
        uint32_t i = th_append_agent(world, &def, TH_PHASE_STANDING);
        world->agents.wait_until[i] = (float)world->time;
        th_step_off_walls(world, i);
        if (ids) ids[k].serial = world->agents.id[i];
        th_keep_own(world);
    }
    return TH_OK;
}
