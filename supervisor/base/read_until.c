/* SPDX-License-Identifier: ISC */
#include "base/read_until.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "common/loop.h"

bool
read_until(int fd, void *to, size_t cap, uint64_t ms, size_t *len)
{
	uint64_t now, until = clock_mono_us() / 1000 + ms;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	ssize_t n;

	*len = 0;
	while (*len < cap) {
		now = clock_mono_us() / 1000;
		if (now >= until || poll(&p, 1, (int)(until - now)) != 1)
			return false;
		n = read(fd, (uint8_t *)to + *len, cap - *len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0;
		*len += (size_t)n;
	}
	return false;
}
