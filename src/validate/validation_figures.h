// Figures of a verification test: the plan with its crowd, and the numbers behind the verdict. Each draws on
// a page TH_FIGURE_WIDTH wide from the top and returns the height it needs. SPDX-License-Identifier: Apache-2.0
#ifndef TH_VALIDATE_VALIDATION_FIGURES_H
#define TH_VALIDATE_VALIDATION_FIGURES_H
#include "draw/canvas.h"
#include "report/text.h"
#include "validate/validate.h"

typedef double th_validation_draw(const th_canvas *canvas, const th_outcome *outcome);
double th_validation_draw_plan(const th_canvas *canvas, const th_outcome *outcome);
double th_validation_draw_samples(const th_canvas *canvas, const th_outcome *outcome);
double th_validation_draw_curves(const th_canvas *canvas, const th_outcome *outcome);
bool th_validation_has_samples(const th_outcome *outcome);
bool th_validation_has_curves(const th_outcome *outcome);

// The figure as SVG at the end of the page; ids get the prefix. False: no memory.
bool th_validation_add_figure(th_text *page, th_validation_draw *draw, const th_outcome *outcome,
                              const char *prefix, const char *label);
#endif
