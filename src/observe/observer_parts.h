// What the files of an observer share: its inside, series, people, maps, exposure.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_OBSERVE_OBSERVER_PARTS_H
#define TH_OBSERVE_OBSERVER_PARTS_H
#include "observe/density.h"
#include "observe/observer.h"
#include "record/moment.h"
#include "throng/scene_view.h"

// ---- a person as last seen
typedef enum th_doing { TH_DOING_OTHER, TH_DOING_WAIT, TH_DOING_JAM, TH_DOING_LIE } th_doing;
enum { TH_CROWDING_UNKNOWN = UINT8_MAX }; // of somebody who came since the last sample
typedef struct th_last_seen {
    float x, y, speed;
    // Of the way since the sample before; who is new or jumped to another level: as reported. [m/s]
    th_vec2 velocity;
    uint8_t doing;    // th_doing
    uint8_t crowding; // how many of th_exposure_bounds the density is above
    uint16_t level;
    float wait_until; // when doing is TH_DOING_WAIT [s]
} th_last_seen;

// ---- maps. observer_map.c
// People whose centre is in a cell at one sample.
typedef struct th_cell_now {
    float count, speed, walking, jammed;
} th_cell_now;
// People, their velocity and its square.
enum { TH_SUM_PEOPLE, TH_SUM_VELOCITY_X, TH_SUM_VELOCITY_Y, TH_SUM_SQUARE, TH_SUMS };
// Work space of a map. Arrays are (nx + 2) x (ny + 2), a border of empty cells around.
typedef struct th_map_work {
    th_cell_now *now;
    // What the kernel sums up, TH_SUMS floats per cell: shared among the four nearest cells, and
    // spread once from there.
    float *shared, *once;
    // How many of th_exposure_bounds every cell's density is above, as last taken; without border. A
    // byte: people look it up in any order, and the whole of it should be in a cache.
    uint8_t *crowding;
    uint8_t *open;           // which of the eight neighbours no wall hides
    float *per_floor;        // 1 / (floor under the kernel) [1/m2]
    int *row_low, *row_high; // columns in which people are, by row
} th_map_work;
// False: no memory; release both then too.
bool th_map_create(const th_scene_view *scene, int level, double cell, th_map *map,
                   th_map_work *work);
void th_map_work_release(th_map_work *work);
void th_map_put(th_map *map, th_map_work *work, const th_last_seen *person);
// Takes everybody put in since the last call into the sums; `interval` is the time it stands for, `late` whether it is
// after the time of use.
void th_map_take(th_map *map, th_map_work *work, double interval, bool late);
// What was taken as late is in use after all.
void th_map_not_late(th_map *map);
// How many of th_exposure_bounds the density at a place is above, as of the last call of th_map_take;
// 0 beyond the map.
uint8_t th_map_crowding_at(const th_map *map, const th_map_work *work, float x, float y);
uint8_t th_crowding_of(float density); // observer_exposure.c

// ---- pressure of the model. observer_exposure.c
// Takes a level's pressure as it is now into its map; a map's first time makes the room for it. False: no memory.
bool th_map_take_pressure(th_map *map, const th_grid *grid);
bool th_map_make_pressure(th_map *map); // room for it, all 0; false: no memory
void th_map_forget_pressure(th_map *map);

// ---- people. observer_people.c
// Room for everybody up to `id`; new ones are nobody yet. False: no memory.
bool th_people_reserve(th_observer *observer, uint32_t id);
// Everybody at a sample. Returns how many are in a jam.
uint32_t th_people_sample(th_observer *observer, const th_moment *moment, double time);
void th_person_leaves(th_observer *observer, uint32_t id, int exit, double time);
// Puts everybody, as just seen, into the maps.
void th_people_into_maps(th_observer *observer, const th_moment *moment);
// People who vanished without an event (a burst): at most `lost` of them left, at `time`.
void th_people_find_lost(th_observer *observer, const th_moment *moment, double time,
                         uint64_t lost);
// Until the end of the run everybody goes on as last seen.
void th_people_finish(th_observer *observer, const th_moment *moment, double time);
bool th_tracks_see(th_observer *observer, const th_moment *moment, int sample); // false: no memory

// ---- what people were exposed to. observer_exposure.c
// Everybody at a sample, after the maps were taken. False: no memory.
bool th_exposure_sample(th_observer *observer, th_world *world, const th_moment *moment,
                        double time);
void th_exposure_spend(th_person *person, uint32_t crowding, float time);
// The contact forces now, into people and maps. False: no memory.
bool th_load_sample(th_observer *observer, th_world *world, const th_moment *moment, double time);

// ---- series: counters, measurement areas, numbers of people. observer_series.c
bool th_counters_create(th_observer *observer); // false: no memory
// Totals and times as they are now.
void th_counters_read(th_observer *observer, const th_world *world);
bool th_areas_create(th_observer *observer); // false: no memory
void th_areas_destroy(th_observer *observer);
// The next sample of everything but the densities below. False: no memory.
bool th_series_take(th_observer *observer, th_world *world);
// Density by the methods for recordings, into the same sample. False: no memory.
bool th_areas_take(th_observer *observer, const th_moment *moment);

struct th_observer {
    th_observer_def def;
    const th_scene_view *scene;
    th_observation observation;
    th_world_moment now; // the world at the sample that is being taken
    uint64_t last_step;  // whose events were seen
    double last_sample_time;
    double last_load_time; // when the forces were looked at
    uint64_t last_left;    // who had left at the sample before
    uint64_t lost_since_sample;
    int *counter_index;      // per counter: goal, door or line it stands for
    th_last_seen *last_seen; // per person
    th_last_seen *by_place;  // work space: a copy of last_seen in the order of bands of the maps
    size_t person_room;      // of people, last_seen and by_place
    uint32_t last_id;        // highest id at any sample
    uint32_t track_stride;   // ways are kept of the ids 1 + k * stride
    th_map_work *map_work;   // per map
    float *forces;           // work space of th_load_sample
    size_t force_room;
    th_region **regions; // per measurement area; NULL: cannot be measured
    th_level_view near;  // work space: people near an area
};

// Sets the check sum right after bytes of th_observer_save were changed (for tests). observer_save.c
void th_observer_seal(void *bytes, size_t size);
#endif
