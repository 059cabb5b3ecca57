// Linked files, read whole and only up to a limit. SPDX-License-Identifier: Apache-2.0
#ifndef TH_SCENE_FILES_H
#define TH_SCENE_FILES_H
#include "core/memory.h"
#include "throng/scene.h"

#define TH_FILE_LIMIT ((size_t)64 << 20) // [bytes] reason: far above any plan, far below memory

// The file's bytes and a final 0, in the arena. `base_dir` may be NULL; `what` names the path for messages.
// Reads gzip transparently.
th_result th_file_read(th_arena *arena, const char *base_dir, const char *name, const char *path,
                       char **text, size_t *length, th_error *error);
// Rows "x,y" (also separated by blanks, semicolons or tabs; a first line that is no numbers is a header).
th_result th_positions_read(th_arena *arena, const char *base_dir, const char *name,
                            const char *path, th_point **positions, int *count, th_error *error);
#endif
