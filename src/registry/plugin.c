// Models in a shared library, loaded at run time. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/file.h"
#include "registry/registry.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

// Libraries that have registered their models. They stay loaded: the table of models points into them.
static void *loaded[TH_MODEL_MAX];
static int loaded_count;

static bool is_loaded(const void *library) {
    for (int k = 0; k < loaded_count; ++k)
        if (loaded[k] == library) return true;
    return false;
}

static th_result check_layout(void *library, const char *path, th_error *error) {
    static const struct {
        const char *name;
        uint32_t number;
    } own[] = {
#define X(name, number) {name, (uint32_t)(number)},
        TH_PLUGIN_LAYOUT(X)
#undef X
    };
    const uint32_t *layout = dlsym(library, "th_plugin_layout");
    if (!layout || !dlsym(library, "th_plugin"))
        return th_file_fail(error, path,
                            "is a library, but not a plugin: it has no th_plugin; write TH_PLUGIN "
                            "{ return th_model_register(&mine, error); } into its source");
    for (size_t k = 0; k < sizeof own / sizeof *own; ++k) // the first is the version of the list
        if (layout[k] != own[k].number)
            return th_file_fail(error, path,
                                "was built for another version of throng than this %s (%s is %u "
                                "there and %u here); compile it again with the headers of this "
                                "version",
                                TH_VERSION, own[k].name, layout[k], own[k].number);
    return TH_OK;
}

// What the plugin itself says, with the file's name.
static th_result register_models(void *library, const char *path, th_error *error) {
    typedef th_result plugin_fn(th_error *);
    plugin_fn *plugin;
    void *symbol = dlsym(library, "th_plugin");
    memcpy(&plugin, &symbol, sizeof plugin); // C has no cast from an object to a function
    int before, after;
    th_error own = {0};
    th_models(&before);
    th_result result = plugin(&own);
    th_models(&after);
    if (result == TH_OK && after == before)
        return th_file_fail(error, path,
                            "registers no model; call th_model_register in its TH_PLUGIN");
    if (result == TH_OK) return TH_OK;
    th_models_forget(before);
    snprintf(own.file, sizeof own.file, "%.255s", path);
    if (!own.message[0]) th_fail(&own, result, "", "its th_plugin failed and does not say why");
    if (error) *error = own;
    return result;
}

th_result th_plugin_load(const char *path, th_error *error) {
    char beside[4096];
    // Without a slash the system's folders would be searched, not the one the user is in.
    snprintf(beside, sizeof beside, "%s%s", strchr(path, '/') ? "" : "./", path);
    void *library = dlopen(beside, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        return th_file_fail(error, path,
                            "the plugin does not load: %.300s; build it with `cc -shared -fPIC "
                            "mine.c $(pkg-config --cflags throng) -o libmine.so`",
                            why ? why : "no reason given");
    }
    th_result result = TH_OK;
    bool again = is_loaded(library);
    if (!again) result = check_layout(library, path, error);
    if (!again && result == TH_OK && loaded_count == TH_MODEL_MAX)
        result = th_fail(error, TH_FULL, "", "there are %d plugins already", TH_MODEL_MAX);
    if (!again && result == TH_OK) result = register_models(library, path, error);
    if (again || result != TH_OK)
        dlclose(library);
    else
        loaded[loaded_count++] = library;
    return result;
}
