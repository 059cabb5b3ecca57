// Drawing from distributions with counter-based random numbers. SPDX-License-Identifier: Apache-2.0
#ifndef TH_SCENE_DRAW_H
#define TH_SCENE_DRAW_H
#include "formula/math.h"
#include "formula/random.h"
#include "scene/scene.h"

// Redraws after which the value is cut to min .. max instead: with a tenth of the mass inside, one
// person in a thousand comes this far.
enum { TH_DRAW_REDRAWS = 64, TH_DRAW_GAMMA_TRIES = 32 };

typedef struct th_draw_source {
    uint64_t seed, step; // the step counts on with every number
    uint32_t stream, agent;
} th_draw_source;

// Two uniform numbers in (0, 1).
TH_BOTH static inline void th_draw_uniforms(th_draw_source *from, double *u, double *v) {
    th_random4 r = th_philox(from->seed, from->stream, from->agent, from->step++);
    *u = th_uniform_double(r.v[0], r.v[1]);
    *v = th_uniform_double(r.v[2], r.v[3]);
}

// Box, Muller 1958.
TH_BOTH static inline double th_draw_normal(th_draw_source *from) {
    double u, v, sine, cosine;
    th_draw_uniforms(from, &u, &v);
    th_sincos_turn(v, &sine, &cosine);
    return sqrt(-2.0 * th_log_double(u)) * cosine;
}

// Marsaglia, Tsang 2000; a shape below 1 by the boost u^(1/shape).
TH_BOTH static inline double th_draw_gamma(th_draw_source *from, double shape) {
    double boost = 1.0, u, v;
    if (shape < 1.0) {
        th_draw_uniforms(from, &u, &v);
        boost = th_exp_double(th_log_double(u) / shape);
        shape += 1.0;
    }
    double d = shape - 1.0 / 3.0, c = 1.0 / (3.0 * sqrt(d));
    for (int i = 0; i < TH_DRAW_GAMMA_TRIES; ++i) {
        double x = th_draw_normal(from), t = 1.0 + c * x;
        th_draw_uniforms(from, &u, &v);
        if (t <= 0.0) continue;
        t = t * t * t;
        if (th_log_double(u) < 0.5 * x * x + d - d * t + d * th_log_double(t)) return boost * d * t;
    }
    return boost * d; // each try succeeds with 95 %: never reached in practice
}

TH_BOTH static inline double th_draw_once(const th_distribution *d, th_draw_source *from) {
    double u, v;
    switch (d->kind) {
    case TH_DISTRIBUTION_CONSTANT: return d->a;
    case TH_DISTRIBUTION_UNIFORM: th_draw_uniforms(from, &u, &v); return d->a + (d->b - d->a) * u;
    case TH_DISTRIBUTION_NORMAL: return d->a + d->b * th_draw_normal(from);
    case TH_DISTRIBUTION_LOGNORMAL: return th_exp_double(d->a + d->b * th_draw_normal(from));
    case TH_DISTRIBUTION_GAMMA: return d->b * th_draw_gamma(from, d->a);
    case TH_DISTRIBUTION_WEIBULL:
        th_draw_uniforms(from, &u, &v);
        return d->a * th_exp_double(th_log_double(-th_log_double(u)) / d->b);
    }
    return d->a;
}

// One value of a distribution, keyed (seed, stream, agent); redraws use the
// counter's step. Exact same bits everywhere (no libm in the result).
TH_BOTH static inline float th_draw(const th_distribution *distribution, uint64_t seed,
                                    uint32_t stream, uint32_t agent) {
    th_draw_source from = {seed, 0, stream, agent};
    double value = th_draw_once(distribution, &from);
    if (distribution->kind == TH_DISTRIBUTION_CONSTANT ||
        distribution->kind == TH_DISTRIBUTION_UNIFORM)
        return (float)value;
    for (int i = 0;
         i < TH_DRAW_REDRAWS && !(value >= distribution->min && value <= distribution->max); ++i)
        value = th_draw_once(distribution, &from);
    if (!(value >= distribution->min)) value = distribution->min;
    if (value > distribution->max) value = distribution->max;
    return (float)value;
}
#endif
