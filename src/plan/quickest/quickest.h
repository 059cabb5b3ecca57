// The quickest way through the crowd as it moves: the maths of one place and one choice.
//
// Implemented: travel time instead of length (Kretz 2009; Hartmann, Mille, Pfaffinger, Koester 2014), with speeds that
// depend on the direction (Treuille, Cooper, Popovic 2006); the choice of an exit by travel time and queue (Ehtamo, Heliovaara,
// Korhonen, Hostikka 2010) with a preference for the present one (Pathfinder's locally quickest).
// Additions: speeds relative to the crowd follow Weidmann (1993); a lattice and a clock of its own, so that a step costs the
// same whether fields are being solved or not. SPDX-License-Identifier: Apache-2.0
#ifndef TH_PLAN_QUICKEST_QUICKEST_H
#define TH_PLAN_QUICKEST_QUICKEST_H
#include "formula/math.h"
#include "formula/params.h"
#include "formula/vec.h"
#include "formula/weidmann.h"

// X(name, default, min, max, "unit", "source", "doc")
#define TH_QUICKEST_PARAMS(X)                                                                     \
    X(reconsider, 4, 0.5, 600, "s", "throng: people look around every few steps",                 \
      "how often an agent compares the goals of a leg, at moments of its own")                    \
    X(inertia, 0.2, 0, 1, "-",                                                                    \
      "throng: below Pathfinder's current door preference of 0.35, with which queues differ by "  \
      "half",                                                                                     \
      "another goal must save this share of the time to the present one")                         \
    X(sight, 40, 1, 1000, "m", "EN 1838: 200 times the height of a lit exit sign of 0.2 m",       \
      "how far away a goal without walls before it is seen, and with it the queue there")         \
    X(knows_all, 1, 0, 1, "-", "throng: agents were told of the goals that the scene gives them", \
      "share of agents that know where all goals of a leg are; the others know those that they "  \
      "have seen, and before that the quickest one")

typedef struct th_quickest_params {
    TH_QUICKEST_PARAMS(TH_PARAM_MEMBER)
} th_quickest_params;

// Weidmann's loss of speed: 0 on free ground, 1 where the crowd stands. [-]
TH_FORMULA float th_crowd_drag(float density) {
    const float steepness = (float)TH_WEIDMANN_STEEPNESS, most = (float)TH_WEIDMANN_DENSITY_MAX;
    if (!(density > 0.05f)) return 0.0f; // below 1e-10
    return th_min(th_exp(-steepness * (1.0f / density - 1.0f / most)), 1.0f);
}

// The lowest speed assumed on a way, over the free speed: 0.2 m/s, as people in the densest measured crowds still move
// at 0.1 to 0.3 m/s.
#define TH_QUICKEST_LEAST 0.15f

// Speed over the free speed in a direction in which the crowd moves with `along`, in free speeds: 1 where the crowd
// walks the agent's way at its speed; Weidmann's speed where it stands; less where it comes towards the agent.
TH_FORMULA float th_crowd_pace(float drag, float along) {
    return th_max(1.0f - drag * (1.0f - th_clamp(along, -1.0f, 1.0f)), TH_QUICKEST_LEAST);
}

// Flow of people through an exit per metre of its width, in bottleneck experiments (Seyfried et al. 2009). [1/(m s)]
#define TH_QUICKEST_FLOW 1.9f

// Time [s] to leave by an exit that is `time` away behind `ahead` agents: they leave while the agent walks.
TH_FORMULA float th_exit_time(float time, float ahead, float width) {
    return width > 0.0f ? th_max(time, ahead / (TH_QUICKEST_FLOW * width)) : time;
}
#endif
