# SPDX-License-Identifier: GPL-3.0-or-later
src_libui_a_SOURCES += \
	src/ui/files/diag.c src/ui/files/embedded.h src/ui/files/file.c src/ui/files/file.h \
	src/ui/files/line.c src/ui/files/line.h
