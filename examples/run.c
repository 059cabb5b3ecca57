// Runs a scene for several seeds into a folder and says how long it takes to empty.
// cc run.c $(pkg-config --cflags --libs throng-run); ./a.out [SCENE [FOLDER]]
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <throng/run.h>
#include <unistd.h>

static bool watch(const th_runs_progress *now, void *context) {
    (void)context;
    if (now->moment == TH_RUNS_RUN_DONE) printf("%d of %d runs\n", now->done, now->count);
    if (now->moment == TH_RUNS_NOTE) fprintf(stderr, "%s\n", now->text);
    return true; // false would stop here, and keep what there is
}

int main(int argc, char **argv) {
    char folder[64];
    snprintf(folder, sizeof folder, "/tmp/throng-example-%ld", (long)getpid());
    th_runs_def def = th_runs_def_default();
    def.scene = argc > 1 ? argv[1] : "scenes/door.json";
    def.out = argc > 2 ? argv[2] : folder;
    def.runs = 5;
    def.record = "sqlite"; // trajectories of the first run
    def.watch = watch;

    th_error error = {0};
    th_runs *runs = NULL;
    if (th_runs_create(&def, &runs, &error) != TH_OK || th_runs_execute(runs, &error) != TH_OK) {
        fprintf(stderr, "%s: %s %s\n", error.file, error.path, error.message);
        th_runs_destroy(runs);
        return 1;
    }
    int points = 0, count = 0, found = 0;
    const th_egress *egress = &th_runs_points(runs, &points)->egress;
    const th_run_outcome *outcomes = th_runs_outcomes(runs, &count);
    const th_finding *findings = th_findings_list(th_runs_findings(runs), &found);
    for (int i = 0; i < count; ++i)
        printf("seed %llu: %.1f s, %llu left\n", (unsigned long long)outcomes[i].seed,
               outcomes[i].egress_time, (unsigned long long)outcomes[i].left);
    for (int i = 0; i < found; ++i)
        printf("%s: %s\n", th_severity_name(findings[i].severity), findings[i].text);
    printf("median egress time %.1f s (%.1f .. %.1f), see %s/%s\n", egress->median, egress->min,
           egress->max, th_runs_about(runs)->folder, th_runs_about(runs)->page);
    th_runs_destroy(runs);
    char remove[96];
    snprintf(remove, sizeof remove, "rm -r '%s'", folder);
    return argc > 2 ? 0 : system(remove);
}
