// Blobs into frames: everything that is read here may be a lie. SPDX-License-Identifier: Apache-2.0
#include "core/array.h"
#include "core/error.h"
#include "core/parallel.h"
#include "record/compact_codec.h"
#include <string.h>

// A zstd block of 4 bytes gives at most 128 KiB; a larger claim is damage.
enum { ZSTD_RATIO_MOST = 32768 };

static uint32_t get_u32(const unsigned char *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

typedef struct cursor {
    const unsigned char *at, *end;
    bool bad;
} cursor;

static uint64_t get_varint(cursor *c) {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && c->at < c->end; shift += 7) {
        unsigned char byte = *c->at++;
        value |= (uint64_t)(byte & 127) << shift;
        if (!(byte & 128)) return value;
    }
    c->bad = true;
    return 0;
}

static uint32_t get_planes(const unsigned char *planes, uint32_t count, uint32_t index) {
    uint32_t value = 0;
    for (uint32_t k = 0; k < 4; ++k) value |= (uint32_t)planes[(size_t)k * count + index] << 8 * k;
    return value;
}

static th_result damaged(th_error *error, const char *what) {
    return th_fail(error, TH_NO_FILE, "", "the data is damaged (%s)", what);
}

static const char *get_head(const th_compact_codec *codec, const unsigned char *content,
                            size_t size, int count, th_compact_head *h) {
    if (size < TH_HEAD_BYTES) return "too short";
    *h = (th_compact_head){get_u32(content),      get_u32(content + 4),  get_u32(content + 8),
                           get_u32(content + 12), get_u32(content + 16), get_u32(content + 20),
                           get_u32(content + 24)};
    if (h->flags & ~(uint32_t)TH_FLAGS_KNOWN) return "unknown flags";
    bool key = h->flags & TH_FLAG_KEY;
    uint32_t before = key ? 0 : (uint32_t)codec->now.count;
    if (!key && !codec->started) return "no key frame before it";
    if (count < 0 || count > TH_COMPACT_PEOPLE_MAX || h->count != (uint32_t)count)
        return "another number of people";
    if (h->left > before || h->came > h->count || before - h->left + h->came != h->count ||
        h->level_changes > h->count || h->escapes > 2 * (uint64_t)h->count || (key && h->escapes))
        return "counts that do not fit together";
    return th_compact_layout_of(h).end == size ? NULL : "another size";
}

// Indices of who left, ascending, each below `count`.
static bool get_left(th_compact_codec *codec, const th_compact_head *h, cursor *list) {
    uint64_t index = 0, count = (uint64_t)codec->now.count;
    for (uint32_t k = 0; k < h->left; ++k) {
        uint64_t gap = get_varint(list);
        if (list->bad || gap >= count || index + gap >= count) return false;
        index += gap;
        codec->left[k] = (int)index++;
    }
    return true;
}

static bool next_id(cursor *list, bool first, int64_t *id) {
    uint64_t value = get_varint(list);
    if (list->bad) return false;
    if (first) {
        *id = (int64_t)(value >> 1 ^ (0 - (value & 1)));
        return true;
    }
    uint64_t room = (uint64_t)INT64_MAX - (uint64_t)*id; // ids still above this one
    if (value >= room) return false;
    *id = (int64_t)((uint64_t)*id + 1 + value);
    return true;
}

static void get_newcomer(th_grid_crowd *to, int i, const unsigned char *planes, uint32_t came,
                         uint32_t index) {
    int32_t *fields[] = {to->x, to->y, to->moved_x, to->moved_y};
    for (int f = 0; f < 4; ++f)
        fields[f][i] = (int32_t)get_planes(planes + 4 * (size_t)f * came, came, index);
    to->level[i] = 0;
    to->heading[i] = 0;
}

// The old crowd without who left, with who came in between, into codec->next.
static bool rebuild(th_compact_codec *codec, const th_compact_head *h, cursor *list,
                    const unsigned char *planes) {
    th_grid_crowd *old = &codec->now, *next = &codec->next;
    uint32_t taken = 0, gone = 0;
    int64_t id = 0;
    bool waiting = false; // the id of a newcomer is read
    int j = 0, old_count = h->flags & TH_FLAG_KEY ? 0 : old->count;
    for (int i = 0; i < (int)h->count; ++i) {
        while (gone < h->left && codec->left[gone] == j) ++gone, ++j;
        if (!waiting && taken < h->came) {
            if (!next_id(list, taken == 0, &id)) return false;
            waiting = true;
        }
        if (j < old_count && (!waiting || old->id[j] < id)) {
            th_compact_copy_person(next, i, old, j++);
            continue;
        }
        if (!waiting || (j < old_count && old->id[j] == id)) return false;
        next->id[i] = id;
        get_newcomer(next, i, planes, h->came, taken++);
        waiting = false;
    }
    next->count = (int)h->count;
    return taken == h->came;
}

static bool get_levels(th_grid_crowd *now, const th_compact_head *h, cursor *list) {
    uint64_t index = 0;
    for (uint32_t k = 0; k < h->level_changes; ++k) {
        uint64_t gap = get_varint(list), level = get_varint(list);
        if (list->bad || gap >= h->count || index + gap >= h->count || level > INT32_MAX)
            return false;
        index += gap;
        now->level[index++] = (int32_t)level;
    }
    return true;
}

// Moves one coordinate of everybody; `*escape` counts on through the list of escapes.
TH_CLONES static void add_residuals(int count, const unsigned char *restrict plane,
                                    int32_t *restrict place, int32_t *restrict moved) {
    for (int i = 0; i < count; ++i) {
        uint32_t residual = (uint32_t)(int32_t)(int8_t)plane[i];
        uint32_t now = th_compact_expected(place[i], moved[i]) + residual;
        moved[i] = (int32_t)(now - (uint32_t)place[i]);
        place[i] = (int32_t)now;
    }
}

// Escapes went through add_residuals as -128; this puts them right.
static bool add_escapes(int count, const unsigned char *plane, const unsigned char *escapes,
                        const th_compact_head *h, uint32_t *taken, int32_t *place, int32_t *moved) {
    const unsigned char *at = plane, *end = plane + count;
    while (at < end && (at = memchr(at, TH_ESCAPE, (size_t)(end - at)))) {
        ptrdiff_t i = at++ - plane;
        if (*taken >= h->escapes) return false;
        uint32_t more = get_planes(escapes, h->escapes, (*taken)++) + 128u;
        place[i] = (int32_t)((uint32_t)place[i] + more);
        moved[i] = (int32_t)((uint32_t)moved[i] + more);
    }
    return true;
}

static const char *get_residuals(th_grid_crowd *now, const unsigned char *content,
                                 const th_compact_head *h, const th_compact_layout *at) {
    int count = now->count;
    uint32_t taken = 0;
    const unsigned char *escapes = content + at->escapes;
    const unsigned char *plane_x = content + at->residual_x, *plane_y = content + at->residual_y;
    add_residuals(count, plane_x, now->x, now->moved_x);
    add_residuals(count, plane_y, now->y, now->moved_y);
    if (!add_escapes(count, plane_x, escapes, h, &taken, now->x, now->moved_x) ||
        !add_escapes(count, plane_y, escapes, h, &taken, now->y, now->moved_y) ||
        taken != h->escapes)
        return "jumps";
    return NULL;
}

static const char *get_people(th_compact_codec *codec, const unsigned char *content,
                              const th_compact_head *h, const th_compact_layout *at) {
    cursor list = {content + at->lists, content + at->end, false};
    if (!get_left(codec, h, &list)) return "who left";
    if (h->left || h->came || h->flags & TH_FLAG_KEY) {
        if (!rebuild(codec, h, &list, content + at->newcomers)) return "who came";
        th_compact_swap_crowds(codec);
    }
    th_grid_crowd *now = &codec->now;
    if (!get_levels(now, h, &list)) return "levels";
    if (list.at != list.end) return "more lists than people";
    if (h->flags & TH_FLAG_HEADING)
        for (int i = 0; i < now->count; ++i)
            now->heading[i] = (uint8_t)(now->heading[i] + content[at->heading + (uint64_t)i]);
    return h->flags & TH_FLAG_KEY ? NULL : get_residuals(now, content, h, at);
}

th_result th_compact_decode_content(th_compact_codec *codec, const unsigned char *content,
                                    size_t size, int count, th_grid_frame *frame, th_error *error) {
    th_compact_head h;
    const char *fault = get_head(codec, content, size, count, &h);
    codec->started = false;
    if (fault) return damaged(error, fault);
    if (!th_compact_reserve_crowd(&codec->now, count) ||
        !th_compact_reserve_crowd(&codec->next, count) ||
        !TH_RESERVE(codec->left, codec->left_capacity, (int)h.left))
        return th_compact_no_memory(error);
    th_compact_layout at = th_compact_layout_of(&h);
    fault = get_people(codec, content, &h, &at);
    if (fault) return damaged(error, fault);
    codec->started = true;
    const th_grid_crowd *now = &codec->now;
    *frame = (th_grid_frame){
        now->count, now->id, now->x, now->y, h.flags & TH_FLAG_HEADING ? now->heading : NULL,
        now->level};
    return TH_OK;
}

th_result th_compact_decode(th_compact_codec *codec, const unsigned char *bytes, size_t size,
                            int count, th_grid_frame *frame, th_error *error) {
    bool started = codec->started;
    codec->started = false;
    if (size < 2) return damaged(error, "too short");
    if (bytes[0] != TH_COMPACT_VERSION)
        return th_fail(error, TH_NO_FILE, "",
                       "the data is of codec version %d, this program knows %d; use a newer throng",
                       bytes[0], TH_COMPACT_VERSION);
    unsigned long long content = ZSTD_getFrameContentSize(bytes + 1, size - 1);
    if (content == ZSTD_CONTENTSIZE_ERROR || content == ZSTD_CONTENTSIZE_UNKNOWN ||
        content / ZSTD_RATIO_MOST > size)
        return damaged(error, "not a zstd frame");
    if (!codec->decompress && !(codec->decompress = ZSTD_createDCtx()))
        return th_compact_no_memory(error);
    if (!TH_RESERVE(codec->content, codec->content_capacity, content))
        return th_compact_no_memory(error);
    size_t got = ZSTD_decompressDCtx(codec->decompress, codec->content, codec->content_capacity,
                                     bytes + 1, size - 1);
    if (ZSTD_isError(got)) return damaged(error, ZSTD_getErrorName(got));
    codec->started = started;
    return th_compact_decode_content(codec, codec->content, got, count, frame, error);
}
