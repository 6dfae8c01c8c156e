/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A node may answer with any number. Each number of each answer that a recording keeps is as large
 * and as small as can be, at ticks that follow each other: the model, the recorder, reports and
 * replay take it. What overflows is found by the sanitizer. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../test.h"
#include "../../temporary.h"
#include "read_file.h"
#include "run_bounded.h"

enum { ALL_PLACES = 1000, ALL_ANSWERS = 1000 };

static const struct {
    const char *question;
    enum answer_kind kind;
    const char *text;
    /* clang-format off */
} kept[] = {
    {"node", ANSWER_NODE, NODE_ANSWER},
    {"system", ANSWER_SYSTEM,
     "{system, -576460100000000000, 1700000100000000, 5000, {1000, 600, 500, 400, 50, 40, 30, 20, "
     "10}, "
     "{41, 2, 9000, 12}, {3, [2,1,4,5]}, {1000, 10, 20, 30, 40, 50, 700}, "
     "[{1,10,100},{2,0,100},{3,0,100},"
     "{4,0,100},{5,0,100},{6,0,100}], {2048, 4096}}"},
    {"scan", ANSWER_SCAN,
     "{scan, -576460100000000000, 1000000000, 1234, 50, 50, 2, "
     "[{<0.41.0>, 9000, 500, {{shop_cart, {shop_cart,init,1}, <<\"cart\">>, shop, "
                                                                       "{proc_lib,init_p,5}}, "
     "9000, 3, 4096, {gen_server,loop,7}}}, {<0.42.1>, 8000, 300, {{undefined, "
     "{shop_api,handle,2}, "
     "undefined, undefined, {erlang,apply,2}}, 8000, 0, 2048, undefined}}], []}"},
    {"alloc", ANSWER_ALLOC,
     "{alloc, 5, [{eheap_alloc, 3, {10, 600, 2, 1000}, {1, 300, 1, 400}, {1, 600, 100}},"
     "{sys_alloc, 1, {0,0,0,0}, {0,0,0,0}, {0,0,0}}], {70, 100}}"},
    {"apps", ANSWER_APPS,
     "{apps, 1000000000, [{shop, <<\"A shop\">>, <<\"x\">>, 5, 4096, 1000, 7},"
     "{undefined, <<>>, <<>>, 3, 100, 50, 0}], false}"},
};
/* clang-format on */

#define MOST "9223372036854775807"
#define LEAST "-9223372036854775808"

/* What stands at that place at each tick; NULL: what the answer has. */
static const char *const numbers[] = {NULL, "1.7e308", "-1.7e308", NULL,  "0",
                                      MOST, LEAST,     MOST,       LEAST, NULL};

/* The n-th number of the text, as [from, to); false: it has fewer. Strings and pids have none. */
static bool find_number(const char *text, size_t n, size_t *from, size_t *to)
{
    for (size_t i = 0; text[i]; i++) {
        if (text[i] == '<') {
            i += strcspn(text + i, ">");
            continue;
        }
        bool begins = strchr(" {[,", i > 0 ? text[i - 1] : ' ') && strchr("-0123456789", text[i]);
        if (!begins || n-- > 0)
            continue;
        *from = i;
        *to = i + 1 + strspn(text + i + 1, "0123456789");
        return true;
    }
    return false;
}

static void take(struct recorder *r, struct model *m, size_t which, const char *text)
{
    struct error err = {0};
    struct term t = term_of(text);
    if (give_bytes(m, kept[which].kind, t.bytes, t.len, &scan_want, 0, &err) >= 0)
        recorder_answer(r, kept[which].question, t.bytes + 1, t.len - 1,
                        kept[which].kind == ANSWER_SCAN ? &scan_want : NULL);
    term_free(&t);
}

/* All answers of a tick, with another number in one of them, or at that place of each. The clocks
 * go on elsewhere. */
static void take_all(struct recorder *r, struct model *m, size_t tick, size_t which, size_t place)
{
    for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
        char text[4096], clock[32];
        size_t from = 0, to = 0;
        const char *number = i == which || which == ALL_ANSWERS ? numbers[tick] : NULL;
        snprintf(text, sizeof text, "%s", kept[i].text);
        char *mono = strstr(text, "-576460100");
        snprintf(clock, sizeof clock, "-57646010%d", 9 - (int)tick);
        if (mono)
            memcpy(mono, clock, strlen(clock));
        for (size_t at = 0; number && find_number(text, at, &from, &to); at++) {
            char rest[2048];
            bool is_clock = at == 0 && mono;
            if (at != place && (place != ALL_PLACES || is_clock))
                continue;
            snprintf(rest, sizeof rest, "%s", text + to);
            snprintf(text + from, sizeof text - from, "%s%s", number, rest);
        }
        take(r, m, i, text);
    }
}

static void record(const char *path, size_t which, size_t place)
{
    const struct recorder_options options = {.node = "mq1@host", .interval_s = 1};
    struct error err = {0};
    struct recorder *r = NULL;
    struct model *m = model_new();
    if (recorder_open(&r, path, &options, &err) != 0)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        take_all(r, m, i, which, place);
        assert_int_equal(recorder_tick(r, m, 1700000000000000LL + (int64_t)i * 1000000LL, &err), 0);
    }
    assert_int_equal(recorder_close(r, "stopped", &err), 0);
    model_free(m);
}

/* One answer does not hide what is in another: of each the same place at once. */
TEST(test_extreme_numbers)
{
    char dir[64], path[96];
    size_t places = 0, n = 0, from, to;
    assert_true(temporary_dir(dir, sizeof dir, "extreme"));
    snprintf(path, sizeof path, "%s/a.btr", dir);
    for (size_t which = 0; which < ARRAY_LEN(kept); which++) {
        size_t here = 0;
        while (find_number(kept[which].text, here, &from, &to))
            here++;
        n += here;
        places = here > places ? here : places;
    }
    assert_true(n > 80);
    for (size_t place = 0; place < places; place++) {
        record(path, ALL_ANSWERS, place);
        assert_true(read_file(path, ALL_WAYS, place));
        unlink(path);
    }
    assert_int_equal(rmdir(dir), 0);
}

/* clang-format off */
static const char *const shown[][5] = {
    {"capture", "--view", "top"}, {"capture", "--view", "memory"}, {"capture", "--view",
     "schedulers"},
    {"capture", "--view", "apps"}, {"top", "-n", "0"}, {"memory", "--format", "json"}, {"report"},
};
/* clang-format on */

/* All numbers of an answer at once, drawn. */
TEST(test_extreme_numbers_are_drawn)
{
    char dir[64], path[96];
    assert_true(temporary_dir(dir, sizeof dir, "extreme"));
    snprintf(path, sizeof path, "%s/a.btr", dir);
    for (size_t which = 1; which < ARRAY_LEN(kept); which++) {
        record(path, which, ALL_PLACES);
        for (size_t i = 0; i < ARRAY_LEN(shown); i++)
            run_bounded(path, shown[i], kept[which].question);
        unlink(path);
    }
    assert_int_equal(rmdir(dir), 0);
}
