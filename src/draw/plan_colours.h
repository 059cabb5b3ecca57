// The colours of a plan, for its layers and its names. SPDX-License-Identifier: Apache-2.0
#ifndef TH_DRAW_PLAN_COLOURS_H
#define TH_DRAW_PLAN_COLOURS_H
#include "draw/canvas.h"

// The compiled scene, because a picture shows what the engine walks on, holes and doors included;
// the public surface answers questions about points, not about outlines.
#include "throng/scene_view.h"

static const th_colour SOLID = {0.80, 0.80, 0.80}, FLOOR = {0.975, 0.975, 0.965};
static const th_colour WALL = {0.15, 0.15, 0.15}, EXIT = {0.00, 0.55, 0.35};
static const th_colour WAYPOINT = {0.35, 0.35, 0.75}, WAITING = {0.75, 0.50, 0.10};
static const th_colour DOOR_OPEN = {0.00, 0.55, 0.80}, DOOR_CLOSED = {0.85, 0.10, 0.10};
static const th_colour INTEREST = {0.80, 0.25, 0.45};
static const th_colour ZONE = {0.93, 0.86, 0.65}, STAIRS = {0.55, 0.60, 0.70};
static const th_colour MEASURE = {0.60, 0.20, 0.60}, PORTAL = {0.80, 0.25, 0.75};
static const th_colour GUIDANCE = {0.45, 0.60, 0.85}, STRIP = {0.35, 0.65, 0.60};
static const th_colour DISCOMFORT = {0.66, 0.28, 0.12};

static inline th_colour th_goal_colour(th_goal_kind kind) {
    return kind == TH_GOAL_EXIT       ? EXIT
           : kind == TH_GOAL_WAITING  ? WAITING
           : kind == TH_GOAL_INTEREST ? INTEREST
                                      : WAYPOINT;
}

static inline int th_goal_level(const th_goal *goal) {
    return goal->is_line ? goal->line.level : goal->area.level;
}
#endif
