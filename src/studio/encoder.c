// SPDX-License-Identifier: Apache-2.0
#include "studio/encoder.h"
#include "core/error.h"
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int spawn(th_encoder *e, char *const *arguments) {
    int ends[2];
    if (pipe(ends) != 0) return errno;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    int failed = posix_spawnp(&e->process, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    if (failed == 0)
        e->to = ends[1];
    else
        close(ends[1]);
    return failed;
}

th_result th_encoder_start(th_encoder *e, const char *path, double fps, int width, int height,
                           th_error *error) {
    char size[32], rate[32], file[4200], name[] = "ffmpeg";
    snprintf(size, sizeof size, "%dx%d", width, height);
    snprintf(rate, sizeof rate, "%g", fps);
    snprintf(file, sizeof file, "file:%s", path); // a name is never an option or an address
    // The pixels of cairo's RGB24 on little-endian machines; yuv420p is what every player shows.
    char *const raw[] = {name,       "-hide_banner", "-loglevel", "error",   "-nostdin", "-y", "-f",
                         "rawvideo", "-pix_fmt",     "bgr0",      "-s",      size,       "-r", rate,
                         "-i",       "pipe:0",       "-pix_fmt",  "yuv420p", file,       NULL};
    char *const jpeg[] = {name, "-hide_banner", "-loglevel", "error",   "-nostdin", "-y",
                          "-f", "image2pipe",   "-c:v",      "mjpeg",   "-r",       rate,
                          "-i", "pipe:0",       "-pix_fmt",  "yuv420p", file,       NULL};
    e->to = -1;
    int failed = spawn(e, width > 0 ? raw : jpeg);
    if (failed == 0) {
        e->before = signal(SIGPIPE, SIG_IGN);
        return TH_OK;
    }
    return th_fail(
        error, TH_NO_FILE, "",
        "the program ffmpeg, which makes videos, was not found on the PATH (%s); install "
        "it (Debian and Ubuntu: apt install ffmpeg), or write a page that plays in a "
        "browser with --html FILE",
        strerror(failed));
}

bool th_encoder_put(const th_encoder *e, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    while (size > 0) {
        ssize_t written = write(e->to, at, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        at += written;
        size -= (size_t)written;
    }
    return true;
}

th_result th_encoder_end(th_encoder *e, const char *path, th_result result, th_error *error) {
    int status = 0;
    if (e->to < 0) return result;
    close(e->to);
    e->to = -1;
    while (waitpid(e->process, &status, 0) < 0 && errno == EINTR) continue;
    signal(SIGPIPE, e->before);
    bool made = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (made && result == TH_OK) return TH_OK;
    remove(path);
    if (result != TH_OK && (made || (error && error->message[0]))) return result;
    return th_fail(error, TH_NO_FILE, "",
                   "ffmpeg did not make the video (it says why above); give a file that can be "
                   "written, named .mp4, .webm, .mkv or .gif");
}
