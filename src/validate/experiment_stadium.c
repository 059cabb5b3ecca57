// Experiments on the grandstand: the egress of 300 people, and the smoothness of five of their ways with the social
// force at 16 Hz behind DenseSense, alone at 16 Hz and alone at about 1000 Hz, as in the paper's figure of five people.
// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "draw/plan_drawing.h"
#include "validate/doors.h"
#include "validate/experiments.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- pictures of crowds from their tracks: one column per run, one row per moment

typedef struct frames_def {
    const th_door_scene *scene;
    const th_run_tracks *const *tracks; // one per column
    const char *const *names;
    int columns;
    const double *times; // [s] one per row
    int rows;
} frames_def;

static const th_colour INK = {0.1, 0.1, 0.1};
#define RADIUS (double)0.19f // [m] mean of the scenes' people
#define SPEED (double)1.34f  // [m/s] mean of the scenes' people: the light end of the scale

typedef struct page {
    const frames_def *def;
    th_scene *scene;
    th_canvas canvas;
    double left, top, panel_width, panel_height, gap_x, gap_y, scale;
} page;

static void draw_crowd(const page *p, const th_panel *panel, const th_moment *crowd, double time) {
    bool no_doors[1] = {false};
    th_plan_view view = {.scene = th_scene_view_of(p->scene),
                         .door_closed = no_doors,
                         .crowd = crowd,
                         .colour_by = TH_BY_SPEED,
                         .box = p->def->scene->shown};
    th_draw_ground(&p->canvas, panel, th_scene_view_of(p->scene), 0);
    th_draw_walls(&p->canvas, panel, &view, 0);
    th_draw_people(&p->canvas, panel, &view, 0);
    char text[64];
    snprintf(text, sizeof text, "%.0f s: %d inside", time, crowd->count);
    th_canvas_colour(&p->canvas, INK, 1);
    th_canvas_text(&p->canvas, panel->left, panel->top - 0.4 * p->canvas.text, 0, p->canvas.text,
                   false, text);
}

// False: no memory.
static bool draw_moment(const page *p, int column, int row) {
    th_panel panel = {.left = p->left + column * (p->panel_width + p->gap_x),
                      .top = p->top + row * (p->panel_height + p->gap_y),
                      .width = p->panel_width,
                      .height = p->panel_height,
                      .box = p->def->scene->shown,
                      .scale = p->scale};
    const th_run_tracks *tracks = p->def->tracks[column];
    double time = p->def->times[row];
    size_t people = (size_t)tracks->people;
    double *same = malloc((2 * people + 1) * sizeof *same); // radius and speed of all agents
    th_tracks_frame room;
    bool good = th_tracks_frame_make(&room, tracks) && same;
    if (good) {
        th_moment crowd = th_tracks_moment(tracks, (int)lround(time * TH_TRACKS_RATE), &room);
        for (size_t k = 0; k < people; ++k) {
            same[k] = RADIUS;
            same[people + k] = SPEED;
        }
        crowd.radius = same;
        crowd.preferred_speed = same + people;
        draw_crowd(p, &panel, &crowd, time);
    }
    th_tracks_frame_release(&room);
    free(same);
    return good;
}

static bool draw_page(page *p, const char *path) {
    const frames_def *def = p->def;
    th_canvas_colour(&p->canvas, (th_colour){1, 1, 1}, 1);
    cairo_paint(p->canvas.cairo);
    bool good = true;
    for (int column = 0; column < def->columns; ++column) {
        th_canvas_colour(&p->canvas, INK, 1);
        th_canvas_text(&p->canvas, p->left + column * (p->panel_width + p->gap_x),
                       1.5 * p->canvas.text, 0, p->canvas.text, true, def->names[column]);
        for (int row = 0; row < def->rows; ++row) good = good && draw_moment(p, column, row);
    }
    th_canvas_colour_bar(&p->canvas, p->canvas.width - 8 * p->canvas.text, p->top, p->canvas.text,
                         12 * p->canvas.text, 0, SPEED, th_colour_scale, "speed [m/s]");
    return good && th_canvas_write(&p->canvas, path, NULL) == TH_OK;
}

static bool draw_frames(const frames_def *def, const char *path) {
    const double text = 11, key = 9 * text;
    const th_box *box = &def->scene->shown;
    page p = {.def = def, .left = text, .top = 3.2 * text, .gap_x = text, .gap_y = 2 * text};
    p.scale = 10; // [px/m]: a person is 4 pixels wide, 8 in the file
    p.panel_width = p.scale * (double)(box->max_x - box->min_x);
    p.panel_height = p.scale * (double)(box->max_y - box->min_y);
    double width = p.left + def->columns * (p.panel_width + p.gap_x) + key;
    double height = p.top + def->rows * (p.panel_height + p.gap_y);
    th_error ignored;
    if (th_scene_load_json(def->scene->text, strlen(def->scene->text), "experiment", NULL, NULL,
                           &p.scene, &ignored) != TH_OK)
        return false;
    p.canvas = th_canvas_create_zoomed(width, height, text, 2);
    bool good = p.canvas.surface && draw_page(&p, path);
    th_canvas_destroy(&p.canvas);
    th_scene_destroy(p.scene);
    return good;
}

// ---- 300 people through the mouth of a grandstand

#define LONGEST 300.0 // [s]
#define LONGEST_QUICK 12.0
enum { MODELS_MOST = 32, SEEDS = 2, SHOWN_MOST = 8, SOCIAL_FORCE = 1 };

typedef struct stand_run {
    th_run_tracks tracks; // kept for the pictures
    th_tracks_found found;
    th_tracks_area mouth;
    double overlaps, deepest;
    int people;
} stand_run;

typedef struct stand_plan {
    const th_experiment_settings *settings;
    const th_experiment_model *models[MODELS_MOST]; // of each family the model alone comes first
    int model_count, seeds;
    stand_run runs[MODELS_MOST * SEEDS]; // model by model
} stand_plan;

// In the pictures: alone, and behind the filter at its best.
static bool is_shown(const th_experiment_model *model) {
    return model->variant == 0 || model->variant == 3;
}

static th_result look(stand_run *run, const th_door_scene *scene, th_error *error) {
    const th_run_tracks *tracks = &run->tracks;
    th_result done = th_tracks_look(tracks, scene->line, &run->found, error);
    if (done != TH_OK) return done;
    double quarter = 0.25 * (run->found.last - run->found.first);
    done = th_tracks_in(tracks, scene->jam, run->found.first + quarter, run->found.last - quarter,
                        &run->mouth, error);
    run->overlaps = tracks->overlaps;
    run->deepest = tracks->deepest_overlap;
    run->people = tracks->people;
    return done;
}

static th_result run_one(void *context, int index, th_error *error) {
    stand_plan *plan = context;
    const th_experiment_model *model = plan->models[index / plan->seeds];
    stand_run *run = &plan->runs[index];
    th_door_scene *scene = malloc(sizeof *scene);
    if (!scene) return th_fail(error, TH_NO_MEMORY, "", "no memory for a scene");
    th_models_choice choice = th_door_choice(model->filter, model->move);
    th_scene_grandstand(scene, &choice);
    th_tracks_def def = {scene->text, plan->settings->seed + (uint64_t)(index % plan->seeds),
                         1 / TH_TRACKS_RATE, plan->settings->quick ? LONGEST_QUICK : LONGEST};
    th_result done = th_tracks_run(&def, &run->tracks, error);
    if (done == TH_OK) done = look(run, scene, error);
    if (!is_shown(model) || index % plan->seeds > 0) th_tracks_release(&run->tracks);
    free(scene);
    return done;
}

// Means over seeds; the deepest overlap of all.
static stand_run mean_of(const stand_plan *plan, int model) {
    stand_run mean = {0};
    for (int k = 0; k < plan->seeds; ++k) {
        const stand_run *run = &plan->runs[model * plan->seeds + k];
        double share = 1.0 / plan->seeds;
        mean.found.through += run->found.through;
        mean.found.flow += share * run->found.flow;
        mean.found.last += share * run->found.last;
        mean.mouth.density += share * run->mouth.density;
        mean.mouth.speed += share * run->mouth.speed;
        mean.overlaps += share * run->overlaps;
        mean.deepest = fmax(mean.deepest, run->deepest);
        mean.found.acceleration += share * run->found.acceleration;
        mean.found.speed += share * run->found.speed;
        mean.people += run->people;
    }
    return mean;
}

static void table(const stand_plan *plan, th_experiment_result *result) {
    th_experiment_table *table = th_experiment_add_table(
        result, "stadium",
        "300 people out of a grandstand through a mouth of 2 m; the mouth is the 4 m2 around it",
        "model|flow [1/s]|last through [s]|left behind [%]|density in the mouth [1/m2]|speed there "
        "[m/s]|overlaps per 100 people|deepest [cm]|acceleration, mean [m/s2]|mean speed [m/s]");
    for (int m = 0; m < plan->model_count; ++m) {
        stand_run mean = mean_of(plan, m);
        th_cell_text(table, plan->models[m]->name);
        th_cell_number(table, mean.found.flow, 2);
        th_cell_number(table, mean.found.last, 0);
        th_cell_number(table, 100.0 * (mean.people - mean.found.through) / mean.people, 0);
        th_cell_number(table, mean.mouth.density, 1);
        th_cell_number(table, mean.mouth.speed, 2);
        th_cell_number(table, mean.overlaps, 2);
        th_cell_number(table, 100 * mean.deepest, 1);
        th_cell_number(table, mean.found.acceleration, 2);
        th_cell_number(table, mean.found.speed, 2);
    }
}

// Compares every model behind the filter with the same model alone.
static void judge(const stand_plan *plan, th_experiment_result *result) {
    int alone_index = 0;
    for (int m = 0; m < plan->model_count; ++m) {
        if (plan->models[m]->variant == 0) {
            alone_index = m;
            continue;
        }
        stand_run own = mean_of(plan, m), alone = mean_of(plan, alone_index);
        bool fewer = own.overlaps < alone.overlaps || alone.overlaps <= 0;
        bool calmer = own.found.acceleration < alone.found.acceleration;
        th_experiment_judge(result, fewer && calmer ? TH_PASS : TH_FAIL,
                            "fewer overlaps and lower mean acceleration with the filter at 16 Hz",
                            "%s: %.2f against %.2f pairs per 100 people, %.2f against %.2f m/s2",
                            plan->models[m]->name, own.overlaps, alone.overlaps,
                            own.found.acceleration, alone.found.acceleration);
    }
}

static th_result draw(const stand_plan *plan, th_experiment_result *result, th_error *error) {
    static const double times[] = {5, 20, 50}, quick_times[] = {2, 5, 10}; // [s]
    const th_run_tracks *tracks[SHOWN_MOST];
    const char *names[SHOWN_MOST];
    int columns = 0;
    for (int m = 0; m < plan->model_count && columns < SHOWN_MOST; ++m) {
        if (!is_shown(plan->models[m])) continue;
        names[columns] = plan->models[m]->name;
        tracks[columns++] = &plan->runs[m * plan->seeds].tracks;
    }
    th_door_scene *scene = malloc(sizeof *scene);
    if (!scene) return th_fail(error, TH_NO_MEMORY, "", "no memory for a scene");
    th_models_choice choice = th_door_choice(plan->models[0]->filter, plan->models[0]->move);
    th_scene_grandstand(scene, &choice);
    frames_def def = {scene, tracks, names, columns, plan->settings->quick ? quick_times : times,
                      3};
    char path[4096];
    snprintf(path, sizeof path, "%s/stadium.png", plan->settings->out);
    bool good = draw_frames(&def, path);
    free(scene);
    if (!good) return th_fail(error, TH_NO_FILE, "", "%s: the figure could not be written", path);
    th_experiment_add_figure(result, "stadium.png",
                             "The grandstand at three moments; dark people stand.");
    return TH_OK;
}

th_result th_experiment_stadium(const th_experiment_settings *settings,
                                th_experiment_progress *progress, void *progress_context,
                                th_experiment_result *result, th_error *error) {
    stand_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return th_fail(error, TH_NO_MEMORY, "", "no memory for the runs");
    plan->settings = settings;
    plan->seeds = settings->quick ? 1 : SEEDS;
    int all;
    const th_experiment_model *models = th_experiment_models(&all);
    for (int k = 0; k < all && plan->model_count < MODELS_MOST; ++k)
        if (!settings->quick || models[k].family == SOCIAL_FORCE)
            plan->models[plan->model_count++] = &models[k];
    bool stopped = false;
    int count = plan->model_count * plan->seeds;
    th_result done = th_experiment_runs(settings, progress, progress_context, "grandstands", count,
                                        run_one, plan, &stopped, error);
    if (done == TH_OK && !stopped) {
        table(plan, result);
        judge(plan, result);
        if (settings->out) done = draw(plan, result, error);
    }
    for (int k = 0; k < count; ++k) th_tracks_release(&plan->runs[k].tracks);
    free(plan);
    return done;
}

// ---- how smoothly people walk: five people of the grandstand

#define COARSE (1 / TH_TRACKS_RATE) // [s]
#define FINE (COARSE / 63)          // [s] 1008 Hz: a whole number of them is a coarse step
#define SMOOTH_LONGEST 300.0        // [s]
#define SMOOTH_LONGEST_QUICK 4.0    // [s]
#define AT_16_HZ "{\"model\": \"social_force\", \"substep\": 0.0625}"
#define SUBSTEPS "\"social_force\""
#define AT_1000_HZ "{\"model\": \"social_force\", \"substep\": 0.001}"
#define SOFT "{\"model\": \"social_force\", \"preset\": \"menge_soft\"}"
#define SOFT_16_HZ "{\"model\": \"social_force\", \"preset\": \"menge_soft\", \"substep\": 0.0625}"
#define FILTER(preset) "{\"model\": \"densesense\", \"preset\": \"" preset "\"}"

enum { ALONE_FINE = 2, ALONE_SUBSTEPS = 3, ALONE_SOFT = 9 };
enum { SMOOTH_SEEDS = 2, PANELS = 3, SHOWN = 5, QUICK = 5 };
// "At 16 Hz" in the paper: forces are integrated with that step. throng cuts its step into sub-steps of 10 ms
// for this model unless told not to, so both readings are run. The first three are the paper's figure,
// the first QUICK are run when in a hurry.
static const struct variant {
    const char *name, *filter, *move;
    double step; // [s]
    // Without the filter, forces integrated finely enough not to explode; -1: it is without. SF at 16 Hz is run for
    // the figure, but a crowd at 226 m/s2 is no bar.
    int alone;
    bool reported; // not judged: Menge's constants need its limit on acceleration at such a step
} variants[] = {
    {"D-SF consistent, 16 Hz", FILTER("consistent"), AT_16_HZ, COARSE, ALONE_SUBSTEPS, false},
    {"SF, 16 Hz", "\"none\"", AT_16_HZ, COARSE, -1, false},
    [ALONE_FINE] = {"SF, 1000 Hz", "\"none\"", AT_1000_HZ, FINE, -1, false},
    [ALONE_SUBSTEPS] = {"SF, 16 Hz, sub-steps of 10 ms", "\"none\"", SUBSTEPS, COARSE, -1, false},
    {"D-SF consistent, 16 Hz, sub-steps", FILTER("consistent"), SUBSTEPS, COARSE, ALONE_SUBSTEPS,
     false},
    {"D-SF laboratory, 16 Hz", FILTER("laboratory"), AT_16_HZ, COARSE, ALONE_SUBSTEPS, false},
    {"D-SF menge, 16 Hz", FILTER("menge"), AT_16_HZ, COARSE, ALONE_SUBSTEPS, false},
    {"D-SF laboratory, 16 Hz, sub-steps", FILTER("laboratory"), SUBSTEPS, COARSE, ALONE_SUBSTEPS,
     false},
    {"D-SF menge, 16 Hz, sub-steps", FILTER("menge"), SUBSTEPS, COARSE, ALONE_SUBSTEPS, false},
    [ALONE_SOFT] = {"SF menge_soft, 16 Hz, sub-steps", "\"none\"", SOFT, COARSE, -1, false},
    {"D-SF menge_soft consistent, 16 Hz, sub-steps", FILTER("consistent"), SOFT, COARSE, ALONE_SOFT,
     false},
    {"SF menge_soft, 16 Hz", "\"none\"", SOFT_16_HZ, COARSE, -1, false},
    {"D-SF menge_soft consistent, 16 Hz", FILTER("consistent"), SOFT_16_HZ, COARSE, ALONE_SOFT,
     true},
};
enum { VARIANTS = sizeof variants / sizeof *variants };

typedef struct smooth_run {
    th_tracks_found found;
    double overlaps, deepest;
    int people;
    th_run_tracks tracks; // of the first seed, for the figure
} smooth_run;

typedef struct smooth_plan {
    const th_experiment_settings *settings;
    int seeds, variants;
    smooth_run runs[VARIANTS * SMOOTH_SEEDS]; // variant by variant
} smooth_plan;

static th_result run_smooth(void *context, int index, th_error *error) {
    smooth_plan *plan = context;
    const struct variant *v = &variants[index / plan->seeds];
    smooth_run *run = &plan->runs[index];
    th_door_scene *scene = malloc(sizeof *scene);
    if (!scene) return th_fail(error, TH_NO_MEMORY, "", "no memory for a scene");
    th_models_choice choice = th_door_choice(v->filter, v->move);
    th_scene_grandstand(scene, &choice);
    th_tracks_def def = {scene->text, plan->settings->seed + (uint64_t)(index % plan->seeds),
                         v->step, plan->settings->quick ? SMOOTH_LONGEST_QUICK : SMOOTH_LONGEST};
    th_result done = th_tracks_run(&def, &run->tracks, error);
    if (done == TH_OK) done = th_tracks_look(&run->tracks, scene->line, &run->found, error);
    run->overlaps = run->tracks.overlaps;
    run->deepest = run->tracks.deepest_overlap;
    run->people = run->tracks.people;
    if (index % plan->seeds > 0 || index / plan->seeds >= PANELS) th_tracks_release(&run->tracks);
    free(scene);
    return done;
}

// Mean over seeds; the deepest overlap of all.
static smooth_run mean_smooth(const smooth_plan *plan, int variant_index) {
    smooth_run mean = {0};
    for (int k = 0; k < plan->seeds; ++k) {
        const smooth_run *run = &plan->runs[variant_index * plan->seeds + k];
        double share = 1.0 / plan->seeds;
        mean.found.acceleration += share * run->found.acceleration;
        mean.found.acceleration_95 += share * run->found.acceleration_95;
        mean.found.jerk += share * run->found.jerk;
        mean.found.jerk_95 += share * run->found.jerk_95;
        mean.found.path += share * run->found.path;
        mean.found.speed += share * run->found.speed;
        mean.overlaps += share * run->overlaps;
        mean.deepest = fmax(mean.deepest, run->deepest);
        mean.people += run->people;
        mean.found.through += run->found.through;
    }
    return mean;
}

static void smooth_table(const smooth_plan *plan, th_experiment_result *result) {
    th_experiment_table *smooth_table = th_experiment_add_table(
        result, "smoothness",
        "300 people out of a grandstand, looked at 16 times a second: second and third differences "
        "of places",
        "run|acceleration, mean [m/s2]|over speed [1/s]|95 % below|jerk, mean [m/s3]|95 % "
        "below|way over straight "
        "line|overlaps per 100 people|deepest [cm]|mean speed [m/s]|through [%]");
    for (int v = 0; v < plan->variants; ++v) {
        smooth_run mean = mean_smooth(plan, v);
        th_cell_text(smooth_table, variants[v].name);
        th_cell_number(smooth_table, mean.found.acceleration, 2);
        th_cell_number(smooth_table, mean.found.acceleration / mean.found.speed, 2);
        th_cell_number(smooth_table, mean.found.acceleration_95, 2);
        th_cell_number(smooth_table, mean.found.jerk, 1);
        th_cell_number(smooth_table, mean.found.jerk_95, 1);
        th_cell_number(smooth_table, mean.found.path, 2);
        th_cell_number(smooth_table, mean.overlaps, 2);
        th_cell_number(smooth_table, 100 * mean.deepest, 1);
        th_cell_number(smooth_table, mean.found.speed, 2);
        th_cell_number(smooth_table, 100.0 * mean.found.through / mean.people, 0);
    }
}

static th_verdict verdict(int variant_index, bool holds) {
    return variants[variant_index].reported ? TH_REPORTED : holds ? TH_PASS : TH_FAIL;
}

static void judge_smooth(const smooth_plan *plan, th_experiment_result *result) {
    smooth_run fine = mean_smooth(plan, ALONE_FINE);
    for (int v = 0; v < plan->variants; ++v) {
        if (variants[v].alone < 0) continue;
        smooth_run own = mean_smooth(plan, v), alone = mean_smooth(plan, variants[v].alone);
        // Per speed: a crawling agent is calm without being smooth.
        double rough = own.found.acceleration / own.found.speed,
               fine_rough = fine.found.acceleration / fine.found.speed,
               alone_rough = alone.found.acceleration / alone.found.speed;
        bool smoother = rough < fine_rough &&
                        own.found.jerk / own.found.speed < fine.found.jerk / fine.found.speed;
        th_experiment_judge(
            result, verdict(v, smoother), "D-SF at 16 Hz smoother than SF at 1000 Hz, per speed",
            "%s: %.2f /s and %.1f /s2 against %.2f and %.1f", variants[v].name, rough,
            own.found.jerk / own.found.speed, fine_rough, fine.found.jerk / fine.found.speed);
        // Without any overlap there is nothing to reduce.
        bool fewer = own.overlaps < alone.overlaps || alone.overlaps <= 0;
        th_experiment_judge(
            result, verdict(v, fewer && rough < alone_rough),
            "fewer overlaps and lower acceleration per speed than SF that has not exploded",
            "%s: %.2f against %.2f pairs per 100 people, %.2f against %.2f /s", variants[v].name,
            own.overlaps, alone.overlaps, rough, alone_rough);
    }
}

// ---- the figure

// Five people on both sides, near and far: those seated nearest to these points.
static void choose(const th_run_tracks *tracks, int *shown) {
    static const th_vec2 seats[SHOWN] = {
        {-6.2f, 6.5f}, {-4.8f, -8.5f}, {-3.4f, 3}, {-2.0f, -5}, {-0.6f, 8}};
    for (int k = 0; k < SHOWN; ++k) {
        float nearest = INFINITY;
        for (int i = 0; i < tracks->people; ++i) {
            float distance = hypotf(tracks->x[i] - seats[k].x, tracks->y[i] - seats[k].y);
            if (distance < nearest) nearest = distance, shown[k] = i;
        }
    }
}

static void draw_track(const th_canvas *canvas, const th_panel *panel, const th_run_tracks *tracks,
                       int person) {
    cairo_set_line_width(canvas->cairo, 1.3);
    cairo_set_line_join(canvas->cairo, CAIRO_LINE_JOIN_ROUND);
    for (int f = 0; f < tracks->frames; ++f) {
        size_t at = (size_t)f * (size_t)tracks->people + (size_t)person;
        if (isnan(tracks->x[at])) break;
        cairo_line_to(canvas->cairo, th_panel_x(panel, (double)tracks->x[at]),
                      th_panel_y(panel, (double)tracks->y[at]));
    }
    cairo_stroke(canvas->cairo);
}

static void draw_panels(const smooth_plan *plan, const th_canvas *canvas,
                        const th_scene_view *scene, const th_box *box) {
    const double scale = 23; // [px/m]
    int shown[SHOWN] = {0};
    choose(&plan->runs[0].tracks, shown);
    for (int v = 0; v < PANELS; ++v) {
        th_panel panel = {.box = *box, .scale = scale, .top = 2 * canvas->text};
        panel.width = scale * (double)(box->max_x - box->min_x);
        panel.height = scale * (double)(box->max_y - box->min_y);
        panel.left = 4.5 * canvas->text + v * (panel.width + 4.5 * canvas->text);
        th_draw_ground(canvas, &panel, scene, 0);
        th_draw_outline(canvas, &panel, scene, 0, 1);
        for (int k = 0; k < SHOWN; ++k) {
            th_canvas_colour(canvas, th_colour_group(k), 1);
            draw_track(canvas, &panel, &plan->runs[v * plan->seeds].tracks, shown[k]);
        }
        th_panel_axes(canvas, &panel);
        th_canvas_colour(canvas, (th_colour){0.1, 0.1, 0.1}, 1);
        th_canvas_text(canvas, panel.left, panel.top - 0.6 * canvas->text, 0, canvas->text, true,
                       variants[v].name);
    }
}

static bool draw_figure(const smooth_plan *plan, const char *path) {
    th_door_scene *place = malloc(sizeof *place);
    if (!place) return false;
    th_models_choice choice = th_door_choice("\"none\"", "\"orca\"");
    th_scene_grandstand(place, &choice);
    th_scene *scene = NULL;
    th_canvas canvas = {0};
    bool good = th_scene_load_json(place->text, strlen(place->text), "experiment", NULL, NULL,
                                   &scene, NULL) == TH_OK;
    if (good) {
        canvas = th_canvas_create_zoomed(1070, 530, 13, 2);
        good = canvas.surface != NULL;
    }
    if (good) {
        th_canvas_colour(&canvas, (th_colour){1, 1, 1}, 1);
        cairo_paint(canvas.cairo);
        draw_panels(plan, &canvas, th_scene_view_of(scene), &place->shown);
        good = th_canvas_write(&canvas, path, NULL) == TH_OK;
        th_canvas_destroy(&canvas);
    }
    th_scene_destroy(scene);
    free(place);
    return good;
}

static th_result finish(const smooth_plan *plan, th_experiment_result *result, th_error *error) {
    smooth_table(plan, result);
    judge_smooth(plan, result);
    if (!plan->settings->out) return TH_OK;
    char path[4096];
    snprintf(path, sizeof path, "%s/smoothness.png", plan->settings->out);
    if (!draw_figure(plan, path))
        return th_fail(error, TH_NO_FILE, "", "%s: the figure could not be written", path);
    th_experiment_add_figure(
        result, "smoothness.png",
        "The ways of the same five people: D-SF at 16 Hz, SF at 16 Hz, SF at 1000 Hz.");
    return TH_OK;
}

th_result th_experiment_smoothness(const th_experiment_settings *settings,
                                   th_experiment_progress *progress, void *progress_context,
                                   th_experiment_result *result, th_error *error) {
    smooth_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return th_fail(error, TH_NO_MEMORY, "", "no memory for the runs");
    plan->settings = settings;
    plan->seeds = settings->quick ? 1 : SMOOTH_SEEDS;
    bool stopped = false;
    plan->variants = settings->quick ? QUICK : VARIANTS;
    int count = plan->variants * plan->seeds;
    th_result done = th_experiment_runs(settings, progress, progress_context, "ways", count,
                                        run_smooth, plan, &stopped, error);
    if (done == TH_OK && !stopped) done = finish(plan, result, error);
    for (int k = 0; k < count; ++k) th_tracks_release(&plan->runs[k].tracks);
    free(plan);
    return done;
}
