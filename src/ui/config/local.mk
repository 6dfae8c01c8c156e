# SPDX-License-Identifier: GPL-3.0-or-later
src_libui_a_SOURCES += \
	src/ui/config/action.c src/ui/config/config.c src/ui/config/describe.c src/ui/config/key.c \
	src/ui/config/keymap.c src/ui/config/option.c src/ui/config/option_table.c src/ui/config/tls_lines.c
