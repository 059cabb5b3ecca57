// Bodies moved by hand, orders to one agent, questions about places. SPDX-License-Identifier: Apache-2.0
#include "core.h"
#include <assert.h>
#include <stdlib.h>
#include <throng/ask.h>
#include <throng/live.h>

// The package reads answers as records of numpy with these sizes.
static_assert(sizeof(th_seen) == 36 && sizeof(th_crowd) == 20 && sizeof(th_way_point) == 12,
              "SEEN, CROWD and _CORNER of world.py");

#define WORLD(name)                    \
    th_world *name = core_world(self); \
    if (!name) return NULL

static PyObject *conclude(th_result result, const th_error *error) {
    if (result != TH_OK) return core_fail(error);
    Py_RETURN_NONE;
}

// ---- bodies

// add_body(outline, corners, radius, level, x, y, velocity x, y, angle, spin): its number
PyObject *core_add_body(PyObject *self, PyObject *arguments) {
    unsigned long long outline;
    th_body_def def = th_body_def_default();
    th_body_pose *p = &def.pose;
    th_error error = {0};
    int body;
    if (!PyArg_ParseTuple(arguments, "Kififfffff", &outline, &def.outline_count, &def.radius,
                          &def.level, &p->position.x, &p->position.y, &p->velocity.x,
                          &p->velocity.y, &p->angle, &p->spin))
        return NULL;
    def.outline = core_pointer(outline);
    WORLD(world);
    if (th_world_add_body(world, &def, &body, &error) != TH_OK) return core_fail(&error);
    return PyLong_FromLong(body);
}

// move_body(body, x, y, velocity x, y, angle, spin)
PyObject *core_move_body(PyObject *self, PyObject *arguments) {
    int body;
    th_body_pose p;
    th_error error = {0};
    if (!PyArg_ParseTuple(arguments, "iffffff", &body, &p.position.x, &p.position.y, &p.velocity.x,
                          &p.velocity.y, &p.angle, &p.spin))
        return NULL;
    WORLD(world);
    return conclude(th_world_move_body(world, body, &p, &error), &error);
}

PyObject *core_remove_body(PyObject *self, PyObject *arguments) {
    int body;
    th_error error = {0};
    if (!PyArg_ParseTuple(arguments, "i", &body)) return NULL;
    WORLD(world);
    return conclude(th_world_remove_body(world, body, &error), &error);
}

// body(body): (x, y, velocity x, y, angle, spin, level, cornered, corners as bytes), or None
PyObject *core_body(PyObject *self, PyObject *arguments) {
    int body;
    if (!PyArg_ParseTuple(arguments, "i", &body)) return NULL;
    WORLD(world);
    th_body_state s = th_world_body(world, body);
    if (s.corner_count == 0) Py_RETURN_NONE;
    return Py_BuildValue("(ddddddiiy#)", (double)s.pose.position.x, (double)s.pose.position.y,
                         (double)s.pose.velocity.x, (double)s.pose.velocity.y, (double)s.pose.angle,
                         (double)s.pose.spin, s.level, s.cornered, (const char *)s.corners,
                         (Py_ssize_t)((size_t)s.corner_count * sizeof *s.corners));
}

// ---- orders

PyObject *core_send(PyObject *self, PyObject *arguments) {
    th_agent_id id;
    int level;
    th_vec2 point;
    th_error error = {0};
    if (!PyArg_ParseTuple(arguments, "Iiff", &id.serial, &level, &point.x, &point.y)) return NULL;
    WORLD(world);
    return conclude(th_world_send(world, id, level, point, &error), &error);
}

PyObject *core_set_leg(PyObject *self, PyObject *arguments) {
    th_agent_id id;
    int leg;
    th_error error = {0};
    if (!PyArg_ParseTuple(arguments, "Ii", &id.serial, &leg)) return NULL;
    WORLD(world);
    return conclude(th_world_set_leg(world, id, leg, &error), &error);
}

PyObject *core_set_value(PyObject *self, PyObject *arguments) {
    th_agent_id id;
    int field;
    double value;
    th_error error = {0};
    if (!PyArg_ParseTuple(arguments, "Iid", &id.serial, &field, &value)) return NULL;
    WORLD(world);
    return conclude(th_world_set_field(world, id, field, value, &error), &error);
}

// ---- questions

// near(level, x, y, range, records, most): how many
PyObject *core_near(PyObject *self, PyObject *arguments) {
    int level, most;
    th_vec2 point;
    float range;
    unsigned long long records;
    if (!PyArg_ParseTuple(arguments, "ifffKi", &level, &point.x, &point.y, &range, &records, &most))
        return NULL;
    WORLD(world);
    return PyLong_FromLong(
        th_world_nearest(world, level, point, range, core_pointer(records), most));
}

// within(level, corners, count, radius, records, most): a circle about one corner, a box between two, a polygon; how many
PyObject *core_within(PyObject *self, PyObject *arguments) {
    int level, count, most, found;
    float radius;
    unsigned long long corners, records;
    if (!PyArg_ParseTuple(arguments, "iKifKi", &level, &corners, &count, &radius, &records, &most))
        return NULL;
    WORLD(world);
    const th_vec2 *c = core_pointer(corners);
    th_seen *seen = core_pointer(records);
    if (count == 1) {
        found = th_world_agents_in_circle(world, level, c[0], radius, seen, most);
    } else if (count == 2) {
        bool x = c[0].x < c[1].x, y = c[0].y < c[1].y;
        th_box box = {.min_x = c[!x].x, .max_x = c[x].x, .min_y = c[!y].y, .max_y = c[y].y};
        found = th_world_agents_in_box(world, level, box, seen, most);
    } else {
        found = th_world_agents_in_polygon(world, level, c, count, seen, most);
    }
    return PyLong_FromLong(found);
}

// ray(level, from x, y, to x, y, stops, but): (kind, distance, x, y, normal x, y, agent, door)
PyObject *core_ray(PyObject *self, PyObject *arguments) {
    static const char *const kinds[] = {"nothing", "wall", "agent"};
    int level, stops;
    th_vec2 from, to;
    th_agent_id but;
    if (!PyArg_ParseTuple(arguments, "iffffiI", &level, &from.x, &from.y, &to.x, &to.y, &stops,
                          &but.serial))
        return NULL;
    WORLD(world);
    th_hit hit = th_world_ray(world, level, from, to, stops, but);
    return Py_BuildValue("(sdddddIi)", kinds[hit.kind], (double)hit.distance, (double)hit.point.x,
                         (double)hit.point.y, (double)hit.normal.x, (double)hit.normal.y,
                         hit.agent.serial, hit.door);
}

// path(level, from x, y, level, to x, y, radius, records, most): (corners, length)
PyObject *core_path(PyObject *self, PyObject *arguments) {
    th_way_point from, to;
    float radius, length;
    int most;
    unsigned long long records;
    if (!PyArg_ParseTuple(arguments, "iffifffKi", &from.level, &from.point.x, &from.point.y,
                          &to.level, &to.point.x, &to.point.y, &radius, &records, &most))
        return NULL;
    WORLD(world);
    int count = th_world_path(world, from, to, radius, core_pointer(records), most, &length);
    return Py_BuildValue("(id)", count, (double)length);
}

// free_place(level, x, y, radius, range): (x, y), or None
PyObject *core_free_place(PyObject *self, PyObject *arguments) {
    int level;
    th_vec2 point, place;
    float radius, range;
    if (!PyArg_ParseTuple(arguments, "iffff", &level, &point.x, &point.y, &radius, &range))
        return NULL;
    WORLD(world);
    if (!th_world_free_place(world, level, point, radius, range, &place)) Py_RETURN_NONE;
    return Py_BuildValue("(dd)", (double)place.x, (double)place.y);
}

// crowd_at(level, points, count, forces or 0, records)
PyObject *core_crowd_at(PyObject *self, PyObject *arguments) {
    int level, count;
    unsigned long long points, forces, records;
    if (!PyArg_ParseTuple(arguments, "iKiKK", &level, &points, &count, &forces, &records))
        return NULL;
    WORLD(world);
    const th_vec2 *at = core_pointer(points);
    th_crowd *crowd = core_pointer(records);
    for (int k = 0; k < count; ++k)
        th_world_crowd_at(world, level, at[k], core_pointer(forces), &crowd[k]);
    Py_RETURN_NONE;
}

PyObject *core_moods(PyObject *self, PyObject *arguments) {
    unsigned long long to;
    if (!PyArg_ParseTuple(arguments, "K", &to)) return NULL;
    WORLD(world);
    th_world_moods(world, core_pointer(to));
    Py_RETURN_NONE;
}
