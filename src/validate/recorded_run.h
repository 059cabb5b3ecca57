// A run of a scene as a recording, to be measured like one of people. SPDX-License-Identifier: Apache-2.0
#ifndef TH_VALIDATE_RECORDED_RUN_H
#define TH_VALIDATE_RECORDED_RUN_H
#include "throng/record.h"

// Steps a world of the scene until `end` [s] (or until nobody is to come) with one thread and writes a
// text with a frame per step; the file must not be there.
th_result th_record_run(const th_scene *scene, uint64_t seed, double end, const char *path,
                        th_statistics *statistics, th_error *error);
// A folder for it that nobody else has; removed, with the file, by th_record_folder_remove.
enum { TH_RECORD_PATH = 512 };
th_result th_record_folder_make(char path[TH_RECORD_PATH], th_error *error);
void th_record_folder_remove(const char *path);
#endif
