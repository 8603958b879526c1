/* SPDX-License-Identifier: ISC */
/*
 * The meaning of the frames that ic-bridge in the sandbox sends to acpd: the
 * agent's standard output and error.
 */
#include "workers/acpd/acpd.h"

#include "common/log.h"

static bool
box_reads(void)
{
	return !acpd_env.agent.more && acpd_editor_reads();
}

/* Process what was read, line by line, as fast as the editor reads. */
static void
box_work(void)
{
	acpd_lines_work(&acpd_env.agent, acpd_editor_reads, true);
}

/* Collect a line of standard error. */
static void
box_said(struct span s)
{
	struct buf *b = &acpd_env.said;

	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] != '\n' && b->len < ACPD_SAID)
			buf_addc(b, s.p[i]);
		if (s.p[i] != '\n')
			continue;
		acpd_say(buf_span(b));
		buf_reset(b, ACPD_SAID);
	}
}

/* The ends of both streams come with the end of the connection. */
static int
box_frame(enum box_kind kind)
{
	return 0;
}

static void
box_data(enum box_kind kind, struct span s, uint32_t left)
{
	struct lines *l = &acpd_env.agent.lines;
	uint8_t *room;

	if (kind == BOX_ERR) {
		box_said(s);
		return;
	}
	if ((room = lines_room(l)) == NULL)
		fatal("a line of the agent");
	memcpy(room, s.p, s.len);
	lines_filled(l, s.len);
	acpd_env.agent.more = true;
}

static void
box_closed(void)
{
}

/* A second connection would begin in the middle of a conversation. */
const struct box_conn_ops acpd_box_ops = {.piece = LINES_READ,
    .last = BOX_ERR_END,
    .once = true,
    .reads = box_reads,
    .work = box_work,
    .frame = box_frame,
    .data = box_data,
    .closed = box_closed};
