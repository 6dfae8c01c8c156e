# SPDX-License-Identifier: GPL-3.0-or-later
src_libapp_a_SOURCES += \
	src/app/outside/look.c src/app/outside/look.h \
	src/app/outside/newest.c src/app/outside/newest.h \
	src/app/outside/outside_command.c src/app/outside/outside_command.h \
	src/app/outside/reading.c src/app/outside/reading.h
