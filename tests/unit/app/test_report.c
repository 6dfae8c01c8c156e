/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `beamtop report`, `diff` and `export` on files: what they write, and how they end. */

#include "../../test.h"
#include "../../temporary.h"
#include "../recording/made.h"
#include "app/cli/commands.h"

struct place {
    char dir[64], good[80], bad[80], none[80], text[80], damaged[80], out[80];
};

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* As the file, with 4 KiB in its middle overwritten. */
static void write_damaged(const char *from, const char *to)
{
    FILE *in = fopen(from, "r"), *out = fopen(to, "w");
    char page[4096];
    assert_true(in && out);
    for (int i = 0; fread(page, 1, sizeof page, in) == sizeof page; i++) {
        if (i >= 5)
            memset(page, 0xa5, sizeof page);
        fwrite(page, 1, sizeof page, out);
    }
    fclose(in);
    fclose(out);
}

static int setup(void **state)
{
    static struct place p;
    struct made sync = made_healthy;
    assert_true(temporary_dir(p.dir, sizeof p.dir, "report"));
    snprintf(p.good, sizeof p.good, "%s/good", p.dir);
    snprintf(p.bad, sizeof p.bad, "%s/bad", p.dir);
    snprintf(p.none, sizeof p.none, "%s/none", p.dir);
    snprintf(p.text, sizeof p.text, "%s/text", p.dir);
    snprintf(p.damaged, sizeof p.damaged, "%s/damaged", p.dir);
    snprintf(p.out, sizeof p.out, "%s/out", p.dir);
    sync.label = "sync";
    sync.busy[2].share = 0.31;
    sync.facts[0].json =
        "{\"handlers\":[{\"id\":\"default\",\"mode\":\"sync\",\"sync_mode_qlen\":0}]}";
    made_write(p.good, &made_healthy);
    made_write(p.bad, &sync);
    write_text(p.text,
               "no recording at all, and long enough to be looked at: 0123456789 0123456789 "
               "0123456789 0123456789 0123456789 0123456789");
    write_damaged(p.good, p.damaged);
    *state = &p;
    return 0;
}

static int teardown(void **state)
{
    const struct place *p = *state;
    const char *const files[] = {p->good, p->bad, p->none, p->text, p->damaged, p->out};
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        made_unlink(files[i]);
    return rmdir(p->dir);
}

typedef int command_fn(const struct cli_options *o, const struct app_env *env);

static int run(const struct place *p, command_fn *command, enum cli_format format,
               const char *first, const char *second, const char *fail_on)
{
    const char *rest[] = {second};
    const struct app_env env = {.utf8 = true};
    struct cli_options o = {.target = first,
                            .second = second,
                            .rest = rest,
                            .n_rest = second != NULL,
                            .format = format,
                            .format_given = true,
                            .output = p->out};
    if (fail_on)
        o.fail_on[o.n_fail_on++] = fail_on;
    unlink(p->out);
    return command(&o, &env);
}

static void assert_out(const struct place *p, const char *says)
{
    char text[65536];
    FILE *f = fopen(p->out, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    if (!strstr(text, says))
        fail_msg("“%s” is not in:\n%s", says, text);
}

TEST_WITH(test_reports, NULL, NULL)
{
    const struct place *p = *state;
    assert_int_equal(run(p, command_report, FORMAT_TEXT, p->good, NULL, NULL), EXIT_DONE);
    assert_out(p, "13 ticks");
    assert_int_equal(run(p, command_report, FORMAT_HTML, p->bad, NULL, NULL), EXIT_DONE);
    assert_out(p, "<!DOCTYPE html>");
    assert_int_equal(run(p, command_report, FORMAT_JSON, p->good, p->bad, NULL), EXIT_DONE);
    assert_out(p, "beamtop.diff/2");
    assert_int_equal(run(p, command_export, FORMAT_CSV, p->good, NULL, NULL), EXIT_DONE);
    assert_out(p, "wall_us,node,");
    assert_int_equal(run(p, command_export, FORMAT_OPENMETRICS, p->good, NULL, NULL), EXIT_DONE);
    assert_out(p, "# TYPE beamtop_run_queue gauge");
    assert_int_equal(run(p, command_export, FORMAT_CSV, p->good, "nothing", NULL), EXIT_USAGE);
}

TEST_WITH(test_limits, NULL, NULL)
{
    const struct place *p = *state;
    static const struct {
        const char *limit;
        int exit_code;
    } rows[] = {
        {NULL, EXIT_DONE},
        {"finding:fix", EXIT_FAILED},
        {"finding:act", EXIT_FAILED}, /* its JSON value */
        {"name:logger_std_h_default>20%", EXIT_FAILED},
        {"memory_total_bytes+10%", EXIT_DONE},
        {"memory_total_bytes", EXIT_USAGE},
        {"finding:nonsense", EXIT_USAGE},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int code = run(p, command_diff, FORMAT_TEXT, p->good, p->bad, rows[i].limit);
        if (code != rows[i].exit_code)
            fail_msg("%s: %d", rows[i].limit, code);
        if (code == EXIT_USAGE)
            assert_int_equal(access(p->out, F_OK), -1);
        else
            assert_out(p, "What changed");
    }
}

/* Nothing is written of what cannot be read. */
TEST_WITH(test_refused, NULL, NULL)
{
    const struct place *p = *state;
    const char *const files[] = {p->none, p->text, p->damaged, p->dir, ""};
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        if (run(p, command_report, FORMAT_TEXT, files[i], NULL, NULL) != EXIT_USAGE)
            fail_msg("%s is reported on", files[i]);
        assert_int_equal(access(p->out, F_OK), -1);
        assert_int_equal(run(p, command_diff, FORMAT_TEXT, p->good, files[i], NULL), EXIT_USAGE);
        assert_int_equal(run(p, command_export, FORMAT_CSV, files[i], NULL, NULL), EXIT_USAGE);
    }
}

/* ---- two directories */

#define NODE(name, file)                                                                           \
    "{\"name\":\"" name "\",\"file\":\"" file "\",\"state\":\"complete\",\"ticks\":13}"

static void make_side(const struct place *p, char *dir, size_t size, const char *name,
                      const char *nodes)
{
    char path[160], text[600];
    snprintf(dir, size, "%s/%s", p->dir, name);
    assert_int_equal(mkdir(dir, 0700), 0);
    snprintf(path, sizeof path, "%s/index.json", dir);
    snprintf(text, sizeof text,
             "{\"schema\":\"beamtop.recordings/1\",\"begin_us\":1,\"nodes\":[%s]}", nodes);
    write_text(path, text);
}

static void link_file(const char *dir, const char *name, const char *of)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_int_equal(link(of, path), 0);
}

static void remove_side(const char *dir)
{
    static const char *const names[] = {"a.btr", "b.btr", "c.btr", "index.json"};
    char path[160];
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        unlink(path);
    }
    assert_int_equal(rmdir(dir), 0);
}

/* Each node with itself, whatever its file is called; limits hold for each. */
TEST_WITH(test_directories, NULL, NULL)
{
    const struct place *p = *state;
    char one[100], other[100];
    make_side(p, one, sizeof one, "one",
              NODE("a@h", "a.btr") "," NODE("b@h", "b.btr") "," NODE("c@h", "c.btr"));
    make_side(p, other, sizeof other, "other", NODE("a@h", "b.btr") "," NODE("b@h", "a.btr"));
    link_file(one, "a.btr", p->good);
    link_file(one, "b.btr", p->good);
    link_file(one, "c.btr", p->good);
    link_file(other, "b.btr", p->bad);
    link_file(other, "a.btr", p->text);
    assert_int_equal(run(p, command_diff, FORMAT_TEXT, one, other, NULL), EXIT_DONE);
    assert_out(p, "1 node: ");
    assert_out(p, "on 1 of 1 nodes: sync_logger (fix: a@h)");
    assert_out(p, "c@h is not compared");
    assert_out(p, "b@h is not compared");
    assert_out(p, "is not a recording of beamtop");
    assert_int_equal(run(p, command_diff, FORMAT_JSON, one, other, "finding:fix"), EXIT_FAILED);
    assert_out(p, "beamtop.nodes_diff/1");
    assert_int_equal(run(p, command_diff, FORMAT_TEXT, one, p->good, NULL), EXIT_USAGE);
    remove_side(other);
    make_side(p, other, sizeof other, "other", NODE("a@h", "a.btr"));
    link_file(other, "a.btr", p->good); /* b@h and c@h are gone */
    assert_int_equal(run(p, command_diff, FORMAT_TEXT, one, other, NULL), EXIT_DONE);
    assert_int_equal(run(p, command_diff, FORMAT_TEXT, other, one, "finding:fix"), EXIT_DONE);
    assert_int_equal(run(p, command_diff, FORMAT_TEXT, one, other, "finding:fix"), EXIT_FAILED);
    remove_side(other);
    make_side(p, other, sizeof other, "other", NODE("d@h", "a.btr"));
    assert_int_equal(run(p, command_diff, FORMAT_TEXT, one, other, NULL), EXIT_USAGE);
    remove_side(one);
    remove_side(other);
}

/* One that left before its first tick and came back: its second recording is compared. */
TEST_WITH(test_directory_of_who_came_back, NULL, NULL)
{
    const struct place *p = *state;
    char one[100], other[100];
    make_side(p, one, sizeof one, "one", NODE("a@h", "a.btr") "," NODE("a@h", "b.btr"));
    make_side(p, other, sizeof other, "other", NODE("a@h", "a.btr") "," NODE("a@h", "b.btr"));
    link_file(one, "a.btr", p->good);
    link_file(one, "b.btr", p->good);
    link_file(other, "b.btr", p->bad);
    assert_int_equal(run(p, command_diff, FORMAT_TEXT, one, other, NULL), EXIT_DONE);
    assert_out(p, "on 1 of 1 nodes: sync_logger (fix: a@h)");
    assert_int_equal(run(p, command_diff, FORMAT_TEXT, other, one, NULL), EXIT_DONE);
    assert_out(p, "a@h is not compared");
    remove_side(one);
    remove_side(other);
}

TEST_WITH(test_no_recording_of_a_directory_is_written_over, NULL, NULL)
{
    static const char *const names[] = {"a.btr", "index.json"};
    const struct place *p = *state;
    const struct app_env env = {.utf8 = true};
    char one[100], path[160];
    make_side(p, one, sizeof one, "one", NODE("a@h", "a.btr"));
    link_file(one, "a.btr", p->good);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        snprintf(path, sizeof path, "%s/%s", one, names[i]);
        const struct cli_options o = {.target = one, .format_given = true, .output = path};
        assert_int_equal(command_report(&o, &env), EXIT_USAGE);
    }
    assert_int_equal(run(p, command_report, FORMAT_TEXT, one, NULL, NULL), EXIT_DONE);
    remove_side(one);
}

TESTS_WITH(setup, teardown);
