/* SPDX-License-Identifier: ISC */
#include "box/hoard.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/small_file.h"
#include "box/usage.h"
#include "core/sup.h"
#include "host/fdinfo.h"
#include "host/inflight.h"

#define HOARD_WATCHES "/proc/sys/fs/epoll/max_user_watches"
/* A share of this size is a reason to end the session. */
#define HOARD_SHARE 32U
/* A search opens many files; one in this time is enough. */
#define HOARD_AGAIN_MS 5000U
/* An agent can make the reason for an alarm come and go. */
#define HOARD_TELL_MS 60000U
/* Time in which to find names for an alarm; nothing else is done meanwhile. */
#define HOARD_NAMES_MS 200U

struct hoard_told {
	bool told;
	uint64_t again; /* loop_now() of the next alarm */
};

static struct {
	struct hoard_told inflight, watches;
	uint64_t again; /* loop_now() of the next search */
} hoard_env;

/* Returns true if no descriptor can be added to an epoll set. */
static bool
hoard_watches_full(void)
{
	struct epoll_event ev = {.events = EPOLLIN};
	int set = epoll_create1(EPOLL_CLOEXEC), fd = eventfd(0, EFD_CLOEXEC);
	bool full;

	full = set != -1 && fd != -1 &&
	       epoll_ctl(set, EPOLL_CTL_ADD, fd, &ev) == -1 && errno == ENOSPC;
	if (set != -1)
		close(set);
	if (fd != -1)
		close(fd);
	return full;
}

/* Returns how many descriptors a user may have in epoll sets. */
static uint64_t
hoard_watches_most(void)
{
	char text[32];

	if (small_file_read(AT_FDCWD, HOARD_WATCHES, text, sizeof(text)) <= 0)
		return UINT64_MAX;
	return strtoull(text, NULL, 10);
}

static void
hoard_add(pid_t pid, const char *status, void *arg)
{
	char path[32];
	int fd;

	(void)status;
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if ((fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		return;
	fdinfo_add(arg, fd);
	close(fd);
}

/* Returns true if the processes from `root` on hold a large share. */
static bool
hoard_search(pid_t root, bool stuck, bool full, char *why, size_t cap)
{
	const uint64_t most = hoard_watches_most();
	const uint64_t files = limits_files(&sup.config.limits);
	struct fdinfo f = {.enough = full ? most / HOARD_SHARE : 0};

	if (root == 0 || loop_now(&sup.loop) < hoard_env.again)
		return false;
	hoard_env.again = loop_now(&sup.loop) + HOARD_AGAIN_MS;
	usage_each(root, hoard_add, &f);
	if (full && f.watches > f.enough) {
		snprintf(why, cap,
		    "the agent has more than %llu descriptors in epoll sets, "
		    "and your programs can have no more (%llu, " HOARD_WATCHES
		    ")",
		    (unsigned long long)f.enough, (unsigned long long)most);
		return true;
	}
	if (!stuck || files == 0 || f.flying <= files / 4)
		return false;
	snprintf(why, cap,
	    "the agent holds %llu descriptors in flight in sockets, and your "
	    "programs can pass no more. End what receives none",
	    (unsigned long long)f.flying);
	return true;
}

/* Returns true if it is to be told now. */
static bool
hoard_due(struct hoard_told *t, bool now)
{
	if (!now)
		t->told = false;
	if (!now || t->told || loop_now(&sup.loop) < t->again)
		return false;
	t->told = true;
	t->again = loop_now(&sup.loop) + HOARD_TELL_MS;
	return true;
}

static void
hoard_tell_inflight(void)
{
	char text[400], names[128];

	inflight_holders(names, sizeof(names), HOARD_NAMES_MS);
	snprintf(text, sizeof(text),
	    "programs of this user hold more descriptors in flight than ulimit "
	    "-Hn%s%s. Until they end, large results and new connections wait",
	    names[0] != '\0' ? ", most of them " : "", names);
	sup_alarm("the session", "limit", text);
}

bool
hoard_look(pid_t root, char *why, size_t cap)
{
	/* Workers that send have the same limit as this process. */
	const bool stuck = !inflight_possible(), full = hoard_watches_full();

	if (hoard_due(&hoard_env.inflight, stuck))
		hoard_tell_inflight();
	if (hoard_due(&hoard_env.watches, full))
		sup_alarm("the session", "limit",
		    "programs of this user hold all descriptors that epoll "
		    "sets may have (" HOARD_WATCHES "). Sessions go on; the "
		    "agent and other programs may fail until they end");
	return (stuck || full) && hoard_search(root, stuck, full, why, cap);
}
