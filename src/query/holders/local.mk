# SPDX-License-Identifier: GPL-3.0-or-later
src_libquery_a_SOURCES += \
	src/query/holders/holders.c src/query/holders/holders.h src/query/holders/holders_build.c \
	src/query/holders/holders_internal.h src/query/holders/holders_steps.c \
	src/query/holders/holders_table.c src/query/holders/holders_table.h
