/* SPDX-License-Identifier: ISC */
/* Frames for the sandbox, which wait until its connection takes them. */
#include "relay/termd.h"

#include "common/log.h"

void
box_send(enum box_kind kind, struct span data)
{
	struct box *b = &termd_env.box;
	uint8_t head[BOX_HEADER];

	box_header_put(head, kind, (uint32_t)data.len);
	buf_add(&b->out, head, sizeof(head));
	buf_addspan(&b->out, data);
	/* The viewers' limits add up to less than this. */
	if (b->out.failed)
		fatalx("more was typed than there is room for");
}

void
box_report(struct span data)
{
	if (termd_env.box.out.len < TERMD_BOX_FULL)
		box_send(BOX_DATA, data);
}
