// Levels of service A to F of walkways by density. Schemes differ, so they can be chosen.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_OBSERVE_SERVICE_H
#define TH_OBSERVE_SERVICE_H
#include <math.h>

enum { TH_SERVICE_LEVELS = 6 };
typedef struct th_service {
    const char *name, *source;
    double bounds[TH_SERVICE_LEVELS - 1]; // highest density of A to E [1/m2]
} th_service;

// Fruin's module sizes as they are usually given in metres; HCM's 130, 40, 24, 15 and 6 square feet per person.
static const th_service th_services[] = {
    {"fruin", "Fruin 1971, Pedestrian Planning and Design", {0.31, 0.43, 0.72, 1.08, 2.15}},
    {"hcm", "Highway Capacity Manual 1985, walkways", {0.083, 0.269, 0.448, 0.718, 1.79}},
};
enum { TH_SERVICE_COUNT = sizeof th_services / sizeof th_services[0] };

// 0: A .. 5: F.
static inline int th_service_level(const th_service *service, double density) {
    int level = 0;
    while (level < TH_SERVICE_LEVELS - 1 && density > service->bounds[level]) ++level;
    return level;
}
#endif
