// Sweeps: combination after combination, seeds side by side; rows.c keeps the finished runs.
// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/memory.h"
#include "report/figures.h"
#include "report/report.h"
#include "run/runs.h"
#include "throng/run.h"
#include "throng/scene_view.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- lists of values and their combinations

static bool add_value(th_vary *item, const char *text, size_t length) {
    while (length > 0 && *text == ' ') ++text, --length;
    while (length > 0 && text[length - 1] == ' ') --length;
    int most = item->distribution ? TH_SAMPLE_POINTS : TH_VARY_VALUES;
    if (item->count == most || length == 0) return false;
    if (!TH_RESERVE_ONE(item->values, item->count)) return false;
    item->values[item->count] = strndup(text, length);
    return item->values[item->count] != NULL && ++item->count > 0;
}

// "0.8..1.6:5"; false: it is no range, `bad` when it nearly is one.
static bool add_range(th_vary *item, const char *text, bool *bad) {
    *bad = false;
    const char *dots = strstr(text, "..");
    if (!dots) return false;
    char *end = NULL;
    double low = strtod(text, &end);
    // strtod takes the first dot of "1..2" for a decimal point.
    bool good = end != text && (end == dots || end == dots + 1);
    const char *second = dots + 2;
    double high = strtod(second, &end);
    good = good && end != second && *end == ':' && isfinite(low) && isfinite(high);
    const char *number = end ? end + 1 : second;
    long count = good ? strtol(number, &end, 10) : 0;
    good = good && end != number && *end == '\0' && count >= 2 && count <= TH_VARY_VALUES;
    *bad = !good;
    for (long i = 0; i < count && good; ++i) {
        char value[40];
        double share = (double)i / (double)(count - 1);
        // Ten digits: 0.8 + 0.2 reads 1, and no width needs more.
        snprintf(value, sizeof value, "%.10g", i == count - 1 ? high : low + share * (high - low));
        good = add_value(item, value, strlen(value));
    }
    return good;
}

// Commas inside brackets and quotes belong to a value: "[[0,1],[0,2]],[[0,1],[0,3]]" are two lines.
static bool add_list(th_vary *item, const char *text) {
    int depth = 0;
    bool quoted = false;
    const char *from = text;
    for (const char *at = text;; ++at) {
        if (*at == '\0' || (*at == ',' && depth == 0 && !quoted)) {
            if (!add_value(item, from, (size_t)(at - from))) return false;
            if (*at == '\0') return true;
            from = at + 1;
        } else if (*at == '"') {
            quoted = !quoted;
        } else if (!quoted) {
            depth += (*at == '[' || *at == '{') - (*at == ']' || *at == '}');
        }
    }
}

static bool count_combinations(th_variation *variation) {
    long long product = 1;
    if (variation->sampled) {
        variation->combinations = variation->items[0].count;
        for (int i = 1; i < variation->count; ++i)
            if (variation->items[i].count != variation->combinations) return false;
        return variation->combinations > 0;
    }
    for (int i = 0; i < variation->count; ++i) {
        product *= variation->items[i].count;
        if (product > TH_VARY_COMBINATIONS) return false;
    }
    variation->combinations = (int)product;
    return product > 0;
}

// Refuses text that is not UTF-8: sweep.json could not hold it.
static bool is_text(const char *text) {
    json_t *kept = json_string(text);
    json_decref(kept);
    return kept != NULL;
}

// The path before the '='; returns what is behind it, or NULL.
static const char *read_path(th_vary *item, const char *text) {
    const char *equals = strchr(text, '=');
    item->path = equals ? strndup(text, (size_t)(equals - text)) : NULL;
    return equals && equals != text && item->path ? equals + 1 : NULL;
}

static bool read_one(th_vary *item, const char *text) {
    bool bad_range = false;
    const char *values = read_path(item, text);
    bool good = values != NULL;
    if (good && !add_range(item, values, &bad_range)) good = !bad_range && add_list(item, values);
    return good;
}

typedef bool read_vary(th_vary *item, const char *text);

static th_result read_items(th_variation *variation, const char *const *texts, int count,
                            read_vary *read, const char *how, th_error *error) {
    *variation = (th_variation){0};
    if (count > TH_VARY_PATHS)
        return th_fail(error, TH_BAD_ARGUMENT, "vary", "is given %d times; at most %d", count,
                       TH_VARY_PATHS);
    for (int i = 0; i < count; ++i) {
        variation->count = i + 1;
        if (!is_text(texts[i]))
            return th_fail(error, TH_BAD_ARGUMENT, "vary",
                           "text %d is not UTF-8; write it in UTF-8", i + 1);
        if (!read(&variation->items[i], texts[i]))
            return th_fail(error, TH_BAD_ARGUMENT, "vary", "%s: give %s", texts[i], how);
        for (int k = 0; k < i; ++k)
            if (strcmp(variation->items[k].path, variation->items[i].path) == 0)
                return th_fail(error, TH_BAD_ARGUMENT, "vary", "%s is given twice",
                               variation->items[i].path);
    }
    return TH_OK;
}

th_result th_variation_read(th_variation *variation, const char *const *texts, int count,
                            th_error *error) {
    th_result result = read_items(variation, texts, count, read_one,
                                  "path=value,value,... or path=low..high:number, like "
                                  "doors.main.width=0.8..1.6:5; at most 1000 values",
                                  error);
    if (result != TH_OK || count_combinations(variation)) return result;
    return th_fail(error, TH_BAD_ARGUMENT, "vary", "makes more than %d combinations; fewer values",
                   TH_VARY_COMBINATIONS);
}

// ---- samples: distributions instead of lists, and points drawn from all of them

static bool read_distribution(th_vary *item, const char *text) {
    th_input input;
    bool bad = false;
    const char *given = read_path(item, text);
    item->distribution = given ? strdup(given) : NULL;
    if (!item->distribution) return false;
    item->listed = !th_input_read(&input, given, &bad);
    return !item->listed || (!bad && add_list(item, given));
}

// "sobol:64"
static th_result read_sample(const char *text, th_sampling *method, int *count, th_error *error) {
    static const char *const names[] = {"", "lhs:", "sobol:"};
    for (int m = TH_SAMPLING_LHS; m <= TH_SAMPLING_SOBOL; ++m) {
        size_t length = strlen(names[m]);
        if (strncmp(text, names[m], length) != 0) continue;
        char *end = NULL;
        long number = strtol(text + length, &end, 10);
        if (end == text + length || *end || number < 2 || number > TH_SAMPLE_POINTS) break;
        *method = (th_sampling)m;
        *count = (int)number;
        return TH_OK;
    }
    return th_fail(error, TH_BAD_ARGUMENT, "sample",
                   "%s: give lhs:N or sobol:N with 2 to %d points, like sobol:64", text,
                   TH_SAMPLE_POINTS);
}

static bool draw_values(th_vary *item, const double *points, int stride, int count) {
    th_vary drawn = {.distribution = item->distribution};
    th_input input;
    bool bad, good = true;
    if (!item->listed) good = th_input_read(&input, item->distribution, &bad);
    for (int k = 0; k < count && good; ++k) {
        char text[40];
        double u = points[k * stride];
        // Seven digits, and no trailing zeros: no scene needs more.
        if (!item->listed) snprintf(text, sizeof text, "%.7g", th_input_value(&input, u));
        const char *value = item->listed ? item->values[(int)(u * item->count)] : text;
        good = add_value(&drawn, value, strlen(value));
    }
    for (int k = 0; k < item->count; ++k) free(item->values[k]);
    free(item->values);
    item->values = drawn.values;
    item->count = drawn.count;
    return good;
}

th_result th_variation_draw(th_variation *variation, const char *const *texts, int count,
                            const char *sample, uint64_t seed, th_error *error) {
    th_sampling method = TH_SAMPLING_NONE;
    int number = 0;
    th_result result =
        read_items(variation, texts, count, read_distribution,
                   "path=low..high, path=whole:LOW:HIGH, path=normal:MEAN:SD, "
                   "path=lognormal:MEAN:SD, path=triangular:LOW:MODE:HIGH or path=value,value,...",
                   error);
    if (result == TH_OK) result = read_sample(sample, &method, &number, error);
    if (result != TH_OK) return result;
    if (count == 0)
        return th_fail(error, TH_BAD_ARGUMENT, "sample",
                       "draws values of --vary, and there is none; give --vary path=low..high");
    if (number < 1 || number < 2 * (count + 1))
        return th_fail(error, TH_BAD_ARGUMENT, "sample",
                       "%s: too few points to tell %d values apart; give at least %d", sample,
                       count, 2 * (count + 1));
    double *points = malloc((size_t)number * (size_t)count * sizeof *points);
    bool good = points && th_sampling_fill(method, seed, number, count, points);
    for (int i = 0; i < count && good; ++i)
        good = draw_values(&variation->items[i], points + i, count, number);
    free(points);
    variation->sampled = true;
    if (good && count_combinations(variation)) return TH_OK;
    return th_fail(error, TH_NO_MEMORY, "sample", "no memory for %d points", number);
}

void th_variation_release(th_variation *variation) {
    for (int i = 0; i < variation->count; ++i) {
        th_vary *item = &variation->items[i];
        for (int k = 0; k < item->count; ++k) free(item->values[k]);
        free(item->values);
        free(item->path);
        free(item->distribution);
    }
    *variation = (th_variation){0};
}

// The number of the value that combination `k` has for path `item`; the last path changes fastest.
static int choice_of(const th_variation *variation, int k, int item) {
    if (variation->sampled) return k;
    for (int i = variation->count - 1; i > item; --i) k /= variation->items[i].count;
    return k % variation->items[item].count;
}

const char *th_variation_value(const th_variation *variation, int k, int item) {
    return variation->items[item].values[choice_of(variation, k, item)];
}

json_t *th_variation_json(const th_variation *variation) {
    json_t *list = json_array();
    for (int i = 0; i < variation->count; ++i) {
        const th_vary *item = &variation->items[i];
        json_t *values = json_array();
        for (int k = 0; k < item->count; ++k)
            json_array_append_new(values, json_string(item->values[k]));
        json_t *object = json_pack("{s:s,s:o}", "path", item->path, "values", values);
        if (item->distribution) {
            json_object_set_new(object, "distribution", json_string(item->distribution));
            json_object_set_new(object, "listed", json_boolean(item->listed));
        }
        json_array_append_new(list, object);
    }
    return list;
}

bool th_variation_of_json(th_variation *variation, const json_t *json) {
    *variation = (th_variation){0};
    if (!json_is_array(json) || json_array_size(json) > TH_VARY_PATHS) return false;
    for (size_t i = 0; i < json_array_size(json); ++i) {
        const json_t *object = json_array_get(json, i);
        const json_t *values = json_object_get(object, "values");
        const char *path = json_string_value(json_object_get(object, "path"));
        th_vary *item = &variation->items[variation->count++];
        const char *distribution = json_string_value(json_object_get(object, "distribution"));
        item->path = path ? strdup(path) : NULL;
        item->distribution = distribution ? strdup(distribution) : NULL;
        item->listed = json_is_true(json_object_get(object, "listed"));
        variation->sampled = distribution != NULL;
        // A sample is all of distributions.
        if (!item->path || !distribution != !variation->items[0].distribution) return false;
        for (size_t k = 0; k < json_array_size(values); ++k) {
            const char *text = json_string_value(json_array_get(values, k));
            if (!text || !add_value(item, text, strlen(text))) return false;
        }
    }
    return count_combinations(variation);
}

static const double RUNS_MOST = 1e7; // of all combinations: each takes memory from the start
enum { RUNS_DEFAULT = 10 }; // of a combination: enough to see the spread, few enough to wait for

// ---- preparing

// The scene with the values of combination `k` on top of some overrides.
static th_result load(const char *file, const th_texts *overrides, const th_variation *variation,
                      int k, bool allow_links, th_scene **scene, th_error *error) {
    char *texts[TH_VARY_PATHS] = {0};
    int count = 0;
    const char **all = calloc((size_t)overrides->count + TH_VARY_PATHS, sizeof *all);
    bool good = all != NULL;
    for (int i = 0; i < overrides->count && good; ++i) all[count++] = overrides->items[i];
    for (int i = 0; i < variation->count && good; ++i) {
        good = asprintf(&texts[i], "%s=%s", variation->items[i].path,
                        th_variation_value(variation, k, i)) > 0;
        if (good) all[count++] = texts[i];
    }
    const th_scene_options options = {
        .overrides = all, .override_count = count, .allow_links = allow_links};
    th_result result = good ? th_scene_load_file(file, &options, scene, error)
                            : th_fail(error, TH_NO_MEMORY, "", "no memory for the scene");
    for (int i = 0; i < TH_VARY_PATHS; ++i) free(texts[i]);
    free(all);
    return result;
}

// The identity of a sweep: runs in a folder of another one are not used.
static json_t *definition_of(const th_runs *runs, uint64_t digest) {
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, digest);
    return json_pack("{s:s,s:s,s:o,s:i,s:f}", "version", th_version(), "scene_digest", text, "vary",
                     th_variation_json(&runs->variation), "runs", runs->info.runs, "until_ci",
                     runs->info.until_ci);
}

// The points at which a value is smallest or largest make scenes, too: a distribution that leaves the range of a value is
// told before the first run.
static th_result check_extremes(const char *file, const th_texts *sets,
                                const th_variation *variation, bool allow_links, th_error *error) {
    th_result result = TH_OK;
    for (int i = 0; i < variation->count && result == TH_OK; ++i) {
        const th_vary *item = &variation->items[i];
        if (item->listed) continue;
        int ends[2] = {0, 0};
        for (int k = 1; k < item->count; ++k) {
            double value = strtod(item->values[k], NULL);
            if (value < strtod(item->values[ends[0]], NULL)) ends[0] = k;
            if (value > strtod(item->values[ends[1]], NULL)) ends[1] = k;
        }
        for (int e = 0; e < 2 && result == TH_OK; ++e) {
            th_scene *scene = NULL;
            result = load(file, sets, variation, ends[e], allow_links, &scene, error);
            th_scene_destroy(scene);
        }
    }
    return result;
}

// sweep.json, and the scene as the folder will have it.
static th_result describe(th_runs *runs, const th_runs_def *def, const th_scene_view *scene,
                          th_error *error) {
    const th_texts sets = {def->sets, def->set_count};
    const th_scene_changes changes = {def->seed, 0, def->step, def->max_time};
    runs->tree = th_scene_tree(def->scene, &sets, &changes, scene, error);
    if (!runs->tree) return error->code;
    runs->first_seed = def->seed > 0 ? def->seed : scene->run.seed;
    json_t *about = json_pack("{s:s,s:s,s:s,s:s,s:s,s:I,s:o}", "program", "throng", "scene",
                              scene->name, "scene_file", def->scene, "command_line",
                              def->command_line ? def->command_line : "", "state", "running",
                              "first_seed", (json_int_t)runs->first_seed, "definition",
                              definition_of(runs, th_scene_digest(runs->tree, def->scene)));
    if (about && def->sample)
        json_object_set_new(json_object_get(about, "definition"), "sample",
                            json_string(def->sample));
    if (about && def->plugin_count > 0) json_object_set_new(about, "plugins", th_runs_plugins(def));
    return th_run_folder_begin(&runs->keep, about, error);
}

static th_result check_size(const th_runs *runs, th_error *error) {
    double all = (double)runs->variation.combinations * runs->info.runs;
    if (all <= RUNS_MOST) return TH_OK;
    return th_fail(error, TH_BAD_ARGUMENT, "vary",
                   "%d combinations of %d runs are %.0f runs; at most %.0f",
                   runs->variation.combinations, runs->info.runs, all, RUNS_MOST);
}

th_result th_sweep_create(th_runs *runs, const th_runs_def *def, th_error *error) {
    th_scene *scene = NULL;
    const th_texts sets = {def->sets, def->set_count};
    runs->info.runs = def->runs > 0 ? def->runs : RUNS_DEFAULT;
    uint64_t seed = def->seed > 0 ? def->seed : 1;
    th_result result = def->sample
                           ? th_variation_draw(&runs->variation, def->vary, def->vary_count,
                                               def->sample, seed, error)
                           : th_variation_read(&runs->variation, def->vary, def->vary_count, error);
    if (result == TH_OK) result = check_size(runs, error);
    // The first values must make a scene: a wrong path is reported at once, before a folder is made.
    if (result == TH_OK)
        result = load(def->scene, &sets, &runs->variation, 0, def->allow_links, &scene, error);
    if (result == TH_OK && runs->variation.sampled)
        result = check_extremes(def->scene, &sets, &runs->variation, def->allow_links, error);
    if (result == TH_OK) result = describe(runs, def, th_scene_view_of(scene), error);
    th_scene_destroy(scene);
    return result;
}

th_result th_sweep_scene(const th_runs *runs, int point, th_scene **scene, th_error *error) {
    const th_texts none = {NULL, 0};
    char path[TH_PATH_MAX];
    if (!th_folder_path(&runs->keep.folder, "scene.json", path, sizeof path))
        return th_file_fail(error, runs->keep.folder.path, "the name is too long");
    return load(path, &none, &runs->variation, point, false, scene, error);
}

static th_result check_copy(const th_runs *runs, th_error *error);

th_result th_sweep_open(th_runs *runs, const char *folder, th_error *error) {
    json_t *about = th_folder_read_json(&runs->keep.folder, "sweep.json", error);
    if (!about) return error->code;
    th_result result = th_run_folder_begin(&runs->keep, about, error);
    if (result == TH_OK) result = th_runs_check_plugins(runs, error);
    if (result != TH_OK) return result;
    const json_t *definition = json_object_get(about, "definition");
    const char *version = json_string_value(json_object_get(definition, "version"));
    json_int_t count = json_integer_value(json_object_get(definition, "runs"));
    runs->info.until_ci = json_number_value(json_object_get(definition, "until_ci"));
    runs->first_seed = (uint64_t)json_integer_value(json_object_get(about, "first_seed"));
    bool known = th_variation_of_json(&runs->variation, json_object_get(definition, "vary")) &&
                 count >= 1 && count <= 1000000;
    runs->info.runs = (int)count;
    if (!known || !version) {
        th_file_fail(error, folder, "is damaged; run the sweep again in another folder");
        snprintf(error->file, sizeof error->file, "%.240s/sweep.json", folder);
        return error->code;
    }
    result = check_size(runs, error);
    if (result != TH_OK) return result;
    if (strcmp(version, th_version()) == 0) return check_copy(runs, error);
    return th_file_fail(error, folder,
                        "is a sweep of throng %s and this is %s; runs of both do not mix", version,
                        th_version());
}

// ---- the folder

// The copy in the folder: what a resumed sweep runs.
static void set_copy_digest(th_runs *runs) {
    char text[17], path[TH_PATH_MAX];
    if (!th_folder_path(&runs->keep.folder, "scene.json", path, sizeof path)) return;
    snprintf(text, sizeof text, "%016" PRIx64, th_scene_digest(runs->tree, path));
    json_object_set_new(runs->keep.about, "copy_digest", json_string(text));
}

static th_result check_copy(const th_runs *runs, th_error *error) {
    char text[17], path[TH_PATH_MAX];
    const th_folder *folder = &runs->keep.folder;
    json_t *tree = th_folder_read_json(folder, "scene.json", error);
    if (!tree) return error->code;
    if (!th_folder_path(folder, "scene.json", path, sizeof path)) path[0] = '\0';
    snprintf(text, sizeof text, "%016" PRIx64, th_scene_digest(tree, path));
    json_decref(tree);
    if (strcmp(text, th_run_folder_text(&runs->keep, "copy_digest")) == 0) return TH_OK;
    return th_file_fail(error, path,
                        "it or a file it links to was changed since the sweep began, and runs of "
                        "two scenes do not mix; restore it, or sweep it in another folder");
}

// Whether the folder holds this sweep, to be continued. A different one is an error.
static th_result same_sweep(const th_folder *folder, json_t *about, bool *same, th_error *error) {
    *same = false;
    if (!th_folder_has(folder, "sweep.json")) return TH_OK;
    json_t *old = th_folder_read_json(folder, "sweep.json", error);
    if (!old) return error->code;
    *same =
        json_equal(json_object_get(old, "definition"), json_object_get(about, "definition")) != 0;
    if (*same) json_object_set(about, "copy_digest", json_object_get(old, "copy_digest"));
    json_decref(old);
    if (*same) return TH_OK;
    return th_file_fail(
        error, folder->path,
        "holds another sweep (other scene, values, runs or version); choose another "
        "--out, or --force to replace it");
}

th_result th_sweep_find(th_runs *runs, bool *same, th_error *error) {
    th_result result = same_sweep(&runs->keep.folder, runs->keep.about, same, error);
    return result == TH_OK && *same ? check_copy(runs, error) : result;
}

th_result th_sweep_write(th_runs *runs, th_error *error) {
    th_folder *folder = &runs->keep.folder;
    th_result result = th_scene_copy(folder, runs->tree, runs->info.scene_file, error);
    if (result == TH_OK) set_copy_digest(runs);
    if (result == TH_OK)
        result = th_folder_write_json(folder, "sweep.json", runs->keep.about, error);
    return result;
}

static th_result fill_folder(th_runs *runs, th_error *error) {
    char stem[200], name[220];
    bool same = false;
    th_folder *folder = &runs->keep.folder;
    if (runs->out && !runs->force) {
        snprintf(folder->path, sizeof folder->path, "%s", runs->out);
        th_result result = th_folder_lock(folder, error);
        if (result == TH_OK) result = th_sweep_find(runs, &same, error);
        if (result != TH_OK || same) return result;
    }
    th_file_stem(runs->info.scene_file, stem, sizeof stem);
    snprintf(name, sizeof name, "%s-sweep", stem);
    th_result result = th_folder_claim(folder, runs->out, name, runs->force, error);
    return result == TH_OK ? th_sweep_write(runs, error) : result;
}

// ---- the runs

typedef struct sweeping {
    th_runs *runs;
    th_row_store store;
    int *used;    // runs that count, of each combination
    int *missing; // runs of this one that are to be made, ascending
    int missing_count;
    double *egress; // of the runs looked at, for the interval
    bool enough;    // the interval is narrow
    th_error error; // of the delivered run that was refused
} sweeping;

// In a run's thread, as soon as it is complete: what is on the disk need not be made again.
static th_result keep_run(void *context, int index, const th_simulation *run, th_error *error) {
    sweeping *s = context;
    th_observation *seen = th_observer_observation(run->observer);
    double flow = th_exit_flow(seen);
    th_ensemble alone;
    th_ensemble_init(&alone);
    th_result result = th_ensemble_add(&alone, seen, error);
    if (result == TH_OK) {
        const th_run_outcome row = th_outcome_of(&alone.runs[0], flow);
        result = th_rows_add(&s->store, s->runs->points_done, s->missing[index], &row,
                             &alone.quantities, error);
    }
    th_ensemble_release(&alone);
    return result;
}

// Looks at the runs before `end` in order, as if they had been made one after the other.
static void look_at(sweeping *s, int end) {
    int point = s->runs->points_done, *used = &s->used[point];
    while (*used < end && !s->enough && s->error.code == TH_OK) {
        const th_run_outcome *row = th_rows_get(&s->store, point, *used);
        s->egress[*used] = row->egress_time;
        ++*used;
        s->error.code = th_runs_add(s->runs, row, &s->error);
        th_sample_summary egress = th_summarise(s->egress, *used);
        s->enough = th_runs_enough(&egress, *used, s->runs->info.until_ci);
    }
}

static void tell_waiting(void *context, double simulated) {
    const sweeping *s = context;
    th_runs_tell(s->runs, (th_runs_progress){.moment = TH_RUNS_WAITING,
                                             .time = simulated,
                                             .ci_relative = (double)NAN});
}

static bool count_run(void *context, int index, th_simulation *run) {
    sweeping *s = context;
    if (th_observer_observation(run->observer)->interrupted) return false;
    look_at(s, index + 1 < s->missing_count ? s->missing[index + 1] : s->runs->info.runs);
    th_runs_tell(s->runs,
                 (th_runs_progress){.moment = TH_RUNS_RUN_DONE, .ci_relative = (double)NAN});
    return !s->enough && s->error.code == TH_OK;
}

static th_result make_runs(sweeping *s, const th_scene_view *scene, th_error *error) {
    th_runs *runs = s->runs;
    uint64_t *seeds = malloc((size_t)s->missing_count * sizeof *seeds);
    if (!seeds) return th_fail(error, TH_NO_MEMORY, "", "no memory for the runs of the sweep");
    for (int i = 0; i < s->missing_count; ++i)
        seeds[i] = runs->first_seed + (uint64_t)s->missing[i];
    th_simulation_def simulation = th_simulation_def_of(scene, 0, 0);
    simulation.threads = runs->simulation.threads;
    simulation.backend = runs->simulation.backend;
    const th_jobs jobs = {.simulation = &simulation,
                          .seeds = seeds,
                          .count = s->missing_count,
                          .jobs = runs->jobs,
                          .interrupt = &runs->interrupt,
                          .finished = keep_run,
                          .deliver = count_run,
                          .waiting = tell_waiting,
                          .context = s};
    th_result result = th_jobs_run(&jobs, error);
    free(seeds);
    if (result == TH_OK && s->error.code != TH_OK) *error = s->error;
    return result == TH_OK ? s->error.code : result;
}

static void list_missing(sweeping *s) {
    s->missing_count = 0;
    for (int run = 0; run < s->runs->info.runs; ++run)
        if (!th_rows_has(&s->store, s->runs->points_done, run))
            s->missing[s->missing_count++] = run;
}

// The next point. TH_OK without closing it: interrupted.
static th_result do_combination(sweeping *s, th_error *error) {
    th_runs *runs = s->runs;
    th_scene *scene = NULL;
    int point = runs->points_done, count = runs->info.runs;
    s->enough = false;
    list_missing(s);
    look_at(s, s->missing_count > 0 ? s->missing[0] : count);
    if (s->missing_count > 0 && !s->enough) {
        th_result result = th_sweep_scene(runs, point, &scene, error);
        if (result == TH_OK) result = make_runs(s, th_scene_view_of(scene), error);
        th_scene_destroy(scene);
        if (result != TH_OK) return result;
        if (th_runs_interrupted(runs) && !s->enough && s->used[point] < count) return TH_OK;
    }
    th_runs_close_point(runs);
    return TH_OK;
}

void th_sweep_print_point(FILE *out, const th_runs *runs, int point) {
    const th_runs_point *p = &runs->points[point];
    fprintf(out, "  ");
    for (int i = 0; i < runs->info.path_count; ++i)
        fprintf(out, "%s=%s ", runs->info.paths[i], p->values[i]);
    fprintf(out, "%s%d of %d runs emptied", runs->info.path_count > 0 ? " " : "", p->egress.count,
            p->count);
    if (p->egress.count > 0) fprintf(out, "; egress time mean %.1f s", p->egress.mean);
    if (p->egress.count > 1)
        fprintf(out, " (%.1f .. %.1f), median %.1f s, 95th percentile %.1f s", p->egress.ci_low,
                p->egress.ci_high, p->egress.median, p->egress.p95);
    fputc('\n', out);
}

// ---- the result

static bool fill_point(const th_runs *runs, int k, th_sweep_point *point) {
    const th_runs_point *p = &runs->points[k];
    double *egress = calloc((size_t)p->count + 1, sizeof *egress), jam_sum = 0;
    double *flow = calloc((size_t)p->count + 1, sizeof *flow), max_density = 0;
    bool good = egress && flow;
    for (int i = 0; i < p->count && good; ++i) {
        const th_run_outcome *run = &runs->outcomes[p->first + i];
        egress[i] = run->egress_time;
        flow[i] = run->flow;
        jam_sum += run->mean_jam_time;
        max_density = fmax(max_density, run->max_density);
    }
    if (good)
        *point = (th_sweep_point){.values = p->values,
                                  .runs = p->count,
                                  .egress_times = egress,
                                  .egress = th_summarise(egress, p->count),
                                  .flow = th_summarise(flow, p->count),
                                  .mean_jam_time = p->count > 0 ? jam_sum / p->count : 0,
                                  .max_density = max_density};
    free(flow);
    if (!good) free(egress);
    return good;
}

static th_result write_report(th_runs *runs, const th_sweep_report *report, bool whole,
                              th_error *error) {
    json_t *about = runs->keep.about;
    json_object_set_new(about, "combinations", th_report_sweep_json(report));
    json_object_set_new(about, "state", json_string(whole ? "finished" : "running"));
    th_result result = TH_OK;
    if (result == TH_OK) result = th_report_sweep_table(report, error);
    if (result == TH_OK && report->sample) result = th_report_sensitivity(report, error);
    if (result == TH_OK) result = th_report_sweep_page(report, error);
    if (result == TH_OK)
        result = th_folder_write_json(&runs->keep.folder, "sweep.json", about, error);
    return result;
}

// What the report asks for all quantities.
typedef struct figure_source {
    const th_runs *runs;
    const th_row_store *store;
} figure_source;

static void fill_figure(const void *context, int title, double *values) {
    const figure_source *from = context;
    const th_runs *runs = from->runs;
    for (int k = 0; k < runs->info.point_count; ++k)
        for (int run = 0; run < runs->info.runs; ++run)
            values[k * runs->info.runs + run] = run < runs->points[k].count
                                                    ? th_rows_figure(from->store, k, run, title)
                                                    : (double)NAN;
}

static void describe_sample(const th_runs *runs, const char *distributions[TH_VARY_PATHS],
                            bool listed[TH_VARY_PATHS], th_sweep_report *def) {
    const json_t *definition = json_object_get(runs->keep.about, "definition");
    for (int i = 0; i < runs->variation.count; ++i) {
        distributions[i] = runs->variation.items[i].distribution;
        listed[i] = runs->variation.items[i].listed;
    }
    if (!runs->variation.sampled) return;
    const char *sample = json_string_value(json_object_get(definition, "sample"));
    def->sample = sample ? sample : "";
    def->distributions = distributions;
    def->listed = listed;
}

th_result th_sweep_conclude(th_runs *runs, const th_row_store *store, const int *used, bool whole,
                            th_error *error) {
    int count = runs->info.point_count, filled = 0;
    th_sweep_point *points = calloc((size_t)count, sizeof *points);
    while (points && filled < count && fill_point(runs, filled, &points[filled])) ++filled;
    const figure_source source = {runs, store};
    const char *distributions[TH_VARY_PATHS];
    bool listed[TH_VARY_PATHS];
    th_sweep_sensitivity sensitivity = {0};
    th_sweep_report def = {.folder = runs->info.folder,
                           .scene_name = runs->info.scene_name,
                           .scene_file = runs->info.scene_file,
                           .command_line = th_run_folder_text(&runs->keep, "command_line"),
                           .paths = runs->info.paths,
                           .path_count = runs->info.path_count,
                           .points = points,
                           .point_count = count,
                           .runs = runs->info.runs,
                           .titles = store->titles,
                           .title_count = store->title_count,
                           .fill = fill_figure,
                           .context = &source,
                           .sensitivity = &sensitivity};
    describe_sample(runs, distributions, listed, &def);
    th_result result = th_rows_sort(store, used, error);
    if (result == TH_OK) result = th_sweep_sensitivity_make(&def, &sensitivity, error);
    if (result == TH_OK)
        result = filled == count
                     ? write_report(runs, &def, whole, error)
                     : th_fail(error, TH_NO_MEMORY, "", "no memory for the report of the sweep");
    th_sweep_sensitivity_release(&sensitivity);
    for (int i = 0; i < filled; ++i) free((void *)(uintptr_t)points[i].egress_times);
    free(points);
    return result;
}

th_result th_sweep_collect(th_runs *runs, th_error *error) {
    th_result result = TH_OK;
    int points = runs->info.point_count, most = runs->info.runs, missing = 0;
    th_row_store store = {.folder = &runs->keep.folder,
                          .variation = &runs->variation,
                          .first_seed = runs->first_seed,
                          .runs = most};
    int *used = calloc((size_t)points, sizeof *used);
    double *egress = calloc((size_t)most, sizeof *egress);
    result = used && egress ? th_rows_load(&store, true, error)
                            : th_fail(error, TH_NO_MEMORY, "", "no memory for the sweep");
    for (int point = 0; point < points && result == TH_OK; ++point) {
        bool enough = false;
        for (int k = 0, count = 0; k < most && !enough && result == TH_OK; ++k) {
            used[point] = k + 1;
            missing += !th_rows_has(&store, point, k);
            if (!th_rows_has(&store, point, k)) continue;
            const th_run_outcome *row = th_rows_get(&store, point, k);
            egress[count++] = row->egress_time;
            th_sample_summary summary = th_summarise(egress, count);
            enough = th_runs_enough(&summary, count, runs->info.until_ci);
            result = th_runs_add(runs, row, error);
        }
        if (result == TH_OK) th_runs_close_point(runs);
    }
    if (result == TH_OK) result = th_sweep_conclude(runs, &store, used, missing == 0, error);
    runs->info.state = missing > 0 ? TH_RUNS_STATE_INTERRUPTED : TH_RUNS_STATE_FINISHED;
    th_rows_close(&store);
    free(used);
    free(egress);
    return result;
}

static th_result sweep_all(sweeping *s, th_error *error) {
    th_runs *runs = s->runs;
    th_result result = TH_OK;
    bool going = true;
    runs->info.found = s->store.found;
    th_runs_tell(runs, (th_runs_progress){.moment = TH_RUNS_BEGUN, .ci_relative = (double)NAN});
    while (result == TH_OK && going && runs->points_done < runs->info.point_count) {
        int before = runs->points_done;
        if (!th_runs_interrupted(runs)) result = do_combination(s, error);
        going = runs->points_done > before;
    }
    if (result != TH_OK) return result;
    runs->info.state = TH_RUNS_STATE_INTERRUPTED;
    if (!going) return TH_OK;
    result = th_sweep_conclude(runs, &s->store, s->used, true, error);
    if (result == TH_OK) runs->info.state = TH_RUNS_STATE_FINISHED;
    return result;
}

th_result th_sweep_execute(th_runs *runs, th_error *error) {
    if (runs->tree) {
        th_result result = fill_folder(runs, error);
        if (result != TH_OK) return result;
    }
    sweeping s = {.runs = runs};
    size_t count = (size_t)runs->info.runs;
    s.store = (th_row_store){.folder = &runs->keep.folder,
                             .variation = &runs->variation,
                             .first_seed = runs->first_seed,
                             .runs = runs->info.runs,
                             .file = -1};
    s.used = calloc((size_t)runs->info.point_count, sizeof *s.used);
    s.missing = calloc(count, sizeof *s.missing);
    s.egress = calloc(count, sizeof *s.egress);
    th_result result = s.used && s.missing && s.egress
                           ? th_rows_open(&s.store, error)
                           : th_fail(error, TH_NO_MEMORY, "", "no memory for the sweep");
    if (result == TH_OK) result = sweep_all(&s, error);
    th_rows_close(&s.store);
    free(s.used);
    free(s.missing);
    free(s.egress);
    return result;
}
