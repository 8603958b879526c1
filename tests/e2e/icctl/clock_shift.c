/* SPDX-License-Identifier: ISC */
/*
 * For tests only: moves icsupervisor's clock. Preloaded with LD_PRELOAD, it adds
 * to the clocks that count from boot the seconds in the file that
 * IC_TEST_CLOCK names, which the test changes meanwhile. Other programs, and
 * the workers, whose environment is empty, keep their time.
 */
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static long
clock_shift(void)
{
	const char *path = getenv("IC_TEST_CLOCK");
	char text[16] = "";
	int fd;

	if (path == NULL ||
	    strcmp(program_invocation_short_name, "icsupervisor") != 0 ||
	    (fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return 0;
	if (read(fd, text, sizeof(text) - 1) == -1)
		text[0] = '\0';
	close(fd);
	return strtol(text, NULL, 10);
}

__attribute__((visibility("default"))) int
clock_gettime(clockid_t id, struct timespec *ts)
{
	int kept = errno;

	if (syscall(SYS_clock_gettime, id, ts) == -1)
		return -1;
	if (id == CLOCK_BOOTTIME || id == CLOCK_MONOTONIC)
		ts->tv_sec += clock_shift();
	errno = kept;
	return 0;
}
