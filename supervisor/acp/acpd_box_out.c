/* SPDX-License-Identifier: ISC */
/* Frames for the sandbox, which wait until its connection takes them. */
#include "acp/acpd.h"

#include "common/log.h"

/* Queue a frame, until the sandbox connects and takes it. */
static void
box_frame(enum box_kind kind, struct span data)
{
	struct buf *b = &acpd_env.box.out;
	uint8_t head[BOX_HEADER];

	box_header_put(head, kind, (uint32_t)data.len);
	buf_add(b, head, sizeof(head));
	buf_addspan(b, data);
	/* The limits on both sides add up to less than its maximum. */
	if (b->failed)
		fatalx("more for the agent than there is room for");
}

void
acpd_box_send(struct span s)
{
	size_t n;

	if (acpd_env.box.over)
		return;
	for (; s.len != 0; s.p += n, s.len -= n) {
		n = s.len < BOX_MAX_DATA ? s.len : BOX_MAX_DATA;
		box_frame(BOX_DATA, span_of(s.p, n));
	}
}

void
acpd_box_end(void)
{
	if (acpd_env.box.over)
		return;
	acpd_env.box.over = true;
	box_frame(BOX_EOF, SPAN(""));
}
