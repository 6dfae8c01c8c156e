/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trees of causal spans, from events of real nodes and from made ones. */

#include "../../../test.h"
#include "beamtop/base/alloc.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/limits.h"
#include "beamtop/model/spans.h"
#include "beamtop/model/stacks.h"
#include "events.h"
#include "tree.h"

/* The same words; "~N" stands for a time from N - 1 to N + 15 ms. */
static bool same(const char *wanted, const char *got)
{
    while (*wanted != '\0' && *got != '\0') {
        if (*wanted != *got)
            return false;
        wanted++;
        if (*got++ != '~')
            continue;
        char *after_wanted, *after_got;
        double a = strtod(wanted, &after_wanted), b = strtod(got, &after_got);
        if (b < a - 1 || b > a + 15)
            return false;
        wanted = after_wanted;
        got = after_got;
    }
    return *wanted == *got;
}

/* ---- what holds for every result */

static void check_path(const struct spans *s, uint32_t root)
{
    size_t n;
    struct span_step *steps = spans_critical(s, root, &n);
    int64_t at = spans_at(s, root)->started_ns;
    for (size_t i = 0; i < n; i++) {
        assert_true(steps[i].from_ns == at && steps[i].to_ns > at);
        assert_int_equal(spans_at(s, steps[i].span)->root, root);
        at = steps[i].to_ns;
    }
    assert_true(at == spans_at(s, root)->ended_ns);
    free(steps);
}

static void check_all(const struct spans *s, bool full)
{
    for (uint32_t i = 0; i < spans_count(s); i++) {
        const struct span *span = spans_at(s, i);
        int64_t sum = span->self_ns + span->nested_ns + span->wait_ns;
        if (span->unattributed_ns >= 0)
            sum += span->unattributed_ns + span->off_cpu_ns;
        assert_true(span->ended_ns >= span->started_ns);
        assert_true(span->leaf || (span->self_ns >= 0 && span->wait_ns >= 0));
        assert_true(span->leaf || sum == span->ended_ns - span->started_ns);
        assert_true(full || (span->unattributed_ns == -1 && span->off_cpu_ns == -1));
        assert_true(span->span_id != 0 && span->trace_id[0] != 0);
        if (span->parent == SPAN_NONE) {
            assert_true(span->parent_span_id == 0 && span->root == i);
            check_path(s, i);
        } else {
            const struct span *parent = spans_at(s, span->parent);
            assert_true(span->parent < i && span->parent_span_id == parent->span_id);
            assert_true(span->depth == parent->depth + 1 && span->root == parent->root);
            assert_memory_equal(span->trace_id, parent->trace_id, sizeof span->trace_id);
        }
        for (uint32_t k = 0; k < span->n_waits; k++) {
            const struct span_wait *w = spans_wait(s, span->wait + k);
            assert_int_equal(w->span, i);
            assert_true(w->from_ns >= span->started_ns && w->to_ns <= span->ended_ns);
            assert_true(w->net_ns >= 0 && w->net_ns <= w->to_ns - w->from_ns);
        }
    }
    stacks_free(spans_stacks(s, SPAN_NONE, false));
}

static struct spans *new_spans(bool full)
{
    const struct spans_options options = {.full = full, .node = slice_of("n@h"), .capture = 7};
    return spans_new(&options);
}

/* ---- events of real nodes */

struct fixture {
    char *text, *lines[4096];
    size_t n;
};

static void read_fixture(struct fixture *f, const char *name)
{
    const char *top = getenv("BEAMTOP_SRCDIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/unit/model/spans/%s.txt", top ? top : ".", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    f->text = alloc_zero(1, 1 << 20);
    size_t len = fread(f->text, 1, (1 << 20) - 1, file);
    fclose(file);
    assert_true(len > 0 && len < (1 << 20) - 1);
    f->n = 0;
    char *rest = f->text;
    for (char *line; (line = strtok_r(rest, "\n", &rest));) {
        assert_true(f->n < ARRAY_LEN(f->lines));
        f->lines[f->n++] = line;
    }
}

/* The lines of a case, from *from up to before *to. */
static void find_case(const struct fixture *f, const char *name, size_t *from, size_t *to)
{
    char head[64];
    snprintf(head, sizeof head, "case %s", name);
    *from = 0;
    while (*from < f->n && strcmp(f->lines[*from], head) != 0)
        ++*from;
    assert_true(*from < f->n);
    for (*to = ++*from; *to < f->n && strncmp(f->lines[*to], "case ", 5) != 0;)
        ++*to;
}

static struct spans *build_case(const struct fixture *f, const char *name)
{
    bool full = strncmp(name, "full", 4) == 0;
    struct spans *s = new_spans(full);
    size_t from, to;
    find_case(f, name, &from, &to);
    for (size_t i = to; i-- > from;) /* in any order: here the last one first */
        event_feed(s, f->lines[i]);
    spans_build(s);
    check_all(s, full);
    return s;
}

static const char *const files[] = {"otp23", "otp25", "otp27", "otp29", "elixir"};

#include "expected.h"

TEST(test_real)
{
    struct fixture *f = alloc_zero(1, sizeof *f);
    unsigned wrong = 0;
    for (size_t r = 0; r < ARRAY_LEN(files); r++) {
        read_fixture(f, files[r]);
        for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
            if (expected[i].elixir != (strcmp(files[r], "elixir") == 0))
                continue;
            struct spans *s = build_case(f, expected[i].name);
            struct buf out;
            buf_init(&out, 0);
            tree_put_roots(&out, s);
            if (!same(expected[i].tree, buf_cstr(&out))) {
                print_message("%s %s: %s\n     wanted: %s\n", files[r], expected[i].name,
                              buf_cstr(&out), expected[i].tree);
                wrong++;
            }
            buf_clear(&out);
            spans_free(s);
        }
        free(f->text);
    }
    free(f);
    assert_int_equal(wrong, 0);
}

/* The events and names that come out make the same spans again. */
static void expect_given_back(const struct spans *s)
{
    struct spans *again = spans_new(spans_about(s));
    struct buf a, b;
    for (size_t i = 0; i < spans_events(s); i++) {
        struct span_event e;
        spans_event_at(s, i, &e);
        assert_true(spans_feed(again, &e));
    }
    for (uint32_t id = 0; id < spans_processes(s); id++) {
        struct slice given;
        const struct span_process p = spans_process_at(s, id, &given);
        if (given.len > 0)
            spans_name(again, &p, given);
    }
    const struct spans_dropped dropped = spans_dropped(s);
    spans_add_dropped(again, &dropped);
    spans_build(again);
    buf_init(&a, 0);
    buf_init(&b, 0);
    tree_put_roots(&a, s);
    tree_put_roots(&b, again);
    assert_string_equal(buf_cstr(&a), buf_cstr(&b));
    assert_int_equal(spans_count(s), spans_count(again));
    for (uint32_t i = 0; i < spans_count(s); i++)
        assert_int_equal(spans_at(s, i)->span_id, spans_at(again, i)->span_id);
    const struct spans_dropped same_dropped = spans_dropped(again);
    assert_memory_equal(&dropped, &same_dropped, sizeof dropped);
    buf_clear(&a);
    buf_clear(&b);
    spans_free(again);
}

TEST(test_given_back)
{
    struct fixture *f = alloc_zero(1, sizeof *f);
    for (size_t r = 0; r < ARRAY_LEN(files); r++) {
        read_fixture(f, files[r]);
        for (size_t i = 0; i < ARRAY_LEN(expected); i++)
            if (expected[i].elixir == (strcmp(files[r], "elixir") == 0)) {
                struct spans *s = build_case(f, expected[i].name);
                event_feed(s, "1 1 send - - - 0 0 - - 0 -"); /* invalid */
                expect_given_back(s);
                spans_free(s);
            }
        free(f->text);
    }
    free(f);
}

/* ---- made events */

static void feed_all(struct spans *s, const char *const *lines)
{
    for (size_t i = 0; lines[i]; i++)
        event_feed(s, lines[i]);
}

static void expect_tree(const struct spans *s, const char *wanted)
{
    struct buf out;
    buf_init(&out, 0);
    tree_put_roots(&out, s);
    if (!same(wanted, buf_cstr(&out)))
        assert_string_equal(buf_cstr(&out), wanted);
    buf_clear(&out);
}

/* A root, "P calls Q, who replies" and what is between. Times in ms stand before "000000". */
#define ROOT(at, p) at "000000 0 root <0." p ".0> - <0." p ".0> 0 0 - - 0 m:f/0"
#define REQUEST(at, p) at "000000 0 root <0." p ".0> - <0." p ".0> 0 0 call - 0 -"
#define RETURN(at, p) at "000000 9 return <0." p ".0> - - 0 0 - - 0 -"
#define SEND(at, p, q, l, n, tag, ref, text)                                                       \
    at "000000 4 send <0." p ".0> <0." q ".0> <0." l ".0> 0 " n " " tag " " ref " 5 " text
#define RECEIVE(at, p, q, l, n, tag, ref, text)                                                    \
    at "000000 3 receive <0." p ".0> <0." q ".0> <0." l ".0> 0 " n " " tag " " ref " 5 " text
#define IN(at, p, f) at "000000 2 in <0." p ".0> - - 0 0 - - 0 " f
#define OUT(at, p, f) at "000000 5 out <0." p ".0> - - 0 0 - - 0 " f
#define WAITS(at, p, f) at "000000 5 out <0." p ".0> - - 0 0 - - 1 " f
#define ENTER(at, p, f) at "000000 1 enter <0." p ".0> - <0." p ".0> 0 0 - - 0 " f
#define LEAVE(at, p, class, f) at "000000 8 leave <0." p ".0> - - 0 0 " class " - 0 " f
/* Of a capture without payloads. */
#define ASK(at, p, q) at "000000 1 ask <0." p ".0> <0." q ".0> <0.1.0> 0 0 call - 0 -"
#define SERVE(at, p, q, ref)                                                                       \
    at "000000 2 serve <0." p ".0> <0." q ".0> <0.1.0> 0 0 call " ref " -1 m:handle_call/3"
#define ANSWER(at, p, q, ref)                                                                      \
    at "000000 3 answer <0." p ".0> <0." q ".0> <0.1.0> 0 0 reply " ref " 0 -"
#define ANSWERED(at, p, ref) at "000000 4 answered <0." p ".0> - <0.1.0> 0 0 reply " ref " 0 -"
#define BACK(at, p) at "000000 9 return <0." p ".0> - - 0 0 unknown - 0 -"
#define R1 "#Ref<0.0.0.1>"
#define R2 "#Ref<0.0.0.2>"

TEST(test_made)
{
    static const struct {
        bool full;
        const char *lines[24], *tree;
    } rows[] = {
        {false, {NULL}, ""},
        /* the capture ends: what is waited for, and since when */
        {false,
         {ROOT("0", "1"), SEND("5", "1", "2", "1", "1", "call", R1, "x"),
          RECEIVE("6", "2", "1", "1", "1", "call", R1, "x"),
          SEND("8", "2", "3", "1", "2", "call", R2, "y"),
          RECEIVE("30", "3", "2", "1", "2", "call", R2, "y")},
         "root m:f/0 open ~30 {call pid open ~25} (call pid x open ~24 {call pid open ~22} "
         "(call pid y unknown ~0+))"},
        /* the end of a linked process is visible in light mode */
        {false,
         {ROOT("0", "1"), SEND("5", "1", "2", "1", "1", "call", R1, "x"),
          RECEIVE("6", "2", "1", "1", "1", "call", R1, "x"),
          SEND("26", "2", "1", "1", "2", "exit", "-", "boom"), RETURN("30", "1")},
         "root m:f/0 ok ~30 {call pid boom exit ~21} (call pid x exit boom ~20)"},
        {false,
         {ROOT("0", "1"), "20000000 9 return <0.1.0> - - 0 0 exit - 0 noproc"},
         "root m:f/0 noproc noproc ~20"},
        {false,
         {ROOT("0", "1"), "20000000 9 return <0.1.0> - - 0 0 error - 0 badarg"},
         "root m:f/0 exception badarg ~20"},
        /* a server that leaves the reply to another one is over when the next request comes, from
           whomever */
        {false,
         {ROOT("0", "1"), SEND("2", "1", "2", "1", "1", "call", R1, "x"),
          RECEIVE("3", "2", "1", "1", "1", "call", R1, "x"),
          SEND("5", "2", "3", "1", "2", "message", "-", "y"),
          RECEIVE("6", "3", "2", "1", "2", "message", "-", "y"),
          SEND("16", "3", "1", "1", "3", "reply", R1, "-"),
          RECEIVE("17", "1", "3", "1", "3", "reply", R1, "-"), RETURN("20", "1"),
          RECEIVE("90", "2", "9", "1", "7", "call", R2, "z"),
          SEND("91", "2", "9", "1", "8", "reply", R2, "-")},
         "root m:f/0 ok ~20 {call pid ok ~15} (call pid x elsewhere ~2+ (message pid y unknown "
         "~10+))"},
        /* the root function calls itself: a span within the span */
        {false,
         {ROOT("0", "1"), ROOT("20", "1"), RETURN("50", "1"), RETURN("60", "1")},
         "root m:f/0 ok ~60 {nested pid ok ~30} (root m:f/0 ok ~30)"},
        /* two roots in one process: the second is not below the first */
        {false,
         {ROOT("0", "1"), SEND("5", "1", "2", "1", "1", "cast", "-", "x"), RETURN("20", "1"),
          ROOT("40", "1"), RECEIVE("60", "2", "1", "1", "1", "cast", "-", "x"), RETURN("80", "1")},
         "root m:f/0 ok ~20 (cast pid x unknown ~0+); root m:f/0 ok ~40"},
        /* what follows the root is of no span */
        {false,
         {ROOT("0", "1"), RETURN("20", "1"), SEND("30", "1", "2", "1", "1", "call", R1, "x"),
          RECEIVE("31", "2", "1", "1", "1", "call", R1, "x")},
         "root m:f/0 ok ~20"},
        /* each calls the other and itself: a message is a step down, never up */
        {false,
         {ROOT("0", "1"), SEND("5", "1", "2", "1", "1", "call", R1, "x"),
          RECEIVE("6", "2", "1", "1", "1", "call", R1, "x"),
          SEND("7", "2", "1", "1", "2", "call", R2, "y"),
          RECEIVE("8", "1", "2", "1", "2", "call", R2, "y"),
          SEND("9", "1", "1", "1", "3", "message", "-", "z"),
          RECEIVE("10", "1", "1", "1", "3", "message", "-", "z"),
          SEND("28", "1", "2", "1", "4", "reply", R2, "-"),
          RECEIVE("29", "2", "1", "1", "4", "reply", R2, "-"),
          SEND("30", "2", "1", "1", "5", "reply", R1, "-"),
          RECEIVE("31", "1", "2", "1", "5", "reply", R1, "-"), RETURN("40", "1")},
         "root m:f/0 ok ~40 {nested pid ok ~20} {call pid ok ~1 at-most} (call pid x ok ~24 "
         "{call pid ok ~22} (call pid y ok ~20))"},
        /* a wait of which the sleep is a part hides it; the other sleep stays */
        {true,
         {ROOT("0", "1"), SEND("5", "1", "2", "1", "1", "call", R1, "x"),
          OUT("5", "1", "gen:do_call/4"), IN("6", "2", "gen_server:loop/7"),
          RECEIVE("6", "2", "1", "1", "1", "call", R1, "x"), OUT("7", "2", "timer:sleep/1"),
          IN("30", "2", "timer:sleep/1"), SEND("31", "2", "1", "1", "2", "reply", R1, "-"),
          OUT("31", "2", "gen_server:loop/7"), IN("32", "1", "gen:do_call/4"),
          RECEIVE("32", "1", "2", "1", "2", "reply", R1, "-"), OUT("40", "1", "timer:sleep/1"),
          IN("60", "1", "timer:sleep/1"), RETURN("60", "1")},
         "root m:f/0 ok ~60 {call pid ok ~27} {WAITING timer:sleep/1 ~20} (call pid x ok ~25 "
         "{WAITING timer:sleep/1 ~23})"},
        /* a loop of one's own: where it took the request it is idle */
        {true,
         {ROOT("0", "1"), SEND("5", "1", "2", "1", "1", "cast", "-", "x"), RETURN("6", "1"),
          OUT("4", "2", "my:loop/1"), IN("6", "2", "my:loop/1"),
          RECEIVE("6", "2", "1", "1", "1", "cast", "-", "x"), OUT("30", "2", "my:loop/1"),
          IN("90", "2", "my:loop/1")},
         "root m:f/0 ok ~6 (cast pid x ok ~24)"},
        /* … but not a server of OTP, whose write is done as the next request comes */
        {true,
         {ROOT("0", "1"), OUT("0", "2", "gen_server:loop/7"), IN("1", "2", "gen_server:loop/7"),
          OUT("2", "2", "prim_file:write_nif/2"), SEND("5", "1", "2", "1", "1", "call", R1, "x"),
          IN("6", "2", "prim_file:write_nif/2"), RECEIVE("6", "2", "1", "1", "1", "call", R1, "x"),
          OUT("8", "2", "prim_file:write_nif/2"), IN("20", "2", "prim_file:write_nif/2"),
          SEND("31", "2", "1", "1", "2", "reply", R1, "-"),
          RECEIVE("32", "1", "2", "1", "2", "reply", R1, "-"), RETURN("60", "1")},
         "root m:f/0 ok ~60 {call pid ok ~27} (call pid x ok ~25 {WAITING prim_file:write_nif/2 "
         "~12})"},
        /* … whose loop is seen only later, */
        {true,
         {ROOT("0", "1"), SEND("5", "1", "2", "1", "1", "call", R1, "x"), IN("6", "2", "my:nif/2"),
          RECEIVE("6", "2", "1", "1", "1", "call", R1, "x"), OUT("8", "2", "my:nif/2"),
          IN("20", "2", "my:nif/2"), SEND("31", "2", "1", "1", "2", "reply", R1, "-"),
          OUT("32", "2", "gen_server:loop/7"), RECEIVE("32", "1", "2", "1", "2", "reply", R1, "-"),
          RETURN("60", "1")},
         "root m:f/0 ok ~60 {call pid ok ~27} (call pid x ok ~25 {WAITING my:nif/2 ~12})"},
        /* … and nobody who sleeps */
        {true,
         {ROOT("0", "1"), SEND("5", "1", "2", "1", "1", "call", R1, "x"),
          IN("6", "2", "timer:sleep/1"), RECEIVE("6", "2", "1", "1", "1", "call", R1, "x"),
          OUT("8", "2", "timer:sleep/1"), IN("20", "2", "timer:sleep/1"),
          SEND("31", "2", "1", "1", "2", "reply", R1, "-"),
          RECEIVE("32", "1", "2", "1", "2", "reply", R1, "-"), RETURN("60", "1")},
         "root m:f/0 ok ~60 {call pid ok ~27} (call pid x ok ~25 {WAITING timer:sleep/1 ~12})"},
        /* a sleep belongs to its request also where the next one is taken at once after it */
        {true,
         {ROOT("0", "1"), OUT("0", "2", "gen_server:loop/7"),
          SEND("5", "1", "2", "1", "1", "cast", "-", "x"), IN("6", "2", "gen_server:loop/7"),
          RECEIVE("6", "2", "1", "1", "1", "cast", "-", "x"), OUT("8", "2", "timer:sleep/1"),
          SEND("9", "1", "2", "1", "2", "cast", "-", "y"), IN("28", "2", "timer:sleep/1"),
          RECEIVE("29", "2", "1", "1", "2", "cast", "-", "y"), OUT("49", "2", "gen_server:loop/7"),
          RETURN("60", "1")},
         "root m:f/0 ok ~60 (cast pid x ok ~23 {WAITING timer:sleep/1 ~20}) (cast pid y ok ~20)"},
        /* a function that was seen to wait for a message waits the next time too */
        {true,
         {ROOT("0", "1"), SEND("1", "1", "2", "1", "1", "message", "-", "x"),
          RECEIVE("2", "2", "1", "1", "1", "message", "-", "x"), OUT("3", "1", "my:recv/0"),
          SEND("20", "2", "1", "1", "2", "message", "-", "y"), IN("21", "1", "my:recv/0"),
          RECEIVE("21", "1", "2", "1", "2", "message", "-", "y"), OUT("25", "1", "my:recv/0"),
          IN("45", "1", "my:recv/0"), RETURN("50", "1")},
         "root m:f/0 ok ~50 {message pid ok ~18} {WAITING my:recv/0 ~20} (message pid x unknown "
         "~18+)"},
        /* one that was seen to wait, and so each time in that function; preempted elsewhere */
        {true,
         {ROOT("0", "1"), OUT("3", "1", "my:timed/0"), IN("7", "1", "my:timed/0"),
          WAITS("10", "1", "my:timed/0"), IN("30", "1", "my:timed/0"), OUT("32", "1", "my:busy/0"),
          IN("40", "1", "my:busy/0"), RETURN("50", "1")},
         "root m:f/0 ok ~50 {WAITING my:timed/0 ~4} {WAITING my:timed/0 ~20}"},
        /* a process as root: until its reply to whoever asked it */
        {false,
         {REQUEST("0", "1"), SEND("0", "1", "2", "1", "1", "call", R1, "x"),
          RECEIVE("1", "2", "1", "1", "1", "call", R1, "x"),
          SEND("20", "2", "1", "1", "2", "reply", R1, "-"),
          RECEIVE("21", "1", "2", "1", "2", "reply", R1, "-"), RETURN("25", "1"),
          SEND("40", "1", "2", "1", "3", "cast", "-", "y")},
         "root - ok ~25 {call pid ok ~21} (call pid x ok ~19)"},
        /* … or until its last event before the next request, or the capture's end */
        {false,
         {REQUEST("0", "1"), SEND("0", "1", "2", "1", "1", "call", R1, "x"),
          RECEIVE("1", "2", "1", "1", "1", "call", R1, "x"),
          SEND("20", "2", "1", "1", "2", "reply", R1, "-"),
          RECEIVE("21", "1", "2", "1", "2", "reply", R1, "-"), REQUEST("60", "1"),
          SEND("60", "1", "2", "1", "3", "cast", "-", "y"),
          RECEIVE("90", "2", "1", "1", "3", "cast", "-", "y")},
         "root - unknown ~21+ {call pid ok ~21} (call pid x ok ~19); "
         "root - unknown ~0+ (cast pid y unknown ~0+)"},
        /* … or until it is idle */
        {true,
         {REQUEST("0", "1"), SEND("0", "1", "2", "1", "1", "cast", "-", "x"),
          OUT("30", "1", "gen_server:loop/7"), IN("60", "1", "gen_server:loop/7"),
          REQUEST("60", "1"), SEND("61", "1", "2", "1", "2", "cast", "-", "x"), RETURN("70", "1")},
         "root - ok ~30; root - ok ~10"},
        /* the reply comes before it shows that the caller gave up */
        {true,
         {ROOT("0", "1"), SEND("0", "1", "2", "1", "1", "call", R1, "x"),
          OUT("0", "1", "gen:do_call/4"), RECEIVE("1", "2", "1", "1", "1", "call", R1, "x"),
          IN("20", "1", "gen:do_call/4"), SEND("21", "2", "1", "1", "2", "reply", R1, "-"),
          RETURN("25", "1")},
         "root m:f/0 ok ~25 {call pid timeout ~20} (call pid x late ~20)"},
        /* functions within: what they send is below them, and so is the wait for its answer */
        {false,
         {ROOT("0", "1"), ENTER("1", "1", "m:g/1"), ENTER("2", "1", "m:h/1"),
          SEND("5", "1", "2", "1", "1", "call", R1, "x"),
          RECEIVE("6", "2", "1", "1", "1", "call", R1, "x"), ENTER("7", "2", "s:answer/1"),
          LEAVE("9", "2", "-", "s:answer/1"), SEND("20", "2", "1", "1", "2", "reply", R1, "-"),
          RECEIVE("21", "1", "2", "1", "2", "reply", R1, "-"), LEAVE("25", "1", "error", "m:h/1"),
          LEAVE("30", "1", "-", "m:g/1"), RETURN("40", "1")},
         "root m:f/0 ok ~40 {nested pid ok ~29} (function pid m:g/1 ok ~29 {nested pid exception "
         "~23} (function pid m:h/1 exception ~23 {call pid ok ~16} (call pid x ok ~14 {nested pid "
         "ok ~2} (function pid s:answer/1 ok ~2))))"},
        /* a request that one function sends and another waits for; a reply from within one, which
           has not returned then; a return of a call that was not seen; one in no span */
        {false,
         {ROOT("0", "1"), LEAVE("0", "1", "-", "m:e/0"), ENTER("1", "1", "m:g/1"),
          SEND("2", "1", "2", "1", "1", "call", R1, "x"),
          RECEIVE("3", "2", "1", "1", "1", "call", R1, "x"), LEAVE("4", "1", "-", "m:g/1"),
          ENTER("5", "2", "s:h/1"), ENTER("6", "1", "m:w/1"),
          SEND("20", "2", "1", "1", "2", "reply", R1, "-"), LEAVE("22", "2", "-", "s:h/1"),
          RECEIVE("24", "1", "2", "1", "2", "reply", R1, "-"), LEAVE("30", "1", "-", "m:w/1"),
          RETURN("40", "1"), ENTER("41", "1", "m:g/1"), LEAVE("42", "1", "-", "m:g/1")},
         "root m:f/0 ok ~40 {nested pid ok ~3} {nested pid ok ~24} (function pid m:g/1 ok ~3 (call "
         "pid x ok ~17 {nested pid unknown ~15} (function pid s:h/1 unknown ~15))) (function pid "
         "m:w/1 ok ~24 {call pid ok ~18 at-most})"},
        /* a server's loop does not return, and hides nothing of the next request */
        {false,
         {ROOT("0", "1"), SEND("1", "1", "2", "1", "1", "cast", "-", "x"),
          RECEIVE("2", "2", "1", "1", "1", "cast", "-", "x"), ENTER("3", "2", "s:loop/1"),
          SEND("10", "1", "2", "1", "2", "cast", "-", "y"),
          RECEIVE("11", "2", "1", "1", "2", "cast", "-", "y"), ENTER("12", "2", "s:work/1"),
          LEAVE("14", "2", "-", "s:work/1"), ENTER("15", "2", "s:loop/1"), RETURN("20", "1")},
         "root m:f/0 ok ~20 (cast pid x unknown ~1+ (function pid s:loop/1 unknown ~0+)) (cast pid "
         "y "
         "unknown ~4+ {nested pid ok ~2} (function pid s:work/1 ok ~2) (function pid s:loop/1 "
         "unknown ~0+))"},
        /* the capture ends in a function that waits, and so does its span */
        {false,
         {ROOT("0", "1"), SEND("1", "1", "2", "1", "1", "call", R1, "x"),
          RECEIVE("2", "2", "1", "1", "1", "call", R1, "x"), ENTER("3", "2", "s:hangs/0"),
          SEND("4", "2", "3", "1", "2", "call", R2, "y"),
          RECEIVE("30", "3", "2", "1", "2", "call", R2, "y")},
         "root m:f/0 open ~30 {call pid open ~29} (call pid x open ~28 {nested pid open ~27} "
         "(function pid s:hangs/0 open ~27 {call pid open ~26} (call pid y unknown ~0+)))"},
        /* a message that is taken in a function ends with it */
        {true,
         {ROOT("0", "1"), ENTER("1", "1", "m:g/0"), SEND("2", "1", "2", "1", "1", "cast", "-", "x"),
          RECEIVE("3", "2", "1", "1", "1", "cast", "-", "x"),
          SEND("4", "2", "1", "1", "2", "cast", "-", "y"),
          RECEIVE("5", "1", "2", "1", "2", "cast", "-", "y"), LEAVE("9", "1", "-", "m:g/0"),
          RETURN("20", "1")},
         "root m:f/0 ok ~20 {nested pid ok ~8} (function pid m:g/0 ok ~8 {nested pid unknown ~4} "
         "(cast pid x unknown ~1+ (cast pid y unknown ~4)))"},
        /* without payloads: a call, and one within it */
        {false,
         {ROOT("0", "1"), ASK("2", "1", "2"), SERVE("3", "2", "1", R1), ASK("4", "2", "3"),
          SERVE("6", "3", "2", R2), ANSWER("16", "3", "2", R2), ANSWERED("17", "2", R2),
          ANSWER("20", "2", "1", R1), ANSWERED("21", "1", R1), BACK("30", "1")},
         "root m:f/0 unknown ~30 {call pid ok ~19} (call pid m:handle_call/3 ok ~17 {call pid ok "
         "~13} "
         "(call pid m:handle_call/3 ok ~10))"},
        /* … whose caller gave up, and one that nobody serves, as it goes on */
        {false,
         {ROOT("0", "1"), ASK("2", "1", "2"), SERVE("3", "2", "1", R1), ANSWERED("12", "1", R1),
          ASK("13", "1", "3"), BACK("15", "1"), ANSWER("20", "2", "1", R1)},
         "root m:f/0 unknown ~15 {call pid unknown ~10} {call pid unknown ~2 at-most} "
         "(call pid m:handle_call/3 late ~17)"},
        /* … that another process answers; one whose caller is not known to have asked */
        {false,
         {ROOT("0", "1"), ASK("2", "1", "2"), SERVE("3", "2", "1", R1), ANSWER("9", "4", "1", R1),
          ANSWERED("10", "1", R1), SERVE("12", "3", "1", R2), ANSWER("14", "3", "1", R2),
          ANSWERED("15", "1", R2), BACK("20", "1")},
         "root m:f/0 unknown ~20 {call pid ok ~8} {call pid ok ~3} (call pid m:handle_call/3 "
         "elsewhere ~0+) "
         "(call pid m:handle_call/3 ok ~2)"},
        /* … still waited for, seen to be served or not; of nobody */
        {false,
         {ROOT("0", "1"), ASK("2", "1", "2"), SERVE("3", "2", "1", R1), ASK("4", "2", "3"),
          "9000000 5 ask <0.7.0> <0.8.0> <0.1.0> 0 0 call - 0 -",
          "9000000 6 serve <0.8.0> - <0.1.0> 0 0 call #Ref<0.0.0.9> -1 m:handle_call/3",
          ANSWERED("9", "7", "#Ref<0.0.0.8>"), ANSWER("9", "7", "1", "#Ref<0.0.0.8>")},
         "root m:f/0 open ~9 {call pid open ~7} (call pid m:handle_call/3 open ~6 {call pid "
         "open ~5})"},
        /* a process that ends in the midst */
        {true,
         {ROOT("0", "1"), "20000000 5 exit <0.1.0> - - 0 0 - - 0 killed"},
         "root m:f/0 exit killed ~20"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct spans *s = new_spans(rows[i].full);
        feed_all(s, rows[i].lines);
        spans_build(s);
        check_all(s, rows[i].full);
        expect_tree(s, rows[i].tree);
        spans_build(s); /* again, of the same */
        expect_tree(s, rows[i].tree);
        spans_free(s);
    }
    spans_free(NULL);
}

/* The parts of durations, in ms: self, wait, unattributed, off CPU. */
TEST(test_parts)
{
    static const char *const lines[] = {
        ROOT("0", "1"), SEND("5", "1", "2", "1", "1", "call", R1, "x"),
        OUT("5", "1", "gen:do_call/4"), IN("6", "2", "my:loop/1"),
        RECEIVE("6", "2", "1", "1", "1", "call", R1, "x"),
        /* preempted, and in a loop that was seen to wait */
        OUT("8", "2", "my:work/1"), IN("11", "2", "my:work/1"), OUT("12", "2", "my:loop/1"), NULL};
    static const char *const later[] = {SEND("31", "2", "1", "1", "2", "reply", R1, "-"),
                                        IN("32", "1", "gen:do_call/4"),
                                        RECEIVE("33", "1", "2", "1", "2", "reply", R1, "-"),
                                        OUT("40", "1", "timer:sleep/1"),
                                        IN("60", "1", "timer:sleep/1"),
                                        OUT("61", "1", "my:work/1"),
                                        IN("64", "1", "my:work/1"),
                                        RETURN("70", "1"),
                                        NULL};
    static const int64_t wanted[][4] = {{19, 28, 20, 3}, {3, 0, 0, 3}};
    struct spans *s = new_spans(true);
    feed_all(s, later);
    feed_all(s, lines);
    spans_build(s);
    for (uint32_t i = 0; i < 2; i++) {
        const struct span *span = spans_at(s, i);
        const int64_t parts[] = {span->self_ns, span->wait_ns, span->unattributed_ns,
                                 span->off_cpu_ns};
        for (size_t k = 0; k < 4; k++)
            assert_int_equal(parts[k], wanted[i][k] * 1000000);
    }
    assert_int_equal(spans_at(s, 0)->waiting_on.pid.id, 2);
    spans_free(s);
}

/* Each case without one of its events, without every second one, and with all of them twice. */
TEST(test_lost_and_twice)
{
    struct fixture *f = alloc_zero(1, sizeof *f);
    read_fixture(f, "otp27");
    for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
        bool full = strncmp(expected[i].name, "full", 4) == 0;
        size_t from, to;
        if (expected[i].elixir)
            continue;
        find_case(f, expected[i].name, &from, &to);
        for (size_t lost = from; lost <= to + 1; lost++) {
            struct spans *s = new_spans(full);
            for (size_t k = from; k < to; k++)
                if (k != lost && (lost <= to || k % 2 == 0))
                    event_feed(s, f->lines[k]);
            spans_build(s);
            check_all(s, full);
            spans_free(s);
        }
        struct spans *s = new_spans(full);
        for (size_t k = from; k < to; k++) {
            event_feed(s, f->lines[k]);
            event_feed(s, f->lines[k]);
        }
        spans_build(s);
        expect_tree(s, expected[i].tree);
        assert_true(spans_dropped(s).duplicate > 0 && spans_dropped(s).invalid == 0);
        spans_free(s);
    }
    free(f->text);
    free(f);
}

static struct span_event event(enum span_event_kind kind, int64_t at, uint32_t of, uint32_t peer)
{
    struct span_event e = {.kind = kind, .at_ns = at, .order = (uint64_t)at};
    e.process.pid.id = of;
    e.peer.pid.id = peer;
    e.label.id = 1;
    return e;
}

/* A pair of processes that send to each other, and a root with as many callees. */
TEST(test_many)
{
    struct spans *s = new_spans(true);
    struct span_event e = event(SPAN_EVENT_ROOT, 0, 1, 0);
    assert_true(spans_feed(s, &e));
    int64_t at = 1;
    for (uint32_t i = 0; i < 5000; i++)
        for (uint32_t k = 0; k < 4; k++, at++) {
            uint32_t from = i % 2 == 0 ? 1 : 2, of = k < 2 ? from : 3 - from;
            static const enum span_event_kind kinds[] = {SPAN_EVENT_SEND, SPAN_EVENT_OUT,
                                                         SPAN_EVENT_IN, SPAN_EVENT_RECEIVE};
            e = event(kinds[k], at * 100000, of, k == 3 ? from : 3 - from);
            e.serial = i + 1;
            e.text = slice_of("m:loop/0");
            assert_true(spans_feed(s, &e));
        }
    spans_build(s);
    check_all(s, true);
    assert_int_equal(spans_count(s), 2);
    spans_free(s);

    s = new_spans(false);
    e = event(SPAN_EVENT_ROOT, 0, 1, 0);
    assert_true(spans_feed(s, &e));
    for (uint32_t i = 0; i < LIMIT_SPAN_EVENTS; i++) {
        e = event(i % 2 == 0 ? SPAN_EVENT_SEND : SPAN_EVENT_RECEIVE, i + 1, 1, 2 + i / 2 % 1000);
        if (i % 2 == 1) {
            e.process.pid.id = e.peer.pid.id;
            e.peer.pid.id = 1;
        }
        e.serial = i / 2;
        e.tag = SPAN_TAG_CALL;
        e.ref = (struct span_ref){.words = {i / 2}, .n = 1};
        assert_true(spans_feed(s, &e) == (i + 1 < LIMIT_SPAN_EVENTS));
    }
    spans_build(s);
    check_all(s, false);
    assert_int_equal(spans_count(s), LIMIT_SPAN_EVENTS / 2);
    assert_int_equal(spans_dropped(s).beyond, 1);
    spans_free(s);
}

TEST(test_limits)
{
    struct spans *s = new_spans(false);
    char name[LIMIT_SPAN_NAME_BYTES + 10];
    struct span_event e;
    for (uint32_t i = 0; i < LIMIT_SPAN_ROOTS + 3; i++) { /* a chain, then roots */
        e = event(i == 0 ? SPAN_EVENT_ROOT : SPAN_EVENT_SEND, 2 * i, i > 0 ? i : 1, i + 1);
        e.serial = i;
        e.tag = SPAN_TAG_CAST;
        spans_feed(s, &e);
        e = event(SPAN_EVENT_RECEIVE, 2 * i + 1, i + 1, i);
        e.serial = i;
        e.tag = SPAN_TAG_CAST;
        if (i > 0)
            spans_feed(s, &e);
    }
    spans_build(s);
    check_all(s, false);
    assert_int_equal(spans_count(s), LIMIT_SPAN_DEPTH);
    assert_true(spans_dropped(s).deep > 0 && spans_dropped(s).leaked > 0);
    spans_free(s);

    s = new_spans(false);
    for (uint32_t i = 0; i < LIMIT_SPAN_PROCESSES + 10; i++) {
        e = event(SPAN_EVENT_ROOT, i, i + 1, 0);
        assert_true(spans_feed(s, &e) == (i < LIMIT_SPAN_PROCESSES));
    }
    spans_build(s);
    assert_int_equal(spans_count(s), LIMIT_SPAN_ROOTS);
    assert_int_equal(spans_dropped(s).deep, LIMIT_SPAN_PROCESSES - LIMIT_SPAN_ROOTS);
    assert_int_equal(spans_dropped(s).beyond, 10);
    spans_free(s);

    s = new_spans(false);
    memset(name, 'x', sizeof name);
    bool fed = true;
    for (uint32_t i = 0; fed && i < 1000; i++) {
        snprintf(name, 12, "%011u", i);
        name[11] = 'x';
        e = event(SPAN_EVENT_ROOT, i, 1, 0);
        e.text = (struct slice){name, sizeof name};
        fed = spans_feed(s, &e);
    }
    assert_false(fed);
    spans_build(s);
    assert_int_equal(spans_at(s, 0)->operation.len, LIMIT_SPAN_NAME_BYTES);
    spans_free(s);
}

TEST(test_hostile)
{
    static const int64_t times[] = {INT64_MIN, -(INT64_C(1) << 61) - 1, (INT64_C(1) << 61) + 1,
                                    INT64_MAX};
    struct spans *s = new_spans(true);
    for (size_t i = 0; i < ARRAY_LEN(times); i++) {
        struct span_event e = event(SPAN_EVENT_ROOT, times[i], 1, 0);
        assert_false(spans_feed(s, &e));
    }
    struct span_event e = event((enum span_event_kind)99, 0, 1, 0);
    assert_false(spans_feed(s, &e));
    e = event(SPAN_EVENT_SEND, 0, 1, 0);
    e.tag = (enum span_tag)77;
    assert_false(spans_feed(s, &e));
    e = event(SPAN_EVENT_SEND, 0, 1, 0);
    e.ref.n = 6;
    assert_false(spans_feed(s, &e));
    e = event(SPAN_EVENT_SEND, 0, 0, 0); /* of nobody */
    assert_false(spans_feed(s, &e));
    assert_int_equal(spans_dropped(s).invalid, 8);
    e = event(SPAN_EVENT_ROOT, -(INT64_C(1) << 61), UINT32_MAX, UINT32_MAX);
    e.words = INT64_MIN;
    e.serial = e.order = UINT64_MAX;
    e.ref = (struct span_ref){UINT32_MAX, {1, 2, 3, 4, 5}, 5};
    assert_true(spans_feed(s, &e));
    e.kind = SPAN_EVENT_OUT;
    assert_true(spans_feed(s, &e));
    e.kind = SPAN_EVENT_RETURN;
    e.at_ns = INT64_C(1) << 61;
    assert_true(spans_feed(s, &e));
    spans_build(s);
    check_all(s, true);
    assert_int_equal(spans_count(s), 1);
    assert_int_equal(spans_at(s, 0)->words, -1);
    assert_true(spans_at(s, 0)->ended_ns - spans_at(s, 0)->started_ns == INT64_C(1) << 62);
    spans_free(s);
}

/* ---- what is made of a tree */

TEST(test_path)
{
    static const struct {
        const char *name, *path;
    } rows[] = {
        {"full chain", "self root ~5 self b ~10 self c ~20 wait c ~15 self b ~5 self root ~3"},
        /* the task that was awaited last, from its start on */
        {"full task", "self pid ~2 wait pid ~30 self root ~2"},
        {"full defer", "self replier ~8 self root ~1"},
        {"light chain", "self root ~5 self b ~10 self c ~35 self b ~5 self root ~3"},
    };
    struct fixture *f = alloc_zero(1, sizeof *f);
    read_fixture(f, "otp25");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct spans *s = build_case(f, rows[i].name);
        struct buf out;
        size_t n;
        struct span_step *steps = spans_critical(s, 0, &n);
        buf_init(&out, 0);
        for (size_t k = 0; k < n;) { /* steps of one kind together; short ones are not shown */
            int64_t sum = 0;
            uint32_t span = steps[k].span;
            bool wait = steps[k].kind == SPAN_STEP_WAIT;
            for (; k < n && steps[k].span == span && (steps[k].kind == SPAN_STEP_WAIT) == wait;)
                sum += steps[k].to_ns - steps[k].from_ns, k++;
            if (sum < 500000)
                continue;
            buf_printf(&out, "%s%s ", out.len > 0 ? " " : "", wait ? "wait" : "self");
            if (span == 0)
                buf_puts(&out, "root");
            else
                tree_put_process(&out, &spans_at(s, span)->process);
            buf_printf(&out, " ~%.3f", tree_ms(sum));
        }
        if (!same(rows[i].path, buf_cstr(&out)))
            assert_string_equal(buf_cstr(&out), rows[i].path);
        free(steps);
        buf_clear(&out);
        spans_free(s);
    }
    free(f->text);
    free(f);
    struct spans *s = new_spans(true);
    size_t n;
    spans_build(s);
    assert_null(spans_critical(s, 0, &n));
    assert_int_equal(n, 0);
    spans_free(s);
}

TEST(test_stacks)
{
    static const char *const wanted[] = {"call c", "WAITING(timer:sleep/1)", "call b", "wl:root/1"};
    struct fixture *f = alloc_zero(1, sizeof *f);
    read_fixture(f, "otp25");
    struct spans *s = build_case(f, "full chain");
    struct stacks *stacks = spans_stacks(s, 0, false);
    size_t n;
    struct stacks_sum *sums = stacks_sums(stacks, &n);
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        assert_true(i < n && slice_is(sums[i].at->name, wanted[i]));
    /* what is not in it are replies on their way */
    double whole = (double)(spans_at(s, 0)->ended_ns - spans_at(s, 0)->started_ns) / 1e3;
    assert_true(stacks_total(stacks) <= whole && stacks_total(stacks) > whole - 1000);
    free(sums);
    stacks_free(stacks);
    stacks = spans_stacks(s, 0, true); /* also what the spans of b and c explain */
    sums = stacks_sums(stacks, &n);
    double raw = 0;
    for (size_t i = 0; i < n; i++)
        if (slice_is(sums[i].at->name, "WAITING(gen:do_call/4) for b") ||
            slice_is(sums[i].at->name, "WAITING(gen:do_call/4) for c"))
            raw += sums[i].total;
    int64_t waits = spans_at(s, 0)->wait_ns + spans_at(s, 1)->wait_ns;
    assert_true(raw > (double)waits / 1e3 - 1 && raw < (double)waits / 1e3 + 1);
    free(sums);
    stacks_free(stacks);
    stacks = spans_stacks(s, 1, false); /* no root */
    assert_true(stacks_total(stacks) == 0);
    stacks_free(stacks);
    spans_free(s);
    free(f->text);
    free(f);
}

/* Of the root's time only, and of ids of the right form. */
TEST(test_context)
{
    static const char ids[] = "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7";
    static const char *const bad[] = {"",
                                      "-",
                                      "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b",
                                      "4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7",
                                      "4BF92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
                                      "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b\xe2"};
    struct spans *s = new_spans(false);
    const struct span_process root = {.pid.id = 1};
    struct span_event e = {.process = root, .label = root.pid, .words = 500};
    for (unsigned i = 0; i < 6; i++) { /* the last two come late, and at another time */
        e.kind = SPAN_EVENT_CALLER;
        e.at_ns = i < 5 ? 1000 : 2000;
        e.serial = i;
        e.peer.pid.id = 10 + i;
        assert_true(spans_feed(s, &e));
    }
    e.peer.pid.id = 0;
    e.kind = SPAN_EVENT_CONTEXT;
    e.at_ns = 1000;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        e.serial = i;
        e.text = slice_of(bad[i]);
        assert_true(spans_feed(s, &e));
    }
    e.kind = SPAN_EVENT_ROOT;
    e.text = slice_of("m:f/0");
    assert_true(spans_feed(s, &e));
    spans_build(s);
    assert_int_equal(spans_count(s), 1);
    assert_int_equal(spans_at(s, 0)->n_callers, SPAN_CALLERS);
    assert_int_equal(spans_caller(s, spans_at(s, 0), 0).pid.id, 10);
    assert_int_equal(spans_caller(s, spans_at(s, 0), 2).pid.id, 12);
    assert_int_equal(spans_at(s, 0)->otel_trace.len, 0);
    e.kind = SPAN_EVENT_CONTEXT;
    e.serial = 99;
    e.text = slice_of(ids);
    assert_true(spans_feed(s, &e));
    spans_build(s);
    assert_int_equal(spans_count(s), 1);
    assert_memory_equal(spans_at(s, 0)->otel_trace.s, ids, 32);
    assert_int_equal(spans_at(s, 0)->otel_span.len, 16);
    assert_true(slice_is(spans_at(s, 0)->otel_span, "00f067aa0ba902b7"));
    assert_true(spans_at(s, 0)->context_read);
    /* what was read at its end or before is its own; later it is not */
    e.kind = SPAN_EVENT_RETURN;
    e.at_ns = 1500;
    e.text = (struct slice){0};
    assert_true(spans_feed(s, &e));
    spans_build(s);
    assert_true(spans_at(s, 0)->context_read && spans_at(s, 0)->n_callers == SPAN_CALLERS);
    e.kind = SPAN_EVENT_CONTEXT;
    e.at_ns = 1000;
    e.serial = 100;
    e.words = INT64_MAX;
    assert_true(spans_feed(s, &e));
    spans_build(s);
    assert_false(spans_at(s, 0)->context_read);
    assert_int_equal(spans_at(s, 0)->n_callers, 0);
    assert_int_equal(spans_at(s, 0)->otel_trace.len, 0);
    spans_free(s);
}

/* The VM uses a serial again: the receiver tells the messages apart, then their order. */
TEST(test_serials_that_come_again)
{
    static const char *const lines[] = {ROOT("0", "1"),
                                        SEND("1", "1", "2", "1", "7", "spawn", "-", "m:f/0"),
                                        RECEIVE("2", "2", "1", "1", "7", "spawn", "-", "m:f/0"),
                                        RETURN("10", "1"),
                                        ROOT("20", "1"),
                                        SEND("21", "1", "3", "1", "7", "spawn", "-", "m:f/0"),
                                        SEND("22", "1", "2", "1", "7", "cast", "-", "x"),
                                        RECEIVE("24", "2", "1", "1", "7", "cast", "-", "x"),
                                        RECEIVE("25", "3", "1", "1", "7", "spawn", "-", "m:f/0"),
                                        RETURN("30", "1"),
                                        NULL};
    struct spans *s = new_spans(false);
    feed_all(s, lines);
    spans_build(s);
    assert_int_equal(spans_count(s), 5);
    for (uint32_t i = 2; i < 5; i++)
        assert_int_equal(spans_at(s, i)->root, 2);
    assert_int_equal(spans_at(s, 3)->queued_ns, 2000000);
    assert_int_equal(spans_at(s, 4)->queued_ns, 4000000);
    spans_free(s);
}

/* The same capture has the same ids; another one, or another node, has others. */
TEST(test_ids)
{
    static const char *const lines[] = {ROOT("0", "1"),
                                        SEND("5", "1", "2", "1", "1", "cast", "-", "x"),
                                        RECEIVE("6", "2", "1", "1", "1", "cast", "-", "x"), NULL};
    const struct spans_options options[] = {{false, slice_of("a@h"), 1},
                                            {false, slice_of("a@h"), 1},
                                            {false, slice_of("a@h"), 2},
                                            {false, slice_of("b@h"), 1}};
    uint64_t ids[4][4];
    for (size_t i = 0; i < 4; i++) {
        struct spans *s = spans_new(&options[i]);
        feed_all(s, lines);
        spans_build(s);
        ids[i][0] = spans_at(s, 0)->trace_id[0];
        ids[i][1] = spans_at(s, 0)->trace_id[1];
        ids[i][2] = spans_at(s, 0)->span_id;
        ids[i][3] = spans_at(s, 1)->span_id;
        assert_true(ids[i][2] != ids[i][3]);
        assert_int_equal(spans_at(s, 1)->queued_ns, 1000000);
        assert_int_equal(spans_at(s, 1)->words, 5);
        spans_free(s);
    }
    assert_memory_equal(ids[0], ids[1], sizeof ids[0]);
    for (size_t k = 0; k < 4; k++)
        assert_true(ids[2][k] != ids[0][k] && ids[3][k] != ids[0][k]);
}
