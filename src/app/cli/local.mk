# SPDX-License-Identifier: GPL-3.0-or-later
src_libapp_a_SOURCES += \
	src/app/cli/cli.c src/app/cli/cli.h src/app/cli/cli_table.c src/app/cli/cli_table.h src/app/cli/cli_text.c \
	src/app/cli/commands.h src/app/cli/event_options.c src/app/cli/event_options.h src/app/cli/error_at.c src/app/cli/error_at.h \
	src/app/cli/exit_code.c src/app/cli/exit_code.h src/app/cli/output.c src/app/cli/output.h \
	src/app/cli/output_file.c src/app/cli/output_file.h \
	src/app/cli/tell.c src/app/cli/tell.h
