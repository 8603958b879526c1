/* SPDX-License-Identifier: ISC */
/*
 * Runs acpd between a simulated icsupervisor, ic-bridge and icctl: frames that
 * are none, bytes in any pieces, a second viewer and connection, an editor that
 * does not read, an agent that does not, and the end. argv[1]: acpd.
 */
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/box_stream.h"
#include "common/json/json.h"
#include "tap.h"
#include "unit/ipc/worker_rig.h"

#define WAIT_US 10000000ULL
#define FILL_MAX ((size_t)16 << 20)

static struct {
	struct worker_rig worker;
	const char *program;
	struct chan *audit, *editor;
	int listener, box;
	char said[1 << 20]; /* messages to the editor, one a line */
	size_t len;
	unsigned messages, alarms;
	uint32_t room;
	bool quiet, ended, closed;
} rig;

static void
say(const char *word, struct span s)
{
	size_t n = strlen(word);

	rig.messages++;
	if (rig.quiet || n + s.len + 2 > sizeof(rig.said) - rig.len)
		return;
	memcpy(rig.said + rig.len, word, n);
	memcpy(rig.said + rig.len + n, s.p, s.len);
	rig.len += n + s.len;
	rig.said[rig.len++] = '\n';
	rig.said[rig.len] = '\0';
}

static int
on_acp_out(struct chan *c, const struct msg_ACP_OUT *m)
{
	static const char *const kinds[] = {
	    "update ", "permission ", "cancel ", "result ", "error "};
	struct value_pool *pool = value_pool_new(16 << 20);
	const struct value *v = value_decode(pool, m->tree);
	struct buf b;

	buf_init(&b, 1 << 20);
	if (v == NULL || json_write(&b, v) == -1)
		errx(1, "ACP_OUT without a tree");
	say(kinds[m->kind], buf_span(&b));
	buf_free(&b);
	value_pool_free(pool);
	return 0;
}

static int
on_raw(struct chan *c, const struct msg_RAW *m)
{
	if (m->stream != 1)
		errx(1, "RAW for the editor");
	say("log ", m->bytes);
	return 0;
}

static int
on_room(struct chan *c, const struct msg_INPUT_ROOM *m)
{
	rig.room += m->bytes;
	return 0;
}

static int
on_box_end(struct chan *c, const struct msg_BOX_END *m)
{
	rig.ended = true;
	return 0;
}

static int
on_alarm(struct chan *c, const struct msg_ALARM *m)
{
	rig.alarms++;
	return 0;
}

/* clang-format off */
static const struct chan_handler handlers[] = {
	HANDLER(HELLO,		worker_rig_hello),
	HANDLER(ALARM,		on_alarm),
};
static const struct chan_handler editor_handlers[] = {
	HANDLER(ACP_OUT,	on_acp_out),
	HANDLER(RAW,		on_raw),
	HANDLER(INPUT_ROOM,	on_room),
	HANDLER(BOX_END,	on_box_end),
};
/* clang-format on */

static void
editor_closed(struct chan *c, const char *why)
{
	rig.closed = true;
}

static const struct chan_ops ops = {
    .handlers = handlers,
    .nhandlers = nitems(handlers),
    .closed = worker_rig_closed,
};
static const struct chan_ops editor_ops = {
    .handlers = editor_handlers,
    .nhandlers = nitems(editor_handlers),
    .closed = editor_closed,
};

/* Connect as ic-bridge does. */
static int
box(void)
{
	struct sockaddr_un sun;
	socklen_t len = sizeof(sun);
	int fd;

	if (getsockname(rig.listener, (struct sockaddr *)&sun, &len) == -1 ||
	    (fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) == -1 ||
	    connect(fd, (struct sockaddr *)&sun, len) == -1)
		err(1, "terminal.sock");
	return fd;
}

/* Give acpd a viewer. */
static struct chan *
viewer(void)
{
	struct msg_VIEWER m = {.id = 1, .waits = 1};
	struct chan *c;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
		0, pair) == -1 ||
	    (c = chan_new(&rig.worker.loop, pair[1], ROLE_VIEWER, ROLE_ACP, 0,
		 &editor_ops, NULL)) == NULL ||
	    chan_send(rig.worker.sup, MSG_VIEWER, &m, pair[0]) == -1)
		err(1, "viewer");
	chan_phase(c, PHASE_RUN);
	return c;
}

/* Run acpd, up to START if it `begins`. No ic-bridge connects. */
static void
start_alone(bool begins)
{
	static const struct msg_LISTEN listen_msg;
	static const struct msg_START start_msg;
	static const struct msg_ACP_MODE mode = {.host = SPAN("/home/u/ws"),
	    .named = SPAN(""),
	    .inside = SPAN("/workspace")};
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	int fd;

	rig.len = rig.messages = rig.alarms = 0;
	rig.said[0] = '\0';
	rig.quiet = rig.ended = rig.closed = false;
	rig.room = PROTO_TYPED_ROOM;
	worker_rig_start(&rig.worker, rig.program, ROLE_ACP, &ops);
	rig.audit = worker_rig_peer(&rig.worker, ROLE_AUDIT, 0);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1 ||
	    bind(fd, (struct sockaddr *)&sun, sizeof(sun.sun_family)) == -1 ||
	    listen(fd, 8) == -1)
		err(1, "listener");
	rig.listener = dup(fd);
	if (chan_send(rig.worker.sup, MSG_ACP_MODE, &mode, -1) == -1 ||
	    chan_send(rig.worker.sup, MSG_LISTEN, &listen_msg, fd) == -1 ||
	    (begins &&
		chan_send(rig.worker.sup, MSG_START, &start_msg, -1) == -1))
		err(1, "start");
	if (!begins)
		return;
	chan_phase(rig.worker.sup, PHASE_RUN);
	chan_phase(rig.audit, PHASE_RUN);
}

static void
start(void)
{
	start_alone(true);
	rig.box = box();
	rig.editor = viewer();
	if (chan_open(rig.editor) == -1)
		err(1, "editor");
}

static void
stop(void)
{
	chan_free(rig.audit);
	chan_free(rig.editor);
	if (rig.box != -1)
		close(rig.box);
	close(rig.listener);
	worker_rig_stop(&rig.worker);
}

/* Turn the loop until the editor has been sent this text. */
static bool
said(const char *text)
{
	uint64_t until = clock_mono_us() + WAIT_US;

	while (strstr(rig.said, text) == NULL && !rig.worker.lost &&
	       clock_mono_us() < until)
		worker_rig_turn(&rig.worker);
	return strstr(rig.said, text) != NULL;
}

/* Send bytes as the sandbox; the loop turns meanwhile. */
static bool
box_send(const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	uint64_t until = clock_mono_us() + WAIT_US;
	ssize_t n;

	while (len != 0 && !rig.worker.lost && clock_mono_us() < until) {
		n = send(rig.box, p, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n == -1 && errno != EAGAIN)
			return false;
		p += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
		worker_rig_turn(&rig.worker);
	}
	return len == 0;
}

static bool
box_line(const char *text)
{
	uint8_t head[BOX_HEADER];

	box_header_put(head, BOX_OUT, (uint32_t)strlen(text) + 1);
	return box_send(head, sizeof(head)) && box_send(text, strlen(text)) &&
	       box_send("\n", 1);
}

/* Send a line of the editor, once there is room for it. */
static void
editor_send(struct span s)
{
	struct msg_INPUT m;
	uint64_t until = clock_mono_us() + WAIT_US;

	while (s.len != 0 && !rig.closed && clock_mono_us() < until) {
		m.bytes = s;
		if (m.bytes.len > 32768)
			m.bytes.len = 32768;
		if (m.bytes.len > rig.room)
			m.bytes.len = rig.room;
		if (m.bytes.len != 0 &&
		    chan_send(rig.editor, MSG_INPUT, &m, -1) == -1)
			err(1, "INPUT");
		rig.room -= (uint32_t)m.bytes.len;
		s = span_of(s.p + m.bytes.len, s.len - m.bytes.len);
		worker_rig_turn(&rig.worker);
	}
}

/* Returns true if acpd has closed the connection. */
static bool
box_closed(void)
{
	struct pollfd p = {.fd = rig.box, .events = POLLIN};
	uint64_t until = clock_mono_us() + WAIT_US;
	char bytes[4096];
	ssize_t n = -1;

	while (clock_mono_us() < until && !rig.worker.lost) {
		worker_rig_turn(&rig.worker);
		if (poll(&p, 1, 0) == 0)
			continue;
		n = recv(rig.box, bytes, sizeof(bytes), MSG_DONTWAIT);
		if (n == 0 || (n == -1 && errno != EAGAIN))
			return true;
	}
	return false;
}

#define UPDATE                                                                 \
	"{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{"      \
	"\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":\"plan\","          \
	"\"entries\":[]}}}"

static void
test_pieces(void)
{
	uint8_t frame[BOX_HEADER + sizeof(UPDATE)];

	start();
	box_header_put(frame, BOX_OUT, sizeof(UPDATE));
	memcpy(frame + BOX_HEADER, UPDATE "\n", sizeof(UPDATE));
	for (size_t i = 0; i < sizeof(frame); i++)
		(void)box_send(frame + i, 1);
	ok(said("update {\"body\":{\"sessionId\":\"s\""),
	    "a frame and a line that come byte by byte");
	box_header_put(frame, BOX_ERR, 7);
	memcpy(frame + BOX_HEADER, "a\033b\n\ncd", 7);
	(void)box_send(frame, BOX_HEADER + 7);
	ok(said("log agent: a\\x1bb\n"), "standard error is printable");
	stop();
}

static void
test_bad_frames(void)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *name;
	} bad[] = {
	    {"\0\1\0\0\0x", 6, "of no kind"},
	    {"\1\0\0\0\0", 5, "without data"},
	    {"\1\1\0\1\0", 5, "over 64 KiB"},
	    {"\5\4\0\0\0\1\0\0\0", 9, "of a turn's end"},
	    {"\021\1\0\0\0x", 6, "of the other direction"},
	    {"\1\xff\xff\xff\xff", 5, "of 4 GiB"},
	};

	for (size_t i = 0; i < nitems(bad); i++) {
		start();
		(void)box_send(bad[i].bytes, bad[i].len);
		ok(box_closed(), "a frame %s closes the connection",
		    bad[i].name);
		ok(!rig.worker.lost, "and nothing else");
		stop();
	}
}

static void
test_second(void)
{
	struct chan *other;
	int first;

	start();
	ok(box_line(UPDATE) && said("update "), "the first connection is heard");
	first = rig.box;
	rig.box = box();
	ok(box_closed(), "a second one is closed");
	close(rig.box);
	rig.box = first;
	other = viewer();
	rig.len = 0;
	rig.said[0] = '\0';
	ok(box_line(UPDATE) && said("update "),
	    "and the editor stays the only viewer");
	chan_free(other);
	stop();
}

/* Send what the socket takes, until it takes nothing for a while. */
static size_t
box_fill(const char *text, size_t len)
{
	size_t total = 0, at = 0;
	ssize_t n;

	for (unsigned idle = 0; idle < 40 && total < FILL_MAX; idle++) {
		n = send(rig.box, text + at, len - at,
		    MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n > 0) {
			idle = 0;
			total += (size_t)n;
			at = (at + (size_t)n) % len;
		}
		worker_rig_turn(&rig.worker);
	}
	return total;
}

/* An agent that asks for files all the time, and reads no answer. */
static void
test_deaf_agent(void)
{
	static char text[BOX_HEADER + 65536];
	struct rusage use;
	size_t n = BOX_HEADER, total;

	start();
	rig.quiet = true;
	while (n < 60000)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
		    "{\"jsonrpc\":\"2.0\",\"id\":%zu,\"method\":"
		    "\"fs/read_text_file\"}\n", n);
	box_header_put((uint8_t *)text, BOX_OUT, (uint32_t)(n - BOX_HEADER));
	total = box_fill(text, n);
	ok(total > 65536 && total < FILL_MAX && !rig.worker.lost,
	    "it is not read any more at some point (%zu bytes)", total);
	is_int(rig.alarms, 8, "and causes a few alarms only");
	stop();
	if (getrusage(RUSAGE_CHILDREN, &use) == -1)
		err(1, "getrusage");
	ok(use.ru_maxrss < 96 * 1024, "acpd holds little of it");
}

static void
test_long(void)
{
	const size_t len = PROTO_MAX_LINE + 65536;
	char *line = malloc(len);

	if (line == NULL)
		err(1, "malloc");
	memset(line, 'x', len);
	memcpy(line, "{\"id\":7,\"method\":\"", 18);
	memcpy(line + len - 3, "\"}\n", 3);
	start();
	editor_send(span_of(line, len));
	ok(said("error {\"body\":{\"code\":-32000,\"message\":\"a message may "
		"have at most 4 MiB\"},\"id\":7}"),
	    "a line of the editor that is too long is answered");
	editor_send(SPAN("{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"x\"}\n"));
	ok(said("\"id\":8}"), "and the next one is read");
	free(line);
	stop();
}

static void
test_room(void)
{
	static uint8_t bytes[PROTO_MAX_CELLS];
	struct msg_INPUT m = {.bytes = span_of(bytes, sizeof(bytes))};
	uint64_t until = clock_mono_us() + WAIT_US;

	start();
	for (unsigned i = 0; i < 4; i++)
		(void)chan_send(rig.editor, MSG_INPUT, &m, -1);
	while (!rig.closed && clock_mono_us() < until)
		worker_rig_turn(&rig.worker);
	ok(rig.closed && !rig.worker.lost,
	    "a viewer that sends more than there is room for loses its "
	    "channel");
	chan_free(rig.editor);
	rig.editor = NULL;
	stop();
}

static void
test_end(void)
{
	static const struct msg_INPUT_END end;
	static const struct msg_STOP stop_msg;
	uint64_t until = clock_mono_us() + WAIT_US;
	uint8_t frame[BOX_HEADER];

	start();
	(void)box_line(UPDATE);
	(void)said("update ");
	if (chan_send(rig.editor, MSG_INPUT_END, &end, -1) == -1)
		err(1, "INPUT_END");
	while (recv(rig.box, frame, sizeof(frame), MSG_DONTWAIT) == -1 &&
	       clock_mono_us() < until)
		worker_rig_turn(&rig.worker);
	is_int(frame[0], BOX_EOF, "the editor's end is the agent's");
	(void)box_line(UPDATE);
	shutdown(rig.box, SHUT_RDWR);
	if (chan_send(rig.worker.sup, MSG_STOP, &stop_msg, -1) == -1)
		err(1, "STOP");
	while (!rig.ended && clock_mono_us() < until)
		worker_rig_turn(&rig.worker);
	ok(rig.ended && rig.messages == 2,
	    "everything that the agent wrote comes before the end");
	stop();
}

/*
 * STOP before ic-bridge has connected, before its connection is accepted, and
 * before START.
 */
static void
test_early_end(void)
{
	static const struct msg_STOP stop_msg;
	static const char *const when[] = {"without a connection",
	    "with one that is not accepted", "after one", "before START"};
	siginfo_t info;

	for (unsigned i = 0; i < nitems(when); i++) {
		start_alone(i != 3);
		rig.editor = NULL;
		rig.box = -1;
		if (i == 1)
			rig.box = box();
		if (i == 2) {
			rig.box = box();
			rig.editor = viewer();
			if (chan_open(rig.editor) == -1)
				err(1, "editor");
			(void)box_line(UPDATE);
			(void)said("update ");
			close(rig.box);
			rig.box = -1;
		}
		if (chan_send(rig.worker.sup, MSG_STOP, &stop_msg, -1) == -1)
			err(1, "STOP");
		if (rig.box != -1)
			close(rig.box);
		rig.box = -1;
		/* The editor leaves when it is told of the end. */
		if (rig.editor != NULL) {
			(void)worker_rig_until_true(&rig.worker, &rig.ended);
			chan_free(rig.editor);
			rig.editor = NULL;
		}
		ok(worker_rig_until_true(&rig.worker, &rig.worker.lost),
		    "stopped %s it ends", when[i]);
		if (!rig.worker.lost)
			kill(rig.worker.pid, SIGKILL);
		memset(&info, 0, sizeof(info));
		if (waitid(P_PID, (id_t)rig.worker.pid, &info,
			WEXITED | WNOWAIT) == -1)
			err(1, "waitid");
		ok(info.si_code == CLD_EXITED && info.si_status == 0,
		    "... in order (%d, %d)", info.si_code, info.si_status);
		stop();
	}
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		errx(1, "usage: test_acpd ACPD");
	rig.program = argv[1];
	test_pieces();
	test_bad_frames();
	test_second();
	test_deaf_agent();
	test_long();
	test_room();
	test_end();
	test_early_end();
	return tap_done();
}
