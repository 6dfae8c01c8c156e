# SPDX-License-Identifier: GPL-3.0-or-later
src_libtrace_a_SOURCES += \
	src/trace/spans/spans_decode.c src/trace/spans/spans_internal.h \
	src/trace/spans/spans_fields.c \
	src/trace/spans/spans_prepare.c src/trace/spans/spans_rows.c src/trace/spans/spans_run.c \
	src/trace/spans/spans_sum.c src/trace/spans/spans.c
