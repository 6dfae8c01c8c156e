# SPDX-License-Identifier: GPL-3.0-or-later
src_libmodel_a_SOURCES += src/model/outside/outside_lines.c
