# SPDX-License-Identifier: GPL-3.0-or-later
src_libapp_a_SOURCES += \
	src/app/tui_fleet/tui_several.c src/app/tui_fleet/tui_several.h \
	src/app/tui_fleet/tui_several_nodes.c
