/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Elixir's guards as Erlang's trees. Private to the parser of Elixir's spelling. */
#ifndef BEAMTOP_TRACE_LANGUAGE_PARSE_EX_H
#define BEAMTOP_TRACE_LANGUAGE_PARSE_EX_H

#include "parse.h"

/* A call of one of Erlang's guard BIFs; b may be NULL. NULL when a is. */
struct node *elixir_bif(struct parser *p, const char *name, struct node *a, struct node *b,
                        size_t from);
/* What `name` with these arguments is in Erlang; `erlang`: it was :erlang.name already. */
struct node *elixir_call(struct parser *p, const struct token *name,
                         const struct node_list *arguments, bool erlang);
/* value in [a, b], value in 1..5; `negated`: not in. */
struct node *elixir_in(struct parser *p, struct node *value, struct node *range, bool negated);

#endif
