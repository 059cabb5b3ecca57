// Checkpoints: the world and what was measured of it so far, in one checked file, so that a run which was
// killed goes on from there. The two newest are kept. SPDX-License-Identifier: Apache-2.0
#ifndef TH_RUN_CHECKPOINT_H
#define TH_RUN_CHECKPOINT_H
#include "observe/observer.h"
#include "report/folder.h"

typedef struct th_checkpoint {
    uint64_t step_count;
    double wall_seconds; // the run took so far [s]
    const void *world, *observer;
    size_t world_size, observer_size;
    char *bytes; // of the file; the others point into it
} th_checkpoint;

// Writes checkpoints/checkpoint-<step>.bin and removes all but the two newest.
th_result th_checkpoint_write(const th_folder *folder, const th_world *world,
                              const th_observer *observer, double wall_seconds, th_error *error);

// Sets the checksum of a file of at least 16 bytes; apart so that the fuzzer gets past it.
void th_checkpoint_seal(char *bytes, size_t size);

enum { TH_CHECKPOINT_NAME = 64, TH_CHECKPOINTS_LISTED = 16 };
typedef char th_checkpoint_name[TH_CHECKPOINT_NAME];
// Names below the folder, newest first; returns how many.
int th_checkpoint_list(const th_folder *folder, th_checkpoint_name *names);
// Lengths, version and checksum are checked. Release with th_checkpoint_release.
th_result th_checkpoint_read(const th_folder *folder, const char *name, th_checkpoint *checkpoint,
                             th_error *error);
void th_checkpoint_release(th_checkpoint *checkpoint);
#endif
