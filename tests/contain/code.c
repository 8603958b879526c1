/* SPDX-License-Identifier: ISC */
/* The attacker's program: reports, also by its status, that it ran. */
#include <unistd.h>

#include "order.h"

int
main(void)
{
	return write(STDERR_FILENO, "RAN\n", 4) == 4 ? PROBE_RAN : 1;
}
