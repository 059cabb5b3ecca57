// HiDAC, the low level: the loop over people. SPDX-License-Identifier: Apache-2.0
#include "move/hidac/hidac.h"
#include "core/parallel.h"

static void run(th_world *world, int model) {
    (void)model;
    th_walls walls = th_world_walls(world);
    int count = world->agents.count;
#pragma omp parallel for schedule(dynamic, 64) num_threads(world->threads)
    for (int i = 0; i < count; ++i) {
        if (th_substep_own(world, TH_MOVE_HIDAC, (uint32_t)i)) {
            th_hidac_step(world, &walls, (uint32_t)i);
        }
    }
    int64_t more = 0;
#pragma omp parallel for schedule(static) num_threads(world->threads) reduction(+ : more)
    for (int i = 0; i < count; ++i) more += th_hidac_lie_down(world, (uint32_t)i);
    world->counters.fallen += (uint64_t)more;
}

static const th_field_info fields[TH_HIDAC_FIELDS] = {
    [TH_HIDAC_HEADING_X] = {"heading_x", true, true, "direction of the last step"},
    [TH_HIDAC_HEADING_Y] = {"heading_y", true, true, "direction of the last step"},
    [TH_HIDAC_PACE] = {"pace", true, true, "speed reached so far [m/s]"},
    [TH_HIDAC_TIMER] = {"timer", true, true, "left of a stop or a wait [s]"},
    [TH_HIDAC_STATE] = {"state", false, true, "0 walks, 1 stops, 2 waits, 3 tries, 4 falls"},
    [TH_HIDAC_RECTANGLE] = {"rectangle", true, true, "length of the rectangle of influence [m]"},
    [TH_HIDAC_INTENDED_X] = {"intended_x", true, true, "velocity before contact [m/s]"},
    [TH_HIDAC_INTENDED_Y] = {"intended_y", true, true, "velocity before contact [m/s]"},
    [TH_HIDAC_PUSHED_X] = {"pushed_x", true, true, "by others, of late [m]"},
    [TH_HIDAC_PUSHED_Y] = {"pushed_y", true, true, "by others, of late [m]"},
    [TH_HIDAC_PANIC] = {"panic", true, true, "above 0.5: is in panic"},
    [TH_HIDAC_MANNERS] = {"manners", false, true, "0 drawn by `pushers`, 1 polite, 2 pushes"},
};
static const th_param_info params[] = {TH_HIDAC_PARAMS(TH_PARAM_INFO)};
TH_HIDAC_PRESETS(TH_PRESET_VALUES)
static const th_preset_info presets[] = {TH_HIDAC_PRESETS(TH_PRESET_INFO)};
const th_model th_move_hidac_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_MOVE,
    .name = "hidac",
    .doc = "people who steer past others, stop, queue and push",
    .source = "Pelechano, Allbeck, Badler 2007",
    .params = params,
    .param_count = TH_COUNT_OF(params),
    .presets = presets,
    .preset_count = TH_COUNT_OF(presets),
    .fields = fields,
    .field_count = TH_HIDAC_FIELDS,
    .run = run,
};
