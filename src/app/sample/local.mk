# SPDX-License-Identifier: GPL-3.0-or-later
src_libapp_a_SOURCES += \
	src/app/sample/blame_command.c src/app/sample/held.c src/app/sample/held.h \
	src/app/sample/local_read.c src/app/sample/local_read.h \
	src/app/sample/map_file.c src/app/sample/map_file.h \
	src/app/sample/perf_map_command.c src/app/sample/pstack_command.c \
	src/app/sample/sample_command.c src/app/sample/sample_fleet.c \
	src/app/sample/sample_options.c \
	src/app/sample/sample_run.c src/app/sample/sample_run.h \
	src/app/sample/sample_log.c src/app/sample/sample_log.h \
	src/app/sample/sampled.c src/app/sample/sampled.h src/app/sample/sampler_command.c \
	src/app/sample/sampling.c src/app/sample/sampling.h \
	src/app/sample/spread.c src/app/sample/spread.h \
	src/app/sample/where.c src/app/sample/where.h src/app/sample/where_command.c \
	src/app/sample/yields.c src/app/sample/yields.h
