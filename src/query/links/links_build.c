/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer: a row of the node itself, which has its settings, then one of each other node. */
#include <string.h>

#include "links_internal.h"
#include "query/native/values.h"
#include "query/who/who_terms.h"

#define COLUMNS 16
#define BUSY_BYTES 8192 /* from here on a port of the VM takes no more, and a buffer fills */
#define TICK_S 60       /* of OTP, where nothing is set */

static struct slice value_of_setting(const struct links_read *r, enum links_fact fact)
{
    return values_of_pair(r->facts[fact], "ok");
}

static int64_t count_of(struct slice value)
{
    return value.len > 0 ? values_count(value) : -1;
}

static int64_t tick_of(const struct links_read *r)
{
    const bool is_unset = who_term_is(r->facts[LINKS_TICK], "undefined");
    return is_unset ? TICK_S : count_of(value_of_setting(r, LINKS_TICK));
}

static struct slice overlap_of(const struct links_read *r)
{
    const struct slice value = value_of_setting(r, LINKS_OVERLAP);
    const bool is_unset = who_term_is(r->facts[LINKS_OVERLAP], "undefined");
    return value.len > 0 && who_term_is(value, "true") ? slice_of("true")
           : is_unset || who_term_is(value, "false")   ? slice_of("false")
                                                       : (struct slice){0};
}

static void build_self(struct builder *b, const struct links_read *r)
{
    build_tuple(b, COLUMNS);
    build_binary(b, r->node, strlen(r->node));
    values_build_words(b, "self");
    for (size_t i = 0; i < 7; i++)
        values_build_words(b, NULL);
    build_bool(b, false);
    build_known_int(b, tick_of(r));
    build_known_text(b, overlap_of(r));
    build_known_int(b, count_of(r->facts[LINKS_BUSY_LIMIT]));
    build_known_int(b, count_of(r->facts[LINKS_GLOBAL]));
    build_known_int(b, count_of(r->facts[LINKS_GROUPS]));
    values_build_words(b, NULL);
}

static void build_link(struct builder *b, const struct link *l)
{
    build_tuple(b, COLUMNS);
    build_known_text(b, l->name);
    values_build_words(b, !l->is_connected ? "known" : l->is_hidden ? "hidden" : "visible");
    build_known_text(b, l->is_connected ? l->state : slice_of("not connected"));
    build_known_text(b, l->protocol);
    build_known_text(b, l->address);
    build_known_int(b, l->in_bytes);
    build_known_int(b, l->out_bytes);
    build_known_int(b, l->queue_bytes);
    build_known_int(b, l->queue_len);
    build_bool(b, l->queue_bytes >= BUSY_BYTES);
    for (size_t i = 0; i < 5; i++)
        values_build_words(b, NULL);
    build_known_int(b, l->connection);
}

void links_build(struct builder *b, void *read, int64_t mono_ns, const struct stepped_who *who)
{
    const struct links_read *r = read;
    (void)who;
    build_tuple(b, 4);
    build_atom(b, "links");
    build_int(b, mono_ns);
    if (r->is_read) {
        build_list(b, r->n + 1);
        build_self(b, r);
        for (size_t i = 0; i < r->n; i++)
            build_link(b, &r->links[i]);
    }
    build_nil(b);
    build_bool(b, r->is_cut || !r->is_read);
}
