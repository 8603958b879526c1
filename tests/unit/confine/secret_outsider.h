/* SPDX-License-Identifier: ISC */
/* Tests whether another process of the same uid can read a secret. */
#ifndef SECRET_OUTSIDER_H
#define SECRET_OUTSIDER_H

#include "common/confine/secret.h"

void test_secret_outsider(enum secret_kind);

#endif
