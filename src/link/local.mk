# SPDX-License-Identifier: GPL-3.0-or-later
src_liblink_a_SOURCES += \
	src/link/aside.c src/link/atom_cache.c src/link/atom_cache.h src/link/claim.c src/link/conn.c src/link/conn_in.c src/link/conn_internal.h \
	src/link/control.c src/link/control.h src/link/cookie.c src/link/cookie_patterns.c src/link/dial.c \
	src/link/epmd.c src/link/epmd_way.c src/link/epmd_way.h src/link/frame.c src/link/frame.h \
	src/link/handshake.c src/link/internal.h src/link/load_tls.c src/link/lookup.c src/link/name.c src/link/proc.c \
	src/link/proc.h src/link/way.c src/link/wire.c src/link/wire.h src/link/wire_tls.c
