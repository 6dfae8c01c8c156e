/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Allocators, their carriers and instances. */
#include "beamtop/model/fields.h"

#define ROW struct alloc_detail
static const struct field alloc[] = {
    FIELD("block_bytes", BYTES, block_bytes, "in use in all allocators", .title = "blocks"),
    FIELD("carrier_bytes", BYTES, carrier_bytes, "taken from the system by all allocators",
          .title = "carriers"),
    FIELD("utilisation", SHARE, utilisation, "`block_bytes` over `carrier_bytes`"),
    FIELD("mseg_hits", COUNT, mseg_hits, "segments served from the cache"),
    FIELD("mseg_calls", COUNT, mseg_calls, "segments asked for"),
    FIELD("rss_bytes", BYTES, rss_bytes,
          "resident memory of the VM when the allocators were read (Linux)", .title = "rss"),
    FIELD("anonymous_bytes", BYTES, anon_bytes, "of it, memory that is not of files (Linux)",
          .title = "anonymous"),
    FIELD("swap_bytes", BYTES, swap_bytes, "swapped out (Linux)", .title = "swapped"),
    FIELD("rss_peak_bytes", BYTES, hwm_bytes,
          "largest resident memory since the VM's start (Linux)", .title = "rss peak"),
    FIELD("fragmented_bytes", BYTES, fragmented_bytes,
          "`carrier_bytes` - `block_bytes`, at most `rss_bytes`: taken from the system and not in "
          "use",
          .title = "fragmented"),
    FIELD("fragmented_share", SHARE, fragmented_share, "`fragmented_bytes` over `rss_bytes`",
          .title = "of rss"),
    FIELD("outside_bytes", BYTES, outside_bytes,
          "`rss_bytes` beyond `carrier_bytes`: code of the VM, libraries, stacks of threads, NIFs",
          .title = "outside allocators"),
    FIELD("untouched_bytes", BYTES, untouched_bytes,
          "`carrier_bytes` beyond `rss_bytes`: pages of carriers that are not resident",
          .title = "untouched"),
};
FIELD_LIST(alloc_fields, "allocation", alloc);
#undef ROW

#define ROW struct allocator_row
static const struct field allocator[] = {
    FIELD("allocator", TEXT, name,
          "its name; blocks count for the allocator whose carrier they are in, also where all "
          "share a pool of carriers (OTP 23) and a block is another's"),
    FIELD("instances", COUNT, instances, "how many there are"),
    FIELD("mbcs_blocks", COUNT, mbcs.blocks, "blocks in multiblock carriers", .title = "BLOCKS"),
    FIELD("mbcs_block_bytes", BYTES, mbcs.block_bytes, "their bytes", .title = "IN USE"),
    FIELD("mbcs_carriers", COUNT, mbcs.carriers, "multiblock carriers", .title = "CARRIERS"),
    FIELD("mbcs_carrier_bytes", BYTES, mbcs.carrier_bytes, "their bytes", .title = "TAKEN"),
    FIELD("sbcs_blocks", COUNT, sbcs.blocks, "blocks in single-block carriers", .title = "SINGLE"),
    FIELD("sbcs_block_bytes", BYTES, sbcs.block_bytes, "their bytes", .title = "IN USE"),
    FIELD("sbcs_carriers", COUNT, sbcs.carriers, "single-block carriers", .title = "CARRIERS"),
    FIELD("sbcs_carrier_bytes", BYTES, sbcs.carrier_bytes, "their bytes", .title = "TAKEN"),
    FIELD("pool_carriers", COUNT, pool_carriers, "carriers abandoned to the pool", .title = "POOL"),
    FIELD("pool_carrier_bytes", BYTES, pool_carrier_bytes, "their bytes", .title = "POOL TAKEN"),
    FIELD("pool_block_bytes", BYTES, pool_block_bytes, "bytes in use in them",
          .title = "POOL IN USE"),
    FIELD("utilisation", SHARE, utilisation, "bytes in use over bytes taken, the pool included",
          .title = "UTIL"),
    FIELD("unused_bytes", BYTES, unused_bytes, "bytes taken and not in use", .title = "UNUSED"),
    FIELD("worst_instance", COUNT, worst_instance,
          "its instance with most unused bytes (0: of all threads, N: of scheduler N); null: not "
          "among the 100 of all allocators",
          .title = "WORST"),
    FIELD("worst_unused_bytes", BYTES, worst_unused_bytes, "unused bytes of that instance",
          .title = "ITS UNUSED"),
    FIELD("worst_utilisation", SHARE, worst_utilisation, "bytes in use over bytes taken in it",
          .title = "ITS USE"),
};
FIELD_LIST(allocator_fields, "rows", allocator);
#undef ROW

#define ROW struct allocator_instance
static const struct field instance[] = {
    FIELD("allocator", TEXT, name, "its name"),
    FIELD("instance", COUNT, instance, "0: of all threads, N: of scheduler N"),
    FIELD("blocks", COUNT, blocks, "blocks in its carriers"),
    FIELD("block_bytes", BYTES, block_bytes, "bytes in use in them", .title = "IN USE"),
    FIELD("carriers", COUNT, carriers, "its carriers, those in the pool too"),
    FIELD("carrier_bytes", BYTES, carrier_bytes, "their bytes", .title = "TAKEN"),
    FIELD("utilisation", SHARE, utilisation, "bytes in use over bytes taken", .title = "UTIL"),
    FIELD("unused_bytes", BYTES, unused_bytes, "bytes taken and not in use", .title = "UNUSED"),
};
FIELD_LIST(instance_fields, "instances", instance);
#undef ROW
