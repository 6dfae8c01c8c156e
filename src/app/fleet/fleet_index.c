/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fleet_index.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "beamtop/output/json.h"

#define SCHEMA "beamtop.recordings/1"
#define LARGEST 1e15 /* of a clock, µs: 30 years */

static const char *const states[] = {[RECORDED_STARTING] = "starting",
                                     [RECORDED_RUNNING] = "recording",
                                     [RECORDED_COMPLETE] = "complete",
                                     [RECORDED_FAILED] = "failed"};

/* ---- writing */

static json_t *clock_json(const struct recorded_clock *c)
{
    json_t *o = json_object();
    if (c->wall_us == 0) {
        json_decref(o);
        return json_null();
    }
    json_object_set_new(o, "wall_us", json_integer(c->wall_us));
    json_object_set_new(o, "offset_us", json_number(c->offset_us));
    json_object_set_new(o, "bound_us", json_number(c->bound_us));
    return o;
}

static json_t *time_json(int64_t wall_us)
{
    return wall_us > 0 ? json_integer(wall_us) : json_null();
}

static json_t *recorded_json(const struct recorded_node *node)
{
    json_t *o = json_object();
    json_object_set_new(o, "name", json_chars(node->name));
    json_object_set_new(o, "file", json_chars(node->file));
    json_object_set_new(o, "state", json_string(states[node->state]));
    json_object_set_new(o, "why", json_chars(node->why));
    json_object_set_new(o, "ticks", json_integer(node->ticks));
    json_object_set_new(o, "from_us", time_json(node->from_us));
    json_object_set_new(o, "until_us", time_json(node->until_us));
    json_object_set_new(o, "clock_begin", clock_json(&node->begin));
    json_object_set_new(o, "clock_end", clock_json(&node->end));
    return o;
}

void fleet_index_put(struct buf *out, const struct fleet_index *index)
{
    json_t *root = json_object(), *nodes = json_array();
    json_object_set_new(root, "schema", json_string(SCHEMA));
    json_object_set_new(root, "begin_us", json_integer(index->begin_us));
    json_object_set_new(root, "end_us", time_json(index->end_us));
    for (size_t i = 0; i < index->n; i++)
        json_array_append_new(nodes, recorded_json(&index->nodes[i]));
    json_object_set_new(root, "nodes", nodes);
    json_put_line(out, root);
}

/* ---- reading */

/* One line. False: it is not a text, or too long. */
static bool copy_text(char *out, size_t size, const json_t *text)
{
    const size_t len = json_string_length(text);
    if (!json_is_string(text) || len >= size || strlen(json_string_value(text)) != len)
        return false;
    memcpy(out, json_string_value(text), len + 1);
    for (size_t i = 0; i < len; i++)
        out[i] = out[i] == '\n' || out[i] == '\r' ? ' ' : out[i];
    return true;
}

/* A file of the directory, and none that is hidden. */
static bool is_plain_file(const char *file)
{
    return *file && *file != '.' && !strchr(file, '/');
}

static bool read_clock(struct recorded_clock *out, const json_t *o)
{
    if (!o || json_is_null(o))
        return true;
    const json_t *wall = json_object_get(o, "wall_us");
    const json_t *offset_us = json_object_get(o, "offset_us");
    const json_t *bound_us = json_object_get(o, "bound_us");
    const double offset = json_number_value(offset_us), bound = json_number_value(bound_us);
    if (!json_is_integer(wall) || !json_is_number(offset_us) || !json_is_number(bound_us) ||
        json_integer_value(wall) <= 0 || !(fabs(offset) < LARGEST) ||
        !(bound >= 0 && bound < LARGEST))
        return false;
    *out = (struct recorded_clock){json_integer_value(wall), offset, bound};
    return true;
}

/* An earlier version wrote none. */
static bool read_time(int64_t *out, const json_t *time)
{
    const bool is_known = json_is_integer(time);
    if (is_known)
        *out = json_integer_value(time);
    return !time || json_is_null(time) || (is_known && *out >= 0);
}

static bool read_state(enum recorded_state *out, const json_t *text)
{
    for (size_t i = 0; json_is_string(text) && i < ARRAY_LEN(states); i++)
        if (strcmp(json_string_value(text), states[i]) == 0) {
            *out = (enum recorded_state)i;
            return true;
        }
    return false;
}

static bool read_recorded(struct recorded_node *out, const json_t *o)
{
    const json_t *why = json_object_get(o, "why");
    const json_t *ticks = json_object_get(o, "ticks");
    if (!copy_text(out->name, sizeof out->name, json_object_get(o, "name")) ||
        !copy_text(out->file, sizeof out->file, json_object_get(o, "file")) || !*out->name ||
        !is_plain_file(out->file) || !read_state(&out->state, json_object_get(o, "state")) ||
        !json_is_integer(ticks) || json_integer_value(ticks) < 0 ||
        (why && !json_is_null(why) && !copy_text(out->why, sizeof out->why, why)))
        return false;
    out->ticks = json_integer_value(ticks);
    return read_time(&out->from_us, json_object_get(o, "from_us")) &&
           read_time(&out->until_us, json_object_get(o, "until_us")) &&
           read_clock(&out->begin, json_object_get(o, "clock_begin")) &&
           read_clock(&out->end, json_object_get(o, "clock_end"));
}

static bool is_file_twice(const struct fleet_index *index, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (strcmp(index->nodes[i].file, index->nodes[at].file) == 0)
            return true;
    return false;
}

static int read_nodes(struct fleet_index *out, const json_t *nodes, struct error *err)
{
    const size_t n = json_array_size(nodes);
    if (n == 0 || n > FLEET_INDEX_NODES)
        return error_set(err, ERR_FORMAT, "its index has %zu nodes, not 1 to %d", n,
                         FLEET_INDEX_NODES);
    out->nodes = alloc_zero(n, sizeof *out->nodes);
    for (; out->n < n; out->n++)
        if (!read_recorded(&out->nodes[out->n], json_array_get(nodes, out->n)) ||
            is_file_twice(out, out->n))
            return error_set(err, ERR_FORMAT, "node %zu of its index is invalid", out->n + 1);
    return 0;
}

int fleet_index_read(struct fleet_index *out, const char *text, size_t len, struct error *err)
{
    json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
    const char *schema = json_string_value(json_object_get(root, "schema"));
    const json_t *begin = json_object_get(root, "begin_us"), *end = json_object_get(root, "end_us");
    int rc = 0;
    *out = (struct fleet_index){0};
    if (!schema || strcmp(schema, SCHEMA) != 0)
        rc = error_set(err, ERR_FORMAT, "its index is not one of recordings (%s)", SCHEMA);
    else if (!json_is_integer(begin) || (end && !json_is_null(end) && !json_is_integer(end)))
        rc = error_set(err, ERR_FORMAT, "its index has no times");
    if (rc == 0) {
        out->begin_us = json_integer_value(begin);
        out->end_us = json_integer_value(end);
        rc = read_nodes(out, json_object_get(root, "nodes"), err);
    }
    json_decref(root);
    return rc;
}

/* All of a file that is not larger. */
static int read_index_file(struct buf *out, const char *path, struct error *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    char bytes[4096];
    ssize_t n = 0;
    if (fd < 0 && errno == ENOENT)
        return error_set(err, ERR_NOT_FOUND, "no %s: not a directory of recordings",
                         FLEET_INDEX_FILE);
    if (fd < 0)
        return error_set_errno(err, errno, "%s", FLEET_INDEX_FILE);
    while (out->len <= FLEET_INDEX_BYTES && (n = read(fd, bytes, sizeof bytes)) > 0)
        buf_put(out, bytes, (size_t)n);
    const int errnum = errno;
    close(fd);
    if (n < 0)
        return error_set_errno(err, errnum, "%s", FLEET_INDEX_FILE);
    return out->len > FLEET_INDEX_BYTES
               ? error_set(err, ERR_FORMAT, "its index is larger than 1 MiB")
               : 0;
}

int fleet_index_open(struct fleet_index *out, const char *dir, struct error *err)
{
    struct buf path, text;
    buf_init(&path, 0);
    buf_init(&text, 0);
    *out = (struct fleet_index){0};
    buf_printf(&path, "%s/" FLEET_INDEX_FILE, dir);
    int rc = read_index_file(&text, buf_cstr(&path), err);
    if (rc == 0)
        rc = fleet_index_read(out, buf_cstr(&text), text.len, err);
    if (rc != 0)
        error_context(err, "%s", dir);
    buf_clear(&path);
    buf_clear(&text);
    return rc;
}

void fleet_index_clear(struct fleet_index *index)
{
    free(index->nodes);
    *index = (struct fleet_index){0};
}
