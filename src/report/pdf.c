// Sets the page of a folder on A4: reads the few elements that throng's own pages have, breaks lines, tables and pages, and
// takes the figures from their PNG files. Two passes: the first counts the pages. SPDX-License-Identifier: Apache-2.0
#include "report/pdf.h"
#include "core/error.h"
#include "core/file.h"
#include "core/memory.h"
#include "draw/canvas.h"
#include "report/report.h"
#include <cairo-pdf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A4 in points.
#define PAGE_WIDTH 595.28
#define PAGE_HEIGHT 841.89
#define MARGIN 56.0
#define BOTTOM (PAGE_HEIGHT - 62.0)
#define WIDTH (PAGE_WIDTH - 2 * MARGIN)

enum { BOLD = 1, MONO = 2, SMALL = 4, BREAK = 8, GLUED = 16 }; // GLUED: no space before it

typedef struct word {
    const char *text;
    int style;
} word;

typedef struct words {
    word *list;
    int count;
} words;

typedef struct cell {
    words words;
    bool head, number;
    int row, column;
} cell;

typedef enum block {
    BLOCK_TEXT,
    BLOCK_TITLE,
    BLOCK_SECTION,
    BLOCK_HEAD,
    BLOCK_ITEM,
    BLOCK_CAPTION,
    BLOCK_NOTE
} block;

typedef struct setter {
    const th_pdf_def *def;
    th_arena arena;
    cairo_t *cairo;
    cairo_surface_t *surface; // of the PDF; NULL in the first pass
    double y;
    int page, pages;
    // Of the text that is being read.
    words words;
    int style;
    block block;
    bool glue; // the next word follows without a space
    bool in_table, in_head, bar;
    double bar_colour[3];
    cell *cells;
    int cell_count, row;
    char title[200];
    const char *rest; // of the page, after the tag that is being read
    bool failed;
} setter;

// ---- words and lines

static void choose_font(const setter *s, double size, int style) {
    cairo_select_font_face(s->cairo, style & MONO ? "monospace" : "sans-serif",
                           CAIRO_FONT_SLANT_NORMAL,
                           style & BOLD ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(s->cairo, style & SMALL ? 0.85 * size : style & MONO ? 0.92 * size : size);
}

static double width_of(const setter *s, double size, int style, const char *text) {
    cairo_text_extents_t extents;
    choose_font(s, size, style);
    cairo_text_extents(s->cairo, text, &extents);
    return extents.x_advance;
}

static void show(const setter *s, double x, double y, double size, int style, const char *text) {
    if (!s->surface) return;
    choose_font(s, size, style);
    cairo_move_to(s->cairo, x, y);
    cairo_show_text(s->cairo, text);
}

// A line of words from `from`; returns the one after it. A word wider than the line is cut by cut_words before.
static int end_of_line(const setter *s, const words *w, int from, double width, double size,
                       double *used) {
    double x = 0;
    int k = from;
    for (; k < w->count; ++k) {
        const word *one = &w->list[k];
        if (k > from && one->style & BREAK) break;
        double space = k > from && !(one->style & GLUED) ? 0.28 * size : 0;
        double wide = width_of(s, size, one->style, one->text);
        if (k > from && x + space + wide > width) break;
        x += space + wide;
    }
    *used = x;
    return k;
}

static void draw_line(const setter *s, const words *w, int from, int to, double x, double y,
                      double size) {
    for (int k = from; k < to; ++k) {
        const word *one = &w->list[k];
        if (k > from && !(one->style & GLUED)) x += 0.28 * size;
        show(s, x, y, size, one->style, one->text);
        x += width_of(s, size, one->style, one->text);
    }
}

static char *copy_text(setter *s, const char *text, size_t length) {
    char *copy = th_arena_alloc(&s->arena, length + 1, 1);
    if (!copy) {
        s->failed = true;
        return NULL;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

// Cuts words that are wider than the line.
static void cut_words(setter *s, words *w, double width, double size) {
    for (int k = 0; k < w->count && !s->failed; ++k) {
        const char *text = w->list[k].text;
        int style = w->list[k].style;
        size_t length = strlen(text);
        if (length < 2 || width_of(s, size, style, text) <= width) continue;
        char *part = NULL;
        for (size_t n = length - 1; n >= 1; --n) {
            if (((unsigned char)text[n] & 0xc0) == 0x80) continue; // inside a character
            part = copy_text(s, text, n);
            if (!part || n == 1 || width_of(s, size, style, part) <= width) break;
        }
        if (!part || !TH_RESERVE_ONE(w->list, w->count)) {
            s->failed = true;
            return;
        }
        memmove(&w->list[k + 2], &w->list[k + 1], (size_t)(w->count - k - 1) * sizeof *w->list);
        w->list[k + 1] = (word){text + strlen(part), (style & ~BREAK) | GLUED};
        w->list[k] = (word){part, style};
        w->count++;
    }
}

static double height_of(setter *s, words *w, double width, double size) {
    double used = 0;
    int lines = 0;
    cut_words(s, w, width, size);
    for (int k = 0; k < w->count; ++lines) k = end_of_line(s, w, k, width, size, &used);
    return lines * 1.38 * size;
}

// ---- pages

static void end_page(setter *s) {
    char left[400], right[64];
    double y = PAGE_HEIGHT - 36;
    if (s->surface) {
        const th_pdf_def *def = s->def;
        snprintf(left, sizeof left, "%.120s%s%.160s%s%.40s", def->project ? def->project : "",
                 def->project ? ", " : "", s->title, def->revision ? ", revision " : "",
                 def->revision ? def->revision : "");
        snprintf(right, sizeof right, "page %d of %d", s->page, s->pages);
        cairo_set_source_rgb(s->cairo, 0.4, 0.4, 0.4);
        cairo_set_line_width(s->cairo, 0.5);
        cairo_move_to(s->cairo, MARGIN, y - 12);
        cairo_line_to(s->cairo, MARGIN + WIDTH, y - 12);
        cairo_stroke(s->cairo);
        show(s, MARGIN, y, 7.5, 0, left);
        show(s, MARGIN + WIDTH - width_of(s, 7.5, 0, right), y, 7.5, 0, right);
        cairo_show_page(s->cairo);
    }
}

static void new_page(setter *s) {
    end_page(s);
    s->page++;
    s->y = MARGIN;
}

static void need(setter *s, double height) {
    if (s->y + height > BOTTOM && s->y > MARGIN) new_page(s);
}

static void draw_bar(const setter *s, double top, double height) {
    if (!s->surface || !s->bar) return;
    cairo_set_source_rgb(s->cairo, s->bar_colour[0], s->bar_colour[1], s->bar_colour[2]);
    cairo_rectangle(s->cairo, MARGIN - 9, top, 3.5, height);
    cairo_fill(s->cairo);
}

// Lines one by one, so that a paragraph may go on on the next page.
static void set_lines(setter *s, words *w, double x, double width, double size, double grey) {
    cut_words(s, w, width, size);
    for (int k = 0; k < w->count;) {
        double used = 0;
        int end = end_of_line(s, w, k, width, size, &used);
        need(s, 1.38 * size);
        draw_bar(s, s->y, 1.38 * size);
        if (s->surface) cairo_set_source_rgb(s->cairo, grey, grey, grey);
        draw_line(s, w, k, end, x, s->y + size, size);
        s->y += 1.38 * size;
        k = end;
    }
}

static void add_outline(const setter *s, const words *w) {
    char name[200] = "", where[64];
    if (!s->surface) return;
    for (int k = 0; k < w->count; ++k) {
        size_t used = strlen(name);
        snprintf(name + used, sizeof name - used, "%s%s", k > 0 ? " " : "", w->list[k].text);
    }
    snprintf(where, sizeof where, "page=%d pos=[0 %.0f]", s->page, fmax(0, s->y - 20));
    cairo_pdf_surface_add_outline(s->surface, CAIRO_PDF_OUTLINE_ROOT, name, where,
                                  (cairo_pdf_outline_flags_t)0);
}

static double height_below(const setter *s);

static void flush(setter *s) {
    static const struct {
        double size, before, after, grey, indent;
    } looks[] = {{9.5, 2, 4, 0.1, 0},   {19, 4, 6, 0.05, 0},  {14, 16, 5, 0.05, 0},
                 {10.5, 9, 3, 0.05, 0}, {9.5, 0, 2, 0.1, 12}, {8.5, 2, 10, 0.25, 0},
                 {8.5, 1, 4, 0.3, 0}};
    words *w = &s->words;
    if (w->count == 0) return;
    double size = looks[s->block].size;
    // A heading stays with what follows.
    if (s->block == BLOCK_SECTION || s->block == BLOCK_HEAD) need(s, 5 * size + height_below(s));
    if (s->y > MARGIN) s->y += looks[s->block].before;
    if (s->block == BLOCK_SECTION) add_outline(s, w);
    if (s->block == BLOCK_TITLE || s->block == BLOCK_SECTION || s->block == BLOCK_HEAD)
        for (int k = 0; k < w->count; ++k) w->list[k].style |= BOLD;
    if (s->block == BLOCK_ITEM) show(s, MARGIN + 2, s->y + size, size, 0, "\xe2\x80\xa2");
    double indent = looks[s->block].indent;
    set_lines(s, w, MARGIN + indent, WIDTH - indent, size, looks[s->block].grey);
    s->y += looks[s->block].after;
    w->count = 0;
}

// ---- tables

enum { COLUMNS_MOST = 32 };
typedef struct columns {
    double natural[COLUMNS_MOST], least[COLUMNS_MOST], width[COLUMNS_MOST];
    int count, rows;
    double size;
} columns;

static const double PAD = 4;

static void measure_cell(setter *s, const cell *c, columns *t) {
    double line = 0;
    for (int k = 0; k < c->words.count; ++k) {
        const word *one = &c->words.list[k];
        double wide = width_of(s, t->size, one->style, one->text);
        t->least[c->column] = fmax(t->least[c->column], fmin(wide, 0.4 * WIDTH));
        line = one->style & BREAK || k == 0 ? wide : line + wide + 0.28 * t->size;
        t->natural[c->column] = fmax(t->natural[c->column], line);
    }
}

// Natural widths where they fit, else shared out over what the longest words leave; a smaller font where even those do not
// fit.
static void find_widths(setter *s, columns *t) {
    double natural = 0, least = 0;
    memset(t->natural, 0, sizeof t->natural);
    memset(t->least, 0, sizeof t->least);
    for (int k = 0; k < s->cell_count; ++k) measure_cell(s, &s->cells[k], t);
    for (int c = 0; c < t->count; ++c) {
        natural += t->natural[c] + 2 * PAD;
        least += t->least[c] + 2 * PAD;
    }
    if (least > WIDTH && t->size > 5) {
        t->size -= 0.5;
        find_widths(s, t);
        return;
    }
    double more = natural > least ? fmin(1, fmax(0, (WIDTH - least) / (natural - least))) : 1;
    double rest = fmax(0, WIDTH - natural) / t->count;
    for (int c = 0; c < t->count; ++c)
        t->width[c] = t->least[c] + more * (t->natural[c] - t->least[c]) + 2 * PAD + rest;
}

static double row_height(setter *s, const columns *t, int row) {
    double height = 0;
    for (int k = 0; k < s->cell_count; ++k)
        if (s->cells[k].row == row)
            height =
                fmax(height, height_of(s, &s->cells[k].words,
                                       t->width[s->cells[k].column] - 2 * PAD + 0.01, t->size));
    return height + 3;
}

static void set_row(setter *s, const columns *t, int row, double height) {
    bool head = false;
    for (int k = 0; k < s->cell_count; ++k) {
        cell *c = &s->cells[k];
        if (c->row != row) continue;
        double x = MARGIN, room = t->width[c->column] - 2 * PAD + 0.01, y = s->y + t->size + 1;
        for (int i = 0; i < c->column; ++i) x += t->width[i];
        head = head || c->head;
        if (s->surface) cairo_set_source_rgb(s->cairo, 0.1, 0.1, 0.1);
        for (int from = 0; from < c->words.count;) {
            double used = 0;
            int end = end_of_line(s, &c->words, from, room, t->size, &used);
            draw_line(s, &c->words, from, end, x + PAD + (c->number ? room - used : 0), y, t->size);
            y += 1.38 * t->size;
            from = end;
        }
    }
    s->y += height;
    if (!s->surface) return;
    cairo_set_source_rgb(s->cairo, head ? 0.35 : 0.8, head ? 0.35 : 0.8, head ? 0.35 : 0.8);
    cairo_set_line_width(s->cairo, head ? 1 : 0.4);
    cairo_move_to(s->cairo, MARGIN, s->y);
    cairo_line_to(s->cairo, MARGIN + WIDTH, s->y);
    cairo_stroke(s->cairo);
}

static void set_table(setter *s) {
    columns t = {.size = 8};
    for (int k = 0; k < s->cell_count; ++k) {
        if (s->cells[k].column + 1 > t.count) t.count = s->cells[k].column + 1;
        t.rows = s->cells[k].row + 1;
    }
    if (t.count == 0) return;
    find_widths(s, &t);
    double head = row_height(s, &t, 0);
    bool headed = s->cells[0].head;
    for (int row = 0; row < t.rows; ++row) {
        double height = row == 0 ? head : row_height(s, &t, row);
        int page = s->page;
        // The head stays with its first row.
        need(s, row == 0 && t.rows > 1 ? height + row_height(s, &t, 1) : height);
        if (s->page != page && row > 0 && headed) set_row(s, &t, 0, head);
        set_row(s, &t, row, height);
    }
    s->y += 6;
}

// ---- figures

// The figure's picture and how large it is set; NULL: there is none.
static cairo_surface_t *open_figure(const setter *s, const char *id, double *scale,
                                    double *height) {
    char path[TH_PATH_MAX];
    const char *name = strncmp(id, "figure-", 7) == 0 ? id + 7 : id;
    snprintf(path, sizeof path, "%.3800s/figures/%.200s.png", s->def->folder, name);
    cairo_surface_t *image = cairo_image_surface_create_from_png(path);
    if (cairo_surface_status(image) != CAIRO_STATUS_SUCCESS) {
        cairo_surface_destroy(image);
        return NULL;
    }
    double wide = cairo_image_surface_get_width(image),
           high = cairo_image_surface_get_height(image);
    *scale = fmin(WIDTH / wide, 0.72 * (BOTTOM - MARGIN) / high);
    *height = high * *scale;
    return image;
}

static const double CAPTION = 48; // room for the caption below a figure

// Of the figure that follows a heading at once; 0: another thing follows.
static double height_below(const setter *s) {
    double scale = 1, height = 0;
    char id[100];
    const char *at = s->rest + strspn(s->rest, " \n");
    if (sscanf(at, "<figure id=\"%99[^\"]\"", id) != 1) return 0;
    cairo_surface_t *image = open_figure(s, id, &scale, &height);
    if (!image) return 0;
    cairo_surface_destroy(image);
    return height + CAPTION;
}

static void set_figure(setter *s, const char *id) {
    double scale = 1, height = 0;
    cairo_surface_t *image = open_figure(s, id, &scale, &height);
    if (!image) return;
    need(s, height + CAPTION);
    if (s->surface) {
        cairo_save(s->cairo);
        cairo_translate(s->cairo, MARGIN, s->y);
        cairo_scale(s->cairo, scale, scale);
        cairo_set_source_surface(s->cairo, image, 0, 0);
        cairo_paint(s->cairo);
        cairo_restore(s->cairo);
    }
    s->y += height;
    cairo_surface_destroy(image);
}

// ---- reading the page

static words *target(setter *s) {
    if (!s->in_table) return &s->words;
    return s->cell_count > 0 ? &s->cells[s->cell_count - 1].words : NULL;
}

static void add_word(setter *s, const char *text, size_t length) {
    words *to = target(s);
    if (!to || length == 0) return;
    char *copy = copy_text(s, text, length);
    if (!copy || !TH_RESERVE_ONE(to->list, to->count)) {
        s->failed = true;
        return;
    }
    to->list[to->count++] = (word){copy, s->style | (s->glue ? GLUED : 0)};
    s->style &= ~BREAK;
    s->glue = true;
}

// A character reference at `at`; returns its length, 0: none.
static size_t reference(const char *at, char *out, size_t *out_length) {
    static const struct {
        const char *name, *text;
    } known[] = {{"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}};
    for (size_t k = 0; k < sizeof known / sizeof *known; ++k)
        if (strncmp(at, known[k].name, strlen(known[k].name)) == 0) {
            out[(*out_length)++] = known[k].text[0];
            return strlen(known[k].name);
        }
    return 0;
}

static const char *read_text(setter *s, const char *at) {
    char buffer[512];
    size_t length = 0;
    for (; *at && *at != '<';) {
        bool blank = strchr(" \n\t\r", *at) != NULL;
        if (blank || length + 8 > sizeof buffer) {
            add_word(s, buffer, length);
            length = 0;
        }
        if (blank) {
            s->glue = false;
            ++at;
            continue;
        }
        size_t skipped = *at == '&' ? reference(at, buffer, &length) : 0;
        if (skipped == 0 && strncmp(at, "\xe2\x80\xaf", 3) == 0) { // few fonts have a narrow space
            buffer[length++] = '\xc2';
            buffer[length++] = '\xa0';
            skipped = 3;
        } else if (skipped == 0) {
            buffer[length++] = *at;
            skipped = 1;
        }
        at += skipped;
    }
    add_word(s, buffer, length);
    return at;
}

static const char *after(const char *at, const char *end) {
    const char *found = strstr(at, end);
    return found ? found + strlen(end) : at + strlen(at);
}

static void begin_block(setter *s, block kind) {
    flush(s);
    s->block = kind;
    s->glue = false;
}

static void begin_cell(setter *s, const char *tag) {
    if (!TH_RESERVE_ONE(s->cells, s->cell_count)) {
        s->failed = true;
        return;
    }
    int column = s->cell_count > 0 && s->cells[s->cell_count - 1].row == s->row
                     ? s->cells[s->cell_count - 1].column + 1
                     : 0;
    bool number = strstr(tag, "class=\"n\"") != NULL;
    s->cells[s->cell_count++] = (cell){
        .head = s->in_head, .number = number, .row = s->row, .column = column % COLUMNS_MOST};
    s->style = tag[1] == 'h' ? BOLD : 0;
    s->glue = false;
}

static void end_table(setter *s) {
    s->in_table = false;
    set_table(s);
    for (int k = 0; k < s->cell_count; ++k) free(s->cells[k].words.list);
    s->cell_count = 0;
    s->style = 0;
}

static void begin_section(setter *s, const char *tag) {
    static const struct {
        const char *name;
        double colour[3];
    } bars[] = {
        {"answer", {0, 0.45, 0.7}}, {"warnings", {0.84, 0.37, 0}}, {"fine", {0, 0.62, 0.45}}};
    s->bar = false;
    for (size_t k = 0; k < 3; ++k)
        if (strstr(tag, bars[k].name)) {
            s->bar = true;
            memcpy(s->bar_colour, bars[k].colour, sizeof s->bar_colour);
        }
    if (s->bar) s->y += 6;
}

static bool is(const char *tag, const char *name) {
    size_t length = strlen(name);
    return strncmp(tag, name, length) == 0 && (tag[length] == '\0' || tag[length] == ' ');
}

static void see_block(setter *s, const char *tag) {
    static const struct {
        const char *name;
        block kind;
    } kinds[] = {{"h1", BLOCK_TITLE}, {"h2", BLOCK_SECTION}, {"h3", BLOCK_HEAD},
                 {"li", BLOCK_ITEM},  {"dt", BLOCK_TEXT},    {"figcaption", BLOCK_CAPTION}};
    bool end = *tag == '/';
    const char *name = end ? tag + 1 : tag;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k)
        if (is(name, kinds[k].name)) {
            if (!end || strcmp(kinds[k].name, "dt") != 0)
                begin_block(s, end ? BLOCK_TEXT : kinds[k].kind);
            if (strcmp(kinds[k].name, "dt") == 0) s->style = end ? 0 : BOLD;
            if (end && strcmp(kinds[k].name, "dt") == 0) add_word(s, ":", 1);
            return;
        }
    if (is(name, "p")) begin_block(s, strstr(tag, "\"note\"") ? BLOCK_NOTE : BLOCK_TEXT);
    if (is(tag, "p") && strstr(tag, "headline")) s->style |= BOLD;
    if (is(tag, "/p")) s->style = 0;
    if (is(name, "dd") && end) begin_block(s, BLOCK_TEXT);
    if (is(name, "dd") && !end) s->glue = false;
}

static void see_table(setter *s, const char *tag) {
    if (is(tag, "table")) {
        begin_block(s, BLOCK_TEXT);
        s->in_table = true;
        s->row = -1;
    }
    if (is(tag, "thead")) s->in_head = true;
    if (is(tag, "/thead")) s->in_head = false;
    if (is(tag, "tr")) s->row++;
    if (is(tag, "th") || is(tag, "td")) begin_cell(s, tag);
    if (is(tag, "/table")) end_table(s);
}

static void see_style(setter *s, const char *tag) {
    static const struct {
        const char *name;
        int style;
    } styles[] = {{"strong", BOLD}, {"code", MONO}, {"small", SMALL}};
    bool end = *tag == '/';
    for (size_t k = 0; k < sizeof styles / sizeof *styles; ++k)
        if (is(tag + end, styles[k].name))
            s->style = end ? s->style & ~styles[k].style : s->style | styles[k].style;
    if (is(tag, "br")) {
        s->style |= BREAK;
        s->glue = false;
    }
}

// Before the tag at `at` ("p class=..."); returns what follows it, past what has no words.
static const char *read_tag(setter *s, const char *at) {
    const char *end = strchr(at, '>');
    char tag[300], *quote;
    if (!end) return at + strlen(at);
    snprintf(tag, sizeof tag, "%.*s", (int)(end - at < 290 ? end - at : 290), at);
    s->rest = end + 1;
    if (is(tag, "head")) return after(end, "</head>");
    if (is(tag, "svg")) return after(end, "</svg>");
    if (is(tag, "section")) {
        begin_block(s, BLOCK_TEXT);
        begin_section(s, tag);
    } else if (is(tag, "/section")) {
        begin_block(s, BLOCK_TEXT);
        s->bar = false;
    } else if (is(tag, "figure")) {
        begin_block(s, BLOCK_TEXT);
        char *id = strstr(tag, "id=\"");
        quote = id ? strchr(id + 4, '"') : NULL;
        if (quote) {
            *quote = '\0';
            set_figure(s, id + 4);
        }
    }
    see_block(s, tag);
    see_table(s, tag);
    see_style(s, tag);
    return end + 1;
}

// ---- the title block

static void set_item(setter *s, block kind, const char *text) {
    begin_block(s, kind);
    for (const char *at = text; *at;) { // plain text: < is no tag here
        size_t length = strcspn(at, " \n\t");
        add_word(s, at, length);
        s->glue = false;
        at += length + (at[length] != '\0');
    }
    flush(s);
    s->block = BLOCK_TEXT;
}

static void set_logo(setter *s) {
    if (!s->def->logo) return;
    cairo_surface_t *image = cairo_image_surface_create_from_png(s->def->logo);
    double wide = cairo_image_surface_get_width(image),
           high = cairo_image_surface_get_height(image);
    if (s->surface && wide > 0 && high > 0) {
        double scale = fmin(150 / wide, 52 / high);
        cairo_save(s->cairo);
        cairo_translate(s->cairo, MARGIN + WIDTH - 8 - wide * scale, MARGIN + 8);
        cairo_scale(s->cairo, scale, scale);
        cairo_set_source_surface(s->cairo, image, 0, 0);
        cairo_paint(s->cairo);
        cairo_restore(s->cairo);
    }
    cairo_surface_destroy(image);
}

static void set_title_block(setter *s) {
    const th_pdf_def *def = s->def;
    const char *const rows[4][2] = {{"Project", def->project},
                                    {"Author", def->author},
                                    {"Date", def->date},
                                    {"Revision", def->revision}};
    double top = s->y;
    s->y += 6;
    for (int k = 0; k < 4; ++k) {
        char clean[200];
        if (!rows[k][1]) continue;
        th_clean_text(rows[k][1], clean, sizeof clean);
        if (s->surface) cairo_set_source_rgb(s->cairo, 0.1, 0.1, 0.1);
        show(s, MARGIN + 8, s->y + 11, 9.5, BOLD, rows[k][0]);
        show(s, MARGIN + 70, s->y + 11, 9.5, 0, clean);
        s->y += 15;
    }
    if (def->logo) s->y = fmax(s->y, top + 62);
    if (s->y < top + 10) { // nothing given: no block
        s->y = top;
        return;
    }
    s->y += 6;
    set_logo(s);
    if (s->surface) {
        cairo_set_source_rgb(s->cairo, 0.2, 0.2, 0.2);
        cairo_set_line_width(s->cairo, 0.8);
        cairo_rectangle(s->cairo, MARGIN, top, WIDTH, s->y - top);
        cairo_stroke(s->cairo);
    }
    s->y += 10;
}

// ---- verification, as the title says it

// "70 of 75 tests ..."; false: no such file.
static bool verification_words(const th_pdf_def *def, char *words_out, size_t size) {
    th_folder folder = {0};
    th_error unread = {0};
    snprintf(folder.path, sizeof folder.path, "%s", def->verification);
    json_t *root = th_folder_read_json(&folder, "validation.json", &unread);
    if (!root) return false;
    const json_t *totals = json_object_get(root, "totals");
    int pass = (int)json_integer_value(json_object_get(totals, "pass"));
    int fail = (int)json_integer_value(json_object_get(totals, "fail"));
    int reported = (int)json_integer_value(json_object_get(totals, "reported"));
    int other = (int)json_integer_value(json_object_get(totals, "not applicable"));
    const char *build = json_string_value(json_object_get(root, "build"));
    const char *move = json_string_value(json_object_get(root, "move"));
    bool same = build && strcmp(build, th_build_info()) == 0;
    snprintf(
        words_out, size,
        "Verification suites (RiMEA, IMO, NIST, ISO, Juelich) with the movement model %.60s: %d "
        "passed, %d failed, %d reported without a bound, %d not applicable; %.120s%s.",
        move ? move : "?", pass, fail, reported, other, build ? build : "?",
        same ? "" : " (another build than the one that wrote this file)");
    json_decref(root);
    return true;
}

static void set_statements(setter *s) {
    const th_pdf_def *def = s->def;
    char text[500];
    if (def->assumption_count > 0) set_item(s, BLOCK_HEAD, "Assumptions of the author");
    for (int k = 0; k < def->assumption_count; ++k) {
        char clean[1000];
        th_clean_text(def->assumptions[k], clean, sizeof clean);
        set_item(s, BLOCK_ITEM, clean);
    }
    if (def->verification && verification_words(def, text, sizeof text)) {
        set_item(s, BLOCK_HEAD, "Verification");
        set_item(s, BLOCK_TEXT, text);
    }
}

// ---- the whole

static void find_title(setter *s, const char *html) {
    const char *title = strstr(html, "<h1>"), *end = title ? strstr(title, "</h1>") : NULL;
    char plain[200];
    size_t length = 0;
    for (const char *at = title ? title + 4 : ""; end && at < end && length + 8 < sizeof plain;) {
        size_t skipped = *at == '&' ? reference(at, plain, &length) : 0;
        if (skipped == 0) plain[length++] = *at++;
        at += skipped;
    }
    plain[length] = '\0';
    th_clean_text(plain, s->title, sizeof s->title);
}

static void set_all(setter *s, const char *html) {
    s->page = 1;
    s->y = MARGIN;
    s->block = BLOCK_TEXT;
    s->style = 0;
    s->rest = html;
    s->in_table = s->in_head = s->bar = s->glue = false;
    set_title_block(s);
    bool stated = false;
    for (const char *at = html; *at && !s->failed;) {
        at = *at == '<' ? read_tag(s, at + 1) : read_text(s, at);
        if (stated || strncmp(at, "<section><h2>What", 17) != 0) continue;
        flush(s);
        set_statements(s); // after answer and findings
        stated = true;
    }
    flush(s);
    if (!stated) set_statements(s);
    end_page(s);
}

static cairo_status_t put_bytes(void *writer, const unsigned char *bytes, unsigned length) {
    th_file_put(writer, bytes, length);
    return ((const th_file_writer *)writer)->cause ? CAIRO_STATUS_WRITE_ERROR
                                                   : CAIRO_STATUS_SUCCESS;
}

static void describe(const setter *s) {
    cairo_pdf_surface_set_metadata(s->surface, CAIRO_PDF_METADATA_TITLE, s->title);
    cairo_pdf_surface_set_metadata(s->surface, CAIRO_PDF_METADATA_CREATOR, th_build_info());
    if (s->def->author)
        cairo_pdf_surface_set_metadata(s->surface, CAIRO_PDF_METADATA_AUTHOR, s->def->author);
    if (s->def->project)
        cairo_pdf_surface_set_metadata(s->surface, CAIRO_PDF_METADATA_SUBJECT, s->def->project);
}

// One pass; `writer` NULL: only the pages are counted.
static bool pass(setter *s, const char *html, th_file_writer *writer) {
    cairo_surface_t *surface =
        writer ? cairo_pdf_surface_create_for_stream(put_bytes, writer, PAGE_WIDTH, PAGE_HEIGHT)
               : cairo_image_surface_create(CAIRO_FORMAT_A8, 8, 8);
    s->surface = writer ? surface : NULL;
    s->cairo = cairo_create(surface);
    cairo_font_options_t *options = cairo_font_options_create();
    // Widths that do not depend on the surface: both passes break lines alike.
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_set_font_options(s->cairo, options);
    cairo_font_options_destroy(options);
    if (writer) describe(s);
    set_all(s, html);
    s->pages = s->page;
    cairo_surface_finish(surface);
    bool good = !s->failed && cairo_status(s->cairo) == CAIRO_STATUS_SUCCESS;
    cairo_destroy(s->cairo);
    cairo_surface_destroy(surface);
    return good;
}

static th_result check_pictures(const th_pdf_def *def, th_error *error) {
    if (def->logo) {
        cairo_surface_t *image = cairo_image_surface_create_from_png(def->logo);
        bool good = cairo_surface_status(image) == CAIRO_STATUS_SUCCESS;
        cairo_surface_destroy(image);
        if (!good) return th_file_fail(error, def->logo, "is no PNG that can be read");
    }
    char unused[500];
    if (def->verification && !verification_words(def, unused, sizeof unused))
        return th_file_fail(error, def->verification,
                            "has no validation.json; give the folder of a `throng validate --out`");
    return TH_OK;
}

th_result th_report_pdf(const th_pdf_def *def, int *pages, th_error *error) {
    char path[TH_PATH_MAX], to[TH_PATH_MAX];
    size_t size = 0;
    snprintf(path, sizeof path, "%.3800s/report.html", def->folder);
    snprintf(to, sizeof to, "%.3800s/report.pdf", def->folder);
    th_result result = check_pictures(def, error);
    if (result != TH_OK) return result;
    char *html = th_file_content(path, &size, error);
    if (!html) return error->code;
    setter s = {.def = def, .arena = th_arena_of(NULL)};
    th_file_writer writer;
    find_title(&s, html);
    bool good = pass(&s, html, NULL);
    if (good) {
        th_file_begin(&writer, NULL, def->path ? def->path : to);
        good = pass(&s, html, &writer);
        if (good || writer.cause)
            result = th_file_end(&writer, TH_SYNCED, error);
        else
            th_file_discard(&writer);
    }
    *pages = s.pages;
    free(html);
    free(s.words.list);
    free(s.cells);
    th_arena_release(&s.arena);
    if (good || result != TH_OK) return result;
    return th_fail(error, TH_NO_MEMORY, "", "no memory for the PDF; free some");
}
