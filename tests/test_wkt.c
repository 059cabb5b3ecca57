// Walkable areas as text, read back by GEOS. SPDX-License-Identifier: Apache-2.0
#include "scene/scene.h"
#include "support.h"
#include "throng/record.h"
#include <geos_c.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Two floors with stairs between them.
#define EVERYTHING "tests/data/scene/good/everything.json"

static void assert_area(const th_scene *scene, int level, const char *begins, double area) {
    char *wkt = th_scene_level_wkt(scene, level);
    assert_non_null(wkt);
    if (begins && strncmp(wkt, begins, strlen(begins)) != 0)
        fail_msg("%s does not begin with %s", wkt, begins);
    GEOSContextHandle_t geos = GEOS_init_r();
    GEOSGeometry *shape = GEOSGeomFromWKT_r(geos, wkt);
    assert_non_null(shape);
    assert_int_equal(GEOSisValid_r(geos, shape), 1);
    double found = 0;
    assert_int_equal(GEOSArea_r(geos, shape, &found), 1);
    if (fabs(found - area) > 1e-5 * area) fail_msg("%s: %.9g m2 and not %.9g", wkt, found, area);
    GEOSGeom_destroy_r(geos, shape);
    GEOS_finish_r(geos);
    th_free(wkt);
}

static void area_as_text(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels":[{"id":"holes", "walkable":{"rect":[0,0,10.1,8]},
            "obstacles":[{"rect":[1,1,2,2]}, {"rect":[4,4,5,7]}]}, {"id":"parts",
            "walkable":[{"rect":[0,0,2,2]}, {"rect":[5,0,9,4]}],
            "obstacles":[{"rect":[6,1,8,3]}]}, {"id":"island",
            "walkable":["POLYGON ((0 0, 9 0, 9 9, 0 9, 0 0), (2 2, 7 2, 7 7, 2 7, 2 2))",
            {"rect":[4,4,5,5]}]}]}));
    assert_area(scene, 0, "POLYGON ((", 10.1 * 8 - 1 - 3);
    assert_area(scene, 1, "MULTIPOLYGON (((", 4 + 16 - 4);
    assert_area(scene, 2, "MULTIPOLYGON (((", 81 - 25 + 1);
    char *wkt = th_scene_level_wkt(scene, 0);
    assert_non_null(strstr(wkt, "10.1 8")); // and not 10.1000003815
    th_free(wkt);
    assert_null(th_scene_level_wkt(scene, 3));
    th_scene_destroy(scene);

    // Coordinates of a map projection come back as they were.
    scene = scene_of(TH_JSON(
        {"levels":[{"id":"a",
            "walkable":"POLYGON ((3500000.25 5600000, 3500020.5 5600000, 3500020.5 5600010.75, 3500000.25 5600010.75, 3500000.25 5600000))"}]}));
    assert_true(scene->origin.x > 1e6);
    assert_area(scene, 0, "POLYGON ((", 20.25 * 10.75);
    wkt = th_scene_level_wkt(scene, 0);
    assert_non_null(strstr(wkt, "3500020.5 5600010.75"));
    th_free(wkt);
    th_scene_destroy(scene);

    scene = scene_of(TH_JSON(
        {"groups":[{"id":"g", "positions":[[0,0],[3,1]], "own_goal":{"opposite":[5,5]}}]}));
    th_box box = scene->levels[0].box;
    assert_area(scene, 0, "POLYGON ((",
                (double)(box.max_x - box.min_x + 20) * (double)(box.max_y - box.min_y + 20));
    th_scene_destroy(scene);
}

static void area_of_every_scene(void **state) {
    (void)state;
    static const char *const files[] = {EVERYTHING,
                                        "scenes/station.json",
                                        "scenes/door.json",
                                        "scenes/grosser_stern.json",
                                        "scenes/verification/rimea_02_stairs_up.json",
                                        "scenes/verification/rimea_06_corner.json",
                                        "scenes/verification/rimea_09_four_doors.json",
                                        "scenes/verification/juelich_08_hidden_goal.json"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; ++i) {
        th_scene *scene = scene_file(files[i]);
        for (int l = 0; l < scene->level_count; ++l)
            if (scene->levels[l].bounded)
                assert_area(scene, l, NULL, scene->levels[l].walkable.area);
        th_scene_destroy(scene);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(area_as_text),
                                       cmocka_unit_test(area_of_every_scene)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
