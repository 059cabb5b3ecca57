// Uncertain inputs: points that are spread over their distributions, and the share of a result's variance that each input
// explains. SPDX-License-Identifier: Apache-2.0
#ifndef TH_OBSERVE_SENSITIVITY_H
#define TH_OBSERVE_SENSITIVITY_H
#include "throng/base.h"
#include <stdbool.h>

enum { TH_INPUTS = 8 }; // at most

// ---- points in the unit cube

typedef enum th_sampling {
    TH_SAMPLING_NONE,
    // Latin hypercube: of `count` equal parts of each axis, each has one point (McKay, Beckman, Conover 1979).
    TH_SAMPLING_LHS,
    // Sobol's sequence with the direction numbers of Joe and Kuo 2008, shifted by random bits: even in several axes at
    // once, best with a power of two.
    TH_SAMPLING_SOBOL,
} th_sampling;

// points[k * inputs + i] in (0, 1); the same seed gives the same points. False: no memory.
bool th_sampling_fill(th_sampling method, uint64_t seed, int count, int inputs, double *points);

// ---- distributions of an input

typedef enum th_input_kind {
    TH_INPUT_UNIFORM,    // a .. b
    TH_INPUT_WHOLE,      // whole numbers a .. b
    TH_INPUT_TRIANGULAR, // low .. high with the mode a
    TH_INPUT_NORMAL,     // mean a, standard deviation b, cut off at low and high
    TH_INPUT_LOGNORMAL,  // of exp(N(a, b)), cut off at low and high
} th_input_kind;

typedef struct th_input {
    th_input_kind kind;
    double a, b, low, high;
} th_input;

// "0.8..1.6", "uniform:0.8:1.6", "whole:100:200", "triangular:LOW:MODE:HIGH", "normal:MEAN:SD", "lognormal:MEAN:SD", the
// last two also with ":LOW:HIGH". False: nothing of the kind; `bad` when it nearly is.
bool th_input_read(th_input *input, const char *text, bool *bad);
// The value below which a share u (0, 1) of it lies.
double th_input_value(const th_input *input, double u);

// ---- sensitivity
// First-order index of an input: Var(E[y | input]) / Var(y), where y is the result of one run (Sobol 1993). It is found
// from any points that fill the inputs, without runs of its own: y is fitted by a sum of a polynomial of each input
// (categories: a mean of each); generalised cross-validation (Craven, Wahba 1979) chooses the degree. What the fit takes
// from noise is subtracted. Interactions, and what polynomials do not follow, belong to no input.

typedef struct th_sensitivity_def {
    int points, inputs, runs;
    const double *x;      // [point][input]; of categories a number of each
    const bool *category; // per input; NULL: none
    const double *y;      // [point][run]; NaN: none
} th_sensitivity_def;

typedef struct th_share_found { // clipped to 0 .. 1; NaN: not known
    double share, low, high;    // 95 % interval: jackknife over groups of points
} th_share_found;

typedef struct th_sensitivity {
    int points, degree;    // used
    double mean;           // of the points
    double deviation;      // of single runs; 0: nothing changed
    th_share_found chance; // share of the seeds; not known with one run of each point
    th_share_found inputs[TH_INPUTS];
    double others; // what is left: interactions
} th_sensitivity;

// False: no memory. Shares are NaN with fewer than twice as many points as the fit has numbers.
bool th_sensitivity_find(const th_sensitivity_def *def, th_sensitivity *found);
#endif
