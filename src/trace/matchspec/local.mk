# SPDX-License-Identifier: GPL-3.0-or-later
src_libtrace_a_SOURCES += \
	src/trace/matchspec/matchspec.c src/trace/matchspec/matchspec_encode.c \
	src/trace/matchspec/matchspec_expression.c src/trace/matchspec/matchspec_head.c \
	src/trace/matchspec/matchspec_internal.h src/trace/matchspec/matchspec_literal.c \
	src/trace/matchspec/matchspec_match.c src/trace/matchspec/matchspec_print.c \
	src/trace/matchspec/matchspec_record.c src/trace/matchspec/matchspec_scope.c
