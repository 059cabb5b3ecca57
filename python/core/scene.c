// Scenes. SPDX-License-Identifier: Apache-2.0
#include "core.h"
#include <stdlib.h>

PyTypeObject *scene_type;

static th_scene *scene_of(PyObject *object) { return ((SceneObject *)object)->scene; }

// Scene(text or None, path, base_dir or None, overrides, no_files, allow_links): JSON text, or the file at path.
static PyObject *create(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    const char *text, *path, *base;
    Py_ssize_t length, base_length;
    PyObject *overrides;
    int no_files, allow_links, count;
    (void)keywords;
    if (!PyArg_ParseTuple(arguments, "z#yz#O!pp", &text, &length, &path, &base, &base_length,
                          &PyList_Type, &overrides, &no_files, &allow_links))
        return NULL;
    const char **sets = core_texts(overrides, &count);
    if (!sets) return NULL;
    th_scene_options options = th_scene_options_default();
    options.overrides = sets;
    options.override_count = count;
    options.no_files = no_files;
    options.allow_links = allow_links;
    th_scene *scene = NULL;
    th_error error = {0};
    th_result result;
    Py_BEGIN_ALLOW_THREADS result =
        text ? th_scene_load_json(text, (size_t)length, path, base, &options, &scene, &error)
             : th_scene_load_file(path, &options, &scene, &error);
    Py_END_ALLOW_THREADS free(sets);
    if (result != TH_OK) return core_fail(&error);
    SceneObject *self = core_allocate(type);
    if (self)
        self->scene = scene;
    else
        th_scene_destroy(scene);
    return (PyObject *)self;
}

static void destroy(PyObject *object) {
    th_scene_destroy(scene_of(object));
    core_free(object);
}

// ---- what is in it

static const char *goal_kind(th_goal_kind kind) {
    static const char *const names[] = {"exit", "waypoint", "waiting_area", "interest"};
    return names[kind];
}

static PyObject *number_list(const int *numbers, int count) {
    PyObject *list = PyList_New(0);
    for (int k = 0; list && k < count; ++k) {
        PyObject *number = PyLong_FromLong(numbers[k]);
        if (!number || PyList_Append(list, number) != 0) Py_CLEAR(list);
        Py_XDECREF(number);
    }
    return list;
}

#define LIST(name, count, ...)                                         \
    static PyObject *name(const th_scene_view *view) {                 \
        PyObject *list = PyList_New(0);                                \
        for (int k = 0; list && k < view->count; ++k) {                \
            PyObject *one = Py_BuildValue(__VA_ARGS__);                \
            if (!one || PyList_Append(list, one) != 0) Py_CLEAR(list); \
            Py_XDECREF(one);                                           \
        }                                                              \
        return list;                                                   \
    }

LIST(levels, level_count, "{s:s,s:d,s:(dddd)}", "id", view->levels[k].id, "z",
     (double)view->levels[k].z, "box", (double)view->levels[k].box.min_x,
     (double)view->levels[k].box.min_y, (double)view->levels[k].box.max_x,
     (double)view->levels[k].box.max_y)
LIST(doors, door_count, "{s:s,s:i,s:((dd)(dd))}", "id", view->doors[k].id, "level",
     view->doors[k].line.level, "line", (double)view->doors[k].line.a.x,
     (double)view->doors[k].line.a.y, (double)view->doors[k].line.b.x,
     (double)view->doors[k].line.b.y)
LIST(goals, goal_count, "{s:s,s:s,s:i}", "id", view->goals[k].id, "kind",
     goal_kind(view->goals[k].kind), "level",
     view->goals[k].is_line ? view->goals[k].line.level : view->goals[k].area.level)
LIST(targets, target_count, "N", number_list(view->targets[k].goals, view->targets[k].goal_count))
LIST(groups, group_count, "{s:s,s:i,s:L,s:s,s:s,s:s,s:i}", "id", view->groups[k].id, "level",
     view->groups[k].level, "count", (long long)view->groups[k].count, "plan",
     th_models(NULL)[view->groups[k].plan.model]->name, "filter",
     th_models(NULL)[view->groups[k].filter.model]->name, "move",
     th_models(NULL)[view->groups[k].move.model]->name, "own_goal", view->groups[k].own_goal)
LIST(lines, measure_line_count, "{s:s,s:i}", "id", view->measure_lines[k].id, "level",
     view->measure_lines[k].line.level)
LIST(areas, measure_area_count, "{s:s,s:i,s:d}", "id", view->measure_areas[k].id, "level",
     view->measure_areas[k].area.level, "area", view->measure_areas[k].walkable_area)

static PyObject *view(PyObject *self, PyObject *none) {
    (void)none;
    const th_scene_view *v = th_scene_view_of(scene_of(self));
    return Py_BuildValue(
        "{s:s,s:s,s:(dd),s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:{s:d,s:d,s:d,s:K,s:i},s:{s:s,s:d}}", "name",
        v->name, "description", v->description, "origin", v->origin.x, v->origin.y, "levels",
        levels(v), "doors", doors(v), "goals", goals(v), "targets", targets(v), "groups", groups(v),
        "lines", lines(v), "areas", areas(v), "run", "step", v->run.step, "duration",
        v->run.duration, "max_time", v->run.max_time, "seed", (unsigned long long)v->run.seed,
        "runs", v->run.runs, "record", "format", v->record.format, "fps", v->record.fps);
}

static PyObject *wkt(PyObject *self, PyObject *argument) {
    long level = PyLong_AsLong(argument);
    if (level == -1 && PyErr_Occurred()) return NULL;
    if (level < 0 || level >= th_scene_view_of(scene_of(self))->level_count)
        return PyErr_Format(PyExc_IndexError, "there is no level %ld", level);
    char *text = th_scene_level_wkt(scene_of(self), (int)level);
    PyObject *result = text ? PyUnicode_FromString(text) : PyErr_NoMemory();
    th_free(text);
    return result;
}

// walkable(level, points, count, result): a byte each. distance: a float each.
static PyObject *walkable(PyObject *self, PyObject *arguments) {
    int level, count;
    unsigned long long points, result;
    if (!PyArg_ParseTuple(arguments, "iKiK", &level, &points, &count, &result)) return NULL;
    const th_vec2 *p = core_pointer(points);
    for (int k = 0; k < count; ++k)
        ((unsigned char *)core_pointer(result))[k] = th_scene_walkable(scene_of(self), level, p[k]);
    Py_RETURN_NONE;
}

static PyObject *distance(PyObject *self, PyObject *arguments) {
    int level, count;
    unsigned long long points, result;
    if (!PyArg_ParseTuple(arguments, "iKiK", &level, &points, &count, &result)) return NULL;
    const th_vec2 *p = core_pointer(points);
    for (int k = 0; k < count; ++k)
        ((float *)core_pointer(result))[k] = th_scene_distance(scene_of(self), level, p[k]);
    Py_RETURN_NONE;
}

static PyObject *findings(PyObject *self, PyObject *none) {
    (void)none;
    th_findings *found = NULL;
    th_error error = {0};
    th_result result = th_scene_findings(scene_of(self), &found, &error);
    return core_findings(result, found, &error);
}

static PyMethodDef methods[] = {
    {"view", view, METH_NOARGS, NULL},          {"wkt", wkt, METH_O, NULL},
    {"walkable", walkable, METH_VARARGS, NULL}, {"distance", distance, METH_VARARGS, NULL},
    {"findings", findings, METH_NOARGS, NULL},  {NULL, NULL, 0, NULL},
};
static PyType_Slot slots[] = {
    {Py_tp_new, (void *)create},
    {Py_tp_dealloc, (void *)destroy},
    {Py_tp_methods, methods},
    {0, NULL},
};
static PyType_Spec spec = {"throng._core.Scene", sizeof(SceneObject), 0, Py_TPFLAGS_DEFAULT, slots};

// overridden(path, overrides): the JSON text of a scene file.
static PyObject *overridden(PyObject *module, PyObject *arguments) {
    (void)module;
    const char *path;
    PyObject *overrides;
    int count;
    if (!PyArg_ParseTuple(arguments, "yO!", &path, &PyList_Type, &overrides)) return NULL;
    const char **sets = core_texts(overrides, &count);
    if (!sets) return NULL;
    th_scene_options options = th_scene_options_default();
    options.overrides = sets;
    options.override_count = count;
    char *json = NULL;
    th_error error = {0};
    th_result result = th_scene_overridden_json(path, &options, &json, &error);
    free(sets);
    if (result != TH_OK) return core_fail(&error);
    PyObject *text = PyUnicode_FromString(json);
    th_free(json);
    return text;
}

static PyMethodDef functions[] = {{"overridden", overridden, METH_VARARGS, NULL},
                                  {NULL, NULL, 0, NULL}};

bool core_add_scene(PyObject *module) {
    scene_type = core_add_type(module, "Scene", &spec);
    return scene_type && PyModule_AddFunctions(module, functions) == 0;
}
