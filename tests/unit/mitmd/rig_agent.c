/* SPDX-License-Identifier: ISC */
/* The rig's agent: connections to mitmd, plain and inside a tunnel. */
#include "unit/mitmd/rig.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

bool rig_closed;
static char rig_text[1 << 20];

int
rig_dial(void)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd;

	memcpy(sa.sun_path, rig.path, strlen(rig.path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1 || connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == -1)
		err(1, "connect");
	return fd;
}

int
rig_send(int fd, const char *text)
{
	return write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -1;
}

const char *
rig_read_until(int fd, const char *text)
{
	uint64_t end = clock_mono_us() + RIG_WAIT_MS * 1000;
	size_t len = 0;
	ssize_t n;

	rig_closed = false;
	rig_text[0] = '\0';
	while (strstr(rig_text, text) == NULL && clock_mono_us() < end) {
		n = read(fd, rig_text + len, sizeof(rig_text) - 1 - len);
		if (n == 0 || (n == -1 && errno != EAGAIN)) {
			rig_closed = true;
			break;
		}
		if (n > 0)
			len += (size_t)n;
		else
			rig_turn(5);
		rig_text[len] = '\0';
	}
	return rig_text;
}

SSL *
rig_tls(const char *sni, const char *alpn)
{
	uint64_t end = clock_mono_us() + RIG_WAIT_MS * 1000;
	uint8_t protos[64];
	SSL *ssl;
	int fd = rig_dial(), r;

	rig_send(fd, "CONNECT " RIG_HOST ":443 HTTP/1.1\r\nHost: " RIG_HOST
	    ":443\r\n\r\n");
	if (strstr(rig_read_until(fd, "\r\n\r\n"), " 200 ") == NULL) {
		close(fd);
		return NULL;
	}
	if ((ssl = SSL_new(rig.client)) == NULL)
		errx(1, "SSL_new");
	SSL_set_fd(ssl, fd);
	SSL_set1_host(ssl, RIG_HOST);
	if (sni != NULL)
		SSL_set_tlsext_host_name(ssl, sni);
	if (alpn != NULL) {
		protos[0] = (uint8_t)strlen(alpn);
		memcpy(protos + 1, alpn, strlen(alpn));
		SSL_set_alpn_protos(ssl, protos, protos[0] + 1U);
	}
	while ((r = SSL_connect(ssl)) != 1 && clock_mono_us() < end) {
		if (SSL_get_error(ssl, r) != SSL_ERROR_WANT_READ)
			break;
		rig_turn(5);
	}
	if (r == 1)
		return ssl;
	rig_close(ssl);
	return NULL;
}

void
rig_close(SSL *ssl)
{
	int fd;

	if (ssl == NULL)
		return;
	fd = SSL_get_fd(ssl);
	SSL_free(ssl);
	close(fd);
}

void
rig_write(SSL *ssl, const char *text, size_t len)
{
	uint64_t end = clock_mono_us() + RIG_WAIT_MS * 1000;
	size_t n;

	SSL_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE);
	while (len != 0 && clock_mono_us() < end) {
		if (SSL_write_ex(ssl, text, len, &n) == 1) {
			text += n;
			len -= n;
		} else if (SSL_get_error(ssl, 0) == SSL_ERROR_WANT_WRITE) {
			rig_turn(5);
		} else {
			break;
		}
	}
}

const char *
rig_read(SSL *ssl, const char *text)
{
	uint64_t end = clock_mono_us() + RIG_WAIT_MS * 1000;
	size_t len = 0, n;

	rig_closed = false;
	rig_text[0] = '\0';
	while (strstr(rig_text, text) == NULL && clock_mono_us() < end) {
		if (SSL_read_ex(ssl, rig_text + len,
		    sizeof(rig_text) - 1 - len, &n) == 1) {
			len += n;
		} else if (SSL_get_error(ssl, 0) == SSL_ERROR_WANT_READ) {
			rig_turn(5);
		} else {
			rig_closed = true;
			break;
		}
		rig_text[len] = '\0';
	}
	return rig_text;
}
