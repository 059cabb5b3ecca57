// libFuzzer target: a world that is edited while it runs. The bytes choose the scene as in fuzz_step, then one edit after the
// other: steps, agents that come and go, written fields, walls, doors, bodies, parameters, snapshots, another scene to go on
// in, and every question that a program may ask. No agent may get lost, nothing may be NaN, and a world restored from a
// snapshot does what the one that was saved does.
//   build-fuzz/fuzz/fuzz_live -max_len=256 -max_total_time=60 fuzz/corpus/live
// SPDX-License-Identifier: Apache-2.0
#include "fuzz_world.h"
#include "throng/ask.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { EDITS = 24, WALLS = 8, BODIES = 4 };

typedef struct live {
    fuzz_input *in;
    th_scene *scene;
    th_world *world;
    unsigned char *snapshot; // of `world`; NULL: none yet
    size_t snapshot_size;
    int walls[WALLS], wall_count;
} live;

// Numbers of every kind, as floats and as what their bits say.
static float odd_number(fuzz_input *in) {
    static const float odd[] = {0.0f,     -0.0f, 1.0f,  -1.0f,     1e-30f, 1e30f, -3e38f,     NAN,
                                INFINITY, 0.2f,  1.34f, -INFINITY, 1e-45f, 9.0f,  16777217.0f};
    unsigned k = fuzz_next(in);
    if (k < sizeof odd / sizeof *odd) return odd[k];
    return (float)k / 16.0f - 4.0f;
}

static th_vec2 somewhere(fuzz_input *in) {
    unsigned far = fuzz_next(in);
    th_vec2 p = {(float)fuzz_place(in), (float)fuzz_place(in)};
    if (far == 0) p.x = odd_number(in);
    return p;
}

static void spawn(live *l) {
    th_agent_def agent = th_agent_def_default();
    agent.position = somewhere(l->in);
    agent.velocity = (th_vec2){odd_number(l->in), odd_number(l->in)};
    agent.goal = somewhere(l->in);
    agent.group = (int)(fuzz_next(l->in) % 4) - 1;
    agent.level = (int)(fuzz_next(l->in) % 4) - 1;
    if (fuzz_next(l->in) & 1) agent.radius = odd_number(l->in);
    if (fuzz_next(l->in) & 1) agent.speed = odd_number(l->in);
    th_world_spawn(l->world, &agent, 1, NULL, NULL);
}

static void take_out(live *l) {
    th_agent_id ids[2] = {{fuzz_next(l->in)}, {1}};
    th_world_remove(l->world, ids, 1 + (int)(fuzz_next(l->in) & 1));
}

// A common field, or one of a model that the world may or may not have.
static int some_field(live *l) {
    unsigned k = fuzz_next(l->in);
    int count;
    const th_model *const *models = th_models(&count);
    if (k < 128) return (int)(k % TH_FIELD_COUNT);
    const th_model *model = models[k % (unsigned)count];
    if (model->field_count == 0) return TH_FIELD_COUNT + (int)(k % 8);
    char name[160];
    snprintf(name, sizeof name, "%s/%s.%s", th_stage_name(model->stage), model->name,
             model->fields[fuzz_next(l->in) % (unsigned)model->field_count].name);
    return th_world_field(l->world, name);
}

static void write_field(live *l) {
    int field = some_field(l), count = th_world_agent_count(l->world);
    float *values = th_world_map(l->world, field, TH_ACCESS_WRITE);
    if (!values) return;
    unsigned every = 1 + fuzz_next(l->in) % 3, whole = fuzz_next(l->in);
    for (int i = 0; i < count; i += (int)every) {
        float value = odd_number(l->in);
        uint32_t bits = whole & 1 ? fuzz_next(l->in) : UINT32_MAX - fuzz_next(l->in);
        if (whole & 2)
            memcpy(&values[i], &bits, sizeof bits);
        else
            values[i] = value;
    }
    th_world_unmap(l->world, field);
}

static void change_walls(live *l) {
    if (fuzz_next(l->in) & 1) {
        int level = (int)(fuzz_next(l->in) % 3), wall = -1;
        th_vec2 a = somewhere(l->in), b = somewhere(l->in);
        if (th_world_add_wall(l->world, level, a, b, &wall, NULL) == TH_OK && l->wall_count < WALLS)
            l->walls[l->wall_count++] = wall;
    } else {
        int wall = l->wall_count > 0 ? l->walls[--l->wall_count] : (int)fuzz_next(l->in) - 2;
        th_world_remove_wall(l->world, wall, NULL);
    }
}

static void set_door(live *l) {
    unsigned k = fuzz_next(l->in);
    th_world_set_door(l->world, k & 2 ? "d" : "no such door", k & 1, NULL);
}

// Most of them possible.
static th_body_pose some_pose(fuzz_input *in) {
    unsigned odd = fuzz_next(in);
    th_body_pose pose = {.position = somewhere(in)};
    pose.velocity.x = ((float)fuzz_next(in) - 128.0f) / 32.0f;
    pose.velocity.y = odd == 1 ? odd_number(in) : ((float)fuzz_next(in) - 128.0f) / 32.0f;
    pose.angle = odd == 2 ? odd_number(in) : (float)fuzz_next(in) / 40.0f;
    pose.spin = odd == 3 ? odd_number(in) : ((float)fuzz_next(in) - 128.0f) / 32.0f;
    return pose;
}

static void change_bodies(live *l) {
    unsigned how = fuzz_next(l->in);
    int body = (int)(how >> 4) % (BODIES + 1) - 1;
    th_body_pose pose = some_pose(l->in);
    if (how % 4 == 0) th_world_remove_body(l->world, body, NULL);
    if (how % 4 == 1) th_world_move_body(l->world, body, &pose, NULL);
    if (how % 4 < 2) return;
    th_vec2 outline[6];
    th_body_def def = th_body_def_default();
    def.outline = outline;
    def.outline_count = (int)(fuzz_next(l->in) % 7);
    for (int k = 0; k < def.outline_count; ++k) {
        outline[k].x = ((float)fuzz_next(l->in) - 128.0f) / 100.0f;
        outline[k].y = ((float)fuzz_next(l->in) - 128.0f) / 100.0f;
    }
    unsigned radius = fuzz_next(l->in);
    def.radius = radius == 0 ? odd_number(l->in) : (float)(radius % 4) * 0.2f;
    def.level = (int)(fuzz_next(l->in) % 3);
    def.pose = pose;
    if (th_world_body(l->world, BODIES - 1).corner_count == 0)
        th_world_add_body(l->world, &def, NULL, NULL);
}

static void set_param(live *l) {
    int count;
    const th_model *const *models = th_models(&count);
    const th_model *model = models[fuzz_next(l->in) % (unsigned)count];
    if (model->param_count == 0) return;
    const th_param_info *param = &model->params[fuzz_next(l->in) % (unsigned)model->param_count];
    unsigned at = fuzz_next(l->in);
    double value = at < 16 ? (double)odd_number(l->in)
                           : param->min + (param->max - param->min) * (at - 16) / 239.0;
    th_world_set_param(l->world, (int)(fuzz_next(l->in) % 3), param->name, value, NULL);
}

static void take_snapshot(live *l) {
    free(l->snapshot);
    l->snapshot_size = th_world_snapshot_size(l->world);
    l->snapshot = malloc(l->snapshot_size);
    if (!l->snapshot) return;
    if (th_world_snapshot(l->world, l->snapshot, l->snapshot_size, NULL) != TH_OK) abort();
}

// A saved state can always be restored.
static void restore(live *l) {
    if (!l->snapshot) return;
    th_error error;
    if (th_world_restore(l->world, l->snapshot, l->snapshot_size, &error) == TH_OK) return;
    fprintf(stderr, "%s\n", error.message);
    abort();
}

// The same steps from the same state end alike, also in another world and with more threads.
static void do_it_again(live *l) {
    size_t size = th_world_snapshot_size(l->world);
    unsigned char *saved = malloc(size);
    unsigned how = fuzz_next(l->in);
    th_world_def def = th_world_def_default();
    def.threads = 1 + (int)(how & 1);
    th_world *other = NULL;
    if (saved && th_world_snapshot(l->world, saved, size, NULL) != TH_OK) abort();
    if (saved && th_world_create(l->scene, &def, &other, NULL) == TH_OK) {
        if (th_world_restore(other, saved, size, NULL) != TH_OK) abort();
        if (th_world_hash(other) != th_world_hash(l->world)) abort();
        th_world_step(l->world, 1 + (int)(how >> 1) % 8);
        th_world_step(other, 1 + (int)(how >> 1) % 8);
        if (th_world_hash(other) != th_world_hash(l->world)) abort();
    }
    th_world_destroy(other);
    free(saved);
}

static void go_on_elsewhere(live *l) {
    static fuzz_text text;
    fuzz_write_scene(l->in, &text);
    th_scene *scene = fuzz_load(&text);
    if (!scene) return;
    th_world_def def = th_world_def_default();
    def.threads = 1;
    th_world *world = NULL;
    int lost = 0;
    if (th_world_continue(scene, &def, l->world, &lost, &world, NULL) != TH_OK) {
        th_scene_destroy(scene);
        return;
    }
    th_world_destroy(l->world);
    th_scene_destroy(l->scene);
    free(l->snapshot);
    l->snapshot = NULL;
    l->wall_count = 0;
    l->world = world;
    l->scene = scene;
}

static void ask(live *l) {
    int count = th_world_agent_count(l->world), models, index = (int)fuzz_next(l->in) - 3;
    th_models(&models);
    float *forces = malloc(((size_t)count + 1) * sizeof *forces);
    if (forces) th_world_contact_forces(l->world, forces);
    free(forces);
    th_influence shown[8];
    const th_agent_id id = {fuzz_next(l->in)};
    th_world_influences(l->world, id, (int)(fuzz_next(l->in) % (unsigned)models), shown, 8);
    th_vec2 points[2] = {somewhere(l->in), somewhere(l->in)}, directions[2];
    float distances[2];
    th_world_distances(l->world, index, (int)(fuzz_next(l->in) % 3), points, 2, distances);
    th_world_directions(l->world, index, (int)(fuzz_next(l->in) % 3), points, 2, directions);
    th_grid grid;
    th_world_map_grid(l->world, (th_grid_kind)(fuzz_next(l->in) % TH_GRID_COUNT), index, &grid);
    th_world_exit(l->world, index);
    th_world_line(l->world, index);
    th_world_door(l->world, index);
    th_world_area(l->world, index);
    th_world_hash(l->world);
    th_world_done(l->world);
}

static void ask_what_is_there(live *l) {
    int level = (int)(fuzz_next(l->in) % 3) - (fuzz_next(l->in) == 0);
    th_vec2 a = somewhere(l->in), b = somewhere(l->in), c = somewhere(l->in);
    const th_vec2 corners[] = {a, b, c};
    float range = odd_number(l->in);
    const th_agent_id id = {fuzz_next(l->in)};
    th_seen seen[8];
    th_crowd crowd;
    th_vec2 place;
    th_world_agent(l->world, id, seen, &level);
    th_world_nearest(l->world, level, a, range, seen, 8);
    th_world_agents_in_circle(l->world, level, a, range, seen, 8);
    th_world_agents_in_box(l->world, level, (th_box){a.x, a.y, b.x, b.y}, seen, 8);
    th_world_agents_in_polygon(l->world, level, corners, 3, seen, 8);
    th_hit hit = th_world_ray(l->world, level, a, b, (int)(fuzz_next(l->in) % 4), id);
    if (hit.kind != TH_HIT_NOTHING && !isfinite(hit.distance)) abort();
    float radius = (float)fuzz_next(l->in) / 200.0f;
    // 1000 rings at most, which sanitizers make slow
    if (th_world_free_place(l->world, level, a, radius, fminf(range, 4.0f), &place) &&
        !isfinite(place.x))
        abort();
    th_world_crowd_at(l->world, level, c, NULL, &crowd);
    th_way_point way[4];
    th_world_path(l->world, (th_way_point){a, level}, (th_way_point){b, (int)(radius * 4.0f)},
                  radius, way, 4, &range);
}

static void read_all(live *l) {
    int count = th_world_agent_count(l->world), stored;
    uint8_t *moods = malloc((size_t)count + 1);
    if (moods) th_world_moods(l->world, moods);
    free(moods);
    th_world_stored(l->world, some_field(l), &stored);
    th_world_body(l->world, (int)fuzz_next(l->in) - 1);
    th_world_door_open(l->world, (int)fuzz_next(l->in) - 1);
    th_world_events(l->world, &stored, NULL);
}

static void edit(live *l) {
    static void (*const edits[])(live *) = {
        spawn,         take_out,      write_field,       write_field, change_walls,    set_door,
        set_param,     set_param,     take_snapshot,     restore,     go_on_elsewhere, ask,
        change_bodies, change_bodies, ask_what_is_there, read_all,    do_it_again};
    unsigned k = fuzz_next(l->in);
    edits[k % (sizeof edits / sizeof *edits)](l);
    th_world_step(l->world, (int)(k >> 6));
    fuzz_check(l->world);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static fuzz_text text;
    fuzz_input in = {data, size, 0};
    live l = {.in = &in};
    fuzz_write_scene(&in, &text);
    l.scene = fuzz_load(&text);
    l.world = l.scene ? fuzz_world(l.scene) : NULL;
    for (int k = 0; l.world && k < EDITS && in.used < in.size; ++k) edit(&l);
    if (l.world) th_world_step(l.world, 4);
    if (l.world) fuzz_check(l.world);
    free(l.snapshot);
    th_world_destroy(l.world);
    th_scene_destroy(l.scene);
    return 0;
}
