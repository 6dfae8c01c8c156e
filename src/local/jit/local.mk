# SPDX-License-Identifier: GPL-3.0-or-later
src_liblocal_a_SOURCES += \
	src/local/jit/erl_pid.c src/local/jit/erl_pid.h src/local/jit/jit.c src/local/jit/jit_internal.h \
	src/local/jit/jit_read.c src/local/jit/jit_scan.c
