/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/model/finding.h"

#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"

static const char *const severities[][2] = {[FINDING_NOTE] = {"info", "note"},
                                            [FINDING_LOOK] = {"check", "look"},
                                            [FINDING_ACT] = {"fix", "act"}};

const char *finding_severity_word(enum finding_severity severity)
{
    return severities[severity][0];
}

const char *finding_severity_value(enum finding_severity severity)
{
    return severities[severity][1];
}

const char *finding_effort_word(enum finding_effort effort)
{
    static const char *const words[] = {[EFFORT_SETTING] = "config change",
                                        [EFFORT_SMALL] = "small code change",
                                        [EFFORT_LARGE] = "large change"};
    return words[effort];
}

bool finding_severity_find(const char *text, enum finding_severity *out)
{
    for (size_t i = 0; i < ARRAY_LEN(severities); i++) {
        if (strcmp(severities[i][0], text) != 0 && strcmp(severities[i][1], text) != 0)
            continue;
        *out = (enum finding_severity)i;
        return true;
    }
    return false;
}

uint64_t finding_identity(const struct finding *f)
{
    uint64_t id = text_identity(f->rule, strlen(f->rule)) * 31 +
                  text_identity(f->subject, strlen(f->subject));
    return id ? id : 1;
}

const struct finding *findings_find(const struct findings_shown *shown, uint64_t identity)
{
    for (size_t i = 0; shown && i < shown->found.len; i++)
        if (finding_identity(&shown->found.items[i]) == identity)
            return &shown->found.items[i];
    return NULL;
}

size_t findings_asking(const struct findings_shown *shown)
{
    size_t n = 0;
    for (size_t i = 0; shown && i < shown->found.len; i++)
        n += shown->found.items[i].severity != FINDING_NOTE;
    return n;
}
