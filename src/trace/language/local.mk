# SPDX-License-Identifier: GPL-3.0-or-later
src_libtrace_a_SOURCES += \
	src/trace/language/caps.c src/trace/language/elixir_guard.c src/trace/language/expect.c \
	src/trace/language/lex.c src/trace/language/lex.h src/trace/language/lex_value.c \
	src/trace/language/library.c src/trace/language/names.c src/trace/language/names_near.c \
	src/trace/language/parse.c src/trace/language/parse.h src/trace/language/parse_binary.c \
	src/trace/language/parse_ex.c src/trace/language/parse_ex.h \
	src/trace/language/parse_record.c src/trace/language/parse_term.c \
	src/trace/language/parser.c src/trace/language/pattern.c \
	src/trace/language/pattern_print.c src/trace/language/procs.c src/trace/language/request.c \
	src/trace/language/syntax.c src/trace/language/unwrap.c src/trace/language/values.c \
	src/trace/language/keywords.c
