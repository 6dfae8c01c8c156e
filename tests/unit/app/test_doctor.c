/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the checks say of a node: the state and a word of each line, the fix, and the exit code. */
#include <stdio.h>
#include <string.h>

#include "../../test.h"
#include "app/cli/exit_code.h"
#include "app/doctor/doctor.h"
#include "beamtop/base/attr.h"

static struct discover_vm vm;
static struct doctor_facts facts;

/* A node of this host that was opened, and all is allowed. */
static int begin(void **state)
{
    (void)state;
    vm = (struct discover_vm){.pid = 4711,
                              .node = "shop@vm",
                              .user = "shop",
                              .form = DISCOVER_SHORT,
                              .in_epmd = true,
                              .port = 40101,
                              .dist_protocol = "inet_tcp",
                              .cookie_from = DISCOVER_COOKIE_ARGUMENT,
                              .otp = "25.2.3"};
    facts = (struct doctor_facts){.asked = "shop",
                                  .vm = &vm,
                                  .epmd_port = 4369,
                                  .up = true,
                                  .own = "beamtop@vm",
                                  .peer = "shop@vm",
                                  .addresses = 1,
                                  .address = "10.0.0.1"};
    snprintf(facts.target.name, sizeof facts.target.name, "shop@vm");
    facts.target.cookie.origin = COOKIE_DISCOVERED;
    snprintf(facts.target.cookie.text, sizeof facts.target.cookie.text, "SECRET");
    facts.target.conn.cookie = facts.target.cookie.text;
    return 0;
}

/* The line of a check; NULL: there is none. No line has the cookie. */
static const struct doctor_line *line_of(const char *check)
{
    static struct doctor_line lines[DOCTOR_CHECKS];
    const struct doctor_line *found = NULL;
    const size_t n = doctor_check(lines, &facts);
    for (size_t i = 0; i < n; i++) {
        assert_null(strstr(lines[i].text, "SECRET"));
        assert_null(strstr(lines[i].fix, "SECRET"));
        found = strcmp(lines[i].check, check) == 0 ? &lines[i] : found;
    }
    return found;
}

static void expect(const char *check, enum doctor_state state, const char *text, const char *fix)
{
    const struct doctor_line *l = line_of(check);
    assert_non_null(l);
    print_message("# %s: %s | %s\n", check, l->text, l->fix);
    assert_int_equal(l->state, state);
    assert_non_null(strstr(l->text, text));
    assert_true(*fix ? strstr(l->fix, fix) != NULL : l->fix[0] == '\0');
}

TEST_WITH(a_node_that_opens_is_ok, begin, NULL)
{
    static const struct {
        const char *check, *text;
    } rows[] = {
        {"name", "short names"},    {"process", "OS process 4711 of user shop"},
        {"host", "vm is 10.0.0.1"}, {"epmd", "knows it, on port 4369"},
        {"port", "40101"},          {"transport", "TCP"},
        {"cookie", "command line"}, {"connection", "to shop@vm as beamtop@vm"},
        {"otp", "25.2.3"},          {"sample", "samples with stacks"},
        {"pstack", "can be read"},  {"threads", "CPU time"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        expect(rows[i].check, DOCTOR_OK, rows[i].text, "");
    assert_null(line_of("namespace"));
    assert_int_equal(doctor_exit_code(&facts), EXIT_DONE);
}

static void goes_down(enum conn_failure why, const char *text)
{
    facts.up = false;
    facts.why = why;
    error_set(&facts.down, ERR_CONNECT, "%s", text);
}

TEST_WITH(a_wrong_cookie_fails_with_its_fix, begin, NULL)
{
    (void)state;
    goes_down(CONN_FAILED_COOKIE, "shop@vm rejected the cookie: it is another. Give it");
    expect("cookie", DOCTOR_FAIL, "not this node's", "--cookie-file");
    expect("connection", DOCTOR_FAIL, "rejected the cookie", "Give it");
    expect("epmd", DOCTOR_OK, "knows it", "");
    assert_int_equal(doctor_exit_code(&facts), EXIT_CONNECT);
}

TEST_WITH(an_epmd_that_is_silent_fails, begin, NULL)
{
    (void)state;
    goes_down(CONN_FAILED_EPMD_SILENT, "epmd is silent. Open port 4369");
    expect("epmd", DOCTOR_FAIL, "epmd is silent", "Open port 4369");
    expect("cookie", DOCTOR_OK, "command line", "");
}

TEST_WITH(a_host_without_an_address_is_needed_only_elsewhere, begin, NULL)
{
    (void)state;
    facts.addresses = 0;
    error_set(&facts.no_address, ERR_NOT_FOUND, "host vm is not found");
    expect("host", DOCTOR_FAIL, "not found", "");
    facts.target.conn.local.port = 40101;
    expect("host", DOCTOR_OK, "not needed", "");
}

TEST_WITH(a_namespace_that_is_closed_says_what_opens_it, begin, NULL)
{
    (void)state;
    vm.other_network = true;
    expect("namespace", DOCTOR_OK, "can be entered", "");
    expect("process", DOCTOR_OK, "other network namespace", "");
    error_set(&facts.no_entry, ERR_REFUSED, "not allowed. Run beamtop as root (sudo beamtop)");
    expect("namespace", DOCTOR_NOTE, "not allowed", "sudo beamtop");
}

TEST_WITH(rights_from_outside_are_notes, begin, NULL)
{
    (void)state;
    error_set(&facts.ladder.stacks, ERR_REFUSED, "perf_event_paranoid is 4. Set it to 1");
    error_set(&facts.ladder.memory, ERR_REFUSED, "Yama forbids it. Run beamtop as root");
    expect("sample", DOCTOR_NOTE, "perf_event_paranoid is 4", "Set it to 1");
    expect("pstack", DOCTOR_NOTE, "Yama forbids it", "as root");
    assert_int_equal(doctor_exit_code(&facts), EXIT_DONE);
}

TEST_WITH(releases_have_their_range, begin, NULL)
{
    (void)state;
    snprintf(vm.otp, sizeof vm.otp, "22.3");
    expect("otp", DOCTOR_FAIL, "needs 23", "");
    snprintf(vm.otp, sizeof vm.otp, "99");
    expect("otp", DOCTOR_NOTE, "newer", "");
    vm.otp[0] = '\0';
    assert_null(line_of("otp"));
}

TEST_WITH(without_a_target_the_reason_is_the_connection, begin, NULL)
{
    (void)state;
    facts.up = false;
    vm.node[0] = '\0';
    error_set(&facts.no_target, ERR_NOT_FOUND, "OS process 4711 runs without distribution");
    expect("name", DOCTOR_FAIL, "without distribution", "");
    expect("connection", DOCTOR_FAIL, "without distribution", "");
    assert_null(line_of("cookie"));
    facts.addresses = 0;
    assert_null(line_of("host"));
    assert_null(line_of("transport"));
    assert_int_equal(doctor_exit_code(&facts), EXIT_FAILED);
}

TEST_WITH(a_name_without_a_host_is_one_of_this_host, begin, NULL)
{
    (void)state;
    facts.vm = NULL;
    snprintf(facts.target.name, sizeof facts.target.name, "shop");
    expect("name", DOCTOR_OK, "shop: taken for one of this host", "");
    error_set(&facts.no_target, ERR_USAGE, "not a name");
    snprintf(facts.target.name, sizeof facts.target.name, "a@b@c");
    expect("name", DOCTOR_FAIL, "not a name", "");
}

TEST_WITH(a_node_of_another_host_is_not_looked_at, begin, NULL)
{
    static const char *const rows[] = {"sample", "pstack", "threads", "namespace", "otp"};
    (void)state;
    facts.vm = NULL;
    expect("process", DOCTOR_OK, "not on this host", "");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_null(line_of(rows[i]));
}

TEST_WITH(a_node_that_may_be_left_out_is_not_called_elsewhere, begin, NULL)
{
    const struct discover_list slow = {.unread = 2, .blocked = 12};
    (void)state;
    facts.vm = NULL;
    facts.vms = &slow;
    expect("process", DOCTOR_NOTE,
           "not found on this host. /proc is slow: 2 OS processes were not looked at", "");
}

TEST_WITH(a_vm_that_is_held_says_what_lets_it_go, begin, NULL)
{
    (void)state;
    assert_null(line_of("state"));
    facts.seen = (struct outside_line){
        .label = "state", .text = "stopped", .next = "kill -CONT 4711", .mark = OUTSIDE_ALARM};
    expect("state", DOCTOR_FAIL, "stopped", "Next: kill -CONT 4711");
    facts.seen.mark = OUTSIDE_PLAIN;
    expect("state", DOCTOR_OK, "stopped", "");
}

TEST_WITH(a_cookie_file_of_everyone_is_a_note, begin, NULL)
{
    (void)state;
    facts.target.cookie.origin = COOKIE_FILE;
    facts.open_file = "/srv/cookie";
    expect("cookie", DOCTOR_NOTE, "from --cookie-file, which other users",
           "chmod 600 '/srv/cookie'");
    goes_down(CONN_FAILED_COOKIE, "shop@vm rejected the cookie");
    expect("cookie", DOCTOR_FAIL, "not this node's", "--cookie-file");
}
