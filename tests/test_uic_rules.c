// Unilateral incompressibility: single formulas and rows of the pressure problem, with numbers worked out by hand.
// SPDX-License-Identifier: Apache-2.0
#include "move/uic/project.h"
#include "move/uic/splat.h"
#include "support.h"
#include <stdlib.h>

// Eq. 3: the flow counts as far as the cell is packed, never more than wholly.
static void weight_is_the_packing(void **state) {
    (void)state;
    assert_near(th_uic_weight(0.5f, 1.0f), 0.5, 1e-6);
    assert_near(th_uic_weight(0.3f, 0.6f), 0.5, 1e-6);
    assert_near(th_uic_weight(1.3f, 1.0f), 1, 1e-6);
    assert_near(th_uic_weight(0.0f, 1.0f), 0, 1e-6);
}

static void distance_and_area(void **state) {
    (void)state;
    assert_near(th_uic_d_min(0.5f, 0.2f), 0.5, 1e-6);
    assert_near(th_uic_d_min(0.0f, 0.2f), 0.4, 1e-6);
    assert_near(th_uic_share(0.4f, 0.5f), sqrt(3.0) / 2 * 0.16 / 0.5, 1e-6); // eq. 4
}

// Eq. 10; what hardly moves is not made to walk.
static void renorm(void **state) {
    (void)state;
    assert_near(th_uic_renorm(0.3f, 0.4f, 1.0f), 0.6, 1e-6);
    assert_near(th_uic_renorm(0.1f, 0.0f, 1.0f), 0.4, 1e-6); // four times as fast at most
    assert_near(th_uic_renorm(5e-4f, 0.0f, 1.0f), 0, 0);
    assert_near(th_uic_renorm(0.0f, 0.0f, 1.0f), 0, 0);
}

// Against the stream one steps to the right, as fast as before; with it one goes on as one is.
static void keep_side(void **state) {
    (void)state;
    const th_vec2 none = {0, 0}, east = {1, 0}, west = {-1, 0};
    th_uic_wishes opposed = {west, none, none}, same = {east, none, none};
    th_vec2 against = th_uic_keep_side(east, &opposed, 0.2f, 0.0f),
            with = th_uic_keep_side(east, &same, 0.2f, 0.0f);
    assert_near(against.y / against.x, -0.2, 1e-5);
    assert_near(th_length(against), 1, 1e-5);
    assert_near(with.y, 0, 1e-6);
}

// A step to the side where more agents share the wish, by half the difference; a wish across counts for neither side.
static void lanes(void **state) {
    (void)state;
    const th_vec2 none = {0, 0}, east = {1, 0}, west = {-1, 0}, north = {0, 1};
    const th_uic_wishes right = {none, none, east}, left = {none, none, west},
                        wide = {none, west, east}, across = {none, none, north};
    th_vec2 to_right = th_uic_keep_side(east, &right, 0.0f, 0.5f),
            to_left = th_uic_keep_side(east, &left, 0.0f, 0.5f),
            most = th_uic_keep_side(east, &wide, 0.0f, 4.0f),
            ahead = th_uic_keep_side(east, &across, 0.0f, 1.0f);
    assert_near(to_right.y / to_right.x, -0.25, 1e-5);
    assert_near(to_left.y / to_left.x, 0.25, 1e-5);
    assert_near(most.y / most.x, -1, 1e-5); // no more than 45 degrees
    assert_near(th_length(most), 1, 1e-5);
    assert_near(ahead.y, 0, 1e-6);
}

// A level of 4 x 4 cells of half a metre, all open and empty.
typedef struct small_uic {
    th_world world;
    th_uic uic;
    th_staggered grid;
} small_uic;
enum { NX = 4, CELLS = NX * NX, MIDDLE = NX + 1 };

static small_uic *create(void) {
    small_uic *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->grid = (th_staggered){.nx = NX, .ny = NX, .h = 0.5f, .inverse_h = 2.0f};
    s->uic.cell_capacity = CELLS;
    th_uic *uic = &s->uic;
#define X(type, name, count, doc) uic->name = calloc(64, sizeof *uic->name);
    TH_UIC_ARRAYS(X)
#undef X
    for (int c = 0; c < CELLS; ++c) uic->room[c] = uic->open_x[c] = uic->open_y[c] = 1.0f;
    s->world.model_state[TH_MOVE_UIC] = uic;
    s->world.dt = 0.1f;
    uic->ease = uic->excess_share = uic->react = 1.0f;
    return s;
}

static void destroy(small_uic *s) {
    th_uic *uic = &s->uic;
#define X(type, name, count, doc) free(uic->name);
    TH_UIC_ARRAYS(X)
#undef X
    free(s);
}

// People of every model fill a cell.
static void others_take_up_room(void **state) {
    (void)state;
    small_uic *s = create();
    s->uic.centre[MIDDLE].share = 0.05f;
    s->uic.centre[MIDDLE].foreign = 0.1f;
    th_uic_read_cell(&s->uic, 4.0f, MIDDLE);
    assert_near(s->uic.packing[MIDDLE], 0.6, 1e-6);
    destroy(s);
}

// Eq. 15: what is left of the cell's own ground, without bottom in the outer solve only.
static void slack_is_what_is_left_of_the_ground(void **state) {
    (void)state;
    small_uic *s = create();
    s->uic.room[MIDDLE] = 0.5f;
    s->uic.packing[MIDDLE] = 0.2f;
    th_uic_assemble_cell(&s->world, &s->grid, MIDDLE, false);
    assert_near(s->uic.b[MIDDLE], 0.3, 1e-6);
    s->uic.packing[MIDDLE] = 0.8f;
    th_uic_assemble_cell(&s->world, &s->grid, MIDDLE, false);
    assert_near(s->uic.b[MIDDLE], -0.3, 1e-6);
    th_uic_assemble_cell(&s->world, &s->grid, MIDDLE, true);
    assert_near(s->uic.b[MIDDLE], 0, 1e-6);
    s->uic.excess_share = 0.2f; // the rest of it in later steps
    th_uic_assemble_cell(&s->world, &s->grid, MIDDLE, false);
    assert_near(s->uic.b[MIDDLE], -0.06, 1e-6);
    assert_near(th_uic_share_of_time(0.1f, 0.5f), 0.2, 1e-6);
    assert_near(th_uic_share_of_time(0.1f, 0.0f), 1, 0);
    assert_near(th_uic_share_of_time(0.1f, 0.05f), 1, 0);
    destroy(s);
}

// Eqs 16 and 17: dt / h x packing x velocity out of a face, and dt / h^2 x packing between two cells.
static void flow_and_coupling(void **state) {
    (void)state;
    small_uic *s = create();
    int east = MIDDLE + 1, north = MIDDLE + NX;
    s->uic.west[east].share = 0.1f; // of a face of 0.25 m2: packing 0.4
    s->uic.south[north].share = 0.2f;
    s->uic.u[east] = 1.0f;
    s->uic.v[north] = -0.5f;
    th_uic_assemble_cell(&s->world, &s->grid, MIDDLE, false);
    assert_near(s->uic.b[MIDDLE], 1 + 0.2 * (0.4 * 1.0 - 0.8 * 0.5), 1e-6);
    assert_near(s->uic.east[MIDDLE], 0.4 * 0.4, 1e-6);
    assert_near(s->uic.north[MIDDLE], 0.4 * 0.8, 1e-6);
    destroy(s);
}

// Cells that walls leave little room share the pressure of those beside them: with the cube of what they lack, up to 20 times
// as stiffly. Few: less than 0.9 of a cell, and less than 13 people.
static void small_cells_are_coupled_stiffly(void **state) {
    (void)state;
    small_uic *s = create();
    s->uic.one_person = 0.2f; // 13 of them fill ten cells: the share counts
    s->uic.capacity[0] = 0.45f;
    s->uic.capacity[1] = 1.0f;
    assert_near(th_uic_stiffness(&s->uic, 4.0f, 0, 1), 8, 1e-4);
    assert_near(th_uic_stiffness(&s->uic, 4.0f, 1, 0), 8, 1e-4);
    assert_near(th_uic_stiffness(&s->uic, 4.0f, 1, 1), 1, 1e-6);
    s->uic.capacity[1] = 0.1f;
    assert_near(th_uic_stiffness(&s->uic, 4.0f, 0, 1), 20, 1e-6);
    s->uic.one_person = 0.01f; // 13 of them take 0.52 of a cell
    s->uic.capacity[1] = 0.26f;
    assert_near(th_uic_stiffness(&s->uic, 4.0f, 1, 1), 8, 1e-3);
    s->uic.west[MIDDLE + 1].share = 0.1f;
    s->uic.capacity[MIDDLE] = s->uic.capacity[MIDDLE + 1] = 0.26f;
    s->uic.capacity[MIDDLE + NX] = 1.0f;
    s->uic.south[MIDDLE + NX].share = 0.2f;
    th_uic_assemble_cell(&s->world, &s->grid, MIDDLE, false);
    assert_near(s->uic.east[MIDDLE], 8 * 0.4 * 0.4, 1e-3);
    assert_near(s->uic.north[MIDDLE], 8 * 0.4 * 0.8, 1e-3);
    destroy(s);
}

// Eq. 8 at one face.
static void gradient_is_subtracted(void **state) {
    (void)state;
    small_uic *s = create();
    double pressure[CELLS] = {0};
    pressure[MIDDLE] = 0.3;
    s->uic.u[MIDDLE] = s->uic.v[MIDDLE] = 1.0f;
    th_uic_subtract_cell(&s->uic, NX, 2.0, MIDDLE, pressure);
    assert_near(s->uic.u[MIDDLE], 0.4, 1e-6);
    assert_near(s->uic.v[MIDDLE], 0.4, 1e-6);
    destroy(s);
}

// Where a wall folds, the value behind it does not count.
static void walls_fold_the_flow(void **state) {
    (void)state;
    const float lattice[4] = {1, 3, 5, 7};
    assert_near(th_uic_sample(lattice, 0, 1, 2, 0.5f, 0.5f, 0), 4, 1e-6);
    assert_near(th_uic_sample(lattice, 0, 1, 2, 0.5f, 0.5f, TH_UIC_FOLD_X), 3, 1e-6);
    assert_near(th_uic_sample(lattice, 0, 1, 2, 0.5f, 0.5f, TH_UIC_FOLD_Y), 2, 1e-6);
}

// Eq. 3: the packing counts where the agent stands, not that of its cell's centre, in each quarter of the cell. Packed up to
// the centre, empty beyond, and the packed crowd stands.
static void weight_is_taken_where_the_agent_stands(void **state) {
    (void)state;
    small_uic *s = create();
    th_uic_level level = {.grid = s->grid};
    for (int side = 0; side < 4; ++side) {
        int axis = side / 2, half = side % 2;
        th_uic_place at = {.i = 1, .j = 1, .x = 0.5f, .y = 0.5f};
        *(axis ? &at.half_y : &at.half_x) = half;
        for (int c = 0; c < CELLS; ++c) {
            int place = axis ? c / NX : c % NX;
            s->uic.packing[c] = (half ? place <= 1 : place >= 1) ? 1.0f : 0.0f;
        }
        for (int k = 0; k <= 2; ++k) { // from the centre to the face
            *(axis ? &at.y : &at.x) = half ? 0.5f * (float)k : 1.0f - 0.5f * (float)k;
            th_vec2 v = th_uic_velocity_at(&s->uic, &level, &at, th_v(1, 0), 1, 0, th_v(0, 0));
            assert_near(v.x, 0.25 * k, 1e-6);
        }
    }
    destroy(s);
}

// In a passage too narrow for its cell the flow does not hold an agent, in the cell beside it half, further on wholly.
static void the_flow_lets_go_in_narrow_passages(void **state) {
    (void)state;
    small_uic *s = create();
    th_uic_level level = {.grid = s->grid, .walled = true};
    th_uic_place at = {.i = 1, .j = 1, .half_x = 1, .half_y = 0, .y = 0.5f};
    for (int c = 0; c < CELLS; ++c) {
        s->uic.packing[c] = 1.0f;
        s->uic.hold[c] = c % NX <= 1 ? 1.0f : 0.0f;
    }
    for (int k = 0; k <= 2; ++k) {
        at.x = 0.5f * (float)k;
        th_vec2 v = th_uic_velocity_at(&s->uic, &level, &at, th_v(1, 0), 1, 0, th_v(0, 0));
        assert_near(v.x, 0.25 * k, 1e-6);
    }
    destroy(s);
}

// A flow to the east carries along agents that want to go that way, no others; beside an exit it holds people less, by
// the distance to its line; links hold no agent less.
static void no_agent_is_carried_out_unasked(void **state) {
    (void)state;
    small_uic *s = create();
    int east = MIDDLE + 1;
    th_uic_level level = {.grid = s->grid};
    for (int c = 0; c < CELLS; ++c) s->uic.packing[c] = s->uic.u[c] = 1.0f;
    th_uic_place at = {.i = 1, .j = 1, .half_x = 1, .half_y = 0, .x = 0.5f, .y = 0.5f};
    assert_true(th_uic_velocity_at(&s->uic, &level, &at, th_v(-1, 0), 1, 0, th_v(0, 0)).x >
                0.9f); // packed, no exit
    s->uic.exit_x[east] = 1.0f;
    for (int k = 0; k < 4 * CELLS; ++k) s->uic.quarters[k] = TH_UIC_FOLD_X;
    assert_true(th_uic_velocity_at(&s->uic, &level, &at, th_v(0, 1), 1, 0, th_v(0, 0)).x == 0.0f);
    assert_true(th_uic_velocity_at(&s->uic, &level, &at, th_v(-1, 0), 1, 0, th_v(0, 0)).x <= 0.0f);
    assert_true(th_uic_velocity_at(&s->uic, &level, &at, th_v(1, 0), 1, 0, th_v(0, 0)).x > 0.9f);
    assert_near(th_uic_velocity_at(&s->uic, &level, &at, th_v(0, 1), 0.25f, 0, th_v(0, 0)).y, 0.75,
                1e-5);

    s->uic.gate_count = 2;
    s->uic.gates[0] = (th_uic_gate){0, -1, {1.1f, 0.5f}, {1.1f, 1.0f}};
    s->uic.gates[1] = (th_uic_gate){0, 1, {0.8f, 0.5f}, {0.8f, 1.0f}};
    assert_near(th_uic_hold_at_exits(&s->uic, 0, 2.0f, th_v(1.0f, 0.7f)), 0.4, 1e-5);
    assert_near(th_uic_hold_at_exits(&s->uic, 0, 2.0f, th_v(0.8f, 0.7f)), 1, 1e-6);
    assert_near(th_uic_hold_at_exits(&s->uic, 1, 2.0f, th_v(1.1f, 0.7f)), 1, 1e-6);
    destroy(s);
}

// Two packed crowds that want through each other make a flow of nothing: people let go of it and step to their right.
// Not where it moves, nor where they agree, nor with the published rule.
static void opposed_crowds_give_way(void **state) {
    (void)state;
    small_uic *s = create();
    th_uic_level level = {.grid = s->grid};
    th_uic_place at = {.i = 1, .j = 1, .half_x = 1, .half_y = 0, .x = 0.5f, .y = 0.5f};
    for (int c = 0; c < CELLS; ++c) s->uic.packing[c] = 1.0f;
    th_uic_face east = {.share = 0.1f, .speed = 0.13f, .x = 0.13f},
                west = {.share = 0.1f, .speed = 0.13f, .x = -0.13f};
    s->uic.west[MIDDLE] = s->uic.south[MIDDLE] = east;
    s->uic.west[MIDDLE + 1] = s->uic.south[MIDDLE + NX] = west;
    th_vec2 still = {0, 0}, half = {0.65f, 0}, moving = {1.3f, 0}, wish = {1.3f, 0};
    assert_near(th_uic_opposed(&s->uic, &s->grid, 0, 1, 1, still), 1, 1e-6);
    assert_near(th_uic_opposed(&s->uic, &s->grid, 0, 1, 1, half), 0.5, 1e-5);
    assert_near(th_uic_opposed(&s->uic, &s->grid, 0, 1, 1, moving), 0, 1e-6);
    th_vec2 v = th_uic_velocity_at(&s->uic, &level, &at, wish, 1, 1, th_v(0, 0));
    assert_near(v.x, 0.65, 1e-4);
    assert_near(v.y, -1.3 * 0.8660254, 1e-4);
    // Not all at once: of a change of velocity an agent that gives way takes this share, one that hardly does more.
    s->uic.ease = 0.2f;
    v = th_uic_velocity_at(&s->uic, &level, &at, wish, 1, 1, th_v(0, 0));
    assert_near(v.x, 0.13, 1e-4);
    assert_near(th_uic_eased(0.2f, 0.125f), 0.6, 1e-6);
    v = th_uic_velocity_at(&s->uic, &level, &at, wish, 1, 0, th_v(0, 0));
    assert_near(th_length(v), 0, 1e-6);
    s->uic.west[MIDDLE + 1] = s->uic.south[MIDDLE + NX] = east;
    assert_near(th_uic_opposed(&s->uic, &s->grid, 0, 1, 1, still), 0, 1e-6);
    // All of this cell want east; four in the cells beside it, at their far faces, want west.
    s->uic.west[MIDDLE + 2] = s->uic.south[MIDDLE - NX] = s->uic.south[MIDDLE + 2 * NX] =
        s->uic.west[MIDDLE - 1] = west;
    assert_near(th_uic_opposed(&s->uic, &s->grid, 0, 1, 1, still), 1, 1e-6);
    // At the edge of a level no cell of the next one is asked.
    const th_uic_face weak = {.share = 0.01f, .speed = 0.013f, .x = 0.013f};
    for (int c = 0; c < 64; ++c) s->uic.west[c] = s->uic.south[c] = c < CELLS ? weak : west;
    assert_near(th_uic_opposed(&s->uic, &s->grid, 0, NX - 2, NX - 2, still), 0, 1e-6);
    destroy(s);
}

// An agent takes a share of a change of velocity in a step; one that gives way has a share of its own.
static void velocities_change_by_a_share(void **state) {
    (void)state;
    small_uic *s = create();
    th_uic_level level = {.grid = s->grid};
    th_uic_place at = {.i = 1, .j = 1, .half_x = 1, .half_y = 0, .x = 0.5f, .y = 0.5f};
    s->uic.react = 0.25f;
    th_vec2 v = th_uic_velocity_at(&s->uic, &level, &at, th_v(1, 0), 1, 0, th_v(0, 0.4f));
    assert_near(v.x, 0.25, 1e-6);
    assert_near(v.y, 0.3, 1e-6);
    s->uic.ease = 0.2f;
    v = th_uic_velocity_at(&s->uic, &level, &at, th_v(1, 0), 1, 1, th_v(0, 0));
    assert_near(th_length(v), 0.2, 1e-6);
    destroy(s);
}

// A face that is open by a third has a flow, and a speed limit.
static void flow_passes_half_shut_faces(void **state) {
    (void)state;
    small_uic *s = create();
    s->uic.open_x[MIDDLE] = s->uic.open_y[MIDDLE] = 0.3f;
    s->uic.west[MIDDLE] = s->uic.south[MIDDLE] =
        (th_uic_face){.share = 0.1f, .speed = 0.13f, .x = 0.12f, .y = 0.05f};
    th_uic_read_cell(&s->uic, 4.0f, MIDDLE);
    assert_near(s->uic.u[MIDDLE], 1.2, 1e-5);
    assert_near(s->uic.v[MIDDLE], 0.5, 1e-5);
    assert_near(s->uic.limit_u[MIDDLE], 1.3, 1e-5);
    assert_near(s->uic.limit_v[MIDDLE], 1.3, 1e-5);
    s->uic.open_x[MIDDLE] = s->uic.open_y[MIDDLE] = 0.0f;
    th_uic_read_cell(&s->uic, 4.0f, MIDDLE);
    assert_near(s->uic.u[MIDDLE] + s->uic.v[MIDDLE] + s->uic.limit_u[MIDDLE], 0, 0);
    destroy(s);
}

// Two levels with one lattice, a link along the west face of cell (2, 1): what the cells beside it get of the other
// level.
static void levels_press_over_links(void **state) {
    (void)state;
    small_uic *s = create();
    th_uic *uic = &s->uic;
    uic->levels[0] = (th_uic_level){.grid = s->grid};
    uic->levels[1] = (th_uic_level){.grid = s->grid, .first = CELLS};
    int high = MIDDLE + 1, low = MIDDLE;
    uic->link_faces[0] = (th_uic_link_face){.level = 0, .other = 1, .cell = high, .share = 1.0f};
    uic->link_face_count = 1;
    uic->west[high].share = uic->west[CELLS + high].share = 0.05f; // packing 0.4 of both levels
    uic->u[high] = 0.5f;
    double pressure[2 * CELLS] = {0};
    pressure[CELLS + low] = 2.0;
    th_uic_add_links(&s->world, 0, pressure);
    double coupling = 0.1 * 4.0 * 0.4, flow = 0.1 * 2.0 * 0.4 * 0.5;
    assert_near(uic->ground[high], coupling, 1e-6);
    assert_near(uic->ground[low], coupling, 1e-6);
    assert_near(uic->b[high], -(coupling * 2.0 + flow), 1e-6);
    assert_near(uic->b[low], flow, 1e-6);
    pressure[low] = 0.5;
    th_uic_correct_links(&s->world, 0,
                         pressure); // down from the other level's 2 to this level's nothing
    assert_near(uic->u[high], 0.5 + (2.0 - 0.5) * 2.0, 1e-5);
    destroy(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weight_is_the_packing),
        cmocka_unit_test(distance_and_area),
        cmocka_unit_test(renorm),
        cmocka_unit_test(keep_side),
        cmocka_unit_test(lanes),
        cmocka_unit_test(others_take_up_room),
        cmocka_unit_test(slack_is_what_is_left_of_the_ground),
        cmocka_unit_test(flow_and_coupling),
        cmocka_unit_test(small_cells_are_coupled_stiffly),
        cmocka_unit_test(gradient_is_subtracted),
        cmocka_unit_test(walls_fold_the_flow),
        cmocka_unit_test(weight_is_taken_where_the_agent_stands),
        cmocka_unit_test(the_flow_lets_go_in_narrow_passages),
        cmocka_unit_test(no_agent_is_carried_out_unasked),
        cmocka_unit_test(opposed_crowds_give_way),
        cmocka_unit_test(velocities_change_by_a_share),
        cmocka_unit_test(flow_passes_half_shut_faces),
        cmocka_unit_test(levels_press_over_links),
    };
    return cmocka_run_group_tests_name("uic rules", tests, NULL, NULL);
}
