# SPDX-License-Identifier: GPL-3.0-or-later
src_libquery_a_SOURCES += \
	src/query/process/process.c src/query/process/process.h src/query/process/process_build.c \
	src/query/process/process_terms.c src/query/process/process_terms.h
