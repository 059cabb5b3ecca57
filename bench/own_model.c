// ORCA twice: the built-in loop, and the same maths as a function of one person (throng/model.h).
// SPDX-License-Identifier: Apache-2.0
#include "bench/bench.h"
#include "core/error.h"
#include "core/file.h"
#include "core/parallel.h"
#include "formula/random.h"
#include "move/orca/orca.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// ---- the model

static void wall_lines(const th_agent *me, const th_orca_params *params, th_orca_lines *lines) {
    float range = params->time_horizon_obstacle * params->max_speed + me->radius;
    float inverse_horizon = 1.0f / params->time_horizon_obstacle;
    for (int k = 0; k < me->wall_count && lines->count < TH_ORCA_WALLS; ++k) {
        const th_near_wall *near = &me->walls[k];
        if (near->distance > range) break;
        th_orca_edge edge = {.a = th_sub(near->wall->a, me->position),
                             .b = th_sub(near->wall->b, me->position),
                             .direction = near->wall->direction,
                             .previous = near->previous->direction,
                             .next = near->next->direction,
                             .a_convex = near->wall->a_convex,
                             .b_convex = near->next->a_convex};
        th_orca_line line;
        if (!th_orca_covered(lines, edge.a, edge.b, me->radius, inverse_horizon) &&
            th_orca_wall_line(&edge, me->velocity, me->radius, inverse_horizon, &line))
            th_orca_set_line(lines, lines->count++, line);
    }
    lines->wall_count = lines->count;
}

TH_FORMULA void agent_lines(const th_agent *me, const th_orca_params *params,
                            th_orca_lines *lines) {
    enum { LANES = TH_ORCA_NEIGHBOURS };
    float x[LANES], y[LANES], vx[LANES], vy[LANES], radius[LANES], share[LANES], tie[LANES];
    float inverse_horizon = 1.0f / params->time_horizon, inverse_step = 1.0f / me->step;
    th_vec2 v = me->velocity;
    for (int k = 0; k < LANES; ++k) { // unused lanes compute something harmless
        bool used = k < me->neighbour_count;
        const th_near_agent *other = &me->neighbours[k];
        x[k] = used ? other->position.x - me->position.x : 10.0f;
        y[k] = used ? other->position.y - me->position.y : 0.0f;
        vx[k] = used ? v.x - other->velocity.x : 0.0f;
        vy[k] = used ? v.y - other->velocity.y : 0.0f;
        radius[k] = me->radius + (used ? other->radius : 0.0f);
        share[k] = used && !other->reacts ? 1.0f : 0.5f;
        tie[k] = used && me->id > other->id ? -1.0f : 1.0f;
    }
    int first = lines->count;
#pragma omp simd
    for (int k = 0; k < LANES; ++k) {
        th_orca_line line = th_orca_agent_line(th_v(x[k], y[k]), v, th_v(vx[k], vy[k]), radius[k],
                                               inverse_horizon, inverse_step, share[k], tie[k]);
        lines->point_x[first + k] = line.point.x;
        lines->point_y[first + k] = line.point.y;
        lines->direction_x[first + k] = line.direction.x;
        lines->direction_y[first + k] = line.direction.y;
    }
    lines->count += me->neighbour_count;
}

TH_CLONES static th_vec2 orca(const th_agent *me) {
    th_orca_params params;
    memcpy(&params, me->params, sizeof params);
    th_orca_lines lines, bisectors;
    lines.count = lines.wall_count = 0;
    if (me->wall_count > 0) wall_lines(me, &params, &lines);
    agent_lines(me, &params, &lines);
    th_vec2 preferred = me->preferred;
    if (preferred.x != 0.0f || preferred.y != 0.0f) {
        th_random4 r = th_philox(me->seed, TH_STREAM_NOISE, me->id, me->step_count);
        preferred.x += params.noise * (2.0f * th_uniform(r.v[0]) - 1.0f);
        preferred.y += params.noise * (2.0f * th_uniform(r.v[1]) - 1.0f);
    }
    float fastest = th_max(params.max_speed, me->speed);
    th_vec2 velocity = th_orca_velocity(&lines, &bisectors, fastest, preferred);
    if (params.max_acceleration > 0.0f)
        velocity = th_add(me->velocity, th_limit(th_sub(velocity, me->velocity),
                                                 params.max_acceleration * me->step));
    return velocity;
}

static void look(const float *values, th_sight *sight) {
    th_orca_params params;
    memcpy(&params, values, sizeof params);
    sight->neighbours = (int)params.max_neighbours;
    sight->neighbour_range = params.neighbour_range;
    sight->through_walls = !(params.line_of_sight > 0.0f);
    sight->wall_range = params.time_horizon_obstacle * params.max_speed + 5.0f; // the largest body
}

// A description with ORCA's own parameters.
static th_result register_model(th_error *error) {
    static th_model model;
    if (th_model_find(TH_STAGE_MOVE, "orca_person") >= 0) return TH_OK;
    const th_model *built_in = th_models(NULL)[th_model_find(TH_STAGE_MOVE, "orca")];
    model = th_model_default();
    model.stage = TH_STAGE_MOVE;
    model.name = "orca_person";
    model.doc = "ORCA as a function of one person, for the bench";
    model.source = built_in->source;
    model.params = built_in->params;
    model.param_count = built_in->param_count;
    model.agent = orca;
    model.look = look;
    model.sight.walls = TH_NEAR_WALL_MAX;
    return th_model_register(&model, error);
}

// ---- the measurement

static th_result measure(const char *model, int agents, int threads, th_bench_figures *figures,
                         th_error *error) {
    th_scene *scene = NULL;
    th_world *world = NULL;
    th_result result =
        th_bench_create(TH_BENCH_BLOCK, &(th_bench_models){.move = model}, agents, TH_BENCH_STEP,
                        threads, TH_BACKEND_CPU, &scene, &world, error);
    if (result != TH_OK) return result;
    *figures = th_bench_measure(world, TH_BACKEND_CPU);
    th_world_destroy(world);
    th_scene_destroy(scene);
    return TH_OK;
}

// Both in turn, several times, and the best of each: other programs on the machine hit one or the other.
static th_result measure_both(int agents, int threads, th_bench_figures best[2], th_error *error) {
    static const char *const models[2] = {"orca", "orca_person"};
    int rounds = agents <= 20000 ? 7 : 3;
    for (int k = 0; k < 2 * rounds; ++k) {
        th_bench_figures now;
        th_result result = measure(models[k % 2], agents, threads, &now, error);
        if (result != TH_OK) return result;
        if (k < 2 || now.stage_ms[TH_STAGE_MOVE] < best[k % 2].stage_ms[TH_STAGE_MOVE])
            best[k % 2] = now;
    }
    return TH_OK;
}

static th_result compare(int agents, int threads, FILE *csv, th_error *error) {
    th_bench_figures best[2];
    th_result result = measure_both(agents, threads, best, error);
    if (result != TH_OK) return result;
    const th_bench_figures built_in = best[0], own = best[1];
    double a = built_in.stage_ms[TH_STAGE_MOVE], b = own.stage_ms[TH_STAGE_MOVE];
    printf("%7d  %7d  %9.3f  %9.3f  %9.3f  %9.3f  %5.2f   %016" PRIx64 " %016" PRIx64 "%s\n",
           agents, threads, built_in.ms_per_step, own.ms_per_step, a, b, b / a, built_in.hash,
           own.hash, built_in.hash == own.hash ? "" : "  differ");
    fflush(stdout);
    if (csv)
        fprintf(csv, "%d,%d,%.5g,%.5g,%.5g,%.5g,%.4g,%016" PRIx64 ",%016" PRIx64 "\n", agents,
                threads, built_in.ms_per_step, own.ms_per_step, a, b, b / a, built_in.hash,
                own.hash);
    return TH_OK;
}

th_result th_bench_own_model(const th_bench_own_model_def *def, th_error *error) {
    const int sizes[] = {def->agents ? def->agents : 10000, def->agents ? 0 : 100000};
    th_result result = register_model(error);
    if (result != TH_OK) return result;
    FILE *csv = def->csv ? fopen(def->csv, "w") : NULL;
    if (def->csv && !csv)
        return th_file_fail(error, def->csv, "cannot be written; choose another name");
    if (csv)
        fputs(
            "people,threads,orca_ms_per_step,person_ms_per_step,orca_move_ms,person_move_ms,ratio,"
            "orca_hash,person_hash\n",
            csv);
    printf(
        "block, ORCA built in and as a function of one person; bar of the move stage's ratio: 1.5\n"
        "                     ms per step           move stage [ms]\n"
        " people  threads   built in     person   built in     person  ratio   hashes\n");
    for (int k = 0; k < 2 && sizes[k] > 0 && result == TH_OK; ++k)
        result = compare(sizes[k], def->threads, csv, error);
    if (csv && fclose(csv) != 0 && result == TH_OK)
        result = th_file_fail(error, def->csv, "could not be written; is the disk full?");
    return result;
}
