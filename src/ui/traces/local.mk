# SPDX-License-Identifier: GPL-3.0-or-later
src_libui_a_SOURCES += \
	src/ui/traces/view_trace.h src/ui/traces/view_trace_event.c src/ui/traces/view_trace_flow.c \
	src/ui/traces/view_trace_head.c src/ui/traces/view_trace_long.c \
	src/ui/traces/view_trace_nodes.c src/ui/traces/view_trace_open.c \
	src/ui/traces/view_trace_patterns.c src/ui/traces/view_trace_text.c
