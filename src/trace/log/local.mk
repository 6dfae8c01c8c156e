# SPDX-License-Identifier: GPL-3.0-or-later
src_libtrace_a_SOURCES += \
	src/trace/log/decode.c src/trace/log/decode.h src/trace/log/decode_answer.c src/trace/log/decode_names.c \
	src/trace/log/histogram.c src/trace/log/log.c
