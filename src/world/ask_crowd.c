// The crowd around a point: density, speed and pressure by the kernel of the maps (core/kernel.h), in a window around the
// point that lies on the stack. SPDX-License-Identifier: Apache-2.0
#include "core/kernel.h"
#include "world/ask.h"
#include "world/world.h"
#include <math.h>

#define CELL 0.5 // [m] of the maps
#define PI 3.14159265f

// The agent's place in the order of the ids; -1: the order is not up to date, and forces cannot be told apart.
static int place_of(const th_world *world, uint32_t id) {
    int low = 0, high = world->id_order_valid ? world->id_order_count - 1 : -1;
    while (low <= high) {
        int middle = low + (high - low) / 2;
        uint32_t found = world->agents.id[world->id_order[middle]];
        if (found == id) return middle;
        if (found < id)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return -1;
}

// Half of the sum of forces squeezes the body (throng/world.h), over its circumference.
static float line_pressure(const th_world *world, uint32_t i, const float *forces) {
    int place = place_of(world, world->agents.id[i]);
    return place < 0 ? NAN : 0.5f * forces[place] / (2.0f * PI * world->agents.radius[i]);
}

static th_asked people_of(const th_world *world, const th_kernel *kernel) {
    th_vec2 low = {kernel->min_x, kernel->min_y};
    th_vec2 high = {low.x + (float)kernel->nx * kernel->cell,
                    low.y + (float)kernel->ny * kernel->cell};
    return th_ask_box(world, kernel->level, low, high);
}

// Weighted sums at the point of the velocities, or of the line pressures in the place of their first component.
static void sum_up(const th_world *world, th_kernel_room *room, th_vec2 point, const float *forces,
                   float sums[TH_SUMS]) {
    const th_kernel *kernel = &room->kernel;
    th_asked asked = people_of(world, kernel);
    for (uint32_t i; th_ask_next(&asked, &i);) {
        th_vec2 p = th_position(&world->agents, i);
        if (th_is_agent(world, i)) th_kernel_note(kernel, &room->work, p.x, p.y);
    }
    asked = people_of(world, kernel);
    for (uint32_t i; th_ask_next(&asked, &i);) {
        if (!th_is_agent(world, i)) continue;
        th_vec2 p = th_position(&world->agents, i), v = th_velocity(&world->agents, i);
        if (forces) v = th_v(line_pressure(world, i, forces), 0.0f);
        th_kernel_put(kernel, &room->work, p.x, p.y, v,
                      th_kernel_alone(kernel, &room->work, p.x, p.y));
    }
    th_kernel_spread(kernel, &room->work);
    int cell = th_kernel_cell(kernel, point.x, point.y);
    th_kernel_read(kernel, &room->work, cell % kernel->nx, cell / kernel->nx, sums);
}

bool th_world_crowd_at(const th_world *world, int level, th_vec2 point, const float *forces,
                       th_crowd *crowd) {
    *crowd = (th_crowd){0};
    th_kernel_room room;
    th_ground ground = th_ground_of(th_scene_view_of(world->scene));
    if (!th_is_level(world, level) || !th_is_place(point) ||
        !th_kernel_window(&ground, level, CELL, point, &room))
        return false;
    th_refresh(world, TH_ALL_FIELDS);
    float sums[TH_SUMS];
    sum_up(world, &room, point, NULL, sums);
    int cell = th_kernel_cell(&room.kernel, point.x, point.y);
    float people = sums[TH_SUM_PEOPLE];
    bool any = people > 0.0f;
    crowd->density = th_kernel_density(&room.kernel, (size_t)cell, sums);
    crowd->speed = any ? sums[TH_SUM_SPEED] / people : NAN;
    crowd->pressure = NAN;
    if (!any) return true;
    crowd->velocity = th_v(sums[TH_SUM_VELOCITY_X] / people, sums[TH_SUM_VELOCITY_Y] / people);
    if (!forces) return true;
    th_kernel_clear(&room.kernel, &room.work);
    sum_up(world, &room, point, forces, sums);
    crowd->pressure = sums[TH_SUM_VELOCITY_X] / people;
    return true;
}
