# SPDX-License-Identifier: GPL-3.0-or-later
src_libquery_a_SOURCES += \
	src/query/who/who.c src/query/who/who.h src/query/who/who_above.c \
	src/query/who/who_above.h src/query/who/who_known.c src/query/who/who_known.h \
	src/query/who/who_leaders.c src/query/who/who_leaders.h src/query/who/who_terms.c \
	src/query/who/who_terms.h
