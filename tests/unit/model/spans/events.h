/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Events of causal spans as text, one a line, as they were captured on nodes of four releases:
 *   NS ORDER KIND PROCESS PEER LABEL PREVIOUS SERIAL TAG REF WORDS TEXT
 *   name PID NAME
 * A process is <0.1.2>, NODE<0.1.2>, NAME, NODE/NAME, or - for nobody. */
#ifndef BEAMTOP_TESTS_SPANS_EVENTS_H
#define BEAMTOP_TESTS_SPANS_EVENTS_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/model/spans.h"

#define EVENT_WORDS 12

#define EVENT_KEY(name, key) key,
static const char *const event_keys[] = {SPAN_EVENT_LIST(EVENT_KEY) NULL};
static const char *const event_tags[] = {SPAN_TAG_LIST(EVENT_KEY) NULL};
static const char *const event_classes[] = {SPAN_CLASS_LIST(EVENT_KEY) NULL};
#undef EVENT_KEY

static int event_find(const char *const *keys, const char *word)
{
    for (int i = 0; keys[i]; i++)
        if (strcmp(keys[i], word) == 0)
            return i;
    return -1;
}

static struct span_process event_process(const char *word)
{
    struct span_process p = {0};
    const char *at = strchr(word, '<');
    if (at) {
        p.node = (struct slice){word, (size_t)(at - word)};
        if (sscanf(at, "<%*u.%" SCNu32 ".%" SCNu32 ">", &p.pid.id, &p.pid.serial) != 2)
            abort();
    } else if (strcmp(word, "-") != 0) {
        at = strchr(word, '/');
        p.name = slice_of(at ? at + 1 : word);
        if (at)
            p.node = (struct slice){word, (size_t)(at - word)};
    }
    return p;
}

static struct span_ref event_ref(const char *word)
{
    struct span_ref ref = {0};
    const char *at = strncmp(word, "#Ref<", 5) == 0 ? word + 5 : NULL;
    for (; at && ref.n < 5; at = strchr(at, '.')) {
        at += *at == '.';
        ref.words[ref.n++] = (uint32_t)strtoul(at, NULL, 10);
    }
    return ref;
}

/* Feeds a line; borrows nothing of it. */
static void event_feed(struct spans *s, const char *text)
{
    char line[512], *words[EVENT_WORDS] = {0}, *rest = line;
    size_t n = 0;
    snprintf(line, sizeof line, "%s", text);
    for (char *word; n < EVENT_WORDS && (word = strtok_r(rest, " \n", &rest));)
        words[n++] = word;
    if (n == 3 && strcmp(words[0], "name") == 0) {
        const struct span_process p = event_process(words[1]);
        spans_name(s, &p, slice_of(words[2]));
        return;
    }
    if (n != EVENT_WORDS || event_find(event_keys, words[2]) < 0) {
        fprintf(stderr, "not an event: %s\n", text);
        abort();
    }
    struct span_event e = {.kind = (enum span_event_kind)event_find(event_keys, words[2])};
    int tag = event_find(event_tags, words[8]), class = event_find(event_classes, words[8]);
    e.at_ns = strtoll(words[0], NULL, 10);
    e.order = strtoull(words[1], NULL, 10);
    e.process = event_process(words[3]);
    e.peer = event_process(words[4]);
    e.label = event_process(words[5]).pid;
    e.label_node = event_process(words[5]).node;
    e.serial = strtoull(words[7], NULL, 10);
    e.tag = tag > 0 ? (enum span_tag)tag : SPAN_TAG_MESSAGE;
    if (e.kind == SPAN_EVENT_RETURN || e.kind == SPAN_EVENT_LEAVE)
        e.class = class > 0 ? (enum span_class) class : SPAN_CLASS_NONE;
    e.ref = event_ref(words[9]);
    e.words = strtoll(words[10], NULL, 10);
    e.text = strcmp(words[11], "-") == 0 ? (struct slice){0} : slice_of(words[11]);
    spans_feed(s, &e);
}

#endif
