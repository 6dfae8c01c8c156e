# SPDX-License-Identifier: GPL-3.0-or-later
src_libreport_a_SOURCES += \
	src/report/evaluate.c src/report/judge.c src/report/modules.c src/report/paper.c src/report/paper.h \
	src/report/paper_html.c src/report/requests.c src/report/requests.h src/report/paper_markdown.c src/report/paper_text.c \
	src/report/rules.c src/report/rules_calls.c src/report/rules_cpus.c src/report/rules_growth.c \
	src/report/rules_internal.h src/report/rules_late.c src/report/rules_logger.c \
	src/report/rules_memory.c src/report/rules_owners.c src/report/rules_requests.c src/report/rules_samples.c src/report/rules_system.c \
	src/report/summary.c src/report/summary_internal.h src/report/summary_json.c \
	src/report/summary_limit.c src/report/summary_many.c src/report/summary_one.c \
	src/report/summary_requests.c src/report/summary_samples.c
