# SPDX-License-Identifier: GPL-3.0-or-later
src_libtrace_a_SOURCES += \
	src/trace/events/events.c src/trace/events/events_decode.c src/trace/events/events_internal.h \
	src/trace/events/events_run.c
