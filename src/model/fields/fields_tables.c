/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of what a node has: ETS tables, one of them, its keys, and what processes hold. */
#include "beamtop/model/fields.h"

#define ROW struct tables_row
static const struct field tables[] = {
    FIELD("id", TEXT, id,
          "its name where it is named_table, else its reference; \"rest of PID\": "
          "those of a process that have no row",
          .title = "TABLE", .look = LOOK_ASIDE, .width = 22),
    FIELD("name", TEXT, name, "the name that ets:new/2 was given", .look = LOOK_NAME, .width = 24,
          .grows = true),
    FIELD("memory_bytes", BYTES, memory_bytes, "its memory, with its objects", .title = "MEMORY",
          .width = 9, .aged = true, .adds = true),
    FIELD(
        "memory_older", BOOL, memory_older,
        "whether its memory and objects were read some time ago: a look at decentralised counters "
        "waits for all schedulers, and of many tables some are read each time"),
    FIELD("memory_age_s", SECONDS, memory_age_s, "how long ago that was"),
    FIELD("memory_bytes_per_s", BYTE_RATE, memory_per_s, "growth per second", .title = "MEM/s",
          .look = LOOK_CHANGE, .width = 10, .rate_of = "memory_bytes", .adds = true),
    FIELD("objects", COUNT, objects, "objects in it", .look = LOOK_SHORT, .width = 8, .adds = true,
          .read_with = "memory_bytes"),
    FIELD("objects_per_s", RATE, objects_per_s, "growth per second", .title = "OBJ/s",
          .look = LOOK_CHANGE, .width = 9, .rate_of = "objects", .adds = true),
    FIELD("tables", COUNT, tables, "tables that are added up in this row", .width = 7,
          .counts = true, .adds = true),
    FIELD("owner", PID, owner, "the process that owns it", .known = offsetof(ROW, has_owner),
          .look = LOOK_PID, .width = 12),
    FIELD("owner_name", TEXT, owner_name, "its registered name, its label, or its initial call",
          .title = "OWNER", .look = LOOK_NAME, .width = 24, .grows = true),
    FIELD("application", TEXT, application, "of its owner", .look = LOOK_ASIDE, .width = 14),
    FIELD("type", TEXT, type,
          "set, ordered_set, bag or duplicate_bag; dets, disk_log: a file, its sizes are unknown",
          .width = 11),
    FIELD("protection", TEXT, protection, "public, protected or private", .title = "ACCESS",
          .width = 9),
    FIELD("write_concurrency", TEXT, write, "true, false or auto", .title = "WRITE", .width = 5),
    FIELD("read_concurrency", BOOL, read, "whether it is set", .title = "READ", .width = 4),
    FIELD("decentralized_counters", BOOL, is_spread,
          "whether its size and memory are counted by each scheduler", .title = "SPREAD",
          .width = 6),
    FIELD("compressed", BOOL, compressed, "whether its objects are compressed", .title = "COMPR",
          .width = 5),
    FIELD("fixed", BOOL, fixed,
          "whether a process has fixed it: what is deleted stays until it is released", .width = 5),
    FIELD("key_position", COUNT, key_position, "of its keys, from 1", .title = "KEY", .width = 3),
    FIELD("heir", PID, heir, "who gets it when its owner ends", .known = offsetof(ROW, has_heir),
          .look = LOOK_PID, .width = 12),
    FIELD("tid", TEXT, tid, "its table identifier: one made again under its name has another",
          .title = "TID", .look = LOOK_ASIDE, .width = 22, .tells_apart = true),
    FIELD("copies", TEXT, copies,
          "of a table of Mnesia: ram_copies, disc_copies or disc_only_copies, here", .width = 11),
    FIELD("copy_nodes", COUNT, copy_nodes, "nodes that have a copy of it", .title = "NODES",
          .width = 5),
    FIELD("active_nodes", COUNT, active_nodes, "nodes whose copy is loaded and in use",
          .title = "ACTIVE", .width = 6),
};
FIELD_TABLE(tables_fields, tables,
            "name memory_bytes memory_bytes_per_s objects objects_per_s owner_name type protection "
            "write_concurrency read_concurrency fixed id",
            "id name owner owner_name application tables objects memory_bytes type protection "
            "write_concurrency read_concurrency decentralized_counters compressed fixed "
            "key_position heir tid copies copy_nodes active_nodes");
#undef ROW

#define ROW struct one_table_row
static const struct field one_table[] = {
    FIELD("id", TEXT, id, "as it was asked for: a name, or a reference", .title = "TABLE",
          .look = LOOK_ASIDE, .width = 22),
    FIELD("exists", BOOL, exists, "whether the node has such a table"),
    FIELD("name", TEXT, name, "the name that ets:new/2 was given", .look = LOOK_NAME, .width = 24),
    FIELD("tid", TEXT, tid, "its table identifier: one made again under its name has another",
          .look = LOOK_ASIDE, .tells_apart = true),
    FIELD("type", TEXT, type, "set, ordered_set, bag or duplicate_bag", .width = 11),
    FIELD("protection", TEXT, protection, "public, protected or private", .title = "ACCESS",
          .width = 9),
    FIELD("owner", PID, owner, "the process that owns it", .known = offsetof(ROW, has_owner),
          .look = LOOK_PID, .width = 12),
    FIELD("owner_name", TEXT, owner_name, "its registered name, its label, or its initial call",
          .title = "OWNER", .look = LOOK_NAME, .width = 24),
    FIELD("application", TEXT, application, "of its owner", .look = LOOK_ASIDE, .width = 14),
    FIELD("heir", PID, heir, "who gets it when its owner ends", .known = offsetof(ROW, has_heir),
          .look = LOOK_PID, .width = 12),
    FIELD("heir_name", TEXT, heir_name, "as owner_name"),
    FIELD("memory_bytes", BYTES, memory_bytes, "its memory, with its objects", .title = "MEMORY",
          .width = 9),
    FIELD("memory_bytes_per_s", BYTE_RATE, memory_per_s, "growth per second", .title = "MEM/s",
          .look = LOOK_CHANGE, .width = 10, .rate_of = "memory_bytes"),
    FIELD("objects", COUNT, objects, "objects in it", .width = 9),
    FIELD("objects_per_s", RATE, objects_per_s, "growth per second", .title = "OBJ/s",
          .look = LOOK_CHANGE, .width = 9, .rate_of = "objects"),
    FIELD("words_per_object", COUNT, words_per_object,
          "words of its memory for each object: a mean, with the table itself"),
    FIELD("write_concurrency", TEXT, write, "true, false or auto"),
    FIELD("read_concurrency", BOOL, read, "whether it is set"),
    FIELD("decentralized_counters", BOOL, is_spread,
          "whether its size and memory are counted by each scheduler"),
    FIELD("compressed", BOOL, compressed, "whether its objects are compressed"),
    FIELD("key_position", COUNT, key_position, "of its keys, from 1"),
    FIELD("fixed", BOOL, fixed,
          "whether a process has fixed it: what is deleted stays until it is released"),
    FIELD_AS(FIELD_MS, "fixed_ms", COUNT, fixed_ms, "since it was fixed first"),
    FIELD("fixers", COUNT, fixers, "processes that have fixed it"),
    FIELD("fixer", PID, fixer, "one of these", .known = offsetof(ROW, has_fixer), .look = LOOK_PID,
          .width = 12),
    FIELD("fixer_name", TEXT, fixer_name, "as owner_name"),
    FIELD("copies", TEXT, copies,
          "of a table of Mnesia: ram_copies, disc_copies or disc_only_copies, here"),
    FIELD("copy_nodes", TEXT, copy_nodes, "nodes that have a copy of it"),
    FIELD("active_nodes", TEXT, active_nodes, "nodes whose copy is loaded and in use"),
    FIELD("indexes", TEXT, indexes, "Mnesia's indexes of it, and their tables"),
};
FIELD_TABLE(one_table_fields, one_table,
            "name type protection owner_name memory_bytes memory_bytes_per_s objects "
            "objects_per_s words_per_object fixed id",
            "id exists name tid type protection owner owner_name application heir heir_name "
            "memory_bytes objects write_concurrency read_concurrency decentralized_counters "
            "compressed key_position fixed fixed_ms fixers fixer fixer_name copies copy_nodes "
            "active_nodes indexes words_per_object");
#undef ROW

#define ROW struct suspenders_row
static const struct field suspender[] = {
    FIELD("id", TEXT, id, "the pid of the process that suspends it, or nobody", .width = 12),
    FIELD("pid", PID, pid, "the process that is suspended", .known = offsetof(ROW, has_pid),
          .look = LOOK_PID, .width = 12),
    FIELD("suspended_by", PID, by, "a process that suspends it", .known = offsetof(ROW, has_by),
          .title = "SUSPENDED BY", .look = LOOK_PID, .width = 12),
    FIELD("suspended_by_name", TEXT, by_name, "its registered name, its label, or its initial call",
          .title = "NAME", .look = LOOK_NAME, .width = 24),
    FIELD("times", COUNT, times, "how often it has suspended it", .width = 7),
    FIELD("processes_read", COUNT, read, "processes that beamtop has asked"),
    FIELD("processes", COUNT, processes, "processes of the node"),
};
FIELD_TABLE(suspenders_fields, suspender, NULL,
            "id pid suspended_by suspended_by_name times processes_read processes");
#undef ROW

#define ROW struct old_code_row
static const struct field old_code[] = {
    FIELD("id", TEXT, id, "the pid of a process, or all", .width = 12),
    FIELD("module", TEXT, module, "the module", .look = LOOK_NAME, .width = 24),
    FIELD("has_old_code", BOOL, has_old, "whether the node has old code of it"),
    FIELD("pid", PID, pid, "a process with old code on its stack", .known = offsetof(ROW, has_pid),
          .look = LOOK_PID, .width = 12),
    FIELD("name", TEXT, name, "its registered name, its label, or its initial call",
          .look = LOOK_NAME, .width = 24),
    FIELD("count", COUNT, count, "processes with old code on their stacks", .width = 9),
    FIELD("processes_read", COUNT, read, "processes that were checked", .title = "CHECKED",
          .width = 9),
    FIELD("processes", COUNT, processes, "processes of the node", .width = 9),
};
FIELD_TABLE(old_code_fields, old_code, "id name module has_old_code count processes_read processes",
            "id module has_old_code pid name count processes_read processes");
#undef ROW

#define ROW struct table_keys_row
static const struct field table_keys[] = {
    FIELD("key", TEXT, key, "a key of the table, as Erlang writes it, up to 300 bytes", .width = 60,
          .grows = true),
};
FIELD_TABLE(table_keys_fields, table_keys, NULL, NULL);
#undef ROW

#define ROW struct mnesia_row
static const struct field mnesia[] = {
    FIELD("version", TEXT, version, "of Mnesia", .width = 8),
    FIELD("status", TEXT, status, "running, starting, stopping"),
    FIELD("running_nodes", COUNT, running_nodes, "nodes that it runs on, as this one sees it",
          .title = "RUNS ON"),
    FIELD("schema_nodes", COUNT, schema_nodes, "nodes of its schema", .title = "OF NODES"),
    FIELD("down_nodes", TEXT, down_nodes,
          "nodes of its schema on which it does not run: stopped, or cut off", .title = "DOWN"),
    FIELD("cut_nodes", TEXT, cut_nodes,
          "those of them that the node is connected to: its network was cut, or it was stopped "
          "there",
          .title = "DOWN, CONNECTED", .later = true),
    FIELD("cut_s", SECONDS, cut_s, "for how long beamtop has seen these, at every answer",
          .title = "FOR", .lasts = "cut_nodes"),
    FIELD("held_locks", COUNT, held_locks, "locks that transactions hold", .title = "LOCKS"),
    FIELD("waiting_locks", COUNT, waiting_locks, "locks that transactions wait for",
          .title = "WAITING"),
    FIELD("transaction_locks", COUNT, transaction_locks,
          "locks and requests as transactions have them", .title = "OF TRANSACTIONS"),
    FIELD("commits", COUNT, commits, "transactions committed since its start"),
    FIELD("commits_per_s", RATE, commits_per_s, "commits per second", .title = "COMMIT/s",
          .rate_of = "commits"),
    FIELD("failures", COUNT, failures, "transactions that failed or were aborted"),
    FIELD("failures_per_s", RATE, failures_per_s, "failures per second", .title = "FAIL/s",
          .rate_of = "failures"),
    FIELD("restarts", COUNT, restarts,
          "transactions that began again, since a lock was not to be had"),
    FIELD("restarts_per_s", RATE, restarts_per_s, "restarts per second", .title = "RESTART/s",
          .rate_of = "restarts"),
    FIELD("log_writes", COUNT, log_writes, "writes to its log"),
    FIELD("log_writes_per_s", RATE, log_writes_per_s, "writes per second", .title = "LOG/s",
          .rate_of = "log_writes"),
    FIELD("log_writes_left", COUNT, log_writes_left, "writes until it dumps its log",
          .title = "TO DUMP"),
};
FIELD_TABLE(
    mnesia_fields, mnesia,
    "version status running_nodes schema_nodes held_locks waiting_locks commits_per_s "
    "failures_per_s restarts_per_s log_writes_per_s log_writes_left down_nodes cut_nodes",
    "version status running_nodes schema_nodes down_nodes cut_nodes held_locks waiting_locks "
    "transaction_locks commits failures restarts log_writes log_writes_left");
#undef ROW

#define ROW struct raft_row
static const struct field raft[] = {
    FIELD("group", TEXT, group, "name of the group (ra: cluster), as Erlang writes it",
          .look = LOOK_NAME, .width = 30, .grows = true),
    FIELD("leader_node", TEXT, leader_node, "node of the leader, as this one knows it; or none",
          .title = "LEADER", .width = 24),
    FIELD("leader_s", SECONDS, leader_s, "for how long beamtop has seen that, at every answer",
          .title = "FOR", .width = 8, .lasts = "leader_node"),
    FIELD("server", TEXT, server, "name of the group's process on this node; null: none here",
          .width = 20),
    FIELD("state", TEXT, state, "of that process: leader, follower, candidate …", .width = 12),
    FIELD("membership", TEXT, membership, "voter, promotable, non_voter; null: unknown",
          .width = 10),
    FIELD("members", COUNT, members, "of the group, as this node knows them", .width = 7),
    FIELD("nodes", TEXT, nodes, "nodes of the members", .width = 40),
};
FIELD_TABLE(raft_fields, raft, "group leader_node leader_s server state membership members nodes",
            "group leader_node server state membership members nodes");
#undef ROW

#define ROW struct holders_row
static const struct field holders[] = {
    FIELD("id", TEXT, id, "what its processes have in common", .title = "PROCESSES THAT ARE",
          .look = LOOK_ASIDE, .width = 30, .grows = true),
    FIELD("initial_call", TEXT, initial_call, "the function they were spawned with",
          .look = LOOK_FUNCTION, .width = 26, .grows = true),
    FIELD("application", TEXT, application, "of their group leader", .look = LOOK_ASIDE,
          .width = 14, .grows = true),
    FIELD("supervisor", TEXT, supervisor, "the nearest one above them", .look = LOOK_NAME,
          .width = 20, .grows = true),
    FIELD("label", TEXT, label, "their label", .look = LOOK_NAME, .width = 20, .grows = true),
    FIELD("function", TEXT, function, "their current function", .look = LOOK_FUNCTION, .width = 26,
          .grows = true),
    FIELD("processes", COUNT, processes, "how many they are", .title = "PROCS", .width = 8,
          .adds = true),
    FIELD("memory_bytes", BYTES, memory_bytes,
          "of these processes: heaps, message queues, links and monitors; refc binaries are beside "
          "it",
          .title = "MEMORY", .width = 9, .aged = true, .adds = true),
    FIELD("memory_older", BOOL, memory_older,
          "whether that of one of them was read some time ago: its message queue is long, it has "
          "many links or monitors, or it ran all the time"),
    FIELD("memory_age_s", SECONDS, memory_age_s,
          "how long ago that of the oldest was read; null: one never was"),
    FIELD("memory_growth_bytes", BYTES, memory_growth, "since the first look, in since_s",
          .title = "+MEMORY", .look = LOOK_CHANGE, .width = 10, .adds = true),
    FIELD("binary_bytes", BYTES, binary_bytes,
          "refc binaries that they refer to, also by small parts of them; one that several refer "
          "to counts for each",
          .title = "BINARIES", .width = 9, .adds = true),
    FIELD("message_queue_len", COUNT, message_queue_len, "messages in all their message queues",
          .title = "MSGQ", .look = LOOK_SHORT, .width = 7, .adds = true),
    FIELD("reductions_per_s", RATE, reductions_per_s,
          "per second, between two looks at each; null: nobody was looked at twice",
          .title = "RED/s", .width = 7, .adds = true),
    FIELD("largest_bytes", BYTES, largest_bytes,
          "memory and binaries of the one that has most of both", .title = "LARGEST", .width = 9,
          .leads = 3, .adds = true),
    FIELD("largest", PID, largest, "this process", .title = "PID",
          .known = offsetof(ROW, has_largest), .look = LOOK_PID, .width = 12),
    FIELD("largest_name", TEXT, largest_name, "its registered name, or its label", .title = "NAME",
          .look = LOOK_NAME, .width = 20, .grows = true),
    FIELD("since_s", SECONDS, since_s, "how long ago the first look was", .title = "SINCE",
          .width = 8),
    FIELD("binary_growth_bytes", BYTES, binary_growth, "since the first look, in since_s",
          .title = "+BINARIES", .look = LOOK_CHANGE, .width = 10, .adds = true),
    FIELD("binaries", COUNT, binaries, "references to refc binaries", .title = "REFC",
          .look = LOOK_SHORT, .width = 7, .adds = true),
    FIELD("heap_bytes", BYTES, heap_bytes, "their heaps and stacks", .title = "HEAP", .width = 9,
          .adds = true),
    FIELD("queue_growth", COUNT, queue_growth, "more messages since the first look",
          .title = "+MSGQ", .look = LOOK_CHANGE, .width = 8, .adds = true),
    FIELD("processes_growth", COUNT, processes_growth, "more processes since the first look",
          .title = "+PROCS", .look = LOOK_CHANGE, .width = 7, .adds = true),
    FIELD("links", COUNT, links, "their links", .look = LOOK_SHORT, .width = 7, .adds = true),
    FIELD("monitors", COUNT, monitors, "what they monitor", .look = LOOK_SHORT, .width = 8,
          .adds = true),
    FIELD("uncounted", COUNT, uncounted,
          "processes of which some number is unknown: they ran all the time, or have very much of "
          "something",
          .width = 9, .adds = true),
};
const struct field_list holders_fields = {
    .name = "rows",
    .fields = holders,
    .n = ARRAY_LEN(holders),
    .columns = "id processes memory_bytes memory_growth_bytes binary_bytes message_queue_len "
               "reductions_per_s largest_bytes largest largest_name binary_growth_bytes binaries",
    .wire = "id initial_call application supervisor label function processes memory_bytes "
            "binary_bytes message_queue_len heap_bytes binaries links monitors reductions_per_s "
            "processes_growth memory_growth_bytes binary_growth_bytes queue_growth uncounted "
            "largest_bytes largest largest_name since_s",
    .by = "initial_call",
    .row_bytes = sizeof(ROW)};
#undef ROW
