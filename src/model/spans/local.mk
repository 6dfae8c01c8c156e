# SPDX-License-Identifier: GPL-3.0-or-later
src_libmodel_a_SOURCES += \
	src/model/spans/critical.c src/model/spans/internal.h src/model/spans/join.c src/model/spans/join.h \
	src/model/spans/join_clocks.c src/model/spans/measure.c \
	src/model/spans/sampled.c src/model/spans/spans.c src/model/spans/sum.c src/model/spans/walk.c src/model/spans/walk.h \
	src/model/spans/walk_breakpoints.c src/model/spans/walk_end.c src/model/spans/walk_messages.c \
	src/model/spans/walk_stack.c src/model/spans/walk_stack.h src/model/spans/walk_waits.c
