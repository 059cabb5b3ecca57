// Influences that the speed models share: the room ahead and the velocity it leaves. SPDX-License-Identifier:
// Apache-2.0
#include "move/headway.h"
#include "state/influences.h"

void th_headway_tell(const th_world *world, const th_substep *step, const th_walls *walls,
                     uint32_t self, th_vec2 e, float time_gap, th_influences *all) {
    const th_agents *a = &world->agents;
    float room = th_headway_least_room(world, step, walls, self, e, time_gap);
    float free_speed = th_length(th_v(a->drive_x[self], a->drive_y[self]));
    th_vec2 p = th_v(a->substep_x[self], a->substep_y[self]);
    th_tell_vector(all, "velocity by room", "m/s", p,
                   th_scale(th_headway_speed(room, time_gap, free_speed), e), 0);
    if (room > TH_HEADWAY_SIGHT) return; // no agent is ahead
    float length = a->radius[self] + th_max(room, 0.0f);
    th_tell(all, (th_influence){.kind = TH_INFLUENCE_RECTANGLE,
                                .name = "room ahead",
                                .unit = "m",
                                .at = th_add(p, th_scale(0.5f * length, e)),
                                .vector = th_scale(length, e),
                                .size = 2.0f * a->radius[self]});
    th_tell_figure(all, "room ahead", "m", room);
}
