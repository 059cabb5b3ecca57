// How a model lists its parameters and presets: one X-macro each in its header, expanded here into a struct of floats
// and, in the model's description, into the tables behind `throng list`. Printed values and those that a stage reads
// cannot differ.
//   parameters: X(name, default, min, max, "unit", "source", "doc")
//   presets:    X(name, "doc", {"parameter", value}, ...)
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_FORMULA_PARAMS_H
#define TH_FORMULA_PARAMS_H

#define TH_PARAM_MEMBER(name, value, min, max, unit, source, doc) float name;
#define TH_PARAM_INFO(name, value, min, max, unit, source, doc) \
    {#name, unit, min, max, value, source, doc},
#define TH_PRESET_VALUES(name, doc, ...) static const th_param preset_##name[] = {__VA_ARGS__};
#define TH_PRESET_INFO(name, doc, ...) {#name, doc, preset_##name, TH_COUNT_OF(preset_##name)},
#define TH_COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

// The answer of a model's `edited` for a parameter that sizes memory or a lattice when the world is made.
#define TH_FIXED_AT_START \
    "it is taken when the world is made; change it in the scene and start anew"

// Contact's parameters for the agents of a move model; the model's `body` passes them on.
#define TH_CONTACT_PARAMS(X)                                                                      \
    X(separation_passes, 4, 0, 16, "-", "throng: overlaps against passes in docs/models/orca.md", \
      "passes that push overlapping people apart after each step; 0 is the bare model")
#endif
