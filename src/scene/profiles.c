// Kinds of people: the built-in ones with their sources, and groups with several kinds, each of which becomes a group of its
// own before the scene is compiled. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "scene/scene.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- the built-in kinds

#define IMO "IMO MSC.1/Circ.1533 (2016), annex 3, tables 3.4 and 3.5"
#define BOYCE "Boyce, Shields, Silcock 1999, Fire Technology 35, 51 (SFPE Handbook)"
#define STAIRS_BOYCE "; stairs: mean speeds of the same study"

// Uniform between the limits that IMO gives for the flat; on stairs the middle of its limits over that of the flat.
#define IMO_KIND(name, text, low, high, down_low, down_high, up_low, up_high)                   \
    {                                                                                           \
        .cookie = TH_ELEMENT_COOKIE, .id = name, .doc = text, .source = IMO, .has_speed = true, \
        .speed = {TH_DISTRIBUTION_UNIFORM, low, high, 0, 0},                                    \
        .up = ((up_low) + (up_high)) / ((low) + (high)),                                        \
        .down = ((down_low) + (down_high)) / ((low) + (high))                                   \
    }
#define NORMAL(mean, deviation, low, high) \
    { TH_DISTRIBUTION_NORMAL, mean, deviation, low, high }
#define CONSTANT(value) \
    { TH_DISTRIBUTION_CONSTANT, value, 0, 0, 0 }

static const th_profile_def built_in[] = {
    {.cookie = TH_ELEMENT_COOKIE,
     .id = "adult",
     .doc = "the default of groups: adults of all ages",
     .source = "Weidmann 1993, as RiMEA 4.1.1; stairs: RiMEA 4.1.1 tests 2 and 3",
     .has_speed = true,
     .has_radius = true,
     .speed = NORMAL(1.34, 0.26, 0.5, 2.2),
     .radius = CONSTANT(0.2),
     .up = 0.5,
     .down = 0.67},
    IMO_KIND("female_below_30", "women younger than 30", 0.93, 1.55, 0.56, 0.94, 0.47, 0.79),
    IMO_KIND("female_30_50", "women of 30 to 50", 0.71, 1.19, 0.49, 0.81, 0.44, 0.74),
    IMO_KIND("female_above_50", "women older than 50", 0.56, 0.94, 0.45, 0.75, 0.37, 0.61),
    IMO_KIND("female_impaired_1", "women older than 50, mobility impaired (1)", 0.43, 0.71, 0.34,
             0.56, 0.28, 0.46),
    IMO_KIND("female_impaired_2", "women older than 50, mobility impaired (2)", 0.37, 0.61, 0.29,
             0.49, 0.23, 0.39),
    IMO_KIND("male_below_30", "men younger than 30", 1.11, 1.85, 0.76, 1.26, 0.5, 0.84),
    IMO_KIND("male_30_50", "men of 30 to 50", 0.97, 1.62, 0.64, 1.07, 0.47, 0.79),
    IMO_KIND("male_above_50", "men older than 50", 0.84, 1.4, 0.5, 0.84, 0.38, 0.64),
    IMO_KIND("male_impaired_1", "men older than 50, mobility impaired (1)", 0.64, 1.06, 0.38, 0.64,
             0.29, 0.49),
    IMO_KIND("male_impaired_2", "men older than 50, mobility impaired (2)", 0.55, 0.91, 0.33, 0.55,
             0.25, 0.41),
    {.cookie = TH_ELEMENT_COOKIE,
     .id = "child",
     .doc = "children of 3 to 4 years; radius: half the floor of an adult (assumed)",
     .source = "Najmanova, Ronchi 2017, Fire Technology 53, 1517: 0.69 to 1.33 m/s, 0.57 m/s down "
               "stairs",
     .has_speed = true,
     .has_radius = true,
     .speed = {TH_DISTRIBUTION_UNIFORM, 0.69, 1.33, 0, 0},
     .radius = CONSTANT(0.14),
     .down = 0.57 / 1.01},
    {.cookie = TH_ELEMENT_COOKIE,
     .id = "stick",
     .doc = "people with a walking stick",
     .source = BOYCE STAIRS_BOYCE,
     .has_speed = true,
     .speed = NORMAL(0.81, 0.38, 0.26, 1.6),
     .up = 0.35 / 0.81,
     .down = 0.32 / 0.81},
    {.cookie = TH_ELEMENT_COOKIE,
     .id = "crutches",
     .doc = "people on crutches; radius: crutches stand 0.3 m from the middle (assumed)",
     .source = BOYCE STAIRS_BOYCE,
     .has_speed = true,
     .has_radius = true,
     .speed = NORMAL(0.94, 0.3, 0.63, 1.35),
     .radius = CONSTANT(0.3),
     .up = 0.22 / 0.94,
     .down = 0.22 / 0.94},
    {.cookie = TH_ELEMENT_COOKIE,
     .id = "walking_frame",
     .doc = "people with a walking frame; radius and rigid: frames are 0.6 m wide (assumed)",
     .source = BOYCE STAIRS_BOYCE,
     .has_speed = true,
     .has_radius = true,
     .has_rigid = true,
     .speed = NORMAL(0.57, 0.29, 0.1, 1.02),
     .radius = CONSTANT(0.3),
     .rigid = TH_RIGID_ALWAYS,
     .up = 0.14 / 0.57,
     .down = 0.16 / 0.57},
    {.cookie = TH_ELEMENT_COOKIE,
     .id = "wheelchair",
     .doc = "people in manual wheelchairs; give them the stairs in \"avoid\"",
     .source = BOYCE "; width 0.7 m: ISO 7193",
     .has_speed = true,
     .has_radius = true,
     .has_rigid = true,
     .speed = NORMAL(0.69, 0.35, 0.13, 1.35),
     .radius = CONSTANT(0.35),
     .rigid = TH_RIGID_ALWAYS},
    {.cookie = TH_ELEMENT_COOKIE,
     .id = "electric_wheelchair",
     .doc = "people in electric wheelchairs; give them the stairs in \"avoid\"",
     .source = BOYCE "; width 0.7 m: ISO 7193",
     .has_speed = true,
     .has_radius = true,
     .has_rigid = true,
     .speed = {TH_DISTRIBUTION_UNIFORM, 0.85, 0.93, 0, 0},
     .radius = CONSTANT(0.35),
     .rigid = TH_RIGID_ALWAYS},
    {.cookie = TH_ELEMENT_COOKIE,
     .id = "luggage",
     .doc = "adults with a pram or large luggage; radius and rigid: 0.6 m wide (assumed)",
     .source = "Weidmann 1993 for the speed",
     .has_speed = true,
     .has_radius = true,
     .has_rigid = true,
     .speed = NORMAL(1.34, 0.26, 0.5, 2.2),
     .radius = CONSTANT(0.3),
     .rigid = TH_RIGID_ALWAYS},
};
enum { BUILT_IN = sizeof built_in / sizeof *built_in };

const th_profile_def *th_profiles(int *count) {
    *count = BUILT_IN;
    return built_in;
}

static const th_profile_def *find(const th_profile_def *profiles, int count, const char *id) {
    for (int k = 0; k < count; ++k)
        if (profiles[k].id && strcmp(profiles[k].id, id) == 0) return &profiles[k];
    return NULL;
}

static th_result unknown(const th_scene_def *def, const char *id, bool own, const char *path,
                         th_error *error) {
    enum { MOST = 100 };
    const char *known[MOST + BUILT_IN];
    int count = 0;
    for (int k = 0; own && k < def->profile_count && count < MOST; ++k)
        if (def->profiles[k].id) known[count++] = def->profiles[k].id;
    for (int k = 0; k < BUILT_IN; ++k) known[count++] = built_in[k].id;
    const char *near = th_nearest_word(id, known, count);
    return near ? th_fail(error, TH_BAD_SCENE, path,
                          "unknown profile \"%.60s\"; did you mean \"%.60s\"?", id, near)
                : th_fail(error, TH_BAD_SCENE, path,
                          "unknown profile \"%.60s\"; `throng list profiles` shows the built-in "
                          "ones, \"profiles\" of the scene has others",
                          id);
}

// ---- a profile's values, those of the one it is like underneath

th_result th_profile_whole(const th_scene_def *def, const char *id, const char *path,
                           th_profile_def *whole, th_error *error) {
    const th_profile_def *own = find(def->profiles, def->profile_count, id);
    if (!own) own = find(built_in, BUILT_IN, id);
    if (!own) return unknown(def, id, true, path, error);
    *whole = *own;
    if (!own->like) return TH_OK;
    const th_profile_def *like = find(built_in, BUILT_IN, own->like);
    if (!like) {
        char place[64];
        snprintf(place, sizeof place, "profiles[%d].like", (int)(own - def->profiles));
        return unknown(def, own->like, false, place, error);
    }
#define TAKE(flag, value)           \
    if (!own->flag) {               \
        whole->flag = like->flag;   \
        whole->value = like->value; \
    }
    TAKE(has_radius, radius)
    TAKE(has_speed, speed)
    TAKE(has_premovement, premovement)
    TAKE(has_mass, mass)
    TAKE(has_rigid, rigid)
#undef TAKE
    if (whole->up == 0.0) whole->up = like->up;
    if (whole->down == 0.0) whole->down = like->down;
    return TH_OK;
}

// ---- groups with profiles

typedef struct expansion {
    const th_scene_def *def;
    th_arena *arena;
    th_error *error;
    th_group_def *groups;
    int count, capacity;
} expansion;

static bool append(expansion *e, const th_group_def *group) {
    if (!th_arena_reserve(e->arena, &e->groups, &e->capacity, e->count + 1, sizeof *e->groups))
        return false;
    e->groups[e->count++] = *group;
    return true;
}

static bool add_avoided(expansion *e, th_group_def *group, const th_profile_def *profile) {
    if (profile->avoid_count == 0) return true;
    size_t all = (size_t)group->avoid_count + (size_t)profile->avoid_count;
    const char **avoid = th_arena_alloc(e->arena, all, sizeof *avoid);
    if (!avoid) return false;
    if (group->avoid_count > 0)
        memcpy(avoid, group->avoid, (size_t)group->avoid_count * sizeof *avoid);
    memcpy(avoid + group->avoid_count, profile->avoid,
           (size_t)profile->avoid_count * sizeof *avoid);
    group->avoid = avoid;
    group->avoid_count = (int)all;
    return true;
}

static bool put_on(expansion *e, th_group_def *group, const th_profile_def *profile) {
    if (profile->has_radius) group->radius = profile->radius;
    if (profile->has_speed) group->speed = profile->speed;
    if (profile->has_premovement) group->premovement = profile->premovement;
    if (profile->has_mass) group->mass = profile->mass;
    if (profile->has_rigid) group->rigid = profile->rigid;
    if (profile->up > 0.0) group->up = profile->up;
    if (profile->down > 0.0) group->down = profile->down;
    if (profile->move.name) group->move = profile->move;
    return add_avoided(e, group, profile);
}

// The first part keeps a source, which brings people of all parts.
static void divide_people(th_group_def *part, const th_group_def *whole) {
    bool source = whole->rate != 0.0 || whole->arrival_count > 0 || whole->recording.file;
    if (part->part.index == 0 || !source) return;
    part->rate = part->rate_start = 0.0;
    part->rate_end = HUGE_VAL;
    part->arrivals = NULL;
    part->arrival_count = 0;
    part->recording.file = NULL;
    part->count = 0;
}

static bool name_part(expansion *e, th_group_def *part, const char *profile, int place) {
    char *id = th_arena_alloc(e->arena, 260, 1);
    if (!id) return false;
    if (part->id)
        snprintf(id, 260, "%.120s/%.120s", part->id, profile);
    else
        snprintf(id, 260, "group%d/%.120s", place, profile);
    part->id = id;
    return true;
}

static th_result no_memory(expansion *e) {
    return th_fail(e->error, TH_NO_MEMORY, "groups", "no memory for the parts of a group");
}

static th_result expand_group(expansion *e, int place) {
    const th_group_def *whole = &e->def->groups[place];
    double sum = 0.0, begin = 0.0;
    int count = 0;
    char path[64];
    snprintf(path, sizeof path, "groups[%d].profiles", place);
    for (int k = 0; k < whole->share_count; ++k) {
        double share = whole->shares[k].share;
        if (!(share >= 0.0 && share <= 1e6))
            return th_fail(e->error, TH_BAD_SCENE, path, "a share is %g; it must lie in 0 .. 1e6",
                           share);
        sum += share;
        count += share > 0.0;
    }
    if (whole->share_count > 0 && count == 0)
        return th_fail(e->error, TH_BAD_SCENE, path, "the shares are all 0; give one above 0");
    th_group_def part = *whole;
    part.shares = NULL;
    part.share_count = 0;
    part.part = (th_part){NULL, place, 0, 1, 0.0, 1.0};
    if (count == 0) return append(e, &part) ? TH_OK : no_memory(e);
    part.part.count = count;
    double before = 0.0;
    for (int k = 0; k < whole->share_count; ++k) {
        th_profile_def profile;
        th_result result =
            th_profile_whole(e->def, whole->shares[k].profile, path, &profile, e->error);
        if (result != TH_OK) return result;
        if (whole->shares[k].share == 0.0) continue;
        before += whole->shares[k].share;
        th_group_def one = part;
        one.part.profile = whole->shares[k].profile;
        one.part.begin = begin;
        one.part.end = begin = part.part.index + 1 == count ? 1.0 : before / sum;
        if (!put_on(e, &one, &profile)) return no_memory(e);
        if (count > 1 && !name_part(e, &one, one.part.profile, place)) return no_memory(e);
        divide_people(&one, whole);
        if (!append(e, &one)) return no_memory(e);
        ++part.part.index;
    }
    return TH_OK;
}

static bool needs_expansion(const th_scene_def *def) {
    bool any = false;
    if (def->cookie != TH_SCENE_COOKIE) return false; // th_scene_compile says so
    for (int g = 0; g < def->group_count; ++g) {
        if (def->groups[g].cookie != TH_ELEMENT_COOKIE) return false;
        any = any || def->groups[g].share_count > 0;
    }
    for (int k = 0; k < def->profile_count; ++k)
        if (def->profiles[k].cookie != TH_ELEMENT_COOKIE) return false;
    return any;
}

th_result th_profiles_expand(const th_scene_def *def, th_arena *arena, th_scene_def *expanded,
                             th_error *error) {
    *expanded = *def;
    if (!needs_expansion(def)) return TH_OK;
    expansion e = {.def = def, .arena = arena, .error = error};
    for (int g = 0; g < def->group_count; ++g) {
        th_result result = expand_group(&e, g);
        if (result != TH_OK) return result;
    }
    expanded->groups = e.groups;
    expanded->group_count = e.count;
    return TH_OK;
}

void th_profiles_locate(th_error *error, const th_part *first, size_t stride, int count) {
    static const char list[] = "groups[";
    if (!error || error->line || strncmp(error->path, list, sizeof list - 1) != 0) return;
    char *end, rest[sizeof error->path];
    long index = strtol(error->path + sizeof list - 1, &end, 10);
    if (index < 0 || index >= count) return;
    const th_part *part = (const th_part *)((const char *)first + (size_t)index * stride);
    if (part->count == 0) return;
    snprintf(rest, sizeof rest, "%s", end);
    snprintf(error->path, sizeof error->path, "groups[%d%.100s", part->place, rest);
}
