/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Replays kept inputs through a fuzz target without libFuzzer: every file given, and every file
 * of every directory given. Each also runs cut at every byte up to 64, so that a small corpus
 * goes further. Ends with 0 when the target survived them all; says how many
 * there were. */
#define _DEFAULT_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/buf.h"
#include "fuzz.h"

enum { FILE_BYTES = 1024 * 1024, CUTS = 64 };

/* The target gets memory of exactly that size, so that the sanitizer sees a read past it. */
static void run(const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size > 0 ? size : 1);
    if (!exact)
        abort();
    if (size > 0)
        memcpy(exact, data, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

static int replay_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return -1;
    }
    uint8_t *data = alloc_zero(FILE_BYTES, 1);
    size_t size = fread(data, 1, FILE_BYTES, f);
    fclose(f);
    for (size_t cut = 0; cut < CUTS && cut < size; cut++)
        run(data, cut);
    run(data, size);
    free(data);
    return 1;
}

/* The number of files, or -1. */
static int replay(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return -1;
    }
    if (!S_ISDIR(st.st_mode))
        return replay_file(path);
    DIR *dir = opendir(path);
    if (!dir)
        return -1;
    int total = 0;
    for (struct dirent *e; total >= 0 && (e = readdir(dir));) {
        if (e->d_name[0] == '.')
            continue;
        char *inside = alloc_printf("%s/%s", path, e->d_name);
        int n = replay(inside);
        free(inside);
        total = n < 0 ? -1 : total + n;
    }
    closedir(dir);
    return total;
}

int main(int argc, char **argv)
{
    int total = 0;
    for (int i = 1; i < argc; i++) {
        int n = replay(argv[i]);
        if (n < 0)
            return 1;
        total += n;
    }
    printf("%d inputs\n", total);
    return total > 0 ? 0 : 1;
}
