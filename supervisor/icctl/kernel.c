/* SPDX-License-Identifier: ISC */
/*
 * Says in one line that no session can run on this kernel. Our programs confine
 * themselves by Landlock before they read a file, so that without it each of
 * them refuses, and icctl would report the first that did.
 */
#include "icctl/kernel.h"

#include <sys/utsname.h>

#include <err.h>
#include <stdio.h>

#include "common/confine/unveil.h"

int
icctl_kernel(void)
{
	struct utsname u;
	unsigned major = 0, minor = 0;

	if (unveil_abi() != 0)
		return 0;
	if (uname(&u) == -1 || sscanf(u.release, "%u.%u", &major, &minor) != 2)
		u.release[0] = '\0';
	if (major > 5 || (major == 5 && minor >= 13))
		warnx("the kernel has no Landlock, without which no session "
		      "runs: add \"landlock\" to lsm= in its boot parameters "
		      "(/sys/kernel/security/lsm shows what it has now)");
	else
		warnx("Linux %s has no Landlock, without which no session runs: "
		      "boot Linux 5.13 or newer",
		    u.release);
	return -1;
}
