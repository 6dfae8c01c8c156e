# SPDX-License-Identifier: GPL-3.0-or-later
src_libquery_a_SOURCES += \
	src/query/expr.c src/query/internal.h src/query/price.c src/query/price.h src/query/query.c
