/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/rules/rules_internal.h"

enum {
#define RULE_ENUM(name, ...) RULE_##name,
    RULE_LIST(RULE_ENUM)
#undef RULE_ENUM
};

const struct rule rule_rows[] = {
#define RULE_ROW(name, needs, effort, ...) {{__VA_ARGS__}, needs, effort, judge_##name},
    RULE_LIST(RULE_ROW)
#undef RULE_ROW
};
const size_t rule_rows_len = ARRAY_LEN(rule_rows);

const struct rule_info *const rule_list[] = {
#define RULE_INFO(name, ...) &rule_rows[RULE_##name].info,
    RULE_LIST(RULE_INFO)
#undef RULE_INFO
        NULL,
};
