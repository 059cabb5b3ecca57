// The command line's own option parser: one table per subcommand gives parsing, --help and the
// nearest-word hint for typing errors. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CLI_ARGS_H
#define TH_CLI_ARGS_H
#include "draw/plan_drawing.h"
#include "observe/density.h"
#include "observe/survey.h"
#include "throng/world.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Exit codes of the program, documented in docs/command-line.md.
enum {
    TH_EXIT_OK = 0,
    TH_EXIT_USAGE = 1,        // the command line is wrong
    TH_EXIT_SCENE = 2,        // the scene is wrong, or more people than fit
    TH_EXIT_FAILED = 3,       // no memory, a file that cannot be written
    TH_EXIT_MISSED = 4,       // a verification test failed
    TH_EXIT_INTERRUPTED = 130 // Ctrl-C, as shells report it; the summary was still printed
};

enum { TH_LIST_MAX = 64 };
typedef struct th_text_list {
    const char *items[TH_LIST_MAX];
    int count;
} th_text_list;

typedef enum th_option_kind {
    TH_OPTION_FLAG,    // bool *
    TH_OPTION_INTEGER, // long long *, within min .. max
    TH_OPTION_REAL,    // double *, within min .. max
    TH_OPTION_TEXT,    // const char **
    TH_OPTION_LIST     // th_text_list *, may be repeated
} th_option_kind;

typedef struct th_option {
    const char *name; // without the dashes
    th_option_kind kind;
    void *target;
    const char *value; // what --help calls the value
    const char *doc;
    double min, max;
} th_option;

// For the verbs that meet models.
#define TH_PLUGIN_OPTION(list) \
    { "plugin", TH_OPTION_LIST, list, "FILE.so", "models of your own; repeatable", 0, 0 }

// For the verbs that load scenes of users.
#define TH_LINKS_OPTION(flag)                                                                     \
    {                                                                                             \
        "allow-links", TH_OPTION_FLAG, flag, NULL, "let the scene read files outside its folder", \
            0, 0                                                                                  \
    }

typedef struct th_command {
    const char *name;
    const char *operands; // "SCENE", or "" when there are none
    int operand_min, operand_max;
    const char *summary; // one line, also shown by the program's own help
    const char *detail;  // paragraphs of --help
    const char *examples;
    int (*run)(const struct th_command *command, int argc, char **argv);
} th_command;

// Where libwebsockets was not there when throng was built there is no studio.
#ifdef TH_STUDIO
#define TH_STUDIO_VERBS(X) X(studio) X(replay) X(export)
#else
#define TH_STUDIO_VERBS(X)
#endif
// It measures in processes of their own, which Windows cannot split off.
#ifdef _WIN32
#define TH_BENCH_VERB(X)
#else
#define TH_BENCH_VERB(X) X(bench)
#endif

// All verbs of the program, in the order of its help; each is cli/<verb>.c, but for replay in studio.c.
// clang-format off
#define TH_VERBS(X) \
    X(run) X(resume) X(sweep) X(compare) X(report) X(status) X(collect) X(check) X(import) X(compile) X(list) X(picture) X(convert) X(info) \
    X(measure) X(fd) X(validate) X(experiment) TH_BENCH_VERB(X) TH_STUDIO_VERBS(X)
// clang-format on
#define X(verb) extern const th_command th_command_##verb;
TH_VERBS(X)
#undef X

typedef enum th_parse_result { TH_PARSE_OK, TH_PARSE_HELP, TH_PARSE_BAD } th_parse_result;

// Reads argv[0 .. argc). Options may stand before or after operands; "--" ends them. Help goes to
// stdout, complaints to stderr. `operands` has room for operand_max texts; unused ones become NULL.
th_parse_result th_args_parse(const th_command *command, const th_option *options, int option_count,
                              int argc, char **argv, const char **operands);

// "throng run scenes/hall.json --set 'name=a b'", quoted for a shell; to be freed.
char *th_command_line(const th_command *command, int argc, char **argv);

// ---- values that several verbs take. Each complains and returns false when the text is something else; a text of
// NULL is fine and leaves the target alone.

// "cpu" or "cuda".
bool th_read_backend(const th_command *command, const char *text, th_backend *backend);
// --colour: speed, density or group; false: complained.
// `moods`: "mood" may be given, too, which recordings do not keep.
bool th_read_colour(const th_command *command, const char *given, bool moods,
                    th_colour_by *colour_by);
// "m" or "cm", as metres.
bool th_read_unit(const th_command *command, const char *text, double *unit);
// "100:800", "100:" or ":800"; -1: no last one.
bool th_read_frames(const th_command *command, const char *text, int64_t *first, int64_t *last);
// "0,-1"
bool th_read_direction(const th_command *command, const char *text, th_point *direction);
// "classic", "voronoi", "gaussian" or, where several are allowed, "all".
bool th_read_method(const th_command *command, const char *text, bool several,
                    bool methods[TH_DENSITY_METHODS]);
// Places to measure in, "NAME=x0,y0,x1,y1" or "NAME=POLYGON (...)"; without a name "area 1", ... `wkt` points into
// the list or the area itself, which must stay where it is.
typedef struct th_typed_area {
    th_place_text place;
    const char *wkt;
    char rectangle[256];
} th_typed_area;
bool th_read_areas(const th_command *command, const th_text_list *texts, th_typed_area *areas);

// The word that was probably meant, or NULL when none is near.
const char *th_suggest(const char *typed, const char *const *words, int count);

// A model as options write it, as a scene writes it: "social_force:hfv2000" becomes {"model": "social_force", "preset":
// "hfv2000"} in `text`; names and objects stay as they are, and NULL is NULL.
enum { TH_MODEL_TEXT = 400 };
const char *th_model_text(const char *given, char text[TH_MODEL_TEXT]);

// One line on stderr that says which subcommand complains.
void th_complain(const th_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
#endif
