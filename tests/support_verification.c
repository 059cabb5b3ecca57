// SPDX-License-Identifier: Apache-2.0
#include "support_verification.h"
#include <stdlib.h>

enum { GROUPS = 16, MORE = 4, PEOPLE = 2048 };

th_scene *verification_scene(const char *stem, const char *model, int group_count,
                             const char *const *more) {
    char path[1024], moves[GROUPS][64];
    const char *overrides[GROUPS + MORE];
    int count = 0;
    assert_in_range(group_count, 1, GROUPS);
    for (int g = 0; g < group_count; ++g) {
        snprintf(moves[g], sizeof moves[g], "groups[%d].move=%s", g, model);
        overrides[count++] = moves[g];
    }
    for (; more && *more; ++more) {
        assert_true(count < GROUPS + MORE);
        overrides[count++] = *more;
    }
    th_scene_options options = {.overrides = overrides, .override_count = count};
    snprintf(path, sizeof path, "%s/scenes/verification/%s.json", TH_SOURCE_DIR, stem);
    th_scene *scene = NULL;
    th_error error = {0};
    if (th_scene_load_file(path, &options, &scene, &error) != TH_OK)
        fail_msg("%s:%d:%d: %s: %s", error.file, error.line, error.column, error.path,
                 error.message);
    return scene;
}

int everybody(th_world *world, person *people, int most) {
    int count = th_world_agent_count(world);
    const float *x = field_of(world, TH_FIELD_POSITION_X);
    const float *y = field_of(world, TH_FIELD_POSITION_Y);
    const float *velocity_x = field_of(world, TH_FIELD_VELOCITY_X);
    const float *velocity_y = field_of(world, TH_FIELD_VELOCITY_Y);
    const float *speed = field_of(world, TH_FIELD_SPEED);
    const float *wait_until = field_of(world, TH_FIELD_WAIT_UNTIL);
    const uint32_t *id = (const uint32_t *)field_of(world, TH_FIELD_ID);
    const uint32_t *level = (const uint32_t *)field_of(world, TH_FIELD_LEVEL);
    const uint32_t *group = (const uint32_t *)field_of(world, TH_FIELD_GROUP);
    const uint32_t *phase = (const uint32_t *)field_of(world, TH_FIELD_PHASE);
    assert_true(count <= most);
    for (int i = 0; i < count; ++i)
        people[i] = (person){x[i],          y[i],  velocity_x[i], velocity_y[i], speed[i],
                             wait_until[i], id[i], level[i],      group[i],      phase[i]};
    return count;
}

bool find_person(th_world *world, uint32_t id, person *found) {
    person people[PEOPLE];
    int count = everybody(world, people, PEOPLE);
    for (int i = 0; i < count; ++i) {
        if (people[i].id != id) continue;
        *found = people[i];
        return true;
    }
    return false;
}

double time_to_come(th_world *world, uint32_t id, double x, double y, double direction_x,
                    double direction_y, double distance, double limit) {
    double before = 0.0, time_before = th_world_time(world);
    for (;;) {
        person p;
        if (!find_person(world, id, &p)) fail_msg("person %u left before the mark", id);
        double along = ((double)p.x - x) * direction_x + ((double)p.y - y) * direction_y;
        double time = th_world_time(world);
        if (along >= distance)
            return along > before
                       ? time_before + (time - time_before) * (distance - before) / (along - before)
                       : time;
        if (time >= limit)
            fail_msg("person %u is at (%g, %g) after %g s", id, (double)p.x, (double)p.y, time);
        before = along;
        time_before = time;
        th_world_step(world, 1);
    }
}
