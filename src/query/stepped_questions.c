/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stepped_questions.h"

#include "beamtop/base/attr.h"
#include "query/alloc/allocators.h"
#include "query/facts/facts.h"
#include "query/late/late.h"
#include "query/links/links.h"
#include "query/ports/ports.h"
#include "query/raft/raft.h"
#include "query/seek/old_code.h"
#include "query/seek/suspenders.h"
#include "query/tables/tables.h"
#include "query/tables/tables_one.h"
#include "query/terms/terms.h"
#include "query/vm/vm.h"

const struct stepped *const stepped_questions[] = {
    &facts_question, &tables_question,    &allocators_question, &late_question,
    &ports_question, &one_table_question, &table_keys_question, &mnesia_question,
    &terms_question, &vm_question,        &suspenders_question, &old_code_question,
    &links_question, &raft_question};
const size_t stepped_questions_count = ARRAY_LEN(stepped_questions);
