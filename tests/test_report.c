// The page of a report: well formed, self-contained, every figure there, whatever the run was.
// SPDX-License-Identifier: Apache-2.0
#include "core/memory.h"
#include "observe/observer.h"
#include "report/figures.h"
#include "report/report.h"
#include "support.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- a folder, a scene, runs

typedef struct workshop {
    char folder[64];
    th_scene *scene;
    th_ensemble ensemble;
    th_report_def def;
} workshop;

static workshop *open_workshop(const char *json) {
    workshop *shop = test_calloc(1, sizeof *shop);
    snprintf(shop->folder, sizeof shop->folder, "/tmp/throng_report_XXXXXX");
    assert_non_null(mkdtemp(shop->folder));
    shop->scene = scene_of(json);
    assert_int_equal(th_ensemble_init(&shop->ensemble), TH_OK);
    shop->def = (th_report_def){.scene = th_scene_view_of(shop->scene),
                                .ensemble = &shop->ensemble,
                                .folder = shop->folder,
                                .scene_file = "hall.json",
                                .command_line = "throng run hall.json"};
    return shop;
}

static void path_in(const workshop *shop, char *path, size_t size, const char *name) {
    snprintf(path, size, "%s/%s", shop->folder, name);
}

static void close_workshop(workshop *shop) {
    char path[256];
    for (int i = 0; i < th_figure_count; ++i) {
        char name[64];
        snprintf(name, sizeof name, "figures/%s.png", th_figures[i].name);
        path_in(shop, path, sizeof path, name);
        remove(path);
    }
    const char *others[] = {"report.html", "report.html.part", "figures"};
    for (int i = 0; i < 3; ++i) {
        path_in(shop, path, sizeof path, others[i]);
        remove(path);
    }
    if (rmdir(shop->folder) != 0) fail_msg("%s is not empty", shop->folder);
    th_ensemble_release(&shop->ensemble);
    th_scene_destroy(shop->scene);
    test_free(shop);
}

static void run_once(workshop *shop, uint64_t seed, double limit, bool maps) {
    th_error error = {0};
    th_world *world = world_of(shop->scene, 1, seed);
    th_observer_def def = th_observer_def_default();
    def.maps = maps;
    th_observer *observer = NULL;
    if (th_observer_create(world, &def, &observer, &error)) fail_msg("%s", error.message);
    th_result result = th_observer_see(observer, world, &error);
    while (result == TH_OK && !th_world_done(world) && th_world_time(world) < limit) {
        th_world_step(world, 1);
        result = th_observer_see(observer, world, &error);
    }
    if (result == TH_OK) result = th_observer_finish(observer, world, &error);
    if (result == TH_OK)
        result = th_ensemble_add(&shop->ensemble, th_observer_observation(observer), &error);
    if (result != TH_OK) fail_msg("%s", error.message);
    th_observer_destroy(observer);
    th_world_destroy(world);
}

static char *read_whole(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("%s: %s", path, strerror(errno));
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long length = ftell(file);
    rewind(file);
    char *text = test_calloc((size_t)length + 1, 1);
    assert_int_equal(fread(text, 1, (size_t)length, file), length);
    fclose(file);
    *size = (size_t)length;
    return text;
}

static char *make_page(workshop *shop) {
    th_error error = {0};
    char path[256];
    size_t size = 0;
    if (th_report_page(&shop->def, &error) != TH_OK) fail_msg("%s", error.message);
    path_in(shop, path, sizeof path, "report.html");
    char *page = read_whole(path, &size);
    assert_int_equal(strlen(page), size); // no zero bytes
    return page;
}

// ---- what every page must be

// Every element is closed in order.
static void assert_balanced(const char *page) {
    static const char *const empty[] = {"!DOCTYPE", "meta", "br"};
    char stack[64][32];
    int depth = 0;
    for (const char *at = strchr(page, '<'); at; at = strchr(at + 1, '<')) {
        const char *end = strchr(at, '>');
        assert_non_null(end);
        bool closing = at[1] == '/', self_closed = end[-1] == '/';
        char name[32] = "";
        sscanf(at + 1 + closing, "%31[^ />\n]", name);
        bool is_empty = self_closed;
        for (int i = 0; i < 3; ++i) is_empty = is_empty || strcmp(name, empty[i]) == 0;
        if (closing) {
            if (depth == 0 || strcmp(stack[depth - 1], name) != 0)
                fail_msg("</%s> closes %s", name, depth > 0 ? stack[depth - 1] : "nothing");
            --depth;
        } else if (!is_empty) {
            assert_true(depth < 64);
            memcpy(stack[depth++], name, sizeof name);
        }
        at = end;
    }
    assert_int_equal(depth, 0);
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// All values between `start` and `stop`, sorted. Free each and the list.
static char **values_of(const char *page, const char *start, char stop, int *count) {
    char **values = NULL;
    *count = 0;
    for (const char *at = strstr(page, start); at; at = strstr(at + 1, start)) {
        const char *begin = at + strlen(start), *end = strchr(begin, stop);
        assert_non_null(end);
        assert_true(TH_RESERVE_ONE(values, *count));
        values[(*count)++] = strndup(begin, (size_t)(end - begin));
    }
    if (values) qsort(values, (size_t)*count, sizeof *values, compare_names);
    return values;
}

static void free_values(char **values, int count) {
    for (int i = 0; i < count; ++i) free(values[i]);
    free(values);
}

static void assert_ids_resolve(const char *page) {
    const char *const references[] = {"href=\"#", "url(#"};
    int id_count = 0;
    char **ids = values_of(page, " id=\"", '"', &id_count);
    for (int i = 1; i < id_count; ++i)
        if (strcmp(ids[i - 1], ids[i]) == 0) fail_msg("id %s occurs twice", ids[i]);
    for (int r = 0; r < 2; ++r) {
        int count = 0;
        char **names = values_of(page, references[r], r ? ')' : '"', &count);
        for (int i = 0; i < count; ++i)
            if (!bsearch(&names[i], ids, (size_t)id_count, sizeof *ids, compare_names))
                fail_msg("nothing has the id %s", names[i]);
        free_values(names, count);
    }
    free_values(ids, id_count);
}

// A number that is none, a name that is missing. Embedded images are left out: their letters are chance.
static void assert_no_placeholders(const char *page) {
    static const char *const words[] = {"nan", "inf", "(null)", "null", "-nan"};
    for (size_t w = 0; w < sizeof words / sizeof words[0]; ++w) {
        size_t length = strlen(words[w]);
        for (const char *at = strcasestr(page, words[w]); at; at = strcasestr(at + 1, words[w])) {
            bool alone = !isalnum((unsigned char)at[-1]) && !isalnum((unsigned char)at[length]);
            const char *tag = at, *quote = at;
            while (tag > page && *tag != '<' && *tag != '>') --tag;
            while (quote > tag && *quote != '"') --quote;
            bool image = *tag == '<' && strncmp(quote, "\"data:image", 11) == 0;
            if (alone && !image) fail_msg("%.*s", 60, at - (at - page > 30 ? 30 : at - page));
        }
    }
}

static void assert_self_contained(const char *page) {
    static const char *const outside[] = {"http:", "https:",  "<script", "<link",
                                          "src=",  "@import", "url(\"",  "url('"};
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; ++i)
        if (strstr(page, outside[i])) fail_msg("the page has %s", outside[i]);
}

static bool is_png(const workshop *shop, const char *figure) {
    char path[256], name[64];
    unsigned char head[8] = {0};
    snprintf(name, sizeof name, "figures/%s.png", figure);
    path_in(shop, path, sizeof path, name);
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    bool good = fread(head, 1, 8, file) == 8 && memcmp(head, "\x89PNG\r\n\x1a\n", 8) == 0;
    fclose(file);
    return good;
}

// Every figure that applies is there as SVG and as PNG, and no other.
static int assert_figures(const workshop *shop, const char *page) {
    th_figure_data data;
    th_error error = {0};
    int applying = 0, drawn = 0;
    assert_int_equal(th_figure_data_make(&data, &shop->def, &error), TH_OK);
    for (int i = 0; i < th_figure_count; ++i) {
        char anchor[80];
        bool applies = th_figures[i].applies(&data);
        snprintf(anchor, sizeof anchor, "<figure id=\"figure-%s\"><svg ", th_figures[i].name);
        if ((strstr(page, anchor) != NULL) != applies ||
            is_png(shop, th_figures[i].name) != applies)
            fail_msg("figure %s", th_figures[i].name);
        applying += applies;
    }
    for (const char *at = strstr(page, "<svg "); at; at = strstr(at + 1, "<svg ")) {
        const char *label = strstr(at, "role=\"img\" aria-label=\"");
        assert_true(label && label < strchr(at, '>'));
        ++drawn;
    }
    assert_int_equal(drawn, applying);
    th_figure_data_release(&data);
    return applying;
}

static int check_page(const workshop *shop, const char *page) {
    assert_balanced(page);
    assert_ids_resolve(page);
    assert_no_placeholders(page);
    assert_self_contained(page);
    return assert_figures(shop, page);
}

static void assert_says(const char *page, const char *words) {
    if (!strstr(page, words)) fail_msg("the page does not say: %s", words);
}

// ---- runs of all kinds

static const char hall[] = TH_JSON(
    {"name":"hall",
    "levels":[{"id":"hall", "walkable":{"rect":[0,0,12,8]},
        "walls":[[[8,0],[8,3]],[[8,5],[8,8]]]}],
    "doors":[{"id":"gate", "line":[[8,5],[8,3]]}],
    "exits":[{"id":"east", "line":[[12,3],[12,5]]}],
    "groups":[{"id":"a", "count":30, "area":{"rect":[1,1,7,7]}, "to":"east", "speed":1.2},
        {"id":"b", "count":5, "area":{"rect":[9,1,11,7]}, "to":"east"}],
    "measure":{"lines":[{"id":"line", "line":[[10,0],[10,8]]}], "areas":[{"id":"front",
        "area":{"rect":[6,2,8,6]}}]}});

static void one_run(void **state) {
    (void)state;
    workshop *shop = open_workshop(hall);
    const char *overrides[] = {"groups.0.count=30"};
    shop->def.overrides = overrides;
    shop->def.override_count = 1;
    run_once(shop, 1, 300, true);
    char *page = make_page(shop);
    int figures = check_page(shop, page);
    assert_in_range(figures, 10, th_figure_count);
    assert_says(page, "35 people left within ");
    assert_says(page, "repeat it with <code>--runs 20</code>");
    assert_says(page, "throng run hall.json");
    assert_says(page, "groups.0.count=30");
    // Values that differ from the default are named with the default beside them.
    assert_says(page,
                "<th scope=\"row\">preferred speed</th><td>1.2\xc2\xa0m/s</td><td>normal, mean "
                "1.34, s.d. 0.26, 0.5 to 2.2\xc2\xa0m/s</td><td>a</td>");
    assert_null(strstr(page, "<th scope=\"row\">radius</th>"));
    test_free(page);
    close_workshop(shop);
}

static void three_runs(void **state) {
    (void)state;
    workshop *shop = open_workshop(hall);
    for (uint64_t seed = 1; seed <= 3; ++seed) run_once(shop, seed, 300, true);
    char *page = make_page(shop), expected[160];
    check_page(shop, page);
    th_sample_summary egress = th_ensemble_egress(&shop->ensemble);
    snprintf(
        expected, sizeof expected,
        "35 people left within %.1f\xc2\xa0s (mean of 3 runs, 95\xc2\xa0%% confidence interval "
        "%.1f\xc2\xa0s to %.1f\xc2\xa0s)",
        egress.mean, egress.ci_low, egress.ci_high);
    assert_says(page, expected);
    test_free(page);
    // Written again over the old one.
    page = make_page(shop);
    check_page(shop, page);
    test_free(page);
    close_workshop(shop);
}

// The first sentence must not suggest that all people got out.
static void the_worst_comes_first(void **state) {
    (void)state;
    workshop *shop = open_workshop(hall);
    for (uint64_t seed = 1; seed <= 4; ++seed) run_once(shop, seed, 300, true);
    th_run_summary *runs = shop->ensemble.runs;
    for (int r = 1; r < 3; ++r) {
        runs[r].egress_time = runs[r].p95_time = (double)NAN;
        runs[r].done = false;
        runs[r].inside = (uint64_t)r;
        runs[r].time = 1200;
        runs[r].stuck = (th_stuck){.group = 1, .count = r, .level = 0, .x = 7.5f, .y = 4.0f};
    }
    runs[0].egress_time = runs[3].egress_time = 244.53;
    runs[3].max_flow = 3.2;
    runs[3].max_flow_counter = 0;
    runs[3].overloaded[1] = 5;
    char *page = make_page(shop);
    check_page(shop, page);
    assert_says(page, "<p class=\"headline\">In 2 of 4 runs people stayed inside: up to 2 of "
                      "35 people were still inside after 1\xe2\x80\xaf"
                      "200.0\xc2\xa0s.");
    assert_says(page, "In the other 2 runs all left within 244.5\xc2\xa0s (mean of 2 runs");
    assert_says(
        page, "<li class=\"caution\">In 2 of 4 runs up to 2 of 35 people had not got out when the "
              "time was over (max_time, 1200 s). Mean and interval");
    assert_says(page,
                "2 people of group &quot;b&quot; never arrived in the run with seed 3; one of "
                "them stands near (7.5, 4.0).");
    assert_says(page,
                "In 1 of 4 runs exit &quot;east&quot; (2.00 m) let through up to 3.2 people per "
                "metre and second over 10 s.");
    assert_says(page,
                "In 1 of 4 runs up to 5 people were pressed with more than 1112 N for longer than "
                "60 s");
    test_free(page);
    close_workshop(shop);
}

// A few people who stay do not dilute the shares, and people told to wait are not slow.
static void shares_are_of_the_time_of_use(void **state) {
    (void)state;
    workshop *shop = open_workshop(TH_JSON(
        {"levels":[{"id":"g", "walkable":{"rect":[0,0,10,6]}}],
        "exits":[{"id":"out", "line":[[10,2],[10,4]]}],
        "waiting_areas":[{"id":"bench", "area":{"rect":[0,4,2,6]}, "wait":1000}],
        "groups":[{"id":"a", "count":40, "area":{"rect":[5,1,9,5]}, "to":"out"},
            {"id":"b", "count":1, "area":{"rect":[0.5,4.5,1.5,5.5]}, "to":["bench", "out"]}]}));
    run_once(shop, 1, 400, true);
    const th_run_summary *run = &shop->ensemble.runs[0];
    assert_int_equal(run->inside, 1);
    assert_true(run->use_time > 5 && run->use_time < 60 && run->time > 300);
    assert_true(run->use_time >= run->p95_time);
    const th_map *map = &shop->ensemble.maps[0];
    double waited = 0, walked = 0, seen = 0;
    for (int c = 0; c < map->nx * map->ny; ++c) {
        bool bench = c % map->nx < 4 && c / map->nx >= 8;
        waited += bench ? map->walker_count[c] : 0;
        walked += bench ? 0 : map->walker_count[c];
        seen += bench ? map->person_count[c] : 0;
        assert_true(map->density_late[c] <= map->density_sum[c] + 1e-9);
    }
    assert_true(seen > 300 && waited < 10 && walked > 50);
    close_workshop(shop);
}

static void an_empty_world(void **state) {
    (void)state;
    workshop *shop = open_workshop(TH_JSON({"levels":[{"id":"g","walkable":{"rect":[0,0,5,5]}}]}));
    run_once(shop, 1, 2, true);
    char *page = make_page(shop);
    assert_int_equal(check_page(shop, page), 1); // the plan
    assert_says(page, "No people were simulated");
    test_free(page);
    close_workshop(shop);
}

static void one_person(void **state) {
    (void)state;
    workshop *shop = open_workshop(TH_JSON(
        {"name":"one",
        "exits":[{"id":"e", "line":[[4,-1],[4,1]]}],
        "groups":[{"id":"g", "positions":[[0,0]], "to":"e"}]})); // on an open plane
    for (uint64_t seed = 1; seed <= 2; ++seed) run_once(shop, seed, 60, true);
    char *page = make_page(shop);
    check_page(shop, page);
    assert_says(page, "1 person left within ");
    test_free(page);
    close_workshop(shop);
}

static void no_agent_gets_out(void **state) {
    (void)state;
    workshop *shop = open_workshop(TH_JSON(
        {"name":"shut",
        "levels":[{"id":"g", "walkable":{"rect":[0,0,9,4]},
            "walls":[[[6,0],[6,1]],[[6,3],[6,4]]]}],
        "doors":[{"id":"d", "line":[[6,1],[6,3]], "closed":true}],
        "exits":[{"id":"e", "line":[[9,1],[9,3]]}],
        "groups":[{"id":"g", "count":7, "area":{"rect":[1,1,5,3]}, "to":"e"}]}));
    run_once(shop, 1, 3, true);
    char *page = make_page(shop);
    check_page(shop, page);
    assert_says(page, "7 of 7 people had not left after 3.0\xc2\xa0s.");
    assert_says(page, "<figure id=\"figure-left_behind\">");
    assert_says(page, "<section class=\"warnings\">");
    assert_says(page, "No person left, so there is no distribution");
    test_free(page);
    close_workshop(shop);
}

static void nothing_measured(void **state) {
    (void)state;
    workshop *shop = open_workshop(hall);
    run_once(shop, 1, 0, false); // not a single step, no maps
    char *page = make_page(shop);
    check_page(shop, page);
    assert_says(page, "No map of speeds");
    test_free(page);
    close_workshop(shop);
    shop = open_workshop(hall); // and no run at all
    page = make_page(shop);
    check_page(shop, page);
    assert_says(page, "No run was finished.");
    test_free(page);
    close_workshop(shop);
}

static void strangers_words_stay_words(void **state) {
    (void)state;
    workshop *shop = open_workshop(
        "{\"name\":\"<b>&\\\"\",\"description\":\"</title><script>alert(1)</script>\","
        "\"levels\":[{\"id\":\"<l>\",\"walkable\":{\"rect\":[0,0,6,4]}}],"
        "\"exits\":[{\"id\":\"</svg>\",\"line\":[[6,1],[6,3]]}],"
        "\"groups\":[{\"id\":\"<i>\",\"count\":3,\"area\":{\"rect\":[1,1,4,3]},\"to\":\"</"
        "svg>\"}]}");
    shop->def.command_line = "throng run '<u>' && \"rm\"";
    shop->def.recording_trouble = "<disk> full";
    run_once(shop, 1, 60, true);
    char *page = make_page(shop);
    check_page(shop, page);
    assert_says(page, "<h1>&lt;b&gt;&amp;&quot;</h1>");
    assert_says(page, "&lt;script&gt;alert(1)&lt;/script&gt;");
    assert_says(page, "throng run &#39;&lt;u&gt;&#39; &amp;&amp; &quot;rm&quot;");
    assert_says(page, "&lt;disk&gt; full");
    const char *forbidden[] = {"<b>", "<i>", "<l>", "<u>", "<disk>"};
    for (int i = 0; i < 5; ++i) assert_null(strstr(page, forbidden[i]));
    test_free(page);
    close_workshop(shop);
}

// A million people and ten hours, made by hand: nothing overlaps, nothing takes for ever.
static void a_huge_ensemble(void **state) {
    (void)state;
    enum { SAMPLES = 36001, RUNS = 2 };
    workshop *shop = open_workshop(hall);
    run_once(shop, 1, 1, true);
    th_run_summary *runs = shop->ensemble.runs;
    shop->ensemble.runs = runs = realloc(runs, RUNS * sizeof *runs);
    assert_non_null(runs);
    free(runs[0].left_curve);
    for (int r = 0; r < RUNS; ++r) {
        runs[r] = (th_run_summary){.seed = (uint64_t)r,
                                   .spawned = 1000000,
                                   .left = 1000000,
                                   .egress_time = 36000 - r,
                                   .p95_time = 30000,
                                   .time = 36000,
                                   .done = true,
                                   .sample_count = SAMPLES};
        runs[r].left_curve = malloc(SAMPLES * sizeof(uint32_t));
        assert_non_null(runs[r].left_curve);
        for (int k = 0; k < SAMPLES; ++k)
            runs[r].left_curve[k] = (uint32_t)((int64_t)k * 1000000 / (SAMPLES - 1));
    }
    shop->ensemble.run_count = RUNS;
    char *page = make_page(shop);
    check_page(shop, page);
    assert_says(page, "1\xe2\x80\xaf"
                      "000\xe2\x80\xaf"
                      "000 people left within "
                      "35\xe2\x80\xaf"
                      "999.5\xc2\xa0s");
    assert_true(strlen(page) < 3000000);
    test_free(page);
    close_workshop(shop);
}

// ---- pressure

static const char pen[] =
    TH_JSON(
        {"levels":[{"id":"pen", "walkable":[{"rect":[0,0,10,8]}, {"rect":[10,3.5,13,4.5]}]}],
        "exits":[{"id":"out", "line":[[13,3.5],[13,4.5]]}],
        "groups":[{"id":"p", "count":220, "area":{"rect":[1,1,9,7]}, "to":"out", "move":"%s"}],
        "run":{"step":0.1, "seed":3}});

static bool has_figure(const char *page, const char *name) {
    char anchor[64];
    snprintf(anchor, sizeof anchor, "id=\"figure-%s\"", name);
    return strstr(page, anchor);
}

// The pressure is of one model and shown for that only; the others are of any crowd.
static void pressure_is_shown_where_there_is_one(void **state) {
    (void)state;
    const char *models[] = {"uic", "orca"};
    for (int k = 0; k < 2; ++k) {
        char json[800];
        snprintf(json, sizeof json, pen, models[k]);
        workshop *shop = open_workshop(json);
        run_once(shop, 1, 20, true);
        char *page = make_page(shop);
        check_page(shop, page);
        assert_int_equal(has_figure(page, "pressure"), k == 0);
        // Forces and crowd pressure are of every model, and two figures, one after the other.
        assert_true(has_figure(page, "load"));
        assert_true(has_figure(page, "crowd_pressure"));
        assert_true(has_figure(page, "exposure"));
        if (k == 0) assert_says(page, "It is not a force in newtons");
        if (k == 0) assert_true(shop->ensemble.runs[0].max_pressure > 0.1);
        test_free(page);
        close_workshop(shop);
    }
}

// ---- trouble with files

static void a_folder_that_cannot_be_written_is_an_error(void **state) {
    (void)state;
    workshop *shop = open_workshop(hall);
    char path[256];
    th_error error = {0};
    run_once(shop, 1, 2, true);
    path_in(shop, path, sizeof path, "figures");
    FILE *file = fopen(path, "w"); // a file where the folder should be
    assert_non_null(file);
    fclose(file);
    assert_int_equal(th_report_page(&shop->def, &error), TH_NO_FILE);
    assert_non_null(strstr(error.file, "figures"));
    assert_true(strlen(error.message) > 20);
    shop->def.folder = "/nonexistent/folder";
    assert_int_equal(th_report_page(&shop->def, &error), TH_NO_FILE);
    close_workshop(shop);
}

static void a_full_disk_leaves_the_old_report(void **state) {
    (void)state;
    workshop *shop = open_workshop(hall);
    run_once(shop, 1, 2, true);
    char *page = make_page(shop), path[256];
    size_t length = strlen(page), size = 0;
    // Files may not grow beyond this: figures fit, the page does not.
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = length - 1;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    th_error error = {0};
    shop->def.command_line =
        "another, longer command line, so that the page differs from the old one";
    th_result result = th_report_page(&shop->def, &error);
    small.rlim_cur = 5000; // now figures do not fit either
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    th_error figure_error = {0};
    th_result figure_result = th_report_page(&shop->def, &figure_error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(result, TH_NO_FILE);
    assert_non_null(strstr(error.file, "report.html"));
    assert_non_null(strstr(error.message, "cannot be written"));
    assert_int_equal(figure_result, TH_NO_FILE);
    assert_non_null(strstr(figure_error.file, ".png"));
    path_in(shop, path, sizeof path, "report.html.part");
    assert_int_not_equal(access(path, F_OK), 0);
    path_in(shop, path, sizeof path, "report.html");
    char *kept = read_whole(path, &size);
    assert_string_equal(kept, page);
    test_free(kept);
    test_free(page);
    close_workshop(shop);
}

// ---- numbers

static void flow_is_counted_in_a_window(void **state) {
    (void)state;
    // Two people every second: 2 /s everywhere, at the ends too.
    uint32_t steady[61], burst[61];
    for (int k = 0; k <= 60; ++k) {
        steady[k] = 2 * (uint32_t)k;
        burst[k] = k < 30 ? 0 : 20; // all at once
    }
    th_observation observation = {.interval = 1, .sample_count = 61};
    for (int k = 0; k <= 60; ++k)
        assert_true(fabs(th_counter_flow(&observation, steady, k) - 2) < 1e-12);
    assert_true(fabs(th_counter_flow(&observation, burst, 30) - 2) < 1e-12); // 20 in 10 s
    assert_true(fabs(th_counter_flow(&observation, burst, 40)) < 1e-12);
    observation.sample_count = 1;
    assert_true(fabs(th_counter_flow(&observation, steady, 0)) < 1e-12);
}

static void shares_are_reached_between_samples(void **state) {
    (void)state;
    uint32_t curve[] = {0, 0, 40, 60, 100};
    th_run_summary run = {.spawned = 100,
                          .sample_count = 5,
                          .left_curve = curve,
                          .egress_time = 7.5,
                          .p95_time = 7.2};
    assert_true(fabs(th_run_reach(&run, 2, 0.5) - 5) <
                1e-12); // half-way from 40 at 4 s to 60 at 6 s
    assert_true(fabs(th_run_reach(&run, 2, 0.95) - 7.2) < 1e-12);
    assert_true(fabs(th_run_reach(&run, 2, 1) - 7.5) < 1e-12);
    run.spawned = 1000;
    assert_true(isnan(th_run_reach(&run, 2, 0.5)));
    run.spawned = 0;
    assert_true(isnan(th_run_reach(&run, 2, 0.5)));
}

static void figures_in_one_page_share_no_names(void **state) {
    (void)state;
    char svg[] =
        "<?xml version=\"1.0\"?>\n<svg xmlns=\"http://x\" width=\"8pt\" viewBox=\"0 0 8 4\">"
        "<g id=\"clip0\"><use xlink:href=\"#glyph0-1\"/></g><path id=\"glyph0-1\" "
        "clip-path=\"url(#clip0)\" d=\"M 1.234567 -0.001 L 10 2.5e-7 Z\"/>"
        "<image xlink:href=\"data:image/png;base64,id=\"/></svg>";
    th_text page = {0};
    assert_true(th_svg_inline(&page, svg, "flow", "a \"b\""));
    assert_string_equal(
        page.bytes, "<svg viewBox=\"0 0 8 4\" role=\"img\" aria-label=\"a &quot;b&quot;\">"
                    "<g id=\"flow-clip0\"><use href=\"#flow-glyph0-1\"/></g><path "
                    "id=\"flow-glyph0-1\" clip-path=\"url(#flow-clip0)\" d=\"M 1.23 0 L 10 0 Z\"/>"
                    "<image href=\"data:image/png;base64,id=\"/></svg>");
    char nothing[] = "not a picture";
    assert_false(th_svg_inline(&page, nothing, "x", "y"));
    th_text_release(&page);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_run),
        cmocka_unit_test(three_runs),
        cmocka_unit_test(the_worst_comes_first),
        cmocka_unit_test(shares_are_of_the_time_of_use),
        cmocka_unit_test(an_empty_world),
        cmocka_unit_test(one_person),
        cmocka_unit_test(no_agent_gets_out),
        cmocka_unit_test(nothing_measured),
        cmocka_unit_test(strangers_words_stay_words),
        cmocka_unit_test(a_huge_ensemble),
        cmocka_unit_test(pressure_is_shown_where_there_is_one),
        cmocka_unit_test(a_folder_that_cannot_be_written_is_an_error),
        cmocka_unit_test(a_full_disk_leaves_the_old_report),
        cmocka_unit_test(flow_is_counted_in_a_window),
        cmocka_unit_test(shares_are_reached_between_samples),
        cmocka_unit_test(figures_in_one_page_share_no_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
