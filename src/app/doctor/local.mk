# SPDX-License-Identifier: GPL-3.0-or-later
src_libapp_a_SOURCES += \
	src/app/doctor/doctor.c src/app/doctor/doctor.h src/app/doctor/doctor_checks.c \
	src/app/doctor/doctor_command.c src/app/doctor/doctor_far.c
