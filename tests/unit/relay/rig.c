/* SPDX-License-Identifier: ISC */
/* The simulated peers of termd. */
#include "unit/relay/rig.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <err.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/term/cells.h"
#include "common/json/text.h"

struct termd_rig rig;

/* Keep what a viewer is sent; of very much the end. */
static void
say(struct rig_viewer *v, const char *p, size_t n)
{
	if (v->quiet || n >= RIG_SAID / 2)
		return;
	if (n >= RIG_SAID - v->len) {
		memmove(v->said, v->said + v->len - RIG_SAID / 2, RIG_SAID / 2);
		v->len = RIG_SAID / 2;
	}
	memcpy(v->said + v->len, p, n);
	v->len += n;
	v->said[v->len] = '\0';
}

static void __attribute__((format(printf, 2, 3)))
sayf(struct rig_viewer *v, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n > 0 && (size_t)n < sizeof(text))
		say(v, text, (size_t)n);
}

static void
say_cells(struct rig_viewer *v, struct span cells)
{
	struct cells_in in;
	struct cell c;
	char utf8[4];
	int r;

	cells_open(&in, cells);
	while ((r = cells_next(&in, &c)) == 1)
		for (unsigned i = 0; i < c.nchars; i++)
			say(v, utf8,
			    text_utf8_put((uint8_t *)utf8, c.chars[i]));
	if (r == -1)
		errx(1, "malformed cells");
	say(v, "\n", 1);
}

static int
on_screen(struct chan *c, const struct msg_SCREEN *m)
{
	sayf(chan_arg(c), "SCREEN %ux%u %u,%u %u %x\n", m->rows, m->cols,
	    m->row, m->col, m->shape, m->modes);
	return 0;
}

static int
on_row(struct chan *c, const struct msg_ROW *m)
{
	sayf(chan_arg(c), "ROW %u ", m->row);
	say_cells(chan_arg(c), m->cells);
	return 0;
}

static int
on_line(struct chan *c, const struct msg_LINE *m)
{
	struct rig_viewer *v = chan_arg(c);

	v->lines++;
	sayf(v, "LINE%s%s%s ", m->stream == 0 ? "" : " err",
	    m->more ? " more" : "", m->joined ? " joined" : "");
	say_cells(v, m->cells);
	return 0;
}

static int
on_raw(struct chan *c, const struct msg_RAW *m)
{
	struct rig_viewer *v = chan_arg(c);

	v->raw += m->bytes.len;
	sayf(v, "RAW%s ", m->stream == 0 ? "" : " err");
	say(v, (const char *)m->bytes.p, m->bytes.len);
	say(v, "\n", 1);
	return 0;
}

static int
on_frame(struct chan *c, const struct msg_FRAME *m)
{
	struct rig_viewer *v = chan_arg(c);
	struct msg_FRAME_ACK ack = {.seq = m->seq};

	v->frames++;
	v->lost += m->lost;
	v->seq = m->seq;
	sayf(v, "FRAME\n");
	(void)chan_send(c, MSG_FRAME_ACK, &ack, -1);
	return 0;
}

static int
on_bell(struct chan *c, const struct msg_BELL *m)
{
	sayf(chan_arg(c), "BELL\n");
	return 0;
}

static int
on_title(struct chan *c, const struct msg_TITLE *m)
{
	sayf(chan_arg(c), "TITLE %.*s\n", (int)m->text.len,
	    (const char *)m->text.p);
	return 0;
}

static int
on_end(struct chan *c, const struct msg_BOX_END *m)
{
	struct rig_viewer *v = chan_arg(c);

	v->ended = true;
	sayf(v, "END\n");
	return 0;
}

static int
on_typist(struct chan *c, const struct msg_TYPIST *m)
{
	sayf(chan_arg(c), "TYPIST %u\n", m->types);
	return 0;
}

static int
on_stopped(struct chan *c, const struct msg_STOPPED *m)
{
	sayf(chan_arg(c), "STOPPED\n");
	return 0;
}

static int
on_input_room(struct chan *c, const struct msg_INPUT_ROOM *m)
{
	struct rig_viewer *v = chan_arg(c);

	v->room += m->bytes;
	return 0;
}

static void
on_viewer_closed(struct chan *c, const char *why)
{
	struct rig_viewer *v = chan_arg(c);

	if (why != NULL)
		errx(1, "termd broke the protocol: %s", why);
	v->closed = true;
}

/* clang-format off */
static const struct chan_handler viewer_handlers[] = {
	HANDLER(SCREEN,		on_screen),
	HANDLER(ROW,		on_row),
	HANDLER(LINE,		on_line),
	HANDLER(RAW,		on_raw),
	HANDLER(FRAME,		on_frame),
	HANDLER(BELL,		on_bell),
	HANDLER(TITLE,		on_title),
	HANDLER(BOX_END,	on_end),
	HANDLER(TYPIST,		on_typist),
	HANDLER(STOPPED,	on_stopped),
	HANDLER(INPUT_ROOM,		on_input_room),
};
/* clang-format on */

static const struct chan_ops viewer_ops = {
    .handlers = viewer_handlers,
    .nhandlers = nitems(viewer_handlers),
    .closed = on_viewer_closed,
};

/* clang-format off */
static const struct chan_handler sup_handlers[] = {
	HANDLER(HELLO,	worker_rig_hello),
};
/* clang-format on */

static const struct chan_ops sup_ops = {
    .handlers = sup_handlers,
    .nhandlers = 1,
    .closed = worker_rig_closed,
};

void
rig_start(const char *program, const struct msg_TERM_MODE *mode)
{
	static const struct msg_LISTEN listen_msg;
	static const struct msg_START start;
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	int fd;

	worker_rig_start(&rig.worker, program, ROLE_TERM, &sup_ops);
	/* Let the kernel choose an address. */
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1 ||
	    bind(fd, (struct sockaddr *)&sun, sizeof(sun.sun_family)) == -1 ||
	    listen(fd, 8) == -1)
		err(1, "listener");
	rig.listener = dup(fd);
	rig.box = -1;
	rig.mode = *mode;
	if (chan_send(rig.worker.sup, MSG_TERM_MODE, mode, -1) == -1 ||
	    chan_send(rig.worker.sup, MSG_LISTEN, &listen_msg, fd) == -1 ||
	    chan_send(rig.worker.sup, MSG_START, &start, -1) == -1)
		err(1, "start");
	chan_phase(rig.worker.sup, PHASE_RUN);
}

void
rig_stop(void)
{
	if (rig.box != -1)
		close(rig.box);
	close(rig.listener);
	worker_rig_stop(&rig.worker);
}

int
rig_connect(void)
{
	struct sockaddr_un sun;
	socklen_t len = sizeof(sun);

	if (getsockname(rig.listener, (struct sockaddr *)&sun, &len) == -1 ||
	    (rig.box = socket(AF_UNIX,
		 SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) == -1 ||
	    connect(rig.box, (struct sockaddr *)&sun, len) == -1)
		err(1, "terminal.sock");
	return rig.box;
}

static void
rig_write(const uint8_t *p, size_t n)
{
	ssize_t r;

	while (n != 0) {
		r = send(rig.box, p, n, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (r == -1 && errno != EAGAIN)
			err(1, "the sandbox writes");
		if (r == -1) {
			worker_rig_turn(&rig.worker);
			continue;
		}
		p += r;
		n -= (size_t)r;
	}
}

void
rig_box(enum box_kind kind, const char *data, size_t len)
{
	uint8_t head[BOX_HEADER];

	box_header_put(head, kind, (uint32_t)len);
	rig_write(head, sizeof(head));
	rig_write((const uint8_t *)data, len);
}

void
rig_print(const char *text)
{
	rig_box(BOX_OUT, text, strlen(text));
}

size_t
rig_read(uint8_t *dst, size_t want)
{
	uint64_t until = clock_mono_us() + 5000000;
	size_t have = 0;
	ssize_t n;

	while (have < want && clock_mono_us() < until) {
		worker_rig_turn(&rig.worker);
		n = recv(rig.box, dst + have, want - have, MSG_DONTWAIT);
		if (n == 0)
			break;
		if (n > 0)
			have += (size_t)n;
	}
	return have;
}

bool
rig_reads(const void *want, size_t len)
{
	uint8_t got[4096];
	size_t n = rig_read(got, len);

	if (n == len && memcmp(got, want, len) == 0)
		return true;
	printf("# got");
	for (size_t i = 0; i < n; i++)
		printf(" %02x", got[i]);
	printf("\n");
	return false;
}

struct rig_viewer *
rig_viewer(bool types, bool waits)
{
	static uint32_t id;
	struct msg_VIEWER m = {.id = ++id, .types = types, .waits = waits};
	struct rig_viewer *v = calloc(1, sizeof(*v));
	int fds[2];

	if (v == NULL || (v->said = calloc(1, RIG_SAID)) == NULL ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
		0, fds) == -1 ||
	    (v->chan = chan_new(&rig.worker.loop, fds[0], ROLE_VIEWER,
		 ROLE_TERM, 0, &viewer_ops, v)) == NULL)
		err(1, "viewer");
	chan_phase(v->chan, PHASE_RUN);
	if (chan_open(v->chan) == -1 ||
	    chan_send(rig.worker.sup, MSG_VIEWER, &m, fds[1]) == -1)
		err(1, "viewer");
	/* The viewer counts as connected from its first frame on. */
	while (v->frames == 0 && !v->closed && !rig.worker.lost)
		worker_rig_turn(&rig.worker);
	return v;
}

void
rig_viewer_free(struct rig_viewer *v)
{
	chan_free(v->chan);
	free(v->said);
	free(v);
}

bool
rig_said(struct rig_viewer *v, const char *text)
{
	uint64_t until = clock_mono_us() + 30000000;

	while (strstr(v->said, text) == NULL && !v->closed &&
	       !rig.worker.lost && clock_mono_us() < until)
		worker_rig_turn(&rig.worker);
	if (strstr(v->said, text) != NULL)
		return true;
	printf("# it was sent: %.2000s\n", v->said);
	return false;
}

void
rig_forget(struct rig_viewer *v)
{
	v->len = 0;
	v->said[0] = '\0';
}

void
rig_turns(unsigned n)
{
	while (n-- != 0)
		worker_rig_turn(&rig.worker);
}
