# SPDX-License-Identifier: GPL-3.0-or-later
src_librecording_a_SOURCES += \
	src/recording/event_term.c src/recording/export.c src/recording/recorded_log.c \
	src/recording/recent.c src/recording/recent.h src/recording/recorder.c \
	src/recording/recorder_facts.c src/recording/recorder_internal.h \
	src/recording/recorder_pending.c src/recording/recorder_rows.c \
	src/recording/recorder_samples.c src/recording/recorder_terms.c src/recording/recorder_trace.c src/recording/recording.c src/recording/recording_file.c \
	src/recording/recording_file.h src/recording/recording_internal.h \
	src/recording/recording_owners.c src/recording/recording_processes.c \
	src/recording/recording_samples.c src/recording/recording_schema.c src/recording/recording_schema.h \
	src/recording/recording_sums.c src/recording/recording_traces.c \
	src/recording/recording_windows.c src/recording/sqlite.c src/recording/sqlite.h \
	src/recording/tables.c src/recording/tables.h
