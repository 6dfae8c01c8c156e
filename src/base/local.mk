# SPDX-License-Identifier: GPL-3.0-or-later
src_libbase_a_SOURCES += \
	src/base/alloc.c src/base/arena.c src/base/buf.c src/base/clock.c src/base/confined.c src/base/error.c src/base/files.c \
	src/base/outside.c \
	src/base/question.c src/base/rate.c src/base/regex.c src/base/regular.c src/base/ring.c src/base/sample.c \
	src/base/slice.c src/base/spawn.c src/base/text.c src/base/text_units.c src/base/trend.c
