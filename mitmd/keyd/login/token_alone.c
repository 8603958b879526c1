/* SPDX-License-Identifier: ISC */
/*
 * dialerd's answers, for programs that connect to nothing but what they make
 * one request to at a time: mcp-logind and mcp-grantd.
 */
#include "keyd/keyd.h"

#include <unistd.h>

int
token_on_roots(struct chan *c, const struct msg_ROOTS *m)
{
	if (tls_roots(c, m) == -1)
		return -1;
	token_rooted();
	return 0;
}

int
token_on_dialed(struct chan *c, const struct msg_DIALED *m, int fd)
{
	if (!token_dialed(m->id, fd))
		close(fd);
	return 0;
}

int
token_on_dial_fail(struct chan *c, const struct msg_DIAL_FAIL *m)
{
	char detail[257];

	(void)span_copy(m->text, detail, sizeof(detail));
	(void)token_dial_failed(m->id, detail);
	return 0;
}
