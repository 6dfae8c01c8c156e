# SPDX-License-Identifier: GPL-3.0-or-later
src_libui_a_SOURCES += src/ui/samples/samples_title.c src/ui/samples/samples_title.h
