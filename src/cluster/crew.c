// Takes, keeps and gives back runs by links in a folder, and finds out which tasks live. crew.h says why it is safe.
// SPDX-License-Identifier: Apache-2.0
#include "cluster/crew.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/system/system.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const double BEAT = 10; // [s] 64 bytes per task and beat are no load for a file server
enum { SHARD = 1000 };         // runs in a folder
enum { ID_MAX = 112, KEY_MAX = 64 };

// Identity of a task; "" where it is not known.
typedef struct identity {
    char host[80], boot[KEY_MAX], space[KEY_MAX], started[KEY_MAX], job[KEY_MAX];
    long pid, restart;
    char log[TH_PATH_MAX];
} identity;

typedef struct owner {
    char id[ID_MAX];
    identity who;
    bool known, gone;
    char beat[24];
    int looks;     // at which the beat was the same
    double looked; // when, by this process's clock [s]; 0: never
} owner;

typedef struct unit {
    uint16_t claims, ended,
        backs;     // newest attempt, newest of which the end is noted, how many were given back
    uint16_t mine; // attempt of this process, 0: none
    bool done, skipped, failed;
} unit;

struct th_crew {
    char work[TH_PATH_MAX - 256], id[ID_MAX];
    identity self;
    double beat;
    int runs, first; // none before `first` is free
    unit *units;
    owner *owners;
    int owner_count;
    unsigned long long beats;
    int tables; // number of the claim on the tables, 0: not held
    atomic_bool expelled, over;
    bool watching, leaving;
    th_gate *gate;      // over all of the above
    th_gate *beat_gate; // to end the beat at once
    th_thread *beater;
};

// ---- names

__attribute__((format(printf, 3, 4))) static void path_in(const th_crew *c, char *path,
                                                          const char *format, ...) {
    va_list values;
    int length = snprintf(path, TH_PATH_MAX, "%s/", c->work);
    va_start(values, format);
    vsnprintf(path + length, TH_PATH_MAX - (size_t)length, format, values);
    va_end(values);
}

static bool exists(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0;
}

// "" when it is no link.
static void read_link(const char *path, char *text, size_t size) {
    ssize_t length = readlink(path, text, size - 1);
    text[length > 0 ? length : 0] = '\0';
}

// A link that says something; false: it is there already.
static bool note(const char *path, const char *text) {
    char line[400];
    snprintf(line, sizeof line, "%.390s", *text ? text : "-");
    for (char *at = line; *at; ++at)
        if (*at == '\n' || *at == '/') *at = *at == '/' ? '\\' : ' ';
    return symlink(line, path) == 0;
}

static void work_path(const char *folder, const char *name, char *path) {
    snprintf(path, TH_PATH_MAX, "%.3700s/cluster%s%.300s", folder, *name ? "/" : "", name);
}

// ---- the folder

bool th_crew_exists(const char *folder) {
    char path[TH_PATH_MAX];
    work_path(folder, "work", path);
    return access(path, F_OK) == 0;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status, (void)kind, (void)place;
    remove(path);
    return 0;
}

static void remove_tree(const char *path) { nftw(path, remove_entry, 32, FTW_DEPTH | FTW_PHYS); }

void th_crew_discard(const char *folder) { remove_tree(folder); }

void th_crew_clear(const char *folder) {
    char path[TH_PATH_MAX];
    work_path(folder, "", path);
    remove_tree(path);
}

static void make_name(char *id, const char *host) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now); // makes the name unusual; it is compared with nothing
    unsigned long long mixed = (unsigned long long)now.tv_sec * 1000000007ull ^
                               (unsigned long long)now.tv_nsec * 2654435761ull;
    static atomic_uint counter;
    mixed += atomic_fetch_add(&counter, 1u);
    snprintf(id, ID_MAX, "%.79s-%ld-%08llx", host, (long)getpid(), mixed & 0xffffffffull);
}

// THRONG_BEAT in the environment of the process that makes the folder is for tests.
static double beat_wanted(void) {
    const char *given = getenv("THRONG_BEAT");
    double beat = given ? strtod(given, NULL) : 0;
    return beat > 0 && beat <= 3600 ? beat : BEAT;
}

static void host_name(char host[80]) {
    char name[80] = "";
    gethostname(name, sizeof name - 1);
    size_t k = 0;
    for (const char *at = name; *at && k < 70; ++at)
        host[k++] = strchr("/\\ \n", *at) || *at < ' ' ? '_' : *at;
    host[k] = '\0';
    if (k == 0) snprintf(host, 80, "host");
}

th_result th_crew_prepare(const char *folder, th_error *error) {
    char work[TH_PATH_MAX], beside[TH_PATH_MAX], path[TH_PATH_MAX], id[ID_MAX], host[80], text[64];
    host_name(host);
    make_name(id, host);
    work_path(folder, "", path);
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return th_file_fail(error, path, "the folder cannot be made: %s", strerror(errno));
    work_path(folder, "logs", path);
    mkdir(path, 0777);
    work_path(folder, "work", work);
    if (exists(work)) return TH_OK;
    snprintf(path, sizeof path, "work-%s", id);
    work_path(folder, path, beside);
    bool good = mkdir(beside, 0777) == 0;
    snprintf(path, sizeof path, "%.3900s/tasks", beside);
    good = good && mkdir(path, 0777) == 0;
    snprintf(path, sizeof path, "%.3900s/about.json", beside);
    int length = snprintf(text, sizeof text, "{\"beat\": %g}\n", beat_wanted());
    if (good && th_file_replace(path, text, (size_t)length, TH_SYNCED, error) != TH_OK)
        return error->code;
    good = good && rename(beside, work) == 0;
    int cause = errno;
    if (!good) remove_tree(beside);
    if (good || exists(work)) return TH_OK;
    return th_file_fail(error, work, "the folder cannot be made: %s", strerror(cause));
}

// ---- identity of this process, and whether another still lives

static void first_line(const char *path, char *text, size_t size) {
    FILE *file = fopen(path, "r");
    text[0] = '\0';
    if (file && fgets(text, (int)size, file)) text[strcspn(text, "\n")] = '\0';
    if (file) fclose(file);
}

// When a process began, in ticks since the machine did, and its state; '\0': there is none, or it cannot be told.
static char process_state(long pid, char started[KEY_MAX]) {
    char path[64], line[1024], state = '\0';
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    first_line(path, line, sizeof line);
    const char *at = strrchr(line, ')'); // the name before it may hold anything
    started[0] = '\0';
    if (at)
        sscanf(at + 1,
               " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %63s",
               &state, started);
    return state;
}

static void identify(identity *who, const char *log) {
    *who = (identity){.pid = (long)getpid()};
    host_name(who->host);
    first_line("/proc/sys/kernel/random/boot_id", who->boot, sizeof who->boot);
    read_link("/proc/self/ns/pid", who->space, sizeof who->space);
    process_state(who->pid, who->started);
    th_launch_job(who->job, sizeof who->job, &who->restart);
    snprintf(who->log, sizeof who->log, "%s", log);
}

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static json_t *identity_json(const identity *who) {
    return json_pack("{s:s,s:I,s:s,s:s,s:s,s:s,s:I,s:s}", "host", who->host, "pid",
                     (json_int_t)who->pid, "started", who->started, "boot", who->boot, "space",
                     who->space, "job", who->job, "restart", (json_int_t)who->restart, "log",
                     who->log);
}

static bool identity_of(identity *who, const char *text) {
    json_t *object = json_loads(text, 0, NULL);
    *who = (identity){.pid = (long)json_integer_value(json_object_get(object, "pid")),
                      .restart = (long)json_integer_value(json_object_get(object, "restart"))};
    snprintf(who->host, sizeof who->host, "%s", text_of(object, "host"));
    snprintf(who->boot, sizeof who->boot, "%s", text_of(object, "boot"));
    snprintf(who->space, sizeof who->space, "%s", text_of(object, "space"));
    snprintf(who->started, sizeof who->started, "%s", text_of(object, "started"));
    snprintf(who->job, sizeof who->job, "%s", text_of(object, "job"));
    snprintf(who->log, sizeof who->log, "%s", text_of(object, "log"));
    bool good = object != NULL;
    json_decref(object);
    return good;
}

// The process has ended, which is certain only seen from the same boot and the same numbering of processes.
static bool process_gone(const identity *self, const identity *who) {
    if (!*self->boot || !*self->space || strcmp(self->boot, who->boot) != 0 ||
        strcmp(self->space, who->space) != 0 || who->pid <= 0)
        return false;
    if (kill((pid_t)who->pid, 0) != 0) return errno == ESRCH;
    char started[KEY_MAX], state = process_state(who->pid, started);
    if (state == 'Z' || state == 'X') return true; // dead, its parent did not look yet
    return state && *who->started && strcmp(started, who->started) != 0;
}

static owner *find_owner(th_crew *c, const char *id) {
    for (int i = 0; i < c->owner_count; ++i)
        if (strcmp(c->owners[i].id, id) == 0) return &c->owners[i];
    if (!TH_RESERVE_ONE(c->owners, c->owner_count)) return NULL;
    owner *o = &c->owners[c->owner_count++];
    *o = (owner){0};
    snprintf(o->id, sizeof o->id, "%s", id);
    return o;
}

static void read_ticket(const th_crew *c, owner *o) {
    char path[TH_PATH_MAX];
    size_t size = 0;
    th_error unread = {0};
    path_in(c, path, "tasks/%s", o->id);
    char *text = o->known ? NULL : th_file_content(path, &size, &unread);
    if (text) o->known = identity_of(&o->who, text);
    free(text);
}

static void declare_gone(const th_crew *c, owner *o, const char *why) {
    char path[TH_PATH_MAX];
    path_in(c, path, "tasks/%s.end", o->id);
    if (!c->watching) note(path, why);
    o->gone = true;
}

// Is the task known to be dead at once? Its beat takes longer (watch_beat).
static bool is_gone(th_crew *c, owner *o) {
    char path[TH_PATH_MAX];
    if (!o || o->gone) return o != NULL;
    if (strcmp(o->id, c->id) == 0) return false;
    path_in(c, path, "tasks/%s.end", o->id);
    read_ticket(c, o);
    if (exists(path))
        o->gone = true;
    else if (o->known && process_gone(&c->self, &o->who))
        declare_gone(c, o, "its process was gone");
    else if (o->known && *c->self.job && strcmp(c->self.job, o->who.job) == 0 &&
             o->who.restart < c->self.restart)
        declare_gone(c, o, "the scheduler started it again");
    return o->gone;
}

// One look at its beat; true: it has stood still for too long.
static bool watch_beat(th_crew *c, owner *o) {
    char path[TH_PATH_MAX], beat[sizeof o->beat];
    double before = th_monotonic_seconds();
    if (o->looked > 0 && before - o->looked < c->beat) return false;
    path_in(c, path, "tasks/%s.beat", o->id);
    first_line(path, beat, sizeof beat);
    double after = th_monotonic_seconds();
    bool late = o->looked <= 0 || before - o->looked > 3 * c->beat || after - before > c->beat;
    o->looks = late || strcmp(beat, o->beat) != 0 ? 0 : o->looks + 1;
    o->looked = after;
    snprintf(o->beat, sizeof o->beat, "%s", beat);
    if (o->looks < TH_CREW_LOOKS) return false;
    declare_gone(c, o, "its beat stood still");
    return true;
}

// The age of its newest beat by the file server's clock, which stamped both files; only decides whether waiting pays.
static double silence(const th_crew *c, const owner *o) {
    char path[TH_PATH_MAX];
    path_in(c, path, "tasks/%s.beat", c->id);
    double mine = th_system_modified(path);
    if (mine < 0) mine = th_system_date(); // one that only looks has no file of its own
    path_in(c, path, "tasks/%s.beat", o->id);
    double other = th_system_modified(path);
    return other < 0 ? 1e9 : mine - other;
}

// ---- the beat of this process

static void beat(th_crew *c) {
    char path[TH_PATH_MAX], text[24];
    path_in(c, path, "tasks/%s.beat", c->id);
    int file =
        open(path, c->beats == 0 ? O_WRONLY | O_CREAT | O_CLOEXEC : O_WRONLY | O_CLOEXEC, 0666);
    int length = snprintf(text, sizeof text, "%019llu\n", ++c->beats);
    if (file >= 0 && pwrite(file, text, (size_t)length, 0) != length) --c->beats;
    if (file < 0 && errno == ENOENT) atomic_store(&c->over, true);
    if (file >= 0) close(file); // a reader on another machine sees it now
    path_in(c, path, "tasks/%s.end", c->id);
    if (exists(path)) atomic_store(&c->expelled, true);
}

static void keep_beating(void *context) {
    th_crew *c = context;
    th_gate_lock(c->beat_gate);
    while (!c->leaving) {
        double until = th_monotonic_seconds() + c->beat;
        for (double now; !c->leaving && (now = th_monotonic_seconds()) < until;)
            th_gate_wait_for(c->beat_gate, until - now);
        if (!c->leaving) beat(c);
    }
    th_gate_unlock(c->beat_gate);
}

// ---- joining and leaving

static void release(th_crew *c) {
    th_gate_destroy(c->gate);
    th_gate_destroy(c->beat_gate);
    free(c->units);
    free(c->owners);
    free(c);
}

static th_result write_ticket(th_crew *c, th_error *error) {
    char path[TH_PATH_MAX];
    json_t *about = identity_json(&c->self);
    char *text = about ? json_dumps(about, JSON_INDENT(1)) : NULL;
    json_decref(about);
    if (!text) return th_fail(error, TH_NO_MEMORY, "", "no memory for a task");
    path_in(c, path, "tasks/%s", c->id);
    th_result result = th_file_replace(path, text, strlen(text), TH_SYNCED, error);
    free(text);
    return result;
}

static th_result read_about(th_crew *c, th_error *error) {
    char path[TH_PATH_MAX];
    size_t size = 0;
    path_in(c, path, "about.json");
    char *text = th_file_content(path, &size, error);
    if (!text) return error->code;
    json_t *about = json_loads(text, 0, NULL);
    c->beat = json_number_value(json_object_get(about, "beat"));
    json_decref(about);
    free(text);
    if (c->beat > 0) return TH_OK;
    return th_file_fail(error, path, "is damaged; restore it: {\"beat\": %g}", BEAT);
}

th_result th_crew_join(const char *folder, int runs, const char *log, bool watch, th_crew **crew,
                       th_error *error) {
    th_crew *c = calloc(1, sizeof *c);
    *crew = NULL;
    if (!c) return th_fail(error, TH_NO_MEMORY, "", "no memory for a task");
    snprintf(c->work, sizeof c->work, "%.3700s/cluster/work", folder);
    c->runs = runs;
    c->watching = watch;
    c->units = calloc((size_t)runs + 1, sizeof *c->units);
    c->gate = th_gate_create();
    c->beat_gate = th_gate_create();
    identify(&c->self, log);
    make_name(c->id, c->self.host);
    th_result result = c->units && c->gate && c->beat_gate
                           ? read_about(c, error)
                           : th_fail(error, TH_NO_MEMORY, "", "no memory for %d runs", runs);
    if (result == TH_OK && !watch) result = write_ticket(c, error);
    if (result != TH_OK) {
        release(c);
        return result;
    }
    if (!watch) {
        beat(c);
        c->beater = th_thread_start(keep_beating, c);
    }
    th_crew_look(c, 0, runs);
    *crew = c;
    return TH_OK;
}

void th_crew_leave(th_crew *c) {
    char path[TH_PATH_MAX];
    if (!c) return;
    th_gate_lock(c->beat_gate);
    c->leaving = true;
    th_gate_ring(c->beat_gate);
    th_gate_unlock(c->beat_gate);
    th_thread_join(c->beater);
    path_in(c, path, "tasks/%s.end", c->id);
    if (!c->watching) note(path, "it left");
    release(c);
}

const atomic_bool *th_crew_expelled(const th_crew *c) { return &c->expelled; }

// ---- looking

// One name of a shard: "12345.done", "12345.2", "12345.2.back", "12345.2.failed".
static void see_name(th_crew *c, const char *name) {
    int run = 0, attempt = 0, end = 0, more = 0;
    if (sscanf(name, "%d.%n", &run, &end) != 1 || end == 0 || run < 0 || run >= c->runs) return;
    unit *u = &c->units[run];
    if (strcmp(name + end, "done") == 0) u->done = true;
    if (sscanf(name + end, "%d%n", &attempt, &more) != 1 || attempt < 1 || attempt > 60000) return;
    const char *rest = name + end + more;
    bool back = strcmp(rest, ".back") == 0, failed = strcmp(rest, ".failed") == 0;
    if (*rest && !back && !failed) return;
    if (attempt > u->claims) u->claims = (uint16_t)attempt;
    if (*rest && attempt > u->ended) u->ended = (uint16_t)attempt;
    u->backs = (uint16_t)(u->backs + back);
}

static void look_at_shard(th_crew *c, int shard) {
    char path[TH_PATH_MAX];
    int end = (shard + 1) * SHARD < c->runs ? (shard + 1) * SHARD : c->runs;
    path_in(c, path, "%05d", shard);
    DIR *names = opendir(path);
    if (!names) return;
    for (int i = shard * SHARD; i < end; ++i)
        c->units[i].claims = c->units[i].ended = c->units[i].backs = 0;
    for (const struct dirent *entry = readdir(names); entry; entry = readdir(names))
        see_name(c, entry->d_name);
    closedir(names);
}

void th_crew_look(th_crew *c, int first, int end) {
    th_gate_lock(c->gate);
    for (int shard = first / SHARD; shard * SHARD < end; ++shard) look_at_shard(c, shard);
    th_gate_unlock(c->gate);
}

static owner *owner_of(th_crew *c, int run, int attempt) {
    char path[TH_PATH_MAX], id[ID_MAX];
    path_in(c, path, "%05d/%d.%d", run / SHARD, run, attempt);
    read_link(path, id, sizeof id);
    return *id ? find_owner(c, id) : NULL;
}

// Is the run free: never taken, given back, failed, or its task is dead?
static bool is_open(th_crew *c, int run) {
    unit *u = &c->units[run];
    if (u->done || u->skipped || u->failed) return false;
    bool ended = u->ended == u->claims || is_gone(c, owner_of(c, run, u->claims));
    u->failed = ended && u->claims - u->backs >= TH_CREW_DEATHS;
    return ended && !u->failed;
}

th_crew_state th_crew_state_of(th_crew *c, int run) {
    th_gate_lock(c->gate);
    const unit *u = &c->units[run];
    bool open = is_open(c, run);
    th_crew_state state = u->done      ? TH_CREW_DONE
                          : u->skipped ? TH_CREW_SKIPPED
                          : u->failed  ? TH_CREW_FAILED
                          : open       ? TH_CREW_FREE
                                       : TH_CREW_TAKEN;
    th_gate_unlock(c->gate);
    return state;
}

bool th_crew_attempt_of(th_crew *c, int run, th_crew_attempt *attempt) {
    char path[TH_PATH_MAX];
    *attempt = (th_crew_attempt){0};
    th_gate_lock(c->gate);
    const unit *u = &c->units[run];
    owner *o = u->claims > 0 ? owner_of(c, run, u->claims) : NULL;
    attempt->deaths = u->claims - u->backs;
    if (o) {
        read_ticket(c, o);
        snprintf(attempt->task, sizeof attempt->task, "%s", o->id);
        snprintf(attempt->machine, sizeof attempt->machine, "%s", o->who.host);
        snprintf(attempt->job, sizeof attempt->job, "%s", o->who.job);
        snprintf(attempt->log, sizeof attempt->log, "%s", o->who.log);
        attempt->silent = silence(c, o);
        path_in(c, path, "%05d/%d.%d.failed", run / SHARD, run, u->claims);
        read_link(path, attempt->why, sizeof attempt->why);
        path_in(c, path, "tasks/%s.end", o->id);
        if (!attempt->why[0]) read_link(path, attempt->why, sizeof attempt->why);
    }
    th_gate_unlock(c->gate);
    return o != NULL;
}

// ---- taking

// Makes `stem`.K the property of this process: 0, or why not, EEXIST where another was faster.
static int claim(const th_crew *c, const char *stem, int attempt) {
    char path[TH_PATH_MAX], id[ID_MAX];
    path_in(c, path, "%s.%d", stem, attempt);
    int cause = symlink(c->id, path) == 0 ? 0 : errno;
    // NFS may repeat a call whose answer was lost, and then finds its own link.
    if (cause == EEXIST) read_link(path, id, sizeof id);
    return cause == EEXIST && strcmp(id, c->id) == 0 ? 0 : cause;
}

// A client may believe for a while that a file is not there. A change of the folder by itself makes it ask.
static bool result_appears(const th_crew *c, int run) {
    char path[TH_PATH_MAX];
    path_in(c, path, "%05d/%d.part-%s", run / SHARD, run, c->id);
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file >= 0) close(file);
    unlink(path);
    path_in(c, path, "%05d/%d.done", run / SHARD, run);
    return access(path, F_OK) == 0;
}

static bool try_run(th_crew *c, int run) {
    char stem[64], path[TH_PATH_MAX];
    unit *u = &c->units[run];
    snprintf(stem, sizeof stem, "%05d/%d", run / SHARD, run);
    int cause = claim(c, stem, u->claims + 1);
    if (cause == ENOENT) { // the first run of a shard
        path_in(c, path, "%05d", run / SHARD);
        mkdir(path, 0777);
        cause = claim(c, stem, u->claims + 1);
    }
    if (cause) {
        if (cause == ENOENT) atomic_store(&c->over, !exists(c->work));
        look_at_shard(c, run / SHARD);
        return false;
    }
    u->mine = ++u->claims;
    if (u->claims > 1 && result_appears(c, run)) u->done = true;
    return !u->done;
}

int th_crew_take(th_crew *c) {
    int taken = -1;
    th_gate_lock(c->gate);
    for (int pass = 0; pass < 2 && taken < 0; ++pass) {
        // Takes a run that is known to be free; else reads all runs again, those of dead tasks included.
        if (pass > 0)
            for (int shard = 0; shard * SHARD < c->runs; ++shard) look_at_shard(c, shard);
        for (int run = pass > 0 ? 0 : c->first; run < c->runs && taken < 0; ++run) {
            if (atomic_load(&c->over) || atomic_load(&c->expelled)) break;
            if (pass == 0 && c->units[run].claims > 0) continue;
            if (is_open(c, run) && try_run(c, run)) taken = run;
            if (pass == 0) c->first = run + 1;
        }
        if (atomic_load(&c->over) || atomic_load(&c->expelled)) break;
    }
    th_gate_unlock(c->gate);
    return taken;
}

th_result th_crew_keep(th_crew *c, int run, const void *bytes, size_t size, th_error *error) {
    char part[TH_PATH_MAX], done[TH_PATH_MAX];
    path_in(c, part, "%05d/%d.part-%s", run / SHARD, run, c->id);
    path_in(c, done, "%05d/%d.done", run / SHARD, run);
    th_result result = th_file_replace(part, bytes, size, TH_SYNCED, error);
    if (result != TH_OK && !exists(c->work)) return TH_OK; // all was done without it
    if (result != TH_OK) return result;
    // Where there are no hard links the name is replaced: by the same bits.
    if (link(part, done) != 0 && errno != EEXIST && rename(part, done) != 0)
        result = th_file_fail(error, done, "cannot be written: %s; free space, then throng resume",
                              strerror(errno));
    unlink(part);
    th_system_sync_name(done);
    th_gate_lock(c->gate);
    c->units[run].done = result == TH_OK;
    th_gate_unlock(c->gate);
    return result;
}

static void end_attempt(th_crew *c, int run, const char *how, const char *why) {
    char path[TH_PATH_MAX];
    th_gate_lock(c->gate);
    unit *u = &c->units[run];
    path_in(c, path, "%05d/%d.%d.%s", run / SHARD, run, u->mine, how);
    note(path, why);
    if (u->mine > u->ended) u->ended = u->mine;
    u->backs = (uint16_t)(u->backs + (strcmp(how, "back") == 0));
    th_gate_unlock(c->gate);
}

void th_crew_give_back(th_crew *c, int run) { end_attempt(c, run, "back", "interrupted"); }
void th_crew_fail(th_crew *c, int run, const char *why) { end_attempt(c, run, "failed", why); }

void th_crew_skip(th_crew *c, int run) {
    th_gate_lock(c->gate);
    c->units[run].skipped = true;
    th_gate_unlock(c->gate);
}

char *th_crew_result(const th_crew *c, int run, size_t *size) {
    char path[TH_PATH_MAX];
    th_error unread = {0};
    path_in(c, path, "%05d/%d.done", run / SHARD, run);
    return th_file_content(path, size, &unread);
}

// ---- waiting

static bool stopped(const th_crew *c, const atomic_bool *interrupt) {
    return atomic_load(interrupt) || atomic_load(&c->expelled) || atomic_load(&c->over);
}

static void sleep_for(const th_crew *c, double seconds, const atomic_bool *interrupt) {
    double until = th_monotonic_seconds() + seconds;
    for (double now; !stopped(c, interrupt) && (now = th_monotonic_seconds()) < until;) {
        double left = until - now < 0.1 ? until - now : 0.1;
        nanosleep(&(struct timespec){0, (long)(1e9 * left)}, NULL);
    }
}

bool th_crew_wait(th_crew *c, const atomic_bool *interrupt) {
    bool silent = false, open = false;
    if (stopped(c, interrupt)) return false;
    th_gate_lock(c->gate);
    for (int run = 0; run < c->runs; ++run) {
        const unit *u = &c->units[run];
        if (u->done || u->skipped || u->failed || u->claims == 0) continue;
        owner *o = u->ended == u->claims ? NULL : owner_of(c, run, u->claims);
        if (!o || o->gone || strcmp(o->id, c->id) == 0) {
            open = open || is_open(c, run);
            continue;
        }
        if (!is_gone(c, o) && silence(c, o) < 3 * c->beat) continue;
        silent = true;
        watch_beat(c, o);
    }
    th_gate_unlock(c->gate);
    if (silent && !open) sleep_for(c, c->beat, interrupt);
    return (silent || open) && !stopped(c, interrupt);
}

// ---- the tables

// Numbers of the newest claim on the tables and of the newest whose end is noted.
static bool look_at_tables(const th_crew *c, int *claims, int *ended) {
    DIR *names = opendir(c->work);
    *claims = *ended = 0;
    if (!names) return false;
    for (const struct dirent *entry = readdir(names); entry; entry = readdir(names)) {
        int attempt = 0, end = 0;
        if (sscanf(entry->d_name, "tables.%d%n", &attempt, &end) != 1) continue;
        if (attempt > *claims) *claims = attempt;
        if (entry->d_name[end] && attempt > *ended) *ended = attempt;
    }
    closedir(names);
    return true;
}

bool th_crew_lock_tables(th_crew *c, const atomic_bool *interrupt) {
    int claims = 0, ended = 0;
    while (!stopped(c, interrupt) && look_at_tables(c, &claims, &ended)) {
        char path[TH_PATH_MAX], id[ID_MAX];
        path_in(c, path, "tables.%d", claims);
        read_link(path, id, sizeof id);
        th_gate_lock(c->gate);
        owner *o = ended < claims ? find_owner(c, id) : NULL;
        bool open = !o || is_gone(c, o) || watch_beat(c, o);
        th_gate_unlock(c->gate);
        if (open && claim(c, "tables", claims + 1) == 0) {
            c->tables = claims + 1;
            return true;
        }
        if (!open) sleep_for(c, c->beat < 0.2 ? c->beat : 0.2, interrupt);
    }
    return false;
}

void th_crew_unlock_tables(th_crew *c) {
    char path[TH_PATH_MAX];
    path_in(c, path, "tables.%d.back", c->tables);
    if (c->tables > 0) note(path, "written");
    c->tables = 0;
}

void th_crew_disband(th_crew *c) {
    char gone[TH_PATH_MAX];
    snprintf(gone, sizeof gone, "%.3900s-%s", c->work, c->id);
    atomic_store(&c->over, true);
    if (rename(c->work, gone) == 0) remove_tree(gone);
}
