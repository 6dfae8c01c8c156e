/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The process of streams: the program itself, as a hidden command. It starts the programs of
 * way_methods.h, reads what they complain of, and ends them: each with its stream, all with the
 * process that asks, however that ends (SIGKILL too). It ignores the terminal's signals, so that a
 * Ctrl-C leaves streams to those who tidy up over them. It has one thread, and writes nowhere but
 * to its sockets. */
#ifndef BEAMTOP_APP_WAY_WAY_SERVER_H
#define BEAMTOP_APP_WAY_WAY_SERVER_H

/* Until `asks` (way_wire.h) ends, and all children with it: 3 s at most. runtime_dir: where a
 * private directory for ssh's sockets is made; NULL: /tmp. */
void way_server_run(int asks, const char *runtime_dir);

#endif
