/* SPDX-License-Identifier: ISC */
/*
 * The protocol table drives its own hostile tests: every message over a real
 * channel, from every role to every role, in both phases, cut at every byte,
 * with each field over its maximum, with bytes left over, with the wrong
 * number of descriptors, with descriptors of the wrong kind.  Exactly what the
 * table admits reaches a handler; all else closes the channel with a reason
 * that names the message, and leaks no descriptor.  With RINGS, the channels
 * have rings, and messages without a descriptor travel in them.
 */
#include <sys/mman.h>
#include <sys/socket.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/ipc/chan_priv.h"
#include "common/ipc/wire.h"
#include "tap.h"

struct outcome {
	unsigned handled;
	bool closed;
	char why[256];
	union proto_any msg;
};

static struct outcome seen;
static struct chan_ops ops;
static uint8_t texts[PROTO_MAX_DATAGRAM];

static void
seen_fd(int fd)
{
	if (fd != -1)
		close(fd);
}

/* A handler for each message, of the type that its row demands. */
#define SEEN_FD_0
#define SEEN_FD_1 seen_fd(fd);
#define SEEN_FN(name, number, from, to, phase, fds)                            \
	static int seen_##name(                                                \
	    struct chan *c, const struct msg_##name *m CHAN_FD_##fds)          \
	{                                                                      \
		SEEN_FD_##fds seen.handled++;                                  \
		seen.msg.name = *m;                                            \
		return 0;                                                      \
	}
PROTO_MSGS(SEEN_FN)
#define SEEN_ROW(name, number, from, to, phase, fds) HANDLER(name, seen_##name),
static const struct chan_handler handlers[] = {PROTO_MSGS(SEEN_ROW)};

static void
on_closed(struct chan *c, const char *why)
{
	seen.closed = true;
	snprintf(seen.why, sizeof(seen.why), "%s", why == NULL ? "" : why);
}

static size_t
count_fds(void)
{
	size_t n = 0;
	DIR *d = opendir("/proc/self/fd");

	while (d != NULL && readdir(d) != NULL)
		n++;
	if (d != NULL)
		closedir(d);
	return n;
}

#ifdef RINGS
#define WITH_RINGS true
#define LAST_ROLE ROLE_BACK
#else
#define WITH_RINGS false
#define LAST_ROLE (ROLE_COUNT - 1)
#endif

/*
 * Write the message into the ring of the sender's end, or a word that says that
 * it is on the socket.  Returns true if it is in the ring.
 */
static bool
put(struct chan *c, struct chan *sender, const void *bytes, size_t len,
    size_t nfds)
{
	struct ring *r;
	bool here = nfds == 0 && len != 0 && len <= RING_MAX;

	if (chan_memory_take(c, PROTO_MEMORY_RINGS) == -1 ||
	    chan_memory_take(sender, PROTO_MEMORY_RINGS) == -1)
		abort();
	r = &sender->ring->out;
	if ((here ? ring_put(r, bytes, len) : ring_put_elsewhere(r)) != 1)
		abort();
	(void)ring_publish(r);
	return here;
}

/*
 * Deliver one message as raw bytes, with `nfds` descriptors, to a new channel.
 */
static void
deliver(enum role from, enum role to, enum proto_phase phase, const void *bytes,
    size_t len, const int *fds, size_t nfds)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(4 * sizeof(int))];
	} control;
	struct iovec iov = {(void *)(uintptr_t)bytes, len};
	struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1};
	struct loop loop;
	struct chan *c, *sender = NULL;
	int pair[2], buf = 1 << 20;
	bool sent = false;

	memset(&seen, 0, sizeof(seen));
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == -1 ||
	    loop_init(&loop, 4) == -1)
		abort();
	setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &buf, sizeof(buf));
	c = chan_new(&loop, pair[0], to, from, 0, &ops, NULL);
	chan_phase(c, phase);
	if (WITH_RINGS) {
		if (chan_memory_give(pair, PROTO_MEMORY_RINGS) == -1)
			abort();
		sender = chan_new(&loop, pair[1], from, to, 0, &ops, NULL);
		sent = put(c, sender, bytes, len, nfds);
	}
	chan_open(c);
	if (nfds != 0) {
		struct cmsghdr *cm;

		memset(&control, 0, sizeof(control));
		mh.msg_control = control.bytes;
		mh.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
		if ((cm = CMSG_FIRSTHDR(&mh)) == NULL)
			abort();
		cm->cmsg_level = SOL_SOCKET;
		cm->cmsg_type = SCM_RIGHTS;
		cm->cmsg_len = CMSG_LEN(nfds * sizeof(int));
		memcpy(CMSG_DATA(cm), fds, nfds * sizeof(int));
	}
	if (!sent && sendmsg(pair[1], &mh, MSG_NOSIGNAL) == -1)
		abort();
	for (unsigned i = 0; i < 4; i++)
		loop_once(&loop, 0);
	chan_free(c);
	if (sender == NULL)
		close(pair[1]);
	chan_free(sender);
	loop_free(&loop);
}

/*
 * Fill in a sample: every field at its maximum, or at zero; big and long texts
 * stay small.
 */
static void
sample(const struct proto_msg *m, union proto_any *msg, bool top)
{
	memset(msg, 0, sizeof(*msg));
	for (size_t i = 0; i < m->nfields; i++) {
		const struct proto_field *f = &m->fields[i];
		uint8_t *at = (uint8_t *)msg + f->offset;
		struct span s =
		    span_of(texts, top ? (f->max < 40 ? f->max : 40) : 0);
		uint64_t v = top ? f->max : 0;

		if (f->kind >= PROTO_str)
			memcpy(at, &s, sizeof(s));
		else /* all machines are little-endian, as the build checks */
			memcpy(at, &v,
			    f->kind == PROTO_u8    ? 1
			    : f->kind == PROTO_u16 ? 2
			    : f->kind == PROTO_u32 ? 4
						   : 8);
	}
}

static size_t
encode(const struct proto_msg *m, bool top, uint8_t *dst)
{
	union proto_any msg;
	struct span big;
	size_t len;

	sample(m, &msg, top);
	if (wire_encode(m, &msg, dst, &len, &big) == -1)
		abort();
	if (big.len != 0)
		memcpy(dst + len, big.p, big.len);
	return len + big.len;
}

static enum role
lowest(uint32_t bits)
{
	return (enum role)__builtin_ctz(bits);
}

static void
test_matrix(const struct proto_msg *m)
{
	static uint8_t bytes[PROTO_MAX_DATAGRAM];
	static const enum proto_phase phases[] = {PHASE_SETUP, PHASE_RUN};
	unsigned wrong = 0;
	size_t len = encode(m, true, bytes);

	for (size_t from = 0; from <= LAST_ROLE; from++) {
		for (size_t to = 0; to <= LAST_ROLE; to++) {
			for (size_t p = 0; p < 2; p++) {
				int fd = m->nfds == 1
					     ? open("/dev/null",
						   O_RDONLY | O_CLOEXEC)
					     : -1;
				bool want = (m->from & (1U << from)) != 0 &&
					    (m->to & (1U << to)) != 0 &&
					    (m->phase & phases[p]) != 0;

				deliver((enum role)from, (enum role)to,
				    phases[p], bytes, len, &fd,
				    (size_t)m->nfds);
				if (fd != -1)
					close(fd);
				if ((seen.handled == 1) != want ||
				    seen.closed == want)
					wrong++;
				if (!want && strstr(seen.why, m->name) == NULL)
					wrong++;
			}
		}
	}
	is_int(wrong, 0, "%s: only its sender, receiver and phase", m->name);
}

static void
test_lengths(const struct proto_msg *m)
{
	static uint8_t bytes[PROTO_MAX_DATAGRAM];
	enum role from = lowest(m->from), to = lowest(m->to);
	enum proto_phase phase =
	    (m->phase & PHASE_RUN) != 0 ? PHASE_RUN : PHASE_SETUP;
	size_t len = encode(m, true, bytes);
	unsigned taken = 0;
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	for (size_t cut = 1; cut < len; cut++) {
		deliver(from, to, phase, bytes, cut, &fd, (size_t)m->nfds);
		taken += seen.handled + (seen.closed ? 0 : 1);
	}
	is_int(taken, 0, "%s: cut at each of %zu bytes", m->name, len);
	bytes[len] = 0;
	deliver(from, to, phase, bytes, len + 1, &fd, (size_t)m->nfds);
	ok(seen.handled == 0 && seen.closed, "%s: a byte left over", m->name);
	bytes[3] = 1;
	deliver(from, to, phase, bytes, len, &fd, (size_t)m->nfds);
	ok(seen.handled == 0 && seen.closed, "%s: reserved byte", m->name);
	close(fd);
}

/* Exceed the maximum of one field after the other, in the encoded bytes. */
static void
test_maxima(const struct proto_msg *m)
{
	static uint8_t bytes[PROTO_MAX_DATAGRAM];
	enum role from = lowest(m->from), to = lowest(m->to);
	enum proto_phase phase =
	    (m->phase & PHASE_RUN) != 0 ? PHASE_RUN : PHASE_SETUP;
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	size_t o = WIRE_HEADER, len = encode(m, false, bytes);

	for (size_t i = 0; i < m->nfields; i++) {
		const struct proto_field *f = &m->fields[i];
		size_t w = f->kind == PROTO_u8    ? 1
			   : f->kind == PROTO_u16 ? 2
			   : f->kind == PROTO_u64 ? 8
						  : 4;
		uint64_t over = f->max + 1;

		if (f->kind >= PROTO_str)
			over = 1; /* announces a byte that is missing */
		else if (over == 0 || (w < 8 && over >> (8 * w) != 0)) {
			o += w; /* every value of that width is allowed */
			continue;
		}
		for (size_t b = 0; b < w; b++)
			bytes[o + b] = (uint8_t)(over >> (8 * b));
		deliver(from, to, phase, bytes, len, &fd, (size_t)m->nfds);
		ok(seen.handled == 0 && strstr(seen.why, m->name) != NULL,
		    "%s.%s: over its maximum", m->name, f->name);
		memset(bytes + o, 0, w);
		o += w;
	}
	close(fd);
}

static void
test_descriptors(const struct proto_msg *m)
{
	static uint8_t bytes[PROTO_MAX_DATAGRAM];
	enum role from = lowest(m->from), to = lowest(m->to);
	enum proto_phase phase =
	    (m->phase & PHASE_RUN) != 0 ? PHASE_RUN : PHASE_SETUP;
	size_t len = encode(m, true, bytes), before;
	int fds[4];

	for (size_t i = 0; i < 4; i++)
		fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	before = count_fds();
	for (size_t n = 0; n <= 4; n++) {
		deliver(from, to, phase, bytes, len, fds, n);
		ok((seen.handled == 1) == (n == (size_t)m->nfds),
		    "%s with %zu descriptors", m->name, n);
	}
	/* The header says that the big field is in a memfd, but it is not. */
	bytes[2] = WIRE_MEMFD;
	deliver(from, to, phase, bytes, len, fds, 1);
	ok(seen.handled == 0 && seen.closed, "%s: no memfd at all", m->name);
	is_int(count_fds(), before, "%s: no descriptor leaked", m->name);
	for (size_t i = 0; i < 4; i++)
		close(fds[i]);
}

/*
 * Deliver an EVENT whose detail is in a memfd with this size, seals and
 * announced length.
 */
static void
deliver_memfd(size_t size, int seals, size_t said)
{
	uint8_t bytes[64];
	size_t o = WIRE_HEADER;
	int fd = memfd_create("t", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd == -1 || ftruncate(fd, (off_t)size) == -1 ||
	    fcntl(fd, F_ADD_SEALS, seals) == -1)
		abort();
	memset(bytes, 0, sizeof(bytes));
	bytes[0] = MSG_EVENT & 0xff;
	bytes[1] = MSG_EVENT >> 8;
	bytes[2] = WIRE_MEMFD;
	bytes[o] = 1; /* event: one byte */
	bytes[o + 4] = 'e';
	o += 5;
	for (size_t b = 0; b < 4; b++)
		bytes[o + b] = (uint8_t)(said >> (8 * b));
	deliver(ROLE_SUP, ROLE_AUDIT, PHASE_RUN, bytes, o + 4, &fd, 1);
	close(fd);
}

static void
test_memfd(void)
{
	const int all =
	    F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

	deliver_memfd(100000, all, 100000);
	ok(seen.handled == 1 && seen.msg.EVENT.detail.len == 100000,
	    "a sealed memfd carries a large value");
	deliver_memfd(100000, all & ~F_SEAL_WRITE, 100000);
	ok(seen.handled == 0 && seen.closed, "memfd that can be written");
	deliver_memfd(100000, all & ~F_SEAL_SHRINK, 100000);
	ok(seen.handled == 0 && seen.closed, "memfd that can shrink");
	deliver_memfd(100000, all & ~F_SEAL_SEAL & ~F_SEAL_GROW, 100000);
	ok(seen.handled == 0 && seen.closed, "memfd that can grow");
	deliver_memfd(100000, all, 99999);
	ok(seen.handled == 0 && seen.closed, "memfd longer than said");
	deliver_memfd(100000, all, 100001);
	ok(seen.handled == 0 && seen.closed, "memfd shorter than said");
	deliver_memfd(100, all, 100);
	ok(seen.handled == 0 && seen.closed,
	    "memfd for what fits a datagram: one encoding only");
	deliver_memfd((1U << 20) + 1, all, (1U << 20) + 1);
	ok(seen.handled == 0 && seen.closed, "memfd over the maximum");
}

static void
test_strangers(void)
{
	static uint8_t bytes[PROTO_MAX_DATAGRAM + 16];
	unsigned taken = 0;

	for (unsigned type = 0; type < 65536; type += 7) {
		if (proto_find((uint16_t)type) != NULL)
			continue;
		bytes[0] = (uint8_t)type;
		bytes[1] = (uint8_t)(type >> 8);
		deliver(ROLE_SUP, ROLE_AUDIT, PHASE_RUN, bytes, 4, NULL, 0);
		taken += seen.handled + (seen.closed ? 0 : 1);
	}
	is_int(taken, 0, "unknown numbers close the channel");
	for (size_t len = 1; len < 4; len++) {
		deliver(ROLE_SUP, ROLE_AUDIT, PHASE_RUN, bytes, len, NULL, 0);
		ok(seen.handled == 0 && seen.closed, "%zu bytes", len);
	}
	deliver(ROLE_SUP, ROLE_AUDIT, PHASE_RUN, bytes, PROTO_MAX_DATAGRAM + 1,
	    NULL, 0);
	ok(seen.handled == 0 && seen.closed, "over 64 KiB");
	deliver(ROLE_SUP, ROLE_AUDIT, PHASE_RUN, bytes, 0, NULL, 0);
	ok(seen.handled == 0 && seen.closed, "an empty message");
}

int
main(void)
{
	memset(texts, 'x', sizeof(texts));
	ops = (struct chan_ops){handlers, proto_nmsgs, on_closed};
	for (size_t i = 0; i < proto_nmsgs; i++) {
		test_matrix(&proto_msgs[i]);
		test_lengths(&proto_msgs[i]);
		test_maxima(&proto_msgs[i]);
		test_descriptors(&proto_msgs[i]);
	}
	test_memfd();
	test_strangers();
	return tap_done();
}
