// Creating and destroying a world: all memory of a run is taken here. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/system/system.h"
#include "plan/plan.h"
#include "scene/place.h"
#include "state/device.h"
#include "state/ranks.h"
#include "throng/live.h"
#include "world/measure.h"
#include "world/world.h"
#include <assert.h>
#include <string.h>

enum {
    WORLD_COOKIE = 0x7468776c,
    MIN_CAPACITY = 1024,
    MAX_CAPACITY = 200000000, // 40 GB; cells, four a head, still fit an int
    MIN_CELLS = 4096
};

th_world_def th_world_def_default(void) {
    th_world_def def = {.cookie = WORLD_COOKIE};
    return def;
}

static th_result check_def(const th_world_def *def, th_error *error) {
    if (def->cookie != WORLD_COOKIE)
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "th_world_def was not made by th_world_def_default()");
    if ((unsigned)def->backend > TH_BACKEND_CUDA)
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "backend is %d; give TH_BACKEND_CPU or TH_BACKEND_CUDA", (int)def->backend);
    if (def->threads < 0 || def->threads > 1024)
        return th_fail(error, TH_BAD_ARGUMENT, "", "threads is %d; give 0 (all cores) to 1024",
                       def->threads);
    if (def->step != 0.0 && !(def->step >= TH_STEP_MIN && def->step <= 0.5))
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "step is %g s; give 0 (the scene's) or %g to 0.5", def->step, TH_STEP_MIN);
    if (def->max_agents < 0 || def->max_agents > MAX_CAPACITY)
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "max_agents is %d; give 0 (from the scene) to %d", def->max_agents,
                       MAX_CAPACITY);
    if (def->host.begin && def->threads > 1)
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "threads is %d, but the host brings its own; give 0 or 1", def->threads);
    if (!(def->replan >= 0.0 && def->replan <= 60.0))
        return th_fail(error, TH_BAD_ARGUMENT, "", "replan is %g s; give 0 (at once) to 60",
                       def->replan);
    return TH_OK;
}

// True: `route` sets its people off, leads them from leg to leg and lets them leave, since no other behaviour does.
static bool follows_route(const th_group *group) {
    for (int k = 0; k < group->behave_count; ++k)
        if (group->behave[k].model == TH_BEHAVE_ROUTE) return true;
    return (group->decides & TH_DECIDES_ROUTE) == 0;
}

static int left_to_plan(const th_world *world, const th_group *group) {
    for (int k = 0; k < group->behave_count; ++k) {
        const th_model *behave = th_models(NULL)[group->behave[k].model];
        if (behave->left_to_plan > 0 && th_models(NULL)[group->plan.model]->weighs_ways)
            return world->first_own[group->behave[k].model] + behave->left_to_plan - 1;
    }
    return -1;
}

static void copy_groups(th_world *world) {
    const th_scene *scene = world->scene;
    for (int g = 0; g < world->group_count; ++g) {
        th_group_state *state = &world->groups[g];
        state->scripted = g >= scene->group_count;
        state->plan = state->filter = TH_NO_MODEL;
        state->move = TH_MOVE_SCRIPTED;
        const th_model *move = th_models(NULL)[TH_MOVE_SCRIPTED];
        state->body = th_model_body(move, state->move_params);
        if (state->scripted) continue;
        const th_group *group = &scene->groups[g];
        for (int k = 0; k < group->behave_count; ++k) {
            state->behave[k] = (th_model_id)group->behave[k].model;
            memcpy(state->behave_params[k], group->behave[k].params,
                   sizeof state->behave_params[k]);
        }
        state->behave_count = group->behave_count;
        state->plan = (th_model_id)group->plan.model;
        state->filter = (th_model_id)group->filter.model;
        state->move = (th_model_id)group->move.model;
        memcpy(state->plan_params, group->plan.params, sizeof state->plan_params);
        memcpy(state->filter_params, group->filter.params, sizeof state->filter_params);
        memcpy(state->move_params, group->move.params, sizeof state->move_params);
        move = th_models(NULL)[state->move];
        state->body = th_model_body(move, state->move_params);
        state->rigid = group->rigid;
        state->separates_pairs = move->separates_pairs;
        state->follows_route = follows_route(group);
        state->led = (group->decides & TH_DECIDES_AIM) != 0;
        state->left_to_plan = left_to_plan(world, group);
        state->goes_straight = !th_models(NULL)[state->plan]->needs_lattice;
    }
}

// ---- the models in use

static bool is_used(const th_scene *scene, int model) {
    if (model == TH_MOVE_SCRIPTED) return scene->scripted_count > 0;
    for (int g = 0; g < scene->group_count; ++g) {
        const th_group *group = &scene->groups[g];
        if (model == TH_BEHAVE_ROUTE && follows_route(group)) return true;
        const th_model_choice *choice;
        for (int k = 0; (choice = th_group_model(group, k)); ++k)
            if (choice->model == model) return true;
    }
    return false;
}

// Behaviours run in the order of what they decide.
static bool runs_before(const th_model *a, const th_model *b) {
    if (a->stage == TH_STAGE_BEHAVE) {
        uint32_t first_a = a->decides & -a->decides, first_b = b->decides & -b->decides;
        if (first_a != first_b) return first_a - 1u < first_b - 1u; // 0: last
    }
    return a->order < b->order;
}

// Lists the models in use by stage, in the order in which they run. Returns how many fields they have together.
static int list_models(th_world *world) {
    int count, fields = 0;
    const th_model *const *models = th_models(&count);
    for (int m = 0; m < count; ++m) {
        if (!is_used(world->scene, m)) continue;
        int *list = world->stage_models[models[m]->stage];
        int k = world->stage_model_count[models[m]->stage]++;
        for (; k > 0 && runs_before(models[m], models[list[k - 1]]); --k) list[k] = list[k - 1];
        list[k] = m;
        world->first_own[m] = fields;
        fields += models[m]->field_count;
    }
    return fields;
}

static void mark_hashed_fields(th_world *world) {
    int used[TH_MODEL_MAX], count = th_used_models(world, used);
    for (int k = 0; k < count; ++k) {
        const th_model *model = th_models(NULL)[used[k]];
        for (int f = 0; f < model->field_count; ++f)
            world->own_hash_factor[world->first_own[used[k]] + f] =
                model->fields[f].hashed ? 2 * (uint32_t)f + 1 : 0;
    }
}

static bool create_models(th_world *world) {
    int used[TH_MODEL_MAX], count = th_used_models(world, used);
    bool complete = true;
    for (int k = 0; k < count; ++k) {
        const th_model *model = th_models(NULL)[used[k]];
        if (model->create) complete = model->create(world, used[k]) && complete;
    }
    return complete;
}

static void destroy_models(th_world *world) {
    int used[TH_MODEL_MAX], count = th_used_models(world, used);
    for (int k = count - 1; k >= 0; --k) {
        const th_model *model = th_models(NULL)[used[k]];
        if (model->destroy && world->model_state[used[k]]) model->destroy(world, used[k]);
    }
}

// Cells of 1.2 m hold four people in a dense crowd, so 3 x 3 cells hold the ten nearest. Models may want others, where
// all do. People larger than that need larger cells.
static float choose_cell(const th_scene *scene) {
    const float usual = 1.2f;
    float cell = usual;
    for (int g = 0; g < scene->group_count; ++g) {
        float wanted = th_models(NULL)[scene->groups[g].move.model]->cell_size;
        if (!(wanted > 0.0f)) wanted = usual;
        if (g > 0 && wanted != cell) {
            cell = usual;
            break;
        }
        cell = wanted;
    }
    for (int s = 0; s < scene->scripted_count; ++s)
        if (2.0f * scene->scripted[s].radius > cell) cell = 2.0f * scene->scripted[s].radius;
    return cell;
}

static int cell_capacity(const th_scene *scene, int agents) {
    double cells = 0.0;
    for (int l = 0; l < scene->level_count; ++l) {
        const th_box *box = &scene->levels[l].box;
        cells += ((double)(box->max_x - box->min_x) / 1.2 + 2.0) *
                 ((double)(box->max_y - box->min_y) / 1.2 + 2.0);
    }
    // No more than four cells per person (but always a decent grid): the sort clears them all in
    // every step. Open planes grow with the crowd, hence the lower bound.
    double most = 4.0 * (double)agents + MIN_CELLS + 64.0 * scene->level_count;
    double least = 2.0 * (double)agents + MIN_CELLS;
    double capacity = cells < most ? cells : most;
    return (int)(capacity > least ? capacity : least);
}

static int index_cells(const th_world *world, int capacity) {
    int used[TH_MODEL_MAX], count = th_used_models(world, used);
    for (int k = 0; k < count; ++k) {
        const th_model *model = th_models(NULL)[used[k]];
        if (model->index_cells) return model->index_cells(world, used[k]);
    }
    return cell_capacity(world->scene, capacity);
}

static bool allocate(th_world *world, int capacity, int own_fields) {
    const th_scene *scene = world->scene;
    th_arena *arena = &world->arena;
    world->group_count = scene->group_count + scene->scripted_count;
    size_t doors = (size_t)scene->door_count;
    th_agents_create(world, capacity, own_fields);
    if (arena->failed) return false;
    mark_hashed_fields(world);
    if (!create_models(world)) return false;
    // Over ranks the cells are those of one world, so that neighbours come in the same order.
    th_index_create(&world->index, arena, scene->level_count,
                    index_cells(world, world->crowd_capacity));
#define TAKE(name, count) world->name = th_arena_alloc(arena, (size_t)(count), sizeof *world->name)
    TAKE(level_boxes, scene->level_count);
    TAKE(groups, world->group_count);
    TAKE(sources, scene->group_count);
    TAKE(door_closed, doors);
    TAKE(door_next_change, doors);
    TAKE(walls, th_body_edge(world, TH_BODY_MAX));
    TAKE(bodies, TH_BODY_MAX);
    TAKE(lines, th_counted_line_count(scene));
    TAKE(exits, scene->goal_count);
    TAKE(events, th_event_max(world));
    TAKE(id_order, capacity);
#undef TAKE
    return !arena->failed;
}

static void start_state(th_world *world) {
    const th_scene *scene = world->scene;
    copy_groups(world);
    for (int d = 0; d < scene->door_count; ++d) world->door_closed[d] = scene->doors[d].closed;
    if (scene->wall_count > 0)
        memcpy(world->walls, scene->walls, (size_t)scene->wall_count * sizeof *world->walls);
    world->wall_count = scene->wall_count;
    for (int l = 0; l < th_counted_line_count(scene); ++l) th_name_line(world, l);
    world->next_id = 1;
}

// The device's table has the built-in models only.
static th_result check_device(const th_scene *scene, const th_world_def *def, th_error *error) {
    if (def->backend == TH_BACKEND_CPU) return TH_OK;
    if (!th_cuda_backend())
        return th_fail(error, TH_NO_DEVICE, "",
                       "this build has the CPU backend only; build with `cmake --preset cuda`");
    for (int g = 0; g < scene->goal_count; ++g)
        if (scene->goals[g].refuge || scene->goals[g].capacity > 0)
            return th_fail(error, TH_NO_DEVICE, "",
                           "\"%s\" is a refuge or has a capacity, which are not on the device; run "
                           "this scene on the CPU",
                           scene->goals[g].id);
    int count;
    const th_model *const *models = th_models(&count);
    for (int m = TH_BUILT_IN_MODELS; m < count; ++m)
        if (is_used(scene, m))
            return th_fail(error, TH_NO_DEVICE, "",
                           "the %s model \"%s\" has no functions for the device; run this scene on "
                           "the CPU",
                           th_stage_name(models[m]->stage), models[m]->name);
    return TH_OK;
}

static th_result check_ranks(const th_scene *scene, const th_world_def *def, int people,
                             th_error *error) {
    const th_comm *comm = def->comm;
    if (comm->size < 1 || comm->size > TH_RANKS_MOST || comm->rank < 0 || comm->rank >= comm->size)
        return th_fail(error, TH_BAD_ARGUMENT, "", "rank %d of %d; give 0 to %d of at most %d",
                       comm->rank, comm->size, comm->size - 1, (int)TH_RANKS_MOST);
    if (def->backend != TH_BACKEND_CPU)
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "a crowd over ranks runs on the CPU; leave `comm` or the device");
    if (people >= 0)
        return th_fail(error, TH_BAD_ARGUMENT, "", "a crowd over ranks cannot take one over");
    return th_ranks_check(scene, error);
}

// The last part of making a world, when its agents are there.
static th_result settle(th_world *world, th_error *error) {
    th_stage_index(world);
    th_ranks_part(world);
    if (!world->on_device) return TH_OK;
    world->device = th_cuda_backend();
    return world->device->create(world, error);
}

th_batch *th_batch_create(void) {
    const th_device_backend *device = th_cuda_backend();
    return device ? device->batch_create() : NULL;
}
void th_batch_destroy(th_batch *batch) {
    if (batch) th_cuda_backend()->batch_destroy(batch);
}

static int capacity_of(const th_scene *scene, const th_world_def *def, int people) {
    if (def->max_agents) return def->max_agents;
    double needed = (double)th_spawn_capacity(scene, people < 0 ? def->end : 0.0) +
                    (people > 0 ? (double)people : 0.0);
    return needed < 2e9 ? (int)needed : 2000000000;
}

// `people`: the number to be taken over from another world; below 0: the scene's own people are placed.
static th_result make(const th_scene *scene, const th_world_def *def, int people, th_world **out,
                      th_error *error) {
    assert(scene && def && out);
    *out = NULL;
    th_result result = check_def(def, error);
    if (result == TH_OK) result = check_device(scene, def, error);
    if (result == TH_OK && def->comm) result = check_ranks(scene, def, people, error);
    if (result != TH_OK) return result;
    result = people >= 0 ? TH_OK : th_spawn_check(scene, error);
    if (result != TH_OK) {
        if (error) th_scene_locate(scene, error);
        return result;
    }
    th_memory memory = th_memory_of(&def->allocator);
    int capacity = capacity_of(scene, def, people);
    if (capacity < MIN_CAPACITY) capacity = MIN_CAPACITY;
    if (capacity > MAX_CAPACITY)
        return th_fail(error, TH_FULL, "groups",
                       "the groups can bring more than %d people; give max_agents, the most that "
                       "are there at once",
                       MAX_CAPACITY);
    th_arena arena = th_arena_of(&def->allocator);
    th_world *world = th_arena_alloc(&arena, 1, sizeof *world);
    if (!world) return th_fail(error, TH_NO_MEMORY, "", "no memory for the world");
    world->arena = arena;
    world->scene = scene;
    world->memory = memory;
    world->log = def->log;
    world->log_context = def->log_context;
    bool on_device = def->backend != TH_BACKEND_CPU; // the host then has no step to do, only copies
    world->threads = def->threads                    ? def->threads
                     : on_device && !def->host.begin ? th_core_count()
                                                     : 1;
    world->host = def->host;
    world->team.most = def->threads || def->host.begin ? 0 : th_core_count();
    world->seed = def->seed ? def->seed : scene->run.seed;
    world->step_length = def->step > 0.0 ? def->step : scene->run.step;
    world->dt = (float)world->step_length;
    world->replan = def->replan;
    world->cell_size = choose_cell(scene);
    world->on_device = def->backend != TH_BACKEND_CPU;
    world->batch = world->on_device ? def->batch : NULL;
    world->crowd_capacity = capacity;
    int own_fields = list_models(world);
    result = th_plan_world_create(world, error);
    if (result == TH_OK && def->comm) {
        capacity = th_ranks_capacity(def->comm, capacity);
        world->ranks = th_ranks_create(world, def->comm, capacity, error);
        if (!world->ranks) result = TH_NO_MEMORY;
    }
    th_error trouble = {.code = TH_OK};
    world->trouble = &trouble;
    if (result == TH_OK && !allocate(world, capacity, own_fields)) {
        result = trouble.code;
        if (result != TH_OK && error) *error = trouble;
        if (result == TH_OK)
            result =
                th_fail(error, TH_NO_MEMORY, "", "no memory for %d people (about %d MB needed)",
                        capacity, (int)((double)capacity * 220.0 / 1e6) + 1);
    } else if (result == TH_OK) {
        world->trouble = NULL;
        start_state(world);
        if (people < 0) result = th_spawn_scene(world, error);
        if (people < 0 && result == TH_OK) result = settle(world, error);
    }
    if (result != TH_OK) {
        if (error) th_scene_locate(scene, error);
        th_world_destroy(world);
        return result;
    }
    *out = world;
    return TH_OK;
}

th_result th_world_create(const th_scene *scene, const th_world_def *def, th_world **world,
                          th_error *error) {
    return make(scene, def, -1, world, error);
}

th_result th_world_prepare(const th_scene *scene, const th_world_def *def, int people,
                           th_world **world, th_error *error) {
    assert(people >= 0);
    return make(scene, def, people, world, error);
}

th_result th_world_take_over(th_world *world, th_world *from, int *lost, th_error *error) {
    assert(world && from && world->agents.count == 0);
    int gone = th_take_over(world, from);
    if (lost) *lost = gone;
    return settle(world, error);
}

th_result th_world_continue(const th_scene *scene, const th_world_def *def, th_world *from,
                            int *lost, th_world **world, th_error *error) {
    assert(from);
    th_result result = make(scene, def, (int)from->agents.count, world, error);
    if (result == TH_OK) result = th_world_take_over(*world, from, lost, error);
    if (result == TH_OK) return result;
    th_world_destroy(*world);
    *world = NULL;
    return result;
}

void th_world_destroy(th_world *world) {
    if (!world) return;
    if (world->device) world->device->destroy(world);
    for (int f = 0; world->views && f < th_field_count(&world->agents); ++f)
        th_dealloc(&world->memory, world->views[f], (size_t)world->agents.capacity, 4);
    th_release_grid_views(world);
    destroy_models(world);
    th_plan_world_destroy(world);
    th_ranks_destroy(world);
    th_arena arena = world->arena; // the world is in it
    th_arena_release(&arena);
}
