// The tables of a run's folder: read back and worked out again from a run watched by hand.
// SPDX-License-Identifier: Apache-2.0
#include "observe/findings.h"
#include "observe/observer.h"
#include "report/report.h"
#include "support.h"
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Names that need quoting, a door people go through backward, an area, an exit that is an area.
static const char room[] = TH_JSON(
    {"name": "tables, \"quoted\"", "description": "a test",
    "levels": [{"id": "room", "walkable": {"rect": [0,0,12,8]},
        "walls": [[[8,0],[8,3.6]],[[8,4.4],[8,8]]]}],
    "doors": [{"id": "gate, \"main\"", "line": [[8,3.6],[8,4.4]]}],
    "exits": [{"id": "out", "line": [[12,3],[12,5]]}],
    "groups": [{"id": "p", "count": 60, "area": {"rect": [1,1,7,7]}, "to": "out", "plan": "field"}],
    "measure": {"areas": [{"id": "before", "area": {"rect": [6,3,8,5]}}]}});

// ---- a folder and a small CSV reader of our own

static char folder[64];

static int make_folder(void **state) {
    (void)state;
    strcpy(folder, "/tmp/throng-tables-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    const char *names[] = {"summary.json", "evacuation.csv", "counters.csv", "areas.csv",
                           "people.csv",   "runs.csv",       "odd.csv"};
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        remove(path);
    }
    return rmdir(folder); // fails, and with it the test, when something else was left
}

enum { COLUMNS_MAX = 32, ROWS_MAX = 8000 };
typedef struct csv {
    char *bytes;
    char *fields[ROWS_MAX][COLUMNS_MAX];
    int rows, columns; // rows without the header, which is fields[0]
} csv;

static char *read_file(const char *name) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("%s is not there", path);
    char *bytes = calloc(1, 1 << 20);
    assert_true(fread(bytes, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return bytes;
}

// Cuts one field off; *end is what came behind it. Quotes are taken off in place.
static char *next_field(char **at, char *end) {
    char *field = *at, *read = *at, *write = *at;
    bool quoted = *read == '"';
    if (quoted) read++;
    for (; *read; ++read) {
        if (quoted && *read == '"' && read[1] == '"')
            read++;
        else if (quoted && *read == '"') {
            quoted = false;
            continue;
        } else if (!quoted && (*read == ',' || *read == '\n'))
            break;
        *write++ = *read;
    }
    *end = *read;
    *at = *read ? read + 1 : read;
    *write = 0;
    return field;
}

static csv *read_csv(const char *name) {
    csv *table = calloc(1, sizeof *table);
    table->bytes = read_file(name);
    char *at = table->bytes;
    while (*at) {
        int column = 0;
        for (char end = ','; end == ',';) {
            assert_true(column < COLUMNS_MAX && table->rows < ROWS_MAX - 1);
            table->fields[table->rows][column++] = next_field(&at, &end);
        }
        if (table->rows == 0) table->columns = column;
        assert_int_equal(column, table->columns); // every row is as wide as the header
        table->rows++;
    }
    table->rows--;
    return table;
}

static void free_csv(csv *table) {
    free(table->bytes);
    free(table);
}

static const char *field(const csv *table, int row, const char *column) {
    for (int c = 0; c < table->columns; ++c)
        if (strcmp(table->fields[0][c], column) == 0) return table->fields[row + 1][c];
    fail_msg("no column %s", column);
    return NULL;
}
static double value(const csv *table, int row, const char *column) {
    const char *text = field(table, row, column);
    return *text ? strtod(text, NULL) : (double)NAN;
}

// ---- runs

// Watches a run; when `crossed` is given, counts the people that pass x = 8 by hand, per sample.
static void add_run(th_ensemble *ensemble, const th_scene *scene, uint64_t seed, int steps,
                    int *crossed) {
    th_world *world = world_of(scene, 1, seed);
    th_observer_def def = th_observer_def_default();
    th_observer *observer = NULL;
    float before[128] = {0};
    int passed = 0;
    assert_int_equal(th_observer_create(world, &def, &observer, NULL), TH_OK);
    assert_int_equal(th_observer_see(observer, world, NULL), TH_OK);
    for (int s = 1; s <= steps && !th_world_done(world); ++s) {
        th_world_step(world, 1);
        assert_int_equal(th_observer_see(observer, world, NULL), TH_OK);
        const uint32_t *id = th_world_map(world, TH_FIELD_ID, TH_ACCESS_READ);
        const float *x = th_world_map(world, TH_FIELD_POSITION_X, TH_ACCESS_READ);
        for (int i = 0; i < th_world_agent_count(world); ++i) {
            passed += before[id[i]] <= 8.0f && x[i] > 8.0f && before[id[i]] > 0.0f;
            before[id[i]] = x[i];
        }
        if (crossed && s % 10 == 0) crossed[s / 10] = passed;
    }
    assert_int_equal(th_observer_finish(observer, world, NULL), TH_OK);
    assert_int_equal(th_ensemble_add(ensemble, th_observer_observation(observer), NULL), TH_OK);
    th_observer_destroy(observer);
    th_world_destroy(world);
}

static th_report_def report_of(const th_scene *scene, const th_ensemble *ensemble) {
    static const char *const overrides[] = {"groups[0].count=60"};
    return (th_report_def){.scene = th_scene_view_of(scene),
                           .ensemble = ensemble,
                           .folder = folder,
                           .scene_file = "room.json",
                           .command_line = "throng run room.json --runs 3",
                           .overrides = overrides,
                           .override_count = 1};
}

static void write_tables(const th_report_def *def) {
    th_error error = {0};
    if (th_report_tables(def, &error) != TH_OK) fail_msg("%s: %s", error.file, error.message);
}

static void check_gate(const int *crossed, int samples) {
    csv *table = read_csv("counters.csv");
    int seen = 0, exits = 0;
    for (int r = 0; r < table->rows; ++r) {
        exits += strcmp(field(table, r, "kind"), "exit") == 0;
        if (strcmp(field(table, r, "id"), "gate, \"main\"") != 0) continue;
        assert_string_equal(field(table, r, "kind"), "door");
        int k = (int)lround(value(table, r, "time_s"));
        // The line runs upward, so people that walk right go from its left to its right: backward.
        assert_near(value(table, r, "backward") - value(table, r, "forward"), crossed[k], 0.0);
        int from = k > 5 ? k - 5 : 0, to = k + 5 < samples ? k + 5 : samples - 1;
        double flow = (double)(crossed[to] - crossed[from]) / (to - from);
        if (value(table, r, "forward") <= 0.0) // no agent was pushed back so far
            assert_true(value(table, r, "flow_per_s") >= flow - 1e-6);
        assert_near(value(table, r, "specific_flow_per_m_s"), value(table, r, "flow_per_s") / 0.8,
                    1e-6);
        seen++;
    }
    assert_int_equal(seen, samples);
    assert_int_equal(exits, samples);
    free_csv(table);
}

static void check_evacuation(const th_ensemble *ensemble) {
    csv *table = read_csv("evacuation.csv");
    assert_int_equal(table->columns, 7);
    for (int r = 0; r < table->rows; ++r) {
        assert_near(value(table, r, "time_s"), r, 1e-9);
        assert_near(value(table, r, "inside") + value(table, r, "left"), 60.0, 0.0);
        double mean = 0.0;
        for (int run = 0; run < 3; ++run) {
            const th_run_summary *summary = &ensemble->runs[run];
            mean += (r < summary->sample_count ? summary->left_curve[r] : 60.0) / 3.0;
        }
        assert_near(value(table, r, "left_mean"), mean, 1e-6);
        assert_true(value(table, r, "left_p05") <= value(table, r, "left_p95"));
    }
    assert_near(value(table, table->rows - 1, "left_mean"), 60.0, 0.0); // all the way to the end
    free_csv(table);
}

static void check_people(const th_ensemble *ensemble) {
    csv *table = read_csv("people.csv");
    assert_int_equal(table->rows, 60);
    double last = 0.0;
    for (int r = 0; r < table->rows; ++r) {
        assert_near(value(table, r, "id"), r + 1, 0.0);
        assert_string_equal(field(table, r, "group"), "p");
        assert_string_equal(field(table, r, "exit"), "out");
        assert_true(value(table, r, "path_m") > 4.0);
        const th_person *person = &ensemble->first->people[r];
        assert_near(value(table, r, "seconds_above_4"), (double)person->exposure[0], 1e-5);
        assert_near(value(table, r, "seconds_above_7"), (double)person->exposure[1], 1e-5);
        assert_near(value(table, r, "seconds_above_8"), (double)person->exposure[2], 1e-5);
        assert_string_equal(field(table, r, "peak_pressure_m2_per_s"), ""); // not that model
        last = fmax(last, value(table, r, "end_s"));
    }
    assert_near(last, ensemble->runs[0].egress_time, 1e-4);
    free_csv(table);
}

static void check_runs(const th_ensemble *ensemble) {
    csv *table = read_csv("runs.csv");
    assert_int_equal(table->rows, 3);
    for (int r = 0; r < 3; ++r) {
        assert_near(value(table, r, "seed"), r + 1, 0.0);
        assert_near(value(table, r, "egress_time_s"), ensemble->runs[r].egress_time, 1e-6);
        assert_near(value(table, r, "left"), 60.0, 0.0);
        assert_int_equal(strtoull(field(table, r, "hash"), NULL, 16), ensemble->runs[r].hash);
    }
    free_csv(table);
}

// Everything about pressure and exposure against the maps and people themselves.
static void check_pressures(const json_t *root, const th_ensemble *ensemble) {
    const th_map *map = &ensemble->maps[0];
    const json_t *crowd = json_object_get(root, "crowd_pressure");
    double x = json_number_value(json_object_get(crowd, "x_m")),
           y = json_number_value(json_object_get(crowd, "y_m")),
           highest = json_number_value(json_object_get(crowd, "highest_per_s2")), largest = 0.0;
    for (int c = 0; c < map->nx * map->ny; ++c)
        largest = fmax(largest, (double)map->crowd_pressure_max[c]);
    int cell = (int)(y / 0.5) * map->nx + (int)(x / 0.5);
    assert_true(highest > 0.0);
    assert_near(highest, largest, 1e-6);
    assert_near((double)map->crowd_pressure_max[cell], largest, 0.0);
    assert_true(
        json_is_null(json_object_get(json_object_get(root, "pressure"), "highest_m2_per_s")));
    const json_t *list = json_object_get(json_object_get(root, "first_run"), "exposure");
    assert_int_equal(json_array_size(list), TH_EXPOSURES);
    for (int k = 0; k < TH_EXPOSURES; ++k) {
        const json_t *one = json_array_get(list, (size_t)k);
        double seconds[60], sum = 0.0;
        int people = 0;
        for (int p = 0; p < 60; ++p) {
            seconds[p] = (double)ensemble->first->people[p].exposure[k];
            sum += seconds[p];
            people += seconds[p] > 0.0;
        }
        th_sample_summary s = th_summarise(seconds, 60);
        assert_int_equal(json_integer_value(json_object_get(one, "people")), people);
        assert_near(json_number_value(json_object_get(one, "mean_s")), sum / 60.0, 1e-6);
        assert_near(json_number_value(json_object_get(one, "p95_s")), s.p95, 1e-6);
        assert_near(json_number_value(json_object_get(one, "max_s")), s.max, 1e-6);
        if (k == 0) assert_true(people > 5);
    }
}

static void check_summary(const th_ensemble *ensemble, int crossed_last) {
    char *bytes = read_file("summary.json");
    json_t *root = json_loads(bytes, 0, NULL);
    assert_non_null(root);
    double mean = 0.0;
    for (int r = 0; r < 3; ++r) mean += ensemble->runs[r].egress_time / 3.0;
    json_t *egress = json_object_get(root, "egress_time_s"),
           *first = json_object_get(root, "first_run");
    assert_near(json_number_value(json_object_get(egress, "mean")), mean,
                1e-5); // seven digits are written
    assert_int_equal(json_integer_value(json_object_get(egress, "count")), 3);
    assert_string_equal(json_string_value(json_object_get(json_object_get(root, "scene"), "name")),
                        "tables, \"quoted\"");
    assert_int_equal(json_array_size(json_object_get(root, "runs")), 3);
    assert_string_equal(json_string_value(json_array_get(json_object_get(root, "overrides"), 0)),
                        "groups[0].count=60");
    json_t *door = json_array_get(json_object_get(first, "doors"), 0);
    long long net = json_integer_value(json_object_get(door, "backward")) -
                    json_integer_value(json_object_get(door, "forward"));
    assert_int_equal(net, crossed_last);
    double first_s = json_number_value(json_object_get(door, "first_s")),
           last_s = json_number_value(json_object_get(door, "last_s"));
    double all = (double)json_integer_value(json_object_get(door, "backward")) +
                 (double)json_integer_value(json_object_get(door, "forward"));
    assert_near(json_number_value(json_object_get(door, "flow_per_s")),
                (all - 1.0) / (last_s - first_s), 1e-6);
    // The densest place is in front of the gate or of the exit, and it is where the map says.
    json_t *density = json_object_get(root, "density");
    double x = json_number_value(json_object_get(density, "x_m")),
           y = json_number_value(json_object_get(density, "y_m")),
           highest = json_number_value(json_object_get(density, "highest_per_m2"));
    const th_map *map = &ensemble->maps[0];
    int cell = (int)(y / 0.5) * map->nx + (int)(x / 0.5);
    assert_near((double)map->density_max[cell], highest, 1e-5);
    assert_true(highest > 1.5 && highest < 8.0);
    json_t *jam = json_object_get(first, "jam_time_s");
    double jam_sum = 0.0, jam_max = 0.0;
    for (int p = 0; p < 60; ++p) {
        jam_sum += (double)ensemble->first->people[p].jam_time;
        jam_max = fmax(jam_max, (double)ensemble->first->people[p].jam_time);
    }
    assert_near(json_number_value(json_object_get(jam, "mean")), jam_sum / 60.0, 1e-5);
    assert_near(json_number_value(json_object_get(jam, "max")), jam_max, 1e-5);
    json_t *area = json_array_get(json_object_get(first, "areas"), 0);
    assert_near(json_number_value(json_object_get(area, "area_m2")), 4.0, 1e-6);
    assert_true(json_is_array(json_object_get(root, "findings")));
    check_pressures(root, ensemble);
    json_decref(root);
    free(bytes);
}

static void tables_of_three_runs(void **state) {
    (void)state;
    th_scene *scene = scene_of(room);
    th_ensemble ensemble;
    int crossed[1000] = {0};
    th_ensemble_init(&ensemble);
    for (uint64_t seed = 1; seed <= 3; ++seed)
        add_run(&ensemble, scene, seed, 3000, seed == 1 ? crossed : NULL);
    int samples = ensemble.first->sample_count;
    th_report_def def = report_of(scene, &ensemble);
    write_tables(&def);
    check_gate(crossed, samples);
    check_evacuation(&ensemble);
    check_people(&ensemble);
    check_runs(&ensemble);
    check_summary(&ensemble, 60);
    csv *runs = read_csv("runs.csv"); // no model here makes any agent fall
    assert_string_equal(field(runs, 0, "people_fallen"), "");
    free_csv(runs);
    csv *areas = read_csv("areas.csv");
    assert_int_equal(areas->rows, samples);
    // An empty area has a density of 0 and no speed.
    assert_near(value(areas, areas->rows - 1, "density_per_m2"), 0.0, 0.0);
    assert_string_equal(field(areas, areas->rows - 1, "speed_m_per_s"), "");
    free_csv(areas);
    th_ensemble_release(&ensemble);
    th_scene_destroy(scene);
}

static bool found(const th_findings *findings, const char *words) {
    int count;
    const th_finding *list = th_findings_list(findings, &count);
    for (int i = 0; i < count; ++i)
        if (strstr(list[i].text, words)) return true;
    return false;
}

// A closed door: no agent gets out, and the warnings name groups and places.
static void people_that_cannot_leave(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels":[{"id":"room", "walkable":{"rect":[0,0,12,8]},
            "walls":[[[8,0],[8,3]],[[8,5],[8,8]]]}],
        "doors":[{"id":"gate", "line":[[8,3],[8,5]], "closed":true}],
        "exits":[{"id":"out", "line":[[12,3],[12,5]]}],
        "groups":[{"id":"stuck", "count":20, "area":{"rect":[1,1,7,7]}, "to":"out"},
            {"id":"free", "count":5, "area":{"rect":[9,1,11,7]}, "to":"out"}]}));
    th_ensemble ensemble;
    th_ensemble_init(&ensemble);
    add_run(&ensemble, scene, 1, 300, NULL);
    th_report_def def = report_of(scene, &ensemble);
    def.recording_trouble = "the disk is full";
    write_tables(&def);
    th_findings *findings;
    assert_int_equal(th_run_findings(def.scene, &ensemble, def.recording_trouble, &findings, NULL),
                     TH_OK);
    assert_true(found(findings, "20 people of group \"stuck\" never arrived"));
    assert_true(found(findings, "In this run 20 of 25 people had not got out"));
    assert_true(found(findings, "the disk is full"));
    assert_false(found(findings, "free\""));
    char *bytes = read_file("summary.json");
    json_t *root = json_loads(bytes, 0, NULL), *first = json_object_get(root, "first_run");
    json_t *behind = json_object_get(first, "left_behind");
    json_t *group = json_array_get(json_object_get(behind, "groups"), 0);
    assert_int_equal(json_integer_value(json_object_get(behind, "count")), 20);
    double x = json_number_value(json_object_get(group, "x_m")), nearest = 1.0;
    for (int i = 0; i < 20; ++i)
        nearest = fmin(nearest, fabs((double)ensemble.first->left_behind[i].x - x));
    assert_true(nearest < 1e-3); // one of them stands there
    assert_true(json_is_null(json_object_get(json_object_get(root, "egress_time_s"), "mean")));
    assert_int_equal(json_array_size(json_object_get(root, "findings")), findings->count);
    csv *people = read_csv("people.csv");
    assert_string_equal(field(people, 0, "end_s"), "");
    assert_string_equal(field(people, 0, "exit"), "");
    free_csv(people);
    json_decref(root);
    free(bytes);
    th_findings_destroy(findings);
    th_ensemble_release(&ensemble);
    th_scene_destroy(scene);
}

// Two lie from the beginning, one of them for good; agents that walk do not fall.
static void people_that_fell(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels":[{"id":"room", "walkable":{"rect":[0,0,12,8]}}],
        "exits":[{"id":"out", "line":[[12,3],[12,5]]}],
        "groups":[
            {"id":"down", "positions":[[3.3,6.1]], "to":"out",
                "move":{"model":"hidac", "lies":1}},
            {"id":"up", "positions":[[9,1]], "to":"out",
                "move":{"model":"hidac", "lies":1, "gets_up":3}},
            {"id":"walks", "count":3, "area":{"rect":[7,3,11,5]}, "to":"out", "move":"hidac"}],
        "run":{"max_time":30}}));
    th_ensemble ensemble;
    th_ensemble_init(&ensemble);
    add_run(&ensemble, scene, 1, 600, NULL);
    th_report_def def = report_of(scene, &ensemble);
    write_tables(&def);
    csv *runs = read_csv("runs.csv"), *people = read_csv("people.csv");
    assert_near(value(runs, 0, "people_fallen"), 2, 0);
    assert_near(value(runs, 0, "people_lying"), 1, 0);
    assert_near(value(runs, 0, "left"), 4, 0);
    assert_near(value(people, 0, "fallen_s"), ensemble.runs[0].time, 1.0);
    assert_near(value(people, 1, "fallen_s"), 3, 0.6); // half a sample at either end
    for (int p = 2; p < 5; ++p) assert_near(value(people, p, "fallen_s"), 0, 0);
    char *bytes = read_file("summary.json");
    json_t *root = json_loads(bytes, 0, NULL), *fell = json_object_get(root, "casualties");
    assert_near(json_number_value(json_object_get(fell, "mean_people_fallen")), 2, 0);
    assert_int_equal(json_integer_value(json_object_get(fell, "most_people_lying")), 1);
    assert_near(json_number_value(json_object_get(fell, "x_m")), 3.25, 1e-3); // middle of the cell
    assert_near(json_number_value(json_object_get(fell, "y_m")), 6.25, 1e-3);
    th_findings *findings;
    assert_int_equal(th_run_findings(def.scene, &ensemble, def.recording_trouble, &findings, NULL),
                     TH_OK);
    assert_true(found(
        findings, "In this run 2 people fell, and lay longest near (3.2, 6.2); 1 of them lay on "
                  "the ground at the end"));
    th_findings_destroy(findings);
    json_decref(root);
    free(bytes);
    free_csv(runs);
    free_csv(people);
    th_ensemble_release(&ensemble);
    th_scene_destroy(scene);
}

static void odd_fields(void **state) {
    (void)state;
    const char *locales[] = {"C", "de_DE.UTF-8", "fr_FR.UTF-8"}; // those that are installed
    for (int l = 0; l < 3; ++l) {
        if (!setlocale(LC_NUMERIC, locales[l])) continue;
        th_table_file table;
        th_table_open(&table, folder, "odd.csv");
        th_table_text(&table, "a,\"b\"\nc");
        th_table_number(&table, -1234.5);
        th_table_number(&table, (double)NAN);
        th_table_number(&table, 1e-7);
        th_table_count(&table, UINT64_MAX);
        th_table_text(&table, NULL);
        th_table_end_row(&table);
        assert_int_equal(th_table_close(&table, NULL), TH_OK);
        char *bytes = read_file("odd.csv");
        assert_string_equal(bytes, "\"a,\"\"b\"\"\nc\",-1234.5,,1e-07,18446744073709551615,\n");
        free(bytes);
        // Ids come from scene files, and a spreadsheet obeys formulas.
        static const char *const texts[] = {"=1+1", "@SUM(A1)", "+x", "-1+1", "-",
                                            "\tx",  "-1.5e3",   "+7", "a=b",  "-0,5"};
        th_table_open(&table, folder, "odd.csv");
        for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i) th_table_text(&table, texts[i]);
        assert_int_equal(th_table_close(&table, NULL), TH_OK);
        bytes = read_file("odd.csv");
        assert_string_equal(bytes, "'=1+1,'@SUM(A1),'+x,'-1+1,'-,'\tx,-1.5e3,+7,a=b,\"'-0,5\"");
        free(bytes);
    }
    setlocale(LC_NUMERIC, "C");
}

static void full_disk(void **state) {
    (void)state;
    th_error error = {0};
    th_table_file table;
    th_table_open(&table, "/nowhere/at/all", "runs.csv");
    th_table_text(&table, "x");
    assert_int_equal(th_table_close(&table, &error), TH_NO_FILE);
    assert_string_equal(error.file, "/nowhere/at/all/runs.csv");
    // /dev/full takes the place of the file beside.
    char link[128];
    snprintf(link, sizeof link, "%s/odd.csv.part", folder);
    if (access("/dev/full", W_OK) != 0) return;
    assert_int_equal(symlink("/dev/full", link), 0);
    th_table_open(&table, folder, "odd.csv");
    for (int i = 0; i < 10000; ++i) th_table_number(&table, i);
    assert_int_equal(th_table_close(&table, &error), TH_NO_FILE);
    assert_non_null(strstr(error.message, "No space left"));
    assert_non_null(strstr(error.file, "odd.csv"));
    assert_int_not_equal(access(link, F_OK), 0); // nothing left behind
}

// A run that ends while people are still to come blames none of those that came: all are out.
static void people_to_come(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels":[{"id":"room", "walkable":{"rect":[0,0,8,6]}}],
        "exits":[{"id":"out", "line":[[8,2],[8,4]]}],
        "groups":[{"id":"late", "area":{"rect":[1,1,6,5]}, "source":{"timetable":[[0,5],[60,7]]}, "to":"out"}]}));
    th_ensemble ensemble;
    th_ensemble_init(&ensemble);
    add_run(&ensemble, scene, 1, 300, NULL);
    th_findings *findings;
    assert_int_equal(th_run_findings(th_scene_view_of(scene), &ensemble, NULL, &findings, NULL),
                     TH_OK);
    assert_true(found(findings, "before 7 people whom its sources announce had come"));
    assert_false(found(findings, "had not got out"));
    th_findings_destroy(findings);
    th_ensemble_release(&ensemble);
    th_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_of_three_runs), cmocka_unit_test(people_that_cannot_leave),
        cmocka_unit_test(people_to_come),       cmocka_unit_test(people_that_fell),
        cmocka_unit_test(odd_fields),           cmocka_unit_test(full_disk),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
