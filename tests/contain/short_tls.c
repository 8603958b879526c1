/* SPDX-License-Identifier: ISC */
/*
 * The process that ends TLS for pgkeyd, alone: pgkeyd forks it before it has
 * anything, and it confines itself as here.
 */
#include <unistd.h>

#include "common/confine/confine.h"
#include "pgkeyd/tls_end.h"

int
main(void)
{
	confine_early();
	tls_end_run(STDERR_FILENO + 1);
}
