// Checkpoint files: a header, the world's snapshot, the observer's state.
// SPDX-License-Identifier: Apache-2.0
#include "run/checkpoint.h"
#include "core/error.h"
#include "core/hash.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Numbers as this machine keeps them: a checkpoint continues a run where it was begun, it is no format
// for exchange, and the snapshot inside is of the same kind.
typedef struct header {
    char magic[8];
    uint64_t checksum; // of all that follows
    uint64_t step_count;
    double wall_seconds;
    uint64_t world_size, observer_size;
    char version[16];
} header;
static const char MAGIC[8] = "THCHECK";
enum { KEPT = 2 };

// The observer's part begins on a multiple of 16 bytes, so that it may be read in place.
static size_t padded(size_t size) { return (size + 15) / 16 * 16; }

static uint64_t checksum(const char *bytes, size_t size) {
    uint64_t sum = th_hash_add(0, size);
    size_t at = 0;
    for (; at + 8 <= size; at += 8) {
        uint64_t word;
        memcpy(&word, bytes + at, 8);
        sum = th_hash_add(sum, word);
    }
    for (; at < size; ++at) sum = th_hash_add(sum, (unsigned char)bytes[at]);
    return sum;
}

static uint64_t checksum_of_file(const char *bytes, size_t size) {
    const size_t from = offsetof(header, step_count);
    return checksum(bytes + from, size - from);
}

void th_checkpoint_seal(char *bytes, size_t size) {
    uint64_t sum = checksum_of_file(bytes, size);
    memcpy(bytes + offsetof(header, checksum), &sum, sizeof sum);
}

// Header, world, observer in one block; NULL with an error.
static char *build(const th_world *world, const void *observer, size_t observer_size,
                   double wall_seconds, size_t *size, th_error *error) {
    size_t world_size = th_world_snapshot_size(world);
    *size = sizeof(header) + padded(world_size) + observer_size;
    char *bytes = calloc(1, *size);
    if (!bytes) {
        th_fail(error, TH_NO_MEMORY, "", "no memory for a checkpoint of %zu bytes", *size);
        return NULL;
    }
    header head = {.step_count = th_world_step_count(world), .wall_seconds = wall_seconds};
    head.world_size = world_size;
    head.observer_size = observer_size;
    memcpy(head.magic, MAGIC, sizeof MAGIC);
    snprintf(head.version, sizeof head.version, "%s", th_version());
    memcpy(bytes, &head, sizeof head);
    if (th_world_snapshot(world, bytes + sizeof head, world_size, error) != TH_OK) {
        free(bytes);
        return NULL;
    }
    memcpy(bytes + sizeof head + padded(world_size), observer, observer_size);
    th_checkpoint_seal(bytes, *size);
    return bytes;
}

static void remove_old(const th_folder *folder) {
    th_checkpoint_name names[TH_CHECKPOINTS_LISTED];
    int count = th_checkpoint_list(folder, names);
    char path[TH_PATH_MAX];
    for (int i = KEPT; i < count; ++i)
        if (th_folder_path(folder, names[i], path, sizeof path)) unlink(path);
}

th_result th_checkpoint_write(const th_folder *folder, const th_world *world,
                              const th_observer *observer, double wall_seconds, th_error *error) {
    void *observed = NULL;
    size_t observed_size = 0, size = 0;
    char name[TH_CHECKPOINT_NAME], path[TH_PATH_MAX];
    th_result result = th_observer_save(observer, &observed, &observed_size, error);
    if (result != TH_OK) return result;
    char *bytes = build(world, observed, observed_size, wall_seconds, &size, error);
    free(observed);
    if (!bytes) return error->code;
    snprintf(name, sizeof name, "checkpoints/checkpoint-%012llu.bin",
             (unsigned long long)th_world_step_count(world));
    result = th_folder_make(folder, "checkpoints", error);
    if (result == TH_OK && !th_folder_path(folder, name, path, sizeof path))
        result = th_file_fail(error, name, "the name is too long");
    if (result == TH_OK) result = th_file_replace(path, bytes, size, TH_SYNCED, error);
    free(bytes);
    if (result == TH_OK) remove_old(folder);
    return result;
}

static int newest_first(const void *a, const void *b) { return strcmp(b, a); }

int th_checkpoint_list(const th_folder *folder, th_checkpoint_name *names) {
    char path[TH_PATH_MAX];
    if (!th_folder_path(folder, "checkpoints", path, sizeof path)) return 0;
    DIR *entries = opendir(path);
    if (!entries) return 0;
    int count = 0;
    for (const struct dirent *entry = readdir(entries); entry; entry = readdir(entries)) {
        unsigned long long step = 0;
        int end = 0;
        bool own = sscanf(entry->d_name, "checkpoint-%12llu.bin%n", &step, &end) == 1 && end > 0 &&
                   entry->d_name[end] == '\0';
        if (own && count < TH_CHECKPOINTS_LISTED)
            snprintf(names[count++], TH_CHECKPOINT_NAME, "checkpoints/checkpoint-%012llu.bin",
                     step);
    }
    closedir(entries);
    qsort(names, (size_t)count, sizeof names[0], newest_first);
    return count;
}

static const char *fault(const char *bytes, size_t size, header *head) {
    if (size < sizeof *head) return "it is cut short";
    memcpy(head, bytes, sizeof *head);
    if (memcmp(head->magic, MAGIC, sizeof MAGIC) != 0) return "it is no checkpoint";
    if (strncmp(head->version, th_version(), sizeof head->version) != 0)
        return "it is of another version of throng";
    size_t body = size - sizeof *head;
    bool whole = head->world_size <= body && padded((size_t)head->world_size) <= body;
    if (!whole || head->observer_size != body - padded((size_t)head->world_size))
        return "it is cut short";
    if (head->checksum != checksum_of_file(bytes, size)) return "its checksum is wrong";
    return NULL;
}

th_result th_checkpoint_read(const th_folder *folder, const char *name, th_checkpoint *checkpoint,
                             th_error *error) {
    *checkpoint = (th_checkpoint){0};
    char path[TH_PATH_MAX];
    size_t size = 0;
    header head;
    if (!th_folder_path(folder, name, path, sizeof path))
        return th_file_fail(error, name, "the name is too long");
    char *bytes = th_file_content(path, &size, error);
    if (!bytes) return error->code;
    const char *wrong = fault(bytes, size, &head);
    if (wrong) {
        free(bytes);
        th_file_fail(error, path, "%s", wrong);
        return error->code = TH_BAD_SNAPSHOT;
    }
    checkpoint->step_count = head.step_count;
    checkpoint->wall_seconds = head.wall_seconds;
    checkpoint->bytes = bytes;
    checkpoint->world = bytes + sizeof head;
    checkpoint->world_size = (size_t)head.world_size;
    checkpoint->observer = bytes + sizeof head + padded(checkpoint->world_size);
    checkpoint->observer_size = (size_t)head.observer_size;
    return TH_OK;
}

void th_checkpoint_release(th_checkpoint *checkpoint) {
    free(checkpoint->bytes);
    *checkpoint = (th_checkpoint){0};
}
