// The program ffmpeg, which makes a video of the pictures that it is given. It need not be there.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_STUDIO_ENCODER_H
#define TH_STUDIO_ENCODER_H
#include "throng/base.h"
#include <sys/types.h>

typedef struct th_encoder {
    pid_t process;
    int to;              // its standard input; -1: not started
    void (*before)(int); // what SIGPIPE did: an ffmpeg that gives up is told by its end
} th_encoder;

// Pictures of so many pixels as cairo's RGB24 has them; width 0: JPEG pictures, which say so themselves.
th_result th_encoder_start(th_encoder *encoder, const char *path, double fps, int width, int height,
                           th_error *error);
bool th_encoder_put(const th_encoder *encoder, const void *bytes, size_t size); // false: it gave up
// Waits for the video. Where that or `result` is a failure no file is left.
th_result th_encoder_end(th_encoder *encoder, const char *path, th_result result, th_error *error);
#endif
