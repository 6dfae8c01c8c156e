# SPDX-License-Identifier: GPL-3.0-or-later
src_libquery_a_SOURCES += \
	src/query/leaders/leaders.c src/query/leaders/leaders.h src/query/leaders/leaders_answer.c \
	src/query/leaders/leaders_answer.h src/query/leaders/leaders_internal.h \
	src/query/leaders/leaders_kin.c src/query/leaders/leaders_look.c \
	src/query/leaders/leaders_read.c src/query/leaders/leaders_read.h \
	src/query/leaders/leaders_table.c src/query/leaders/leaders_table.h
