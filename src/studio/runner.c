// The thread that steps the worlds: requests first, then steps at the wanted pace, then what there is to show. Taking moments
// and telling the state cost time that the simulation does not get, so both keep to a small share of it.
// SPDX-License-Identifier: Apache-2.0
#include "core/system/system.h"
#include "observe/findings.h"
#include "studio/exchange.h"
#include "studio/studio.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    FRAMES = 40, // per second at most
    FEW = 8      // requests of a client that does not flood
};

bool th_studio_init(th_studio *studio) {
    *studio = (th_studio){.speed = 1.0, .seed = 1};
    if (!th_studio_exchange_init(&studio->exchange)) return false;
    studio->exchange.rebuilt = &studio->rebuilt;
    return true;
}

void th_studio_release(th_studio *studio) {
    th_rebuild_release(studio);
    for (int w = 0; w < 2; ++w) th_play_release(&studio->plays[w]);
    th_undo_clear(&studio->undo);
    th_undo_clear(&studio->redo);
    th_undo_clear(&studio->anchors);
    th_history_clear(&studio->history);
    if (studio->replay) th_replay_release(studio->replay);
    th_upload_end(&studio->upload);
    th_intake_release(&studio->intake);
    for (th_studio_request *r = studio->answers.first, *next; r; r = next) {
        next = r->next;
        th_studio_request_destroy(r);
    }
    json_decref(studio->hello);
    for (int k = 0; k < 2; ++k) free(studio->greetings[k]);
    th_studio_exchange_release(&studio->exchange);
    free(studio->base_dir);
}

static double now_of(const th_studio *studio) {
    return studio->replay || !studio->plays[0].world ? studio->cursor
                                                     : th_world_time(studio->plays[0].world);
}

void th_studio_repace(th_studio *studio) {
    studio->paced_from = th_monotonic_seconds();
    studio->paced_time = now_of(studio);
    studio->mark.wall = studio->paced_from;
    studio->mark.time = studio->paced_time;
    studio->mark.steps = studio->steps_done;
}

// Simulated seconds that are due now; a studio that has fallen behind does not hurry afterwards.
static double due(th_studio *studio, double wall) {
    const double patience = 0.25; // [s]
    double behind =
        (wall - studio->paced_from) * studio->speed - (now_of(studio) - studio->paced_time);
    if (behind > patience * studio->speed) {
        studio->paced_from = wall - patience;
        studio->paced_time = now_of(studio);
    }
    return behind;
}

static bool all_done(const th_studio *studio) {
    for (int w = 0; w < studio->play_count; ++w)
        if (!th_world_done(studio->plays[w].world)) return false;
    return true;
}

th_studio_moment *th_studio_take(th_studio *studio, int world) {
    th_play *play = &studio->plays[world];
    th_studio_moment *moment =
        th_studio_moment_take(play->world, world, play->catalogue, &studio->wishes,
                              play->charts.watch ? th_watch_observation(play->charts.watch) : NULL);
    if (!moment) return NULL;
    const th_studio_moment *last = th_history_at(&studio->history, world, 1e30);
    if (last && last->time > moment->time) { // an undo went back
        th_history_cut(&studio->history, moment->time);
        last = th_history_at(&studio->history, world, 1e30);
    }
    if (!last || moment->time >= last->time + TH_STUDIO_HISTORY_STEP - 1e-6)
        th_history_add(&studio->history, moment, TH_STUDIO_HISTORY_BYTES);
    th_studio_show(&studio->exchange, world, moment, false);
    play->is_shown = true;
    return moment;
}

static void show_past(th_studio *studio) {
    double time = studio->scrubbing ? studio->scrub_time : studio->cursor;
    for (int w = 0; w < (studio->replay ? 1 : studio->play_count); ++w) {
        th_studio_moment *moment = th_history_at(&studio->history, w, time);
        if (moment) th_studio_show(&studio->exchange, w, moment, studio->scrubbing);
    }
}

static void show(th_studio *studio) {
    studio->changed = false;
    if (studio->scrubbing || studio->replay)
        show_past(studio);
    else
        for (int w = 0; w < studio->play_count; ++w)
            if (!studio->plays[w].is_shown) th_studio_moment_release(th_studio_take(studio, w));
}

static void step(th_studio *studio) {
    double before = th_monotonic_seconds(), own = th_thread_cpu_seconds();
    if (studio->last_step > 0) studio->pause = fmax(studio->pause, own - studio->last_step);
    for (int w = 0; w < studio->play_count; ++w) {
        th_charts_begin(studio, w);
        if (w == 0) th_anchor_see(studio);
        th_world_step(studio->plays[w].world, 1);
        studio->plays[w].is_shown = false;
    }
    double after = th_monotonic_seconds();
    studio->stepping += after - before;
    studio->last_step = th_thread_cpu_seconds();
    studio->stepping_own += studio->last_step - own;
    studio->steps_done++;
    studio->changed = true;
    for (int w = 0; w < studio->play_count; ++w) th_charts_see(studio, w);
    studio->taking += th_monotonic_seconds() - after;
}

// Steps that are due, for 20 ms at most: requests and frames come in between.
static void advance(th_studio *studio) {
    double begun = th_monotonic_seconds();
    if (studio->replay) {
        studio->cursor = fmin(studio->cursor + fmax(due(studio, begun), 0.0),
                              th_replay_duration(studio->replay));
        if (studio->cursor >= th_replay_duration(studio->replay)) studio->playing = false;
        studio->changed = true;
        return;
    }
    if (all_done(studio)) {
        studio->playing = false;
        studio->changed = true;
        return;
    }
    double length = th_world_step_length(studio->plays[0].world);
    while (th_monotonic_seconds() < begun + 0.02) {
        if (studio->speed > 0 && due(studio, th_monotonic_seconds()) < length) break;
        step(studio);
    }
}

static void measure_rate(th_studio *studio, double wall) {
    double elapsed = wall - studio->mark.wall;
    if (elapsed < 0.5) return;
    studio->rate = (double)(studio->steps_done - studio->mark.steps) / elapsed;
    studio->real_time = fmax((now_of(studio) - studio->mark.time) / elapsed, 0.0);
    studio->mark.wall = wall;
    studio->mark.steps = studio->steps_done;
    studio->mark.time = now_of(studio);
}

// A simulation that keeps its pace has time to spare. A slower one gives frames a small share, but at least one a
// second: a crowd that stands still on the screen looks like a jam.
static bool within_share(const th_studio *studio, double wall, double last_frame) {
    if (!studio->playing || studio->replay || wall - studio->idle_at < 0.2 ||
        wall - last_frame > 1.0)
        return true;
    return studio->taking <= TH_STUDIO_SHARE * (studio->stepping + studio->taking) + 0.02;
}

// A request may change what is shown.
static void show_anew(th_studio *studio) {
    for (int w = 0; w < 2; ++w) studio->plays[w].is_shown = false;
}

static void take_wishes(th_studio *studio) {
    th_studio_exchange *e = &studio->exchange;
    th_gate_lock(e->gate);
    if (e->wishes_changed) {
        studio->changed = true;
        show_anew(studio);
    }
    e->wishes_changed = false;
    studio->wishes = e->wishes;
    studio->clients = e->clients;
    th_gate_unlock(e->gate);
}

// A new client, which has just been greeted, takes the place of the one that asked longest ago.
static int asker(th_studio *studio, uint64_t client) {
    int oldest = 0;
    for (int k = 0; k < TH_STUDIO_CLIENTS; ++k)
        if (studio->answers.clients[k].client == client) return k;
    for (int k = 1; k < TH_STUDIO_CLIENTS; ++k)
        if (studio->answers.clients[k].at < studio->answers.clients[oldest].at) oldest = k;
    studio->answers.clients[oldest].client = client;
    studio->answers.clients[oldest].at = studio->answers.at;
    studio->answers.clients[oldest].waiting = 0;
    studio->answers.clients[oldest].held = false;
    return oldest;
}

// A flood of requests must not stop the crowd. A simulation with time to spare answers all; one without gives a small share of
// its time to them; a client with few requests waiting and no answer for a second gets one at once. Its time is that of its
// thread, so that other programs do not make the share larger.
static bool may_answer(const th_studio *studio, int k) {
    if (studio->answers.clients[k].held) return false;
    return !studio->playing || studio->replay || !studio->answers.busy ||
           studio->answers.credit > 0 ||
           (studio->answers.clients[k].waiting <= FEW &&
            studio->answers.at - studio->answers.clients[k].at > 1.0);
}

// Gives the share of the time since the last call, and takes what of that time was spent on an answer. One costly answer
// delays the next by half a second at most.
static void charge(th_studio *studio, bool was_answer) {
    double now = th_thread_cpu_seconds(), spent = now - studio->answers.at;
    double credit = studio->answers.credit + (was_answer ? -spent : TH_STUDIO_ANSWER_SHARE * spent);
    studio->answers.credit = fmin(fmax(credit, -0.005), 0.005);
    studio->answers.at = now;
}

// Drops requests of clients that have gone.
static void forget_gone(th_studio *studio) {
    for (th_studio_request *r = studio->answers.first; r; r = r->next) {
        const char *name = json_string_value(json_object_get(r->message, "do"));
        if (!name || strcmp(name, "_gone") != 0) continue;
        for (th_studio_request **at = &studio->answers.first; *at != r;) {
            th_studio_request *earlier = *at;
            if (earlier->client != r->client) {
                at = &earlier->next;
                continue;
            }
            *at = earlier->next;
            th_studio_request_destroy(earlier);
        }
    }
}

// In the order in which they came; requests that must wait keep their order.
static void answer_all(th_studio *studio) {
    double wall = th_monotonic_seconds();
    if (studio->answers.first && studio->playing && wall < studio->answers.look) return;
    studio->answers.look = wall + 0.05;
    th_studio_request **end = &studio->answers.first;
    while (*end) end = &(*end)->next;
    *end = th_studio_take_requests(&studio->exchange);
    if (!studio->answers.first) return;
    forget_gone(studio);
    charge(studio, false);
    studio->answers.busy = wall - studio->idle_at > 0.2;
    for (int k = 0; k < TH_STUDIO_CLIENTS; ++k) {
        studio->answers.clients[k].held = false;
        studio->answers.clients[k].waiting = 0;
    }
    for (const th_studio_request *r = studio->answers.first; r; r = r->next)
        studio->answers.clients[asker(studio, r->client)].waiting++;
    for (th_studio_request **at = &studio->answers.first; *at;) {
        th_studio_request *r = *at;
        int k = asker(studio, r->client);
        if (th_studio_must_wait(studio, r)) {
            at = &r->next;
            continue;
        }
        if (!may_answer(studio, k)) {
            studio->answers.clients[k].held = true;
            at = &r->next;
            continue;
        }
        *at = r->next;
        th_studio_answer(studio, r);
        charge(studio, true);
        studio->answers.clients[k].at = studio->answers.at;
        th_studio_request_destroy(r);
        show_anew(studio);
        if (th_monotonic_seconds() - studio->idle_at > 0.2) studio->answers.busy = true;
    }
}

// Seconds until something is due.
static double idle_time(th_studio *studio, double next_frame, double next_state) {
    double wall = th_monotonic_seconds(), wait = next_state - wall;
    if (studio->changed && next_frame - wall < wait) wait = next_frame - wall;
    if (studio->playing && studio->speed > 0) {
        double length = studio->replay ? th_replay_frame(studio->replay)
                                       : th_world_step_length(studio->plays[0].world);
        wait = fmin(wait, (length - due(studio, wall)) / studio->speed);
    } else if (studio->playing) {
        wait = 0;
    }
    if (wait > 0.002) studio->idle_at = wall;
    return fmax(wait, 0.0);
}

// Tells of the people that clients look at; when to do so again: ten times a second, and in a twentieth of the time.
static double inspect(th_studio *studio, bool *to_inspect) {
    double begun = th_monotonic_seconds();
    th_inspect(studio);
    *to_inspect = false;
    return begun + fmax(0.1, 20.0 * (th_monotonic_seconds() - begun));
}

void th_studio_begin(th_studio *studio) {
    th_studio_repace(studio);
    studio->changed = true;
}

double th_studio_idle(th_studio *studio) {
    return idle_time(studio, studio->turn.next_frame, studio->turn.next_state);
}

static void show_in_turn(th_studio *studio, double wall) {
    show(studio);
    studio->turn.to_inspect = studio->inspection_count > 0;
    if (studio->turn.to_inspect && wall >= studio->turn.next_person)
        studio->turn.next_person = inspect(studio, &studio->turn.to_inspect);
    studio->taking += th_monotonic_seconds() - wall;
    studio->turn.last_frame = wall;
}

void th_studio_turn(th_studio *studio) {
    take_wishes(studio);
    th_rebuild_finish(studio);
    th_intake_finish(studio);
    answer_all(studio);
    if (studio->playing && !studio->scrubbing) advance(studio);
    double wall = th_monotonic_seconds();
    measure_rate(studio, wall);
    if (studio->changed && wall >= studio->turn.next_frame) {
        if (within_share(studio, wall, studio->turn.last_frame)) show_in_turn(studio, wall);
        studio->turn.next_frame = wall + 1.0 / FRAMES;
    } else if (studio->turn.to_inspect && !studio->playing && wall >= studio->turn.next_person) {
        // The last moment before the pause, too.
        studio->turn.next_person = inspect(studio, &studio->turn.to_inspect);
    }
    if (wall < studio->turn.next_state) return;
    double before = th_monotonic_seconds();
    if (studio->clients > 0) th_studio_say(&studio->exchange, 0, false, th_describe_state(studio));
    double cost = th_monotonic_seconds() - before;
    studio->taking += cost;
    studio->turn.next_state = wall + fmax(0.2, 100.0 * cost);
}

void th_studio_run(th_studio *studio) {
    th_studio_begin(studio);
    studio->beside = th_system_has_threads();
    while (th_studio_wait(&studio->exchange, th_studio_idle(studio))) th_studio_turn(studio);
    th_rebuild_release(studio);
}

// ---- the exchange with the server

bool th_studio_exchange_init(th_studio_exchange *e) {
    *e = (th_studio_exchange){.gate = th_gate_create()};
    return e->gate != NULL;
}

void th_studio_exchange_release(th_studio_exchange *e) {
    for (th_studio_request *r = e->first_request, *next; r; r = next) {
        next = r->next;
        th_studio_request_destroy(r);
    }
    for (th_studio_text *t = e->first_text, *next; t; t = next) {
        next = t->next;
        th_studio_text_destroy(t);
    }
    for (int w = 0; w < 2; ++w) th_studio_moment_release(e->shown[w].moment);
    th_gate_destroy(e->gate);
}

static void wake(th_studio_exchange *e) {
    if (e->wake) e->wake(e->server);
}

void th_studio_request_destroy(th_studio_request *request) {
    if (!request) return;
    json_decref(request->message);
    free(request);
}

void th_studio_text_destroy(th_studio_text *text) {
    if (!text) return;
    free(text->text);
    free(text);
}

void th_studio_ask(th_studio_exchange *e, uint64_t client, json_t *message) {
    th_studio_request *request = calloc(1, sizeof *request);
    if (!request) {
        json_decref(message);
        return;
    }
    request->client = client;
    request->message = message;
    th_gate_lock(e->gate);
    if (e->last_request)
        e->last_request->next = request;
    else
        e->first_request = request;
    e->last_request = request;
    th_gate_ring(e->gate);
    th_gate_unlock(e->gate);
}

th_studio_request *th_studio_take_requests(th_studio_exchange *e) {
    th_gate_lock(e->gate);
    th_studio_request *list = e->first_request;
    e->first_request = e->last_request = NULL;
    th_gate_unlock(e->gate);
    return list;
}

static void add_text(th_studio_exchange *e, th_studio_text *text) {
    th_gate_lock(e->gate);
    if (e->last_text)
        e->last_text->next = text;
    else
        e->first_text = text;
    e->last_text = text;
    th_gate_unlock(e->gate);
}

void th_studio_say_text(th_studio_exchange *e, uint64_t client, bool is_reply, char *said) {
    th_studio_text *text = said ? calloc(1, sizeof *text) : NULL;
    if (!text) {
        free(said);
        return;
    }
    *text = (th_studio_text){
        .client = client, .is_reply = is_reply, .length = strlen(said), .text = said};
    add_text(e, text);
    wake(e);
}

void th_studio_say(th_studio_exchange *e, uint64_t client, bool is_reply, json_t *object) {
    th_studio_say_text(e, client, is_reply, object ? json_dumps(object, TH_STUDIO_JSON) : NULL);
    json_decref(object);
}

th_studio_text *th_studio_take_texts(th_studio_exchange *e) {
    th_gate_lock(e->gate);
    th_studio_text *list = e->first_text;
    e->first_text = e->last_text = NULL;
    th_gate_unlock(e->gate);
    return list;
}

void th_studio_show(th_studio_exchange *e, int world, th_studio_moment *moment, bool past) {
    th_gate_lock(e->gate);
    th_studio_shown *shown = &e->shown[world];
    th_studio_moment *old = shown->moment;
    *shown = (th_studio_shown){.number = ++e->newest, .past = past, .moment = moment};
    th_studio_moment_hold(moment);
    th_gate_unlock(e->gate);
    th_studio_moment_release(old);
    wake(e);
}

th_studio_shown th_studio_look(th_studio_exchange *e, int world) {
    th_gate_lock(e->gate);
    th_studio_shown shown = e->shown[world];
    th_studio_moment_hold(shown.moment);
    th_gate_unlock(e->gate);
    return shown;
}

void th_studio_wish(th_studio_exchange *e, const th_studio_wishes *wishes, int clients) {
    th_gate_lock(e->gate);
    e->wishes = *wishes;
    e->wishes_changed = true;
    e->clients = clients;
    th_gate_ring(e->gate);
    th_gate_unlock(e->gate);
}

void th_studio_stop(th_studio_exchange *e) {
    th_gate_lock(e->gate);
    e->stop = true;
    th_gate_ring(e->gate);
    th_gate_unlock(e->gate);
}

bool th_studio_wait(th_studio_exchange *e, double seconds) {
    double until = th_monotonic_seconds() + seconds;
    th_gate_lock(e->gate);
    for (double left = seconds; !e->stop && !e->first_request && !e->wishes_changed &&
                                !(e->rebuilt && atomic_load(e->rebuilt)) && left > 0;
         left = until - th_monotonic_seconds())
        th_gate_wait_for(e->gate, left);
    bool goes_on = !e->stop;
    th_gate_unlock(e->gate);
    return goes_on;
}
