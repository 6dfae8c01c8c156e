# SPDX-License-Identifier: GPL-3.0-or-later
src_liboutput_a_SOURCES += \
	src/output/spans/spans.h src/output/spans/spans_folded.c src/output/spans/spans_json.c \
	src/output/spans/spans_otlp.c \
	src/output/spans/spans_sink.c src/output/spans/spans_speedscope.c \
	src/output/spans/spans_text.c src/output/spans/spans_text.h src/output/spans/spans_tracks.c \
	src/output/spans/spans_trace_event.c src/output/spans/spans_tree.c
