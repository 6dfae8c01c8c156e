# SPDX-License-Identifier: GPL-3.0-or-later
src_libetf_a_SOURCES += \
	src/etf/build.c src/etf/check.c src/etf/cursor.c src/etf/field.c src/etf/internal.h \
	src/etf/parse.c src/etf/print.c src/etf/print.h src/etf/print_ex.c src/etf/print_ex.h \
	src/etf/print_ex_text.c src/etf/print_text.c src/etf/scan.c src/etf/scan.h
