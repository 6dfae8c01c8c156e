# SPDX-License-Identifier: GPL-3.0-or-later
src_liblocal_a_SOURCES += \
	src/local/erl_pid.c src/local/image_bytes.h src/local/image_cfi.c src/local/image_cfi.h \
	src/local/image_expression.c src/local/image_file.c src/local/image_file.h \
	src/local/image_maps.c src/local/image_maps.h src/local/image_name.c src/local/image_name.h \
	src/local/image_none.c src/local/image_symbols.c src/local/images.c src/local/jit.c \
	src/local/jit_internal.h src/local/jit_read.c src/local/jit_scan.c src/local/maps.c \
	src/local/maps.h src/local/memory.c src/local/vm.c
