# SPDX-License-Identifier: GPL-3.0-or-later
src_libquery_a_SOURCES += \
	src/query/alloc/allocators.h src/query/alloc/allocators_terms.c src/query/alloc/allocators_terms.h
