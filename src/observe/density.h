// Density and speed in an area at one moment, as the field measures them: classic (people counted),
// Voronoi (each person owns the ground nearest to it), Gaussian (each person is a
// blurred point). Works on plain arrays: a running world and a recording alike.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_OBSERVE_DENSITY_H
#define TH_OBSERVE_DENSITY_H
#include "core/kernel.h"
#include "throng/record.h"

typedef enum th_density_method { TH_CLASSIC, TH_VORONOI, TH_GAUSSIAN } th_density_method;

// The ground people can be on and the part of it that is measured: polygons with holes, prepared once.
typedef struct th_region th_region;
// WKT of both, POLYGON or MULTIPOLYGON, in the coordinates of the points. `walkable` NULL: endless ground;
// `area` NULL: all of the walkable ground. One region serves one thread at a time.
th_result th_region_create(const char *walkable, const char *area, th_region **region,
                           th_error *error);
void th_region_destroy(th_region *region);
double th_region_area(const th_region *region); // of the measured area within the walkable one [m2]
// In the area as asked for, walkable or not: a head over a railing counts. Of two areas that share an edge
// one holds its points, never both.
bool th_region_holds(const th_region *region, double x, double y);

typedef struct th_density_def {
    th_density_method method;
    // Voronoi: cells end this far from their person, so that people at the rim of a crowd do not own the
    // empty ground before them [m] [0, ..) default 1, near what a person alone takes up at the densities
    // where crowds begin (pi m2: 0.3 /m2); 0: endless, cells then end with the ground, or on endless
    // ground with the box around all people and the area.
    double cut_off;
    // Gaussian: full width at half height [m] (0, ..) default 0.7: the distance of people at 2 /m2, so that a
    // crowd is smooth from there on and single people are still seen below.
    double width;
} th_density_def;
th_density_def th_density_def_default(void);

typedef struct th_area_reading {
    double density; // [1/m2]
    double speed;   // mean as the method defines it [m/s]; NaN: no people
    double flow;    // density * speed [1/(m s)]; 0: no people
    int count;      // people whose centre is in the area
} th_area_reading;

// Points of one level; `speed` is |velocity| or its component along a direction, as the caller wishes.
// NaN speeds count for the density only. `individual` (or NULL) takes each person's own density, 1 / (area
// of the Voronoi cell) [1/m2], NaN for methods that have none and for people without ground (far outside the
// walkable one). TH_NO_MEMORY is the only failure.
th_result th_region_measure(const th_region *region, const th_density_def *def, const double *x,
                            const double *y, const double *speed, int count,
                            th_area_reading *moment, double *individual, th_error *error);

// ---- the people of one level at one moment, gathered for th_region_measure

typedef struct th_level_view {
    int *index; // into the moment
    double *x, *y;
    double *speed;      // length of the velocity, or its component along a direction [m/s]
    double *individual; // room for each person's own density
    int count, room;
} th_level_view;

typedef struct th_level_view_def {
    int level;
    th_point direction;   // of the speed; (0, 0): its length
    bool both_ways;       // along it or against it
    const th_point *near; // two corners of the box where people matter; NULL: everywhere
} th_level_view_def;
// Without the discs of scripted bodies. False: no memory.
bool th_level_view_fill(th_level_view *view, const th_moment *moment, const th_level_view_def *def);
void th_level_view_release(th_level_view *view);

// ---- the kernel density (core/kernel.h)

// At each person's place at a moment [1/m2], 0 beyond the scene; positions relative to the scene origin unless the moment
// says its own. NULL: no memory.
float *th_people_density(const th_scene_view *scene, const th_moment *moment);

// A person of a level: place relative to the scene's origin [m], velocity [m/s].
typedef struct th_spot {
    th_vec2 place, velocity;
} th_spot;
typedef enum th_people_value {
    TH_PEOPLE_DENSITY,  // [1/m2]
    TH_PEOPLE_SPEED,    // mean [m/s]; NaN: no people near
    TH_PEOPLE_FLOW,     // density times the mean velocity's length [1/(m s)]; 0: no people near
    TH_PEOPLE_VELOCITY, // mean, x and y of each cell [m/s]; NaN: no people near
} th_people_value;
// A map of the people of a level at one moment, a value (two of TH_PEOPLE_VELOCITY) for each cell of the kernel, row by
// row. False: no memory.
bool th_people_map(const th_kernel *kernel, th_people_value value, const th_spot *people, int count,
                   float *values);

// ---- levels of service A to F of walkways by density. Schemes differ, so they can be chosen.

enum { TH_SERVICE_LEVELS = 6 };
typedef struct th_service {
    const char *name, *source;
    double bounds[TH_SERVICE_LEVELS - 1]; // highest density of A to E [1/m2]
} th_service;

#define TH_FRUIN_BOUNDS 0.31, 0.43, 0.72, 1.08, 2.15
// Fruin's module sizes (3.24, 2.32, 1.39, 0.93, 0.46 m2 per person) as they are usually given; HCM's 130, 40, 24, 15 and 6 square feet per person.
static const th_service th_services[] = {
    {"fruin", "Fruin 1971, Pedestrian Planning and Design", {TH_FRUIN_BOUNDS}},
    {"hcm", "Highway Capacity Manual 1985, walkways", {0.083, 0.269, 0.448, 0.718, 1.79}},
};
enum { TH_SERVICE_COUNT = sizeof th_services / sizeof th_services[0] };

// 0: A .. 5: F.
static inline int th_service_level(const th_service *service, double density) {
    int level = 0;
    while (level < TH_SERVICE_LEVELS - 1 && density > service->bounds[level]) ++level;
    return level;
}

// ---- areas and lines as a user types them: NAME=POLYGON (...), NAME=x0,y0,x1,y1, or without a name

typedef struct th_place_text {
    char name[64]; // "" when the text has none
    bool is_box;   // four numbers in `box`; otherwise `wkt` is WKT, not looked at yet
    double box[4]; // x0, y0, x1, y1 as typed
    const char *wkt;
} th_place_text;

// TH_BAD_ARGUMENT with what is expected when it is neither. `wkt` points into the text.
th_result th_place_text_read(const char *text, th_place_text *place, th_error *error);
// The rectangle of a box, whatever corners were typed; "" when it has no width or height.
void th_place_rectangle(const th_place_text *place, char *wkt, size_t size);
#endif
