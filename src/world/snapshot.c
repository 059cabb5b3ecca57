// Snapshots: everything that changes, as one block of bytes for the same scene and version. Derived
// state (index, distance fields) is rebuilt at restore; fields that follow changed walls are copied. Over ranks there is a
// snapshot of each rank's people, a part; what planners and models remember is the same on all ranks and in part 0 only.
// SPDX-License-Identifier: Apache-2.0
#include "contact/bodies.h"
#include "core/error.h"
#include "core/hash.h"
#include "plan/plan.h"
#include "state/device.h"
#include "state/ranks.h"
#include "world/measure.h"
#include "world/world.h"
#include <math.h>
#include <stddef.h>
#include <string.h>

enum { SNAPSHOT_VERSION = 11 };
static const uint64_t snapshot_magic = 0x31706e7367726874u; // "thrgsnp1"

typedef struct snapshot_head {
    uint64_t magic;
    uint32_t version, field_count;
    uint64_t scene_print; // what the layout depends on
    uint64_t bytes, sum;  // size of what follows, and its check sum
    uint64_t plan_bytes;  // of these, what planners that follow changed walls keep
    // The part of these that models remember, at the end: a size and as many bytes each.
    uint64_t model_bytes;
    uint64_t seed, step_count;
    double time, step_length;
    float max_radius;
    uint32_t next_id, walls_version;
    int32_t agent_count, wall_count;
    int32_t part, parts; // 0 of 1: the whole crowd
    uint64_t sent;       // people of all parts who are sent to a point, so that there is a road map
    th_counters counters;
} snapshot_head;

// Two scenes with the same print have the same arrays and the same walls; names, areas and people's
// properties are not compared.
static uint64_t scene_print(const th_scene *scene) {
    uint64_t h = th_hash_add(0, (uint64_t)scene->level_count);
    const int counts[] = {scene->wall_count,     scene->door_count,         scene->group_count,
                          scene->scripted_count, scene->measure_line_count, scene->goal_count,
                          scene->target_count};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; ++k)
        h = th_hash_add(h, (uint64_t)counts[k]);
    for (int w = 0; w < scene->wall_count; ++w) {
        uint64_t bits[2];
        memcpy(&bits[0], &scene->walls[w].a, 8);
        memcpy(&bits[1], &scene->walls[w].b, 8);
        h = th_hash_add(th_hash_add(h, bits[0]), bits[1]);
    }
    return h;
}

// One list of the blocks that follow the head, walked by size, save and restore alike: the fields, then the others.
typedef struct block {
    void *data;
    size_t bytes;
} block;
// The blocks that are not fields, in their order; the lines last, as their names are wiped out.
enum { GROUPS, SOURCES, DOORS, DOOR_CHANGES, LIVE_WALLS, BODIES, EXITS, LINES, BLOCKS };

static block other_block(const th_world *world, int which) {
    const th_scene *scene = world->scene;
    size_t groups = (size_t)world->group_count, doors = (size_t)scene->door_count;
    switch (which) {
    case GROUPS: return (block){world->groups, groups * sizeof *world->groups};
    case SOURCES:
        return (block){world->sources, (size_t)scene->group_count * sizeof *world->sources};
    case DOORS: return (block){world->door_closed, doors};
    case DOOR_CHANGES:
        return (block){world->door_next_change, doors * sizeof *world->door_next_change};
    case LIVE_WALLS:
        return (block){world->walls + scene->wall_count,
                       2 * (size_t)TH_LIVE_WALL_MAX * sizeof *world->walls};
    case BODIES: return (block){world->bodies, TH_BODY_MAX * sizeof *world->bodies};
    case EXITS: return (block){world->exits, (size_t)scene->goal_count * sizeof *world->exits};
    default:
        return (block){world->lines, (size_t)th_counted_line_count(scene) * sizeof *world->lines};
    }
}

static int block_count(const th_world *world) { return th_field_count(&world->agents) + BLOCKS; }
static block block_at(const th_world *world, int agent_count, int b) {
    int fields = th_field_count(&world->agents);
    if (b >= fields) return other_block(world, b - fields);
    return (block){th_field_get(&world->agents, b), (size_t)agent_count * 4};
}

static size_t sum_blocks(const th_world *world, int agent_count) {
    size_t bytes = 0;
    for (int b = 0; b < block_count(world); ++b) bytes += block_at(world, agent_count, b).bytes;
    return bytes;
}

// ---- what models remember, in the order of th_used_models: a size and as many bytes each

static size_t model_bytes(const th_world *world) {
    int used[TH_MODEL_MAX], count = th_used_models(world, used);
    size_t bytes = 0;
    for (int k = 0; k < count; ++k) {
        const th_model *model = th_models(NULL)[used[k]];
        if (model->saved_size) bytes += sizeof(uint64_t) + model->saved_size(world, used[k]);
    }
    return bytes;
}

static void save_models(const th_world *world, unsigned char *to) {
    int used[TH_MODEL_MAX], count = th_used_models(world, used);
    for (int k = 0; k < count; ++k) {
        const th_model *model = th_models(NULL)[used[k]];
        if (!model->saved_size) continue;
        uint64_t size = model->saved_size(world, used[k]);
        memcpy(to, &size, sizeof size);
        model->save(world, used[k], to + sizeof size);
        to += sizeof size + size;
    }
}

// Walks over what is saved: calls `each` of every model that saves. False: it does not fit, or one says so.
typedef bool model_bytes_fn(th_world *world, int model, const unsigned char *from, size_t size);
static bool walk_models(th_world *world, const unsigned char *from, size_t left,
                        model_bytes_fn *each) {
    int used[TH_MODEL_MAX], count = th_used_models(world, used);
    for (int k = 0; k < count; ++k) {
        uint64_t size;
        if (!th_models(NULL)[used[k]]->saved_size) continue;
        if (left < sizeof size) return false;
        memcpy(&size, from, sizeof size);
        from += sizeof size;
        left -= sizeof size;
        if (size > left || !each(world, used[k], from, (size_t)size)) return false;
        from += size;
        left -= (size_t)size;
    }
    return left == 0;
}

static bool model_is_sound(th_world *world, int model, const unsigned char *from, size_t size) {
    return th_models(NULL)[model]->saved_is_sound(world, model, from, size);
}
static bool restore_model(th_world *world, int model, const unsigned char *from, size_t size) {
    (void)size;
    th_models(NULL)[model]->restore(world, model, from);
    return true;
}

// Models that save nothing but must know of the restore.
static void tell_models(th_world *world) {
    int used[TH_MODEL_MAX], count = th_used_models(world, used);
    for (int k = 0; k < count; ++k) {
        const th_model *model = th_models(NULL)[used[k]];
        if (model->restore && !model->saved_size) model->restore(world, used[k], NULL);
    }
}

// Four sums beside each other, so that none waits for the one before.
static uint64_t check_sum(const unsigned char *bytes, size_t size) {
    uint64_t h[4] = {size, 1, 2, 3}, word[4];
    size_t k = 0;
    for (; k + sizeof word <= size; k += sizeof word) {
        memcpy(word, bytes + k, sizeof word);
        for (int lane = 0; lane < 4; ++lane) h[lane] = th_hash_add(h[lane], word[lane]);
    }
    for (; k < size; ++k) h[0] = th_hash_add(h[0], bytes[k]);
    return th_hash_add(th_hash_add(th_hash_add(h[0], h[1]), h[2]), h[3]);
}

void th_snapshot_seal(void *memory) {
    snapshot_head head;
    memcpy(&head, memory, sizeof head);
    head.sum = check_sum((unsigned char *)memory + sizeof head, head.bytes);
    memcpy(memory, &head, sizeof head);
}

static int part_of(const th_world *world) { return world->ranks ? world->ranks->comm->rank : 0; }
static int parts_of(const th_world *world) { return world->ranks ? world->ranks->comm->size : 1; }

// Over ranks copies of others' people, which are marked as removed, lie among the rank's own.
static bool is_saved(const th_world *world, int i) {
    return !world->ranks || world->agents.phase[i] != TH_PHASE_REMOVED;
}
static int saved_agents(const th_world *world) {
    int count = 0;
    for (int i = 0; i < world->agents.count; ++i) count += is_saved(world, i);
    return count;
}

static size_t plan_bytes(const th_world *world) {
    return part_of(world) == 0 ? th_plan_saved_size(world) : 0;
}

size_t th_world_snapshot_size(const th_world *world) {
    th_refresh(world, 0);
    size_t models = part_of(world) == 0 ? model_bytes(world) : 0;
    return sizeof(snapshot_head) + sum_blocks(world, saved_agents(world)) + plan_bytes(world) +
           models;
}

static unsigned char *save_field(const th_world *world, const uint32_t *from, unsigned char *at) {
    for (int i = 0; i < world->agents.count; ++i)
        if (is_saved(world, i)) {
            memcpy(at, &from[i], sizeof *from);
            at += sizeof *from;
        }
    return at;
}

static unsigned char *save_blocks(const th_world *world, unsigned char *at) {
    int fields = th_field_count(&world->agents);
    for (int f = 0; f < fields; ++f) at = save_field(world, th_field_get(&world->agents, f), at);
    for (int b = 0; b < BLOCKS; ++b) {
        block from = other_block(world, b);
        if (from.bytes) memcpy(at, from.data, from.bytes);
        at += from.bytes;
    }
    // Names are pointers of this process: not saved, so that equal worlds give equal bytes.
    unsigned char *lines = at - other_block(world, LINES).bytes;
    for (int l = 0; l < th_counted_line_count(world->scene); ++l)
        memset(lines + (size_t)l * sizeof(th_line_count) + offsetof(th_line_count, id), 0,
               sizeof(char *));
    return at;
}

// Agents sent to a point need the road map; without it they would walk straight.
static uint64_t count_sent(const th_world *world) {
    const th_agents *agents = &world->agents;
    uint64_t sent = 0;
    for (int i = 0; i < agents->count; ++i) {
        if (agents->phase[i] != TH_PHASE_WALKING || th_detour_of(agents->leg[i]) > 0) continue;
        const th_group *group = &world->scene->groups[agents->group[i]];
        sent +=
            group->own_goal == TH_OWN_GOAL_NONE && agents->leg[i] >= (uint32_t)group->route_count;
    }
    return sent;
}

th_result th_world_snapshot(const th_world *world, void *memory, size_t size, th_error *error) {
    th_refresh(world, TH_ALL_FIELDS);
    size_t needed = th_world_snapshot_size(world);
    if (size < needed)
        return th_fail(error, TH_BAD_ARGUMENT, "", "the snapshot needs %zu bytes, %zu were given",
                       needed, size);
    unsigned char *at = save_blocks(world, (unsigned char *)memory + sizeof(snapshot_head));
    if (part_of(world) == 0) {
        th_plan_save(world, at);
        save_models(world, at + plan_bytes(world));
    }
    snapshot_head head;
    memset(&head, 0, sizeof head); // padding too
    head.magic = snapshot_magic;
    head.version = SNAPSHOT_VERSION;
    head.field_count = (uint32_t)th_field_count(&world->agents);
    head.scene_print = scene_print(world->scene);
    head.bytes = needed - sizeof head;
    head.plan_bytes = plan_bytes(world);
    head.model_bytes = part_of(world) == 0 ? model_bytes(world) : 0;
    head.seed = world->seed;
    head.step_count = world->step_count;
    head.time = world->time;
    head.step_length = world->step_length;
    head.max_radius = world->max_radius;
    head.next_id = world->next_id;
    head.walls_version = world->walls_version;
    head.agent_count = saved_agents(world);
    head.wall_count = world->wall_count;
    head.part = part_of(world);
    head.parts = parts_of(world);
    head.sent = th_ranks_sum(world, count_sent(world));
    head.counters = world->counters;
    memcpy(memory, &head, sizeof head);
    th_snapshot_seal(memory);
    return TH_OK;
}

// Over ranks each takes every n-th agent of a part: shares of the same size, whatever the parts' are.
static bool takes(const th_world *world, int i) { return i % parts_of(world) == part_of(world); }
static int taken_of(const th_world *world, int count) {
    return count / parts_of(world) + (count % parts_of(world) > part_of(world));
}

// Is it the part that comes next, of the same moment as those before?
static bool is_next_part(const th_world *world, const snapshot_head *head) {
    if (head->parts < 1 || head->part < 0 || head->part >= head->parts) return false;
    if (head->part == 0) return true;
    return head->part == world->next_part && head->parts == world->part_count &&
           head->seed == world->seed && head->step_count == world->step_count &&
           head->next_id == world->next_id && head->counters.spawned == world->counters.spawned &&
           head->counters.left == world->counters.left &&
           head->counters.removed == world->counters.removed &&
           head->counters.left_digest == world->counters.left_digest;
}

static th_result check_head(const th_world *world, const snapshot_head *head, const void *memory,
                            size_t size, th_error *error) {
    if (size < sizeof *head || head->magic != snapshot_magic)
        return th_fail(error, TH_BAD_SNAPSHOT, "", "these bytes are not a throng snapshot");
    if (head->version != SNAPSHOT_VERSION)
        return th_fail(error, TH_BAD_SNAPSHOT, "",
                       "the snapshot is of version %u; this is version %d", head->version,
                       SNAPSHOT_VERSION);
    if (head->scene_print != scene_print(world->scene))
        return th_fail(
            error, TH_BAD_SNAPSHOT, "",
            "the snapshot was made with another scene; restore it into a world of that scene");
    uint32_t fields = (uint32_t)th_field_count(&world->agents);
    if (head->field_count != fields)
        return th_fail(error, TH_BAD_SNAPSHOT, "", "the snapshot has %u fields; this world has %u",
                       head->field_count, fields);
    if (!is_next_part(world, head))
        return th_fail(error, TH_BAD_SNAPSHOT, "",
                       "the snapshot is part %d of %d and does not follow the one before; give all "
                       "parts of one step, the first one first",
                       head->part + 1, head->parts);
    int before = head->part > 0 ? world->agents.count : 0;
    if (head->agent_count < 0 ||
        taken_of(world, head->agent_count) > world->agents.capacity - before)
        return th_fail(error, TH_FULL, "",
                       "the snapshot holds %d agents, this world has room for %d; raise max_agents",
                       head->agent_count, world->agents.capacity - before);
    if (head->part == 0 && (head->plan_bytes == 0) != (th_plan_saved_size(world) == 0))
        return th_fail(error, TH_BAD_SNAPSHOT, "",
                       "the snapshot was made with%s th_world_def.replan, this world with%s; give "
                       "both the same",
                       head->plan_bytes ? "" : "out", head->plan_bytes ? "out" : "");
    size_t expected = sum_blocks(world, head->agent_count);
    int live = head->wall_count - world->scene->wall_count;
    bool possible = head->plan_bytes <= size && head->model_bytes <= size;
    if (possible) expected += (size_t)head->plan_bytes + (size_t)head->model_bytes;
    if (!possible || head->bytes != expected || size < sizeof *head + expected || live < 0 ||
        live > 2 * TH_LIVE_WALL_MAX ||
        head->sum != check_sum((const unsigned char *)memory + sizeof *head, expected))
        return th_fail(error, TH_BAD_SNAPSHOT, "",
                       "the snapshot is damaged or cut short (%zu bytes, %zu expected)", size,
                       sizeof *head + expected);
    return TH_OK;
}

// A check sum can be forged: everything that is used as an index or would not be finite is looked at
// before it is let in. `fields` are the agents' fields as saved, four bytes each, one after the other.
static bool agents_are_sound(const th_world *world, const snapshot_head *head,
                             const unsigned char *fields) {
    size_t n = (size_t)head->agent_count;
    for (size_t i = 0; i < n; ++i) {
        uint32_t *bits = world->one_agent;
        for (size_t k = 0; k < (size_t)th_field_count(&world->agents); ++k)
            memcpy(&bits[k], fields + (k * n + i) * 4, 4);
        float radius;
        memcpy(&radius, &bits[TH_FIELD_RADIUS], sizeof radius);
        if (!th_agent_is_sound(world, bits) || bits[TH_FIELD_ID] >= head->next_id ||
            radius > head->max_radius)
            return false;
    }
    return true;
}

static bool params_are_sound(th_model_id model, const float *values) {
    const th_model *info = th_models(NULL)[model];
    for (int k = 0; k < info->param_count; ++k)
        if (!(values[k] >= (float)info->params[k].min && values[k] <= (float)info->params[k].max))
            return false;
    return true;
}

static bool groups_are_sound(const th_world *world, const unsigned char *bytes) {
    for (int g = 0; g < world->group_count; ++g) {
        th_group_state *own = &world->groups[g], saved;
        memcpy(&saved, bytes + (size_t)g * sizeof saved, sizeof saved);
        if (own->scripted) continue; // no model moves it or reads its parameters
        saved.scripted = false;      // of a damaged snapshot the byte may be no bool
        if (saved.behave_count != own->behave_count) return false;
        float *params, *unread;
        for (int k = 0; th_state_model(own, k, &unread) != TH_NO_MODEL; ++k) {
            th_model_id model = th_state_model(own, k, &unread);
            if (th_state_model(&saved, k, &params) != model || !params_are_sound(model, params))
                return false; // parameters of other models, or none of this one's
        }
    }
    return true;
}

// Takes only the parameters of groups from the bytes; the rest follows from the scene.
static void restore_groups(th_world *world, const unsigned char *bytes) {
    for (int g = 0; g < world->group_count; ++g) {
        th_group_state *own = &world->groups[g], saved;
        if (own->scripted) continue;
        memcpy(&saved, bytes + (size_t)g * sizeof saved, sizeof saved);
        memcpy(own->behave_params, saved.behave_params, sizeof own->behave_params);
        memcpy(own->plan_params, saved.plan_params, sizeof own->plan_params);
        memcpy(own->filter_params, saved.filter_params, sizeof own->filter_params);
        memcpy(own->move_params, saved.move_params, sizeof own->move_params);
        own->body = th_model_body(th_models(NULL)[own->move], own->move_params);
    }
}

static bool wall_is_straight(const th_wall *wall) {
    float x = wall->b.x - wall->a.x, y = wall->b.y - wall->a.y, length = sqrtf(x * x + y * y);
    bool in_reach = fabsf(wall->a.x) < 1e6f && fabsf(wall->a.y) < 1e6f && length > 0.0f &&
                    length < 1e6f && fabsf(wall->length - length) <= 1e-3f * length;
    return in_reach && fabsf(wall->direction.x * length - x) <= 1e-3f * length &&
           fabsf(wall->direction.y * length - y) <= 1e-3f * length;
}

static bool live_walls_are_sound(const th_world *world, const unsigned char *bytes) {
    int first = world->scene->wall_count;
    for (int k = 0; k < 2 * TH_LIVE_WALL_MAX; ++k) {
        th_wall wall;
        memcpy(&wall, bytes + (size_t)k * sizeof wall, sizeof wall);
        if (wall.length == 0.0f) continue; // not in use
        if (bytes[(size_t)k * sizeof wall + offsetof(th_wall, a_convex)] > 1 || wall.level < 0 ||
            wall.level >= world->scene->level_count || wall.door != -1 ||
            wall.next != first + (k ^ 1) || wall.prev != first + (k ^ 1) ||
            !wall_is_straight(&wall))
            return false;
    }
    return true;
}

static bool is_unit(th_vec2 v) { return fabsf(v.x * v.x + v.y * v.y - 1.0f) < 1e-3f; }

static bool bodies_are_sound(const th_world *world, const unsigned char *bytes) {
    for (int b = 0; b < TH_BODY_MAX; ++b) {
        th_body body;
        const unsigned char *from = bytes + (size_t)b * sizeof body;
        if (from[offsetof(th_body, parked)] > 1) return false;
        memcpy(&body, from, sizeof body);
        if (body.corner_count == 0) continue;
        bool sound =
            body.corner_count >= 3 && body.corner_count <= TH_BODY_CORNERS && body.level >= 0 &&
            body.level < world->scene->level_count && body.first_edge == th_body_edge(world, b) &&
            body.reach > 0.0f && body.reach <= 300.0f && body.rest >= 0.0f && body.rest <= 10.0f &&
            th_length(body.position) < 2e6f && th_length(body.before) < 2e6f &&
            th_length(body.velocity) <= 101.0f && fabsf(body.angle) < 1e9f &&
            fabsf(body.spin) <= 101.0f && is_unit(body.heading) && is_unit(body.before_heading);
        for (int k = 0; sound && k < body.corner_count; ++k)
            sound = th_length(body.corners[k]) <= 1.001f * body.reach;
        if (!sound) return false;
    }
    return true;
}

// The blocks as they lie in the snapshot.
static th_result check_contents(th_world *world, const snapshot_head *head,
                                const unsigned char *bytes, th_error *error) {
    const unsigned char *fields = bytes, *at[BLOCKS];
    bytes += (size_t)th_field_count(&world->agents) * (size_t)head->agent_count * 4;
    for (int b = 0; b < BLOCKS; ++b) {
        at[b] = bytes;
        bytes += other_block(world, b).bytes;
    }
    bool sound = head->step_length >= TH_STEP_MIN && head->step_length <= 0.5 &&
                 head->time >= 0.0 && head->time < 1e12 && head->max_radius >= 0.0f &&
                 head->max_radius < 1e3f && agents_are_sound(world, head, fields) &&
                 groups_are_sound(world, at[GROUPS]) &&
                 live_walls_are_sound(world, at[LIVE_WALLS]) && bodies_are_sound(world, at[BODIES]);
    for (int d = 0; d < world->scene->door_count; ++d) {
        int next;
        memcpy(&next, at[DOOR_CHANGES] + (size_t)d * sizeof next, sizeof next);
        sound = sound && at[DOORS][d] <= 1 && next >= 0 &&
                next <= world->scene->doors[d].schedule_count;
    }
    // The planners' fields and the states of models come last.
    bool models = head->part > 0 ? head->plan_bytes + head->model_bytes == 0
                                 : th_plan_saved_is_sound(world, bytes, (size_t)head->plan_bytes) &&
                                       walk_models(world, bytes + head->plan_bytes,
                                                   (size_t)head->model_bytes, model_is_sound);
    sound = sound && models;
    if (!sound)
        return th_fail(error, TH_BAD_SNAPSHOT, "",
                       "the snapshot holds values that no world can have");
    return TH_OK;
}

static bool has_bodies(const unsigned char *bodies) {
    for (int b = 0; b < TH_BODY_MAX; ++b) {
        th_body body;
        memcpy(&body, bodies + (size_t)b * sizeof body, sizeof body);
        if (body.corner_count > 0) return true;
    }
    return false;
}

static th_result check_snapshot(th_world *world, const snapshot_head *head, const void *memory,
                                size_t size, th_error *error) {
    const unsigned char *at = (const unsigned char *)memory + sizeof *head;
    th_result result = check_head(world, head, memory, size, error);
    if (result == TH_OK) result = check_contents(world, head, at, error);
    for (int b = 0; result == TH_OK && b < th_field_count(&world->agents) + BODIES; ++b)
        at += block_at(world, head->agent_count, b).bytes;
    if (result == TH_OK && world->ranks && has_bodies(at))
        result = th_fail(error, TH_BAD_SNAPSHOT, "",
                         "the snapshot has bodies moved by hand, which do not run over ranks; "
                         "restore it in one process");
    if (result == TH_OK && head->wall_count > world->scene->wall_count)
        result = th_plan_world_reserve(world, error);
    bool all = th_ranks_highest(world, result == TH_OK ? 0.0f : 1.0f) == 0.0f;
    return all || result != TH_OK
               ? result
               : th_fail(error, TH_BAD_SNAPSHOT, "", "another rank has refused the snapshot");
}

// Its share of the agents goes behind those that are there.
static void restore_agents(th_world *world, int count, const unsigned char *from) {
    int fields = th_field_count(&world->agents);
    for (int f = 0; f < fields; ++f, from += 4 * (size_t)count) {
        uint32_t *to = (uint32_t *)th_field_get(&world->agents, f) + world->agents.count;
        for (int i = 0; i < count; ++i)
            if (takes(world, i)) memcpy(to++, from + 4 * (size_t)i, 4);
    }
    world->agents.count += taken_of(world, count);
}

static void restore_world(th_world *world, const snapshot_head *head) {
    for (int l = 0; l < th_counted_line_count(world->scene); ++l) th_name_line(world, l);
    world->seed = head->seed;
    world->step_count = head->step_count;
    world->time = head->time;
    world->step_length = head->step_length;
    world->dt = (float)head->step_length;
    world->max_radius = head->max_radius;
    world->next_id = head->next_id;
    world->wall_count = head->wall_count;
    world->counters = head->counters;
    world->walls_version = head->walls_version;
    th_bodies_restored(world);
    world->event_count = 0;
}

th_result th_world_restore(th_world *world, const void *memory, size_t size, th_error *error) {
    th_fetch_to_change(world);
    snapshot_head head = {0};
    memcpy(&head, memory, size < sizeof head ? size : sizeof head);
    th_result result = check_snapshot(world, &head, memory, size, error);
    if (result != TH_OK) return result;
    const unsigned char *at = (const unsigned char *)memory + sizeof head;
    if (head.part == 0) world->agents.count = 0;
    restore_agents(world, head.agent_count, at);
    at += 4 * (size_t)head.agent_count * (size_t)th_field_count(&world->agents);
    for (int b = 0; b < BLOCKS; ++b) {
        block to = other_block(world, b);
        if (b == GROUPS)
            restore_groups(world, at);
        else if (to.bytes)
            memcpy(to.data, at, to.bytes);
        at += to.bytes;
    }
    restore_world(world, &head);
    world->part_count = head.parts;
    world->next_part = head.part + 1;
    result = head.sent > 0 || count_sent(world) > 0 ? th_plan_own_goals(world, error) : TH_OK;
    if (head.part == 0) {
        th_plan_restore(world, at);
        walk_models(world, at + head.plan_bytes, (size_t)head.model_bytes, restore_model);
    }
    if (world->next_part < head.parts) return result;
    tell_models(world);
    th_ranks_restored(world);
    th_stage_index(world);
    th_ranks_part(world);
    world->max_moved = 0.0f;
    return result;
}
