# SPDX-License-Identifier: GPL-3.0-or-later
src_libapp_a_SOURCES += src/app/tui_outside/tui_outside.c
