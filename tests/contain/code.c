/* SPDX-License-Identifier: ISC */
/* What an attacker would run: says by its status that it ran. */
#include "order.h"

int
main(void)
{
	return PROBE_RAN;
}
