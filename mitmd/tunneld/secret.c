/* SPDX-License-Identifier: ISC */
/*
 * Makes the proxy's credential a header: read from the descriptor into secret
 * memory, unescaped there if it was in a URL, checked, encoded. Only its length
 * is ever reported.
 */
#include "tunneld/tunneld.h"

#include <errno.h>
#include <unistd.h>

#include "common/log.h"

static const struct span secret_name = SPAN("Proxy-Authorization: Basic ");
static const struct span secret_end = SPAN("\r\n\r\n");

void
tunneld_secret_prepare(void)
{
	struct tunneld_env *e = &tunneld_env;

	if (secret_prepare(4096) == -1 ||
	    (e->raw = secret_new(3 * TUNNELD_MAX_CREDENTIAL)) == NULL ||
	    (e->header = secret_new(TUNNELD_MAX_HEADER)) == NULL)
		fatal("secret memory: raise the limit on locked memory "
		      "(ulimit -l) to 64 or more");
	e->key_fd = -1;
	e->key_io.fd = -1;
}

static void
secret_show(enum proto_key state, size_t length, const char *text)
{
	struct msg_KEY_STATE m = {.state = (uint8_t)state,
	    .length = (uint32_t)length,
	    .text = span_str(text)};

	worker_send(&tunneld_env.w, ROLE_SUP, 0, MSG_KEY_STATE, &m, -1);
}

static int
hex(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * Unescape in place; a value is never longer than its escape. Returns NULL, or
 * the reason why it is malformed.
 */
static const char *
secret_unescape(uint8_t *p, size_t *len)
{
	size_t n = 0;
	int hi, lo;

	for (size_t i = 0; i < *len; i++) {
		if (p[i] != '%') {
			p[n++] = p[i];
			continue;
		}
		if (*len - i < 3 || (hi = hex(p[i + 1])) == -1 ||
		    (lo = hex(p[i + 2])) == -1)
			return "holds a % that is no escape: % itself is "
			       "written %25";
		p[n++] = (uint8_t)(hi << 4 | lo);
		i += 2;
	}
	*len = n;
	return NULL;
}

/*
 * Check for RFC 7617: user and password, no control characters. Returns NULL,
 * or the reason.
 */
static const char *
secret_check(const uint8_t *p, size_t len)
{
	uint8_t odd = 0;
	const uint8_t *colon = memchr(p, ':', len);

	for (size_t i = 0; i < len; i++)
		odd |= p[i] < 0x20 || p[i] == 0x7f;
	if (odd)
		return "holds a line break or another control character";
	if (colon == NULL)
		return "is no USER:PASSWORD";
	if (colon == p)
		return "has no user name before its colon";
	return len > TUNNELD_MAX_CREDENTIAL ? "too long (over 512 bytes)"
					    : NULL;
}

static void
secret_encode(const uint8_t *p, size_t len)
{
	struct tunneld_env *e = &tunneld_env;
	size_t cap;
	uint8_t *out = secret_bytes(e->header, &cap);

	memcpy(out, secret_name.p, secret_name.len);
	e->nheader = secret_name.len;
	base64_put(out + e->nheader, span_of(p, len));
	e->nheader += BASE64_LEN(len);
	memcpy(out + e->nheader, secret_end.p, secret_end.len);
	e->nheader += secret_end.len;
}

static void
secret_loaded(void)
{
	struct tunneld_env *e = &tunneld_env;
	size_t cap, len = secret_span(e->raw).len;
	uint8_t *p = secret_bytes(e->raw, &cap);
	const char *why = NULL;

	if (e->escaped)
		why = secret_unescape(p, &len);
	if (why == NULL)
		why = secret_check(p, len);
	if (why == NULL)
		secret_encode(p, len);
	secret_free(e->raw);
	e->raw = NULL;
	if (why != NULL)
		secret_show(PROTO_KEY_BAD, 0, why);
	else
		secret_show(PROTO_KEY_LOADED, len,
		    secret_kind() == SECRET_MEMFD ? "memfd_secret"
						  : "locked memory");
}

static void
secret_input(struct loop_io *io, uint32_t events)
{
	struct tunneld_env *e = &tunneld_env;
	int r, error;

	if ((r = secret_read_fd(e->raw, e->key_fd)) == 1)
		return;
	error = errno;
	loop_del(&e->w.loop, &e->key_io);
	close(e->key_fd);
	e->key_fd = -1;
	if (r == 0)
		secret_loaded();
	else if (error == ENODATA)
		secret_show(PROTO_KEY_EMPTY, 0, "empty");
	else
		secret_show(PROTO_KEY_BAD, 0,
		    error == ENOBUFS ? "too long" : "cannot be read");
}

int
tunneld_secret(struct chan *c, const struct msg_SECRET *m, int fd)
{
	struct tunneld_env *e = &tunneld_env;

	/* Accepted once, before START. */
	if (e->key_fd != -1 || e->raw == NULL || e->w.started || m->kind > 1) {
		close(fd);
		return chan_violation(c, "SECRET out of place");
	}
	e->escaped = m->kind == 1;
	e->key_fd = fd;
	/* epoll refuses a file, which can be read at once. */
	if (loop_add(&e->w.loop, &e->key_io, fd, EPOLLIN, secret_input, NULL) ==
	    -1)
		secret_input(NULL, 0);
	return 0;
}
