# SPDX-License-Identifier: GPL-3.0-or-later
src_liblink_a_SOURCES += \
	src/link/discover/as_user.c src/link/discover/as_user.h \
	src/link/discover/discover.c src/link/discover/discover_container.c \
	src/link/discover/discover_look.c src/link/discover/discover_look.h \
	src/link/discover/discover_place.c src/link/discover/discover_place.h src/link/discover/discover_port.c \
	src/link/discover/discover_scan.c src/link/discover/discover_sockets.c \
	src/link/discover/discover_tls.c
