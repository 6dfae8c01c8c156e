# SPDX-License-Identifier: GPL-3.0-or-later
src_librecording_a_SOURCES += \
	src/recording/spans/recorder_spans.c src/recording/spans/recording_spans.c
