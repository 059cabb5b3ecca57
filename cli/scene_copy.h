// The scene exactly as run, in the folder of the run: overrides applied, linked files copied beside it, so
// that `throng run DIR/scene.json` gives the same hash anywhere. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CLI_SCENE_COPY_H
#define TH_CLI_SCENE_COPY_H
#include "cli/args.h"
#include "cli/folder.h"

// The scene file's tree with `overrides` and then `settings` (run.seed=7 and the like) applied. The file has
// been loaded before, so errors are those of a file that changed in between. NULL with an error.
json_t *th_scene_tree(const char *scene_file, const th_text_list *overrides,
                      const th_text_list *settings, th_error *error);
// A number that changes when the tree or a file it links to does.
uint64_t th_scene_digest(const json_t *tree, const char *scene_file);
// Writes scene.json and files/; names in the tree are changed to those of the copies.
th_result th_scene_copy(const th_folder *folder, json_t *tree, const char *scene_file,
                        th_error *error);
#endif
