// A watch over a running world (throng/findings.h): an observer without tracks. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "observe/findings.h"
#include "throng/scene_view.h"
#include <stdlib.h>

struct th_watch {
    th_observer *observer;
    th_findings *of_scene;
    const th_scene_view *scene;
};

th_result th_watch_create(th_world *world, th_watch **out, th_error *error) {
    th_observer_def def = th_observer_def_default();
    def.track_count = 0;
    th_watch *watch = *out = calloc(1, sizeof *watch);
    if (!watch) return th_fail(error, TH_NO_MEMORY, "", "no memory for a watch; free some");
    watch->scene = th_scene_view_of(th_world_scene(world));
    th_result result = th_scene_findings(watch->scene->scene, &watch->of_scene, error);
    if (result == TH_OK) result = th_observer_create(world, &def, &watch->observer, error);
    if (result == TH_OK) result = th_observer_see(watch->observer, world, error);
    if (result == TH_OK) return result;
    th_watch_destroy(watch);
    *out = NULL;
    return result;
}

void th_watch_destroy(th_watch *watch) {
    if (!watch) return;
    th_observer_destroy(watch->observer);
    th_findings_destroy(watch->of_scene);
    free(watch);
}

th_result th_watch_see(th_watch *watch, th_world *world, th_error *error) {
    return th_observer_see(watch->observer, world, error);
}

th_result th_watch_findings(const th_watch *watch, th_findings **findings, th_error *error) {
    return th_observation_findings(watch->scene, watch->of_scene, th_watch_observation(watch),
                                   false, findings, error);
}

th_observation *th_watch_observation(const th_watch *watch) {
    return th_observer_observation(watch->observer);
}
