// Timing of single steps and a look at the crowd afterwards. SPDX-License-Identifier: Apache-2.0
#include "bench/timing.h"
#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static double clock_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

uint64_t th_bench_peak_rss(void) {
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
#ifdef __APPLE__
    return (uint64_t)usage.ru_maxrss; // bytes there, kilobytes elsewhere
#else
    return (uint64_t)usage.ru_maxrss * 1024;
#endif
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The same steps once before, untimed, then back to the start: threads have found their cores and the
// processor its clock rate. A run of 10 000 people is over in 50 ms, half of which would be that.
static void rehearse(th_world *world) {
    enum { MOST = 200000 }; // above, the run is long enough by itself
    size_t size = th_world_snapshot_size(world);
    void *start = th_world_agent_count(world) <= MOST ? malloc(size) : NULL;
    if (start && th_world_snapshot(world, start, size, NULL) == TH_OK) {
        th_world_step(world, TH_BENCH_WARM_UP + TH_BENCH_MEASURED);
        th_world_restore(world, start, size, NULL);
    }
    free(start);
}

// Milliseconds of a step, over so many of them.
static double time_steps(th_world *world, int steps) {
    int count;
    double start = clock_ms();
    th_world_step(world, steps);
    th_world_events(world, &count, NULL); // waits for a device, and brings a few words
    return (clock_ms() - start) / steps;
}

th_bench_figures th_bench_measure(th_world *world, th_backend backend) {
    th_bench_figures figures = {0};
    double samples[TH_BENCH_MEASURED];
    int burst = backend == TH_BACKEND_CPU ? 1 : TH_BENCH_BURST, count = TH_BENCH_MEASURED / burst;
    rehearse(world);
    th_world_step(world, TH_BENCH_WARM_UP);
    th_world_reset_profile(world);
    figures.agents = th_world_agent_count(world);
    for (int i = 0; i < count; ++i) samples[i] = time_steps(world, burst);
    th_profile profile = th_world_profile(world);
    for (int i = 0; i < TH_STAGE_COUNT && profile.steps > 0; ++i)
        figures.stage_ms[i] = 1e3 * profile.seconds[i] / (double)profile.steps;
    qsort(samples, (size_t)count, sizeof samples[0], compare);
    figures.ms_per_step = 0.5 * (samples[count / 2 - 1] + samples[count / 2]);
    figures.ms_per_step_min = samples[0];
    figures.hash = th_world_hash(world);
    figures.peak_rss_bytes = th_bench_peak_rss();
    figures.device_bytes = th_world_device_bytes(world);
    return figures;
}

// Towards where the plan points: on open ground straight at everybody's own goal, with a distance
// field along the way there.
static double mean_goalward(th_world *world) {
    static const th_field wanted[] = {TH_FIELD_PREFERRED_X, TH_FIELD_PREFERRED_Y,
                                      TH_FIELD_VELOCITY_X,  TH_FIELD_VELOCITY_Y,
                                      TH_FIELD_SPEED,       TH_FIELD_PHASE};
    enum { VIEWS = sizeof wanted / sizeof wanted[0] };
    const void *views[VIEWS];
    bool mapped = true;
    for (int i = 0; i < VIEWS; ++i) {
        views[i] = th_world_map(world, wanted[i], TH_READ);
        mapped = mapped && views[i];
    }
    double sum = 0;
    int count = 0;
    for (int i = 0; mapped && i < th_world_agent_count(world); ++i) {
        double px = (double)((const float *)views[0])[i], py = (double)((const float *)views[1])[i];
        double vx = (double)((const float *)views[2])[i], vy = (double)((const float *)views[3])[i];
        double length = hypot(px, py), speed = (double)((const float *)views[4])[i];
        bool walking = ((const uint32_t *)views[5])[i] == TH_PHASE_WALKING;
        if (!walking || length <= 0 || speed <= 0) continue;
        sum += (vx * px + vy * py) / length / speed;
        count += 1;
    }
    for (int i = 0; i < VIEWS; ++i) th_world_unmap(world, wanted[i]);
    return count > 0 ? sum / count : 0;
}

th_bench_behaviour th_bench_behave(th_world *world, double time) {
    double goalward = 0;
    int steps = 0;
    for (; th_world_time(world) < time - 1e-3; ++steps) {
        th_world_step(world, 1);
        goalward += mean_goalward(world);
    }
    th_statistics now = th_world_statistics(world);
    th_bench_behaviour behaviour = {.time = now.time};
    behaviour.deepest_overlap = (double)now.deepest_overlap;
    if (now.inside > 0)
        behaviour.overlap_share = (double)now.overlapping_agents / (double)now.inside;
    behaviour.goalward_speed = steps > 0 ? goalward / steps : 0;
    behaviour.goalward_speed_at_end = mean_goalward(world);
    return behaviour;
}
