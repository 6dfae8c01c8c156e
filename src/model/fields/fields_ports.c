/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ports and sockets. */
#include "beamtop/model/fields.h"

#define ROW struct ports_row
static const struct field ports[] = {
    FIELD(
        "id", TEXT, id,
        "the node's name of it; \"rest of …\": those of an owner, kind and state that have no row",
        .title = "PORT", .width = 14),
    FIELD("backend", TEXT, backend, "port, or socket: of the module socket", .look = LOOK_ASIDE,
          .width = 7),
    FIELD("kind", TEXT, kind,
          "tcp, udp, sctp, local, raw, distribution, program, fd or driver; distribution: a "
          "connection to a node, program: an OS process, fd: a file descriptor",
          .look = LOOK_MARK, .width = 12),
    FIELD("name", TEXT, name, "driver, command of an OS process, or node of a connection",
          .width = 16),
    FIELD("owner", PID, owner, "the process that owns it", .known = offsetof(ROW, has_owner),
          .title = "PID", .look = LOOK_PID, .width = 12),
    FIELD("owner_name", TEXT, owner_name, "its registered name, its label, or its initial call",
          .title = "OWNER", .look = LOOK_NAME, .width = 18),
    FIELD("application", TEXT, application, "of its owner", .look = LOOK_ASIDE, .width = 14),
    FIELD("local", TEXT, local, "its local address, or path", .width = 21),
    FIELD("remote", TEXT, remote, "address of the other end", .width = 21, .grows = true),
    FIELD("local_port", TEXT, local_port, "the port of its local address", .title = "LOCAL PORT",
          .width = 10),
    FIELD("remote_host", TEXT, remote_host, "the other end's address without its port",
          .title = "REMOTE HOST", .width = 21, .grows = true),
    FIELD("state", TEXT, state,
          "as the kernel has it, such as listening or established; close_wait: the other end has "
          "closed, the node has not",
          .width = 11),
    FIELD("state_s", SECONDS, state_s, "for how long beamtop has seen it so, at every answer",
          .title = "FOR", .width = 8, .lasts = "state"),
    FIELD("ports", COUNT, ports, "ports and sockets that are added up in this row",
          .look = LOOK_SHORT, .width = 7, .counts = true, .adds = true),
    FIELD("close_wait", COUNT, close_wait, "how many of them are in the state close_wait",
          .title = "CLOSE_WAIT", .look = LOOK_SHORT, .width = 10, .adds = true),
    FIELD("busy", BOOL, busy, "whether a process that sends to it waits"),
    FIELD("received_bytes", COUNT, received_bytes, "since it was opened"),
    FIELD("sent_bytes", COUNT, sent_bytes, "since it was opened"),
    FIELD("received_packets", COUNT, received_packets, "reads from it since it was opened"),
    FIELD("sent_packets", COUNT, sent_packets, "writes to it since it was opened"),
    FIELD("received_bytes_per_s", BYTE_RATE, received_bytes_per_s, "per second", .title = "IN/s",
          .width = 9, .rate_of = "received_bytes", .adds = true),
    FIELD("sent_bytes_per_s", BYTE_RATE, sent_bytes_per_s, "per second", .title = "OUT/s",
          .width = 9, .rate_of = "sent_bytes", .adds = true),
    FIELD("received_packets_per_s", RATE, received_packets_per_s, "per second", .title = "READS/s",
          .width = 8, .rate_of = "received_packets", .adds = true),
    FIELD("sent_packets_per_s", RATE, sent_packets_per_s, "per second", .title = "WRITES/s",
          .width = 8, .rate_of = "sent_packets", .adds = true),
    FIELD("queue_bytes", BYTES, queue_bytes, "in its driver, not sent yet", .title = "QUEUE",
          .width = 9, .adds = true),
    FIELD("senders", COUNT, senders, "processes that wait in a send to it", .title = "SENDERS",
          .look = LOOK_SHORT, .width = 7, .adds = true),
    FIELD("sender", PID, sender, "one of them", .known = offsetof(ROW, has_sender),
          .look = LOOK_PID, .width = 12),
    FIELD("sender_name", TEXT, sender_name, "its registered name, its label, or its initial call",
          .title = "SENDER", .look = LOOK_NAME, .width = 14),
    FIELD("idle_us", COUNT, idle_us, "since data went either way, as the kernel has it",
          .title = "IDLE", .look = LOOK_MICROSECONDS, .width = 8),
    FIELD("os_pid", COUNT, os_pid, "of the OS process", .title = "OS PID", .width = 7),
};
FIELD_TABLE(ports_fields, ports,
            "id kind state owner_name queue_bytes senders received_bytes_per_s sent_bytes_per_s "
            "remote local idle_us owner",
            "id backend kind name owner owner_name application local remote local_port "
            "remote_host state ports close_wait busy received_bytes sent_bytes received_packets "
            "sent_packets queue_bytes senders sender sender_name idle_us os_pid");
#undef ROW
