/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the user asks of running code, as a tree: redbug's language and what it lacks, in Erlang's
 * or Elixir's spelling. Pure: text in, tree out. man/beamtop-trace.7 is the grammar.
 *
 * All nodes, names and texts of a tree live in the pattern's arena. Positions are byte offsets
 * into the text that was parsed. One thread. */
#ifndef BEAMTOP_TRACE_PATTERN_H
#define BEAMTOP_TRACE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/arena.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/error.h"
#include "beamtop/etf/term.h"

enum syntax { SYNTAX_AUTO, SYNTAX_ERLANG, SYNTAX_ELIXIR };
int syntax_parse(const char *word, enum syntax *out); /* "auto", "erlang", "elixir"; 0 or -1 */

/* Terms, patterns and guard expressions are one kind of tree. */
enum node_kind {
    NODE_INTEGER, /* number; text holds the digits when they do not fit (text.len > 0) */
    NODE_FLOAT,   /* real */
    NODE_ATOM,    /* text: UTF-8. nil, true and aliases (Elixir.Foo) of Elixir are atoms too */
    NODE_STRING,  /* text: a list of code points, UTF-8 here */
    NODE_BINARY,  /* text: the bytes; bits: how many; gap: bits of any value behind them (`_:3`);
                     tail: what follows (`_/binary`), or NULL; unit: 8, or 1 of `_/bitstring` */
    NODE_VAR,     /* text: its name, as written */
    NODE_ANY,     /* _ */
    NODE_ALL,     /* '$_': all arguments, in guards and actions */
    NODE_LIST,    /* items, tail (NULL: []). "abc" ++ T and [1,2] ++ T are lists with tails */
    NODE_TUPLE,   /* items */
    NODE_MAP,     /* items: key, value, key, value, … */
    NODE_RECORD,  /* module (only #name{} belongs to the pattern), text: its name;
                     items: field (ATOM), value, … */
    NODE_STRUCT,  /* text: the module's atom; items: field (ATOM), value, … */
    NODE_PID,     /* number: id, serial */
    NODE_PORT,    /* number */
    NODE_REF,     /* text: as written, "#Ref<0.1.2.3>" */
    NODE_OP,      /* text: Erlang's operator ("=:=", "andalso", "+", "not"); items: 1 or 2. "," of
                     a guard is "andalso"; ";" is ";", so that its sides can become clauses */
    NODE_CALL,    /* text: Erlang's guard BIF ("is_map_key"); items: arguments in Erlang's order */
    NODE_TEST_RECORD, /* is_record(mod#rec, X): module, text; items: X */
    NODE_ALIAS,       /* Pattern = Variable: items: the pattern, the variable */
};

struct node {
    enum node_kind kind;
    size_t from, to; /* bytes of the text */
    struct slice text;
    struct slice module;
    int64_t number;
    uint32_t serial;
    double real;
    size_t bits, gap;
    unsigned unit;
    struct node **items;
    size_t n_items;
    struct node *tail;
};

enum pattern_kind { PATTERN_CALL, PATTERN_SEND, PATTERN_RECEIVE };

enum name_kind { NAME_ANY, NAME_EXACT, NAME_REGEX };
struct pattern_name {
    enum name_kind kind;
    struct slice text; /* the atom, or the expression without its slashes */
    size_t from, to;
};

/* Bits of pattern.actions. */
enum action_bit {
    TRACE_RETURN = 1 << 0, /* also set by slower, returns and raises */
    TRACE_STACK = 1 << 1,
    TRACE_TIME = 1 << 2,   /* counters of the VM: call_time; no events */
    TRACE_COUNT = 1 << 3,  /* call_count; no events */
    TRACE_CALLER = 1 << 4, /* printed; it travels anyway */
    TRACE_SHOW = 1 << 5,
    TRACE_SLOWER = 1 << 6,
    TRACE_RETURNS = 1 << 7, /* only calls whose value matches `returns` */
    TRACE_RAISES = 1 << 8,  /* only calls that raise; `raises` is NULL or matches the reason */
};

struct pattern {
    struct arena arena;
    struct slice typed; /* the text it was made of; a copy */
    size_t at;          /* where that began in the text that was parsed */
    enum syntax syntax; /* ERLANG or ELIXIR: what was recognised */
    enum pattern_kind kind;
    struct pattern_name module, function; /* of calls */
    int arity;                            /* -1: any */
    bool has_args;                        /* args are patterns; arity is their number */
    struct node **args;                   /* send: To, Message; receive: Message */
    size_t n_args;
    struct node *guard; /* NULL: none */
    unsigned actions;   /* bits */
    bool application;   /* of calls to count: all functions of the application `function` */
    bool own;           /* not typed: all functions of the modules of the one process chosen */
    struct node **show; /* of TRACE_SHOW */
    size_t n_show;
    uint64_t slower_us; /* of TRACE_SLOWER */
    struct node *returns, *returns_guard;
    struct node *raises, *raises_guard;
};

/*
 * Parses one pattern. ERR_USAGE: the text says what was expected; *offset (may be NULL) is the byte
 * it was expected at. Takes the whole text; blanks around it do not matter. */
int pattern_parse(struct pattern **out, const char *text, size_t len, enum syntax syntax,
                  size_t *offset, struct error *err);
/*
 * Parses several, in one text: `P1 & P2`. *n of *out, both owned: patterns_free. At most
 * LIMIT_TRACE_PATTERNS, and LIMIT_PATTERN_BYTES all together. */
int patterns_parse(struct pattern ***out, size_t *n, const char *text, size_t len,
                   enum syntax syntax, size_t *offset, struct error *err);
/* What a kind of session takes of the language. ERR_USAGE with *offset in the text where it does
   not; marks what is special in a pattern. */
typedef int pattern_check_fn(struct pattern *p, const char *text, size_t *offset,
                             struct error *err);
/* Parses a whole text, of which each pattern must pass; check NULL: all do. offset may be NULL. */
int patterns_parse_for(pattern_check_fn *check, struct pattern ***out, size_t *n, const char *text,
                       enum syntax syntax, size_t *offset, struct error *err);
/* Only whether that works. */
int patterns_check(pattern_check_fn *check, const char *text, enum syntax syntax, size_t *offset,
                   struct error *err);
void pattern_free(struct pattern *p);
void patterns_free(struct pattern **p, size_t n);

/* The tree, indented, a node a line, for `explain`. */
void pattern_print_tree(struct buf *out, const struct pattern *p);
/* What it asks for, in a sentence: "calls of lists:map/2 with …, showing the result". */
void pattern_describe(struct buf *out, const struct pattern *p);

/* The records and structs whose definitions are needed: each (module, name) once; borrowed. A
   struct has an empty name. Returns how many there are, of which up to `most` are stored. */
struct record_name {
    struct slice module, name;
    size_t at;
};
size_t pattern_records(const struct pattern *p, struct record_name *out, size_t most);

/*
 * What may stand at a byte of an unfinished text: for completion. Bytes from..point are the part of
 * it that is already typed; of an empty text the syntax is ERLANG. Of a struct's field `module` is
 * the struct and `record` empty. */
/* clang-format off */
enum expect {
    EXPECT_NOTHING, EXPECT_MODULE, EXPECT_FUNCTION /* of `module` */, EXPECT_ARITY, EXPECT_TERM,
    EXPECT_GUARD, EXPECT_ACTION, EXPECT_FIELD /* of record `record` of `module` */,
};
/* clang-format on */
struct expectation {
    enum expect what;
    enum syntax syntax;
    size_t from;
    char module[256], function[256], record[256]; /* as atoms, without quotes; cut when longer */
};
void pattern_expect(const char *text, size_t point, struct expectation *out);

/* The words that can be actions ("return", "slower 5ms" …) and guard BIFs, with a line of help. */
struct pattern_word {
    const char *word, *help;
    unsigned least, most; /* arguments of a guard BIF */
    unsigned bits;        /* of an action */
};
extern const struct pattern_word pattern_actions[], pattern_guards[]; /* NULL word ends */

#endif
