// A whole trajectory in memory, sorted into frames: for formats whose rows come in any order. 56 bytes
// per row. SPDX-License-Identifier: Apache-2.0
#include "core/array.h"
#include "record/backend.h"
#include <limits.h>
#include <stdlib.h>

bool th_row_table_add(th_row_table *table, th_row row) {
    if (!TH_RESERVE(table->rows, table->capacity, table->count + 1)) return false;
    table->rows[table->count++] = row;
    return true;
}

bool th_row_table_add_empty(th_row_table *table, int64_t frame) {
    if (!TH_RESERVE(table->empty, table->empty_capacity, table->empty_count + 1)) return false;
    table->empty[table->empty_count++] = frame;
    return true;
}

static int compare_rows(const void *a, const void *b) {
    const th_row *p = a, *q = b;
    if (p->frame != q->frame) return p->frame < q->frame ? -1 : 1;
    return (p->id > q->id) - (p->id < q->id);
}

// Ours and JuPedSim's come in order already; the archive's go person by person.
static void sort_rows(th_row_table *table) {
    for (int64_t i = 1; i < table->count; ++i)
        if (compare_rows(&table->rows[i - 1], &table->rows[i]) > 0) {
            qsort(table->rows, (size_t)table->count, sizeof *table->rows, compare_rows);
            return;
        }
}

static int compare_numbers(const void *a, const void *b) {
    int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;
    return (p > q) - (p < q);
}

// Ascending, each once, and none in which somebody is.
static void sort_empty(th_row_table *table) {
    if (table->empty_count == 0) return;
    qsort(table->empty, (size_t)table->empty_count, sizeof *table->empty, compare_numbers);
    int64_t kept = 0, row = 0;
    for (int64_t i = 0; i < table->empty_count; ++i) {
        int64_t frame = table->empty[i];
        while (row < table->count && table->rows[row].frame < frame) ++row;
        bool peopled = row < table->count && table->rows[row].frame == frame;
        if (!peopled && (kept == 0 || table->empty[kept - 1] != frame))
            table->empty[kept++] = frame;
    }
    table->empty_count = kept;
}

// Counts different ids with a hash set of at most half its places taken. -1: no memory.
typedef struct id_set {
    int64_t *ids;
    bool *taken;
    size_t size, count; // size: power of two
} id_set;

static size_t place_of(const id_set *set, int64_t id) {
    // Knuth's multiplicative hash: 2^64 divided by the golden ratio.
    size_t at = (size_t)(((uint64_t)id * 0x9e3779b97f4a7c15u) >> 20) & (set->size - 1);
    while (set->taken[at] && set->ids[at] != id) at = (at + 1) & (set->size - 1);
    return at;
}

static bool grow_set(id_set *set) {
    id_set larger = {.size = set->size ? 2 * set->size : 1024, .count = set->count};
    larger.ids = malloc(larger.size * sizeof *larger.ids);
    larger.taken = calloc(larger.size, sizeof *larger.taken);
    if (!larger.ids || !larger.taken) {
        free(larger.ids);
        free(larger.taken);
        return false;
    }
    for (size_t i = 0; i < set->size; ++i)
        if (set->taken[i]) {
            size_t at = place_of(&larger, set->ids[i]);
            larger.ids[at] = set->ids[i];
            larger.taken[at] = true;
        }
    free(set->ids);
    free(set->taken);
    *set = larger;
    return true;
}

static int64_t count_people(const th_row_table *table) {
    id_set set = {0};
    bool memory = grow_set(&set);
    for (int64_t i = 0; memory && i < table->count; ++i) {
        size_t at = place_of(&set, table->rows[i].id);
        if (set.taken[at]) continue;
        set.ids[at] = table->rows[i].id;
        set.taken[at] = true;
        if (++set.count * 2 > set.size) memory = grow_set(&set);
    }
    free(set.ids);
    free(set.taken);
    return memory ? (int64_t)set.count : -1;
}

static void count_frames(const th_row_table *table, th_trajectory_info *info) {
    const th_row *rows = table->rows;
    int64_t rows_end = table->count, empty_end = table->empty_count;
    info->frame_count = empty_end;
    for (int64_t i = 0; i < rows_end; ++i)
        if (i == 0 || rows[i].frame != rows[i - 1].frame) ++info->frame_count;
    if (rows_end > 0) {
        info->first_frame = rows[0].frame;
        info->last_frame = rows[rows_end - 1].frame;
    }
    if (empty_end > 0 && (rows_end == 0 || table->empty[0] < info->first_frame))
        info->first_frame = table->empty[0];
    if (empty_end > 0 && (rows_end == 0 || table->empty[empty_end - 1] > info->last_frame))
        info->last_frame = table->empty[empty_end - 1];
}

static void find_bounds(const th_row_table *table, th_trajectory_info *info) {
    const th_row *rows = table->rows;
    if (table->count == 0) return;
    info->min_x = info->max_x = rows[0].x;
    info->min_y = info->max_y = rows[0].y;
    for (int64_t i = 1; i < table->count; ++i) {
        if (rows[i].x < info->min_x) info->min_x = rows[i].x;
        if (rows[i].x > info->max_x) info->max_x = rows[i].x;
        if (rows[i].y < info->min_y) info->min_y = rows[i].y;
        if (rows[i].y > info->max_y) info->max_y = rows[i].y;
    }
}

th_result th_row_table_complete(th_row_table *table, th_trajectory_info *info, const char *path,
                                th_error *error) {
    sort_rows(table);
    for (int64_t i = 1; i < table->count; ++i)
        if (compare_rows(&table->rows[i - 1], &table->rows[i]) == 0)
            return th_trajectory_fail(
                error, TH_NO_FILE, path,
                "person %lld is there twice in frame %lld; ids must differ within a frame",
                (long long)table->rows[i].id, (long long)table->rows[i].frame);
    sort_empty(table);
    info->row_count = table->count;
    count_frames(table, info);
    find_bounds(table, info);
    info->people_count = count_people(table);
    if (info->people_count < 0)
        return th_trajectory_fail(error, TH_NO_MEMORY, path, "no memory to count the people");
    return TH_OK;
}

// One block for all arrays of a frame, begun by the ids; what was in it is not needed any more.
static bool reserve(th_row_table *table, int count) {
    if (count <= table->frame_capacity) return true;
    int capacity = th_array_capacity_int(table->frame_capacity, count);
    free(table->id);
    table->frame_capacity = 0;
    size_t n = (size_t)capacity;
    table->id = malloc(n * (sizeof *table->id + 4 * sizeof(double) + sizeof *table->level));
    if (!table->id) return false;
    table->x = (double *)(table->id + n);
    table->y = table->x + n;
    table->orientation_x = table->y + n;
    table->orientation_y = table->orientation_x + n;
    table->level = (int32_t *)(table->orientation_y + n);
    table->frame_capacity = capacity;
    return true;
}

th_result th_row_table_next(th_row_table *table, th_moment *frame, const char *path,
                            th_error *error) {
    *frame = (th_moment){.count = -1};
    bool rows_left = table->at < table->count;
    if (table->empty_at < table->empty_count &&
        (!rows_left || table->empty[table->empty_at] < table->rows[table->at].frame)) {
        *frame = (th_moment){.number = table->empty[table->empty_at++]};
        return TH_OK;
    }
    if (!rows_left) return TH_OK;
    const th_row *rows = &table->rows[table->at];
    int64_t count = 0, left = table->count - table->at;
    while (count < left && rows[count].frame == rows[0].frame) ++count;
    if (count > INT_MAX || !reserve(table, (int)count))
        return th_trajectory_fail(error, TH_NO_MEMORY, path, "no memory for a frame of %lld people",
                                  (long long)count);
    for (int64_t i = 0; i < count; ++i) {
        table->id[i] = rows[i].id;
        table->x[i] = rows[i].x;
        table->y[i] = rows[i].y;
        table->orientation_x[i] = rows[i].orientation_x;
        table->orientation_y[i] = rows[i].orientation_y;
        table->level[i] = rows[i].level;
    }
    table->at += count;
    *frame = (th_moment){.number = rows[0].frame,
                         .count = (int)count,
                         .id = table->id,
                         .x = table->x,
                         .y = table->y};
    if (table->has_orientation) {
        frame->orientation_x = table->orientation_x;
        frame->orientation_y = table->orientation_y;
    }
    if (table->has_level) frame->level = table->level;
    return TH_OK;
}

void th_row_table_rewind(th_row_table *table) { table->at = table->empty_at = 0; }

void th_row_table_release(th_row_table *table) {
    free(table->rows);
    free(table->empty);
    free(table->id);
    *table = (th_row_table){0};
}
