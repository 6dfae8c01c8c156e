/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Settings and limits of the VM. */
#include <math.h>

#include "beamtop/model/fields.h"

static double share_of(const void *of)
{
    const struct vm_row *row = of;
    return row->number >= 0 && row->limit_number > 0
               ? (double)row->number / (double)row->limit_number
               : (double)NAN;
}

#define ROW struct vm_row
static const struct field vm[] = {
    FIELD("id", TEXT, id, "section and item; of flags and arguments with their place"),
    FIELD("section", TEXT, section,
          "limits, cgroup, os (the OS process), versions, emulator, time, flags (of the emulator), "
          "arguments, applications",
          .look = LOOK_ASIDE, .width = 12),
    FIELD("item", TEXT, item, "what it is", .width = 20),
    FIELD("value", TEXT, value, "as people read it; null: unknown, and note says why", .width = 14,
          .grows = true),
    FIELD("limit", TEXT, limit, "as people read it; null: none, or unknown", .width = 9),
    FIELD_MADE("share", SHARE, share_of, "the value's share of the limit, 0 to 1", .width = 6),
    FIELD("number", COUNT, number, "the value, where it is a number"),
    FIELD("limit_number", COUNT, limit_number, "the limit as a number"),
    FIELD("unit", TEXT, unit, "of both numbers: bytes or s; null: a count"),
    FIELD("note", TEXT, note, "why it is unknown, or what it is of", .look = LOOK_ASIDE,
          .width = 20, .grows = true),
};
FIELD_TABLE(vm_fields, vm, "section item value limit share note",
            "id section item value limit number limit_number unit note");
#undef ROW
