# SPDX-License-Identifier: GPL-3.0-or-later
src_libquery_a_SOURCES += src/query/late/late.c src/query/late/late.h
