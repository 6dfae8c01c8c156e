# SPDX-License-Identifier: GPL-3.0-or-later
src_libquery_a_SOURCES += src/query/stepped/stepped.c src/query/stepped/stepped.h
