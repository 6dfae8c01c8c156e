# SPDX-License-Identifier: GPL-3.0-or-later
src_libquery_a_SOURCES += \
	src/query/scan/own.c src/query/scan/own.h src/query/scan/scan.c src/query/scan/scan.h \
	src/query/scan/scan_filter.c src/query/scan/scan_filter.h \
	src/query/scan/scan_internal.h src/query/scan/scan_rows.c src/query/scan/scan_table.c \
	src/query/scan/scan_table.h src/query/scan/scan_terms.c src/query/scan/scan_terms.h \
	src/query/scan/scan_walks.c src/query/scan/scan_walks.h
