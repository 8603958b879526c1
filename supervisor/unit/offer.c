/* SPDX-License-Identifier: ISC */
#include "unit/offer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/span.h"

extern char **environ;

/* The manager's word counts for these, whatever a shell has. */
static const char *const offer_units[] = {"CREDENTIALS_DIRECTORY",
    "INVOCATION_ID", "JOURNAL_STREAM", "LISTEN_FDNAMES", "LISTEN_FDS",
    "LISTEN_PID", "MAINPID", "MANAGERPID", "MEMORY_PRESSURE_WATCH",
    "MEMORY_PRESSURE_WRITE", "NOTIFY_SOCKET", "SYSTEMD_EXEC_PID",
    "WATCHDOG_PID", "WATCHDOG_USEC"};

static bool
offer_is_units(const char *variable)
{
	size_t n;

	for (size_t i = 0; i < nitems(offer_units); i++) {
		n = strlen(offer_units[i]);
		if (strncmp(variable, offer_units[i], n) == 0 &&
		    variable[n] == '=')
			return true;
	}
	return false;
}

static int64_t
offer_now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Read to the end of the pipe. Returns 0, or -1 with the fault set. */
static int
offer_fill(struct offer *o, int fd, size_t *len, struct fault *fault)
{
	const int64_t until = offer_now() + OFFER_WAIT_MS;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int64_t left;
	ssize_t n;

	for (;;) {
		if (*len == OFFER_BYTES)
			return fault_set(fault,
			    "what icctl handed over has more than %u bytes",
			    OFFER_BYTES);
		if ((left = until - offer_now()) <= 0)
			return fault_set(fault,
			    "icctl did not hand over all of its start within "
			    "%d seconds",
			    OFFER_WAIT_MS / 1000);
		if (poll(&p, 1, (int)left) < 1)
			continue;
		n = read(fd, o->bytes + *len, OFFER_BYTES - *len);
		if (n == 0)
			return 0;
		if (n > 0)
			*len += (size_t)n;
		else if (errno != EINTR && errno != EAGAIN)
			return fault_errno(fault, "what icctl hands over");
	}
}

/* Take one string. Returns 0, or -1. */
static int
offer_take(struct offer *o, char *s)
{
	switch (s[0]) {
	case 'd':
		if (o->dir != NULL || s[1] != '/')
			return -1;
		o->dir = s + 1;
		return 0;
	case 'a':
		if (o->nargs == OFFER_STRINGS)
			return -1;
		o->args[o->nargs++] = s + 1;
		return 0;
	case 'e':
		if (o->nenv == OFFER_STRINGS)
			return -1;
		/* A shell may have passed on a string without a name. */
		if (s[1] != '=' && strchr(s, '=') != NULL &&
		    !offer_is_units(s + 1))
			o->env[o->nenv++] = s + 1;
		return 0;
	default:
		return -1;
	}
}

/* Find the strings. Returns 0, or -1 if these are not the bytes of an offer. */
static int
offer_parse(struct offer *o, size_t len)
{
	char *s = o->bytes, *end = o->bytes + len;
	bool first = true;

	if (len == 0 || end[-1] != '\0')
		return -1;
	for (; s < end; s += strlen(s) + 1) {
		if (first && strcmp(s, OFFER_VERSION) != 0)
			return -1;
		if (!first && strcmp(s, OFFER_END) == 0)
			return s + sizeof(OFFER_END) == end && o->nargs != 0 &&
				       o->dir != NULL
				   ? 0
				   : -1;
		if (!first && offer_take(o, s) == -1)
			return -1;
		first = false;
	}
	return -1;
}

int
offer_read(struct offer *o, int fd, struct fault *fault)
{
	size_t len = 0;
	int rv;

	memset(o, 0, sizeof(*o));
	/* All at once, so that no key is copied when it grows. */
	if ((o->bytes = calloc(1, OFFER_BYTES)) == NULL)
		return fault_errno(fault, "what icctl hands over");
	rv = offer_fill(o, fd, &len, fault);
	if (rv == 0 && offer_parse(o, len) == -1)
		rv = fault_set(fault,
		    "what icctl handed over is not a whole start of this "
		    "version. Is icctl of the same version as icsupervisor "
		    "(icctl --version)? Then start it again");
	if (rv == -1)
		unit_offer_free(o);
	return rv;
}

int
offer_take_environment(struct offer *o)
{
	size_t n = 0;
	char **all;

	for (char **e = environ; e != NULL && *e != NULL; e++)
		n++;
	if ((all = calloc(n + o->nenv + 1, sizeof(*all))) == NULL)
		return -1;
	n = 0;
	for (char **e = environ; e != NULL && *e != NULL; e++)
		if (offer_is_units(*e))
			all[n++] = *e;
	memcpy(all + n, o->env, o->nenv * sizeof(*all));
	environ = all;
	return 0;
}

void
unit_offer_free(struct offer *o)
{
	if (o->bytes != NULL)
		explicit_bzero(o->bytes, OFFER_BYTES);
	free(o->bytes);
	memset(o, 0, sizeof(*o));
}
