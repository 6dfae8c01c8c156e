# SPDX-License-Identifier: GPL-3.0-or-later
src_libquery_a_SOURCES += \
	src/query/native/args.c src/query/native/args.h src/query/native/files.c src/query/native/files.h src/query/native/internal.h src/query/native/native.c src/query/native/native.h \
	src/query/native/price.c src/query/native/price.h src/query/native/run.c \
	src/query/native/run.h \
	src/query/native/values.c \
	src/query/native/values.h
