/* SPDX-License-Identifier: ISC */
/*
 * tunneld, where there is a corporate proxy: asks it for tunnels.  It holds
 * the credential for that proxy, in secret memory, and connections on which
 * the proxy has not answered yet.  It is sent the credential and the lists of
 * hosts by icsupervisor, connected sockets with the name of a host by dialerd,
 * which it holds against these lists; it must never see a
 * provider's credential, a request, or a byte of what goes through a tunnel.
 * Whoever attacks it from the proxy's side has its credential already.
 */
#include "tunneld/tunneld.h"

static const enum pledge_promise tunneld_promises[] = {
    PLEDGE_STDIO,
    PLEDGE_PEERNAME, /* is it the proxy that dialerd is connected to? */
};

static const struct confine tunneld_confine = {
    .limits =
	{
	    .nofile = TUNNELD_MAX_LINKS + 32,
	    .fsize = 0,
	    .data = 32U << 20,
	    .memlock = 64U << 10,
	},
    .pledge =
	{
	    .promises = tunneld_promises,
	    .npromises = sizeof(tunneld_promises) / sizeof(tunneld_promises[0]),
	},
};

struct tunneld_env tunneld_env;

int
main(void)
{
	worker_init(&tunneld_env.w, ROLE_TUNNEL, &tunneld_confine,
	    tunneld_secret_prepare, TUNNELD_MAX_LINKS + 8);
	tunneld_serve();
}
