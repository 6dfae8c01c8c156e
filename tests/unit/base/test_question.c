/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every question's row says what those who read it need. */

#include "../../test.h"
#include "beamtop/base/question.h"

TEST(test_rows_are_complete)
{
    for (unsigned q = 0; q < QUESTIONS; q++) {
        const struct question_row *row = &question_rows[q];
        bool of_views = row->pace == PACE_TICK || row->pace == PACE_APART;
        if (question_find(row->name) != (enum question)q)
            fail_msg("%s is not found by its name", row->name);
        if (of_views && (!row->what || !row->log))
            fail_msg("%s: a view needs it, without words for what is not recorded or the log",
                     row->name);
        if ((row->pace == PACE_BESIDE || (row->kept == KEPT_LAST && row->pace != PACE_ONCE)) &&
            row->every_s <= 0)
            fail_msg("%s is asked beside the ticks, without an interval", row->name);
        if (row->kept == KEPT_TICK && row->pace != PACE_HEADER && row->pace != PACE_TICK)
            fail_msg("%s is kept of each tick, which does not ask it", row->name);
        if (row->kept_every_s > 0 && row->kept != KEPT_FACTS && row->kept != KEPT_LAST)
            fail_msg("%s: what is kept of ticks is not kept more seldom", row->name);
    }
    assert_int_equal(question_find("unknown"), QUESTIONS);
}

/* What a mask of needs is made of is each question once. */
TEST(test_masks)
{
    question_mask paces = 0, kept = 0;
    for (int p = PACE_ASKED; p <= PACE_BESIDE; p++) {
        assert_int_equal(paces & question_paced((enum question_pace)p), 0);
        paces |= question_paced((enum question_pace)p);
    }
    for (int k = KEPT_NOT; k <= KEPT_FACTS; k++)
        kept |= question_kept((enum question_kept)k);
    assert_int_equal(paces, QUESTION_BIT(QUESTIONS) - 1);
    assert_int_equal(kept, QUESTION_BIT(QUESTIONS) - 1);
    assert_int_equal(question_paced(PACE_HEADER), QUESTION_BIT(QUESTION_SYSTEM));
}
