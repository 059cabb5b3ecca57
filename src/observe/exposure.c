// What people were exposed to: seconds in a crowd denser than each bound, and the highest pressure met. Looked at
// when samples are taken; the time between two is halved as for everything else people do.
// SPDX-License-Identifier: Apache-2.0
#include "observe/parts.h"

// 4: congestion (IMO). 6: people are pressed together; 8: about what was found where people died (Duisburg
// 2010: 8 +- 1; Jamarat 2006: up to 10).
const float th_exposure_bounds[TH_EXPOSURES] = {4.0f, 6.0f, 8.0f};

uint8_t th_crowding_of(float density) {
    uint8_t crowding = 0;
    while (crowding < TH_EXPOSURES && density > th_exposure_bounds[crowding]) crowding++;
    return crowding;
}

void th_exposure_spend(th_person *person, uint32_t crowding, float time) {
    if (crowding > TH_EXPOSURES) return; // not known
    for (uint32_t k = 0; k < crowding; ++k) person->exposure[k] += time;
}

static void expose(th_person *person, th_last_seen *seen, uint8_t now, double time,
                   float interval) {
    if (seen->crowding == TH_CROWDING_UNKNOWN) {
        float since = (float)time - person->start_time;
        if (since > 0.0f) th_exposure_spend(person, now, since);
    } else {
        th_exposure_spend(person, seen->crowding, 0.5f * interval);
        th_exposure_spend(person, now, 0.5f * interval);
    }
    seen->crowding = now;
}

static void meet_pressure(th_observation *o, const th_moment *moment, int32_t level,
                          const th_grid *grid) {
    for (int i = 0; i < moment->count; ++i)
        if (th_is_person(moment->phase[i]) && th_moment_level(moment, i) == level) {
            th_person *person = &o->people[moment->id[i] - 1];
            float pressure = th_grid_at(grid, (float)moment->x[i], (float)moment->y[i]);
            if (!(pressure <= person->peak_pressure)) person->peak_pressure = pressure; // or NaN
        }
}

bool th_exposure_sample(th_observer *observer, th_world *world, const th_moment *moment,
                        double time) {
    th_observation *o = &observer->observation;
    float interval = (float)(time - observer->last_sample_time);
    for (int i = 0; o->map_count > 0 && i < moment->count; ++i) {
        if (!th_is_person(moment->phase[i])) continue;
        int64_t index = moment->id[i] - 1;
        int32_t m = th_moment_level(moment, i);
        uint8_t now = th_map_crowding_at(&o->maps[m], &observer->map_work[m], (float)moment->x[i],
                                         (float)moment->y[i]);
        expose(&o->people[index], &observer->last_seen[index], now, time, interval);
    }
    for (int level = 0; level < observer->scene->level_count; ++level) {
        th_grid grid;
        if (!th_world_map_grid(world, TH_GRID_PRESSURE, level, &grid)) continue;
        if (level < o->map_count && !th_map_take_pressure(&o->maps[level], &grid)) return false;
        meet_pressure(o, moment, level, &grid);
    }
    return true;
}
