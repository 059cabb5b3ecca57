// The compact storage of a recording: one blob per frame with all people on an integer grid. The codec
// below is lossless on grid values; what is lost is lost in rounding to the grid, half a quantum in x
// and in y and 1/512 of a turn in heading.
//
// Prediction: people are expected to keep their velocity, and only the difference from the extrapolated position
// is stored, one byte per coordinate with an escape to four for jumps. People that stay in the frame need no id.
// A key frame does not depend on earlier frames: a reader can start there, and a damaged blob loses only the
// frames up to the next one.
// compact.c has the layout byte by byte.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_RECORD_COMPACT_H
#define TH_RECORD_COMPACT_H
#include "throng/record.h"

// ---- the codec
enum {
    TH_COMPACT_VERSION = 1,
    TH_COMPACT_HEADINGS = 256, // steps to a turn
    // In one frame: limits the memory that a damaged file can ask for.
    TH_COMPACT_PEOPLE_MAX = 100000000,
};

// One frame in whole quanta of the grid, in ascending id order.
typedef struct th_grid_frame {
    int count;
    const int64_t *id;
    const int32_t *x, *y;
    const uint8_t *heading; // of TH_COMPACT_HEADINGS, 0 along +x, counterclockwise; NULL: not known
    const int32_t *level;   // NULL for the encoder: all 0
} th_grid_frame;

// State after the last frame, the same in writer and reader.
typedef struct th_compact_codec th_compact_codec;
th_compact_codec *th_compact_codec_create(void); // NULL: no memory
void th_compact_codec_destroy(th_compact_codec *codec);

// The first frame is always a key frame. The bytes are valid until the next call. The same frames in
// give the same bytes out.
th_result th_compact_encode(th_compact_codec *codec, const th_grid_frame *frame, bool key,
                            const unsigned char **bytes, size_t *size, th_error *error);
// The bytes may be damaged or hostile: whatever they hold, either a frame of `count` people with ascending ids comes
// out or an error. After an error the next frame must be a key frame.
th_result th_compact_decode(th_compact_codec *codec, const unsigned char *bytes, size_t size,
                            int count, th_grid_frame *frame, th_error *error);

// The second half of it, after zstd: apart so that the fuzzer gets past the check sum.
th_result th_compact_decode_content(th_compact_codec *codec, const unsigned char *content,
                                    size_t size, int count, th_grid_frame *frame, th_error *error);

// ---- to the grid and back
// False when a position is not a number or further than the grid reaches (2^31 quanta) from the origin.
bool th_compact_to_grid(int count, const double *position, double origin, double quantum,
                        int32_t *grid);
// Nearest heading of a direction of any length; 0 for the zero vector and what is not a number.
void th_compact_headings(int count, const float *direction_x, const float *direction_y,
                         uint8_t *heading);
#endif
