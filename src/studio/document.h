// The scene file that is edited, as a tree. Lists are lists (a single shape becomes a list of one) and everything that can
// have an id has one, so that edits can name it. Nothing is checked here that loading the scene checks.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_STUDIO_DOCUMENT_H
#define TH_STUDIO_DOCUMENT_H
#include "throng/scene.h"
#include <jansson.h>

// From JSON with comments. NULL with an error (BAD_SCENE, line and column).
json_t *th_document_read(const char *text, size_t length, const char *name, th_error *error);
// Compiles it. `base_dir` NULL: linked files are refused.
th_result th_document_compile(const json_t *document, const char *name, const char *base_dir,
                              th_scene **scene, th_error *error);

// ---- edits change the document in place; TH_BAD_ARGUMENT says what is wrong with them
typedef struct th_document_made {
    const char *what; // of the list; a literal
    char id[64];      // "": has none
    int index;
} th_document_made;

// "level" may be an id or an index; NULL: the first.
th_result th_document_add(json_t *document, const char *what, const json_t *level,
                          const json_t *value, th_document_made *made, th_error *error);
th_result th_document_change(json_t *document, const char *what, const json_t *level,
                             const json_t *key, const json_t *value, th_error *error);
th_result th_document_remove(json_t *document, const char *what, const json_t *level,
                             const json_t *key, th_error *error);
// JSON patch (RFC 6902): add, replace, remove.
th_result th_document_patch(json_t *document, const json_t *patch, th_error *error);
// The model of a group's stage: `choice` is what a scene writes.
th_result th_document_set_model(json_t *document, int group, const char *stage, json_t *choice,
                                th_error *error);
// One parameter; `model` is the name in force, for documents that leave it out.
// The behaviours of a group: a list of names. Those that it had keep their parameters.
th_result th_document_set_behaviours(json_t *document, int group, const json_t *names,
                                     th_error *error);
th_result th_document_set_param(json_t *document, int group, const char *stage, const char *model,
                                const char *name, double value, th_error *error);
// An empty room, as `new` makes it.
json_t *th_document_empty(double width, double height);
// A plan as WKT or GeoJSON as a room with people; NULL: it is neither.
json_t *th_document_of_plan(const char *text, const char *name);
#endif
