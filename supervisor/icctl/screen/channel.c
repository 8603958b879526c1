/* SPDX-License-Identifier: ISC */
/* The channel to termd: passes messages to the screen or to the lines. */
#include "icctl/screen/channel.h"

#include <unistd.h>

#include "common/log.h"
#include "icctl/screen/offer.h"
#include "icctl/screen/viewer.h"

#define CHANNEL_BELL_MS 200U

static struct {
	uint64_t rung;
	void (*closed)(const char *why);
} channel_env;

static int
on_screen(struct chan *c, const struct msg_SCREEN *m)
{
	if (!viewer.how.screen)
		return chan_violation(c, "SCREEN of lines");
	return draw_screen(m);
}

static int
on_row(struct chan *c, const struct msg_ROW *m)
{
	if (!viewer.how.screen)
		return chan_violation(c, "ROW of lines");
	return draw_row(m);
}

static int
on_line(struct chan *c, const struct msg_LINE *m)
{
	return viewer.how.screen ? draw_scrolled(m) : plain_line(m);
}

static int
on_raw(struct chan *c, const struct msg_RAW *m)
{
	if (viewer.how.acp)
		return m->stream == 1 ? editor_said(m->bytes) : -1;
	/* The agent's own bytes never reach a terminal. */
	if (viewer.how.screen || !viewer.how.raw[m->stream])
		return chan_violation(c, "RAW of what is not redirected");
	return plain_raw(m);
}

static int
on_acp_out(struct chan *c, const struct msg_ACP_OUT *m)
{
	if (!viewer.how.acp)
		return chan_violation(c, "ACP_OUT without an editor");
	if (editor_line(m) == -1)
		return chan_violation(
		    c, "ACP_OUT that must not reach an editor");
	return 0;
}

static int
on_acp_image(struct chan *c, const struct msg_ACP_IMAGE *m)
{
	if (!viewer.how.acp || editor_image(m->bytes) == -1)
		return chan_violation(c, "ACP_IMAGE that nobody waits for");
	return 0;
}

static int
on_bell(struct chan *c, const struct msg_BELL *m)
{
	if (loop_now(&viewer.loop) - channel_env.rung < CHANNEL_BELL_MS ||
	    (!viewer.how.screen && viewer.how.raw[0]))
		return 0;
	channel_env.rung = loop_now(&viewer.loop);
	(void)viewer_write(STDOUT_FILENO, "\a", 1);
	return 0;
}

static int
on_title(struct chan *c, const struct msg_TITLE *m)
{
	if (viewer.how.screen)
		draw_title(m->text);
	return 0;
}

static int
on_offer(struct chan *c, const struct msg_OFFER *m)
{
	if (viewer.how.screen && offer_new(m) == -1)
		return chan_violation(c, "OFFER of what nobody sees");
	return 0;
}

static int
on_frame(struct chan *c, const struct msg_FRAME *m)
{
	struct msg_FRAME_ACK ack = {.seq = m->seq};

	if (viewer.how.screen)
		draw_frame();
	viewer_send(MSG_FRAME_ACK, &ack);
	return 0;
}

static int
on_box_end(struct chan *c, const struct msg_BOX_END *m)
{
	viewer.ended = true;
	return 0;
}

static int
on_typist(struct chan *c, const struct msg_TYPIST *m)
{
	viewer.watches = !m->types;
	if (!m->types)
		says("another viewer has the keyboard now; %s t takes it back",
		    viewer.key);
	return 0;
}

static int
on_stopped(struct chan *c, const struct msg_STOPPED *m)
{
	if (!viewer.how.screen)
		return chan_violation(c, "STOPPED of lines");
	viewer.agent_stopped();
	return 0;
}

static int
on_input_room(struct chan *c, const struct msg_INPUT_ROOM *m)
{
	if (m->bytes > PROTO_TYPED_ROOM - viewer.room)
		return chan_violation(c, "more INPUT_ROOM than there is");
	viewer.room += m->bytes;
	input_update();
	return 0;
}

/* clang-format off */
static const struct chan_handler channel_handlers[] = {
	HANDLER(SCREEN,		on_screen),
	HANDLER(ROW,		on_row),
	HANDLER(LINE,		on_line),
	HANDLER(RAW,		on_raw),
	HANDLER(ACP_OUT,	on_acp_out),
	HANDLER(ACP_IMAGE,	on_acp_image),
	HANDLER(BELL,		on_bell),
	HANDLER(TITLE,		on_title),
	HANDLER(OFFER,		on_offer),
	HANDLER(FRAME,		on_frame),
	HANDLER(BOX_END,	on_box_end),
	HANDLER(TYPIST,		on_typist),
	HANDLER(STOPPED,	on_stopped),
	HANDLER(INPUT_ROOM,		on_input_room),
};
/* clang-format on */

static void
channel_closed(struct chan *c, const char *why)
{
	chan_free(c);
	viewer.chan = NULL;
	channel_env.closed(why);
}

static const struct chan_ops channel_ops = {
    .handlers = channel_handlers,
    .nhandlers = nitems(channel_handlers),
    .closed = channel_closed,
};

void
channel_open(int fd, void (*closed)(const char *why))
{
	channel_env.closed = closed;
	chan_free(viewer.chan);
	viewer.chan = chan_new(
	    &viewer.loop, fd, ROLE_VIEWER, viewer.how.acp ? ROLE_ACP : ROLE_TERM,
	    0, &channel_ops, NULL);
	if (viewer.chan == NULL)
		fatal("viewer");
	chan_phase(viewer.chan, PHASE_RUN);
	if (chan_open(viewer.chan) == -1)
		fatal("viewer");
	viewer.room = PROTO_TYPED_ROOM;
	viewer.watches = false;
	if (viewer.how.screen)
		draw_again();
	input_update();
}
