/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"
#include "beamtop/local/images.h"
#if defined HAVE_ELFUTILS && defined MACHINE_IS_SAMPLED
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/arena.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/regular.h"
#include "local/image/image_file.h"
#include "local/image/image_maps.h"

enum {
    VDSO_BYTES = 64 * 1024,
};

struct image {
    char *path; /* "[vdso]" */
    struct slice object;
    unsigned major, minor;
    uint64_t inode;
    int fd;                      /* -1: could not be opened, or read already */
    bool executable, unreadable; /* the VM's own; opened, but not an ELF file */
    bool denied;                 /* not opened, since that is not allowed */
    enum frame_kind kind;
    struct image_file file;
};

struct range {
    uint64_t start, end, offset, bias;
    size_t image;
    bool placed; /* bias is known */
};

struct kept_row {
    uint64_t at; /* 0: none */
    bool there;
    struct cfi_row row;
};

struct images {
    pid_t pid;
    int maps;
    uint64_t mapped; /* a sum of what was mapped as code */
    struct image *images;
    struct range *ranges; /* by address */
    size_t n_images, n_ranges;
    uint64_t budget;
    struct arena names;
    struct kept_row *rows;
};

/* ---- maps */

static int read_maps(int fd, struct buf *out)
{
    uint8_t piece[16 * 1024];
    ssize_t n;
    if (lseek(fd, 0, SEEK_SET) < 0)
        return -1;
    while ((n = read(fd, piece, sizeof piece)) > 0 && !out->overflow)
        buf_put(out, piece, (size_t)n);
    return n < 0 ? -1 : 0;
}

/* Code of a file, or the vdso; not what a JIT writes to (asmjit: a memfd, /dev/shm, shm-id-…). */
static bool is_code(const struct image_map *m)
{
    if (!m->executable || m->path.len == 0)
        return false;
    if (slice_is(m->path, "[vdso]"))
        return true;
    return m->inode != 0 && m->path.s[0] == '/' && !slice_begins(m->path, "/memfd:") &&
           !slice_begins(m->path, "/dev/") && !slice_begins(m->path, "/SYSV") &&
           !slice_begins(m->path, "/tmp/shm-id-");
}

static uint64_t sum_map(uint64_t sum, const struct image_map *m)
{
    const uint64_t prime = UINT64_C(0x100000001b3);
    return (((sum ^ m->start) * prime ^ m->end) * prime ^ m->inode) * prime;
}

/* ---- opening */

/* The device of a file on btrfs is not what maps has: a subvolume has its own. */
static bool is_mapped(int fd, const struct image *image)
{
    struct stat st;
    struct statfs fs;
    if (fstat(fd, &st) != 0 || st.st_ino != image->inode)
        return false;
    return st.st_dev == makedev(image->major, image->minor) ||
           (fstatfs(fd, &fs) == 0 && fs.f_type == BTRFS_SUPER_MAGIC);
}

static int open_mapped(const char *path, const struct image *image)
{
    int place = open(path, O_PATH | O_CLOEXEC);
    if (place < 0 || is_mapped(place, image))
        return regular_open(place);
    close(place);
    return -1;
}

/* In a container the path is that of its root; in a chroot that of the reader; a file that was
 * replaced has none, and root finds it by its mapping. */
static int open_image(pid_t pid, struct image *image, const struct image_map *m)
{
    char *path = alloc_printf("/proc/%d/root%s", (int)pid, image->path);
    errno = 0;
    int fd = open_mapped(path, image);
    const bool denied = fd < 0 && errno == EACCES;
    free(path);
    if (fd < 0)
        fd = open_mapped(image->path, image);
    if (fd < 0) {
        path = alloc_printf("/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, m->start, m->end);
        fd = open_mapped(path, image);
        free(path);
    }
    image->denied = fd < 0 && denied;
    return fd;
}

static struct image *add_image(struct images *i, const struct image_map *m, const char *executable)
{
    if (i->n_images == LIMIT_IMAGES)
        return NULL;
    i->images = alloc_resize(i->images, i->n_images + 1, sizeof *i->images);
    struct image *image = &i->images[i->n_images++];
    *image = (struct image){.path = image_map_path(m),
                            .major = m->major,
                            .minor = m->minor,
                            .inode = m->inode,
                            .kind = FRAME_UNKNOWN,
                            .fd = -1};
    const char *slash = strrchr(image->path, '/');
    image->object = slice_keep(&i->names, slice_of(slash ? slash + 1 : image->path));
    image->executable = executable && strcmp(image->path, executable) == 0;
    if (m->inode != 0)
        image->fd = open_image(i->pid, image, m);
    return image;
}

static struct image *image_of(struct images *i, const struct image_map *m, const char *executable)
{
    for (size_t k = 0; k < i->n_images; k++) {
        struct image *image = &i->images[k];
        if (image->inode == m->inode && image->major == m->major && image->minor == m->minor)
            return image;
    }
    return add_image(i, m, executable);
}

static char *executable_of(pid_t pid)
{
    char path[4096], *link = alloc_printf("/proc/%d/exe", (int)pid);
    ssize_t n = readlink(link, path, sizeof path);
    free(link);
    if (n <= 0)
        return NULL;
    struct image_map m = {.path = {path, (size_t)n}};
    return image_map_path(&m);
}

static void take_maps(struct images *i, struct slice text)
{
    struct image_map m;
    char *executable = executable_of(i->pid);
    while (image_map_next(&text, &m)) {
        struct image *image = is_code(&m) ? image_of(i, &m, executable) : NULL;
        if (!image)
            continue;
        i->mapped = sum_map(i->mapped, &m);
        i->ranges = alloc_grow(i->ranges, i->n_ranges, sizeof *i->ranges);
        i->ranges[i->n_ranges++] =
            (struct range){m.start, m.end, m.offset, 0, (size_t)(image - i->images), false};
    }
    free(executable);
}

int images_open(struct images **out, pid_t pid, struct error *err)
{
    char *path = alloc_printf("/proc/%d/maps", (int)pid);
    struct buf text;
    buf_init(&text, LIMIT_IMAGE_MAPS_BYTES);
    *out = NULL;
    struct images *i = alloc_zero(1, sizeof *i);
    i->pid = pid;
    i->budget = LIMIT_IMAGE_BYTES;
    arena_init(&i->names);
    i->maps = open(path, O_RDONLY | O_CLOEXEC);
    if (i->maps < 0 || read_maps(i->maps, &text) != 0) {
        int code = error_set_errno(err, errno, "cannot read %s", path);
        images_free(i);
        i = NULL;
        free(path);
        buf_clear(&text);
        return code;
    }
    take_maps(i, (struct slice){(const char *)text.data, text.len});
    i->rows = alloc_zero(LIMIT_IMAGE_ROWS, sizeof *i->rows);
    free(path);
    buf_clear(&text);
    *out = i;
    return 0;
}

void images_free(struct images *i)
{
    if (!i)
        return;
    for (size_t k = 0; k < i->n_images; k++) {
        free(i->images[k].path);
        if (i->images[k].fd >= 0)
            close(i->images[k].fd);
        image_file_clear(&i->images[k].file);
    }
    if (i->maps >= 0)
        close(i->maps);
    arena_clear(&i->names);
    free(i->images);
    free(i->ranges);
    free(i->rows);
    free(i);
}

bool images_changed(const struct images *i)
{
    struct image_map m;
    struct buf text;
    uint64_t mapped = 0;
    buf_init(&text, LIMIT_IMAGE_MAPS_BYTES);
    bool read = read_maps(i->maps, &text) == 0;
    struct slice rest = {(const char *)text.data, text.len};
    while (image_map_next(&rest, &m)) {
        if (is_code(&m))
            mapped = sum_map(mapped, &m);
    }
    buf_clear(&text);
    return !read || mapped != i->mapped;
}

/* ---- parsing */

/* Writes the vdso into a file, so that one reader serves both. */
static int vdso_file(const struct range *r, const struct memory *m)
{
    uint8_t *bytes = NULL;
    size_t len = r->end - r->start;
    int fd = -1;
    if (len <= VDSO_BYTES) {
        bytes = alloc_zero(len, 1);
        if (memory_read(m, r->start, bytes, len))
            fd = memfd_create("vdso", MFD_CLOEXEC);
    }
    if (fd >= 0 && pwrite(fd, bytes, len, 0) != (ssize_t)len) {
        close(fd);
        fd = -1;
    }
    free(bytes);
    return fd;
}

static void parse_image(struct images *i, struct image *image)
{
    if (image->fd < 0)
        return;
    image->unreadable = !image_file_read(&image->file, image->fd, &i->budget) ||
                        image->file.machine != machine_of_host();
    close(image->fd);
    image->fd = -1;
}

static void place_ranges(struct images *i)
{
    size_t kept = 0;
    for (size_t k = 0; k < i->n_ranges; k++) {
        struct range r = i->ranges[k];
        if (i->images[r.image].unreadable)
            continue; /* no code of a file: a JIT's */
        r.placed = image_file_bias(&i->images[r.image].file, r.start, r.offset, &r.bias);
        i->ranges[kept++] = r;
    }
    i->n_ranges = kept;
}

/* By its own name for the linker; of a file that could not be opened by that of the file, which
 * has more digits behind (libz.so.1 is libz.so.1.2.13). */
static bool is_library(const struct image *image, struct slice needed)
{
    if (image->file.soname.len > 0)
        return slice_equal(image->file.soname, needed);
    return image->object.len >= needed.len && memcmp(image->object.s, needed.s, needed.len) == 0;
}

static void mark_libraries(struct images *i, const struct image *image)
{
    struct slice needed;
    for (size_t n = 0; (needed = image_file_needed(&image->file, n)).len > 0; n++) {
        for (size_t k = 0; k < i->n_images; k++) {
            if (i->images[k].kind == FRAME_NIF && is_library(&i->images[k], needed))
                i->images[k].kind = FRAME_LIBC;
        }
    }
}

/* Marks the executable's libraries, then theirs, until no other is found. */
static void find_kinds(struct images *i)
{
    bool *seen = alloc_zero(i->n_images, sizeof *seen);
    for (size_t k = 0; k < i->n_images; k++) {
        struct image *image = &i->images[k];
        image->kind = image->executable   ? FRAME_RUNTIME
                      : image->inode == 0 ? FRAME_LIBC
                                          : FRAME_NIF;
    }
    for (size_t k = 0; k < i->n_images;) {
        if (seen[k] || i->images[k].kind == FRAME_NIF) {
            k++;
            continue;
        }
        seen[k] = true;
        mark_libraries(i, &i->images[k]);
        k = 0;
    }
    free(seen);
}

void images_parse(struct images *i, const struct memory *m)
{
    for (size_t k = 0; k < i->n_ranges; k++) {
        struct image *image = &i->images[i->ranges[k].image];
        if (image->inode == 0 && image->fd < 0)
            image->fd = vdso_file(&i->ranges[k], m);
    }
    for (size_t k = 0; k < i->n_images; k++)
        parse_image(i, &i->images[k]);
    place_ranges(i);
    find_kinds(i);
}

/* ---- questions */

static const struct range *range_at(const struct images *i, uint64_t address)
{
    const size_t n = cfi_until(i->ranges, i->n_ranges, sizeof *i->ranges, address);
    return n > 0 && address < i->ranges[n - 1].end ? &i->ranges[n - 1] : NULL;
}

bool images_symbol(struct images *i, uint64_t address, struct image_symbol *out)
{
    *out = (struct image_symbol){.kind = FRAME_UNKNOWN};
    const struct range *r = range_at(i, address);
    if (!r)
        return false;
    const struct image *image = &i->images[r->image];
    out->kind = image->kind;
    out->object = image->object;
    const struct image_name *n = r->placed ? image_name_at(&image->file, address - r->bias) : NULL;
    if (!n)
        return true;
    out->name = n->name;
    out->start = n->start + r->bias;
    return true;
}

static const struct range *executable_range(const struct images *i)
{
    for (size_t k = 0; k < i->n_ranges; k++) {
        if (i->images[i->ranges[k].image].executable && i->ranges[k].placed)
            return &i->ranges[k];
    }
    return NULL;
}

uint64_t images_find(struct images *i, const char *name)
{
    const struct range *r = executable_range(i);
    uint64_t found = r ? image_symbol_find(&i->images[r->image].file, name) : 0;
    return found ? found + r->bias : 0;
}

size_t images_writable(const struct images *i, struct jit_range *out, size_t size)
{
    const struct range *r = executable_range(i);
    size_t n = 0;
    for (size_t k = 0; r && n < size && k < i->images[r->image].file.n_segments; k++) {
        const struct image_segment *s = &i->images[r->image].file.segments[k];
        uint64_t start = s->address + r->bias;
        if (s->writable && s->size <= LIMIT_IMAGE_WRITABLE_BYTES && start + s->size > start)
            out[n++] = (struct jit_range){start, start + s->size};
    }
    return n;
}

bool images_is_denied(const struct images *i)
{
    for (size_t k = 0; k < i->n_images; k++)
        if (i->images[k].executable && i->images[k].denied)
            return true;
    return false;
}

bool images_has_symbols(const struct images *i)
{
    const struct range *r = executable_range(i);
    if (!r)
        return false;
    uint64_t code = 0;
    const struct image_file *f = &i->images[r->image].file;
    for (size_t k = 0; k < f->n_segments; k++)
        code += f->segments[k].code ? f->segments[k].file_size : 0;
    return code > 0 && image_names_cover(f) >= code / 4;
}

bool images_is_stripped(const struct images *i)
{
    const struct range *r = executable_range(i);
    return !r || !i->images[r->image].file.own.symbols;
}

/* NULL: no rule for it. */
static const struct cfi_row *row_at(struct images *i, const struct range *r, uint64_t at)
{
    struct kept_row *k = &i->rows[at * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (LIMIT_IMAGE_ROWS - 1)];
    if (k->at != at) {
        k->at = at;
        k->there = r->placed && cfi_row(&i->images[r->image].file.cfi, at - r->bias, &k->row);
    }
    return k->there ? &k->row : NULL;
}

enum step images_step(struct images *i, struct registers *r, bool *leaf, const struct memory *stack)
{
    const struct machine *machine = machine_of_host();
    uint64_t at = r->value[machine->pc] - (*leaf ? 0 : 1);
    const struct range *range = registers_know(r, machine->pc) ? range_at(i, at) : NULL;
    if (!range)
        return STEP_NO_IMAGE;
    const struct cfi_row *row = row_at(i, range, at);
    const bool signal = row ? row->signal : !*leaf;
    enum step s = row     ? cfi_step(machine, row, *leaf, r, stack)
                  : *leaf ? cfi_step_link(machine, true, r)
                          : cfi_step_signal(machine, r, stack);
    if (s == STEP_CALLER)
        *leaf = signal;
    return s;
}

#endif
