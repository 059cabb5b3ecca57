// Models written in Python, models by address, and the two models that take their velocities from an action array.
//
// A Python model is a function of all its people at once. The engine calls `begin` once a step; there the function gets a
// Crowd and its answer goes into two fields of the model's own, which `agent` then returns for each. What the function
// sees is in the order of the cells, which does not depend on the number of threads.
// SPDX-License-Identifier: Apache-2.0
#include "core.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWER_X, ANSWER_Y, ANSWER_FIELDS };

typedef void velocity_fn(const th_agent *agent, float *velocity);
// By number of the model.
static PyObject *function_of[TH_MODEL_MAX];
static velocity_fn *address_of[TH_MODEL_MAX];

// ---- what a function sees: valid while it runs

typedef struct CrowdObject {
    PyObject_HEAD th_world *world; // NULL: the call is over
    int model, count, all;
    int *places; // of its people among all
} CrowdObject;
static PyTypeObject *crowd_type;

static CrowdObject *crowd_of(PyObject *object) {
    CrowdObject *self = (CrowdObject *)object;
    if (self->world) return self;
    PyErr_SetString(PyExc_RuntimeError, "the people of a model are there during its call only");
    return NULL;
}
#define CROWD(name)                       \
    CrowdObject *name = crowd_of(object); \
    if (!name) return NULL

static void drop_crowd(PyObject *object) {
    free(((CrowdObject *)object)->places);
    core_free(object);
}

// (people, all people, time, step, seed)
static PyObject *now(PyObject *object, PyObject *none) {
    (void)none;
    CROWD(self);
    return Py_BuildValue("(iiddK)", self->count, self->all, th_world_time(self->world),
                         th_world_step_length(self->world),
                         (unsigned long long)th_world_seed(self->world));
}

// gather(field, to, all): of its people; with all: of every agent, agents that have left included.
static PyObject *gather(PyObject *object, PyObject *arguments) {
    int number, all, count;
    unsigned long long to;
    if (!PyArg_ParseTuple(arguments, "iKp", &number, &to, &all)) return NULL;
    CROWD(self);
    const uint32_t *from = th_world_stored(self->world, number, &count);
    uint32_t *values = core_pointer(to);
    if (!from) return PyErr_Format(PyExc_ValueError, "there is no field %d", number);
    for (int k = 0; !all && k < self->count; ++k) values[k] = from[self->places[k]];
    if (all) memcpy(values, from, (size_t)count * sizeof *values);
    Py_RETURN_NONE;
}

// own(k, from or to, store): the model's k-th field that Python declared.
static PyObject *own(PyObject *object, PyObject *arguments) {
    int k, store;
    unsigned long long memory;
    if (!PyArg_ParseTuple(arguments, "iKp", &k, &memory, &store)) return NULL;
    CROWD(self);
    uint32_t *field = th_model_field(self->world, self->model, ANSWER_FIELDS + k);
    uint32_t *values = core_pointer(memory);
    if (!field) return PyErr_Format(PyExc_ValueError, "the model has no field %d", k);
    for (int i = 0; i < self->count; ++i)
        if (store)
            field[self->places[i]] = values[i];
        else
            values[i] = field[self->places[i]];
    Py_RETURN_NONE;
}

// param(k, to): of each of its people.
static PyObject *param(PyObject *object, PyObject *arguments) {
    int k, count;
    unsigned long long to;
    if (!PyArg_ParseTuple(arguments, "iK", &k, &to)) return NULL;
    CROWD(self);
    const uint32_t *group = th_world_stored(self->world, TH_FIELD_GROUP, &count);
    for (int i = 0; i < self->count; ++i)
        ((float *)core_pointer(to))[i] =
            th_model_params(self->world, self->model, (int)group[self->places[i]])[k];
    Py_RETURN_NONE;
}

// random(k, to): a number in 0 .. 1 for each of its people.
static PyObject *randoms(PyObject *object, PyObject *arguments) {
    unsigned k;
    int count;
    unsigned long long to;
    if (!PyArg_ParseTuple(arguments, "IK", &k, &to)) return NULL;
    CROWD(self);
    const uint32_t *id = th_world_stored(self->world, TH_FIELD_ID, &count);
    th_agent agent = {.seed = th_world_seed(self->world),
                      .step_count = th_world_step_count(self->world),
                      .world = self->world,
                      .model = self->model};
    for (int i = 0; i < self->count; ++i) {
        agent.id = id[self->places[i]];
        ((float *)core_pointer(to))[i] = th_agent_random(&agent, k);
    }
    Py_RETURN_NONE;
}

// places(to): of its people among all agents.
static PyObject *places(PyObject *object, PyObject *arguments) {
    unsigned long long to;
    if (!PyArg_ParseTuple(arguments, "K", &to)) return NULL;
    CROWD(self);
    memcpy(core_pointer(to), self->places, (size_t)self->count * sizeof *self->places);
    Py_RETURN_NONE;
}

// answer(velocities): pairs of floats.
static PyObject *answer(PyObject *object, PyObject *arguments) {
    unsigned long long from;
    if (!PyArg_ParseTuple(arguments, "K", &from)) return NULL;
    CROWD(self);
    const float *velocity = core_pointer(from);
    float *x = th_model_field(self->world, self->model, ANSWER_X);
    float *y = th_model_field(self->world, self->model, ANSWER_Y);
    for (int i = 0; i < self->count; ++i) {
        x[self->places[i]] = velocity[2 * i];
        y[self->places[i]] = velocity[2 * i + 1];
    }
    Py_RETURN_NONE;
}

static PyMethodDef crowd_methods[] = {
    {"now", now, METH_NOARGS, NULL},         {"gather", gather, METH_VARARGS, NULL},
    {"own", own, METH_VARARGS, NULL},        {"param", param, METH_VARARGS, NULL},
    {"random", randoms, METH_VARARGS, NULL}, {"places", places, METH_VARARGS, NULL},
    {"answer", answer, METH_VARARGS, NULL},  {NULL, NULL, 0, NULL},
};
static PyType_Slot crowd_slots[] = {
    {Py_tp_dealloc, (void *)drop_crowd}, {Py_tp_methods, crowd_methods}, {0, NULL}};
static PyType_Spec crowd_spec = {"throng._core.Crowd", sizeof(CrowdObject), 0, Py_TPFLAGS_DEFAULT,
                                 crowd_slots};

// ---- the call

static bool takes_part(uint32_t phase, th_stage stage) {
    return stage == TH_STAGE_MOVE ? phase < TH_PHASE_FALLEN : phase == TH_PHASE_WALKING;
}

// Resets the answer to rest: without an answer in this step the people stand.
static bool list_people(CrowdObject *crowd) {
    int count;
    const uint32_t *phase = th_world_stored(crowd->world, TH_FIELD_PHASE, &count);
    const uint32_t *group = th_world_stored(crowd->world, TH_FIELD_GROUP, &count);
    float *x = th_model_field(crowd->world, crowd->model, ANSWER_X);
    float *y = th_model_field(crowd->world, crowd->model, ANSWER_Y);
    th_stage stage = th_models(NULL)[crowd->model]->stage;
    crowd->all = count;
    crowd->places = malloc(((size_t)count + 1) * sizeof *crowd->places);
    for (int i = 0; crowd->places && i < count; ++i) {
        x[i] = y[i] = 0.0f;
        if (takes_part(phase[i], stage) &&
            th_model_params(crowd->world, crowd->model, (int)group[i]))
            crowd->places[crowd->count++] = i;
    }
    return crowd->places != NULL;
}

static void begin(th_world *world, int model) {
    PyGILState_STATE state = PyGILState_Ensure();
    CrowdObject *crowd = core_allocate(crowd_type);
    PyObject *done = NULL;
    if (crowd) {
        crowd->world = world;
        crowd->model = model;
        if (!list_people(crowd))
            PyErr_NoMemory();
        else if (crowd->count > 0)
            done = PyObject_CallFunctionObjArgs(function_of[model], (PyObject *)crowd, NULL);
        else
            done = PyLong_FromLong(0);
        crowd->world = NULL; // a reference kept by the caller is empty
    }
    if (!done) core_keep_exception(world);
    Py_XDECREF(done);
    Py_XDECREF((PyObject *)crowd);
    PyGILState_Release(state);
}

static th_vec2 hand_out(const th_agent *agent) {
    return (th_vec2){agent->own[ANSWER_X].real, agent->own[ANSWER_Y].real};
}

static th_vec2 by_address(const th_agent *agent) {
    th_vec2 velocity = agent->preferred;
    address_of[agent->model](agent, &velocity.x);
    return velocity;
}

// ---- registration

static char *copy(const char *text) {
    char *own_text = malloc(strlen(text) + 1);
    return own_text ? strcpy(own_text, text) : NULL;
}

// [(name, unit, min, max, default, source, doc)]; lives as long as the program, as descriptions do.
static th_param_info *read_params(PyObject *list, int *count) {
    *count = (int)PyList_Size(list);
    th_param_info *infos = calloc((size_t)*count + 1, sizeof *infos);
    for (int k = 0; infos && k < *count; ++k) {
        const char *name, *unit, *source, *doc;
        th_param_info *p = &infos[k];
        if (!PyArg_ParseTuple(PyList_GetItem(list, k), "ssdddss", &name, &unit, &p->min, &p->max,
                              &p->value, &source, &doc))
            return NULL;
        p->name = copy(name);
        p->unit = copy(unit);
        p->source = copy(source);
        p->doc = copy(doc);
    }
    return infos;
}

// [(name, is_float, doc)] behind `first` fields of the extension's own.
static th_field_info *read_fields(PyObject *list, int first, int *count) {
    int size = (int)PyList_Size(list);
    th_field_info *infos = calloc((size_t)size + ANSWER_FIELDS, sizeof *infos);
    for (int k = 0; infos && k < size; ++k) {
        const char *name, *doc;
        int is_float;
        if (!PyArg_ParseTuple(PyList_GetItem(list, k), "sps", &name, &is_float, &doc)) return NULL;
        infos[first + k] = (th_field_info){copy(name), is_float, true, copy(doc), NULL};
    }
    if (infos && first > 0) {
        infos[ANSWER_X] =
            (th_field_info){"answer_x", true, false, "the function's answer [m/s]", NULL};
        infos[ANSWER_Y] =
            (th_field_info){"answer_y", true, false, "the function's answer [m/s]", NULL};
    }
    *count = first + size;
    return infos;
}

// register(stage, name, doc, source, params, fields, function or None, address, sight): the model's number.
static PyObject *register_model(PyObject *module, PyObject *arguments) {
    (void)module;
    int stage;
    const char *name, *doc, *source;
    PyObject *params, *fields, *function;
    unsigned long long address;
    th_model *model = calloc(1, sizeof *model);
    if (!model) return PyErr_NoMemory();
    *model = th_model_default();
    th_sight *sight = &model->sight;
    int through_walls;
    if (!PyArg_ParseTuple(arguments, "isssO!O!OK(ifpif)", &stage, &name, &doc, &source,
                          &PyList_Type, &params, &PyList_Type, &fields, &function, &address,
                          &sight->neighbours, &sight->neighbour_range, &through_walls,
                          &sight->walls, &sight->wall_range))
        return NULL;
    sight->through_walls = through_walls;
    model->stage = (th_stage)stage;
    model->name = copy(name);
    model->doc = copy(doc);
    model->source = copy(source);
    model->params = read_params(params, &model->param_count);
    model->fields = read_fields(fields, address ? 0 : ANSWER_FIELDS, &model->field_count);
    if (!model->params || !model->fields) return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    model->agent = address ? by_address : hand_out;
    if (!address) model->begin = begin;
    th_error error = {0};
    if (th_model_register(model, &error) != TH_OK) return core_fail(&error);
    int number = th_model_find(model->stage, model->name);
    if (address) {
        void *memory = core_pointer(address);
        memcpy(&address_of[number], &memory, sizeof memory);
    } else {
        Py_INCREF(function);
        function_of[number] = function;
    }
    return PyLong_FromLong(number);
}

// replace(number, function): the model goes on with another function, as a notebook's cell that is run again wants.
static PyObject *replace(PyObject *module, PyObject *arguments) {
    (void)module;
    int number;
    PyObject *function;
    if (!PyArg_ParseTuple(arguments, "iO", &number, &function)) return NULL;
    if (number < 0 || number >= TH_MODEL_MAX || !function_of[number])
        return PyErr_Format(PyExc_ValueError, "model %d is not written in Python", number);
    PyObject *before = function_of[number];
    Py_INCREF(function);
    function_of[number] = function;
    Py_DECREF(before);
    Py_RETURN_NONE;
}

// models(): [(stage, name, doc, source, [params])]
static PyObject *models(PyObject *module, PyObject *none) {
    (void)module;
    (void)none;
    int count;
    const th_model *const *list = th_models(&count);
    PyObject *result = PyList_New(0);
    for (int m = 0; result && m < count; ++m) {
        if (list[m]->internal) continue;
        PyObject *params = PyList_New(0);
        for (int k = 0; params && k < list[m]->param_count; ++k) {
            const th_param_info *p = &list[m]->params[k];
            PyObject *one = Py_BuildValue("{s:s,s:s,s:d,s:d,s:d,s:s,s:s}", "name", p->name, "unit",
                                          p->unit, "min", p->min, "max", p->max, "default",
                                          p->value, "source", p->source, "doc", p->doc);
            if (!one || PyList_Append(params, one) != 0) Py_CLEAR(params);
            Py_XDECREF(one);
        }
        PyObject *one = params ? Py_BuildValue("(ssssN)", th_stage_name(list[m]->stage),
                                               list[m]->name, list[m]->doc, list[m]->source, params)
                               : NULL;
        if (!one || PyList_Append(result, one) != 0) Py_CLEAR(result);
        Py_XDECREF(one);
    }
    return result;
}

// sections(): [(name, what one element is called)] of the scene data that models declare
static PyObject *sections(PyObject *module, PyObject *none) {
    (void)module;
    (void)none;
    int count;
    const th_model *const *list = th_models(&count);
    PyObject *result = PyList_New(0);
    for (int m = 0; m < count; ++m)
        for (int k = 0; result && k < list[m]->section_count; ++k) {
            const th_section_info *info = &list[m]->sections[k];
            PyObject *one = Py_BuildValue("(ss)", info->name, info->item);
            if (!one || PyList_Append(result, one) != 0) Py_CLEAR(result);
            Py_XDECREF(one);
        }
    return result;
}

// ---- actions from outside: VectorWorld writes the fields

static const th_field_info action_fields[] = {
    {"x", true, true, "the velocity that was asked for [m/s]", NULL},
    {"y", true, true, "the velocity that was asked for [m/s]", NULL},
    {"given", false, true, "0: none was, the agent walks as it would", NULL},
};

static th_vec2 act(const th_agent *agent) {
    th_vec2 asked = {agent->own[0].real, agent->own[1].real};
    return agent->own[2].number ? asked : agent->preferred;
}

static const th_model actions[] = {
    {.cookie = TH_MODEL_COOKIE,
     .stage = TH_STAGE_FILTER,
     .name = "action",
     .doc = "the preferred velocity is an action of the program",
     .source = "throng",
     .fields = action_fields,
     .field_count = 3,
     .agent = act},
    {.cookie = TH_MODEL_COOKIE,
     .stage = TH_STAGE_MOVE,
     .name = "action",
     .doc = "the velocity is an action of the program, whatever is in the way",
     .source = "throng",
     .fields = action_fields,
     .field_count = 3,
     .agent = act},
};

static PyMethodDef functions[] = {
    {"register", register_model, METH_VARARGS, NULL},
    {"replace", replace, METH_VARARGS, NULL},
    {"models", models, METH_NOARGS, NULL},
    {"sections", sections, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

bool core_add_models(PyObject *module) {
    th_error error = {0};
    for (int k = 0; k < 2; ++k)
        if (th_model_register(&actions[k], &error) != TH_OK) return core_fail(&error) != NULL;
    crowd_type = core_add_type(module, "Crowd", &crowd_spec);
    return crowd_type && PyModule_AddFunctions(module, functions) == 0;
}
