// Draws a scene's plan and its crowd on a page. SPDX-License-Identifier: Apache-2.0
#ifndef TH_DRAW_PLAN_DRAWING_H
#define TH_DRAW_PLAN_DRAWING_H
#include "draw/canvas.h"
#include "record/moment.h"
#include "throng/model.h"
#include "throng/rooms.h"

// The fields of a world that a drawing shows (th_world_moment_take); scripted bodies included.
enum {
    TH_DRAWN = TH_KNOW_LEVEL | TH_KNOW_VELOCITY | TH_KNOW_PHASE | TH_KNOW_GROUP | TH_KNOW_BODY |
               TH_KNOW_GOAL
};

// Speed: as a share of the preferred one, or in m/s where that is not known (a recording).
// Mood: of running worlds only.
typedef enum th_colour_by { TH_BY_SPEED, TH_BY_DENSITY, TH_BY_GROUP, TH_BY_MOOD } th_colour_by;

// An influence on an agent, and its level.
typedef struct th_plan_influence {
    th_influence of;
    int level;
} th_plan_influence;

// A picture under the plan.
typedef struct th_plan_underlay {
    int level;
    th_point at;                   // its lower left corner, from the scene's origin
    double metres_per_pixel, turn; // [degrees] counter-clockwise about `at`
    cairo_surface_t *image;
} th_plan_underlay;
// Those of a scene's text, whose files are in `folder` or, with `anywhere`, elsewhere. One that cannot be drawn is left out, with
// an error. The list is released with th_underlays_free.
int th_underlays_read(const th_scene_view *scene, const char *json, const char *folder,
                      bool anywhere, th_plan_underlay **list, th_error *error);
void th_underlays_free(th_plan_underlay *list, int count);

typedef struct th_plan_view {
    const th_scene_view *scene;
    const bool *door_closed; // one per door, now
    const th_moment *crowd;
    const float *density; // with TH_BY_DENSITY
    const uint8_t *moods; // th_mood of each agent, with TH_BY_MOOD
    // Where each agent that watches a place looks, 0: no place; NULL: not known.
    const th_vec2 *watched;
    th_colour_by colour_by;
    th_box box;    // [m] what every panel shows
    int width;     // of the page [px]
    double time;   // [s]
    uint64_t left; // people gone through exits so far
    const char *title;
    const th_rooms *rooms;               // drawn under the crowd; NULL: not
    const th_plan_influence *influences; // drawn over the crowd
    int influence_count;
    // Agents that lie on the ground: rectangles, drawn instead of their discs.
    const th_plan_influence *bodies;
    int body_count;
    const th_plan_underlay *underlays;
    int underlay_count;
} th_plan_view;

// Everything that is drawn, with a margin; on open ground also where people are and want to go.
th_box th_plan_box(const th_scene_view *scene, const th_moment *crowd);
// Everything drawn on a page whose size depends on the scene, the box and the width alone. Caller destroys it; no
// surface: no memory.
th_canvas th_plan_page(const th_plan_view *view);
// Draws and writes a PNG.
th_result th_plan_draw(const th_plan_view *view, const char *path, th_error *error);

// The layers of one panel, plan_layers.c.
void th_draw_ground(const th_canvas *canvas, const th_panel *panel, const th_scene_view *scene,
                    int level);
void th_draw_underlays(const th_canvas *canvas, const th_panel *panel, const th_plan_view *view,
                       int level);
// Clips all drawing until cairo_restore to walkable ground.
void th_clip_to_ground(const th_canvas *canvas, const th_panel *panel, const th_scene_view *scene,
                       int level);
// Walls alone, as lines `width` thick.
void th_draw_outline(const th_canvas *canvas, const th_panel *panel, const th_scene_view *scene,
                     int level, double width);
// Exits as lines and outlines, for maps.
void th_draw_exits(const th_canvas *canvas, const th_panel *panel, const th_scene_view *scene,
                   int level);
// Rooms in changing tints with their numbers, portals as lines.
void th_draw_rooms(const th_canvas *canvas, const th_panel *panel, const th_rooms *rooms,
                   int level);
// The outline of a rectangle as a path, for the caller to stroke or fill. False: it has no length.
bool th_trace_rectangle(const th_canvas *canvas, const th_panel *panel, const th_influence *r);
void th_draw_walls(const th_canvas *canvas, const th_panel *panel, const th_plan_view *view,
                   int level);
// Names of exits and doors; with `everything` also of measurements and of the groups' start areas.
void th_draw_labels(const th_canvas *canvas, const th_panel *panel, const th_scene_view *scene,
                    int level, bool everything);
// Where groups appear: their areas, or dots where positions are given.
void th_draw_starts(const th_canvas *canvas, const th_panel *panel, const th_scene_view *scene,
                    int level);
// Points as dots; of more than TH_DOTS_MAX an even choice.
#define TH_DOTS_MAX 5000
void th_draw_dots(const th_canvas *canvas, const th_panel *panel, const th_vec2 *points, int count,
                  th_colour colour, double width);
th_colour th_mood_colour(th_mood mood);
void th_draw_people(const th_canvas *canvas, const th_panel *panel, const th_plan_view *view,
                    int level);
// The key of groups and their colours, from y downwards; returns the y below it.
double th_draw_group_key(const th_canvas *canvas, const th_scene_view *scene, double x, double y);
// The key of symbols that this plan uses, from y downwards; returns the y below it.
double th_draw_key(const th_canvas *canvas, const th_plan_view *view, double x, double y);

// A person is never drawn smaller than this radius [px]: fainter dots vanish between pixels.
#define TH_SMALLEST_DISC 1.1
// Speed at the bright end of the scale, where it is not a share [m/s]: hardly any person walks faster.
#define TH_SPEED_SCALE 2.0
// Density at the dark end of the scale [1/m2]: above 6 people are pressed together.
#define TH_DENSITY_SCALE 6.0
#endif
