# SPDX-License-Identifier: GPL-3.0-or-later
src_liblink_a_SOURCES += \
	src/link/inside/inside.c src/link/inside/inside_main.c src/link/inside/inside_reply.c \
	src/link/inside/inside_reply.h
