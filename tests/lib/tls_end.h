/* SPDX-License-Identifier: ISC */
/*
 * For tests: the last bytes of a TLS connection and its end, written with one
 * call, so that the peer reads them with one. The socket stays open, so that
 * no other event follows.
 */
#ifndef TLS_END_H
#define TLS_END_H

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <string.h>
#include <unistd.h>

enum tls_end {
	TLS_END_NOTIFY, /* close_notify */
	TLS_END_ALERT,  /* a fatal alert */
	TLS_END_BROKEN, /* a record that cannot be decrypted */
	TLS_ENDS,
};

static const char *const tls_end_names[TLS_ENDS] = {
    "notify", "alert", "broken"};

/* Write `len` bytes and the end. Returns 0, or -1 if not all was written. */
static inline int
tls_end_write(SSL *ssl, const void *p, size_t len, enum tls_end how)
{
	static const unsigned char broken[5 + 32] = {23, 3, 3, 0, 32};
	BIO *to = SSL_get_wbio(ssl), *from = SSL_get_rbio(ssl);
	BIO *mem = BIO_new(BIO_s_mem());
	int fd = SSL_get_fd(ssl), r = -1;
	char *all, byte;
	size_t n;
	long size;

	if (mem == NULL || BIO_up_ref(to) != 1 || BIO_up_ref(from) != 1)
		return -1;
	SSL_set0_wbio(ssl, mem);
	for (size_t done = 0; done < len; done += n) {
		if (SSL_write_ex(ssl, (const char *)p + done, len - done, &n) !=
		    1)
			goto out;
	}
	switch (how) {
	case TLS_END_NOTIFY:
		(void)SSL_shutdown(ssl);
		break;
	case TLS_END_ALERT:
		/* The answer to a record that cannot be decrypted. */
		SSL_set0_rbio(ssl, BIO_new_mem_buf(broken, sizeof(broken)));
		(void)SSL_read(ssl, &byte, 1);
		break;
	case TLS_END_BROKEN:
		(void)BIO_write(mem, broken, sizeof(broken));
		break;
	case TLS_ENDS:
		goto out;
	}
	size = BIO_get_mem_data(mem, &all);
	if (write(fd, all, (size_t)size) == size)
		r = 0;
out:
	ERR_clear_error();
	SSL_set0_wbio(ssl, to);
	SSL_set0_rbio(ssl, from);
	return r;
}

#endif
