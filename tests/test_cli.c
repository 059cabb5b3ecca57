// The program as a user meets it: texts, exit codes, JSON, pictures, the same hash on any number of
// threads. SPDX-License-Identifier: Apache-2.0
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

enum { TEXT_MAX = 1 << 18 };

typedef struct outcome {
    int code;
    char *out, *error; // what it wrote on stdout and stderr
} outcome;

typedef struct fixture {
    char folder[64];
    char hall[96], broken[96], crowded[96];
    outcome last;
} fixture;

// A hall of 20 m by 10 m with a pillar, a door that closes at 5 s, two exits, a line and an area.
static const char hall_text[] =
    "{\n"
    "  \"name\": \"hall\", // comments are allowed\n"
    "  \"levels\": [{\"id\": \"ground\", \"walkable\": [{\"rect\": [0, 0, 20, 10]}],\n"
    "    \"obstacles\": [{\"rect\": [9, 4, 10, 6]}]}],\n"
    "  \"doors\": [{\"id\": \"gate\", \"line\": [[15, 0], [15, 3]], \"schedule\": [[5, "
    "\"close\"]]}],\n"
    "  \"exits\": [{\"id\": \"east\", \"line\": [[20, 4], [20, 6]]},\n"
    "            {\"id\": \"west\", \"line\": [[0, 4], [0, 6]]}],\n"
    "  \"groups\": [{\"id\": \"visitors\", \"area\": {\"rect\": [1, 1, 8, 9]}, \"count\": 40,\n"
    "    \"to\": \"east\"},\n"
    "   {\"id\": \"staff\", \"area\": {\"rect\": [12, 1, 19, 9]}, \"count\": 10, \"to\": "
    "\"west\",\n"
    "    \"move\": \"social_force\"}],\n"
    "  \"measure\": {\"lines\": [{\"id\": \"middle\", \"line\": [[11, 0], [11, 10]]}],\n"
    "    \"areas\": [{\"id\": \"before_exit\", \"area\": {\"rect\": [17, 3, 20, 7]}}]}\n"
    "}\n";

// Line 3, unknown key.
static const char broken_text[] = "{\n"
                                  "  \"name\": \"broken\",\n"
                                  "  \"gruops\": []\n"
                                  "}\n";

// A thousand people on four square metres.
static const char crowded_text[] =
    "{\"name\": \"crowded\",\n"
    " \"levels\": [{\"id\": \"ground\", \"walkable\": [{\"rect\": [0, 0, 10, 10]}]}],\n"
    " \"exits\": [{\"id\": \"east\", \"line\": [[10, 4], [10, 6]]}],\n"
    " \"groups\": [{\"id\": \"all\", \"area\": {\"rect\": [1, 1, 3, 3]}, \"count\": 1000, \"to\": "
    "\"east\"}]}\n";

static char *read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    char *text = malloc(TEXT_MAX);
    assert_non_null(text);
    size_t length = fread(text, 1, TEXT_MAX - 1, file);
    text[length] = '\0';
    fclose(file);
    return text;
}

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    fclose(file);
}

static void forget(fixture *f) {
    free(f->last.out);
    free(f->last.error);
    f->last = (outcome){0};
}

// Runs the program with these arguments (as a shell reads them); the outcome lives until the next.
static const outcome *run(fixture *f, const char *format, ...) {
    char arguments[1024], command[2048], path[128];
    va_list values;
    va_start(values, format);
    vsnprintf(arguments, sizeof arguments, format, values);
    va_end(values);
    snprintf(command, sizeof command, "'%s' %s >%s/out 2>%s/error </dev/null", TH_PROGRAM,
             arguments, f->folder, f->folder);
    forget(f);
    int status = system(command);
    assert_true(WIFEXITED(status));
    f->last.code = WEXITSTATUS(status);
    snprintf(path, sizeof path, "%s/out", f->folder);
    f->last.out = read_text(path);
    snprintf(path, sizeof path, "%s/error", f->folder);
    f->last.error = read_text(path);
    return &f->last;
}

static json_t *run_json(fixture *f, const char *arguments) {
    const outcome *result = run(f, "%s", arguments);
    if (result->code != 0) print_error("%s", result->error);
    assert_int_equal(result->code, 0);
    json_error_t error;
    // json_loads refuses anything after the object, so this also proves that nothing else is there.
    json_t *object = json_loads(result->out, 0, &error);
    if (!object) print_error("%s: %s\n", arguments, error.text);
    assert_non_null(object);
    assert_true(json_is_object(object));
    return object;
}

static void assert_holds(const char *text, const char *part) {
    if (!strstr(text, part)) print_error("\"%s\" is not in:\n%s\n", part, text);
    assert_non_null(strstr(text, part));
}

static json_int_t whole(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value)) print_error("no whole number \"%s\"\n", key);
    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    snprintf(f->folder, sizeof f->folder, "/tmp/throng_cli_XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->hall, sizeof f->hall, "%s/hall.json", f->folder);
    snprintf(f->broken, sizeof f->broken, "%s/broken.json", f->folder);
    snprintf(f->crowded, sizeof f->crowded, "%s/crowded.json", f->folder);
    write_text(f->hall, hall_text);
    write_text(f->broken, broken_text);
    write_text(f->crowded, crowded_text);
    // Eight threads on fewer cores must not spin while they wait for each other.
    setenv("OMP_WAIT_POLICY", "passive", 1);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", f->folder);
    int status = system(command);
    forget(f);
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

static const char *const subcommands[] = {"run",     "check", "list", "picture",
                                          "convert", "info",  "bench"};
enum { SUBCOMMANDS = sizeof subcommands / sizeof subcommands[0] };

static void test_help(void **state) {
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
    direct = strdup(f->last.out);
    assert_string_equal(run(f, "%s", "")->out, direct);
    assert_int_equal(f->last.code, 0);
    free(direct);
}

static void test_version(void **state) {
    const outcome *result = run(*state, "--version");
    assert_int_equal(result->code, 0);
    assert_int_equal(strncmp(result->out, "throng 0.", 9), 0);
}

static void test_bad_command_lines(void **state) {
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
        {"bench --scene blok", "did you mean block"},
        {"bench --model walk", "no such move model"},
        {"bench --device gpu9", "cpu only"},
        {"bench --json --full", "leave out"},
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

static void test_list(void **state) {
    fixture *f = *state;
    const outcome *result = run(f, "list");
    assert_int_equal(result->code, 0);
    assert_holds(result->out, "social_force");
    assert_holds(result->out, "time_horizon");
    assert_holds(result->out, "position_x");
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

static void test_check(void **state) {
    fixture *f = *state;
    const outcome *result = run(f, "check %s", f->hall);
    assert_int_equal(result->code, 0);
    assert_holds(result->out, "hall");
    assert_holds(result->out, "50 people");
    assert_string_equal(result->error, "");
    assert_string_equal(run(f, "check %s --quiet", f->hall)->out, "");
    assert_holds(run(f, "check %s --set groups.visitors.count=7", f->hall)->out, "17 people");
}

static void test_bad_scenes(void **state) {
    fixture *f = *state;
    char place[160];
    snprintf(place, sizeof place, "%s:3:", f->broken);
    for (int i = 0; i < SUBCOMMANDS; ++i) {
        static const char *const without_scene[] = {"list", "convert", "info"};
        bool wants_scene = true;
        for (int k = 0; k < 3; ++k)
            wants_scene = wants_scene && strcmp(subcommands[i], without_scene[k]) != 0;
        if (!wants_scene) continue;
        bool bench = strcmp(subcommands[i], "bench") == 0;
        const outcome *result =
            run(f, "%s %s %s", subcommands[i], bench ? "--scene" : "", f->broken);
        assert_int_equal(result->code, 2);
        assert_string_equal(result->out, "");
        assert_int_equal(strncmp(result->error, place, strlen(place)), 0);
        assert_holds(result->error, ": gruops: ");
        assert_holds(result->error, "groups");
    }
    const outcome *result = run(f, "run %s", f->crowded);
    assert_int_equal(result->code, 2);
    assert_holds(result->error, "groups[0]");
    assert_int_equal(run(f, "check %s/nowhere.json", f->folder)->code, 2);
    assert_holds(f->last.error, "nowhere.json");
    assert_int_equal(run(f, "run %s --set groups.visitors.cuont=7", f->hall)->code, 2);
    assert_holds(f->last.error, "count");
}

static void check_invariants(const json_t *object) {
    static const char *const keys[] = {
        "scene",        "seed",  "egress_time",     "simulated_time",
        "wall_seconds", "hash",  "largest_overlap", "waiting_to_enter",
        "wall_stops",   "exits", "lines",           "areas"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; ++i) {
        if (!json_object_get(object, keys[i])) print_error("no \"%s\"\n", keys[i]);
        assert_non_null(json_object_get(object, keys[i]));
    }
    assert_int_equal(whole(object, "spawned"),
                     whole(object, "inside") + whole(object, "left") + whole(object, "removed"));
    assert_int_equal(whole(object, "wall_crossings"), 0);
    assert_int_equal(whole(object, "repairs"), 0);
    assert_true(whole(object, "steps") > 0);
    assert_int_equal(json_string_length(json_object_get(object, "hash")), 16);
}

static void test_run_json(void **state) {
    fixture *f = *state;
    char arguments[256];
    snprintf(arguments, sizeof arguments, "run %s --json --quiet", f->hall);
    json_t *object = run_json(f, arguments);
    assert_string_equal(f->last.error, "");
    check_invariants(object);
    assert_int_equal(whole(object, "spawned"), 50);
    assert_int_equal(whole(object, "left"), 50);
    double egress = json_number_value(json_object_get(object, "egress_time"));
    // The farthest visitor walks 19 m; nobody needs two minutes.
    assert_true(egress > 8 && egress < 120);
    json_int_t left = 0;
    const json_t *exits = json_object_get(object, "exits");
    assert_int_equal(json_array_size(exits), 2);
    for (size_t i = 0; i < 2; ++i) left += whole(json_array_get(exits, i), "left");
    assert_int_equal(left, 50);
    const json_t *line = json_array_get(json_object_get(object, "lines"), 0);
    assert_true(whole(line, "forward") + whole(line, "backward") >= 50);
    json_decref(object);

    snprintf(arguments, sizeof arguments, "run %s --json --quiet --max-time 3", f->hall);
    object = run_json(f, arguments);
    check_invariants(object);
    assert_true(whole(object, "inside") > 0);
    assert_true(json_is_null(json_object_get(object, "egress_time")));
    assert_true(fabs(json_number_value(json_object_get(object, "simulated_time")) - 3) < 0.051);
    json_decref(object);
}

static void test_same_hash_on_any_threads(void **state) {
    fixture *f = *state;
    static const int threads[] = {1, 2, 3, 8};
    char first[17] = "";
    for (int i = 0; i < 4; ++i) {
        char arguments[256];
        snprintf(arguments, sizeof arguments, "run %s --json --quiet --max-time 8 --threads %d",
                 f->hall, threads[i]);
        json_t *object = run_json(f, arguments);
        const char *hash = json_string_value(json_object_get(object, "hash"));
        if (i == 0) snprintf(first, sizeof first, "%s", hash);
        assert_string_equal(hash, first);
        json_decref(object);
    }
    char arguments[256];
    snprintf(arguments, sizeof arguments, "run %s --json --quiet --max-time 8 --seed 99", f->hall);
    json_t *other = run_json(f, arguments);
    assert_string_not_equal(json_string_value(json_object_get(other, "hash")), first);
    json_decref(other);
}

static void test_run_summary_and_runs(void **state) {
    fixture *f = *state;
    const outcome *result = run(f, "run %s", f->hall);
    assert_int_equal(result->code, 0);
    assert_holds(result->out, "egress time");
    assert_holds(result->out, "east");
    assert_holds(result->out, "before_exit");
    assert_holds(result->out, "state hash");
    result = run(f, "run %s --quiet --runs 3", f->hall);
    assert_int_equal(result->code, 0);
    assert_holds(result->out, "3 of 3 runs");
    char arguments[256];
    snprintf(arguments, sizeof arguments, "run %s --json --quiet --runs 2 --seed 5", f->hall);
    json_t *object = run_json(f, arguments);
    const json_t *runs = json_object_get(object, "runs");
    assert_int_equal(json_array_size(runs), 2);
    assert_int_equal(whole(json_array_get(runs, 0), "seed"), 5);
    assert_int_equal(whole(json_array_get(runs, 1), "seed"), 6);
    assert_true(json_number_value(json_object_get(object, "egress_time_min")) <=
                json_number_value(json_object_get(object, "egress_time_max")));
    json_decref(object);
}

// Ctrl-C ends the loop, not the program: the summary still comes.
static void test_interrupt(void **state) {
    fixture *f = *state;
    char command[512], path[128];
    snprintf(command, sizeof command,
             "'%s' run %s --json --set run.duration=100000 >%s/out 2>/dev/null & sleep 0.5; "
             "kill -INT $!; wait $!",
             TH_PROGRAM, f->hall, f->folder);
    // A background job of a shell without job control ignores SIGINT unless it installs a handler.
    int status = system(command);
    assert_int_equal(WEXITSTATUS(status), 130);
    snprintf(path, sizeof path, "%s/out", f->folder);
    char *text = read_text(path);
    json_t *object = json_loads(text, 0, NULL);
    assert_non_null(object);
    check_invariants(object);
    assert_true(json_is_true(json_object_get(object, "interrupted")));
    json_decref(object);
    free(text);
}

static void test_bench_json(void **state) {
    fixture *f = *state;
    static const char *const scenes[] = {"circle", "block", "packed", "pillars"};
    static const char *const keys[] = {
        "ms_per_step",     "ms_per_step_min", "stages",          "hash",
        "bytes_per_agent", "overlap_share",   "deepest_overlap", "goalward_speed"};
    for (int i = 0; i < 4; ++i) {
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
    json_t *object = run_json(f, "bench --model social_force --agents 64 --json");
    assert_true(whole(object, "substeps") > 1);
    json_decref(object);
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

static void test_picture(void **state) {
    fixture *f = *state;
    static const char *const colours[] = {"speed", "density", "group"};
    for (int i = 0; i < 3; ++i) {
        const outcome *result =
            run(f, "picture %s --at 6,0 --out %s/deep/%s --colour %s --width 640", f->hall,
                f->folder, colours[i], colours[i]);
        if (result->code != 0) print_error("%s", result->error);
        assert_int_equal(result->code, 0);
        char path[160];
        snprintf(path, sizeof path, "%s/deep/%s/hall_t000.0.png", f->folder, colours[i]);
        assert_holds(result->out, path);
        assert_int_equal(png_width(path), 640);
        snprintf(path, sizeof path, "%s/deep/%s/hall_t006.0.png", f->folder, colours[i]);
        assert_int_equal(png_width(path), 640);
    }
    const outcome *result = run(f, "picture %s --out %s/hall.json/below", f->hall, f->folder);
    assert_int_equal(result->code, 3);
    assert_holds(result->error, "--out");
    // A bad scene leaves no folder behind.
    char folder[96];
    struct stat status;
    snprintf(folder, sizeof folder, "%s/never", f->folder);
    assert_int_equal(run(f, "picture %s --out %s", f->broken, folder)->code, 2);
    assert_int_not_equal(stat(folder, &status), 0);
}

static void test_who_is_still_inside(void **state) {
    fixture *f = *state;
    const outcome *result = run(f, "run %s --quiet --max-time 1", f->hall);
    assert_int_equal(result->code, 0);
    assert_holds(result->out, "still on the way");
    assert_holds(result->out, "visitors              40");
}

static void test_full_disk(void **state) {
    (void)state;
    if (access("/dev/full", W_OK) != 0) skip();
    int status = system(TH_PROGRAM " list >/dev/full 2>/dev/null");
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_help),
        cmocka_unit_test(test_version),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_who_is_still_inside),
        cmocka_unit_test(test_bad_command_lines),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_bad_scenes),
        cmocka_unit_test(test_run_json),
        cmocka_unit_test(test_same_hash_on_any_threads),
        cmocka_unit_test(test_run_summary_and_runs),
        cmocka_unit_test(test_interrupt),
        cmocka_unit_test(test_bench_json),
        cmocka_unit_test(test_picture),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
