/* SPDX-License-Identifier: ISC */
#include "wire/tls_out.h"

#include <sys/socket.h>

#include <openssl/err.h>

#include <errno.h>

static BIO_METHOD *out_method;

static int
out_write(BIO *b, const char *p, int len)
{
	const struct tls_out *out = BIO_get_data(b);
	int flags = MSG_NOSIGNAL | (out->follows ? MSG_MORE : 0);
	ssize_t n;

	BIO_clear_retry_flags(b);
	do {
		n = send(out->fd, p, (size_t)len, flags);
	} while (n == -1 && errno == EINTR);
	if (n == -1 && errno == EAGAIN)
		BIO_set_retry_write(b);
	return (int)n;
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
tls_out_attach(SSL *ssl, struct tls_out *out, int fd)
{
	BIO *from, *to;

	if ((to = BIO_new(out_method)) == NULL)
		return -1;
	if ((from = BIO_new_socket(fd, BIO_NOCLOSE)) == NULL) {
		BIO_free(to);
		return -1;
	}
	*out = (struct tls_out){.fd = fd};
	BIO_set_data(to, out);
	BIO_set_init(to, 1);
	SSL_set_bio(ssl, from, to);
	return 0;
}

int
tls_out_write(
    SSL *ssl, struct tls_out *out, const uint8_t *p, size_t len, size_t *n)
{
	int r;

	*n = 0;
	ERR_clear_error();
	out->follows = len > SSL3_RT_MAX_PLAIN_LENGTH || out->more;
	r = SSL_write_ex(ssl, p, len, n);
	out->follows = false;
	return r;
}
