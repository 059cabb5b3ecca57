// The studio: worlds on show, their past, what was edited, and the thread that steps them. Everything here belongs to that
// thread, except the exchange. SPDX-License-Identifier: Apache-2.0
#ifndef TH_STUDIO_STUDIO_H
#define TH_STUDIO_STUDIO_H
#include "core/file.h"
#include "studio/exchange.h"
#include "throng/live.h"
#include "throng/record.h"
#include "throng/scene.h"
#include <jansson.h>

#define TH_STUDIO_OPENING "stadium_exit" // the template that is shown where no scene is given
// The same port at every start, because browsers keep unsaved changes by address.
#define TH_STUDIO_PORT 8747
#define TH_STUDIO_HISTORY_STEP 0.2                  // [s] simulated between kept moments
#define TH_STUDIO_HISTORY_BYTES ((size_t)256 << 20) // of both worlds
#define TH_STUDIO_UNDO_BYTES ((size_t)256 << 20)
#define TH_STUDIO_ANCHOR_STEP 5.0 // [s] simulated between states from which one can go on
#define TH_STUDIO_ANCHOR_BYTES ((size_t)128 << 20) // of all of them, without scenes
#define TH_STUDIO_UPLOAD ((size_t)1 << 30)         // bytes of a recording that a client sends
#define TH_STUDIO_PICTURE ((size_t)5 << 20)        // bytes of a picture that is sent to clients
#define TH_STUDIO_SHARE 0.03        // of the stepping thread's time that taking moments may cost
#define TH_STUDIO_ANSWER_SHARE 0.01 // and answering, where clients ask more than that

// A compiled scene that several states may need.
typedef struct th_play_scene {
    int references;
    size_t bytes;
    th_scene *scene;
} th_play_scene;

// Charts and findings, charts.c.
enum { TH_CHART_ROWS = 36000 };
typedef struct th_charts {
    double next;                  // [s] when the next row is due
    json_t *rows;                 // all so far
    float density;                // highest now [1/m2]
    struct th_watch *watch;       // over the world
    struct th_observer *recorded; // of a recording that is being read
    int samples;                  // of the watch, that rows were made of
    bool over;                    // the world was done
    json_t *findings;             // as clients know them
} th_charts;

// A world on show.
typedef struct th_play {
    th_play_scene *scene;
    json_t *document;
    bool dirty; // the document was edited without being compiled: the running world has it live
    json_t *live_walls;
    th_world *world;
    th_studio_catalogue *catalogue;
    th_charts charts;
    bool is_shown; // as it stands
} th_play;

// A state to go back to.
typedef struct th_undo {
    int world;
    th_play_scene *scene; // NULL: to be made again
    json_t *document, *live_walls;
    bool dirty;
    bool of_people; // the edit changed people: it is undone by going back in time
    int door;       // that the edit opened or shut; -1: none
    bool door_open; // before
    void *snapshot;
    size_t size;
    int people;
    double time; // of the snapshot [s]
    char text[80];
} th_undo;
enum { TH_UNDO_MAX = 64, TH_INSPECT_MAX = 16 };
typedef struct th_undo_stack {
    th_undo items[TH_UNDO_MAX];
    int count;
    size_t bytes;
} th_undo_stack;

// A world that is made beside the one on show, in a thread of its own: its scene compiled, its planners ready. rebuild.c.
typedef enum th_rebuild_stage {
    TH_REBUILD_COMPILE,
    TH_REBUILD_PLAN,
    TH_REBUILD_DONE
} th_rebuild_stage;
typedef struct th_rebuild {
    struct th_rebuild *next; // of those given up
    th_thread *thread;
    atomic_int stage;
    atomic_int *ended; // set with the last stage, beside the gate
    th_gate *gate;
    double begun, own; // wall clock; processor time of the thread [s]
    char text[80], name[256];
    char *base_dir;
    bool allow_links, with_time;
    th_world_def def;
    int world, people, room;
    json_t *document; // to compile; NULL: the scene is given
    th_play_scene *scene;
    th_world *made;
    th_result result;
    th_error error;
    th_undo_stack *from, *to; // of an undo or redo; NULL: an edit
    uint64_t client;
    json_t *id, *answer; // of the request
} th_rebuild;

typedef struct th_inspection {
    uint64_t client;
    uint32_t person;
    int world;
} th_inspection;

// A recording that a client sends in parts, in a file of its own until it is whole.
typedef struct th_upload {
    uint64_t client;
    FILE *file; // NULL: none is being sent
    char path[TH_PATH_MAX];
    size_t bytes;
} th_upload;

// A drawing that a client has sent, drawing.c.
typedef struct th_intake {
    char folder[TH_PATH_MAX];  // of its files; "": there are none
    bool used;                 // it was imported: the next file begins another
    struct th_intake_job *job; // that is reading it; NULL: none
} th_intake;

typedef struct th_studio_history {
    th_studio_moment **moments; // held, in the order of time, both worlds
    int count, room, first;
    size_t bytes;
} th_studio_history;

typedef struct th_studio {
    th_studio_exchange exchange;
    th_backend backend;
    int threads, room; // room: most agents of a world; 0: what its scene brings
    double replan;     // as in th_world_def
    char name[256];
    char *base_dir;   // where linked files are; NULL: they are refused
    bool allow_links; // they may lie elsewhere
    uint64_t seed;
    th_play plays[2];
    int play_count; // 0: a recording is shown
    bool playing;
    double speed;                  // times real time; 0: as fast as possible
    double paced_from, paced_time; // wall clock and simulated time from which the pace counts
    th_undo_stack undo, redo;
    th_undo_stack anchors; // states of world 0 to go on from, in the order of time
    bool anchor_due;       // the scene or the people were changed
    bool beside;           // worlds are made beside the one on show
    double made_in
        [2]; // the last one: from the request to the people in it [s], of wall clock and of its thread
    th_rebuild *rebuild;            // the one that is made; NULL: none
    th_rebuild *given_up;           // whose threads have not ended
    atomic_int rebuilt;             // some thread has ended
    const th_studio_request *asked; // that is being answered
    th_studio_history history;
    bool scrubbing;
    double scrub_time;
    th_inspection inspections[TH_INSPECT_MAX];
    int inspection_count;
    uint64_t steps_done;
    double rate, real_time;  // steps/s, times real time, of the last seconds
    double stepping, taking; // [s] wall time spent
    double stepping_own;     // [s] of the thread's processor time
    double last_step,
        pause; // when the last step ended, the longest time from step to step: of the thread's processor time [s]
    json_t *hello;      // what clients are greeted with
    char *greetings[2]; // its text, of a crowd and of a recording
    struct {
        th_studio_request *first; // asked, not answered yet
        double credit,
            at;      // [s] of answering that is free now; the thread's time when that was counted
        bool busy;   // the simulation has no time to spare
        double look; // wall clock when those that wait are looked at again [s]
        struct {
            uint64_t client;
            double at;   // the thread's time when it was last answered [s]
            int waiting; // requests
            bool held;   // one of them was left to wait
        } clients[TH_STUDIO_CLIENTS];
    } answers;
    bool changed; // since the last moment was shown
    struct {
        double next_frame, last_frame, next_state, next_person; // wall clock [s]
        bool to_inspect; // clients do not know yet what is on show
    } turn;
    int clients;
    th_studio_wishes wishes;
    double idle_at; // wall clock when there was nothing to do [s]
    struct {
        double wall, time; // when the rate was measured last
        uint64_t steps;
    } mark;
    // ---- a recording
    struct th_replay *replay;
    double cursor;                 // [s]
    th_trajectory_assumed assumed; // of a text that does not say it
    th_upload upload;
    th_intake intake;
} th_studio;

// ---- play.c
th_result th_play_open(th_studio *studio, json_t *document, const char *name, const char *base_dir,
                       th_error *error); // takes the document over
th_result th_play_restart(th_studio *studio, th_error *error);
// Goes on with another document (taken over, also when it fails); `room`: for so many more people.
th_result th_play_reload(th_studio *studio, int world, json_t *document, int room, int *lost,
                         th_error *error);
// Puts a world that was made in the place of the one on show; its people move over. Takes both over.
th_result th_play_put(th_studio *studio, int world, th_play_scene *scene, th_world *made, int *lost,
                      th_error *error);
th_result th_play_compile(const char *name, th_link_scope links, const json_t *document,
                          th_play_scene **scene, th_error *error);
th_world_def th_play_definition(const th_studio *studio);
th_play_scene *th_play_hold(th_play_scene *scene);
void th_play_let_go(th_play_scene *scene);
th_result th_play_compare(th_studio *studio, bool on, th_error *error);
void th_play_release(th_play *play);
// Clears the show: no world, no recording, no past.
void th_play_leave(th_studio *studio);
// Keeps the state before an edit. False: no memory; there is then no going back, and the edit goes on.
bool th_undo_push(th_studio *studio, th_undo_stack *stack, int world, const char *text);
void th_undo_drop(th_undo_stack *stack); // the last one
// After another scene was put on show: the one before counts from now on.
void th_undo_trim(th_studio *studio);
void th_undo_clear(th_undo_stack *stack);
// Back to the last state of `from`, its time and people too; the present one goes onto `to`.
th_result th_undo_take(th_studio *studio, th_undo_stack *from, th_undo_stack *to, th_error *error);
// Keeps the state of world 0 now and then, before a step, so that one can go on from a past moment.
void th_anchor_see(th_studio *studio);
// Goes on from the moment that is shown of the past; what came later is one undo away. Only with one world.
th_result th_play_branch(th_studio *studio, th_error *error);
// Memory of both stacks, including scenes that are not shown [B].
size_t th_undo_bytes(const th_studio *studio);
// After an undo or redo: the state becomes that of the play.
void th_undo_leave(th_studio *studio, th_undo_stack *from);

// ---- rebuild.c
// A reload, or an undo, that the crowd does not wait for. Both answer when it is done; `answer` (taken over) has the members of
// the answer to an edit. NULL with no error: the answer comes later.
json_t *th_rebuild_edit(th_studio *studio, int world, json_t *document, const char *text,
                        json_t *answer, th_error *error);
json_t *th_rebuild_undo(th_studio *studio, th_undo_stack *from, th_undo_stack *to, bool with_time,
                        th_error *error);
void th_rebuild_finish(th_studio *studio); // what has ended
bool th_rebuild_cancel(th_studio *studio); // false: there is none
void th_rebuild_release(th_studio *studio);
json_t *th_rebuild_describe(const th_studio *studio); // for the state

// ---- drawing.c
// Moves a file to those of the drawing.
th_result th_intake_keep(th_intake *intake, const char *from, const char *name, th_error *error);
void th_intake_finish(th_studio *studio); // puts on show what has been read
void th_intake_release(th_intake *intake);

// ---- describe.c: new references, NULL without memory
json_t *th_describe_hello(th_studio *studio); // the same every time: not to be changed
json_t *th_describe_scene(const th_studio *studio, int world);
json_t *th_describe_state(th_studio *studio);

// ---- charts.c
// Before the first step of a world, so that the samples are those of a run, and before its scene is shown, so that its
// findings are known; does nothing where it was done.
void th_charts_begin(th_studio *studio, int world);
// After every step; says chart rows and findings when they are due, and then shows the moment that it looked at.
void th_charts_see(th_studio *studio, int world);
void th_charts_reset(th_charts *charts);
void th_charts_release(th_charts *charts);
// A row of a recorded moment, where one is due.
void th_charts_of_moment(th_studio *studio, th_studio_moment *moment);
// The last row at or before `time`; NULL: none.
const json_t *th_charts_row(const th_charts *charts, double time);
// After a change of the world, its scene or its time: forgets what was seen.
void th_charts_unwatch(th_charts *charts);
// Charts of a recording: called for every frame and at the end. False: no memory.
bool th_charts_see_frame(th_studio *studio, const th_moment *frame);
bool th_charts_end_recording(th_studio *studio);

// ---- inspect.c: `person` events for clients that asked
void th_inspect(th_studio *studio);

// ---- requests.c
void th_studio_answer(th_studio *studio, const th_studio_request *request);
// The answer to a request that came before; NULL: with an error.
void th_studio_reply(th_studio *studio, uint64_t client, json_t *id, json_t *answer,
                     const th_error *error);
// Must it wait until a world is made?
bool th_studio_must_wait(const th_studio *studio, const th_studio_request *request);
void th_studio_tell_scene(th_studio *studio, int world);
void th_studio_greet(th_studio *studio, uint64_t client); // 0: all

// ---- scenes, requests.c
void th_upload_end(th_upload *upload); // closes and removes the file
// Bytes that base64 stands for, at most `length`; SIZE_MAX: it is none.
size_t th_base64_decode(const char *text, size_t length, unsigned char *bytes);
json_t *th_base64_text(const char *bytes, size_t size);
void th_base64_put(th_file_writer *file, const unsigned char *bytes, size_t size);

// ---- the last minutes, play.c
void th_history_add(th_studio_history *history, th_studio_moment *moment, size_t most_bytes);
// The latest of a world not after `time`; NULL: none.
th_studio_moment *th_history_at(const th_studio_history *history, int world, double time);
bool th_history_range(const th_studio_history *history, double *from, double *to);
void th_history_clear(th_studio_history *history);
void th_history_cut(th_studio_history *history, double time); // forgets what is later

// ---- runner.c
bool th_studio_init(th_studio *studio);
// The thread: answers, steps, shows, until exchange.stop. In turns, where there is no thread: once th_studio_begin, then
// th_studio_turn whenever the seconds of th_studio_idle have passed or something was asked.
void th_studio_run(th_studio *studio);
void th_studio_begin(th_studio *studio);
double th_studio_idle(th_studio *studio);
void th_studio_turn(th_studio *studio);
void th_studio_release(th_studio *studio);
void th_studio_repace(th_studio *studio);
// Shows the world as it stands. The moment is the caller's to release; NULL: no memory.
th_studio_moment *th_studio_take(th_studio *studio, int world);

// ---- replay.c
th_result th_replay_open(th_studio *studio, const char *path, th_error *error);
// In the place of what is on show, which stays on failure.
th_result th_replay_put(th_studio *studio, const char *path, const char *name, th_error *error);
double th_replay_duration(const struct th_replay *replay);
double th_replay_frame(const struct th_replay *replay); // [s] between frames
const th_scene_view *th_replay_scene(const struct th_replay *replay);
void th_replay_release(struct th_replay *replay);

// ---- video.c
enum {
    TH_VIDEO_PATH = 8000 // letters of a camera's path
};
typedef struct th_video_def {
    double fps;
    int width;          // [px]
    int colour_by;      // th_colour_by of draw/plan_drawing.h
    const char *colour; // the same by its name
    const char *path;   // of the camera in 3D, as the page's address has it, or NULL
    // Called after every frame with the share done; false stops.
    bool (*progress)(double share, void *context);
    void *context;
} th_video_def;
// The recording that is open as a video, drawn as `throng picture` draws, by the program ffmpeg. Where it fails or is
// stopped no file is left.
th_result th_video_write(const th_studio *studio, const char *path, const th_video_def *def,
                         th_error *error);

// ---- films of the page, video.c
// The same in 3D, drawn by the studio's page in a browser without a window.
th_result th_film_write(th_studio *studio, const char *path, const th_video_def *def,
                        th_error *error);

// ---- the page, server.c
extern const unsigned char th_studio_page[]; // the page, "" when this build has none
size_t th_studio_page_size(void);
extern const unsigned char
    th_studio_engine[]; // a Worker that runs the crowd in a page, gzipped; "": none
size_t th_studio_engine_size(void);
typedef struct th_studio_template {
    const char *name;
    const unsigned char *text;
    size_t size;
} th_studio_template;
extern const th_studio_template th_studio_templates[];
extern const int th_studio_template_count;

// ---- documents, document.c

// The scene file that is edited, as a tree. Lists are lists (a single shape becomes a list of one) and everything that can
// have an id has one, so that edits can name it. Nothing is checked here that loading the scene checks.

// From JSON with comments. NULL with an error (BAD_SCENE, line and column).
json_t *th_document_read(const char *text, size_t length, const char *name, th_error *error);
// Compiles it. No folder: linked files are refused.
th_result th_document_compile(const json_t *document, const char *name, th_link_scope links,
                              const th_allocator *allocator, th_scene **scene, th_error *error);

// As a file that people read. Caller frees; NULL: no memory.
char *th_document_write(const json_t *document);

// ---- edits change the document in place; TH_BAD_ARGUMENT says what is wrong with them
typedef struct th_document_made {
    const char *what; // of the list; a literal
    char id[64];      // "": has none
    int index;
} th_document_made;

// "level" may be an id or an index; NULL: the first.
th_result th_document_add(json_t *document, const char *what, const json_t *level,
                          const json_t *value, th_document_made *made, th_error *error);
th_result th_document_change(json_t *document, const char *what, const json_t *level,
                             const json_t *key, const json_t *value, th_error *error);
th_result th_document_remove(json_t *document, const char *what, const json_t *level,
                             const json_t *key, th_error *error);
// JSON patch (RFC 6902): add, replace, remove.
th_result th_document_patch(json_t *document, const json_t *patch, th_error *error);
// The model of a group's stage: `choice` is what a scene writes.
th_result th_document_set_model(json_t *document, int group, const char *stage, json_t *choice,
                                th_error *error);
// One parameter; `model` is the name in force, for documents that leave it out.
// The behaviours of a group: a list of names. Those that it had keep their parameters.
th_result th_document_set_behaviours(json_t *document, int group, const json_t *names,
                                     th_error *error);
th_result th_document_set_param(json_t *document, int group, const char *stage, const char *model,
                                const char *name, double value, th_error *error);
// An empty room, as `new` makes it.
json_t *th_document_empty(double width, double height);
// A plan as WKT or GeoJSON as a room with people; NULL: it is neither.
json_t *th_document_of_plan(const char *text, const char *name);

// ---- requests, requests.c and edits.c

// Shared by the files that answer requests: reading members, refusing, and edits that have a file of their own.

// Answers a request: members of the answer, or NULL with an error.
typedef json_t *th_request_fn(th_studio *studio, const json_t *asked, uint64_t client,
                              th_error *error);
th_request_fn th_do_set, th_do_model, th_do_edit, th_do_undo, th_do_redo; // edits.c
th_request_fn th_do_open, th_do_new, th_do_save, th_do_templates, th_do_template, th_do_compare,
    th_do_upload, th_do_underlay; // requests.c
th_request_fn th_do_import;       // drawing.c
// Puts a document (taken over; NULL: with an error) on show and tells all clients; members of the answer.
json_t *th_request_opened(th_studio *studio, json_t *document, const char *name, th_error *error);

enum { TH_REQUEST_IDS = 4096 }; // elements of a kind that requests can name
json_t *th_request_refuse(th_error *error, const char *member, const char *text); // always NULL
// False: the member is not there, not a number, or outside.
bool th_request_number(const json_t *asked, const char *name, double least, double most,
                       double *value);
bool th_request_point(const json_t *given, th_vec2 *point);
// The world a request is about; -1 with an error.
int th_request_world(const th_studio *studio, const json_t *asked, th_error *error);
// From an index or an id; -1 with an error.
int th_request_index(const json_t *given, const char *what, const char *const *ids, int count,
                     th_error *error);
int th_request_level(const th_scene_view *scene, const json_t *given, th_error *error);
int th_request_group(const th_scene_view *scene, const json_t *given, th_error *error);
// Tells all clients what was done and how the scene looks now.
void th_studio_tell_edited(th_studio *studio, int world, const char *text, const char *how,
                           int lost);

// ---- people, edits.c
json_t *th_edit_people(th_studio *studio, int w, const json_t *asked, th_error *error);
json_t *th_edit_remove_people(th_studio *studio, int w, const json_t *asked, th_error *error);
json_t *th_edit_person(th_studio *studio, int w, const json_t *asked, th_error *error);
// The place of an agent in the world's views, which are in the order of ids; -1: it is gone.
int th_studio_find_view(th_world *world, uint32_t id);
#endif
