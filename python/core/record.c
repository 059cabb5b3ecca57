// Recordings and findings: reading whole trajectories into arrays, recording and watching a world. SPDX-License-Identifier: Apache-2.0
#include "core.h"
#include <math.h>
#include <throng/record.h>

// ---- a trajectory

typedef struct TrajectoryObject {
    PyObject_HEAD th_trajectory *trajectory;
} TrajectoryObject;

static PyObject *open_trajectory(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    const char *path;
    th_trajectory_assumed assumed;
    th_trajectory *trajectory = NULL;
    th_error error = {0};
    th_result result;
    (void)keywords;
    if (!PyArg_ParseTuple(arguments, "ydd", &path, &assumed.fps, &assumed.unit)) return NULL;
    Py_BEGIN_ALLOW_THREADS result = th_trajectory_open_assuming(path, assumed, &trajectory, &error);
    Py_END_ALLOW_THREADS if (result != TH_OK) return core_fail(&error);
    TrajectoryObject *self = core_allocate(type);
    if (self)
        self->trajectory = trajectory;
    else
        th_trajectory_close(trajectory);
    return (PyObject *)self;
}

static void close_trajectory(PyObject *object) {
    th_trajectory_close(((TrajectoryObject *)object)->trajectory);
    core_free(object);
}

static PyObject *about(PyObject *object, PyObject *none) {
    (void)none;
    const th_trajectory_info *info = th_trajectory_about(((TrajectoryObject *)object)->trajectory);
    PyObject *levels = PyList_New(0), *notes = PyDict_New();
    for (int k = 0; levels && k < info->level_count; ++k) {
        const th_trajectory_level *level = &info->levels[k];
        PyObject *one =
            Py_BuildValue("{s:s,s:d,s:z}", "id", level->id, "z", level->z, "wkt", level->wkt);
        if (!one || PyList_Append(levels, one) != 0) Py_CLEAR(levels);
        Py_XDECREF(one);
    }
    for (int k = 0; notes && k < info->note_count; ++k)
        if (!core_put(notes, info->notes[k].key, PyUnicode_FromString(info->notes[k].value)))
            Py_CLEAR(notes);
    if (!levels || !notes) {
        Py_XDECREF(levels);
        Py_XDECREF(notes);
        return NULL;
    }
    return Py_BuildValue("{s:s,s:d,s:L,s:L,s:L,s:L,s:L,s:N,s:N}", "format",
                         th_trajectory_format_name(info->format), "fps", info->fps, "frames",
                         (long long)info->frame_count, "first_frame", (long long)info->first_frame,
                         "last_frame", (long long)info->last_frame, "rows",
                         (long long)info->row_count, "people", (long long)info->agent_count,
                         "levels", levels, "notes", notes);
}

// Arrays of as many rows as there are.
typedef struct columns {
    int64_t *frame, *id;
    double *x, *y, *velocity_x, *velocity_y;
    int32_t *level;
} columns;

static void take_row(const columns *to, int64_t row, const th_moment *m, int i) {
    to->frame[row] = m->number;
    to->id[row] = m->id[i];
    to->x[row] = m->x[i] + (m->has_origin ? m->origin.x : 0.0);
    to->y[row] = m->y[i] + (m->has_origin ? m->origin.y : 0.0);
    to->velocity_x[row] = m->velocity_x ? m->velocity_x[i] : NAN;
    to->velocity_y[row] = m->velocity_y ? m->velocity_y[i] : NAN;
    to->level[row] = m->level ? m->level[i] : 0;
}

static th_result take_all(th_trajectory *from, const columns *to, int64_t most, int64_t *rows,
                          th_error *error) {
    th_moment moment;
    th_trajectory_rewind(from);
    for (;;) {
        th_result result = th_trajectory_next(from, &moment, error);
        if (result != TH_OK || moment.count < 0) return result;
        for (int i = 0; i < moment.count && *rows < most; ++i) take_row(to, (*rows)++, &moment, i);
    }
}

// read(frame, id, x, y, velocity_x, velocity_y, level, rows): how many rows were filled.
static PyObject *read_all(PyObject *object, PyObject *arguments) {
    unsigned long long a[7];
    long long most;
    int64_t rows = 0;
    th_error error = {0};
    th_result result;
    if (!PyArg_ParseTuple(arguments, "KKKKKKKL", &a[0], &a[1], &a[2], &a[3], &a[4], &a[5], &a[6],
                          &most))
        return NULL;
    const columns to = {core_pointer(a[0]), core_pointer(a[1]), core_pointer(a[2]),
                        core_pointer(a[3]), core_pointer(a[4]), core_pointer(a[5]),
                        core_pointer(a[6])};
    th_trajectory *trajectory = ((TrajectoryObject *)object)->trajectory;
    Py_BEGIN_ALLOW_THREADS result = take_all(trajectory, &to, most, &rows, &error);
    Py_END_ALLOW_THREADS if (result != TH_OK) return core_fail(&error);
    return PyLong_FromLongLong(rows);
}

static PyMethodDef trajectory_methods[] = {
    {"about", about, METH_NOARGS, NULL},
    {"read", read_all, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot trajectory_slots[] = {
    {Py_tp_new, (void *)open_trajectory},
    {Py_tp_dealloc, (void *)close_trajectory},
    {Py_tp_methods, trajectory_methods},
    {0, NULL},
};
static PyType_Spec trajectory_spec = {"throng._core.Trajectory", sizeof(TrajectoryObject), 0,
                                      Py_TPFLAGS_DEFAULT, trajectory_slots};

// convert(from, to, format)
static PyObject *convert(PyObject *module, PyObject *arguments) {
    (void)module;
    const char *from, *to, *name;
    th_error error = {0};
    th_result result;
    if (!PyArg_ParseTuple(arguments, "yys", &from, &to, &name)) return NULL;
    int format = 0;
    while (format < TH_TRAJECTORY_FORMAT_COUNT &&
           strcmp(name, th_trajectory_format_name((th_trajectory_format)format)) != 0)
        ++format;
    if (format == TH_TRAJECTORY_FORMAT_COUNT)
        return PyErr_Format(PyExc_ValueError, "there is no format \"%s\"", name);
    Py_BEGIN_ALLOW_THREADS result =
        th_trajectory_convert(from, to, (th_trajectory_format)format, NULL, NULL, &error);
    Py_END_ALLOW_THREADS if (result != TH_OK) return core_fail(&error);
    Py_RETURN_NONE;
}

// ---- a recorder

typedef struct RecorderObject {
    PyObject_HEAD th_recorder *recorder;
    PyObject *world;
} RecorderObject;

// Recorder(world, path, format, fps)
static PyObject *open_recorder(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    PyObject *object;
    const char *path, *name;
    th_recorder_def def = th_recorder_def_default();
    th_error error = {0};
    (void)keywords;
    if (!PyArg_ParseTuple(arguments, "O!ysd", world_type, &object, &path, &name, &def.fps))
        return NULL;
    th_world *world = core_world(object);
    if (!world) return NULL;
    int format = 0;
    while (format < TH_TRAJECTORY_FORMAT_COUNT &&
           strcmp(name, th_trajectory_format_name((th_trajectory_format)format)) != 0)
        ++format;
    def.format = (th_trajectory_format)format;
    def.path = path;
    th_recorder *recorder = NULL;
    if (th_recorder_create(world, &def, &recorder, &error) != TH_OK) return core_fail(&error);
    RecorderObject *self = core_allocate(type);
    if (!self) {
        th_recorder_close(recorder, NULL, NULL);
        return NULL;
    }
    self->recorder = recorder;
    self->world = object;
    Py_INCREF(object);
    return (PyObject *)self;
}

static void drop_recorder(PyObject *object) {
    RecorderObject *self = (RecorderObject *)object;
    th_recorder_close(self->recorder, NULL, NULL);
    Py_XDECREF(self->world);
    core_free(object);
}

static PyObject *see(PyObject *object, PyObject *none) {
    (void)none;
    RecorderObject *self = (RecorderObject *)object;
    th_world *world = core_world(self->world);
    th_error error = {0};
    if (!world) return NULL;
    if (!self->recorder) return PyErr_Format(PyExc_ValueError, "the recording is closed");
    if (th_recorder_see(self->recorder, world, &error) != TH_OK) return core_fail(&error);
    Py_RETURN_NONE;
}

static PyObject *finish(PyObject *object, PyObject *none) {
    (void)none;
    RecorderObject *self = (RecorderObject *)object;
    th_recorder *recorder = self->recorder;
    th_recorder_totals totals;
    th_error error = {0};
    th_result result;
    self->recorder = NULL;
    Py_BEGIN_ALLOW_THREADS result = th_recorder_close(recorder, &totals, &error);
    Py_END_ALLOW_THREADS if (result != TH_OK) return core_fail(&error);
    return Py_BuildValue("{s:K,s:K,s:K}", "frames", (unsigned long long)totals.frames, "rows",
                         (unsigned long long)totals.rows, "bytes",
                         (unsigned long long)totals.bytes);
}

static PyMethodDef recorder_methods[] = {
    {"see", see, METH_NOARGS, NULL},
    {"close", finish, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot recorder_slots[] = {
    {Py_tp_new, (void *)open_recorder},
    {Py_tp_dealloc, (void *)drop_recorder},
    {Py_tp_methods, recorder_methods},
    {0, NULL},
};
static PyType_Spec recorder_spec = {"throng._core.Recorder", sizeof(RecorderObject), 0,
                                    Py_TPFLAGS_DEFAULT, recorder_slots};

// ---- findings

PyObject *core_findings(th_result result, th_findings *found, const th_error *error) {
    if (result != TH_OK) return core_fail(error);
    char *json = th_findings_json(found);
    PyObject *text = json ? PyUnicode_FromString(json) : PyErr_NoMemory();
    th_free(json);
    th_findings_destroy(found);
    return text;
}

// recording_findings(path, WKT of the walkable area or None)
static PyObject *recording_findings(PyObject *module, PyObject *arguments) {
    (void)module;
    const char *path, *walkable;
    th_findings *found = NULL;
    th_error error = {0};
    th_result result;
    if (!PyArg_ParseTuple(arguments, "yz", &path, &walkable)) return NULL;
    Py_BEGIN_ALLOW_THREADS result = th_recording_findings(path, walkable, &found, &error);
    Py_END_ALLOW_THREADS return core_findings(result, found, &error);
}

typedef struct WatchObject {
    PyObject_HEAD th_watch *watch;
    PyObject *world;
} WatchObject;

// Watch(world)
static PyObject *open_watch(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    PyObject *object;
    th_watch *watch = NULL;
    th_error error = {0};
    (void)keywords;
    if (!PyArg_ParseTuple(arguments, "O!", world_type, &object)) return NULL;
    th_world *world = core_world(object);
    if (!world) return NULL;
    if (th_watch_create(world, &watch, &error) != TH_OK) return core_fail(&error);
    WatchObject *self = core_allocate(type);
    if (!self) {
        th_watch_destroy(watch);
        return NULL;
    }
    self->watch = watch;
    self->world = object;
    Py_INCREF(object);
    return (PyObject *)self;
}

static void drop_watch(PyObject *object) {
    WatchObject *self = (WatchObject *)object;
    th_watch_destroy(self->watch);
    Py_XDECREF(self->world);
    core_free(object);
}

static PyObject *watch_see(PyObject *object, PyObject *none) {
    (void)none;
    WatchObject *self = (WatchObject *)object;
    th_world *world = core_world(self->world);
    th_error error = {0};
    if (!world) return NULL;
    if (th_watch_see(self->watch, world, &error) != TH_OK) return core_fail(&error);
    Py_RETURN_NONE;
}

static PyObject *watch_findings(PyObject *object, PyObject *none) {
    (void)none;
    th_findings *found = NULL;
    th_error error = {0};
    th_result result = th_watch_findings(((WatchObject *)object)->watch, &found, &error);
    return core_findings(result, found, &error);
}

static PyMethodDef watch_methods[] = {
    {"see", watch_see, METH_NOARGS, NULL},
    {"findings", watch_findings, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot watch_slots[] = {
    {Py_tp_new, (void *)open_watch},
    {Py_tp_dealloc, (void *)drop_watch},
    {Py_tp_methods, watch_methods},
    {0, NULL},
};
static PyType_Spec watch_spec = {"throng._core.Watch", sizeof(WatchObject), 0, Py_TPFLAGS_DEFAULT,
                                 watch_slots};
static PyMethodDef functions[] = {{"convert", convert, METH_VARARGS, NULL},
                                  {"recording_findings", recording_findings, METH_VARARGS, NULL},
                                  {NULL, NULL, 0, NULL}};

bool core_add_record(PyObject *module) {
    return core_add_type(module, "Trajectory", &trajectory_spec) &&
           core_add_type(module, "Recorder", &recorder_spec) &&
           core_add_type(module, "Watch", &watch_spec) &&
           PyModule_AddFunctions(module, functions) == 0;
}
