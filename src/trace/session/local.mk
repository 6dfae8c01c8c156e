# SPDX-License-Identifier: GPL-3.0-or-later
src_libtrace_a_SOURCES += \
	src/trace/session/name_queue.c src/trace/session/name_queue.h \
	src/trace/session/prepare.c src/trace/session/prepare.h src/trace/session/prepare_nobody.c \
	src/trace/session/prepare_why.c src/trace/session/preparation.c \
	src/trace/session/preparation.h src/trace/session/session.c \
	src/trace/session/session_base.h src/trace/session/trace.c src/trace/session/trace_act.c \
	src/trace/session/trace_arm.c src/trace/session/trace_internal.h \
	src/trace/session/trace_own.c src/trace/session/trace_prepare.c \
	src/trace/session/trace_counts.c src/trace/session/trace_take.c
