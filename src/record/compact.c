// Inside the compact codec: what encoder and decoder share. The content of a blob, inside zstd:
//   32-byte head: flags, count, left, came, level changes, bytes of lists, escapes, 0; u32 little endian
//   planes of residuals x, y (count bytes each; not in a key frame), of heading changes (if known)
//   newcomers' x, y and displacement x, y in the last frame: four byte planes each
//   escaped residuals: four byte planes
//   lists, all varints: people that left (gaps of index in the old frame), ids that came (gaps), levels that
//     changed (gap of index, new level)
// Byte planes, because zstd's Huffman stage then sees one distribution at a time: residuals compress by entropy
// coding and hardly by matching. In a key frame all people are newcomers; newcomers
// bring their displacement so that the frame after it is as small as any other.
// Measured, bytes per person and frame at 1 mm and 10 frames a second without key frames, on the scenes
// station and grosser_stern: 1.24 and 0.94. Of these headings take 0.35 and 0.23. Predicting that people stay
// where they were would take 2.44 and 2.02; two-byte residuals half as much again as one-byte ones (0.88
// against 1.33 for the positions) and a third more time; zstd at level 3 no less and at level -1 1.82.
// A key frame takes 7.4 and 5.9 (8.2 and 6.4 with differences between neighbours). Tracked people
// (AO-300, 25 frames a second) take 1.45, and 2.14 when predicted to stay. SPDX-License-Identifier: Apache-2.0
#include "record/compact.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/parallel.h"
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum {
    HEAD_BYTES = 32,
    FLAG_KEY = 1,
    FLAG_HEADING = 2,
    FLAGS_KNOWN = 3,
    NEWCOMER_BYTES = 16,
    ESCAPE = 0x80, // residual byte -128: the value is in the list of escapes
};

typedef struct grid_crowd {
    int count, capacity;
    int64_t *id;
    int32_t *x, *y, *moved_x, *moved_y, *level;
    uint8_t *heading;
} grid_crowd;

struct th_compact_codec {
    bool started; // a key frame was seen and nothing went wrong since
    grid_crowd now, next;
    int *left, *came; // indices, in the old and the new frame
    int left_capacity, came_capacity;
    unsigned char *content, *blob;
    size_t content_capacity, blob_capacity;
    ZSTD_CCtx *compress;
    ZSTD_DCtx *decompress;
};

typedef struct blob_head {
    uint32_t flags, count, left, came, level_changes, list_bytes, escapes;
} blob_head;

// Where each part of the content lies.
typedef struct blob_layout {
    uint64_t residual_x, residual_y, heading, newcomers, escapes, lists, end;
} blob_layout;

// The predicted position of a person that moved so far in the last frame. Wraps around, so that encoder and
// decoder agree whatever the values.
static inline uint32_t expected(int32_t place, int32_t moved) {
    return (uint32_t)place + (uint32_t)moved;
}

// ---- memory and layout, and the way to the grid

static blob_layout layout_of(const blob_head *h) {
    blob_layout at = {.residual_x = HEAD_BYTES};
    uint64_t residuals = h->flags & FLAG_KEY ? 0 : h->count;
    at.residual_y = at.residual_x + residuals;
    at.heading = at.residual_y + residuals;
    at.newcomers = at.heading + (h->flags & FLAG_HEADING ? h->count : 0);
    at.escapes = at.newcomers + (uint64_t)NEWCOMER_BYTES * h->came;
    at.lists = at.escapes + 4 * (uint64_t)h->escapes;
    at.end = at.lists + h->list_bytes;
    return at;
}

// ---- memory

// Memory; false or TH_NO_MEMORY when there is none.
static bool reserve_crowd(grid_crowd *c, int count) {
    if (count < c->capacity) return true;
    int capacity =
        th_array_capacity_int(c->capacity, count + 1); // never NULL, even for an empty frame
    if (!TH_RESIZE(c->id, capacity) || !TH_RESIZE(c->x, capacity) || !TH_RESIZE(c->y, capacity) ||
        !TH_RESIZE(c->moved_x, capacity) || !TH_RESIZE(c->moved_y, capacity) ||
        !TH_RESIZE(c->level, capacity) || !TH_RESIZE(c->heading, capacity))
        return false;
    c->capacity = capacity;
    return true;
}

static void free_crowd(grid_crowd *c) {
    free(c->id);
    free(c->x);
    free(c->y);
    free(c->moved_x);
    free(c->moved_y);
    free(c->level);
    free(c->heading);
}

th_compact_codec *th_compact_codec_create(void) { return calloc(1, sizeof(th_compact_codec)); }

void th_compact_codec_destroy(th_compact_codec *codec) {
    if (!codec) return;
    free_crowd(&codec->now);
    free_crowd(&codec->next);
    free(codec->left);
    free(codec->came);
    free(codec->content);
    free(codec->blob);
    ZSTD_freeCCtx(codec->compress);
    ZSTD_freeDCtx(codec->decompress);
    free(codec);
}

static th_result no_memory(th_error *error) {
    return th_fail(error, TH_NO_MEMORY, "", "no memory for a frame; use a machine with more");
}

static void copy_person(grid_crowd *to, int i, const grid_crowd *from, int j) {
    to->id[i] = from->id[j];
    to->x[i] = from->x[j];
    to->y[i] = from->y[j];
    to->moved_x[i] = from->moved_x[j];
    to->moved_y[i] = from->moved_y[j];
    to->level[i] = from->level[j];
    to->heading[i] = from->heading[j];
}

static void swap_crowds(th_compact_codec *codec) {
    grid_crowd kept = codec->now;
    codec->now = codec->next;
    codec->next = kept;
}

// ---- to the grid and back

#define ROUND_SHIFT 6755399441055744.0 // 1.5 * 2^52: pushes the fraction out of the mantissa
#define GRID_MOST 2147483646.0         // a little less than 2^31, so that rounding stays inside

TH_CLONES static bool round_block(int count, const double *restrict quanta,
                                  int32_t *restrict grid) {
    int wrong = 0;
    for (int i = 0; i < count; ++i) {
        double value = quanta[i];
        bool inside = value >= -GRID_MOST && value <= GRID_MOST;
        wrong |= !inside;
        grid[i] = (int32_t)((inside ? value : 0.0) + ROUND_SHIFT - ROUND_SHIFT);
    }
    return !wrong;
}

enum { GRID_BLOCK = 256 };

bool th_compact_to_grid(int count, const double *position, double origin, double quantum,
                        int32_t *grid) {
    double quanta[GRID_BLOCK], per_metre = 1.0 / quantum;
    for (int from = 0; from < count; from += GRID_BLOCK) {
        int size = count - from < GRID_BLOCK ? count - from : GRID_BLOCK;
        for (int i = 0; i < size; ++i) quanta[i] = (position[from + i] - origin) * per_metre;
        if (!round_block(size, quanta, grid + from)) return false;
    }
    return true;
}

// Arc tangent on [0, 1] by Abramowitz and Stegun 4.4.47, error below 1e-5 rad: a 2400th of a heading.
TH_CLONES void th_compact_headings(int count, const float *direction_x, const float *direction_y,
                                   uint8_t *heading) {
    for (int i = 0; i < count; ++i) {
        float x = direction_x[i], y = direction_y[i];
        float ax = fabsf(x), ay = fabsf(y);
        float longer = ax > ay ? ax : ay, shorter = ax > ay ? ay : ax;
        float q = shorter / (longer > 0.0f ? longer : 1.0f), q2 = q * q;
        float p = 0.0208351f;
        p = p * q2 - 0.0851330f;
        p = p * q2 + 0.1801410f;
        p = p * q2 - 0.3302995f;
        p = p * q2 + 0.9998660f;
        float turn = p * q * (0.15915494f * TH_COMPACT_HEADINGS);
        turn = ay > ax ? 0.25f * TH_COMPACT_HEADINGS - turn : turn;
        turn = x < 0.0f ? 0.5f * TH_COMPACT_HEADINGS - turn : turn;
        turn = y < 0.0f ? TH_COMPACT_HEADINGS - turn : turn;
        turn = q >= 0.0f && q <= 1.0f ? turn : 0.0f; // not a number
        heading[i] = (uint8_t)((int32_t)(turn + 0.5f) & (TH_COMPACT_HEADINGS - 1));
    }
}

// ---- frames into blobs
// About a hundred million people a second on one core where people neither come nor go; zstd takes half of that.

enum {
    VARINT_MOST = 10, // bytes of a 64-bit varint
    ZSTD_LEVEL = 1,
};

static void put_u32(unsigned char *at, uint32_t value) {
    for (int k = 0; k < 4; ++k) at[k] = (unsigned char)(value >> 8 * k);
}

static unsigned char *put_varint(unsigned char *at, uint64_t value) {
    for (; value >= 128; value >>= 7) *at++ = (unsigned char)(value | 128);
    *at++ = (unsigned char)value;
    return at;
}

TH_CLONES static void put_planes(unsigned char *restrict planes, int count,
                                 const uint32_t *restrict value) {
    for (int k = 0; k < 4; ++k) {
        unsigned char *plane = planes + (size_t)k * (size_t)count;
        for (int i = 0; i < count; ++i) plane[i] = (unsigned char)(value[i] >> 8 * k);
    }
}

// ---- residuals

// Residual bytes; returns how many are escapes.
TH_CLONES static int residual_plane(int count, const int32_t *restrict now,
                                    const int32_t *restrict place, const int32_t *restrict moved,
                                    unsigned char *restrict plane) {
    int escapes = 0;
    for (int i = 0; i < count; ++i) {
        uint32_t residual = (uint32_t)now[i] - expected(place[i], moved[i]);
        bool fits = residual + 127u <= 254u;
        plane[i] = (unsigned char)(fits ? residual : (uint32_t)ESCAPE);
        escapes += !fits;
    }
    return escapes;
}

// Appends the escaped residuals of one plane; returns how many.
static int list_escapes(int count, const int32_t *now, const int32_t *place, const int32_t *moved,
                        const unsigned char *plane, uint32_t *list) {
    int found = 0;
    const unsigned char *at = plane, *end = plane + count;
    while (at < end && (at = memchr(at, ESCAPE, (size_t)(end - at)))) {
        ptrdiff_t i = at++ - plane;
        list[found++] = (uint32_t)now[i] - expected(place[i], moved[i]);
    }
    return found;
}

TH_CLONES static void step_on(int count, const int32_t *restrict now, int32_t *restrict place,
                              int32_t *restrict moved) {
    for (int i = 0; i < count; ++i) {
        moved[i] = (int32_t)((uint32_t)now[i] - (uint32_t)place[i]);
        place[i] = now[i];
    }
}

// ---- people that came and left

TH_CLONES static bool ascending(int count, const int64_t *id) {
    int wrong = 0;
    for (int i = 1; i < count; ++i) wrong |= id[i] <= id[i - 1];
    return !wrong;
}

TH_CLONES static bool same_ids(int count, const int64_t *a, const int64_t *b) {
    int64_t differ = 0;
    for (int i = 0; i < count; ++i) differ |= a[i] ^ b[i];
    return !differ;
}

// Brings codec->now into the order of the new frame and lists the people that left and came. A newcomer is predicted
// at the position of the first frame, so the residual is 0.
static bool merge(th_compact_codec *codec, const th_grid_frame *frame, blob_head *h) {
    grid_crowd *old = &codec->now, *next = &codec->next;
    if (old->count == frame->count && same_ids(old->count, old->id, frame->id)) return true;
    if (!reserve_crowd(next, frame->count) ||
        !TH_RESERVE(codec->left, codec->left_capacity, old->count) ||
        !TH_RESERVE(codec->came, codec->came_capacity, frame->count))
        return false;
    int j = 0;
    for (int i = 0; i < frame->count; ++i) {
        while (j < old->count && old->id[j] < frame->id[i]) codec->left[h->left++] = j++;
        if (j < old->count && old->id[j] == frame->id[i]) {
            copy_person(next, i, old, j++);
            continue;
        }
        codec->came[h->came++] = i;
        next->id[i] = frame->id[i];
        next->x[i] = frame->x[i];
        next->y[i] = frame->y[i];
        next->moved_x[i] = next->moved_y[i] = next->level[i] = 0;
        next->heading[i] = 0;
    }
    while (j < old->count) codec->left[h->left++] = j++;
    next->count = frame->count;
    swap_crowds(codec);
    return true;
}

// All people are newcomers; their last displacement, where it is known, comes with them.
static bool merge_key(th_compact_codec *codec, const th_grid_frame *frame, blob_head *h) {
    if (!codec->started) codec->now.count = 0;
    if (!merge(codec, frame, h) || !reserve_crowd(&codec->now, frame->count) ||
        !TH_RESERVE(codec->came, codec->came_capacity, frame->count))
        return false;
    grid_crowd *now = &codec->now;
    for (int i = 0; i < frame->count; ++i) {
        codec->came[i] = i;
        now->moved_x[i] = (int32_t)((uint32_t)frame->x[i] - (uint32_t)now->x[i]);
        now->moved_y[i] = (int32_t)((uint32_t)frame->y[i] - (uint32_t)now->y[i]);
        now->x[i] = frame->x[i];
        now->y[i] = frame->y[i];
    }
    memset(now->level, 0, (size_t)frame->count * sizeof *now->level);
    memset(now->heading, 0, (size_t)frame->count);
    h->left = 0;
    h->came = (uint32_t)frame->count;
    return true;
}

static uint32_t count_level_changes(const grid_crowd *now, const th_grid_frame *frame) {
    uint32_t changes = 0;
    for (int i = 0; i < frame->count; ++i)
        changes += now->level[i] != (frame->level ? frame->level[i] : 0);
    return changes;
}

// `numbers` has room for came of them.
static void put_newcomers(const th_compact_codec *codec, uint32_t came, unsigned char *planes,
                          uint32_t *numbers) {
    const grid_crowd *now = &codec->now;
    const int32_t *fields[] = {now->x, now->y, now->moved_x, now->moved_y};
    for (int f = 0; f < 4; ++f) {
        for (uint32_t k = 0; k < came; ++k) numbers[k] = (uint32_t)fields[f][codec->came[k]];
        put_planes(planes + 4 * (size_t)f * came, (int)came, numbers);
    }
}

static unsigned char *put_lists(const th_compact_codec *codec, const th_grid_frame *frame,
                                const blob_head *h, unsigned char *at) {
    uint64_t least = 0; // the smallest that can follow
    for (uint32_t k = 0; k < h->left; ++k) {
        at = put_varint(at, (uint64_t)codec->left[k] - least);
        least = (uint64_t)codec->left[k] + 1;
    }
    for (uint32_t k = 0; k < h->came; ++k) {
        uint64_t id = (uint64_t)codec->now.id[codec->came[k]];
        // The first as a zigzag number, so that small ids are short.
        at = put_varint(at, k ? id - least : id << 1 ^ (uint64_t)((int64_t)id >> 63));
        least = id + 1;
    }
    int changed = -1;
    for (int i = 0; h->level_changes && i < frame->count; ++i) {
        int32_t level = frame->level ? frame->level[i] : 0;
        if (level == codec->now.level[i]) continue;
        at = put_varint(at, (uint64_t)(i - changed - 1));
        at = put_varint(at, (uint32_t)level);
        codec->now.level[i] = level;
        changed = i;
    }
    return at;
}

TH_CLONES static void heading_plane(int count, const uint8_t *restrict now,
                                    uint8_t *restrict before, unsigned char *restrict plane) {
    for (int i = 0; i < count; ++i) {
        plane[i] = (unsigned char)(now[i] - before[i]);
        before[i] = now[i];
    }
}

// Writes planes and lists; the residuals are done when `h` is complete but for list_bytes.
static bool put_content(th_compact_codec *codec, const th_grid_frame *frame, blob_head *h) {
    grid_crowd *now = &codec->now;
    int count = frame->count;
    bool key = h->flags & FLAG_KEY;
    blob_layout at = layout_of(h);
    if (!TH_RESERVE(codec->content, codec->content_capacity, at.newcomers)) return false;
    unsigned char *plane_x = codec->content + at.residual_x;
    unsigned char *plane_y = codec->content + at.residual_y;
    if (!key) {
        int escapes = residual_plane(count, frame->x, now->x, now->moved_x, plane_x);
        escapes += residual_plane(count, frame->y, now->y, now->moved_y, plane_y);
        h->escapes = (uint32_t)escapes;
    }
    if (h->flags & FLAG_HEADING)
        heading_plane(count, frame->heading, now->heading, codec->content + at.heading);
    at = layout_of(h);
    uint64_t lists =
        (uint64_t)VARINT_MOST * ((uint64_t)h->left + h->came + 2ull * h->level_changes);
    // The numbers before they are split need a place: behind everything, four bytes aligned.
    uint64_t scratch_at = (at.lists + lists + 3) / 4 * 4;
    uint64_t most = h->came > h->escapes ? h->came : h->escapes;
    if (!TH_RESERVE(codec->content, codec->content_capacity, scratch_at + 4 * most)) return false;
    uint32_t *scratch = (uint32_t *)(void *)(codec->content + scratch_at);
    put_newcomers(codec, h->came, codec->content + at.newcomers, scratch);
    if (h->escapes) {
        plane_x = codec->content + at.residual_x;
        plane_y = codec->content + at.residual_y;
        int found = list_escapes(count, frame->x, now->x, now->moved_x, plane_x, scratch);
        list_escapes(count, frame->y, now->y, now->moved_y, plane_y, scratch + found);
        put_planes(codec->content + at.escapes, (int)h->escapes, scratch);
    }
    unsigned char *list = codec->content + at.lists;
    h->list_bytes = (uint32_t)(put_lists(codec, frame, h, list) - list);
    if (!key) {
        step_on(count, frame->x, now->x, now->moved_x);
        step_on(count, frame->y, now->y, now->moved_y);
    }
    return true;
}

static void put_head(unsigned char *content, const blob_head *h) {
    const uint32_t fields[8] = {h->flags,         h->count,      h->left,    h->came,
                                h->level_changes, h->list_bytes, h->escapes, 0};
    for (int k = 0; k < 8; ++k) put_u32(content + 4 * k, fields[k]);
}

static th_result compress(th_compact_codec *codec, size_t size, const unsigned char **bytes,
                          size_t *blob_size, th_error *error) {
    if (!codec->compress) {
        codec->compress = ZSTD_createCCtx();
        if (!codec->compress) return no_memory(error);
        ZSTD_CCtx_setParameter(codec->compress, ZSTD_c_compressionLevel, ZSTD_LEVEL);
        ZSTD_CCtx_setParameter(codec->compress, ZSTD_c_checksumFlag, 1);
    }
    if (!TH_RESERVE(codec->blob, codec->blob_capacity, 1 + ZSTD_compressBound(size)))
        return no_memory(error);
    codec->blob[0] = TH_COMPACT_VERSION;
    size_t written = ZSTD_compress2(codec->compress, codec->blob + 1, codec->blob_capacity - 1,
                                    codec->content, size);
    if (ZSTD_isError(written))
        return th_fail(error, TH_NO_MEMORY, "", "a frame cannot be compressed: %s",
                       ZSTD_getErrorName(written));
    *bytes = codec->blob;
    *blob_size = written + 1;
    return TH_OK;
}

th_result th_compact_encode(th_compact_codec *codec, const th_grid_frame *frame, bool key,
                            const unsigned char **bytes, size_t *size, th_error *error) {
    if (frame->count < 0 || frame->count > TH_COMPACT_PEOPLE_MAX)
        return th_fail(error, TH_BAD_ARGUMENT, "", "a frame of %d people; at most %d fit",
                       frame->count, TH_COMPACT_PEOPLE_MAX);
    if (!ascending(frame->count, frame->id))
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "people of a frame are not in ascending order of id; sort them");
    blob_head h = {.count = (uint32_t)frame->count};
    key = key || !codec->started;
    bool merged = key ? merge_key(codec, frame, &h) : merge(codec, frame, &h);
    codec->started = false; // until the frame is complete
    if (!merged) return no_memory(error);
    h.flags = (key ? (uint32_t)FLAG_KEY : 0) | (frame->heading ? (uint32_t)FLAG_HEADING : 0);
    h.level_changes = count_level_changes(&codec->now, frame);
    if (!put_content(codec, frame, &h)) return no_memory(error);
    put_head(codec->content, &h);
    th_result result = compress(codec, (size_t)layout_of(&h).end, bytes, size, error);
    codec->started = result == TH_OK;
    return result;
}

// ---- blobs into frames: anything read here may be damaged or forged

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
                            size_t size, int count, blob_head *h) {
    if (size < HEAD_BYTES) return "too short";
    *h = (blob_head){get_u32(content),      get_u32(content + 4),  get_u32(content + 8),
                     get_u32(content + 12), get_u32(content + 16), get_u32(content + 20),
                     get_u32(content + 24)};
    if (h->flags & ~(uint32_t)FLAGS_KNOWN) return "unknown flags";
    bool key = h->flags & FLAG_KEY;
    uint32_t before = key ? 0 : (uint32_t)codec->now.count;
    if (!key && !codec->started) return "no key frame before it";
    if (count < 0 || count > TH_COMPACT_PEOPLE_MAX || h->count != (uint32_t)count)
        return "another number of people";
    if (h->left > before || h->came > h->count || before - h->left + h->came != h->count ||
        h->level_changes > h->count || h->escapes > 2 * (uint64_t)h->count || (key && h->escapes))
        return "counts that do not fit together";
    return layout_of(h).end == size ? NULL : "another size";
}

// Indices of the people that left, ascending, each below `count`.
static bool get_left(th_compact_codec *codec, const blob_head *h, cursor *list) {
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

static void get_newcomer(grid_crowd *to, int i, const unsigned char *planes, uint32_t came,
                         uint32_t index) {
    int32_t *fields[] = {to->x, to->y, to->moved_x, to->moved_y};
    for (int f = 0; f < 4; ++f)
        fields[f][i] = (int32_t)get_planes(planes + 4 * (size_t)f * came, came, index);
    to->level[i] = 0;
    to->heading[i] = 0;
}

// The old crowd without the people that left, with the newcomers in between, into codec->next.
static bool rebuild(th_compact_codec *codec, const blob_head *h, cursor *list,
                    const unsigned char *planes) {
    grid_crowd *old = &codec->now, *next = &codec->next;
    uint32_t taken = 0, gone = 0;
    int64_t id = 0;
    bool waiting = false; // the id of a newcomer is read
    int j = 0, old_count = h->flags & FLAG_KEY ? 0 : old->count;
    for (int i = 0; i < (int)h->count; ++i) {
        while (gone < h->left && codec->left[gone] == j) ++gone, ++j;
        if (!waiting && taken < h->came) {
            if (!next_id(list, taken == 0, &id)) return false;
            waiting = true;
        }
        if (j < old_count && (!waiting || old->id[j] < id)) {
            copy_person(next, i, old, j++);
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

static bool get_levels(grid_crowd *now, const blob_head *h, cursor *list) {
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

// Moves one coordinate of every person; `*escape` counts on through the list of escapes.
TH_CLONES static void add_residuals(int count, const unsigned char *restrict plane,
                                    int32_t *restrict place, int32_t *restrict moved) {
    for (int i = 0; i < count; ++i) {
        uint32_t residual = (uint32_t)(int32_t)(int8_t)plane[i];
        uint32_t now = expected(place[i], moved[i]) + residual;
        moved[i] = (int32_t)(now - (uint32_t)place[i]);
        place[i] = (int32_t)now;
    }
}

// Corrects the escapes, which add_residuals took as -128.
static bool add_escapes(int count, const unsigned char *plane, const unsigned char *escapes,
                        const blob_head *h, uint32_t *taken, int32_t *place, int32_t *moved) {
    const unsigned char *at = plane, *end = plane + count;
    while (at < end && (at = memchr(at, ESCAPE, (size_t)(end - at)))) {
        ptrdiff_t i = at++ - plane;
        if (*taken >= h->escapes) return false;
        uint32_t more = get_planes(escapes, h->escapes, (*taken)++) + 128u;
        place[i] = (int32_t)((uint32_t)place[i] + more);
        moved[i] = (int32_t)((uint32_t)moved[i] + more);
    }
    return true;
}

static const char *get_residuals(grid_crowd *now, const unsigned char *content, const blob_head *h,
                                 const blob_layout *at) {
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
                              const blob_head *h, const blob_layout *at) {
    cursor list = {content + at->lists, content + at->end, false};
    if (!get_left(codec, h, &list)) return "who left";
    if (h->left || h->came || h->flags & FLAG_KEY) {
        if (!rebuild(codec, h, &list, content + at->newcomers)) return "who came";
        swap_crowds(codec);
    }
    grid_crowd *now = &codec->now;
    if (!get_levels(now, h, &list)) return "levels";
    if (list.at != list.end) return "more lists than people";
    if (h->flags & FLAG_HEADING)
        for (int i = 0; i < now->count; ++i)
            now->heading[i] = (uint8_t)(now->heading[i] + content[at->heading + (uint64_t)i]);
    return h->flags & FLAG_KEY ? NULL : get_residuals(now, content, h, at);
}

th_result th_compact_decode_content(th_compact_codec *codec, const unsigned char *content,
                                    size_t size, int count, th_grid_frame *frame, th_error *error) {
    blob_head h;
    const char *fault = get_head(codec, content, size, count, &h);
    codec->started = false;
    if (fault) return damaged(error, fault);
    if (!reserve_crowd(&codec->now, count) || !reserve_crowd(&codec->next, count) ||
        !TH_RESERVE(codec->left, codec->left_capacity, (int)h.left))
        return no_memory(error);
    blob_layout at = layout_of(&h);
    fault = get_people(codec, content, &h, &at);
    if (fault) return damaged(error, fault);
    codec->started = true;
    const grid_crowd *now = &codec->now;
    *frame = (th_grid_frame){
        now->count, now->id, now->x, now->y, h.flags & FLAG_HEADING ? now->heading : NULL,
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
    if (!codec->decompress && !(codec->decompress = ZSTD_createDCtx())) return no_memory(error);
    if (!TH_RESERVE(codec->content, codec->content_capacity, content)) return no_memory(error);
    size_t got = ZSTD_decompressDCtx(codec->decompress, codec->content, codec->content_capacity,
                                     bytes + 1, size - 1);
    if (ZSTD_isError(got)) return damaged(error, ZSTD_getErrorName(got));
    codec->started = started;
    return th_compact_decode_content(codec, codec->content, got, count, frame, error);
}
