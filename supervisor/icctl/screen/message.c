/* SPDX-License-Identifier: ISC */
/*
 * Sends what was typed in the input line. Nothing here waits: the reply comes
 * through the loop, and the line stays until it is there.
 */
#include "icctl/screen/message.h"

#include <sys/socket.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/json_get.h"
#include "icctl/icctl.h"
#include "icctl/screen/viewer.h"

#define MESSAGE_REPLY 4096U
#define MESSAGE_MS 5000U
#define MESSAGE_ENTER_MS 250U

static struct {
	struct edit line;
	bool open, sending;
	struct loop_io io;
	struct loop_timer timer;
	struct buf in;
} env = {.io = LOOP_IO_INIT};

static void
message_show(void)
{
	draw_input(env.open ? &env.line : NULL,
	    env.sending ? " being sent "
	    : env.line.bytes + 4 > MESSAGE_MAX
		? " full: Enter sends, Esc cancels "
		: " Enter sends, Esc cancels ");
}

static void
message_hang_up(void)
{
	int fd = env.io.fd;

	loop_timer_clear(&viewer.loop, &env.timer);
	loop_del(&viewer.loop, &env.io);
	if (fd != -1)
		close(fd);
}

static void
message_close(void)
{
	message_hang_up();
	buf_free(&env.in);
	env.open = env.sending = false;
	message_show();
}

/* The message is kept for the next try. */
static void
message_failed(const char *why)
{
	if (viewer.how.screen)
		says("not sent: %s (%s s has your message)", why, viewer.key);
	else
		says("not sent: %s", why);
	message_close();
}

static void
message_clear(void)
{
	explicit_bzero(&env.line, sizeof(env.line));
	message_close();
}

static void
message_enter(struct loop_timer *t)
{
	static const struct msg_KEYS enter = {.bytes = SPAN("\r")};

	if (viewer.chan != NULL && viewer.room >= enter.bytes.len) {
		viewer.room -= (uint32_t)enter.bytes.len;
		viewer_send(MSG_KEYS, &enter);
	}
	message_clear();
}

/*
 * Type it into the agent's terminal: a paste, and Enter. Agents take an Enter
 * that follows a paste at once for a part of it (Gemini CLI), so it comes
 * later; until then the line stays, and keys are dropped.
 */
static void
message_type(void)
{
	uint8_t text[MESSAGE_MAX];
	struct msg_PASTE m = {.last = true, .bytes = {.p = text}};

	m.bytes.len = edit_text(&env.line, text);
	if (viewer.chan == NULL || viewer.watches ||
	    m.bytes.len >= viewer.room) {
		message_failed("the agent's terminal does not take it now");
	} else {
		viewer.room -= (uint32_t)m.bytes.len;
		viewer_send(MSG_PASTE, &m);
		loop_timer_set(&viewer.loop, &env.timer, MESSAGE_ENTER_MS,
		    message_enter, NULL);
	}
	explicit_bzero(text, sizeof(text));
}

static void
message_reply(const char *line)
{
	json_object *o = json_tokener_parse(line), *v = NULL;

	if (!icctl_reply_ok(o)) {
		message_failed("the session gave no answer");
	} else if (json_object_object_get_ex(o, "ok", &v) &&
		   !json_object_get_boolean(v)) {
		message_failed(icctl_text(o, "error"));
	} else if (get_true(o, "type")) {
		message_hang_up();
		message_type();
	} else {
		says("turn %lld begins", (long long)icctl_number(o, "turn"));
		message_clear();
	}
	json_object_put(o);
}

static void
message_ready(struct loop_io *io, uint32_t events)
{
	uint8_t *room = buf_room(&env.in, MESSAGE_REPLY);
	struct span s;
	ssize_t n;

	n = room == NULL ? 0
			 : recv(io->fd, room, MESSAGE_REPLY - 1, MSG_DONTWAIT);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		message_failed("the session closed the connection");
		return;
	}
	buf_grow(&env.in, (size_t)n);
	s = buf_span(&env.in);
	if (s.p[s.len - 1] != '\n')
		return;
	buf_addc(&env.in, '\0');
	if (env.in.failed)
		message_failed("out of memory");
	else
		message_reply((const char *)buf_span(&env.in).p);
}

static void
message_late(struct loop_timer *t)
{
	message_failed("the session did not answer within 5 s");
}

static void
message_send(void)
{
	json_object *req = icctl_request("say", NULL);
	uint8_t text[MESSAGE_MAX];
	size_t len = edit_text(&env.line, text);
	int fd = -1;

	json_object_object_add(req, "message",
	    json_object_new_string_len((const char *)text, (int)len));
	explicit_bzero(text, sizeof(text));
	buf_init(&env.in, MESSAGE_REPLY * 2);
	if ((fd = icctl_dial(viewer.dir)) == -1 || icctl_tell(fd, req) == -1 ||
	    loop_add(&viewer.loop, &env.io, fd, EPOLLIN, message_ready, NULL) ==
		-1) {
		if (fd != -1)
			close(fd);
		message_failed(strerror(errno));
	} else {
		env.sending = true;
		message_show();
		loop_timer_set(&viewer.loop, &env.timer, MESSAGE_MS,
		    message_late, NULL);
	}
	json_object_put(req);
}

void
message_open(void)
{
	if (env.open)
		return;
	if (viewer.dir == NULL || !viewer.may)
		says("messages to this session are sent from another terminal: "
		     "icctl attach, icctl send");
	else if (viewer.watches)
		says("another viewer has the keyboard: %s t takes it, then %s s "
		     "sends a message",
		    viewer.key, viewer.key);
	else
		env.open = true;
	message_show();
}

bool
message_is_open(void)
{
	return env.open;
}

bool
message_keys(struct span s)
{
	if (!env.open)
		return false;
	if (env.sending)
		return true;
	switch (edit_keys(&env.line, s)) {
	case EDIT_ENTER:
		if (env.line.n == 0)
			message_clear();
		else
			message_send();
		break;
	case EDIT_CANCEL:
		message_clear();
		break;
	case EDIT_GOES_ON:
		break;
	}
	message_show();
	return true;
}

bool
message_paste(struct span s)
{
	if (!env.open)
		return false;
	if (!env.sending)
		edit_paste(&env.line, s);
	message_show();
	return true;
}

void
message_whole(struct span s)
{
	/* The terminal gives one line at a time. */
	if (s.len != 0 && s.p[s.len - 1] == '\n')
		s.len--;
	if (env.sending) {
		says("not sent: the message before it is still being sent");
	} else if (s.len > MESSAGE_MAX) {
		says("not sent: a line has at most %u bytes. For longer "
		     "messages: icctl send --file F", MESSAGE_MAX);
	} else if (s.len != 0) {
		explicit_bzero(&env.line, sizeof(env.line));
		edit_paste(&env.line, s);
		if (env.line.n != 0)
			message_send();
	}
}
