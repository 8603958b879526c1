/* SPDX-License-Identifier: ISC */
/*
 * Writing to the agent. OpenSSL writes every record by itself; here they are
 * gathered, so that one call sends many: each call may wake the reader. Records
 * that the socket does not take wait, encrypted, in a->out. A connection that
 * sends much has them in the ring, where the kernel need not copy them.
 */
#include "tls.h"

#include <sys/socket.h>

#include <openssl/err.h>

#include <errno.h>

#define SEND_GATHER (132U << 10) /* eight records of 16 KiB */
#define SEND_MUCH (64U << 10)

static BIO_METHOD *send_method;

/* The records of `send_of`, which is written to at the moment. */
static uint8_t send_copied[SEND_GATHER];
static uint8_t *send_records = send_copied; /* or in the ring */
static size_t send_len, send_room = sizeof(send_copied);
static struct agent *send_of;

static void
send_progress(struct agent *a)
{
	a->progress = loop_now(&mitmd_env.w.loop);
	if (a->x != NULL)
		a->x->progress = a->progress;
}

/* Returns the number of bytes that the socket took, or -1 if it is broken. */
static ssize_t
send_now(struct agent *a, struct span s)
{
	ssize_t n;

	do {
		n = send(a->fd, s.p, s.len, MSG_NOSIGNAL);
	} while (n == -1 && errno == EINTR);
	if (n == -1)
		return errno == EAGAIN ? 0 : -1;
	out_ring_note(&mitmd_env.ring, a->fd, (size_t)n);
	send_progress(a);
	return n;
}

/* Queue what is left after `n` bytes were sent; -1: the connection is broken.
 */
static int
send_rest(struct agent *a, struct span s, ssize_t n)
{
	char why[128];

	if (n == -1)
		return -1;
	if ((size_t)n == s.len)
		return 0;
	send_progress(a);
	buf_add(&a->out, s.p + n, s.len - (size_t)n);
	if (buf_check(&a->out) == 0)
		return 0;
	mitmd_note(a, "%s: closed",
	    buf_why(&a->out, "the queue for the agent", why, sizeof(why)));
	return -1;
}

/* Send, and queue the rest. */
static int
send_or_queue(struct agent *a, struct span s)
{
	return send_rest(a, s, a->out.len != 0 ? 0 : send_now(a, s));
}

int
mitmd_tls_push(struct agent *a)
{
	struct span s = span_of(send_records, send_len);
	ssize_t n;

	if (send_of != a)
		return 0;
	send_of = NULL;
	send_len = 0;
	a->sends_much = s.len >= SEND_MUCH;
	if (send_records == send_copied)
		return send_or_queue(a, s);
	/* Nothing was queued since the ring was taken. */
	if ((n = out_ring_send(&mitmd_env.ring, s.len)) > 0)
		send_progress(a);
	return send_rest(a, s, n);
}

/* Begin to gather records of this connection. */
static void
send_begin(struct agent *a)
{
	send_of = a;
	if (a->sends_much && a->out.len == 0 &&
	    (send_records =
		    out_ring_take(&mitmd_env.ring, a->fd, &send_room)) != NULL)
		return;
	send_records = send_copied;
	send_room = sizeof(send_copied);
}

static int
send_record(BIO *b, const char *p, int len)
{
	struct agent *a = BIO_get_data(b);
	struct span s = span_of((const uint8_t *)p, (size_t)len);

	BIO_clear_retry_flags(b);
	/* mitmd_tls_add() has pushed those of another agent. */
	if ((!a->gathers || s.len > send_room - send_len) &&
	    mitmd_tls_push(a) == -1)
		return -1;
	if (!a->gathers || s.len > sizeof(send_copied))
		return send_or_queue(a, s) == 0 ? len : -1;
	if (send_of == NULL)
		send_begin(a);
	memcpy(send_records + send_len, s.p, s.len);
	send_len += s.len;
	return len;
}

static long
send_ctrl(BIO *b, int cmd, long num, void *arg)
{
	return cmd == BIO_CTRL_FLUSH;
}

int
mitmd_tls_send_init(void)
{
	BIO_METHOD *m;

	out_ring_init(&mitmd_env.ring, &mitmd_env.w.loop);
	if ((m = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "agent")) == NULL ||
	    BIO_meth_set_write(m, send_record) != 1 ||
	    BIO_meth_set_ctrl(m, send_ctrl) != 1)
		return -1;
	send_method = m;
	return 0;
}

int
mitmd_tls_attach(struct agent *a)
{
	BIO *from, *to;

	if ((to = BIO_new(send_method)) == NULL)
		return -1;
	if ((from = BIO_new_socket(a->fd, BIO_NOCLOSE)) == NULL) {
		BIO_free(to);
		return -1;
	}
	BIO_set_data(to, a);
	BIO_set_init(to, 1);
	SSL_set_bio(a->ssl, from, to);
	return 0;
}

int
mitmd_tls_add(struct agent *a, struct span s)
{
	size_t n;
	int r = 1;

	/* A broken socket is reported by the loop. */
	if (send_of != NULL && send_of != a)
		(void)mitmd_tls_push(send_of);
	a->gathers = true;
	while (s.len != 0 && r == 1) {
		ERR_clear_error();
		if ((r = SSL_write_ex(a->ssl, s.p, s.len, &n)) == 1)
			s = span_of(s.p + n, s.len - n);
	}
	a->gathers = false;
	return r == 1 ? 0 : -1;
}

int
mitmd_tls_put(struct agent *a, struct span s)
{
	if (mitmd_tls_add(a, s) == -1)
		return -1;
	return mitmd_tls_push(a);
}

int
mitmd_tls_put_buf(struct agent *a, struct buf *b)
{
	int r = 0;

	if (b->failed)
		r = -1;
	else if (b->len != 0 || send_of == a)
		r = mitmd_tls_put(a, buf_span(b));
	buf_reset(b, MITMD_KEEP);
	return r;
}

int
mitmd_tls_flush(struct agent *a)
{
	ssize_t n;

	if (a->out.len == 0)
		return 0;
	if ((n = send_now(a, buf_span(&a->out))) == -1)
		return -1;
	buf_drain(&a->out, (size_t)n);
	if (a->out.len == 0)
		buf_reset(&a->out, 0);
	return 0;
}
