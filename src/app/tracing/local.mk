# SPDX-License-Identifier: GPL-3.0-or-later
src_libapp_a_SOURCES += \
	src/app/tracing/fleet_log.c src/app/tracing/fleet_log.h \
	src/app/tracing/fleet_trace.c src/app/tracing/fleet_trace.h \
	src/app/tracing/trace_arguments.c src/app/tracing/trace_arguments.h \
	src/app/tracing/trace_command.c src/app/tracing/trace_fleet.c \
	src/app/tracing/trace_fleet.h src/app/tracing/trace_print.c src/app/tracing/trace_print.h
