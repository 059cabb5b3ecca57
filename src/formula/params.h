// How a model lists its parameters: one X-macro per model, expanded into a struct of floats here and
// into the table behind `throng list` in scene/models.c.
//   X(name, default, min, max, "unit", "source", "doc")
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_FORMULA_PARAMS_H
#define TH_FORMULA_PARAMS_H

#define TH_PARAM_MEMBER(name, value, min, max, unit, source, doc) float name;

// Every move model begins its list with these: what the contact stage does for its people.
#define TH_CONTACT_PARAMS(X)                                                                      \
    X(separation_passes, 4, 0, 16, "-", "throng: overlaps against passes in docs/models/orca.md", \
      "passes that push overlapping people apart after each step; 0 is the bare model")

typedef struct th_contact_params {
    TH_CONTACT_PARAMS(TH_PARAM_MEMBER)
} th_contact_params;
#endif
