# SPDX-License-Identifier: GPL-3.0-or-later
src_libapp_a_SOURCES += \
	src/app/command/batch.c src/app/command/batch.h src/app/command/calls_command.c \
	src/app/command/calls_fleet.c src/app/command/calls_fleet.h \
	src/app/command/capture_command.c src/app/command/collect_command.c src/app/command/commands.c \
	src/app/command/condition.c \
	src/app/command/condition.h src/app/command/events_command.c src/app/command/fleet_command.c \
	src/app/command/explain_command.c src/app/command/generate.c \
	src/app/command/printing.c src/app/command/printing.h src/app/command/reach_prepare.c \
	src/app/command/reach_prepare.h \
	src/app/command/report_command.c src/app/command/settings.c \
	src/app/command/settings.h \
	src/app/command/stacks_command.c src/app/command/table_commands.c \
	src/app/command/session_file.c \
	src/app/command/session_file.h \
	src/app/command/trace_history.c src/app/command/trace_history.h src/app/command/trigger.c \
	src/app/command/trigger.h
