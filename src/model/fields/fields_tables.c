/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of what a node has: ETS tables. */
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
    FIELD("type", TEXT, type, "set, ordered_set, bag or duplicate_bag", .width = 11),
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
