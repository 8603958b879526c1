/* SPDX-License-Identifier: ISC */
#include "wire/tls_out.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <openssl/err.h>

#include <errno.h>

/* Bytes that are collected; a record is at most SSL3_RT_MAX_ENCRYPTED_LENGTH */
#define OUT_COLLECT (64U << 10)
#define OUT_REST (2 * OUT_COLLECT)

static BIO_METHOD *out_method;

/* Encrypted records; empty unless a connection is being written. */
static uint8_t out_records[OUT_COLLECT];
static size_t out_nrecords;

/* Returns the bytes that the socket took, or -1 with errno set. */
static ssize_t
out_send(const struct tls_out *out, const void *p, size_t len)
{
	int flags = MSG_NOSIGNAL;
	struct iovec iov[2] = {
	    {out_records, out_nrecords}, {(void *)(uintptr_t)p, len}};
	struct msghdr m = {.msg_iov = iov, .msg_iovlen = 2};
	ssize_t n;

	if (out->follows && !out->collect)
		flags |= MSG_MORE;
	do {
		n = out_nrecords != 0 ? sendmsg(out->fd, &m, flags)
				      : send(out->fd, p, len, flags);
	} while (n == -1 && errno == EINTR);
	return n;
}

/* Send the collected records and one more, and keep what is left of them. */
static int
out_collected(struct tls_out *out, const uint8_t *p, size_t len)
{
	size_t n = out_nrecords, sent;
	ssize_t put;

	put = out_send(out, p, len);
	out_nrecords = 0;
	if (put == -1 && errno != EAGAIN)
		return -1;
	sent = put == -1 ? 0 : (size_t)put;
	if (sent < n)
		buf_add(&out->rest, out_records + sent, n - sent);
	sent = sent < n ? 0 : sent - n;
	if (sent < len)
		buf_add(&out->rest, p + sent, len - sent);
	return buf_check(&out->rest);
}

int
tls_out_flush(struct tls_out *out)
{
	struct span s;
	ssize_t n;

	while (out->rest.len != 0) {
		s = buf_span(&out->rest);
		if ((n = out_send(out, s.p, s.len)) == -1)
			return errno == EAGAIN ? 0 : -1;
		buf_drain(&out->rest, (size_t)n);
	}
	buf_reset(&out->rest, 0);
	return 0;
}

static int
out_write(BIO *b, const char *p, int len)
{
	struct tls_out *out = BIO_get_data(b);
	size_t n = (size_t)len;
	ssize_t put;

	BIO_clear_retry_flags(b);
	if (tls_out_flush(out) == -1)
		return -1;
	if (out->rest.len != 0) {
		BIO_set_retry_write(b);
		return -1;
	}
	if (out->collect && out->follows && n <= OUT_COLLECT - out_nrecords) {
		memcpy(out_records + out_nrecords, p, n);
		out_nrecords += n;
		return len;
	}
	if (out_nrecords != 0)
		return out_collected(out, (const uint8_t *)p, n) == 0 ? len
								      : -1;
	if ((put = out_send(out, p, n)) == -1 && errno == EAGAIN)
		BIO_set_retry_write(b);
	return (int)put;
}

static long
out_ctrl(BIO *b, int cmd, long num, void *arg)
{
	return cmd == BIO_CTRL_FLUSH;
}

int
tls_out_init(void)
{
	BIO_METHOD *m;

	if ((m = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "socket")) == NULL ||
	    BIO_meth_set_write(m, out_write) != 1 ||
	    BIO_meth_set_ctrl(m, out_ctrl) != 1)
		return -1;
	out_method = m;
	return 0;
}

int
tls_out_attach(SSL *ssl, struct tls_out *out, int fd, bool collect)
{
	BIO *from, *to;

	if ((to = BIO_new(out_method)) == NULL)
		return -1;
	if ((from = BIO_new_socket(fd, BIO_NOCLOSE)) == NULL) {
		BIO_free(to);
		return -1;
	}
	*out = (struct tls_out){.fd = fd, .collect = collect};
	buf_init(&out->rest, OUT_REST);
	BIO_set_data(to, out);
	BIO_set_init(to, 1);
	SSL_set_bio(ssl, from, to);
	return 0;
}

void
tls_out_free(struct tls_out *out)
{
	buf_free(&out->rest);
}

bool
tls_out_waits(const struct tls_out *out)
{
	return out->rest.len != 0;
}

int
tls_out_write(
    SSL *ssl, struct tls_out *out, const uint8_t *p, size_t len, size_t *n)
{
	size_t put;
	int r;

	*n = 0;
	do {
		ERR_clear_error();
		out->follows = len - *n > SSL3_RT_MAX_PLAIN_LENGTH;
		if ((r = SSL_write_ex(ssl, p + *n, len - *n, &put)) == 1)
			*n += put;
	} while (r == 1 && *n < len && out->rest.len == 0);
	out->follows = false;
	return *n != 0 ? 1 : r;
}
