// SPDX-License-Identifier: Apache-2.0
#ifndef TH_CLI_STUDIO_H
#define TH_CLI_STUDIO_H
#include "cli/args.h"

#if defined(__APPLE__)
#define TH_BROWSER_OPENER "open"
#else
#define TH_BROWSER_OPENER "xdg-open"
#endif

int th_run_replay(const th_command *command, int argc, char **argv);
#endif
