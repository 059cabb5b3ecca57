// CSV of trajectories, as spreadsheets and pandas write it: one row per person and frame, columns parted by commas,
// semicolons or tabs. Titles name the columns; without titles the rows tell which column is which.
// SPDX-License-Identifier: Apache-2.0
#include "core/memory.h"
#include "record/text.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 256, SAMPLE_ROWS = 20000, SAMPLE_COLUMNS = 4 };

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

// ---- one line into its cells

char th_csv_separator(const char *line) {
    // Semicolons first: where they part the columns, commas may begin decimals.
    if (strchr(line, ';')) return ';';
    if (strchr(line, ',')) return ',';
    // Numbers parted by tabs are Juelich text; titles are not.
    bool letters = isalpha((unsigned char)line[0]) || line[0] == '"';
    return letters && strchr(line, '\t') ? '\t' : '\0';
}

// Ends a cell at `end` and cuts blanks off, and quotes around it.
static char *trim(char *cell, char *end) {
    while (is_blank(*cell)) ++cell;
    while (end > cell && is_blank(end[-1])) --end;
    if (end - cell >= 2 && cell[0] == '"' && end[-1] == '"') {
        ++cell;
        --end;
    }
    *end = '\0';
    return cell;
}

// Cuts the line in place. Columns beyond COLUMNS_MAX are left out.
static int split(char *line, char separator, char *cells[COLUMNS_MAX]) {
    int count = 0;
    char *begin = line;
    bool quoted = false;
    for (char *at = line; count < COLUMNS_MAX; ++at) {
        if (*at == '"') quoted = !quoted;
        if (*at != '\0' && (quoted || *at != separator)) continue;
        bool last = *at == '\0';
        cells[count++] = trim(begin, at);
        if (last) break;
        begin = at + 1;
    }
    return count;
}

// With semicolons between the columns 1,5 is a number.
static bool take_number(char *cell, char separator, double *value, int *decimals) {
    char *comma = separator == ';' ? strchr(cell, ',') : NULL;
    if (comma) *comma = '.';
    const char *end = cell;
    return th_text_take_real(&end, value, decimals) && *end == '\0';
}

// ---- titles

static const char *const kind_names[TH_CSV_KINDS] = {
    "id", "frame", "time", "x", "y", "level", "orientation x", "orientation y",
};

// As they read without capitals, blanks and signs.
static const char *const kind_titles[TH_CSV_KINDS] = {
    " id person personid agent agentid ped pedid pedestrian pedestrianid track trackid trackerid ",
    " frame frameid framenumber framenr frameno frameindex fr step timestep ",
    " time t timestamp simtime seconds ",
    " x xpos posx px positionx xposition xcoord xcoordinate coordx ",
    " y ypos posy py positiony yposition ycoord ycoordinate coordy ",
    " level levelid floor floorid storey ",
    " ox orientationx headingx ",
    " oy orientationy headingy ",
};

typedef struct title {
    char name[64], unit[16];
} title;

// "Pos X [cm]", "x/m", "time_ms": the name without signs, and the unit.
static title read_title(const char *cell) {
    title t = {{0}, {0}};
    size_t whole = strcspn(cell, "[(/"), used = 0;
    const char *unit = cell + whole + (cell[whole] != '\0');
    static const char *const endings[] = {"_m", "_cm", "_mm", "_ft", "_s", "_ms"};
    for (size_t i = 0; cell[whole] == '\0' && i < sizeof endings / sizeof endings[0]; ++i) {
        size_t length = strlen(endings[i]);
        if (whole <= length || strcasecmp(cell + whole - length, endings[i]) != 0) continue;
        whole -= length;
        unit = endings[i] + 1;
        break;
    }
    for (size_t i = 0; i < whole && used + 1 < sizeof t.name; ++i)
        if (isalnum((unsigned char)cell[i])) t.name[used++] = (char)tolower((unsigned char)cell[i]);
    size_t length = strcspn(unit, "]) ");
    snprintf(t.unit, sizeof t.unit, "%.*s", (int)(length < 15 ? length : 15), unit);
    return t;
}

static bool is_kind(const title *t, th_csv_kind kind) {
    char word[80];
    snprintf(word, sizeof word, " %s ", t->name);
    return t->name[0] && strstr(kind_titles[kind], word) != NULL;
}

typedef struct unit_size {
    const char *name;
    double size;
} unit_size;

// 0: no such unit.
static double size_of(const char *name, bool time) {
    static const unit_size lengths[] = {{"m", 1},     {"metre", 1},  {"metres", 1}, {"meters", 1},
                                        {"cm", 0.01}, {"mm", 0.001}, {"ft", 0.3048}};
    static const unit_size times[] = {{"s", 1},      {"sec", 1},  {"seconds", 1},
                                      {"ms", 0.001}, {"min", 60}, {NULL, 0}};
    const unit_size *list = time ? times : lengths;
    for (int i = 0; i < (time ? 5 : 7); ++i)
        if (strcasecmp(name, list[i].name) == 0) return list[i].size;
    return 0;
}

static th_result take_unit(const th_text_scanner *scan, const char *cell, const title *t,
                           th_csv_kind kind, th_text_header *header, th_csv *csv, th_error *error) {
    bool time = kind == TH_CSV_TIME, place = kind == TH_CSV_X || kind == TH_CSV_Y;
    if (!t->unit[0] || !(time || place)) return TH_OK;
    double size = size_of(t->unit, time);
    if (size <= 0)
        return th_text_fail(scan, cell, error, "'%s' is no unit of a %s; give %s", t->unit,
                            time ? "time" : "coordinate",
                            time ? "s, ms or min" : "m, cm, mm or ft");
    if (time) csv->second = size;
    int other = kind == TH_CSV_Y ? csv->of[TH_CSV_X] : -1;
    if (other >= 0 && header->unit > 0 && header->unit != size)
        return th_text_fail(scan, cell, error,
                            "y is in %s and x is not; give both in the same unit", t->unit);
    if (place) header->unit = size; // a title outdoes the comments
    return TH_OK;
}

static th_result fail_columns(const th_text_scanner *scan, th_error *error, const char *missing) {
    return th_text_fail(scan, scan->text, error,
                        "not a trajectory: no column for the %s; the first line names the columns "
                        "id, frame or time, x, y (and level, ox, oy)",
                        missing);
}

static th_result check_columns(const th_text_scanner *scan, const th_csv *csv, th_error *error) {
    if (csv->of[TH_CSV_ID] < 0) return fail_columns(scan, error, "person's number (id)");
    if (csv->of[TH_CSV_FRAME] < 0 && csv->of[TH_CSV_TIME] < 0)
        return fail_columns(scan, error, "frame or the time");
    if (csv->of[TH_CSV_X] < 0 || csv->of[TH_CSV_Y] < 0)
        return fail_columns(scan, error, "coordinates (x, y)");
    return TH_OK;
}

static th_result read_titles(const th_text_scanner *scan, th_text_header *header, th_csv *csv,
                             th_error *error) {
    char *cells[COLUMNS_MAX];
    int count = split(scan->text, csv->separator, cells);
    double unit_of_comments = header->unit;
    header->unit = 0;
    for (int kind = 0; kind < TH_CSV_KINDS; ++kind)
        for (int c = 0; c < count && csv->of[kind] < 0; ++c) {
            title t = read_title(cells[c]);
            if (!is_kind(&t, (th_csv_kind)kind)) continue;
            csv->of[kind] = c;
            th_result result = take_unit(scan, cells[c], &t, (th_csv_kind)kind, header, csv, error);
            if (result != TH_OK) return result;
        }
    if (header->unit <= 0) header->unit = unit_of_comments;
    header->has_level = csv->of[TH_CSV_LEVEL] >= 0;
    header->has_orientation =
        csv->of[TH_CSV_ORIENTATION_X] >= 0 && csv->of[TH_CSV_ORIENTATION_Y] >= 0;
    return check_columns(scan, csv, error);
}

// ---- the rows that are in the buffer already, to see what they hold

typedef struct sample {
    double (*rows)[SAMPLE_COLUMNS]; // NaN: no number
    int count;
} sample;

static void add_line(sample *s, char *line, char separator, const int columns[SAMPLE_COLUMNS]) {
    char *cells[COLUMNS_MAX];
    int unused = 0, count = split(line, separator, cells);
    for (int k = 0; k < SAMPLE_COLUMNS; ++k) {
        double value = (double)NAN;
        int c = columns[k];
        if (c < 0 || c >= count || !take_number(cells[c], separator, &value, &unused))
            value = (double)NAN;
        s->rows[s->count][k] = value;
    }
    ++s->count;
}

// `line`: the line in hand counts as well. False: no memory.
static bool take_sample(const th_text_scanner *scan, const th_csv *csv, bool line,
                        const int columns[SAMPLE_COLUMNS], sample *s) {
    size_t rest = scan->end - scan->begin, first = line ? scan->length + 1 : 0;
    char *text = malloc(first + rest + 1);
    *s = (sample){.rows = malloc(SAMPLE_ROWS * sizeof *s->rows)};
    if (!text || !s->rows) {
        free(text);
        free(s->rows);
        return false;
    }
    if (line) memcpy(text, scan->text, scan->length), text[scan->length] = '\n';
    memcpy(text + first, scan->buffer + scan->begin, rest);
    text[first + rest] = '\0';
    for (char *at = text, *stop; *at && s->count < SAMPLE_ROWS; at = stop + 1) {
        stop = strchr(at, '\n');
        if (!stop && !scan->finished && s->count > 0) break; // its end is not read yet
        bool last = stop == NULL;
        if (last) stop = at + strlen(at);
        *stop = '\0';
        if (stop > at && stop[-1] == '\r') stop[-1] = '\0';
        if (*at != '\0' && *at != '#') add_line(s, at, csv->separator, columns);
        if (last) break;
    }
    free(text);
    return true;
}

// ---- columns without titles: people move less between two frames than they stand apart

typedef struct step_key {
    double id, frame, x, y;
} step_key;

static int compare_keys(const void *a, const void *b) {
    const step_key *p = a, *q = b;
    if (p->id != q->id) return p->id < q->id ? -1 : 1;
    return (p->frame > q->frame) - (p->frame < q->frame);
}

// Mean distance from each row to the same person's next one; infinite when one is twice in a frame.
static double mean_step(const sample *s, int id, int frame) {
    step_key *keys = malloc((size_t)s->count * sizeof *keys);
    double sum = 0, count = 0;
    for (int i = 0; keys && i < s->count; ++i)
        keys[i] = (step_key){s->rows[i][id], s->rows[i][frame], s->rows[i][2], s->rows[i][3]};
    if (keys) qsort(keys, (size_t)s->count, sizeof *keys, compare_keys);
    for (int i = 1; keys && i < s->count; ++i) {
        if (keys[i].id != keys[i - 1].id) continue;
        if (keys[i].frame == keys[i - 1].frame) sum = (double)INFINITY;
        sum += hypot(keys[i].x - keys[i - 1].x, keys[i].y - keys[i - 1].y);
        ++count;
    }
    free(keys);
    return count > 0 ? sum / count : 0;
}

static bool all_whole(const sample *s, int column) {
    for (int i = 0; i < s->count; ++i)
        if (s->rows[i][column] != floor(s->rows[i][column])) return false;
    return true;
}

static bool all_numbers(const sample *s) {
    for (int i = 0; i < s->count; ++i)
        for (int k = 0; k < SAMPLE_COLUMNS; ++k)
            if (isnan(s->rows[i][k])) return false;
    return s->count > 0;
}

static th_result guess_columns(const th_text_scanner *scan, th_text_header *header, th_csv *csv,
                               th_error *error) {
    static const int first_four[SAMPLE_COLUMNS] = {0, 1, 2, 3};
    sample s;
    if (!take_sample(scan, csv, true, first_four, &s))
        return th_trajectory_fail(error, TH_NO_MEMORY, scan->path, "no memory to read the file");
    bool numbers = all_numbers(&s), whole[2] = {all_whole(&s, 0), all_whole(&s, 1)};
    bool turned = whole[0] && whole[1] ? mean_step(&s, 1, 0) < mean_step(&s, 0, 1) : !whole[0];
    free(s.rows);
    // A row with a fault is told when it is read: then the columns are taken in our own order.
    if (!numbers) turned = false, whole[0] = whole[1] = true;
    th_csv_kind moment = whole[0] && whole[1] ? TH_CSV_FRAME : TH_CSV_TIME;
    csv->of[TH_CSV_ID] = turned;
    csv->of[moment] = !turned;
    csv->of[TH_CSV_X] = 2;
    csv->of[TH_CSV_Y] = 3;
    snprintf(header->guessed, sizeof header->guessed, "without titles; taken for %s, %s, x, y",
             kind_names[turned ? moment : TH_CSV_ID], kind_names[turned ? TH_CSV_ID : moment]);
    return TH_OK;
}

// ---- the frame rate, from the times

// How far, in frames, the times lie from whole frames at this rate.
static double misfit(const sample *s, double first, double fps) {
    double worst = 0;
    for (int i = 0; i < s->count; ++i) {
        double frames = (s->rows[i][0] - first) * fps;
        worst = fmax(worst, fabs(frames - rint(frames)));
    }
    return worst;
}

static int compare_times(const void *a, const void *b) {
    const double *p = a, *q = b;
    return (p[0] > q[0]) - (p[0] < q[0]);
}

// A rate is seldom 24.9987: the round number next to it is taken where the times agree with it as well.
static double round_rate(const sample *s, double first, double fps) {
    double limit = fmax(1.5 * misfit(s, first, fps), 1e-3);
    const double round[] = {rint(fps), rint(10 * fps) / 10, 1 / (rint(1000 / fps) / 1000),
                            rint(100 * fps) / 100, 1 / (rint(1e5 / fps) / 1e5)};
    for (size_t i = 0; i < sizeof round / sizeof round[0]; ++i)
        if (round[i] > 0 && fabs(round[i] - fps) <= 1e-3 * fps &&
            misfit(s, first, round[i]) <= limit)
            return round[i];
    return fps;
}

static double rate_of_times(sample *s, bool frames) {
    double first = s->rows[0][0], last = s->rows[s->count - 1][0];
    if (!(last > first)) return 0;
    if (frames) // in column 1
        return (s->rows[s->count - 1][1] - s->rows[0][1]) / (last - first);
    // The step is a gap that a quarter of all gaps stay below, as frames may be missing and a time may be wrong.
    double *gaps = malloc((size_t)s->count * sizeof *gaps), steps = 0;
    int count = 0;
    for (int i = 1; gaps && i < s->count; ++i) {
        double gap = s->rows[i][0] - s->rows[i - 1][0];
        if (gap > 1e-6 * (last - first)) gaps[count++] = gap;
    }
    if (count > 0) qsort(gaps, (size_t)count, sizeof *gaps, compare_times);
    double step = count > 0 ? gaps[count / 4] : last - first;
    free(gaps);
    for (int i = 1; i < s->count; ++i) steps += rint((s->rows[i][0] - s->rows[i - 1][0]) / step);
    return steps / (last - first);
}

// Leaves header->fps 0 where nothing tells it.
static th_result find_rate(const th_text_scanner *scan, th_trajectory_assumed assumed, bool titles,
                           th_text_header *header, th_csv *csv, th_error *error) {
    bool frames = csv->of[TH_CSV_FRAME] >= 0;
    if (csv->of[TH_CSV_TIME] < 0) return TH_OK;
    const int columns[SAMPLE_COLUMNS] = {csv->of[TH_CSV_TIME], csv->of[TH_CSV_FRAME], -1, -1};
    sample s;
    if (!take_sample(scan, csv, !titles, columns, &s))
        return th_trajectory_fail(error, TH_NO_MEMORY, scan->path, "no memory to read the file");
    int kept = 0;
    for (int i = 0; i < s.count; ++i)
        if (!isnan(s.rows[i][0]) && !(frames && isnan(s.rows[i][1]))) {
            memmove(s.rows[kept], s.rows[i], sizeof *s.rows);
            s.rows[kept++][0] *= csv->second;
        }
    s.count = kept;
    if (kept > 0) qsort(s.rows, (size_t)kept, sizeof *s.rows, compare_times);
    csv->first_time = kept > 0 ? s.rows[0][0] : 0;
    if (header->fps <= 0 && !frames) header->fps = assumed.fps;
    if (header->fps <= 0 && kept > 1) {
        double fps = rate_of_times(&s, frames);
        bool good = fps >= TH_FPS_LEAST && fps <= TH_FPS_MAX;
        if (good) header->fps = round_rate(&s, csv->first_time, fps);
        size_t used = strlen(header->guessed);
        if (good)
            snprintf(header->guessed + used, sizeof header->guessed - used,
                     "%s%.10g frames per second, from the times", used ? "; " : "", header->fps);
    }
    free(s.rows);
    return TH_OK;
}

// ---- the file

th_result th_csv_begin(const th_text_scanner *scan, th_trajectory_assumed assumed,
                       th_text_header *header, th_csv *csv, bool *titles, th_error *error) {
    *csv = (th_csv){.separator = th_csv_separator(scan->text), .second = 1};
    for (int kind = 0; kind < TH_CSV_KINDS; ++kind) csv->of[kind] = -1;
    *titles = false;
    for (const char *at = scan->text; *at && !*titles; ++at) // 1e5 is a number
        *titles = isalpha((unsigned char)*at) && strchr("eE", *at) == NULL;
    th_result result =
        *titles ? read_titles(scan, header, csv, error) : guess_columns(scan, header, csv, error);
    return result == TH_OK ? find_rate(scan, assumed, *titles, header, csv, error) : result;
}

typedef struct csv_line {
    const th_text_scanner *scan;
    const th_csv *csv;
    char *cells[COLUMNS_MAX];
    int count;
    th_error *error;
} csv_line;

static th_result fail_cell(const csv_line *line, th_csv_kind kind) {
    int c = line->csv->of[kind];
    if (c >= line->count)
        return th_text_fail(line->scan, line->cells[line->count - 1], line->error,
                            "%d columns; the %s is in column %d", line->count, kind_names[kind],
                            c + 1);
    return th_text_fail(line->scan, line->cells[c], line->error, "'%.40s' is no %s (column %d)",
                        line->cells[c], kind_names[kind], c + 1);
}

static th_result take(const csv_line *line, th_csv_kind kind, double *value, int *decimals) {
    int c = line->csv->of[kind];
    bool good =
        c < line->count && take_number(line->cells[c], line->csv->separator, value, decimals);
    return good ? TH_OK : fail_cell(line, kind);
}

// Also "3.0", as pandas writes where a column had gaps.
static th_result take_whole(const csv_line *line, th_csv_kind kind, int64_t *value) {
    double number = 0;
    int unused = 0;
    th_result result = take(line, kind, &number, &unused);
    if (result != TH_OK) return result;
    if (number != floor(number) || fabs(number) > 9e15) return fail_cell(line, kind);
    *value = (int64_t)number;
    return TH_OK;
}

static th_result take_frame(const csv_line *line, double fps, int64_t *frame) {
    const th_csv *csv = line->csv;
    bool numbered = csv->of[TH_CSV_FRAME] >= 0;
    th_csv_kind kind = numbered ? TH_CSV_FRAME : TH_CSV_TIME;
    double time = 0;
    int unused = 0;
    th_result result = numbered ? take_whole(line, kind, frame) : take(line, kind, &time, &unused);
    if (result != TH_OK) return result;
    if (!numbered && fps > 0) {
        double since = (time * csv->second - csv->first_time) * fps;
        double number = rint(since) + rint(csv->first_time * fps);
        if (fabs(since - rint(since)) > 0.25 || fabs(number) > 9e15)
            return th_text_fail(line->scan, line->cells[csv->of[kind]], line->error,
                                "time %g lies between two frames at %g per second; times must be "
                                "multiples of one step (--fps names the rate)",
                                time, fps);
        *frame = (int64_t)number;
    }
    if (*frame < 0)
        return th_text_fail(line->scan, line->cells[csv->of[kind]], line->error,
                            "%s before 0; frames are counted from 0", kind_names[kind]);
    return TH_OK;
}

// A number up to TH_TEXT_LEVELS is the level's; others are names, counted as they come.
static th_result take_level(const csv_line *line, th_text_header *header, th_csv *csv,
                            int32_t *level) {
    int c = csv->of[TH_CSV_LEVEL];
    if (c >= line->count) return fail_cell(line, TH_CSV_LEVEL);
    char *cell = line->cells[c];
    double number = -1;
    int unused = 0;
    bool numbered = take_number(cell, csv->separator, &number, &unused);
    if (header->by_throng || (numbered && !csv->named_levels)) {
        int most = header->by_throng ? header->level_count : TH_TEXT_LEVELS;
        if (!numbered || !(number >= 0 && number < most) || number != floor(number))
            return th_text_fail(line->scan, cell, line->error, "level '%.40s'; there are 0 to %d",
                                cell, most - 1);
        *level = (int32_t)number;
        for (; header->level_count <= *level; ++header->level_count)
            snprintf(header->levels[header->level_count].id, sizeof header->levels[0].id, "%d",
                     header->level_count);
        return TH_OK;
    }
    if (!csv->named_levels && header->level_count > 0)
        return th_text_fail(line->scan, cell, line->error,
                            "level '%.40s' behind levels that are numbers; name all or number all",
                            cell);
    csv->named_levels = true;
    for (*level = 0; *level < header->level_count; ++*level)
        if (strcmp(header->levels[*level].id, cell) == 0) return TH_OK;
    if (*level == TH_TEXT_LEVELS || !cell[0] || strlen(cell) >= sizeof header->levels[0].id)
        return th_text_fail(line->scan, cell, line->error,
                            cell[0] ? "level '%.40s' is one too many, or its name is too long"
                                    : "no level%s",
                            cell);
    snprintf(header->levels[header->level_count++].id, sizeof header->levels[0].id, "%s", cell);
    return TH_OK;
}

th_result th_csv_row(const th_text_scanner *scan, th_text_header *header, th_csv *csv, th_row *row,
                     const char **place, th_error *error) {
    csv_line line = {.scan = scan, .csv = csv, .error = error};
    line.count = split(scan->text, csv->separator, line.cells);
    int unused = 0;
    th_result result = take_whole(&line, TH_CSV_ID, &row->id);
    if (result == TH_OK) result = take_frame(&line, header->fps, &row->frame);
    if (result == TH_OK) result = take(&line, TH_CSV_X, &row->x, &header->decimals);
    if (result == TH_OK) result = take(&line, TH_CSV_Y, &row->y, &header->decimals);
    // By the columns: a comment further down may speak of others.
    if (result == TH_OK && csv->of[TH_CSV_LEVEL] >= 0)
        result = take_level(&line, header, csv, &row->level);
    if (result == TH_OK && csv->of[TH_CSV_ORIENTATION_X] >= 0 &&
        csv->of[TH_CSV_ORIENTATION_Y] >= 0) {
        result = take(&line, TH_CSV_ORIENTATION_X, &row->orientation_x, &unused);
        if (result == TH_OK)
            result = take(&line, TH_CSV_ORIENTATION_Y, &row->orientation_y, &unused);
    }
    if (result == TH_OK) *place = line.cells[csv->of[TH_CSV_Y]];
    return result;
}
