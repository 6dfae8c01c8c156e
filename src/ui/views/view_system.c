/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/model/fields.h"
#include "ui/widgets/rows.h"
#include "views.h"

/* The node has them in order: limits first. */
static const struct rows_of system_rows[] = {{.fields = &vm_fields, .sort = ""}};

/* From where the header marks a number, too. */
#define WARN_SHARE 0.8
#define ALARM_SHARE 0.95

/* Of a limit that stops the VM: not of what is used by design. */
static bool is_limit(const struct vm_row *r)
{
    return slice_is(r->section, "limits") || slice_is(r->id, "cgroup.memory");
}

static void about_row(const struct rows *rows, struct view_page *page, struct view_row *row,
                      const void *of)
{
    const struct vm_row *r = of;
    struct text_span *share = rows_cell(rows, row, "share");
    const double part =
        r->limit_number > 0 ? (double)r->number / (double)r->limit_number : (double)NAN;
    (void)page;
    if (share && is_limit(r) && part >= WARN_SHARE)
        share->style = part >= ALARM_SHARE ? STYLE_ALARM : STYLE_WARN;
}

static void system_page(void *state, const struct model *m, struct view_page *page)
{
    (void)rows_of_table(state, page, m, QUESTION_VM, about_row);
}

static const struct view_hint system_hints[] = {{.does = NULL}};

const struct view_ops view_system = {
    .name = "system",
    .title = "System",
    .help = "Versions, settings, start arguments, limits with use, and the cgroup of the VM.",
    .kind = VIEW_TABLE,
    .state_bytes = sizeof(struct rows),
    .rows = system_rows,
    .n_rows = ARRAY_LEN(system_rows),
    .needs = NEED(VM),
    .hints = system_hints,
    .page = system_page,
    .sort = rows_sort,
};
