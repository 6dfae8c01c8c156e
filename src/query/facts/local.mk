# SPDX-License-Identifier: GPL-3.0-or-later
src_libquery_a_SOURCES += \
	src/query/facts/facts.h src/query/facts/facts_cpus.c \
	src/query/facts/facts_tables.c src/query/facts/facts_terms.c src/query/facts/facts_terms.h
