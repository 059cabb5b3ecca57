// report.html: one file with everything in it. SPDX-License-Identifier: Apache-2.0
#include "report/page.h"
#include "core/error.h"
#include "report/findings.h"
#include "throng/scene_view.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void add_head(th_text *page, const th_figure_data *data) {
    const char *name = data->scene->name;
    const char *title = name && *name ? name : "scene without a name";
    th_text_put(page, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                      "<title>");
    th_text_escaped(page, title);
    th_text_put(page, " \xe2\x80\x93 crowd simulation report</title>\n<style>");
    th_text_put(page, th_page_style);
    th_text_put(
        page,
        "</style></head>\n<body>\n<header><p class=\"note\">Crowd simulation report, throng ");
    th_text_escaped(page, th_version());
    th_text_put(page, "</p><h1>");
    th_text_escaped(page, title);
    th_text_put(page, "</h1>");
    if (data->scene->description && *data->scene->description) {
        th_text_put(page, "<p>");
        th_text_escaped(page, data->scene->description);
        th_text_put(page, "</p>");
    }
    th_text_put(page, "</header>\n");
}

static th_result add_warnings(th_text *page, const th_figure_data *data, th_error *error) {
    th_warnings warnings;
    th_result result = th_report_warnings(data->def, &warnings, error);
    if (result != TH_OK) return result;
    if (warnings.count > 0) {
        th_text_put(page, "<section class=\"warnings\"><h2>Warnings</h2><ul>");
        for (int i = 0; i < warnings.count; ++i) {
            th_text_put(page, "<li>");
            th_text_escaped(page, warnings.texts[i]);
            th_text_put(page, "</li>\n");
        }
        th_text_put(page, "</ul></section>\n");
    } else {
        th_text_put(page, "<section class=\"fine\"><p>No warnings. Looked at: people left behind, "
                          "densities, loads on bodies, flows, congestion, overlaps, people in "
                          "walls, lost events, the recording.</p></section>\n");
    }
    th_warnings_release(&warnings);
    return TH_OK;
}

static th_result add_figure(th_text *page, const th_figure *figure, int number,
                            const th_figure_data *data, th_error *error) {
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/figures/%s.png", data->def->folder, figure->name);
    if (length >= (int)sizeof path)
        return th_fail(error, TH_NO_FILE, "",
                       "the folder's path is too long; choose a shorter one");
    th_text_add(page, "<figure id=\"figure-%s\">", figure->name);
    th_result result = th_figure_write(figure, data, path, page, error);
    if (result != TH_OK) return result;
    th_text_add(page, "<figcaption><strong>Figure %d. %s.</strong> ", number, figure->title);
    figure->caption(page, data);
    th_text_put(page, "</figcaption></figure>\n");
    return TH_OK;
}

// The plan stands with the input, the others with the results.
static th_result add_results(th_text *page, const th_figure_data *data, th_error *error) {
    th_result result = TH_OK;
    int number = 1;
    th_text left_out = {0};
    th_text_put(page, "<section><h2>Results</h2>\n");
    for (int i = 1; i < th_figure_count && result == TH_OK; ++i) {
        if (th_figures[i].applies(data))
            result = add_figure(page, &th_figures[i], ++number, data, error);
        else if (th_figures[i].why_not)
            th_text_add(&left_out, "<li>%s</li>", th_figures[i].why_not);
    }
    if (left_out.length > 0) {
        th_text_put(page, "<p class=\"note\">Figures left out:</p><ul class=\"note\">");
        th_text_append(page, left_out.bytes, left_out.length);
        th_text_put(page, "</ul>\n");
    }
    page->failed = page->failed || left_out.failed;
    th_text_release(&left_out);
    th_page_counters(page, data);
    th_page_areas(page, data);
    th_page_runs(page, data);
    th_text_put(page, "</section>\n");
    return result;
}

static th_result add_everything(th_text *page, const th_figure_data *data, th_error *error) {
    add_head(page, data);
    th_page_answer(page, data);
    th_result result = add_warnings(page, data, error);
    th_text_put(page, "<section><h2>What was simulated</h2>\n");
    if (result == TH_OK && th_figures[0].applies(data))
        result = add_figure(page, &th_figures[0], 1, data, error);
    if (result != TH_OK) return result;
    th_page_population(page, data);
    th_page_differences(page, data);
    th_text_put(page, "</section>\n");
    result = add_results(page, data, error);
    if (result != TH_OK) return result;
    th_page_method(page, data);
    th_page_reproduce(page, data);
    th_text_put(page, "</body></html>\n");
    return page->failed ? th_fail(error, TH_NO_MEMORY, "", "no memory for the report; free some")
                        : TH_OK;
}

static th_result make_figures_folder(const char *folder, th_error *error) {
    char path[4096];
    if (snprintf(path, sizeof path, "%s/figures", folder) >= (int)sizeof path)
        return th_fail(error, TH_NO_FILE, "",
                       "the folder's path is too long; choose a shorter one");
    if (mkdir(path, 0777) == 0 || errno == EEXIST) return TH_OK;
    return th_file_fail(error, path, "the folder cannot be made: %s; choose another folder",
                        strerror(errno));
}

th_result th_report_page(const th_report_def *def, th_error *error) {
    th_figure_data data;
    th_text page = {0};
    th_result result = make_figures_folder(def->folder, error);
    if (result != TH_OK) return result;
    result = th_figure_data_make(&data, def, error);
    if (result == TH_OK) result = add_everything(&page, &data, error);
    if (result == TH_OK)
        result = th_text_write(&page, def->folder, "report.html", TH_SYNCED, error);
    th_figure_data_release(&data);
    th_text_release(&page);
    return result;
}

// ---- the style sheet: one column on a screen, A4 on paper

const char th_page_style[] =
    "html{font:16px/1.5 system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",Arial,"
    "sans-serif;color:#1a1a1a;background:#fff}"
    "body{max-width:58rem;margin:0 auto;padding:1.5rem}"
    "header{border-bottom:2px solid #1a1a1a;margin-bottom:1.5rem}"
    "h1{font-size:1.9rem;line-height:1.2;margin:.5rem 0 .3rem}"
    "h2{font-size:1.35rem;margin:2.4rem 0 .6rem;border-bottom:1px solid #bbb;padding-bottom:.2rem}"
    "h3{font-size:1.08rem;margin:1.6rem 0 .4rem}"
    "p{margin:.5rem 0}small,.note,figcaption{color:#444}.note{font-size:.9rem}"
    ".answer{border-left:6px solid #0072b2;background:#eef4f8;padding:.6rem 1.2rem;margin:1.2rem 0}"
    ".facts{display:flex;flex-wrap:wrap;gap:.4rem 2.2rem;margin:.7rem 0 .2rem}.facts "
    "dt{font-size:.85rem;"
    "color:#444}.facts dd{margin:0;font-weight:600}"
    ".headline{font-size:1.3rem;line-height:1.4;font-weight:600}"
    ".warnings{border-left:6px solid #d55e00;background:#fbf1ea;padding:.6rem 1.2rem;margin:1.2rem "
    "0}"
    ".warnings h2{border:0;margin:.2rem 0;font-size:1.1rem}.warnings ul{margin:.3rem "
    "0;padding-left:1.2rem}"
    ".fine{border-left:6px solid #009e73;background:#edf7f4;padding:.6rem 1.2rem;margin:1.2rem 0}"
    "figure{margin:1.8rem 0 2.2rem}figure svg{display:block;width:100%;height:auto}"
    "figcaption{font-size:.92rem;margin-top:.3rem;padding:0 .8rem}"
    "figcaption strong:first-child{color:#1a1a1a}"
    "table{border-collapse:collapse;font-size:.88rem;line-height:1.35;width:100%}"
    "th,td{text-align:left;vertical-align:top;padding:.3rem .6rem;border-bottom:1px solid #ddd}"
    "thead th{border-bottom:2px solid #666;vertical-align:bottom}tbody th{font-weight:600;"
    "overflow-wrap:anywhere;min-width:7rem}"
    "td{overflow-wrap:anywhere;min-width:3.2rem}.n{overflow-wrap:normal;text-align:right;font-"
    "variant-numeric:tabular-nums}.wide{overflow-x:auto}"
    "code{font:.88em ui-monospace,\"DejaVu Sans Mono\",Menlo,Consolas,monospace;"
    "overflow-wrap:anywhere}"
    "td code{white-space:nowrap}"
    "dl.method{display:grid;grid-template-columns:minmax(8rem,14rem) 1fr;gap:.35rem 1rem;"
    "font-size:.92rem}dl.method dt{font-weight:600}dl.method dd{margin:0;min-width:0}"
    "footer{margin-top:2rem;border-top:1px solid #bbb;font-size:.85rem;color:#555}"
    "@page{size:A4;margin:16mm 15mm 18mm}"
    "@media print{html{font-size:10.5pt}body{max-width:none;padding:0}"
    "figure,tr,.answer,.warnings,.fine,dl.method>div{break-inside:avoid}"
    "figure svg{max-height:225mm}h2,h3{break-after:avoid}thead{display:table-header-group}"
    ".answer,.warnings,.fine{print-color-adjust:exact;-webkit-print-color-adjust:exact}"
    ".wide{overflow:visible}a{color:inherit;text-decoration:none}}";
