# SPDX-License-Identifier: GPL-3.0-or-later
src_libapp_a_SOURCES += \
	src/app/tui/tui.c \
	src/app/tui/tui_act.c src/app/tui/tui_calls.c src/app/tui/tui_events.c \
	src/app/tui/tui_findings.c src/app/tui/tui_findings.h src/app/tui/tui_internal.h \
	src/app/tui/tui_names.c src/app/tui/tui_names.h src/app/tui/tui_nodes.c src/app/tui/tui_owners.h src/app/tui/tui_prompt.c \
	src/app/tui/tui_record.c src/app/tui/tui_record_follow.c \
	src/app/tui/tui_record_follow.h src/app/tui/tui_record_start.c \
	src/app/tui/tui_sample.c src/app/tui/tui_session.c \
	src/app/tui/tui_session.h src/app/tui/tui_spans.c src/app/tui/tui_start.c src/app/tui/tui_terminal.c src/app/tui/tui_time.c \
	src/app/tui/tui_trace.c src/app/tui/tui_trace_act.c \
	src/app/tui/tui_trace_start.c src/app/tui/tui_trace_start.h src/app/tui/tui_trace_pick.c \
	src/app/tui/tui_trace_prompt.c src/app/tui/tui_trace_save.c
