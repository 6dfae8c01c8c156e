# SPDX-License-Identifier: GPL-3.0-or-later
src_libreport_a_SOURCES += \
	src/report/rules/evaluate.c src/report/rules/judge.c src/report/rules/modules.c src/report/rules/requests.c \
	src/report/rules/requests.h src/report/rules/rules.c \
	src/report/rules/rules_calls.c src/report/rules/rules_cpus.c src/report/rules/rules_growth.c \
	src/report/rules/rules_internal.h src/report/rules/rules_held.c src/report/rules/rules_kept.c src/report/rules/rules_late.c src/report/rules/rules_logger.c \
	src/report/rules/rules_memory.c src/report/rules/rules_owners.c \
	src/report/rules/rules_requests.c src/report/rules/rules_samples.c \
	src/report/rules/rules_mnesia.c src/report/rules/rules_ports.c src/report/rules/rules_system.c src/report/rules/rules_vm.c src/report/rules/rules_waits.c src/report/rules/work.c \
	src/report/rules/work.h
