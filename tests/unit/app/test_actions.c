/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each action is carried out in one place: by its owner, and by nobody else. */

#include "../../test.h"
#include "app/tui/tui_owners.h"

static bool has_handler(const struct tui_owner *owner, enum action action)
{
    return owner->has ? owner->has(action) : owner->acts[action].run != NULL;
}

TEST(test_every_action_has_one_handler)
{
    for (int i = 0; i < ACTIONS; i++)
        for (int owner = 0; owner < ACTION_OWNERS; owner++) {
            bool owned = (int)action_table[i].owner == owner;
            if (has_handler(tui_owners[owner], (enum action)i) != owned)
                fail_msg("%s: owner %d %s", action_table[i].name, owner,
                         owned ? "has no handler for it" : "has a handler, and does not own it");
        }
}

TEST(test_every_owner_has_an_action)
{
    for (int owner = 0; owner < ACTION_OWNERS; owner++) {
        int n = 0;
        assert_true(!tui_owners[owner]->has == !tui_owners[owner]->act);
        for (int i = 0; i < ACTIONS; i++)
            n += (int)action_table[i].owner == owner;
        assert_true(n > 0);
    }
}
