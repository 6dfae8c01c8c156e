# SPDX-License-Identifier: GPL-3.0-or-later
src_libui_a_SOURCES += \
	src/ui/process/view_process.h src/ui/process/process_copies.c src/ui/process/process_near.c
