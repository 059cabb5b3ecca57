// Runs of a scene over seeds and values. SPDX-License-Identifier: Apache-2.0
#include "core.h"
#include <stdlib.h>
#include <throng/run.h>

typedef struct RunsObject {
    PyObject_HEAD th_runs *runs;
    PyObject *watch; // called with (moment, done, count, time, end_time, text); NULL: none
    bool raised;     // by `watch`
} RunsObject;

// In the thread that called execute, which has given up the interpreter's lock.
static bool watch(const th_runs_progress *p, void *context) {
    static const char *const moments[] = {
#define X(name, when) #name,
        TH_RUNS_MOMENTS(X)
#undef X
    };
    RunsObject *self = context;
    PyGILState_STATE state = PyGILState_Ensure();
    bool good = !self->raised && PyErr_CheckSignals() == 0;
    if (good && self->watch) {
        PyObject *answer =
            PyObject_CallFunction(self->watch, "siidds", moments[p->moment], p->done, p->count,
                                  p->time, p->end_time, p->text ? p->text : "");
        good = answer != NULL;
        Py_XDECREF(answer);
    }
    if (!good && !self->raised) {
        self->raised = true;
        core_keep_exception(NULL);
    }
    PyGILState_Release(state);
    return good;
}

// Runs(scene, sets, vary, settings, watch): settings is a dictionary with whole numbers, reals and UTF-8 bytes.
typedef struct settings {
    unsigned long long seed;
    int runs, force, no_report, jobs, threads, sweep;
    double until_ci, step, max_time, fps, checkpoint;
    const char *out, *record;
} settings;

static PyObject *create(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    const char *scene;
    PyObject *sets, *vary, *watcher;
    settings s;
    (void)keywords;
    if (!PyArg_ParseTuple(arguments, "yO!O!(KiddddpppiidyyO)", &scene, &PyList_Type, &sets,
                          &PyList_Type, &vary, &s.seed, &s.runs, &s.until_ci, &s.step, &s.max_time,
                          &s.fps, &s.force, &s.no_report, &s.sweep, &s.jobs, &s.threads,
                          &s.checkpoint, &s.out, &s.record, &watcher))
        return NULL;
    RunsObject *self = core_allocate(type);
    if (!self) return NULL;
    th_runs_def def = th_runs_def_default();
    def.scene = scene;
    def.sets = core_texts(sets, &def.set_count);
    def.vary = def.sets ? core_texts(vary, &def.vary_count) : NULL;
    th_error error = {0};
    th_result result = TH_NO_MEMORY;
    if (def.vary) {
        def.sweep = s.sweep;
        def.seed = s.seed;
        def.runs = s.runs;
        def.until_ci = s.until_ci;
        def.step = s.step;
        def.max_time = s.max_time;
        def.fps = s.fps;
        def.force = s.force;
        def.no_report = s.no_report;
        def.jobs = s.jobs;
        def.threads = s.threads;
        def.checkpoint = s.checkpoint;
        def.out = s.out[0] ? s.out : NULL;
        def.record = s.record[0] ? s.record : NULL;
        def.watch = watch;
        def.context = self;
        def.command_line = "throng.run (Python)";
        if (watcher != Py_None) {
            Py_INCREF(watcher);
            self->watch = watcher;
        }
        Py_BEGIN_ALLOW_THREADS result = th_runs_create(&def, &self->runs, &error);
        Py_END_ALLOW_THREADS if (result != TH_OK) core_fail(&error);
    }
    free((void *)(uintptr_t)def.sets);
    free((void *)(uintptr_t)def.vary);
    if (result == TH_OK) return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

static void destroy(PyObject *object) {
    RunsObject *self = (RunsObject *)object;
    th_runs_destroy(self->runs);
    Py_XDECREF(self->watch);
    core_free(object);
}

static PyObject *execute(PyObject *object, PyObject *none) {
    (void)none;
    RunsObject *self = (RunsObject *)object;
    th_error error = {0};
    th_result result;
    Py_BEGIN_ALLOW_THREADS result = th_runs_execute(self->runs, &error);
    Py_END_ALLOW_THREADS if (core_raise_kept(NULL)) return NULL;
    if (result != TH_OK) return core_fail(&error);
    Py_RETURN_NONE;
}

static PyObject *outcomes(PyObject *object, PyObject *none) {
    (void)none;
    int count;
    const th_run_outcome *o = th_runs_outcomes(((RunsObject *)object)->runs, &count);
    PyObject *list = PyList_New(0);
    for (int k = 0; list && k < count; ++k, ++o) {
        PyObject *one = Py_BuildValue("(iKKddddddddKKKKKi)", o->point, (unsigned long long)o->seed,
                                      (unsigned long long)o->hash, o->egress_time, o->p95_time,
                                      o->flow, o->mean_jam_time, o->max_density, o->largest_overlap,
                                      o->time, o->wall_seconds, (unsigned long long)o->spawned,
                                      (unsigned long long)o->left, (unsigned long long)o->inside,
                                      (unsigned long long)o->fallen, (unsigned long long)o->lying,
                                      (int)o->interrupted);
        if (!one || PyList_Append(list, one) != 0) Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

static PyObject *text_list(const char *const *texts, int count) {
    PyObject *list = PyList_New(0);
    for (int k = 0; list && k < count; ++k) {
        PyObject *one = PyUnicode_FromString(texts[k]);
        if (!one || PyList_Append(list, one) != 0) Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

static PyObject *points(PyObject *object, PyObject *none) {
    (void)none;
    const th_runs *runs = ((RunsObject *)object)->runs;
    int count, paths = th_runs_about(runs)->path_count;
    const th_runs_point *p = th_runs_points(runs, &count);
    PyObject *list = PyList_New(0);
    for (int k = 0; list && k < count; ++k, ++p) {
        PyObject *one = Py_BuildValue(
            "(Nii{s:i,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d})", text_list(p->values, paths), p->first,
            p->count, "count", p->egress.count, "mean", p->egress.mean, "median", p->egress.median,
            "p05", p->egress.p05, "p95", p->egress.p95, "min", p->egress.min, "max", p->egress.max,
            "ci_low", p->egress.ci_low, "ci_high", p->egress.ci_high);
        if (!one || PyList_Append(list, one) != 0) Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

static PyObject *about(PyObject *object, PyObject *none) {
    (void)none;
    static const char *const states[] = {"prepared", "running", "interrupted", "finished",
                                         "failed"};
    const th_runs_info *info = th_runs_about(((RunsObject *)object)->runs);
    return Py_BuildValue("{s:s,s:s,s:s,s:s,s:i,s:N}", "name", info->scene_name, "folder",
                         info->folder, "page", info->page, "state", states[info->state], "runs",
                         info->runs, "paths", text_list(info->paths, info->path_count));
}

static PyObject *take_text(char *text) {
    PyObject *result;
    if (text) {
        result = PyUnicode_FromString(text);
    } else {
        Py_INCREF(Py_None);
        result = Py_None;
    }
    th_free(text);
    return result;
}

static PyObject *text(PyObject *object, PyObject *argument) {
    long point = PyLong_AsLong(argument);
    if (point == -1 && PyErr_Occurred()) return NULL;
    return take_text(th_runs_text(((RunsObject *)object)->runs, (int)point));
}

static PyObject *json(PyObject *object, PyObject *none) {
    (void)none;
    return take_text(th_runs_json(((RunsObject *)object)->runs));
}

static PyMethodDef methods[] = {
    {"execute", execute, METH_NOARGS, NULL},
    {"outcomes", outcomes, METH_NOARGS, NULL},
    {"points", points, METH_NOARGS, NULL},
    {"about", about, METH_NOARGS, NULL},
    {"text", text, METH_O, NULL},
    {"json", json, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot slots[] = {
    {Py_tp_new, (void *)create},
    {Py_tp_dealloc, (void *)destroy},
    {Py_tp_methods, methods},
    {0, NULL},
};
static PyType_Spec spec = {"throng._core.Runs", sizeof(RunsObject), 0, Py_TPFLAGS_DEFAULT, slots};

bool core_add_runs(PyObject *module) { return core_add_type(module, "Runs", &spec) != NULL; }
