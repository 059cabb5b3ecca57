// What the verbs that draw the plan share. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CLI_PICTURE_H
#define TH_CLI_PICTURE_H
#include "cli/args.h"
#include "draw/plan_drawing.h"

// --colour: speed, density or group; false: complained.
bool th_read_colour(const th_command *command, const char *given, th_colour_by *colour_by);
#endif
