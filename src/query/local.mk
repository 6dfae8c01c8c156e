# SPDX-License-Identifier: GPL-3.0-or-later
src_libquery_a_SOURCES += \
	src/query/expr.c src/query/expr.h src/query/header.c src/query/header.h src/query/header_terms.c \
	src/query/header_terms.h src/query/keeper.c src/query/keeper.h src/query/listeners.c \
	src/query/listeners.h src/query/node.c \
	src/query/node.h src/query/node_terms.c src/query/node_terms.h src/query/query.c \
	src/query/stepped_questions.c src/query/stepped_questions.h src/query/ways.c src/query/ways.h
