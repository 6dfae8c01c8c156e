# SPDX-License-Identifier: GPL-3.0-or-later
src_liblocal_a_SOURCES += \
	src/local/process/memory.c src/local/process/resident.c src/local/process/rights.c \
	src/local/process/threads.c
