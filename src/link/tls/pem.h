/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes of ASN.1 (DER) as PEM, which everything else reads. Private to the room. */
#ifndef BEAMTOP_LINK_TLS_PEM_H
#define BEAMTOP_LINK_TLS_PEM_H

#include "beamtop/base/slice.h"

/* Appends to *pem, an owned text or NULL. label: "CERTIFICATE", "PRIVATE KEY"… */
void tls_pem_add(char **pem, const char *label, struct slice der);

#endif
