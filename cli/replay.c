// throng replay: a recording in the browser. SPDX-License-Identifier: Apache-2.0
#include "cli/studio.h"

const th_command th_command_replay = {
    .name = "replay",
    .operands = "RUN",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "a recording in the browser: a run, an experiment, another program's",
    .detail = "RUN is the folder of a run that was recorded (throng run --record sqlite), or a "
              "recording in any\n"
              "format that `throng info` reads: SQLite (JuPedSim), compact, Juelich text, HDF5.",
    .examples = "  throng replay runs/station\n"
                "  throng replay experiment.txt --fps 16 --unit cm\n"
                "  throng replay trajectory.sqlite --no-browser\n",
    .run = th_run_replay,
};
