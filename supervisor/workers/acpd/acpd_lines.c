/* SPDX-License-Identifier: ISC */
/*
 * Lines of either side: the whole ones go to the relay, the long are scanned.
 */
#include "workers/acpd/acpd.h"

/* Process one line. Returns false if there is no whole one. */
static bool
lines_one(struct acpd_lines *l, bool agent)
{
	struct acp *a = &acpd_env.acp;
	struct span line;

	switch (lines_next(&l->lines, &line)) {
	case LINES_ONE:
		if (agent)
			acp_agent_line(a, line);
		else
			acp_editor_line(a, line);
		return true;
	case LINES_LONG:
		idscan_feed(&l->scan, line);
		return true;
	case LINES_LONG_END:
		idscan_feed(&l->scan, line);
		if (agent)
			acp_agent_long(a, &l->scan);
		else
			acp_editor_long(a, &l->scan);
		l->scan = (struct idscan){.ids = 0};
		return true;
	case LINES_MORE:
		break;
	}
	return false;
}

void
acpd_lines_work(struct acpd_lines *l, bool (*reads)(void), bool agent)
{
	if (!l->more)
		return;
	while (reads())
		if (!lines_one(l, agent)) {
			l->more = false;
			break;
		}
	lines_done(&l->lines);
}
