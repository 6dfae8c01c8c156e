# SPDX-License-Identifier: GPL-3.0-or-later
src_libquery_a_SOURCES += \
	src/query/expr.c src/query/header.c src/query/header.h src/query/header_terms.c \
	src/query/header_terms.h src/query/internal.h src/query/keeper.c src/query/keeper.h \
	src/query/native.c src/query/native.h src/query/node.c src/query/node.h \
	src/query/node_terms.c src/query/node_terms.h src/query/price.c src/query/price.h \
	src/query/query.c src/query/values.c src/query/values.h
