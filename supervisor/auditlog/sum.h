/* SPDX-License-Identifier: ISC */
/* SHA-256 by libmd, in the shape that auditlog/line.h asks for. */
#ifndef AUDITSUM_H
#define AUDITSUM_H

#include "auditlog/line.h"

auditlog_hash_fn auditsum;

#endif
