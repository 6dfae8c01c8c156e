# SPDX-License-Identifier: GPL-3.0-or-later
src_liblink_a_SOURCES += \
	src/link/sockets/diag.c src/link/sockets/diag.h src/link/sockets/listener.c \
	src/link/sockets/listener.h src/link/sockets/socket_row.h
