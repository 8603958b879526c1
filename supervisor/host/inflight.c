/* SPDX-License-Identifier: ISC */
#include "host/inflight.h"

#include <sys/resource.h>
#include <sys/socket.h>

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/small_file.h"
#include "common/loop.h"
#include "credential/handover.h"
#include "host/fdinfo.h"

#define INFLIGHT_NAMED 3U

struct holder {
	long pid;
	uint64_t fds;
	char name[32];
};

/* Returns true if the kernel passes a descriptor over this pair. */
static bool
inflight_passes(const int pair[2])
{
	char byte = 0;

	if (handover_once(pair[0], &byte, 1, pair[0]) == -1)
		return errno != ETOOMANYREFS;
	/* Without room for it, the descriptor is dropped. */
	(void)recv(pair[1], &byte, 1, MSG_DONTWAIT);
	return true;
}

static int
inflight_pair(int pair[2])
{
	return socketpair(AF_UNIX,
	    SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair);
}

bool
inflight_possible(void)
{
	int pair[2];
	bool can;

	if (inflight_pair(pair) == -1)
		return true;
	can = inflight_passes(pair);
	close(pair[0]);
	close(pair[1]);
	return can;
}

uint64_t
inflight_count(void)
{
	uint64_t low = 0, high, middle;
	struct rlimit ours, rl;
	int pair[2];

	if (getrlimit(RLIMIT_NOFILE, &ours) == -1 || inflight_pair(pair) == -1)
		return 0;
	/* It passes under a limit that is not smaller than the count. */
	rl = ours;
	high = rl.rlim_max + 1;
	while (low < high) {
		middle = low + (high - low) / 2;
		rl.rlim_cur = middle;
		if (setrlimit(RLIMIT_NOFILE, &rl) == 0 && inflight_passes(pair))
			high = middle;
		else
			low = middle + 1;
	}
	(void)setrlimit(RLIMIT_NOFILE, &ours);
	close(pair[0]);
	close(pair[1]);
	return low;
}

/* Keep the holders with most of them, the first with most. */
static void
inflight_keep(struct holder *list, const struct holder *h)
{
	struct holder last = *h, moved;

	/* An agent chooses the names of its processes. */
	for (char *p = last.name; *p != '\0'; p++)
		if (!isalnum((unsigned char)*p) && strchr("._-+:", *p) == NULL)
			*p = '?';
	for (size_t i = 0; i < INFLIGHT_NAMED; i++) {
		if (list[i].fds >= last.fds)
			continue;
		moved = list[i];
		list[i] = last;
		last = moved;
	}
}

static void
inflight_scan(struct holder *list, unsigned ms)
{
	struct fdinfo f = {.until = clock_mono_us() + (uint64_t)ms * 1000};
	struct holder h;
	struct dirent *e;
	DIR *d;
	int fd;

	if ((d = opendir("/proc")) == NULL)
		return;
	while (clock_mono_us() < f.until && (e = readdir(d)) != NULL) {
		if (!isdigit((unsigned char)e->d_name[0]) ||
		    (fd = openat(dirfd(d), e->d_name,
			 O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
			continue;
		h = (struct holder){.pid = strtol(e->d_name, NULL, 10)};
		f.flying = f.watches = 0;
		fdinfo_add(&f, fd);
		h.fds = f.flying;
		if (h.fds != 0 &&
		    small_file_read(fd, "comm", h.name, sizeof(h.name)) > 0) {
			h.name[strcspn(h.name, "\n")] = '\0';
			inflight_keep(list, &h);
		}
		close(fd);
	}
	closedir(d);
}

const char *
inflight_holders(char *dst, size_t cap, unsigned ms)
{
	struct holder list[INFLIGHT_NAMED] = {{0}};
	size_t len = 0;
	int n;

	dst[0] = '\0';
	inflight_scan(list, ms);
	for (size_t i = 0; i < INFLIGHT_NAMED && list[i].fds != 0; i++) {
		n = snprintf(dst + len, cap - len, "%s%s (pid %ld)",
		    i == 0 ? "" : ", ", list[i].name, list[i].pid);
		if (n < 0 || (size_t)n >= cap - len)
			break;
		len += (size_t)n;
	}
	return dst;
}
