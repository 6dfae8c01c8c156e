# SPDX-License-Identifier: GPL-3.0-or-later
src_libui_a_SOURCES += \
	src/ui/canvas/canvas.c src/ui/canvas/capture.c src/ui/canvas/capture_file.c \
	src/ui/canvas/graph.c src/ui/canvas/graph.h src/ui/canvas/style.c src/ui/canvas/theme.c \
	src/ui/canvas/theme_color.c
