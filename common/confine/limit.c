/* SPDX-License-Identifier: ISC */
/* Limits that every program of ours lowers, whether it is confined or not. */
#include "common/confine/limit.h"

#include <sys/resource.h>

#include "common/confine/confine.h"

int
confine_lower(int which, uint64_t value)
{
	struct rlimit rl;

	if (getrlimit((__rlimit_resource_t)which, &rl) == -1)
		return -1;
	if (value < rl.rlim_max)
		rl.rlim_max = value;
	rl.rlim_cur = rl.rlim_max;
	return setrlimit((__rlimit_resource_t)which, &rl);
}

int
confine_no_core(void)
{
	return confine_lower(RLIMIT_CORE, 1);
}
