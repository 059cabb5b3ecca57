// Worlds on show and their last minutes. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/memory.h"
#include "studio/studio.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- the last minutes, as moments

static void drop_oldest(th_studio_history *h) {
    th_studio_moment *oldest = h->moments[h->first];
    h->bytes -= th_studio_moment_bytes(oldest);
    th_studio_moment_release(oldest);
    h->first++;
}

void th_history_add(th_studio_history *h, th_studio_moment *moment, size_t most_bytes) {
    if (h->first > 0 && h->count == h->room) { // used places at the front
        memmove(h->moments, h->moments + h->first,
                (size_t)(h->count - h->first) * sizeof *h->moments);
        h->count -= h->first;
        h->first = 0;
    }
    if (!TH_RESERVE(h->moments, h->room, h->count + 1)) return;
    h->moments[h->count++] = th_studio_moment_hold(moment);
    h->bytes += th_studio_moment_bytes(moment);
    while (h->bytes > most_bytes && h->count - h->first > 2) drop_oldest(h);
}

th_studio_moment *th_history_at(const th_studio_history *h, int world, double time) {
    th_studio_moment *found = NULL;
    for (int k = h->first; k < h->count; ++k) {
        th_studio_moment *moment = h->moments[k];
        if (moment->world != world) continue;
        if (moment->time > time + 1e-6 && found) break;
        found = moment; // the first one of all where all are later
        if (moment->time > time + 1e-6) break;
    }
    return found;
}

bool th_history_range(const th_studio_history *h, double *from, double *to) {
    if (h->count == h->first) return false;
    *from = h->moments[h->first]->time;
    *to = h->moments[h->count - 1]->time;
    return true;
}

void th_history_cut(th_studio_history *h, double time) {
    while (h->count > h->first && h->moments[h->count - 1]->time > time + 1e-6) {
        th_studio_moment *latest = h->moments[--h->count];
        h->bytes -= th_studio_moment_bytes(latest);
        th_studio_moment_release(latest);
    }
}

void th_history_clear(th_studio_history *h) {
    while (h->first < h->count) drop_oldest(h);
    free(h->moments);
    *h = (th_studio_history){0};
}

// ---- a world on show: opened, restarted, reloaded with another document, taken back

th_play_scene *th_play_hold(th_play_scene *scene) {
    if (scene) scene->references++;
    return scene;
}

void th_play_let_go(th_play_scene *scene) {
    if (!scene || --scene->references > 0) return;
    th_scene_destroy(scene->scene);
    free(scene);
}

void th_play_release(th_play *play) {
    th_charts_release(&play->charts); // its watch reads the scene
    th_world_destroy(play->world);
    th_studio_catalogue_release(play->catalogue);
    th_play_let_go(play->scene);
    json_decref(play->document);
    json_decref(play->live_walls);
    *play = (th_play){0};
}

void th_play_leave(th_studio *studio) {
    for (int w = 0; w < 2; ++w) th_play_release(&studio->plays[w]);
    studio->play_count = 0;
    if (studio->replay) th_replay_release(studio->replay);
    studio->replay = NULL;
    th_undo_clear(&studio->undo);
    th_undo_clear(&studio->redo);
    th_undo_clear(&studio->anchors);
    th_history_clear(&studio->history);
    studio->inspection_count = 0;
    studio->scrubbing = false;
    th_studio_show(&studio->exchange, 1, NULL, false);
}

// Counts the bytes of a scene.
static void *count_alloc(size_t size, size_t alignment, void *context) {
    void *memory = NULL;
    if (alignment < sizeof(void *)) alignment = sizeof(void *);
    if (posix_memalign(&memory, alignment, size ? size : 1) != 0) return NULL;
    *(size_t *)context += size;
    return memory;
}

static void count_free(void *memory, size_t size, void *context) {
    if (memory) *(size_t *)context -= size;
    free(memory);
}

th_result th_play_compile(const char *name, th_link_scope links, const json_t *document,
                          th_play_scene **out, th_error *error) {
    th_play_scene *scene = calloc(1, sizeof *scene);
    *out = NULL;
    if (!scene) return th_fail(error, TH_NO_MEMORY, "", "no memory for a scene");
    th_allocator counted = {count_alloc, count_free, &scene->bytes};
    th_result result = th_document_compile(document, name, links, &counted, &scene->scene, error);
    if (result != TH_OK) {
        free(scene);
        return result;
    }
    scene->references = 1;
    *out = scene;
    return TH_OK;
}

static th_result compile(const th_studio *studio, const json_t *document, th_play_scene **out,
                         th_error *error) {
    th_link_scope links = {studio->base_dir, studio->allow_links};
    return th_play_compile(studio->name, links, document, out, error);
}

th_world_def th_play_definition(const th_studio *studio) {
    th_world_def def = th_world_def_default();
    def.backend = studio->backend;
    def.threads = studio->threads;
    def.seed = studio->seed;
    def.replan = studio->replan;
    def.max_agents = studio->room;
    return def;
}

// A new world in the place of the old one; takes the scene and the world over.
static th_result put(th_play *play, th_play_scene *scene, th_world *world, th_error *error) {
    th_studio_catalogue *catalogue =
        th_studio_catalogue_create(th_scene_view_of(scene->scene), world);
    if (!catalogue) {
        th_world_destroy(world);
        th_play_let_go(scene);
        return th_fail(error, TH_NO_MEMORY, "", "no memory for what the scene offers");
    }
    th_charts_unwatch(&play->charts);
    th_world_destroy(play->world);
    th_play_let_go(play->scene);
    th_studio_catalogue_release(play->catalogue);
    play->scene = scene;
    play->world = world;
    play->catalogue = catalogue;
    return TH_OK;
}

// A world at the start of a document, not yet in its place.
typedef struct fresh {
    th_play_scene *scene;
    th_world *world;
} fresh;

static void release_fresh(fresh *made) {
    th_world_destroy(made->world);
    th_play_let_go(made->scene);
    *made = (fresh){0};
}

static th_result make(const th_studio *studio, const th_play *play, const json_t *document,
                      fresh *made, th_error *error) {
    *made = (fresh){0};
    if (play->dirty || document != play->document) {
        th_result result = compile(studio, document, &made->scene, error);
        if (result != TH_OK) return result;
    } else {
        made->scene = th_play_hold(play->scene);
    }
    th_world_def def = th_play_definition(studio);
    th_result result = th_world_create(made->scene->scene, &def, &made->world, error);
    if (result != TH_OK) release_fresh(made);
    return result;
}

// Takes what was made over.
static th_result begin(th_play *play, fresh *made, th_error *error) {
    th_result result = put(play, made->scene, made->world, error);
    *made = (fresh){0};
    if (result != TH_OK) return result;
    play->dirty = false;
    json_decref(play->live_walls);
    play->live_walls = NULL;
    th_charts_reset(&play->charts);
    return TH_OK;
}

// From the start of its document. On failure the play is as it was.
static th_result start(const th_studio *studio, th_play *play, const json_t *document,
                       th_error *error) {
    fresh made;
    th_result result = make(studio, play, document, &made, error);
    return result == TH_OK ? begin(play, &made, error) : result;
}

static uint64_t seed_of(const json_t *document) {
    const json_t *seed = json_object_get(json_object_get(document, "run"), "seed");
    return json_is_integer(seed) && json_integer_value(seed) > 0
               ? (uint64_t)json_integer_value(seed)
               : 1;
}

th_result th_play_open(th_studio *studio, json_t *document, const char *name, const char *base_dir,
                       th_error *error) {
    // Opens in a fresh studio, so that a scene that fails to open leaves the old one as it is.
    th_studio opened = {.backend = studio->backend,
                        .threads = studio->threads,
                        .room = studio->room,
                        .replan = studio->replan,
                        .allow_links = studio->allow_links,
                        .seed = seed_of(document),
                        .base_dir = base_dir ? strdup(base_dir) : NULL};
    snprintf(opened.name, sizeof opened.name, "%s", name);
    th_play play = {0};
    th_result result = start(&opened, &play, document, error);
    if (result != TH_OK) {
        free(opened.base_dir);
        json_decref(document);
        return result;
    }
    play.document = document;
    th_play_leave(studio);
    free(studio->base_dir);
    studio->base_dir = opened.base_dir;
    memcpy(studio->name, opened.name, sizeof studio->name);
    studio->seed = opened.seed;
    studio->plays[0] = play;
    studio->play_count = 1;
    th_studio_repace(studio);
    return TH_OK;
}

// Both worlds or neither: they run in step.
th_result th_play_restart(th_studio *studio, th_error *error) {
    fresh made[2] = {{0}};
    th_result result = TH_OK;
    for (int w = 0; w < studio->play_count && result == TH_OK; ++w)
        result = make(studio, &studio->plays[w], studio->plays[w].document, &made[w], error);
    for (int w = 0; w < studio->play_count; ++w) {
        if (result == TH_OK)
            result = begin(&studio->plays[w], &made[w], error);
        else
            release_fresh(&made[w]);
    }
    if (result != TH_OK) return result;
    th_history_clear(&studio->history);
    th_undo_clear(&studio->anchors);
    studio->scrubbing = false;
    th_studio_repace(studio);
    return TH_OK;
}

th_result th_play_put(th_studio *studio, int world, th_play_scene *scene, th_world *made, int *lost,
                      th_error *error) {
    th_play *play = &studio->plays[world];
    th_result result = th_world_take_over(made, play->world, lost, error);
    if (result == TH_OK) return put(play, scene, made, error);
    th_world_destroy(made);
    th_play_let_go(scene);
    return result;
}

th_result th_play_reload(th_studio *studio, int world, json_t *document, int room, int *lost,
                         th_error *error) {
    th_play *play = &studio->plays[world];
    th_play_scene *scene = NULL;
    th_world *next = NULL;
    th_result result = compile(studio, document, &scene, error);
    th_world_def def = th_play_definition(studio);
    if (room > 0) def.max_agents = th_world_agent_count(play->world) + room;
    if (result == TH_OK)
        result = th_world_continue(scene->scene, &def, play->world, lost, &next, error);
    if (result == TH_OK)
        result = put(play, scene, next, error);
    else
        th_play_let_go(scene);
    if (result != TH_OK) {
        json_decref(document);
        return result;
    }
    if (document != play->document) json_decref(play->document);
    play->document = document;
    play->dirty = false;
    json_decref(play->live_walls);
    play->live_walls = NULL;
    return TH_OK;
}

static void release_undo(th_undo *undo) {
    // The analyzer does not count references: it believes that the first release frees.
    th_play_let_go(undo->scene); // NOLINT(clang-analyzer-unix.Malloc)
    json_decref(undo->document);
    json_decref(undo->live_walls);
    free(undo->snapshot);
}

// The states of a world that is shown no longer.
static void forget_world(th_undo_stack *stack, int world) {
    int kept = 0;
    for (int k = 0; k < stack->count; ++k) {
        th_undo *undo = &stack->items[k];
        if (undo->world != world) {
            stack->items[kept++] = *undo;
            continue;
        }
        stack->bytes -= undo->size;
        release_undo(undo);
    }
    stack->count = kept;
}

th_result th_play_compare(th_studio *studio, bool on, th_error *error) {
    if (!on) {
        if (studio->play_count == 2) th_play_release(&studio->plays[1]);
        studio->play_count = 1;
        forget_world(&studio->undo, 1);
        forget_world(&studio->redo, 1);
        th_history_clear(&studio->history);
        th_studio_show(&studio->exchange, 1, NULL, false);
        return TH_OK;
    }
    if (studio->play_count == 2) return TH_OK;
    th_play second = {0};
    json_t *document = json_deep_copy(studio->plays[0].document);
    th_result result = start(studio, &second, document, error);
    if (result != TH_OK) {
        json_decref(document);
        return result;
    }
    second.document = document;
    studio->plays[1] = second;
    studio->play_count = 2;
    return th_play_restart(studio, error);
}

// ---- going back

void th_undo_clear(th_undo_stack *stack) {
    for (int k = 0; k < stack->count; ++k) release_undo(&stack->items[k]);
    *stack = (th_undo_stack){0};
}

void th_undo_drop(th_undo_stack *stack) {
    if (stack->count == 0) return;
    th_undo *last = &stack->items[--stack->count];
    stack->bytes -= last->size;
    release_undo(last);
}

static void drop_first(th_undo_stack *stack) {
    stack->bytes -= stack->items[0].size;
    release_undo(&stack->items[0]);
    memmove(&stack->items[0], &stack->items[1], (size_t)(--stack->count) * sizeof stack->items[0]);
}

static bool is_on_show(const th_studio *studio, const th_play_scene *scene) {
    for (int w = 0; w < studio->play_count; ++w)
        if (studio->plays[w].scene == scene) return true;
    return false;
}

// The bytes of a state, its scene with the first that holds it.
static size_t bytes_of(const th_studio *studio, const th_undo_stack *stack, int k) {
    const th_play_scene *scene = stack->items[k].scene;
    bool counted = !scene || is_on_show(studio, scene);
    for (int j = 0; j < k && !counted; ++j) counted = stack->items[j].scene == scene;
    for (int j = 0; stack == &studio->redo && j < studio->undo.count && !counted; ++j)
        counted = studio->undo.items[j].scene == scene;
    return stack->items[k].size + (counted ? 0 : scene->bytes);
}

size_t th_undo_bytes(const th_studio *studio) {
    const th_undo_stack *const stacks[] = {&studio->undo, &studio->redo};
    size_t bytes = 0;
    for (int s = 0; s < 2; ++s)
        for (int k = 0; k < stacks[s]->count; ++k) bytes += bytes_of(studio, stacks[s], k);
    return bytes;
}

// Scenes that can be made again go first, of the oldest states, then whole states.
static void keep_small(const th_studio *studio, th_undo_stack *stack) {
    for (int k = 0; k < stack->count && th_undo_bytes(studio) > TH_STUDIO_UNDO_BYTES; ++k) {
        th_undo *undo = &stack->items[k];
        if (undo->dirty || is_on_show(studio, undo->scene)) continue;
        th_play_let_go(undo->scene);
        undo->scene = NULL;
    }
    while (stack->count > 1 && th_undo_bytes(studio) > TH_STUDIO_UNDO_BYTES) drop_first(stack);
}

void th_undo_trim(th_studio *studio) {
    keep_small(studio, &studio->undo);
    keep_small(studio, &studio->redo);
}

bool th_undo_push(th_studio *studio, th_undo_stack *stack, int world, const char *text) {
    th_play *play = &studio->plays[world];
    size_t size = th_world_snapshot_size(play->world);
    void *snapshot = size <= TH_STUDIO_UNDO_BYTES ? malloc(size) : NULL;
    if (!snapshot || th_world_snapshot(play->world, snapshot, size, NULL) != TH_OK) {
        free(snapshot);
        th_undo_clear(stack); // earlier moments could not be told from missing ones
        return false;
    }
    if (stack->count == TH_UNDO_MAX) drop_first(stack);
    th_undo *undo = &stack->items[stack->count++];
    *undo = (th_undo){.world = world,
                      .scene = th_play_hold(play->scene),
                      .document = json_deep_copy(play->document),
                      .live_walls = play->live_walls ? json_deep_copy(play->live_walls) : NULL,
                      .dirty = play->dirty,
                      .door = -1,
                      .snapshot = snapshot,
                      .size = size,
                      .people = th_world_agent_count(play->world),
                      .time = th_world_time(play->world)};
    snprintf(undo->text, sizeof undo->text, "%s", text);
    stack->bytes += size;
    if (stack != &studio->anchors) keep_small(studio, stack);
    return true;
}

static th_result restore(th_studio *studio, th_play *play, const th_undo *undo, th_error *error) {
    if (undo->scene == play->scene)
        return th_world_restore(play->world, undo->snapshot, undo->size, error);
    th_play_scene *scene = th_play_hold(undo->scene);
    if (!scene) {
        th_result made = compile(studio, undo->document, &scene, error);
        if (made != TH_OK) return made;
    }
    th_world_def def = th_play_definition(studio);
    def.max_agents = undo->people + 50000; // and for people that come later
    th_world *world = NULL;
    th_result result = th_world_continue(scene->scene, &def, play->world, NULL, &world, error);
    if (result == TH_OK) result = th_world_restore(world, undo->snapshot, undo->size, error);
    if (result == TH_OK) return put(play, scene, world, error);
    th_world_destroy(world);
    th_play_let_go(scene);
    return result;
}

void th_undo_leave(th_studio *studio, th_undo_stack *from) {
    th_undo undo = from->items[--from->count];
    th_play *play = &studio->plays[undo.world];
    from->bytes -= undo.size;
    json_decref(play->document);
    json_decref(play->live_walls);
    play->document = undo.document;
    play->live_walls = undo.live_walls;
    play->dirty = undo.dirty;
    undo.document = undo.live_walls = NULL;
    release_undo(&undo);
    th_studio_repace(studio);
}

th_result th_undo_take(th_studio *studio, th_undo_stack *from, th_undo_stack *to, th_error *error) {
    if (from->count == 0)
        return th_fail(error, TH_BAD_ARGUMENT, "", "there is nothing to %s",
                       from == &studio->undo ? "undo" : "redo");
    th_undo undo = from->items[from->count - 1];
    th_play *play = &studio->plays[undo.world];
    bool kept = th_undo_push(studio, to, undo.world, undo.text);
    if (kept) to->items[to->count - 1].of_people = undo.of_people;
    th_result result = restore(studio, play, &undo, error);
    if (result != TH_OK) {
        if (kept) th_undo_drop(to);
        return result;
    }
    th_undo_leave(studio, from);
    return TH_OK;
}

// ---- going on from a moment of the past

// Forgets the states that are later.
static void cut_anchors(th_undo_stack *anchors, double time) {
    while (anchors->count > 0 && anchors->items[anchors->count - 1].time > time + 1e-6)
        th_undo_drop(anchors);
}

void th_anchor_see(th_studio *studio) {
    th_undo_stack *anchors = &studio->anchors;
    if (studio->play_count != 1) return;
    double now = th_world_time(studio->plays[0].world);
    cut_anchors(anchors, now); // an undo went back
    double last = anchors->count ? anchors->items[anchors->count - 1].time : -1e30;
    bool due = now >= last + TH_STUDIO_ANCHOR_STEP - 1e-6 ||
               (studio->anchor_due && now >= last + TH_STUDIO_HISTORY_STEP - 1e-6);
    if (!due || th_world_snapshot_size(studio->plays[0].world) > TH_STUDIO_ANCHOR_BYTES / 4) return;
    studio->anchor_due = false;
    th_undo_push(studio, anchors, 0, "branch");
    while (anchors->count > 1 && anchors->bytes > TH_STUDIO_ANCHOR_BYTES) drop_first(anchors);
}

th_result th_play_branch(th_studio *studio, th_error *error) {
    th_play *play = &studio->plays[0];
    double time = studio->scrub_time;
    if (!studio->scrubbing || studio->play_count != 1)
        return th_fail(error, TH_BAD_ARGUMENT, "do",
                       studio->scrubbing ? "two worlds are compared, which go in step; end the "
                                           "comparison first"
                                         : "the present is shown; scrub to a past moment first");
    int k = studio->anchors.count - 1;
    while (k >= 0 && studio->anchors.items[k].time > time + 1e-6) --k;
    if (k < 0)
        return th_fail(error, TH_BAD_ARGUMENT, "do",
                       "the state of that moment is no longer kept; choose a later one");
    const th_undo *anchor = &studio->anchors.items[k];
    bool kept = th_undo_push(studio, &studio->undo, 0, "branch");
    if (kept) studio->undo.items[studio->undo.count - 1].of_people = true;
    th_result result = restore(studio, play, anchor, error);
    if (result != TH_OK) {
        if (kept) th_undo_drop(&studio->undo);
        return result;
    }
    th_undo_clear(&studio->redo);
    json_decref(play->document);
    json_decref(play->live_walls);
    play->document = json_deep_copy(anchor->document);
    play->live_walls = anchor->live_walls ? json_deep_copy(anchor->live_walls) : NULL;
    play->dirty = anchor->dirty;
    double length = th_world_step_length(play->world);
    while (th_world_time(play->world) < time - 0.5 * length) th_world_step(play->world, 1);
    cut_anchors(&studio->anchors, time);
    th_history_cut(&studio->history, th_world_time(play->world));
    studio->scrubbing = false;
    th_studio_repace(studio);
    return TH_OK;
}
