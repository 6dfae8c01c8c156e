# SPDX-License-Identifier: GPL-3.0-or-later
src_libquery_a_SOURCES += \
	src/query/waits/waits.c src/query/waits/waits.h src/query/waits/waits_internal.h \
	src/query/waits/waits_places.c src/query/waits/waits_steps.c src/query/waits/waits_table.c \
	src/query/waits/waits_table.h src/query/waits/waits_terms.c src/query/waits/waits_terms.h
