/* SPDX-License-Identifier: ISC */
/*
 * A network of the command's own, for a container that shares its network with
 * others, as those of one pod do: a new user and network namespace, in which
 * nothing but the loopback exists. It takes no right: whoever makes a user
 * namespace may make that. Afterwards this process holds no capability and no
 * descriptor of the network before.
 */
#include "bridge.h"

#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <linux/capability.h>
#include <net/if.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Map one id to itself; exits if that cannot be. */
static void
own_map(const char *path, unsigned id)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "%u %u 1\n", id, id);
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd == -1 || write(fd, text, (size_t)n) != n)
		bridge_die(path);
	close(fd);
}

static void
own_loopback(void)
{
	struct ifreq ifr = {.ifr_name = "lo"};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd == -1 || ioctl(fd, SIOCGIFFLAGS, &ifr) == -1)
		bridge_die("the loopback");
	ifr.ifr_flags = (short)(ifr.ifr_flags | IFF_UP);
	if (ioctl(fd, SIOCSIFFLAGS, &ifr) == -1)
		bridge_die("the loopback");
	close(fd);
}

/* Give up every capability of the new namespace, for good. */
static void
own_drop(void)
{
	struct __user_cap_header_struct head = {
	    .version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2];

	memset(none, 0, sizeof(none));
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == -1)
			bridge_die("capabilities");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 ||
	    syscall(SYS_capset, &head, none) == -1)
		bridge_die("capabilities");
}

void
own_network(void)
{
	const unsigned uid = geteuid(), gid = getegid();
	int fd;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) == -1) {
		fprintf(stderr,
		    "ic-bridge: --own-network: %s: the container's seccomp "
		    "profile must allow clone and unshare, and the machine user "
		    "namespaces (ironcurtain-fleet(7))\n",
		    strerror(errno));
		_exit(BRIDGE_EXIT_USAGE);
	}
	/* The files of a process that is not dumpable are root's. */
	if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == -1)
		bridge_die("prctl");
	fd = open("/proc/self/setgroups", O_WRONLY | O_CLOEXEC);
	if (fd == -1 || write(fd, "deny", 4) != 4)
		bridge_die("/proc/self/setgroups");
	close(fd);
	own_map("/proc/self/uid_map", uid);
	own_map("/proc/self/gid_map", gid);
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1)
		bridge_die("prctl");
	own_loopback();
	own_drop();
	/* A socket that was inherited would be of the network before. */
	if (syscall(SYS_close_range, 3U, ~0U, 0U) == -1)
		bridge_die("close_range");
}
