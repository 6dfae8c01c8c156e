# SPDX-License-Identifier: GPL-3.0-or-later
src_libapp_a_SOURCES += \
	src/app/search/local_search.c src/app/search/local_search.h \
	src/app/search/local_target.c src/app/search/local_target.h
