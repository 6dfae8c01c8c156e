# SPDX-License-Identifier: GPL-3.0-or-later
src_liblocal_a_SOURCES += \
	src/local/sampler/ladder.c src/local/sampler/namer.c src/local/sampler/namer.h \
	src/local/sampler/perf.c src/local/sampler/perf.h src/local/sampler/records.c src/local/sampler/sampler.c \
	src/local/sampler/stack.c src/local/sampler/stack.h \
	src/local/sampler/stack_erlang.c src/local/sampler/stack_internal.h \
	src/local/sampler/stack_linked.c src/local/sampler/vm.c
