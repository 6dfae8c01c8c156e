# SPDX-License-Identifier: GPL-3.0-or-later
src_libapp_a_SOURCES += \
	src/app/fleet/fleet.c src/app/fleet/fleet.h src/app/fleet/fleet_index.c src/app/fleet/fleet_index.h \
	src/app/fleet/fleet_internal.h src/app/fleet/fleet_member.c \
	src/app/fleet/fleet_names.c src/app/fleet/fleet_rows.c \
	src/app/fleet/fleet_run.c src/app/fleet/fleet_sessions.c src/app/fleet/fleet_sessions.h src/app/fleet/merge.c \
	src/app/fleet/fleet_join.c src/app/fleet/fleet_recorded.c src/app/fleet/fleet_recorded.h \
	src/app/fleet/fleet_follow.c src/app/fleet/fleet_follow.h \
	src/app/fleet/fleet_facts.c src/app/fleet/fleet_versions.c \
	src/app/fleet/mesh.c src/app/fleet/mesh.h src/app/fleet/mesh_nodes.c \
	src/app/fleet/mesh_seen.c src/app/fleet/mesh_matrix.c src/app/fleet/mesh_mnesia.c src/app/fleet/mesh_raft.c \
	src/app/fleet/fleet_hosts.c src/app/fleet/fleet_hosts.h \
	src/app/fleet/merge.h
