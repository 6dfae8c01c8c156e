# SPDX-License-Identifier: GPL-3.0-or-later
src_libapp_a_SOURCES += \
	src/app/pod/pod.c src/app/pod/pod.h src/app/pod/pod_cookie.c src/app/pod/pod_cookie.h \
	src/app/pod/pod_debug.c src/app/pod/pod_debug.h src/app/pod/relay_command.c
