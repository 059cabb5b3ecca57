// throng: dense-crowd simulation. Results, errors, hooks and small value types.
// Everything here is SI: metres, seconds, kilograms, people per square metre.
//
// Threads: these functions may be called from any thread at any time.
// Numbers from outside (fields, levels, groups, goals, enumerators) are checked everywhere: a wrong one gives an error or
// the neutral answer that the function names, NULL where it returns a pointer. Pointers are not: NULL where no NULL is
// allowed, and objects that were destroyed, are the caller's mistake.
// SPDX-License-Identifier: Apache-2.0
#ifndef THRONG_BASE_H
#define THRONG_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The version of these headers; th_version() is that of the library that runs. CMakeLists.txt reads it from here.
#define TH_VERSION_MAJOR 1
#define TH_VERSION_MINOR 0
#define TH_VERSION_PATCH 0
#define TH_VERSION_NUMBER (TH_VERSION_MAJOR * 10000 + TH_VERSION_MINOR * 100 + TH_VERSION_PATCH)
#define TH_VERSION_TEXT_(major, minor, patch) #major "." #minor "." #patch
#define TH_VERSION_TEXT(major, minor, patch) TH_VERSION_TEXT_(major, minor, patch)
#define TH_VERSION TH_VERSION_TEXT(TH_VERSION_MAJOR, TH_VERSION_MINOR, TH_VERSION_PATCH)

// TH_EXPORT makes a function visible outside its library. On Windows a program that uses the DLLs defines TH_SHARED, and
// the build of a DLL defines TH_BUILDING_ENGINE, TH_BUILDING_RECORD or TH_BUILDING_RUN.
#if defined(_WIN32)
#define TH_EXPORT __declspec(dllexport)
#define TH_IMPORT __declspec(dllimport)
#elif defined(__GNUC__)
#define TH_EXPORT __attribute__((visibility("default")))
#define TH_IMPORT TH_EXPORT
#else
#define TH_EXPORT
#define TH_IMPORT
#endif
#if !defined(_WIN32)
#define TH_API TH_EXPORT
#elif defined(TH_BUILDING_ENGINE)
#define TH_API TH_EXPORT
#elif defined(TH_SHARED)
#define TH_API TH_IMPORT
#else
#define TH_API
#endif

// Result codes: X(NAME, "what happened"). Everything but TH_OK comes with a message in th_error.
#define TH_RESULTS(X)                                         \
    X(OK, "success")                                          \
    X(BAD_ARGUMENT, "an argument is out of its stated range") \
    X(BAD_SCENE, "the scene is not valid")                    \
    X(NO_ROOM, "more people than fit into the area")          \
    X(NO_MEMORY, "the allocator returned no memory")          \
    X(NO_FILE, "a file could not be read or written")         \
    X(NO_DEVICE, "the requested device is not available")     \
    X(FULL, "a limit given at creation is reached")           \
    X(BAD_SNAPSHOT, "the snapshot does not fit this scene or version")

typedef enum th_result {
#define X(name, text) TH_##name,
    TH_RESULTS(X)
#undef X
        TH_RESULT_COUNT
} th_result;

// An error: its cause, its place and its cure. Pass NULL to ignore it.
// `path` names the place in the scene in JSON terms, e.g. "groups[2].area"; line and column
// are 1-based and 0 when unknown (a scene built in code has no lines).
typedef struct th_error {
    th_result code;
    int line, column;
    char file[256];
    char path[160];
    char message[640];
} th_error;

TH_API const char *th_result_text(th_result result);
TH_API const char *th_version(void);    // TH_VERSION of the library, "1.0.0"
TH_API int th_version_number(void);     // TH_VERSION_NUMBER of the library
TH_API const char *th_build_info(void); // compiler, flags that matter, backends; one line

// Frees a text that the library returned to be freed by the caller. NULL is fine.
TH_API void th_free(void *memory);

// Memory. All of a scene's and a world's memory comes from here; NULL functions mean malloc and free.
// Alignment is a power of two. Must be thread-safe if worlds are used from several threads.
typedef struct th_allocator {
    void *(*alloc)(size_t size, size_t alignment, void *context);
    void (*free)(void *memory, size_t size, void *context);
    void *context;
} th_allocator;

// Called with one line of text, without newline. NULL: silent.
typedef void th_log_fn(const char *text, void *context);

typedef struct th_vec2 {
    float x, y;
} th_vec2;

typedef struct th_point {
    double x, y;
} th_point;

typedef struct th_box {
    float min_x, min_y, max_x, max_y;
} th_box;

#ifdef __cplusplus
}
#endif
#endif
