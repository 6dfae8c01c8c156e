# SPDX-License-Identifier: GPL-3.0-or-later
src_libapp_a_SOURCES += \
	src/app/source/feed.c src/app/source/feed.h src/app/source/nodes.c \
	src/app/source/nodes.h src/app/source/replay.c src/app/source/replay.h \
	src/app/source/replay_runs.c src/app/source/replay_runs.h src/app/source/runtime.c \
	src/app/source/runtime.h src/app/source/source.c \
	src/app/source/source.h src/app/source/source_internal.h \
	src/app/source/source_live.c src/app/source/source_replay.c \
	src/app/source/target.c src/app/source/target.h src/app/source/target_tls.c
