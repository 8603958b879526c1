/* SPDX-License-Identifier: ISC */
/*
 * Reads the password from the descriptor that icsupervisor handed over,
 * straight into secret memory, and checks it. A new one replaces the old one
 * when it is good. Only its length is ever reported.
 */
#include "pgkeyd/pgkeyd.h"

#include <errno.h>
#include <unistd.h>

#include "common/log.h"

void
pgkeyd_secret_prepare(void)
{
	struct pgkeyd_env *e = &pgkeyd_env;

	if (secret_prepare(8192) == -1 ||
	    (e->password = secret_new(PGKEYD_MAX_PASSWORD)) == NULL ||
	    (e->next = secret_new(PGKEYD_MAX_PASSWORD)) == NULL ||
	    (e->kept = secret_new(sizeof(struct scram_kept))) == NULL)
		fatal("secret memory: raise the limit on locked memory "
		      "(ulimit -l) to 64 or more");
	e->key_fd = -1;
	e->key_io.fd = -1;
}

struct scram_kept *
pgkeyd_kept(void)
{
	size_t cap;

	return (struct scram_kept *)(void *)secret_bytes(pgkeyd_env.kept, &cap);
}

static void
secret_show(enum proto_key state, const char *text)
{
	const struct msg_KEY_STATE m = {.state = (uint8_t)state,
	    .length = (uint32_t)secret_span(pgkeyd_env.password).len,
	    .text = span_str(text)};

	worker_send(&pgkeyd_env.w, ROLE_SUP, 0, MSG_KEY_STATE, &m, -1);
}

static void
secret_show_loaded(void)
{
	secret_show(PROTO_KEY_LOADED,
	    secret_kind() == SECRET_MEMFD ? "memfd_secret" : "locked memory");
}

/* Report a bad password; a good one stays in use. */
static void
secret_bad(enum proto_key state, const char *text)
{
	secret_show(state, text);
	if (pgkeyd_env.loaded)
		secret_show_loaded();
}

/* SASLprep (RFC 4013) leaves printable ASCII as it is, and only that. */
static const char *
secret_check(struct span s)
{
	uint8_t control = 0, high = 0;

	for (size_t i = 0; i < s.len; i++) {
		control |= s.p[i] < 0x20 || s.p[i] == 0x7f;
		high |= s.p[i] & 0x80;
	}
	if (control)
		return "holds a line break or another control character";
	return high ? "holds a character outside of ASCII, which servers "
		      "normalize in ways that are not implemented here"
		    : NULL;
}

/* Use the new one. The salted password was that of the old one. */
static void
secret_swap(void)
{
	struct pgkeyd_env *e = &pgkeyd_env;
	struct secret *old = e->password;

	e->password = e->next;
	e->next = old;
	explicit_bzero(pgkeyd_kept(), sizeof(struct scram_kept));
	e->loaded = true;
	e->loaded_at = loop_now(&e->w.loop);
}

static void
secret_loaded(void)
{
	struct pgkeyd_env *e = &pgkeyd_env;
	const char *why = secret_check(secret_span(e->next));

	if (why != NULL) {
		secret_bad(PROTO_KEY_BAD, why);
		return;
	}
	secret_swap();
	secret_show_loaded();
}

static void
secret_input(struct loop_io *io, uint32_t events)
{
	struct pgkeyd_env *e = &pgkeyd_env;
	int r, error;

	(void)io;
	(void)events;
	if ((r = secret_read_fd(e->next, e->key_fd)) == 1)
		return;
	error = errno;
	loop_del(&e->w.loop, &e->key_io);
	close(e->key_fd);
	e->key_fd = -1;
	if (r == 0)
		secret_loaded();
	else if (error == ENODATA)
		secret_bad(PROTO_KEY_EMPTY, "empty");
	else
		secret_bad(PROTO_KEY_BAD, error == ENOBUFS
					      ? "too long (over 512 bytes)"
					      : "cannot be read");
	secret_free(e->next);
	if ((e->next = secret_new(PGKEYD_MAX_PASSWORD)) == NULL)
		fatal("secret memory");
}

int
pgkeyd_secret(struct chan *c, const struct msg_SECRET *m, int fd)
{
	struct pgkeyd_env *e = &pgkeyd_env;

	if (e->key_fd != -1 || m->kind != 0) {
		close(fd);
		return chan_violation(c, "SECRET out of place");
	}
	e->key_fd = fd;
	/* epoll refuses a file, which can be read at once. */
	if (loop_add(&e->w.loop, &e->key_io, fd, EPOLLIN, secret_input, NULL) ==
	    -1)
		secret_input(NULL, 0);
	return 0;
}
