// Functions the files of src/world/ share. SPDX-License-Identifier: Apache-2.0
#ifndef TH_WORLD_WORLD_H
#define TH_WORLD_WORLD_H
#include "state/world.h"

// Stages in this folder; plan, move and contact have their own.
void th_stage_events(th_world *world);
void th_stage_index(th_world *world);
void th_stage_measure(th_world *world);

// agent_functions.c: a model that is a function of one person.
void th_run_agents(th_world *world, int model);

// spawn.c: places the scene's groups and scripted bodies at the start.
th_result th_spawn_scene(th_world *world, th_error *error);
// Room that the scene's groups and sources can need at once, capped.
int th_spawn_capacity(const th_scene *scene, double end);

// Places the scripted bodies only.
void th_spawn_scripted(th_world *world);
// continue.c: fills an empty world with the people, the clock and the counts of a world of another scene. Returns how
// many agents found no place.
int th_take_over(th_world *world, th_world *from);

// spawn.c: refuses people of recordings that would stand where no ground is.
th_result th_recorded_check(const th_scene *scene, th_error *error);
// Refuses groups that cannot possibly fit, without placing them.
th_result th_spawn_check(const th_scene *scene, th_error *error);

// events.c: is a door to open or shut in this step, and doing it.
bool th_doors_due(const th_world *world);
void th_follow_schedules(th_world *world);
// events.c: before anything is changed from outside. A world on a device is copied to the host, and back with the next
// step.
void th_fetch_to_change(th_world *world);

void th_push_event(th_world *world, th_event event);

// events.c: sets an agent exactly on a wall 3 mm beside it; on it every way would cross the wall.
void th_step_off_walls(th_world *world, uint32_t i);

// measure.c: the scene's name and length for one of the lines people are counted at (world->lines).
void th_name_line(th_world *world, int line);

// measure.c: overlaps now, and the independent check that no agent stands in a solid.
void th_sample_overlaps(th_world *world, th_statistics *statistics);
uint64_t th_count_in_solids(const th_world *world);

// views.c: storage indices of the living in id order.
void th_update_id_order(th_world *world);
// Storage index of an id, or -1.
int64_t th_find_agent(const th_world *world, uint32_t id);

// views.c: is this a value that the agent may have? And what follows from one that was written.
bool th_may_become(const th_world *world, uint32_t i, int field, uint32_t value);
void th_field_written(th_world *world, uint32_t i, int field);
void th_release_grid_views(th_world *world);

// snapshot.c: sets the check sum right after the bytes behind the head were changed (for the fuzzer).
void th_snapshot_seal(void *memory);

// compiled.c: do these bytes begin as a compiled scene does? Sets size and check sum of one right (for the fuzzer).
bool th_is_compiled(const void *bytes, size_t size);
void th_compiled_seal(void *bytes, size_t size);

// ---- the field list, views.c

// Could an agent have these values, all fields of it as four-byte words? Everything that is used as an
// index is in range, every float a number of this world (within 1000 km, radius above 0). Values from outside
// (snapshots, views, spawns) are checked here.
bool th_agent_is_sound(const th_world *world, const uint32_t *bits);

// With `own_count` fields of models; the arrays belong to the world's arena.
void th_agents_create(th_world *world, int capacity, int own_count);

// ---- threads of a step, step.c

// The number of threads of a step where the caller leaves it open. OpenMP's threads wait for each other some fifty times
// in a step, spinning. On cores that other programs use they wait for a thread that is not running, and a step of a small
// crowd takes up to fifty times longer. So a step takes as many threads as cores are free, unless all cores were measured
// to be quicker, as for large crowds. Results do not depend on it.

// Threads for the next step: `worth`, the number that pays for this crowd, where that many of `cores` are free besides
// the `others` that run on them.
int th_team_choose(th_team *team, int worth, int cores, int others);
// Notes how long a step of that many people took with the number chosen last.
void th_team_note(th_team *team, double seconds, int people);

// Chooses the world's threads, where its definition leaves it open.
void th_choose_threads(th_world *world);
#endif
