# SPDX-License-Identifier: GPL-3.0-or-later
src_liboutput_a_SOURCES += \
	src/output/calls_form.h src/output/calls_read.c src/output/calls_several.c src/output/calls_sink.c \
	src/output/calls_text.c src/output/events_sink.c src/output/fields.c \
	src/output/json_read.c src/output/number.c src/output/object_fields.h src/output/sink_tick.c \
	src/output/shape.c src/output/shape.h \
	src/output/sink.c src/output/sink_csv.c src/output/sink_json.c src/output/sink_text.c \
	src/output/stacks_form.c src/output/stacks_form.h src/output/table.c src/output/table.h \
	src/output/trace_fields.c src/output/trace_json.c src/output/trace_line.c \
	src/output/trace_read.c src/output/trace_sink.c src/output/trace_text.c \
	src/output/writer.c
