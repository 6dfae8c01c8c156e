/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "files.h"

#include <string.h>

#include "values.h"

struct slice files_text_of(struct slice value)
{
    struct cursor c = values_cursor(values_of_pair(value, "ok"));
    struct slice text;
    return cursor_binary(&c, &text) ? text : (struct slice){0};
}

bool files_take_number(struct slice *text, int64_t *out)
{
    size_t at = 0;
    *out = 0;
    while (at < text->len && (text->s[at] == ' ' || text->s[at] == '\t'))
        at++;
    const size_t digits = at;
    for (; at < text->len && text->s[at] >= '0' && text->s[at] <= '9'; at++)
        if (__builtin_mul_overflow(*out, 10, out) ||
            __builtin_add_overflow(*out, text->s[at] - '0', out))
            return false;
    const bool found = at > digits;
    *text = found ? (struct slice){text->s + at, text->len - at} : *text;
    return found;
}

struct slice files_find_behind(struct slice text, const char *key)
{
    const char *at = text.len > 0 ? memmem(text.s, text.len, key, strlen(key)) : NULL;
    if (!at)
        return (struct slice){0};
    at += strlen(key);
    const size_t len = text.len - (size_t)(at - text.s);
    const char *end = memchr(at, '\n', len);
    return (struct slice){at, end ? (size_t)(end - at) : len};
}

static struct slice cut_at(struct slice *text, char end)
{
    const char *at = text->len > 0 ? memchr(text->s, end, text->len) : NULL;
    const struct slice part = {text->s, at ? (size_t)(at - text->s) : text->len};
    const size_t past = at ? part.len + 1 : part.len;
    *text = (struct slice){text->s + past, text->len - past};
    return part;
}

static bool has_controller(struct slice names, const char *controller)
{
    if (!*controller)
        return names.len == 0;
    while (names.len > 0)
        if (slice_is(cut_at(&names, ','), controller))
            return true;
    return false;
}

struct slice files_find_group(struct slice text, const char *controller)
{
    while (text.len > 0) {
        struct slice line = cut_at(&text, '\n');
        (void)cut_at(&line, ':'); /* the hierarchy's number */
        if (!has_controller(cut_at(&line, ':'), controller))
            continue;
        if (slice_begins(line, "/") && line.len <= FILES_GROUP_MOST &&
            !memmem(line.s, line.len, "..", 2))
            return line;
    }
    return (struct slice){0};
}

int64_t files_find_kib(struct slice text, const char *key)
{
    struct slice line = files_find_behind(text, key);
    int64_t kib;
    return files_take_number(&line, &kib) && kib <= INT64_MAX / 1024 ? 1024 * kib : -1;
}

int64_t files_count_waiting(struct slice queues)
{
    struct cursor c = values_cursor(queues);
    struct cursor_list list;
    int64_t last = -1;
    if (cursor_list(&c, &list))
        for (size_t i = 0; i < list.count && cursor_list_int64(&c, &list, &last); i++)
            ;
    return cursor_failed(&c) ? -1 : last;
}
