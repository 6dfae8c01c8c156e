/* The rules, one row each. The manual's list is made of this; docs/findings.md has their limits. */
#include "rules_internal.h"

#define OWNERS (NEEDS_SYSTEM | NEEDS_OWNERS)
#define PROCESSES (NEEDS_SYSTEM | NEEDS_PROCESSES)

const struct rule rule_rows[] = {
    {{"sync_logger", "The logger works in its callers' time",
      "Processes of the logger take a noticeable share of the node's reductions, and the handler "
      "makes callers wait.", "owners, facts"},
     OWNERS, judge_logger},
    {{"contention", "More is ready to run than there are schedulers",
      "The run queue is longer than the schedulers that are online, most of the time.",
      "system, facts"},
     NEEDS_SYSTEM | NEEDS_NODE, judge_contention},
    {{"headroom", "The schedulers have room: what is slow waits outside of the VM",
      "The run queue and the use of the schedulers are far below what the node can do.",
      "system, facts"},
     NEEDS_SYSTEM | NEEDS_NODE, judge_headroom},
    {{"one_scheduler", "One scheduler has the work, the others little",
      "Most of what is ready to run waits in a single scheduler's queue.", "system, facts"},
     NEEDS_SYSTEM | NEEDS_NODE, judge_one_scheduler},
    {{"mailbox_growth", "A mailbox grows",
      "Messages come faster than their process takes them, throughout the span.",
      "processes"},
     PROCESSES, judge_mailbox},
    {{"serialised", "One process serialises its callers",
      "A process always has messages waiting, and works as much as one process can.",
      "processes, facts"},
     PROCESSES | NEEDS_NODE, judge_serialised},
    {{"asleep", "A process hibernates while messages wait for it",
      "At one look after the other it hibernates with messages in its mailbox: it was not woken, or "
      "does not take them.", "processes, facts"},
     PROCESSES | NEEDS_NODE, judge_asleep},
    {{"memory_growth", "Memory grows in one type",
      "One type of memory grows steadily and makes most of the node's growth.", "system"},
     NEEDS_SYSTEM, judge_memory_growth},
    {{"binary_holders", "A few processes hold most of the shared binaries",
      "References of a few processes keep most of the bytes of shared binaries alive.", "facts"},
     NEEDS_SYSTEM, judge_binaries},
    {{"carriers", "Allocators hold much more than they use",
      "Carriers of an allocator are mostly empty: memory that the node cannot give back.", "facts"},
     NEEDS_SYSTEM, judge_carriers},
    {{"near_limit", "A table of the VM is nearly full",
      "Atoms, processes, ports or ETS tables are close to their limit.", "system, facts"},
     NEEDS_SYSTEM | NEEDS_NODE, judge_near_limit},
    {{"repository_lookup", "A lookup that looks like a registry is a database round trip",
      "A module with a hot get has the functions of an Ecto repository beside it.", "calls"},
     NEEDS_CALLS, judge_repository},
    {{"read_write", "How reads and writes of the data compare",
      "Calls that read repositories, ETS and Mnesia against those that write.", "calls"},
     NEEDS_CALLS, judge_read_write},
    {{"pipeline_overhead", "Calls of the pipeline for each operation",
      "How many calls of pipeline stages one operation on data costs, and whether that is worth "
      "anything.", "calls"},
     NEEDS_CALLS, judge_overhead},
    {{"hot_reads", "Data that hardly changes is read all the time",
      "A module's reads are among the hottest calls and its writes are rare.", "calls"},
     NEEDS_CALLS, judge_hot_reads},
    {{"dynamic_repo", "Repositories are switched in the hot path",
      "put_dynamic_repo is called often, for at least every fifth operation of the repository.",
      "calls"},
     NEEDS_CALLS, judge_dynamic_repo},
    {{"busy_distribution", "Connections to other nodes are busy",
      "Data for other nodes waits in the VM; past the busy limit senders are suspended.", "facts"},
     NEEDS_SYSTEM, judge_busy_distribution},
    {{"garbage", "Garbage collection takes much of the work",
      "Collections come every few thousand reductions, or reclaim much memory for the work done.",
      "system"},
     NEEDS_SYSTEM, judge_gc},
    {{"churn", "Processes come and go quickly",
      "Most processes among the busiest are seen once and never again.", "processes"},
     PROCESSES, judge_churn},
    {{"code_server", "The code server is in the hot path",
      "Missing modules are looked for again and again; in interactive mode each time on disk.",
      "owners, facts"},
     OWNERS, judge_code_server},
};
const size_t rule_rows_len = ARRAY_LEN(rule_rows);

_Static_assert(ARRAY_LEN(rule_rows) == 20, "rule_list names as many");
#define INFO(i) &rule_rows[i].info
const struct rule_info *const rule_list[] = {
    INFO(0),  INFO(1),  INFO(2),  INFO(3),  INFO(4),  INFO(5),  INFO(6),
    INFO(7),  INFO(8),  INFO(9),  INFO(10), INFO(11), INFO(12), INFO(13),
    INFO(14), INFO(15), INFO(16), INFO(17), INFO(18), INFO(19), NULL,
};
