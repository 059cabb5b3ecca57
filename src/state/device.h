// The world on another device. The host's arrays are then a copy, brought up to date when
// the host asks and sent back when it changed them. SPDX-License-Identifier: Apache-2.0
#ifndef TH_STATE_DEVICE_H
#define TH_STATE_DEVICE_H
#include "state/world.h"

#ifdef __cplusplus
extern "C" {
#endif

// A set of fields: a bit for each, and one for all fields of models together.
#define TH_FIELD_BIT(field) (1u << ((int)(field) < TH_FIELD_COUNT ? (int)(field) : TH_FIELD_COUNT))
#define TH_ALL_FIELDS ((2u << TH_FIELD_COUNT) - 1u)

typedef struct th_device_backend {
    // Takes all memory of the device; TH_NO_DEVICE or TH_NO_MEMORY with what was found and needed.
    th_result (*create)(th_world *world, th_error *error);
    void (*destroy)(th_world *world);
    void (*step)(th_world *world);
    // These fields, and counters, lines, events and sources, as they are now on the device. False: the device failed.
    bool (*fetch)(th_world *world, uint32_t fields);
    // The host's arrays were changed and count from the next step on.
    void (*changed)(th_world *world);
    // Events: a call of th_world_step begins without any; one that happened on the host joins the device's.
    void (*forget_events)(th_world *world);
    void (*note_event)(th_world *world, const th_event *event);
    void (*sample_overlaps)(th_world *world, th_statistics *statistics);
    uint64_t (*hash_people)(th_world *world);   // sum of all agents' hashes
    bool (*anybody_under_way)(th_world *world); // people who have not arrived
    size_t (*bytes)(const th_world *world);     // memory taken on the device
    bool (*fetch_grids)(th_world *world);       // what views of uic's grids show
    // Bodies moved by hand: the program changed some; how many agents each holds now.
    void (*bodies_changed)(th_world *world);
    void (*fetch_bodies)(th_world *world);
    th_batch *(*batch_create)(void); // NULL: no memory
    void (*batch_destroy)(th_batch *batch);
    // Every function has the CPU's bits. Else those of formula/math.h that say so are the hardware's approximations.
    bool exact;
} th_device_backend;

// plan/field/crowd.c: quickest ways are solved on the host, once a second, from where people are then. The
// device asks whether it is time, brings them, and takes the new fields.
bool th_plan_crowd_is_due(const th_world *world);
void th_plan_crowd_look(th_world *world);

// NULL: this build has none.
const th_device_backend *th_cuda_backend(void);

// The host's data is a copy of the device's; a refresh changes nothing visible.
static inline void th_refresh(const th_world *world, uint32_t fields) {
    if (world->device) world->device->fetch((th_world *)world, fields);
}

#ifdef __cplusplus
}
#endif
#endif
