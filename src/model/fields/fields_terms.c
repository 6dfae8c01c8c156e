/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Persistent terms, atoms, modules, timers. */
#include "beamtop/model/fields.h"

#define ROW struct terms_row
static const struct field terms[] = {
    FIELD("id", TEXT, id, "its kind and its name"),
    FIELD("kind", TEXT, kind, "persistent, atoms, modules or timers", .look = LOOK_ASIDE,
          .width = 10),
    FIELD("name", TEXT, name,
          "key of a persistent term, name of an atom or a module; \"others\": all of that kind "
          "without a row",
          .look = LOOK_NAME, .width = 30, .grows = true),
    FIELD("count", COUNT, count, "how many the row stands for", .width = 9, .adds = true),
    FIELD("count_per_s", RATE, count_per_s, "growth per second", .title = "COUNT/s",
          .look = LOOK_CHANGE, .width = 9, .rate_of = "count", .adds = true),
    FIELD("limit", COUNT, limit, "most that the node can have: of atoms", .width = 9, .adds = true),
    FIELD("memory_bytes", BYTES, memory_bytes,
          "memory, as the VM counts it: of all persistent terms, of all atoms, of the code of "
          "modules, of timers",
          .title = "MEMORY", .width = 9, .adds = true),
    FIELD("memory_bytes_per_s", BYTE_RATE, memory_per_s, "growth per second", .title = "MEM/s",
          .look = LOOK_CHANGE, .width = 10, .rate_of = "memory_bytes", .adds = true),
    FIELD("unshared_bytes", BYTES, unshared_bytes,
          "size of a persistent term's value if nothing in it were shared; null: not measured, or "
          "too large for it",
          .title = "UNSHARED", .width = 9, .adds = true),
    FIELD(
        "external_format", BOOL, is_external,
        "whether that is the size in the external term format: erts_debug, which knows the size in "
        "memory, is not loaded on the node",
        .title = "EXTERNAL", .width = 8),
    FIELD("old_bytes", BYTES, old_bytes, "size of a module's old code; 0: it has none",
          .title = "OLD CODE", .width = 9, .adds = true),
    FIELD("application", TEXT, application,
          "application of the module, or of the module that the key begins with",
          .look = LOOK_ASIDE, .width = 14),
};
FIELD_TABLE(
    terms_fields, terms,
    "name kind count count_per_s memory_bytes unshared_bytes old_bytes external_format application "
    "limit memory_bytes_per_s",
    "id kind name application count limit memory_bytes unshared_bytes "
    "external_format old_bytes");
#undef ROW
