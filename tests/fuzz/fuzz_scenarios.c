/* SPDX-License-Identifier: ISC */
/*
 * Hostile scenario files through `icctl policy test`: read, run, and reported
 * as text and as JSON, with the lines of failures. There is no policyd: the
 * answer to a question depends on its length.
 */
#include <sys/mman.h>

#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/icctl/policy/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static int there;

/* Replaces libc's: formats the message without printing it. */
void
warnx(const char *fmt, ...)
{
	char text[4096];
	va_list ap;

	va_start(ap, fmt);
	if (vsnprintf(text, sizeof(text), fmt, ap) < 0)
		abort();
	va_end(ap);
}

struct policyd *
policyd_start(const struct icctl *ctl, const struct policy_opts *o,
    const struct policy_set *set, bool session, struct policyd_bad *bad)
{
	return (struct policyd *)(void *)&there;
}

void
policyd_end(struct policyd *p)
{
}

int
policy_decide(struct policyd *p, const struct policy_request *r, bool whole,
    struct policy_decided *out)
{
	*out = (struct policy_decided){
	    .status = (unsigned)(r->tool.len + r->args->count) % 3};
	snprintf(out->rule, sizeof(out->rule), "rule");
	snprintf(out->reason, sizeof(out->reason), "reason\x1b");
	return 0;
}

void
policy_put_decided(
    struct buf *out, const char *key, const struct policy_decided *d)
{
	policy_put_member(out, key, span_str(d->reason));
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	static struct icctl ctl = {.home = "/nonexistent"};
	static char path[64];
	struct policy_opts o = {.nargs = 1, .args = {path}};
	int fd;

	if (len > 1 << 16)
		return 0;
	if (freopen("/dev/null", "we", stdout) == NULL)
		abort();
	for (unsigned k = 0; k <= PROTO_RULES_LAST; k++)
		o.files[k] = "/dev/null";
	if ((fd = memfd_create("scenarios", MFD_CLOEXEC)) == -1)
		abort();
	if (write(fd, p, len) != (ssize_t)len)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ctl.json = len % 2;
	(void)icctl_policy_test(&ctl, &o);
	close(fd);
	return 0;
}
