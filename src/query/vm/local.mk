# SPDX-License-Identifier: GPL-3.0-or-later
src_libquery_a_SOURCES += \
	src/query/vm/vm.c src/query/vm/vm.h src/query/vm/vm_args.c src/query/vm/vm_args.h \
	src/query/vm/vm_build.c src/query/vm/vm_files.c src/query/vm/vm_internal.h \
	src/query/vm/vm_rows.c src/query/vm/vm_rows.h
