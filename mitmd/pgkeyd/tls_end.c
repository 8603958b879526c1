/* SPDX-License-Identifier: ISC */
/*
 * Ends TLS with a database. Everything that the server sends before and in TLS
 * is hostile; what comes from the other side is encrypted unread. This process
 * was forked before pgkeyd had a password and never has one, nor a channel to a
 * worker. Whoever takes it over from the server's side sees what this server is
 * asked and what it answers, which the server sees anyway.
 *
 * The server's certificate need not be anybody's, unless roots are named:
 * pgkeyd binds its login to the certificate's hash, and a server in between has
 * another one.
 */
#include "pgkeyd/tls_end.h"

#include <sys/prctl.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include <openssl/err.h>
#include <openssl/x509.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/confine/confine.h"
#include "common/log.h"
#include "common/loop.h"
#include "pgkeyd/pgkeyd.h"
#include "pgkeyd/tls_context.h"
#include "pgkeyd/tls_link.h"
#include "wire/pg.h"
#include "wire/tls_out.h"

/* Those of egressd that are open, and as many that begin or end. */
#define END_MAX (2U * PROTO_MAX_STREAMS_EACH)
#define END_WINDOW (64U << 10)
#define END_LINGER_MS 2000U
enum end_state {
	END_ASKED,  /* the server was asked whether it has TLS */
	END_SHAKES, /* the handshake */
	END_OPEN,   /* bytes pass both ways */
};

struct end {
	TAILQ_ENTRY(end) entry;
	enum end_state state;
	uint32_t id;
	int up; /* the server; encrypted */
	int in; /* the other side; -1: there is none yet, or any more */
	struct loop_io up_io, in_io;
	struct loop_timer timer;
	SSL *ssl;
	struct tls_out out;
	struct buf to_up, to_in;
	bool up_eof, in_eof, shut;
	bool up_writes; /* TLS waits until it can write */
	bool dead;
};

static struct {
	struct loop loop;
	struct loop_io io;
	int link;
	SSL_CTX *ctx;
	struct buf roots;
	bool closed; /* all roots are known */
	TAILQ_HEAD(, end) ends, dead;
	unsigned n;
} end_env;

/* clang-format off */
static const enum pledge_promise end_promises[] = {
	PLEDGE_STDIO,		/* connections, the link, the loop */
	PLEDGE_PAIR,		/* a socket for each connection */
	PLEDGE_SHUTDOWN,	/* one side sends no more */
};

static const struct confine end_confine = {
	.keep = CONFINE_KEEP_FILES,	/* sends sockets */
	.limits = {
		.nofile = 2U * END_MAX + 32,
		.fsize = 0,		/* it has no file */
		.data = 128U << 20,	/* TLS, and two windows for each */
		.memlock = 0,
	},
	.pledge = {
		.promises = end_promises,
		.npromises = nitems(end_promises),
	},
};
/* clang-format on */

static void end_up_ready(struct loop_io *, uint32_t);
static void end_in_ready(struct loop_io *, uint32_t);

static void
end_close(struct end *e)
{
	if (e->dead)
		return;
	loop_timer_clear(&end_env.loop, &e->timer);
	loop_del(&end_env.loop, &e->up_io);
	loop_del(&end_env.loop, &e->in_io);
	if (e->ssl != NULL && e->state == END_OPEN && !e->shut) {
		ERR_clear_error();
		(void)SSL_shutdown(e->ssl);
	}
	SSL_free(e->ssl);
	e->ssl = NULL;
	close(e->up);
	if (e->in != -1)
		close(e->in);
	e->dead = true;
	end_env.n--;
	TAILQ_REMOVE(&end_env.ends, e, entry);
	TAILQ_INSERT_TAIL(&end_env.dead, e, entry);
}

/* pgkeyd's end of the link has closed: so has pgkeyd, or it needs no TLS. */
static void
end_tell(const struct tls_link_told *told, int fd)
{
	if (tls_link_send(end_env.link, told, sizeof(*told), fd) == -1)
		_exit(0);
}

static void __attribute__((format(printf, 2, 3)))
end_fail(struct end *e, const char *fmt, ...)
{
	struct tls_link_told told = {.id = e->id};
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(told.why, sizeof(told.why), fmt, ap);
	va_end(ap);
	end_tell(&told, -1);
	end_close(e);
}

static void
end_late(struct loop_timer *t)
{
	struct end *e = t->arg;

	if (e->state == END_OPEN)
		end_close(e);
	else
		end_fail(e, "the database did not finish TLS in time");
}

static void
end_time(struct end *e, uint64_t ms)
{
	loop_timer_set(&end_env.loop, &e->timer, ms, end_late, e);
}

/* Read what the other side wants to send. Returns true if something came. */
static bool
end_take(struct end *e)
{
	const size_t room = END_WINDOW - e->to_up.len;
	uint8_t *to;
	ssize_t n;

	if (e->in == -1 || e->in_eof || e->up_eof || room == 0)
		return false;
	if ((to = buf_room(&e->to_up, room)) == NULL)
		fatal("window");
	n = recv(e->in, to, room, MSG_DONTWAIT);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		e->in_eof = true;
		return true;
	}
	buf_grow(&e->to_up, (size_t)n);
	return true;
}

/* Note what TLS waits for. Returns true if the connection has ended. */
static bool
end_stuck(struct end *e, int r)
{
	switch (SSL_get_error(e->ssl, r)) {
	case SSL_ERROR_WANT_WRITE:
		e->up_writes = true;
		return false;
	case SSL_ERROR_WANT_READ:
		return false;
	default:
		return true;
	}
}

/* Encrypt. */
static void
end_encrypt(struct end *e)
{
	struct span out;
	size_t n;
	int r;

	while (!e->up_eof && e->to_up.len != 0) {
		out = buf_span(&e->to_up);
		r = tls_out_write(e->ssl, &e->out, out.p, out.len, &n);
		if (r != 1) {
			e->up_eof = end_stuck(e, r);
			return;
		}
		buf_drain(&e->to_up, n);
	}
}

/* Decrypt. Returns true if the server's bytes, or its end, came. */
static bool
end_decrypt(struct end *e)
{
	const size_t room = END_WINDOW - e->to_in.len;
	uint8_t *to;
	size_t n;
	int r;

	if (e->up_eof || room == 0)
		return false;
	if ((to = buf_room(&e->to_in, room)) == NULL)
		fatal("window");
	ERR_clear_error();
	if ((r = SSL_read_ex(e->ssl, to, room, &n)) == 1) {
		buf_grow(&e->to_in, n);
		return true;
	}
	e->up_eof = end_stuck(e, r);
	return e->up_eof;
}

/* Pass on what was decrypted. Returns true if something went. */
static bool
end_give(struct end *e)
{
	const struct span out = buf_span(&e->to_in);
	ssize_t n;

	if (out.len == 0)
		return false;
	if (e->in == -1) {
		buf_reset(&e->to_in, 0);
		return true;
	}
	n = send(e->in, out.p, out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n == -1 && errno != EAGAIN && errno != EINTR) {
		buf_reset(&e->to_in, 0);
		e->in_eof = true;
	}
	if (n > 0)
		buf_drain(&e->to_in, (size_t)n);
	return n > 0;
}

static void
end_watch(struct end *e)
{
	uint32_t up = 0, in = 0;

	if (!e->up_eof && e->to_in.len < END_WINDOW)
		up |= EPOLLIN;
	if (!e->up_eof && (e->up_writes || e->to_up.len != 0))
		up |= EPOLLOUT;
	if (!e->in_eof && !e->up_eof && e->to_up.len < END_WINDOW)
		in |= EPOLLIN;
	if (e->to_in.len != 0)
		in |= EPOLLOUT;
	if (loop_watch(&end_env.loop, &e->up_io, e->up, up, end_up_ready, e) ==
		-1 ||
	    (e->in != -1 && loop_watch(&end_env.loop, &e->in_io, e->in, in,
				end_in_ready, e) == -1))
		fatal("epoll");
}

static void
end_move(struct end *e)
{
	bool more;

	e->up_writes = false;
	do {
		more = end_take(e);
		end_encrypt(e);
		/* Level-triggered epoll does not see what OpenSSL has read. */
		more = end_decrypt(e) || (more && e->to_up.len == 0);
		more = end_give(e) || more;
	} while (more && !e->up_eof && SSL_has_pending(e->ssl) == 1);
	if (e->up_eof && e->to_in.len == 0) {
		end_close(e);
		return;
	}
	if (e->in_eof && e->to_up.len == 0 && !e->shut) {
		e->shut = true;
		ERR_clear_error();
		(void)SSL_shutdown(e->ssl);
		(void)shutdown(e->up, SHUT_WR);
	}
	end_watch(e);
}

/* TLS is there: make the socket, and hand its other end over. */
static void
end_open(struct end *e)
{
	struct tls_link_told told = {.id = e->id};
	int pair[2];

	if ((told.nhash = tls_context_hash(e->ssl, told.hash)) == 0) {
		end_fail(e,
		    "the database's certificate has a signature for which no "
		    "channel binding is defined (RFC 5929): use an RSA or "
		    "ECDSA "
		    "one with SHA-256");
		return;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
		pair) == -1) {
		end_fail(e, "there are too many connections");
		return;
	}
	loop_timer_clear(&end_env.loop, &e->timer);
	e->state = END_OPEN;
	e->in = pair[0];
	end_tell(&told, pair[1]);
	close(pair[1]);
	end_move(e);
}

static const char *
end_reason(struct end *e)
{
	const long verified = SSL_get_verify_result(e->ssl);
	const char *text;

	if (verified != X509_V_OK && end_env.closed)
		return X509_verify_cert_error_string(verified);
	text = ERR_reason_error_string(ERR_peek_last_error());
	return text != NULL ? text : "it closed the connection";
}

static void
end_shake(struct end *e)
{
	int r;

	ERR_clear_error();
	if ((r = SSL_do_handshake(e->ssl)) == 1) {
		end_open(e);
		return;
	}
	e->up_writes = false;
	if (end_stuck(e, r)) {
		end_fail(
		    e, "there is no TLS with the database: %s", end_reason(e));
		return;
	}
	if (loop_mod(&end_env.loop, &e->up_io,
		e->up_writes ? EPOLLOUT : EPOLLIN) == -1)
		fatal("epoll");
}

static void
end_begin_tls(struct end *e)
{
	if ((e->ssl = SSL_new(end_env.ctx)) == NULL ||
	    tls_out_attach(e->ssl, &e->out, e->up) == -1) {
		end_fail(e, "no memory for a TLS connection");
		return;
	}
	SSL_set_connect_state(e->ssl);
	e->state = END_SHAKES;
	end_shake(e);
}

/* One byte answers. What is behind it is TLS's, as in clear text it is not. */
static void
end_answer(struct end *e)
{
	uint8_t c;
	const ssize_t n = recv(e->up, &c, 1, MSG_DONTWAIT);

	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n != 1)
		end_fail(e, "the database closed the connection");
	else if (c == 'S')
		end_begin_tls(e);
	else if (c == 'N')
		end_fail(e,
		    "the database does not use TLS: its postgresql.conf must "
		    "have ssl = on");
	else
		end_fail(e,
		    "the other side speaks another protocol than PostgreSQL's");
}

static void
end_up_ready(struct loop_io *io, uint32_t events)
{
	struct end *e = io->arg;

	(void)events;
	if (e->dead)
		return;
	switch (e->state) {
	case END_ASKED:
		end_answer(e);
		break;
	case END_SHAKES:
		end_shake(e);
		break;
	case END_OPEN:
		end_move(e);
		break;
	}
}

/* The other side has closed both ways: send what it had sent, and end. */
static void
end_hung_up(struct end *e)
{
	while (end_take(e))
		end_encrypt(e);
	loop_del(&end_env.loop, &e->in_io);
	close(e->in);
	e->in = -1;
	e->in_eof = true;
	end_time(e, END_LINGER_MS);
	end_move(e);
	if (!e->dead && e->to_up.len == 0)
		end_close(e);
}

static void
end_in_ready(struct loop_io *io, uint32_t events)
{
	struct end *e = io->arg;

	if (e->dead || e->in == -1)
		return;
	if (events & (EPOLLHUP | EPOLLERR))
		end_hung_up(e);
	else
		end_move(e);
}

static void
end_new(uint32_t id, int fd)
{
	const uint8_t ask[8] = {0, 0, 0, 8, 4, 210, 22, 47}; /* PG_SSL */
	const struct tls_link_told full = {
	    .id = id, .why = "there are too many connections"};
	struct end *e;

	if (end_env.n == END_MAX) {
		end_tell(&full, -1);
		close(fd);
		return;
	}
	if ((e = calloc(1, sizeof(*e))) == NULL)
		fatal("calloc");
	e->id = id;
	e->up = fd;
	e->in = e->up_io.fd = e->in_io.fd = -1;
	buf_init(&e->to_up, END_WINDOW);
	buf_init(&e->to_in, END_WINDOW);
	TAILQ_INSERT_TAIL(&end_env.ends, e, entry);
	end_env.n++;
	if (loop_add(&end_env.loop, &e->up_io, fd, EPOLLIN, end_up_ready, e) ==
	    -1)
		fatal("epoll");
	end_time(e, PGKEYD_LOGIN_MS);
	if (send(fd, ask, sizeof(ask), MSG_NOSIGNAL | MSG_DONTWAIT) !=
	    (ssize_t)sizeof(ask))
		end_fail(e, "the database closed the connection");
}

/* Take a piece of the roots, and know them all when an empty one comes. */
static void
end_take_roots(const struct tls_link_ask *ask)
{
	if (end_env.closed)
		_exit(0);
	if (ask->npem != 0) {
		buf_add(&end_env.roots, ask->pem, ask->npem);
	} else {
		tls_context_roots(end_env.ctx, buf_span(&end_env.roots));
		buf_free(&end_env.roots);
		end_env.closed = true;
	}
}

static void
end_asked(struct loop_io *io, uint32_t events)
{
	static struct tls_link_ask ask;
	ssize_t n;
	int fd;

	(void)io;
	(void)events;
	n = tls_link_receive(end_env.link, &ask, sizeof(ask), &fd);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < (ssize_t)offsetof(struct tls_link_ask, pem) ||
	    ask.npem != (size_t)n - offsetof(struct tls_link_ask, pem) ||
	    (ask.id == 0) != (fd == -1))
		_exit(0);
	if (ask.id != 0)
		end_new(ask.id, fd);
	else
		end_take_roots(&ask);
}

/* Close everything inherited except our end of the link and the log. */
static void
end_keep(int link)
{
	if (link != STDERR_FILENO + 1 &&
	    dup3(link, STDERR_FILENO + 1, O_CLOEXEC) == -1)
		fatal("link");
	if (close_range(STDERR_FILENO + 2, ~0U, 0) == -1)
		fatal("link");
	end_env.link = STDERR_FILENO + 1;
}

static void
end_reap(void *arg)
{
	struct end *e;

	(void)arg;
	while ((e = TAILQ_FIRST(&end_env.dead)) != NULL) {
		TAILQ_REMOVE(&end_env.dead, e, entry);
		buf_free(&e->to_up);
		buf_free(&e->to_in);
		freezero(e, sizeof(*e));
	}
}

void
tls_end_run(int link)
{
	struct confine_state state;

	end_keep(link);
	/* Tells it from pgkeyd, whose program it runs. */
	(void)prctl(PR_SET_NAME, TLS_END_NAME, 0, 0, 0);
	TAILQ_INIT(&end_env.ends);
	TAILQ_INIT(&end_env.dead);
	buf_init(&end_env.roots, 4U << 20);
	if (loop_init(&end_env.loop, END_MAX + 4) == -1)
		fatal("loop_init");
	end_env.loop.after = end_reap;
	end_env.ctx = tls_context_warm();
	if (confine_apply(&end_confine, &state) == -1)
		fatalx("the process that ends TLS: not confined");
	end_env.io.fd = -1;
	if (loop_add(&end_env.loop, &end_env.io, end_env.link, EPOLLIN,
		end_asked, NULL) == -1)
		fatal("epoll");
	(void)loop_run(&end_env.loop);
	_exit(1);
}
