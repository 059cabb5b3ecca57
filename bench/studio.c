// SPDX-License-Identifier: Apache-2.0
#include "studio/studio.h"
#include "bench/bench.h"
#include "core/error.h"
#include "core/system/system.h"
#include "studio/exchange.h"
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// ---- a client that reads frames and throws them away

typedef struct reader {
    int socket;
    atomic_ullong frames, bytes;
} reader;

static bool read_all(int socket, unsigned char *to, size_t size) {
    for (size_t have = 0; have < size;) {
        ssize_t got = recv(socket, to + have, size - have, 0);
        if (got <= 0) return false;
        have += (size_t)got;
    }
    return true;
}

// Ends when the server closes the connection.
static void *read_frames(void *given) {
    reader *r = given;
    enum { ROOM = 1 << 20 };
    unsigned char head[10], *scratch = malloc(ROOM);
    while (scratch && read_all(r->socket, head, 2)) {
        uint64_t size = head[1] & 127;
        int more = size == 126 ? 2 : size == 127 ? 8 : 0;
        if (!read_all(r->socket, head + 2, (size_t)more)) break;
        if (more) size = 0;
        for (int k = 0; k < more; ++k) size = size << 8 | head[2 + k];
        uint64_t left = size;
        while (left > 0 && read_all(r->socket, scratch, left < ROOM ? left : ROOM))
            left -= left < ROOM ? left : ROOM;
        if (left > 0) break;
        if ((head[0] & 15) != 2) continue;
        atomic_fetch_add(&r->bytes, size);
        atomic_fetch_add(&r->frames, 1);
    }
    free(scratch);
    return NULL;
}

// All agents in view, as many frames as there are. A screen has 1920 pixels; in 32768 every agent is larger than one
// and is sent.
enum { SCREEN = 1920, ALL = 32768 };
static bool ask(int socket, const th_box *box, int pixels) {
    char text[240];
    unsigned char frame[260] = {0x81, 0x80 | 126};
    int length = snprintf(text, sizeof text,
                          "{\"do\":\"view\",\"box\":[%g,%g,%g,%g],\"pixels\":[%d,%d],\"fps\":60}",
                          (double)box->min_x - 100, (double)box->min_y - 100,
                          (double)box->max_x + 100, (double)box->max_y + 100, pixels, pixels);
    frame[2] = (unsigned char)(length >> 8);
    frame[3] = (unsigned char)length;
    memcpy(frame + 8, text, (size_t)length); // a mask of zeros
    return send(socket, frame, 8 + (size_t)length, 0) == 8 + length;
}

static bool join(reader *r, const th_studio_server *server, const th_box *box) {
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)th_studio_server_port(server))};
    char text[500];
    unsigned char byte;
    unsigned last = 0;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    r->socket = socket(AF_INET, SOCK_STREAM, 0);
    if (r->socket < 0 || connect(r->socket, (const struct sockaddr *)&to, sizeof to) != 0)
        return false;
    int port = th_studio_server_port(server);
    int length = snprintf(
        text, sizeof text,
        "GET /ws?token=%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nOrigin: http://127.0.0.1:%d\r\n"
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhyb25nIGJlbmNoIGtleQ==\r\nSec-WebSocket-Protocol: throng-1\r\n\r\n",
        th_studio_server_token(server), port, port);
    if (send(r->socket, text, (size_t)length, 0) != length) return false;
    while (last != 0x0d0a0d0au && read_all(r->socket, &byte, 1)) last = last << 8 | byte;
    return last == 0x0d0a0d0au && ask(r->socket, box, ALL);
}

// ---- the measurement

typedef struct served {
    th_studio_server *server;
    atomic_bool stop;
} served;

static void *serve(void *given) {
    served *s = given;
    th_studio_server_run(s->server, &s->stop);
    return NULL;
}

static void *run_studio(void *studio) {
    th_studio_run(studio);
    return NULL;
}

typedef struct measured {
    double screen_fps, all_fps, live_fps, megabytes, steps, share;
} measured;

static double frames_over(reader *r, double seconds, th_studio *taken, double *megabytes) {
    double begun = th_monotonic_seconds();
    unsigned long long frames = atomic_load(&r->frames), bytes = atomic_load(&r->bytes);
    while (th_monotonic_seconds() < begun + seconds) {
        if (taken)
            th_studio_moment_release(th_studio_take(taken, 0));
        else
            usleep(10000);
    }
    frames = atomic_load(&r->frames) - frames;
    if (megabytes && frames > 0)
        *megabytes = (double)(atomic_load(&r->bytes) - bytes) / (double)frames / 1e6;
    return (double)frames / (th_monotonic_seconds() - begun);
}

static th_result measure_served(th_studio *studio, served *s, measured *m, th_error *error) {
    reader r = {.socket = -1};
    pthread_t server_thread, reader_thread, runner;
    if (pthread_create(&server_thread, NULL, serve, s) != 0)
        return th_fail(error, TH_NO_MEMORY, "", "no thread for the server");
    bool joined = join(&r, s->server, &studio->plays[0].catalogue->box) &&
                  pthread_create(&reader_thread, NULL, read_frames, &r) == 0;
    if (joined) {
        frames_over(&r, 0.5, studio, NULL); // warm-up
        m->all_fps = frames_over(&r, 3.0, studio, &m->megabytes);
        ask(r.socket, &studio->plays[0].catalogue->box, SCREEN);
        frames_over(&r, 0.5, studio, NULL);
        m->screen_fps = frames_over(&r, 3.0, studio, NULL);
        th_history_clear(&studio->history);
        studio->playing = true;
        studio->speed = 0;
        uint64_t before = studio->steps_done;
        double begun = th_monotonic_seconds();
        joined = pthread_create(&runner, NULL, run_studio, studio) == 0;
        if (joined) {
            m->live_fps = frames_over(&r, 8.0, NULL, NULL);
            th_studio_stop(&studio->exchange);
            pthread_join(runner, NULL);
            m->steps = (double)(studio->steps_done - before) / (th_monotonic_seconds() - begun);
            m->share = studio->taking / (studio->taking + studio->stepping);
        }
    }
    atomic_store(&s->stop, true);
    th_studio_server_wake(s->server);
    pthread_join(server_thread, NULL);
    th_studio_server_destroy(s->server); // closes the connection, which ends the reader
    if (r.socket >= 0) shutdown(r.socket, SHUT_RDWR);
    if (joined) pthread_join(reader_thread, NULL);
    if (r.socket >= 0) close(r.socket);
    return joined ? TH_OK : th_fail(error, TH_NO_FILE, "", "the bench's client could not connect");
}

static th_result measure(int agents, int threads, measured *m, th_error *error) {
    th_studio studio;
    th_scene *scene = NULL;
    served s = {0};
    const th_studio_server_def def = {0};
    if (!th_studio_init(&studio))
        return th_fail(error, TH_NO_MEMORY, "", "no memory for the studio");
    th_result result =
        th_bench_create(TH_BENCH_BLOCK, &(th_bench_models){.move = "orca"}, agents, TH_BENCH_STEP,
                        threads, TH_BACKEND_CPU, &scene, &studio.plays[0].world, error);
    if (result == TH_OK) {
        studio.play_count = 1;
        studio.plays[0].catalogue =
            th_studio_catalogue_create(th_scene_view_of(scene), studio.plays[0].world);
        if (!studio.plays[0].catalogue)
            result = th_fail(error, TH_NO_MEMORY, "", "no memory for the studio");
    }
    if (result == TH_OK) result = th_studio_server_create(&def, &studio.exchange, &s.server, error);
    if (result == TH_OK) result = measure_served(&studio, &s, m, error);
    th_studio_release(&studio);
    th_scene_destroy(scene);
    return result;
}

th_result th_bench_studio(const th_bench_studio_def *def, th_error *error) {
    static const int sizes[] = {100000, 1000000};
    FILE *csv = def->csv ? fopen(def->csv, "w") : NULL;
    th_result result = TH_OK;
    if (def->csv && !csv) return th_fail(error, TH_NO_FILE, "", "%s cannot be written", def->csv);
    if (csv)
        fprintf(csv, "agents,threads,frames_per_s,bar,frames_of_all_per_s,mb_per_frame,live_steps_"
                     "per_s,live_frames_per_s,share\n");
    printf("                          all agents sent\n"
           "  agents  frames/s  (bar)  frames/s  MB/frame  live: steps/s  frames/s  share (bar 5 "
           "%%)\n");
    for (int k = 0; k < (def->agents ? 1 : 2) && result == TH_OK; ++k) {
        int agents = def->agents ? def->agents : sizes[k], bar = agents <= 100000 ? 30 : 15;
        measured m = {0};
        result = measure(agents, def->threads, &m, error);
        if (result != TH_OK) break;
        printf("%8d  %8.1f  %5d  %8.1f  %8.2f  %13.2f  %8.2f  %4.1f %%\n", agents, m.screen_fps,
               bar, m.all_fps, m.megabytes, m.steps, m.live_fps, 100 * m.share);
        fflush(stdout);
        if (csv)
            fprintf(csv, "%d,%d,%.1f,%d,%.1f,%.2f,%.2f,%.2f,%.4f\n", agents, def->threads,
                    m.screen_fps, bar, m.all_fps, m.megabytes, m.steps, m.live_fps, m.share);
    }
    if (csv && fclose(csv) != 0 && result == TH_OK)
        result =
            th_fail(error, TH_NO_FILE, "", "%s could not be written; is the disk full?", def->csv);
    return result;
}
