# SPDX-License-Identifier: GPL-3.0-or-later
src_libapp_a_SOURCES += \
	src/app/sample/local_target.c src/app/sample/local_target.h \
	src/app/sample/perf_map_command.c
