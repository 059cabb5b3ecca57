// throng export: a recording as one file that plays in a browser without a server, or as a video; a scene as a page that runs
// its crowd itself.
// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"
#include "core/file.h"
#include "report/report.h"
#include "studio/exchange.h"
#include "studio/outward.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

// The messages as the WebSocket would bring them, gzipped as they come (docs/studio-protocol.md).
typedef struct packed {
    z_stream z;
    unsigned char *bytes;
    size_t room;
    bool failed;
} packed;

static void pack(packed *p, const void *bytes, size_t size, int flush) {
    p->z.next_in = (Bytef *)(uintptr_t)bytes; // zlib does not write there
    p->z.avail_in = (uInt)size;
    do {
        if (p->room - p->z.total_out < 65536) {
            size_t room = p->room + p->room / 2 + (1 << 20);
            unsigned char *grown = realloc(p->bytes, room);
            if (!grown) {
                p->failed = true;
                return;
            }
            p->bytes = grown;
            p->room = room;
        }
        p->z.next_out = p->bytes + p->z.total_out;
        p->z.avail_out =
            (uInt)(p->room - p->z.total_out < 1u << 30 ? p->room - p->z.total_out : 1u << 30);
        int result = deflate(&p->z, flush);
        if (result == Z_STREAM_END) return;
        if (result != Z_OK && result != Z_BUF_ERROR) p->failed = true;
    } while (!p->failed && (p->z.avail_in > 0 || p->z.avail_out == 0 || flush == Z_FINISH));
}

static void pack_message(packed *p, unsigned char type, const void *bytes, size_t size) {
    unsigned char head[8] = {(unsigned char)size, (unsigned char)(size >> 8),
                             (unsigned char)(size >> 16), (unsigned char)(size >> 24), type};
    pack(p, head, sizeof head, Z_NO_FLUSH);
    pack(p, bytes, size, Z_NO_FLUSH);
}

static void pack_json(packed *p, json_t *object) {
    char *text = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(7)) : NULL;
    json_decref(object);
    if (text)
        pack_message(p, 1, text, strlen(text));
    else
        p->failed = true;
    free(text);
}

// ---- frames

typedef struct frame_buffer {
    unsigned char *bytes;
    size_t room;
} frame_buffer;

static bool has_room(packed *p, frame_buffer *buffer, size_t size) {
    if (size <= buffer->room) return true;
    unsigned char *grown = realloc(buffer->bytes, size * 5 / 4);
    if (!grown) {
        p->failed = true;
        return false;
    }
    buffer->bytes = grown;
    buffer->room = size * 5 / 4;
    return true;
}

static void pack_people(packed *p, const th_studio_moment *moment, const th_studio_frame *frame,
                        frame_buffer *buffer) {
    const th_studio_view everything = {0};
    if (!has_room(p, buffer, th_studio_people_room(moment))) return;
    size_t size = th_studio_write_people(moment, &everything, frame, buffer->bytes);
    pack_message(p, 2, buffer->bytes, size);
}

// The density of every level, so that the page shows the figures of the report.
static void pack_density(packed *p, const th_studio_moment *moment, const th_studio_frame *frame,
                         frame_buffer *buffer) {
    for (int l = 0; l < moment->catalogue->level_count && !p->failed; ++l) {
        th_studio_field field;
        p->failed = !th_studio_map_people(moment, TH_LAYER_DENSITY, l, &field);
        if (p->failed) return;
        field.layer = th_studio_find_layer(moment->catalogue, "density");
        if (has_room(p, buffer, th_studio_field_room(&field, false)))
            pack_message(p, 2, buffer->bytes,
                         th_studio_write_field(moment, &field, frame, buffer->bytes));
        th_studio_field_release(&field);
    }
}

// Seconds between two maps: one, and more where all maps would take more than 128 MB before they are compressed.
static double map_interval(const th_studio_history *h) {
    const double map_bytes = 128e6;
    const th_studio_catalogue *catalogue = h->moments[h->first]->catalogue;
    double cells = 0.0, span = h->moments[h->count - 1]->time - h->moments[h->first]->time;
    for (int l = 0; l < catalogue->level_count; ++l)
        cells += (double)catalogue->kernels[l].nx * (double)catalogue->kernels[l].ny;
    return fmax(1.0, cells * span / map_bytes);
}

static void pack_frames(packed *p, const th_studio *studio, double fps) {
    const th_studio_history *h = &studio->history;
    if (h->count <= h->first) return;
    frame_buffer buffer = {0};
    double next = -1e30, next_map = -1e30, between = map_interval(h);
    th_studio_frame frame = {0};
    for (int k = h->first; k < h->count && !p->failed; ++k) {
        const th_studio_moment *moment = h->moments[k];
        if (moment->time < next - 1e-6 && k + 1 < h->count) continue;
        next = moment->time + 1.0 / fps;
        frame.number++;
        if (moment->time >= next_map - 1e-6) {
            next_map = moment->time + between;
            pack_density(p, moment, &frame, &buffer);
        }
        pack_people(p, moment, &frame, &buffer);
    }
    free(buffer.bytes);
}

static bool pack_recording(packed *p, th_studio *studio, double fps) {
    if (deflateInit2(&p->z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return false;
    json_t *rows = studio->plays[0].charts.rows;
    pack_json(p, th_describe_hello(studio));
    pack_json(p, th_describe_scene(studio, 0));
    pack_json(p, json_pack("{s:i,s:b,s:[{s:o}]}", "id", 0, "ok", 1, "worlds", "rows",
                           rows ? json_incref(rows) : json_array()));
    pack_frames(p, studio, fps);
    pack(p, "", 0, Z_FINISH);
    deflateEnd(&p->z);
    return !p->failed;
}

// The place of the recording in the page: before its last </body>.
static size_t place_in_page(void) {
    static const char end[] = "</body>";
    size_t size = th_studio_page_size();
    for (size_t k = size; k >= sizeof end; --k)
        if (memcmp(th_studio_page + k - sizeof end + 1, end, sizeof end - 1) == 0)
            return k - sizeof end + 1;
    return size;
}

// Gzipped bytes that the page reads by the element's name.
typedef struct element {
    const char *id;
    const unsigned char *bytes;
    size_t size;
} element;

static int write_page(const char *path, const element *elements, int count) {
    th_error error = {0};
    th_file_writer file;
    size_t at = place_in_page();
    th_file_begin(&file, NULL, path);
    th_file_put(&file, th_studio_page, at);
    for (int k = 0; k < count; ++k) {
        char begin[120];
        snprintf(begin, sizeof begin, "<script id=\"%s\" type=\"application/octet-stream;base64\">",
                 elements[k].id);
        th_file_put(&file, begin, strlen(begin));
        th_base64_put(&file, elements[k].bytes, elements[k].size);
        th_file_put(&file, "</script>\n", 10);
    }
    th_file_put(&file, th_studio_page + at, th_studio_page_size() - at);
    if (th_file_end(&file, TH_FLUSHED, &error) != TH_OK) return th_report_failure(path, &error);
    char size[32];
    th_size_text(size, sizeof size, (double)th_file_bytes(path));
    printf("%s: %s; open it in a browser\n", path, size);
    return TH_EXIT_OK;
}

// The name within the folder of the run; NULL: the file lies elsewhere, or the run is not a folder.
static const char *name_in_run(const char *run, const char *path) {
    char folder[PATH_MAX], beside[PATH_MAX], other[PATH_MAX], report[TH_PATH_MAX];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    snprintf(other, sizeof other, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    snprintf(report, sizeof report, "%.4000s/report.html", run);
    if (th_file_bytes(report) < 0 || !realpath(run, folder) ||
        !realpath(slash == path ? "/" : other, beside) || strcmp(folder, beside) != 0)
        return NULL;
    return name;
}

// A page beside the report is linked there.
static void link_in_report(const char *run, const char *path) {
    static const char place[] = "<span id=\"" TH_REPORT_REPLAY "\">";
    const char *name = name_in_run(run, path);
    char report[TH_PATH_MAX];
    size_t size;
    if (!name || strpbrk(name, "<>&\"'?#%")) return;
    snprintf(report, sizeof report, "%.4000s/report.html", run);
    char *text = th_file_content(report, &size, NULL);
    if (!text) return;
    char *begin = strstr(text, place), *end = begin ? strstr(begin, "</span>") : NULL;
    if (end) {
        th_file_writer file;
        begin += sizeof place - 1;
        th_file_begin(&file, NULL, report);
        th_file_put(&file, text, (size_t)(begin - text));
        if (file.file) fprintf(file.file, "<a href=\"%s\">%s</a>, or ", name, name);
        th_file_put(&file, end, size - (size_t)(end - text));
        if (th_file_end(&file, TH_FLUSHED, NULL) == TH_OK) printf("%s links it\n", report);
    }
    free(text);
}

static int export_html(th_studio *studio, const char *path, double fps) {
    packed p = {0};
    int code = TH_EXIT_FAILED;
    if (th_studio_page_size() == 0)
        fprintf(stderr, "throng export: this build has no studio page, because Node or its "
                        "packages were missing; `make build` with Node and a network brings it\n");
    else if (!pack_recording(&p, studio, fps))
        fprintf(stderr, "throng export: no memory for the recording; give a smaller --fps\n");
    else
        code = write_page(path, &(element){"throng-recording", p.bytes, (size_t)p.z.total_out}, 1);
    free(p.bytes);
    return code;
}

// ---- a scene whose crowd runs in the page

static int export_app(const char *scene_path, const char *path) {
    th_scene *scene = NULL;
    th_error error = {0};
    char *text = NULL;
    packed p = {0};
    th_scene_options options = th_scene_options_default();
    options.no_files = true;
    if (th_studio_page_size() == 0 || th_studio_engine_size() == 0) {
        fprintf(stderr, "throng export: this build has no engine for pages; `make wasm` builds it, "
                        "and `make build` then puts it into the program\n");
        return TH_EXIT_FAILED;
    }
    if (th_scene_load_file(scene_path, &options, &scene, &error) != TH_OK ||
        th_scene_overridden_json(scene_path, NULL, &text, &error) != TH_OK) {
        th_scene_destroy(scene);
        return th_report_error(scene_path, &error);
    }
    th_scene_destroy(scene);
    int code = TH_EXIT_FAILED;
    if (deflateInit2(&p.z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK) {
        pack(&p, text, strlen(text), Z_FINISH);
        const element elements[] = {
            {"throng-scene", p.bytes, (size_t)p.z.total_out},
            {"throng-engine", th_studio_engine, th_studio_engine_size()},
        };
        deflateEnd(&p.z);
        if (!p.failed) code = write_page(path, elements, 2);
    }
    free(p.bytes);
    th_free(text);
    return code;
}

static int export_video(th_studio *studio, const char *path, th_video_def def, bool in_3d) {
    th_error error = {0};
    th_share share;
    th_share_start(&share, "drawing the video", false);
    def.progress = th_share_show;
    def.context = &share;
    th_watch_interrupt();
    th_result result = in_3d ? th_film_write(studio, path, &def, &error)
                             : th_video_write(studio, path, &def, &error);
    th_share_end(&share);
    if (th_interrupted()) return TH_EXIT_INTERRUPTED;
    if (result != TH_OK) return th_report_failure(path, &error);
    char size[32];
    th_size_text(size, sizeof size, (double)th_file_bytes(path));
    printf("%s: %s\n", path, size);
    return TH_EXIT_OK;
}

// ---- for films and games

typedef th_result write_out(const th_studio *studio, const char *path, const th_out_def *def,
                            th_error *error);

static int export_out(th_studio *studio, write_out *write, const char *path, double fps) {
    th_error error = {0};
    th_share share;
    th_share_start(&share, "writing the crowd", false);
    th_out_def def = {.fps = fps, .progress = th_share_show, .context = &share};
    th_watch_interrupt();
    th_result result = write(studio, path, &def, &error);
    th_share_end(&share);
    if (th_interrupted()) return TH_EXIT_INTERRUPTED;
    if (result != TH_OK) return th_report_failure(path, &error);
    char size[32];
    th_size_text(size, sizeof size, (double)th_file_bytes(path));
    printf("%s: %s\n", path, size);
    return TH_EXIT_OK;
}

typedef struct export_options {
    const char *app, *html, *video, *usd, *gltf, *points, *colour, *view, *path;
    double fps;
    long long width;
    th_colour_by colour_by;
} export_options;

static int export_all(const char *run, const export_options *o) {
    th_studio studio;
    th_error error = {0};
    int code = TH_EXIT_OK;
    if (!th_studio_init(&studio)) return TH_EXIT_FAILED;
    if (th_replay_open(&studio, run, &error) != TH_OK) code = th_report_error(run, &error);
    if (code == TH_EXIT_OK && o->html) {
        code = export_html(&studio, o->html, o->fps > 0 ? o->fps : 5);
        if (code == TH_EXIT_OK) link_in_report(run, o->html);
    }
    if (code == TH_EXIT_OK && o->video)
        code = export_video(&studio, o->video,
                            (th_video_def){.fps = o->fps > 0 ? o->fps : 25,
                                           .width = (int)o->width & ~1,
                                           .colour_by = (int)o->colour_by,
                                           .colour = o->colour,
                                           .path = o->path},
                            strcmp(o->view, "3d") == 0);
    const struct {
        const char *path;
        write_out *write;
    } outs[] = {{o->usd, th_usd_write}, {o->gltf, th_gltf_write}, {o->points, th_points_write}};
    for (int k = 0; k < 3 && code == TH_EXIT_OK; ++k)
        if (outs[k].path)
            code = export_out(&studio, outs[k].write, outs[k].path, o->fps > 0 ? o->fps : 12);
    th_studio_release(&studio);
    return code;
}

static int run_export(const th_command *command, int argc, char **argv) {
    const char *run = NULL;
    export_options o = {.colour = "speed", .view = "plan", .width = 1280};
    const th_option options[] = {
        {"html", TH_OPTION_TEXT, &o.html, "FILE",
         "one file that plays in a browser, without a server", 0, 0},
        {"app", TH_OPTION_TEXT, &o.app, "FILE",
         "of a scene: the studio with its crowd in one file, without a server", 0, 0},
        {"video", TH_OPTION_TEXT, &o.video, "FILE",
         "a video (.mp4, .webm, .gif), made by the program ffmpeg", 0, 0},
        {"usd", TH_OPTION_TEXT, &o.usd, "FILE",
         "for films: a USD text file (.usda) with a PointInstancer (docs/film.md)", 0, 0},
        {"gltf", TH_OPTION_TEXT, &o.gltf, "FILE",
         "for games: glTF (.glb, .gltf); up to 300 people walk with bones, more glide", 0, 0},
        {"points", TH_OPTION_TEXT, &o.points, "FILE",
         "a table (.csv) of places, speeds and gaits, a row per person and frame", 0, 0},
        {"view", TH_OPTION_TEXT, &o.view, "V",
         "of the video: plan (default), or 3d, which a browser draws", 0, 0},
        {"path", TH_OPTION_TEXT, &o.path, "PATH",
         "of the camera in 3d: what follows path= in the studio's address", 0, 0},
        {"fps", TH_OPTION_REAL, &o.fps, "N",
         "frames per second (default 5 in a page, 25 in a video, 12 for films and games)", 0.01,
         100},
        {"width", TH_OPTION_INTEGER, &o.width, "PX", "width of the video (default 1280)", 320,
         7680},
        {"colour", TH_OPTION_TEXT, &o.colour, "BY",
         "of people in the video: speed (default), density or group", 0, 0},
    };
    th_parse_result parsed = th_args_parse(
        command, options, (int)(sizeof options / sizeof options[0]), argc, argv, &run);
    if (parsed != TH_PARSE_OK) return parsed == TH_PARSE_HELP ? TH_EXIT_OK : TH_EXIT_USAGE;
    if (!th_read_colour(command, o.colour, false, &o.colour_by)) return TH_EXIT_USAGE;
    if (strcmp(o.view, "plan") != 0 && strcmp(o.view, "3d") != 0) {
        th_complain(command, "--view is plan or 3d");
        return TH_EXIT_USAGE;
    }
    if (strcmp(o.view, "3d") == 0 && o.width > 3840) {
        th_complain(command, "a video in 3D is at most 3840 pixels wide; give a smaller --width");
        return TH_EXIT_USAGE;
    }
    if (o.path && (strcmp(o.view, "3d") != 0 || strlen(o.path) > TH_VIDEO_PATH ||
                   o.path[strspn(o.path, "0123456789.,;-%BCbc")] != '\0')) {
        th_complain(command, "--path is for --view 3d: times and places as the studio's address "
                             "has them after path=");
        return TH_EXIT_USAGE;
    }
    bool outward = o.usd || o.gltf || o.points;
    if (!o.html && !o.video && !o.app && !outward) {
        th_complain(command,
                    "say what to write: --html, --video, --usd, --gltf, --points or --app FILE");
        return TH_EXIT_USAGE;
    }
    if (o.app && (o.html || o.video || outward)) {
        th_complain(command, "--app is made from a scene, all others from a recording");
        return TH_EXIT_USAGE;
    }
    if (o.app) return export_app(run, o.app);
    return export_all(run, &o);
}

const th_command th_command_export = {
    .name = "export",
    .operands = "RUN",
    .operand_min = 1,
    .operand_max = 1,
    .summary =
        "a recording as one file that plays in a browser, a video, or a scene for films and games",
    .detail =
        "RUN is what `throng replay` takes: the folder of a recorded run, or a recording. "
        "The page holds the\n"
        "plan and the ways of all people; it can be sent on and plays by a double click, without a "
        "network. A\n"
        "video is drawn as `throng picture` draws, in real time; people go straight on "
        "between two frames\n"
        "of the recording. In 3D a browser without a window draws it (Chromium, or what "
        "TH_BROWSER names). A page written into the run's folder is linked in its report.\n"
        "--app takes a scene without linked files and writes the studio with its crowd, which the "
        "browser\n"
        "steps itself (docs/web.md); builds have it after `make wasm`.",
    .examples = "  throng run scenes/station.json --record sqlite --out runs/station\n"
                "  throng export runs/station --html runs/station/replay.html\n"
                "  throng export runs/station --video station.mp4 --colour density\n"
                "  throng export runs/station --video station3d.mp4 --view 3d\n"
                "  throng export runs/station --usd crowd.usda --fps 24\n",
    .run = run_export,
};
