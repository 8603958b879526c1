/* SPDX-License-Identifier: ISC */
/*
 * The credential: reads it from the descriptor that icsupervisor handed over
 * straight into secret memory, checks its alphabet, prepares the search for
 * it, and locks it once it came back in an answer.  Nothing here copies it
 * or says more of it than its length.
 */
#include "keyd.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "log.h"

/*
 * Arena sizes: forms and tables of the longest credential take about thirty
 * times its length. Where little memory may be locked, less must do.
 */
static const struct {
	size_t bytes, cap;
} secret_sizes[] = {
    {160U << 10, SCRUB_MAX},
    {44U << 10, 512},
};

void
keyd_secret_prepare(void)
{
	struct keyd_env *e = &keyd_env;
	size_t i = 0;

	while (secret_prepare(secret_sizes[i].bytes) == -1) {
		if (++i == sizeof(secret_sizes) / sizeof(secret_sizes[0]))
			fatal("secret memory: raise the limit on locked "
			      "memory (ulimit -l) to 64 or more");
	}
	e->cap = secret_sizes[i].cap;
	if ((e->key = secret_new(e->cap)) == NULL ||
	    (e->head = secret_new(KEYD_MAX_HEAD)) == NULL)
		fatal("secret memory");
	e->key_fd = -1;
	e->key_io.fd = -1;
}

static void
secret_show(enum proto_key state, const char *text)
{
	struct msg_KEY_STATE m = {.state = (uint8_t)state,
	    .length = (uint32_t)secret_span(keyd_env.key).len,
	    .text = span_str(text)};

	worker_send(&keyd_env.w, ROLE_SUP, 0, MSG_KEY_STATE, &m, -1);
}

static void
secret_show_loaded(void)
{
	char text[128];

	snprintf(text, sizeof(text), "%s%s",
	    secret_kind() == SECRET_MEMFD ? "memfd_secret" : "locked memory",
	    keyd_env.scrub.nforms == 0
		? "; too short to be searched for in answers"
		: "");
	secret_show(PROTO_KEY_LOADED, text);
}

void
keyd_alarm(const char *kind, const char *text)
{
	struct msg_ALARM m = {.kind = span_str(kind), .text = span_str(text)};

	if (keyd_env.alarms++ < KEYD_MAX_ALARMS)
		worker_send(&keyd_env.w, ROLE_AUDIT, 0, MSG_ALARM, &m, -1);
}

void
keyd_lock(void)
{
	if (keyd_env.locked)
		return;
	keyd_env.locked = true;
	secret_show(PROTO_KEY_LOCKED,
	    "the credential came back in an answer; icctl unlock");
}

int
keyd_unlock(struct chan *c, const union proto_any *msg, int fd)
{
	(void)c;
	(void)msg;
	(void)fd;
	if (keyd_env.locked) {
		keyd_env.locked = false;
		secret_show_loaded();
	}
	return 0;
}

/* Visible ASCII: anything else could end a header, or be a wrong file. */
static bool
secret_legal(struct span key)
{
	uint8_t odd = 0;

	for (size_t i = 0; i < key.len; i++)
		odd |= key.p[i] < 0x21 || key.p[i] > 0x7e;
	return odd == 0;
}

static bool
secret_build(struct span key)
{
	struct keyd_env *e = &keyd_env;
	size_t cap;
	uint8_t *mem;

	if (key.len < SCRUB_MIN)
		return true;
	if ((e->forms = secret_new(scrub_size(key))) == NULL)
		return false;
	mem = secret_bytes(e->forms, &cap);
	return scrub_build(&e->scrub, key, mem, cap) == 0;
}

static void
secret_end(void)
{
	loop_del(&keyd_env.w.loop, &keyd_env.key_io);
	close(keyd_env.key_fd);
	keyd_env.key_fd = -1;
}

static void
secret_bad(enum proto_key state, const char *text)
{
	struct keyd_env *e = &keyd_env;

	/* Whatever it was, it is not kept. */
	secret_free(e->key);
	if ((e->key = secret_new(e->cap)) == NULL)
		fatal("secret memory");
	secret_show(state, text);
}

static void
secret_loaded(void)
{
	struct span key = secret_span(keyd_env.key);

	if (!secret_legal(key)) {
		secret_bad(PROTO_KEY_BAD,
		    "holds a space, a line break or another character "
		    "that cannot be in a credential");
	} else if (!secret_build(key)) {
		secret_bad(PROTO_KEY_BAD, "too long");
	} else {
		keyd_env.loaded = true;
		secret_show_loaded();
	}
}

static void
secret_input(struct loop_io *io, uint32_t events)
{
	(void)io;
	(void)events;
	switch (secret_read_fd(keyd_env.key, keyd_env.key_fd)) {
	case 1:
		return;
	case 0:
		secret_end();
		secret_loaded();
		return;
	default:
		break;
	}
	secret_end();
	if (errno == ENODATA)
		secret_bad(PROTO_KEY_EMPTY, "empty");
	else if (errno == ENOBUFS)
		secret_bad(PROTO_KEY_BAD, "too long");
	else
		secret_bad(PROTO_KEY_BAD, "cannot be read");
}

int
keyd_secret(struct chan *c, const union proto_any *msg, int fd)
{
	struct keyd_env *e = &keyd_env;

	(void)msg;
	if (e->key_fd != -1 || e->loaded) {
		close(fd);
		return chan_violation(c, "SECRET twice");
	}
	e->key_fd = fd;
	/* A file cannot be waited for, and need not be. */
	if (loop_add(&e->w.loop, &e->key_io, fd, EPOLLIN, secret_input, NULL) ==
	    -1)
		secret_input(NULL, 0);
	return 0;
}
