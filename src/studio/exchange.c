// SPDX-License-Identifier: Apache-2.0
#include "studio/exchange.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

bool th_studio_exchange_init(th_studio_exchange *e) {
    *e = (th_studio_exchange){0};
    pthread_condattr_t monotonic;
    if (pthread_condattr_init(&monotonic) != 0) return false;
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    bool made = pthread_mutex_init(&e->lock, NULL) == 0;
    if (made && pthread_cond_init(&e->asked, &monotonic) != 0) {
        pthread_mutex_destroy(&e->lock);
        made = false;
    }
    pthread_condattr_destroy(&monotonic);
    return made;
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
    pthread_cond_destroy(&e->asked);
    pthread_mutex_destroy(&e->lock);
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
    pthread_mutex_lock(&e->lock);
    if (e->last_request)
        e->last_request->next = request;
    else
        e->first_request = request;
    e->last_request = request;
    pthread_cond_signal(&e->asked);
    pthread_mutex_unlock(&e->lock);
}

th_studio_request *th_studio_take_requests(th_studio_exchange *e) {
    pthread_mutex_lock(&e->lock);
    th_studio_request *list = e->first_request;
    e->first_request = e->last_request = NULL;
    pthread_mutex_unlock(&e->lock);
    return list;
}

static void add_text(th_studio_exchange *e, th_studio_text *text) {
    pthread_mutex_lock(&e->lock);
    if (e->last_text)
        e->last_text->next = text;
    else
        e->first_text = text;
    e->last_text = text;
    pthread_mutex_unlock(&e->lock);
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
    pthread_mutex_lock(&e->lock);
    th_studio_text *list = e->first_text;
    e->first_text = e->last_text = NULL;
    pthread_mutex_unlock(&e->lock);
    return list;
}

void th_studio_show(th_studio_exchange *e, int world, th_studio_moment *moment, bool past) {
    pthread_mutex_lock(&e->lock);
    th_studio_shown *shown = &e->shown[world];
    th_studio_moment *old = shown->moment;
    *shown = (th_studio_shown){.number = ++e->newest, .past = past, .moment = moment};
    th_studio_moment_hold(moment);
    pthread_mutex_unlock(&e->lock);
    th_studio_moment_release(old);
    wake(e);
}

th_studio_shown th_studio_look(th_studio_exchange *e, int world) {
    pthread_mutex_lock(&e->lock);
    th_studio_shown shown = e->shown[world];
    th_studio_moment_hold(shown.moment);
    pthread_mutex_unlock(&e->lock);
    return shown;
}

void th_studio_wish(th_studio_exchange *e, const th_studio_wishes *wishes, int clients) {
    pthread_mutex_lock(&e->lock);
    e->wishes = *wishes;
    e->wishes_changed = true;
    e->clients = clients;
    pthread_cond_signal(&e->asked);
    pthread_mutex_unlock(&e->lock);
}

void th_studio_stop(th_studio_exchange *e) {
    pthread_mutex_lock(&e->lock);
    e->stop = true;
    pthread_cond_signal(&e->asked);
    pthread_mutex_unlock(&e->lock);
}

bool th_studio_wait(th_studio_exchange *e, double seconds) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    double whole = floor(seconds);
    until.tv_sec += (time_t)whole;
    until.tv_nsec += (long)((seconds - whole) * 1e9);
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    pthread_mutex_lock(&e->lock);
    int failed = 0;
    while (!e->stop && !e->first_request && !e->wishes_changed && failed == 0 && seconds > 0)
        failed = pthread_cond_timedwait(&e->asked, &e->lock, &until);
    bool goes_on = !e->stop;
    pthread_mutex_unlock(&e->lock);
    return goes_on;
}
