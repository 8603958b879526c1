/* SPDX-License-Identifier: ISC */
/* Frames for the sandbox, which wait until its connection takes them. */
#include "workers/acpd/acpd.h"

#include "common/log.h"

static void
box_send(enum box_kind kind, struct span data)
{
	/* The limits on both sides add up to less than its maximum. */
	if (box_conn_send(&acpd_env.box, kind, data) == -1)
		fatalx("more for the agent than there is room for");
}

void
acpd_box_send(struct span s)
{
	size_t n;

	if (acpd_env.input_over)
		return;
	for (; s.len != 0; s.p += n, s.len -= n) {
		n = s.len < BOX_MAX_DATA ? s.len : BOX_MAX_DATA;
		box_send(BOX_DATA, span_of(s.p, n));
	}
}

void
acpd_box_end(void)
{
	if (acpd_env.input_over)
		return;
	acpd_env.input_over = true;
	box_send(BOX_EOF, SPAN(""));
}
