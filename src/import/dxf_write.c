// A scene as a DXF that throng and drawing programs read: millimetre-true lines on layers named by part and level,
// WALLS@upper. Doors and exits in walls have cut them already. SPDX-License-Identifier: Apache-2.0
#include "import/drawing.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct writer {
    const th_scene_view *scene;
    char *text;
    size_t length, capacity;
    bool failed;
    char layer[160];
} writer;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
put(writer *w, const char *format, ...) {
    char line[400];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length < 0 || length >= (int)sizeof line ||
        !TH_RESERVE(w->text, w->capacity, w->length + (size_t)length + 1)) {
        w->failed = true;
        return;
    }
    memcpy(w->text + w->length, line, (size_t)length + 1);
    w->length += (size_t)length;
}

static void on_layer(writer *w, const char *part, const char *level, const char *to) {
    snprintf(w->layer, sizeof w->layer, "%s@%.60s%s%.60s", part, level, to ? "@" : "",
             to ? to : "");
    for (char *at = w->layer; *at; ++at)
        if (strchr("<>/\\\":;?*|,=`\n\r", *at)) *at = '_';
}

static void put_line(writer *w, th_vec2 a, th_vec2 b) {
    th_point o = w->scene->origin;
    put(w, "0\nLINE\n8\n%s\n10\n%.6f\n20\n%.6f\n11\n%.6f\n21\n%.6f\n", w->layer, (double)a.x + o.x,
        (double)a.y + o.y, (double)b.x + o.x, (double)b.y + o.y);
}

static void put_rings(writer *w, const th_polygons *shape) {
    th_point o = w->scene->origin;
    for (int r = 0; r < shape->ring_count; ++r) {
        int begin = shape->ring_start[r], end = shape->ring_start[r + 1];
        put(w, "0\nLWPOLYLINE\n8\n%s\n90\n%d\n70\n1\n", w->layer, end - begin);
        for (int i = begin; i < end; ++i)
            put(w, "10\n%.6f\n20\n%.6f\n", (double)shape->points[i].x + o.x,
                (double)shape->points[i].y + o.y);
    }
}

// Each thin wall once: its other side runs the other way.
static void put_walls(writer *w, const th_level *level) {
    const th_wall *walls = w->scene->walls;
    for (int k = level->wall_begin; k < level->wall_end; ++k) {
        const th_wall *wall = &walls[k];
        if (wall->door >= 0 || wall->a.x > wall->b.x ||
            (wall->a.x == wall->b.x && wall->a.y >= wall->b.y))
            continue;
        bool thin = false;
        for (int j = level->wall_begin; j < level->wall_end && !thin; ++j)
            thin = walls[j].door < 0 && walls[j].a.x == wall->b.x && walls[j].a.y == wall->b.y &&
                   walls[j].b.x == wall->a.x && walls[j].b.y == wall->a.y;
        if (thin) put_line(w, wall->a, wall->b);
    }
}

static void put_level(writer *w, int index) {
    const th_scene_view *scene = w->scene;
    const th_level *level = &scene->levels[index];
    on_layer(w, "GROUND", level->id, NULL);
    put_rings(w, &level->walkable);
    on_layer(w, "WALLS", level->id, NULL);
    put_walls(w, level);
    on_layer(w, "DOORS", level->id, NULL);
    for (int d = 0; d < scene->door_count; ++d)
        if (scene->doors[d].line.level == index && scene->doors[d].exit < 0)
            put_line(w, scene->doors[d].line.a, scene->doors[d].line.b);
    on_layer(w, "EXITS", level->id, NULL);
    for (int g = 0; g < scene->goal_count; ++g) {
        const th_goal *goal = &scene->goals[g];
        if (goal->kind != TH_GOAL_EXIT) continue;
        if (goal->is_line && goal->line.level == index) put_line(w, goal->line.a, goal->line.b);
        if (!goal->is_line && goal->area.level == index) put_rings(w, &goal->area.shape);
    }
    on_layer(w, "PEOPLE", level->id, NULL);
    for (int g = 0; g < scene->group_count; ++g)
        if (scene->groups[g].level == index && scene->groups[g].part.index == 0)
            put_rings(w, &scene->groups[g].area.shape);
}

static void put_stairs(writer *w) {
    const th_scene_view *scene = w->scene;
    for (int k = 0; k < scene->link_count; ++k) {
        const th_link *link = &scene->links[k];
        const char *low = scene->levels[link->level[0]].id,
                   *high = scene->levels[link->level[1]].id;
        on_layer(w, "STAIRS_TOP", low, high);
        put_line(w, link->a, link->b);
        on_layer(w, "STAIRS", low, high);
        for (int z = 0; z < scene->zone_count; ++z)
            if (strcmp(scene->zones[z].id, link->id) == 0 &&
                (scene->zones[z].up_direction.x != 0.0f || scene->zones[z].up_direction.y != 0.0f))
                put_rings(w, &scene->zones[z].area.shape);
    }
}

char *th_dxf_write(const th_scene_view *scene, size_t *length) {
    writer w = {.scene = scene};
    // Metres, as AutoCAD 2000 counts units.
    put(&w, "0\nSECTION\n2\nHEADER\n9\n$ACADVER\n1\nAC1015\n9\n$INSUNITS\n70\n6\n0\nENDSEC\n");
    put(&w, "0\nSECTION\n2\nENTITIES\n");
    for (int l = 0; l < scene->level_count; ++l) put_level(&w, l);
    put_stairs(&w);
    put(&w, "0\nENDSEC\n0\nEOF\n");
    *length = w.length;
    if (!w.failed) return w.text;
    free(w.text);
    return NULL;
}
