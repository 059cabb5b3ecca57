// throng export: a recording as one file that plays in a browser without a server. SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"
#include "core/file.h"
#include "studio/frame.h"
#include "studio/studio.h"
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

static void pack_frames(packed *p, const th_studio *studio, double fps) {
    const th_studio_history *h = &studio->history;
    const th_studio_view everything = {0};
    unsigned char *buffer = NULL;
    size_t room = 0;
    double next = -1e30;
    uint32_t number = 0;
    for (int k = h->first; k < h->count && !p->failed; ++k) {
        const th_studio_moment *moment = h->moments[k];
        if (moment->time < next - 1e-6 && k + 1 < h->count) continue;
        next = moment->time + 1.0 / fps;
        if (room < th_studio_people_room(moment)) {
            room = th_studio_people_room(moment) * 5 / 4;
            unsigned char *grown = realloc(buffer, room);
            if (!grown) {
                p->failed = true;
                break;
            }
            buffer = grown;
        }
        th_studio_frame frame = {.number = ++number, .colour = 0};
        size_t size = th_studio_write_people(moment, &everything, &frame, buffer);
        pack_message(p, 2, buffer, size);
    }
    free(buffer);
}

static bool pack_recording(packed *p, const th_studio *studio, double fps) {
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

static void put_base64(th_file_writer *file, const unsigned char *bytes, size_t size) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char line[4096];
    size_t used = 0;
    for (size_t k = 0; k < size; k += 3) {
        size_t left = size - k;
        unsigned word = (unsigned)bytes[k] << 16 | (left > 1 ? (unsigned)bytes[k + 1] << 8 : 0) |
                        (left > 2 ? (unsigned)bytes[k + 2] : 0);
        line[used++] = letters[word >> 18];
        line[used++] = letters[word >> 12 & 63];
        line[used++] = left > 1 ? letters[word >> 6 & 63] : '=';
        line[used++] = left > 2 ? letters[word & 63] : '=';
        if (used + 4 <= sizeof line) continue;
        th_file_put(file, line, used);
        used = 0;
    }
    th_file_put(file, line, used);
}

// Where the recording goes into the page: before its last </body>.
static size_t place_in_page(void) {
    static const char end[] = "</body>";
    size_t size = th_studio_page_size();
    for (size_t k = size; k >= sizeof end; --k)
        if (memcmp(th_studio_page + k - sizeof end + 1, end, sizeof end - 1) == 0)
            return k - sizeof end + 1;
    return size;
}

static int write_page(const char *path, const packed *p) {
    static const char begin[] =
        "<script id=\"throng-recording\" type=\"application/octet-stream;base64\">",
                      end[] = "</script>\n";
    th_error error = {0};
    th_file_writer file;
    size_t at = place_in_page();
    th_file_begin(&file, NULL, path);
    th_file_put(&file, th_studio_page, at);
    th_file_put(&file, begin, sizeof begin - 1);
    put_base64(&file, p->bytes, p->z.total_out);
    th_file_put(&file, end, sizeof end - 1);
    th_file_put(&file, th_studio_page + at, th_studio_page_size() - at);
    if (th_file_end(&file, TH_FLUSHED, &error) != TH_OK) return th_report_failure(path, &error);
    char size[32];
    th_size_text(size, sizeof size, (double)th_file_bytes(path));
    printf("%s: %s; open it in a browser\n", path, size);
    return TH_EXIT_OK;
}

static int export_html(const char *run, const char *path, double fps) {
    th_studio studio;
    th_error error = {0};
    packed p = {0};
    int code;
    if (!th_studio_init(&studio)) return TH_EXIT_FAILED;
    if (th_replay_open(&studio, run, &error) != TH_OK) {
        code = th_report_error(run, &error);
    } else if (!pack_recording(&p, &studio, fps)) {
        fprintf(stderr, "throng export: no memory for the recording; give a smaller --fps\n");
        code = TH_EXIT_FAILED;
    } else {
        code = write_page(path, &p);
    }
    free(p.bytes);
    th_studio_release(&studio);
    return code;
}

static int run_export(const th_command *command, int argc, char **argv) {
    const char *html = NULL, *run = NULL;
    double fps = 5;
    const th_option options[] = {
        {"html", TH_OPTION_TEXT, &html, "FILE",
         "one file that plays in a browser, without a server", 0, 0},
        {"fps", TH_OPTION_REAL, &fps, "N", "frames per second that are kept (default 5)", 0.01,
         100},
    };
    th_parse_result parsed = th_args_parse(command, options, 2, argc, argv, &run);
    if (parsed != TH_PARSE_OK) return parsed == TH_PARSE_HELP ? TH_EXIT_OK : TH_EXIT_USAGE;
    if (!html) {
        th_complain(command, "say what to write: --html FILE");
        return TH_EXIT_USAGE;
    }
    if (th_studio_page_size() == 0) {
        fprintf(stderr, "throng export: this build has no studio page, because it was built "
                        "without Node; install "
                        "Node (tools/install-deps does) and build again\n");
        return TH_EXIT_FAILED;
    }
    return export_html(run, html, fps);
}

const th_command th_command_export = {
    .name = "export",
    .operands = "RUN",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "a recording as one file that plays in a browser",
    .detail = "RUN is what `throng replay` takes: the folder of a recorded run, or a recording. "
              "The file holds the page,\n"
              "the plan and everybody's way; it can be sent on and plays by a double click, "
              "without a network.",
    .examples = "  throng run scenes/station.json --record sqlite --out runs/station\n"
                "  throng export runs/station --html station.html\n",
    .run = run_export,
};
