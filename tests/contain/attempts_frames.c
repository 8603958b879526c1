/* SPDX-License-Identifier: ISC */
/*
 * Messages and descriptors that the worker must not send, on the channel in the
 * order. Workers may call sendmsg(2), so all of these are sent; the receiver
 * must end the session and report why.
 */
#include "attempts.h"

#include <sys/socket.h>

#include <errno.h>
#include <string.h>
#include <time.h>

#include "common/ipc/wire.h"

#define E attempt_env

static uint8_t frame[PROTO_MAX_DATAGRAM];

static time_t
now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

/*
 * Send `frame`, with `nfds` descriptors. The kernel counts descriptors in
 * flight of all the user's processes, in all containers: too many of them are a
 * reason to try again, for a while.
 */
static int
send_bytes(size_t len, const int *fds, size_t nfds)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} control;
	struct iovec iov = {frame, len};
	struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1};
	const time_t until = now() + 5;
	struct cmsghdr *cm;
	ssize_t n;

	if (nfds != 0) {
		memset(&control, 0, sizeof(control));
		mh.msg_control = control.bytes;
		mh.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
		if ((cm = CMSG_FIRSTHDR(&mh)) == NULL)
			return EINVAL;
		cm->cmsg_level = SOL_SOCKET;
		cm->cmsg_type = SCM_RIGHTS;
		cm->cmsg_len = CMSG_LEN(nfds * sizeof(int));
		memcpy(CMSG_DATA(cm), fds, nfds * sizeof(int));
	}
	do {
		n = sendmsg(E.channels[E.arg], &mh, MSG_NOSIGNAL);
	} while (n == -1 && errno == ETOOMANYREFS && now() < until);
	return n == -1 ? errno : SENT;
}

/* Compose the message with every field zero. */
static size_t
compose(const struct proto_msg *m)
{
	union proto_any msg;
	struct span big;
	size_t len;

	memset(&msg, 0, sizeof(msg));
	if (m == NULL || wire_encode(m, &msg, frame, &len, &big) == -1)
		return 0;
	return len;
}

/* Find a message to the receiver: from this role or from others, in a phase. */
static const struct proto_msg *
find(int mine, uint32_t from, unsigned phase)
{
	uint32_t to = 1U << E.peers[E.arg], me = 1U << E.role;

	for (size_t i = 0; i < proto_nmsgs; i++) {
		const struct proto_msg *m = &proto_msgs[i];

		if ((m->to & to) != 0 && ((m->from & me) != 0) == mine &&
		    (m->from & from) != 0 && (m->phase & phase) != 0)
			return m;
	}
	return NULL;
}

#define ANYONE (~0U)

static int
send_msg(const struct proto_msg *m, size_t nfds)
{
	static const int fds[2] = {0, 0};
	size_t len;

	if (E.arg >= E.nchannels || m == NULL || (len = compose(m)) == 0)
		return HARMLESS;
	return send_bytes(len, fds, nfds);
}

/* A message of another worker. */
static int
foreign(void)
{
	return send_msg(find(0, ~(uint32_t)R(SUP), PHASE_RUN), 0);
}

/* A message of icsupervisor. */
static int
order(void)
{
	return send_msg(E.peers[E.arg] == ROLE_SUP
			    ? proto_find(MSG_START)
			    : find(0, R(SUP), PHASE_BOTH),
	    0);
}

/* A message of this role before START. */
static int
late(void)
{
	const struct proto_msg *m = find(1, ANYONE, PHASE_SETUP);

	return send_msg(m != NULL && (m->phase & PHASE_RUN) != 0 ? NULL : m, 0);
}

/* A message of this role with a descriptor that it must not have. */
static int
descriptor(void)
{
	const struct proto_msg *m = find(1, ANYONE, PHASE_RUN);

	if (m == NULL)
		m = find(0, ANYONE, PHASE_RUN);
	return send_msg(m, m != NULL && m->nfds == 1 ? 2 : 1);
}

/* A listener: a receiver that accepts it could be made to accept strangers. */
static int
listener(void)
{
	return send_msg(find(0, R(SUP), PHASE_BOTH), 1);
}

static int
unknown(void)
{
	if (E.arg >= E.nchannels)
		return HARMLESS;
	memset(frame, 0x7f, 16);
	return send_bytes(16, NULL, 0);
}

static int
truncated(void)
{
	if (E.arg >= E.nchannels)
		return HARMLESS;
	memset(frame, 1, 2);
	return send_bytes(2, NULL, 0);
}

/*
 * An empty frame, which looks to the receiver like the end of the channel.
 * Repeated until the channel is closed; without confinement nobody closes it.
 */
static int
empty(void)
{
	const time_t until = now() + 5;
	int r;

	if (E.arg >= E.nchannels)
		return HARMLESS;
	do {
		r = send_bytes(0, NULL, 0);
	} while ((r == SENT || r == EAGAIN) && E.victim == 0 && now() < until);
	return r == EPIPE || r == ECONNRESET ? CLOSED : r;
}

static int
longest(void)
{
	if (E.arg >= E.nchannels)
		return HARMLESS;
	memset(frame, 1, sizeof(frame));
	return send_bytes(sizeof(frame), NULL, 0);
}

static int
send_filled(enum role to, enum msg_type type, const union proto_any *msg)
{
	struct span big;
	size_t len;

	if (E.arg >= E.nchannels || E.peers[E.arg] != to ||
	    wire_encode(proto_find((uint16_t)type), msg, frame, &len, &big) ==
		-1)
		return HARMLESS;
	return send_bytes(len, NULL, 0);
}

/* Claim that a person approved the request. */
static int
approved(void)
{
	const union proto_any m = {.REQUEST = {.asked = 1}};

	return send_filled(ROLE_AUDIT, MSG_REQUEST, &m);
}

/* Send the refs of a push around the process that shows them. */
static int
refs(void)
{
	const union proto_any m = {.REQUEST = {.refs = SPAN("x")}};

	return send_filled(ROLE_AUDIT, MSG_REQUEST, &m);
}

/* Add a line to the text that a person is shown. */
static int
asked(void)
{
	const union proto_any m = {.REQUEST_ASK = {.id = 1,
				       .stream = 1,
				       .exchange = 1,
				       .path = SPAN("/\n"),
				       .name = SPAN("x"),
				       .host_name = SPAN("x"),
				       .method = SPAN("GET")}};

	return send_filled(ROLE_POLICY, MSG_REQUEST_ASK, &m);
}

/* End an exchange that was never begun. */
static int
cancel(void)
{
	const union proto_any m = {.REQUEST_CANCEL = {.id = 7}};

	return send_filled(ROLE_POLICY, MSG_REQUEST_CANCEL, &m);
}

/* Ask a person for a host, where nobody is asked. */
static int
host(void)
{
	const union proto_any m = {.HOST_ASK = {.host = SPAN("a.example.org")}};

	return send_filled(ROLE_POLICY, MSG_HOST_ASK, &m);
}

static const uint8_t some_digest[32];

/* Show a call of policyd's as if it were a login. */
static int
hold(void)
{
	const union proto_any m = {.HOLD = {.id = 1,
	    .digest = {some_digest, sizeof(some_digest)},
	    .server_name = SPAN("x"), .tool = SPAN("x"), .args = 2,
	    .preview = SPAN("{}{\"asks\":[],\"resources\":[]}")}};

	return send_filled(ROLE_AUDIT, MSG_HOLD, &m);
}

/* End another keyd's login. */
static int
end_other(void)
{
	const union proto_any m = {.APPROVED = {
	    .id = PROTO_LOGIN_ID | 1 << 8 | 0xff}};

	return send_filled(ROLE_AUDIT, MSG_APPROVED, &m);
}

/* clang-format off */
#undef ROW
#define ROW(name, fn)							\
	{name, "sendmsg", fn, 0, R_WORKER, SENT, SENT, SENT, SENT,	\
	    SENT, "its receiver ends the session"}
#define WITH_FD(name, fn)						\
	{name, "sendmsg", fn, 0, R_WORKER, SENT, SENT, SENT, SENT,	\
	    SENT, "its receiver ends the session", ETOOMANYREFS,	\
	    "other processes of this user hold too many descriptors in flight"}
#define MITM(name, fn)							\
	{name, "sendmsg", fn, 0, R(MITM), SENT, SENT, SENT, SENT,	\
	    SENT, "its receiver ends the session"}

#define KEYD(name, fn)							\
	{name, "sendmsg", fn, 0, R(KEY), SENT, SENT, SENT, SENT,	\
	    SENT, "its receiver ends the session"}

static const struct attempt rows[] = {
	ROW("send another worker's message", foreign),
	ROW("send an order", order),
	ROW("send a message of the start", late),
	WITH_FD("send a descriptor", descriptor),
	WITH_FD("send an order with a descriptor", listener),
	ROW("send an unknown message", unknown),
	ROW("send a truncated message", truncated),
	{"send an empty message", "sendmsg", empty, 0, R_WORKER & ~R(GATE), SENT, SENT,
	    SENT, SENT, CLOSED, "its receiver takes the channel for closed"},
	ROW("send 64 KiB of nothing", longest),
	MITM("send a request as approved", approved),
	MITM("send a push past who shows it", refs),
	MITM("ask with a line break", asked),
	MITM("end what was not asked", cancel),
	MITM("ask for a host", host),
	KEYD("hold a call of policyd's", hold),
	KEYD("end the hold of another keyd", end_other),
};
/* clang-format on */

const struct attempt_table attempts_frames = TABLE(rows);
