/* SPDX-License-Identifier: ISC */
/*
 * Simulates a kernel without memfd_secret(2) for one process: secrets are then
 * in locked memory, which root can read. This shows that the search for secrets
 * finds them.
 */
#include <sys/syscall.h>

#include <errno.h>
#include <stdarg.h>

long __real_syscall(long, ...);
long __wrap_syscall(long, ...);

long
__wrap_syscall(long nr, ...)
{
	long a[6];
	va_list ap;

	va_start(ap, nr);
	for (unsigned i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (nr == SYS_memfd_secret) {
		errno = ENOSYS;
		return -1;
	}
	return __real_syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}
