/* SPDX-License-Identifier: ISC */
/*
 * ic-look: looks at services of the host for icsupervisor
 * (host/services_seen.h). It finds out from the kernel who listens, and
 * connects; then it gives up every right, and only then reads what the services
 * answer, which may be anybody's bytes. Whoever takes it over there can call a
 * service another name, or say nothing about it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/report.h"
#include "common/confine/confine.h"
#include "common/ipc/proto.h"
#include "common/log.h"
#include "host/service_look.h"
#include "host/services_seen.h"

#define LOOK_JOB 8192U

/* clang-format off */
static const enum pledge_promise look_promises[] = {
	PLEDGE_STDIO,		/* asks, reads answers, reports */
};

static const struct confine look_confine = {
	.limits = {
		.nofile = PROTO_MAX_SERVICES * SERVICE_PROBES + 16,
		.fsize = 0,
		.data = 16U << 20,
		.memlock = 0,
	},
	.pledge = {
		.promises = look_promises,
		.npromises = nitems(look_promises),
	},
};
/* clang-format on */

static struct {
	struct service_probe probe;
	struct service_seen seen;
	bool asks;
} look[PROTO_MAX_SERVICES];

static void
look_report(enum seen_report kind, const char *text)
{
	if (text != NULL)
		report_say((int)kind, text, LOOK_JOB);
}

static void
look_number(enum seen_report kind, uint64_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, n);
	look_report(kind, text);
}

/* Look at one service, and connect to it. */
static void
look_listener(unsigned i, const char *address, uint16_t port)
{
	struct service_seen *seen = &look[i].seen;

	look_number(SEEN_AT, i);
	if (port == 0)
		return;
	if (service_listener(address, port, seen) == -1) {
		look_number(SEEN_ERRNO, (uint64_t)errno);
		return;
	}
	if (seen->local)
		look_report(SEEN_LOCAL, "");
	if (seen->listens)
		look_number(SEEN_USER, seen->uid);
	if (seen->mixed)
		look_report(SEEN_MIXED, "");
	look_report(SEEN_NAME, seen->program);
	look_report(SEEN_REFUSED, seen->refused);
	look[i].asks = service_asks(seen);
	if (look[i].asks)
		service_connect(&look[i].probe, address, port);
}

/* Look at all services of the job. Returns their number. */
static unsigned
look_listeners(struct span job)
{
	const char *text, *address;
	unsigned n = 0;
	uint64_t port;
	int letter;

	while (report_next(&job, &letter, &text)) {
		address = strchr(text, ' ');
		if (letter != SEEN_SERVICE || n == PROTO_MAX_SERVICES ||
		    address == NULL ||
		    span_u64(span_of(text, (size_t)(address - text)),
			UINT16_MAX, &port) == -1)
			fatalx("not a service");
		look_listener(n++, address + 1, (uint16_t)port);
	}
	return n;
}

static void
look_ask(unsigned i)
{
	struct service_seen *seen = &look[i].seen;

	service_ask(&look[i].probe, seen);
	look_number(SEEN_AT, i);
	look_report(SEEN_REFUSED, seen->refused);
	look_report(SEEN_KIND, seen->kind);
	look_report(SEEN_CAN, seen->can);
}

int
main(int argc, char **argv)
{
	static uint8_t job[LOOK_JOB];
	struct confine_state state;
	unsigned n;
	ssize_t len;

	(void)argv;
	confine_early();
	log_init(SEEN_PROGRAM, false);
	if (argc != 2)
		fatalx("icsupervisor starts this program");
	if ((len = read(STDIN_FILENO, job, sizeof(job))) == -1)
		fatal("the services");
	n = look_listeners(span_of(job, (size_t)len));
	if (confine_apply(&look_confine, &state) == -1)
		return 1;
	for (unsigned i = 0; i < n; i++)
		if (look[i].asks)
			look_ask(i);
	look_report((enum seen_report)REPORT_END, "");
	return 0;
}
