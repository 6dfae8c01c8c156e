/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "process_stat.h"

#include <stdio.h>
#include <string.h>

const char *process_stat(long pid, char *line, size_t size)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(line, 1, size - 1, f) : 0;
    if (f)
        fclose(f);
    line[n] = '\0';
    /* The program's name stands in parentheses and may have any character. */
    const char *end = strrchr(line, ')');
    return end ? end + 1 : NULL;
}
