/* SPDX-License-Identifier: ISC */
/*
 * The "logins" of a provider file; only provider.c calls this.
 */
#ifndef PROVIDER_LOGIN_H
#define PROVIDER_LOGIN_H

#include "provider.h"

/* v: the member, or NULL. -1 with "where: what is wrong" in err. */
int provider_parse_logins(
    struct provider *, const struct value *v, char *err, size_t cap);

#endif
