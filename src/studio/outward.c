// People of a recording frame by frame, and the body that files for films and games share. SPDX-License-Identifier: Apache-2.0
#include "studio/outward.h"
#include "core/error.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- people

static int by_id(const void *a, const void *b) {
    uint32_t first = ((const th_out_person *)a)->id, second = ((const th_out_person *)b)->id;
    return first < second ? -1 : first > second;
}

static const th_studio_moment *moment_at(const th_out_crowd *crowd, int k) {
    const th_studio_history *h = &crowd->studio->history;
    int at = h->first + k;
    return at < h->count ? h->moments[at] : NULL;
}

static th_out_person *person_of(const th_out_crowd *crowd, uint32_t id) {
    th_out_person wanted = {.id = id};
    return bsearch(&wanted, crowd->people, (size_t)crowd->count, sizeof wanted, by_id);
}

static float part_of(double x) { return (float)(x - floor(x)); }

// Lists each person of the recording once; before it appears it is where it will appear.
static bool collect(th_out_crowd *crowd) {
    int room = 0;
    const th_studio_moment *moment;
    for (int k = 0; (moment = moment_at(crowd, k)) != NULL; ++k) {
        int known = crowd->count;
        for (int i = 0; i < moment->count; ++i) {
            const th_studio_row *row = &moment->rows[i];
            if (row->phase == TH_PHASE_BODY) continue;
            th_out_person wanted = {.id = row->id};
            if (known > 0 && bsearch(&wanted, crowd->people, (size_t)known, sizeof wanted, by_id))
                continue;
            if (crowd->count == room) {
                room = room + room / 2 + 256;
                th_out_person *grown = realloc(crowd->people, (size_t)room * sizeof *grown);
                if (!grown) return false;
                crowd->people = grown;
            }
            double id = row->id;
            crowd->people[crowd->count++] = (th_out_person){
                .id = row->id,
                .x = row->x,
                .y = row->y,
                .z = (float)crowd->scene->levels[row->level].z,
                .heading = (float)row->heading * 6.2831853f / 256.0f,
                // As the studio's page draws them.
                .height = 0.92f + 0.16f * part_of(id * 0.754877),
                .girth = (float)row->radius / 20.0f * (0.94f + 0.12f * part_of(id * 0.56984))};
        }
        if (crowd->count > known)
            qsort(crowd->people, (size_t)crowd->count, sizeof *crowd->people, by_id);
    }
    return true;
}

void th_out_rewind(th_out_crowd *crowd) {
    crowd->frame = -1;
    crowd->at = 0;
    for (int p = 0; p < crowd->count; ++p) {
        crowd->people[p].there = false;
        // Not in step with each other.
        crowd->people[p].gait = part_of(crowd->people[p].id * 0.618034);
        crowd->people[p].step = 0.0f;
        crowd->people[p].velocity[0] = crowd->people[p].velocity[1] = 0.0f;
    }
}

th_result th_out_create(const th_studio *studio, double fps, th_out_crowd *crowd, th_error *error) {
    *crowd = (th_out_crowd){.studio = studio, .scene = th_replay_scene(studio->replay), .fps = fps};
    double from, to;
    if (!th_history_range(&studio->history, &from, &to))
        return th_fail(error, TH_BAD_ARGUMENT, "", "the recording has no frames");
    if (!collect(crowd)) {
        th_out_release(crowd);
        return th_fail(error, TH_NO_MEMORY, "", "no memory for the people of the recording");
    }
    crowd->start = from;
    crowd->frame_count = (int)floor((to - from) * fps + 1e-6) + 1;
    th_out_rewind(crowd);
    return TH_OK;
}

void th_out_release(th_out_crowd *crowd) {
    free(crowd->people);
    *crowd = (th_out_crowd){0};
}

static bool is_in(const th_polygons *shape, float x, float y) {
    return th_polygons_surround(shape, (th_vec2){x, y});
}

// On stairs people rise from the foot to the line at the top.
static float height_at(const th_scene_view *scene, int level, float x, float y) {
    float z = scene->levels[level].z;
    for (int k = 0; k < scene->link_count; ++k) {
        const th_link *link = &scene->links[k];
        if (link->level[0] != level) continue;
        for (int s = 0; s < scene->zone_count; ++s) {
            const th_zone *zone = &scene->zones[s];
            if (strcmp(zone->id, link->id) != 0 || !is_in(&zone->area.shape, x, y)) continue;
            float run = 0.5f;
            for (int p = 0; p < zone->area.shape.ring_start[zone->area.shape.ring_count]; ++p) {
                th_vec2 corner = zone->area.shape.points[p];
                run = fmaxf(run, (link->a.x - corner.x) * link->up.x +
                                     (link->a.y - corner.y) * link->up.y);
            }
            float back = (link->a.x - x) * link->up.x + (link->a.y - y) * link->up.y;
            float rise = scene->levels[link->level[1]].z - z;
            return z + rise * fminf(1.0f, fmaxf(0.0f, 1.0f - back / run));
        }
    }
    return z;
}

// Length of a step at a speed, as studio/src/walker.ts: Jelic et al., Phys. Rev. E 86, 046111 (2012).
static float step_length(float speed) {
    return fminf(0.95f, fmaxf(0.16f, 0.065f + 0.724f * speed));
}

// The person's next place, by two moments and how far the frame lies between them.
static void move(const th_out_crowd *crowd, const th_studio_row *now, const th_studio_row *then,
                 float t, double apart) {
    th_out_person *person = person_of(crowd, now->id);
    if (!person) return;
    float x = now->x, y = now->y, heading = (float)now->heading * 6.2831853f / 256.0f;
    float seconds = (float)(1.0 / crowd->fps), speed = TH_STUDIO_SPEED_STEP * (float)now->speed;
    if (then && then->level == now->level && hypotf(then->x - x, then->y - y) < 3.0f) {
        float turn = (float)then->heading * 6.2831853f / 256.0f - heading;
        turn -= 6.2831853f * roundf(turn / 6.2831853f);
        heading += t * turn;
        if (apart > 0.0) speed = hypotf(then->x - x, then->y - y) / (float)apart;
        x += t * (then->x - x);
        y += t * (then->y - y);
    }
    bool was = person->was_there && hypotf(x - person->x, y - person->y) < 3.0f;
    float far = was ? hypotf(x - person->x, y - person->y) : 0.0f;
    person->velocity[0] = was ? (x - person->x) / seconds : speed * cosf(heading);
    person->velocity[1] = was ? (y - person->y) / seconds : speed * sinf(heading);
    person->step = speed < 0.05f ? 0.0f : step_length(speed);
    // A gait counts pairs of steps by the distance walked.
    if (person->step > 0.0f) person->gait += far / (2.0f * person->step);
    person->heading +=
        heading - person->heading - 6.2831853f * roundf((heading - person->heading) / 6.2831853f);
    person->x = x;
    person->y = y;
    person->z = height_at(crowd->scene, now->level, x, y);
    person->lying = now->phase == TH_PHASE_FALLEN;
    person->there = true;
}

bool th_out_next(th_out_crowd *crowd) {
    if (++crowd->frame >= crowd->frame_count) return false;
    double time = crowd->start + crowd->frame / crowd->fps;
    const th_studio_moment *now = moment_at(crowd, crowd->at), *then;
    while ((then = moment_at(crowd, crowd->at + 1)) != NULL && then->time <= time + 1e-9) {
        now = then;
        crowd->at++;
    }
    double apart = then ? then->time - now->time : 0.0;
    float t = apart > 0.0 ? (float)fmin(1.0, fmax(0.0, (time - now->time) / apart)) : 0.0f;
    for (int p = 0; p < crowd->count; ++p) {
        crowd->people[p].was_there = crowd->people[p].there;
        crowd->people[p].there = false;
    }
    for (int i = 0, j = 0; i < now->count; ++i) {
        const th_studio_row *row = &now->rows[i];
        while (then && j < then->count && then->rows[j].id < row->id) ++j;
        bool stays = then && j < then->count && then->rows[j].id == row->id;
        if (row->phase != TH_PHASE_BODY) move(crowd, row, stays ? &then->rows[j] : NULL, t, apart);
    }
    return true;
}

// ---- the body

#define HIP 0.88f
#define KNEE 0.46f
#define SHOULDER 1.42f
#define ELBOW 1.12f
#define ANKLE 0.05f

const float th_out_joints[TH_OUT_BONES][3] = {
    {0.0f, 0.0f, HIP},    {0.0f, 0.085f, HIP},      {0.0f, 0.085f, KNEE},
    {0.0f, -0.085f, HIP}, {0.0f, -0.085f, KNEE},    {0.0f, 0.21f, SHOULDER},
    {0.0f, 0.21f, ELBOW}, {0.0f, -0.21f, SHOULDER}, {0.0f, -0.21f, ELBOW},
};
const int th_out_parents[TH_OUT_BONES] = {-1, 0, 1, 0, 3, 0, 5, 0, 7};

typedef enum cloth { SHIRT, TROUSERS, SKIN, HAIR, CLOTHS } cloth;
typedef struct part {
    th_out_bone bone;
    float from[3], to[3], r0, r1, wide;
    cloth cloth;
} part;

// Tubes with round ends, as in studio/src/walker.ts; `wide`: how much wider than deep.
static const part parts[] = {
    {TH_BONE_TRUNK, {0, 0, 0.84f}, {0, 0, 1.16f}, 0.155f, 0.15f, 1.28f, SHIRT},
    {TH_BONE_TRUNK, {0, 0, 1.14f}, {0, 0, 1.46f}, 0.15f, 0.17f, 1.28f, SHIRT},
    {TH_BONE_TRUNK, {0, 0, 1.44f}, {0.01f, 0, 1.54f}, 0.06f, 0.055f, 1.0f, SKIN},
    {TH_BONE_TRUNK, {0.015f, 0, 1.54f}, {0.02f, 0, 1.74f}, 0.085f, 0.09f, 1.0f, SKIN},
    {TH_BONE_TRUNK, {-0.015f, 0, 1.63f}, {-0.01f, 0, 1.765f}, 0.1f, 0.085f, 1.0f, HAIR},
    {TH_BONE_LEFT_THIGH, {0, 0.085f, HIP}, {0, 0.085f, KNEE}, 0.095f, 0.065f, 1.0f, TROUSERS},
    {TH_BONE_LEFT_SHIN, {0, 0.085f, KNEE}, {0, 0.085f, 0.06f}, 0.065f, 0.045f, 1.0f, TROUSERS},
    {TH_BONE_LEFT_SHIN,
     {-0.05f, 0.085f, 0.035f},
     {0.15f, 0.085f, 0.03f},
     0.045f,
     0.035f,
     1.0f,
     HAIR},
    {TH_BONE_LEFT_ARM, {0, 0.21f, SHOULDER}, {0, 0.21f, ELBOW}, 0.055f, 0.045f, 1.0f, SHIRT},
    {TH_BONE_LEFT_FOREARM, {0, 0.21f, ELBOW}, {0, 0.21f, 0.84f}, 0.042f, 0.036f, 1.0f, SKIN},
};
enum { PARTS = sizeof parts / sizeof parts[0], FIRST_LIMB = 5, SIDES = 8, RINGS = 6 };

// Linear colours: shirt, trousers, skin, hair and shoes.
static const float clothes[TH_OUT_CLOTHES][CLOTHS][3] = {
    {{0.05f, 0.13f, 0.35f}, {0.03f, 0.035f, 0.05f}, {0.55f, 0.31f, 0.21f}, {0.02f, 0.012f, 0.01f}},
    {{0.42f, 0.09f, 0.06f}, {0.06f, 0.07f, 0.1f}, {0.72f, 0.45f, 0.33f}, {0.12f, 0.06f, 0.02f}},
    {{0.5f, 0.47f, 0.4f}, {0.02f, 0.02f, 0.022f}, {0.17f, 0.08f, 0.045f}, {0.01f, 0.01f, 0.01f}},
    {{0.06f, 0.22f, 0.13f}, {0.16f, 0.12f, 0.08f}, {0.62f, 0.37f, 0.26f}, {0.05f, 0.03f, 0.015f}},
};

int th_out_clothes_of(uint32_t id) { return (int)(part_of(id * 0.381966) * TH_OUT_CLOTHES); }

typedef struct vec3 {
    float x, y, z;
} vec3;
static vec3 cross(vec3 a, vec3 b) {
    return (vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static vec3 scaled(vec3 a, float s) { return (vec3){a.x * s, a.y * s, a.z * s}; }
static vec3 plus(vec3 a, vec3 b) { return (vec3){a.x + b.x, a.y + b.y, a.z + b.z}; }
static vec3 unit(vec3 a) { return scaled(a, 1.0f / sqrtf(a.x * a.x + a.y * a.y + a.z * a.z)); }

static void put3(float *to, vec3 v) {
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
}

// A tube: RINGS rings of SIDES points around its axis between two poles. `side` -1 mirrors it.
static void add_part(th_out_body *body, const part *p, float side, const float colour[3]) {
    vec3 a = {p->from[0], p->from[1] * side, p->from[2]}, b = {p->to[0], p->to[1] * side, p->to[2]};
    vec3 along = plus(b, scaled(a, -1.0f));
    float length = sqrtf(along.x * along.x + along.y * along.y + along.z * along.z);
    along = scaled(along, 1.0f / length);
    vec3 forward = fabsf(along.z) > 0.7f ? (vec3){1, 0, 0} : (vec3){0, 0, 1};
    float lean = forward.x * along.x + forward.y * along.y + forward.z * along.z;
    vec3 u = unit(plus(forward, scaled(along, -lean))), v = cross(along, u);
    int bone = (int)p->bone + (side < 0.0f && p->bone != TH_BONE_TRUNK ? 2 : 0);
    uint32_t start = (uint32_t)body->point_count;
    for (int ring = -1; ring <= RINGS; ++ring) {
        bool pole = ring < 0 || ring == RINGS, end = ring >= RINGS / 2;
        float angle =
            pole ? 1.5707963f : (float)(end ? ring - RINGS / 2 : RINGS / 2 - 1 - ring) * 0.5235988f;
        float r = end ? p->r1 : p->r0,
              t = (end ? length : 0.0f) + (end ? 0.8f : -0.8f) * r * sinf(angle);
        for (int s = 0; s < (pole ? 1 : SIDES); ++s) {
            float turn = 6.2831853f * (float)s / SIDES, c = cosf(turn), d = sinf(turn);
            float out = pole ? 0.0f : r * cosf(angle), up = end ? sinf(angle) : -sinf(angle);
            vec3 point = plus(plus(plus(a, scaled(along, t)), scaled(u, out * c)),
                              scaled(v, out * d * p->wide));
            vec3 normal =
                plus(plus(scaled(u, c * cosf(angle)), scaled(v, d * cosf(angle) / p->wide)),
                     scaled(along, up));
            int k = body->point_count++;
            put3(body->points + 3 * k, point);
            put3(body->normals + 3 * k, unit(normal));
            memcpy(body->colours + 3 * k, colour, 3 * sizeof(float));
            body->bones[k] = (uint8_t)bone;
        }
    }
    uint32_t last = (uint32_t)body->point_count - 1, first = start + 1;
    uint32_t *to = body->triangles + 3 * (size_t)body->triangle_count;
    for (uint32_t s = 0; s < SIDES; ++s) {
        uint32_t next = (s + 1) % SIDES, top = first + (RINGS - 1) * SIDES;
        uint32_t fans[6] = {start, first + next, first + s, last, top + s, top + next};
        memcpy(to, fans, sizeof fans);
        to += 6;
        for (uint32_t r = 0; r + 1 < RINGS; ++r) {
            uint32_t p0 = first + r * SIDES + s, p1 = first + r * SIDES + next;
            uint32_t two[6] = {p0, p1, p0 + SIDES, p1, p1 + SIDES, p0 + SIDES};
            memcpy(to, two, sizeof two);
            to += 6;
        }
    }
    body->triangle_count += 2 * SIDES * RINGS;
}

bool th_out_body_create(int worn, th_out_body *body) {
    enum { TUBES = PARTS + PARTS - FIRST_LIMB, POINTS = TUBES * (RINGS * SIDES + 2) };
    *body = (th_out_body){.points = malloc(POINTS * 3 * sizeof(float)),
                          .normals = malloc(POINTS * 3 * sizeof(float)),
                          .colours = malloc(POINTS * 3 * sizeof(float)),
                          .bones = malloc(POINTS),
                          .triangles =
                              malloc((size_t)TUBES * 2 * SIDES * RINGS * 3 * sizeof(uint32_t))};
    if (!body->points || !body->normals || !body->colours || !body->bones || !body->triangles) {
        th_out_body_release(body);
        return false;
    }
    for (int p = 0; p < PARTS; ++p) {
        const float *colour = clothes[worn][parts[p].cloth];
        add_part(body, &parts[p], 1.0f, colour);
        if (p >= FIRST_LIMB) add_part(body, &parts[p], -1.0f, colour);
    }
    return true;
}

void th_out_body_release(th_out_body *body) {
    free(body->points);
    free(body->normals);
    free(body->colours);
    free(body->bones);
    free(body->triangles);
    *body = (th_out_body){0};
}

// ---- the gait, as studio/src/walker.ts: a foot on the ground goes back as far as the body goes on

static float foot_ahead(float phase, float step) {
    float p = phase - floorf(phase), t = (p - 0.5f) * 2.0f;
    return p < 0.5f ? step * (0.5f - 2.0f * p) : step * (t * t * (3.0f - 2.0f * t) - 0.5f);
}

static void pose_leg(float phase, float step, float drop, float *thigh, float *shin) {
    const float upper = HIP - KNEE, lower = KNEE - ANKLE;
    float p = phase - floorf(phase),
          lift = p < 0.5f ? 0.0f : 0.16f * step * sinf(6.2831853f * (p - 0.5f));
    float ahead = foot_ahead(phase, step), down = HIP - ANKLE - lift - drop;
    float reach = fminf(hypotf(ahead, down), upper + lower - 0.002f);
    float hip = acosf((upper * upper + reach * reach - lower * lower) / (2.0f * upper * reach));
    float knee = acosf((upper * upper + lower * lower - reach * reach) / (2.0f * upper * lower));
    *thigh = atan2f(ahead, down) + hip;
    *shin = knee - 3.14159265f;
}

th_out_pose th_out_pose_of(float gait, float step) {
    // A shorter step than people take at speed: legs of this length reach no farther.
    float swing = fminf(1.0f, step / 0.8f), reach = HIP - ANKLE;
    th_out_pose pose = {.drop = reach - sqrtf(reach * reach - 0.25f * step * step * 0.8f)};
    pose_leg(gait, step, pose.drop, &pose.angles[TH_BONE_LEFT_THIGH],
             &pose.angles[TH_BONE_LEFT_SHIN]);
    pose_leg(gait + 0.5f, step, pose.drop, &pose.angles[TH_BONE_RIGHT_THIGH],
             &pose.angles[TH_BONE_RIGHT_SHIN]);
    float arm = 0.55f * swing * cosf(6.2831853f * gait);
    pose.angles[TH_BONE_LEFT_ARM] = -arm;
    pose.angles[TH_BONE_RIGHT_ARM] = arm;
    pose.angles[TH_BONE_LEFT_FOREARM] = pose.angles[TH_BONE_RIGHT_FOREARM] = 0.25f + 0.3f * swing;
    return pose;
}

// ---- walls

void th_out_wall_corners(const th_wall *wall, float z, float corners[8][3]) {
    vec3 side = {-wall->direction.y * 0.5f * TH_OUT_WALL_WIDTH,
                 wall->direction.x * 0.5f * TH_OUT_WALL_WIDTH, 0.0f};
    for (int k = 0; k < 8; ++k) {
        th_vec2 end = k % 4 == 0 || k % 4 == 3 ? wall->a : wall->b;
        float s = k % 4 < 2 ? -1.0f : 1.0f;
        corners[k][0] = end.x + s * side.x;
        corners[k][1] = end.y + s * side.y;
        corners[k][2] = z + (k < 4 ? 0.0f : TH_OUT_WALL_HEIGHT);
    }
}
