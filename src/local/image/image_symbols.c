/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"
#include "beamtop/local/images.h"
#if defined HAVE_ELFUTILS && defined MACHINE_IS_SAMPLED
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "local/image/image_file.h"

/* Symbols that begin before an address and may still cover it, looked at. */
enum { OVERLAPS = 16 };

static size_t count_symbols(const struct image_table *t)
{
    size_t n = t->symbols ? t->symbols->d_size / sizeof(Elf64_Sym) : 0;
    return n < LIMIT_IMAGE_SYMBOLS ? n : LIMIT_IMAGE_SYMBOLS;
}

/* NULL: not defined here, or without a name. */
static const char *symbol_at(const struct image_table *t, size_t i, GElf_Sym *s)
{
    if (!gelf_getsym(t->symbols, (int)i, s) || s->st_shndx == SHN_UNDEF ||
        s->st_name >= t->strings.len || t->strings.s[s->st_name] == '\0')
        return NULL;
    return t->strings.s + s->st_name;
}

static bool is_function(const GElf_Sym *s)
{
    unsigned type = GELF_ST_TYPE(s->st_info);
    return (type == STT_FUNC || type == STT_GNU_IFUNC) && s->st_size > 0 &&
           s->st_size <= UINT32_MAX;
}

static size_t count_underscores(struct slice name)
{
    size_t n = 0;
    while (n < name.len && name.s[n] == '_')
        n++;
    return n;
}

/* Of several names of one function, the one with the fewest leading underscores. */
static int compare_symbols(const void *a, const void *b)
{
    const struct image_name *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    size_t first = count_underscores(x->name), second = count_underscores(y->name);
    if (first != second)
        return first < second ? -1 : 1;
    return slice_order(x->name, y->name);
}

static size_t without_doubles(struct image_name *names, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (kept == 0 || names[kept - 1].start != names[i].start)
            names[kept++] = names[i];
    }
    return kept;
}

static void list_functions(struct image_file *f, const struct image_table *t)
{
    size_t n = count_symbols(t);
    if (n == 0)
        return;
    f->names = alloc_zero(n, sizeof *f->names);
    for (size_t i = 0; i < n; i++) {
        GElf_Sym s;
        const char *name = symbol_at(t, i, &s);
        if (name && is_function(&s))
            f->names[f->n_names++] = (struct image_name){
                s.st_value, {name, strnlen(name, LIMIT_SYMBOL_BYTES)}, (uint32_t)s.st_size};
    }
    qsort(f->names, f->n_names, sizeof *f->names, compare_symbols);
    f->n_names = without_doubles(f->names, f->n_names);
}

void image_names_read(struct image_file *f)
{
    list_functions(f, &f->own);
    if (f->n_names == 0) {
        free(f->names);
        f->names = NULL;
        list_functions(f, &f->exported);
    }
}

struct image_name *image_name_at(const struct image_file *f, uint64_t address)
{
    const size_t until = cfi_until(f->names, f->n_names, sizeof *f->names, address);
    for (size_t i = until; i > 0 && until - i < OVERLAPS; i--) {
        struct image_name *n = &f->names[i - 1];
        if (address - n->start < n->size)
            return n;
    }
    return NULL;
}

static uint64_t find_address(const struct image_table *t, const char *name)
{
    GElf_Sym s;
    for (size_t i = 0, n = count_symbols(t); i < n; i++) {
        const char *other = symbol_at(t, i, &s);
        if (other && strcmp(other, name) == 0)
            return s.st_value;
    }
    return 0;
}

uint64_t image_symbol_find(const struct image_file *f, const char *name)
{
    uint64_t found = find_address(&f->own, name);
    return found ? found : find_address(&f->exported, name);
}

uint64_t image_names_cover(const struct image_file *f)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < f->n_names; i++)
        sum += f->names[i].size;
    return sum;
}

#endif
