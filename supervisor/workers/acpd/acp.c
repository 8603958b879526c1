/* SPDX-License-Identifier: ISC */
/* Makes a relay, and ends it. */
#include "workers/acpd/acp.h"

#include "workers/acpd/acp_priv.h"

int
acp_init(struct acp *a, const struct acp_ops *ops,
    const struct acp_paths *paths)
{
	*a = (struct acp){.ops = ops, .paths = *paths};
	/* A copied message may be longer than its original: paths grow. */
	buf_init(&a->line, 2 * (size_t)ACP_MAX_LINE);
	buf_init(&a->inbox.line, ACP_MAX_LINE);
	a->pool = value_pool_new(ACP_POOL);
	return a->pool == NULL ? -1 : 0;
}

void
acp_free(struct acp *a)
{
	value_pool_free(a->pool);
	buf_free(&a->line);
	buf_free(&a->inbox.line);
}

void
acp_editor_long(struct acp *a, struct idscan *scan)
{
	struct jsonrpc_id id;

	if (idscan_end(scan, &id) == -1)
		id.len = 0;
	acp_note(a, false, "a message of the editor is longer than 4 MiB, and "
			   "is not passed on");
	acp_editor_error(a, &id, JSONRPC_LIMIT,
	    "a message may have at most 4 MiB");
	value_pool_reset(a->pool);
}
