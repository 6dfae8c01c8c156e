/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers that a model has to take, and numbers to compare, for cmocka. */
#ifndef TESTS_MODEL_GIVEN_H
#define TESTS_MODEL_GIVEN_H

#include <math.h>

#include "../../test.h"
#include "answers.h"

static inline void must(struct model *m, enum answer_kind kind, const char *text)
{
    struct error err = {0};
    if (give(m, kind, text, &err) < 0)
        fail_msg("%s: %s", text, err.text);
}

static inline void near(double is, double wanted)
{
    if (isnan(wanted) ? !isnan(is) : !(fabs(is - wanted) < 1e-6))
        fail_msg("%g is not %g", is, wanted);
}

#endif
