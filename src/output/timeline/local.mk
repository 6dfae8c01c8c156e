# SPDX-License-Identifier: GPL-3.0-or-later
src_liboutput_a_SOURCES += \
	src/output/timeline/timeline_form.h src/output/timeline/timeline_json.c \
	src/output/timeline/timeline_sink.c src/output/timeline/timeline_text.c
