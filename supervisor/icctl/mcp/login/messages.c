/* SPDX-License-Identifier: ISC */
/* The messages that icctl takes from the programs of a login. */
#include "icctl/mcp/login/login.h"

/* clang-format off */
static const struct chan_handler messages[] = {
	HANDLER(HELLO,		box_on_hello),
	HANDLER(META_DOC,	on_meta_doc),
	HANDLER(REGISTERED,	on_registered),
	HANDLER(CHALLENGE,	on_challenge),
	HANDLER(CALLBACK_SEEN,	on_callback_seen),
	HANDLER(LOGIN_DONE,	on_login_done),
	HANDLER(KEY_STATE,	on_key_state),
	HANDLER(TUNNEL_SHOW,	on_tunnel_show),
};
/* clang-format on */

int
login_start(struct login *l)
{
	return way_open(l) == -1 ? -1
				 : boxes_start(l, messages, nitems(messages));
}
