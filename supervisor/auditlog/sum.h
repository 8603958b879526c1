/* SPDX-License-Identifier: ISC */
/* SHA-256 by libmd, as an auditlog_hash_fn (auditlog/line.h). */
#ifndef AUDITSUM_H
#define AUDITSUM_H

#include "auditlog/line.h"

auditlog_hash_fn auditsum;

#endif
