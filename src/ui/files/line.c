/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "line.h"

#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/text.h"

struct scan {
    const char *s;
    size_t len, at;
    char *to; /* where the next byte of a word goes */
};

static bool is_control(char c)
{
    return ((unsigned char)c < 0x20 && c != '\t') || c == 0x7f;
}

/* Reads "…" or '…' whose opening quote is at `at`. */
static const char *read_quoted(struct scan *in, size_t *bad)
{
    size_t opened = in->at;
    char quote = in->s[in->at++];
    while (in->at < in->len && in->s[in->at] != quote) {
        if (quote == '"' && in->s[in->at] == '\\' && in->at + 1 < in->len &&
            (in->s[in->at + 1] == '"' || in->s[in->at + 1] == '\\'))
            in->at++;
        *in->to++ = in->s[in->at++];
    }
    if (in->at >= in->len) {
        *bad = opened;
        return "a quote that is not closed";
    }
    in->at++;
    return NULL;
}

static const char *read_word(struct scan *in, size_t *bad)
{
    while (in->at < in->len && !text_is_blank(in->s[in->at])) {
        char c = in->s[in->at];
        if (c == '"' || c == '\'') {
            const char *wrong = read_quoted(in, bad);
            if (wrong)
                return wrong;
        } else {
            *in->to++ = c;
            in->at++;
        }
    }
    *in->to++ = '\0';
    return NULL;
}

static bool is_comment(const struct scan *in, bool first)
{
    return in->s[in->at] == '#' &&
           (first || in->at + 1 == in->len || text_is_blank(in->s[in->at + 1]));
}

const char *line_split(struct line *out, const char *s, size_t len, size_t *bad)
{
    *out = (struct line){.text = alloc_zero(len + 2, 1)};
    for (size_t i = 0; i < len; i++) {
        if (is_control(s[i])) {
            *bad = i;
            return "a control byte, which has no meaning here";
        }
    }
    struct scan in = {s, len, 0, out->text};
    for (;;) {
        while (in.at < len && text_is_blank(s[in.at]))
            in.at++;
        if (in.at >= len || is_comment(&in, out->len == 0))
            return NULL;
        *bad = in.at;
        if (out->len == LIMIT_CONFIG_WORDS)
            return "too many words on one line";
        out->offset[out->len] = in.at;
        out->words[out->len] = in.to;
        const char *wrong = read_word(&in, bad);
        if (wrong)
            return wrong;
        out->len++;
    }
}

void line_clear(struct line *l)
{
    free(l->text);
    *l = (struct line){0};
}

bool line_next(struct slice text, size_t *at, struct slice *line)
{
    if (*at >= text.len)
        return false;
    const char *s = text.s + *at, *end = memchr(s, '\n', text.len - *at);
    *line = (struct slice){s, end ? (size_t)(end - s) : text.len - *at};
    *at += line->len + 1;
    if (line->len > 0 && s[line->len - 1] == '\r')
        line->len--;
    return true;
}
