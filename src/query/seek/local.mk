# SPDX-License-Identifier: GPL-3.0-or-later
src_libquery_a_SOURCES += \
	src/query/seek/old_code.c src/query/seek/old_code.h src/query/seek/seek.c src/query/seek/seek.h src/query/seek/suspenders.c \
	src/query/seek/suspenders.h
