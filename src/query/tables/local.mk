# SPDX-License-Identifier: GPL-3.0-or-later
src_libquery_a_SOURCES += \
	src/query/tables/tables.c src/query/tables/tables.h src/query/tables/tables_build.c \
	src/query/tables/tables_internal.h src/query/tables/tables_list.c \
	src/query/tables/tables_list.h src/query/tables/tables_one.c src/query/tables/tables_one.h \
	src/query/tables/tables_keys.c src/query/tables/tables_mnesia.c \
	src/query/tables/tables_kept.c
