// Requests that put another scene or recording on show, save it, or set a second world beside it.
// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "studio/requests.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static json_t *opened(th_studio *studio, json_t *document, const char *name, th_error *error) {
    bool was_recording = studio->replay != NULL;
    if (!document || th_play_open(studio, document, name, NULL, error) != TH_OK) return NULL;
    if (was_recording) th_studio_greet(studio, 0);
    th_studio_tell_edited(studio, 0, "opened", "reload", 0);
    th_charts_see(studio, 0);
    th_charts_doubts(studio, 0);
    return json_pack("{s:s}", "name", name);
}

json_t *th_do_open(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)client;
    const char *text = json_string_value(json_object_get(asked, "text"));
    const char *name = json_string_value(json_object_get(asked, "name"));
    if (!text) return th_request_refuse(error, "text", "give the scene, WKT or GeoJSON as text");
    if (!name || !*name) name = "opened.json";
    json_t *document = th_document_of_plan(text, name);
    if (!document) document = th_document_read(text, strlen(text), name, error);
    json_t *answer = opened(studio, document, name, error);
    if (!answer && error->code == TH_NO_FILE)
        snprintf(error->message, sizeof error->message,
                 "a scene that is sent cannot have files beside it; start `throng studio %.100s` "
                 "where they are",
                 name);
    return answer;
}

json_t *th_do_new(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)client;
    th_vec2 size = {20.0f, 15.0f};
    const json_t *given = json_object_get(asked, "size");
    if (given && (!th_request_point(given, &size) || !(size.x >= 3.0f && size.y >= 3.0f) ||
                  size.x > 5000.0f || size.y > 5000.0f))
        return th_request_refuse(error, "size", "give width and height from 3 to 5000 m");
    return opened(studio, th_document_empty((double)size.x, (double)size.y), "new.json", error);
}

json_t *th_do_save(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)client;
    int w = th_request_world(studio, asked, error);
    if (w < 0) return NULL;
    json_t *document = json_deep_copy(studio->plays[w].document);
    json_t *run = json_object_get(document, "run");
    if (!run) {
        run = json_object();
        json_object_set_new(document, "run", run);
    }
    if (json_object_get(run, "seed") || studio->seed != 1)
        json_object_set_new(run, "seed", json_integer((json_int_t)studio->seed));
    char *text = json_dumps(document, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
    json_decref(document);
    if (!text) return th_request_refuse(error, "", "no memory for the text of the scene");
    const char *slash = strrchr(studio->name, '/');
    json_t *answer = json_pack("{s:s,s:s}", "name", slash ? slash + 1 : studio->name, "text", text);
    free(text);
    return answer;
}

json_t *th_do_templates(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)asked, (void)client, (void)error;
    json_t *hello = th_describe_hello(studio);
    json_t *answer = json_pack("{s:O}", "templates", json_object_get(hello, "templates"));
    json_decref(hello);
    return answer;
}

json_t *th_do_template(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)client;
    const char *name = json_string_value(json_object_get(asked, "name"));
    for (int k = 0; name && k < th_studio_template_count; ++k) {
        const th_studio_template *t = &th_studio_templates[k];
        if (strcmp(t->name, name) != 0) continue;
        char file[128];
        snprintf(file, sizeof file, "%s.json", t->name);
        return opened(studio, th_document_read((const char *)t->text, t->size, file, error), file,
                      error);
    }
    return th_request_refuse(error, "name", "there is no such template; `templates` lists them");
}

json_t *th_do_compare(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)client;
    const json_t *on = json_object_get(asked, "on");
    if (!json_is_boolean(on)) return th_request_refuse(error, "on", "say true or false");
    if (th_play_compare(studio, json_is_true(on), error) != TH_OK) return NULL;
    for (int w = 0; w < studio->play_count; ++w)
        th_studio_tell_edited(studio, w, json_is_true(on) ? "comparing" : "one world", "reload", 0);
    return json_object();
}

// ---- a recording, sent in parts of base64

void th_upload_end(th_upload *upload) {
    static const char *const beside[] = {"", "-wal", "-shm", "-journal"}; // SQLite's too
    if (!upload->file) return;
    fclose(upload->file);
    for (size_t k = 0; k < sizeof beside / sizeof beside[0]; ++k) {
        char path[TH_PATH_MAX + 16];
        snprintf(path, sizeof path, "%s%s", upload->path, beside[k]);
        unlink(path);
    }
    *upload = (th_upload){0};
}

static bool begin_upload(th_upload *upload, uint64_t client, th_error *error) {
    const char *base = getenv("TMPDIR");
    th_upload_end(upload);
    snprintf(upload->path, sizeof upload->path, "%.4000s/throng-XXXXXX",
             base && *base ? base : "/tmp");
    int handle = mkstemp(upload->path);
    upload->file = handle < 0 ? NULL : fdopen(handle, "wb");
    upload->client = client;
    if (upload->file) return true;
    if (handle >= 0) close(handle);
    th_fail(error, TH_NO_FILE, "",
            "no file for the recording: %s; start throng with TMPDIR set to a folder that can be "
            "written",
            strerror(errno));
    return false;
}

static int base64_value(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

size_t th_base64_decode(const char *text, size_t length, unsigned char *bytes) {
    size_t size = 0;
    uint32_t word = 0;
    int bits = 0;
    while (length > 0 && text[length - 1] == '=') --length;
    for (size_t k = 0; k < length; ++k) {
        int value = base64_value(text[k]);
        if (value < 0) return SIZE_MAX;
        word = word << 6 | (uint32_t)value;
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        bytes[size++] = (unsigned char)(word >> bits);
    }
    return size;
}

static bool append_upload(th_upload *upload, const json_t *data, th_error *error) {
    size_t length = json_string_length(data);
    unsigned char *bytes = malloc(length + 1);
    size_t size = bytes ? th_base64_decode(json_string_value(data), length, bytes) : 0;
    if (!bytes || size == SIZE_MAX)
        th_request_refuse(error, "data", "give the next bytes of the recording as base64");
    else if (upload->bytes + size > TH_STUDIO_UPLOAD)
        th_request_refuse(error, "data",
                          "the recording is larger than 1 GiB, which is the most that can be "
                          "sent; start `throng replay FILE` instead");
    else if (fwrite(bytes, 1, size, upload->file) != size)
        th_request_refuse(error, "", "no room on the disk for the recording");
    else
        upload->bytes += size;
    free(bytes);
    return error->code == TH_OK;
}

static json_t *show_upload(th_studio *studio, const char *name, th_error *error) {
    th_error refused = {0};
    th_result result = fflush(studio->upload.file) == 0
                           ? th_replay_put(studio, studio->upload.path, name, &refused)
                           : th_fail(&refused, TH_NO_FILE, "", "no room on the disk");
    th_upload_end(&studio->upload);
    if (result != TH_OK) {
        th_fail(error, result, "", "%.100s: %s", name, refused.message);
        return NULL;
    }
    th_studio_greet(studio, 0);
    th_studio_tell_edited(studio, 0, "recording opened", "reload", 0);
    return json_pack("{s:s}", "name", name);
}

json_t *th_do_upload(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    th_upload *upload = &studio->upload;
    const char *name = json_string_value(json_object_get(asked, "name"));
    const json_t *at = json_object_get(asked, "at"), *data = json_object_get(asked, "data");
    if (!name || !json_is_integer(at) || !json_is_string(data))
        return th_request_refuse(error, "data",
                                 "give name, at (bytes sent so far) and data (base64)");
    if (upload->file && upload->client != client)
        return th_request_refuse(error, "", "another page sends a recording; try again shortly");
    if (json_integer_value(at) == 0 && !begin_upload(upload, client, error)) return NULL;
    if (!upload->file || (json_int_t)upload->bytes != json_integer_value(at))
        return th_request_refuse(error, "at", "a part is missing; begin anew with at: 0");
    if (!append_upload(upload, data, error)) {
        th_upload_end(upload);
        return NULL;
    }
    if (json_is_true(json_object_get(asked, "last"))) return show_upload(studio, name, error);
    return json_pack("{s:I}", "bytes", (json_int_t)upload->bytes);
}
