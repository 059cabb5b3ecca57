// The fields of the strips of a world: built by passes from the walls as they stand, and again when they change.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_FILTER_KEEP_SIDE_STRIPS_H
#define TH_FILTER_KEEP_SIDE_STRIPS_H
#include "core/memory.h"
#include "filter/keep_side/keep_side.h"

typedef struct th_keep_side {
    th_arena arena; // of all this
    th_strip_fields fields;
    th_strip_field *strips; // of fields
    th_strip_cell *cells;   // of all strips, one sense after the other
    size_t cell_count;
    uint32_t *pass;  // work space, a cell of one strip and sense each: the pass that visited it
    uint8_t *open;   // the same: OPEN_*
    uint32_t builds; // how often they were built
    uint32_t walls_version;
    bool stale; // whatever the version says
} th_keep_side;

#ifdef __cplusplus
extern "C" {
#endif
// Takes the memory of all strips. False: there is none.
bool th_strips_create(th_keep_side *state, const th_scene *scene);
// Builds the fields if the walls are not those they were built with.
void th_strips_update(th_keep_side *state, const th_world *world);
#ifdef __cplusplus
}
#endif
#endif
