# SPDX-License-Identifier: GPL-3.0-or-later
src_liboutput_a_SOURCES += \
	src/output/samples/samples.h src/output/samples/samples_html.c \
	src/output/samples/samples_json.c src/output/samples/samples_one.c \
	src/output/samples/samples_sink.c src/output/samples/samples_text.c
