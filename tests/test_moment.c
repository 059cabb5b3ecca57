// A world as one moment: every array against the world's views, with and without bodies; and a moment with an origin
// through every format. SPDX-License-Identifier: Apache-2.0
#include "record/moment.h"
#include "support.h"
#include "throng/scene_view.h"
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

// Two floors, a source, a scripted guard, and a cart of many discs that is not a person.
#define EVERYTHING "tests/data/scene/good/everything.json"

enum {
    ALL = TH_KNOW_LEVEL | TH_KNOW_VELOCITY | TH_KNOW_PHASE | TH_KNOW_GROUP | TH_KNOW_BODY |
          TH_KNOW_GOAL | TH_KNOW_WAIT | TH_KNOW_START
};

static double value_of(const th_moment *moment, th_moment_column column, int i) {
    switch (column) {
#define X(NAME, member, field, type, known) \
    case TH_COLUMN_##NAME: return (double)moment->member[i];
        TH_MOMENT_COLUMNS(X)
#undef X
    default: fail();
    }
    return 0;
}

static double view_value(th_world *world, th_moment_column column, int i) {
    static const th_field fields[TH_COLUMN_COUNT] = {
#define X(NAME, member, field, type, known) TH_FIELD_##field,
        TH_MOMENT_COLUMNS(X)
#undef X
    };
    static const bool whole[TH_COLUMN_COUNT] = {[TH_COLUMN_ID] = true,
                                                [TH_COLUMN_LEVEL] = true,
                                                [TH_COLUMN_PHASE] = true,
                                                [TH_COLUMN_GROUP] = true};
    const void *view = th_world_map(world, fields[column], TH_ACCESS_READ);
    assert_non_null(view);
    return whole[column] ? (double)((const uint32_t *)view)[i] : (double)((const float *)view)[i];
}

static bool same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static void every_array(void **state) {
    (void)state;
    th_scene *scene = scene_file(EVERYTHING);
    th_world *world = world_of(scene, 2, 5);
    th_world_moment all = {0}, people = {0};
    int most = 0, bodies = 0;
    for (int k = 0; k < 30; ++k) { // the source makes the crowd grow: so do the arrays
        th_world_step(world, 10);
        assert_true(th_world_moment_take(&all, world, ALL));
        assert_true(th_world_moment_take(&people, world, ALL | TH_PEOPLE_ONLY));
        const th_moment *m = &all.moment, *p = &people.moment;
        assert_int_equal(m->count, th_world_agent_count(world));
        assert_int_equal(m->number, th_world_step_count(world));
        assert_true(m->time == th_world_time(world));
        assert_true(m->has_origin && m->origin.x == scene->origin.x &&
                    m->origin.y == scene->origin.y);
        int person = 0;
        for (int i = 0; i < m->count; ++i) {
            bool body = m->phase[i] == TH_PHASE_BODY;
            for (th_moment_column c = 0; c < TH_COLUMN_COUNT; ++c) {
                assert_true(same(value_of(m, c, i), view_value(world, c, i)));
                if (!body) assert_true(same(value_of(m, c, i), value_of(p, c, person)));
            }
            person += !body;
            bodies += body;
        }
        assert_int_equal(p->count, person);
        most = m->count > most ? m->count : most;
    }
    assert_true(most > 20 && bodies > 0);
    th_world_moment_release(&all);
    th_world_moment_release(&people);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static void what_is_not_asked_for(void **state) {
    (void)state;
    th_scene *scene = scene_of("{\"levels\":[{\"id\":\"hall\",\"walkable\":{\"rect\":[0,0,6,6]}}],"
                               "\"groups\":[{\"id\":\"g\",\"count\":9}],\"run\":{\"duration\":1}}");
    th_world *world = world_of(scene, 1, 1);
    th_world_moment now = {0};
    assert_true(th_world_moment_take(&now, world, TH_KNOW_LEVEL | TH_KNOW_PHASE));
    const th_moment *m = &now.moment;
    assert_true(m->id && m->x && m->y && m->phase);
    assert_true(!m->velocity_x && !m->orientation_x && !m->radius && !m->goal_x && !m->wait_until);
    assert_null(m->level); // there is one
    assert_int_equal(th_moment_level(m, 3), 0);
    assert_null(m->group);
    assert_true(th_world_moment_add(&now, world, TH_KNOW_GROUP));
    assert_true(m->group && m->phase && m->count == 9);
    assert_true(th_world_moment_take(&now, world, 0)); // what was known before is not any more
    assert_true(m->id && !m->group && !m->phase);
    th_world_moment_release(&now);
    assert_null(m->id);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static void origin_in_every_format(void **state) {
    (void)state;
    const int64_t id[2] = {3, 8};
    const double x[2] = {0.25, -7.5}, y[2] = {1.125, 2};
    for (int format = 0; format < TH_TRAJECTORY_FORMAT_COUNT; ++format) {
        char path[] = "/tmp/throng-moment-XXXXXX";
        int file = mkstemp(path);
        assert_true(file >= 0 && close(file) == 0 && unlink(path) == 0);
        th_trajectory_info info = {.format = (th_trajectory_format)format, .fps = 4};
        th_moment moment = {.count = 2, .id = id, .x = x, .y = y, .has_origin = true};
        moment.origin = (th_point){4500000.5, -1000};
        th_trajectory_writer *writer = NULL;
        assert_int_equal(th_trajectory_writer_create(path, &info, &writer, NULL), TH_OK);
        assert_int_equal(th_trajectory_write(writer, &moment, NULL), TH_OK);
        moment.number = 6;
        assert_int_equal(th_trajectory_write(writer, &moment, NULL), TH_OK);
        assert_int_equal(th_trajectory_writer_close(writer, NULL), TH_OK);
        th_trajectory *read = NULL;
        th_moment got;
        assert_int_equal(th_trajectory_open(path, &read, NULL), TH_OK);
        for (int f = 0; f < 2; ++f) {
            assert_int_equal(th_trajectory_next(read, &got, NULL), TH_OK);
            assert_int_equal(got.count, 2);
            assert_false(got.has_origin);
            assert_true(fabs(got.time - 1.5 * f) < 1e-9);
            for (int i = 0; i < 2; ++i) {
                assert_true(fabs(got.x[i] - (4500000.5 + x[i])) < 5.1e-4);
                assert_true(fabs(got.y[i] - (-1000 + y[i])) < 5.1e-4);
            }
        }
        th_trajectory_close(read);
        unlink(path);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_array),
        cmocka_unit_test(what_is_not_asked_for),
        cmocka_unit_test(origin_in_every_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
