// The list that a model fills with what drives a person (th_model.influences). SPDX-License-Identifier: Apache-2.0
#ifndef TH_STATE_INFLUENCES_H
#define TH_STATE_INFLUENCES_H
#include "throng/model.h"

typedef struct th_influences {
    th_influence *list;
    int count, max; // more than `max` are counted and not kept
} th_influences;

static inline void th_tell(th_influences *all, th_influence one) {
    if (all->count < all->max) all->list[all->count] = one;
    ++all->count;
}

static inline void th_tell_vector(th_influences *all, const char *name, const char *unit,
                                  th_vec2 at, th_vec2 vector, uint32_t other) {
    th_tell(all, (th_influence){.kind = TH_INFLUENCE_VECTOR,
                                .name = name,
                                .unit = unit,
                                .at = at,
                                .vector = vector,
                                .other = other});
}

// An agent's body, or a ring around it.
static inline void th_tell_body(th_influences *all, const char *name, th_vec2 at, float radius,
                                uint32_t other) {
    th_tell(all, (th_influence){.kind = TH_INFLUENCE_CIRCLE,
                                .name = name,
                                .unit = "m",
                                .at = at,
                                .size = radius,
                                .other = other});
}

static inline void th_tell_circle(th_influences *all, const char *name, th_vec2 at, float radius) {
    th_tell_body(all, name, at, radius, 0);
}

static inline void th_tell_figure(th_influences *all, const char *name, const char *unit,
                                  float value) {
    th_tell(all,
            (th_influence){.kind = TH_INFLUENCE_FIGURE, .name = name, .unit = unit, .size = value});
}
#endif
