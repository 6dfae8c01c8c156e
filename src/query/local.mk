# SPDX-License-Identifier: GPL-3.0-or-later
src_libquery_a_SOURCES += \
	src/query/expr.c src/query/header.c src/query/header.h src/query/header_terms.c \
	src/query/header_terms.h src/query/internal.h src/query/keeper.c src/query/keeper.h \
	src/query/native.c src/query/native.h src/query/node.c src/query/node.h \
	src/query/node_terms.c src/query/node_terms.h src/query/own.c src/query/own.h \
	src/query/price.c src/query/price.h src/query/query.c src/query/scan.c src/query/scan.h \
	src/query/scan_internal.h src/query/scan_rows.c src/query/scan_table.c \
	src/query/scan_table.h src/query/scan_terms.c src/query/scan_terms.h \
	src/query/scan_walks.c src/query/scan_walks.h src/query/values.c src/query/values.h \
	src/query/who.c src/query/who.h src/query/who_above.c src/query/who_above.h \
	src/query/who_known.c src/query/who_known.h src/query/who_leaders.c \
	src/query/who_leaders.h src/query/who_terms.c src/query/who_terms.h
