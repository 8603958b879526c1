/* SPDX-License-Identifier: ISC */
/*
 * The control socket: connections, buffers, events. Every buffer has a limit; a
 * client that does not read its replies is closed.
 */
#include "hub/control.h"

#include "budget/budget.h"

#include <sys/socket.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "common/log.h"
#include "common/net/spare.h"
#include "core/sup.h"
#include "credential/handover.h"

#define CONTROL_WAIT_MS 3000U

struct client control_clients[CONTROL_MAX_CLIENTS];
static struct loop_io control_io = LOOP_IO_INIT;
static int control_fd = -1;
static struct spare control_spare = SPARE_INIT;
static control_request *control_take;
static void (*control_gone)(const struct client *);

/* Close a descriptor that no request used. */
static void
client_unhand(struct client *c)
{
	if (c->handed != -1)
		close(c->handed);
	c->handed = -1;
}

static void
client_close(struct client *c)
{
	if (c->fd == -1)
		return;
	loop_del(&sup.loop, &c->io);
	loop_timer_clear(&sup.loop, &c->timer);
	close(c->fd);
	c->fd = -1;
	client_unhand(c);
	buf_free(&c->in);
	buf_free(&c->out);
	json_object_put(c->reply);
	c->reply = NULL;
	if (c->undoes && control_gone != NULL)
		control_gone(c);
	c->undoes = false;
}

void
control_when_gone(void (*gone)(const struct client *))
{
	control_gone = gone;
}

static void
client_flush(struct client *c)
{
	struct span s = buf_span(&c->out);
	ssize_t n;

	while (s.len != 0) {
		n = send(c->fd, s.p, s.len, MSG_NOSIGNAL);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno == EAGAIN)
			break;
		if (n == -1) {
			client_close(c);
			return;
		}
		buf_drain(&c->out, (size_t)n);
		s = buf_span(&c->out);
	}
	if (s.len == 0 && c->closing) {
		client_close(c);
		return;
	}
	(void)loop_mod(&sup.loop, &c->io,
	    (c->reply == NULL && !c->closing ? EPOLLIN : 0U) |
		(s.len != 0 ? EPOLLOUT : 0U));
}

void
control_reply(struct client *c, struct json_object *o)
{
	bool good = false;
	const char *text;

	if (c->fd == -1) {
		json_object_put(o);
		return;
	}
	text = json_object_to_json_string_ext(
	    o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	if (text != NULL &&
	    !((c->watch || c->follows) && c->out.len > CONTROL_MAX_UNREAD)) {
		buf_adds(&c->out, text);
		buf_addc(&c->out, '\n');
		good = !c->out.failed;
	}
	if (!good) {
		sup_note("a client of the control socket (pid %d) does not "
			 "read, and was disconnected",
		    (int)c->peer.pid);
		client_close(c);
	} else {
		client_flush(c);
	}
	json_object_put(o);
}

struct json_object *
control_ok(void)
{
	struct json_object *o = json_object_new_object();

	put_bool(o, "ok", 1);
	return o;
}

void
control_fail(struct client *c, const char *code, const char *error)
{
	struct json_object *o = json_object_new_object();

	put_bool(o, "ok", 0);
	put_str(o, "code", code);
	put_str(o, "error", error);
	control_reply(c, o);
}

void
control_hand(struct client *c, struct json_object *o, int fd)
{
	char line[1024];
	int n;

	n = snprintf(line, sizeof(line), "%s\n",
	    json_object_to_json_string_ext(
		o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	/* Nothing is queued for a client that waits for this reply. */
	if (n < 0 || (size_t)n >= sizeof(line) || c->out.len != 0 ||
	    handover_send(c->fd, line, (size_t)n, fd) != n)
		client_close(c);
	close(fd);
	json_object_put(o);
}

void
control_answer(struct client *c)
{
	struct json_object *o = c->reply;

	c->reply = NULL;
	c->verdict = c->revoke = 0;
	c->counting = c->rules = c->session = c->signing = false;
	c->recorded = c->checkpoint = 0;
	c->keys = c->reload = 0;
	c->trust_server[0] = c->trust_tool[0] = '\0';
	loop_timer_clear(&sup.loop, &c->timer);
	if (o != NULL)
		control_reply(c, o);
}

void
control_refuse(struct client *c, const char *code, const char *error)
{
	put_bool(c->reply, "ok", 0);
	put_str(c->reply, "code", code);
	put_str(c->reply, "error", error);
}

/* The reply timed out. A command counts only once policyd has confirmed it. */
static void
client_unheard(struct client *c)
{
	/* Its own limits end a checkpoint. */
	if (c->checkpoint != 0)
		return;
	if (c->reply != NULL &&
	    (c->verdict != 0 || c->rules || c->recorded != 0 ||
		c->trust_server[0] != '\0'))
		control_refuse(c, "unconfirmed",
		    "the session did not confirm this in time. See: icctl "
		    "pending, icctl status");
	if (c->reply != NULL && c->reload != 0)
		control_refuse(c, "unconfirmed",
		    "the new credential has not arrived yet. See: icctl keys");
	control_answer(c);
}

static void
client_waited(struct loop_timer *t)
{
	struct client *c = t->arg;

	/* So does the check of signatures have a limit of its own. */
	if (!c->signing)
		client_unheard(c);
}

void
control_wait(struct client *c)
{
	loop_timer_set(
	    &sup.loop, &c->timer, CONTROL_WAIT_MS, client_waited, c);
}

/* Refuse a request that cannot be read to its end, and close. */
static void
client_bad(struct client *c, const char *error)
{
	struct json_object *o = json_object_new_object();

	put_bool(o, "ok", 0);
	put_str(o, "code", "bad-request");
	put_str(o, "error", error);
	c->closing = true;
	control_reply(c, o);
}

static void
client_lines(struct client *c)
{
	struct span s;
	const uint8_t *nl;
	size_t n;

	/* One request at a time: the next waits for the reply. */
	while (c->fd != -1 && c->reply == NULL && !c->closing) {
		s = buf_span(&c->in);
		if (s.len == 0 || (nl = memchr(s.p, '\n', s.len)) == NULL)
			break;
		n = (size_t)(nl - s.p);
		control_take(c, span_of(s.p, n));
		if (c->fd == -1)
			return;
		client_unhand(c);
		buf_drain(&c->in, n + 1);
		if (c->reply != NULL)
			control_wait(c);
	}
	if (c->fd != -1)
		client_flush(c);
}

static void
client_ready(struct loop_io *io, uint32_t events)
{
	struct client *c = io->arg;
	uint8_t *room;
	ssize_t n;
	int fd;

	if (events & EPOLLOUT) {
		client_flush(c);
		if (c->fd == -1)
			return;
	}
	if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0)
		return;
	if ((room = buf_room(&c->in, 4096)) == NULL) {
		client_bad(c, "a request is one line of at most 64 KiB");
		return;
	}
	n = handover_receive(c->fd, room, 4096, &fd);
	if (fd != -1) {
		client_unhand(c);
		c->handed = fd;
	}
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n == 0 && c->in.len != 0 && c->reply == NULL) {
		client_bad(c, "the last line has no newline");
		return;
	}
	if (n <= 0) {
		client_close(c);
		return;
	}
	buf_grow(&c->in, (size_t)n);
	client_lines(c);
}

static void
control_accept(struct loop_io *io, uint32_t events)
{
	static const char full[] =
	    "{\"ok\":false,\"code\":\"busy\",\"error\":\"32 clients are "
	    "connected, which is the limit: close one first\"}\n";
	static const struct span none =
	    SPAN("{\"ok\":false,\"code\":\"busy\",\"error\":\"this session "
		 "has no open file left for another client: close one first, "
		 "or raise the limit (ulimit -Hn) for the next session\"}\n");
	struct client *c = NULL;
	struct peer peer;
	int fd;

	if ((fd = spare_accept(&control_spare, io->fd, NULL, NULL, none)) == -1)
		return;
	for (size_t i = 0; i < CONTROL_MAX_CLIENTS && c == NULL; i++)
		if (control_clients[i].fd == -1)
			c = &control_clients[i];
	if (c == NULL)
		(void)send(fd, full, sizeof(full) - 1, MSG_NOSIGNAL);
	errno = 0;
	if (c == NULL || peer_check(fd, &peer) == -1) {
		/* The check opens files, too. */
		if (errno == EMFILE)
			(void)send(fd, none.p, none.len, MSG_NOSIGNAL);
		close(fd);
		return;
	}
	memset(c, 0, sizeof(*c));
	c->fd = fd;
	c->handed = c->io.fd = -1;
	c->peer = peer;
	buf_init(&c->in, CONTROL_MAX_LINE + 4096);
	buf_init(&c->out, CONTROL_MAX_OUT);
	if (loop_add(&sup.loop, &c->io, fd, EPOLLIN, client_ready, c) == -1)
		client_close(c);
}

int
control_open(int listener, control_request *take)
{
	for (size_t i = 0; i < CONTROL_MAX_CLIENTS; i++)
		control_clients[i].fd = -1;
	spare_keep(&control_spare);
	control_fd = listener;
	control_take = take;
	return loop_add(
	    &sup.loop, &control_io, listener, EPOLLIN, control_accept, NULL);
}

/* Also frees the object's last reference. */
void
control_event(const char *name, struct json_object *o)
{
	put_str(o, "event", name);
	for (size_t i = 0; i < CONTROL_MAX_CLIENTS; i++)
		if (control_clients[i].fd != -1 && control_clients[i].watch)
			control_reply(&control_clients[i], json_object_get(o));
	json_object_put(o);
}

void
control_follow(uint32_t turn, bool last, struct json_object *o)
{
	struct client *c;

	for (size_t i = 0; i < CONTROL_MAX_CLIENTS; i++) {
		c = &control_clients[i];
		if (c->fd == -1 || !c->follows ||
		    (c->turn != 0 && turn != 0 && c->turn != turn))
			continue;
		if (last && c->turn == turn && turn != 0)
			c->closing = true;
		control_reply(c, json_object_get(o));
	}
	json_object_put(o);
}

void
control_close(const char *why)
{
	struct json_object *o = json_object_new_object();

	if (control_fd == -1) {
		json_object_put(o);
		return;
	}
	put_str(o, "why", why);
	control_event("end", o);
	for (size_t i = 0; i < CONTROL_MAX_CLIENTS; i++) {
		client_unheard(&control_clients[i]);
		client_close(&control_clients[i]);
	}
	loop_del(&sup.loop, &control_io);
	close(control_fd);
	control_fd = -1;
}
