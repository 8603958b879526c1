/* SPDX-License-Identifier: ISC */
/*
 * Listens as `icctl watch` does, on a connection of the viewer's own.  Nothing
 * here waits: a session that does not answer leaves the list as it is.
 */
#include "icctl/screen/pending.h"

#include <sys/socket.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/visible.h"
#include "icctl/hold/hold_view.h"
#include "icctl/icctl.h"
#include "icctl/screen/answers.h"
#include "icctl/screen/meter.h"
#include "icctl/screen/viewer.h"

/* No session lets more calls and requests wait than this. */
#define PENDING_MAX 512U
#define PENDING_BYTES (32U << 20) /* one reply with all of them */
#define PENDING_CHUNK 65536U
#define PENDING_AGAIN_MS 500U
#define PENDING_TRIES 20U /* in a row */

static struct {
	const char *dir;
	const struct pending_ops *ops;
	struct loop_io io;
	struct loop_timer timer;
	struct buf in;
	struct pending_call calls[PENDING_MAX];
	unsigned n, tries;
	bool over; /* the session ends */
} env = {.io = LOOP_IO_INIT};

static void pending_connect(struct loop_timer *);

static struct pending_call *
call_find(const char *id)
{
	for (unsigned i = 0; i < env.n; i++)
		if (strcmp(env.calls[i].id, id) == 0)
			return &env.calls[i];
	return NULL;
}

/* The line as every list shows it, without its newline. */
static char *
call_line(json_object *hold)
{
	char *line = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&line, &len);

	if (f == NULL)
		return NULL;
	hold_view_line(f, "", hold, VISIBLE_ASCII);
	if (fclose(f) != 0) {
		free(line);
		return NULL;
	}
	if (len != 0)
		line[len - 1] = '\0';
	return line;
}

static void
call_add(json_object *hold)
{
	const char *id = icctl_text(hold, "id");
	struct pending_call *c;
	int64_t ms = icctl_number(hold, "expires_ms");

	if (id[0] == '\0' || strlen(id) >= PENDING_ID || env.n == PENDING_MAX ||
	    call_find(id) != NULL)
		return;
	c = &env.calls[env.n];
	*c = (struct pending_call){.line = call_line(hold)};
	if (c->line == NULL)
		return;
	(void)strlcpy(c->id, id, sizeof(c->id));
	c->seconds = ms > 0 ? (unsigned)((ms + 500) / 1000) : 0;
	/* The agent's lines would wait for ever behind its panel. */
	c->asked = c->seconds == 0;
	env.n++;
	env.ops->added(c);
}

static void
call_end(const char *id, const char *state)
{
	struct pending_call *c = call_find(id), gone;
	size_t i;

	if (c == NULL)
		return;
	gone = *c;
	i = (size_t)(c - env.calls);
	env.n--;
	memmove(c, c + 1, (env.n - i) * sizeof(*c));
	env.ops->ended(&gone, state);
	free(gone.line);
}

static bool
listed(json_object *holds, const char *id)
{
	for (size_t i = 0; i < json_object_array_length(holds); i++)
		if (strcmp(
			icctl_text(json_object_array_get_idx(holds, i), "id"),
			id) == 0)
			return true;
	return false;
}

/* All that wait now: of others we missed how they ended. */
static void
take_list(json_object *holds)
{
	for (unsigned i = env.n; i-- > 0;)
		if (!listed(holds, env.calls[i].id))
			call_end(env.calls[i].id, "ended");
	for (size_t i = 0; i < json_object_array_length(holds); i++)
		call_add(json_object_array_get_idx(holds, i));
}

static void
pending_later(void)
{
	loop_del(&viewer.loop, &env.io);
	buf_free(&env.in);
	if (!env.over && env.tries++ < PENDING_TRIES)
		loop_timer_set(&viewer.loop, &env.timer, PENDING_AGAIN_MS,
		    pending_connect, NULL);
}

/* Returns false if the connection is of no more use. */
static bool
take_line(const char *line)
{
	json_object *o = json_tokener_parse(line), *v = NULL;
	const char *event;
	bool good = icctl_reply_ok(o);

	event = good ? icctl_text(o, "event") : "";
	if (!good || (json_object_object_get_ex(o, "ok", &v) &&
			 !json_object_get_boolean(v))) {
		good = false;
	} else if (json_object_object_get_ex(o, "holds", &v)) {
		env.tries = 0;
		take_list(v);
		meter_reply(o);
		answers_open(env.io.fd);
	} else if (strcmp(event, "hold") == 0 &&
		   json_object_object_get_ex(o, "hold", &v)) {
		call_add(v);
	} else if (strcmp(event, "holdEnd") == 0) {
		call_end(icctl_text(o, "id"), icctl_text(o, "state"));
	} else if (strcmp(event, "pasted") == 0) {
		input_image(icctl_text(o, "name"));
	} else if (strcmp(event, "end") == 0) {
		env.over = true;
		good = false;
	} else {
		meter_event(event, o);
		answers_event(event, o);
	}
	json_object_put(o);
	return good;
}

/* Takes the complete lines out of what has come. */
static bool
take_lines(void)
{
	struct span s = buf_span(&env.in);
	const uint8_t *nl;
	char *line;
	bool good = true;
	size_t n;

	while (good && s.len != 0 && (nl = memchr(s.p, '\n', s.len)) != NULL) {
		n = (size_t)(nl - s.p);
		line = span_dup(span_of(s.p, n));
		good = line != NULL && take_line(line);
		free(line);
		buf_drain(&env.in, n + 1);
		s = buf_span(&env.in);
	}
	return good;
}

static void
pending_ready(struct loop_io *io, uint32_t events)
{
	uint8_t *room = buf_room(&env.in, PENDING_CHUNK);
	int fd = io->fd;
	ssize_t n;

	n = room == NULL ? 0 : recv(fd, room, PENDING_CHUNK, MSG_DONTWAIT);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0) {
		buf_grow(&env.in, (size_t)n);
		if (take_lines())
			return;
	}
	pending_later();
	close(fd);
}

static void
pending_connect(struct loop_timer *t)
{
	json_object *req = icctl_request("watch", NULL);
	int fd;

	buf_init(&env.in, PENDING_BYTES);
	if ((fd = icctl_dial(env.dir)) == -1 || icctl_tell(fd, req) == -1 ||
	    loop_add(&viewer.loop, &env.io, fd, EPOLLIN, pending_ready, NULL) ==
		-1) {
		if (fd != -1)
			close(fd);
		pending_later();
	}
	json_object_put(req);
}

void
pending_open(const char *dir, const struct pending_ops *ops)
{
	if (env.dir != NULL || dir == NULL)
		return;
	env.dir = dir;
	env.ops = ops;
	pending_connect(NULL);
}

unsigned
pending_count(void)
{
	return env.n;
}

const struct pending_call *
pending_first(void)
{
	return env.n == 0 ? NULL : &env.calls[0];
}

bool
pending_asked(void)
{
	bool one = false;

	for (unsigned i = 0; i < env.n; i++) {
		one = one || !env.calls[i].asked;
		env.calls[i].asked = true;
	}
	return one;
}
