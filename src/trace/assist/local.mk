# SPDX-License-Identifier: GPL-3.0-or-later
src_libtrace_a_SOURCES += \
	src/trace/assist/assist.c src/trace/assist/assist_internal.h \
	src/trace/assist/assist_line.c
