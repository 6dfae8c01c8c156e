# SPDX-License-Identifier: GPL-3.0-or-later
src_liblocal_a_SOURCES += \
	src/local/erl_pid.c src/local/jit.c src/local/jit_internal.h src/local/jit_read.c \
	src/local/jit_scan.c src/local/maps.c src/local/maps.h src/local/memory.c src/local/vm.c
