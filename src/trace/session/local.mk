# SPDX-License-Identifier: GPL-3.0-or-later
src_libtrace_a_SOURCES += \
	src/trace/session/prepare.c src/trace/session/prepare.h src/trace/session/prepare_nobody.c \
	src/trace/session/prepare_why.c src/trace/session/session.c \
	src/trace/session/session_act.c src/trace/session/session_arm.c \
	src/trace/session/session_internal.h src/trace/session/session_own.c \
	src/trace/session/session_prepare.c src/trace/session/session_take.c
