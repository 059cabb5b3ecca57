// report.html of a folder as a PDF with a title block and page numbers. SPDX-License-Identifier: Apache-2.0
#ifndef TH_REPORT_PDF_H
#define TH_REPORT_PDF_H
#include "throng/base.h"

typedef struct th_pdf_def {
    const char *folder;                             // with report.html and figures/
    const char *path;                               // of the PDF; NULL: folder/report.pdf
    const char *project, *author, *revision, *date; // of the title block; NULL: left out
    const char *logo;                               // a PNG; NULL: none
    const char *verification;                       // folder of a `throng validate`; NULL: none
    const char *const *assumptions;                 // of the author
    int assumption_count;
} th_pdf_def;

th_result th_report_pdf(const th_pdf_def *def, int *pages, th_error *error);
#endif
