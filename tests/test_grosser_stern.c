// A real square with 44 300 people under ORCA: no agent lost, no agent through a wall. The whole evacuation
// takes minutes, so it runs to the end when THRONG_LONG is set (`make test-long`) and for its first
// seconds otherwise. SPDX-License-Identifier: Apache-2.0
#include "support.h"
#include <stdlib.h>

static void grosser_stern(void **state) {
    (void)state;
#ifdef TH_SLOW_BUILD
    const double first_seconds = 0.5;
#else
    const double first_seconds = 15.0;
#endif
    bool to_the_end = getenv("THRONG_LONG") != NULL;
    th_scene *scene = scene_file("scenes/grosser_stern.json");
    th_world *world = world_of(scene, 0, 1);
    assert_int_equal(th_world_statistics(world).spawned, 44300);
    double next_check = 0.0;
    while (!th_world_done(world) && th_world_time(world) < (to_the_end ? 3600.0 : first_seconds)) {
        th_world_step(world, 1);
        if (th_world_time(world) < next_check) continue;
        assert_invariants(world);
        next_check += to_the_end ? 30.0 : 5.0;
    }
    assert_invariants(world);
    th_statistics s = th_world_statistics(world);
    print_message("Grosser Stern: %.1f s simulated, %llu left, largest overlap %.1f cm\n", s.time,
                  (unsigned long long)s.left, 100.0 * (double)s.largest_overlap);
    assert_int_equal(s.repairs, 0);
    if (to_the_end) assert_int_equal(s.left, 44300);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(grosser_stern)};
    return cmocka_run_group_tests_name("grosser_stern", tests, NULL, NULL);
}
