/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/etf/build.h"

#include <assert.h>
#include <ei.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/text.h"

#define NO_ATOM "undefined"
#define NO_NODE "nonode@nohost"

struct builder {
    ei_x_buff x;
};

enum { ATOM_CHARACTERS = 255 };
enum { LEAST_ROOM = 512 }; /* bytes: libei wants 100 more than a term has; few are longer */

/* libei fails for want of memory, or for an argument that is ruled out here. */
static void check_ei(int rc)
{
    if (rc < 0)
        alloc_fail();
}

struct builder *builder_new(void)
{
    struct builder *b = alloc_zero(1, sizeof(*b));
    check_ei(ei_x_new_with_version(&b->x));
    return b;
}

void builder_free(struct builder *b)
{
    if (!b)
        return;
    alloc_free_wiped(b->x.buff, (size_t)b->x.index);
    free(b);
}

const uint8_t *builder_bytes(const struct builder *b, size_t *len)
{
    *len = (size_t)b->x.index;
    return (const uint8_t *)b->x.buff;
}

/* libei counts in int and long. */
static int as_int(size_t n)
{
    assert(n <= INT32_MAX);
    return (int)n;
}

/* libei makes a buffer longer by some hundred bytes, and copies it each time; this doubles it.
 * Nothing stays where it was: a term may be a private key. */
static ei_x_buff *with_room_for(struct builder *b, size_t bytes)
{
    ei_x_buff *x = &b->x;
    const size_t needed = (size_t)x->index + bytes + LEAST_ROOM;
    const size_t doubled = 2 * (size_t)x->buffsz;
    const size_t size = doubled > needed && doubled <= INT32_MAX ? doubled : needed;
    if (needed > (size_t)x->buffsz && size <= INT32_MAX) {
        x->buff = alloc_resize_wiped(x->buff, (size_t)x->index, size);
        x->buffsz = (int)size;
    }
    return x;
}

static ei_x_buff *with_room(struct builder *b)
{
    return with_room_for(b, 0);
}

void build_int(struct builder *b, int64_t v)
{
    check_ei(ei_x_encode_longlong(with_room(b), v));
}

void build_double(struct builder *b, double v)
{
    check_ei(ei_x_encode_double(with_room(b), v));
}

void build_atom(struct builder *b, const char *name)
{
    build_atom_n(b, name, strlen(name));
}

/* What the VM, and libei, take for an atom's name. */
static bool is_atom_name(const char *name, size_t len)
{
    int32_t cp;
    size_t characters = 0;
    for (size_t at = 0; at < len; characters++) {
        size_t n = text_decode(name + at, len - at, &cp);
        if (n == 0)
            return false;
        at += n;
    }
    return characters <= ATOM_CHARACTERS;
}

void build_atom_n(struct builder *b, const char *name, size_t len)
{
    if (!is_atom_name(name, len)) {
        name = NO_ATOM;
        len = strlen(NO_ATOM);
    }
    check_ei(ei_x_encode_atom_len_as(with_room(b), name, as_int(len), ERLANG_UTF8, ERLANG_UTF8));
}

void build_bool(struct builder *b, bool v)
{
    build_atom(b, v ? "true" : "false");
}

void build_string(struct builder *b, const char *s, size_t len)
{
    check_ei(ei_x_encode_string_len(with_room_for(b, 2 * len), s, as_int(len)));
}

void build_binary(struct builder *b, const void *bytes, size_t len)
{
    check_ei(ei_x_encode_binary(with_room_for(b, len), len > 0 ? bytes : "", as_int(len)));
}

void build_bits(struct builder *b, const void *bytes, size_t bits)
{
    check_ei(ei_x_encode_bitstring(with_room_for(b, bits / 8), bytes, 0, bits));
}

/* Into one of libei's structs, which has room for 255 characters of UTF-8. */
static void copy_node(char *out, const char *node)
{
    if (!is_atom_name(node, strlen(node)))
        node = NO_NODE;
    memcpy(out, node, strlen(node) + 1);
}

void build_pid(struct builder *b, const char *node, const struct etf_pid *pid)
{
    erlang_pid p = {.num = pid->id, .serial = pid->serial, .creation = pid->creation};
    copy_node(p.node, node);
    check_ei(ei_x_encode_pid(with_room(b), &p));
}

void build_ref(struct builder *b, const char *node, const struct etf_ref *ref)
{
    erlang_ref r = {.creation = ref->creation, .len = (int)ref->n};
    copy_node(r.node, node);
    memcpy(r.n, ref->words, sizeof r.n);
    check_ei(ei_x_encode_ref(with_room(b), &r));
}

void build_export(struct builder *b, const char *module, const char *function, unsigned arity)
{
    const uint8_t tag = ETF_EXPORT;
    build_raw(b, &tag, 1);
    build_atom(b, module);
    build_atom(b, function);
    build_int(b, arity);
}

void build_tuple(struct builder *b, size_t arity)
{
    check_ei(ei_x_encode_tuple_header(with_room(b), as_int(arity)));
}

void build_list(struct builder *b, size_t count)
{
    if (count > 0) /* else build_nil() is all of it */
        check_ei(ei_x_encode_list_header(with_room(b), as_int(count)));
}

void build_nil(struct builder *b)
{
    check_ei(ei_x_encode_empty_list(with_room(b)));
}

void build_map(struct builder *b, size_t pairs)
{
    check_ei(ei_x_encode_map_header(with_room(b), as_int(pairs)));
}

void build_known_int(struct builder *b, int64_t v)
{
    if (v >= 0)
        build_int(b, v);
    else
        build_unknown(b, 1);
}

void build_known_text(struct builder *b, struct slice text)
{
    if (text.len > 0)
        build_binary(b, text.s, text.len);
    else
        build_unknown(b, 1);
}

void build_known_bool(struct builder *b, bool known, bool v)
{
    if (known)
        build_bool(b, v);
    else
        build_unknown(b, 1);
}

void build_unknown(struct builder *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        build_atom(b, "undefined");
}

void build_raw(struct builder *b, const uint8_t *term, size_t len)
{
    check_ei(ei_x_append_buf(with_room_for(b, len), (const char *)term, as_int(len)));
}

void build_term(struct builder *b, const struct builder *term)
{
    size_t len = 0;
    const uint8_t *bytes = builder_bytes(term, &len);
    build_raw(b, bytes + 1, len - 1); /* without its version byte */
}
