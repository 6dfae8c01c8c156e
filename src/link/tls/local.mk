# SPDX-License-Identifier: GPL-3.0-or-later
src_liblink_a_SOURCES += \
	src/link/tls/context.h src/link/tls/explain.c src/link/tls/file.c src/link/tls/file.h \
	src/link/tls/known.c src/link/tls/known.h src/link/tls/none.c \
	src/link/tls/optfile.c src/link/tls/optfile.h \
	src/link/tls/pem.c src/link/tls/pem.h src/link/tls/plain.c src/link/tls/plain.h \
	src/link/tls/session.c src/link/tls/session.h \
	src/link/tls/session_internal.h src/link/tls/shown.c src/link/tls/source.c src/link/tls/tls.c
