/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The question `vm`: what the VM is, how it was started, and its limits with what is used. */
#ifndef BEAMTOP_QUERY_VM_H
#define BEAMTOP_QUERY_VM_H

#include "query/stepped/stepped.h"

extern const struct stepped vm_question;

#endif
