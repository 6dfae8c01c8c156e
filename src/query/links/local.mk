# SPDX-License-Identifier: GPL-3.0-or-later
src_libquery_a_SOURCES += \
	src/query/links/links.c src/query/links/links.h src/query/links/links_build.c \
	src/query/links/links_internal.h
