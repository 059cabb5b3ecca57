// throng report: the report of a folder as a PDF. SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"
#include "report/pdf.h"
#include <stdio.h>
#include <time.h>

static int run_report(const th_command *command, int argc, char **argv) {
    th_pdf_def def = {0};
    th_text_list assumptions = {0};
    bool pdf = false, quiet = false;
    const th_option options[] = {
        {"pdf", TH_OPTION_FLAG, &pdf, NULL, "write DIR/report.pdf (there is no other form yet)", 0,
         0},
        {"out", TH_OPTION_TEXT, &def.path, "FILE", "the PDF (default DIR/report.pdf)", 0, 0},
        {"project", TH_OPTION_TEXT, &def.project, "TEXT", "for the title block", 0, 0},
        {"author", TH_OPTION_TEXT, &def.author, "TEXT", "the same", 0, 0},
        {"revision", TH_OPTION_TEXT, &def.revision, "TEXT", "the same", 0, 0},
        {"date", TH_OPTION_TEXT, &def.date, "TEXT", "the same (default: today)", 0, 0},
        {"logo", TH_OPTION_TEXT, &def.logo, "PNG", "the same", 0, 0},
        {"assume", TH_OPTION_LIST, &assumptions, "TEXT", "an assumption of the author; repeatable",
         0, 0},
        {"verification", TH_OPTION_TEXT, &def.verification, "DIR",
         "of a `throng validate`, whose result is stated", 0, 0},
        {"quiet", TH_OPTION_FLAG, &quiet, NULL, "do not print the file's name", 0, 0},
    };
    th_parse_result parsed = th_args_parse(
        command, options, (int)(sizeof options / sizeof options[0]), argc, argv, &def.folder);
    if (parsed != TH_PARSE_OK) return parsed == TH_PARSE_HELP ? TH_EXIT_OK : TH_EXIT_USAGE;
    char today[32] = "";
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc)) strftime(today, sizeof today, "%Y-%m-%d", &utc);
    if (!def.date) def.date = today;
    def.assumptions = assumptions.items;
    def.assumption_count = assumptions.count;
    th_error error = {0};
    int pages = 0;
    if (th_report_pdf(&def, &pages, &error) != TH_OK)
        return th_report_error(error.file[0] ? error.file : def.folder, &error);
    if (!quiet)
        printf("%s%s: %d pages\n", def.path ? def.path : def.folder, def.path ? "" : "/report.pdf",
               pages);
    return TH_EXIT_OK;
}

const th_command th_command_report = {
    .name = "report",
    .operands = "DIR",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "the report of a folder as a PDF",
    .detail = "DIR is the folder of a run, a sweep or a comparison. Sets its report.html with the "
              "figures "
              "on A4:\n"
              "title block, assumptions, settings that differ from defaults, verification, page "
              "numbers.",
    .examples =
        "  throng report evening --pdf\n"
        "  throng report evening --pdf --project 'Town hall' --author 'A. Miller' --revision B \\\n"
        "      --logo logo.png --assume 'Stewards hold the doors open.' --verification "
        "runs/validation\n",
    .run = run_report,
};
