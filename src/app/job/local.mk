# SPDX-License-Identifier: GPL-3.0-or-later
src_libapp_a_SOURCES += \
	src/app/job/child.c src/app/job/child.h src/app/job/crash.c src/app/job/crash.h \
	src/app/job/process_stat.c src/app/job/process_stat.h src/app/job/start.c \
	src/app/job/start.h src/app/job/suspend.c src/app/job/suspend.h \
	src/app/job/together.c src/app/job/together.h
