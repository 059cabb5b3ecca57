// throng measure. SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"

static int run(const th_command *command, int argc, char **argv) {
    const char *operands[1] = {NULL};
    th_parse_result parsed = th_args_parse(command, NULL, 0, argc, argv, operands);
    if (parsed == TH_PARSE_HELP) return TH_EXIT_OK;
    if (parsed == TH_PARSE_BAD) return TH_EXIT_USAGE;
    th_complain(command, "being built");
    return TH_EXIT_FAILED;
}

const th_command th_command_measure = {"measure", "TRAJECTORY", 0, 1, "", "", "", run};
