// throng: findings. One list of problems of a scene, a running world, a run, many runs or a recording: kind, place,
// time, figures and cure. `throng check`, `throng run`, the report, the studio and `throng measure` show this list and
// nothing else. In libthrong-record; that of runs is in throng/run.h.
//
//     th_watch_create(world, &watch, &error);
//     while (...) { th_world_step(world, 1); th_watch_see(watch, world, &error); }
//     th_watch_findings(watch, &findings, &error);
//     const th_finding *list = th_findings_list(findings, &count);
//     for (int k = 0; k < count; ++k) printf("%s\n", list[k].text);
//
// Threads: each findings list and each watch is used by one thread at a time. SPDX-License-Identifier: Apache-2.0
#ifndef THRONG_FINDINGS_H
#define THRONG_FINDINGS_H

#include "throng/record.h"
#include "throng/world.h"

#ifdef __cplusplus
extern "C" {
#endif

// Severity. Note: a result may be read differently; caution: it may be wrong; danger: people may be hurt.
typedef enum th_severity { TH_SEVERITY_NOTE, TH_SEVERITY_CAUTION, TH_SEVERITY_DANGER } th_severity;

// X(NAME, name, severity, what). In the order of the list within a severity.
#define TH_FINDING_KINDS(X)                                                         \
    X(DEADLY_DENSITY, deadly_density, DANGER, "denser than where people died")      \
    X(PACKED, packed, DANGER, "people packed too long")                             \
    X(TURBULENCE, turbulence, DANGER, "a packed crowd is pushed to and fro")        \
    X(LOAD, load, DANGER, "bodies pressed too hard in a packed crowd")              \
    X(FALLS, falls, DANGER, "people fell")                                          \
    X(UNFINISHED, unfinished, CAUTION, "people inside when the time was over")      \
    X(STRANDED, stranded, CAUTION, "people of a group that never arrived")          \
    X(UNREACHABLE, unreachable, CAUTION, "people without a way to their goal")      \
    X(WEDGED, wedged, CAUTION, "people who did not move any more")                  \
    X(CONGESTION, congestion, CAUTION, "significant congestion after IMO")          \
    X(FLOW, flow, CAUTION, "more people through a door than experiments found")     \
    X(OVERLAPS, overlaps, CAUTION, "bodies inside each other")                      \
    X(WALLS, walls, CAUTION, "people in walls")                                     \
    X(REPAIRS, repairs, CAUTION, "impossible states of a model")                    \
    X(STILL_TO_COME, still_to_come, CAUTION, "announced people that came too late") \
    X(WAITING, waiting, CAUTION, "people without a free spot to appear at")         \
    X(CLOSED_GAP, closed_gap, CAUTION, "gaps narrower than every body")             \
    X(NARROW_GAP, narrow_gap, CAUTION, "gaps too narrow for some")                  \
    X(DOOR, door, CAUTION, "doors that do not do what they seem to")                \
    X(GOAL, goal, CAUTION, "goals, or parts of them, that no body reaches")         \
    X(OPEN_STAIRS, open_stairs, CAUTION, "stairs without side walls")               \
    X(COARSE_PLAN, coarse_plan, CAUTION, "ways planned too coarsely")               \
    X(DOUBT, doubt, CAUTION, "more than a model is known to manage")                \
    X(NO_EFFECT, no_effect, CAUTION, "parts of the scene without effect")           \
    X(LONG_STEP, long_step, CAUTION, "a step too long for a model")                 \
    X(INTERRUPTED, interrupted, NOTE, "stopped before the end")                     \
    X(RECORDING, recording, NOTE, "the recording ends early")                       \
    X(COARSE_MAP, coarse_map, NOTE, "large cells of the maps")                      \
    X(BEYOND_MAP, beyond_map, NOTE, "people beyond the maps")                       \
    X(LOST_EVENTS, lost_events, NOTE, "exits that are not known")                   \
    X(NOT_CHECKED, not_checked, NOTE, "a part of the scene that was not looked at")

typedef enum th_finding_kind {
#define X(NAME, name, severity, what) TH_FINDING_##NAME,
    TH_FINDING_KINDS(X)
#undef X
        TH_FINDING_KIND_COUNT
} th_finding_kind;
TH_RECORD_API const char *th_finding_name(th_finding_kind kind);
TH_RECORD_API const char *th_severity_name(th_severity severity); // "note", "caution", "danger"

typedef struct th_finding {
    th_finding_kind kind;
    th_severity severity;
    int count;           // places, people or runs that it stands for, as the text says
    int level;           // of the worst place; -1: of no place
    double x, y;         // [m] in the scene's coordinates
    double from, to;     // when, from the first to the last time [s]; NaN: of no time
    double value, limit; // what was found and what it is compared with; NaN: no figures
    const char *unit;    // of both; ""
    const char *text;    // one or two sentences, UTF-8 without markup
    const char *cure;    // what to do; "": nothing
} th_finding;

// Dangers first; within a severity in the order of the kinds.
typedef struct th_findings th_findings;
TH_RECORD_API const th_finding *th_findings_list(const th_findings *findings, int *count);
TH_RECORD_API void th_findings_destroy(th_findings *findings);
// The list as a JSON array. Free it with th_free; NULL: no memory.
TH_RECORD_API char *th_findings_json(const th_findings *findings);

// ---- of a scene: gaps, doors, stairs, planning, models
TH_RECORD_API th_result th_scene_findings(const th_scene *scene, th_findings **findings,
                                          th_error *error);

// ---- of a running world: those of its scene, and what happened since the watch was made
typedef struct th_watch th_watch;
// TH_NO_MEMORY is the only failure of these.
TH_RECORD_API th_result th_watch_create(th_world *world, th_watch **watch, th_error *error);
TH_RECORD_API void th_watch_destroy(th_watch *watch);
// After every step. Looks closely once per simulated second, and when the world is done: its findings are then those of a
// run that has ended.
TH_RECORD_API th_result th_watch_see(th_watch *watch, th_world *world, th_error *error);
TH_RECORD_API th_result th_watch_findings(const th_watch *watch, th_findings **findings,
                                          th_error *error);

// ---- of a recording in any format; `walkable` is WKT or NULL: the recording's own, or endless ground
TH_RECORD_API th_result th_recording_findings(const char *path, const char *walkable,
                                              th_findings **findings, th_error *error);

#ifdef __cplusplus
}
#endif
#endif
