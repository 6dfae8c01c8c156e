/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several nodes, a row each; to which others a node is connected. */
#include "beamtop/model/fields.h"

#define ROW struct links_row
static const struct field links[] = {
    FIELD("node", TEXT, node, "the other node; in the first row the node itself", .look = LOOK_NAME,
          .width = 24, .grows = true),
    FIELD("how", TEXT, how,
          "visible; hidden; known: the node has its name and no connection to it; self: the node "
          "itself, with its settings",
          .look = LOOK_MARK, .width = 8),
    FIELD("state", TEXT, state, "of the connection: up, pending …, or not connected", .width = 13),
    FIELD("state_s", SECONDS, state_s,
          "how long beamtop has seen it in that state, at every answer", .title = "FOR", .width = 8,
          .lasts = "state"),
    FIELD("protocol", TEXT, protocol, "tcp, tls, or another", .title = "PROTO", .look = LOOK_ASIDE,
          .width = 6),
    FIELD("address", TEXT, address, "the host that the node uses for it", .look = LOOK_ASIDE,
          .width = 16),
    FIELD("in_bytes", BYTES, in_bytes, "received since it is connected; null: unknown, as by TLS",
          .title = "IN", .width = 9),
    FIELD("in_bytes_per_s", BYTE_RATE, in_per_s, "received per second", .title = "IN/s",
          .width = 10, .rate_of = "in_bytes"),
    FIELD("out_bytes", BYTES, out_bytes, "sent since it is connected; null: unknown, as by TLS",
          .title = "OUT", .width = 9),
    FIELD("out_bytes_per_s", BYTE_RATE, out_per_s, "sent per second", .title = "OUT/s", .width = 10,
          .rate_of = "out_bytes"),
    FIELD("queue_bytes", BYTES, queue_bytes,
          "sent, and not taken by the network yet; what the VM buffers behind that it does not say",
          .title = "QUEUED", .width = 9),
    FIELD("queue_len", COUNT, queue_len, "messages in the queue of its process, by TLS",
          .title = "MSGQ", .look = LOOK_SHORT, .width = 6),
    FIELD("busy", BOOL, busy,
          "whether the port takes no more, from 8 KiB on: the VM's buffer fills, and senders are "
          "suspended from busy_limit_bytes on"),
    FIELD("net_tick_s", COUNT, net_tick_s, "seconds after which a silent connection counts as lost",
          .title = "NET TICK", .width = 9),
    FIELD("prevents_overlap", TEXT, prevents_overlap,
          "true: global disconnects nodes that not all see (prevent_overlapping_partitions)",
          .title = "NO OVERLAP", .width = 10),
    FIELD("busy_limit_bytes", BYTES, busy_limit_bytes,
          "senders are suspended when so much waits for one connection (dist_buf_busy_limit)",
          .title = "BUSY AT", .width = 9),
    FIELD("global_names", COUNT, global_names, "names registered with global", .title = "GLOBAL",
          .width = 7),
    FIELD("pg_groups", COUNT, pg_groups, "groups in the default scope of pg; null: it does not run",
          .title = "PG", .width = 6),
    FIELD("connection", COUNT, connection,
          "number of the connection, another after each time that it was lost; null: not connected",
          .width = 10, .later = true),
};
FIELD_TABLE(links_fields, links,
            "node how state state_s protocol address in_bytes_per_s out_bytes_per_s queue_bytes "
            "queue_len",
            "node how state protocol address in_bytes out_bytes queue_bytes queue_len busy "
            "net_tick_s prevents_overlap busy_limit_bytes global_names pg_groups connection");
#undef ROW

#define ROW struct fleet_row
static const struct field fleet[] = {
    FIELD("node", TEXT, node, "its name", .look = LOOK_NAME, .width = 30, .grows = true),
    FIELD(
        "state", TEXT, state,
        "waiting: not opened yet; connecting; up; late: no answer for 1 s or longer; lost: it was "
        "connected; failed: it was not; refused: the same node as another row; gone: not up, and "
        "named "
        "no longer; recorded: of a directory of recordings",
        .look = LOOK_MARK, .width = 10),
    FIELD("host", TEXT, host, "of its name", .look = LOOK_ASIDE, .width = 16),
    FIELD("role", TEXT, role, "what its name begins with, without the number at its end",
          .look = LOOK_NAME, .width = 16),
    FIELD("nodes", COUNT, nodes,
          "nodes that are added up in this row; 0: a name of which DNS knows none", .width = 5,
          .counts = true, .adds = true),
    FIELD("up", COUNT, up, "how many of them answer", .width = 5, .adds = true),
    FIELD("otp", TEXT, otp, "its OTP release", .title = "OTP", .width = 6),
    FIELD("unlike", TEXT, unlike,
          "in what it differs from most: otp, apps, or otp apps; null: in nothing, or none is that "
          "of most",
          .look = LOOK_MARK, .width = 6),
    FIELD(
        "apps", TEXT, apps,
        "applications of which others have another version, those of OTP where the release is the "
        "same, and the version of most; same: there are none; null: unknown",
        .width = 12, .grows = true),
    FIELD("uptime_s", SECONDS, uptime_s, "since its start", .title = "UP FOR", .width = 8),
    FIELD("memory_bytes", BYTES, memory_bytes, "all that it has allocated", .title = "MEMORY",
          .width = 9, .adds = true),
    FIELD("memory_limit_bytes", BYTES, memory_limit,
          "limit of its cgroup, read every minute; null: none, or unknown", .width = 9),
    FIELD("memory_limit_share", SHARE, limit_share,
          "memory_bytes, or its resident memory where that is more, of that limit",
          .title = "LIMIT", .width = 6),
    FIELD("utilisation", SHARE, utilisation, "of its normal schedulers, 0 to 1", .title = "UTIL",
          .width = 6),
    FIELD("run_queue", COUNT, run_queue, "processes and ports that are ready to run",
          .title = "RUNQ", .width = 6, .adds = true),
    FIELD("processes", COUNT, processes, "how many it has", .title = "PROCS", .look = LOOK_SHORT,
          .width = 7, .adds = true),
    FIELD("reductions_per_s", RATE, reductions_per_s, "per second", .title = "RED/s", .width = 7,
          .adds = true),
    FIELD("queue_len", COUNT, queue_len,
          "messages in its longest message queue; null: it has too many processes to look at all, "
          "or was not looked at yet",
          .title = "LONGQ", .look = LOOK_SHORT, .width = 7),
    FIELD("queue_name", TEXT, queue_name, "whose message queue that is", .title = "OF",
          .look = LOOK_NAME, .width = 14),
    FIELD(
        "link_queue_bytes", BYTES, link_queue_bytes,
        "queued for the node that it sends to and that takes least: not taken by the network yet; "
        "read every 30 s, on the screen every 10 s; null: unknown, as by TLS, or no such node",
        .title = "LINKQ", .width = 9),
    FIELD("link_queue_node", TEXT, link_queue_node, "for which node that is", .title = "TO",
          .look = LOOK_NAME, .width = 16),
    FIELD(
        "busy_links", COUNT, busy_links,
        "connections that take no more, from 8 KiB on; above the VM's limit senders are suspended",
        .width = 10, .adds = true),
    FIELD("round_trip_us", COUNT, round_trip_us,
          "the shortest time from a question to its answer, of the last 30", .title = "RTT",
          .look = LOOK_MICROSECONDS, .width = 7),
    FIELD("clock_offset_us", COUNT, offset_us,
          "its clock less that of this host, by the same answer", .title = "CLOCK",
          .look = LOOK_OFFSET, .width = 9),
    FIELD("clock_bound_us", COUNT, bound_us, "how much that may be wrong, either way",
          .title = "+/-", .look = LOOK_MICROSECONDS, .width = 7),
    FIELD("findings", COUNT, findings,
          "on the screen: rows of `mesh` with level fix or check that name it; null: unknown",
          .title = "FIND", .width = 4),
    FIELD("cost_share", SHARE, cost_share, "what beamtop costs it, of one scheduler, 0 to 1",
          .title = "COST", .width = 6),
    FIELD("note", TEXT, note, "why it is not up, or what stands out", .look = LOOK_ASIDE,
          .width = 16, .grows = true),
};
FIELD_TABLE(fleet_fields, fleet,
            "node state otp memory_bytes memory_limit_share utilisation run_queue processes "
            "queue_len queue_name apps link_queue_bytes uptime_s reductions_per_s "
            "round_trip_us findings cost_share note",
            "node state host role nodes up otp unlike apps uptime_s memory_bytes "
            "memory_limit_bytes memory_limit_share utilisation run_queue processes "
            "reductions_per_s queue_len queue_name link_queue_bytes link_queue_node busy_links "
            "round_trip_us clock_offset_us clock_bound_us findings cost_share note");
#undef ROW

#define ROW struct mesh_row
static const struct field mesh[] = {
    FIELD("id", TEXT, id, "kind, node, and the other node or what is compared", .width = 30),
    FIELD("node", TEXT, node, "one node", .look = LOOK_NAME, .width = 22, .grows = true),
    FIELD("peer", TEXT, peer, "the other one; null: the row is about one node", .look = LOOK_NAME,
          .width = 22, .grows = true, ),
    FIELD("level", TEXT, level, "fix, check or info; null: nothing is odd", .look = LOOK_MARK,
          .width = 5),
    FIELD("kind", TEXT, kind,
          "partition, mnesia, no-majority, no-leader, leaders, members (of Raft), one-sided, "
          "flapping, restarts, busy, missing, release, setting, unlike; unknown: a node does not "
          "answer, or not as it should; hidden; outside: a node that was not named; link: both "
          "see each other",
          .look = LOOK_MARK, .width = 9),
    FIELD("says", TEXT, says,
          "what the node says of the other: visible, hidden, another state; known: not connected; "
          "none: its name is unknown; null: it does not answer",
          .look = LOOK_MARK, .width = 7),
    FIELD("peer_says", TEXT, peer_says, "what the other says of the node", .look = LOOK_MARK,
          .width = 9),
    FIELD("queue_bytes", BYTES, queue_bytes, "queued by the node for the other", .title = "QUEUED",
          .width = 8),
    FIELD("peer_queue_bytes", BYTES, peer_queue_bytes, "queued by the other for the node",
          .title = "BY PEER", .width = 8),
    FIELD("out_bytes_per_s", BYTE_RATE, out_per_s, "sent by the node to the other per second",
          .title = "OUT/s", .width = 9),
    FIELD("in_bytes_per_s", BYTE_RATE, in_per_s, "sent by the other to the node per second",
          .title = "IN/s", .width = 9),
    FIELD("reconnects", COUNT, reconnects,
          "how often at least the two have connected again in the last 10 min, restarts of either "
          "not counted; null: not seen",
          .title = "AGAIN", .width = 5),
    FIELD("note", TEXT, note, "the same in words, or what is odd", .look = LOOK_ASIDE, .width = 40,
          .grows = true),
};
FIELD_TABLE(mesh_fields, mesh,
            "level kind node peer note says peer_says queue_bytes peer_queue_bytes out_bytes_per_s "
            "in_bytes_per_s reconnects",
            "id node peer level kind says peer_says queue_bytes peer_queue_bytes out_bytes_per_s "
            "in_bytes_per_s reconnects note");
#undef ROW

#define ROW struct matrix_row
static const struct field matrix[] = {
    FIELD("node", TEXT, node, "its name", .look = LOOK_NAME, .width = 24, .grows = true),
    FIELD("number", COUNT, number, "of its sign in each row, from 1 on", .title = "NR", .width = 3),
    FIELD("signs", TEXT, signs,
          "what links it to each node, a sign for each: o connected; - not connected; > connected, "
          "as this node says, < as only the other says; h hidden; # its messages wait; ~ flapping; "
          "? unknown; . the node itself",
          .width = 40, .grows = true),
};
FIELD_TABLE(matrix_fields, matrix, "number node signs", "node number signs");
