# SPDX-License-Identifier: GPL-3.0-or-later
src_liblocal_a_SOURCES += \
	src/local/outside/outside_cgroup.c src/local/outside/outside_dump.c \
	src/local/outside/outside_file.h src/local/outside/outside_parse.c \
	src/local/outside/outside_read.c
