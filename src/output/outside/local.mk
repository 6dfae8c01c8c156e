# SPDX-License-Identifier: GPL-3.0-or-later
src_liboutput_a_SOURCES += \
	src/output/outside/outside.h src/output/outside/outside_json.c src/output/outside/outside_sink.c
