/* SPDX-License-Identifier: ISC */
/*
 * Load for the tool path: a closed loop of tools/call with several outstanding,
 * over a Unix socket or to a server started here (directly). No two calls have
 * the same arguments. The calls of one turn are written at once; with --each,
 * there is a write for each call. Prints one line of JSON.
 */
#include <sys/socket.h>
#include <sys/un.h>

#include <err.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

#define LOAD_MAX_SLOTS 64U
#define LOAD_MAX_LINE (1U << 20)

struct load {
	int rfd, wfd;
	const char *tool; /* as listed */
	const char *pids; /* processes whose processor time counts */
	unsigned outstanding;
	bool each; /* a write for each call */
	uint64_t warm_ns, run_ns;
	uint64_t file; /* number of the next path */
	uint64_t seq;
	struct {
		uint64_t id; /* 0: free */
		uint64_t since;
	} slots[LOAD_MAX_SLOTS];
	uint64_t from, until; /* measured interval; 0: not begun */
	uint64_t answered, errors;
	uint64_t cpu, own; /* processor time at `from` */
	struct bench_samples samples;
	char in[2 * LOAD_MAX_LINE];
	size_t have;
	char out[65536];
	size_t len;
	char trouble[512]; /* line of the first error */
};

static struct load load;

static void
load_flush(void)
{
	size_t done = 0;
	ssize_t n;

	while (done < load.len) {
		if ((n = write(load.wfd, load.out + done, load.len - done)) ==
		    -1)
			err(1, "write");
		done += (size_t)n;
	}
	load.len = 0;
}

static void __attribute__((format(printf, 1, 2))) load_say(const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(
	    load.out + load.len, sizeof(load.out) - load.len, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(load.out) - load.len)
		errx(1, "too long a request");
	load.len += (size_t)n;
}

/*
 * Wait for input. Returns false at its end. It waits as ic-bridge does: a
 * reader that blocks in read() on a socket would also be woken each time the
 * other side reads what it wrote.
 */
static bool
load_read(void)
{
	struct pollfd p = {.fd = load.rfd, .events = POLLIN};
	ssize_t n;

	if (load.have == sizeof(load.in))
		errx(1, "too long an answer");
	if (poll(&p, 1, -1) == -1)
		err(1, "poll");
	n = read(load.rfd, load.in + load.have, sizeof(load.in) - load.have);
	if (n == -1)
		err(1, "read");
	load.have += (size_t)n;
	return n != 0;
}

/* Take complete lines from the input. */
static void
load_lines(void (*fn)(struct bench_slice))
{
	const char *p = load.in, *end;

	while ((end = memchr(p, '\n', load.have - (size_t)(p - load.in))) !=
	       NULL) {
		fn((struct bench_slice){p, (size_t)(end - p)});
		p = end + 1;
	}
	load.have -= (size_t)(p - load.in);
	memmove(load.in, p, load.have);
}

static bool load_greeted;

static void
load_greeting(struct bench_slice line)
{
	struct bench_slice result;

	if (!bench_json_is(bench_json_member(line, "id"), "1"))
		return;
	result = bench_json_member(line, "result");
	if (result.p == NULL)
		errx(1, "refused: %.*s", (int)line.len, line.p);
	load_greeted = true;
}

/* Send a request before the loop, and wait for the answer. */
static void
load_ask(const char *method, const char *params)
{
	load_say("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\","
		 "\"params\":%s}\n",
	    method, params);
	load_flush();
	for (load_greeted = false; !load_greeted;) {
		if (!load_read())
			errx(1, "closed before the answer to %s", method);
		load_lines(load_greeting);
	}
}

static void
load_call(unsigned slot)
{
	uint64_t id = (++load.seq << 6) | slot, f = load.file++;

	load.slots[slot].id = id;
	load.slots[slot].since = bench_now();
	/* 4,096 files, and different arguments for each. */
	load_say("{\"jsonrpc\":\"2.0\",\"id\":%llu,\"method\":\"tools/call\","
		 "\"params\":{\"name\":\"%s\",\"arguments\":{\"path\":"
		 "\"/workspace/src/d%02x/file-%02x.txt\",\"head\":%llu}}}\n",
	    (unsigned long long)id, load.tool, (unsigned)(f & 63),
	    (unsigned)(f >> 6 & 63), (unsigned long long)f + 1);
	if (load.each)
		load_flush();
}

static void
load_error(struct bench_slice line)
{
	if (load.errors++ != 0)
		return;
	for (size_t i = 0; i < line.len && i < sizeof(load.trouble) - 1; i++)
		load.trouble[i] =
		    line.p[i] == '"' || line.p[i] == '\\' || line.p[i] < ' '
			? '\''
			: line.p[i];
}

static void
load_answer(struct bench_slice line)
{
	struct bench_slice id;
	uint64_t n, now;
	unsigned slot;

	id = bench_json_member(line, "id");
	if (id.p == NULL)
		return; /* a notification */
	n = strtoull(id.p, NULL, 10);
	slot = n & (LOAD_MAX_SLOTS - 1);
	if (n == 0 || load.slots[slot].id != n)
		errx(1, "no such call: %.*s", (int)line.len, line.p);
	now = bench_now();
	if (bench_json_member(line, "result").p == NULL ||
	    memmem(line.p, line.len, "\"isError\":true", 14) != NULL)
		load_error(line);
	if (load.from != 0 && load.slots[slot].since >= load.from) {
		bench_samples_add(&load.samples, now - load.slots[slot].since);
	}
	if (load.from != 0)
		load.answered++;
	load.slots[slot].id = 0;
	load_call(slot);
}

static void
load_run(void)
{
	uint64_t begin = bench_now(), now;

	for (unsigned i = 0; i < load.outstanding; i++)
		load_call(i);
	load_flush();
	for (;;) {
		if (!load_read())
			errx(1, "closed after %llu calls",
			    (unsigned long long)load.seq);
		load_lines(load_answer);
		now = bench_now();
		if (load.from == 0 && now - begin >= load.warm_ns) {
			load.cpu = bench_cpu_of(load.pids);
			load.own = bench_cpu_own();
			load.from = bench_now();
		} else if (load.from != 0 && now - load.from >= load.run_ns) {
			load.until = now;
			return;
		}
		load_flush();
	}
}

static void
load_report(void)
{
	double n = load.answered == 0 ? 1 : (double)load.answered;
	double s = (double)(load.until - load.from) / 1e9;
	double cpu = (double)(bench_cpu_of(load.pids) - load.cpu) / 1000;
	double own = (double)(bench_cpu_own() - load.own) / 1000;

	printf("{\"n\":%llu,\"errors\":%llu,\"p50_us\":%.1f,\"p99_us\":%.1f,"
	       "\"rate\":%.0f,\"cpu_us\":%.2f,\"client_cpu_us\":%.2f,"
	       "\"next\":%llu,\"trouble\":\"%s\"}\n",
	    (unsigned long long)load.answered, (unsigned long long)load.errors,
	    bench_samples_us(&load.samples, .5),
	    bench_samples_us(&load.samples, .99), n / s, cpu / n, own / n,
	    (unsigned long long)load.file, load.trouble);
}

static void
load_connect(const char *path)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};

	if (strlen(path) >= sizeof(sun.sun_path))
		errx(64, "%s: too long a path; use /proc/self/fd", path);
	memcpy(sun.sun_path, path, strlen(path));
	load.rfd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (load.rfd == -1 ||
	    connect(load.rfd, (struct sockaddr *)&sun, sizeof(sun)) == -1)
		err(1, "%s", path);
	load.wfd = load.rfd;
}

static void
load_spawn(char **argv)
{
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC) == -1 || pipe2(out, O_CLOEXEC) == -1)
		err(1, "pipe");
	switch (fork()) {
	case -1:
		err(1, "fork");
	case 0:
		if (dup2(in[0], 0) == -1 || dup2(out[1], 1) == -1)
			err(1, "dup2");
		execv(argv[0], argv);
		err(1, "%s", argv[0]);
	default:
		break;
	}
	close(in[0]);
	close(out[1]);
	load.rfd = out[0];
	load.wfd = in[1];
}

static const struct option load_options[] = {
    {"unix", required_argument, NULL, 'u'},
    {"tool", required_argument, NULL, 't'},
    {"outstanding", required_argument, NULL, 'o'},
    {"each", no_argument, NULL, 'e'},
    {"warm-ms", required_argument, NULL, 'w'},
    {"run-ms", required_argument, NULL, 'r'},
    {"from", required_argument, NULL, 'f'},
    {"cpu-of", required_argument, NULL, 'c'},
    {NULL, 0, NULL, 0},
};

int
main(int argc, char **argv)
{
	const char *path = NULL;
	int opt;

	load.tool = "read_file";
	load.outstanding = 1;
	load.warm_ns = 500000000;
	load.run_ns = 1500000000;
	while ((opt = getopt_long(argc, argv, "+", load_options, NULL)) != -1) {
		switch (opt) {
		case 'u':
			path = optarg;
			break;
		case 't':
			load.tool = optarg;
			break;
		case 'o':
			load.outstanding = (unsigned)bench_number(
			    "outstanding", optarg, LOAD_MAX_SLOTS);
			break;
		case 'e':
			load.each = true;
			break;
		case 'w':
			load.warm_ns =
			    bench_number("warm-ms", optarg, 1000000) * 1000000;
			break;
		case 'r':
			load.run_ns =
			    bench_number("run-ms", optarg, 1000000) * 1000000;
			break;
		case 'f':
			load.file = bench_number("from", optarg, UINT32_MAX);
			break;
		case 'c':
			load.pids = optarg;
			break;
		default:
			return 64;
		}
	}
	if ((path == NULL) == (optind == argc))
		errx(64, "usage: bench_mcp_load --unix PATH | COMMAND...");
	if (path != NULL)
		load_connect(path);
	else
		load_spawn(argv + optind);
	bench_samples_init(&load.samples);
	load_ask("initialize",
	    "{\"protocolVersion\":\"2025-06-18\","
	    "\"capabilities\":{},\"clientInfo\":{\"name\":\"bench\","
	    "\"version\":\"1\"}}");
	load_say("{\"jsonrpc\":\"2.0\",\"method\":"
		 "\"notifications/initialized\"}\n");
	load_ask("tools/list", "{}");
	load_run();
	load_report();
	bench_samples_free(&load.samples);
	return 0;
}
