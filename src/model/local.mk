# SPDX-License-Identifier: GPL-3.0-or-later
src_libmodel_a_SOURCES += \
	src/model/column.c src/model/decode.c src/model/decode_armed.c src/model/decode_detail.c \
	src/model/decode_msacc.c src/model/decode_process.c src/model/decode_read.c \
	src/model/decode_stacks.c src/model/decode_threads.c src/model/field.c src/model/filter.c \
	src/model/finding.c src/model/frame_group.c src/model/heaps.c src/model/history.c \
	src/model/internal.h src/model/journal.c src/model/kind.c src/model/model.c \
	src/model/model_scan.c src/model/model_state.h src/model/order.c src/model/owners.c \
	src/model/rate.c src/model/samples.c src/model/seen.c \
	src/model/stacks.c src/model/table.c src/model/waits.c src/model/want.c
