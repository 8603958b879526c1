/* SPDX-License-Identifier: ISC */
/*
 * The baseline of the tool path: the cost of a call that is only passed on.
 * Uses the same ring of processes as a call (front, decider, log, server,
 * reader of its answers, front again), the same kinds of sockets and pipes,
 * messages of similar size, but no parsing, policy, log or confinement. A
 * closed loop like that of bench_mcp_load; prints one line of JSON. With a
 * processor, the client runs there and the ring where it was started, as a
 * session and its client do. With --each, the client makes a write for each
 * call.
 */
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

#define HOPS_MAX_TOKENS 64U
#define HOPS_SIZE 256U /* bytes of a message */

struct token {
	uint64_t slot, since;
	char fill[HOPS_SIZE - 16];
};

/* A connection from one process to the next. */
struct way {
	int in, out;
};

static struct way
hops_way(int type)
{
	struct way w;
	int fds[2];

	if ((type == 0
		    ? pipe2(fds, O_CLOEXEC)
		    : socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds)) == -1)
		err(1, "socketpair");
	w.in = fds[0];
	w.out = fds[1];
	if (fcntl(w.in, F_SETFL, O_NONBLOCK) == -1)
		err(1, "fcntl");
	return w;
}

/* Read complete tokens. Returns the bytes read, or -1 if there are none. */
static ssize_t
hops_take(int fd, struct token *t, size_t n)
{
	ssize_t got;

	got = read(fd, t, n * sizeof(*t));
	if (got == 0)
		_exit(0);
	if (got == -1 && errno != EAGAIN)
		err(1, "read");
	return got;
}

/* Send each token as a datagram, or all in one write on a pipe. */
static void
hops_pass(int fd, const struct token *t, size_t len)
{
	socklen_t size = sizeof(int);
	size_t step = len;
	int type = 0;

	if (len > sizeof(*t) &&
	    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
	    type == SOCK_SEQPACKET)
		step = sizeof(*t);
	for (size_t done = 0; done < len; done += step)
		if (write(fd, (const char *)t + done, step) != (ssize_t)step)
			err(1, "write");
}

/* Start a process that passes on from each of its inputs to its output. */
static pid_t
hops_process(const int *in, const int *out, size_t n)
{
	static struct token t[HOPS_MAX_TOKENS];
	struct epoll_event evs[4], ev = {.events = EPOLLIN};
	ssize_t got;
	pid_t pid;
	int ep, ready;

	if ((pid = fork()) != 0) {
		if (pid == -1)
			err(1, "fork");
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if ((ep = epoll_create1(EPOLL_CLOEXEC)) == -1)
		err(1, "epoll_create1");
	for (size_t i = 0; i < n; i++) {
		ev.data.u64 = i;
		if (epoll_ctl(ep, EPOLL_CTL_ADD, in[i], &ev) == -1)
			err(1, "epoll_ctl");
	}
	for (;;) {
		if ((ready = epoll_wait(ep, evs, 4, -1)) == -1)
			err(1, "epoll_wait");
		for (int i = 0; i < ready; i++)
			while ((got = hops_take(in[evs[i].data.u64], t,
				    HOPS_MAX_TOKENS)) > 0)
				hops_pass(out[evs[i].data.u64], t, (size_t)got);
	}
}

/*
 * Start the ring; *in and *out are the client's ends. `pids` receives all pids
 * except the server's.
 */
static void
hops_ring(int *in, int *out, char *pids, size_t size)
{
	struct way ask = hops_way(SOCK_STREAM), answer = hops_way(SOCK_STREAM),
		   call = hops_way(SOCK_SEQPACKET),
		   release = hops_way(SOCK_SEQPACKET),
		   result = hops_way(SOCK_SEQPACKET), line = hops_way(0),
		   reply = hops_way(0);
	int front_in[] = {ask.in, result.in};
	int front_out[] = {call.out, answer.out};
	pid_t p[4];

	p[0] = hops_process(front_in, front_out, 2);
	p[1] = hops_process(&call.in, &release.out, 1);
	p[2] = hops_process(&release.in, &line.out, 1);
	hops_process(&line.in, &reply.out, 1);
	p[3] = hops_process(&reply.in, &result.out, 1);
	snprintf(pids, size, "%d,%d,%d,%d", p[0], p[1], p[2], p[3]);
	*in = answer.in;
	*out = ask.out;
	if (fcntl(*in, F_SETFL, 0) == -1)
		err(1, "fcntl");
}

/* Move the client alone to a processor; the ring stays. */
static void
hops_move(const char *cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(bench_number("CPU", cpu, CPU_SETSIZE - 1), &set);
	if (sched_setaffinity(0, sizeof(set), &set) == -1)
		err(1, "sched_setaffinity: %s", cpu);
}

/* Send calls: all in one write, or each in its own. */
static void
hops_ask(int out, const struct token *t, size_t n, bool each)
{
	size_t step = each ? 1 : n;

	for (size_t i = 0; i < n; i += step)
		hops_pass(out, &t[i], step * sizeof(*t));
}

int
main(int argc, char **argv)
{
	static struct token t[HOPS_MAX_TOKENS];
	struct bench_samples samples;
	uint64_t begin, now, from = 0, n = 0, cpu = 0, warm, run;
	char pids[64];
	size_t k, have = 0;
	ssize_t got;
	double s;
	int in, out;
	bool each;

	each = argc > 1 && strcmp(argv[1], "--each") == 0;
	argc -= each;
	argv += each;
	if (argc != 4 && argc != 5)
		errx(64, "usage: bench_hops [--each] OUTSTANDING WARM-MS "
			 "RUN-MS [CPU]");
	k = bench_number("OUTSTANDING", argv[1], HOPS_MAX_TOKENS);
	warm = bench_number("WARM-MS", argv[2], 1000000) * 1000000;
	run = bench_number("RUN-MS", argv[3], 1000000) * 1000000;
	hops_ring(&in, &out, pids, sizeof(pids));
	if (argc == 5)
		hops_move(argv[4]);
	bench_samples_init(&samples);
	begin = now = bench_now();
	for (size_t i = 0; i < k; i++)
		t[i].since = now;
	hops_ask(out, t, k, each);
	for (;;) {
		got = read(in, (char *)t + have, sizeof(t) - have);
		if (got <= 0)
			err(1, "read");
		have += (size_t)got;
		k = have / sizeof(*t);
		now = bench_now();
		for (size_t i = 0; i < k; i++) {
			if (from != 0 && t[i].since >= from)
				bench_samples_add(&samples, now - t[i].since);
			n += from != 0;
			t[i].since = now;
		}
		if (from != 0 && now - from >= run)
			break;
		if (from == 0 && now - begin >= warm) {
			cpu = bench_cpu_of(pids);
			from = bench_now();
		}
		hops_ask(out, t, k, each);
		have -= k * sizeof(*t);
		memmove(t, &t[k], have);
	}
	s = (double)(now - from) / 1e9;
	printf("{\"n\":%llu,\"errors\":0,\"p50_us\":%.1f,\"p99_us\":%.1f,"
	       "\"rate\":%.0f,\"cpu_us\":%.2f}\n",
	    (unsigned long long)n, bench_samples_us(&samples, .5),
	    bench_samples_us(&samples, .99), (double)n / s,
	    (double)(bench_cpu_of(pids) - cpu) / 1000 / (double)n);
	bench_samples_free(&samples);
	return 0;
}
