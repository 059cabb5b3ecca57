// Rooms and portals: what is found does not depend on where a plan lies and how it is turned.
// SPDX-License-Identifier: Apache-2.0
#include "room_plans.h"
#include "space/rooms.h"
#include "space/walls.h"
#include "support.h"
#include "throng/rooms.h"
#include <geos_c.h>
#include <stdlib.h>
#include <string.h>

static plan turned(const double (*ring)[2], int count, double angle) {
    char corners[2000], json[2400];
    ring_text(corners, sizeof corners, ring, count, angle);
    snprintf(json, sizeof json, "{\"levels\":[{\"walkable\":\"POLYGON ((%s))\"}]}", corners);
    return open_plan(json);
}

static void two_rooms(void **state) {
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
static void width_decides(void **state) {
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
static void corridor(void **state) {
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
static void doors_are_portals(void **state) {
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

static void pillars_part_nothing(void **state) {
    (void)state;
    plan p = open_plan(TH_JSON({"levels":[{"walkable":{"rect":[0,0,20,20]},
        "obstacles":[{"rect":[8,8,8.5,8.5]}, {"rect":[10,8,10.5,8.5]}, {"rect":[18.5,9,19,9.5]}]}]}));
    assert_int_equal(p.rooms->room_count, 1);
    assert_int_equal(p.rooms->portal_count, 0);
    close_plan(&p);
}

// Rows, portals and goals of the shipped building; every point of a room is found in it.
static void building(void **state) {
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
static void distances_lead_around_walls(void **state) {
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

// Doors side by side in one wall, the exit far away: from one to the next straight along the wall, neither by the exit
// nor cheaper over the door between them.
static void distances_along_a_wall(void **state) {
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
static void distances_around_a_room(void **state) {
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
static void ways_add_up_room_by_room(void **state) {
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

// A house of rooms in a square with doors between all neighbours: ways repaired after doors changed are those of a
// search.
static void changed_ways(void **state) {
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

static void open_plane(void **state) {
    (void)state;
    plan p = open_plan(TH_JSON({"levels":[{"obstacles":[{"rect":[0,0,6,0.2]}, {"rect":[0,0,0.2,5]}, {"rect":[0,5,6,5.2]},
        {"rect":[5.8,0,6,2]}, {"rect":[5.8,3,6,5.2]}]}]}));
    assert_int_equal(p.rooms->room_count, 2);
    assert_int_equal(p.rooms->portal_count, 1);
    close_plan(&p);
}

// ---- the order in which GEOS lists faces differs from version to version

// The linker puts this in the place of GEOSPolygonize_r: the same faces, which another version might list like this.
static bool shuffled;
GEOSGeometry *__real_GEOSPolygonize_r(GEOSContextHandle_t geos, const GEOSGeometry *const parts[],
                                      unsigned count);
GEOSGeometry *__wrap_GEOSPolygonize_r(GEOSContextHandle_t geos, const GEOSGeometry *const parts[],
                                      unsigned count);

// The ring the other way round and from another point.
static GEOSGeometry *turned_ring(GEOSContextHandle_t geos, const GEOSGeometry *ring) {
    const GEOSCoordSequence *from = GEOSGeom_getCoordSeq_r(geos, ring);
    unsigned size = 0;
    GEOSCoordSeq_getSize_r(geos, from, &size);
    GEOSCoordSequence *to = GEOSCoordSeq_create_r(geos, size, 2);
    for (unsigned i = 0; i < size; ++i) {
        double x, y;
        GEOSCoordSeq_getXY_r(geos, from, (2 * (size - 1) - i + 2) % (size - 1), &x, &y);
        GEOSCoordSeq_setXY_r(geos, to, i, x, y);
    }
    return GEOSGeom_createLinearRing_r(geos, to);
}

static GEOSGeometry *turned_face(GEOSContextHandle_t geos, const GEOSGeometry *face) {
    GEOSGeometry *holes[16];
    int count = GEOSGetNumInteriorRings_r(geos, face);
    assert_in_range(count, 0, 16);
    for (int k = 0; k < count; ++k)
        holes[k] = turned_ring(geos, GEOSGetInteriorRingN_r(geos, face, count - 1 - k));
    return GEOSGeom_createPolygon_r(geos, turned_ring(geos, GEOSGetExteriorRing_r(geos, face)),
                                    holes, (unsigned)count);
}

GEOSGeometry *__wrap_GEOSPolygonize_r(GEOSContextHandle_t geos, const GEOSGeometry *const parts[],
                                      unsigned part_count) {
    GEOSGeometry *faces = __real_GEOSPolygonize_r(geos, parts, part_count);
    if (!shuffled) return faces;
    int count = GEOSGetNumGeometries_r(geos, faces);
    GEOSGeometry **list = malloc(((size_t)count + 1) * sizeof(GEOSGeometry *));
    for (int k = 0; k < count; ++k)
        list[k] = turned_face(geos, GEOSGetGeometryN_r(geos, faces, (count + 2 - k) % count));
    GEOSGeometry *other =
        GEOSGeom_createCollection_r(geos, GEOS_GEOMETRYCOLLECTION, list, (unsigned)count);
    GEOSGeom_destroy_r(geos, faces);
    free(list);
    return other;
}

static void assert_equal_rooms(const th_rooms *a, const th_rooms *b) {
    assert_int_equal(a->room_count, b->room_count);
    assert_int_equal(a->portal_count, b->portal_count);
    assert_memory_equal(a->portals, b->portals, (size_t)a->portal_count * sizeof *a->portals);
    for (int r = 0; r < a->room_count; ++r) {
        const th_polygons *p = &a->rooms[r].shape, *q = &b->rooms[r].shape;
        int points = p->ring_start[p->ring_count];
        assert_int_equal(p->ring_count, q->ring_count);
        assert_memory_equal(p->ring_start, q->ring_start,
                            ((size_t)p->ring_count + 1) * sizeof *p->ring_start);
        assert_memory_equal(p->points, q->points, (size_t)points * sizeof *p->points);
        assert_true(p->area == q->area);
        size_t places = (size_t)a->rooms[r].portal_count + (size_t)a->rooms[r].goal_count;
        assert_memory_equal(a->rooms[r].distances, b->rooms[r].distances,
                            places * places * sizeof *a->rooms[r].distances);
    }
}

static void order_of_faces_does_not_matter(void **state) {
    (void)state;
    const char *files[] = {"scenes/hidac/building.json", "scenes/grosser_stern.json",
                           "scenes/station.json"};
    for (int k = 0; k < 3; ++k) {
        th_scene *scene = scene_file(files[k]);
        th_rooms *rooms[2] = {NULL, NULL};
        for (int s = 0; s < 2; ++s) {
            shuffled = s == 1;
            th_error error;
            assert_int_equal(th_rooms_create(scene, TH_PASSAGE_WIDTH_MAX, &rooms[s], &error),
                             TH_OK);
        }
        shuffled = false;
        assert_equal_rooms(rooms[0], rooms[1]);
        th_rooms_destroy(rooms[0]);
        th_rooms_destroy(rooms[1]);
        th_scene_destroy(scene);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_of_faces_does_not_matter),
        cmocka_unit_test(two_rooms),
        cmocka_unit_test(width_decides),
        cmocka_unit_test(corridor),
        cmocka_unit_test(doors_are_portals),
        cmocka_unit_test(building),
        cmocka_unit_test(pillars_part_nothing),
        cmocka_unit_test(distances_lead_around_walls),
        cmocka_unit_test(open_plane),
        cmocka_unit_test(ways_add_up_room_by_room),
        cmocka_unit_test(distances_along_a_wall),
        cmocka_unit_test(distances_around_a_room),
        cmocka_unit_test(changed_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
