/* SPDX-License-Identifier: ISC */
#include "base/helper.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/paths.h"
#include "base/report.h"
#include "common/loop.h"

#define HELPER_TEXT ((size_t)1 << 20) /* a report */
#define HELPER_TICK_MS 100
/* How long it may take to end once it was asked to. */
#define HELPER_END_US 10000000U

/* Returns a memfd with the job, to be read from its beginning, or -1. */
static int
helper_job(const struct buf *job)
{
	const int fd = memfd_create("job", MFD_CLOEXEC);

	if (fd == -1)
		return -1;
	if (buf_check(job) == -1 || span_write(fd, buf_span(job)) == -1 ||
	    lseek(fd, 0, SEEK_SET) == -1) {
		close(fd);
		return -1;
	}
	return fd;
}

static int
helper_spawn(struct helper *h, int in, int out, struct fault *fault)
{
	char *path = paths_join(h->libexecdir, h->name);
	const char *const words[] = {h->name, h->task, NULL};
	struct spawn s = {.path = path,
	    .argv = (char *const *)(uintptr_t)words,
	    .envp = h->envp,
	    .fds = {in, out, STDERR_FILENO},
	    .nfds = 3,
	    .session = true};
	int rv = -1;

	for (unsigned i = 0; i < h->nfds; i++)
		s.fds[s.nfds++] = h->fds[i];
	if (path != NULL)
		rv = spawn_start(&s, &h->sp);
	if (rv == 0 && (rv = spawn_check(&h->sp)) == -1)
		helper_stop(h);
	free(path);
	return rv == 0 ? 0 : fault_errno(fault, "%s", h->name);
}

int
helper_start(struct helper *h, struct fault *fault)
{
	int in, p[2] = {-1, -1}, rv = -1;

	h->sp = (struct spawned)SPAWNED_INIT;
	h->out = -1;
	buf_init(&h->in, HELPER_TEXT);
	if ((in = helper_job(h->job)) == -1 || pipe2(p, O_CLOEXEC) == -1 ||
	    fcntl(p[0], F_SETFL, O_NONBLOCK) == -1)
		fault_errno(fault, "%s", h->name);
	else
		rv = helper_spawn(h, in, p[1], fault);
	if (in != -1)
		close(in);
	if (p[1] != -1)
		close(p[1]);
	if (rv == 0)
		h->out = p[0];
	else if (p[0] != -1)
		close(p[0]);
	return rv;
}

void
helper_stop(struct helper *h)
{
	spawn_stop(&h->sp, 0);
	if (h->out != -1)
		close(h->out);
	h->out = -1;
	buf_free(&h->in);
}

/* Take every whole report. Returns as helper_read(). */
static int
helper_take(struct helper *h, struct fault *fault)
{
	struct span rest = buf_span(&h->in);
	const size_t len = rest.len;
	const char *text;
	int letter;

	while (report_next(&rest, &letter, &text)) {
		if (letter == REPORT_END)
			return 1;
		if (h->take(letter, text, fault) == -1)
			return -1;
	}
	buf_drain(&h->in, len - rest.len);
	return 0;
}

int
helper_read(struct helper *h, struct fault *fault)
{
	uint8_t *to;
	ssize_t n;
	int rv;

	for (;;) {
		if ((to = buf_room(&h->in, 4096)) == NULL)
			return fault_set(
			    fault, "%s: the report is not valid", h->name);
		n = read(h->out, to, 4096);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno == EAGAIN)
			return 0;
		if (n <= 0)
			return fault_set(fault, "%s ended early", h->name);
		buf_grow(&h->in, (size_t)n);
		if ((rv = helper_take(h, fault)) != 0)
			return rv;
	}
}

/* Ask it to end if the user wants that, once. */
static void
helper_ask(const struct helper *h, bool *asked, uint64_t *until)
{
	if (*asked || h->stopped == NULL || !h->stopped())
		return;
	*asked = true;
	*until = clock_mono_us() + HELPER_END_US;
	(void)syscall(SYS_pidfd_send_signal, h->sp.pidfd, SIGTERM, NULL, 0);
}

int
helper_wait(struct helper *h, uint64_t ms, struct fault *fault)
{
	uint64_t until = clock_mono_us() + ms * 1000;
	struct pollfd p = {.fd = h->out, .events = POLLIN};
	bool asked = false;
	int rv = 0;

	while (rv == 0) {
		helper_ask(h, &asked, &until);
		if (clock_mono_us() >= until)
			rv = fault_set(
			    fault, "%s has not ended in time", h->name);
		else if (poll(&p, 1, HELPER_TICK_MS) == 1)
			rv = helper_read(h, fault);
	}
	helper_stop(h);
	return rv == 1 ? 0 : -1;
}

int
helper_run(struct helper *h, uint64_t ms, struct fault *fault)
{
	if (helper_start(h, fault) == -1)
		return -1;
	return helper_wait(h, ms, fault);
}
