# SPDX-License-Identifier: GPL-3.0-or-later
src_libui_a_SOURCES += \
	src/ui/screen/header.c src/ui/screen/header_first.c src/ui/screen/header_first.h \
	src/ui/screen/header_nodes.c src/ui/screen/header_nodes.h \
	src/ui/screen/pane.c src/ui/screen/pane.h src/ui/screen/panes.c \
	src/ui/screen/screen.c src/ui/screen/screen_act.c src/ui/screen/screen_act.h \
	src/ui/screen/screen_command.c src/ui/screen/screen_internal.h src/ui/screen/screen_mouse.c \
	src/ui/screen/screen_picker.c src/ui/screen/screen_process.c src/ui/screen/screen_views.c
