# SPDX-License-Identifier: GPL-3.0-or-later
src_libapp_a_SOURCES += \
	src/app/live/encode.c src/app/live/encode.h src/app/live/governor.c \
	src/app/live/governor.h src/app/live/live.c src/app/live/live.h \
	src/app/live/live_ask.c src/app/live/live_clock.c src/app/live/live_cost.c \
	src/app/live/live_due.c src/app/live/live_host.c src/app/live/live_internal.h \
	src/app/live/live_take.c src/app/live/live_tick.c src/app/live/live_want.c
