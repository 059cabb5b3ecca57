// throng's readings of experiments with people, against readings made by others from the same files: means per
// run, speed by class of density, flow through bottlenecks. Excerpts are in tests/data/readings; where the whole files
// lie beside the repository, those too. SPDX-License-Identifier: Apache-2.0
#include "observe/survey.h"
#include "support.h"
#include <math.h>
#include <unistd.h>

// Readings of the same files by others agree this well. [-]
static const double TOLERANCE = 0.02;
// Their figures have two decimals: a difference of half a unit of the last one is rounding.
static const double LAST_DIGIT = 0.005;
#define WHOLE TH_SOURCE_DIR "/../shared/data/"
#define EXCERPTS TH_SOURCE_DIR "/tests/data/readings/"

static void assert_reading(const char *name, const char *what, double found, double read,
                           double digit) {
    if (!(fabs(found - read) <= TOLERANCE * read + digit))
        fail_msg("%s: %s %.4f, read by others %.4f", name, what, found, read);
}

typedef struct corridor_run {
    const char *name;
    int64_t first, last;
    double density, speed, flow;
} corridor_run;
static const corridor_run corridor[] = {{"uo-050-180-180", 211, 800, 0.61, 1.34, 0.81},
                                        {"uo-060-180-180", 243, 771, 0.58, 1.39, 0.79},
                                        {"uo-070-180-180", 203, 1113, 0.72, 1.35, 0.96},
                                        {"uo-100-180-180", 200, 790, 1.14, 1.20, 1.36},
                                        {"uo-145-180-180", 300, 1097, 1.56, 1.00, 1.54},
                                        {"uo-180-180-070", 500, 1399, 3.06, 0.30, 0.93},
                                        {"uo-180-180-095", 400, 1350, 2.46, 0.41, 1.00},
                                        {"uo-180-180-120", 300, 1099, 2.06, 0.65, 1.32},
                                        {"uo-180-180-180", 400, 1284, 1.68, 0.96, 1.61}};
enum { RUNS = sizeof corridor / sizeof *corridor, BINS = 8 };

// Middle of the class, samples, mean speed, standard deviation.
static const double classes[BINS][4] = {{0.25, 389, 1.357, 0.149},  {0.75, 1446, 1.343, 0.147},
                                        {1.25, 1199, 1.117, 0.164}, {1.75, 1528, 0.850, 0.199},
                                        {2.25, 636, 0.571, 0.174},  {2.75, 898, 0.398, 0.110},
                                        {3.25, 557, 0.310, 0.042},  {3.75, 114, 0.284, 0.041}};

static th_fundamental_samples read_samples(const char *path, const th_fundamental_def *def) {
    th_fundamental_samples samples;
    th_error error = {0};
    if (th_fundamental_read(path, def, &samples, &error) != TH_OK)
        fail_msg("%s: %s", path, error.message);
    return samples;
}

// Walking down the corridor, counted in 1.8 m x 2 m, in the steady frames.
// `slack`: samples of a class that may be in another, as rounding moves people on the edge of the box.
static void read_corridor(const char *folder, double unit, int slack) {
    th_fundamental_bin bins[BINS + 1] = {{0}};
    print_message("%-16s %21s %21s %21s\n", "", "density [1/m2]", "speed [m/s]", "flow [1/(m s)]");
    for (int r = 0; r < RUNS; ++r) {
        const corridor_run *run = &corridor[r];
        char path[512];
        snprintf(path, sizeof path, "%s%s.txt.gz", folder, run->name);
        th_fundamental_def def = th_fundamental_def_default();
        def.motion.assumed = (th_trajectory_assumed){.fps = 16, .unit = unit};
        def.motion.first = run->first;
        def.motion.last = run->last;
        def.area = "POLYGON ((0 -2, 1.8 -2, 1.8 0, 0 0, 0 -2))";
        def.direction = (th_point){0, -1};
        th_fundamental_samples samples = read_samples(path, &def);
        th_fundamental_mean mean = th_fundamental_mean_of(&samples);
        print_message("%-16s %9.3f  others %.2f %9.3f  others %.2f %9.3f  others %.2f\n", run->name,
                      mean.density, run->density, mean.speed, run->speed, mean.flow, run->flow);
        assert_reading(run->name, "density", mean.density, run->density, LAST_DIGIT);
        assert_reading(run->name, "speed", mean.speed, run->speed, LAST_DIGIT);
        assert_reading(run->name, "flow", mean.flow, run->flow, LAST_DIGIT);
        th_fundamental_bins_add(&samples, 0.5, bins, BINS + 1);
        th_fundamental_release(&samples);
    }
    th_fundamental_bins_finish(0.5, bins, BINS + 1);
    int total = 0;
    for (int b = 0; b < BINS; ++b) {
        print_message("%.2f /m2 %5d samples, speed %.3f (others %.3f), spread %.3f (others %.3f)\n",
                      bins[b].density, bins[b].count, bins[b].speed, classes[b][2],
                      bins[b].standard_deviation, classes[b][3]);
        assert_in_range(bins[b].count, (int)classes[b][1] - slack, (int)classes[b][1] + slack);
        assert_reading("class", "speed", bins[b].speed, classes[b][2], 0.0005);
        assert_reading("class", "spread", bins[b].standard_deviation, classes[b][3], 0.0005);
        total += bins[b].count;
    }
    assert_int_equal(bins[BINS].count, 0);
    assert_int_equal(total, 6767);
}

static void corridor_is_read_as_published(void **state) {
    (void)state;
    read_corridor(EXCERPTS, 1, 2);
}

static void whole_corridor(void **state) {
    (void)state;
    if (access(WHOLE "uo180/uo-050-180-180.txt.gz", R_OK) != 0) skip();
    read_corridor(WHOLE "uo180/", 0.01, 0);
}

// The other methods see the same corridor: over a steady flow the mean density does not depend on the method.
static void methods_agree(void **state) {
    (void)state;
    for (int m = TH_VORONOI; m <= TH_GAUSSIAN; ++m) {
        th_fundamental_def def = th_fundamental_def_default();
        def.motion.first = 500;
        def.motion.last = 1399;
        def.every = 4;
        def.area = "POLYGON ((0 -2, 1.8 -2, 1.8 0, 0 0, 0 -2))";
        def.walkable = "POLYGON ((0 -4, 1.8 -4, 1.8 4, 0 4, 0 -4))";
        def.direction = (th_point){0, -1};
        def.density.method = (th_density_method)m;
        th_fundamental_samples samples = read_samples(EXCERPTS "uo-180-180-070.txt.gz", &def);
        th_fundamental_mean mean = th_fundamental_mean_of(&samples);
        assert_reading(th_density_method_name((th_density_method)m), "density", mean.density, 3.06,
                       0);
        assert_reading(th_density_method_name((th_density_method)m), "speed", mean.speed, 0.305, 0);
        th_fundamental_release(&samples);
    }
}

// Every agent's own density: as many samples as people were counted, all of a plausible size, and their cells as large
// as the density of the area says.
static void individual_densities_are_read_as_published(void **state) {
    (void)state;
    th_fundamental_def def = th_fundamental_def_default();
    def.motion.first = 500;
    def.motion.last = 1399;
    def.every = 16;
    def.area = "POLYGON ((0 -2, 1.8 -2, 1.8 0, 0 0, 0 -2))";
    def.walkable = "POLYGON ((0 -4, 1.8 -4, 1.8 4, 0 4, 0 -4))";
    def.density.method = TH_VORONOI;
    th_fundamental_samples area = read_samples(EXCERPTS "uo-180-180-070.txt.gz", &def);
    def.individual = true;
    th_fundamental_samples people = read_samples(EXCERPTS "uo-180-180-070.txt.gz", &def);
    int counted = 0;
    double cells = 0;
    for (int i = 0; i < area.count; ++i) counted += area.samples[i].count;
    assert_int_equal(people.count, counted);
    for (int i = 0; i < people.count; ++i) {
        assert_true(people.samples[i].person >= 0);
        assert_true(people.samples[i].density > 0.5 && people.samples[i].density < 15);
        cells += 1 / people.samples[i].density;
    }
    assert_reading("own density", "mean cell", people.count / cells,
                   th_fundamental_mean_of(&area).density, 0);
    th_fundamental_release(&area);
    th_fundamental_release(&people);
    def.density.method = TH_CLASSIC;
    assert_int_equal(th_fundamental_read(EXCERPTS "uo-180-180-070.txt.gz", &def, &people, NULL),
                     TH_BAD_ARGUMENT);
}

// ---- bottlenecks

typedef struct bottleneck {
    const char *name, *excerpt, *whole;
    th_survey_line_def line;
    int people;
    double flow, middle_flow; // [1/s]
} bottleneck;
static const bottleneck bottlenecks[] = {
    {"AO_300",
     EXCERPTS "traj_AO_300.txt.gz",
     WHOLE "bottleneck_ao300/traj_AO_300.txt.gz",
     {"exit", {-0.6, 0}, {2.4, 0}},
     348,
     6.689,
     7.174},
    {"040_c_56_h-",
     EXCERPTS "040_c_56_h-.txt.gz",
     WHOLE "bottleneck_wuppertal2018/040_c_56_h-.txt.gz",
     {"door", {0.25, 0}, {-0.25, 0}},
     75,
     1.148,
     1.160},
};

static void read_flow(const bottleneck *b, const char *path) {
    th_survey_def def = th_survey_def_default();
    th_survey *survey = NULL;
    th_error error = {0};
    def.lines = &b->line;
    def.line_count = 1;
    if (th_survey_make(path, &def, &survey, &error) != TH_OK) fail_msg("%s", error.message);
    th_line_flow forward, backward;
    assert_int_equal(th_line_flow_of(&survey->lines[0], true, &forward, NULL), TH_OK);
    assert_int_equal(th_line_flow_of(&survey->lines[0], false, &backward, NULL), TH_OK);
    print_message("%s: %d people, flow %.3f /s (others %.3f), middle 80 %% %.3f /s (others %.3f)\n",
                  b->name, forward.count, forward.flow, b->flow, forward.middle_flow,
                  b->middle_flow);
    assert_int_equal(forward.count, b->people);
    assert_int_equal(backward.count, 0);
    assert_reading(b->name, "flow", forward.flow, b->flow, 0);
    assert_reading(b->name, "middle flow", forward.middle_flow, b->middle_flow, 0);
    double width = th_line_width(&survey->lines[0]);
    assert_true(fabs(forward.specific_flow * width - forward.flow) < 1e-12);
    assert_true(fabs(forward.headway.mean * forward.flow - 1) < 1e-9);
    th_survey_destroy(survey);
}

static void flow_is_read_as_published(void **state) {
    (void)state;
    for (int b = 0; b < 2; ++b) read_flow(&bottlenecks[b], bottlenecks[b].excerpt);
    for (int b = 0; b < 2; ++b)
        if (access(bottlenecks[b].whole, R_OK) == 0)
            read_flow(&bottlenecks[b], bottlenecks[b].whole);
}

typedef struct measured_box {
    const char *name, *path, *area;
    int samples;
    double density, speed, flow;
} measured_box;
static const measured_box boxes[] = {
    {"AO_300 in front", EXCERPTS "traj_AO_300.txt.gz",
     "POLYGON ((-0.6 -2.6, 2.4 -2.6, 2.4 -0.6, -0.6 -0.6, -0.6 -2.6))", 537, 5.08, 0.35, 1.76},
    {"AO_300 inside", EXCERPTS "traj_AO_300.txt.gz",
     "POLYGON ((-0.6 -0.5, 2.4 -0.5, 2.4 0.5, -0.6 0.5, -0.6 -0.5))", 550, 3.34, 0.71, 2.35},
    {"040_c_56_h- in front", EXCERPTS "040_c_56_h-.txt.gz",
     "POLYGON ((-0.4 0.5, 0.4 0.5, 0.4 1.3, -0.4 1.3, -0.4 0.5))", 1034, 7.61, 0.12, 0.89},
};

// Speed as its length; of the moments with people in the box those from 20 % to 85 %, when the jam stands.
static void boxes_are_read_as_published(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof boxes / sizeof *boxes; ++k) {
        const measured_box *box = &boxes[k];
        th_fundamental_def def = th_fundamental_def_default();
        def.area = box->area;
        th_fundamental_samples all = read_samples(box->path, &def), jam = all;
        int from = all.count * 20 / 100, to = all.count * 85 / 100;
        jam.samples = all.samples + from;
        jam.count = to - from;
        th_fundamental_mean mean = th_fundamental_mean_of(&jam);
        print_message("%s: density %.3f (others %.2f), speed %.3f (others %.2f), flow %.3f (others "
                      "%.2f)\n",
                      box->name, mean.density, box->density, mean.speed, box->speed, mean.flow,
                      box->flow);
        // They left out people without a velocity yet, throng gives these a one-sided one.
        assert_in_range(jam.count, box->samples, box->samples + 6);
        assert_reading(box->name, "density", mean.density, box->density, LAST_DIGIT);
        assert_reading(box->name, "speed", mean.speed, box->speed, LAST_DIGIT);
        assert_reading(box->name, "flow", mean.flow, box->flow, LAST_DIGIT);
        th_fundamental_release(&all);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(corridor_is_read_as_published),
        cmocka_unit_test(whole_corridor),
        cmocka_unit_test(methods_agree),
        cmocka_unit_test(individual_densities_are_read_as_published),
        cmocka_unit_test(flow_is_read_as_published),
        cmocka_unit_test(boxes_are_read_as_published),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
