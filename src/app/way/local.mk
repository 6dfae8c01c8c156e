# SPDX-License-Identifier: GPL-3.0-or-later
src_libapp_a_SOURCES += \
	src/app/way/container.c src/app/way/container.h \
	src/app/way/way_carry.c src/app/way/way_carry.h \
	src/app/way/way_child.c src/app/way/way_child.h src/app/way/way_far.c src/app/way/way_far.h \
	src/app/way/way_logins.c src/app/way/way_logins.h \
	src/app/way/way_masters.c src/app/way/way_masters.h src/app/way/way_methods.c \
	src/app/way/way_methods.h src/app/way/way_names.c src/app/way/way_names.h \
	src/app/way/way_run.c src/app/way/way_run.h \
	src/app/way/way_server.c src/app/way/way_server.h src/app/way/way_remains.c \
	src/app/way/way_remains.h \
	src/app/way/way_url.c src/app/way/way_url.h src/app/way/way_wire.c src/app/way/way_wire.h \
	src/app/way/reach.c src/app/way/reach.h src/app/way/reach_login.c \
	src/app/way/reach_login.h
