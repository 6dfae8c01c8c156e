/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Terms of a specification in the external format. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matchspec_internal.h"
#include "trace/language/lex.h"

struct encoder {
    struct scope *scope;
    struct builder *b;
    size_t left; /* terms: shared ones count each time */
};

static void put_be32(uint8_t *out, uint32_t v)
{
    out[0] = (uint8_t)(v >> 24);
    out[1] = (uint8_t)(v >> 16);
    out[2] = (uint8_t)(v >> 8);
    out[3] = (uint8_t)v;
}

/* Digits, with a sign or without, as SMALL_BIG or LARGE_BIG: bytes, the lowest first. */
static void put_digits(struct encoder *e, struct slice digits)
{
    bool negative = digits.len > 0 && digits.s[0] == '-';
    uint8_t *big = arena_alloc(&e->scope->arena, digits.len + 6);
    uint8_t *bytes = big + 6;
    size_t n = 0;
    for (size_t i = 0; i < digits.len; i++) {
        if (digits.s[i] < '0' || digits.s[i] > '9')
            continue;
        unsigned carry = (unsigned)(digits.s[i] - '0');
        for (size_t j = 0; j < n; j++) {
            carry += bytes[j] * 10u;
            bytes[j] = (uint8_t)carry;
            carry >>= 8;
        }
        if (carry > 0)
            bytes[n++] = (uint8_t)carry;
    }
    uint8_t *head = n < 256 ? bytes - 3 : bytes - 6;
    head[0] = n < 256 ? ETF_SMALL_BIG : ETF_LARGE_BIG;
    if (n < 256)
        head[1] = (uint8_t)n;
    else
        put_be32(head + 1, (uint32_t)n);
    bytes[-1] = negative;
    build_raw(e->b, head, (size_t)(bytes - head) + n);
}

static void put_string(struct encoder *e, struct slice text)
{
    size_t count = 0;
    int32_t c;
    for (size_t at = 0; at < text.len; count++)
        at += lex_codepoint(text, at, &c);
    if (count > 0)
        build_list(e->b, count);
    for (size_t at = 0; at < text.len;) {
        at += lex_codepoint(text, at, &c);
        build_int(e->b, c);
    }
    build_nil(e->b);
}

static void put_port(struct encoder *e, uint64_t number)
{
    uint8_t id[12];
    bool wide = number >> 28 != 0;
    uint8_t tag = wide ? ETF_V4_PORT : ETF_NEW_PORT;
    build_raw(e->b, &tag, 1);
    build_atom(e->b, e->scope->options->node);
    put_be32(id, (uint32_t)(number >> 32));
    put_be32(id + 4, (uint32_t)number);
    put_be32(id + 8, e->scope->options->creation);
    build_raw(e->b, wide ? id : id + 4, wide ? 12 : 8);
}

/* #Ref<0.3.2.1>: the words after the node's number, the last first. */
static int put_ref(struct encoder *e, const struct node *n)
{
    uint32_t words[6];
    size_t count = 0;
    char *text = arena_strndup(&e->scope->arena, n->text.s, n->text.len), *end = text;
    for (char *at = strchr(text, '.'); at && *at == '.' && count < 6; at = end) {
        unsigned long v = strtoul(at + 1, &end, 10);
        if (end == at + 1 || v > UINT32_MAX)
            count = 6;
        else
            words[count++] = (uint32_t)v;
    }
    if (count == 0 || count > 5) {
        scope_fail(e->scope, n, "a reference looks like #Ref<0.1.2.3>");
        return -1;
    }
    uint8_t head[3] = {ETF_NEWER_REFERENCE, 0, (uint8_t)count}, four[4];
    build_raw(e->b, head, sizeof(head));
    build_atom(e->b, e->scope->options->node);
    put_be32(four, e->scope->options->creation);
    build_raw(e->b, four, sizeof(four));
    while (count-- > 0) {
        put_be32(four, words[count]);
        build_raw(e->b, four, sizeof(four));
    }
    return 0;
}

static int put_leaf(struct encoder *e, const struct node *n)
{
    struct etf_pid pid = {(uint32_t)n->number, n->serial, e->scope->options->creation};
    switch (n->kind) {
    case NODE_INTEGER:
        put_digits(e, n->text);
        return 0;
    case NODE_STRING:
        put_string(e, n->text);
        return 0;
    case NODE_PID:
        build_pid(e->b, e->scope->options->node, &pid);
        return 0;
    case NODE_PORT:
        put_port(e, (uint64_t)n->number);
        return 0;
    default:
        assert(n->kind == NODE_REF);
        return put_ref(e, n);
    }
}

static int put_spec(struct encoder *e, const struct spec *spec);

static int put_items(struct encoder *e, const struct spec *spec)
{
    for (size_t i = 0; i < spec->n_items; i++) {
        if (put_spec(e, spec->items[i]) < 0)
            return -1;
    }
    return 0;
}

static int put_spec(struct encoder *e, const struct spec *spec)
{
    if (e->left == 0)
        return error_set(e->scope->err, ERR_LIMIT,
                         "this pattern makes more than %u terms of a match specification",
                         LIMIT_SPEC_NODES);
    e->left--;
    switch (spec->kind) {
    case SPEC_ATOM:
        build_atom_n(e->b, spec->text.s, spec->text.len);
        return 0;
    case SPEC_INTEGER:
        build_int(e->b, spec->number);
        return 0;
    case SPEC_FLOAT:
        build_double(e->b, spec->real);
        return 0;
    case SPEC_BITS:
        if (spec->number % 8 == 0)
            build_binary(e->b, spec->text.s, spec->text.len);
        else
            build_bits(e->b, spec->text.s, (size_t)spec->number);
        return 0;
    case SPEC_LEAF:
        return put_leaf(e, spec->node);
    case SPEC_TUPLE:
        build_tuple(e->b, spec->n_items);
        return put_items(e, spec);
    case SPEC_MAP:
        build_map(e->b, spec->n_items / 2);
        return put_items(e, spec);
    case SPEC_LIST:
        break;
    }
    if (spec->n_items > 0)
        build_list(e->b, spec->n_items);
    if (put_items(e, spec) < 0)
        return -1;
    if (spec->tail)
        return put_spec(e, spec->tail);
    build_nil(e->b);
    return 0;
}

int spec_encode(struct scope *s, struct builder *b, const struct spec *spec)
{
    struct encoder e = {s, b, LIMIT_SPEC_NODES};
    return put_spec(&e, spec);
}
