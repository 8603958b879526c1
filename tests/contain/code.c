/* SPDX-License-Identifier: ISC */
/* What an attacker would run: says, and by its status too, that it ran. */
#include <unistd.h>

#include "order.h"

int
main(void)
{
	return write(STDERR_FILENO, "RAN\n", 4) == 4 ? PROBE_RAN : 1;
}
