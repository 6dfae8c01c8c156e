# SPDX-License-Identifier: GPL-3.0-or-later
src_libquery_a_SOURCES += \
	src/query/apps/apps.c src/query/apps/apps.h src/query/apps/apps_build.c src/query/apps/apps_terms.c \
	src/query/apps/apps_terms.h
