// Rooms and portals: what is found does not depend on where a plan lies and how it is turned.
// SPDX-License-Identifier: Apache-2.0
#include "space/rooms.h"
#include "space/walls.h"
#include "support.h"
#include "throng/rooms.h"
#include <string.h>

typedef struct plan {
    th_scene *scene;
    th_rooms *rooms;
} plan;

static plan open_plan(const char *json) {
    plan p = {.scene = scene_of(json)};
    th_error error;
    if (th_rooms_create(p.scene, TH_PASSAGE_WIDTH_MAX, &p.rooms, &error) != TH_OK)
        fail_msg("%s", error.message);
    return p;
}

static void close_plan(plan *p) {
    th_rooms_destroy(p->rooms);
    th_scene_destroy(p->scene);
}

#define assert_between(value, low, high)                                                         \
    do {                                                                                         \
        double found = (double)(value);                                                          \
        if (!(found >= (double)(low) && found <= (double)(high)))                                \
            fail_msg("%s is %g, wanted %g to %g", #value, found, (double)(low), (double)(high)); \
    } while (0)

// The ring as WKT, turned by `angle` and shifted.
static void ring_text(char *text, size_t size, const double (*ring)[2], int count, double angle) {
    size_t at = 0;
    for (int k = 0; k <= count; ++k) {
        double x = ring[k % count][0], y = ring[k % count][1];
        at += (size_t)snprintf(text + at, size - at, "%s%.9f %.9f", k > 0 ? ", " : "",
                               3.337 + x * cos(angle) - y * sin(angle),
                               -1.713 + x * sin(angle) + y * cos(angle));
    }
}

static const double angles[] = {0, 0.1, 0.5235987756, 1.0, 1.5707963268, 2.2, 3.9, 5.5};
enum { ANGLES = sizeof angles / sizeof angles[0] };

static plan turned(const double (*ring)[2], int count, double angle) {
    char corners[2000], json[2400];
    ring_text(corners, sizeof corners, ring, count, angle);
    snprintf(json, sizeof json, "{\"levels\":[{\"walkable\":\"POLYGON ((%s))\"}]}", corners);
    return open_plan(json);
}

static void test_two_rooms(void **state) {
    (void)state;
    static const double thick[][2] = {{0, 0},       {10, 0},    {10, 4.13}, {10.4, 4.13},
                                      {10.4, 0},    {16, 0},    {16, 10},   {10.4, 10},
                                      {10.4, 5.03}, {10, 5.03}, {10, 10},   {0, 10}};
    for (int k = 0; k < ANGLES; ++k) {
        plan p = turned(thick, 12, angles[k]);
        assert_int_equal(p.rooms->room_count, 2);
        assert_int_equal(p.rooms->portal_count, 1);
        assert_int_equal(p.rooms->portals[0].kind, TH_PORTAL_PASSAGE);
        assert_near(p.rooms->portals[0].width, 0.9, 1e-4);
        double area = p.rooms->rooms[0].shape.area + p.rooms->rooms[1].shape.area;
        assert_near(area, 100 + 56 + 0.4 * 0.9, 1e-2); // nothing is lost
        close_plan(&p);
    }
}

// A passage of 3.2 m parts nothing, one of 2.8 m does.
static void test_width_decides(void **state) {
    (void)state;
    for (int wide = 0; wide < 2; ++wide) {
        double half = wide ? 1.6 : 1.4;
        const double ring[][2] = {{0, 0},          {8, 0},        {8, 5 - half}, {8.2, 5 - half},
                                  {8.2, 0},        {16, 0},       {16, 10},      {8.2, 10},
                                  {8.2, 5 + half}, {8, 5 + half}, {8, 10},       {0, 10}};
        for (int k = 0; k < ANGLES; ++k) {
            plan p = turned(ring, 12, angles[k]);
            assert_int_equal(p.rooms->room_count, wide ? 1 : 2);
            close_plan(&p);
        }
    }
}

// A corridor with two rooms beside it: the doors part, lines across the corridor do not. Its bend is one corner and so
// one portal.
static void test_corridor(void **state) {
    (void)state;
    static const double ring[][2] = {
        {0, 0},   {12, 0}, {12, 12}, {10, 12}, {10, 2}, {6.9, 2}, {6.9, 2.2}, {9.5, 2.2},
        {9.5, 6}, {5, 6},  {5, 2.2}, {6, 2.2}, {6, 2},  {3, 2},   {3, 2.2},   {4.5, 2.2},
        {4.5, 6}, {0, 6},  {0, 2.2}, {2, 2.2}, {2, 2},  {0, 2}};
    for (int k = 0; k < ANGLES; ++k) {
        plan p = turned(ring, 22, angles[k]);
        assert_int_equal(p.rooms->room_count, 4);
        assert_int_equal(p.rooms->portal_count, 3);
        close_plan(&p);
    }
}

// A named door in a thin wall is the portal, not the gap that it leaves; one that stands in the open parts nothing.
static void test_doors(void **state) {
    (void)state;
    plan p = open_plan(TH_JSON({"levels":[{"walkable":{"rect":[0,0,10,6]}, "walls":[[[4.3,0],[4.3,6]]]}],
        "doors":[{"id":"a", "line":[[4.3,2.2],[4.3,3.1]]}, {"id":"b", "line":[[7,2],[7,3]]},
                 {"id":"c", "line":[[4.3,4.2],[4.3,5.1]], "closed":true}]}));
    assert_int_equal(p.rooms->room_count, 2);
    assert_int_equal(p.rooms->portal_count, 2);
    for (int k = 0; k < 2; ++k) assert_int_equal(p.rooms->portals[k].kind, TH_PORTAL_DOOR);
    assert_int_equal(p.rooms->portals[1].index, 2);
    close_plan(&p);
    // in a wall of half a metre, where the doorway has corners on both sides
    p = open_plan(TH_JSON({"levels":[{"walkable":[{"rect":[0,0,4,6]},{"rect":[4,2,4.5,3]},{"rect":[4.5,0,9,6]}]}],
        "doors":[{"id":"a", "line":[[4.2,2],[4.2,3]]}]}));
    assert_int_equal(p.rooms->room_count, 2);
    assert_int_equal(p.rooms->portal_count, 1);
    assert_int_equal(p.rooms->portals[0].kind, TH_PORTAL_DOOR);
    close_plan(&p);
}

// Walls that meet like a T or a cross have no corner there, and a line drawn some millimetres too long or too short none
// either: a corridor of 2.5 m along them is one room.
static void test_walls_that_meet(void **state) {
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
static void test_ends_beside_ends(void **state) {
    (void)state;
    plan p = open_plan(TH_JSON({"levels":[{"walkable":{"rect":[0,0,10,6]},
        "walls":[[[0,3],[10,3]], [[4,0],[4,2.9925]], [[4.0018,2.9914],[4.0018,6]]]}]}));
    assert_int_equal(p.rooms->room_count, 4);
    assert_int_equal(p.rooms->portal_count, 0);
    close_plan(&p);
}

// A wall that ends on the line of an exit, where no wall is: it parts rooms however the plan is turned.
static void test_walls_to_an_exit(void **state) {
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
static void test_gaps_beside_a_corridor(void **state) {
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
    // Its line is that of the opening, and people who aim at it aim at ground.
    assert_between(rooms->portals[0].width, 0.999, widest);
    if (leaks(&p, angle)) fail_msg("%s at %g: sight and planners pass the shut door", what, angle);
    close_plan(&p);
}

// Up to 9 cm too short or too long at one end or both, on either face of a wall, in it or beside it, or aslant.
static void test_door_lines(void **state) {
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
static void test_long_doors(void **state) {
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
static void test_leaves(void **state) {
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
static void test_short_doors(void **state) {
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

static void test_pillars_part_nothing(void **state) {
    (void)state;
    plan p = open_plan(TH_JSON({"levels":[{"walkable":{"rect":[0,0,20,20]},
        "obstacles":[{"rect":[8,8,8.5,8.5]}, {"rect":[10,8,10.5,8.5]}, {"rect":[18.5,9,19,9.5]}]}]}));
    assert_int_equal(p.rooms->room_count, 1);
    assert_int_equal(p.rooms->portal_count, 0);
    close_plan(&p);
}

// Rows, portals and goals of the shipped building; every point of a room is found in it.
static void test_building(void **state) {
    (void)state;
    plan p = {.scene = scene_file("scenes/hidac/building.json")};
    th_error error;
    assert_int_equal(th_rooms_create(p.scene, TH_PASSAGE_WIDTH_MAX, &p.rooms, &error), TH_OK);
    assert_int_equal(p.rooms->room_count, 85);
    assert_int_equal(p.rooms->portal_count, 85);
    int stairs = 0, goals = 0;
    for (int k = 0; k < p.rooms->portal_count; ++k) {
        const th_room_portal *portal = &p.rooms->portals[k];
        stairs += portal->kind == TH_PORTAL_STAIRS;
        assert_int_equal(portal->levels[0] != portal->levels[1], portal->kind == TH_PORTAL_STAIRS);
        for (int side = 0; side < 2; ++side) {
            float off = side == 0 ? -0.1f : 0.1f;
            th_vec2 q = {0.5f * (portal->a.x + portal->b.x) + off * portal->over.x,
                         0.5f * (portal->a.y + portal->b.y) + off * portal->over.y};
            assert_int_equal(th_rooms_at(p.rooms, portal->levels[side], q), portal->rooms[side]);
        }
    }
    for (int r = 0; r < p.rooms->room_count; ++r) goals += p.rooms->rooms[r].goal_count;
    assert_int_equal(stairs, 2);
    assert_int_equal(goals, 2);
    close_plan(&p);
}

static const float *distance(const th_room *room, int i, int j) {
    return &room->distances[i * (room->portal_count + room->goal_count) + j];
}

// Two doors of a room on both sides of a wall that reaches into it: the way leads around the wall's end.
static void test_distances(void **state) {
    (void)state;
    plan p = open_plan(TH_JSON({"levels":[{"walkable":[{"rect":[0,0,10,8]},{"rect":[2,-3,3,0]},{"rect":[7,-3,8,0]}],
        "walls":[[[5,0],[5,4]]]}], "exits":[{"id":"out", "line":[[0,2],[0,4]]}],
        "doors":[{"id":"a", "line":[[2,0],[3,0]]}, {"id":"b", "line":[[7,0],[8,0]]}]}));
    int hall = th_rooms_at(p.rooms, 0, (th_vec2){1, 5});
    assert_true(hall >= 0);
    const th_room *room = &p.rooms->rooms[hall];
    assert_int_equal(room->portal_count, 2);
    assert_int_equal(room->goal_count, 1);
    assert_near(*distance(room, 0, 1), hypot(2.5, 4) + hypot(2, 4),
                0.2); // 0.1 m off the wall's end
    assert_near(*distance(room, 0, 2), hypot(2.5, 2), 1e-3);
    assert_int_equal(th_rooms_at(p.rooms, 0, (th_vec2){20, 5}), -1);
    close_plan(&p);
}

// Doors side by side in one wall, the exit far away: from one to the next straight along the wall, neither by the exit nor
// cheaper over the door between them.
static void test_distances_along_a_wall(void **state) {
    (void)state;
    plan p = open_plan(TH_JSON({"levels":[{"walkable":{"rect":[0,0,40,20]}, "walls":[[[20,0],[20,20]], [[30,8],[30,12]]]}],
        "exits":[{"id":"out", "line":[[40,9],[40,11]]}],
        "doors":[{"id":"a", "line":[[20,1],[20,2]]}, {"id":"b", "line":[[20,5],[20,13]]}, {"id":"c", "line":[[20,17],[20,18]]}]}));
    int hall = th_rooms_at(p.rooms, 0, (th_vec2){25, 5});
    assert_true(hall >= 0);
    const th_room *room = &p.rooms->rooms[hall];
    assert_int_equal(room->portal_count, 3);
    assert_near(*distance(room, 0, 1), 3.5, 1e-3);
    assert_near(*distance(room, 0, 2), 15.5, 1e-3);
    assert_near(*distance(room, 2, 0), 15.5, 1e-3);
    assert_true(*distance(room, 1, 3) > 20.0f); // around the wall in the middle
    close_plan(&p);
}

// A room around three sides of another that is open on both sides: the way from door to exit leads around, not through.
static void test_distances_around_a_room(void **state) {
    (void)state;
    plan p = open_plan(TH_JSON({"levels":[{"walkable":{"rect":[0,0,24,7.5]}, "walls":[[[4,0],[4,4],[8,4],[8,0]]]}],
        "doors":[{"id":"a", "line":[[4,1],[4,2]]}, {"id":"b", "line":[[8,1],[8,2]]}],
        "exits":[{"id":"west", "line":[[0,1],[0,2]]}, {"id":"east", "line":[[24,1],[24,2]]}]}));
    assert_int_equal(p.rooms->room_count, 2);
    const th_room *room = &p.rooms->rooms[th_rooms_at(p.rooms, 0, (th_vec2){2, 2})];
    assert_int_equal(room->portal_count, 2);
    assert_int_equal(room->goal_count, 2);
    assert_near(*distance(room, 0, 2), 4, 1e-3);
    assert_near(*distance(room, 0, 1), 2.5 + 4 + 2, 0.3);
    assert_near(*distance(room, 0, 3), 2.5 + 4 + hypot(16, 2), 0.3);
    close_plan(&p);
    // A wall that stands alone, with passages at both ends: from one to the other along the wall's far side.
    p = open_plan(TH_JSON({"levels":[{"walkable":{"rect":[0,0,10,10]}, "walls":[[[7.67,3.15],[7.67,6.5]]]}]}));
    assert_int_equal(p.rooms->room_count, 2);
    room = &p.rooms->rooms[th_rooms_at(p.rooms, 0, (th_vec2){2, 2})];
    assert_int_equal(room->portal_count, 2);
    assert_near(*distance(room, 0, 1), 1.165 + 3.35 + 0.3, 0.1); // 0.1 m off the wall and its ends
    close_plan(&p);
}

// Three rooms in a row, the exit in the last: ways add up room by room, and none leads back.
static void test_ways(void **state) {
    (void)state;
    plan p = open_plan(TH_JSON({"levels":[{"walkable":{"rect":[0,0,15,4]}, "walls":[[[5,0],[5,4]], [[10,0],[10,4]]]}],
        "doors":[{"id":"a", "line":[[5,1],[5,2]]}, {"id":"b", "line":[[10,1],[10,2]]}],
        "exits":[{"id":"out", "line":[[15,1],[15,2]]}]}));
    assert_int_equal(p.rooms->portal_count, 2);
    th_front_entry heap[4];
    int place[4];
    th_front front = {heap, place, 0};
    float ways[4];
    uint32_t shut[1] = {0};
    const int out = 0;
    int next[4];
    th_room_ways w = {p.rooms, &out, 1, &front, ways, next};
    th_room_ways_search(&w, shut);
    int east_a = p.rooms->portals[0].over.x > 0.0f ? 1 : 0;
    int east_b = p.rooms->portals[1].over.x > 0.0f ? 1 : 0;
    assert_near(ways[east_a], 10, 1e-4);
    assert_near(ways[2 + east_b], 5, 1e-4);
    assert_true(isinf(ways[1 - east_a])); // nothing but the way back
    assert_true(isinf(ways[2 + 1 - east_b]));
    shut[0] = 2; // door b
    th_room_ways_search(&w, shut);
    assert_true(isinf(ways[east_a]));
    close_plan(&p);
}

// A house of rooms in a square with doors between all neighbours: ways repaired after doors changed are those of a search.
static void test_changed_ways(void **state) {
    (void)state;
    enum { SIDE = 6, DOORS = 2 * SIDE * (SIDE - 1), WORDS = DOORS / 32 + 1 };
    static char json[16000], walls[8000], doors[8000];
    walls[0] = doors[0] = '\0';
    int count = 0;
    for (int k = 1; k < SIDE; ++k)
        for (int r = 0; r < SIDE; ++r)
            for (int across = 0; across < 2; ++across) {
                double at = 5.0 * k, low = 5.0 * r, door = low + 1.5 + 0.3 * (count % 5);
                size_t w = strlen(walls), d = strlen(doors);
                double x0 = across ? low : at, y0 = across ? at : low, x1 = across ? low + 5 : at,
                       y1 = across ? at : low + 5;
                double u0 = across ? door : at, v0 = across ? at : door,
                       u1 = across ? door + 1 : at, v1 = across ? at : door + 1;
                snprintf(walls + w, sizeof walls - w, "%s[[%g,%g],[%g,%g]]", count ? "," : "", x0,
                         y0, x1, y1);
                snprintf(doors + d, sizeof doors - d,
                         "%s{\"id\":\"d%d\",\"line\":[[%g,%g],[%g,%g]]}", count ? "," : "", count,
                         u0, v0, u1, v1);
                ++count;
            }
    assert_int_equal(count, DOORS);
    snprintf(json, sizeof json,
             "{\"levels\":[{\"walkable\":{\"rect\":[0,0,30,30]},\"walls\":[%s]}],\"doors\":[%s],"
             "\"exits\":[{\"id\":\"a\",\"line\":[[0,2],[0,3]]},{\"id\":\"b\",\"line\":[[30,22],[30,"
             "23]]}]}",
             walls, doors);
    plan p = open_plan(json);
    assert_int_equal(p.rooms->portal_count, DOORS);
    th_front_entry heap[2 * DOORS + 1];
    int place[2 * DOORS], next[2 * DOORS], other_next[2 * DOORS];
    float ways[2 * DOORS], searched[2 * DOORS];
    th_front front = {heap, place, 0};
    const int out[2] = {0, 1};
    th_room_ways w = {p.rooms, out, 2, &front, ways, next};
    th_room_ways whole = {p.rooms, out, 2, &front, searched, other_next};
    uint32_t before[WORDS] = {0}, shut[WORDS] = {0};
    th_room_ways_search(&w, before);
    int changed = 0;
    for (uint32_t turn = 0; turn < 400; ++turn) {
        for (uint32_t k = 0; k < 1 + turn % 3; ++k) {
            uint32_t door = (turn * 2654435761u + k * 40503u) >> 8;
            door %= DOORS;
            shut[door / 32] ^= 1u << (door % 32);
        }
        memcpy(searched, ways, sizeof ways);
        th_room_ways_change(&w, before, shut);
        changed += memcmp(searched, ways, sizeof ways) != 0;
        th_room_ways_search(&whole, shut);
        assert_memory_equal(ways, searched, sizeof ways);
        memcpy(before, shut, sizeof shut);
    }
    assert_true(changed > 100);
    close_plan(&p);
}

static void test_open_plane(void **state) {
    (void)state;
    plan p = open_plan(TH_JSON({"levels":[{"obstacles":[{"rect":[0,0,6,0.2]}, {"rect":[0,0,0.2,5]}, {"rect":[0,5,6,5.2]},
        {"rect":[5.8,0,6,2]}, {"rect":[5.8,3,6,5.2]}]}]}));
    assert_int_equal(p.rooms->room_count, 2);
    assert_int_equal(p.rooms->portal_count, 1);
    close_plan(&p);
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

// What holds in every plan; `plain`: where walls do not cross and cover each other.
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

// Halves a room again and again: walls from wall to wall, which miss those by up to 9 mm, each with a door that is too long
// or too short for its gap by up to 9 cm. Returns the number of walls.
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

static void test_halved_plans(void **state) {
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
static void test_wild_plans(void **state) {
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
        cmocka_unit_test(test_two_rooms),
        cmocka_unit_test(test_width_decides),
        cmocka_unit_test(test_corridor),
        cmocka_unit_test(test_doors),
        cmocka_unit_test(test_building),
        cmocka_unit_test(test_pillars_part_nothing),
        cmocka_unit_test(test_distances),
        cmocka_unit_test(test_open_plane),
        cmocka_unit_test(test_ways),
        cmocka_unit_test(test_door_lines),
        cmocka_unit_test(test_long_doors),
        cmocka_unit_test(test_leaves),
        cmocka_unit_test(test_short_doors),
        cmocka_unit_test(test_halved_plans),
        cmocka_unit_test(test_wild_plans),
        cmocka_unit_test(test_walls_that_meet),
        cmocka_unit_test(test_ends_beside_ends),
        cmocka_unit_test(test_walls_to_an_exit),
        cmocka_unit_test(test_gaps_beside_a_corridor),
        cmocka_unit_test(test_distances_along_a_wall),
        cmocka_unit_test(test_distances_around_a_room),
        cmocka_unit_test(test_changed_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
