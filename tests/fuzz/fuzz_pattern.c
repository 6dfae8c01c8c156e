/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Patterns: an error points into the text, a tree prints, and its own text gives the same tree. */
#include <string.h>

#include "beamtop/base/text.h"
#include "beamtop/trace/pattern.h"
#include "fuzz.h"

static void check_node(const struct node *n, size_t len)
{
    FUZZ_REQUIRE(n->from <= n->to && n->to <= len);
    for (size_t i = 0; i < n->n_items; i++)
        check_node(n->items[i], len);
    if (n->tail)
        check_node(n->tail, len);
}

static void check_pattern(const struct pattern *p, size_t len)
{
    struct buf tree, again;
    struct pattern *second;
    struct error err = {0};
    buf_init(&tree, 0);
    buf_init(&again, 0);
    for (size_t i = 0; i < p->n_args; i++)
        check_node(p->args[i], len);
    if (p->guard)
        check_node(p->guard, len);
    FUZZ_REQUIRE(p->at + p->typed.len <= len);
    pattern_describe(&tree, p);
    FUZZ_REQUIRE(text_is_utf8((const char *)tree.data, tree.len));
    buf_reset(&tree);
    pattern_print_tree(&tree, p);
    FUZZ_REQUIRE(pattern_parse(&second, p->typed.s, p->typed.len, p->syntax, NULL, &err) == 0);
    pattern_print_tree(&again, second);
    FUZZ_REQUIRE(tree.len == again.len && memcmp(tree.data, again.data, tree.len) == 0);
    struct record_name names[2];
    pattern_records(p, names, 2);
    pattern_free(second);
    buf_clear(&tree);
    buf_clear(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int syntax = SYNTAX_AUTO; syntax <= SYNTAX_ELIXIR; syntax++) {
        struct pattern **p;
        size_t n = 0, offset = SIZE_MAX;
        struct error err = {0};
        int rc =
            patterns_parse(&p, &n, (const char *)data, size, (enum syntax)syntax, &offset, &err);
        if (rc != 0) {
            FUZZ_REQUIRE(err.code == ERR_USAGE && offset <= size && err.text[0] != '\0');
            continue;
        }
        for (size_t i = 0; i < n; i++)
            check_pattern(p[i], size);
        patterns_free(p, n);
    }
    struct expectation expectation;
    pattern_expect((const char *)data, size, &expectation);
    FUZZ_REQUIRE(expectation.from <= size);
    return 0;
}
