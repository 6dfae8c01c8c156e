# SPDX-License-Identifier: GPL-3.0-or-later
src_libquery_a_SOURCES += \
	src/query/raft/raft.c src/query/raft/raft.h
