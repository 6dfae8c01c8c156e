# SPDX-License-Identifier: GPL-3.0-or-later
src_libmodel_a_SOURCES += src/model/name/process_name.c src/model/name/shown_name.c
