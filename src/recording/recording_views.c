/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recording_views.h"

#include <stddef.h>

const struct recording_view recording_views[] = {
    {"system", NULL}, /* its columns are the keys that the file has */
    {"processes",
     "SELECT t.wall_us, p.pid, n.text AS name, a.text AS application, i.text AS initial_call,"
     " l.text AS label, c.text AS current_function, p.kind, p.reductions_per_s, p.share,"
     " p.memory_bytes, p.message_queue_len, p.message_queue_per_s FROM process p"
     " JOIN tick t ON t.id = p.tick LEFT JOIN text n ON n.id = p.name"
     " LEFT JOIN text a ON a.id = p.application LEFT JOIN text i ON i.id = p.initial_call"
     " LEFT JOIN text l ON l.id = p.label LEFT JOIN text c ON c.id = p.current_function"
     " ORDER BY p.tick, p.share DESC"},
    {"owners",
     "SELECT t.wall_us, o.by, n.text AS owner, o.kind, o.processes, o.reductions_per_s, o.share,"
     " o.memory_bytes, o.message_queue_len FROM owner o JOIN tick t ON t.id = o.tick"
     " LEFT JOIN text n ON n.id = o.owner ORDER BY o.tick, o.by, o.share DESC"},
    {"calls", "SELECT w.wall_us, w.id AS window, w.ns, m.text AS module, f.text AS function, "
              "c.arity, c.calls,"
              " c.share, c.own_us, c.words FROM call c JOIN call_window w ON w.id = c.window"
              " JOIN text m ON m.id = c.module JOIN text f ON f.id = c.function ORDER BY w.id, "
              "c.calls DESC"},
    {"samples",
     "SELECT r.wall_us, r.id AS run, r.at_yields, d.node AS id, d.parent, n.text AS function,"
     " f.kind, o.text AS object, s.text AS file, nullif(f.line, 0) AS line, d.samples"
     " FROM sample_run r JOIN sample_node d ON d.run = r.id LEFT JOIN sample_frame f"
     " ON f.id = d.frame LEFT JOIN text n ON n.id = f.name LEFT JOIN text o ON o.id = f.object"
     " LEFT JOIN text s ON s.id = f.file ORDER BY r.id, d.node"},
    {"span_events",
     "SELECT r.wall_us + e.ns / 1000 AS wall_us, e.run, e.ns, e.kind, '<0.' || p.number || '.' || "
     "p.serial || '>' AS process,"
     " coalesce(pg.text, pn.text) AS name, pd.text AS process_node, '<0.' || q.number || '.' || "
     "q.serial "
     "|| '>' AS peer,"
     " coalesce(qg.text, qn.text) AS peer_name, qd.text AS peer_node, '<0.' || l.number || '.' || "
     "l.serial || '>' AS root, e.serial,"
     " e.tag, e.class, e.words, t.text FROM span_event e JOIN span_run r ON r.id = e.run"
     " LEFT JOIN span_process p ON p.run = e.run AND p.process = e.process"
     " LEFT JOIN text pn ON pn.id = p.name LEFT JOIN text pg ON pg.id = p.given"
     " LEFT JOIN text pd ON pd.id = p.node"
     " LEFT JOIN span_process q ON q.run = e.run AND q.process = e.peer"
     " LEFT JOIN text qn ON qn.id = q.name LEFT JOIN text qg ON qg.id = q.given"
     " LEFT JOIN text qd ON qd.id = q.node"
     " LEFT JOIN span_process l ON l.run = e.run AND l.process = e.label"
     " LEFT JOIN text t ON t.id = e.text ORDER BY e.run, e.event"},
    {"events", /* what a term prints as is not in it: recording_export() has that too */
     "SELECT e.wall_us, e.trace, e.kind, e.number, p.text AS pattern, e.pid, n.text AS name,"
     " m.text AS mfa, c.text AS caller, e.latency_us, e.class, e.lost FROM event e"
     " LEFT JOIN text p ON p.id = e.pattern LEFT JOIN text n ON n.id = e.name"
     " LEFT JOIN text m ON m.id = e.mfa LEFT JOIN text c ON c.id = e.caller ORDER BY e.id"},
    {"marks", "SELECT coalesce(wall_us, here_us) AS wall_us, text FROM mark ORDER BY 1"},
    {NULL, NULL},
};
