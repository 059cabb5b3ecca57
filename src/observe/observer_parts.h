// Internals of the observer: its struct, series, people, maps, exposure.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_OBSERVE_OBSERVER_PARTS_H
#define TH_OBSERVE_OBSERVER_PARTS_H
#include "core/kernel.h"
#include "core/system/system.h"
#include "observe/density.h"
#include "observe/observer.h"
#include "record/moment.h"
#include "throng/scene_view.h"

// ---- a person as last seen
typedef enum th_doing { TH_DOING_OTHER, TH_DOING_WAIT, TH_DOING_JAM, TH_DOING_LIE } th_doing;
enum { TH_CROWDING_UNKNOWN = UINT8_MAX }; // of a person that came since the last sample
typedef struct th_last_seen {
    float x, y, speed;
    // By the way since the sample before; as reported for new people and after a change of level. [m/s]
    th_vec2 velocity;
    uint8_t doing;    // th_doing
    uint8_t crowding; // how many of th_exposure_bounds the density is above
    uint16_t level;
    float wait_until; // when doing is TH_DOING_WAIT [s]
    float queue_since,
        last_jam; // first and last jam of this queue [s]; NaN: none since the last opening
    float rest_x, rest_y, rest_since; // it has been within TH_REST_REACH of there since
} th_last_seen;

// ---- maps. observer_map.c
// People whose centre is in a cell at one sample.
typedef struct th_cell_now {
    float count, speed, walking, jammed;
} th_cell_now;
// Work space of a map.
typedef struct th_map_work {
    th_kernel kernel;
    th_kernel_work sums;
    th_cell_now *now;
    // How many of th_exposure_bounds every cell's density is above, as last taken. A byte: people look it up in any
    // order, and the whole of it should be in a cache.
    uint8_t *crowding;
    bool above[TH_SPANS]; // any cell, as last taken
} th_map_work;
// `box` NULL: that of the level. False: no memory; release both then too.
bool th_map_create(const th_scene_view *scene, int level, double cell, const th_box *box,
                   th_map *map, th_map_work *work);
void th_map_work_release(th_map_work *work);
// Note all people, then put all people: the notes tell which people are alone. Without notes no person counts as alone.
void th_map_note(th_map_work *work, const th_last_seen *person);
void th_map_put(th_map *map, th_map_work *work, const th_last_seen *person);
// What a person on the map adds to the cells of some rows; one thread has all people within a row of them.
void th_map_put_in(th_map *map, th_map_work *work, th_row_range rows, const th_last_seen *person);
// Adds all people put in since the last call to the sums; `interval` is the time it stands for, `late` whether it is
// after the time of use.
void th_map_take(th_map *map, th_map_work *work, double interval, bool late);
// Counts samples as within the time of use that were taken for late.
void th_map_not_late(th_map *map);
// How many of th_exposure_bounds the density at a place is above, as of the last call of th_map_take;
// 0 beyond the map.
uint8_t th_map_crowding_at(const th_map_work *work, float x, float y);
uint8_t th_crowding_of(float density); // observer_people.c

// ---- pressure of the model. observer_people.c
// Takes a level's pressure as it is now into its map; a map's first time makes the room for it. False: no memory.
bool th_map_take_pressure(th_map *map, const th_grid *grid, int threads);
bool th_map_make_pressure(th_map *map); // room for it, all 0; false: no memory
void th_map_forget_pressure(th_map *map);

// ---- people. observer_people.c
// Room for all people up to `id`; new entries are empty. False: no memory.
bool th_people_reserve(th_observer *observer, uint32_t id);
// The index of the counter of a goal's exit; -1: none.
int th_exit_counter(const th_observer *observer, int goal);
// All people at a sample. False: no memory.
bool th_people_sample(th_observer *observer, const th_moment *moment, double time);
// False: no memory.
bool th_person_leaves(th_observer *observer, uint32_t id, int exit, double time);
// Puts all people, as just seen, into the maps.
void th_people_into_maps(th_observer *observer, const th_moment *moment);
// People who vanished without an event (a burst): at most `lost` of them left, at `time`.
void th_people_find_lost(th_observer *observer, const th_moment *moment, double time,
                         uint64_t lost);
// Until the end of the run people go on as last seen.
void th_people_finish(th_observer *observer, const th_moment *moment, double time);
bool th_tracks_see(th_observer *observer, const th_moment *moment, int sample); // false: no memory

// ---- exposure of people. observer_people.c
// All people at a sample, after the maps were taken.
void th_exposure_sample(th_observer *observer, const th_moment *moment, double time);
void th_exposure_spend(th_person *person, uint32_t crowding, float time);
// The pressure that a model keeps, into people and maps. False: no memory.
bool th_pressure_sample(th_observer *observer, th_world *world, const th_moment *moment);
// Looks at the contact forces where it is time to (false: no memory), and puts what it saw into people and maps, after
// their exposure.
bool th_load_look(th_observer *observer, th_world *world, const th_moment *moment, double time);
void th_load_sample(th_observer *observer, const th_moment *moment, double time);

// ---- series: counters, measurement areas, numbers of people. observer.c
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
    uint64_t last_left;    // agents that had left at the previous sample
    uint64_t lost_since_sample;
    int *counter_index;      // per counter: goal, door or line it stands for
    th_last_seen *last_seen; // per person
    th_last_seen *by_place;  // work space: a copy of last_seen in the order of bands of the maps
    bool *later;             // work space of th_people_sample, per person of a moment
    size_t person_room;      // of people, last_seen, by_place and later
    uint32_t last_id;        // highest id at any sample
    uint32_t track_stride;   // ways are kept of the ids 1 + k * stride
    th_map_work *map_work;   // per map
    float *forces;           // of th_load_look: forces on people, then their radii
    bool load_known;         // it looked at this sample
    size_t force_room;
    th_region **regions;                // per measurement area; NULL: cannot be measured
    th_level_view near;                 // work space: people near an area
    struct th_recorded_watch *recorded; // NULL: a world is watched. observer_recorded.c
    // While a device steps on, a thread of the host counts what was copied of it. Until that has ended, people who leave
    // wait in a list; only the fields below may be touched.
    th_thread *counting;     // NULL: none
    double counting_time;    // of its sample
    bool counted, no_memory; // it has all in; something was lost
    th_event *leaving;
    int leaving_count;
    th_observer_counts counts; // of the last sample
};
// Waits until the last sample is counted. Everything that reads or changes the observation does so first.
void th_observer_wait(th_observer *observer);
void th_observer_note_counts(th_observer *observer, int sample);

// Threads that a sample of this moment is worth. Nothing measured depends on it.
static inline int th_observer_threads(const th_observer *observer, const th_moment *moment) {
    int worth = moment->count / 4096 + 1, most = observer->def.threads;
    return most < 2 ? 1 : worth < most ? worth : most;
}

// ---- recordings. observer_recorded.c
bool th_recorded_watch_create(th_observer *observer); // false: no memory
void th_recorded_watch_destroy(struct th_recorded_watch *watch);
// The sample of a moment: positions from the scene origin, ids counted from 1. observer.c
th_result th_observer_take_moment(th_observer *observer, const th_moment *moment, double time,
                                  th_error *error);
// Classic density and speed of a measurement area. False: no memory.
bool th_area_read(th_observer *observer, const th_moment *moment, int area,
                  th_area_reading *reading);
bool th_series_grow(th_observation *observation); // room for a sample; false: no memory

// Sets the check sum right after bytes of th_observer_save were changed (for tests). observer_save.c
void th_observer_seal(void *bytes, size_t size);
#endif
