# SPDX-License-Identifier: GPL-3.0-or-later
src_libapp_a_SOURCES += \
	src/app/spans/beside.c src/app/spans/beside.h src/app/spans/side.c src/app/spans/side.h \
	src/app/spans/spans_command.c src/app/spans/spans_file.c src/app/spans/spans_file.h \
	src/app/spans/spans_fleet.c src/app/spans/spans_fleet.h src/app/spans/spans_tell.c src/app/spans/spans_tell.h
