/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/etf/check.h"

#include <assert.h>
#include <stdbool.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "beamtop/etf/term.h"
#include "internal.h"

/* The terms that a field of a fun or export accepts; every other place accepts any term. */
enum expected {
    EXPECTED_ANY,
    EXPECTED_ATOM,
    EXPECTED_INTEGER,
    EXPECTED_SMALL_INTEGER,
    EXPECTED_PID
};

/* The terms behind the fixed fields of a NEW_FUN_EXT, in order; then its free variables. */
static const enum expected fun_expected[] = {EXPECTED_ATOM, EXPECTED_INTEGER, EXPECTED_INTEGER,
                                             EXPECTED_PID};
static const enum expected export_expected[] = {EXPECTED_ATOM, EXPECTED_ATOM,
                                                EXPECTED_SMALL_INTEGER};
static const enum expected record_expected[] = {EXPECTED_ATOM, EXPECTED_ATOM};

/* A composite term that is being walked. */
struct level {
    uint64_t left;                 /* subterms still to come */
    const enum expected *expected; /* of the first n_expected subterms that still come */
    size_t n_expected;
    size_t end;  /* where a fun must end; 0: anywhere */
    size_t mark; /* of etf_atoms.on_fun */
};

struct walk {
    const uint8_t *bytes;
    size_t len;
    size_t at;
    size_t depth; /* levels in use */
    uint64_t nodes;
    struct error *err;
    const struct etf_atoms *atoms; /* NULL: nobody asks for them */
    struct level levels[LIMIT_TERM_DEPTH];
};

static int fail_term(struct walk *w, size_t at, const char *what)
{
    return error_set(w->err, ERR_FORMAT, "malformed term at byte %zu: %s", at, what);
}

/* True when n more bytes are there. */
static bool has_bytes(struct walk *w, uint64_t n)
{
    if (n <= w->len - w->at)
        return true;
    error_set(w->err, ERR_FORMAT,
              "truncated term: byte %zu needs %llu more bytes and there are %zu", w->at,
              (unsigned long long)n, w->len - w->at);
    return false;
}

/* Steps over n bytes. */
static int skip_bytes(struct walk *w, uint64_t n)
{
    if (!has_bytes(w, n))
        return ERR_FORMAT;
    w->at += (size_t)n;
    return 0;
}

/* Reads a big-endian number of `width` bytes. */
static int take_be(struct walk *w, size_t width, uint32_t *v)
{
    if (!has_bytes(w, width))
        return ERR_FORMAT;
    *v = etf_be(w->bytes + w->at, width);
    w->at += width;
    return 0;
}

static int check_atom_text(struct walk *w, size_t len, bool utf8)
{
    size_t start = w->at;
    int rc = skip_bytes(w, len);
    if (rc < 0)
        return rc;
    size_t characters = len;
    if (utf8) {
        const char *s = (const char *)w->bytes + start;
        characters = 0;
        for (size_t at = 0; at < len; characters++) {
            int32_t cp;
            size_t n = text_decode(s + at, len - at, &cp);
            if (n == 0)
                return fail_term(w, start + at, "an atom that is not UTF-8");
            at += n;
        }
    }
    if (characters > 255)
        return fail_term(w, start, "an atom of more than 255 characters");
    return 0;
}

static bool is_atom(const struct walk *w, uint8_t tag)
{
    return etf_is_atom_tag(tag) || (tag == ETF_ATOM_CACHE_REF && w->atoms && w->atoms->refs);
}

static int check_whole_atom(struct walk *w, uint8_t tag)
{
    bool utf8 = tag == ETF_ATOM_UTF8 || tag == ETF_SMALL_ATOM_UTF8;
    bool small = tag == ETF_SMALL_ATOM_UTF8 || tag == ETF_SMALL_ATOM_LATIN1;
    uint32_t len;
    int rc = take_be(w, small ? 1 : 2, &len);
    return rc < 0 ? rc : check_atom_text(w, len, utf8);
}

/* An atom whose tag is `tag` and has been read. */
static int check_atom(struct walk *w, uint8_t tag)
{
    const size_t start = w->at - 1;
    int rc = tag == ETF_ATOM_CACHE_REF ? skip_bytes(w, 1) : check_whole_atom(w, tag);
    if (rc == 0 && w->atoms)
        rc = w->atoms->on_atom(w->atoms->arg, start, w->at - start, w->err);
    return rc;
}

/* The node of a pid, port or reference. */
static int check_node(struct walk *w)
{
    size_t start = w->at;
    uint32_t tag;
    int rc = take_be(w, 1, &tag);
    if (rc < 0)
        return rc;
    if (!is_atom(w, (uint8_t)tag))
        return fail_term(w, start, "expected the atom of a node's name");
    return check_atom(w, (uint8_t)tag);
}

static int check_node_and(struct walk *w, uint64_t bytes)
{
    int rc = check_node(w);
    return rc < 0 ? rc : skip_bytes(w, bytes);
}

static int check_reference(struct walk *w, uint64_t creation_bytes)
{
    size_t start = w->at;
    uint32_t words;
    int rc = take_be(w, 2, &words);
    if (rc < 0)
        return rc;
    if (words == 0 || words > 5)
        return fail_term(w, start, "a reference has 1 to 5 words");
    return check_node_and(w, creation_bytes + 4u * words);
}

static int check_big(struct walk *w, size_t length_width)
{
    uint32_t len;
    int rc = take_be(w, length_width, &len);
    if (rc < 0)
        return rc;
    size_t sign_at = w->at;
    rc = skip_bytes(w, 1 + (uint64_t)len);
    if (rc < 0)
        return rc;
    if (w->bytes[sign_at] > 1)
        return fail_term(w, sign_at, "the sign of an integer is 0 or 1");
    return 0;
}

static int check_bytes(struct walk *w, size_t length_width)
{
    uint32_t len;
    int rc = take_be(w, length_width, &len);
    return rc < 0 ? rc : skip_bytes(w, len);
}

static int check_bits(struct walk *w)
{
    uint32_t len, bits;
    int rc = take_be(w, 4, &len);
    if (rc < 0)
        return rc;
    size_t bits_at = w->at;
    rc = take_be(w, 1, &bits);
    if (rc < 0)
        return rc;
    if (bits > 8 || (bits == 0) != (len == 0))
        return fail_term(w, bits_at, "a bit string's last byte has 1 to 8 bits");
    return skip_bytes(w, len);
}

static int check_new_float(struct walk *w)
{
    size_t start = w->at;
    int rc = skip_bytes(w, 8);
    if (rc < 0)
        return rc;
    if ((w->bytes[start] & 0x7F) == 0x7F && (w->bytes[start + 1] & 0xF0) == 0xF0)
        return fail_term(w, start, "a float that is not a number");
    return 0;
}

static int check_old_float(struct walk *w)
{
    size_t start = w->at;
    int rc = skip_bytes(w, ETF_OLD_FLOAT_BYTES);
    double v;
    if (rc == 0 && !etf_old_float(w->bytes + start, &v))
        rc = fail_term(w, start, "a float as text that is not a number");
    return rc;
}

/* Goes into a composite term of `count` subterms. */
static int enter_term(struct walk *w, uint64_t count, const enum expected *expected,
                      size_t n_expected, size_t end)
{
    if (!has_bytes(w, count)) /* each takes a byte at least: an early answer to absurd counts */
        return ERR_FORMAT;
    if (count == 0 && end == 0)
        return 0;
    if (w->depth == LIMIT_TERM_DEPTH)
        return error_set(w->err, ERR_LIMIT, "a term nested deeper than %u at byte %zu",
                         LIMIT_TERM_DEPTH, w->at);
    w->levels[w->depth++] = (struct level){count, expected, n_expected, end, 0};
    return 0;
}

static int check_composite(struct walk *w, size_t count_width, unsigned per_count, unsigned more)
{
    uint32_t count;
    int rc = take_be(w, count_width, &count);
    return rc < 0 ? rc : enter_term(w, (uint64_t)count * per_count + more, NULL, 0, 0);
}

/* Size (counted from its own first byte), arity, unique, index, free variables; then terms. */
static int check_fun(struct walk *w)
{
    size_t start = w->at;
    uint32_t size, free_count;
    int rc = take_be(w, 4, &size);
    if (rc == 0)
        rc = skip_bytes(w, 1 + 16 + 4);
    if (rc == 0)
        rc = take_be(w, 4, &free_count);
    if (rc < 0)
        return rc;
    if (size > w->len - start || size < w->at - start)
        return fail_term(w, start, "the size of a fun does not fit");
    rc = enter_term(w, (uint64_t)free_count + ARRAY_LEN(fun_expected), fun_expected,
                    ARRAY_LEN(fun_expected), start + size);
    if (rc == 0 && w->atoms)
        w->levels[w->depth - 1].mark = w->atoms->on_fun(w->atoms->arg, start);
    return rc;
}

/* Number of fields, flags; then module, name, and a key and a value for each field. OTP 29. */
static int check_record(struct walk *w)
{
    uint32_t fields;
    int rc = take_be(w, 4, &fields);
    if (rc == 0)
        rc = skip_bytes(w, 1);
    if (rc < 0)
        return rc;
    return enter_term(w, (uint64_t)fields * 2 + ARRAY_LEN(record_expected), record_expected,
                      ARRAY_LEN(record_expected), 0);
}

static bool tag_fits(const struct walk *w, enum expected expected, uint8_t tag)
{
    switch (expected) {
    case EXPECTED_ANY:
        return true;
    case EXPECTED_ATOM:
        return is_atom(w, tag);
    case EXPECTED_INTEGER:
        return tag == ETF_SMALL_INTEGER || tag == ETF_INTEGER || tag == ETF_SMALL_BIG;
    case EXPECTED_SMALL_INTEGER:
        return tag == ETF_SMALL_INTEGER;
    case EXPECTED_PID:
        return tag == ETF_PID || tag == ETF_NEW_PID;
    }
    return false;
}

static int check_tag(struct walk *w, uint8_t tag)
{
    switch ((enum etf_tag)tag) {
    case ETF_SMALL_INTEGER:
        return skip_bytes(w, 1);
    case ETF_INTEGER:
        return skip_bytes(w, 4);
    case ETF_NEW_FLOAT:
        return check_new_float(w);
    case ETF_FLOAT:
        return check_old_float(w);
    case ETF_SMALL_BIG:
        return check_big(w, 1);
    case ETF_LARGE_BIG:
        return check_big(w, 4);
    case ETF_ATOM_UTF8:
    case ETF_SMALL_ATOM_UTF8:
    case ETF_ATOM_LATIN1:
    case ETF_SMALL_ATOM_LATIN1:
        return check_atom(w, tag);
    case ETF_PID:
        return check_node_and(w, 4 + 4 + 1);
    case ETF_NEW_PID:
        return check_node_and(w, 4 + 4 + 4);
    case ETF_PORT:
    case ETF_REFERENCE:
        return check_node_and(w, 4 + 1);
    case ETF_NEW_PORT:
        return check_node_and(w, 4 + 4);
    case ETF_V4_PORT:
        return check_node_and(w, 8 + 4);
    case ETF_NEW_REFERENCE:
        return check_reference(w, 1);
    case ETF_NEWER_REFERENCE:
        return check_reference(w, 4);
    case ETF_NIL:
        return 0;
    case ETF_STRING:
        return check_bytes(w, 2);
    case ETF_BINARY:
        return check_bytes(w, 4);
    case ETF_BIT_BINARY:
        return check_bits(w);
    case ETF_SMALL_TUPLE:
        return check_composite(w, 1, 1, 0);
    case ETF_LARGE_TUPLE:
        return check_composite(w, 4, 1, 0);
    case ETF_LIST:
        return check_composite(w, 4, 1, 1);
    case ETF_MAP:
        return check_composite(w, 4, 2, 0);
    case ETF_EXPORT:
        return enter_term(w, ARRAY_LEN(export_expected), export_expected,
                          ARRAY_LEN(export_expected), 0);
    case ETF_NEW_FUN:
        return check_fun(w);
    case ETF_RECORD:
        return check_record(w);
    case ETF_ATOM_CACHE_REF:
        if (is_atom(w, tag))
            return check_atom(w, tag);
        break;
    case ETF_VERSION:
    case ETF_COMPRESSED:
        break;
    }
    return error_set(w->err, ERR_FORMAT, "malformed term at byte %zu: unknown tag %u", w->at - 1,
                     (unsigned)tag);
}

/* Counts one subterm off the innermost level; false when its kind cannot stand there. */
static bool place_takes(struct walk *w, uint8_t tag)
{
    if (w->depth == 0)
        return true;
    struct level *level = &w->levels[w->depth - 1];
    assert(level->left > 0);
    level->left--;
    if (level->n_expected == 0)
        return true;
    level->n_expected--;
    return tag_fits(w, *level->expected++, tag);
}

/* Leaves the levels that are complete. */
static int leave_terms(struct walk *w)
{
    while (w->depth > 0 && w->levels[w->depth - 1].left == 0) {
        const struct level *level = &w->levels[w->depth - 1];
        if (level->end != 0 && level->end != w->at)
            return fail_term(w, w->at, "a fun ends elsewhere than its size says");
        if (level->end != 0 && w->atoms)
            w->atoms->on_fun_end(w->atoms->arg, level->mark, w->at);
        w->depth--;
    }
    return 0;
}

static int walk_term(struct walk *w)
{
    do {
        size_t start = w->at;
        uint32_t tag;
        int rc = take_be(w, 1, &tag);
        if (rc < 0)
            return rc;
        if (++w->nodes > LIMIT_TERM_NODES)
            return error_set(w->err, ERR_LIMIT, "a term of more than %u subterms",
                             LIMIT_TERM_NODES);
        if (!place_takes(w, (uint8_t)tag))
            return fail_term(w, start, "another kind of term stands here in a fun or record");
        rc = check_tag(w, (uint8_t)tag);
        if (rc == 0)
            rc = leave_terms(w);
        if (rc < 0)
            return rc;
    } while (w->depth > 0);
    return 0;
}

static int check_from(const uint8_t *bytes, size_t len, size_t start, const struct etf_atoms *atoms,
                      size_t *used, struct error *err)
{
    struct walk w;
    w.bytes = bytes;
    w.len = len;
    w.at = start;
    w.depth = 0;
    w.nodes = 0;
    w.err = err;
    w.atoms = atoms;
    int rc = walk_term(&w);
    if (rc == 0)
        *used = w.at;
    return rc;
}

int etf_check(const uint8_t *bytes, size_t len, size_t *used, struct error *err)
{
    if (len == 0)
        return error_set(err, ERR_FORMAT, "truncated term: no byte at all");
    if (bytes[0] != ETF_VERSION)
        return error_set(err, ERR_FORMAT,
                         "malformed term at byte 0: expected the version byte 131, found %u",
                         (unsigned)bytes[0]);
    return check_from(bytes, len, 1, NULL, used, err);
}

int etf_check_bare(const uint8_t *bytes, size_t len, size_t *used, struct error *err)
{
    return check_from(bytes, len, 0, NULL, used, err);
}

int etf_check_atoms(const uint8_t *bytes, size_t len, const struct etf_atoms *atoms, size_t *used,
                    struct error *err)
{
    return check_from(bytes, len, 0, atoms, used, err);
}
