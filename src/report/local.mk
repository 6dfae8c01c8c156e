# SPDX-License-Identifier: GPL-3.0-or-later
src_libreport_a_SOURCES += \
	src/report/paper.c src/report/paper.h src/report/paper_html.c \
	src/report/paper_markdown.c src/report/paper_text.c src/report/summary.c src/report/summary_compare.c \
	src/report/summary_events.c src/report/summary_fields.c \
	src/report/summary_internal.h src/report/summary_json.c src/report/summary_limit.c \
	src/report/summary_many.c src/report/summary_nodes.c src/report/summary_one.c \
	src/report/summary_pairs.c src/report/summary_requests.c \
	src/report/summary_samples.c src/report/summary_settings.c \
	src/report/summary_state.c
