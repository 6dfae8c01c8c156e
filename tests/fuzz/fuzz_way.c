/* SPDX-License-Identifier: GPL-3.0-or-later */
/* URLs of nodes: no part becomes an option or means anything to a shell, and a URL that is made of
 * its parts has the same. What a program says about a stream may be any text. */
#include <stdlib.h>
#include <string.h>

#include "app/way/way_methods.h"
#include "fuzz.h"

static void check_word(const char *word)
{
    FUZZ_REQUIRE(word[0] != '-' && !strpbrk(word, " \t\r\n'\"`$\\;&|<>()*?!#~\033"));
}

static void check_url(const char *text)
{
    struct way_url url, again;
    struct error err = {0};
    struct buf out;
    if (way_url_parse(&url, text, &err) != 0)
        return;
    check_word(url.user);
    check_word(url.host);
    check_word(url.context);
    check_word(url.space);
    check_word(url.container);
    buf_init(&out, 0);
    way_url_put(&out, &url, url.node);
    if (out.len <= WAY_URL_BYTES) { /* bytes of a node may take three each */
        FUZZ_REQUIRE(way_url_parse(&again, buf_cstr(&out), &err) == 0);
        FUZZ_REQUIRE(memcmp(&url, &again, sizeof url) == 0);
    }
    buf_clear(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct way_url url = {.scheme = WAY_K8S, .host = "pod"};
    char *text = malloc(size + 1);
    enum conn_failure why;
    struct error err = {0};
    bool another;
    FUZZ_REQUIRE(text);
    memcpy(text, data, size);
    text[size] = '\0';
    check_url(text);
    for (int scheme = 0; scheme < WAY_SCHEMES; scheme++) {
        err = (struct error){0};
        way_explain_said(way_method((enum way_scheme)scheme, 0), &url, text, &why, &another, &err);
        FUZZ_REQUIRE(err.code == ERR_CONNECT);
    }
    free(text);
    return 0;
}
