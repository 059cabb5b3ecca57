// Drawing from distributions with counter-based random numbers. SPDX-License-Identifier: Apache-2.0
#include "formula/math.h"
#include "formula/random.h"
#include "scene/place.h"

// Redraws after which the value is cut to min .. max instead: with a tenth of the mass inside, one
// person in a thousand comes this far.
enum { REDRAWS = 64, GAMMA_TRIES = 32 };

typedef struct source {
    uint64_t seed, step; // the step counts on with every number
    uint32_t stream, agent;
} source;

// Two uniform numbers in (0, 1).
TH_BOTH static void uniforms(source *from, double *u, double *v) {
    th_random4 r = th_philox(from->seed, from->stream, from->agent, from->step++);
    *u = th_uniform_double(r.v[0], r.v[1]);
    *v = th_uniform_double(r.v[2], r.v[3]);
}

// Box, Muller 1958.
TH_BOTH static double normal(source *from) {
    double u, v, sine, cosine;
    uniforms(from, &u, &v);
    th_sincos_turn(v, &sine, &cosine);
    return sqrt(-2.0 * th_log_double(u)) * cosine;
}

// Marsaglia, Tsang 2000; a shape below 1 by the boost u^(1/shape).
TH_BOTH static double gamma_value(source *from, double shape) {
    double boost = 1.0, u, v;
    if (shape < 1.0) {
        uniforms(from, &u, &v);
        boost = th_exp_double(th_log_double(u) / shape);
        shape += 1.0;
    }
    double d = shape - 1.0 / 3.0, c = 1.0 / (3.0 * sqrt(d));
    for (int i = 0; i < GAMMA_TRIES; ++i) {
        double x = normal(from), t = 1.0 + c * x;
        uniforms(from, &u, &v);
        if (t <= 0.0) continue;
        t = t * t * t;
        if (th_log_double(u) < 0.5 * x * x + d - d * t + d * th_log_double(t)) return boost * d * t;
    }
    return boost * d; // each try succeeds with 95 %: never reached in practice
}

TH_BOTH static double draw_once(const th_distribution *d, source *from) {
    double u, v;
    switch (d->kind) {
    case TH_CONSTANT: return d->a;
    case TH_UNIFORM: uniforms(from, &u, &v); return d->a + (d->b - d->a) * u;
    case TH_NORMAL: return d->a + d->b * normal(from);
    case TH_LOGNORMAL: return th_exp_double(d->a + d->b * normal(from));
    case TH_GAMMA: return d->b * gamma_value(from, d->a);
    case TH_WEIBULL:
        uniforms(from, &u, &v);
        return d->a * th_exp_double(th_log_double(-th_log_double(u)) / d->b);
    }
    return d->a;
}

TH_BOTH float th_draw(const th_distribution *distribution, uint64_t seed, uint32_t stream,
                      uint32_t agent) {
    source from = {seed, 0, stream, agent};
    double value = draw_once(distribution, &from);
    if (distribution->kind == TH_CONSTANT || distribution->kind == TH_UNIFORM) return (float)value;
    for (int i = 0; i < REDRAWS && !(value >= distribution->min && value <= distribution->max); ++i)
        value = draw_once(distribution, &from);
    if (!(value >= distribution->min)) value = distribution->min;
    if (value > distribution->max) value = distribution->max;
    return (float)value;
}
