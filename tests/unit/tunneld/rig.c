/* SPDX-License-Identifier: ISC */
/* The peers of tunneld, played by the test. */
#include "unit/tunneld/rig.h"

#include <sys/socket.h>

#include <err.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

struct tunneld_rig rig;
static uint16_t proxy_port;
static int listener = -1;

static int
on_key(struct chan *c, const struct msg_KEY_STATE *m)
{
	rig.nkey++;
	rig.key = *m;
	return span_copy(m->text, rig.key_text, sizeof(rig.key_text));
}

static int
on_show(struct chan *c, const struct msg_TUNNEL_SHOW *m)
{
	rig.nshown++;
	rig.shown_proxy = m->proxy;
	return span_copy(m->text, rig.shown_text, sizeof(rig.shown_text));
}

static int
on_tunneled(struct chan *c, const struct msg_TUNNELED *m, int fd)
{
	rig.nanswers++;
	rig.id = m->id;
	rig.fd = fd;
	rig.text[0] = '\0';
	return 0;
}

static int
on_fail(struct chan *c, const struct msg_TUNNEL_FAIL *m)
{
	rig.nanswers++;
	rig.id = m->id;
	rig.fd = -1;
	rig.proxy = m->proxy;
	return span_copy(m->text, rig.text, sizeof(rig.text));
}

/* clang-format off */
static const struct chan_handler handlers[] = {
	HANDLER(HELLO,		worker_rig_hello),
	HANDLER(KEY_STATE,	on_key),
	HANDLER(TUNNEL_SHOW,	on_show),
	HANDLER(TUNNELED,	on_tunneled),
	HANDLER(TUNNEL_FAIL,	on_fail),
};
/* clang-format on */
static const struct chan_ops ops = {handlers, 5, worker_rig_closed};

void
rig_start(const char *program)
{
	rig = (struct tunneld_rig){.fd = -1};
	if (listener == -1)
		listener = worker_rig_listen(&proxy_port);
	worker_rig_start(&rig.worker, program, ROLE_TUNNEL, &ops);
	rig.dial = worker_rig_peer(&rig.worker, ROLE_DIAL, 0);
}

void
rig_stop(void)
{
	chan_free(rig.dial);
	worker_rig_stop(&rig.worker);
}

bool
rig_until(const unsigned *what, unsigned n)
{
	return worker_rig_until(&rig.worker, what, n);
}

void
rig_via(const char *host)
{
	struct msg_VIA_PROXY m = {.host = span_str(host), .port = proxy_port};

	chan_send(rig.worker.sup, MSG_VIA_PROXY, &m, -1);
}

void
rig_secret(const char *text, unsigned kind)
{
	unsigned want = rig.nkey + 1;

	worker_rig_secret(&rig.worker, text, kind);
	rig_until(&rig.nkey, want);
}

static void
target(const char *host, uint16_t port)
{
	struct msg_TARGET m = {.host = span_str(host), .port = port};

	chan_send(rig.worker.sup, MSG_TARGET, &m, -1);
}

void
rig_go(void)
{
	struct msg_START m = {.proto_pad_ = 0};
	struct msg_DOOR d = {
	    .server = 7, .host = SPAN("*.door.example"), .port = 25};

	target("example.org", 443);
	target("2001:db8::1", 65535);
	chan_send(rig.worker.sup, MSG_DOOR, &d, -1);
	d.denied = 1;
	d.host = SPAN("no.door.example");
	chan_send(rig.worker.sup, MSG_DOOR, &d, -1);
	chan_send(rig.worker.sup, MSG_START, &m, -1);
	chan_phase(rig.worker.sup, PHASE_RUN);
	chan_phase(rig.dial, PHASE_RUN);
}

int
rig_pair(int *far)
{
	int fd = worker_rig_connect(proxy_port);

	if ((*far = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) == -1)
		err(1, "pair");
	return fd;
}

void
rig_tunnel(uint32_t id, const char *host, unsigned port, bool quiet, int fd)
{
	struct msg_TUNNEL m = {.id = id,
	    .host = span_str(host),
	    .port = (uint16_t)port,
	    .quiet = quiet};

	rig.fd = -1;
	(void)strlcpy(rig.text, "no answer", sizeof(rig.text));
	chan_send(rig.dial, MSG_TUNNEL, &m, fd);
}

const char *
rig_asked(int far)
{
	static char text[4096];
	size_t n = 0;
	ssize_t got;

	memset(text, 0, sizeof(text));
	while (n < sizeof(text) - 1 && strstr(text, "\r\n\r\n") == NULL) {
		got = recv(far, text + n, sizeof(text) - 1 - n, MSG_DONTWAIT);
		if (got == 0 || (got == -1 && errno != EAGAIN))
			break;
		n += got > 0 ? (size_t)got : 0;
		worker_rig_turn(&rig.worker);
	}
	return text;
}

void
rig_say(int far, const char *text, size_t step)
{
	size_t len = strlen(text);

	for (size_t i = 0; i < len; i += step) {
		if (send(far, text + i, len - i < step ? len - i : step,
			MSG_NOSIGNAL) == -1)
			return;
		if (step < len)
			worker_rig_turn(&rig.worker);
	}
}

int
rig_one(const char *answer, size_t step, bool quiet)
{
	unsigned want = rig.nanswers + 1;
	int far, fd = rig_pair(&far);

	rig_tunnel(++rig.last, "example.org", 443, quiet, fd);
	(void)rig_asked(far);
	rig_say(far, answer, step);
	rig_until(&rig.nanswers, want);
	return far;
}
