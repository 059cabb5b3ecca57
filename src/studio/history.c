// The last minutes, as moments. SPDX-License-Identifier: Apache-2.0
#include "core/array.h"
#include "studio/studio.h"
#include <stdlib.h>
#include <string.h>

static void drop_oldest(th_studio_history *h) {
    th_studio_moment *oldest = h->moments[h->first];
    h->bytes -= th_studio_moment_bytes(oldest);
    th_studio_moment_release(oldest);
    h->first++;
}

void th_history_add(th_studio_history *h, th_studio_moment *moment, size_t most_bytes) {
    if (h->first > 0 && h->count == h->room) { // used places at the front
        memmove(h->moments, h->moments + h->first,
                (size_t)(h->count - h->first) * sizeof *h->moments);
        h->count -= h->first;
        h->first = 0;
    }
    if (!TH_RESERVE(h->moments, h->room, h->count + 1)) return;
    h->moments[h->count++] = th_studio_moment_hold(moment);
    h->bytes += th_studio_moment_bytes(moment);
    while (h->bytes > most_bytes && h->count - h->first > 2) drop_oldest(h);
}

th_studio_moment *th_history_at(const th_studio_history *h, int world, double time) {
    th_studio_moment *found = NULL;
    for (int k = h->first; k < h->count; ++k) {
        th_studio_moment *moment = h->moments[k];
        if (moment->world != world) continue;
        if (moment->time > time + 1e-6 && found) break;
        found = moment; // the first one of all where all are later
        if (moment->time > time + 1e-6) break;
    }
    return found;
}

bool th_history_range(const th_studio_history *h, double *from, double *to) {
    if (h->count == h->first) return false;
    *from = h->moments[h->first]->time;
    *to = h->moments[h->count - 1]->time;
    return true;
}

void th_history_clear(th_studio_history *h) {
    while (h->first < h->count) drop_oldest(h);
    free(h->moments);
    *h = (th_studio_history){0};
}
