// Many small worlds of one scene, stepped side by side: actions in, step, observations out, all in one pass over the
// worlds while each is in the cache. An agent's slot in the arrays is its id less one, so nothing is sorted; agents
// beyond the slots are not seen. SPDX-License-Identifier: Apache-2.0
#include "core.h"
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS_MOST = 32, ACTIONS = 2 };

typedef struct VectorObject {
    PyObject_HEAD PyObject *scene;
    int count, slots, threads, field_count;
    th_world_def def;
    th_world **worlds;
    char **starts; // a snapshot of each before its first step
    size_t *sizes;
    int fields[FIELDS_MOST]; // of an observation
    bool is_float[FIELDS_MOST];
    int action_fields[ACTIONS][3]; // of the models "action", -1: no group has it
    bool busy;
    // The arrays, which the package keeps alive as long as this object.
    float *observations, *actions; // [count][slots][field_count], [count][slots][2]
    unsigned char *present;        // [count][slots]
    unsigned char *done;           // [count]
    double *times;                 // [count]
} VectorObject;

static VectorObject *vector_of(PyObject *object) {
    VectorObject *self = (VectorObject *)object;
    if (!self->busy) return self;
    PyErr_SetString(PyExc_RuntimeError, "the worlds are stepping");
    return NULL;
}

// ---- life

static th_result make_world(VectorObject *self, int k, uint64_t seed, th_error *error) {
    th_world_def def = self->def;
    th_world *world = NULL;
    def.seed = seed;
    th_result result = th_world_create(((SceneObject *)self->scene)->scene, &def, &world, error);
    if (result != TH_OK) return result;
    size_t size = th_world_snapshot_size(world);
    char *start = size == self->sizes[k] ? self->starts[k] : realloc(self->starts[k], size);
    if (start) {
        self->starts[k] = start;
        self->sizes[k] = size;
        result = th_world_snapshot(world, start, size, error);
    } else {
        result = TH_NO_MEMORY;
        snprintf(error->message, sizeof error->message, "no memory for the start of world %d", k);
    }
    th_world_destroy(self->worlds[k]);
    self->worlds[k] = world;
    return result;
}

// Makes the worlds of the mask (NULL: all) with the seeds.
static th_result make_worlds(VectorObject *self, const unsigned char *mask, const uint64_t *seeds,
                             th_error *error) {
    th_result result = TH_OK;
#pragma omp parallel for schedule(dynamic, 4) num_threads(self->threads)
    for (int k = 0; k < self->count; ++k) {
        if (mask && !mask[k]) continue;
        th_error own = {0};
        th_result one = make_world(self, k, seeds[k], &own);
        if (one == TH_OK) continue;
#pragma omp critical(vector_failed)
        {
            result = one;
            *error = own;
            error->code = one;
        }
    }
    return result;
}

static void find_actions(VectorObject *self) {
    static const char *const names[ACTIONS][3] = {
        {"filter/action.x", "filter/action.y", "filter/action.given"},
        {"move/action.x", "move/action.y", "move/action.given"}};
    for (int a = 0; a < ACTIONS; ++a)
        for (int f = 0; f < 3; ++f)
            self->action_fields[a][f] = th_world_field(self->worlds[0], names[a][f]);
}

static bool find_fields(VectorObject *self, PyObject *names) {
    self->field_count = (int)PyList_Size(names);
    if (self->field_count > FIELDS_MOST) {
        PyErr_Format(PyExc_ValueError, "an observation has at most %d fields", FIELDS_MOST);
        return false;
    }
    for (int k = 0; k < self->field_count; ++k) {
        const char *name;
        int is_float;
        if (!PyArg_ParseTuple(PyList_GetItem(names, k), "sp", &name, &is_float)) return false;
        self->is_float[k] = is_float;
        self->fields[k] = th_world_field(self->worlds[0], name);
        if (self->fields[k] >= 0) continue;
        PyErr_Format(PyExc_ValueError, "these worlds have no field \"%s\"", name);
        return false;
    }
    return true;
}

// Vector(scene, count, slots, threads, step, max_agents, seeds)
static PyObject *create(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    PyObject *scene;
    int count, slots, threads, max_agents;
    double step;
    unsigned long long seeds;
    (void)keywords;
    if (!PyArg_ParseTuple(arguments, "O!iiidiK", scene_type, &scene, &count, &slots, &threads,
                          &step, &max_agents, &seeds))
        return NULL;
    VectorObject *self = core_allocate(type);
    if (!self) return NULL;
    Py_INCREF(scene);
    self->scene = scene;
    self->count = count;
    self->slots = slots;
    self->threads = threads > 0 ? threads : omp_get_num_procs();
    self->def = th_world_def_default();
    self->def.threads = 1;
    self->def.step = step;
    self->def.max_agents = max_agents;
    self->worlds = calloc((size_t)count, sizeof(th_world *));
    self->starts = calloc((size_t)count, sizeof(char *));
    self->sizes = calloc((size_t)count, sizeof *self->sizes);
    th_error error = {0};
    th_result result = TH_NO_MEMORY;
    bool memory = self->worlds && self->starts && self->sizes;
    if (memory) {
        Py_BEGIN_ALLOW_THREADS result = make_worlds(self, NULL, core_pointer(seeds), &error);
        Py_END_ALLOW_THREADS
    }
    if (result == TH_OK) {
        find_actions(self);
        return (PyObject *)self;
    }
    if (memory)
        core_fail(&error);
    else
        PyErr_NoMemory();
    Py_DECREF(self);
    return NULL;
}

static void destroy(PyObject *object) {
    VectorObject *self = (VectorObject *)object;
    for (int k = 0; k < self->count; ++k) {
        if (self->worlds) th_world_destroy(self->worlds[k]);
        if (self->starts) free(self->starts[k]);
    }
    free(self->worlds);
    free(self->starts);
    free(self->sizes);
    Py_XDECREF(self->scene);
    core_free(object);
}

// bind(fields, observations, present, actions or 0, done, times)
static PyObject *bind(PyObject *object, PyObject *arguments) {
    PyObject *names;
    unsigned long long a[5];
    VectorObject *self = vector_of(object);
    if (!self || !PyArg_ParseTuple(arguments, "O!KKKKK", &PyList_Type, &names, &a[0], &a[1], &a[2],
                                   &a[3], &a[4]))
        return NULL;
    if (!find_fields(self, names)) return NULL;
    self->observations = core_pointer(a[0]);
    self->present = core_pointer(a[1]);
    self->actions = core_pointer(a[2]);
    self->done = core_pointer(a[3]);
    self->times = core_pointer(a[4]);
    return PyBool_FromLong(self->action_fields[0][0] >= 0 || self->action_fields[1][0] >= 0);
}

// ---- a step

// The program owns the world and nothing runs: it may write where it may look.
static void *field_of(th_world *world, int field) {
    int count;
    return (void *)(uintptr_t)th_world_stored(world, field, &count);
}

static void hand_in(const VectorObject *self, int k, int model) {
    const int *fields = self->action_fields[model];
    if (!self->actions || fields[0] < 0) return;
    th_world *world = self->worlds[k];
    int count;
    const uint32_t *id = th_world_stored(world, TH_FIELD_ID, &count);
    float *x = field_of(world, fields[0]), *y = field_of(world, fields[1]);
    uint32_t *given = field_of(world, fields[2]);
    const float *actions = self->actions + 2 * (size_t)k * (size_t)self->slots;
    for (int i = 0; i < count; ++i) {
        uint32_t slot = id[i] - 1;
        bool finite = slot < (uint32_t)self->slots && isfinite(actions[2 * slot]) &&
                      isfinite(actions[2 * slot + 1]);
        given[i] = finite;
        x[i] = finite ? actions[2 * slot] : 0.0f;
        y[i] = finite ? actions[2 * slot + 1] : 0.0f;
    }
}

static void observe(const VectorObject *self, int k) {
    th_world *world = self->worlds[k];
    size_t slots = (size_t)self->slots, fields = (size_t)self->field_count;
    float *to = self->observations + (size_t)k * slots * fields;
    unsigned char *present = self->present + (size_t)k * slots;
    const uint32_t *from[FIELDS_MOST];
    int count;
    const uint32_t *id = th_world_stored(world, TH_FIELD_ID, &count);
    const uint32_t *phase = th_world_stored(world, TH_FIELD_PHASE, &count);
    for (size_t f = 0; f < fields; ++f) from[f] = th_world_stored(world, self->fields[f], &count);
    memset(to, 0, slots * fields * sizeof *to);
    memset(present, 0, slots);
    for (int i = 0; i < count; ++i) {
        uint32_t slot = id[i] - 1;
        if (slot >= slots || phase[i] >= TH_PHASE_LEFT) continue;
        present[slot] = 1;
        for (size_t f = 0; f < fields; ++f) {
            float value = (float)from[f][i];
            if (self->is_float[f]) memcpy(&value, &from[f][i], sizeof value);
            to[slot * fields + f] = value;
        }
    }
    self->done[k] = th_world_done(world);
    self->times[k] = th_world_time(world);
}

static PyObject *step(PyObject *object, PyObject *argument) {
    VectorObject *self = vector_of(object);
    long steps = self ? PyLong_AsLong(argument) : -1;
    if (!self || (steps == -1 && PyErr_Occurred())) return NULL;
    self->busy = true;
    Py_BEGIN_ALLOW_THREADS
#pragma omp parallel for schedule(dynamic, 4) num_threads(self->threads)
        for (int k = 0; k < self->count; ++k) {
        for (int model = 0; steps > 0 && model < ACTIONS; ++model) hand_in(self, k, model);
        if (steps > 0) th_world_step(self->worlds[k], (int)steps);
        observe(self, k);
    }
    Py_END_ALLOW_THREADS self->busy = false;
    if (core_raise_kept(NULL)) return NULL;
    Py_RETURN_NONE;
}

// reset(mask, seeds or 0): to the start; with seeds, worlds of these seeds.
static PyObject *reset(PyObject *object, PyObject *arguments) {
    unsigned long long mask_address, seeds;
    VectorObject *self = vector_of(object);
    if (!self || !PyArg_ParseTuple(arguments, "KK", &mask_address, &seeds)) return NULL;
    const unsigned char *mask = core_pointer(mask_address);
    th_error error = {0};
    th_result result = TH_OK;
    self->busy = true;
    Py_BEGIN_ALLOW_THREADS if (seeds) result = make_worlds(self, mask, core_pointer(seeds), &error);
#pragma omp parallel for schedule(dynamic, 4) num_threads(self->threads)
    for (int k = 0; k < self->count; ++k) {
        if (!mask[k]) continue;
        if (!seeds) th_world_restore(self->worlds[k], self->starts[k], self->sizes[k], NULL);
        if (self->worlds[k]) observe(self, k);
    }
    Py_END_ALLOW_THREADS self->busy = false;
    if (result != TH_OK) return core_fail(&error);
    Py_RETURN_NONE;
}

// hashes(to)
static PyObject *hashes(PyObject *object, PyObject *arguments) {
    unsigned long long to;
    VectorObject *self = vector_of(object);
    if (!self || !PyArg_ParseTuple(arguments, "K", &to)) return NULL;
    for (int k = 0; k < self->count; ++k)
        ((uint64_t *)core_pointer(to))[k] = th_world_hash(self->worlds[k]);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"bind", bind, METH_VARARGS, NULL},
    {"step", step, METH_O, NULL},
    {"reset", reset, METH_VARARGS, NULL},
    {"hashes", hashes, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot slots[] = {
    {Py_tp_new, (void *)create},
    {Py_tp_dealloc, (void *)destroy},
    {Py_tp_methods, methods},
    {0, NULL},
};
static PyType_Spec spec = {"throng._core.Vector", sizeof(VectorObject), 0, Py_TPFLAGS_DEFAULT,
                           slots};

bool core_add_vector(PyObject *module) { return core_add_type(module, "Vector", &spec) != NULL; }
