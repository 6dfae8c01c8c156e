# SPDX-License-Identifier: GPL-3.0-or-later
src_libui_a_SOURCES += \
	src/ui/spans/spans_title.c src/ui/spans/spans_title.h
