# SPDX-License-Identifier: GPL-3.0-or-later
src_libquery_a_SOURCES += \
	src/query/ports/ports.c src/query/ports/ports.h src/query/ports/ports_build.c \
	src/query/ports/ports_calls.c src/query/ports/ports_internal.h src/query/ports/ports_rest.c \
	src/query/ports/ports_rows.c src/query/ports/ports_senders.c src/query/ports/ports_sockets.c src/query/ports/ports_table.c \
	src/query/ports/ports_table.h src/query/ports/ports_terms.c
