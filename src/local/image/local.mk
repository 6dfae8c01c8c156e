# SPDX-License-Identifier: GPL-3.0-or-later
src_liblocal_a_SOURCES += \
	src/local/image/image_bytes.h src/local/image/image_cfi.c src/local/image/image_cfi.h \
	src/local/image/image_expression.c src/local/image/image_file.c src/local/image/image_file.h \
	src/local/image/image_maps.c src/local/image/image_maps.h src/local/image/image_name.c \
	src/local/image/image_name.h src/local/image/image_none.c src/local/image/image_symbols.c \
	src/local/image/images.c
