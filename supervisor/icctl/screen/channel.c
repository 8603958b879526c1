/* SPDX-License-Identifier: ISC */
/* The channel to termd: passes messages to the screen or to the lines. */
#include "icctl/screen/channel.h"

#include <unistd.h>

#include "common/log.h"
#include "icctl/screen/viewer.h"

#define CHANNEL_BELL_MS 200U

static struct {
	uint64_t rung;
	void (*closed)(const char *why);
} channel_env;

static int
on_screen(struct chan *c, const union proto_any *msg, int fd)
{
	(void)fd;
	if (!viewer.how.screen)
		return chan_violation(c, "SCREEN of lines");
	return draw_screen(&msg->SCREEN);
}

static int
on_row(struct chan *c, const union proto_any *msg, int fd)
{
	(void)fd;
	if (!viewer.how.screen)
		return chan_violation(c, "ROW of lines");
	return draw_row(&msg->ROW);
}

static int
on_line(struct chan *c, const union proto_any *msg, int fd)
{
	(void)c;
	(void)fd;
	return viewer.how.screen ? draw_scrolled(&msg->LINE)
				 : plain_line(&msg->LINE);
}

static int
on_raw(struct chan *c, const union proto_any *msg, int fd)
{
	(void)fd;
	/* The agent's own bytes never reach a terminal. */
	if (viewer.how.screen || !viewer.how.raw[msg->RAW.stream])
		return chan_violation(c, "RAW of what is not redirected");
	return plain_raw(&msg->RAW);
}

static int
on_bell(struct chan *c, const union proto_any *msg, int fd)
{
	(void)c;
	(void)msg;
	(void)fd;
	if (loop_now(&viewer.loop) - channel_env.rung < CHANNEL_BELL_MS ||
	    (!viewer.how.screen && viewer.how.raw[0]))
		return 0;
	channel_env.rung = loop_now(&viewer.loop);
	(void)viewer_write(STDOUT_FILENO, "\a", 1);
	return 0;
}

static int
on_title(struct chan *c, const union proto_any *msg, int fd)
{
	(void)c;
	(void)fd;
	if (viewer.how.screen)
		draw_title(msg->TITLE.text);
	return 0;
}

static int
on_frame(struct chan *c, const union proto_any *msg, int fd)
{
	struct msg_FRAME_ACK ack = {.seq = msg->FRAME.seq};

	(void)c;
	(void)fd;
	if (viewer.how.screen)
		draw_frame();
	viewer_send(MSG_FRAME_ACK, &ack);
	return 0;
}

static int
on_box_end(struct chan *c, const union proto_any *msg, int fd)
{
	(void)c;
	(void)msg;
	(void)fd;
	viewer.ended = true;
	return 0;
}

static int
on_typist(struct chan *c, const union proto_any *msg, int fd)
{
	(void)c;
	(void)fd;
	if (!msg->TYPIST.types)
		says("another viewer has the keyboard now; Ctrl-] t takes it "
		     "back");
	return 0;
}

static int
on_room(struct chan *c, const union proto_any *msg, int fd)
{
	(void)fd;
	if (msg->ROOM.bytes > PROTO_TYPED_ROOM - viewer.room)
		return chan_violation(c, "more ROOM than there is");
	viewer.room += msg->ROOM.bytes;
	input_update();
	return 0;
}

static const struct chan_handler channel_handlers[] = {
    {MSG_SCREEN, on_screen},
    {MSG_ROW, on_row},
    {MSG_LINE, on_line},
    {MSG_RAW, on_raw},
    {MSG_BELL, on_bell},
    {MSG_TITLE, on_title},
    {MSG_FRAME, on_frame},
    {MSG_BOX_END, on_box_end},
    {MSG_TYPIST, on_typist},
    {MSG_ROOM, on_room},
};

static void
channel_closed(struct chan *c, const char *why)
{
	chan_free(c);
	viewer.chan = NULL;
	channel_env.closed(why);
}

static const struct chan_ops channel_ops = {
    .handlers = channel_handlers,
    .nhandlers = sizeof(channel_handlers) / sizeof(channel_handlers[0]),
    .closed = channel_closed,
};

void
channel_open(int fd, void (*closed)(const char *why))
{
	channel_env.closed = closed;
	chan_free(viewer.chan);
	viewer.chan = chan_new(
	    &viewer.loop, fd, ROLE_VIEWER, ROLE_TERM, 0, &channel_ops, NULL);
	if (viewer.chan == NULL)
		fatal("viewer");
	chan_phase(viewer.chan, PHASE_RUN);
	if (chan_open(viewer.chan) == -1)
		fatal("viewer");
	viewer.room = PROTO_TYPED_ROOM;
	if (viewer.how.screen)
		draw_again();
	input_update();
}
