/* SPDX-License-Identifier: ISC */
/*
 * Internals of pgkeyd. A login is a connection that auditd has recorded: pgkeyd
 * has dialerd make it, logs in, looks at what the role may do, and hands it to
 * egressd. A cancel is a connection that only carries the key of an earlier
 * one.
 *
 * With TLS, a process that was forked before pgkeyd had anything ends it:
 * pgkeyd gives it the connection, and gets a socket that carries what is
 * inside, with the hash of the server's certificate. That process never has the
 * password, and pgkeyd never a key of TLS; the socket is what is handed on.
 *
 * From the bottom: message.c and scram.c know no connection; tls_link.c passes
 * connections between the two processes, and tls_end.c, with tls_context.c, is
 * the other one; secret.c has the password; handed.c has the keys of
 * connections that were handed on; roles.c says what a role may not be able to
 * do; tls.c asks the other process; auth.c and login.c stand on all of them,
 * and serve.c on top.
 */
#ifndef PGKEYD_H
#define PGKEYD_H

#include <sys/queue.h>

#include "common/buf.h"
#include "common/confine/secret.h"
#include "common/ipc/worker.h"
#include "pgkeyd/message.h"
#include "pgkeyd/scram.h"
#include "wire/pg.h"

#define PGKEYD_MAX_LOGINS 64U /* at once, of connections being made */
#define PGKEYD_MAX_HANDED 1024U
#define PGKEYD_MAX_PASSWORD 512U
#define PGKEYD_LOGIN_MS 15000U
#define PGKEYD_MAX_BYTES (64U << 10) /* from the server, before it is ready */
#define PGKEYD_MAX_OUT 2048U
/* Names and values, with a NUL each. */
#define PGKEYD_MAX_PARAMETERS PROTO_MAX_LOGIN_STATUS

enum login_state {
	LOGIN_DIAL,   /* dialerd connects */
	LOGIN_TLS,    /* the other process makes TLS of it */
	LOGIN_BEGUN,  /* the StartupMessage is sent */
	LOGIN_PROOF,  /* SCRAM: the first message is sent */
	LOGIN_VERIFY, /* SCRAM: the proof is sent */
	LOGIN_PROVEN, /* the server has proven itself, too */
	LOGIN_TOLD,   /* logged in: the server describes itself */
	LOGIN_ROLES,  /* it was asked about the role */
	LOGIN_CANCEL, /* the key is sent: until the server closes */
};

struct login {
	TAILQ_ENTRY(login) entry;
	enum login_state state;
	uint32_t id;     /* egressd's */
	uint32_t dial;   /* pgkeyd's, for dialerd */
	uint32_t cancel; /* the connection whose query is cancelled, or 0 */
	char values[PG_PARAMETERS][PROTO_MAX_LOGIN + 1];
	int fd; /* -1: not connected */
	struct loop_io io;
	struct loop_timer timer;
	uint8_t in[MESSAGE_MAX];
	size_t nin, bytes;
	uint8_t bound[SCRAM_MAX_BOUND]; /* the hash of the certificate */
	size_t nbound;
	struct scram scram;
	struct buf parameters;
	uint32_t pid;
	uint8_t key[4];
	bool keyed; /* BackendKeyData has come */
	bool dead;
};
TAILQ_HEAD(logins, login);

struct pgkeyd_env {
	struct worker w;
	char user[PROTO_MAX_LOGIN + 1], database[PROTO_MAX_LOGIN + 1];
	bool superuser; /* the user may be one */
	bool tls, ca;   /* use TLS; the server's roots are named */
	struct secret *password, *next; /* `next` is being read */
	struct secret *kept;            /* a struct scram_kept */
	int key_fd;
	struct loop_io key_io;
	bool loaded;
	uint64_t loaded_at, used_at, requests;
	struct logins logins, dead;
	unsigned nlogins;
	/* tls.c calls these of login.c. */
	void (*secured)(uint32_t dial, struct span bound, int fd);
	void (*insecure)(uint32_t dial, const char *why);
	uint32_t last; /* the highest id of egressd's */
	uint32_t dial;
};

extern struct pgkeyd_env pgkeyd_env;

/* serve.c */
void pgkeyd_serve(void) __attribute__((noreturn));

/* secret.c */
void pgkeyd_secret_prepare(void); /* before lock-down */
int pgkeyd_secret(struct chan *, const struct msg_SECRET *, int fd);
struct scram_kept *pgkeyd_kept(void);

/* handed.c: The keys with which queries are cancelled. */
void handed_add(uint32_t id, uint32_t pid, const uint8_t key[4]);
/* Returns true if that connection was handed on, and composes CancelRequest. */
bool handed_cancel(uint32_t id, struct buf *out);

/* roles.c: The question that a database is asked about its own user. */
extern const char roles_query[];

/* logins.c */
struct login *login_find(uint32_t dial, enum login_state);
void logins_end(struct login *);
void login_tell(uint32_t id, const char *why);
/* Tell the client why there is no connection, and end the login. */
void login_fail(struct login *, const char *, ...)
    __attribute__((format(printf, 2, 3)));
/* Send what is small enough for a fresh connection to take at once. */
void login_send(struct login *, struct buf *);
void login_reap(void);

/* tls.c: Before confinement, fork the process that ends TLS. */
void tls_fork(void);
int tls_take_roots(struct chan *, const struct msg_ROOTS *);
/* At the start: let it end if there is no TLS. */
void tls_start(void);
/* Make TLS of the connection, which is taken: secured() or insecure() is
 * called. */
void tls_ask(struct login *, int fd);

/* auth.c: An authentication request, and an error instead of one. */
void login_auth(struct login *, struct span body);
void login_error(struct login *, struct span body);

/* login.c */
/*
 * TLS is there: `fd` is taken; `bound` is the hash of the certificate, of at
 * most SCRAM_MAX_BOUND bytes.
 */
void login_secured(uint32_t dial, struct span bound, int fd);
void login_insecure(uint32_t dial, const char *why);
int login_begin(struct chan *, const struct msg_LOGIN_GO *);
int login_dialed(struct chan *, const struct msg_DIALED *, int fd);
int login_dial_fail(struct chan *, const struct msg_DIAL_FAIL *);

#endif
