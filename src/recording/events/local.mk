# SPDX-License-Identifier: GPL-3.0-or-later
src_librecording_a_SOURCES += \
	src/recording/events/recorder_events.c src/recording/events/recording_events.c
