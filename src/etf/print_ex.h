/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Atoms and characters as Elixir writes them. Private to etf/. */
#ifndef BEAMTOP_ETF_PRINT_EX_H
#define BEAMTOP_ETF_PRINT_EX_H

#include "print.h"

bool print_ex_is_list_text(int32_t codepoint);   /* List.ascii_printable?/1 */
bool print_ex_is_binary_text(int32_t codepoint); /* String.printable?/1 */
void print_ex_character(struct printer *p, int32_t codepoint, int32_t next, char quote);

/* Foo.Bar: "Elixir", also with segments that start with an upper-case letter. */
bool print_ex_is_alias(struct slice name);
/* Cannot be a key of `key: value`, even in quotes. */
bool print_ex_is_prefixed(struct slice name);

void print_ex_atom(struct printer *p, struct slice name, bool latin1);     /* :a, Foo, nil */
void print_ex_key(struct printer *p, struct slice name, bool latin1);      /* a:, "q q": */
void print_ex_function(struct printer *p, struct slice name, bool latin1); /* behind "Foo." */

#endif
