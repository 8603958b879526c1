/* SPDX-License-Identifier: ISC */
/*
 * mcp-callbackd, of `icctl mcp login`: reads the one request with which the
 * person's browser comes back from a login. It gets connections to a loopback
 * port whose user icctl has checked, knows which state and which issuer are
 * awaited, and passes the code on to mcp-grantd, once, and wipes it. It must
 * never see the verifier, a token or a client's secret: without them a code is
 * worth nothing. Whoever takes it over from a page can end that login.
 */
#include "workers/callbackd/callbackd.h"

/* clang-format off */
static const enum pledge_promise callbackd_promises[] = {
	PLEDGE_STDIO,		/* channels, the browser's connections, the loop */
};

static const struct confine callbackd_confine = {
	.limits = {
		.nofile = CALLBACKD_CONNS + 16,
		.fsize = 0,		/* no message needs a memfd */
		.data = 16U << 20,
		.memlock = 0,
	},
	.pledge = {
		.promises = callbackd_promises,
		.npromises = nitems(callbackd_promises),
	},
};
/* clang-format on */

int
main(void)
{
	static struct worker w;

	worker_init(
	    &w, ROLE_CALLBACK, &callbackd_confine, NULL, CALLBACKD_TIMERS);
	callbackd_serve(&w);
}
