/* SPDX-License-Identifier: ISC */
/*
 * The credential of a keyd: read from a descriptor, kept in keysets, renewed
 * or replaced.  Nothing here knows of requests: whoever waits for a credential
 * is called back.
 */
#ifndef KEYD_LOGIN_H
#define KEYD_LOGIN_H

#include "common/confine/secret.h"
#include "common/ipc/chan.h"
#include "keyd/scrub.h"
#include "provider/provider.h"

#define KEYD_MAX_LOGIN	65536U		/* bytes of a login file */
#define KEYD_TOKEN_MS	30000U		/* a token endpoint's answer */
#define KEYD_WANT_MS	90000U		/* icsupervisor's lock and file */

/*
 * A credential in use, of which nothing ever changes: the next one is another
 * keyset.  An exchange keeps the one that its head was composed with, so that
 * its answer is searched for what was sent.
 */
struct keyset {
	unsigned refs;		/* exchanges, and one while it is current */
	struct secret *mem;	/* all of it; NULL: free */
	struct span access;	/* goes into heads: the key, the token */
	struct span refresh;	/* of a login; may be empty */
	struct span adds[PROVIDER_MAX_ADDS];
	struct scrub scrub;
	uint64_t expires;	/* seconds since 1970; 0: unknown */
	uint64_t margin;	/* seconds before, when it is renewed */
	bool rejected;		/* the provider does not take it any more */
	bool signs;		/* access: a secret key, refresh: of a session,
				 * adds[0]: the key's id */
};
#define KEYD_MAX_KEYSETS 3U

/* keyd/login/credential.c */
int keyd_unlock(struct chan *, const union proto_any *, int fd);
int keyd_ask(struct chan *, const union proto_any *, int fd);
/* Returns the login in use, or NULL if a key is. */
const struct provider_login *keyd_login(void);
/* Returns true if the credential can be renewed. */
bool keyd_renews(void);
/* Report the credential's state to icsupervisor. */
void keyd_show(enum proto_key, const char *text);
void keyd_show_loaded(void);
/* The credential came back in an answer: nothing more is sent with it. */
void keyd_lock(void);
/* Wipe the credential's file, which has been read. */
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
/* Remember the request that a login begins with, for the log. */
void unsaved_begin(struct span host, struct span path);
const char *unsaved_route(void);
/* Keep the file's text until it is written; takes the memory. */
void unsaved_keep(struct secret *text, size_t len);
/* Give it away again.  Returns NULL if there is none. */
struct secret *unsaved_take(size_t *len);
/* Write it and forget it.  Returns 0, or -1 with errno set. */
int unsaved_write(int fd);
void unsaved_forget(void);

/* keyd/login/held.c: a login that would replace one that works */
/* Returns true if one waits for the user already. */
bool held_waits(void);
/*
 * Ask the user about this login and take its file out of keyd/login/unsaved.c.
 * One of the two functions is called with what the user said.  Returns 0, or
 * -1 if the login cannot be shown: then nothing was taken.
 */
int held_begin(struct keyset *, struct span account,
    void (*use)(struct keyset *), void (*denied)(const char *why));
/* The agent that asked for it is gone. */
void held_cancel(void);
int keyd_verdict(struct chan *, const union proto_any *, int fd);

/* keyd/login/token.c: the connection to a token endpoint */
/* Gets the answer's bytes, or status 0 and the reason why there is none. */
typedef void token_done(unsigned status, struct span body, const char *why);
void token_prepare(void);		/* before lock-down */
int keyd_token(struct chan *, const union proto_any *, int fd);
/*
 * Buffer for the body of a token request, or NULL if one is under way.
 * Follow with token_send_body.
 */
uint8_t *token_room(size_t *cap);
/*
 * Send the request, of which `len` bytes of body were written.  Returns 0, and
 * calls `done` once later, or -1 with *why set.
 */
int token_send_body(const struct provider_login *, bool json, size_t len,
    token_done *done, const char **why);
/* The root certificates are here. */
void token_rooted(void);
/* Return true if it was a dial for the token endpoint: then fd is taken. */
bool token_dialed(uint32_t id, int fd);
bool token_dial_failed(uint32_t id, const char *why);

/* keyd/login/secret.c */
void keyd_secret_prepare(void);		/* before lock-down */
int keyd_secret(struct chan *, const union proto_any *, int fd);

#endif
