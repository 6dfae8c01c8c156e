# SPDX-License-Identifier: GPL-3.0-or-later
src_libmodel_a_SOURCES += \
	src/model/fields/bar.c src/model/fields/fields_allocators.c \
	src/model/fields/fields_armed.c src/model/fields/fields_fleet.c src/model/fields/fields_load.c src/model/fields/fields.c \
	src/model/fields/fields_ports.c src/model/fields/fields_tables.c src/model/fields/fields_terms.c src/model/fields/fields_usage.c src/model/fields/samples_fields.c \
	src/model/fields/fields_vm.c
