// DXF in ASCII: pairs of lines, a group code and a value. Read are LINE, LWPOLYLINE and POLYLINE with bulges, ARC, CIRCLE,
// ELLIPSE and INSERT with its block, placed by scale, angle and rows; what else the file has is counted. Nothing is believed:
// numbers are checked, blocks may not hold themselves, and what they unfold to is limited. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "import/drawing.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEPTH_MOST = 16,         // of blocks in blocks
    POINTS_MOST = 4000000,   // of all paths
    ENTITIES_MOST = 4000000, // looked at, those of a block for each reference
    COPIES_MOST = 10000,     // of one INSERT
    ARC_MOST = 256,
    ARC_LEAST = 2, // pieces of an arc
};
static const double CHORD = 0.005; // [m] how far an arc's pieces lie off it
static const double FAR = 1e12;    // in any unit
static const double TAU = 6.283185307179586;

typedef struct pair {
    int code, line;
    const char *value;
} pair;

typedef struct block {
    const char *name;
    th_point base;
    int first, end; // pairs
    bool external;
} block;

// x' = a x + c y + x0, y' = b x + d y + y0.
typedef struct place {
    double a, b, c, d, x, y;
} place;

typedef struct reader {
    th_drawing *out;
    th_error *error;
    th_result result;
    pair *pairs;
    int count, capacity;
    block *blocks;
    int block_count, block_capacity;
    double chord; // in the drawing's unit
    int visited, inserts;
    th_drawn_path path; // being drawn
} reader;

static void fail(reader *r, int line, const char *why) {
    if (r->result == TH_OK)
        r->result = th_fail(r->error, TH_BAD_SCENE, "", "line %d: %s", line, why);
}

static void no_memory(reader *r) {
    if (r->result == TH_OK)
        r->result = th_fail(r->error, TH_NO_MEMORY, "", "no memory for the drawing");
}

// ---- pairs

static char *next_line(char **at, char *end) {
    if (*at >= end) return NULL;
    char *line = *at, *stop = memchr(line, '\n', (size_t)(end - line));
    if (!stop) stop = end;
    *at = stop < end ? stop + 1 : end;
    *stop = '\0';
    if (stop > line && stop[-1] == '\r') stop[-1] = '\0';
    return line;
}

static void read_pairs(reader *r, char *text, size_t length) {
    char *at = text, *end = text + length, *line;
    int number = 0;
    while (r->result == TH_OK && (line = next_line(&at, end))) {
        char *rest;
        long code = strtol(line, &rest, 10);
        while (*rest == ' ' || *rest == '\t') ++rest;
        char *value = next_line(&at, end);
        number += 2;
        if (!value && *line == '\0') return; // a last empty line
        if (rest == line || *rest || code < -100 || code > 2000) {
            fail(r, number - 1,
                 "here a group code is due, a whole number; the file is damaged or is no DXF");
            return;
        }
        if (!value) return; // cut short: what is there counts
        while (*value == ' ' || *value == '\t') ++value;
        if (!th_arena_reserve(r->out->arena, &r->pairs, &r->capacity, r->count + 1,
                              sizeof *r->pairs)) {
            no_memory(r);
            return;
        }
        r->pairs[r->count++] = (pair){(int)code, number, value};
    }
}

static bool starts(const reader *r, int i, const char *word) {
    return r->pairs[i].code == 0 && strcmp(r->pairs[i].value, word) == 0;
}

// The pair that begins the next entity.
static int next_of(const reader *r, int i, int end) {
    for (++i; i < end && r->pairs[i].code != 0; ++i) {
    }
    return i;
}

static const char *text_of(const reader *r, int i, int end, int code) {
    for (++i; i < end && r->pairs[i].code != 0; ++i)
        if (r->pairs[i].code == code) return r->pairs[i].value;
    return "";
}

static double number_at(reader *r, int i) {
    char *rest;
    double value = strtod(r->pairs[i].value, &rest);
    while (*rest == ' ') ++rest;
    if (rest == r->pairs[i].value || *rest || !(fabs(value) <= FAR)) {
        fail(r, r->pairs[i].line, "here a number is due");
        return 0.0;
    }
    return value;
}

static double number_of(reader *r, int i, int end, int code, double missing) {
    for (++i; i < end && r->pairs[i].code != 0; ++i)
        if (r->pairs[i].code == code) return number_at(r, i);
    return missing;
}

static th_point point_of(reader *r, int i, int end, int code) {
    return (th_point){number_of(r, i, end, code, 0.0), number_of(r, i, end, code + 10, 0.0)};
}

// ---- names

static int put_utf8(char *to, unsigned long letter) {
    if (letter < 0x80) return to[0] = (char)letter, 1;
    if (letter < 0x800) {
        to[0] = (char)(0xC0 | letter >> 6);
        to[1] = (char)(0x80 | (letter & 63));
        return 2;
    }
    to[0] = (char)(0xE0 | (letter >> 12 & 15));
    to[1] = (char)(0x80 | (letter >> 6 & 63));
    to[2] = (char)(0x80 | (letter & 63));
    return 3;
}

static bool is_utf8(const unsigned char *at) {
    while (*at) {
        int more = *at < 0x80                  ? 0
                   : *at >= 0xC2 && *at < 0xE0 ? 1
                   : *at >= 0xE0 && *at < 0xF0 ? 2
                                               : 9;
        if (more == 9) return false;
        for (++at; more > 0; --more, ++at)
            if (*at < 0x80 || *at > 0xBF) return false;
    }
    return true;
}

// As UTF-8: \U+00E4 as the letter it means, other bytes that are no UTF-8 as Latin-1. At most 200 bytes.
static const char *clean_name(reader *r, const char *name) {
    char text[204];
    int length = 0;
    bool good = is_utf8((const unsigned char *)name);
    for (const unsigned char *at = (const unsigned char *)name; *at && length < 196; ++at) {
        char digits[5] = {0};
        if (strncmp((const char *)at, "\\U+", 3) == 0 && strlen((const char *)at) >= 7) {
            memcpy(digits, at + 3, 4);
            char *rest;
            unsigned long letter = strtoul(digits, &rest, 16);
            if (!*rest && letter >= 32 && (letter < 0xD800 || letter > 0xDFFF)) {
                length += put_utf8(text + length, letter);
                at += 6;
                continue;
            }
        }
        if (*at < 32)
            text[length++] = ' ';
        else if (good)
            text[length++] = (char)*at;
        else
            length += put_utf8(text + length, *at);
    }
    // A letter cut in two at the end goes.
    while (length > 0 && length >= 190 && ((unsigned char)text[length - 1] & 0x80)) --length;
    text[length] = '\0';
    char *copy = th_arena_string(r->out->arena, text);
    if (!copy) no_memory(r);
    return copy ? copy : "";
}

static int layer_named(reader *r, const char *raw) {
    const char *name = clean_name(r, *raw ? raw : "0");
    if (r->result != TH_OK) return 0;
    int layer = th_drawing_layer(r->out, name, r->error);
    if (layer < 0) r->result = r->error->code;
    return layer < 0 ? 0 : layer;
}

static void leave_out(reader *r, const char *raw) {
    if (!th_drawing_leave_out(r->out, clean_name(r, raw), 1)) no_memory(r);
}

// ---- paths

static place mirrored(place at) { return (place){-at.a, -at.b, at.c, at.d, at.x, at.y}; }

static place then(place outer, place inner) {
    return (place){outer.a * inner.a + outer.c * inner.b,
                   outer.b * inner.a + outer.d * inner.b,
                   outer.a * inner.c + outer.c * inner.d,
                   outer.b * inner.c + outer.d * inner.d,
                   outer.a * inner.x + outer.c * inner.y + outer.x,
                   outer.b * inner.x + outer.d * inner.y + outer.y};
}

static th_point put(const place *at, double x, double y) {
    return (th_point){at->a * x + at->c * y + at->x, at->b * x + at->d * y + at->y};
}

static void begin_path(reader *r, int layer, int insert, int line) {
    r->path = (th_drawn_path){
        .layer = layer, .first = r->out->point_count, .insert = insert, .line = line};
}

static void add_point(reader *r, const place *at, double x, double y) {
    th_drawing *out = r->out;
    th_point p = put(at, x, y);
    if (r->result != TH_OK) return;
    if (!(fabs(p.x) <= FAR && fabs(p.y) <= FAR)) {
        fail(r, r->path.line, "a block is placed beyond all measure");
        return;
    }
    if (out->point_count >= POINTS_MOST) {
        fail(r, r->path.line, "the drawing has more than 4 million points; leave layers out");
        return;
    }
    if (!th_arena_reserve(out->arena, &out->points, &out->point_capacity, out->point_count + 1,
                          sizeof *out->points)) {
        no_memory(r);
        return;
    }
    out->points[out->point_count++] = p;
}

static void end_path(reader *r, bool closed) {
    th_drawing *out = r->out;
    th_drawn_path *path = &r->path;
    path->count = out->point_count - path->first;
    path->closed = closed && path->count > 2;
    if (path->count < 2 || r->result != TH_OK) {
        out->point_count = path->first;
        return;
    }
    if (!th_arena_reserve(out->arena, &out->paths, &out->path_capacity, out->path_count + 1,
                          sizeof *out->paths)) {
        no_memory(r);
        return;
    }
    out->layers[path->layer].paths++;
    out->paths[out->path_count++] = *path;
}

// The points of an arc from `from` over `sweep` [rad], without the first, and without the last where it is known.
static void add_arc(reader *r, const place *at, th_point centre, double rx, double ry, double turn,
                    double from, double sweep, bool with_last) {
    double scale = sqrt(fabs(at->a * at->d - at->b * at->c)), radius = fmax(rx, ry) * scale;
    double share = radius > 0.0 ? r->chord / radius : 1.0;
    double step = share < 1.0 ? 2.0 * acos(1.0 - share) : TAU / 8.0;
    double needed = ceil(fabs(sweep) / fmin(step, TAU / 8.0));
    int pieces = needed > ARC_MOST ? ARC_MOST : needed < ARC_LEAST ? ARC_LEAST : (int)needed;
    for (int k = 1; k < pieces + with_last && r->result == TH_OK; ++k) {
        double angle = from + sweep * k / pieces;
        double x = rx * cos(angle), y = ry * sin(angle);
        add_point(r, at, centre.x + x * cos(turn) - y * sin(turn),
                  centre.y + x * sin(turn) + y * cos(turn));
    }
}

// From p to q, which bulges: the tangent of a quarter of its angle, to the right above 0.
static void add_bulge(reader *r, const place *at, th_point p, th_point q, double bulge) {
    double dx = q.x - p.x, dy = q.y - p.y;
    double chord = hypot(dx, dy);
    if (bulge == 0.0 || chord == 0.0 || fabs(bulge) > 1e6) return;
    double sweep = 4.0 * atan(bulge), radius = chord * (1.0 + bulge * bulge) / (4.0 * fabs(bulge));
    double off = (1.0 - bulge * bulge) / (4.0 * bulge); // of the chord, to its left
    th_point centre = {0.5 * (p.x + q.x) - off * dy, 0.5 * (p.y + q.y) + off * dx};
    add_arc(r, at, centre, radius, radius, 0.0, atan2(p.y - centre.y, p.x - centre.x), sweep,
            false);
}

// ---- entities

typedef struct vertex {
    th_point p;
    double bulge;
} vertex;

static void draw_vertices(reader *r, const place *at, const vertex *list, int count, bool closed) {
    for (int k = 0; k < count && r->result == TH_OK; ++k) {
        add_point(r, at, list[k].p.x, list[k].p.y);
        if (k + 1 < count || closed)
            add_bulge(r, at, list[k].p, list[(k + 1) % count].p, list[k].bulge);
    }
}

static bool add_vertex(reader *r, vertex **list, int *count, int *capacity, th_point p,
                       double bulge) {
    if (!th_arena_reserve(r->out->arena, list, capacity, *count + 1, sizeof **list)) {
        no_memory(r);
        return false;
    }
    (*list)[(*count)++] = (vertex){p, bulge};
    return true;
}

static void read_lwpolyline(reader *r, int i, int end, const place *at) {
    vertex *list = NULL;
    int count = 0, capacity = 0, flags = (int)number_of(r, i, end, 70, 0.0);
    for (int k = i + 1; k < end && r->pairs[k].code != 0 && r->result == TH_OK; ++k) {
        if (r->pairs[k].code == 10)
            add_vertex(r, &list, &count, &capacity, (th_point){number_at(r, k), 0.0}, 0.0);
        else if (r->pairs[k].code == 20 && count > 0)
            list[count - 1].p.y = number_at(r, k);
        else if (r->pairs[k].code == 42 && count > 0)
            list[count - 1].bulge = number_at(r, k);
    }
    draw_vertices(r, at, list, count, flags & 1);
    end_path(r, flags & 1);
}

// With its VERTEX entities. Returns the pair behind it.
static int read_polyline(reader *r, int i, int end, const place *at) {
    enum { CLOSED = 1, MESHES = 16 | 64, FRAME = 16 };
    vertex *list = NULL;
    int count = 0, capacity = 0, flags = (int)number_of(r, i, end, 70, 0.0);
    int k = next_of(r, i, end);
    for (; k < end && starts(r, k, "VERTEX") && r->result == TH_OK; k = next_of(r, k, end)) {
        int kind = (int)number_of(r, k, end, 70, 0.0);
        if (kind & FRAME) continue; // a point of a spline's frame
        add_vertex(r, &list, &count, &capacity, point_of(r, k, end, 10),
                   number_of(r, k, end, 42, 0.0));
    }
    if (k < end && starts(r, k, "SEQEND")) k = next_of(r, k, end);
    if (flags & MESHES) {
        leave_out(r, "POLYLINE (mesh)");
        return k;
    }
    draw_vertices(r, at, list, count, flags & CLOSED);
    end_path(r, flags & CLOSED);
    return k;
}

static void read_arc(reader *r, int i, int end, const place *at, bool whole) {
    th_point centre = point_of(r, i, end, 10);
    double radius = number_of(r, i, end, 40, 0.0);
    double from = whole ? 0.0 : number_of(r, i, end, 50, 0.0) / 360.0 * TAU;
    double to = whole ? TAU : number_of(r, i, end, 51, 360.0) / 360.0 * TAU;
    double sweep = fmod(to - from, TAU);
    if (sweep <= 0.0) sweep += TAU;
    if (!(radius > 0.0)) return;
    add_point(r, at, centre.x + radius * cos(from), centre.y + radius * sin(from));
    add_arc(r, at, centre, radius, radius, 0.0, from, sweep, !whole);
    r->path.is_arc = !whole;
    r->path.centre = put(at, centre.x, centre.y);
    end_path(r, whole);
}

static void read_ellipse(reader *r, int i, int end, const place *at) {
    th_point centre = point_of(r, i, end, 10), axis = point_of(r, i, end, 11);
    double ratio = number_of(r, i, end, 40, 1.0), from = number_of(r, i, end, 41, 0.0);
    double to = number_of(r, i, end, 42, TAU), rx = hypot(axis.x, axis.y);
    double sweep = fmod(to - from, TAU), turn = atan2(axis.y, axis.x);
    bool whole = fabs(sweep) < 1e-9;
    if (sweep <= 1e-9) sweep += TAU;
    if (!(rx > 0.0) || !(ratio > 0.0 && ratio <= 1.0)) return;
    double x = rx * cos(from), y = rx * ratio * sin(from);
    add_point(r, at, centre.x + x * cos(turn) - y * sin(turn),
              centre.y + x * sin(turn) + y * cos(turn));
    add_arc(r, at, centre, rx, rx * ratio, turn, from, sweep, !whole);
    end_path(r, whole);
}

// ---- hatches

// An arc of an outline, of a circle where the axis is its radius long and the ratio 1. Clockwise angles run the other way.
static void add_hatch_arc(reader *r, int i, int end, const place *at, bool ellipse) {
    th_point centre = point_of(r, i, end, 10), axis = point_of(r, i, end, 11);
    double rx = ellipse ? hypot(axis.x, axis.y) : number_of(r, i, end, 40, 0.0);
    double ry = ellipse ? rx * number_of(r, i, end, 40, 1.0) : rx;
    double turn = ellipse ? atan2(axis.y, axis.x) : 0.0;
    double side = number_of(r, i, end, 73, 1.0) == 0.0 ? -1.0 : 1.0;
    double from = number_of(r, i, end, 50, 0.0) / 360.0 * TAU;
    double sweep = fmod(number_of(r, i, end, 51, 360.0) / 360.0 * TAU - from, TAU);
    if (sweep <= 1e-9) sweep += TAU;
    double x = rx * cos(side * from), y = ry * sin(side * from);
    if (!(rx > 0.0 && ry > 0.0)) return;
    add_point(r, at, centre.x + x * cos(turn) - y * sin(turn),
              centre.y + x * sin(turn) + y * cos(turn));
    add_arc(r, at, centre, rx, ry, turn, side * from, side * sweep, true);
}

static bool ends_loop(int code) { return code == 92 || code == 97 || code == 75 || code == 0; }

// The lines and arcs of an outline from the pair `k` on. False: it has splines.
static bool add_hatch_edges(reader *r, int k, int end, const place *at) {
    enum { LINE = 1, ARC, ELLIPSE };
    while (k < end && !ends_loop(r->pairs[k].code) && r->result == TH_OK) {
        if (r->pairs[k].code != 72) {
            ++k;
            continue;
        }
        int kind = (int)number_at(r, k), next = k + 1;
        while (next < end && r->pairs[next].code != 72 && !ends_loop(r->pairs[next].code)) ++next;
        if (kind == LINE) {
            th_point a = point_of(r, k, next, 10), b = point_of(r, k, next, 11);
            add_point(r, at, a.x, a.y);
            add_point(r, at, b.x, b.y);
        } else if (kind == ARC || kind == ELLIPSE) {
            add_hatch_arc(r, k, next, at, kind == ELLIPSE);
        } else {
            return false;
        }
        k = next;
    }
    return true;
}

static void add_hatch_vertices(reader *r, int k, int end, const place *at) {
    vertex *list = NULL;
    int count = 0, capacity = 0;
    for (; k < end && !ends_loop(r->pairs[k].code) && r->result == TH_OK; ++k) {
        if (r->pairs[k].code == 10)
            add_vertex(r, &list, &count, &capacity, (th_point){number_at(r, k), 0.0}, 0.0);
        else if (r->pairs[k].code == 20 && count > 0)
            list[count - 1].p.y = number_at(r, k);
        else if (r->pairs[k].code == 42 && count > 0)
            list[count - 1].bulge = number_at(r, k);
    }
    draw_vertices(r, at, list, count, true);
}

// Every outline is a ring of its own.
static void read_hatch(reader *r, int i, int end, const place *at) {
    enum { POLYLINE = 2, TEXT = 8 };
    for (int k = i + 1; k < end && r->result == TH_OK; ++k) {
        if (r->pairs[k].code != 92) continue;
        int kind = (int)number_at(r, k);
        bool good = true;
        begin_path(r, r->path.layer, r->path.insert, r->pairs[k].line);
        if (kind & POLYLINE)
            add_hatch_vertices(r, k + 1, end, at);
        else if (!(kind & TEXT))
            good = add_hatch_edges(r, k + 1, end, at);
        if (!good) {
            r->out->point_count = r->path.first;
            leave_out(r, "HATCH with splines");
            continue;
        }
        r->path.filled = true;
        end_path(r, true);
    }
}

static void read_entities(reader *r, int first, int end, place at, int layer, int insert,
                          int depth);

static int by_name(const void *left, const void *right) {
    return strcmp(((const block *)left)->name, ((const block *)right)->name);
}

static void read_insert(reader *r, int i, int end, place at, int layer, int insert, int depth) {
    block key = {.name = text_of(r, i, end, 2)};
    const block *found = r->block_count > 0 ? bsearch(&key, r->blocks, (size_t)r->block_count,
                                                      sizeof *r->blocks, by_name)
                                            : NULL;
    if (!found || found->external) {
        leave_out(r, found ? "INSERT of another file" : "INSERT of a missing block");
        return;
    }
    if (depth >= DEPTH_MOST) {
        fail(r, r->pairs[i].line, "blocks lie in blocks more than 16 deep, or in themselves");
        return;
    }
    th_point to = point_of(r, i, end, 10);
    double sx = number_of(r, i, end, 41, 1.0), sy = number_of(r, i, end, 42, sx);
    double angle = number_of(r, i, end, 50, 0.0) / 360.0 * TAU;
    double columns = number_of(r, i, end, 70, 1.0), rows = number_of(r, i, end, 71, 1.0);
    double dx = number_of(r, i, end, 44, 0.0), dy = number_of(r, i, end, 45, 0.0);
    if (columns < 1.0) columns = 1.0;
    if (rows < 1.0) rows = 1.0;
    if (columns * rows > COPIES_MOST) {
        fail(r, r->pairs[i].line, "a block is repeated more than 10000 times");
        return;
    }
    double c = cos(angle), s = sin(angle);
    for (int row = 0; row < (int)rows; ++row)
        for (int column = 0; column < (int)columns && r->result == TH_OK; ++column) {
            place turned = {c, s, -s, c, to.x, to.y};
            place shifted = {1, 0, 0, 1, column * dx, row * dy};
            place scaled = {sx, 0, 0, sy, -sx * found->base.x, -sy * found->base.y};
            place whole = then(at, then(turned, then(shifted, scaled)));
            int id = insert ? insert : ++r->inserts;
            read_entities(r, found->first, found->end, whole, layer, id, depth + 1);
        }
}

// `layer`: of the block reference, for what is on layer "0" of the block; -1: not in a block.
static void read_entities(reader *r, int first, int end, place at, int layer, int insert,
                          int depth) {
    for (int i = first; i < end && r->result == TH_OK;) {
        int next = next_of(r, i, end);
        const char *type = r->pairs[i].value;
        if (r->pairs[i].code != 0) {
            i = next;
            continue;
        }
        if (++r->visited > ENTITIES_MOST) {
            fail(r, r->pairs[i].line, "the blocks unfold to more than 4 million entities");
            return;
        }
        bool skipped = number_of(r, i, next, 67, 0.0) == 1.0 || // of a sheet of paper
                       number_of(r, i, next, 60, 0.0) == 1.0;   // invisible
        const char *named = text_of(r, i, next, 8);
        bool takes = layer >= 0 && (strcmp(named, "0") == 0 || !*named);
        int own = takes ? layer : layer_named(r, named);
        // Seen from below: x runs the other way.
        place side = number_of(r, i, next, 230, 1.0) < 0.0 ? mirrored(at) : at;
        if (r->result != TH_OK) return;
        begin_path(r, own, insert, r->pairs[i].line);
        if (strcmp(type, "POLYLINE") == 0) {
            next = read_polyline(r, i, end, &side); // behind its vertices
        } else if (skipped) {
            leave_out(r, "invisible, or on paper");
        } else if (strcmp(type, "LINE") == 0) {
            th_point a = point_of(r, i, next, 10), b = point_of(r, i, next, 11);
            add_point(r, &at, a.x, a.y);
            add_point(r, &at, b.x, b.y);
            end_path(r, false);
        } else if (strcmp(type, "LWPOLYLINE") == 0) {
            read_lwpolyline(r, i, next, &side);
        } else if (strcmp(type, "ARC") == 0) {
            read_arc(r, i, next, &side, false);
        } else if (strcmp(type, "CIRCLE") == 0) {
            read_arc(r, i, next, &side, true);
        } else if (strcmp(type, "ELLIPSE") == 0) {
            read_ellipse(r, i, next, &at);
        } else if (strcmp(type, "HATCH") == 0) {
            read_hatch(r, i, next, &side);
        } else if (strcmp(type, "INSERT") == 0) {
            read_insert(r, i, next, side, own, insert, depth);
        } else if (strcmp(type, "SEQEND") != 0 && strcmp(type, "ATTRIB") != 0) {
            leave_out(r, type);
        }
        i = next;
    }
}

// ---- sections

static void read_header(reader *r, int first, int end, double unit) {
    // The codes of $INSUNITS.
    static const double units[] = {0,       0.0254, 0.3048, 1609.344, 1e-3, 1e-2, 1,  1e3, 2.54e-8,
                                   2.54e-5, 0.9144, 1e-10,  1e-9,     1e-6, 0.1,  10, 100, 1e9};
    r->out->unit = unit;
    for (int i = first; i + 1 < end && unit == 0.0; ++i) {
        if (r->pairs[i].code != 9 || strcmp(r->pairs[i].value, "$INSUNITS") != 0) continue;
        int code = (int)number_at(r, i + 1);
        if (code > 0 && code < (int)(sizeof units / sizeof *units)) r->out->unit = units[code];
    }
}

static void read_tables(reader *r, int first, int end) {
    for (int i = first; i < end && r->result == TH_OK; i = next_of(r, i, end)) {
        if (!starts(r, i, "LAYER")) continue;
        int next = next_of(r, i, end);
        const char *name = text_of(r, i, next, 2);
        bool hidden =
            ((int)number_of(r, i, next, 70, 0.0) & 1) != 0 || number_of(r, i, next, 62, 7.0) < 0.0;
        if (!*name || !hidden) continue;
        int layer = layer_named(r, name);
        if (r->result == TH_OK) r->out->layers[layer].hidden = true;
    }
}

static void read_blocks(reader *r, int first, int end) {
    enum { EXTERNAL = 4 | 8 | 16 };
    for (int i = first; i < end && r->result == TH_OK;) {
        if (!starts(r, i, "BLOCK")) {
            i = next_of(r, i, end);
            continue;
        }
        int body = next_of(r, i, end), stop = body;
        while (stop < end && !starts(r, stop, "ENDBLK")) stop = next_of(r, stop, end);
        if (!th_arena_reserve(r->out->arena, &r->blocks, &r->block_capacity, r->block_count + 1,
                              sizeof *r->blocks)) {
            no_memory(r);
            return;
        }
        bool external = ((int)number_of(r, i, body, 70, 0.0) & EXTERNAL) != 0;
        r->blocks[r->block_count++] =
            (block){text_of(r, i, body, 2), point_of(r, i, body, 10), body, stop, external};
        i = stop;
    }
    if (r->block_count > 0) qsort(r->blocks, (size_t)r->block_count, sizeof *r->blocks, by_name);
}

typedef struct section {
    int first, end;
} section;

static section find_section(const reader *r, const char *name) {
    for (int i = 0; i + 1 < r->count; ++i) {
        if (!starts(r, i, "SECTION") || r->pairs[i + 1].code != 2 ||
            strcmp(r->pairs[i + 1].value, name) != 0)
            continue;
        section found = {i + 2, i + 2};
        while (found.end < r->count && !starts(r, found.end, "ENDSEC")) ++found.end;
        return found;
    }
    return (section){0, 0};
}

double th_unit_of(const char *name) {
    static const struct {
        const char *name;
        double metres;
    } units[] = {{"mm", 1e-3}, {"cm", 1e-2},   {"dm", 0.1},    {"m", 1.0},
                 {"km", 1e3},  {"in", 0.0254}, {"ft", 0.3048}, {"yd", 0.9144}};
    for (size_t k = 0; k < sizeof units / sizeof *units; ++k)
        if (strcmp(name, units[k].name) == 0) return units[k].metres;
    return 0.0;
}

th_result th_dxf_read(th_drawing *drawing, th_arena *arena, char *text, size_t length, double unit,
                      th_error *error) {
    static const char binary[] = "AutoCAD Binary DXF";
    *drawing = (th_drawing){.arena = arena};
    if (length >= sizeof binary - 1 && memcmp(text, binary, sizeof binary - 1) == 0)
        return th_fail(error, TH_BAD_SCENE, "",
                       "this is a binary DXF; save the drawing as DXF in ASCII");
    if (length >= 4 && memcmp(text, "AC10", 4) == 0)
        return th_fail(error, TH_BAD_SCENE, "", "this is a DWG; save the drawing as DXF in ASCII");
    reader r = {.out = drawing, .error = error};
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) text += 3, length -= 3;
    read_pairs(&r, text, length);
    if (r.result != TH_OK) return r.result;
    section entities = find_section(&r, "ENTITIES");
    if (entities.first == 0)
        return th_fail(error, TH_BAD_SCENE, "",
                       "the file has no ENTITIES section; it is damaged or is no DXF");
    section header = find_section(&r, "HEADER"), tables = find_section(&r, "TABLES"),
            blocks = find_section(&r, "BLOCKS");
    read_header(&r, header.first, header.end, unit);
    r.chord = CHORD / (drawing->unit > 0.0 ? drawing->unit : 1.0);
    read_tables(&r, tables.first, tables.end);
    read_blocks(&r, blocks.first, blocks.end);
    read_entities(&r, entities.first, entities.end, (place){1, 0, 0, 1, 0, 0}, -1, 0, 0);
    return r.result;
}
