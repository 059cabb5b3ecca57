// The scene exactly as run, in the folder of the run: overrides applied, linked files copied beside it, so
// that `throng run DIR/scene.json` gives the same hash anywhere. SPDX-License-Identifier: Apache-2.0
#ifndef TH_RUN_SCENE_COPY_H
#define TH_RUN_SCENE_COPY_H
#include "report/folder.h"
#include "throng/scene.h"

typedef struct th_texts {
    const char *const *items;
    int count;
} th_texts;

// What a definition of runs changes in the scene, so that its copy has to hold it.
typedef struct th_scene_changes {
    uint64_t seed;         // 0: not given
    int runs;              // 0: not given
    double step, max_time; // [s] 0: not given
} th_scene_changes;

// The scene file's tree with `overrides` and then `changes` applied; `scene` is what the file and the
// overrides were compiled to. As it has been loaded before, errors are those of a file that changed in
// between. NULL with an error.
json_t *th_scene_tree(const char *scene_file, const th_texts *overrides,
                      const th_scene_changes *changes, const th_scene *scene, th_error *error);
// A number that changes when the tree or a file it links to does.
uint64_t th_scene_digest(const json_t *tree, const char *scene_file);
// Writes scene.json and files/; names in the tree are changed to those of the copies.
th_result th_scene_copy(const th_folder *folder, json_t *tree, const char *scene_file,
                        th_error *error);
#endif
