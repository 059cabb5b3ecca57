// The extension module throng._core: thin objects around the C interface, for the Python code of the package alone. Built
// for the limited API of Python 3.8, so one file serves every later version. That API has no buffer protocol: arrays come as
// the address and the number of elements that the package has checked, and views go out as address and number, to be
// wrapped with __array_interface__ by an object that keeps the owner alive.
//
// The lock of the interpreter is given up while worlds step. An object that is in use by a thread is marked busy and
// refuses every other call. SPDX-License-Identifier: Apache-2.0
#ifndef TH_PYTHON_CORE_H
#define TH_PYTHON_CORE_H
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <throng/findings.h>
#include <throng/throng.h>

typedef struct SceneObject {
    PyObject_HEAD th_scene *scene;
} SceneObject;

typedef struct WorldObject {
    PyObject_HEAD th_world *world;
    PyObject *scene; // keeps it alive
    bool busy;
} WorldObject;

extern PyObject *core_error; // throng.Error
extern PyTypeObject *scene_type, *world_type;

// Raises throng.Error with code, message, file, line, column and path. Returns NULL.
PyObject *core_fail(const th_error *error);
// The findings as JSON text; destroys them. NULL with an exception where making them failed.
PyObject *core_findings(th_result result, th_findings *found, const th_error *error);
// The world, or NULL with an exception when another thread uses it.
th_world *core_world(PyObject *object);
// Addresses travel as whole numbers.
static inline void *core_pointer(unsigned long long address) { return (void *)(uintptr_t)address; }
// A list of texts as an array that lives as long as the list; to be freed. NULL with an exception; *count is -1 then.
const char **core_texts(PyObject *list, int *count);
// Adds a value to a dictionary and gives the reference up. False: an exception is set.
bool core_put(PyObject *dict, const char *key, PyObject *value);
// Ready type from a specification, added to the module under its name. NULL: an exception is set.
PyTypeObject *core_add_type(PyObject *module, const char *name, PyType_Spec *spec);
void *core_allocate(PyTypeObject *type);
void core_free(PyObject *object);

// An exception of a Python model, kept until the call that stepped the world returns. All under the interpreter's lock.
void core_keep_exception(const th_world *world);
// Raises the exception kept for the world, or of any world where it is NULL. False: there is none.
bool core_raise_kept(const th_world *world);

bool core_add_scene(PyObject *module);
bool core_add_world(PyObject *module);
bool core_add_record(PyObject *module);
bool core_add_runs(PyObject *module);
bool core_add_models(PyObject *module);
bool core_add_vector(PyObject *module);
// Methods of worlds that live.c has.
#define CORE_LIVE(X) \
    X(add_body)      \
    X(move_body)     \
    X(remove_body)   \
    X(body)          \
    X(send)          \
    X(set_leg)       \
    X(set_value)     \
    X(near)          \
    X(within)        \
    X(ray)           \
    X(path)          \
    X(free_place)    \
    X(crowd_at)      \
    X(moods)
#define X(name) PyObject *core_##name(PyObject *self, PyObject *arguments);
CORE_LIVE(X)
#undef X
PyObject *core_picture(PyObject *module, PyObject *arguments);
PyObject *core_nearest(PyObject *module, PyObject *arguments);
#endif
