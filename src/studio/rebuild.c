// Worlds made beside the one on show: an edit that needs another scene compiles it and prepares its planners in a thread of its
// own, while the crowd goes on; then the people move over between two steps. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/system/system.h"
#include "studio/studio.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- in the other thread

static void make(th_rebuild *job) {
    th_link_scope links = {job->base_dir, job->allow_links};
    job->result = TH_OK;
    if (job->document && !job->scene)
        job->result = th_play_compile(job->name, links, job->document, &job->scene, &job->error);
    if (job->result != TH_OK) return;
    atomic_store(&job->stage, TH_REBUILD_PLAN);
    // People who come meanwhile need room too.
    int people = job->people + job->people / 4 + 2000 + job->room;
    job->result = th_world_prepare(job->scene->scene, &job->def, people, &job->made, &job->error);
}

static void run(void *context) {
    th_rebuild *job = context;
    th_gate *gate = job->gate;
    atomic_int *ended = job->ended;
    double begun = th_thread_cpu_seconds();
    make(job);
    job->own = th_thread_cpu_seconds() - begun;
    th_gate_lock(gate);
    atomic_store(&job->stage, TH_REBUILD_DONE); // before it is told, so that it is seen
    atomic_store(ended, 1);
    th_gate_ring(gate);
    th_gate_unlock(gate);
}

// ---- in the stepping thread

static void release(th_rebuild *job) {
    if (!job) return;
    th_thread_join(job->thread);
    th_world_destroy(job->made);
    th_play_let_go(job->scene);
    json_decref(job->document);
    json_decref(job->id);
    json_decref(job->answer);
    free(job->base_dir);
    free(job);
}

// Takes document, scene and answer over. NULL: no memory.
static th_rebuild *job_of(th_studio *studio, int world, json_t *document, th_play_scene *scene,
                          const char *text, json_t *answer) {
    th_rebuild *job = calloc(1, sizeof *job);
    if (!job) {
        json_decref(document);
        json_decref(answer);
        th_play_let_go(scene);
        return NULL;
    }
    *job = (th_rebuild){.ended = &studio->rebuilt,
                        .gate = studio->exchange.gate,
                        .begun = th_monotonic_seconds(),
                        .base_dir = studio->base_dir ? strdup(studio->base_dir) : NULL,
                        .allow_links = studio->allow_links,
                        .def = th_play_definition(studio),
                        .world = world,
                        .people = th_world_agent_count(studio->plays[world].world),
                        .document = document,
                        .scene = scene,
                        .answer = answer};
    snprintf(job->text, sizeof job->text, "%s", text);
    memcpy(job->name, studio->name, sizeof job->name);
    if (studio->asked) {
        job->client = studio->asked->client;
        job->id = json_incref(json_object_get(studio->asked->message, "id"));
    }
    return job;
}

// The document of an edit becomes that of the play.
static void take_document(th_play *play, th_rebuild *job) {
    json_decref(play->document);
    play->document = job->document;
    job->document = NULL;
    play->dirty = false;
    json_decref(play->live_walls);
    play->live_walls = NULL;
}

static th_result finish_edit(th_studio *studio, th_rebuild *job, int *lost, th_error *error) {
    th_undo_push(studio, &studio->undo, job->world, job->text);
    th_result result = th_play_put(studio, job->world, job->scene, job->made, lost, error);
    job->scene = NULL;
    job->made = NULL;
    if (result != TH_OK) {
        th_undo_drop(&studio->undo);
        return result;
    }
    th_undo_clear(&studio->redo);
    take_document(&studio->plays[job->world], job);
    return TH_OK;
}

static th_result finish_undo(th_studio *studio, th_rebuild *job, int *lost, th_error *error) {
    const th_undo *undo = &job->from->items[job->from->count - 1];
    bool kept = th_undo_push(studio, job->to, job->world, undo->text);
    bool compiled = job->document != NULL; // from its document, with all live edits in it
    th_play *play = &studio->plays[job->world];
    th_result result = th_play_put(studio, job->world, job->scene, job->made, lost, error);
    job->scene = NULL;
    job->made = NULL;
    if (result == TH_OK && job->with_time)
        result = th_world_restore(play->world, undo->snapshot, undo->size, error);
    if (result != TH_OK) {
        if (kept) th_undo_drop(job->to);
        return result;
    }
    th_undo_leave(studio, job->from);
    if (!compiled || job->with_time) return TH_OK;
    play->dirty = false;
    json_decref(play->live_walls);
    play->live_walls = NULL;
    return TH_OK;
}

// The answer; NULL with an error.
static json_t *finish(th_studio *studio, th_rebuild *job, th_error *error) {
    int lost = 0;
    *error = job->error;
    th_result result = job->result;
    if (result == TH_OK)
        result = job->from ? finish_undo(studio, job, &lost, error)
                           : finish_edit(studio, job, &lost, error);
    if (result != TH_OK) return NULL;
    th_undo_trim(studio);
    studio->made_in[0] = th_monotonic_seconds() - job->begun;
    studio->made_in[1] = job->own;
    th_studio_tell_edited(studio, job->world,
                          !job->from                   ? job->text
                          : job->from == &studio->undo ? "undone"
                                                       : "redone",
                          "reload", lost);
    json_object_set_new(job->answer, "lost", json_integer(lost));
    return json_incref(job->answer);
}

// Begins beside the crowd, or does it at once where there are no threads.
static json_t *begin(th_studio *studio, th_rebuild *job, th_error *error) {
    if (!job) return th_request_refuse(error, "", "no memory to change the scene");
    if (studio->beside) {
        studio->rebuild = job;
        job->thread = th_thread_start(run, job);
        if (job->thread) {
            *error = (th_error){0};
            return NULL;
        }
        studio->rebuild = NULL;
    }
    make(job);
    json_t *answer = finish(studio, job, error);
    release(job);
    return answer;
}

json_t *th_rebuild_edit(th_studio *studio, int world, json_t *document, const char *text,
                        json_t *answer, th_error *error) {
    return begin(studio, job_of(studio, world, document, NULL, text, answer), error);
}

json_t *th_rebuild_undo(th_studio *studio, th_undo_stack *from, th_undo_stack *to, bool with_time,
                        th_error *error) {
    const th_undo *undo = &from->items[from->count - 1];
    // The compiled scene lacks later live edits, which the document has. An undo that goes back in time needs none of them.
    bool compiled = undo->scene && (!undo->dirty || with_time);
    json_t *answer = json_pack("{s:s,s:i}", "text", undo->text, "world", undo->world);
    th_rebuild *job = job_of(studio, undo->world, compiled ? NULL : json_deep_copy(undo->document),
                             compiled ? th_play_hold(undo->scene) : NULL, undo->text, answer);
    if (job) {
        job->from = from;
        job->to = to;
        job->with_time = with_time && (undo->scene || !undo->dirty);
        if (undo->people > job->people) job->people = undo->people;
        job->room = with_time ? 50000 : 0; // and for people who come later
    }
    return begin(studio, job, error);
}

void th_rebuild_finish(th_studio *studio) {
    if (!atomic_exchange(&studio->rebuilt, 0)) return;
    for (th_rebuild **at = &studio->given_up; *at;) {
        th_rebuild *job = *at;
        if (atomic_load(&job->stage) != TH_REBUILD_DONE) {
            at = &job->next;
            continue;
        }
        *at = job->next;
        release(job);
    }
    th_rebuild *job = studio->rebuild;
    if (!job || atomic_load(&job->stage) != TH_REBUILD_DONE) return;
    th_thread_join(job->thread);
    job->thread = NULL;
    studio->rebuild = NULL;
    th_error error = {0};
    json_t *answer = finish(studio, job, &error);
    th_studio_reply(studio, job->client, job->id, answer, &error);
    release(job);
}

bool th_rebuild_cancel(th_studio *studio) {
    th_rebuild *job = studio->rebuild;
    if (!job) return false;
    th_error error = {0};
    th_fail(&error, TH_BAD_ARGUMENT, "", "the change was given up before it was ready");
    th_studio_reply(studio, job->client, job->id, NULL, &error);
    studio->rebuild = NULL;
    job->next = studio->given_up;
    studio->given_up = job;
    studio->changed = true;
    return true;
}

void th_rebuild_release(th_studio *studio) {
    release(studio->rebuild);
    studio->rebuild = NULL;
    for (th_rebuild *job = studio->given_up, *next; job; job = next) {
        next = job->next;
        release(job);
    }
    studio->given_up = NULL;
}

json_t *th_rebuild_describe(const th_studio *studio) {
    static const char *const stages[] = {"compiling the scene", "preparing the ways", "ready"};
    const th_rebuild *job = studio->rebuild;
    if (!job) return json_null();
    return json_pack("{s:s,s:s,s:f}", "text", job->text, "stage", stages[atomic_load(&job->stage)],
                     "seconds", th_monotonic_seconds() - job->begun);
}
