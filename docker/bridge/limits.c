/* SPDX-License-Identifier: ISC */
/*
 * The limits of a sandbox that only a process inside it can set: the kernel
 * counts processes per user namespace, and bubblewrap sets no limits.  They are
 * hard limits, so nothing in the sandbox can raise them again.
 */
#include "bridge.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Read "NAME=NUMBER" and move `*text` past it.  Returns false if something else
 * is there.
 */
static bool
take(const char **text, const char *name, unsigned long long *n)
{
	size_t len = strlen(name);
	char *end;

	if (strncmp(*text, name, len) != 0 || (*text)[len] != '=' ||
	    (*text)[len + 1] < '0' || (*text)[len + 1] > '9')
		return false;
	*n = strtoull(*text + len + 1, &end, 10);
	*text = *end == ',' ? end + 1 : end;
	return true;
}

bool
limits_parse(const char *text, struct bridge_limits *l)
{
	unsigned long long cpus;

	if (!take(&text, "processes", &l->processes) ||
	    !take(&text, "file", &l->file) || !take(&text, "cpus", &cpus) ||
	    *text != '\0' || cpus > CPU_SETSIZE)
		return false;
	l->cpus = (unsigned)cpus;
	return true;
}

static void
limit(__rlimit_resource_t what, unsigned long long n)
{
	struct rlimit rl;

	if (n == 0 || getrlimit(what, &rl) == -1)
		return;
	/* Keep a lower limit that the session was started with. */
	if (rl.rlim_max == RLIM_INFINITY || rl.rlim_max > n)
		rl.rlim_max = n;
	if (rl.rlim_cur == RLIM_INFINITY || rl.rlim_cur > rl.rlim_max)
		rl.rlim_cur = rl.rlim_max;
	if (setrlimit(what, &rl) == -1)
		bridge_die("setrlimit");
}

/*
 * Refuse to choose processors. Calls of other machines are none of this
 * filter's business: that of the sandbox ends a program that makes them.
 */
static void
hold_cpus(void)
{
	struct sock_filter program[] = {
	    BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setaffinity, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog f = {
	    .len = sizeof(program) / sizeof(program[0]), .filter = program};

	/* Programs that may gain rights may choose processors, too. */
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 &&
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &f, 0, 0) == -1)
		bridge_die("seccomp");
}

/* Restrict the process to the first `n` processors that it may use. */
static void
limit_cpus(unsigned n)
{
	cpu_set_t set;
	unsigned kept = 0;

	if (n == 0 || sched_getaffinity(0, sizeof(set), &set) == -1)
		return;
	for (unsigned i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set) && ++kept > n)
			CPU_CLR(i, &set);
	if (sched_setaffinity(0, sizeof(set), &set) == 0)
		hold_cpus();
}

/* Let the kernel kill the sandbox first when memory runs out. */
static void
end_first(void)
{
	int fd;

	/*
	 * Only root may write the file of a process that is not dumpable.  The
	 * command will be dumpable anyway.
	 */
	if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == -1 ||
	    (fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC)) == -1)
		return;
	/* A failure only changes the order in which processes are killed. */
	while (write(fd, "1000", 4) == -1 && errno == EINTR)
		;
	close(fd);
}

/*
 * Tables of the kernel that all programs of the user share. Both limits are far
 * above what programs need: a timer takes one pending signal, and a message
 * queue of the usual size 80 KiB.
 */
#define LIMITS_SIGPENDING 4096U
#define LIMITS_MSGQUEUE 262144U

void
limits_apply(const struct bridge_limits *l)
{
	limit(RLIMIT_NPROC, l->processes);
	limit(RLIMIT_FSIZE, l->file);
	limit(RLIMIT_SIGPENDING, LIMITS_SIGPENDING);
	limit(RLIMIT_MSGQUEUE, LIMITS_MSGQUEUE);
	limit_cpus(l->cpus);
	end_first();
}

int
limits_run(const struct bridge_limits *l, char **argv)
{
	limits_apply(l);
	(void)execvp(argv[0], argv);
	bridge_die(argv[0]);
}
