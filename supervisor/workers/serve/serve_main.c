/* SPDX-License-Identifier: ISC */
/*
 * ic-serve: starts the services of the session's own for icsupervisor, and
 * stays until the session ends. It has the user's rights while it starts
 * sandboxes and containers; of the session it holds the directory, and no
 * channel and no credential. What services write is read after it has given up
 * every right. The kernel ends it with icsupervisor, and with it the sandboxes
 * that it has started; a container ends when nobody takes connections from its
 * ic-bridge any more.
 */
#include "workers/serve/serve.h"

#include <sys/prctl.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fcntl.h>

#include "base/report.h"
#include "box/box.h"
#include "common/confine/confine.h"
#include "common/log.h"

/* clang-format off */
static const enum pledge_promise serve_promises[] = {
	PLEDGE_STDIO,		/* reads what services say, writes the log */
};

static const struct confine serve_confine = {
	.limits = {
		.nofile = 4 * PROTO_MAX_SERVICES + 64,
		.fsize = 8U << 20,	/* services.log */
		.data = 64U << 20,
		.memlock = 0,
	},
	.pledge = {
		.promises = serve_promises,
		.npromises = nitems(serve_promises),
	},
};
/* clang-format on */

/* Take "NUMBER PORT NAME {...}". */
static void
serve_one(const char *text)
{
	struct service *s = &serve_env.list[serve_env.n];
	unsigned port;
	int at = 0;

	if (serve_env.n == PROTO_MAX_SERVICES ||
	    sscanf(text, "%u %u %32s %n", &s->number, &port, s->name, &at) !=
		3 ||
	    s->number >= PROTO_MAX_SERVICES || port > UINT16_MAX || at == 0 ||
	    (s->o = json_tokener_parse(text + at)) == NULL)
		fatalx("not a service");
	s->port = (uint16_t)port;
	s->group = ERRAND_GROUPS + (int)serve_env.n;
	s->out = -1;
	s->sp = (struct spawned)SPAWNED_INIT;
	/* From a program that is started it must not be inherited. */
	if (fcntl(s->group, F_SETFD, FD_CLOEXEC) == -1)
		s->group = -1;
	serve_env.n++;
}

static void
serve_told(void)
{
	struct limits l = {.memory_mb = 0};
	unsigned long long n[6];
	unsigned cpus, group;

	errand_read();
	if (errand.limits == NULL || errand.tool == NULL ||
	    sscanf(errand.limits, "%llu %llu %llu %llu %llu %llu %u %u", &n[0],
		&n[1], &n[2], &n[3], &n[4], &n[5], &cpus, &group) != 8)
		fatalx("not a job");
	l.server_mb = n[0];
	l.processes = n[1];
	l.files = n[2];
	l.tmp_mb = n[3];
	l.shm_mb = n[4];
	l.home_mb = n[5];
	l.cpus = cpus;
	l.group_cpus = group != 0;
	limits_server(&l, &serve_env.limits);
	for (size_t i = 0; i < errand.services.n; i++)
		serve_one(errand.services.list[i]);
	serve_env.how = (struct host_how){.places = &errand.places,
	    .path = errand.path != NULL ? errand.path : "",
	    .user_home = errand.home};
}

/* Start the service, with one pipe for all that it writes. */
static int
serve_start(struct service *s, struct fault *fault)
{
	int p[2], rv;

	if (pipe2(p, O_CLOEXEC) == -1)
		return fault_errno(fault, "services.%s", s->name);
	rv = serve_text(s, "image") != NULL ? serve_engine(s, p[1], fault)
					    : serve_box(s, p[1], fault);
	close(p[1]);
	s->out = p[0];
	if (rv == 0 && fcntl(p[0], F_SETFL, O_NONBLOCK) == -1)
		rv = fault_errno(fault, "services.%s", s->name);
	return rv;
}

static int
serve_all(struct fault *fault)
{
	if (box_bwrap() != NULL &&
	    host_program_find(box_program(), &serve_env.how, "bubblewrap",
		box_bwrap(), fault) == -1)
		return -1;
	if (serve_log_open(fault) == -1)
		return -1;
	for (unsigned i = 0; i < serve_env.n; i++)
		if (serve_start(&serve_env.list[i], fault) == -1)
			return -1;
	return 0;
}

int
main(int argc, char **argv)
{
	struct fault fault = {""};
	struct confine_state state;

	(void)argv;
	log_init(ERRAND_SERVE, false);
	if (argc != 2)
		fatalx("icsupervisor starts this program");
	if (spawn_init() == -1 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1 ||
	    confine_no_core() == -1 || signal(SIGPIPE, SIG_IGN) == SIG_ERR ||
	    signal(SIGXFSZ, SIG_IGN) == SIG_ERR)
		fatal("cannot become private");
	serve_told();
	if (serve_all(&fault) == -1) {
		errand_report(fault.kind == FAULT_CONFIG   ? ERRAND_WRONG
			      : fault.kind == FAULT_SCARCE ? ERRAND_SCARCE
							   : ERRAND_FAILED,
		    fault.text);
		return 1;
	}
	if (confine_apply(&serve_confine, &state) == -1)
		return 1;
	errand_report((enum errand_report)REPORT_END, "");
	serve_log();
	return 0;
}
