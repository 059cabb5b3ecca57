// The program as a user meets it: texts, exit codes, JSON, pictures, the same hash on any number of
// threads. SPDX-License-Identifier: Apache-2.0
#include "program.h"
#include <math.h>

typedef struct fixture {
    program program;
    char hall[96], broken[96], crowded[96];
} fixture;

// Runs the program with these arguments (as a shell reads them); the outcome lives until the next.
static const outcome *run(fixture *f, const char *format, ...) {
    char arguments[1024];
    va_list values;
    va_start(values, format);
    vsnprintf(arguments, sizeof arguments, format, values);
    va_end(values);
    return throng(&f->program, "%s", arguments);
}

static json_t *run_json(fixture *f, const char *arguments) {
    assert_code(run(f, "%s", arguments), 0);
    return json_of(f->program.last.out);
}

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    program_begin(&f->program);
    const char *folder = f->program.folder;
    snprintf(f->hall, sizeof f->hall, "%s/hall.json", folder);
    snprintf(f->broken, sizeof f->broken, "%s/broken.json", folder);
    snprintf(f->crowded, sizeof f->crowded, "%s/crowded.json", folder);
    // 20 m by 10 m with a pillar, a door that closes at 5 s, two exits, a line and an area.
    copy_scene("pillar_hall.json", f->hall);
    copy_scene("broken.json", f->broken);   // line 3, unknown key
    copy_scene("crowded.json", f->crowded); // a thousand people on four square metres
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    int status = program_end(&f->program);
    free(f);
    return status;
}

// Set TH_UPDATE_GOLDENS to write them anew, then read the difference before committing it.
static void compare_golden(const char *name, const char *text) {
    char path[512];
    snprintf(path, sizeof path, "%s/tests/golden/%s.txt", TH_SOURCE_DIR, name);
    if (getenv("TH_UPDATE_GOLDENS")) write_text(path, text);
    char *golden = read_text(path);
    if (!golden) print_error("%s is missing; run with TH_UPDATE_GOLDENS=1\n", path);
    assert_non_null(golden);
    assert_string_equal(text, golden);
    free(golden);
}

static const char *const subcommands[] = {"run",  "resume",     "sweep",   "check",
                                          "list", "picture",    "convert", "info",
                                          "fd",   "experiment", "bench"};
enum { SUBCOMMANDS = sizeof subcommands / sizeof subcommands[0] };

static void help(void **state) {
    fixture *f = *state;
    char *direct;
    for (int i = 0; i < SUBCOMMANDS; ++i) {
        char name[32];
        snprintf(name, sizeof name, "help_%s", subcommands[i]);
        const outcome *result = run(f, "%s --help", subcommands[i]);
        assert_int_equal(result->code, 0);
        assert_string_equal(result->error, "");
        assert_holds(result->out, "examples");
        compare_golden(name, result->out);
        direct = strdup(result->out);
        assert_string_equal(run(f, "help %s", subcommands[i])->out, direct);
        free(direct);
    }
    compare_golden("help", run(f, "--help")->out);
    direct = strdup(f->program.last.out);
    assert_string_equal(run(f, "%s", "")->out, direct);
    assert_int_equal(f->program.last.code, 0);
    free(direct);
}

static void version(void **state) {
    const outcome *result = run(*state, "--version");
    assert_int_equal(result->code, 0);
    assert_int_equal(strncmp(result->out, "throng 1.", 9), 0);
}

static void bad_command_lines(void **state) {
    fixture *f = *state;
    static const struct {
        const char *arguments, *hint;
    } cases[] = {
        {"rnu scene.json", "did you mean 'throng run'"},
        {"zzzzzzzz", "`throng help` lists them"},
        {"run", "SCENE is missing"},
        {"run a.json b.json", "one word too many"},
        {"run a.json --sed 3", "did you mean --seed"},
        {"run a.json --thr 3", "did you mean --threads"},
        {"run a.json --seed", "--seed needs a value"},
        {"run a.json --seed three", "whole number"},
        {"run a.json --threads -4", "from 0 to"},
        {"run a.json --quiet=yes", "takes no value"},
        {"run a.json -q", "two dashes"},
        {"list modles", "did you mean models"},
        {"picture a.json --at 0,ten", "like 0,10,30"},
        {"picture a.json --colour sped", "did you mean speed"},
        {"picture a.json --layer hidax", "did you mean hidac"},
        {"picture a.json --layer orca --people two", "like 1,2,3"},
        {"bench --scene blok", "did you mean block"},
        {"bench --model walk", "no such move model"},
        {"bench --behave walk", "no such behaviour"},
        {"bench --device gpu9", "give cpu or cuda"},
        {"bench --json --full", "leave out"},
        {"bench --json --compare old.csv", "leave out"},
        {"help piture", "did you mean 'throng picture'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        const outcome *result = run(f, "%s", cases[i].arguments);
        if (result->code != 1)
            print_error("throng %s: exit %d\n", cases[i].arguments, result->code);
        assert_int_equal(result->code, 1);
        assert_string_equal(result->out, "");
        assert_holds(result->error, cases[i].hint);
    }
}

static void list(void **state) {
    fixture *f = *state;
    const outcome *result = run(f, "list");
    assert_int_equal(result->code, 0);
    assert_holds(result->out, "social_force");
    assert_holds(result->out, "time_horizon");
    assert_holds(result->out, "position_x");
    assert_holds(result->out, "uses move/hidac.panic; where no group has it: panic shows in");
    result = run(f, "list stages");
    assert_holds(result->out, "contact");
    assert_null(strstr(result->out, "time_horizon"));
    json_t *object = run_json(f, "list --json");
    const json_t *models = json_object_get(object, "models");
    bool orca = false;
    for (size_t i = 0; i < json_array_size(models); ++i) {
        const json_t *model = json_array_get(models, i);
        const char *name = json_string_value(json_object_get(model, "name"));
        assert_non_null(name);
        orca = orca || strcmp(name, "orca") == 0;
        const json_t *parameters = json_object_get(model, "parameters");
        for (size_t k = 0; k < json_array_size(parameters); ++k) {
            const json_t *parameter = json_array_get(parameters, k);
            double value = json_number_value(json_object_get(parameter, "default"));
            assert_true(value >= json_number_value(json_object_get(parameter, "min")));
            assert_true(value <= json_number_value(json_object_get(parameter, "max")));
            assert_true(json_string_length(json_object_get(parameter, "unit")) > 0);
            assert_true(json_string_length(json_object_get(parameter, "source")) > 0);
        }
    }
    assert_true(orca);
    json_decref(object);
}

static void check(void **state) {
    fixture *f = *state;
    const outcome *result = run(f, "check %s", f->hall);
    assert_int_equal(result->code, 0);
    assert_holds(result->out, "hall");
    assert_holds(result->out, "50 people");
    assert_string_equal(result->error, "");
    assert_string_equal(run(f, "check %s --quiet", f->hall)->out, "");
    assert_holds(run(f, "check %s --set groups.visitors.count=7", f->hall)->out, "17 people");
}

// Two rooms with gaps of 0.26 m and 0.44 m in the wall between them, and a way round: a group that needs more is warned
// of.
static void check_warns_of_narrow_gaps(void **state) {
    fixture *f = *state;
    char path[512];
    snprintf(path, sizeof path, "%s/gaps.json", f->program.folder);
    write_text(
        path,
        "{\"levels\": [{\"walkable\": {\"rect\": [0, 0, 10, 6]}, \"obstacles\": [{\"rect\": [4, "
        "0, 4.6, 1]}, {\"rect\": [4, 1.26, 4.6, 2]}, {\"rect\": [4, 2.44, 4.6, 4]}]}], \"exits\": "
        "[{\"id\": \"out\", \"line\": [[10, 0], [10, 6]]}], \"groups\": [{\"id\": \"turn\", "
        "\"count\": 3, \"area\": {\"rect\": [0.5, 0.5, 3, 5]}}, {\"id\": \"wide\", \"count\": 3, "
        "\"area\": {\"rect\": [0.5, 0.5, 3, 5]}, \"radius\": 0.25, \"move\": \"orca\"}]}");
    const outcome *result = run(f, "check %s", path);
    assert_int_equal(result->code, 0);
    // Either end of the gap may be named.
    assert_holds(result->out, "The gap of 0.26 m at (4.");
    assert_holds(result->out, ", 1.13) is too narrow for all people");
    assert_holds(result->out, "The gap of 0.44 m at (4.");
    assert_holds(result->out,
                 ", 2.22) is too narrow for people of group \"wide\", who need 0.50 m; "
                 "they go around it");
    assert_null(strstr(strstr(result->out, ", 2.22)") + 1, ", 2.22)")); // its two mouths once
    assert_null(strstr(result->out, "too narrow for people of group \"turn\""));
}

static void write_stairs(const char *path, const char *walls) {
    char text[1024];
    snprintf(
        text, sizeof text,
        "{\"levels\": [{\"id\": \"low\", \"walkable\": {\"rect\": [0, 0, 12, 6]}, \"walls\": "
        "[%s]}, "
        "{\"id\": \"high\", \"walkable\": {\"rect\": [8, 2, 12, 4]}}], \"stairs\": [{\"id\": "
        "\"steps\", \"level\": \"low\", \"to\": \"high\", \"area\": {\"rect\": [4, 2, 8, 4]}, "
        "\"top\": [[8, 2], [8, 4]]}], \"exits\": [{\"id\": \"out\", \"level\": \"high\", \"line\": "
        "[[12, 2], [12, 4]]}], \"groups\": [{\"count\": 3, \"level\": \"low\", \"area\": "
        "{\"rect\": "
        "[0.5, 0.5, 3, 5]}}]}",
        walls);
    write_text(path, text);
}

static void check_warns_of_open_stairs(void **state) {
    fixture *f = *state;
    char path[512];
    snprintf(path, sizeof path, "%s/stairs.json", f->program.folder);
    write_stairs(path, "");
    const outcome *result = run(f, "check %s", path);
    assert_code(result, 0);
    assert_holds(result->out, "Stairs \"steps\" are open to the floor along their sides");
    write_stairs(path, "[[4, 2], [8, 2]], [[4, 4], [8, 4]]");
    result = run(f, "check %s", path);
    assert_code(result, 0);
    assert_null(strstr(result->out, "open to the floor"));
}

// Doors that close nothing, or that no agent learns of, are told with their place and what to do.
static void check_warns_of_doors(void **state) {
    static const struct {
        const char *behave, *door, *warning;
    } cases[] = {
        {"hidac", "{\"line\": [[8, 2], [8, 3]]}", NULL},
        {"route", "{\"line\": [[20, 1], [20, 5]]}", NULL},
        {"hidac", "{\"line\": [[8, 2.05], [8, 2.95]]}", NULL},
        {"hidac", "{\"line\": [[8, 5.5], [8, 7]]}", NULL},
        {"hidac", "{\"line\": [[8, 2.15], [8, 3]]}",
         "ends 0.15 m from the nearest wall and closes nothing: "
         "people pass its end at (8.00, 2.15)"},
        {"hidac", "{\"line\": [[8.05, 4], [8.05, 5]]}", "lies along a wall that it does not open"},
        {"hidac", "{\"line\": [[20, 1], [20, 5]]}",
         "lies on the line of \"out\": people with the behaviour hidac do not learn"},
        {"hidac", "{\"line\": [[20, 1], [20, 5]], \"closed\": true}",
         "Exit \"out\" at (20.00, 3.00) is shut during the whole run"},
        {"hidac", "{\"id\": \"a\", \"line\": [[8, 2], [8, 3]]}, {\"line\": [[8, 2], [8, 3]]}",
         "lies on door \"a\""},
        {"hidac", "{\"line\": [[8, 2], [8, 3]]}, {\"line\": [[14, 0.5], [14, 1.5]]}",
         "parts no rooms"},
    };
    fixture *f = *state;
    char path[512], text[1024];
    snprintf(path, sizeof path, "%s/doors.json", f->program.folder);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
        snprintf(text, sizeof text,
                 "{\"levels\": [{\"walkable\": {\"rect\": [0, 0, 20, 6]}, \"walls\": [[[8, 0], [8, "
                 "2]], [[8, 3], [8, 6]], [[14, 0], [14, 2]]]}], \"doors\": [%s], \"exits\": "
                 "[{\"id\": \"out\", \"line\": [[20, 1], [20, 5]]}], \"groups\": [{\"count\": 0, "
                 "\"behave\": \"%s\"}]}",
                 cases[k].door, cases[k].behave);
        write_text(path, text);
        const outcome *result = run(f, "check %s", path);
        assert_code(result, 0);
        if (cases[k].warning)
            assert_holds(result->out, cases[k].warning);
        else
            assert_null(strstr(result->out, "warning: Door"));
    }
}

static void bad_scenes(void **state) {
    fixture *f = *state;
    char place[160];
    snprintf(place, sizeof place, "%s:3:", f->broken);
    static const char *const commands[] = {"run", "sweep", "check", "picture", "bench --scene"};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; ++i) {
        const outcome *result = run(f, "%s %s", commands[i], f->broken);
        assert_int_equal(result->code, 2);
        assert_string_equal(result->out, "");
        assert_int_equal(strncmp(result->error, place, strlen(place)), 0);
        assert_holds(result->error, ": gruops: ");
        assert_holds(result->error, "groups");
    }
    const outcome *result = run(f, "run %s", f->crowded);
    assert_int_equal(result->code, 2);
    assert_holds(result->error, "groups[0]");
    assert_int_equal(run(f, "check %s/nowhere.json", f->program.folder)->code, 2);
    assert_holds(f->program.last.error, "nowhere.json");
    assert_int_equal(run(f, "run %s --set groups.visitors.cuont=7", f->hall)->code, 2);
    assert_holds(f->program.last.error, "count");
}

// The first of an object's runs.
static const json_t *first_of(const json_t *object) {
    const json_t *runs = json_object_get(object, "runs");
    assert_true(json_array_size(runs) >= 1);
    return json_array_get(runs, 0);
}

static const char *hash_in(const json_t *run) {
    const char *hash = json_string_value(json_object_get(run, "hash"));
    assert_non_null(hash);
    assert_int_equal(strlen(hash), 16);
    return hash;
}

static void check_invariants(const json_t *object) {
    static const char *const keys[] = {
        "scene",      "version",      "command_line",      "density",
        "congestion", "wall_seconds", "largest_overlap_m", "findings"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; ++i) {
        if (!json_object_get(object, keys[i])) print_error("no \"%s\"\n", keys[i]);
        assert_non_null(json_object_get(object, keys[i]));
    }
    const json_t *first = json_object_get(object, "first_run");
    assert_int_equal(whole(first, "spawned"),
                     whole(first, "inside") + whole(first, "left") + whole(first, "removed"));
    assert_int_equal(whole(object, "wall_crossings"), 0);
    assert_int_equal(whole(first, "repairs"), 0);
    assert_true(whole(first_of(object), "steps") > 0);
    hash_in(first_of(object));
}

static void run_prints_json(void **state) {
    fixture *f = *state;
    json_t *object = run_json(f, "run hall.json --out none --json --quiet");
    assert_string_equal(f->program.last.error, "");
    check_invariants(object);
    const json_t *first = json_object_get(object, "first_run");
    assert_int_equal(whole(first, "spawned"), 50);
    assert_int_equal(whole(first, "left"), 50);
    double egress = number(json_object_get(object, "egress_time_s"), "mean");
    // The farthest visitor walks 19 m; no agent needs two minutes.
    assert_true(egress > 8 && egress < 120);
    json_int_t left = 0;
    const json_t *exits = json_object_get(first, "exits");
    assert_int_equal(json_array_size(exits), 2);
    for (size_t i = 0; i < 2; ++i) left += whole(json_array_get(exits, i), "forward");
    assert_int_equal(left, 50);
    const json_t *line = json_array_get(json_object_get(first, "lines"), 0);
    assert_true(whole(line, "forward") + whole(line, "backward") >= 50);
    json_decref(object);

    object = run_json(f, "run hall.json --out none --json --quiet --max-time 3");
    check_invariants(object);
    assert_true(whole(first_of(object), "inside") > 0);
    assert_true(json_is_null(json_object_get(first_of(object), "egress_time_s")));
    assert_true(fabs(number(first_of(object), "simulated_s") - 3) < 0.051);
    json_decref(object);
}

// --json prints the folder's summary and its path.
static void json_is_the_summary(void **state) {
    fixture *f = *state;
    json_t *printed = run_json(f, "run hall.json --json --quiet --out same --max-time 3");
    char *text = program_file(&f->program, "same/summary.json");
    json_t *kept = json_of(text);
    free(text);
    assert_string_equal(json_string_value(json_object_get(printed, "folder")), "same");
    json_object_del(printed, "folder");
    json_object_del(printed, "wall_seconds");
    assert_true(json_equal(json_object_get(printed, "runs"), json_object_get(kept, "runs")));
    assert_int_equal(json_object_size(printed), json_object_size(kept));
    json_decref(printed);
    json_decref(kept);
}

static void same_hash_on_any_threads(void **state) {
    fixture *f = *state;
    static const int threads[] = {1, 2, 3, 8};
    char first[17] = "", arguments[256];
    for (int i = 0; i < 4; ++i) {
        snprintf(arguments, sizeof arguments,
                 "run hall.json --out none --json --quiet --max-time 8 --threads %d", threads[i]);
        json_t *object = run_json(f, arguments);
        const char *hash = hash_in(first_of(object));
        if (i == 0) snprintf(first, sizeof first, "%s", hash);
        assert_string_equal(hash, first);
        json_decref(object);
    }
    json_t *other = run_json(f, "run hall.json --out none --json --quiet --max-time 8 --seed 99");
    assert_string_not_equal(hash_in(first_of(other)), first);
    json_decref(other);
}

static void run_summary_and_runs(void **state) {
    fixture *f = *state;
    const outcome *result = run(f, "run hall.json --out none");
    assert_code(result, 0);
    assert_holds(result->out, "egress time");
    assert_holds(result->out, "east");
    assert_holds(result->out, "before_exit");
    assert_holds(result->out, "state hash");
    result = run(f, "run hall.json --quiet --runs 3 --out none");
    assert_code(result, 0);
    assert_holds(result->out, "3 of 3 runs");
    json_t *object = run_json(f, "run hall.json --json --quiet --runs 2 --seed 5 --out none");
    const json_t *runs = json_object_get(object, "runs");
    assert_int_equal(json_array_size(runs), 2);
    assert_int_equal(whole(json_array_get(runs, 0), "seed"), 5);
    assert_int_equal(whole(json_array_get(runs, 1), "seed"), 6);
    const json_t *egress = json_object_get(object, "egress_time_s");
    assert_true(number(egress, "min") <= number(egress, "mean"));
    assert_true(number(egress, "mean") <= number(egress, "max"));
    json_decref(object);
}

// Ctrl-C ends the loop, not the program: the summary still comes.
static void interrupt(void **state) {
    fixture *f = *state;
    const outcome *result =
        throng_until(&f->program, "run hall.json --json --out cut", "step:20", SIGINT);
    assert_code(result, 130);
    json_t *object = json_of(result->out);
    check_invariants(object);
    assert_int_equal(whole(object, "interrupted_runs"), 1);
    json_decref(object);
}

static void bench_json(void **state) {
    fixture *f = *state;
    static const char *const scenes[] = {"circle", "block", "packed", "pillars",
                                         "door",   "rooms", "hall"};
    static const char *const keys[] = {
        "ms_per_step",     "ms_per_step_min", "stages",          "hash",
        "bytes_per_agent", "overlap_share",   "deepest_overlap", "goalward_speed"};
    for (int i = 0; i < 7; ++i) {
        char arguments[256];
        snprintf(arguments, sizeof arguments,
                 "bench --scene %s --model orca --agents 100 --threads 2 --device cpu --behaviour "
                 "--json",
                 scenes[i]);
        json_t *object = run_json(f, arguments);
        assert_string_equal(json_string_value(json_object_get(object, "scene")), scenes[i]);
        assert_string_equal(json_string_value(json_object_get(object, "model")), "orca");
        assert_string_equal(json_string_value(json_object_get(object, "device")), "cpu");
        assert_int_equal(whole(object, "agents"), 100);
        assert_int_equal(whole(object, "threads"), 2);
        assert_true(whole(object, "peak_rss_bytes") > 0);
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; ++k)
            assert_non_null(json_object_get(object, keys[k]));
        assert_true(json_number_value(json_object_get(object, "ms_per_step")) >=
                    json_number_value(json_object_get(object, "ms_per_step_min")));
        assert_true(json_is_number(json_object_get(json_object_get(object, "stages"), "move")));
        json_decref(object);
    }
    json_t *object =
        run_json(f, "bench --scene rooms --model hidac --behave hidac --agents 500 --json");
    assert_string_equal(json_string_value(json_object_get(object, "behave")), "hidac");
    json_decref(object);
    object = run_json(f, "bench --model social_force --agents 64 --json");
    assert_null(json_object_get(object, "behave"));
    assert_true(whole(object, "substeps") > 1);
    json_decref(object);
    object = run_json(f, "bench --scene dense --model pbd --agents 64 --step 0.0208333 --json");
    assert_float_equal(json_real_value(json_object_get(object, "step")), 0.0208333, 1e-9);
    assert_null(json_object_get(object, "substeps")); // one in so short a step
    assert_null(json_object_get(object, "device_bytes"));
    json_decref(object);
}

// Ratios to a table of before: of the row that was measured under the same conditions, and of no other.
static void bench_compares(void **state) {
    fixture *f = *state;
    json_t *object = run_json(f, "bench --model orca --agents 64 --threads 1 --json");
    char table[512];
    snprintf(table, sizeof table,
             "scene,model,agents,threads,device,step,ms_per_step,ms_per_step_min,hash\n"
             "block,orca,64,2,cpu,0.1,1,1,0\n"
             "block,orca,64,1,cpu,0.05,1,1,0\n"
             "block,orca,64,1,cpu,0.1,2500,2500,%s\n",
             json_string_value(json_object_get(object, "hash")));
    json_decref(object);
    char path[128];
    snprintf(path, sizeof path, "%s/old.csv", f->program.folder);
    write_text(path, table);
    const outcome *result = run(f, "bench --model orca --agents 64 --threads 1 --compare old.csv");
    assert_code(result, 0);
    assert_holds(result->out, "0.00 times the 2500 ms of old.csv");
    assert_holds(result->out, "the same hash");
    result = run(f, "bench --model orca --agents 65 --threads 1 --compare old.csv");
    assert_holds(result->out, "no row of old.csv has this");
    result = run(f, "bench --model orca --agents 64 --compare hall.json");
    assert_code(result, 3);
    assert_holds(result->error, "is no table of `throng bench --csv`");
}

// Width and height of a PNG from its header; 0 when it is none.
static uint32_t png_width(const char *path) {
    unsigned char head[24] = {0};
    FILE *file = fopen(path, "rb");
    if (!file) return 0;
    size_t length = fread(head, 1, sizeof head, file);
    unsigned char tail[8] = {0};
    fseek(file, -8, SEEK_END);
    size_t tail_length = fread(tail, 1, sizeof tail, file);
    fclose(file);
    bool complete = length == 24 && tail_length == 8 && memcmp(head, "\x89PNG\r\n\x1a\n", 8) == 0 &&
                    memcmp(tail, "IEND", 4) == 0;
    return complete ? (uint32_t)head[16] << 24 | (uint32_t)head[17] << 16 |
                          (uint32_t)head[18] << 8 | head[19]
                    : 0;
}

static void picture(void **state) {
    fixture *f = *state;
    static const char *const colours[] = {"speed", "density", "group"};
    for (int i = 0; i < 3; ++i) {
        const outcome *result =
            run(f, "picture %s --at 6,0 --out %s/deep/%s --colour %s --width 640", f->hall,
                f->program.folder, colours[i], colours[i]);
        if (result->code != 0) print_error("%s", result->error);
        assert_int_equal(result->code, 0);
        char path[160];
        snprintf(path, sizeof path, "%s/deep/%s/hall_t000.0.png", f->program.folder, colours[i]);
        assert_holds(result->out, path);
        assert_int_equal(png_width(path), 640);
        snprintf(path, sizeof path, "%s/deep/%s/hall_t006.0.png", f->program.folder, colours[i]);
        assert_int_equal(png_width(path), 640);
    }
    const outcome *result =
        run(f, "picture %s --out %s/hall.json/below", f->hall, f->program.folder);
    assert_int_equal(result->code, 3);
    assert_holds(result->error, "--out");
    result = run(f, "picture %s --layer orca --people 2,9999 --out %s", f->hall, f->program.folder);
    assert_int_equal(result->code, 0); // absent agents are not drawn
    // A bad scene leaves no folder behind.
    char folder[96];
    struct stat status;
    snprintf(folder, sizeof folder, "%s/never", f->program.folder);
    assert_int_equal(run(f, "picture %s --out %s", f->broken, folder)->code, 2);
    assert_int_not_equal(stat(folder, &status), 0);
}

static void people_still_inside(void **state) {
    fixture *f = *state;
    const outcome *result = run(f, "run hall.json --quiet --max-time 1 --out none");
    assert_int_equal(result->code, 0);
    assert_holds(result->out, "still on the way");
    assert_holds(result->out, "visitors              40");
}

static void full_disk(void **state) {
    (void)state;
    if (access("/dev/full", W_OK) != 0) skip();
    int status = system("'" TH_PROGRAM "' list >/dev/full 2>/dev/null");
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 3);
}

// Verbs that load scenes let them read files elsewhere when told so, and none waits for a pipe.
static void links_and_pipes(void **state) {
    fixture *f = *state;
    program *p = &f->program;
    assert_code(shell(p, "mkdir scenes && printf '1,1\n2,2\n' >far.csv && mkfifo pipe && "
                         "printf '%%s' '{\"groups\": [{\"positions_file\": \"../far.csv\"}], "
                         "\"run\": {\"max_time\": 1}}' >scenes/far.json"),
                0);
    static const char *const verbs[] = {"check scenes/far.json", "run scenes/far.json --out none",
                                        "picture scenes/far.json --at 0 --out pictures",
                                        "fd scenes/far.json --area 0,0,9,9 --out none",
                                        "studio scenes/far.json --listen nowhere"};
    for (size_t k = 0; k < sizeof verbs / sizeof *verbs; ++k) {
        assert_code(throng(p, "%s", verbs[k]), 2);
        assert_holds(p->last.error, "--allow-links");
        bool served = strstr(verbs[k], "studio") != NULL; // loads, and finds no such address
        assert_code(throng(p, "%s --allow-links", verbs[k]), served ? 3 : 0);
    }
    static const char *const waiting[] = {"studio pipe", "studio --plugin ./pipe", "info pipe",
                                          "check pipe"};
    for (size_t k = 0; k < sizeof waiting / sizeof *waiting; ++k) {
        int code = throng(p, "%s", waiting[k])->code;
        assert_true(code == 2 || code == 3);
        assert_holds(p->last.error, "not a plain file");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help),
        cmocka_unit_test(version),
        cmocka_unit_test(full_disk),
        cmocka_unit_test(people_still_inside),
        cmocka_unit_test(bad_command_lines),
        cmocka_unit_test(list),
        cmocka_unit_test(check),
        cmocka_unit_test(check_warns_of_narrow_gaps),
        cmocka_unit_test(check_warns_of_open_stairs),
        cmocka_unit_test(check_warns_of_doors),
        cmocka_unit_test(bad_scenes),
        cmocka_unit_test(run_prints_json),
        cmocka_unit_test(json_is_the_summary),
        cmocka_unit_test(same_hash_on_any_threads),
        cmocka_unit_test(run_summary_and_runs),
        cmocka_unit_test(interrupt),
        cmocka_unit_test(bench_json),
        cmocka_unit_test(bench_compares),
        cmocka_unit_test(picture),
        cmocka_unit_test(links_and_pipes),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
