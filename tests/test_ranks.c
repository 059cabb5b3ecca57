// One crowd over ranks: the bits of one world, for any number of ranks and threads. Ranks are threads of this program here; over
// MPI the same is in tests/check_mpi.py. SPDX-License-Identifier: Apache-2.0
#include "support.h"
#include "throng/ranks.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// ---- messages between threads

enum { MOST = 5 };
typedef struct hub {
    pthread_mutex_t mutex;
    pthread_cond_t all_there;
    int size, waiting, round;
    const void *posted[MOST], *posted_size[MOST];
} hub;

static void meet(hub *h) {
    pthread_mutex_lock(&h->mutex);
    int round = h->round;
    if (++h->waiting == h->size) {
        h->waiting = 0;
        h->round++;
        pthread_cond_broadcast(&h->all_there);
    }
    while (h->round == round) pthread_cond_wait(&h->all_there, &h->mutex);
    pthread_mutex_unlock(&h->mutex);
}

static void numbers(const th_comm *comm, const uint32_t *to, uint32_t *from) {
    hub *h = comm->context;
    h->posted[comm->rank] = to;
    meet(h);
    for (int r = 0; r < comm->size; ++r) from[r] = ((const uint32_t *)h->posted[r])[comm->rank];
    meet(h);
}

static void exchange(const th_comm *comm, const void *const *to, const size_t *to_size,
                     void *const *from, const size_t *from_size) {
    hub *h = comm->context;
    h->posted[comm->rank] = to;
    h->posted_size[comm->rank] = to_size;
    meet(h);
    for (int r = 0; r < comm->size; ++r) {
        if (r == comm->rank) continue;
        if (((const size_t *)h->posted_size[r])[comm->rank] != from_size[r]) {
            printf("rank %d expects %zu bytes of rank %d\n", comm->rank, from_size[r], r);
            abort();
        }
        if (from_size[r] > 0)
            memcpy(from[r], ((const void *const *)h->posted[r])[comm->rank], from_size[r]);
    }
    meet(h);
}

// All read what all have posted, then write.
#define REDUCE(name, type, combine)                                  \
    static void name(const th_comm *comm, type *values, int count) { \
        hub *h = comm->context;                                      \
        type *result = malloc(((size_t)count + 1) * sizeof *result); \
        h->posted[comm->rank] = values;                              \
        meet(h);                                                     \
        for (int k = 0; k < count; ++k) {                            \
            result[k] = ((const type *)h->posted[0])[k];             \
            for (int r = 1; r < comm->size; ++r) {                   \
                type other = ((const type *)h->posted[r])[k];        \
                result[k] = combine(result[k], other);               \
            }                                                        \
        }                                                            \
        meet(h);                                                     \
        memcpy(values, result, (size_t)count * sizeof *result);      \
        free(result);                                                \
    }
#define ADD(a, b) ((a) + (b))
#define HIGHER(a, b) ((a) > (b) ? (a) : (b))
REDUCE(sum, uint64_t, ADD)
REDUCE(sum32, uint32_t, ADD)
REDUCE(highest, double, HIGHER)

static void stop(const th_comm *comm, const char *why) {
    (void)comm;
    printf("%s\n", why);
    abort();
}

// ---- a run over ranks

enum { LOOKS = 8 };
typedef struct seen {
    uint64_t hash[LOOKS], people;
    th_statistics statistics;
    th_exit_count exits[4];
    th_line_count lines[4];
    int copies, own_most, own_least;
    uint64_t moves;
    bool done;
} seen;

// Snapshots of all ranks.
typedef struct parts {
    int count;
    void *bytes[MOST];
    size_t size[MOST];
} parts;

typedef struct job {
    const th_scene *scene;
    parts *save;       // halfway; NULL: none
    const parts *from; // begins with these; NULL: with the scene
    int threads, steps;
    th_comm comm;
    hub *hub;
    void (*between)(th_world *world, int look);
    seen result;
    bool made;
    th_error error;
} job;

static void look_at_end(th_world *world, seen *result) {
    th_rank_state state;
    result->statistics = th_world_statistics(world);
    result->done = th_world_done(world);
    for (int k = 0; k < 4; ++k) {
        result->exits[k] = th_world_exit(world, k);
        result->lines[k] = th_world_line(world, k);
        result->exits[k].id = result->lines[k].id = NULL; // of the world
    }
    result->people = (uint64_t)th_world_agent_count(world);
    if (th_world_rank_state(world, &state)) {
        result->copies = state.copies;
        result->moves = state.moves;
    }
}

static void save(th_world *world, parts *all, int rank) {
    size_t size = th_world_snapshot_size(world);
    all->size[rank] = size;
    all->bytes[rank] = malloc(size);
    assert_int_equal(th_world_snapshot(world, all->bytes[rank], size, NULL), TH_OK);
}

static bool restore(th_world *world, const parts *from, th_error *error) {
    th_result result = TH_OK;
    for (int k = 0; from && k < from->count && result == TH_OK; ++k)
        result = th_world_restore(world, from->bytes[k], from->size[k], error);
    return result == TH_OK;
}

static void release(parts *all) {
    for (int k = 0; k < all->count; ++k) free(all->bytes[k]);
}

static void *run_rank(void *context) {
    job *j = context;
    th_world_def def = th_world_def_default();
    th_world *world = NULL;
    def.threads = j->threads;
    def.comm = j->hub ? &j->comm : NULL;
    j->made = th_world_create(j->scene, &def, &world, &j->error) == TH_OK &&
              restore(world, j->from, &j->error);
    if (!j->made) {
        th_world_destroy(world);
        return NULL;
    }
    for (int look = j->from ? LOOKS / 2 : 0; look < LOOKS; ++look) {
        if (j->save && look == LOOKS / 2) save(world, j->save, j->comm.rank);
        if (j->between) j->between(world, look);
        th_world_step(world, j->steps / LOOKS);
        j->result.hash[look] = th_world_hash(world);
    }
    look_at_end(world, &j->result);
    th_world_destroy(world);
    return NULL;
}

static job job_of(const th_scene *scene, int threads, int steps,
                  void (*between)(th_world *world, int look)) {
    return (job){.scene = scene, .threads = threads, .steps = steps, .between = between};
}

// Runs the job over ranks; what rank 0 saw, with the people of all.
static seen run_over(const job *like, int ranks) {
    hub h = {
        .mutex = PTHREAD_MUTEX_INITIALIZER, .all_there = PTHREAD_COND_INITIALIZER, .size = ranks};
    pthread_t threads[MOST];
    job jobs[MOST] = {{.threads = 0}};
    for (int r = 0; r < ranks; ++r) {
        jobs[r] = *like;
        jobs[r].hub = &h;
        jobs[r].comm = (th_comm){r, ranks, &h, numbers, exchange, sum, sum32, highest, stop};
        assert_int_equal(pthread_create(&threads[r], NULL, run_rank, &jobs[r]), 0);
    }
    for (int r = 0; r < ranks; ++r) pthread_join(threads[r], NULL);
    seen all = jobs[0].result;
    all.own_most = all.own_least = (int)all.people;
    for (int r = 0; r < ranks; ++r) {
        if (!jobs[r].made) fail_msg("rank %d: %s", r, jobs[r].error.message);
        assert_memory_equal(jobs[r].result.hash, all.hash, sizeof all.hash);
        if (r == 0) continue;
        int own = (int)jobs[r].result.people;
        all.people += jobs[r].result.people;
        all.copies += jobs[r].result.copies;
        all.own_most = own > all.own_most ? own : all.own_most;
        all.own_least = own < all.own_least ? own : all.own_least;
    }
    return all;
}

static void assert_same(const seen *one, const seen *many, int ranks) {
    for (int k = 0; k < LOOKS; ++k)
        if (one->hash[k] != many->hash[k])
            fail_msg("over %d ranks another hash at look %d of %d", ranks, k + 1, LOOKS);
    assert_int_equal(one->people, many->people);
    assert_int_equal(one->done, many->done);
    assert_memory_equal(&one->statistics, &many->statistics, sizeof one->statistics);
    assert_memory_equal(one->exits, many->exits, sizeof one->exits);
    assert_memory_equal(one->lines, many->lines, sizeof one->lines);
}

// The same as one world for 1 to 4 ranks, with 1 and 2 threads. Returns what four ranks saw.
static seen assert_any_ranks(const char *path, int steps, void (*between)(th_world *, int)) {
    th_scene *scene = path[0] == '{' ? scene_of(path) : scene_file(path);
    job plain = job_of(scene, 1, steps, between);
    run_rank(&plain);
    if (!plain.made) fail_msg("%s", plain.error.message);
    seen many = {.copies = 0};
    for (int ranks = 1; ranks <= 4; ++ranks) {
        job j = job_of(scene, 1 + ranks % 2, steps, between);
        many = run_over(&j, ranks);
        assert_same(&plain.result, &many, ranks);
        if (ranks > 1) assert_true(many.copies > 0);
    }
    th_scene_destroy(scene);
    return many;
}

// A long hall: no rank sees all of it. A door shuts and opens, a source brings people, others cross a line and leave.
static const char hall_format[] = TH_JSON(
    {"levels":[{"id":"hall", "walkable":{"rect":[0,0,120,12]},
        "walls":[[[60,0],[60,4]],[[60,8],[60,12]]]}],
    "doors":[{"id":"gate", "line":[[60,4],[60,8]], "schedule":[{"time":2, "open":false},
        {"time":3, "open":true}]}],
    "exits":[{"id":"east", "line":[[120,3],[120,9]]}, {"id":"west", "line":[[0,3],[0,9]]}],
    "measure":{"lines":[{"id":"half", "line":[[20,0],[20,12]]},
        {"id":"way", "line":[[58,2],[63,11]]}]},
    "groups":[{"id":"a", "count":130, "area":{"rect":[22,1,59,11]}, "to":"east", "move":%s},
        {"id":"b", "count":90, "area":{"rect":[61,1,119,11]}, "to":"west", "move":%s},
        {"id":"s", "area":{"rect":[2,2,34,10]}, "source":{"rate":20}, "to":"west", "move":%s}],
    "run":{"step":0.1, "duration":30, "seed":3}});
enum { HALL = 2000 };
// With this move model and, behind a comma, others.
static const char *hall_of(char *json, const char *models) {
    snprintf(json, HALL, hall_format, models, models, models);
    return json;
}

enum { STEPS = 80 };

static void hall(const char *models) {
    char json[HALL];
    seen four = assert_any_ranks(hall_of(json, models), STEPS, NULL);
    assert_true(four.copies < 5 * (int)four.people / 2); // of three times as many, if all saw all
    assert_true(four.own_least > 0);
    assert_true(four.lines[0].forward + four.lines[0].backward > 0 && four.exits[1].left > 0);
    assert_true(four.statistics.spawned > 250);
}

static void people_have_the_bits_of_one_world(void **state) {
    (void)state;
    hall(TH_JSON("people"));
}
static void orca_has_the_bits_of_one_world(void **state) {
    (void)state;
    hall(TH_JSON("orca", "plan":{"model":"field", "crowd_weight":1}));
}
static void densesense_and_forces_have_the_bits_of_one_world(void **state) {
    (void)state;
    hall(TH_JSON("social_force", "plan":"field", "filter":"densesense"));
}
static void other_models_have_the_bits_of_one_world(void **state) {
    (void)state;
    hall(TH_JSON("helbing_molnar"));
    hall(TH_JSON("collision_free_speed"));
    hall(TH_JSON("anticipation_velocity"));
    hall(TH_JSON("power_law", "plan":"roadmap"));
}

static void positions_have_the_bits_of_one_world(void **state) {
    (void)state;
    hall(TH_JSON({"model":"pbd", "cohesion":20}));
}

static void colonists_have_the_bits_of_one_world(void **state) {
    (void)state;
    hall(TH_JSON("colonization"));
}

// Behaviours and a filter with places of their own: sights, shops, a strip.
static void minds_have_the_bits_of_one_world(void **state) {
    (void)state;
    seen four = assert_any_ranks(TH_JSON({"levels":[{"walkable":{"rect":[0,0,90,16]}, "obstacles":[{"rect":[40,12,52,16]}]}],
            "exits":[{"id":"west", "line":[[0,2],[0,6]]}, {"id":"east", "line":[[90,2],[90,6]]}],
            "waiting_areas":[{"id":"well", "area":{"circle":[30,9,2]}, "wait":1},
                {"id":"tree", "area":{"circle":[60,9,2]}, "wait":1}],
            "interests":[{"id":"shop", "area":{"rect":[40,12,52,16]}, "strength":5}],
            "strips":[{"line":[[10,4],[80,4]], "width":6, "side":"right"}],
            "groups":[{"count":60, "area":{"rect":[20,2,75,14]}, "route":["well","tree","west"],
                "behave":{"model":"undecided", "density_weight":1, "distance_weight":0.1,
                    "history_weight":0, "visibility_weight":0, "longest_way":2}},
            {"count":40, "area":{"rect":[35,2,60,10]}, "to":"east", "behave":"interest"},
            {"count":40, "area":{"rect":[2,1,30,7]}, "to":"east", "filter":"keep_side"},
            {"count":40, "area":{"rect":[60,1,88,7]}, "to":"west", "filter":"keep_side"}],
            "run":{"step":0.1, "duration":60}}),
                                                           2 * STEPS, NULL);
    assert_true(four.own_least > 0);
}

// In a short step agents go a little way only, so copies reach hardly further than the models look: what is not sent after a
// stage is wrong beside the border. A bus lets people out over it, all in one step.
static void a_short_step_has_the_bits_of_one_world(void **state) {
    (void)state;
    seen four = assert_any_ranks(TH_JSON({"levels":[{"walkable":{"rect":[0,0,40,5]}}],
            "exits":[{"id":"east", "line":[[40,0],[40,5]]}, {"id":"west", "line":[[0,0],[0,5]]}],
            "groups":[{"count":330, "area":{"rect":[1,0.3,39,4.7]}, "to":"east", "filter":"densesense"},
            {"count":150, "area":{"rect":[1,0.3,39,4.7]}, "to":"west", "filter":"densesense"},
            {"area":{"rect":[10,0.3,30,4.7]}, "to":"west", "move":"social_force",
                "source":{"timetable":[[0.1,60]]}}],
            "run":{"step":0.01, "duration":60}}),
                                           2 * STEPS, NULL);
    assert_true(four.own_least > 0);
}

static void levels_have_the_bits_of_one_world(void **state) {
    (void)state;
    seen four = assert_any_ranks("scenes/verification/rimea_08_building.json", STEPS, NULL);
    assert_true(four.own_least > 0);
}

// Nothing bounds the ground, so the cells follow the crowd.
static void an_open_plane_has_the_bits_of_one_world(void **state) {
    (void)state;
    assert_any_ranks(TH_JSON({"groups":[{"count":150, "area":{"rect":[0,0,80,20]}, "own_goal":"opposite",
            "plan":"straight", "move":"orca"}], "scripted":[{"path":[[0,-5,10],[6,90,10]]}],
            "run":{"step":0.1, "duration":30}}), STEPS,
                    NULL);
}

static void edit(th_world *world, int look) {
    th_agent_def def = th_agent_def_default();
    th_agent_id ids[3];
    if (look == 1) {
        def.position = th_v(20.0f, 6.0f);
        assert_int_equal(th_world_spawn(world, &def, 1, ids, NULL), TH_OK);
        def.position = th_v(100.0f, 6.0f);
        def.group = 1;
        assert_int_equal(th_world_spawn(world, &def, 1, ids + 1, NULL), TH_OK);
        assert_int_equal(th_world_remove(world, ids, 2), 2);
        assert_int_equal(th_world_remove(world, ids, 2), 0);
        assert_int_equal(th_world_spawn(world, &def, 1, ids, NULL), TH_OK);
    }
    if (look == 2) assert_int_equal(th_world_set_door(world, "gate", false, NULL), TH_OK);
    if (look == 3)
        assert_int_equal(
            th_world_add_wall(world, 0, th_v(90.0f, 0.0f), th_v(90.0f, 7.0f), NULL, NULL), TH_OK);
    if (look == 4)
        assert_int_equal(th_world_set_param(world, 0, "neighbour_range", 8.0, NULL), TH_OK);
}
static void edits_have_the_bits_of_one_world(void **state) {
    (void)state;
    char json[HALL];
    assert_any_ranks(hall_of(json, TH_JSON("orca")), STEPS, edit);
}

// ---- restarts

static void assert_goes_on(const job *like, const parts *from, const seen *wanted, int ranks) {
    job j = *like;
    seen after;
    j.save = NULL;
    j.from = from;
    if (ranks > 0) {
        after = run_over(&j, ranks);
    } else {
        run_rank(&j);
        if (!j.made) fail_msg("%s", j.error.message);
        after = j.result;
    }
    memcpy(after.hash, wanted->hash, LOOKS / 2 * sizeof *after.hash);
    assert_same(wanted, &after, ranks);
}

// From any number of ranks to any other, and to and from one world.
static void assert_restarts(const char *json) {
    th_scene *scene = scene_of(json);
    parts one = {.count = 1};
    job plain = job_of(scene, 1, STEPS, edit);
    plain.save = &one;
    run_rank(&plain);
    for (int ranks = 2; ranks <= 4; ranks += 2) {
        parts all = {.count = ranks};
        job j = job_of(scene, ranks / 2, STEPS, edit);
        j.save = &all;
        seen whole = run_over(&j, ranks);
        assert_same(&plain.result, &whole, ranks); // a snapshot changes nothing
        assert_true(all.size[1] < all.size[0] && all.size[0] < one.size[0]);
        for (int after = 0; after <= 3; ++after) assert_goes_on(&j, &all, &plain.result, after);
        assert_goes_on(&j, &one, &plain.result, ranks);
        release(&all);
    }
    release(&one);
    th_scene_destroy(scene);
}
static void a_restart_on_other_ranks_goes_on_with_the_same_bits(void **state) {
    (void)state;
    char json[HALL];
    assert_restarts(hall_of(json, TH_JSON("orca", "plan":"quickest")));
    assert_restarts(hall_of(json, TH_JSON("orca", "plan":{"model":"field", "crowd_weight":1})));
}

static void parts_that_do_not_belong_together_are_refused(void **state) {
    (void)state;
    char json[HALL];
    th_scene *scene = scene_of(hall_of(json, TH_JSON("orca")));
    parts early = {.count = 2}, late = {.count = 2};
    job j = job_of(scene, 1, STEPS, NULL), k = job_of(scene, 1, 2 * STEPS, NULL);
    j.save = &early;
    k.save = &late;
    run_over(&j, 2);
    run_over(&k, 2);
    th_world *world = world_of(scene, 1, 0);
    th_error error;
    assert_int_equal(th_world_restore(world, early.bytes[1], early.size[1], &error),
                     TH_BAD_SNAPSHOT);
    assert_non_null(strstr(error.message, "part 2 of 2 and does not follow"));
    assert_int_equal(th_world_restore(world, early.bytes[0], early.size[0], &error), TH_OK);
    assert_int_equal(th_world_restore(world, late.bytes[1], late.size[1], &error), TH_BAD_SNAPSHOT);
    assert_int_equal(th_world_restore(world, early.bytes[1], early.size[1], &error), TH_OK);
    th_world_destroy(world);
    release(&early);
    release(&late);
    th_scene_destroy(scene);
}

// ---- what cannot be

static void assert_refused(const char *models, const char *words) {
    char json[HALL];
    th_scene *scene = scene_of(hall_of(json, models));
    hub h = {.mutex = PTHREAD_MUTEX_INITIALIZER, .all_there = PTHREAD_COND_INITIALIZER, .size = 1};
    job j = job_of(scene, 1, STEPS, NULL);
    j.hub = &h;
    j.comm = (th_comm){0, 1, &h, numbers, exchange, sum, sum32, highest, stop};
    run_rank(&j);
    assert_false(j.made);
    assert_int_equal(j.error.code, TH_BAD_ARGUMENT);
    if (!strstr(j.error.message, words)) fail_msg("%s", j.error.message);
    th_scene_destroy(scene);
}
static void models_that_see_the_whole_crowd_are_refused(void **state) {
    (void)state;
    assert_refused(TH_JSON("uic"), "the move model \"uic\" looks at the whole crowd");
    assert_refused(TH_JSON("orca", "plan":"continuum"), "\"continuum\"");
    assert_refused(TH_JSON("orca", "behave":"hidac"), "\"hidac\"");
}

static void what_ranks_cannot_do_yet_is_refused(void **state) {
    (void)state;
    char json[HALL];
    th_scene *scene = scene_of(hall_of(json, TH_JSON("orca")));
    hub h = {.mutex = PTHREAD_MUTEX_INITIALIZER, .all_there = PTHREAD_COND_INITIALIZER, .size = 1};
    th_comm comm = {0, 1, &h, numbers, exchange, sum, sum32, highest, stop};
    th_world_def def = th_world_def_default();
    th_world *world;
    th_error error = {0};
    def.comm = &comm;
    assert_int_equal(th_ranks_check(scene, &error), TH_OK);
    assert_int_equal(th_world_create(scene, &def, &world, &error), TH_OK);
    th_world_destroy(world);
    comm.rank = 7;
    assert_int_equal(th_world_create(scene, &def, &world, &error), TH_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "rank 7 of 1"));
    th_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(people_have_the_bits_of_one_world),
        cmocka_unit_test(orca_has_the_bits_of_one_world),
        cmocka_unit_test(densesense_and_forces_have_the_bits_of_one_world),
        cmocka_unit_test(other_models_have_the_bits_of_one_world),
        cmocka_unit_test(positions_have_the_bits_of_one_world),
        cmocka_unit_test(colonists_have_the_bits_of_one_world),
        cmocka_unit_test(minds_have_the_bits_of_one_world),
        cmocka_unit_test(a_short_step_has_the_bits_of_one_world),
        cmocka_unit_test(levels_have_the_bits_of_one_world),
        cmocka_unit_test(an_open_plane_has_the_bits_of_one_world),
        cmocka_unit_test(edits_have_the_bits_of_one_world),
        cmocka_unit_test(a_restart_on_other_ranks_goes_on_with_the_same_bits),
        cmocka_unit_test(parts_that_do_not_belong_together_are_refused),
        cmocka_unit_test(models_that_see_the_whole_crowd_are_refused),
        cmocka_unit_test(what_ranks_cannot_do_yet_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
