/* SPDX-License-Identifier: ISC */
/* Keeps the frame of a turn until the checkpoint before it is made. */
#include "conversation/talk_wait.h"

#include "box/bridge.h"
#include "undo/checkpoint.h"

static struct {
	struct buf frame;
	bool waits;
	bool (*go)(void);
	void (*gone)(bool dropped);
} wait_env;

int
talk_wait_compose(struct compose *c, struct buf *frame, struct fault *fault)
{
	const struct span message = c->message;
	const char *notice = undo_notice();
	struct buf text;
	int rv;

	if (notice[0] == '\0')
		return compose_turn(c, frame, fault);
	buf_init(&text, BRIDGE_MAX_TURN);
	buf_adds(&text, notice);
	buf_addspan(&text, message);
	c->message = buf_span(&text);
	rv = compose_turn(c, frame, fault);
	if (rv == 0)
		undo_notice_told();
	c->message = message;
	buf_free(&text);
	return rv;
}

static int
wait_send(struct buf *frame)
{
	int rv = bridge_send(BRIDGE_TURN, buf_span(frame).p, frame->len);

	buf_free(frame);
	return rv;
}

/* The checkpoint is made, or takes too long. */
static void
wait_over(void)
{
	bool dropped;

	if (!wait_env.waits)
		return;
	wait_env.waits = false;
	dropped = !wait_env.go();
	if (!dropped && wait_send(&wait_env.frame) == 0)
		return;
	buf_free(&wait_env.frame);
	wait_env.gone(dropped);
}

int
talk_wait_send(struct buf *frame, uint32_t turn, bool (*go)(void),
    void (*gone)(bool dropped), struct fault *fault)
{
	if (undo_before(turn, wait_over)) {
		wait_env.frame = *frame;
		wait_env.waits = true;
		wait_env.go = go;
		wait_env.gone = gone;
		return 0;
	}
	return wait_send(frame) == -1 ? fault_set(fault, "the sandbox is gone")
				      : 0;
}

bool
talk_waits(void)
{
	return wait_env.waits;
}

void
talk_wait_end(void)
{
	if (!wait_env.waits)
		return;
	undo_forget_turn();
	wait_env.waits = false;
	buf_free(&wait_env.frame);
}
