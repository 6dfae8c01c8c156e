/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "beamtop/model/column.h"
#include "beamtop/query/query.h"
#include "beamtop/recording/recorded_log.h"
#include "replay_runs.h"

struct replay {
    struct recording *recording;
    struct model *model;
    int64_t first;           /* the first tick whose answers are there */
    int64_t tick;            /* that is shown */
    int64_t last[QUESTIONS]; /* the ticks whose answers the model has */
    int64_t taking;          /* of the answers that the model is given, */
    question_mask wanted;    /* and of which questions */
    struct want_scan asked;  /* of the last scan recorded: what its rows have */
    struct error unread;     /* why that is not known */
    struct want_scan shown;
    struct filter *filter; /* NULL: none */
    struct recorded_position place;
    struct replay_runs *runs;
    struct recorded_log *trace; /* NULL: not shown */
    bool is_shown;
};

bool replay_is_file(const char *target)
{
    struct stat st;
    return target && stat(target, &st) == 0 && S_ISREG(st.st_mode);
}

static int take_asked(void *arg, const char *question, const uint8_t *term, size_t len,
                      const struct want_scan *asked, struct error *err)
{
    struct replay *r = arg;
    (void)term;
    (void)len;
    (void)err;
    if (asked && question_find(question) == QUESTION_SCAN)
        r->asked = *asked;
    return 0;
}

/* A damaged file is bad input, not a node's bad answer. */
static int as_input(struct error *err)
{
    if (err->code == ERR_FORMAT)
        err->code = ERR_USAGE;
    return (int)err->code;
}

int replay_open(struct replay **out, const char *path, struct model *model, struct error *err)
{
    struct recording *recording = NULL;
    if (recording_open(&recording, path, err) != 0)
        return as_input(err);
    struct replay *r = alloc_zero(1, sizeof *r);
    r->recording = recording;
    r->model = model;
    r->runs = replay_runs_new();
    model_set_link(model, LINK_LIVE, "");
    double interval_s = recording_info(recording)->interval_s;
    model_set_interval(model, &(struct interval_info){interval_s, interval_s, NAN, .why = ""});
    int64_t last = recording_last_answer(recording, question_name(QUESTION_SCAN), INT64_MAX);
    r->first = recording_first_answers(recording);
    r->first = r->first > 0 ? r->first : 1;
    if (recording_failed(recording, err) != 0) {
        replay_close(r);
        return as_input(err);
    }
    (void)recording_answers(recording, last, take_asked, r, &r->unread);
    recording_begin(recording);
    *out = r;
    return 0;
}

void replay_close(struct replay *r)
{
    if (!r)
        return;
    model_set_calls(r->model, NULL);
    model_set_samples(r->model, NULL);
    model_set_spans(r->model, NULL);
    model_set_events(r->model, NULL);
    model_set_trace(r->model, NULL);
    model_set_recorded(r->model, NULL);
    replay_runs_free(r->runs);
    recorded_log_free(r->trace);
    recording_close(r->recording);
    free(r);
}

const struct recording_info *replay_info(const struct replay *r)
{
    return recording_info(r->recording);
}

struct recording *replay_recording(struct replay *r)
{
    return r->recording;
}

static bool matches_filter(void *arg, const struct proc_row *row)
{
    return filter_match_row(arg, row);
}

static void show_again(struct replay *r)
{
    if (r->filter)
        filter_pass(r->filter);
    if (r->is_shown)
        model_show_recorded(r->model, &r->shown, r->filter ? matches_filter : NULL, r->filter);
}

void replay_show(struct replay *r, const struct want_scan *shown, struct filter *filter)
{
    r->is_shown = true;
    r->shown = *shown;
    r->filter = filter;
    show_again(r);
}

void replay_show_traces(struct replay *r)
{
    if (!r->trace)
        r->trace = recorded_log_new();
}

bool replay_has_items(const struct replay *r, uint32_t items)
{
    return (items & ~r->asked.items) == 0;
}

static int check_scan(const struct replay *r, const struct want_scan *want, struct error *err)
{
    const struct field *sort = proc_column_find(want->sort_key ? want->sort_key : "");
    if (r->unread.code != ERR_NONE) {
        *err = r->unread;
        return as_input(err);
    }
    if (want->own && !r->asked.own)
        return error_set(err, ERR_NOT_FOUND, "beamtop's own processes: not recorded");
    if (sort && !replay_has_items(r, sort->items))
        return error_set(err, ERR_NOT_FOUND,
                         "%s: not recorded, so nothing can be ranked by it; it "
                         "was ranked by %s",
                         sort->key, r->asked.sort_key ? r->asked.sort_key : "nothing");
    return 0;
}

int replay_check(struct replay *r, const struct want *want, struct error *err)
{
    recording_begin(r->recording);
    for (unsigned q = 0; q < QUESTIONS; q++)
        if ((want->needs & QUESTION_BIT(q)) && question_rows[q].what &&
            !(question_rows[q].beside && want->needs & QUESTION_BIT(question_rows[q].beside)) &&
            !recording_has(r->recording, question_name((enum question)q)))
            return replay_failed(r, err) != 0
                       ? (int)err->code
                       : error_set(err, ERR_NOT_FOUND,
                                   "%s: not recorded; the node was not asked, or did not "
                                   "answer in that time",
                                   question_rows[q].what);
    return want->needs & NEED(SCAN) ? check_scan(r, &want->scan, err) : 0;
}

/* ---- ticks */

static int take_recorded(void *arg, const char *question, const uint8_t *term, size_t len,
                         const struct want_scan *asked, struct error *err)
{
    struct replay *r = arg;
    enum question q = question_find(question);
    /* How long a process is known is measured by the node's clock. */
    uint64_t now_ns =
        (uint64_t)recording_tick_mono_ns(r->recording, r->taking) ^ (UINT64_C(1) << 63);
    if (q == QUESTIONS || (q == QUESTION_SCAN && !asked) || !(QUESTION_BIT(q) & r->wanted))
        return 0; /* another's, or of a later program */
    r->last[q] = r->taking;
    int rc = model_take_recorded(r->model, q, term, len, asked, now_ns, err);
    if (rc == 0 && q == QUESTION_SCAN)
        show_again(r);
    return rc;
}

/* Gives the model a tick's answers to these questions. */
static int take_answers(struct replay *r, int64_t tick, question_mask questions, struct error *err)
{
    r->taking = tick;
    r->wanted = questions;
    return recording_answers(r->recording, tick, take_recorded, r, err);
}

/* The last answers before a tick to questions that not every tick asks: the node, allocators. */
static int show_last(struct replay *r, int64_t tick, struct error *err)
{
    question_mask questions = question_kept(KEPT_LAST);
    int rc = 0;
    for (unsigned q = 0; rc == 0 && q < QUESTIONS; q++) {
        if (!(questions & QUESTION_BIT(q)))
            continue;
        int64_t last = recording_last_answer(r->recording, question_name((enum question)q), tick);
        if (last != 0 && (last != r->last[q] || !model_answer(r->model, (enum question)q)))
            rc = take_answers(r, last, QUESTION_BIT(q), err);
    }
    return rc;
}

static int show_tick(struct replay *r, int64_t tick, struct error *err)
{
    if (recording_gap_before(r->recording, tick))
        model_gap(r->model);
    r->tick = tick;
    int rc = show_last(r, tick, err);
    return rc != 0 ? rc : take_answers(r, tick, question_kept(KEPT_TICK), err);
}

/* How many of them are at or before that tick. */
static size_t marks_until(const struct recording_mark *marks, size_t n, int64_t tick)
{
    size_t low = 0;
    while (low < n) {
        size_t middle = low + (n - low) / 2;
        if (marks[middle].tick <= tick)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

static void report_position(struct replay *r)
{
    const struct recording_info *info = replay_info(r);
    const struct recording_mark *marks;
    struct recorded_position *p = &r->place;
    p->tick = r->tick;
    p->ticks = info->ticks;
    p->wall_us = recording_tick_wall_us(r->recording, r->tick);
    p->first_us = info->first_us;
    p->last_us = info->last_us;
    p->gap = recording_gap_before(r->recording, r->tick);
    p->at_end = recording_tick_after(r->recording, r->tick) == 0;
    p->mark[0] = '\0';
    size_t all = recording_marks(r->recording, &marks), n = marks_until(marks, all, r->tick);
    if (n > 0)
        snprintf(p->mark, sizeof p->mark, "%s", marks[n - 1].text);
    model_set_recorded(r->model, p);
}

void replay_set_speed(struct replay *r, double speed)
{
    r->place.speed = speed;
    model_set_recorded(r->model, &r->place);
}

static int show_all(struct replay *r, int64_t tick, struct error *err)
{
    int64_t before = recording_tick_before(r->recording, tick);
    int rc = 0;
    if (r->tick != before && before >= r->first) {
        model_gap(r->model);
        rc = show_tick(r, before, err);
    }
    if (rc == 0)
        rc = show_tick(r, tick, err);
    replay_runs_show(r->runs, r->recording, r->tick, r->model);
    if (rc == 0 && r->trace)
        rc = recorded_log_to(r->trace, r->recording, r->tick, err);
    model_set_trace(r->model, r->trace ? recorded_log_trace(r->trace) : NULL);
    return rc == 0 ? recording_failed(r->recording, err) : rc;
}

int replay_to(struct replay *r, int64_t tick, struct error *err)
{
    if (tick == r->tick)
        return 0;
    recording_begin(r->recording);
    (void)show_all(r, tick, err);
    r->tick = tick;                /* however much of it there is */
    recording_begin(r->recording); /* the position is reported whatever the tick lacks */
    report_position(r);
    (void)recording_failed(r->recording, err);
    return as_input(err);
}

int64_t replay_first(const struct replay *r)
{
    return r->first;
}

int64_t replay_tick(const struct replay *r)
{
    return r->tick;
}

int64_t replay_next(struct replay *r)
{
    recording_begin(r->recording);
    return recording_tick_after(r->recording, r->tick);
}

int replay_failed(struct replay *r, struct error *err)
{
    (void)recording_failed(r->recording, err);
    return as_input(err);
}

/* ---- a moment in words */

/* The mark of that text, else the first that begins so. */
static int find_mark(struct replay *r, const char *text, int64_t *wall_us)
{
    const struct recording_mark *marks, *found = NULL;
    size_t len = strlen(text), n = len > 0 ? recording_marks(r->recording, &marks) : 0;
    for (size_t i = 0; i < n; i++) {
        bool whole = strcmp(marks[i].text, text) == 0;
        if (whole || (!found && strncmp(marks[i].text, text, len) == 0))
            found = &marks[i];
        if (whole)
            break;
    }
    if (found)
        *wall_us = found->wall_us;
    return found ? 0 : -1;
}

/* "12:30" is of the day on which the recording starts, or the next when that is before
 * its start. */
static int find_clock(const struct recording_info *info, const char *text, int64_t *wall_us)
{
    struct tm tm;
    time_t start = (time_t)(info->first_us / 1000000);
    const char *end;
    if (!gmtime_r(&start, &tm))
        return -1;
    tm.tm_sec = 0;
    struct tm day = tm; /* what it does not take leaves traces in its argument */
    bool dated = (end = strptime(text, "%Y-%m-%d %H:%M", &day)) != NULL;
    if (dated)
        tm = day;
    if (!dated && !(end = strptime(text, "%H:%M", &tm)))
        return -1;
    if (*end == ':' && !(end = strptime(end, ":%S", &tm)))
        return -1;
    if (*end && strcmp(end, "Z") != 0)
        return -1;
    *wall_us = (int64_t)timegm(&tm) * 1000000 + 999999;
    if (!dated && *wall_us < info->first_us)
        *wall_us += INT64_C(86400) * 1000000;
    return 0;
}

/* The next mark that is at another tick than the one shown; 0: none. */
static int64_t find_beside(struct replay *r, bool forward)
{
    const struct recording_mark *marks;
    size_t n = recording_marks(r->recording, &marks);
    int64_t found = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t at = marks[i].tick > 0 ? marks[i].tick : 1;
        if (forward && at > r->tick)
            return at;
        if (!forward && at < r->tick)
            found = at;
    }
    return found;
}

static int64_t tick_inside(const struct replay *r, int64_t tick)
{
    int64_t last = recording_info(r->recording)->ticks;
    return tick < r->first ? r->first : tick > last ? last : tick;
}

/* From the tick that is shown. 1: it was none of these forms. */
static int find_from_here(struct replay *r, const char *when, int64_t *tick, struct error *err)
{
    bool forward = *when == '+';
    double seconds = 0;
    char *end = NULL;
    if ((!forward && *when != '-') || when[1] == '\0')
        return 1;
    if (strcmp(when + 1, "mark") == 0) {
        *tick = find_beside(r, forward);
        return *tick > 0 ? 0
                         : error_set(err, ERR_USAGE, "there is no mark %s this tick",
                                     forward ? "after" : "before");
    }
    if (when[1] == '#') {
        int64_t n = strtoll(when + 2, &end, 10);
        if (*end != '\0' || end == when + 2 || n < 0 || n > LIMIT_RECORDING_TICKS)
            return 1;
        *tick = tick_inside(r, r->tick + (forward ? n : -n));
        /* Thinning leaves holes. */
        if (recording_tick_wall_us(r->recording, *tick) < 0)
            *tick = forward ? recording_tick_after(r->recording, r->tick)
                            : recording_tick_before(r->recording, r->tick);
        *tick = *tick > 0 ? *tick : r->tick;
        return 0;
    }
    if (text_parse_duration(when + 1, &seconds) != 0)
        return 1;
    int64_t here_us = recording_tick_wall_us(r->recording, r->tick);
    *tick =
        recording_tick_at(r->recording, here_us + (int64_t)((forward ? seconds : -seconds) * 1e6));
    *tick = tick_inside(r, *tick);
    return 0;
}

static int find_tick(struct replay *r, const char *when, int64_t *tick, struct error *err)
{
    const struct recording_info *info = replay_info(r);
    int64_t wall_us = -1;
    double seconds = 0;
    char *end = NULL;
    int from_here = find_from_here(r, when, tick, err);
    if (from_here <= 0)
        return from_here;
    if (*when == '#') {
        *tick = strtoll(when + 1, &end, 10);
        if (*end == '\0' && recording_tick_wall_us(r->recording, *tick) >= 0)
            return 0;
        return error_set(err, ERR_USAGE, "no tick %s: the recording has 1 to %lld", when,
                         (long long)info->ticks);
    }
    if (find_mark(r, when, &wall_us) != 0 && find_clock(info, when, &wall_us) != 0) {
        if (text_parse_duration(when, &seconds) != 0)
            return error_set(err, ERR_USAGE, "this recording has no time, mark or #TICK “%s”",
                             when);
        wall_us = info->first_us + (int64_t)(seconds * 1e6);
    }
    *tick = recording_tick_at(r->recording, wall_us);
    if (*tick == 0)
        return error_set(err, ERR_USAGE, "“%s” is before the recording", when);
    return 0;
}

int replay_find(struct replay *r, const char *when, int64_t *tick, struct error *err)
{
    recording_begin(r->recording);
    int rc = find_tick(r, when, tick, err);
    if (recording_failed(r->recording, err) != 0)
        return as_input(err);
    if (rc == 0 && *tick < r->first)
        return error_set(err, ERR_NOT_FOUND,
                         "tick %lld cannot be replayed: thinned to save space. Complete "
                         "from tick %lld",
                         (long long)*tick, (long long)r->first);
    return rc;
}
