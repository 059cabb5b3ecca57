// The nearest neighbours of an agent on the device, one thread per person: the same people in the same order as
// state/nearest.h finds. A circle is guessed that holds a few more than wanted; an agent that is within it goes into a
// list in the thread's own room, and the few of the list are then put in order in registers, without a branch. Both are
// for the sake of a warp, which does for all its threads what any of them needs: put in order at once, all agents in
// nine cells would cost what the listed alone do. SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_ORCA_NEAREST_CUH
#define TH_MOVE_ORCA_NEAREST_CUH
#include "device/device.cuh"
#include "move/orca/orca.h"

namespace th {

// A thread's own room: `most` places, each for one line or, before there are lines, for two people.
struct near_person {
    float distance2;
    uint32_t agent;
};
union alignas(16) orca_room {
    th_orca_place line;
    near_person people[2];
};
template <int most> struct own_room {
    enum { PEOPLE = 2 * most };
    orca_room *places;
    int stride;
    // The first `most` people have a place each, so that it may become the line of the agent in it.
    TH_BOTH near_person &person(int k) const {
        return k < most ? places[k * stride].people[0] : places[(k - most) * stride].people[1];
    }
    TH_BOTH th_orca_lines lines() const { return {(th_orca_place *)places, stride, 0, 0}; }
};

// The nearest so far, and one more, by whom it is known whether the last of them is so for sure.
template <int most> struct nearest_few {
    float distance2[most + 1];
    uint32_t agent[most + 1];

    TH_BOTH static float no_one() { return 1e30f; }
    TH_BOTH void empty() {
        TH_UNROLLED for (int k = 0; k <= most; ++k) {
            distance2[k] = no_one();
            agent[k] = 0;
        }
    }
    // Every agent further away moves up by one.
    TH_BOTH void insert(near_person other) {
        TH_UNROLLED for (int k = most; k > 0; --k) {
            bool further = other.distance2 < distance2[k - 1],
                 here = other.distance2 < distance2[k];
            agent[k] = further ? agent[k - 1] : here ? other.agent : agent[k];
            distance2[k] = th_min(distance2[k], th_max(distance2[k - 1], other.distance2));
        }
        agent[0] = other.distance2 < distance2[0] ? other.agent : agent[0];
        distance2[0] = th_min(distance2[0], other.distance2);
    }
    TH_BOTH void insert_all(const own_room<most> &room, int count) {
        TH_ROLLED for (int k = 0; k < count; ++k) insert(room.person(k));
    }
    // Square of the distance of person k, where k is no constant.
    TH_BOTH float distance2_of(int wanted) const {
        float found = no_one();
        TH_UNROLLED for (int k = 0; k <= most; ++k) found = k == wanted ? distance2[k] : found;
        return found;
    }
};

// Puts those within sqrt(limit2) of i in order.
template <int most>
TH_BOTH void order_those_within(const th_world *world, uint32_t i, float limit2,
                                const own_room<most> &room, nearest_few<most> *few) {
    const float *x = world->agents.position_x, *y = world->agents.position_y;
    const th_level_grid *grid = &world->index.grids[world->agents.level[i]];
    th_vec2 p = th_v(x[i], y[i]);
    // A little more for the rounding of the squares.
    th_rows rows = th_rows_around(grid, p, 1.0001f * th_root(limit2));
    int listed = 0;
    bool some_lie = world->counters.fallen > 0;
    few->empty();
    TH_ROLLED for (uint32_t begin, end; th_next_run(&world->index, grid, &rows, &begin, &end);) {
        for (uint32_t j = begin; j < end; ++j) {
            float distance2 = th_length2(th_sub(th_v(x[j], y[j]), p));
            if (!(distance2 < limit2) || j == i) continue;
            if (some_lie && !th_in_the_way(world->agents.phase[j])) continue;
            room.person(listed) = {distance2, j};
            if (++listed < own_room<most>::PEOPLE) continue;
            few->insert_all(room, listed);
            limit2 = th_min(limit2, few->distance2[most]);
            listed = 0;
        }
    }
    few->insert_all(room, listed);
}

// Square of the radius of a circle that should hold all wanted, by the density of the cells around; half as many
// more make it rare in a dense crowd that one of a warp's people has to look again.
TH_BOTH inline float likely_radius2(const th_world *world, uint32_t i, int wanted) {
    const th_level_grid *grid = &world->index.grids[world->agents.level[i]];
    th_rows rows = th_rows_around(grid, th_position(&world->agents, i), grid->cell);
    float side = grid->cell,
          area = side * side *
                 (float)((rows.last_row - rows.row + 1) * (rows.column1 - rows.column0 + 1));
    uint32_t people = 0;
    TH_ROLLED for (uint32_t begin, end; th_next_run(&world->index, grid, &rows, &begin, &end);)
        people += end - begin;
    return th_divide(1.5f * (float)(wanted + 1) * area, 3.14159265f * (float)people); // i is there
}

// Equal distances in the order of ids.
template <int most>
TH_BOTH void order_equals(const uint32_t *id, const own_room<most> &room, int count) {
    TH_ROLLED for (int k = 1; k < count; ++k) {
        near_person moving = room.person(k);
        int at = k;
        for (; at > 0 && room.person(at - 1).distance2 == moving.distance2 &&
               id[room.person(at - 1).agent] > id[moving.agent];
             --at)
            room.person(at) = room.person(at - 1);
        room.person(at) = moving;
    }
}

struct found_nearest {
    int count;
    float furthest2; // square of the distance of the last one
    bool certain;    // false: several are at the distance of the last one
};

// The `wanted` (at most `most`) nearest within `range` of i on its level, nearest first, into the room.
template <int most>
TH_BOTH found_nearest find_nearest(const th_world *world, uint32_t i, int wanted, float range,
                                   const own_room<most> &room) {
    nearest_few<most> few;
    float range2 = range * range, limit2 = th_min(likely_radius2(world, i, wanted), range2);
    for (;; limit2 = th_min(3.0f * limit2, range2)) {
        order_those_within(world, i, limit2, room, &few);
        if (few.distance2_of(wanted - 1) < limit2 || !(limit2 < range2)) break;
    }
    found_nearest found = {0, 0.0f, true};
    bool equals = false;
    TH_UNROLLED for (int k = 0; k < most; ++k) {
        if (k >= wanted || !(few.distance2[k] < few.no_one())) break;
        room.person(k) = {few.distance2[k], few.agent[k]};
        found.count = k + 1;
        found.furthest2 = few.distance2[k];
        equals = equals || few.distance2[k] == few.distance2[k + 1];
    }
    found.certain = found.count < wanted || found.furthest2 < few.distance2_of(wanted);
    if (equals) order_equals<most>(world->agents.id, room, found.count);
    return found;
}

} // namespace th
#endif
