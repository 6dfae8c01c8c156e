/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One file with code: what of it is needed, read with pread(2) by libelf, never mapped, since its
 * owner may shorten it at any moment. What does not fit is left out. */
#ifndef BEAMTOP_LOCAL_IMAGE_FILE_H
#define BEAMTOP_LOCAL_IMAGE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <libelf.h>

#include "beamtop/base/limits.h"
#include "beamtop/base/slice.h"
#include "local/image/image_cfi.h"

struct image_segment {
    uint64_t offset, file_size, address, size;
    bool code, writable;
};

struct image_table {
    Elf_Data *symbols;    /* NULL: none */
    struct slice strings; /* ends with a NUL */
};

struct image_name {
    uint64_t start;
    struct slice name;
    uint32_t size;
};

struct image_file {
    Elf *elf, *debug; /* NULL: no ELF file */
    const struct machine *machine;
    struct image_segment segments[LIMIT_IMAGE_SEGMENTS];
    size_t n_segments;
    struct image_table own, exported; /* .symtab, of the debug file as well; .dynsym */
    struct image_name *names;         /* functions, by start */
    size_t n_names;
    struct cfi cfi;
    Elf_Data *dynamic;
    struct slice dynamic_strings, build_id, soname;
};

/* Reads the file; the descriptor is no longer needed afterwards, and stays open. *budget: bytes
 * that may be read. False: not an ELF file of a machine that is
 * sampled. */
bool image_file_read(struct image_file *f, int fd, uint64_t *budget);
void image_file_clear(struct image_file *f);
/* The name of the library that it needs as i-th; empty: no more. */
struct slice image_file_needed(const struct image_file *f, size_t i);
/* What to add to addresses of the file where it is mapped at start from offset on. */
bool image_file_bias(const struct image_file *f, uint64_t start, uint64_t offset, uint64_t *bias);

/* image_symbols.c: the functions of the better table, sorted. */
void image_names_read(struct image_file *f);
/* The one that covers the address of the file; NULL: none. */
struct image_name *image_name_at(const struct image_file *f, uint64_t address);
/* The address of any symbol of that name; 0: none. */
uint64_t image_symbol_find(const struct image_file *f, const char *name);
/* Bytes that the names cover. */
uint64_t image_names_cover(const struct image_file *f);

#endif
