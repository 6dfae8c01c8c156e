# SPDX-License-Identifier: GPL-3.0-or-later
src_liblocal_a_SOURCES += src/local/memory.c
