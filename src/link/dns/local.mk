# SPDX-License-Identifier: GPL-3.0-or-later
src_liblink_a_SOURCES += \
	src/link/dns/srv.c src/link/dns/srv.h
