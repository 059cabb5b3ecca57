// Worlds. SPDX-License-Identifier: Apache-2.0
#include "core.h"
#include <math.h>
#include <stdlib.h>

PyTypeObject *world_type;

th_world *core_world(PyObject *object) {
    WorldObject *self = (WorldObject *)object;
    if (!self->busy) return self->world;
    PyErr_SetString(PyExc_RuntimeError,
                    "the world is stepping, in another thread or further up in this one");
    return NULL;
}
#define WORLD(name)                    \
    th_world *name = core_world(self); \
    if (!name) return NULL

// ---- life

// World(scene, from or None, threads, seed, step, end, max_agents, cuda, replan); from: the world whose people go on here.
static PyObject *create(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    PyObject *scene, *from;
    int threads, max_agents, cuda, lost = 0;
    unsigned long long seed;
    double step, end, replan;
    (void)keywords;
    if (!PyArg_ParseTuple(arguments, "O!OiKddipd", scene_type, &scene, &from, &threads, &seed,
                          &step, &end, &max_agents, &cuda, &replan))
        return NULL;
    th_world *before = from == Py_None ? NULL : core_world(from);
    if (from != Py_None && !before) return NULL;
    th_world_def def = th_world_def_default();
    def.threads = threads;
    def.seed = seed;
    def.step = step;
    def.end = end;
    def.max_agents = max_agents;
    def.replan = replan;
    def.backend = cuda ? TH_BACKEND_CUDA : TH_BACKEND_CPU;
    th_world *world = NULL;
    th_error error = {0};
    th_result result;
    const th_scene *of = ((SceneObject *)scene)->scene;
    if (before) ((WorldObject *)from)->busy = true;
    Py_BEGIN_ALLOW_THREADS result = before
                                        ? th_world_continue(of, &def, before, &lost, &world, &error)
                                        : th_world_create(of, &def, &world, &error);
    Py_END_ALLOW_THREADS if (before)((WorldObject *)from)->busy = false;
    if (result != TH_OK) return core_fail(&error);
    WorldObject *self = core_allocate(type);
    if (!self) {
        th_world_destroy(world);
        return NULL;
    }
    Py_INCREF(scene);
    self->scene = scene;
    self->world = world;
    return (PyObject *)self;
}

static void destroy(PyObject *object) {
    WorldObject *self = (WorldObject *)object;
    th_world_destroy(self->world);
    Py_XDECREF(self->scene);
    core_free(object);
}

// ---- time

static PyObject *step(PyObject *self, PyObject *argument) {
    long steps = PyLong_AsLong(argument);
    if (steps == -1 && PyErr_Occurred()) return NULL;
    if (steps < 0 || steps > 100000000)
        return PyErr_Format(PyExc_ValueError, "%ld steps; give 0 to 100 000 000", steps);
    WORLD(world);
    ((WorldObject *)self)->busy = true;
    Py_BEGIN_ALLOW_THREADS th_world_step(world, (int)steps);
    Py_END_ALLOW_THREADS((WorldObject *)self)->busy = false;
    if (core_raise_kept(world)) return NULL;
    Py_RETURN_NONE;
}

// (time, steps, length of a step, seed, done, agents)
static PyObject *now(PyObject *self, PyObject *none) {
    (void)none;
    WORLD(world);
    return Py_BuildValue("(dKdKNi)", th_world_time(world),
                         (unsigned long long)th_world_step_count(world),
                         th_world_step_length(world), (unsigned long long)th_world_seed(world),
                         PyBool_FromLong(th_world_done(world)), th_world_agent_count(world));
}

static PyObject *hash(PyObject *self, PyObject *none) {
    (void)none;
    WORLD(world);
    return PyLong_FromUnsignedLongLong(th_world_hash(world));
}

// ---- people

// spawn(reals, wholes, count, ids): 9 floats each (position, velocity, goal, radius, speed, mass) and 3 ints (level, level of
// the goal, group); the ids go into the last array.
static PyObject *spawn(PyObject *self, PyObject *arguments) {
    unsigned long long reals, wholes, ids;
    int count;
    if (!PyArg_ParseTuple(arguments, "KKiK", &reals, &wholes, &count, &ids)) return NULL;
    WORLD(world);
    th_agent_def *agents = calloc((size_t)count + 1, sizeof *agents);
    if (!agents) return PyErr_NoMemory();
    const float *f = core_pointer(reals);
    const int *n = core_pointer(wholes);
    for (int k = 0; k < count; ++k, f += 9, n += 3) {
        agents[k] = th_agent_def_default();
        agents[k].position = (th_vec2){f[0], f[1]};
        agents[k].velocity = (th_vec2){f[2], f[3]};
        agents[k].goal = (th_vec2){f[4], f[5]};
        agents[k].radius = f[6];
        agents[k].speed = f[7];
        agents[k].mass = f[8];
        agents[k].level = n[0];
        agents[k].goal_level = n[1];
        agents[k].group = n[2];
    }
    th_error error = {0};
    th_result result = th_world_spawn(world, agents, count, core_pointer(ids), &error);
    free(agents);
    if (result != TH_OK) return core_fail(&error);
    Py_RETURN_NONE;
}

static PyObject *remove_people(PyObject *self, PyObject *arguments) {
    unsigned long long ids;
    int count;
    if (!PyArg_ParseTuple(arguments, "Ki", &ids, &count)) return NULL;
    WORLD(world);
    return PyLong_FromLong(th_world_remove(world, core_pointer(ids), count));
}

static PyObject *alive(PyObject *self, PyObject *arguments) {
    unsigned id;
    if (!PyArg_ParseTuple(arguments, "I", &id)) return NULL;
    WORLD(world);
    return PyBool_FromLong(th_world_alive(world, (th_agent_id){id}));
}

// ---- fields

static PyObject *field(PyObject *self, PyObject *arguments) {
    const char *name;
    if (!PyArg_ParseTuple(arguments, "s", &name)) return NULL;
    WORLD(world);
    return PyLong_FromLong(th_world_field(world, name));
}

// own_fields(): (stage/model.field, kind) of the models that groups use.
static PyObject *own_fields(PyObject *self, PyObject *none) {
    (void)none;
    WORLD(world);
    int count;
    const th_model *const *models = th_models(&count);
    PyObject *list = PyList_New(0);
    for (int m = 0; m < count; ++m)
        for (int k = 0; list && k < models[m]->field_count; ++k) {
            if (!th_model_field(world, m, k)) break;
            PyObject *name = PyUnicode_FromFormat("%s/%s.%s", th_stage_name(models[m]->stage),
                                                  models[m]->name, models[m]->fields[k].name);
            PyObject *one =
                name ? Py_BuildValue("(Ns)", name, models[m]->fields[k].is_float ? "f4" : "u4")
                     : NULL;
            if (!one || PyList_Append(list, one) != 0) Py_CLEAR(list);
            Py_XDECREF(one);
        }
    return list;
}

// read(field, to, count): in the order of ids. write(field, from, count): back.
static PyObject *read_field(PyObject *self, PyObject *arguments) {
    unsigned long long to;
    int number, count;
    if (!PyArg_ParseTuple(arguments, "iKi", &number, &to, &count)) return NULL;
    WORLD(world);
    const void *view = th_world_map(world, number, TH_ACCESS_READ);
    if (!view) return PyErr_NoMemory();
    if (count == th_world_agent_count(world)) memcpy(core_pointer(to), view, 4 * (size_t)count);
    th_world_unmap(world, number);
    Py_RETURN_NONE;
}

static PyObject *write_field(PyObject *self, PyObject *arguments) {
    unsigned long long from;
    int number, count;
    if (!PyArg_ParseTuple(arguments, "iKi", &number, &from, &count)) return NULL;
    WORLD(world);
    uint64_t before = th_world_counts(world).repairs;
    void *view = th_world_map(world, number, TH_ACCESS_WRITE);
    if (!view) return PyErr_NoMemory();
    if (count == th_world_agent_count(world)) memcpy(view, core_pointer(from), 4 * (size_t)count);
    th_world_unmap(world, number);
    return PyLong_FromUnsignedLongLong(th_world_counts(world).repairs - before);
}

// stored(field): (address, count) of the memory itself.
static PyObject *stored(PyObject *self, PyObject *argument) {
    long number = PyLong_AsLong(argument);
    if (number == -1 && PyErr_Occurred()) return NULL;
    WORLD(world);
    int count;
    const void *memory = th_world_stored(world, (int)number, &count);
    return Py_BuildValue("(Ki)", (unsigned long long)(uintptr_t)memory, count);
}

static PyObject *forces(PyObject *self, PyObject *arguments) {
    unsigned long long to;
    if (!PyArg_ParseTuple(arguments, "K", &to)) return NULL;
    WORLD(world);
    if (!th_world_contact_forces(world, core_pointer(to))) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

// grid(kind, level): (nx, ny, min_x, min_y, cell, bytes), or None.
static PyObject *grid(PyObject *self, PyObject *arguments) {
    int kind, level;
    if (!PyArg_ParseTuple(arguments, "ii", &kind, &level)) return NULL;
    WORLD(world);
    th_grid g;
    if (!th_world_map_grid(world, (th_grid_kind)kind, level, &g)) Py_RETURN_NONE;
    return Py_BuildValue("(iidddy#)", g.nx, g.ny, (double)g.min_x, (double)g.min_y, (double)g.cell,
                         (const char *)g.values, (Py_ssize_t)((size_t)g.nx * (size_t)g.ny * 4));
}

// ---- edits

static PyObject *set_door(PyObject *self, PyObject *arguments) {
    const char *name;
    int open;
    th_error error = {0};
    if (!PyArg_ParseTuple(arguments, "sp", &name, &open)) return NULL;
    WORLD(world);
    if (th_world_set_door(world, name, open, &error) != TH_OK) return core_fail(&error);
    Py_RETURN_NONE;
}

static PyObject *door_open(PyObject *self, PyObject *argument) {
    long number = PyLong_AsLong(argument);
    if (number == -1 && PyErr_Occurred()) return NULL;
    WORLD(world);
    return PyBool_FromLong(th_world_door_open(world, (int)number));
}

static PyObject *add_wall(PyObject *self, PyObject *arguments) {
    int level, wall;
    th_vec2 a, b;
    th_error error = {0};
    if (!PyArg_ParseTuple(arguments, "iffff", &level, &a.x, &a.y, &b.x, &b.y)) return NULL;
    WORLD(world);
    if (th_world_add_wall(world, level, a, b, &wall, &error) != TH_OK) return core_fail(&error);
    return PyLong_FromLong(wall);
}

static PyObject *remove_wall(PyObject *self, PyObject *argument) {
    th_error error = {0};
    long wall = PyLong_AsLong(argument);
    if (wall == -1 && PyErr_Occurred()) return NULL;
    WORLD(world);
    if (th_world_remove_wall(world, (int)wall, &error) != TH_OK) return core_fail(&error);
    Py_RETURN_NONE;
}

static PyObject *set_param(PyObject *self, PyObject *arguments) {
    int group;
    const char *name;
    double value;
    th_error error = {0};
    if (!PyArg_ParseTuple(arguments, "isd", &group, &name, &value)) return NULL;
    WORLD(world);
    if (th_world_set_param(world, group, name, value, &error) != TH_OK) return core_fail(&error);
    Py_RETURN_NONE;
}

// ---- what happened

static PyObject *statistics(PyObject *self, PyObject *argument) {
    WORLD(world);
    th_statistics s =
        PyObject_IsTrue(argument) ? th_world_statistics(world) : th_world_counts(world);
#define WHOLE(name) #name, (unsigned long long)s.name
    return Py_BuildValue(
        "{s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:d,s:d,s:d,s:d}",
        WHOLE(spawned), WHOLE(inside), WHOLE(left), WHOLE(removed), WHOLE(waiting_to_enter),
        WHOLE(still_to_come), WHOLE(steps), WHOLE(wall_crossings), WHOLE(wall_stops),
        WHOLE(overlaps), WHOLE(overlapping_agents), WHOLE(repairs), WHOLE(fallen), WHOLE(falls),
        WHOLE(unreachable), WHOLE(steps), "time", s.time, "last_left_time", s.last_left_time,
        "deepest_overlap", (double)s.deepest_overlap, "largest_overlap", (double)s.largest_overlap);
#undef WHOLE
}

static PyObject *profile(PyObject *self, PyObject *none) {
    (void)none;
    WORLD(world);
    th_profile p = th_world_profile(world);
    PyObject *dict = PyDict_New();
    for (int s = 0; dict && s < TH_STAGE_COUNT; ++s)
        if (!core_put(dict, th_stage_name((th_stage)s), PyFloat_FromDouble(p.seconds[s])))
            Py_CLEAR(dict);
    return dict;
}

// events(): ([(kind, time, index, agent)], lost)
static PyObject *events(PyObject *self, PyObject *none) {
    (void)none;
    static const char *const kinds[] = {"door_opened", "door_closed", "left"};
    WORLD(world);
    int count;
    uint64_t lost = 0;
    const th_event *event = th_world_events(world, &count, &lost);
    PyObject *list = PyList_New(0);
    for (int k = 0; list && k < count; ++k, ++event) {
        PyObject *one = Py_BuildValue("(sdiI)", kinds[event->kind], event->time, event->index,
                                      event->agent.serial);
        if (!one || PyList_Append(list, one) != 0) Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list ? Py_BuildValue("(NK)", list, (unsigned long long)lost) : NULL;
}

static PyObject *line_dict(th_line_count c) {
    return Py_BuildValue("{s:s,s:K,s:K,s:d,s:d,s:d}", "id", c.id, "forward",
                         (unsigned long long)c.forward, "backward", (unsigned long long)c.backward,
                         "first_time", c.first_time, "last_time", c.last_time, "length", c.length);
}

static PyObject *area_dict(th_area_state a) {
    return Py_BuildValue("{s:s,s:d,s:i,s:d,s:d}", "id", a.id, "area", a.area, "count", a.count,
                         "density", a.density, "mean_speed", a.mean_speed);
}

static PyObject *exit_dict(th_exit_count e) {
    return Py_BuildValue("{s:s,s:K,s:d,s:d}", "id", e.id, "left", (unsigned long long)e.left,
                         "first_time", e.first_time, "last_time", e.last_time);
}

// counted("lines" | "doors" | "areas" | "exits")
static PyObject *counted(PyObject *self, PyObject *arguments) {
    const char *what;
    if (!PyArg_ParseTuple(arguments, "s", &what)) return NULL;
    WORLD(world);
    int count = what[0] == 'l'   ? th_world_line_count(world)
                : what[0] == 'd' ? th_world_door_count(world)
                : what[0] == 'a' ? th_world_area_count(world)
                                 : th_scene_view_of(th_world_scene(world))->goal_count;
    PyObject *list = PyList_New(0);
    for (int k = 0; list && k < count; ++k) {
        PyObject *one = what[0] == 'l'   ? line_dict(th_world_line(world, k))
                        : what[0] == 'd' ? line_dict(th_world_door(world, k))
                        : what[0] == 'a' ? area_dict(th_world_area(world, k))
                                         : exit_dict(th_world_exit(world, k));
        if (!one || PyList_Append(list, one) != 0) Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

// ---- questions

// distances(target, level, points, count, result); directions: vectors, False where no planner can tell.
static PyObject *distances(PyObject *self, PyObject *arguments) {
    int target, level, count;
    unsigned long long points, result;
    if (!PyArg_ParseTuple(arguments, "iiKiK", &target, &level, &points, &count, &result))
        return NULL;
    WORLD(world);
    th_world_distances(world, target, level, core_pointer(points), count, core_pointer(result));
    Py_RETURN_NONE;
}

static PyObject *directions(PyObject *self, PyObject *arguments) {
    int target, level, count;
    unsigned long long points, result;
    if (!PyArg_ParseTuple(arguments, "iiKiK", &target, &level, &points, &count, &result))
        return NULL;
    WORLD(world);
    return PyBool_FromLong(th_world_directions(world, target, level, core_pointer(points), count,
                                               core_pointer(result)));
}

static PyObject *influences(PyObject *self, PyObject *arguments) {
    enum { MOST = 1000 };
    static const char *const kinds[] = {"vector", "rectangle", "circle", "half_plane", "figure"};
    unsigned id;
    if (!PyArg_ParseTuple(arguments, "I", &id)) return NULL;
    WORLD(world);
    th_influence *list = malloc(MOST * sizeof *list);
    if (!list) return PyErr_NoMemory();
    int count = th_world_influences(world, (th_agent_id){id}, -1, list, MOST);
    PyObject *result = PyList_New(0);
    for (int k = 0; result && k < count && k < MOST; ++k) {
        const th_influence *i = &list[k];
        PyObject *one = Py_BuildValue(
            "{s:s,s:s,s:s,s:(dd),s:(dd),s:d,s:I}", "kind", kinds[i->kind], "name", i->name, "unit",
            i->unit, "at", (double)i->at.x, (double)i->at.y, "vector", (double)i->vector.x,
            (double)i->vector.y, "size", (double)i->size, "other", i->other);
        if (!one || PyList_Append(result, one) != 0) Py_CLEAR(result);
        Py_XDECREF(one);
    }
    free(list);
    return result;
}

// ---- state

static PyObject *snapshot(PyObject *self, PyObject *none) {
    (void)none;
    WORLD(world);
    size_t size = th_world_snapshot_size(world);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (!bytes) return NULL;
    th_error error = {0};
    if (th_world_snapshot(world, PyBytes_AsString(bytes), size, &error) == TH_OK) return bytes;
    Py_DECREF(bytes);
    return core_fail(&error);
}

static PyObject *restore(PyObject *self, PyObject *arguments) {
    const char *bytes;
    Py_ssize_t size;
    th_error error = {0};
    if (!PyArg_ParseTuple(arguments, "y#", &bytes, &size)) return NULL;
    WORLD(world);
    if (th_world_restore(world, bytes, (size_t)size, &error) != TH_OK) return core_fail(&error);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"step", step, METH_O, NULL},
    {"now", now, METH_NOARGS, NULL},
    {"hash", hash, METH_NOARGS, NULL},
    {"spawn", spawn, METH_VARARGS, NULL},
    {"remove", remove_people, METH_VARARGS, NULL},
    {"alive", alive, METH_VARARGS, NULL},
    {"field", field, METH_VARARGS, NULL},
    {"own_fields", own_fields, METH_NOARGS, NULL},
    {"read", read_field, METH_VARARGS, NULL},
    {"write", write_field, METH_VARARGS, NULL},
    {"stored", stored, METH_O, NULL},
    {"forces", forces, METH_VARARGS, NULL},
    {"grid", grid, METH_VARARGS, NULL},
    {"set_door", set_door, METH_VARARGS, NULL},
    {"door_open", door_open, METH_O, NULL},
    {"add_wall", add_wall, METH_VARARGS, NULL},
    {"remove_wall", remove_wall, METH_O, NULL},
    {"set_param", set_param, METH_VARARGS, NULL},
    {"statistics", statistics, METH_O, NULL},
    {"profile", profile, METH_NOARGS, NULL},
    {"events", events, METH_NOARGS, NULL},
    {"counted", counted, METH_VARARGS, NULL},
    {"distances", distances, METH_VARARGS, NULL},
    {"directions", directions, METH_VARARGS, NULL},
    {"influences", influences, METH_VARARGS, NULL},
    {"snapshot", snapshot, METH_NOARGS, NULL},
    {"restore", restore, METH_VARARGS, NULL},
#define X(name) {#name, core_##name, METH_VARARGS, NULL},
    CORE_LIVE(X)
#undef X
        {NULL, NULL, 0, NULL},
};
static PyType_Slot slots[] = {
    {Py_tp_new, (void *)create},
    {Py_tp_dealloc, (void *)destroy},
    {Py_tp_methods, methods},
    {0, NULL},
};
static PyType_Spec spec = {"throng._core.World", sizeof(WorldObject), 0, Py_TPFLAGS_DEFAULT, slots};

bool core_add_world(PyObject *module) {
    world_type = core_add_type(module, "World", &spec);
    return world_type != NULL;
}
