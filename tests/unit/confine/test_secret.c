/* SPDX-License-Identifier: ISC */
/*
 * Secret memory of both kinds: memfd_secret if the kernel has it, and, with
 * that call refused, the fallback.  A read by a sibling of the same uid is
 * tried on ordinary memory first.
 */
#include "common/confine/secret.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <seccomp.h>

#include "tap.h"
#include "unit/confine/secret_outsider.h"

#define NOBODY 65534
#define PAGE ((size_t)sysconf(_SC_PAGESIZE))
#define KEY "sk-canary-4711-not-a-key"

/*
 * Fail the call, as a kernel does that was booted without secretmem.enable=1.
 */
static bool
refuse_memfd_secret(void)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	bool good;

	good = ctx != NULL &&
	       seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOSYS), 447, 0) == 0 &&
	       seccomp_load(ctx) == 0;
	seccomp_release(ctx);
	return good;
}

static int
pipe_of(int p[2])
{
	return pipe2(p, O_CLOEXEC | O_NONBLOCK);
}

static bool
all_zero(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i] != 0)
			return false;
	}
	return true;
}

/*
 * Read the whole input at once; returns -1 with errno set like
 * secret_read_fd().
 */
static int
read_text(struct secret *s, const char *text)
{
	int p[2], r, error;

	if (pipe_of(p) == -1)
		return -2;
	if (write(p[1], text, strlen(text)) != (ssize_t)strlen(text))
		return -2;
	close(p[1]);
	r = secret_read_fd(s, p[0]);
	error = errno;
	close(p[0]);
	errno = error;
	return r;
}

static void
test_before(void)
{
	ok(!secret_ready(), "nothing prepared");
	ok(secret_new(1) == NULL && errno == ENOMEM, "nothing to be had");
	is_int(secret_prepare(0), -1, "nothing is not prepared");
	is_int(errno, EINVAL, "EINVAL");
}

static void
test_pieces(void)
{
	struct secret *s = secret_new(64);
	struct span v;
	int p[2];

	if (!ok(s != NULL && pipe_of(p) == 0, "a secret of 64"))
		return;
	is_int(secret_read_fd(s, p[0]), 1, "nothing yet: more will come");
	ok(write(p[1], KEY, 5) == 5, "a piece");
	is_int(secret_read_fd(s, p[0]), 1, "more will come");
	ok(write(p[1], &KEY[5], sizeof(KEY) - 6) == (ssize_t)sizeof(KEY) - 6,
	    "the rest");
	ok(write(p[1], "\r\n\n", 3) == 3, "line ends");
	close(p[1]);
	is_int(secret_read_fd(s, p[0]), 0, "the end");
	close(p[0]);
	v = secret_span(s);
	is_mem(v.p, v.len, KEY, sizeof(KEY) - 1, "whole, without line ends");
	ok(v.p[v.len] == 0 && v.p[v.len + 1] == 0, "line ends wiped");
	secret_free(s);
}

static void
test_lengths(void)
{
	static const struct {
		const char *text;
		int r, error;
		size_t len;
	} cases[] = {
	    {"12345678", 0, 0, 8},
	    {"12345678\n", 0, 0, 8},
	    {"12345678\r\n", 0, 0, 8},
	    {"123456789", -1, ENOBUFS, 0},
	    {"1234567890\n", -1, ENOBUFS, 0},
	    {"12345678\r\n\n", -1, ENOBUFS, 0},
	    {"1234567890123456789012345", -1, ENOBUFS, 0},
	    {"", -1, ENODATA, 0},
	    {"\r\n", -1, ENODATA, 0},
	    {"1\n2", 0, 0, 3},
	};
	struct secret *s;
	struct span v;

	for (size_t i = 0; i < nitems(cases); i++) {
		s = secret_new(8);
		errno = 0;
		is_int(read_text(s, cases[i].text), cases[i].r, "case %zu", i);
		is_int(errno, cases[i].error, "case %zu: errno", i);
		v = secret_span(s);
		is_int(v.len, cases[i].len, "case %zu: length", i);
		if (cases[i].r == -1)
			ok(all_zero(v.p, 11), "case %zu: wiped", i);
		secret_free(s);
	}
	s = secret_new(8);
	is_int(secret_read_fd(s, -1), -1, "a bad descriptor");
	is_int(errno, EBADF, "EBADF");
	secret_free(s);
}

static void
test_arena(size_t bytes)
{
	struct secret *a, *b, *c, *many[100];
	uint8_t *p, *q;
	size_t cap, n = 0;

	ok((a = secret_new(bytes)) != NULL, "all that was prepared, at once");
	secret_free(a);
	a = secret_new(100);
	b = secret_new(200);
	p = secret_bytes(a, &cap);
	is_int(cap, 100, "room as asked");
	memset(p, 'x', cap);
	q = secret_bytes(b, &cap);
	ok(q >= p + 100 || q + 200 <= p, "two do not overlap");
	memset(q, 'y', cap);
	errno = 77;
	secret_free(a);
	secret_free(NULL);
	is_int(errno, 77, "errno is kept");
	ok(all_zero(p, 100), "wiped when freed");
	c = secret_new(80);
	ok(secret_bytes(c, &cap) == p && cap == 80, "used again");
	ok(q[0] == 'y' && q[199] == 'y', "the other one is whole");
	secret_free(c);
	c = secret_new(150);
	p = secret_bytes(c, &cap);
	ok(p >= q + 200 || p + 150 <= q, "not where it does not fit");
	secret_free(b);
	ok(all_zero(q, 200), "the other one wiped");
	secret_free(c);
	ok(secret_new(bytes * 2) == NULL && errno == ENOMEM, "too large");
	while (n < 100 && (many[n] = secret_new(1)) != NULL)
		n++;
	ok(n >= 32 && n < 100 && errno == ENOMEM, "many, not endless (%zu)", n);
	while (n > 0)
		secret_free(many[--n]);
	a = secret_new(bytes);
	ok(a != NULL && all_zero(secret_bytes(a, &cap), bytes),
	    "all of it again, and zero");
	secret_free(a);
}

/*
 * Only bytes that were written are wiped: a page that was never used is not
 * allocated for that.
 */
static void
test_wipe(enum secret_kind kind)
{
	struct secret *s = secret_new(3 * PAGE);
	unsigned char resident = 1;
	struct span v;
	size_t cap;

	is_int(secret_cap(s), 3 * PAGE, "its size");
	is_int(read_text(s, KEY KEY "\n"), 0, "read");
	v = secret_span(s);
	secret_free(s);
	ok(mincore((void *)((uintptr_t)v.p + 2 * PAGE), PAGE, &resident) == 0 &&
		(resident & 1) == (kind == SECRET_LOCKED),
	    "the last page is used only if it is locked");
	ok(all_zero(v.p, 2 * sizeof(KEY) + 3), "what was read is wiped");
	s = secret_new(3 * PAGE);
	memset(secret_bytes(s, &cap), 'z', cap);
	secret_free(s);
	ok(all_zero(v.p, cap), "all that was lent is wiped");
}

/* Returns the signal that ends a child which writes at `p`, or 0. */
static int
touch(volatile uint8_t *p)
{
	static const struct rlimit none = {0, 0};
	int status;
	pid_t pid;

	fflush(stdout);
	if ((pid = fork()) == 0) {
		(void)setrlimit(RLIMIT_CORE, &none);
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		*p = 1;
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void
test_guards(void)
{
	struct secret *s = secret_new(16);
	uint8_t *p, *heap;
	size_t cap;

	p = secret_bytes(s, &cap);
	heap = malloc(16);
	is_int(touch(heap), 0, "a child writes to its copy of the heap");
	free(heap);
	is_int(touch(p), SIGSEGV, "no child has the secret");
	is_int((uintptr_t)p % PAGE, 0, "the first secret starts its page");
	is_int(touch(p - 1), SIGSEGV, "a guard in front");
	secret_free(s);
}

/* Send an iovec that points into the secret. */
static void
test_send(void)
{
	struct secret *s = secret_new(64);
	struct iovec iov[2] = {{(void *)(uintptr_t) "key: ", 5}};
	char got[64];
	struct span v;
	int p[2];

	is_int(read_text(s, KEY), 0, "read");
	v = secret_span(s);
	iov[1].iov_base = (void *)(uintptr_t)v.p;
	iov[1].iov_len = v.len;
	ok(pipe_of(p) == 0 && writev(p[1], iov, 2) == (ssize_t)(5 + v.len),
	    "written from where it stands");
	ok(read(p[0], got, sizeof(got)) == (ssize_t)(5 + v.len) &&
		memcmp(got, "key: " KEY, 5 + v.len) == 0,
	    "and it arrives");
	close(p[0]);
	close(p[1]);
	secret_free(s);
}

static void
suite(enum secret_kind kind)
{
	size_t bytes = 3 * PAGE;

	test_before();
	if (!ok(secret_prepare(bytes) == 0, "prepared"))
		return;
	ok(secret_ready(), "ready");
	is_int(secret_kind(), kind, "of the kind that this kernel has");
	is_int(secret_prepare(bytes), -1, "once");
	test_guards();
	test_wipe(kind);
	test_pieces();
	test_lengths();
	test_arena(bytes);
	test_secret_outsider(kind);
	test_send();
}

struct run {
	const char *name;
	bool user;     /* if started by root: as nobody */
	bool refuse;   /* memfd_secret */
	bool lockless; /* RLIMIT_MEMLOCK 0 */
};

static int
run_here(const struct run *r)
{
	struct rlimit none = {0, 0};
	enum secret_kind kind = SECRET_LOCKED;
	int fd;

	if (r->user && geteuid() == 0)
		ok(setgroups(0, NULL) == 0 &&
			setresgid(NOBODY, NOBODY, NOBODY) == 0 &&
			setresuid(NOBODY, NOBODY, NOBODY) == 0 &&
			prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0,
		    "become nobody");
	if (r->lockless) {
		ok(setrlimit(RLIMIT_MEMLOCK, &none) == 0, "rlimit");
		is_int(secret_prepare(PAGE), -1, "no memory may be locked");
		ok(!secret_ready(), "so there is no secret memory");
		return tap_done();
	}
	if (r->refuse)
		ok(refuse_memfd_secret(), "memfd_secret refused");
	if ((fd = (int)syscall(447, O_CLOEXEC)) != -1) {
		kind = SECRET_MEMFD;
		close(fd);
	}
	suite(kind);
	return tap_done();
}

/*
 * Run in a separate process, because an arena is made only once.  Its output is
 * shown after a "#", and it counts as one test of this process.
 */
static bool
run(const struct run *r)
{
	char line[512];
	int p[2], status = -1;
	pid_t pid;
	FILE *f;

	fflush(stdout);
	if (pipe(p) == -1 || (pid = fork()) == -1)
		return false;
	if (pid == 0) {
		dup2(p[1], 1);
		close(p[0]);
		close(p[1]);
		exit(run_here(r));
	}
	close(p[1]);
	if ((f = fdopen(p[0], "r")) != NULL) {
		while (fgets(line, sizeof(line), f) != NULL)
			printf("# %s", line);
		fclose(f);
	}
	return waitpid(pid, &status, 0) == pid && status == 0;
}

int
main(void)
{
	static const struct run runs[] = {
	    {"root, what the kernel has", false, false, false},
	    {"root, without memfd_secret", false, true, false},
	    {"user, what the kernel has", true, false, false},
	    {"user, without memfd_secret", true, true, false},
	    {"user, without RLIMIT_MEMLOCK", true, false, true},
	};
	bool good[nitems(runs)], root = geteuid() == 0;

	for (size_t i = 0; i < nitems(runs); i++)
		good[i] = (runs[i].user || root) && run(&runs[i]);
	for (size_t i = 0; i < nitems(runs); i++) {
		if (runs[i].user || root)
			ok(good[i], "%s", runs[i].name);
	}
	return tap_done();
}
