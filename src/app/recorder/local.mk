# SPDX-License-Identifier: GPL-3.0-or-later
src_libapp_a_SOURCES += \
	src/app/recorder/record_calls.c src/app/recorder/record_samples.c \
	src/app/recorder/record_series.c \
	src/app/recorder/record_client.c src/app/recorder/record_client.h \
	src/app/recorder/record_command.c src/app/recorder/record_control.c \
	src/app/recorder/record_control.h src/app/recorder/record_detach.c \
	src/app/recorder/record_detach.h src/app/recorder/record_fleet.c \
	src/app/recorder/record_fleet.h src/app/recorder/record_fleet_internal.h src/app/recorder/record_fleet_nodes.c \
	src/app/recorder/record_events.c \
	src/app/recorder/record_retry.c \
	src/app/recorder/record_retry.h src/app/recorder/record_run.c \
	src/app/recorder/record_run_armed.c \
	src/app/recorder/record_run_requests.c \
	src/app/recorder/record_run_source.c src/app/recorder/record_starter.c \
	src/app/recorder/record_starter.h src/app/recorder/record_status.c \
	src/app/recorder/record_status.h src/app/recorder/record_trace.c \
	src/app/recorder/record_series.h src/app/recorder/record_spans.c \
	src/app/recorder/record_state.c src/app/recorder/record_state.h
