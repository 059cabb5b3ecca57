// What the files that answer requests share: reading members, refusing, and edits that have a file of their own.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_STUDIO_REQUESTS_H
#define TH_STUDIO_REQUESTS_H
#include "studio/studio.h"

// Answers a request: members of the answer, or NULL with an error.
typedef json_t *th_request_fn(th_studio *studio, const json_t *asked, uint64_t client,
                              th_error *error);
th_request_fn th_do_set, th_do_model, th_do_edit, th_do_undo, th_do_redo; // edits.c
th_request_fn th_do_open, th_do_new, th_do_save, th_do_templates, th_do_template, th_do_compare,
    th_do_upload; // requests.c

enum { TH_REQUEST_IDS = 4096 }; // elements of a kind that requests can name
json_t *th_request_refuse(th_error *error, const char *member, const char *text); // always NULL
// False: the member is not there, not a number, or outside.
bool th_request_number(const json_t *asked, const char *name, double least, double most,
                       double *value);
bool th_request_point(const json_t *given, th_vec2 *point);
// The world a request is about; -1 with an error.
int th_request_world(const th_studio *studio, const json_t *asked, th_error *error);
// From an index or an id; -1 with an error.
int th_request_index(const json_t *given, const char *what, const char *const *ids, int count,
                     th_error *error);
int th_request_level(const th_scene_view *scene, const json_t *given, th_error *error);
int th_request_group(const th_scene_view *scene, const json_t *given, th_error *error);
// Everybody is told what was done and how the scene looks now.
void th_studio_tell_edited(th_studio *studio, int world, const char *text, const char *how,
                           int lost);

// ---- people, edits.c
json_t *th_edit_people(th_studio *studio, int w, const json_t *asked, th_error *error);
json_t *th_edit_remove_people(th_studio *studio, int w, const json_t *asked, th_error *error);
#endif
