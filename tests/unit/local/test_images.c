/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Images of this very process, and rows of CFI against those of libdw. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../test.h"
#include "beamtop/base/arena.h"
#include "beamtop/base/limits.h"
#include "beamtop/local/images.h"
#include "local/image/image_cfi.h"
#include "local/image/image_maps.h"

/* ---- maps */

static const char maps[] =
    "55e6b8df0000-55e6b8df5000 r-xp 00002000 fe:01 247134                     /usr/bin/cat\n"
    "nonsense\n"
    "2-1 r-xp 0 0:0 0\n"
    "7fb6a3a34000-7fb6a3a56000 rw-p 00000000 00:00 0 \n"
    "7fb6a3a56000-7fb6a3aad000 r-xp 00000000 fe:00 7     /tmp/a b\\012c\\134.so (deleted)";

TEST(test_maps)
{
    struct slice text = slice_of(maps);
    struct image_map m;
    assert_true(image_map_next(&text, &m));
    assert_true(m.start == 0x55e6b8df0000 && m.end == 0x55e6b8df5000 && m.offset == 0x2000);
    assert_true(m.major == 0xfe && m.minor == 1 && m.inode == 247134 && m.executable);
    assert_true(slice_is(m.path, "/usr/bin/cat"));
    assert_true(image_map_next(&text, &m));
    assert_true(m.inode == 0 && !m.executable && m.path.len == 0);
    assert_true(image_map_next(&text, &m));
    char *path = image_map_path(&m);
    assert_string_equal(path, "/tmp/a b\nc\\.so");
    free(path);
    assert_false(image_map_next(&text, &m));
}

/* ---- expressions */

static bool read_word(void *arg, uint64_t at, void *out, size_t len)
{
    if (at != 0x5000 || len != 8)
        return false;
    memcpy(out, arg, 8);
    return true;
}

struct expression {
    const char *bytes;
    size_t len;
    enum step step;
    uint64_t value;
};

#define EXPRESSION(bytes, step, value)                                                             \
    {                                                                                              \
        bytes, sizeof(bytes) - 1, step, value                                                      \
    }

static const struct expression expressions[] = {
    /* The CFA in a PLT entry: breg7 8, breg16 0, lit15, and, lit11, ge, lit3, shl, plus. */
    EXPRESSION("\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22", STEP_CALLER, 0x1000 + 8 + 8),
    EXPRESSION("\x92\x07\x78", STEP_CALLER, 0x1000 - 8), /* bregx 7 -8 */
    EXPRESSION("\x08\xff\x09\xff\x22", STEP_CALLER, 254),
    EXPRESSION("\x0a\x01\x02\x0b\xff\xff\x22", STEP_CALLER, 0x200),
    EXPRESSION("\x0c\x01\x02\x03\x04", STEP_CALLER, 0x04030201),
    EXPRESSION("\x0d\xff\xff\xff\xff", STEP_CALLER, UINT64_MAX),
    EXPRESSION("\x0e\x01\x02\x03\x04\x05\x06\x07\x08", STEP_CALLER, 0x0807060504030201),
    EXPRESSION("\x10\x80\x01\x11\x7f\x1c", STEP_CALLER, 129), /* constu 128, consts -1, minus */
    EXPRESSION("\x31\x23\x80\x01", STEP_CALLER, 129),         /* lit1, plus_uconst 128 */
    EXPRESSION("\x31\x08\x40\x24", STEP_CALLER, 0),           /* 1 << 64 */
    EXPRESSION("\x0a\x00\x50\x06", STEP_CALLER, 77),          /* const2u 0x5000, deref */
    EXPRESSION("\x30\x06", STEP_MEMORY, 0),
    EXPRESSION("", STEP_EXPRESSION, 0),
    EXPRESSION("\x50", STEP_EXPRESSION, 0),     /* reg0 */
    EXPRESSION("\x31\x22", STEP_EXPRESSION, 0), /* plus of one value */
    EXPRESSION("\x06", STEP_EXPRESSION, 0),
    EXPRESSION("\x23\x01", STEP_EXPRESSION, 0),
    EXPRESSION("\x0e\x01\x02", STEP_EXPRESSION, 0),     /* ends within */
    EXPRESSION("\x10\x80", STEP_EXPRESSION, 0),         /* ends within */
    EXPRESSION("\x73\x00", STEP_EXPRESSION, 0),         /* breg3: not known */
    EXPRESSION("\x92\xff\x7f\x00", STEP_EXPRESSION, 0), /* no such register */
};

TEST(test_expressions)
{
    uint64_t word = 77, out;
    const struct memory m = {read_word, &word};
    const struct machine *x86 = &machine_x86_64;
    struct registers r = {.known = 1u << x86->sp | 1u << x86->pc};
    r.value[x86->sp] = 0x1000;
    r.value[x86->pc] = 0x40102b;
    for (size_t i = 0; i < ARRAY_LEN(expressions); i++) {
        const struct expression *e = &expressions[i];
        out = 0;
        enum step s = cfi_expression((const uint8_t *)e->bytes, e->len, &r, NULL, &m, &out);
        if (s != e->step || out != e->value)
            fail_msg("expression %zu: step %d, value %llx", i, (int)s, (unsigned long long)out);
    }
}

TEST(test_expression_limits)
{
    uint64_t out, cfa = 5;
    struct registers r = {0};
    uint8_t bytes[LIMIT_EXPRESSION_BYTES + 1];
    memset(bytes, 0x31, sizeof bytes); /* lit1 */
    assert_int_equal(cfi_expression(bytes, LIMIT_EXPRESSION_STACK, &r, NULL, NULL, &out),
                     STEP_CALLER);
    assert_int_equal(cfi_expression(bytes, LIMIT_EXPRESSION_STACK, &r, &cfa, NULL, &out),
                     STEP_EXPRESSION);
    for (size_t i = 0; i + 1 < sizeof bytes; i += 2)
        bytes[i + 1] = 0x22; /* plus, again and again */
    assert_int_equal(cfi_expression(bytes, LIMIT_EXPRESSION_BYTES, &r, &cfa, NULL, &out),
                     STEP_CALLER);
    assert_int_equal(out, 5 + LIMIT_EXPRESSION_BYTES / 2);
    assert_int_equal(cfi_expression(bytes, sizeof bytes, &r, &cfa, NULL, &out), STEP_EXPRESSION);
}

#if defined HAVE_LIBDW && defined MACHINE_IS_SAMPLED
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "local/image/image_file.h"
#include "local/image/image_name.h"

int named_function(int n);
int mangled_function(int n) __asm__("_Z16mangled_functioni");
static int initialised = 1;
static pid_t self;

int named_function(int n)
{
    return n + initialised;
}

int mangled_function(int n)
{
    return n - initialised;
}

static struct images *open_self(struct memory *m)
{
    struct images *i = NULL;
    struct error err = {0};
    self = getpid();
    *m = memory_of_process(&self);
    assert_int_equal(images_open(&i, self, &err), 0);
    images_parse(i, m);
    return i;
}

static void symbol_is(struct images *i, uint64_t address, enum frame_kind kind, const char *object,
                      const char *name)
{
    struct image_symbol s;
    assert_true(images_symbol(i, address, &s));
    assert_int_equal(s.kind, kind);
    assert_true(slice_is(s.object, object));
    if (!slice_is(s.name, name))
        fail_msg("%.*s in place of %s", (int)s.name.len, s.name.s, name);
}

TEST(test_symbols)
{
    struct memory m;
    struct images *i = open_self(&m);
    struct image_symbol s;
    uint64_t at = (uint64_t)(uintptr_t)named_function;
    symbol_is(i, at, FRAME_RUNTIME, "test_images", "named_function");
    symbol_is(i, at + 1, FRAME_RUNTIME, "test_images", "named_function");
    /* As the file has it: the readers ask, who must not wait for a demangler. */
    symbol_is(i, (uint64_t)(uintptr_t)mangled_function, FRAME_RUNTIME, "test_images",
              "_Z16mangled_functioni");
    symbol_is(i, (uint64_t)(uintptr_t)getppid, FRAME_LIBC, "libc.so.6", "getppid");
    assert_true(images_find(i, "named_function") == at);
    assert_true(images_find(i, "initialised") == (uint64_t)(uintptr_t)&initialised);
    assert_true(images_find(i, "no_such_function") == 0);
    assert_true(images_has_symbols(i) && !images_is_stripped(i));
    assert_false(images_symbol(i, (uint64_t)(uintptr_t)&s, &s));
    assert_false(images_symbol(i, 0, &s));
    images_free(i);
}

TEST(test_writable)
{
    struct memory m;
    struct images *i = open_self(&m);
    struct jit_range ranges[4];
    uint64_t at = (uint64_t)(uintptr_t)&initialised;
    bool found = false;
    for (size_t n = images_writable(i, ranges, ARRAY_LEN(ranges)), k = 0; k < n; k++)
        found |= ranges[k].start <= at && at < ranges[k].end;
    assert_true(found);
    assert_int_equal(images_writable(i, ranges, 0), 0);
    images_free(i);
}

TEST(test_vdso)
{
    struct memory m;
    struct images *i = open_self(&m);
    struct image_symbol s;
    size_t named = 0;
    uint64_t at = getauxval(AT_SYSINFO_EHDR);
    for (; images_symbol(i, at, &s) && slice_is(s.object, "[vdso]"); at += 16) {
        assert_int_equal(s.kind, FRAME_LIBC);
        named += s.name.len > 0;
    }
    assert_true(named > 0);
    images_free(i);
}

/* Jansson is not among what this test is linked with. */
TEST(test_loaded)
{
    struct memory m;
    struct images *before = open_self(&m);
    assert_false(images_changed(before));
    void *library = dlopen("libjansson.so.4", RTLD_NOW);
    if (!library) {
        images_free(before);
        print_message("there is no libjansson.so.4 to load\n");
        skip();
    }
    assert_true(images_changed(before));
    images_free(before);
    struct images *i = open_self(&m);
    struct image_symbol s;
    assert_true(images_symbol(i, (uint64_t)(uintptr_t)dlsym(library, "json_object"), &s));
    assert_int_equal(s.kind, FRAME_NIF);
    assert_true(slice_is(s.name, "json_object"));
    images_free(i);
    dlclose(library);
}

TEST(test_gone)
{
    struct images *i = NULL;
    struct error err = {0};
    assert_int_equal(images_open(&i, 0x7ffffffe, &err), ERR_SYSTEM);
    assert_null(i);
    images_free(NULL);
}

/* ---- names */

static void name_is(const char *mangled, const char *name)
{
    struct arena a;
    unsigned slow = 1;
    arena_init(&a);
    assert_true(slice_is(image_demangle(&a, mangled, &slow), name));
    assert_int_equal(slow, 1);
    arena_clear(&a);
}

TEST(test_names)
{
    name_is("copy_struct_x", "copy_struct_x");
    name_is("_start", "_start");
    name_is("_Z17beam_jit_call_nifP7process", "beam_jit_call_nif");
    name_is("_ZN7mycrate3foo3bar17h05af221e174051e9E", "mycrate::foo::bar");
    name_is("_RNvCs1234_7mycrate3foo", "mycrate::foo");
    name_is("_RNvC7mycrate7read_u8", "mycrate::read_u8");
    name_is("_Z7read_u8v", "read_u8");
    name_is("_RNvC7mycrateu8gdel_5qa", "mycrate::g\303\266del");
    name_is("_RXIC1aFG0_EuEpC1b", "<_ as b>");
}

/* An identifier in punycode is allocated, which a signal must not leave. */
TEST(test_slow_punycode)
{
    name_is("_RXIC1aFGzzzzzzzz_EuEpCu8gdel_5qa", "_RXIC1aFGzzzzzzzz_EuEpCu8gdel_5qa");
    name_is("_RXIC1aFGzz_EuEpCu8gdel_5qa", "_RXIC1aFGzz_EuEpCu8gdel_5qa");
    name_is("_RXIC1aFG0_EuEpCu8gdel_5qa", "<_ as g\303\266del>");
}

/* Each level names the one before it twice: 2^40 letters from 500. */
TEST(test_name_bomb)
{
    struct arena a;
    unsigned slow = 1;
    char name[LIMIT_SYMBOL_BYTES + 2] = "_Z1fIN1a1bI1c1dE";
    for (int i = 0; i < 36; i++) {
        char seq[16] = "S_";
        if (i > 0)
            snprintf(seq, sizeof seq, "S%c_", i <= 10 ? '0' + i - 1 : 'A' + i - 11);
        snprintf(name + strlen(name), sizeof name - strlen(name), "1xI%s%sE", seq, seq);
    }
    strncat(name, "EEvv", sizeof name - strlen(name) - 1);
    arena_init(&a);
    struct slice s = image_demangle(&a, name, &slow);
    assert_true(s.len <= LIMIT_SYMBOL_BYTES);
    memset(name, 'x', sizeof name - 1);
    name[0] = '_';
    name[1] = 'Z';
    s = image_demangle(&a, name, &slow);
    assert_int_equal(s.len, LIMIT_SYMBOL_BYTES);
    arena_clear(&a);
}

static size_t put_substitution(char *out, size_t size, int n)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    if (n == 0)
        return (size_t)snprintf(out, size, "S_");
    return n - 1 < 36
               ? (size_t)snprintf(out, size, "S%c_", digits[n - 1])
               : (size_t)snprintf(out, size, "S%c%c_", digits[(n - 1) / 36], digits[(n - 1) % 36]);
}

/* A function that takes itself twice, LEVELS times, in a pack: 2^50 places to look for the pack's
 * length before the first letter. */
static void put_slow_name(char *out, size_t size)
{
    enum { LEVELS = 50, FIRST = 1 };
    char *at = out + snprintf(out, size, "_Z1fIM");
    for (int i = 0; i < LEVELS; i++)
        at += snprintf(at, size - (size_t)(at - out), "PFv");
    at += snprintf(at, size - (size_t)(at - out), "PFviE");
    for (int i = 1; i <= LEVELS; i++) {
        at += put_substitution(at, size - (size_t)(at - out), FIRST + 2 * (i - 1) + 1);
        at += snprintf(at, size - (size_t)(at - out), "E");
    }
    at += snprintf(at, size - (size_t)(at - out), "FDp");
    at += put_substitution(at, size - (size_t)(at - out), FIRST + 2 * LEVELS + 1);
    snprintf(at, size - (size_t)(at - out), "vEEvv");
}

/* The VM's user may send the timer's signal with any address. */
static void send_forged(void)
{
    siginfo_t forged = {.si_signo = SIGVTALRM, .si_code = SI_TIMER};
    forged.si_value.sival_ptr = &forged;
    assert_int_equal(
        syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)syscall(SYS_gettid), SIGVTALRM, &forged),
        0);
}

/* It stays as it is after some CPU time, and after some such names all others do. */
TEST(test_slow_names)
{
    struct arena a;
    char cplus[LIMIT_SYMBOL_BYTES];
    /* 62^8 lifetimes, of which none is written. */
    const char *const names[] = {cplus, "_RXIC1aFGzzzzzzzz_EuEpC1b", cplus};
    sigset_t before, after;
    put_slow_name(cplus, sizeof cplus);
    arena_init(&a);
    sigprocmask(SIG_BLOCK, NULL, &before);
    for (unsigned slow = ARRAY_LEN(names); slow > 0;) {
        const unsigned left = slow;
        const char *name = names[left - 1];
        assert_true(slice_is(image_demangle(&a, name, &slow), name));
        assert_int_equal(slow, left - 1);
        name_is("_Z17beam_jit_call_nifP7process", "beam_jit_call_nif");
        send_forged();
    }
    unsigned none = 0;
    assert_true(slice_is(image_demangle(&a, "_Z1fv", &none), "_Z1fv"));
    sigprocmask(SIG_BLOCK, NULL, &after);
    assert_int_equal(sigismember(&before, SIGVTALRM), sigismember(&after, SIGVTALRM));
    arena_clear(&a);
}

/* ---- steps */

struct walk {
    struct images *images;
    struct memory memory;
    const char *want[4]; /* in this order, others may be between */
    size_t found, steps, signals;
    enum step end;
};

static void start_at(struct registers *r, const ucontext_t *from)
{
    const struct machine *machine = machine_of_host();
#ifdef __x86_64__
    static const int order[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        r->value[i] = (uint64_t)from->uc_mcontext.gregs[order[i]];
#else
    for (size_t i = 0; i < machine->sp; i++)
        r->value[i] = from->uc_mcontext.regs[i];
    r->value[machine->sp] = from->uc_mcontext.sp;
    r->value[machine->pc] = from->uc_mcontext.pc;
#endif
    r->known = (UINT64_C(1) << machine->n_registers) - 1;
}

/* From a context whose frames still stand. */
static void walk_from(struct walk *w, const ucontext_t *from)
{
    struct registers r;
    struct image_symbol s;
    bool leaf = true;
    start_at(&r, from);
    w->end = STEP_CALLER;
    for (; w->end == STEP_CALLER && w->steps < 100; w->steps++) {
        images_symbol(w->images, r.value[machine_of_host()->pc] - !leaf, &s);
        if (w->found < ARRAY_LEN(w->want) && w->want[w->found] &&
            slice_is(s.name, w->want[w->found]))
            w->found++;
        w->end = images_step(w->images, &r, &leaf, &w->memory);
        w->signals += w->end == STEP_CALLER && leaf;
    }
}

static struct walk walk;

int inner(int n);
int middle(int n);
int outer(int n);
static int (*volatile call_inner)(int) = inner;
static int (*volatile call_middle)(int) = middle;
static int (*volatile call_outer)(int) = outer;

int inner(int n)
{
    ucontext_t here;
    assert_int_equal(getcontext(&here), 0);
    walk_from(&walk, &here);
    return n + 1;
}

int middle(int n)
{
    return call_inner(n) * 2;
}

int outer(int n)
{
    volatile char room[777];
    room[n] = 1;
    return call_middle(n) + room[n];
}

TEST(test_walk)
{
    walk = (struct walk){.want = {"inner", "middle", "outer", "main"}};
    walk.images = open_self(&walk.memory);
    assert_int_equal(call_outer(3), 9);
    assert_int_equal(walk.end, STEP_OUTERMOST);
    assert_int_equal(walk.found, 4);
    assert_int_equal(walk.signals, 0);
    images_free(walk.images);
}

static volatile sig_atomic_t handled;

static void handler(int signal)
{
    handled = call_inner(signal);
}

TEST(test_signal)
{
    struct sigaction action = {.sa_handler = handler}, old;
    walk = (struct walk){.want = {"inner", "handler", "test_signal", "main"}};
    walk.images = open_self(&walk.memory);
    sigaction(SIGUSR1, &action, &old);
    raise(SIGUSR1);
    sigaction(SIGUSR1, &old, NULL);
    assert_int_equal(walk.end, STEP_OUTERMOST);
    assert_int_equal(walk.found, 4);
    assert_int_equal(walk.signals, 1);
    assert_int_equal(handled, SIGUSR1 + 1);
    images_free(walk.images);
}

static bool no_memory(void *arg, uint64_t at, void *out, size_t len)
{
    (void)arg;
    (void)at;
    (void)out;
    (void)len;
    return false;
}

TEST(test_steps_that_fail)
{
    struct memory m;
    struct images *i = open_self(&m);
    const struct memory none = {no_memory, NULL};
    ucontext_t here;
    struct registers r, before;
    bool leaf = true;
    assert_int_equal(getcontext(&here), 0);
    start_at(&r, &here);
    before = r;
    assert_int_equal(images_step(i, &r, &leaf, &none), STEP_MEMORY);
    assert_memory_equal(&r, &before, sizeof r);
    r.known = UINT64_C(1) << machine_of_host()->pc;
    assert_int_equal(images_step(i, &r, &leaf, &m), STEP_NO_RULE);
    r.value[machine_of_host()->pc] = (uint64_t)(uintptr_t)&here;
    assert_int_equal(images_step(i, &r, &leaf, &m), STEP_NO_IMAGE);
    r.known = 0;
    assert_int_equal(images_step(i, &r, &leaf, &m), STEP_NO_IMAGE);
    images_free(i);
}

/* ---- rows, against libdw */

static void rule_is(const struct cfi_rule *rule, const Dwarf_Op *mem, const Dwarf_Op *ops, size_t n)
{
    bool by_cfa = n > 0 && ops[0].atom == DW_OP_call_frame_cfa;
    if (n == 0) {
        assert_int_equal(rule->how, ops == mem ? CFI_UNDEFINED : CFI_SAME);
    } else if (ops == mem && by_cfa) {
        bool offset = n > 1 && ops[1].atom == DW_OP_plus_uconst;
        bool value = ops[n - 1].atom == DW_OP_stack_value;
        assert_int_equal(rule->how, value ? CFI_VALUE_OFFSET : CFI_OFFSET);
        assert_true(rule->offset == (offset ? ops[1].number : 0));
    } else if (ops == mem) {
        assert_int_equal(rule->how, CFI_REGISTER);
        Dwarf_Word number = (Dwarf_Word)ops[0].atom - DW_OP_reg0;
        assert_true(rule->offset == (ops[0].atom == DW_OP_regx ? ops[0].number : number));
    } else {
        assert_true(rule->how == CFI_EXPRESSION || rule->how == CFI_VALUE_EXPRESSION);
    }
}

static void row_is(const struct cfi *c, Dwarf_CFI *other, uint64_t pc)
{
    struct cfi_row row;
    Dwarf_Frame *frame = NULL;
    Dwarf_Op *ops, mem[3];
    size_t n;
    bool signal;
    assert_int_equal(dwarf_cfi_addrframe(other, pc, &frame), 0);
    assert_true(cfi_row(c, pc, &row));
    assert_true(dwarf_frame_info(frame, NULL, NULL, &signal) == c->machine->return_column);
    assert_int_equal(signal, row.signal);
    assert_int_equal(dwarf_frame_cfa(frame, &ops, &n), 0);
    if (n == 1 && ops[0].atom == DW_OP_bregx) {
        assert_int_equal(row.cfa.how, CFI_VALUE_OFFSET);
        assert_true(row.cfa_register == ops[0].number && row.cfa.offset == ops[0].number2);
    } else {
        assert_int_equal(row.cfa.how, CFI_VALUE_EXPRESSION);
    }
    /* Where nothing is said of a register: elfutils 0.188 takes 0 for RBX (3) of x86-64, which is
     * kept. */
    for (int r = 0; r < c->machine->n_registers; r++) {
        assert_int_equal(dwarf_frame_register(frame, r, mem, &ops, &n), 0);
        if (n > 0 || (r != 0 && r != 3))
            rule_is(&row.rule[r], mem, ops, n);
    }
    free(frame);
}

/* Up to 12 places of each function of the file. */
static void rows_of(const char *path)
{
    struct image_file f = {0};
    uint64_t budget = LIMIT_IMAGE_BYTES;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0 && image_file_read(&f, fd, &budget));
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    Dwarf_CFI *other = dwarf_getcfi_elf(elf);
    assert_non_null(other);
    assert_true(f.cfi.n_fdes > 10);
    for (size_t i = 0; i < f.cfi.n_fdes; i++) {
        uint64_t apart = (f.cfi.fdes[i].end - f.cfi.fdes[i].start) / 11 + 1;
        for (uint64_t pc = f.cfi.fdes[i].start; pc < f.cfi.fdes[i].end; pc += apart)
            row_is(&f.cfi, other, pc);
    }
    dwarf_cfi_end(other);
    elf_end(elf);
    image_file_clear(&f);
    close(fd);
}

TEST(test_rows)
{
    Dl_info libc;
    assert_true(dladdr((void *)(uintptr_t)getppid, &libc) != 0);
    rows_of("/proc/self/exe");
    rows_of(libc.dli_fname);
}

#elif !defined HAVE_ELFUTILS || !defined MACHINE_IS_SAMPLED
TEST(test_refused)
{
    struct images *i = NULL;
    struct error err = {0};
    assert_int_equal(images_open(&i, getpid(), &err), ERR_REFUSED);
    assert_null(i);
    assert_true(err.text[0] != '\0');
}
#endif
