// Compiled areas as well-known text. SPDX-License-Identifier: Apache-2.0
#ifndef TH_RECORD_WKT_H
#define TH_RECORD_WKT_H
#include "throng/scene_view.h"

// Any area in scene coordinates, POLYGON or MULTIPOLYGON with holes. Caller frees with free(); NULL: no
// memory.
char *th_polygons_wkt(const th_polygons *shape, th_point origin);
#endif
