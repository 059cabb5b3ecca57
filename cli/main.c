// throng, the program: one table of subcommands. SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"
#include "throng/record.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const th_command *const commands[] = {
#define X(verb) &th_command_##verb,
    TH_VERBS(X)
#undef X
};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static void print_help(void) {
    printf("throng %s: dense-crowd simulation\n\nusage: throng COMMAND [options]\n\ncommands\n",
           th_version());
    for (int i = 0; i < COMMAND_COUNT; ++i)
        printf("  %-10s %-11s %s\n", commands[i]->name, commands[i]->operands,
               commands[i]->summary);
    printf("  %-10s %-11s %s\n", "help", "COMMAND", "options and examples of a command");
    printf("\nexamples\n"
           "  throng                       a live crowd in the browser\n"
           "  throng run scenes/station.json --record sqlite\n"
           "  throng run scenes/door.json --runs 20\n"
           "  throng picture scenes/station.json --at 0,10,30 --out pictures\n"
           "  throng help run\n"
           "\n`throng --version` prints the version. Exit codes: 0 done, 1 wrong command line, "
           "2 wrong scene,\n3 failed, 4 a test of `throng validate` failed, 130 interrupted.\n");
}

static const th_command *find_command(const char *name) {
    for (int i = 0; i < COMMAND_COUNT; ++i)
        if (strcmp(commands[i]->name, name) == 0) return commands[i];
    return NULL;
}

static int complain_unknown(const char *typed) {
    const char *words[COMMAND_COUNT + 3] = {"help", "--help", "--version"};
    for (int i = 0; i < COMMAND_COUNT; ++i) words[i + 3] = commands[i]->name;
    const char *nearest = th_suggest(typed, words, COMMAND_COUNT + 3);
    if (nearest)
        fprintf(stderr, "throng: unknown command '%s'; did you mean 'throng %s'?\n", typed,
                nearest);
    else
        fprintf(stderr, "throng: unknown command '%s'; `throng help` lists them\n", typed);
    return TH_EXIT_USAGE;
}

static int help_on(const char *name) {
    const th_command *command = find_command(name);
    if (!command) return complain_unknown(name);
    char help[] = "--help";
    char *arguments[] = {help};
    return command->run(command, 1, arguments);
}

static int dispatch(int argc, char **argv) {
#ifdef TH_STUDIO
    // Without arguments a live crowd opens; a script gets the help.
    if (argc < 2 && isatty(STDOUT_FILENO))
        return th_command_studio.run(&th_command_studio, 0, argv);
#endif
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        (strcmp(argv[1], "help") == 0 && argc < 3)) {
        print_help();
        return TH_EXIT_OK;
    }
    if (strcmp(argv[1], "help") == 0) return help_on(argv[2]);
    if (strcmp(argv[1], "--version") == 0) {
        puts(th_build_info()); // begins with name and version
        return TH_EXIT_OK;
    }
    const th_command *command = find_command(argv[1]);
    if (!command) return complain_unknown(argv[1]);
    return command->run(command, argc - 2, argv + 2);
}

// Reports output that was not written: a full disk must not look like success.
static int finish_output(int code) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    fprintf(stderr, "throng: the output could not be written; is the disk full?\n");
    return code == TH_EXIT_OK ? TH_EXIT_FAILED : code;
}

int main(int argc, char **argv) {
    th_record_serve_scenes();
    return finish_output(dispatch(argc, argv));
}
