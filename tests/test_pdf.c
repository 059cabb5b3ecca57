// A report as a PDF: title block, page numbers, tables and figures; what is refused. SPDX-License-Identifier: Apache-2.0
#include "program.h"

static bool has_pdftotext(void) { return system("command -v pdftotext >/dev/null") == 0; }

static void report_becomes_pdf(void **state) {
    (void)state;
    program p;
    program_begin(&p);
    assert_code(throng(&p, "run " TH_SOURCE_DIR "/scenes/door.json --set groups.0.count=20 "
                           "--set \"name=A & B <hall>\" --runs 3 --threads 1 --quiet --out r"),
                0);
    assert_code(throng(&p,
                       "report r --pdf --project Townhall --author 'A. Miller' --revision C --date "
                       "2026-01-02 --logo r/figures/plan.png --assume 'Stewards hold <doors>.' "
                       "--verification " TH_SOURCE_DIR "/docs/sample-validation"),
                0);
    int pages = 0;
    assert_int_equal(sscanf(p.last.out, "r/report.pdf: %d pages", &pages), 1);
    assert_in_range(pages, 5, 40);
    char *pdf = program_file(&p, "r/report.pdf");
    assert_int_equal(strncmp(pdf, "%PDF-", 5), 0);
    free(pdf);
    if (has_pdftotext()) {
        char last[64];
        assert_code(shell(&p, "pdftotext -layout r/report.pdf -"), 0);
        const char *const said[] = {
            "Townhall",        "A. Miller",   "2026-01-02",           "Stewards hold <doors>.",
            "A & B <hall>",    "Assumptions", "Settings that differ", "state hash",
            "Exits, all runs", "page 1 of"};
        for (size_t k = 0; k < sizeof said / sizeof *said; ++k) assert_holds(p.last.out, said[k]);
        snprintf(last, sizeof last, "page %d of %d", pages, pages);
        assert_holds(p.last.out, last);
        assert_holds(p.last.out, "70 passed");
        // No markup and no style sheet came through.
        assert_null(strstr(p.last.out, "font-size"));
        assert_null(strstr(p.last.out, "<td"));
    }
    assert_code(throng(&p, "report r --pdf --logo r/runs.csv"), 2);
    assert_holds(p.last.error, "is no PNG");
    assert_code(throng(&p, "report r --pdf --verification r"), 2);
    assert_holds(p.last.error, "validation.json");
    assert_code(throng(&p, "report . --pdf"), 2);
    program_end(&p);
}

// Pages that a person or another program wrote break nothing.
static void strange_pages_end(void **state) {
    (void)state;
    program p;
    program_begin(&p);
    static const char *const pages[] = {
        "",
        "<",
        "<p",
        "<table><td>a<tr></table></p></table>",
        "<svg>never ends",
        "<figure id=\"figure-../../none\"><p>&amp;&nope; \xff\xfe</p>",
        "<h1><h2><h3></h1>x",
        "<table><thead><tr><th>x</th></thead></table><table></table>"};
    for (size_t k = 0; k < sizeof pages / sizeof *pages; ++k) {
        char path[128];
        snprintf(path, sizeof path, "%s/report.html", p.folder);
        write_text(path, pages[k]);
        assert_in_range(throng(&p, "report . --pdf")->code, 0, 3);
    }
    program_end(&p);
}

// A word of ten thousand letters is cut to lines, not lost.
static void long_words_are_cut(void **state) {
    (void)state;
    program p;
    program_begin(&p);
    char path[128], word[10100] = "<p>";
    for (int k = 0; k < 10000; ++k) word[3 + k] = 'w';
    strcpy(word + 10003, "</p>");
    snprintf(path, sizeof path, "%s/report.html", p.folder);
    write_text(path, word);
    assert_code(throng(&p, "report . --pdf"), 0);
    if (has_pdftotext()) {
        int letters = 0;
        assert_code(shell(&p, "pdftotext -layout report.pdf -"), 0);
        for (const char *at = p.last.out; *at; ++at) letters += *at == 'w';
        assert_int_equal(letters, 10000);
    }
    program_end(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(report_becomes_pdf),
        cmocka_unit_test(strange_pages_end),
        cmocka_unit_test(long_words_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
