# SPDX-License-Identifier: GPL-3.0-or-later
src_libquery_a_SOURCES += \
	src/query/terms/terms.c src/query/terms/terms.h src/query/terms/terms_build.c \
	src/query/terms/terms_internal.h src/query/terms/terms_keys.c \
	src/query/terms/terms_modules.c
