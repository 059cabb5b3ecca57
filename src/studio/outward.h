// A recording for films and games: its people frame by frame in one order, the body they share, and the files that other
// programs read. SPDX-License-Identifier: Apache-2.0
#ifndef TH_STUDIO_OUTWARD_H
#define TH_STUDIO_OUTWARD_H
#include "studio/studio.h"

// One person at one frame; x is east, y north, z up, relative to the scene's origin.
typedef struct th_out_person {
    uint32_t id;
    bool there,
        was_there; // in the scene now and in the frame before; else the values are its first or last ones
    float x, y, z;       // [m] of the feet
    float velocity[2];   // [m/s] east, north
    float heading;       // [rad] counter-clockwise from east, without jumps from frame to frame
    float gait, step;    // steps walked, in pairs; length of a step [m]
    float height, girth; // factors of the body, by the id and the radius
    bool lying;
} th_out_person;

typedef struct th_out_crowd {
    const th_studio *studio;
    const th_scene_view *scene;
    th_out_person *people; // all that ever appear, ascending in id
    int count;
    int frame, frame_count;
    double fps, start; // [1/s]; of frame 0 [s]
    int at;            // moment of the history that is not after the frame
} th_out_crowd;

// Makes the crowd of the recording that is open, in so many frames per second; positions are straight between recorded
// moments. Cost: one pass
// over the recording each for this, and for all frames.
th_result th_out_create(const th_studio *studio, double fps, th_out_crowd *crowd, th_error *error);
void th_out_release(th_out_crowd *crowd);
void th_out_rewind(th_out_crowd *crowd);
bool th_out_next(th_out_crowd *crowd); // the next frame, in people; false: there is none

// ---- the body: of a person 1.75 m tall who looks along +x, z up, feet at 0. Bones as in studio/src/walker.ts.
enum { TH_OUT_BONES = 9, TH_OUT_CLOTHES = 4 };
typedef enum th_out_bone {
    TH_BONE_TRUNK,
    TH_BONE_LEFT_THIGH,
    TH_BONE_LEFT_SHIN,
    TH_BONE_RIGHT_THIGH,
    TH_BONE_RIGHT_SHIN,
    TH_BONE_LEFT_ARM,
    TH_BONE_LEFT_FOREARM,
    TH_BONE_RIGHT_ARM,
    TH_BONE_RIGHT_FOREARM
} th_out_bone;
typedef struct th_out_body {
    float *points, *normals, *colours; // three each; colours are linear
    uint8_t *bones;
    uint32_t *triangles;
    int point_count, triangle_count;
} th_out_body;
// `clothes`: 0 .. TH_OUT_CLOTHES - 1. False: no memory.
bool th_out_body_create(int clothes, th_out_body *body);
void th_out_body_release(th_out_body *body);
extern const float th_out_joints[TH_OUT_BONES][3]; // where bones turn [m]
extern const int th_out_parents[TH_OUT_BONES];
int th_out_clothes_of(uint32_t id);

// Angles of all bones about the axis to the left [rad], positive turns what hangs forward; how far the hips come down [m].
typedef struct th_out_pose {
    float angles[TH_OUT_BONES], drop;
} th_out_pose;
th_out_pose th_out_pose_of(float gait, float step);

// ---- the files. `progress` as in th_video_def; where a write fails or is stopped no file is left.
typedef struct th_out_def {
    double fps;
    bool (*progress)(double share, void *context);
    void *context;
} th_out_def;
// A USD text file: a PointInstancer with ids, positions, headings, velocities and gait, and the plan. usd.c
th_result th_usd_write(const th_studio *studio, const char *path, const th_out_def *def,
                       th_error *error);
// glTF 2.0, in one file; binary where the name ends with .glb. Up to TH_GLTF_SKINNED people walk with bones, more glide.
enum { TH_GLTF_SKINNED = 300 };
th_result th_gltf_write(const th_studio *studio, const char *path, const th_out_def *def,
                        th_error *error);
// Places, speeds and gaits as a table, a row per person and frame. usd.c
th_result th_points_write(const th_studio *studio, const char *path, const th_out_def *def,
                          th_error *error);

// The walls of a level as boxes, eight corners each, and how high they are [m].
#define TH_OUT_WALL_HEIGHT 2.7f
#define TH_OUT_WALL_WIDTH 0.1f
void th_out_wall_corners(const th_wall *wall, float z, float corners[8][3]);
#endif
