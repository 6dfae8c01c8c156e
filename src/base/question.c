/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/base/question.h"

#include <string.h>

const struct question_row question_rows[] = {
#define QUESTION_ROW(id, text, type, ...) [QUESTION_##id] = {.name = #text, __VA_ARGS__},
    QUESTION_LIST(QUESTION_ROW)
#undef QUESTION_ROW
};

_Static_assert(QUESTIONS <= 8 * sizeof(question_mask), "a mask has a bit for each question");

const char *question_name(enum question q)
{
    return question_rows[q].name;
}

enum question question_find(const char *name)
{
    unsigned q = 0;
    while (q < QUESTIONS && strcmp(question_rows[q].name, name) != 0)
        q++;
    return (enum question)q;
}

question_mask question_paced(enum question_pace pace)
{
    question_mask mask = 0;
    for (unsigned q = 0; q < QUESTIONS; q++)
        if (question_rows[q].pace == pace)
            mask |= QUESTION_BIT(q);
    return mask;
}

question_mask question_kept(enum question_kept kept)
{
    question_mask mask = 0;
    for (unsigned q = 0; q < QUESTIONS; q++)
        if (question_rows[q].kept == kept)
            mask |= QUESTION_BIT(q);
    return mask;
}

question_mask question_judged(void)
{
    question_mask mask = 0;
    for (unsigned q = 0; q < QUESTIONS; q++)
        if (question_rows[q].judged)
            mask |= QUESTION_BIT(q);
    return mask;
}
