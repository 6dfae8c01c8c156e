/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Thresholds of `beamtop diff --fail-on`. A limit without its data fails: no check passes
 * unseen. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/text.h"
#include "beamtop/output/number.h"
#include "summary_internal.h"

enum limit_kind { LIMIT_NUMBER, LIMIT_OWNER, LIMIT_SEVERITY, LIMIT_RULE };

struct summary_limit {
    enum limit_kind kind;
    char *text; /* as it was typed */
    char *key;  /* of `system`, the owner's name, the rule */
    enum stat stat;
    const char *by; /* of an owner */
    enum finding_severity severity;
    char op;      /* '>', '<': only B; '+', '-': B against A */
    double value; /* of '+' and '-' a fraction */
};

static const char *const stat_names[STATS] = {"mean", "p95", "max"};

static int fail_limit(struct summary_limit *l, struct error *err, const char *why)
{
    error_set(err, ERR_USAGE,
              "--fail-on: “%s”: %s; it is a number's key with >VALUE, <VALUE, +PERCENT%% or "
              "-PERCENT%%, module:NAME (application:, supervisor:, name:, label:) with the same, "
              "finding:fix, finding:check, or finding:RULE",
              l->text, why);
    summary_limit_free(l);
    return (int)err->code;
}

void summary_limit_free(struct summary_limit *l)
{
    if (!l)
        return;
    free(l->text);
    free(l->key);
    free(l);
}

static bool parse_value(const char *s, double *out)
{
    char *end = NULL;
    double v = strtod(s, &end);
    if (end != s && strcmp(end, "%") == 0) {
        *out = v / 100;
        return isfinite(v);
    }
    if (end != s && *end == '\0') {
        *out = v;
        return isfinite(v);
    }
    return text_parse_bytes(s, out) == 0;
}

/* The last operator that a value follows: names may have such characters, values do not. */
static bool split_limit(struct summary_limit *l)
{
    for (size_t at = strlen(l->text); at-- > 1;) {
        const char *value = l->text + at + 1;
        if (!strchr("<>+-", l->text[at]) || !parse_value(value, &l->value))
            continue;
        bool relative = l->text[at] == '+' || l->text[at] == '-';
        if (relative && value[strlen(value) - 1] != '%')
            continue;
        l->op = l->text[at];
        l->key = alloc_strndup(l->text, at);
        return true;
    }
    return false;
}

static bool parse_owner(struct summary_limit *l)
{
    const char *colon = strchr(l->key, ':');
    for (int i = 0; colon && i < OWNER_SORTS; i++) {
        size_t len = strlen(owner_sort_keys[i]);
        if ((size_t)(colon - l->key) != len || memcmp(l->key, owner_sort_keys[i], len) != 0)
            continue;
        if (colon[1] == '\0')
            return false;
        char *name = alloc_strdup(colon + 1);
        free(l->key);
        l->key = name;
        l->by = owner_sort_keys[i];
        l->kind = LIMIT_OWNER;
        return true;
    }
    return false;
}

static bool parse_number(struct summary_limit *l)
{
    char *dot = strrchr(l->key, '.');
    for (int i = 0; dot && i < STATS; i++) {
        if (strcmp(dot + 1, stat_names[i]) != 0)
            continue;
        l->stat = (enum stat)i;
        *dot = '\0';
        break;
    }
    l->kind = LIMIT_NUMBER;
    return number_find(l->key, strlen(l->key)) != NULL;
}

static bool parse_finding(struct summary_limit *l, const char *what)
{
    l->key = alloc_strdup(what);
    l->kind = LIMIT_SEVERITY;
    if (finding_severity_find(what, &l->severity) && l->severity != FINDING_NOTE)
        return true;
    l->kind = LIMIT_RULE;
    for (size_t i = 0; rule_list[i]; i++)
        if (strcmp(rule_list[i]->key, what) == 0)
            return true;
    return false;
}

int summary_limit_parse(struct summary_limit **out, const char *text, struct error *err)
{
    struct summary_limit *l = alloc_zero(1, sizeof *l);
    l->text = alloc_strdup(text);
    if (strncmp(text, "finding:", 8) == 0) {
        if (!parse_finding(l, text + 8))
            return fail_limit(l, err, "there is no such rule");
    } else if (!split_limit(l)) {
        return fail_limit(l, err, "it has no value to compare with");
    } else if (!parse_owner(l) && !parse_number(l)) {
        return fail_limit(l, err, "a recording has no such number");
    }
    *out = l;
    return 0;
}

/* ---- judging */

static struct mean measure_number(const struct summary_limit *l, const struct summary_input *s)
{
    struct period_stats v;
    struct error ignored = {0};
    if (recording_stats(s->recording, l->key, s->from, s->to, &v, &ignored) != 0)
        return (struct mean){.value = NAN};
    return mean_of_stats(&v, l->stat);
}

static const struct period_owner *owner_named(const char *prefix, const char *name,
                                              const struct period_owner *owners, size_t n)
{
    size_t len = strlen(prefix);
    for (size_t i = 0; i < n; i++)
        if (slice_begins(owners[i].owner, prefix) &&
            slice_is((struct slice){owners[i].owner.s + len, owners[i].owner.len - len}, name))
            return &owners[i];
    return NULL;
}

/* Elixir's are found as Elixir writes them too: MyApp.Cart. NULL: there is none of that name. */
static const struct period_owner *find_owner(const struct summary_limit *l,
                                             const struct period_owner *owners, size_t n)
{
    const struct period_owner *found = owner_named("", l->key, owners, n);
    return found ? found : owner_named("Elixir.", l->key, owners, n);
}

static struct mean measure_share(const struct summary_limit *l, const struct summary_input *s)
{
    const struct period_owner *owners;
    struct period_stats ticks;
    struct error ignored = {0};
    (void)recording_stats(s->recording, "run_queue", s->from, s->to, &ticks, &ignored);
    size_t n = recording_owners(s->recording, l->by, s->from, s->to, &owners);
    return mean_of_share(find_owner(l, owners, n), n > 0, ticks.n);
}

static struct mean measure_limit(const struct summary_limit *l, const struct summary_input *s)
{
    return l->kind == LIMIT_OWNER ? measure_share(l, s) : measure_number(l, s);
}

static bool finding_fails(const struct summary_limit *l, const struct summary_input *b,
                          struct buf *why)
{
    struct findings f;
    struct error err = {0};
    bool fails = findings_evaluate(&f, b->recording, b->from, b->to, &err) != 0;
    if (fails)
        buf_printf(why, "%s: %s", l->text, err.text);
    for (size_t i = 0; i < f.len && !fails; i++) {
        fails = l->kind == LIMIT_RULE ? finding_has_rule(&f.items[i], l->key)
                                      : f.items[i].severity >= l->severity;
        if (fails)
            buf_printf(why, "%s: %s: %s", l->text, f.items[i].rule, f.items[i].title);
    }
    const char *lacks = l->kind == LIMIT_RULE ? findings_not_evaluated(&f, l->key) : NULL;
    if (lacks && !fails)
        buf_printf(why, "%s: not evaluated: %s", l->text, lacks);
    findings_clear(&f);
    return fails || lacks;
}

bool summary_limit_fails(const struct summary_limit *l, const struct summary_input *a,
                         const struct summary_input *b, struct buf *why)
{
    if (l->kind == LIMIT_SEVERITY || l->kind == LIMIT_RULE)
        return finding_fails(l, b, why);
    struct mean x = measure_limit(l, a), y = measure_limit(l, b);
    bool relative = l->op == '+' || l->op == '-';
    if (isnan(y.value) || (relative && isnan(x.value))) {
        buf_printf(why, "%s: unknown: not recorded", l->text);
        return true;
    }
    bool fails = l->op == '>' ? y.value > l->value : y.value < l->value;
    if (relative) {
        struct change c = change_of(x, y);
        bool noise = l->stat == STAT_MEAN && c.known && !c.real;
        fails =
            l->op == '+' ? y.value > x.value * (1 + l->value) : y.value < x.value * (1 - l->value);
        fails = fails && !noise;
    }
    if (fails && relative)
        buf_printf(why, "%s: %.6g after %.6g", l->text, y.value, x.value);
    else if (fails)
        buf_printf(why, "%s: %.6g", l->text, y.value);
    return fails;
}

static bool lacks_owner(const struct summary_limit *l, const struct summary_input *s)
{
    const struct period_owner *owners;
    size_t n = recording_owners(s->recording, l->by, s->from, s->to, &owners);
    return n > 0 && !find_owner(l, owners, n);
}

bool summary_limit_is_of_nobody(const struct summary_limit *l, const struct summary_input *a,
                                const struct summary_input *b, struct buf *why)
{
    if (l->kind != LIMIT_OWNER || !lacks_owner(l, a) || !lacks_owner(l, b))
        return false;
    buf_printf(why, "%s: neither recording has the %s %s: a share of 0", l->text, l->by, l->key);
    return true;
}
