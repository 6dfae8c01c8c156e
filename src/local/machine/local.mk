# SPDX-License-Identifier: GPL-3.0-or-later
src_liblocal_a_SOURCES += \
	src/local/machine/machine.c src/local/machine/machine_aarch64.c \
	src/local/machine/machine_x86_64.c
