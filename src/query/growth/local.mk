# SPDX-License-Identifier: GPL-3.0-or-later
src_libquery_a_SOURCES += \
	src/query/growth/growth.c src/query/growth/growth.h src/query/growth/growth_build.c \
	src/query/growth/growth_calls.c src/query/growth/growth_calls.h \
	src/query/growth/growth_internal.h src/query/growth/growth_processes.c \
	src/query/growth/growth_rows.c src/query/growth/growth_tables.c \
	src/query/growth/growth_steps.c src/query/growth/growth_terms.c \
	src/query/growth/growth_terms.h
