// The CUDA backend: the whole world lives on the device, and a step is a row of kernels over the same
// per-person functions that the CPU runs (core/device.h). Nothing crosses the bus in a step but what somebody
// asked for. Integers are added up by atomics, floats never are, so two runs give the same bits.
// SPDX-License-Identifier: Apache-2.0
#include "cuda/device.cuh"
extern "C" {
#include "core/error.h" // the one thing that is called at home
}
// What of the house the kernels call; the order is that of use.
#include "behave/route.c"
#include "filter/densesense.c"
#include "move/contact.c"
#include "move/helbing_molnar.c"
#include "move/orca.c"
#include "move/pbd.c"
#include "move/pbd_cohesion.c"
#include "move/pbd_list.c"
#include "move/pbd_solve.c"
#include "move/scripted.c"
#include "move/social_force.c"
#include "move/substep.c"
#include "move/uic_floor.c"
#include "move/uic_pairs.c"
#include "move/uic_project.c"
#include "move/uic_splat.c"
#include "plan/plan.c"
#include "plan/roadmap_way.c"
#include "plan/sight.c"
#include "plan/way.c"
#include "scene/draw.c"
#include "scene/polygons.c"
#include "space/distance_grid.c"
#include "space/index.c"
#include "space/walls.c"
#include "state/nearest.c"
#include "state/neighbours.c"
#include "world/measure.c"
#include "world/spawn.c"
#include "world/statistics.c"
// clang-format off
#include "cuda/moving.cuh"
#include "cuda/scan.cuh"
#include "cuda/team.cuh"
#include "cuda/upload.cuh"
#include "state/device.h"
// clang-format on

namespace th {

struct uic_grids; // uic.cuh

enum { PASSES_MOST = 32 };

// Sums of a step, on the device; nothing when it begins.
struct step_sums {
    uint32_t furthest; // largest square of a way, as bits
    int left;
    uint64_t unreachable, repairs, stops;
};
struct sums {
    step_sums step;
    uint64_t overlapping, pairs_twice, in_solids, hash;
    uint32_t deepest; // as bits
    uint32_t under_way;
    uint32_t event_count; // more than TH_EVENT_MAX: the rest is lost
};

// Something that happened, with what orders the events of one step: those from home first, then by the place in
// memory of who left.
struct happened {
    uint64_t step; // after which
    uint32_t place, id;
    int kind, index;
};

} // namespace th

struct th_cuda {
    th::store store;
    th_world *world; // on the device
    th_world known;  // its pointers; what else is in it may be old
    th::sums *sums;
    th::stopwatch watch;
    th::happened *events; // TH_EVENT_MAX
    uint32_t *box_keys;   // four a level: the crowd's box on open planes
    th::moving *moving;   // the step of a model with sub-steps, on the device
    th::pbd_memory pbd;
    uint32_t *tiles; // work space of the running sums
    th_nodes *nodes;      // of the scene's plan, on the device
    th_plans plans;       // the world's own, with device pointers; once walls have changed or may
    float **fields;       // plans.fields as an array at home
    th_roadmap roadmap;   // what plans.roadmap points to
    int bound;                // not more people than this are on the device
    int cells;                // not more cells than this are in use
    bool bounded, sources;
    bool host_newer;
    uint32_t fresh; // fields of which the host has a true copy
    th::uic_grids *uic;
};

namespace th {

static th_world *device_world(const th_world *world) { return world->cuda->world; }

// function(world, i) for everybody on the device.
template <class Function> void everybody(const th_world *host, Function function) {
    th_world *world = device_world(host);
    each(host->cuda->bound, TH_LAMBDA(int i) {
        if (i < world->agents.count) function(world, i);
    });
}
// The same with `resident` blocks on a processor.
template <int resident, class Function> void everybody_resident(const th_world *host, Function function) {
    th_world *world = device_world(host);
    each_resident<resident>(host->cuda->bound, TH_LAMBDA(int i) {
        if (i < world->agents.count) function(world, i);
    });
}
// *most becomes the largest function(world, i), if that is more.
template <class Function> void everybody_most(const th_world *host, uint32_t *most, Function function) {
    th_world *world = device_world(host);
    each_most(host->cuda->bound, most, TH_LAMBDA(int i) {
        return i < world->agents.count ? function(world, i) : 0u;
    });
}
// function(world), once.
template <class Function> void once(const th_world *host, Function function) {
    th_world *world = device_world(host);
    each(1, TH_LAMBDA(int) { function(world); });
}

static void **field_pointer(th_agents *agents, int field) {
    switch (field) {
#define X(NAME, name, type, doc) \
    case TH_FIELD_##NAME: return (void **)&agents->name;
        TH_FIELDS(X)
#undef X
    }
    return nullptr;
}

// ---- index

// The crowd's boxes on open planes; of all four keys of a level the largest is found, so the first two are those of
// -x and -y, in which order the complements of keys are.
static void find_crowd(th_world *host) {
    th_world *world = device_world(host);
    uint32_t *keys = host->cuda->box_keys;
    static_assert((int)FOUND == 4, "two corners");
    clear(keys, 4 * (size_t)host->scene->level_count * sizeof *keys);
    for (int l = 0; l < host->scene->level_count; ++l) {
        if (host->scene->levels[l].bounded) continue;
        find_most(host->cuda->bound, keys + 4 * l, TH_LAMBDA(int i, uint32_t *found) {
            const th_agents *agents = &world->agents;
            if (i >= agents->count || agents->level[i] != (uint32_t)l || th_gone(agents->phase[i])) return;
            uint32_t x = ordered(agents->position_x[i]), y = ordered(agents->position_y[i]);
            const uint32_t own[FOUND] = {~x, ~y, x, y};
            for (int f = 0; f < FOUND; ++f) found[f] = own[f] > found[f] ? own[f] : found[f];
        });
    }
}

// The same with plain keys; the first is larger than the third where nobody is.
static void crowd_boxes(th_world *host) {
    uint32_t *keys = host->cuda->box_keys;
    find_crowd(host);
    each(4 * host->scene->level_count, TH_LAMBDA(int k) { keys[k] = k & 2 ? keys[k] : ~keys[k]; });
}

} // namespace th
#include "cuda/uic.cuh"
namespace th {

static void lay_index(th_world *host) {
    th_cuda *cuda = host->cuda;
    uint32_t *keys = cuda->box_keys;
    if (cuda->uic) { // its grids lie as the index does, and are laid at home
        uic_lay(host);
        return;
    }
    if (!cuda->bounded) find_crowd(host);
    once(host, TH_LAMBDA(th_world * world) {
        for (int l = 0; l < world->scene->level_count; ++l) {
            th_box *box = &world->level_boxes[l];
            *box = world->scene->levels[l].box;
            const uint32_t *key = keys + 4 * l;
            if (!world->scene->levels[l].bounded && ~key[0] <= key[2])
                *box = {unordered(~key[0]), unordered(~key[1]), unordered(key[2]), unordered(key[3])};
        }
        th_index_lay(&world->index, world->level_boxes, world->cell_size);
    });
}

// Everybody's cell; afterwards `order` has the people of each cell beside each other, as they came.
static void sort_people(th_world *host) {
    th_cuda *cuda = host->cuda;
    uint32_t *start = cuda->known.index.cell_start;
    const int *cells = &cuda->world->index.cell_count;
    clear_counted(start, cells, cuda->cells);
    everybody(host, TH_LAMBDA(th_world * world, int i) {
        th_agents *agents = &world->agents;
        const th_level_grid *grid = &world->index.grids[agents->level[i]];
        int column = th_grid_column(grid, agents->position_x[i]);
        int row = th_grid_row(grid, agents->position_y[i]);
        uint32_t cell = th_gone(agents->phase[i]) ? TH_NO_CELL
                                                  : (uint32_t)(grid->first + row * grid->nx + column);
        agents->cell[i] = cell;
        if (cell != TH_NO_CELL) agents->slot[i] = add(&world->index.cell_start[cell], 1u);
    });
    scan_counted(start, cells, cuda->cells, cuda->tiles);
    everybody(host, TH_LAMBDA(th_world * world, int i) {
        th_agents *agents = &world->agents;
        uint32_t cell = agents->cell[i];
        if (cell != TH_NO_CELL)
            agents->order[world->index.cell_start[cell] + agents->slot[i]] = (uint32_t)i;
    });
}

// Some fields on their way into the order of cells. The arrays that a step writes are free while people are sorted,
// so as many fields go at once; the field's old array takes the place of the one it went to.
struct gathering {
    enum { MOST = 7 }; // 20 fields in three launches
    const uint32_t *from[MOST];
    uint32_t *to[MOST];
    int count;

    TH_ON_GPU void move(uint32_t person, uint32_t place) const {
        uint32_t values[MOST]; // all on their way before the first is written
        for (int f = 0; f < MOST; ++f)
            if (f < count) values[f] = from[f][person];
        for (int f = 0; f < MOST; ++f)
            if (f < count) to[f][place] = values[f];
    }
};

static gathering next_fields(th_agents *agents, int first) {
    float **empty[gathering::MOST] = {&agents->next_position_x, &agents->next_position_y, &agents->next_velocity_x,
                                      &agents->next_velocity_y, &agents->work_x,          &agents->work_y,
                                      &agents->work2_x};
    gathering some;
    memset(&some, 0, sizeof some);
    for (; some.count < gathering::MOST && first + some.count < TH_FIELD_COUNT; ++some.count) {
        void **field = field_pointer(agents, first + some.count), *old = *field;
        some.from[some.count] = (const uint32_t *)old;
        some.to[some.count] = (uint32_t *)*empty[some.count];
        *field = *empty[some.count];
        *empty[some.count] = (float *)old;
    }
    return some;
}

// All fields into the order of cells and, within a cell, of ids. Bound by memory: 172 bytes a person.
static void gather_fields(th_world *host) {
    th_cuda *cuda = host->cuda;
    th_agents *agents = &cuda->known.agents;
    const uint32_t *cell = agents->cell, *listed = agents->order, *id = agents->id;
    const uint32_t *start = cuda->known.index.cell_start;
    const int *cells = &cuda->world->index.cell_count; // where the last cell ends: people who are still there
    uint32_t *order = agents->slot;
    gathering some = next_fields(agents, 0);
    each(cuda->bound, TH_LAMBDA(int k) {
        if ((uint32_t)k >= start[*cells]) return;
        uint32_t person = listed[k], own = id[person];
        uint32_t begin = start[cell[person]], end = start[cell[person] + 1], place = begin;
        for (uint32_t other = begin; other < end; ++other) place += id[listed[other]] < own;
        order[place] = person;
        some.move(person, place);
    });
    th_world *world = cuda->world;
    for (int first = gathering::MOST; first < TH_FIELD_COUNT; first += gathering::MOST) {
        some = next_fields(agents, first);
        bool last = first + gathering::MOST >= TH_FIELD_COUNT;
        th_agents sorted = *agents;
        // Nobody in this launch looks at world->agents.
        each(cuda->bound > 0 ? cuda->bound : 1, TH_LAMBDA(int k) {
            if ((uint32_t)k < start[*cells]) some.move(order[k], (uint32_t)k);
            if (!last || k > 0) return;
            world->agents = sorted;
            world->agents.count = (int)start[*cells];
        });
    }
}

static void stage_index(th_world *host) {
    lay_index(host);
    sort_people(host);
    gather_fields(host);
}

// ---- stages

static void stage_events(th_world *host) {
    if (host->cuda->sources) once(host, TH_LAMBDA(th_world * world) { th_spawn_sources(world); });
}

static void stage_behave(th_world *host) {
    everybody(host, TH_LAMBDA(th_world * world, int i) { behave_one(world, i); });
}

static bool fetch(th_world *host, uint32_t fields);
static bool send_plan(th_world *host);

// Whose way is simple has a kernel of its own: what the others need would cost everybody registers.
template <bool straight, bool bare> void plan_people(th_world *host) {
    step_sums *s = &host->cuda->sums->step;
    everybody(host, TH_LAMBDA(th_world * world, int i) {
        th_planner planner = planner_of(world);
        planner.bare = bare;
        if (goes_straight(&planner, world->agents.group[i]) != straight) return;
        if (plan_one(&planner, i, straight)) add(&s->unreachable, (uint64_t)1);
    });
}

static void stage_plan(th_world *host) {
    if (th_plan_crowd_is_due(host)) {
        fetch(host, TH_FIELD_BIT(TH_FIELD_POSITION_X) | TH_FIELD_BIT(TH_FIELD_POSITION_Y) |
                        TH_FIELD_BIT(TH_FIELD_LEVEL));
        th_plan_crowd_look(host);
        send_plan(host);
        host->cuda->fresh = 0; // the step goes on
    }
    th_planner planner = planner_of(host);
    bool any[2] = {false, false};
    for (int g = 0; g < host->scene->group_count; ++g) any[goes_straight(&planner, (uint32_t)g)] = true;
    if (any[true] && planner.bare) plan_people<true, true>(host);
    if (any[true] && !planner.bare) plan_people<true, false>(host);
    if (any[false]) plan_people<false, false>(host);
}

static bool group_uses(const th_world *host, th_model move) {
    for (int g = 0; g < host->group_count; ++g)
        if (!host->groups[g].scripted && host->groups[g].move == move) return true;
    return false;
}

static void stage_filter(th_world *host) {
    bool any = false;
    for (int g = 0; g < host->group_count; ++g)
        any = any || (!host->groups[g].scripted && host->groups[g].filter == TH_FILTER_DENSESENSE);
    if (!any) return;
    everybody(host, TH_LAMBDA(th_world * world, int i) {
        if (!is_filtered(world, i)) return;
        th_walls walls = th_world_walls(world);
        walker who;
        around list;
        take_group(&who, &world->groups[world->agents.group[i]]);
        filter_one(world, &walls, &who, nullptr, &list, i);
    });
}

} // namespace th
#include "cuda/forces.cuh"
#include "cuda/orca.cuh"
#include "cuda/pbd.cuh"
namespace th {

static void stage_move(th_world *host) {
    if (host->scene->scripted_count > 0)
        everybody(host, TH_LAMBDA(th_world * world, int i) { move_scripted_one(world, i); });
    if (group_uses(host, TH_MOVE_ORCA)) move_orca(host);
    if (group_uses(host, TH_MOVE_SOCIAL_FORCE)) move_social_force(host);
    if (group_uses(host, TH_MOVE_HELBING_MOLNAR)) move_helbing_molnar(host);
    if (group_uses(host, TH_MOVE_PBD)) move_pbd(host);
    if (host->cuda->uic) uic_move(host);
}

// Nothing that people could not walk through: they go where they are pushed.
static bool open_ground(const th_world *host) {
    return host->wall_count == 0 && host->scene->link_count == 0 && host->scene->goal_count == 0;
}

// In the last pass on open ground who was pushed has the velocity it really moved with; elsewhere walls come first.
template <bool open> void separate_people(th_world *host, int pass, bool last) {
    const step_sums *s = &host->cuda->sums->step;
    th_agents *agents = &host->cuda->known.agents;
    separation known = separation_of(agents, pass, 0.0f);
    everybody(host, TH_LAMBDA(th_world * world, int i) {
        th_walls walls = th_world_walls(world);
        float furthest2;
        memcpy(&furthest2, &s->furthest, sizeof furthest2);
        separation now = known;
        now.moved = sqrtf(furthest2) + (float)pass * 0.5f * world->max_radius;
        separate_one(world, open ? nullptr : &walls, &now, i);
        if (open && last && world->agents.slot[i] & WAS_PUSHED)
            take_real_velocity(world, (uint32_t)i, th_position(&world->agents, (uint32_t)i),
                               th_v(now.to_x[i], now.to_y[i]));
    });
    take_pass(agents);
}

// What the stages before have counted, and the arrays that passes and commit have changed places of. The step is
// over but for who arrives in it.
static void end_contact(th_world *host, int passes) {
    const step_sums *s = &host->cuda->sums->step;
    commit(&host->cuda->known.agents);
    th_agents agents = host->cuda->known.agents;
    once(host, TH_LAMBDA(th_world * world) {
        float furthest2;
        memcpy(&furthest2, &s->furthest, sizeof furthest2);
        int count = world->agents.count;
        world->agents = agents;
        world->agents.count = count;
        world->counters.unreachable = s->unreachable;
        world->counters.repairs += s->repairs;
        world->counters.wall_stops += s->stops;
        world->max_moved = sqrtf(furthest2) + (float)passes * 0.5f * world->max_radius +
                           world->max_radius;
        world->step_count++;
    });
}

static void stage_contact(th_world *host) {
    step_sums *s = &host->cuda->sums->step;
    everybody_most(host, &s->furthest, TH_LAMBDA(th_world * world, int i) {
        int repairs = 0;
        float moved2 = repair_one(world, i, &repairs);
        uint32_t bits;
        memcpy(&bits, &moved2, sizeof bits); // never negative: bits are in the same order
        if (repairs) add(&s->repairs, (uint64_t)repairs);
        return bits;
    });
    int passes = pair_passes(host);
    bool open = open_ground(host);
    for (int pass = 0; pass < passes; ++pass) {
        if (open)
            separate_people<true>(host, pass, pass + 1 == passes);
        else
            separate_people<false>(host, pass, pass + 1 == passes);
    }
    // What the last pass wrote is what walls are held against; after two passes the arrays are where they were.
    if (!open && passes % 2 == 1) once(host, TH_LAMBDA(th_world * world) { take_pass(&world->agents); });
    if (!open)
        everybody(host, TH_LAMBDA(th_world * world, int i) {
            th_walls walls = th_world_walls(world);
            if (keep_out_of_walls(world, &walls, i, passes > 0)) add(&s->stops, (uint64_t)1);
        });
    end_contact(host, passes);
}

static void sample_overlaps(th_world *host) {
    sums *s = host->cuda->sums;
    once(host, TH_LAMBDA(th_world *) {
        s->overlapping = s->pairs_twice = s->in_solids = 0;
        s->deepest = 0;
    });
    everybody_most(host, &s->deepest, TH_LAMBDA(th_world * world, int i) {
        if ((uint32_t)i >= world->index.cell_start[world->index.cell_count]) return 0u;
        if (world->agents.phase[i] >= TH_PHASE_BODY) return 0u;
        int deep;
        float depth = overlaps_of(world, (uint32_t)i, 2.0f * world->max_moved, &deep);
        uint32_t bits;
        memcpy(&bits, &depth, sizeof bits);
        if (deep > 0) {
            add(&s->overlapping, (uint64_t)1);
            add(&s->pairs_twice, (uint64_t)deep);
        }
        return bits;
    });
    once(host, TH_LAMBDA(th_world * world) {
        float deepest;
        memcpy(&deepest, &s->deepest, sizeof deepest);
        world->counters.largest_overlap = th_max(world->counters.largest_overlap, deepest);
    });
}

static void count_lines(th_world *host) {
    if (th_counted_line_count(host->scene) == 0) return;
    everybody(host, TH_LAMBDA(th_world * world, int i) {
        for (int l = 0; l < th_counted_line_count(world->scene); ++l) {
            int side = crossing_of(&world->agents, counted_line(world->scene, l), (uint32_t)i);
            if (side == 0) continue;
            th_line_count *line = &world->lines[l];
            add(side > 0 ? &line->forward : &line->backward, (uint64_t)1);
            line->last_time = -1.0; // crossed in this step; the time is set below
        }
    });
    once(host, TH_LAMBDA(th_world * world) {
        for (int l = 0; l < th_counted_line_count(world->scene); ++l) {
            th_line_count *line = &world->lines[l];
            if (!(line->last_time < 0.0)) continue;
            line->last_time = world->time;
            if (!(line->first_time > 0.0)) line->first_time = world->time;
        }
    });
}

// Times of waiting begin with the step, as on the CPU: the clock goes on after everybody has arrived.
template <bool routes> void arrive(th_world *host) {
    sums *s = host->cuda->sums;
    happened *events = host->cuda->events;
    everybody(host, TH_LAMBDA(th_world * world, int i) {
        if (arrive_one(world, i, routes) == 0) return;
        add(&s->step.left, 1);
        add(&world->counters.left_digest, leaving_of(world, (uint32_t)i));
        uint32_t at = add(&s->event_count, 1u);
        if (at < TH_EVENT_MAX)
            events[at] = {world->step_count, (uint32_t)i + 1, world->agents.id[i],
                          TH_EVENT_LEFT, (int)world->agents.route_step[i]};
    });
}

static void stage_measure(th_world *host) {
    const step_sums *s = &host->cuda->sums->step;
    if (host->scene->target_count > 0)
        arrive<true>(host);
    else
        arrive<false>(host);
    once(host, TH_LAMBDA(th_world * world) {
        world->time = (double)world->step_count * world->step_length;
        world->counters.left += (uint64_t)s->left;
        if (s->left > 0) world->counters.last_left_time = world->time;
    });
    count_lines(host);
    if (host->step_count % steps_per_second(host) != 0) return;
    sample_overlaps(host);
    if (open_ground(host)) return;
    everybody(host, TH_LAMBDA(th_world * world, int i) {
        th_walls walls = th_world_walls(world);
        if (in_solid(world, &walls, i)) add(&world->counters.wall_crossings, (uint64_t)1);
    });
}

// ---- to the device and back

static bool put_array(void *device, const void *host, size_t bytes) {
    return bytes == 0 || put(device, host, bytes);
}

// The world's own plans: memory for them the first time, and then their values again and again.
static bool send_plan(th_world *host) {
    th_cuda *cuda = host->cuda;
    const th_plans *plans = &host->plan->plans;
    size_t nodes = (size_t)host->scene->plan->nodes.count, targets = (size_t)host->scene->target_count;
    if (!host->plan->own) return true;
    if (!cuda->fields) {
        struct th_plan_world plan;
        memset(&plan, 0, sizeof plan);
        plan.own = true;
        plan.plans = copy_plans(cuda->store, plans, &host->scene->plan->nodes, cuda->nodes, host->scene);
        cuda->plans = plan.plans;
        cuda->fields = (float **)calloc(targets + 1, sizeof(float *));
        bool good = !cuda->store.failed && cuda->fields && put(cuda->known.plan, &plan, sizeof plan);
        if (good && plan.plans.fields && targets > 0)
            good = get(cuda->fields, plan.plans.fields, targets * sizeof(float *));
        if (good && plan.plans.roadmap)
            good = get(&cuda->roadmap, plan.plans.roadmap, sizeof cuda->roadmap);
        return good;
    }
    bool good = put_array(cuda->plans.graph.links, plans->graph.links, nodes) &&
                put_array(cuda->plans.graph.portals, plans->graph.portals,
                          (size_t)host->scene->plan->nodes.portal_count * sizeof(th_portal));
    for (size_t t = 0; t < targets && good; ++t)
        if (plans->fields[t]) good = put_array(cuda->fields[t], plans->fields[t], nodes * sizeof(float));
    if (good && plans->roadmap) {
        size_t n = (size_t)plans->roadmap->count;
        good = put_array(cuda->roadmap.nodes, plans->roadmap->nodes, n * sizeof(th_road_node)) &&
               put_array(cuda->roadmap.table, plans->roadmap->table, n * n * sizeof(float));
    }
    return good;
}

static bool send(th_world *host) {
    th_cuda *cuda = host->cuda;
    th_agents *agents = &cuda->known.agents;
    bool good = true;
    for (int f = 0; f < TH_FIELD_COUNT; ++f)
        good = put_array(*field_pointer(agents, f), *field_pointer(&host->agents, f),
                         (size_t)host->agents.count * 4) && good;
    good = put_array(cuda->known.groups, host->groups, (size_t)host->group_count * sizeof *host->groups) && good;
    good = put_array(cuda->known.sources, host->sources,
                     (size_t)host->scene->group_count * sizeof *host->sources) && good;
    good = put_array(cuda->known.door_closed, host->door_closed, (size_t)host->scene->door_count) && good;
    good = put_array(cuda->known.walls, host->walls, (size_t)host->wall_count * sizeof *host->walls) && good;
    good = put_array(cuda->known.lines, host->lines,
                     (size_t)th_counted_line_count(host->scene) * sizeof *host->lines) && good;
    good = send_plan(host) && good;
    th_world now = cuda->known; // device pointers, and the host's values
    now.seed = host->seed;
    now.step_length = host->step_length;
    now.dt = host->dt;
    now.time = host->time;
    now.step_count = host->step_count;
    now.next_id = host->next_id;
    now.cell_size = host->cell_size;
    now.max_radius = host->max_radius;
    now.max_moved = host->max_moved;
    now.wall_count = host->wall_count;
    now.walls_version = host->walls_version;
    now.counters = host->counters;
    now.agents.count = host->agents.count;
    now.agents.capacity = host->agents.capacity;
    cuda->known = now;
    cuda->bound = cuda->sources ? host->agents.capacity : host->agents.count;
    good = put(cuda->world, &now, sizeof now) && good;
    cuda->host_newer = false;
    cuda->fresh = TH_ALL_FIELDS;
    if (cuda->uic) good = uic_send(host) && good;
    return good;
}

static int compare_events(const void *left, const void *right) {
    const happened *a = (const happened *)left, *b = (const happened *)right;
    if (a->step != b->step) return a->step < b->step ? -1 : 1;
    if (a->place != b->place) return a->place < b->place ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static bool fetch_events(th_world *host) {
    th_cuda *cuda = host->cuda;
    sums s;
    if (!get(&s, cuda->sums, sizeof s)) return false;
    uint32_t kept = s.event_count < TH_EVENT_MAX ? s.event_count : (uint32_t)TH_EVENT_MAX;
    happened *list = (happened *)malloc(((size_t)kept + 1) * sizeof *list);
    bool good = list && (kept == 0 || get(list, cuda->events, kept * sizeof *list));
    if (good) {
        qsort(list, kept, sizeof *list, compare_events);
        for (uint32_t k = 0; k < kept; ++k) {
            th_event *event = &host->events[k];
            memset(event, 0, sizeof *event);
            event->kind = (th_event_kind)list[k].kind;
            event->time = (double)list[k].step * host->step_length;
            event->index = list[k].index;
            event->agent.serial = event->kind == TH_EVENT_LEFT ? list[k].id : 0;
        }
        host->event_count = (int)kept;
        host->events_lost = s.event_count - kept;
    }
    free(list);
    return good;
}

static void forget_events(th_world *host) {
    sums *s = host->cuda->sums;
    once(host, TH_LAMBDA(th_world *) { s->event_count = 0; });
}

static void note_event(th_world *host, const th_event *event) {
    sums *s = host->cuda->sums;
    happened *events = host->cuda->events;
    happened own = {host->step_count, 0, 0, (int)event->kind, event->index};
    once(host, TH_LAMBDA(th_world *) {
        if (s->event_count < TH_EVENT_MAX) {
            events[s->event_count] = own;
            events[s->event_count].id = s->event_count; // in the order they were noted
        }
        s->event_count++;
    });
}

static bool fetch(th_world *host, uint32_t fields) {
    th_cuda *cuda = host->cuda;
    if (cuda->host_newer) return true;
    if (!finish()) return false;
    if (cuda->watch.read(host->profile.seconds)) host->profile.steps++;
    th_world now;
    bool good = get(&now, cuda->world, sizeof now);
    if (!good) return false;
    host->agents.count = now.agents.count;
    host->next_id = now.next_id;
    host->max_radius = now.max_radius;
    host->max_moved = now.max_moved;
    host->counters = now.counters;
    size_t lines = (size_t)th_counted_line_count(host->scene);
    for (size_t l = 0; l < lines; ++l) {
        const char *id = host->lines[l].id;
        good = get(&host->lines[l], &cuda->known.lines[l], sizeof *host->lines) && good;
        host->lines[l].id = id;
    }
    if (cuda->sources)
        good = get(host->sources, cuda->known.sources,
                   (size_t)host->scene->group_count * sizeof *host->sources) && good;
    good = fetch_events(host) && good;
    for (int f = 0; f < TH_FIELD_COUNT; ++f)
        if (fields & ~cuda->fresh & TH_FIELD_BIT(f))
            good = get(*field_pointer(&host->agents, f), *field_pointer(&cuda->known.agents, f),
                       (size_t)now.agents.count * 4) && good;
    cuda->fresh |= fields;
    if (cuda->uic && fields == TH_ALL_FIELDS) good = uic_fetch_memory(host) && good;
    return good;
}

static bool fetch_grids(th_world *host) {
    if (!host->cuda->uic || host->cuda->host_newer) return true;
    return finish() && uic_fetch_grids(host);
}

// ---- making and ending

static void take_people(th_cuda *cuda, size_t n) {
    th_agents *agents = &cuda->known.agents;
    for (int f = 0; f < TH_FIELD_COUNT; ++f) *field_pointer(agents, f) = cuda->store.take(n * 4);
    float **floats[] = {&agents->next_position_x, &agents->next_position_y, &agents->next_velocity_x,
                        &agents->next_velocity_y, &agents->work_x,          &agents->work_y,
                        &agents->work2_x,         &agents->work2_y};
    for (float **array : floats) *array = cuda->store.room<float>(n);
    uint32_t **words[] = {&agents->cell, &agents->order, &agents->slot};
    for (uint32_t **array : words) *array = cuda->store.room<uint32_t>(n);
    for (void *&other : agents->other) other = nullptr;
}

static bool take_all(th_world *host) {
    th_cuda *cuda = host->cuda;
    const th_scene *scene = host->scene;
    store &s = cuda->store;
    th_nodes *nodes = nullptr;
    cuda->world = s.room<th_world>(1);
    cuda->sums = s.room<sums>(1);
    cuda->events = s.room<happened>(TH_EVENT_MAX);
    cuda->box_keys = s.room<uint32_t>(4 * (size_t)scene->level_count);
    cuda->known = *host;
    take_people(cuda, (size_t)host->agents.capacity + TH_ARRAY_PAD);
    cuda->known.scene = copy_scene(s, scene, &nodes);
    cuda->known.index.grids = s.room<th_level_grid>((size_t)scene->level_count);
    cuda->known.index.cell_start = s.room<uint32_t>((size_t)host->index.cell_capacity + 1);
    cuda->known.index.block_sum = nullptr;
    cuda->known.level_boxes = s.room<th_box>((size_t)scene->level_count);
    cuda->known.groups = s.room<th_group_state>((size_t)host->group_count);
    cuda->known.sources = s.room<th_source_state>((size_t)scene->group_count);
    cuda->known.door_closed = s.room<uint8_t>((size_t)scene->door_count);
    cuda->known.walls = s.room<th_wall>((size_t)scene->wall_count + 2 * TH_LIVE_WALL_MAX);
    cuda->known.lines = s.room<th_line_count>((size_t)th_counted_line_count(scene));
    cuda->known.uic = nullptr;
    cuda->moving = s.room<moving>(1);
    cuda->known.pbd = nullptr;
    if (group_uses(host, TH_MOVE_PBD))
        cuda->known.pbd = take_pbd(s, &cuda->pbd, (size_t)host->agents.capacity, host->group_count);
    cuda->nodes = nodes;
    cuda->known.plan = s.room<struct th_plan_world>(1);
    if (cuda->known.plan) clear(cuda->known.plan, sizeof(struct th_plan_world));
    if (!s.failed && !send_plan(host)) s.failed = true;
    cuda->bounded = true;
    for (int l = 0; l < scene->level_count; ++l) cuda->bounded = cuda->bounded && scene->levels[l].bounded;
    for (int g = 0; g < scene->group_count; ++g)
        cuda->sources = cuda->sources || scene->groups[g].rate > 0.0 || scene->groups[g].arrival_count > 0;
    cuda->cells = cuda->bounded ? host->index.cell_count : host->index.cell_capacity;
    if (host->uic && !uic_take(host)) return false;
    cuda->tiles = s.room<uint32_t>(tiles_of(host->index.cell_capacity));
    return !s.failed;
}

static void destroy(th_world *host) {
    th_cuda *cuda = host->cuda;
    if (!cuda) return;
    finish();
    uic_give_back(host);
    cuda->store.give_back();
    cuda->watch.end();
    free(cuda->fields);
    delete cuda;
    host->cuda = nullptr;
}

static th_result find_device(const th_world *host, th_error *error) {
#ifdef __CUDACC__
    int devices = 0;
    cudaError_t found = cudaGetDeviceCount(&devices);
    if (found != cudaSuccess || devices == 0)
        return th_fail(error, TH_NO_DEVICE, "",
                       "no CUDA device was found (%s); install the NVIDIA driver, or use the CPU",
                       found != cudaSuccess ? cudaGetErrorString(found) : "the driver lists none");
#endif
    (void)host, (void)error;
    return TH_OK;
}

static th_result no_memory(const th_world *host, th_error *error) {
    size_t free_bytes = 0, all = 0;
#ifdef __CUDACC__
    cudaGetLastError(); // the failed allocation
    cudaMemGetInfo(&free_bytes, &all);
#endif
    return th_fail(error, TH_NO_MEMORY, "",
                   "%d people need about %.1f GB of device memory; %.1f of %.1f GB are free; use fewer people "
                   "or the CPU",
                   host->agents.capacity, (double)host->agents.capacity * 190.0 / 1e9,
                   (double)free_bytes / 1e9, (double)all / 1e9);
}

static th_result create(th_world *host, th_error *error) {
    th_result result = find_device(host, error);
    if (result != TH_OK) return result;
    host->cuda = new (std::nothrow) th_cuda();
    if (!host->cuda) return th_fail(error, TH_NO_MEMORY, "", "no memory for the world");
    if (!take_all(host)) {
        result = no_memory(host, error);
        destroy(host);
        return result;
    }
    clear(host->cuda->sums, sizeof(sums));
    host->cuda->host_newer = true;
    return TH_OK;
}

static_assert((int)TH_STAGE_COUNT + 1 == (int)stopwatch::MARKS, "a mark before and after each");

static void step(th_world *host) {
    th_cuda *cuda = host->cuda;
    if (cuda->host_newer) {
        send(host);
        stage_index(host);
    }
    cuda->fresh = 0;
    clear(&cuda->sums->step, sizeof cuda->sums->step);
    if (cuda->watch.read(host->profile.seconds)) host->profile.steps++;
    static void (*const stages[TH_STAGE_COUNT])(th_world *) = {
        stage_events, stage_index, stage_behave,  stage_plan,
        stage_filter, stage_move,  stage_contact, stage_measure};
    for (int k = 0; k < TH_STAGE_COUNT; ++k) {
        cuda->watch.mark(k);
        if (k == TH_STAGE_MEASURE) {
            host->step_count++;
            host->time = (double)host->step_count * host->step_length;
        }
        stages[k](host);
    }
    cuda->watch.mark(TH_STAGE_COUNT);
}

static void changed(th_world *host) { host->cuda->host_newer = true; }

static void statistics(th_world *host, th_statistics *out) {
    if (host->cuda->host_newer) send(host);
    stage_index(host);
    once(host, TH_LAMBDA(th_world * world) { world->max_moved = 0.0f; });
    sample_overlaps(host);
    host->cuda->fresh = 0;
    sums s;
    memset(&s, 0, sizeof s);
    if (!finish() || !get(&s, host->cuda->sums, sizeof s)) return;
    out->overlaps = s.pairs_twice / 2;
    out->overlapping_agents = s.overlapping;
    memcpy(&out->deepest_overlap, &s.deepest, sizeof s.deepest);
}

static uint64_t hash_people(th_world *host) {
    if (host->cuda->host_newer) send(host);
    sums *s = host->cuda->sums;
    once(host, TH_LAMBDA(th_world *) { s->hash = 0; });
    everybody(host, TH_LAMBDA(th_world * world, int i) { add(&s->hash, hash_one(&world->agents, i)); });
    sums result;
    if (!finish() || !get(&result, s, sizeof result)) return 0;
    return result.hash;
}

static bool anybody_under_way(th_world *host) {
    if (host->cuda->host_newer) send(host);
    sums *s = host->cuda->sums;
    once(host, TH_LAMBDA(th_world *) { s->under_way = 0; });
    everybody(host, TH_LAMBDA(th_world * world, int i) {
        if (world->agents.phase[i] < TH_PHASE_ARRIVED) s->under_way = 1; // all who write, write the same
    });
    sums result;
    if (!finish() || !get(&result, s, sizeof result)) return false;
    return result.under_way != 0;
}

// A GPU has the CPU's bits when it is built to (TH_CUDA_EXACT), the emulated device always but when a test makes it rough.
#if defined(TH_EXACT) || (!defined(__CUDACC__) && !defined(TH_ROUGH))
constexpr bool EXACT = true;
#else
constexpr bool EXACT = false;
#endif

static size_t bytes(const th_world *host) { return host->cuda->store.bytes; }

} // namespace th

extern "C" const th_device_backend *th_cuda_backend(void) {
    static const th_device_backend backend = {th::create,      th::destroy,  th::step,
                                              th::fetch,       th::changed,  th::forget_events, th::note_event, th::statistics,
                                              th::hash_people, th::anybody_under_way, th::bytes,
                                              th::fetch_grids, th::EXACT};
    return &backend;
}
