/* SPDX-License-Identifier: ISC */
/*
 * icwebd reads what browsers send to the page of `icctl web`, and writes what
 * they get. It holds their connections, whose user icctl has checked, and a
 * channel to icctl. It must never see the control socket of a session: an
 * answer to a call is a message to icctl, which checks who asks and composes
 * the command itself. Compromising it from a browser yields what that browser
 * may do anyway; it can open no file and connect to nothing.
 */
#include "workers/icwebd/webd.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <fcntl.h>
#include <seccomp.h>
#include <sys/socket.h>

/* clang-format off */
static const enum pledge_promise webd_promises[] = {
	PLEDGE_STDIO,		/* the channel, browsers' connections */
	PLEDGE_SHUTDOWN,	/* libmicrohttpd ends a connection with it */
};

#define OPTION(level, name, why)						\
	{ SCMP_SYS(setsockopt), 2,						\
	  { { 1, UINT32_MAX, (level) }, { 2, UINT32_MAX, (name) } }, why, 0 }
static const struct pledge_rule webd_rules[] = {
	OPTION(IPPROTO_TCP, TCP_NODELAY, "answers leave at once"),
	OPTION(IPPROTO_TCP, TCP_CORK, "head and body in one segment"),
};

static const struct confine webd_confine = {
	.limits = {
		.nofile = WEBD_CONNS + 32,
		.fsize = 0,
		/* two answers of the largest size, and requests */
		.data = 96U << 20,
		.memlock = 0,
	},
	.pledge = {
		.promises = webd_promises,
		.npromises = nitems(webd_promises),
		.rules = webd_rules,
		.nrules = nitems(webd_rules),
	},
};
/* clang-format on */

struct webd_env webd_env;

int
main(void)
{
	worker_init(&webd_env.w, ROLE_WEB, &webd_confine, http_warm,
	    WEBD_TIMERS);
	webd_serve();
}
