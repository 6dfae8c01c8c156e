/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "erl_pid.h"

enum {
    TAG_BITS = 4,
    TAG_PID = 3,
    BITS_LEAST = 10, /* process limits from 1,024 … */
    BITS_MOST = 27,  /* … to 134,217,727 */
    LINE_BITS = 3,   /* neighbours in the table are 8 numbers apart: a cache line */
    OLD_NUMBER_BITS = 15,
    NUMBER_BITS = 28,
};

unsigned erl_pid_bits(int release, uint64_t process_limit)
{
    unsigned bits = BITS_LEAST;
    if (process_limit == 0)
        return release <= 25 ? 18 : 20;
    while (bits < BITS_MOST && (UINT64_C(1) << bits) < process_limit)
        bits++;
    return bits;
}

static struct erl_pid split_number(uint64_t data, unsigned number_bits)
{
    return (struct erl_pid){(uint32_t)(data & ((UINT64_C(1) << number_bits) - 1)),
                            (uint32_t)(data >> number_bits)};
}

bool erl_pid_of_word(struct erl_pid *out, uint64_t word, int release, unsigned bits)
{
    if ((word & ((1u << TAG_BITS) - 1)) != TAG_PID)
        return false;
    if (release <= 25) {
        *out = split_number((word & UINT32_MAX) >> TAG_BITS, OLD_NUMBER_BITS);
        return true;
    }
    if (bits < BITS_LEAST || bits > BITS_MOST)
        return false;
    uint64_t data = word >> TAG_BITS;
    uint64_t index = data & ((UINT64_C(1) << bits) - 1);
    uint64_t first = index & ((1u << LINE_BITS) - 1);
    *out = split_number((data - index) | index >> LINE_BITS | first << (bits - LINE_BITS),
                        NUMBER_BITS);
    return true;
}
