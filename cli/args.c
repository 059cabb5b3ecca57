// Option parsing, help texts and hints. SPDX-License-Identifier: Apache-2.0
#include "cli/args.h"

// The nearest-word search that the scene loader uses for unknown keys.
#include "core/error.h"
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_MAX = 48 };

// Two neighbouring letters exchanged, the slip that counts as two in an edit distance.
static bool is_swap(const char *a, const char *b) {
    while (*a && *a == *b) ++a, ++b;
    return *a && *b && a[0] == b[1] && a[1] == b[0] && strcmp(a + 2, b + 2) == 0;
}

const char *th_suggest(const char *typed, const char *const *words, int count) {
    // The beginning of a word is a better guess than any slip: "--thr" means "--threads".
    for (int i = 0; i < count; ++i)
        if (strlen(typed) >= 2 && strncmp(typed, words[i], strlen(typed)) == 0) return words[i];
    for (int i = 0; i < count; ++i)
        if (is_swap(typed, words[i])) return words[i];
    return th_nearest_word(typed, words, count);
}

void th_complain(const th_command *command, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "throng %s: ", command->name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

static void print_option(const char *name, const char *value, const char *doc) {
    char left[WORD_MAX];
    snprintf(left, sizeof left, "--%s%s%s", name, value ? " " : "", value ? value : "");
    printf("  %-22s %s\n", left, doc);
}

static void print_help(const th_command *command, const th_option *options, int option_count) {
    printf("usage: throng %s%s%s [options]\n\n%s\n", command->name, *command->operands ? " " : "",
           command->operands, command->detail);
    printf("\noptions\n");
    for (int i = 0; i < option_count; ++i)
        print_option(options[i].name, options[i].value, options[i].doc);
    print_option("help", NULL, "this text");
    printf("\nexamples\n%s\nexit codes: 0 done, 1 wrong command line, 2 wrong scene, 3 failed, 130 "
           "interrupted\n",
           command->examples);
}

static bool read_number(const th_command *command, const th_option *option, const char *text) {
    char *end = NULL;
    errno = 0;
    double real = 0;
    long long integer = 0;
    if (option->kind == TH_OPTION_INTEGER) {
        integer = strtoll(text, &end, 10);
        real = (double)integer;
    } else {
        real = strtod(text, &end);
    }
    bool is_number = end != text && *end == '\0' && errno == 0;
    if (!is_number || !(real >= option->min && real <= option->max)) {
        th_complain(command, "--%s %s: give %s from %g to %g", option->name, text,
                    option->kind == TH_OPTION_INTEGER ? "a whole number" : "a number", option->min,
                    option->max);
        return false;
    }
    if (option->kind == TH_OPTION_INTEGER)
        *(long long *)option->target = integer;
    else
        *(double *)option->target = real;
    return true;
}

static bool store(const th_command *command, const th_option *option, const char *text) {
    if (option->kind == TH_OPTION_TEXT) {
        *(const char **)option->target = text;
        return true;
    }
    if (option->kind != TH_OPTION_LIST) return read_number(command, option, text);
    th_text_list *list = option->target;
    if (list->count == TH_LIST_MAX) {
        th_complain(command, "--%s %s: more than %d of them; put them into the scene file",
                    option->name, text, TH_LIST_MAX);
        return false;
    }
    list->items[list->count++] = text;
    return true;
}

static void complain_unknown(const th_command *command, const th_option *options, int option_count,
                             const char *typed) {
    const char *words[TH_LIST_MAX];
    int count = 0;
    for (int i = 0; i < option_count && count < TH_LIST_MAX - 1; ++i)
        words[count++] = options[i].name;
    words[count++] = "help";
    const char *nearest = th_suggest(typed, words, count);
    if (nearest)
        th_complain(command, "unknown option --%s; did you mean --%s?", typed, nearest);
    else
        th_complain(command, "unknown option --%s; `throng help %s` lists them", typed,
                    command->name);
}

// Consumes the option at argv[*at], and its value where it has one.
static bool parse_option(const th_command *command, const th_option *options, int option_count,
                         int argc, char **argv, int *at) {
    const char *typed = argv[*at] + 2;
    const char *equals = strchr(typed, '=');
    size_t length = equals ? (size_t)(equals - typed) : strlen(typed);
    char name[WORD_MAX];
    snprintf(name, sizeof name, "%.*s", (int)length, typed);
    for (int i = 0; i < option_count; ++i) {
        if (strcmp(options[i].name, name) != 0) continue;
        if (options[i].kind == TH_OPTION_FLAG) {
            if (equals) th_complain(command, "--%s takes no value", name);
            *(bool *)options[i].target = true;
            return !equals;
        }
        if (equals) return store(command, &options[i], equals + 1);
        if (*at + 1 < argc) return store(command, &options[i], argv[++*at]);
        th_complain(command, "--%s needs a value: --%s %s", name, name, options[i].value);
        return false;
    }
    complain_unknown(command, options, option_count, name);
    return false;
}

th_parse_result th_args_parse(const th_command *command, const th_option *options, int option_count,
                              int argc, char **argv, const char **operands) {
    int operand_count = 0;
    bool options_ended = false;
    for (int i = 0; i < command->operand_max; ++i) operands[i] = NULL;
    for (int i = 0; i < argc; ++i) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help(command, options, option_count);
            return TH_PARSE_HELP;
        }
        if (strcmp(argv[i], "--") == 0) break;
    }
    for (int i = 0; i < argc; ++i) {
        if (!options_ended && strcmp(argv[i], "--") == 0) {
            options_ended = true;
        } else if (!options_ended && strncmp(argv[i], "--", 2) == 0) {
            if (!parse_option(command, options, option_count, argc, argv, &i)) return TH_PARSE_BAD;
        } else if (!options_ended && argv[i][0] == '-' && argv[i][1] != '\0') {
            th_complain(command, "unknown option %s; options begin with two dashes", argv[i]);
            return TH_PARSE_BAD;
        } else if (operand_count < command->operand_max) {
            operands[operand_count++] = argv[i];
        } else {
            th_complain(command, "'%s' is one word too many; usage: throng %s %s [options]",
                        argv[i], command->name, command->operands);
            return TH_PARSE_BAD;
        }
    }
    if (operand_count >= command->operand_min) return TH_PARSE_OK;
    th_complain(command, "%s is missing; usage: throng %s %s [options]", command->operands,
                command->name, command->operands);
    return TH_PARSE_BAD;
}

// Does a shell take the word without quotes?
static bool plain(const char *word) {
    for (const char *c = word; *c; ++c)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=,:+%@", *c))
            return false;
    return *word != '\0';
}

static void put_quoted(FILE *text, const char *word) {
    if (plain(word)) {
        fputs(word, text);
        return;
    }
    fputc('\'', text);
    for (const char *c = word; *c; ++c) {
        if (*c == '\'')
            fputs("'\\''", text);
        else
            fputc(*c, text);
    }
    fputc('\'', text);
}

char *th_command_line(const th_command *command, int argc, char **argv) {
    char *line = NULL;
    size_t size = 0;
    FILE *text = open_memstream(&line, &size);
    if (!text) return NULL;
    fprintf(text, "throng %s", command->name);
    for (int i = 0; i < argc; ++i) {
        fputc(' ', text);
        put_quoted(text, argv[i]);
    }
    if (fclose(text) == 0) return line;
    free(line);
    return NULL;
}

// ---- values that several verbs take

bool th_read_backend(const th_command *command, const char *text, th_backend *backend) {
    if (!text) return true;
    *backend = strcmp(text, "cuda") == 0 ? TH_BACKEND_CUDA : TH_BACKEND_CPU;
    bool known = *backend == TH_BACKEND_CUDA || strcmp(text, "cpu") == 0;
    if (!known) th_complain(command, "--device %s: give cpu or cuda", text);
    return known;
}

bool th_read_unit(const th_command *command, const char *text, double *unit) {
    if (!text) return true;
    bool metres = strcmp(text, "m") == 0, centimetres = strcmp(text, "cm") == 0;
    *unit = metres ? 1 : 0.01;
    if (!metres && !centimetres) th_complain(command, "--unit is m or cm, not '%s'", text);
    return metres || centimetres;
}

bool th_read_frames(const th_command *command, const char *text, int64_t *first, int64_t *last) {
    if (!text) return true;
    const char *colon = strchr(text, ':');
    char *first_end = NULL, *last_end = NULL;
    *first = colon && colon != text ? strtoll(text, &first_end, 10) : 0;
    *last = colon && colon[1] ? strtoll(colon + 1, &last_end, 10) : -1;
    bool good = colon && (!first_end || first_end == colon) && *first >= 0 &&
                (!last_end || (*last_end == '\0' && *last >= *first));
    if (!good) th_complain(command, "--frames %s: write FIRST:LAST, FIRST: or :LAST", text);
    return good;
}

bool th_read_direction(const th_command *command, const char *text, th_point *direction) {
    if (!text) return true;
    char rest = 0;
    double x = 0, y = 0;
    if (sscanf(text, "%lf,%lf%c", &x, &y, &rest) == 2 && isfinite(x) && isfinite(y) &&
        hypot(x, y) > 0) {
        *direction = (th_point){x, y};
        return true;
    }
    th_complain(command, "--direction %s: two numbers x,y, e.g. 0,-1", text);
    return false;
}

bool th_read_method(const th_command *command, const char *text, bool several,
                    bool methods[TH_DENSITY_METHODS]) {
    static const char *const words[] = {"classic", "voronoi", "gaussian", "all"};
    int count = several ? 4 : 3;
    if (!text) return true;
    for (int m = 0; m < count; ++m) {
        if (strcmp(text, words[m]) != 0) continue;
        for (int k = 0; k < TH_DENSITY_METHODS; ++k) methods[k] = m == 3 || k == m;
        return true;
    }
    const char *nearest = th_suggest(text, words, count);
    if (nearest)
        th_complain(command, "no method '%s'; did you mean %s", text, nearest);
    else
        th_complain(command, "no method '%s'; there are classic, voronoi%s", text,
                    several ? ", gaussian and all" : " and gaussian");
    return false;
}

bool th_read_areas(const th_command *command, const th_text_list *texts, th_typed_area *areas) {
    for (int i = 0; i < texts->count; ++i) {
        th_error error = {0};
        th_typed_area *area = &areas[i];
        th_place_text *place = &area->place;
        if (th_place_text_read(texts->items[i], place, &error) != TH_OK) {
            th_complain(command, "--area %s", error.message);
            return false;
        }
        if (place->name[0] == '\0') snprintf(place->name, sizeof place->name, "area %d", i + 1);
        area->wkt = place->is_box ? area->rectangle : place->wkt;
        if (place->is_box) th_place_rectangle(place, area->rectangle, sizeof area->rectangle);
        if (place->is_box && area->rectangle[0] == '\0') {
            th_complain(command, "--area %s: the rectangle has no width or no height",
                        texts->items[i]);
            return false;
        }
    }
    return true;
}

const char *th_model_text(const char *given, char text[TH_MODEL_TEXT]) {
    const char *colon = given && *given != '{' ? strchr(given, ':') : NULL;
    if (!colon) return given;
    snprintf(text, TH_MODEL_TEXT, "{\"model\": \"%.*s\", \"preset\": \"%s\"}", (int)(colon - given),
             given, colon + 1);
    return text;
}

bool th_read_colour(const th_command *command, const char *given, bool moods,
                    th_colour_by *colour_by) {
    static const char *const words[] = {"speed", "density", "group", "mood"};
    int count = moods ? 4 : 3;
    for (int i = 0; i < count; ++i) {
        if (strcmp(given, words[i]) != 0) continue;
        *colour_by = (th_colour_by)i;
        return true;
    }
    const char *nearest = th_suggest(given, words, count);
    th_complain(command, "--colour %s: give speed, density%s%s%s%s", given,
                moods ? ", group or mood" : " or group", nearest ? "; did you mean " : "",
                nearest ? nearest : "", nearest ? "?" : "");
    return false;
}
