/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"
#include "beamtop/local/images.h"
#if defined HAVE_ELFUTILS && defined MACHINE_IS_SAMPLED
#include "local/image/image_file.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"

#ifndef SHT_X86_64_UNWIND
#define SHT_X86_64_UNWIND 0x70000001 /* what clang gives .eh_frame */
#endif

enum { BUILD_ID_BYTES = 64 };

/* Before libelf looks at it: it takes memory for as many sections as the header says. */
static bool header_fits(int fd)
{
    Elf64_Ehdr h;
    return pread(fd, &h, sizeof h, 0) == (ssize_t)sizeof h &&
           memcmp(h.e_ident, ELFMAG, SELFMAG) == 0 && h.e_ident[EI_CLASS] == ELFCLASS64 &&
           h.e_ident[EI_DATA] == ELFDATA2LSB && machine_of_elf(h.e_machine) &&
           (h.e_type == ET_EXEC || h.e_type == ET_DYN) && h.e_phnum <= LIMIT_IMAGE_SEGMENTS &&
           h.e_shnum <= LIMIT_IMAGE_SECTIONS && (h.e_shnum > 0 || h.e_shoff == 0);
}

static Elf *elf_of(int fd)
{
    elf_version(EV_CURRENT);
    return header_fits(fd) ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
}

/* The bytes of a section, once for each use. */
static Elf_Data *section_data(Elf *elf, size_t index, uint64_t *budget)
{
    GElf_Shdr h;
    Elf_Scn *scn = elf_getscn(elf, index);
    if (!scn || !gelf_getshdr(scn, &h) || h.sh_type == SHT_NOBITS ||
        (h.sh_flags & SHF_COMPRESSED) || h.sh_size == 0 || h.sh_size > *budget)
        return NULL;
    *budget -= h.sh_size;
    Elf_Data *d = elf_getdata(scn, NULL);
    return d && d->d_buf && d->d_size > 0 ? d : NULL;
}

static struct slice section_strings(Elf *elf, size_t index, uint64_t *budget)
{
    Elf_Data *d = section_data(elf, index, budget);
    struct slice all = d ? (struct slice){d->d_buf, d->d_size} : (struct slice){0};
    return all.len > 0 && all.s[all.len - 1] == '\0' ? all : (struct slice){0};
}

static struct slice string_at(struct slice all, uint64_t at)
{
    if (at >= all.len)
        return (struct slice){0};
    return (struct slice){all.s + at, strnlen(all.s + at, LIMIT_SYMBOL_BYTES)};
}

static void read_symbol_table(struct image_table *t, Elf *elf, size_t index, const GElf_Shdr *h,
                              uint64_t *budget)
{
    if (t->symbols || h->sh_entsize != sizeof(Elf64_Sym))
        return;
    t->strings = section_strings(elf, h->sh_link, budget);
    t->symbols = t->strings.len > 0 ? section_data(elf, index, budget) : NULL;
}

static struct slice read_build_id(Elf_Data *d)
{
    GElf_Nhdr note;
    size_t name, at;
    for (size_t next = 0; d && (next = gelf_getnote(d, next, &note, &name, &at)) > 0;) {
        const char *bytes = d->d_buf;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            memcmp(bytes + name, "GNU", 4) == 0 && note.n_descsz > 1 &&
            note.n_descsz <= BUILD_ID_BYTES)
            return (struct slice){bytes + at, note.n_descsz};
    }
    return (struct slice){0};
}

static void read_eh_frame(struct image_file *f, Elf_Data *d, uint64_t address)
{
    if (d && !f->cfi.bytes)
        cfi_read(&f->cfi, f->machine, d->d_buf, d->d_size, address);
}

static void read_section(struct image_file *f, size_t index, struct slice names, uint64_t *budget)
{
    GElf_Shdr h;
    Elf_Scn *scn = elf_getscn(f->elf, index);
    if (!scn || !gelf_getshdr(scn, &h))
        return;
    switch (h.sh_type) {
    case SHT_SYMTAB:
        read_symbol_table(&f->own, f->elf, index, &h, budget);
        break;
    case SHT_DYNSYM:
        read_symbol_table(&f->exported, f->elf, index, &h, budget);
        break;
    case SHT_DYNAMIC:
        if (f->dynamic)
            break;
        f->dynamic = section_data(f->elf, index, budget);
        f->dynamic_strings = section_strings(f->elf, h.sh_link, budget);
        break;
    case SHT_NOTE:
        if (f->build_id.len == 0)
            f->build_id = read_build_id(section_data(f->elf, index, budget));
        break;
    case SHT_PROGBITS:
    case SHT_X86_64_UNWIND:
        if (slice_is(string_at(names, h.sh_name), ".eh_frame"))
            read_eh_frame(f, section_data(f->elf, index, budget), h.sh_addr);
        break;
    default:
        break;
    }
}

static void read_segments(struct image_file *f)
{
    size_t n = 0;
    GElf_Phdr h;
    if (elf_getphdrnum(f->elf, &n) != 0)
        return;
    for (size_t i = 0; i < n && f->n_segments < LIMIT_IMAGE_SEGMENTS; i++) {
        if (gelf_getphdr(f->elf, (int)i, &h) && h.p_type == PT_LOAD)
            f->segments[f->n_segments++] = (struct image_segment){h.p_offset,
                                                                  h.p_filesz,
                                                                  h.p_vaddr,
                                                                  h.p_memsz,
                                                                  (h.p_flags & PF_X) != 0,
                                                                  (h.p_flags & PF_W) != 0};
    }
}

/* The table of a debug file that has the same build id: names that the file was stripped of. */
static void read_debug_table(struct image_file *f, uint64_t *budget)
{
    size_t sections = 0;
    struct slice id = {0};
    struct image_table table = {0};
    for (size_t i = 1; elf_getshdrnum(f->debug, &sections) == 0 && i < sections; i++) {
        GElf_Shdr h;
        Elf_Scn *scn = elf_getscn(f->debug, i);
        if (!scn || !gelf_getshdr(scn, &h))
            continue;
        if (h.sh_type == SHT_SYMTAB)
            read_symbol_table(&table, f->debug, i, &h, budget);
        if (h.sh_type == SHT_NOTE && id.len == 0)
            id = read_build_id(section_data(f->debug, i, budget));
    }
    if (slice_equal(id, f->build_id))
        f->own = table;
}

static void read_debug_file(struct image_file *f, uint64_t *budget)
{
    char name[2 * BUILD_ID_BYTES + 1] = "";
    for (size_t i = 0; i < f->build_id.len; i++) {
        static const char digits[] = "0123456789abcdef";
        name[2 * i] = digits[(uint8_t)f->build_id.s[i] >> 4];
        name[2 * i + 1] = digits[f->build_id.s[i] & 15];
    }
    char *path = alloc_printf("/usr/lib/debug/.build-id/%.2s/%s.debug", name, name + 2);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    free(path);
    if (fd < 0)
        return;
    f->debug = elf_of(fd);
    if (f->debug) {
        read_debug_table(f, budget);
        elf_cntl(f->debug, ELF_C_FDDONE);
    }
    close(fd);
}

/* The string of entry i of those with that tag. */
static struct slice dynamic_string(const struct image_file *f, int64_t tag, size_t i)
{
    GElf_Dyn d;
    for (int at = 0; at < LIMIT_IMAGE_DYNAMIC; at++) {
        if (!f->dynamic || !gelf_getdyn(f->dynamic, at, &d) || d.d_tag == DT_NULL)
            break;
        if (d.d_tag == tag && i-- == 0)
            return string_at(f->dynamic_strings, d.d_un.d_val);
    }
    return (struct slice){0};
}

bool image_file_read(struct image_file *f, int fd, uint64_t *budget)
{
    size_t sections = 0, names_index = 0;
    f->elf = elf_of(fd);
    GElf_Ehdr header;
    if (!f->elf || !gelf_getehdr(f->elf, &header) ||
        !(f->machine = machine_of_elf(header.e_machine)))
        return false;
    read_segments(f);
    struct slice names = {0};
    if (elf_getshdrnum(f->elf, &sections) == 0 && elf_getshdrstrndx(f->elf, &names_index) == 0)
        names = section_strings(f->elf, names_index, budget);
    for (size_t i = 1; i < sections; i++)
        read_section(f, i, names, budget);
    if (!f->own.symbols && f->build_id.len > 0)
        read_debug_file(f, budget);
    f->soname = dynamic_string(f, DT_SONAME, 0);
    image_names_read(f);
    elf_cntl(f->elf, ELF_C_FDDONE);
    return true;
}

void image_file_clear(struct image_file *f)
{
    cfi_clear(&f->cfi);
    free(f->names);
    elf_end(f->debug);
    elf_end(f->elf);
    *f = (struct image_file){0};
}

struct slice image_file_needed(const struct image_file *f, size_t i)
{
    return dynamic_string(f, DT_NEEDED, i);
}

bool image_file_bias(const struct image_file *f, uint64_t start, uint64_t offset, uint64_t *bias)
{
    for (size_t i = 0; i < f->n_segments; i++) {
        const struct image_segment *s = &f->segments[i];
        uint64_t page = s->offset & ~UINT64_C(4095);
        if (s->code && page <= offset && offset - page < s->file_size + (s->offset - page)) {
            *bias = start - (s->address - s->offset + offset);
            return true;
        }
    }
    return false;
}

#endif
