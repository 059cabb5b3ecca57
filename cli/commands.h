// The subcommands of the program and what several of them share. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CLI_COMMANDS_H
#define TH_CLI_COMMANDS_H
#include "cli/args.h"
#include "throng/throng.h"

extern const th_command th_command_run;
extern const th_command th_command_resume;
extern const th_command th_command_sweep;
extern const th_command th_command_check;
extern const th_command th_command_list;
extern const th_command th_command_picture;
extern const th_command th_command_convert;
extern const th_command th_command_info;
extern const th_command th_command_measure;
extern const th_command th_command_fd;
extern const th_command th_command_validate;
extern const th_command th_command_experiment;
extern const th_command th_command_bench;

// Prints `file:line:column: path: message` on stderr and returns the exit code that fits.
// `fallback_file` is named where the error names no file.
int th_report_error(const char *fallback_file, const th_error *error);

// The same where the scene is known to be good: returns TH_EXIT_FAILED.
int th_report_failure(const char *fallback_file, const th_error *error);

// An argument that a library refused, its path being the name of the option: "throng run: --record mp4: give ...".
int th_report_option(const th_command *command, const th_error *error);

// Loads a scene with --set overrides; on failure reports and returns its exit code.
int th_load_scene(const char *path, const th_text_list *overrides, th_scene **scene);
// Makes a world; negative seed: the scene's. On failure reports and returns its exit code.
int th_make_world(const char *path, const th_scene *scene, long long seed, int threads, double step,
                  th_backend backend, th_world **world);
// "cpu" or "cuda"; false: neither, and said so.
bool th_backend_of(const th_command *command, const char *device, th_backend *backend);

// Seconds of a clock that only goes forward.
double th_wall_clock(void);

// Ctrl-C asks the running loop to stop; the second one ends the program at once.
void th_watch_interrupt(void);
bool th_interrupted(void);
#endif
