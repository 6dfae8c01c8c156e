/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events of causal spans, 8 bytes each: few processes, references and times, so that they meet. The
   first byte is the mode. */
#include "beamtop/model/spans.h"
#include "beamtop/model/stacks.h"
#include "fuzz.h"

static const char *const texts[] = {"m:f/0",
                                    "gen:do_call/4",
                                    "gen_server:loop/7",
                                    "noproc",
                                    "timer:sleep/1",
                                    "timeout",
                                    "boom",
                                    "",
                                    "normal",
                                    "erpc:execute_call/4",
                                    "erpc:call/5"};

static struct span_process process(unsigned byte)
{
    struct span_process p = {.pid.id = byte & 7};
    if (byte & 8)
        p.node = slice_of("other@host");
    return p;
}

static void feed(struct spans *s, const uint8_t *b, int64_t *at)
{
    struct span_event e = {.kind = (enum span_event_kind)(b[0] % (SPAN_EVENTS + 1))};
    const int64_t step = b[1] == 255   ? -(INT64_C(1) << 60)
                         : b[1] == 254 ? INT64_C(1) << 60
                                       : (b[1] % 16) * 20000;
    *at = (int64_t)((uint64_t)*at + (uint64_t)step);
    e.at_ns = *at;
    e.order = b[1] / 16;
    e.process = process(b[2] & 15);
    e.peer = process(b[2] >> 4);
    e.label.id = b[3] & 3;
    e.label_node = slice_of(b[3] & 4 ? "other@host" : "");
    e.serial = b[3] >> 3;
    e.tag = (enum span_tag)(b[4] % (SPAN_TAGS + 1));
    e.class = (enum span_class)(b[5] % SPAN_CLASSES);
    e.ref.words[0] = b[6] & 7;
    e.ref.n = b[6] >> 5;
    e.text = slice_of(b[7] < 0xf0 ? texts[b[7] % 8] : texts[8 + b[7] % 3]);
    spans_feed(s, &e);
}

static void check_span(const struct spans *s, uint32_t index)
{
    const struct span *span = spans_at(s, index);
    int64_t duration = span->ended_ns - span->started_ns,
            sum = span->self_ns + span->nested_ns + span->wait_ns;
    if (span->unattributed_ns >= 0)
        sum += span->unattributed_ns + span->off_cpu_ns;
    FUZZ_REQUIRE(duration >= 0);
    FUZZ_REQUIRE(span->leaf || (sum == duration && span->self_ns >= 0));
    FUZZ_REQUIRE(span->parent == SPAN_NONE || span->parent < index);
    for (uint32_t i = 0; i < span->n_waits; i++) {
        const struct span_wait *w = spans_wait(s, span->wait + i);
        FUZZ_REQUIRE(w->span == index && w->net_ns >= 0);
        FUZZ_REQUIRE(w->from_ns >= span->started_ns && w->to_ns <= span->ended_ns);
    }
    size_t n;
    struct span_step *steps = spans_critical(s, index, &n);
    int64_t at = span->started_ns;
    for (size_t i = 0; i < n; i++) {
        FUZZ_REQUIRE(steps[i].from_ns == at && steps[i].to_ns > at);
        at = steps[i].to_ns;
    }
    FUZZ_REQUIRE(span->parent != SPAN_NONE || at == span->ended_ns);
    free(steps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const nodes[] = {"", "other@host", "third@host"};
    struct spans *of[3];
    int64_t at = 0;
    const bool joins = size > 0 && data[0] & 2;
    for (size_t i = 0; i < 3; i++)
        of[i] = spans_new(&(struct spans_options){.full = size > 0 && (data[0] & 3) == 1,
                                                  .node = slice_of(nodes[i])});
    for (size_t i = 1; i + 8 <= size; i += 8)
        feed(of[joins ? data[i + 6] % 3 : 0], data + i, &at);
    struct spans *s = of[0];
    struct spans_joined others[] = {{of[1], {.least_ns = -5, .most_ns = 5}}, {of[2], {0}}};
    if (joins)
        spans_join(s, others, 2);
    spans_free(of[1]);
    spans_free(of[2]);
    for (int again = 0; again < 2; again++) {
        spans_build(s);
        for (uint32_t i = 0; i < spans_count(s); i++)
            check_span(s, i);
    }
    stacks_free(spans_stacks(s, SPAN_NONE, true));
    spans_free(s);
    return 0;
}
