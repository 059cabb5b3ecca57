// The module itself, and what its objects share. SPDX-License-Identifier: Apache-2.0
#include "core.h"
#include "validate/diagram.h"
#include <stdlib.h>
#include <string.h>

PyObject *core_error;

// ---- errors

static const char *code_name(th_result code) {
    static const char *const names[] = {
#define X(name, text) #name,
        TH_RESULTS(X)
#undef X
    };
    return (unsigned)code < TH_RESULT_COUNT ? names[code] : "";
}

static void where(const th_error *error, char *text, size_t size) {
    if (error->file[0] && error->line > 0)
        snprintf(text, size, "%s:%d:%d: ", error->file, error->line, error->column);
    else
        snprintf(text, size, "%s%s", error->file, error->file[0] ? ": " : "");
}

PyObject *core_fail(const th_error *error) {
    char place[320];
    where(error, place, sizeof place);
    PyObject *text = PyUnicode_FromFormat("%s%s%s%s", place, error->path,
                                          error->path[0] ? ": " : "", error->message);
    PyObject *exception = text ? PyObject_CallFunctionObjArgs(core_error, text, NULL) : NULL;
    Py_XDECREF(text);
    if (!exception) return NULL;
    PyObject *about = Py_BuildValue("{s:s,s:s,s:s,s:i,s:i,s:s}", "code", code_name(error->code),
                                    "message", error->message, "file", error->file, "line",
                                    error->line, "column", error->column, "path", error->path);
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (about && PyDict_Next(about, &at, &key, &value)) PyObject_SetAttr(exception, key, value);
    Py_XDECREF(about);
    PyErr_SetObject(core_error, exception);
    Py_DECREF(exception);
    return NULL;
}

typedef struct kept {
    const th_world *world;
    PyObject *type, *value, *trace;
    struct kept *next;
} kept;
static kept *exceptions;

void core_keep_exception(const th_world *world) {
    kept *one = calloc(1, sizeof *one);
    if (!one) {
        PyErr_Clear();
        return;
    }
    one->world = world;
    PyErr_Fetch(&one->type, &one->value, &one->trace);
    one->next = exceptions;
    exceptions = one;
}

bool core_raise_kept(const th_world *world) {
    bool raised = false;
    for (kept **at = &exceptions; *at;) {
        kept *one = *at;
        if (world && one->world != world) {
            at = &one->next;
            continue;
        }
        *at = one->next;
        PyErr_Restore(one->type, one->value, one->trace); // drops what was raised before
        raised = true;
        free(one);
    }
    return raised;
}

// ---- conversions

const char **core_texts(PyObject *list, int *count) {
    *count = -1;
    Py_ssize_t size = PyList_Size(list);
    const char **texts = size >= 0 ? calloc((size_t)size + 1, sizeof *texts) : NULL;
    if (!texts) return size < 0 ? NULL : (const char **)PyErr_NoMemory();
    for (Py_ssize_t k = 0; k < size; ++k) {
        PyObject *bytes = PyList_GetItem(list, k); // UTF-8, as the package hands it over
        texts[k] = bytes ? PyBytes_AsString(bytes) : NULL;
        if (texts[k]) continue;
        free(texts);
        return NULL;
    }
    *count = (int)size;
    return texts;
}

bool core_put(PyObject *dict, const char *key, PyObject *value) {
    bool good = value && PyDict_SetItemString(dict, key, value) == 0;
    Py_XDECREF(value);
    return good;
}

// ---- types

PyTypeObject *core_add_type(PyObject *module, const char *name, PyType_Spec *spec) {
    PyObject *type = PyType_FromSpec(spec);
    if (!type) return NULL;
    Py_INCREF(type);
    if (PyModule_AddObject(module, name, type) == 0) return (PyTypeObject *)type;
    Py_DECREF(type);
    Py_DECREF(type);
    return NULL;
}

void *core_allocate(PyTypeObject *type) {
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    return allocate(type, 0);
}

void core_free(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

// ---- functions of the module

static PyObject *plugin(PyObject *module, PyObject *arguments) {
    (void)module;
    const char *path;
    th_error error = {0};
    if (!PyArg_ParseTuple(arguments, "y", &path)) return NULL;
    if (th_plugin_load(path, &error) != TH_OK) return core_fail(&error);
    Py_RETURN_NONE;
}

static PyObject *fields(PyObject *module, PyObject *none) {
    (void)module;
    (void)none;
    PyObject *list = PyList_New(0);
#define X(NAME, name, type, doc)                                                     \
    if (list) {                                                                      \
        PyObject *one = Py_BuildValue("(ss)", #name, #type[0] == 'f' ? "f4" : "u4"); \
        if (!one || PyList_Append(list, one) != 0) Py_CLEAR(list);                   \
        Py_XDECREF(one);                                                             \
    }
    TH_FIELDS(X)
#undef X
    return list;
}

// measured(name): (title, source, [(density, speed, spread)]), or None.
static PyObject *measured(PyObject *module, PyObject *arguments) {
    (void)module;
    const char *name;
    if (!PyArg_ParseTuple(arguments, "s", &name)) return NULL;
    const th_measured_set *set = th_measured_find(name);
    if (!set) Py_RETURN_NONE;
    PyObject *list = PyList_New(0);
    for (int k = 0; list && k < set->count; ++k) {
        const th_measured_point *p = &set->points[k];
        PyObject *one = Py_BuildValue("(ddd)", p->density, p->speed, p->spread);
        if (!one || PyList_Append(list, one) != 0) Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list ? Py_BuildValue("(ssN)", set->title, set->source, list) : NULL;
}

static PyMethodDef functions[] = {
    {"measured", measured, METH_VARARGS, NULL},    {"plugin", plugin, METH_VARARGS, NULL},
    {"fields", fields, METH_NOARGS, NULL},         {"picture", core_picture, METH_VARARGS, NULL},
    {"nearest", core_nearest, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL},
};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                        "_core",
                                        "The C interface of throng, for the package.",
                                        -1,
                                        functions,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL};

PyMODINIT_FUNC PyInit__core(void) {
    PyObject *module = PyModule_Create(&definition);
    if (!module) return NULL;
    th_record_serve_scenes();
    core_error = PyErr_NewExceptionWithDoc("throng.Error",
                                           "What the library refused. `message` says what is wrong "
                                           "and what to do; `path` is the place in "
                                           "the scene\n(\"groups[0].count\"), `file`, `line` and "
                                           "`column` the place in a file, `code` the "
                                           "kind (\"BAD_SCENE\").",
                                           PyExc_ValueError, NULL);
    bool good = core_error != NULL;
    if (good) Py_INCREF(core_error);
    good = good && PyModule_AddObject(module, "Error", core_error) == 0 &&
           PyModule_AddStringConstant(module, "version", th_version()) == 0 &&
           PyModule_AddStringConstant(module, "build_info", th_build_info()) == 0 &&
           core_add_scene(module) && core_add_world(module) && core_add_record(module) &&
           core_add_runs(module) && core_add_models(module) && core_add_vector(module);
    if (good) return module;
    Py_DECREF(module);
    return NULL;
}
