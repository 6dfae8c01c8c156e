/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Completion's own part: 20,000 functions in 20 modules taken, and looked through as one types. */
#include <stdio.h>
#include <string.h>

#include "beamtop/base/clock.h"
#include "beamtop/etf/build.h"
#include "beamtop/trace/names.h"

enum { MODULES = 20, FUNCTIONS = 1000, TIMES = 20 };

static const char *module_name(char *out, size_t size, int m)
{
    snprintf(out, size, "bench_names_%d", m);
    return out;
}

static struct builder *functions_of(int m)
{
    char name[64];
    struct builder *b = builder_new();
    build_tuple(b, 3);
    build_atom(b, "functions");
    module_name(name, sizeof name, m);
    build_binary(b, name, strlen(name));
    build_list(b, FUNCTIONS);
    for (int f = 0; f < FUNCTIONS; f++) {
        snprintf(name, sizeof name, "function_%04d", f);
        build_tuple(b, 3);
        build_binary(b, name, strlen(name));
        build_int(b, 1);
        build_bool(b, true);
    }
    build_nil(b);
    return b;
}

static int take(struct names *n, int m)
{
    struct error err = {0};
    size_t len;
    struct builder *b = functions_of(m);
    const uint8_t *bytes = builder_bytes(b, &len);
    int rc = names_take(n, bytes + 1, len - 1, &err);
    if (rc != 0)
        fprintf(stderr, "names: %s\n", err.text);
    builder_free(b);
    return rc;
}

/* What a keystroke asks: all functions of a module, and the nearest to a mistyped one. */
static double look_us(struct names *n)
{
    const struct names_function *all;
    struct names_function near[8];
    struct slice module = {"bench_names_7", 13}, word = {"functon_0777", 12};
    size_t len;
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < TIMES; i++) {
        uint64_t began = clock_mono_ns();
        if (!names_functions(n, module, &all, &len) || len != FUNCTIONS ||
            names_near_functions(n, module, word, near, 8) == 0)
            return -1;
        uint64_t took = clock_mono_ns() - began;
        best = took < best ? took : best;
    }
    return (double)best / 1000;
}

int main(void)
{
    struct names *n = names_new();
    uint64_t taken = 0;
    for (int m = 0; m < MODULES; m++) {
        uint64_t began = clock_mono_ns();
        if (take(n, m) != 0)
            return 1;
        taken += clock_mono_ns() - began;
    }
    printf("take_ms %.2f\nlook_us %.1f\n", (double)taken / 1e6, look_us(n));
    names_free(n);
    return 0;
}
