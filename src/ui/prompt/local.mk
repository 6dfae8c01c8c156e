# SPDX-License-Identifier: GPL-3.0-or-later
src_libui_a_SOURCES += \
	src/ui/prompt/complete.c src/ui/prompt/complete_trace.c src/ui/prompt/prompt.c \
	src/ui/prompt/prompt_draw.c src/ui/prompt/prompt_internal.h
