/* SPDX-License-Identifier: ISC */
/*
 * The credential of a keyd: read from a descriptor, kept in keysets, renewed or
 * replaced. Nothing here knows about requests: users of a credential are called
 * back.
 */
#ifndef KEYD_LOGIN_H
#define KEYD_LOGIN_H

#include "common/confine/secret.h"
#include "common/ipc/chan.h"
#include "keyd/scrub.h"
#include "provider/provider.h"

#define KEYD_MAX_LOGIN 65536U /* bytes of a login file */
#define KEYD_TOKEN_MS 30000U  /* for a token endpoint's answer */
#define KEYD_WANT_MS 90000U   /* for icsupervisor's lock and file */

/*
 * A credential in use. It never changes: a new credential is a new keyset. A
 * transaction keeps the keyset that its head was composed with, so that its
 * answer is searched for what was sent.
 */
struct keyset {
	unsigned
	    refs; /* number of transactions, plus one while it is current */
	struct secret *mem; /* holds everything below; NULL: the slot is free */
	struct span access; /* sent in heads: the key or the token */
	struct span refresh; /* a login's; may be empty */
	struct span adds[PROVIDER_MAX_ADDS];
	struct scrub scrub;
	uint64_t expires; /* seconds since 1970; 0: unknown */
	uint64_t margin;  /* seconds before `expires` at which it is renewed */
	bool rejected;    /* the provider no longer accepts it */
	bool signs; /* `access` is a secret key, `refresh` a session token,
		       adds[0] the key's id */
};
#define KEYD_MAX_KEYSETS 3U

/* keyd/login/credential.c */
int keyd_unlock(struct chan *, const struct msg_UNLOCK *);
int keyd_lock_again(struct chan *, const struct msg_RELOCK *);
int keyd_ask(struct chan *, const struct msg_KEY_ASK *);
/* Report the age and expiry of a remote server's credential, unasked. */
void keyd_tell(void);
/* Returns the login in use, or NULL if a key is. */
const struct provider_login *keyd_login(void);
/* Returns true if the credential can be renewed. */
bool keyd_renews(void);
/* Report the credential's state to icsupervisor. */
void keyd_show(enum proto_key, const char *text);
void keyd_show_loaded(void);
/* The credential appeared in an answer: stop using it. */
void keyd_lock(void);
/* Wipe the memory into which the credential's file was read. */
void keyd_file_wipe(void);

/* keyd/login/keyset.c */
/*
 * Copy a credential; all but `adds` is searched for in answers.  Returns NULL
 * if there is no room.
 */
struct keyset *keyset_new(struct span access, struct span refresh,
    struct span more, const struct span *adds);
/* Make this the current one. */
void keyset_use(struct keyset *);
struct keyset *keyset_hold(struct keyset *);
void keyset_drop(struct keyset *);

/* keyd/login/unsaved.c: the file of a login that began in the sandbox */
/* Remember for the log which request a login began with. */
void unsaved_begin(struct span host, struct span path);
const char *unsaved_route(void);
/* Keep the file's text until it is written. Takes ownership of `text`. */
void unsaved_keep(struct secret *text, size_t len);
/* Hand the text over again. Returns NULL if there is none. */
struct secret *unsaved_take(size_t *len);
/* Write the file and drop the text. Returns 0, or -1 with errno. */
int unsaved_write(int fd);
void unsaved_forget(void);

/* keyd/login/held.c: a login that would replace one that works */
/* Returns true if a login is waiting for the user. */
bool held_waits(void);
/*
 * Ask the user about this login, and take its file from unsaved.c. One of the
 * two functions is called with the user's decision. Returns 0, or -1 if the
 * login cannot be shown; then nothing was taken.
 */
int held_begin(struct keyset *, struct span account,
    void (*use)(struct keyset *), void (*denied)(const char *why));
/* The agent that began this login is gone. */
void held_cancel(void);
#define HELD_MS 300000U /* the user's time */
/* A pending login as it is shown: the first argument has a role. */
struct held_what {
	const char *rule, *reason, *role;
	struct buf *effect;
	struct {
		const char *name;
		struct span value;
	} args[2];
};
/* Returns the id of another pending login. */
uint64_t held_id(void);
/* Send it to be shown, and write the digest. Returns 0, or -1. */
int held_send(const struct held_what *, uint64_t id, uint8_t *digest);

struct http1_head;

/* keyd/login/scope.c: a login that lacks scopes */
/* The login in use has these scopes. */
void scope_have(struct span);
/* Read the head of a 403: the server may want more (RFC 6750, section 3). */
void scope_forbidden(const struct http1_head *);
/* A verdict on that, or on a login that is held. */
int keyd_verdict(struct chan *, const struct msg_VERDICT_GO *);
int held_verdict(struct chan *, const struct msg_VERDICT_GO *);

/* keyd/login/token.c: the connection to a token endpoint */
/* Receives the complete answer, or status 0 and the reason for the failure. */
typedef void token_done(unsigned status, struct span body, const char *why);
/*
 * Allocate memory for requests and for an answer of `max` bytes behind its
 * head; before confinement.
 */
void token_prepare(size_t max);
int keyd_token(struct chan *, const struct msg_TOKEN *);
/*
 * Returns the buffer for a token request's body, or NULL if a request is in
 * flight. Follow with token_send_body().
 */
uint8_t *token_room(size_t *cap);
/*
 * Send the request, whose body has `len` bytes. Returns 0, and later calls
 * `done` once; or -1 with `*why` set.
 */
int token_send_body(const struct provider_login *, bool json, size_t len,
    token_done *done, const char **why);
/* Further requests over TLS, by programs that have no login in use. */
#define TOKEN_FORM "application/x-www-form-urlencoded"
struct token_how {
	const char *type;          /* the body's; NULL: none, it is a GET */
	const char *accept;        /* NULL: JSON */
	struct span authorization; /* or empty */
	bool head_only;            /* the answer is complete with its head */
	const struct provider_login *login; /* has headers to add; or NULL */
};
int token_send(
    const struct token_how *, size_t len, token_done *done, const char **why);
/*
 * The next requests go there, by dialerd's target `which`. Returns 0, or -1 if
 * that is impossible or a request is in flight.
 */
int token_place(
    struct span host, uint16_t port, struct span path, unsigned which);
/* Returns true if requests go to this address, which has its port. */
bool token_is_at(struct span url);
/* Returns the answer's head, within `done` and if the status is not 0. */
struct span token_answer_head(void);
/* token_alone.c: messages to such a program */
int token_on_roots(struct chan *, const struct msg_ROOTS *);
int token_on_dialed(struct chan *, const struct msg_DIALED *, int fd);
int token_on_dial_fail(struct chan *, const struct msg_DIAL_FAIL *);
/* The root certificates have arrived. */
void token_rooted(void);
/* Returns true if the dial was for the token endpoint; then `fd` is taken. */
bool token_dialed(uint32_t id, int fd);
bool token_dial_failed(uint32_t id, const char *why);

/* keyd/login/secret.c */
void keyd_secret_prepare(void); /* before confinement */
int keyd_secret(struct chan *, const struct msg_SECRET *, int fd);

#endif
