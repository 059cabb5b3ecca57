// Continuum crowds on the device: all of a step is there, one thread a person or a node; the potentials by tiles
// (potential.cuh). In builds that have the CPU's bits the potentials come from the CPU's solver, as roundings depend on
// the order in which nodes are lowered. SPDX-License-Identifier: Apache-2.0
#include "device/model.cuh"
#include "plan/continuum/crowd.h"
#include "plan/continuum/potential.cuh"

namespace th {

// On the host, with device pointers.
struct continuum_device {
    th_continuum *c;    // on the device
    th_continuum known; // its pointers
    th_goal_nodes *goals;
    th_potential *potentials; // as they are on the device
    th_faces *faces;
    int goals_most;
    potential_solver solver;
    double *partial;
    int blocks;
    bool forced; // the walls have changed
};

static continuum_device *device_of(const th_world *host) {
    return (continuum_device *)host->device_world->model_state[TH_PLAN_CONTINUUM];
}
static th_continuum *host_of(const th_world *host) {
    return (th_continuum *)host->model_state[TH_PLAN_CONTINUUM];
}

// ---- memory

static void take_lattice(continuum_device *d, store &s, const th_world *host) {
    const th_continuum *c = host_of(host);
    th_continuum *k = &d->known;
    size_t count = (size_t)c->nodes.count, levels = (size_t)host->scene->level_count;
    k->nodes.scene = host->device_world->known.scene;
    k->nodes.levels = s.copy(c->nodes.levels, levels);
    k->nodes.flags = s.copy(c->nodes.flags, count);
    k->nodes.zone = s.copy(c->nodes.zone, count);
    k->nodes.links = nullptr;
    k->nodes.clearance = nullptr;
    k->nodes.portals = nullptr;
    k->graph.nodes = &d->c->nodes;
    k->graph.links = s.room<uint8_t>(count);
    k->graph.portals = s.room<th_portal>((size_t)c->nodes.portal_count);
    k->graph.crowd = nullptr;
    k->graph.crowd_cost = nullptr;
    k->sums = s.room<th_node_sums>(count);
    float **grids[] = {&k->density, &k->flow_x, &k->flow_y, &k->discomfort};
    for (float **grid : grids) *grid = s.room<float>(count);
    k->static_discomfort = s.copy(c->static_discomfort, count);
    k->height = c->height ? s.copy(c->height, count) : nullptr;
}

static bool take_potentials(continuum_device *d, store &s, const th_world *host) {
    const th_continuum *c = host_of(host);
    const th_scene *scene = host->scene;
    size_t count = (size_t)c->nodes.count, potentials = (size_t)c->potential_count,
           groups = (size_t)scene->group_count, targets = (size_t)scene->target_count;
    d->goals = (th_goal_nodes *)calloc(targets + 1, sizeof *d->goals);
    d->potentials = (th_potential *)calloc(potentials + 1, sizeof *d->potentials);
    d->faces = (th_faces *)calloc(groups + 1, sizeof *d->faces);
    if (!d->goals || !d->potentials || !d->faces) return false;
    for (size_t t = 0; t < targets; ++t) {
        d->goals[t] = c->goals[t];
        d->goals[t].nodes = s.room<th_goal_node>((size_t)c->goals[t].most);
        if (c->goals[t].most > d->goals_most) d->goals_most = c->goals[t].most;
    }
    for (size_t k = 0; k < potentials; ++k) {
        d->potentials[k] = c->potentials[k];
        d->potentials[k].values = s.room<float>(count);
    }
    for (size_t g = 0; g < groups; ++g) {
        if (!c->faces[g].cost) continue;
        d->faces[g].cost = s.room<th_node_faces>(count);
        d->faces[g].speed = s.room<th_node_faces>(count);
        d->faces[g].portal_cost = s.room<float>((size_t)c->nodes.portal_count * TH_FACES);
    }
    d->known.goals = s.room<th_goal_nodes>(targets);
    d->known.potentials = s.room<th_potential>(potentials);
    d->known.faces = s.copy(d->faces, groups);
    d->known.same_faces = s.room<int>(groups);
    d->known.first_potential = s.copy(c->first_potential, groups);
    d->known.wanted = s.room<uint8_t>(potentials);
    d->known.solved = s.room<uint8_t>(potentials);
    return true;
}

static bool take_solver(continuum_device *d, store &s, const th_world *host) {
    const th_continuum *c = host_of(host);
    int levels = host->scene->level_count, tiles = 0;
    int *first = (int *)malloc(((size_t)levels + 1) * sizeof *first);
    if (!first) return false;
    for (int l = 0; l < levels; ++l) {
        const th_node_level *grid = &c->nodes.levels[l];
        first[l] = tiles;
        tiles += (grid->nx + TILE_X - 1) / TILE_X * ((grid->ny + TILE_Y - 1) / TILE_Y);
    }
    size_t items = (size_t)tiles * (size_t)c->potential_count;
    potential_solver &solver = d->solver;
    solver.c = d->c;
    solver.first_tile = s.copy(first, (size_t)levels);
    solver.tiles = tiles;
    solver.nodes = c->nodes.count;
    solver.levels = levels;
    solver.portals = c->nodes.portal_count > 0;
    solver.words = s.room<potential_words>(1);
    if (solver.words) clear(solver.words, sizeof *solver.words);
    free(first);
    if (EXACT) return true;
    solver.other = s.room<float>((size_t)c->nodes.count * (size_t)c->potential_count);
    solver.turn = s.room<uint32_t>(items);
    solver.woken = s.room<uint32_t>(items);
    for (uint32_t *&list : solver.lists) list = s.room<uint32_t>(items);
    d->partial = s.room<double>(TEAM_PARTIALS);
    if (d->partial) clear(d->partial, TEAM_PARTIALS * sizeof *d->partial);
    d->blocks = grid_blocks<solve_potentials>();
    return true;
}

static bool continuum_create(th_world *host) {
    store &s = host->device_world->store;
    continuum_device *d = new (std::nothrow) continuum_device();
    if (!d) return false;
    host->device_world->model_state[TH_PLAN_CONTINUUM] = d;
    d->known = *host_of(host);
    d->c = s.room<th_continuum>(1);
    if (!d->c) return false;
    take_lattice(d, s, host);
    return take_potentials(d, s, host) && take_solver(d, s, host) && !s.failed &&
           put(d->c, &d->known, sizeof d->known);
}

static void continuum_destroy(th_world *host) {
    continuum_device *d = device_of(host);
    if (!d) return;
    free(d->goals);
    free(d->potentials);
    free(d->faces);
    delete d;
    host->device_world->model_state[TH_PLAN_CONTINUUM] = nullptr;
}

// ---- to the device and back

template <class T> static bool put_values(T *device, const T *host, size_t n) {
    return n == 0 || put(device, host, n * sizeof(T));
}
template <class T> static bool get_values(T *host, const T *device, size_t n) {
    return n == 0 || get(host, device, n * sizeof(T));
}

static bool put_walls(continuum_device *d, const th_world *host) {
    const th_continuum *c = host_of(host);
    bool good = put_values(d->known.graph.links, c->graph.links, (size_t)c->nodes.count) &&
                put_values(d->known.graph.portals, c->graph.portals, (size_t)c->nodes.portal_count);
    for (int t = 0; t < host->scene->target_count; ++t) {
        d->goals[t].count = c->goals[t].count;
        good = good && put_values(d->goals[t].nodes, c->goals[t].nodes, (size_t)c->goals[t].count);
    }
    return good && put_values(d->known.goals, d->goals, (size_t)host->scene->target_count);
}

// Potentials and faces as they were solved last.
static bool put_solution(continuum_device *d, const th_world *host) {
    const th_continuum *c = host_of(host);
    size_t count = (size_t)c->nodes.count, potentials = (size_t)c->potential_count;
    bool good = true;
    for (size_t k = 0; k < potentials; ++k) {
        d->potentials[k].shared = c->potentials[k].shared;
        good = good && put_values(d->potentials[k].values, c->potentials[k].values, count);
    }
    for (int g = 0; g < host->scene->group_count; ++g)
        if (c->faces[g].cost)
            good = good && put_values(d->faces[g].cost, c->faces[g].cost, count) &&
                   put_values(d->faces[g].speed, c->faces[g].speed, count);
    return good && put_values(d->known.potentials, d->potentials, potentials) &&
           put_values(d->known.solved, c->solved, potentials) &&
           put_values(d->known.same_faces, c->same_faces, (size_t)host->scene->group_count);
}

static bool continuum_send(th_world *host) {
    continuum_device *d = device_of(host);
    th_continuum *c = host_of(host);
    d->forced = th_continuum_take_note_of_walls(c, host) || d->forced;
    th_continuum_find_shared(c, host);
    potential_words words = {{0, 0, 0}, 0, c->nodes_taken, c->solutions};
    return put_walls(d, host) && put_solution(d, host) &&
           put(d->solver.words, &words, sizeof words);
}

static bool continuum_fetch(th_world *host) {
    continuum_device *d = device_of(host);
    th_continuum *c = host_of(host);
    size_t count = (size_t)c->nodes.count, portals = (size_t)c->nodes.portal_count;
    potential_words words;
    bool good = get(&words, d->solver.words, sizeof words) &&
                get_values(c->solved, d->known.solved, (size_t)c->potential_count);
    if (!good) return false;
    c->nodes_taken = words.taken;
    c->solutions = words.solutions;
    for (int k = 0; k < c->potential_count && good; ++k)
        good = get_values(c->potentials[k].values, d->potentials[k].values, count);
    for (int g = 0; g < host->scene->group_count && good; ++g)
        if (c->faces[g].cost)
            good = get_values(c->faces[g].cost, d->faces[g].cost, count) &&
                   get_values(c->faces[g].speed, d->faces[g].speed, count) &&
                   get_values(c->faces[g].portal_cost, d->faces[g].portal_cost, portals * TH_FACES);
    return good;
}

// ---- a step

// Which agent wants which potential, and whether any is to be solved.
static void find_due(th_world *host, continuum_device *d) {
    const th_continuum *c = d->c;
    potential_words *words = d->solver.words;
    bool due = d->forced || host->step_count % th_continuum_every(host) == 0;
    d->forced = false;
    clear(d->known.wanted, (size_t)d->known.potential_count);
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            int k = th_continuum_potential_of(c, world, i);
            if (k >= 0) c->wanted[k] = 1; // all writers write the same value
        });
    once(
        host, TH_LAMBDA(th_world *) {
            words->due = due ? 1 : 0;
            for (int k = 0; k < c->potential_count; ++k)
                if (c->wanted[k] && !c->solved[k]) words->due = 1;
            words->count[0] = words->count[1] = words->count[2] = 0;
            if (!words->due) return;
            for (int k = 0; k < c->potential_count; ++k) c->solved[k] = c->wanted[k];
            words->taken = 0;
            ++words->solutions;
        });
}

static void splat(th_world *host, continuum_device *d) {
    const th_continuum *c = d->c;
    const potential_words *words = d->solver.words;
    th_splat_settings set = th_splat_settings_of(host);
    int nodes = d->known.nodes.count;
    clear(d->known.sums, (size_t)nodes * sizeof *d->known.sums);
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            if (!words->due || th_gone(world->agents.phase[i])) return;
            th_splat_part part = {c, th_world_walls(world), set, 0, nodes};
            th_splat_person(&part, &world->agents, (uint32_t)i);
        });
    each(
        nodes, TH_LAMBDA(int i) {
            if (words->due) th_node_take_sums(c, i);
        });
}

// Is there a wanted potential on the faces of the group?
TH_ON_GPU static bool faces_are_used(const th_continuum *c, int group) {
    for (int k = 0; k < c->potential_count; ++k)
        if (c->wanted[k] && c->same_faces[c->potentials[k].group] == group) return true;
    return false;
}

static void make_faces(th_world *host, continuum_device *d, int group) {
    const th_continuum *c = d->c;
    const th_world *world = world_on_device(host);
    const potential_words *words = d->solver.words;
    each(
        d->known.nodes.count, TH_LAMBDA(int i) {
            if (!words->due || !faces_are_used(c, group)) return;
            int nx = c->nodes.levels[th_node_level_of(&c->nodes, i)].nx;
            th_node_make_faces(c, th_continuum_params_of(world, group), &c->faces[group], i, nx);
        });
    each(
        d->known.nodes.portal_count, TH_LAMBDA(int i) {
            if (words->due && faces_are_used(c, group))
                th_portal_make_faces(c, th_continuum_params_of(world, group), &c->faces[group], i);
        });
}

// Nothing is known but the nodes beside the goals, whose tiles are woken.
static void begin_solution(th_world *host, continuum_device *d) {
    const th_continuum *c = d->c;
    const th_world *world = world_on_device(host);
    potential_solver s = d->solver;
    int potentials = d->known.potential_count, most = d->goals_most;
    each(
        s.nodes, TH_LAMBDA(int i) {
            for (int k = 0; s.words->due && k < potentials; ++k)
                if (c->wanted[k]) c->potentials[k].values[i] = TH_UNREACHABLE;
        });
    each(
        s.tiles * potentials, TH_LAMBDA(int i) { s.turn[i] = s.woken[i] = 0; });
    each(
        potentials * most, TH_LAMBDA(int i) {
            int k = i / most, g = i % most;
            const th_goal_nodes *goals = &c->goals[c->potentials[k].target];
            if (!s.words->due || !c->wanted[k] || g >= goals->count) return;
            const th_continuum_params *p =
                th_continuum_params_of(world, c->same_faces[c->potentials[k].group]);
            float value = th_face_cost(p, p->top_speed, 0.0f) * goals->nodes[g].distance;
            uint32_t bits; // of numbers that are not negative: in their order
            memcpy(&bits, &value, sizeof bits);
            smallest((uint32_t *)&c->potentials[k].values[goals->nodes[g].node], bits);
            wake(s, k, tile_of(s, goals->nodes[g].node), 1);
        });
}

// The copy that was written last, where that is the other one.
static void end_solution(continuum_device *d) {
    const th_continuum *c = d->c;
    potential_solver s = d->solver;
    int potentials = d->known.potential_count;
    each(
        s.nodes, TH_LAMBDA(int i) {
            if (!s.words->due) return;
            int tile = tile_of(s, i);
            for (int k = 0; k < potentials; ++k) {
                if (!c->wanted[k]) continue;
                float value = copy_of(s, k, tile, ROUNDS_MOST)[i];
                c->potentials[k].values[i] = value < TH_CONTINUUM_FAR ? value : TH_UNREACHABLE;
            }
        });
}

static bool solve_on_host(th_world *host, continuum_device *d) {
    th_continuum *c = host_of(host);
    potential_words words;
    size_t count = (size_t)c->nodes.count, portals = (size_t)c->nodes.portal_count;
    bool good = finish() && get(&words, d->solver.words, sizeof words) &&
                get_values(c->wanted, d->known.wanted, (size_t)c->potential_count);
    if (!good || !words.due) return good;
    for (int g = 0; g < host->scene->group_count && good; ++g)
        if (c->faces[g].cost)
            good = get_values(c->faces[g].cost, d->faces[g].cost, count) &&
                   get_values(c->faces[g].portal_cost, d->faces[g].portal_cost, portals * TH_FACES);
    if (!good) return false;
    th_continuum_solve(c, host);
    for (int k = 0; k < c->potential_count && good; ++k)
        if (c->wanted[k])
            good = put_values(d->potentials[k].values, c->potentials[k].values, count);
    words.taken = c->nodes_taken;
    return good && put(d->solver.words, &words, sizeof words);
}

static void walk(th_world *host, continuum_device *d) {
    const th_continuum *c = d->c;
    step_sums *sums = &host->device_world->sums->step;
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            if (!th_continuum_has(world, (int)world->agents.group[i])) return;
            th_planner planner = th_planner_of(world);
            if (th_continuum_plan(c, &planner, i)) return;
            if (th_plan_person(&planner, i, th_goes_straight(&planner, world->agents.group[i])))
                add(&sums->unreachable, (uint64_t)1);
        });
}

static void continuum_run(th_world *host) {
    continuum_device *d = device_of(host);
    find_due(host, d);
    splat(host, d);
    for (int g = 0; g < host->scene->group_count; ++g)
        if (th_continuum_has(host, g) && host_of(host)->same_faces[g] == g) make_faces(host, d, g);
    if (EXACT) {
        solve_on_host(host, d);
    } else {
        begin_solution(host, d);
        int items = d->solver.tiles * d->known.potential_count;
        grid(items < d->blocks ? items : d->blocks, d->blocks,
             sizeof(tile_memory) * (GRID_THREADS / TEAM_WARP), d->partial,
             solve_potentials{d->solver});
        end_solution(d);
    }
    walk(host, d);
}

const device_model device_plan_continuum = {.create = continuum_create,
                                            .destroy = continuum_destroy,
                                            .run = continuum_run,
                                            .send = continuum_send,
                                            .fetch = continuum_fetch};

} // namespace th
