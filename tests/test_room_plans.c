// Rooms of plans that are not drawn to the millimetre, and of plans made by chance.
// SPDX-License-Identifier: Apache-2.0
#include "room_plans.h"
#include "space/rooms.h"
#include "space/walls.h"
#include "support.h"
#include "throng/rooms.h"
#include <string.h>

#define assert_between(value, low, high)                                                         \
    do {                                                                                         \
        double found = (double)(value);                                                          \
        if (!(found >= (double)(low) && found <= (double)(high)))                                \
            fail_msg("%s is %g, wanted %g to %g", #value, found, (double)(low), (double)(high)); \
    } while (0)

// Walls that meet like a T or a cross have no corner there, nor has a line drawn some millimetres too long or too
// short: a corridor of 2.5 m along them is one room.
static void walls_that_meet(void **state) {
    (void)state;
    static const double ends[] = {8, 8.004, 8.02, 7.998, 7.996, 7.96};
    for (int k = 0; k < 6; ++k) {
        char json[600];
        snprintf(json, sizeof json,
                 "{\"levels\":[{\"walkable\":{\"rect\":[0,0,10.5,9]},\"walls\":[[[8,0],[8,9]],"
                 "[[0,3],[%g,3]],[[0,6],[%g,6]]]}],\"doors\":[{\"line\":[[8,1],[8,2]]},"
                 "{\"line\":[[8,4],[8,5]]},{\"line\":[[8,7],[8,8]]}]}",
                 ends[k], ends[k]);
        plan p = open_plan(json);
        assert_int_equal(p.rooms->room_count, 4);
        assert_int_equal(p.rooms->portal_count, 3);
        close_plan(&p);
    }
}

// A wall that ends between two others, a millimetre beside one and some short of the other.
static void ends_beside_ends(void **state) {
    (void)state;
    plan p = open_plan(TH_JSON({"levels":[{"walkable":{"rect":[0,0,10,6]},
        "walls":[[[0,3],[10,3]], [[4,0],[4,2.9925]], [[4.0018,2.9914],[4.0018,6]]]}]}));
    assert_int_equal(p.rooms->room_count, 4);
    assert_int_equal(p.rooms->portal_count, 0);
    close_plan(&p);
}

// A wall that ends on the line of an exit, where no wall is: it parts rooms however the plan is turned.
static void walls_to_an_exit(void **state) {
    (void)state;
    static const double ring[][2] = {{0, 0}, {20, 0}, {20, 6}, {0, 6}};
    for (int k = 0; k < 40; ++k) {
        char ground[400], json[1000];
        double angle = 0.1483 * k, x[4], y[4], c = cos(angle), s = sin(angle);
        static const double points[][2] = {{0, 4}, {20, 4}, {20, 1}, {20, 5}};
        ring_text(ground, sizeof ground, ring, 4, angle);
        for (int i = 0; i < 4; ++i) {
            x[i] = 3.337 + points[i][0] * c - points[i][1] * s;
            y[i] = -1.713 + points[i][0] * s + points[i][1] * c;
        }
        snprintf(
            json, sizeof json,
            "{\"levels\":[{\"walkable\":\"POLYGON ((%s))\",\"walls\":[[[%.9f,%.9f],[%.9f,%.9f]]]"
            "}],\"exits\":[{\"line\":[[%.9f,%.9f],[%.9f,%.9f]]}]}",
            ground, x[0], y[0], x[1], y[1], x[2], y[2], x[3], y[3]);
        plan p = open_plan(json);
        assert_int_equal(p.rooms->room_count, 2);
        close_plan(&p);
    }
}

// Gaps as wide as the corridor beside them: 34 rooms and a corridor on each floor, not lines across the corridor.
static void gaps_beside_a_corridor(void **state) {
    (void)state;
    plan p = {.scene = scene_file("scenes/verification/rimea_08_building.json")};
    th_error error;
    assert_int_equal(th_rooms_create(p.scene, TH_PASSAGE_WIDTH_MAX, &p.rooms, &error), TH_OK);
    int small = 0, corridors = 0;
    for (int r = 0; r < p.rooms->room_count; ++r) {
        small += fabs(p.rooms->rooms[r].shape.area - 6) < 0.01;
        corridors += p.rooms->rooms[r].portal_count == 35;
    }
    assert_int_equal(small, 3 * 34);
    assert_int_equal(corridors, 3);
    close_plan(&p);
}

// ---- door lines that are not drawn to the millimetre

// Two rooms of 8 and 12 by 6 m and an opening of 1 m between them; `thickness` 0: a thin wall.
static plan with_door(double thickness, double angle, const double door[2][2]) {
    const double far = 8 + thickness;
    const double thick[][2] = {{0, 0},  {8, 0},   {8, 2},   {far, 2}, {far, 0}, {20, 0},
                               {20, 6}, {far, 6}, {far, 3}, {8, 3},   {8, 6},   {0, 6}};
    const double bare[][2] = {{0, 0}, {20, 0}, {20, 6}, {0, 6}};
    const double walls[2][2][2] = {{{8, 0}, {8, 2}}, {{8, 3}, {8, 6}}};
    char ring[1000], line[2][200], wall[2][200], json[3000];
    if (thickness > 0)
        ring_text(ring, sizeof ring, thick, 12, angle);
    else
        ring_text(ring, sizeof ring, bare, 4, angle);
    for (int k = 0; k < 2; ++k) { // two points and the first again, which is cut off
        for (int w = 0; w < 2; ++w) {
            char *text = w == 0 ? line[k] : wall[k];
            ring_text(text, 200, w == 0 ? &door[k] : walls[k], w == 0 ? 1 : 2, angle);
            *strrchr(text, ',') = 0;
        }
        *strchr(line[k], ' ') = ',';
    }
    int at = snprintf(json, sizeof json, "{\"levels\":[{\"walkable\":\"POLYGON ((%s))\"", ring);
    if (thickness == 0)
        at += snprintf(json + at, sizeof json - (size_t)at,
                       ",\"walls\":[\"LINESTRING (%s)\",\"LINESTRING (%s)\"]", wall[0], wall[1]);
    snprintf(json + at, sizeof json - (size_t)at,
             "}],\"doors\":[{\"id\":\"a\",\"line\":[[%s],[%s]]}]}", line[0], line[1]);
    return open_plan(json);
}

// Is everything between the jambs shut with the door? Rays from room to room a millimetre apart.
static bool leaks(const plan *p, double angle) {
    uint8_t closed[2] = {1, 1};
    th_walls walls = th_walls_of(p->scene, closed);
    for (int k = -50; k <= 1050; ++k) {
        double y = 2 + 0.001 * k + 0.0003;
        th_vec2 ends[2];
        for (int side = 0; side < 2; ++side) {
            double x = side == 0 ? 7.7 : 8.6;
            ends[side] = (th_vec2){(float)(3.337 + x * cos(angle) - y * sin(angle)),
                                   (float)(-1.713 + x * sin(angle) + y * cos(angle))};
        }
        if (th_walls_first_crossing(&walls, 0, ends[0], ends[1], NULL) < 0) return true;
    }
    return false;
}

static void expect_one_door(plan p, double angle, double widest, const char *what) {
    const th_rooms *rooms = p.rooms;
    if (rooms->room_count != 2 || rooms->portal_count != 1 ||
        rooms->portals[0].kind != TH_PORTAL_DOOR)
        fail_msg("%s at %g: %d rooms, %d portals, the first of kind %d", what, angle,
                 rooms->room_count, rooms->portal_count,
                 rooms->portal_count > 0 ? (int)rooms->portals[0].kind : -1);
    // Its line is that of the opening, and people that aim at it aim at ground.
    assert_between(rooms->portals[0].width, 0.999, widest);
    if (leaks(&p, angle)) fail_msg("%s at %g: sight and planners pass the shut door", what, angle);
    close_plan(&p);
}

// Up to 9 cm too short or too long at one end or both, on either face of a wall, in it or beside it, or aslant.
static void door_lines(void **state) {
    (void)state;
    static const double errors[] = {-0.09, -0.02, -0.001, 0, 0.001, 0.02, 0.05, 0.09};
    static const double offs[][2] = {{0, 0}, {0.5, 0.5}, {1, 1}, {0.1, 0.9}, {0, 1}};
    char what[200];
    for (int e = 0; e < 8; ++e)
        for (int one = 0; one < 2; ++one)
            for (int k = 0; k < ANGLES; ++k) {
                double low = one ? 2.0 : 2.0 - errors[e], high = 3.0 + errors[e];
                for (int t = 0; t < 3; ++t)
                    for (int o = 0; o < 5; ++o) {
                        double thick = 0.1 * (t + 1);
                        const double door[2][2] = {{8 + offs[o][0] * thick, low},
                                                   {8 + offs[o][1] * thick, high}};
                        snprintf(what, sizeof what, "wall %g, ends %g, off %d", thick, errors[e],
                                 o);
                        expect_one_door(with_door(thick, angles[k], door), angles[k], 1.06, what);
                    }
                // A thin wall is opened by a line that lies on it.
                for (int o = 0; o < 4; ++o) {
                    double off = 0.02 * o;
                    const double beside[2][2] = {{8 + off, low}, {8 + off, high}},
                                 aslant[2][2] = {{8 - off, low}, {8 + off, high}};
                    if (errors[e] < 0 && hypot(off, errors[e]) > 0.1) continue;
                    snprintf(what, sizeof what, "thin wall, ends %g, off %g", errors[e], off);
                    expect_one_door(with_door(0, angles[k], beside), angles[k], 1.2, what);
                    expect_one_door(with_door(0, angles[k], aslant), angles[k], 1.2, what);
                }
            }
}

// A line that runs on off the ground or through a wall is a door as far as it lies in the opening.
static void long_doors(void **state) {
    (void)state;
    plan p =
        open_plan(TH_JSON({"levels":[{"walkable":{"rect":[0,0,20,6]}, "walls":[[[8,0],[8,6]]]}],
        "doors":[{"id":"a", "line":[[8,5.5],[8,7]]}]}));
    assert_int_equal(p.rooms->room_count, 2);
    assert_int_equal(p.rooms->portal_count, 1);
    assert_int_equal(p.rooms->portals[0].kind, TH_PORTAL_DOOR);
    assert_near(p.rooms->portals[0].width, 0.5, 1e-4);
    assert_near(p.rooms->portals[0].b.y, 6, 1e-4);
    close_plan(&p);
    // along a thin wall that it does not open, beside a gap: only the gap
    p = open_plan(TH_JSON({"levels":[{"walkable":{"rect":[0,0,20,6]}, "walls":[[[8,0],[8,2]],[[8,3],[8,6]]]}],
        "doors":[{"id":"a", "line":[[8.05,1.6],[8.05,3.4]]}]}));
    assert_int_equal(p.rooms->portal_count, 1);
    assert_int_equal(p.rooms->portals[0].kind, TH_PORTAL_DOOR);
    assert_near(p.rooms->portals[0].width, 1.0, 1e-3);
    close_plan(&p);
    // into the wall beside it: its line stays as straight as it was drawn
    static const double long_door[2][2] = {{8.03, 1.95}, {8.03, 3}};
    p = with_door(0.1, 0, long_door);
    assert_near(p.scene->doors[0].line.a.x, p.scene->doors[0].line.b.x, 1e-5);
    close_plan(&p);
    // over the end of a wall: a door to each of two rooms
    p = open_plan(TH_JSON({"levels":[{"walkable":{"rect":[0,0,20,6]}, "walls":[[[8,0],[8,6]],[[0,3],[8,3]]]}],
        "doors":[{"id":"a", "line":[[8,2.3],[8,3.7]]}]}));
    assert_int_equal(p.rooms->room_count, 3);
    assert_int_equal(p.rooms->portal_count, 2);
    for (int k = 0; k < 2; ++k) {
        assert_int_equal(p.rooms->portals[k].kind, TH_PORTAL_DOOR);
        assert_int_equal(p.rooms->portals[k].index, 0);
        assert_near(p.rooms->portals[k].width, 0.7, 1e-3);
    }
    close_plan(&p);
    // beside a wall without a gap: none
    p = open_plan(
        TH_JSON({"levels":[{"walkable":{"rect":[0,0,20,6]}, "walls":[[[8,0],[8,6]]]}],
        "doors":[{"id":"a", "line":[[8.05,1.6],[8.05,3.4]]}]}));
    assert_int_equal(p.rooms->room_count, 2);
    assert_int_equal(p.rooms->portal_count, 0);
    close_plan(&p);
}

// Two leaves with a slit between them and no post: no passage is left, and shut they close it. With a post: two doors.
static void leaves(void **state) {
    (void)state;
    for (int apart = 0; apart < 3; ++apart) {
        char json[600];
        double half = apart == 0 ? 0 : apart == 1 ? 0.01 : 0.05;
        snprintf(
            json, sizeof json,
            "{\"levels\":[{\"walkable\":{\"rect\":[0,0,20,6]},\"walls\":[[[8,0],[8,%s]],"
            "[[8,4],[8,6]]]}],\"doors\":[{\"line\":[[8,2],[8,%g]]},{\"line\":[[8,%g],[8,4]]}]}",
            apart == 2 ? "4" : "2", 3 - half, 3 + half);
        plan p = open_plan(json);
        assert_int_equal(p.rooms->room_count, 2);
        assert_int_equal(p.rooms->portal_count, 2);
        for (int k = 0; k < 2; ++k) assert_int_equal(p.rooms->portals[k].kind, TH_PORTAL_DOOR);
        uint8_t closed[2] = {1, 1};
        th_walls walls = th_walls_of(p.scene, closed);
        for (int k = 0; k < 100; ++k) {
            th_vec2 q = {7, 2.95f + 0.001f * (float)k}, r = {9, q.y};
            assert_true(th_walls_first_crossing(&walls, 0, q, r, NULL) >= 0);
        }
        close_plan(&p);
    }
}

// A door too short for its opening by more than 0.1 m leaves a passage, however the plan is turned.
static void short_doors(void **state) {
    (void)state;
    static const double door[2][2] = {{8, 2.15}, {8, 2.85}};
    for (int k = 0; k < ANGLES; ++k) {
        plan p = with_door(0, angles[k], door);
        int passages = 0;
        for (int i = 0; i < p.rooms->portal_count; ++i)
            passages += p.rooms->portals[i].kind == TH_PORTAL_PASSAGE;
        assert_int_equal(p.rooms->room_count, 2);
        assert_int_equal(passages, 1);
        close_plan(&p);
    }
}

// ---- plans by chance

static double by_chance(uint64_t *state, double low, double high) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(*state >> 40) / (double)(1 << 24);
}

typedef struct drawn {
    char walls[20000], doors[20000];
    size_t wall_at, door_at;
    int door_count;
    double angle;
    double places[100][2][2]; // of doors, not turned
} drawn;

static void draw_line(drawn *d, bool door, double line[2][2]) {
    char *text = door ? d->doors : d->walls;
    size_t *at = door ? &d->door_at : &d->wall_at;
    assert_true(*at < 19000);
    double c = cos(d->angle), s = sin(d->angle), x[2], y[2];
    for (int k = 0; k < 2; ++k) {
        x[k] = 3.337 + line[k][0] * c - line[k][1] * s;
        y[k] = -1.713 + line[k][0] * s + line[k][1] * c;
    }
    *at += (size_t)snprintf(text + *at, 20000 - *at, "%s%s[[%.9f,%.9f],[%.9f,%.9f]]%s",
                            *at > 0 ? "," : "", door ? "{\"line\":" : "", x[0], y[0], x[1], y[1],
                            door ? "}" : "");
    if (door) memcpy(d->places[d->door_count++], line, sizeof d->places[0]);
}

// False: refused.
static bool open_drawn(const drawn *d, double width, double height, const char *obstacles,
                       plan *p) {
    static char json[50000];
    const double ring[][2] = {{0, 0}, {width, 0}, {width, height}, {0, height}};
    char ground[400];
    th_error error;
    ring_text(ground, sizeof ground, ring, 4, d->angle);
    snprintf(json, sizeof json,
             "{\"levels\":[{\"walkable\":\"POLYGON ((%s))\",\"walls\":[%s],\"obstacles\":[%s]}],"
             "\"doors\":[%s]}",
             ground, d->walls, obstacles, d->doors);
    if (th_scene_load_json(json, strlen(json), "s.json", NULL, NULL, &p->scene, &error) != TH_OK)
        return false;
    if (th_rooms_create(p->scene, TH_PASSAGE_WIDTH_MAX, &p->rooms, &error) != TH_OK)
        fail_msg("%s", error.message);
    return true;
}

// Properties of every plan; `plain`: where walls do not cross and cover each other.
static void check_rooms(const plan *p, bool plain, uint64_t *state) {
    const th_rooms *rooms = p->rooms;
    for (int k = 0; k < rooms->portal_count; ++k) {
        const th_room_portal *portal = &rooms->portals[k];
        assert_true(portal->rooms[0] != portal->rooms[1]);
        assert_between(th_length(portal->over), 0.999, 1.001);
        assert_between(portal->width, 0.01, 100.0);
        for (int side = 0; side < 2; ++side) {
            assert_in_range(portal->rooms[side], 0, rooms->room_count - 1);
            assert_true(th_room_place(rooms, portal->rooms[side], k) >= 0);
        }
    }
    for (int r = 0; r < rooms->room_count; ++r) {
        const th_room *room = &rooms->rooms[r];
        int places = room->portal_count + room->goal_count;
        for (int i = 0; i < room->portal_count; ++i)
            for (int j = 0; j < room->portal_count; ++j) {
                const th_room_portal *a = &rooms->portals[room->portals[i]],
                                     *b = &rooms->portals[room->portals[j]];
                th_vec2 from = th_scale(0.5f, th_add(a->a, a->b));
                float straight = sqrtf(th_segment_distance2(from, b->a, b->b));
                float there = room->distances[i * places + j],
                      back = room->distances[j * places + i];
                assert_between(there, i == j ? 0.0f : straight - 1e-3f, 1e4);
                // From a middle to the nearest point: the same both ways but for half the widths and a corner.
                float half = 0.5f * (a->width + b->width) + 0.3f;
                if (plain) assert_between(there - back, -half, half);
            }
    }
    const th_box *box = &p->scene->levels[0].box;
    for (int k = 0; k < 300; ++k) {
        th_vec2 q = {(float)by_chance(state, (double)box->min_x, (double)box->max_x),
                     (float)by_chance(state, (double)box->min_y, (double)box->max_y)};
        int holding = 0, last = -1;
        bool clear = th_scene_distance(p->scene, 0, q) > 0.1f;
        for (int i = 0; i < rooms->portal_count; ++i)
            clear = clear &&
                    th_segment_distance2(q, rooms->portals[i].a, rooms->portals[i].b) > 0.1f * 0.1f;
        for (int d = 0; d < p->scene->door_count; ++d)
            clear = clear && th_segment_distance2(q, p->scene->doors[d].line.a,
                                                  p->scene->doors[d].line.b) > 0.1f * 0.1f;
        if (!clear) continue;
        for (int r = 0; r < rooms->room_count; ++r)
            if (th_polygons_contain(&rooms->rooms[r].shape, q)) {
                ++holding;
                last = r;
            }
        assert_int_equal(holding, 1);
        assert_int_equal(th_rooms_at(rooms, 0, q), last);
    }
}

// Halves a room again and again: walls from wall to wall, which miss those by up to 9 mm, each with a door that is too
// long or too short for its gap by up to 9 cm. Returns the number of walls.
static int halve(drawn *d, uint64_t *state, const double low[2], const double high[2], int depth) {
    double size[2] = {high[0] - low[0], high[1] - low[1]};
    int along = size[0] > size[1] ? 1 : 0, across = 1 - along; // the wall runs `along`
    if (depth == 0 || size[across] < 5 || size[along] < 3) return 0;
    double at = 0;
    for (bool clear = false; !clear;) { // not onto a door
        at = low[across] + by_chance(state, 0.4, 0.6) * size[across];
        clear = true;
        for (int k = 0; k < d->door_count; ++k) {
            const double(*door)[2] = (const double(*)[2])d->places[k];
            bool on_edge = fabs(door[0][along] - low[along]) < 0.01 ||
                           fabs(door[0][along] - high[along]) < 0.01;
            double first = fmin(door[0][across], door[1][across]),
                   last = fmax(door[0][across], door[1][across]);
            if (on_edge && at > first - 0.2 && at < last + 0.2) clear = false;
        }
        if (!clear && by_chance(state, 0, 1) < 0.01) return 0;
    }
    double begin = low[along] + by_chance(state, 0.5, size[along] - 1.7);
    double end = begin + by_chance(state, 0.7, 1.1), miss = by_chance(state, -0.009, 0.009);
    double line[2][2];
    line[0][across] = line[1][across] = at;
    line[0][along] = low[along] + miss;
    line[1][along] = begin;
    draw_line(d, false, line);
    line[0][along] = end;
    line[1][along] = high[along] - miss;
    draw_line(d, false, line);
    line[0][along] = begin + by_chance(state, -0.09, 0.09);
    line[1][along] = end + by_chance(state, -0.09, 0.09);
    draw_line(d, true, line);
    double middle_high[2] = {high[0], high[1]}, middle_low[2] = {low[0], low[1]};
    middle_high[across] = middle_low[across] = at;
    return 1 + halve(d, state, low, middle_high, depth - 1) +
           halve(d, state, middle_low, high, depth - 1);
}

static void halved_plans(void **state) {
    (void)state;
    static drawn d;
    for (uint64_t seed = 1; seed <= 60; ++seed) {
        uint64_t chance = seed * 77777;
        memset(&d, 0, sizeof d);
        d.angle = seed % 3 == 0 ? 0 : by_chance(&chance, 0, 6.2);
        int walls = halve(&d, &chance, (double[2]){0, 0}, (double[2]){32, 24}, 5);
        plan p;
        int doors = 0;
        assert_true(open_drawn(&d, 32, 24, "", &p));
        for (int k = 0; k < p.rooms->portal_count; ++k)
            doors += p.rooms->portals[k].kind == TH_PORTAL_DOOR;
        if (p.rooms->room_count != walls + 1 || doors != walls || p.rooms->portal_count != walls)
            fail_msg("seed %d: %d walls, %d rooms, %d portals, %d doors", (int)seed, walls,
                     p.rooms->room_count, p.rooms->portal_count, doors);
        check_rooms(&p, true, &chance);
        close_plan(&p);
    }
}

// Walls, doors and pillars anywhere.
static void wild_plans(void **state) {
    (void)state;
    static drawn d;
    int taken = 0;
    for (uint64_t seed = 1; seed <= 120; ++seed) {
        uint64_t chance = seed * 99991;
        char obstacles[3000];
        size_t at = 0;
        memset(&d, 0, sizeof d);
        d.angle = by_chance(&chance, 0, 6.2);
        for (int k = 0; k < 25; ++k) {
            double x = by_chance(&chance, -1, 21), y = by_chance(&chance, -1, 15);
            double length = by_chance(&chance, 0.2, 7), turn = by_chance(&chance, 0, 6.2);
            if (seed % 2 == 0) { // on a lattice, where lines meet and cover each other
                x = floor(x), y = floor(y), length = ceil(length),
                turn = 1.5707963268 * floor(turn);
            }
            double line[2][2] = {{x, y}, {x + length * cos(turn), y + length * sin(turn)}};
            bool door = k >= 15 && x > 0.1 && x < 19.9 && y > 0.1 && y < 13.9;
            if (door || k < 15) draw_line(&d, door, line);
        }
        for (int k = 0; k < 6; ++k)
            at += (size_t)snprintf(obstacles + at, sizeof obstacles - at,
                                   "%s{\"circle\":[%.3f,%.3f,%.3f]}", k > 0 ? "," : "",
                                   by_chance(&chance, -10, 20), by_chance(&chance, -10, 20),
                                   by_chance(&chance, 0.05, 2));
        plan p;
        if (!open_drawn(&d, 20, 14, obstacles, &p)) continue; // a door in a pillar or onto nothing
        ++taken;
        check_rooms(&p, false, &chance);
        close_plan(&p);
    }
    assert_between(taken, 30, 120);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(door_lines),       cmocka_unit_test(long_doors),
        cmocka_unit_test(leaves),           cmocka_unit_test(short_doors),
        cmocka_unit_test(halved_plans),     cmocka_unit_test(wild_plans),
        cmocka_unit_test(walls_that_meet),  cmocka_unit_test(ends_beside_ends),
        cmocka_unit_test(walls_to_an_exit), cmocka_unit_test(gaps_beside_a_corridor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
