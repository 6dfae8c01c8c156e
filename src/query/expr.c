/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Evaluating the keeper on the target: one call of rex, or of net_kernel, a constant form, the rest
 * in bindings. */
#include "expr.h"

#include <assert.h>
#include <string.h>

#include "beamtop/etf/parse.h"

/*
 * element(2, erl_eval:exprs(binary_to_term(S), B, none, none)): B as a map where erl_eval takes
 * one, from OTP 25 on: looking up variables then costs a third. The forms are those of the
 * "Abstract Format" chapter of ERTS. */
#define FORM_REMOTE(mod, fun) "{remote,1,{atom,1," mod "},{atom,1," fun "}}"
#define FORM_CALL(mod, fun, args) "{call,1," FORM_REMOTE(mod, fun) ",[" args "]}"
#define FORM_SECOND(of) FORM_CALL("erlang", "element", "{integer,1,2}," of)
#define FORM_EXPRS FORM_CALL("erlang", "binary_to_term", "{var,1,'S'}")
#define FORM_RELEASE FORM_CALL("erlang", "system_info", "{atom,1,otp_release}")
#define FORM_HAS_MAPS "{op,1,'>='," FORM_RELEASE ",{string,1,\"25\"}}"
#define FORM_MAP FORM_CALL("maps", "from_list", "{var,1,'B'}")
#define FORM_CLAUSE(pattern, body) "{clause,1,[{atom,1," pattern "}],[],[" body "]}"
#define FORM_BINDINGS                                                                              \
    "{'case',1," FORM_HAS_MAPS                                                                     \
    ",[" FORM_CLAUSE("true", FORM_MAP) "," FORM_CLAUSE("false", "{var,1,'B'}") "]}"

#define FORM_KEEPER                                                                                \
    FORM_SECOND(FORM_CALL("erl_eval", "exprs",                                                     \
                          FORM_EXPRS "," FORM_BINDINGS ",{atom,1,none},{atom,1,none}"))

static const char eval_form[] = FORM_KEEPER;

/* The group leader of what net_kernel evaluates: `user` where that exists, as rex sets it. */
#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#define FORM_USER FORM_CALL("erlang", "whereis", "{atom,1,user}")
#define FORM_LEADER                                                                                \
    "{'catch',1," FORM_CALL("erlang", "group_leader",                                              \
                            FORM_USER "," FORM_CALL("erlang", "self", "")) "}"
static const char send_form[] = "{block,1,[" FORM_LEADER ",{op,1,'!',{var,1,'C'},{tuple,1,"
                                "[{integer,1," TEXT(EXPR_TAG) "}," FORM_KEEPER "]}}]}";

const struct embedded *expr_source(const char *name)
{
    size_t len = strlen(name);
    const struct embedded *e = query_sources;
    while (e->name && !(strncmp(e->name, name, len) == 0 && strcmp(e->name + len, ".etf") == 0))
        e++;
    assert(e->name);
    return e;
}

static void build_source(struct builder *b, const char *variable, const char *name)
{
    const struct embedded *source = expr_source(name);
    build_tuple(b, 2);
    build_atom(b, variable);
    build_binary(b, source->text, source->len);
}

static void build_self(struct builder *b, const char *own_node, const struct etf_pid *self)
{
    build_tuple(b, 2);
    build_atom(b, "C");
    build_pid(b, own_node, self);
}

static void build_bindings(struct builder *b, const char *own_node, const struct etf_pid *self)
{
    /* [{'B', [{'C', Self}, {'K', Keeper}, {'O', #{}}]}, {'C', Self}, {'S', Loader}]: orddicts,
       which every release takes */
    build_list(b, 3);
    build_tuple(b, 2);
    build_atom(b, "B");
    build_list(b, 3);
    build_self(b, own_node, self);
    build_source(b, "K", "keeper");
    build_tuple(b, 2);
    build_atom(b, "O");
    build_map(b, 0);
    build_nil(b);
    build_self(b, own_node, self);
    build_source(b, "S", "loader");
    build_nil(b);
}

/* {'$gen_call', {Self, Tag}, {Request, erl_eval, expr, [Form, Bindings, none, none, value], without
   its last element. */
static int build_call(struct builder *b, const char *own_node, const struct etf_pid *self, int tag,
                      const char *request, struct slice form, struct error *err)
{
    build_tuple(b, 3);
    build_atom(b, "$gen_call");
    build_tuple(b, 2);
    build_pid(b, own_node, self);
    build_int(b, tag);
    build_tuple(b, 5);
    build_atom(b, request);
    build_atom(b, "erl_eval");
    build_atom(b, "expr");
    build_list(b, 5);
    int rc = etf_parse(b, form.s, form.len, NULL, err);
    if (rc != 0)
        return rc;
    build_bindings(b, own_node, self);
    build_atom(b, "none");
    build_atom(b, "none");
    build_atom(b, "value");
    build_nil(b);
    return 0;
}

int expr_build(struct builder *b, const char *own_node, const struct etf_pid *self,
               struct error *err)
{
    const struct slice form = {eval_form, sizeof eval_form - 1};
    int rc = build_call(b, own_node, self, EXPR_TAG, "call", form, err);
    /* The group leader of the evaluating process: `user` exists on every node that can print. */
    if (rc == 0)
        build_atom(b, "user");
    return rc;
}

int expr_build_spawn(struct builder *b, const char *own_node, const struct etf_pid *self,
                     struct error *err)
{
    const struct slice form = {send_form, sizeof send_form - 1};
    int rc = build_call(b, own_node, self, SPAWN_TAG, "spawn", form, err);
    /* A group leader must be a pid: this one until the form sets another. */
    if (rc == 0)
        build_pid(b, own_node, self);
    return rc;
}
