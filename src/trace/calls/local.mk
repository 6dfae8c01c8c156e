# SPDX-License-Identifier: GPL-3.0-or-later
src_libtrace_a_SOURCES += \
	src/trace/calls/calls.c src/trace/calls/calls_decode.c src/trace/calls/calls_fields.c \
	src/trace/calls/calls_internal.h \
	src/trace/calls/calls_log.c src/trace/calls/calls_prepare.c src/trace/calls/calls_window.c \
	src/trace/calls/calls_pattern.c src/trace/calls/calls_several.c src/trace/calls/calls_several_fields.c
