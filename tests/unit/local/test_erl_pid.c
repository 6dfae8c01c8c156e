/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "../../test.h"
#include "local/jit/erl_pid.h"

/* Words found in the memory of VMs, and what pid_to_list/1 said there. */
TEST(test_of_vms)
{
    const struct {
        int release;
        uint64_t process_limit, word;
        uint32_t number, serial;
    } rows[] = {
        {25, 0, 0x278000004f3, 79, 0},
        {25, 0, 0x252040024a403, 19008, 4},
        {25, 1024, 0x34200261683, 24936, 4},
        {25, 2097152, 0x1252000024a403, 19008, 4},
        {27, 0, 0x2983, 83, 0},
        {27, 0, 0x252213, 150084, 0},
        {27, 1024, 0x2983, 83, 0},
        {27, 1024, 0x261a63, 156468, 0}, /* the table was gone round 152 times */
        {27, 10000000, 0x1252203, 150084, 0},
        {27, 16777216, 0x1252203, 150084, 0},
        {29, 1048576, 0x252213, 150084, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct erl_pid pid = {0, 0};
        unsigned bits = erl_pid_bits(rows[i].release, rows[i].process_limit);
        assert_true(erl_pid_of_word(&pid, rows[i].word, rows[i].release, bits));
        assert_int_equal(pid.number, rows[i].number);
        assert_int_equal(pid.serial, rows[i].serial);
    }
}

TEST(test_bits)
{
    assert_int_equal(erl_pid_bits(23, 0), 18);
    assert_int_equal(erl_pid_bits(25, 262144), 18);
    assert_int_equal(erl_pid_bits(26, 0), 20);
    assert_int_equal(erl_pid_bits(29, 1048576), 20);
    assert_int_equal(erl_pid_bits(29, 1048577), 21);
    assert_int_equal(erl_pid_bits(29, 1), 10);
    assert_int_equal(erl_pid_bits(29, 134217727), 27);
    assert_int_equal(erl_pid_bits(29, UINT64_MAX), 27);
}

/* From source: a number has 28 bits since OTP 26, what is above is the serial. */
TEST(test_serial)
{
    struct erl_pid pid;
    assert_true(erl_pid_of_word(&pid, (UINT64_C(5) << 28 | 8 * 7) << 4 | 3, 27, 20));
    assert_int_equal(pid.number, 7);
    assert_int_equal(pid.serial, 5);
    assert_true(erl_pid_of_word(&pid, UINT64_MAX << 4 | 3, 27, 27));
    assert_int_equal(pid.number, (1 << 28) - 1);
    assert_int_equal(pid.serial, UINT32_MAX);
}

TEST(test_not_a_pid)
{
    struct erl_pid pid;
    for (uint64_t tag = 0; tag < 16; tag++)
        assert_int_equal(erl_pid_of_word(&pid, 0x252210 | tag, 27, 20), tag == 3);
    assert_false(erl_pid_of_word(&pid, 0x252213, 27, 0));
    assert_false(erl_pid_of_word(&pid, 0x252213, 27, 2));
    assert_false(erl_pid_of_word(&pid, 0x252213, 27, 64));
    assert_true(erl_pid_of_word(&pid, 0x278000004f3, 25, 0));
}
