/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arguments of native asks (native.h). Each builder that is returned is the caller's. Pure. */
#ifndef BEAMTOP_QUERY_ARGS_H
#define BEAMTOP_QUERY_ARGS_H

#include "beamtop/base/slice.h"
#include "beamtop/etf/build.h"

/* Appends a term of the program's own text, which parses. */
void args_build_text(struct builder *b, const char *text);
struct builder *args_of_text(const char *text);

/* [Pid, Items] of process_info/2; items as text: "links", "[memory,status]". */
struct builder *args_of_info(const char *node, const struct etf_pid *pid, const char *items);
/* Those of lists:zipwith/3 that reads the items, a term, of each: n > 0 or not. */
struct builder *args_of_infos(const char *node, const struct etf_pid *pids, size_t n,
                              const struct builder *items);

/* Those of lists:zipwith/3 that calls Module:Function(Term, Second) of each term; second: as text.
 */
struct builder *args_of_zip(const char *module, const char *function, const struct slice *terms,
                            size_t n, const char *second);

/* A call within another: its arguments as text, or as a term, which is freed. */
struct args_call {
    const char *module, *function;
    unsigned arity;
    const char *text;
    struct builder *term;
};
/* erlang:hd/1 of a fun: hands it on. */
struct args_call args_fun_call(const char *module, const char *function, unsigned arity);
/* Those of lists:foldl/3 that calls Module:Function(Inner1(…), Inner2(…)): fun erlang:apply/2, [fun
 * erlang:apply/2, Inner, Arguments], [fun lists:zipwith/3, fun Module:Function/Arity]. */
struct builder *args_of_calls(const char *module, const char *function, unsigned arity,
                              const struct args_call *inner, size_t n);
struct args_call args_plain_call(const char *module, const char *function); /* of no arguments */
struct args_call args_composed_call(struct builder *composed); /* of args_of_calls(), freed */
/* lists:duplicate(n, Term); term is freed. */
struct args_call args_repeated_call(size_t n, struct builder *term);
/* Hands a constant on; its text as "[[5]]". */
struct args_call args_constant_call(const char *text);
/* ets:match_spec_run/2 over a list; spec: with version byte, freed. */
struct builder *args_of_filter(struct args_call list, struct builder *spec);
/* lists:sublist/2; most: as "[[5]]". */
struct builder *args_of_cut(struct args_call list, const char *most);
/* The same of a match specification of the items of each, as args_of_infos() has them. spec: a list
 * of one argument; it is freed. */
struct builder *args_of_matches(const char *node, const struct etf_pid *pids, size_t n,
                                const char *items, struct builder *spec);
/* The same of process_info/2 that says which messages the asking process has: {messages, List}. */
struct builder *args_of_messages(void);

#endif
