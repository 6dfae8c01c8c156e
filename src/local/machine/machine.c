/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/local/machine.h"

#include "beamtop/base/attr.h"

const struct machine *machine_of_elf(uint16_t elf)
{
    static const struct machine *const all[] = {&machine_x86_64, &machine_aarch64};
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (all[i]->elf == elf)
            return all[i];
    return NULL;
}

const struct machine *machine_of_host(void)
{
#if defined __x86_64__
    return &machine_x86_64;
#elif defined __aarch64__
    return &machine_aarch64;
#else
    return NULL;
#endif
}
