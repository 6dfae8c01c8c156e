/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/base/regex.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"

struct regex {
    char *pattern;
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *limits;
    uint64_t allowed, taken; /* steps of all texts */
    uint64_t left;           /* steps of the text that is matched */
    size_t place;            /* in it, at the step before */
    bool gave_up;
};

#define BYTES_PER_STEP 64 /* bytes that one item reads in the time of a step */

/* PCRE2 comes here before each item that it tries. */
static int on_step(pcre2_callout_block *block, void *arg)
{
    struct regex *re = arg;
    size_t at = block->current_position;
    size_t run = at > re->place ? at - re->place : re->place - at;
    uint64_t cost = 1 + run / BYTES_PER_STEP;
    re->place = at;
    if (cost > re->left) {
        re->left = 0;
        return PCRE2_ERROR_MATCHLIMIT;
    }
    re->left -= cost;
    return 0;
}

/* Smart case: an upper-case letter outside an escape (as \W or \D) makes case count. */
static bool has_upper_case(const char *s, size_t len)
{
    for (size_t at = 0; at < len;) {
        if (s[at] == '\\' && at + 1 < len) {
            at += 2;
            continue;
        }
        int32_t cp;
        size_t n = text_decode(s + at, len - at, &cp);
        if (n > 0 && text_is_upper(cp))
            return true;
        at += n > 0 ? n : 1;
    }
    return false;
}

static int compile_failed(struct regex *re, int code, size_t offset, size_t *error_offset,
                          struct error *err)
{
    char reason[256];
    if (pcre2_get_error_message(code, (PCRE2_UCHAR *)reason, sizeof(reason)) < 0)
        strcpy(reason, "not understood");
    size_t len = strlen(re->pattern);
    *error_offset = offset < len ? offset : len;
    return error_set(err, ERR_USAGE, "invalid regex at column %zu: %s",
                     text_width(re->pattern, *error_offset) + 1, reason);
}

static int compile_pattern(struct regex *re, size_t *error_offset, struct error *err)
{
    size_t len = strlen(re->pattern);
    if (len > LIMIT_REGEX_BYTES) {
        *error_offset = LIMIT_REGEX_BYTES;
        return error_set(err, ERR_USAGE, "a regex has at most %u bytes", LIMIT_REGEX_BYTES);
    }
    uint32_t options =
        PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT;
    if (!has_upper_case(re->pattern, len))
        options |= PCRE2_CASELESS;
    int code;
    size_t offset;
    re->code = pcre2_compile((PCRE2_SPTR)re->pattern, len, options, &code, &offset, NULL);
    if (!re->code)
        return compile_failed(re, code, offset, error_offset, err);
    pcre2_jit_compile(re->code, PCRE2_JIT_COMPLETE); /* where there is none, it is interpreted */
    re->data = pcre2_match_data_create_from_pattern(re->code, NULL);
    re->limits = pcre2_match_context_create(NULL);
    if (!re->data || !re->limits)
        alloc_fail();
    pcre2_set_callout(re->limits, on_step, re);
    pcre2_set_match_limit(re->limits, LIMIT_REGEX_STEPS);
    pcre2_set_depth_limit(re->limits, LIMIT_REGEX_DEPTH);
    pcre2_set_heap_limit(re->limits, LIMIT_REGEX_HEAP_KIB);
    return 0;
}

int regex_new(struct regex **out, const char *pattern, size_t *error_offset, struct error *err)
{
    struct regex *re = alloc_zero(1, sizeof(*re));
    re->pattern = alloc_strdup(pattern);
    re->allowed = UINT64_MAX;
    int rc = compile_pattern(re, error_offset, err);
    if (rc < 0) {
        regex_free(re);
        return rc;
    }
    *out = re;
    return 0;
}

void regex_free(struct regex *re)
{
    if (!re)
        return;
    pcre2_match_context_free(re->limits);
    pcre2_match_data_free(re->data);
    pcre2_code_free(re->code);
    free(re->pattern);
    free(re);
}

void regex_allow(struct regex *re, uint64_t steps)
{
    re->allowed = steps;
}

bool regex_is_spent(const struct regex *re)
{
    return re->allowed == 0;
}

uint64_t regex_steps(const struct regex *re)
{
    return re->taken;
}

/* The start of a text costs a step too: where nothing can match, no item is tried. */
static int match_text(struct regex *re, const char *s, size_t len)
{
    uint64_t most = re->allowed < LIMIT_REGEX_STEPS ? re->allowed : LIMIT_REGEX_STEPS;
    uint64_t start = 1 + len / BYTES_PER_STEP;
    if (start > most) {
        re->allowed -= most;
        re->taken += most;
        return PCRE2_ERROR_MATCHLIMIT;
    }
    re->left = most - start;
    re->place = 0;
    int rc = pcre2_match(re->code, (PCRE2_SPTR)(len > 0 ? s : ""), len, 0, 0, re->data, re->limits);
    re->allowed -= most - re->left;
    re->taken += most - re->left;
    return rc;
}

bool regex_find(struct regex *re, const char *s, size_t len, size_t *from, size_t *to)
{
    int rc = match_text(re, s, len);
    re->gave_up = rc < 0 && rc != PCRE2_ERROR_NOMATCH;
    if (rc < 0)
        return false;
    const size_t *ends = pcre2_get_ovector_pointer(re->data);
    /* \K in a lookaround can put the start behind the end. */
    *from = ends[0] < ends[1] ? ends[0] : ends[1];
    *to = ends[1];
    return true;
}

bool regex_match(struct regex *re, const char *s, size_t len)
{
    size_t from, to;
    return regex_find(re, s, len, &from, &to);
}

bool regex_gave_up(const struct regex *re)
{
    return re->gave_up;
}
