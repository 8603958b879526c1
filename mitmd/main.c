/* SPDX-License-Identifier: ISC */
/*
 * mitmd: reads the agent's HTTPS.  CONNECT, TLS with a certificate of the
 * session's own CA, HTTP/1.1; what is on the provider's list and carries the
 * session's sentinel key goes on, decoded, to auditd, its body to that
 * provider's keyd; what a person must approve goes to policyd in place of
 * auditd; the answer comes back from keyd.  It holds the agent's
 * listener, the leaf keys of this session and the hashes of sentinel keys.
 * It is sent provider files and orders; it must never see a real credential,
 * and has no file, no network and no way to a provider but through keyd.
 */
#include "mitmd.h"

#include "tls.h"

static const enum pledge_promise mitmd_promises[] = {
    PLEDGE_STDIO, PLEDGE_ACCEPT, PLEDGE_MEMFD, /* bodies that are held whole */
    PLEDGE_SHUTDOWN, /* a refused agent sees the end, and can still read */
};

static const struct confine mitmd_confine = {
    .limits =
	{
	    /*
	     * Connections, streams, bodies too large for the heap, channels,
	     * one to be turned away.
	     */
	    .nofile = MITMD_MAX_AGENTS + MITMD_MAX_STREAMS +
		      MITMD_MAX_HELD / HOLD_HEAP + PROTO_MAX_PROVIDERS + 32,
	    .fsize = PROVIDER_MAX_BODY,
	    /* Held bodies and full queues, all at once. */
	    .data = 1U << 30,
	    .memlock = 0,
	},
    .pledge =
	{
	    .promises = mitmd_promises,
	    .npromises = sizeof(mitmd_promises) / sizeof(mitmd_promises[0]),
	},
};

struct mitmd_env mitmd_env;

int
main(void)
{
	/* One timer for each connection and each request. */
	worker_init(&mitmd_env.w, ROLE_MITM, &mitmd_confine, mitmd_warm,
	    MITMD_MAX_AGENTS + MITMD_MAX_EXCHANGES + 8);
	mitmd_serve();
}
