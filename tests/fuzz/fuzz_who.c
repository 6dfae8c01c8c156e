/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who processes are: one byte for the release, then what a process, a leader or an ancestor is read
 * of, and what is answered for those above. What is kept is a term. */
#include <stdlib.h>

#include "beamtop/etf/check.h"
#include "fuzz.h"
#include "query/who/who_above.h"
#include "query/who/who_known.h"
#include "query/who/who_leaders.h"

#define ASKS_MOST 20

static void require_term(struct slice term)
{
    struct error err = {0};
    size_t used = 0;
    FUZZ_REQUIRE(etf_check_bare((const uint8_t *)term.s, term.len, &used, &err) == 0);
    FUZZ_REQUIRE(used == term.len);
    error_clear(&err);
}

static void read_known(const struct who_node *node, struct slice term)
{
    struct who_known *k = who_known_new(&(struct etf_pid){.id = 3});
    for (int turn = 0; turn < 2; turn++) {
        who_known_begin(k);
        for (enum who_column column = WHO_BASE; column <= WHO_STACK; column++) {
            struct cursor c;
            struct cursor_list list;
            cursor_init(&c, (const uint8_t *)term.s, term.len);
            if (cursor_list(&c, &list))
                for (size_t i = 0; i < list.count && who_known_take(k, node, column, &c); i++)
                    ;
        }
        who_known_end(k, 1, true);
    }
    if (k->complete && !k->gone) {
        require_term(who_known_entry(k)->call);
        require_term(who_known_entry(k)->mfa);
        require_term(who_known_entry(k)->label);
        require_term(who_known_entry(k)->name);
    }
    who_known_free(k);
}

static void read_above(const struct who_node *node, struct slice ancestors, struct slice value)
{
    const struct etf_pid pid = {.id = 3};
    struct who_above *a = who_above_new(node);
    struct slice name = {0};
    enum who_found found = WHO_TO_ASK;
    struct native_call call;
    double us;
    for (int i = 0; i < ASKS_MOST && found == WHO_TO_ASK; i++) {
        found = who_above_find(a, &pid, ancestors, &name);
        for (int k = 0; k < ASKS_MOST && who_above_call(a, &call); k++) {
            native_call_clear(&call);
            if (!who_above_take(a, value, &us))
                who_above_fail(a);
        }
    }
    if (found == WHO_FOUND)
        require_term(name);
    who_above_free(a);
}

static void read_others(struct who_node *node, struct slice value)
{
    struct who_leaders l;
    struct builder *b = builder_new();
    struct slice found;
    double us;
    who_leaders_init(&l);
    who_leaders_take(&l, value, node, &us);
    found = who_leaders_find(&l, &(struct etf_pid){.id = 3});
    if (found.len > 0)
        require_term(found);
    who_leaders_clear(&l);
    (void)who_read_release(value, node->has_labels, node, &us);
    if (who_call_of_stack(b, value)) {
        size_t len = 0;
        const uint8_t *bytes = builder_bytes(b, &len);
        require_term((struct slice){(const char *)bytes + 1, len - 1});
    }
    builder_free(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    size_t used = 0;
    if (size < 2 || etf_check(data + 1, size - 1, &used, &err) != 0)
        return 0;
    struct who_node node = {
        .name = "n@h", .way = (enum who_way)(data[0] % 3), .has_labels = data[0] & 4};
    const struct slice first = {(const char *)data + 2, used - 1}; /* without their version bytes */
    struct slice second = first;
    if (1 + used < size && etf_check(data + 1 + used, size - 1 - used, &used, &err) == 0)
        second = (struct slice){first.s + first.len + 1, used - 1};
    read_known(&node, first);
    read_above(&node, first, second);
    read_others(&node, first);
    error_clear(&err);
    return 0;
}
