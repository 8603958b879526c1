/* SPDX-License-Identifier: ISC */
/*
 * Internals of pgkeyd. A login is a connection that auditd has recorded: pgkeyd
 * has dialerd make it, logs in, looks at what the role may do, and hands it to
 * egressd. A cancel is a connection that only carries the key of an earlier
 * one.
 *
 * From the bottom: message.c and scram.c know no connection; secret.c has the
 * password; handed.c has the keys of connections that were handed on; roles.c
 * says what a role may not be able to do; login.c stands on all of them, and
 * serve.c on top.
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
	bool superuser;                 /* the user may be one */
	struct secret *password, *next; /* `next` is being read */
	struct secret *kept;            /* a struct scram_kept */
	int key_fd;
	struct loop_io key_io;
	bool loaded;
	uint64_t loaded_at, used_at, requests;
	struct logins logins, dead;
	unsigned nlogins;
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

/* login.c */
int login_begin(struct chan *, const struct msg_LOGIN_GO *);
int login_dialed(struct chan *, const struct msg_DIALED *, int fd);
int login_dial_fail(struct chan *, const struct msg_DIAL_FAIL *);
void login_reap(void);

#endif
