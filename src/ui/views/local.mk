# SPDX-License-Identifier: GPL-3.0-or-later
# The views in the order of their keys: view_NAME.c defines view_NAME, the registry lists them.
VIEWS = \
	src/ui/views/view_top.c src/ui/process/view_process.c src/ui/views/view_memory.c \
	src/ui/views/view_schedulers.c src/ui/views/view_apps.c src/ui/views/view_tree.c \
	src/ui/views/view_log.c src/ui/views/view_trace.c src/ui/views/view_armed.c \
	src/ui/views/view_help.c src/ui/views/view_calls.c src/ui/views/view_owners.c \
	src/ui/views/view_findings.c src/ui/views/view_samples.c src/ui/views/view_heaps.c \
	src/ui/views/view_cpus.c src/ui/views/view_spans.c src/ui/views/view_tables.c \
	src/ui/views/view_waits.c src/ui/views/view_ports.c src/ui/views/view_table.c \
	src/ui/views/view_terms.c src/ui/views/view_holders.c src/ui/views/view_system.c \
	src/ui/views/view_events.c src/ui/views/view_fleet.c src/ui/views/view_links.c \
	src/ui/views/view_mesh.c src/ui/outside/view_outside.c
src_libui_a_SOURCES += $(VIEWS) \
	src/ui/views/cells.c \
	src/ui/views/views.c src/ui/views/views.h

nodist_src_libui_a_SOURCES += src/ui/views/registry.c
CLEANFILES += src/ui/views/registry.c
src/ui/views/registry.c: src/ui/views/local.mk
	$(AM_V_GEN)$(MKDIR_P) $(@D) && { \
		echo '#include "beamtop/ui/view.h"' && \
		printf 'extern const struct view_ops view_%s;\n' $(patsubst view_%.c,%,$(notdir $(VIEWS))) && \
		echo 'const struct view_ops *const view_registry[] = {' && \
		printf '    &view_%s,\n' $(patsubst view_%.c,%,$(notdir $(VIEWS))) && \
		echo '    NULL,' && echo '};'; } >$@.tmp && mv $@.tmp $@
