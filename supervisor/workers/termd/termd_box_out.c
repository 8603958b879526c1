/* SPDX-License-Identifier: ISC */
/* Frames for the sandbox, which wait until its connection takes them. */
#include "workers/termd/termd.h"

#include "common/log.h"

void
box_send(enum box_kind kind, struct span data)
{
	/* The viewers' limits add up to less than this. */
	if (box_conn_send(&termd_env.box, kind, data) == -1)
		fatalx("more was typed than there is room for");
}

void
box_report(struct span data)
{
	if (termd_env.box.out.len < TERMD_BOX_FULL)
		box_send(BOX_DATA, data);
}
