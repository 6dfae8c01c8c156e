# SPDX-License-Identifier: GPL-3.0-or-later
src_libui_a_SOURCES += \
	src/ui/terminal/tty_background.c src/ui/terminal/tty_background.h \
	src/ui/terminal/tty_colors.c src/ui/terminal/tty_colors.h \
	src/ui/terminal/tty_curses.c src/ui/terminal/tty_frame.c src/ui/terminal/tty_frame.h \
	src/ui/terminal/tty_keys.c src/ui/terminal/tty_keys.h \
	src/ui/terminal/tty_mouse.c src/ui/terminal/tty_mouse.h \
	src/ui/terminal/tty_paste.c src/ui/terminal/tty_paste.h \
	src/ui/terminal/tty_rescue.c
