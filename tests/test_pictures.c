// Pictures of discomfort and guidance in scenes: meaning of pixels, values of nodes, ways of people, and messages about
// bad files. SPDX-License-Identifier: Apache-2.0
#include "plan/nodes.h"
#include "space/distance_grid.h"
#include "support.h"
#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/throng-pictures-XXXXXX";
static const char *const files[] = {"a.png", "b.png", "c.png", "no.png"};

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static const char *path_of(const char *name) {
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int remove_folder(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof files / sizeof *files; ++k) remove(path_of(files[k]));
    return rmdir(folder);
}

static void write_png(const char *name, uint32_t format, int width, int height,
                      const uint8_t *pixels) {
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)width,
                       .height = (png_uint_32)height,
                       .format = format};
    assert_true(png_image_write_to_file(&image, path_of(name), 0, pixels, 0, NULL));
}

static void write_bytes(const char *name, const void *bytes, size_t size) {
    FILE *file = fopen(path_of(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static th_result load(const char *pictures, th_scene **scene, th_error *error) {
    char text[1200];
    snprintf(text, sizeof text,
             TH_JSON({"levels": [{"id": "g", "walkable": {"rect": [0, 0, 40, 20]}}],
                "exits": [{"id": "e", "line": [[40, 9], [40, 11]]}, {"id": "w", "line": [[0, 19], [0, 20]]}],
                "groups": [{"area": {"rect": [1, 8, 5, 12]}, "count": 1, "to": "e"}], "pictures": [%s]}),
                                                       pictures);
    return th_scene_load_json(text, strlen(text), "s.json", folder, NULL, scene, error);
}

static th_scene *loaded(const char *pictures) {
    th_scene *scene;
    th_error error;
    if (load(pictures, &scene, &error) != TH_OK) fail_msg("%s: %s", error.path, error.message);
    return scene;
}

// ---- what pixels mean

// Two rows; the first is the north.
static void values(void **state) {
    (void)state;
    static const uint8_t grey[] = {0, 51, 255, 102, 0, 255}; // top: 0 51 255
    write_png("a.png", PNG_FORMAT_GRAY, 3, 2, grey);
    th_scene *scene =
        loaded(TH_JSON({"file": "a.png", "corners": [[8, 9], [2, 5]], "black": 6, "white": 1}));
    const th_picture *p = &scene->pictures[0];
    assert_int_equal(scene->picture_count, 1);
    assert_true(p->nx == 3 && p->ny == 2 && p->to == -1 && !p->guidance);
    assert_true(p->box.min_x == 2.0f && p->box.max_x == 8.0f && p->box.max_y == 9.0f);
    static const float wanted[] = {4, 6, 1, 6, 5, 1};
    for (int k = 0; k < 6; ++k) assert_near(p->discomfort[k], wanted[k], 1e-5);
    th_scene_destroy(scene);

    static const uint8_t colour[] = {255, 128, 9, 255, 128, 1,   9, 255, 192, 128, 9, 255,
                                     128, 128, 0, 255, 1,   128, 0, 51,  255, 255, 0, 255};
    write_png("b.png", PNG_FORMAT_RGBA, 3, 2, colour);
    scene = loaded(TH_JSON({"file": "b.png", "shows": "guidance", "corners": [[0, 0], [3, 2]], "strength": 0.5, "to": "w"}));
    p = &scene->pictures[0];
    assert_true(p->guidance && !p->discomfort && p->to == 1);
    const float root = 0.5f * sqrtf(0.5f);
    const th_vec2 vectors[] = {{0, 0},    {-0.1f, 0}, {root, root},
                               {0.5f, 0}, {0, -0.5f}, {0.5f * 64.0f / 127.0f, 0}};
    for (int k = 0; k < 6; ++k) {
        assert_near(p->guidance[k].x, vectors[k].x, 1e-6);
        assert_near(p->guidance[k].y, vectors[k].y, 1e-6);
    }
    th_scene_destroy(scene);
}

// The same greys in every kind of file: grey, colours, with and without transparency, a palette. And as an array.
static void kinds_of_files(void **state) {
    (void)state;
    static const uint8_t levels[] = {0, 40, 200, 255};
    static const uint32_t formats[] = {PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB,
                                       PNG_FORMAT_RGBA};
    const char *text = TH_JSON({"file": "a.png", "corners": [[0, 0], [4, 1]], "black": 255});
    for (int f = 0; f < 5; ++f) {
        uint8_t pixels[16], palette[12] = {0, 0, 0, 40, 40, 40, 200, 200, 200, 255, 255, 255};
        uint8_t places[4] = {0, 1, 2, 3};
        if (f < 4) {
            int channels = (int)PNG_IMAGE_SAMPLE_CHANNELS(formats[f]);
            for (int k = 0; k < 4 * channels; ++k) pixels[k] = levels[k / channels];
            for (int k = 3; channels % 2 == 0 && k < 4 * channels; ++k)
                if (k % channels == channels - 1) pixels[k] = 255;
            if (channels == 2) pixels[1] = 255;
            write_png("a.png", formats[f], 4, 1, pixels);
        } else {
            png_image image = {.version = PNG_IMAGE_VERSION,
                               .width = 4,
                               .height = 1,
                               .format = PNG_FORMAT_RGB_COLORMAP,
                               .colormap_entries = 4};
            assert_true(png_image_write_to_file(&image, path_of("a.png"), 0, places, 0, palette));
        }
        th_scene *scene = loaded(text);
        for (int k = 0; k < 4; ++k)
            assert_near(scene->pictures[0].discomfort[k], 255 - levels[k], 1e-3);
        th_scene_destroy(scene);
    }
    const uint8_t pixels[] = {0, 0, 0, 255, 255, 255, 255, 255};
    th_scene_def def = th_scene_def_default();
    th_picture_def picture = th_picture_def_default(TH_PICTURE_DISCOMFORT);
    picture.pixels = pixels;
    picture.width = 2;
    picture.height = 1;
    picture.black = 3;
    picture.corners[1] = (th_point){10, 5};
    def.pictures = &picture;
    def.picture_count = 1;
    th_scene *scene;
    th_error error;
    assert_int_equal(th_scene_create(&def, &scene, &error), TH_OK);
    assert_near(scene->pictures[0].discomfort[0], 3.0, 0.0);
    assert_near(scene->pictures[0].discomfort[1], 0.0, 0.0);
    th_scene_destroy(scene);
}

// ---- nodes

// Along one axis: does the pixel belong to a node at x? -1: too near to the border to say.
static int belongs(int k, int count, double size, double x) {
    const double half = 0.2; // of a spacing of 0.4 m
    int within = 0;
    for (int c = 0; c < count; ++c) {
        double away = fabs((c + 0.5) * size - x);
        if (fabs(away - half) < 1e-3 || fabs(away - size / 2) < 1e-3) return -1;
        within += away < half;
    }
    return fabs((k + 0.5) * size - x) < (within > 0 ? half : size / 2);
}

static double mean_around(const uint8_t *grey, int nx, int ny, double x, double y) {
    double sum = 0.0, count = 0.0;
    for (int r = 0; r < ny; ++r) {
        int row = belongs(r, ny, 6.0 / ny, y);
        if (row < 0) return -1.0;
        for (int c = 0; row && c < nx; ++c) {
            int column = belongs(c, nx, 12.0 / nx, x);
            if (column < 0) return -1.0;
            if (!column) continue;
            sum += 255.0 - grey[(ny - 1 - r) * nx + c];
            count += 1.0;
        }
    }
    return sum / count;
}

// Pixels from much finer to much coarser than the nodes: the mean of those around it, or the one it lies in.
static void nodes_take_means(void **state) {
    (void)state;
    static const int widths[] = {100, 77, 29, 6};
    srand(3);
    for (int w = 0; w < 4; ++w) {
        int nx = widths[w], ny = (nx + 1) / 2, compared = 0;
        uint8_t *grey = calloc((size_t)nx * (size_t)ny, 1);
        for (int k = 0; k < nx * ny; ++k) grey[k] = (uint8_t)rand();
        write_png("a.png", PNG_FORMAT_GRAY, nx, ny, grey);
        th_scene *scene = loaded(TH_JSON({"file": "a.png", "corners": [[10.03, 4.07], [22.03, 10.07]], "black": 255},
            {"file": "a.png", "corners": [[10, 4], [22, 10]], "black": 5, "to": "w"}));
        th_nodes nodes;
        assert_int_equal(th_nodes_build(&nodes, scene, 0.4, NULL), TH_OK);
        assert_near(nodes.spacing, 0.4, 1e-6);
        float *found = calloc((size_t)nodes.count, sizeof *found);
        th_pictures_add_discomfort(&nodes, 0, found); // to e
        for (int i = 0; i < nodes.count; ++i) {
            th_vec2 at = th_node_position(&nodes, &nodes.levels[0], i);
            double x = (double)at.x - 10.03, y = (double)at.y - 4.07;
            bool far = x < -0.3 || x > 12.3 || y < -0.3 || y > 6.3;
            if (far) assert_near(found[i], 0.0, 0.0);
            if (x < 0.3 || x > 11.7 || y < 0.3 || y > 5.7) continue; // at the edge: either
            double wanted = mean_around(grey, nx, ny, x, y);
            if (wanted < 0.0) continue;
            assert_near(found[i], wanted, 1e-3);
            ++compared;
        }
        assert_true(compared > 100);
        free(found);
        free(grey);
        th_nodes_release(&nodes);
        th_scene_destroy(scene);
    }
}

// ---- people

// Counts those of 40 people that cross the middle of a hall on the straight way, under a picture.
static int through_middle(const char *plan, const char *picture) {
    char text[1000];
    snprintf(
        text, sizeof text,
        TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 40, 20]}}], "pictures": [%s],
                 "exits": [{"id": "e", "line": [[40, 9], [40, 11]]}, {"id": "w", "line": [[0, 19], [0, 20]]}],
                 "groups": [{"area": {"rect": [1, 8, 5, 12]}, "count": 40, "plan": "%s", "move": "orca", "to": "e"}],
                 "measure": {"lines": [{"line": [[20, 6], [20, 14]]}]}}),
                                                              picture, plan);
    th_scene *scene;
    th_error error;
    if (th_scene_load_json(text, strlen(text), "s", folder, NULL, &scene, &error) != TH_OK)
        fail_msg("%s: %s", error.path, error.message);
    th_world *world = world_of(scene, 1, 1);
    run_to_end(world, 200.0);
    assert_int_equal(th_world_statistics(world).left, 40);
    int through = (int)th_world_line(world, 0).backward;
    th_world_destroy(world);
    th_scene_destroy(scene);
    return through;
}

// A black block in the middle of white, and arrows that lead around by the north.
static void people(void **state) {
    (void)state;
    uint8_t block[40 * 20], arrows[40 * 20 * 3];
    for (int y = 0; y < 20; ++y)
        for (int x = 0; x < 40; ++x) {
            block[40 * y + x] = x >= 18 && x < 22 && y >= 6 && y < 14 ? 0 : 255;
            uint8_t *a = &arrows[3 * (40 * y + x)];
            a[0] = a[1] = a[2] = 128;
            if (y < 5) a[0] = 255;                      // along the north wall
            if (y >= 5 && y < 15 && x < 14) a[1] = 255; // and up to it
            if (y >= 5 && x >= 14 && x < 26) a[0] = 1;  // not through the middle, nor by the south
        }
    write_png("b.png", PNG_FORMAT_GRAY, 40, 20, block);
    write_png("c.png", PNG_FORMAT_RGB, 40, 20, arrows);
    const char *map = TH_JSON({"file": "b.png", "corners": [[0, 0], [40, 20]], "black": 20});
    const char *others =
        TH_JSON({"file": "b.png", "corners": [[0, 0], [40, 20]], "black": 20, "to": "w"});
    const char *guides =
        TH_JSON({"file": "c.png", "shows": "guidance", "corners": [[0, 0], [40, 20]]});
    assert_true(through_middle("continuum", "") > 30);
    assert_true(through_middle("continuum", map) < 3);
    assert_true(through_middle("guided", "") > 30);
    assert_true(through_middle("guided", map) < 3);
    assert_true(through_middle("guided", others) > 30);
    assert_true(through_middle("guided", guides) < 3);
    assert_true(through_middle("field", map) > 30);
}

static void refused(const char *picture, th_result code, const char *path, const char *says);

// ---- height

// Greys are metres; an agent that walks up is slower, down as on the flat, and a potential leads around a hill.
static void heights(void **state) {
    (void)state;
    uint8_t ramp[40 * 20], hill[40 * 20];
    for (int y = 0; y < 20; ++y)
        for (int x = 0; x < 40; ++x) {
            ramp[40 * y + x] = (uint8_t)(5 * x);
            hill[40 * y + x] = x >= 18 && x < 22 && y >= 6 && y < 14 ? 255 : 0;
        }
    write_png("a.png", PNG_FORMAT_GRAY, 40, 20, ramp);
    write_png("b.png", PNG_FORMAT_GRAY, 40, 20, hill);
    th_scene *scene =
        loaded(TH_JSON({"file": "a.png", "shows": "height", "corners": [[0, 0], [40, 20]]}));
    const th_picture *p = &scene->pictures[0];
    assert_true(p->kind == TH_PICTURE_HEIGHT && p->height && !p->discomfort && !p->guidance);
    assert_near(p->height[10], 50.0 / 255.0, 1e-6); // black is 0 m, white 1 m
    th_scene_destroy(scene);
    const char *map =
        TH_JSON({"file": "b.png", "shows": "height", "corners": [[0, 0], [40, 20]], "white": 6});
    assert_true(through_middle("continuum", map) < 3);
    assert_true(through_middle("guided", map) > 30); // does not feel it
    static const char *const ways[] = {"[1, 8, 5, 12]", "[35, 8, 39, 12]"};
    float speed[2]; // up to the east, down to the west
    for (int k = 0; k < 2; ++k) {
        char text[1200];
        snprintf(
            text, sizeof text,
            TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 40, 20]}}],
                     "pictures": [{"file": "a.png", "shows": "height", "corners": [[0, 0], [40, 20]], "white": 20.4}],
                     "exits": [{"id": "e", "line": [[40, 0], [40, 20]]}, {"id": "w", "line": [[0, 0], [0, 20]]}],
                     "groups": [{"area": {"rect": %s}, "count": 1, "speed": 1.34, "move": "orca", "to": "%s",
                         "plan": {"model": "continuum", "prediction": 0, "least_speed": 0.001}}]}),
                                                  ways[k], k == 0 ? "e" : "w");
        th_error error;
        if (th_scene_load_json(text, strlen(text), "s", folder, NULL, &scene, &error) != TH_OK)
            fail_msg("%s: %s", error.path, error.message);
        th_world *world = world_of(scene, 1, 1);
        th_world_step(world, 100);
        speed[k] =
            fabsf(((const float *)th_world_map(world, TH_FIELD_VELOCITY_X, TH_ACCESS_READ))[0]);
        th_world_unmap(world, TH_FIELD_VELOCITY_X);
        th_world_destroy(world);
        th_scene_destroy(scene);
    }
    print_message("  up a slope of 0.4 %.2f m/s, down %.2f\n", (double)speed[0], (double)speed[1]);
    assert_near(speed[0], 0.6 * 1.34, 0.02); // 0.4 of the steepest takes 0.4 of the speed
    assert_near(speed[1], 1.34, 0.01);
}

// ---- areas

static th_scene *with_shapes(const char *obstacles, const char *interest, th_error *error) {
    char text[1600];
    snprintf(
        text, sizeof text,
        TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 40, 20]}, "obstacles": %s}],
                "exits": [{"id": "e", "line": [[40, 9], [40, 11]]}],
                "interests": [{"id": "i", "layer": "drawn", "area": %s}],
                "groups": [{"area": {"rect": [1, 8, 5, 12]}, "count": 1, "to": "e", "behave": "interest"}]}),
                                       obstacles, interest);
    th_scene *scene = NULL;
    th_scene_load_json(text, strlen(text), "s", folder, NULL, &scene, error);
    return scene;
}

// The dark parts of a PNG: a block with a hole, and a disc whose steps become straight.
static void areas(void **state) {
    (void)state;
    uint8_t ring[8 * 4 * 2], disc[40 * 40];
    for (int k = 0; k < 32; ++k) {
        ring[2 * k] = k % 8 < 4 || (k % 8 == 5 && k / 8 == 1) ? 200 : 100;
        ring[2 * k + 1] = k == 31 ? 100 : 255; // a transparent corner
    }
    for (int k = 0; k < 1600; ++k) disc[k] = hypot(k % 40 - 19.5, k / 40 - 19.5) < 18.0 ? 0 : 255;
    write_png("a.png", PNG_FORMAT_GA, 8, 4, ring);
    write_png("b.png", PNG_FORMAT_GRAY, 40, 40, disc);
    th_error error;
    th_scene *scene =
        with_shapes(TH_JSON({"file": "a.png", "corners": [[10, 2], [26, 10]]}),
                             TH_JSON({"file": "b.png", "corners": [[30, 4], [34, 8]]}), &error);
    if (!scene) fail_msg("%s: %s", error.path, error.message);
    static const struct {
        float x, y;
        bool free;
    } places[] = {{17.9f, 9, true}, {18.1f, 9, false}, {21, 7, true},
                  {21, 9, false},   {25, 3, true},     {25, 5, false}};
    for (size_t k = 0; k < sizeof places / sizeof *places; ++k)
        assert_int_equal(th_walkable(scene, 0, th_v(places[k].x, places[k].y)), places[k].free);
    const th_polygons *shape = &scene->goals[1].area.shape;
    assert_int_equal(shape->ring_count, 1);
    assert_in_range(shape->ring_start[1], 8, 40);
    for (int k = 0; k < shape->ring_start[1]; ++k)
        assert_near(th_length(th_sub(shape->points[k], th_v(32, 6))), 1.8, 0.1);
    th_scene_destroy(scene);
}

static void shape_refused(const char *area, const char *path, const char *says) {
    th_error error = {0};
    th_scene *scene = with_shapes(area, TH_JSON({"rect": [30, 4, 34, 8]}), &error);
    assert_null(scene);
    if (!strstr(error.path, path) || !strstr(error.message, says))
        fail_msg("%s: %s", error.path, error.message);
}

static void messages_of_areas(void **state) {
    (void)state;
    static uint8_t grey[8], white[8], dots[400 * 200];
    memset(white, 255, sizeof white);
    for (int k = 0; k < 400 * 200; ++k) dots[k] = (k + k / 400) % 2 ? 255 : 0;
    write_png("a.png", PNG_FORMAT_GRAY, 4, 2, grey);
    write_png("b.png", PNG_FORMAT_GRAY, 4, 2, white);
    write_png("c.png", PNG_FORMAT_GRAY, 400, 200, dots);
#define AREA(file) "{\"file\": \"" file "\", \"corners\": [[0, 0], [8, 4]]}"
    shape_refused("{\"file\": \"a.png\"}", "obstacles", "needs \"corners\"");
    shape_refused("{\"corners\": [[0, 0], [8, 4]]}", "obstacles", "exactly one of");
    shape_refused("{\"rect\": [0, 0, 1, 1], \"corners\": [[0, 0], [8, 4]]}", "obstacles",
                  "exactly one of");
    shape_refused("{\"file\": \"a.png\", \"corners\": [[0, 0], [8, 8]]}", "obstacles",
                  "would not be square");
    shape_refused(AREA("b.png"), "obstacles", "nothing is dark");
    shape_refused(AREA("c.png"), "obstacles", "draw it coarser");
    shape_refused(AREA("none.png"), "obstacles", "none.png");
    uint8_t *many = calloc(2200 * 1100, 1); // once is possible, twice too much
    write_png("no.png", PNG_FORMAT_GRAY, 2200, 1100, many);
    free(many);
    shape_refused("[" AREA("no.png") ", " AREA("no.png") "]", "obstacles[1]", "together");
    th_scene *scene;
    th_error error;
    const char walls[] = "{\"levels\": [{\"walls\": " AREA("a.png") "}]}";
    assert_int_equal(th_scene_load_json(walls, sizeof walls - 1, "s", folder, NULL, &scene, &error),
                     TH_BAD_SCENE);
    assert_non_null(strstr(error.message, "thin walls"));
    refused("{\"file\": \"a.png\", \"shows\": \"height\", \"corners\": [[0, 0], [8, 4]], \"to\": "
            "\"e\"}",
            TH_BAD_SCENE, "pictures[0].to", "same for all groups");
}

// People keep to the turn that is drawn around the fountain: those to the east pass south of it, those to the west
// north.
static double with_the_turn(bool drawn, int crowds) {
    static const char *const without[] = {"groups.0.plan.follow=0", "groups.1.plan.follow=0"};
    th_scene_options options = {.overrides = without, .override_count = drawn ? 0 : 2};
    th_scene *scene;
    th_error error;
    if (th_scene_load_file(TH_SOURCE_DIR "/scenes/guided/park.json", &options, &scene, &error) !=
        TH_OK)
        fail_msg("%s: %s", error.path, error.message);
    double with = 0.0, all = 0.0;
    for (int seed = 1; seed <= crowds; ++seed) {
        th_world *world = world_of(scene, 1, (uint64_t)seed);
        run_to_end(world, 300.0);
        assert_int_equal(th_world_statistics(world).left, th_world_statistics(world).spawned);
        for (int line = 0; line < 2; ++line) { // forward is from the right of the line to its left
            th_line_count count = th_world_line(world, line);
            with += (double)count.forward;
            all += (double)(count.forward + count.backward);
        }
        th_world_destroy(world);
    }
    th_scene_destroy(scene);
    return with / all;
}

static void park(void **state) {
    (void)state;
    double drawn = with_the_turn(true, CROWDS(3)), plain = with_the_turn(false, CROWDS(3));
    print_message("  %.0f %% walk around the fountain as drawn, %.0f %% without\n", 100.0 * drawn,
                  100.0 * plain);
    assert_true(drawn > 0.9);
    assert_true(plain < 0.7);
}

// ---- messages

static void refused(const char *picture, th_result code, const char *path, const char *says) {
    th_scene *scene;
    th_error error;
    assert_int_equal(load(picture, &scene, &error), code);
    assert_null(scene);
    if (!strstr(error.path, path) || !strstr(error.message, says))
        fail_msg("%s: %s", error.path, error.message);
}

static void messages(void **state) {
    (void)state;
    static const uint8_t grey[8] = {0};
    write_png("a.png", PNG_FORMAT_GRAY, 4, 2, grey);
    write_bytes("no.png", "GIF89a, not a picture of ours", 29);
#define CORNERS "\"corners\": [[0, 0], [8, 4]]"
    refused("{" CORNERS "}", TH_BAD_SCENE, "pictures[0].file", "needs a \"file\"");
    refused("{\"file\": \"none.png\", " CORNERS "}", TH_NO_FILE, "pictures[0].file", "none.png");
    refused("{\"file\": \"no.png\", " CORNERS "}", TH_BAD_SCENE, "pictures[0].file", "not a PNG");
    refused("{\"file\": \"a.png\"}", TH_BAD_SCENE, "pictures[0]", "\"corners\"");
    refused("{\"file\": \"a.png\", \"corners\": [[3, 0], [3, 4]]}", TH_BAD_SCENE,
            "pictures[0].corners", "two opposite");
    refused("{\"file\": \"a.png\", \"corners\": [[0, 0], [8, 8]]}", TH_BAD_SCENE,
            "pictures[0].corners", "4 x 2 pixels and covers 8 x 8 m");
    refused("{\"file\": \"a.png\", \"corners\": [[50, 0], [58, 4]]}", TH_BAD_SCENE,
            "pictures[0].corners", "outside level");
    refused("{\"file\": \"a.png\", " CORNERS ", \"shows\": \"mood\"}", TH_BAD_SCENE,
            "pictures[0].shows", "\"guidance\" or \"height\"");
    refused("{\"file\": \"a.png\", " CORNERS ", \"black\": -1}", TH_BAD_SCENE, "pictures[0].black",
            "black");
    refused("{\"file\": \"a.png\", " CORNERS ", \"white\": 1e9}", TH_BAD_SCENE, "pictures[0].white",
            "1000");
    refused("{\"file\": \"a.png\", " CORNERS ", \"strength\": 1}", TH_BAD_SCENE,
            "pictures[0].strength", "less than 1");
    refused("{\"file\": \"a.png\", " CORNERS ", \"to\": \"f\"}", TH_BAD_SCENE, "pictures[0].to",
            "f");
    refused("{\"file\": \"a.png\", " CORNERS ", \"level\": \"h\"}", TH_BAD_SCENE,
            "pictures[0].level", "level");
    refused("{\"file\": \"a.png\", " CORNERS ", \"size\": 3}", TH_BAD_SCENE, "pictures[0].size",
            "unknown key");
    th_scene *scene;
    th_error error;
    th_scene_options options = {.no_files = true};
    const char text[] = "{\"pictures\": [{\"file\": \"a.png\", " CORNERS "}]}";
    assert_int_equal(
        th_scene_load_json(text, sizeof text - 1, "s", folder, &options, &scene, &error),
        TH_NO_FILE);
    assert_non_null(strstr(error.message, "not allowed"));
}

// A header that promises too much, before anything is allocated for it.
static void too_large(void **state) {
    (void)state;
    size_t count = 3000 * 1500;
    uint8_t *pixels = calloc(count, 1);
    write_png("a.png", PNG_FORMAT_GRAY, 3000, 1500, pixels);
    free(pixels);
    refused("{\"file\": \"a.png\", " CORNERS "}", TH_BAD_SCENE, "pictures[0].file",
            "3000 x 1500 pixels");
}

// Bytes changed at random, and the file cut anywhere: a scene or an error, nothing else.
static void garbage(void **state) {
    (void)state;
    uint8_t pixels[16 * 8 * 3];
    srand(8);
    for (size_t k = 0; k < sizeof pixels; ++k) pixels[k] = (uint8_t)rand();
    write_png("a.png", PNG_FORMAT_RGB, 16, 8, pixels);
    uint8_t bytes[2000], bad[2000];
    FILE *file = fopen(path_of("a.png"), "rb");
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    int refusals = 0;
    for (int n = 0; n < 400; ++n) {
        memcpy(bad, bytes, size);
        size_t cut = n % 2 ? size : (size_t)rand() % size;
        for (int k = 0; n % 2 && k < 3; ++k) bad[(size_t)rand() % size] = (uint8_t)rand();
        write_bytes("c.png", bad, cut);
        th_scene *scene;
        th_error error;
        th_result result = load("{\"file\": \"c.png\", " CORNERS "}", &scene, &error);
        assert_true(result == TH_OK ? scene != NULL : scene == NULL && error.message[0]);
        refusals += result != TH_OK;
        th_scene_destroy(scene);
    }
    assert_true(refusals > 380); // checksums notice nearly all
}

static void every_allocation(void **state) {
    (void)state;
    static const uint8_t grey[8] = {0, 9};
    write_png("a.png", PNG_FORMAT_GRAY, 4, 2, grey);
    const char text[] = "{\"pictures\": [{\"file\": \"a.png\", " CORNERS "}]}";
    for (int64_t k = 1;; ++k) {
        ledger l = {.fail_at = k};
        th_scene_options options = {.allocator = {counted_alloc, counted_free, &l}};
        th_scene *scene;
        th_error error;
        th_result result =
            th_scene_load_json(text, sizeof text - 1, "s", folder, &options, &scene, &error);
        th_scene_destroy(scene);
        assert_int_equal(l.bytes, 0);
        if (result == TH_OK) {
            assert_true(k > 10);
            break;
        }
        assert_int_equal(result, TH_NO_MEMORY);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(kinds_of_files),
        cmocka_unit_test(nodes_take_means),
        cmocka_unit_test(people),
        cmocka_unit_test(heights),
        cmocka_unit_test(areas),
        cmocka_unit_test(messages_of_areas),
        cmocka_unit_test(park),
        cmocka_unit_test(messages),
        cmocka_unit_test(too_large),
        cmocka_unit_test(garbage),
        cmocka_unit_test(every_allocation),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
