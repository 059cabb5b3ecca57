// Scenes that begin where a recording is, and whose people come as recorded. SPDX-License-Identifier: Apache-2.0
#include "support.h"
#include "throng/record.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A hall that people cross to the east; 20 are there, ten come later at the western end. All walk alike.
static const char hall[] =
    "{\"levels\": [{\"id\": \"ground\", \"walkable\": {\"rect\": [100, 50, 130, 56]}}],"
    " \"exits\": [{\"id\": \"east\", \"line\": [[130, 51], [130, 55]]}],"
    " \"groups\": [%s], \"run\": {\"duration\": 20}}";
#define WALK "\"speed\": 1.3, \"radius\": 0.15, \"to\": \"east\""
static const char crowd[] =
    "{\"count\": 20, \"area\": {\"rect\": [102, 50, 112, 56]}, " WALK "},"
    "{\"source\": {\"rate\": 1, \"until\": 10}, \"area\": {\"rect\": [100, 50, 102, 56]}, " WALK
    "}";

enum { FRAMES = 121, PEOPLE_MOST = 40 }; // 12 s
typedef struct track {
    double first; // [s]
    bool seen[FRAMES];
    double x[FRAMES], y[FRAMES];
} track;

static char folder[] = "/tmp/throng-recorded-XXXXXX";
static track tracks[PEOPLE_MOST]; // by id - 1
static const char *const files[] = {"a.sqlite", "a.txt", "a.csv", "a.h5", "small.sqlite"};

static const char *in_folder(const char *name) {
    static char path[4][128];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
    return path[next];
}

static void keep_tracks(void) {
    th_trajectory *recording = NULL;
    th_moment m;
    assert_int_equal(th_trajectory_open(in_folder("a.sqlite"), &recording, NULL), TH_OK);
    while (th_trajectory_next(recording, &m, NULL) == TH_OK && m.count >= 0)
        for (int i = 0; i < m.count; ++i) {
            track *t = &tracks[m.id[i] - 1];
            if (!t->seen[0] && t->first == 0.0) t->first = m.time;
            t->seen[m.number] = true;
            t->x[m.number] = m.x[i];
            t->y[m.number] = m.y[i];
        }
    th_trajectory_close(recording);
}

static int record_once(void **state) {
    (void)state;
    char json[2000];
    if (!mkdtemp(folder)) return -1;
    snprintf(json, sizeof json, hall, crowd);
    th_scene *scene = scene_of(json);
    th_world *world = world_of(scene, 1, 3);
    th_recorder_def def = th_recorder_def_default();
    th_recorder *recorder = NULL;
    def.path = in_folder("a.sqlite");
    assert_int_equal(th_recorder_create(world, &def, &recorder, NULL), TH_OK);
    th_recorder_see(recorder, world, NULL);
    for (int k = 1; k < FRAMES; ++k) {
        th_world_step(world, 1);
        th_recorder_see(recorder, world, NULL);
    }
    assert_int_equal(th_recorder_close(recorder, NULL, NULL), TH_OK);
    th_world_destroy(world);
    th_scene_destroy(scene);
    keep_tracks();
    static const th_trajectory_format formats[] = {TH_TRAJECTORY_TEXT, TH_TRAJECTORY_CSV,
                                                   TH_TRAJECTORY_HDF5, TH_TRAJECTORY_COMPACT};
    for (int k = 0; k < 4; ++k) // HDF5 may be missing in this build
        th_trajectory_convert(in_folder("a.sqlite"), in_folder(files[k + 1]), formats[k], NULL,
                              NULL, NULL);
    th_record_serve_scenes();
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

static th_result load(const char *group, th_scene_options *options, th_scene **scene,
                      th_error *error) {
    char json[2000];
    snprintf(json, sizeof json, hall, group);
    return th_scene_load_json(json, strlen(json), "hall", folder, options, scene, error);
}

static th_scene *must_load(const char *group) {
    th_error error = {0};
    th_scene *scene = NULL;
    if (load(group, NULL, &scene, &error) != TH_OK) fail_msg("%s: %s", error.path, error.message);
    return scene;
}

// The person of the recording that stands at this place in that frame, -1: none within `within` metres.
static int person_at(int frame, double x, double y, double within) {
    for (int k = 0; k < PEOPLE_MOST; ++k)
        if (tracks[k].seen[frame] && hypot(tracks[k].x[frame] - x, tracks[k].y[frame] - y) < within)
            return k;
    return -1;
}

static int present_in(int frame) {
    int count = 0;
    for (int k = 0; k < PEOPLE_MOST; ++k) count += tracks[k].seen[frame];
    return count;
}

// From frame 50 of each format: the same people with the same velocities, and two seconds later they are where they were.
static void a_run_goes_on_from_a_frame(void **state) {
    (void)state;
    int formats = 0;
    for (int k = 0; k < 5; ++k) {
        if (access(in_folder(files[k]), F_OK) != 0) continue;
        ++formats;
        for (int by_frame = 0; by_frame < 2; ++by_frame) {
            char group[300];
            snprintf(group, sizeof group, "{\"recording\": {\"file\": \"%s\", %s}, " WALK "}",
                     files[k], by_frame ? "\"frame\": 50" : "\"time\": 5");
            th_scene *scene = must_load(group);
            th_world *world = world_of(scene, 1, 9);
            th_statistics s = th_world_statistics(world);
            assert_int_equal(s.inside, present_in(50));
            for (int step = 0; step <= 20; step += 20) {
                if (step > 0) th_world_step(world, 20);
                float *x = field_of(world, TH_FIELD_POSITION_X);
                float *y = field_of(world, TH_FIELD_POSITION_Y);
                float *vx = field_of(world, TH_FIELD_VELOCITY_X);
                for (int i = 0; step == 0 && i < (int)s.inside; ++i) {
                    int p = person_at(50, (double)x[i] + scene->origin.x,
                                      (double)y[i] + scene->origin.y, 1e-3);
                    assert_true(p >= 0);
                    double wanted = 5.0 * (tracks[p].x[51] - tracks[p].x[49]);
                    if (tracks[p].seen[49] && tracks[p].seen[51]) assert_near(vx[i], wanted, 0.02);
                }
                int found = 0, there = 0;
                for (int i = 0; step > 0 && i < (int)s.inside; ++i, ++there)
                    found += person_at(70, (double)x[i] + scene->origin.x,
                                       (double)y[i] + scene->origin.y, 0.15) >= 0;
                if (step > 0 && found < there)
                    fail_msg("%s: %d of %d are where they were", files[k], found, there);
            }
            th_world_destroy(world);
            th_scene_destroy(scene);
        }
    }
    assert_true(formats >= 4);
}

// Those that the recording sees first after its beginning come then, where they were.
static void people_come_as_recorded(void **state) {
    (void)state;
    th_scene *scene = must_load("{\"recording\": {\"file\": \"a.csv\", \"time\": 3}, " WALK "}");
    th_world *world = world_of(scene, 1, 1);
    int came = (int)th_world_statistics(world).inside;
    assert_int_equal(came, present_in(30));
    for (int frame = 31; frame < FRAMES; ++frame) {
        th_world_step(world, 1);
        // Placed at the beginning of a step, they walk in it; the step that begins at their time is the next one.
        int due = present_in(30);
        for (int k = 0; k < PEOPLE_MOST; ++k)
            due += tracks[k].first > 3.05 && tracks[k].first < 0.1 * frame - 0.05;
        th_statistics s = th_world_statistics(world);
        assert_int_equal(s.spawned, due);
        for (; came < due; ++came) {
            float *x = field_of(world, TH_FIELD_POSITION_X),
                  *y = field_of(world, TH_FIELD_POSITION_Y);
            int last = (int)s.inside - 1;
            assert_true(person_at(frame - 1, (double)x[last] + scene->origin.x,
                                  (double)y[last] + scene->origin.y, 0.2) >= 0);
        }
    }
    assert_int_equal(came, 30);
    th_world_destroy(world);
    th_scene_destroy(scene);
    scene = must_load(
        "{\"recording\": {\"file\": \"a.csv\", \"time\": 3, \"entries\": false}, " WALK "}");
    assert_int_equal(scene->groups[0].entry_count, present_in(30));
    th_scene_destroy(scene);
}

// With an area people are taken over where they are first seen in it, and the others are not.
static void an_area_takes_its_own(void **state) {
    (void)state;
    th_scene *scene = must_load(
        "{\"recording\": {\"file\": \"a.sqlite\"}, \"area\": {\"rect\": [110, 50, 115, 56]}, " WALK
        "}");
    const th_group *group = &scene->groups[0];
    int present = 0, ever = 0;
    for (int k = 0; k < PEOPLE_MOST; ++k) {
        bool inside = false;
        for (int f = 0; f < FRAMES; ++f)
            inside |= tracks[k].seen[f] && tracks[k].x[f] >= 110.0 && tracks[k].x[f] <= 115.0;
        ever += inside;
    }
    assert_true(ever > 20 && ever < 30);
    assert_int_equal(group->entry_count, ever);
    for (int k = 0; k < group->entry_count; ++k) {
        double x = (double)group->entries[k].position.x + scene->origin.x;
        assert_true(x >= 110.0 - 1e-4 && x <= 115.0 + 1e-4);
    }
    for (int k = 0; k < PEOPLE_MOST; ++k) present += tracks[k].seen[0] && tracks[k].x[0] >= 110.0;
    assert_int_equal(group->arrivals[0].count, present);
    assert_near(group->arrivals[0].time, 0.0, 0.0);
    th_scene_destroy(scene);
}

static void entries_are_deterministic(void **state) {
    (void)state;
    th_scene *scene =
        must_load("{\"recording\": {\"file\": \"a.csv\", \"time\": 2}, "
                  "\"profiles\": {\"adult\": 0.7, \"wheelchair\": 0.3}, \"to\": \"east\"}");
    assert_any_threads(scene, 3, 60);
    assert_restores(scene, 30, 40);
    void *bytes = NULL;
    size_t size = 0;
    th_scene *again = NULL;
    assert_int_equal(th_scene_compiled(scene, &bytes, &size, NULL), TH_OK);
    assert_int_equal(th_scene_load_compiled(bytes, size, NULL, &again, NULL), TH_OK);
    th_world *first = world_of(scene, 1, 4), *second = world_of(again, 1, 4);
    th_world_step(first, 70);
    th_world_step(second, 70);
    assert_true(th_world_hash(first) == th_world_hash(second));
    th_world_destroy(first);
    th_world_destroy(second);
    th_scene_destroy(again);
    th_scene_destroy(scene);
    th_free(bytes);
}

// Whose place is taken comes when it is free.
static void a_held_place_is_waited_for(void **state) {
    (void)state;
    FILE *file = fopen(in_folder("held.csv"), "w");
    assert_non_null(file);
    fputs("# framerate: 1\nid,frame,x,y\n1,0,110,53\n1,1,110,53\n2,1,110.05,53\n2,2,110.05,53\n",
          file);
    fclose(file);
    th_scene *scene =
        must_load("{\"recording\": {\"file\": \"held.csv\"}, \"premovement\": 3, " WALK "}");
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 25); // 2.5 s
    assert_int_equal(th_world_statistics(world).inside, 1);
    assert_int_equal(th_world_statistics(world).waiting_to_enter, 1);
    th_world_step(world, 20);
    assert_int_equal(th_world_statistics(world).inside, 2);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static void errors_name_the_cause(void **state) {
    (void)state;
    FILE *file = fopen(in_folder("broken.csv"), "w");
    assert_non_null(file);
    fputs("id,frame,time,x,y\n1,0,0,110,53\n1,1,0.1,here,53\n", file);
    fclose(file);
    file = fopen(in_folder("outside.csv"), "w");
    assert_non_null(file);
    fputs("# framerate: 1\nid,frame,x,y\n1,0,110,53\n2,1,99,53\n", file);
    fclose(file);
    static const struct {
        const char *group, *word;
        bool no_files;
    } cases[] = {
        {"{\"recording\": {\"file\": \"none.csv\"}}", "No such file", false},
        {"{\"recording\": {\"file\": \"../a.csv\"}}", "outside the scene's folder", false},
        {"{\"recording\": {\"file\": \"a.csv\"}}", "linked files are not allowed", true},
        {"{\"recording\": {\"file\": \"broken.csv\"}}", "broken.csv:3:9: 'here' is no x", false},
        {"{\"recording\": {\"file\": \"a.csv\", \"time\": 99}}", "its last frame is 120 at 12 s",
         false},
        {"{\"recording\": {\"file\": \"a.csv\", \"time\": 1, \"frame\": 3}}", "give one of them",
         false},
        {"{\"recording\": {\"file\": \"a.csv\", \"begin\": 1}}", "unknown key", false},
        {"{\"recording\": {\"file\": \"outside.csv\"}}",
         "(99.000, 53.000) on level 'ground', where no ground is", false},
        {"{\"recording\": \"a.csv\"}", "{\"file\": recording", false},
        {"{\"recording\": {\"file\": \"a.csv\"}, \"count\": 4}", "given twice", false},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        th_error error = {0};
        th_scene *scene = NULL;
        th_scene_options options = {.no_files = cases[k].no_files};
        th_result result = load(cases[k].group, &options, &scene, &error);
        if (result == TH_OK || !strstr(error.message, cases[k].word))
            fail_msg("case %zu: %s", k, error.message);
        assert_null(scene);
    }
    th_error error = {0};
    th_scene *scene = NULL;
    th_scene_read_recordings_with(NULL);
    assert_int_equal(load("{\"recording\": {\"file\": \"a.csv\"}}", NULL, &scene, &error),
                     TH_NO_FILE);
    assert_non_null(strstr(error.message, "th_record_serve_scenes"));
    th_record_serve_scenes();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_goes_on_from_a_frame), cmocka_unit_test(people_come_as_recorded),
        cmocka_unit_test(an_area_takes_its_own),      cmocka_unit_test(entries_are_deterministic),
        cmocka_unit_test(a_held_place_is_waited_for), cmocka_unit_test(errors_name_the_cause),
    };
    return cmocka_run_group_tests(tests, record_once, remove_folder);
}
