/* SPDX-License-Identifier: ISC */
/*
 * keyd's part of OAuth (RFC 6749): the login files of vendors' programs, the
 * request that renews a login, and its answer. All are pure functions over
 * spans in secret memory; nothing is copied out of it. The file's layout is the
 * vendor's: a new file differs from the old one only in tokens and times, byte
 * for byte. The answer comes from the network and may be hostile.
 */
#ifndef KEYD_OAUTH_H
#define KEYD_OAUTH_H

#include "common/sink.h"
#include "provider/provider.h"

#define OAUTH_MAX_FILE 65536U
#define OAUTH_MAX_TOKEN 4096U  /* same limit as for any credential */
#define OAUTH_MAX_ADD 256U     /* value of a header taken from the file */
#define OAUTH_MAX_CLIENT 2048U /* a client's id, or a resource */
#define OAUTH_MAX_SCOPES 4096U
#define OAUTH_MAX_ANSWER 16384U
#define OAUTH_PARTS 16U

/* Spans into the text of the file. */
struct oauth_file {
	struct span access, refresh;    /* either may be empty */
	struct span client, secret;     /* the vendor's program; may be empty */
	struct span resource, endpoint; /* may be empty */
	struct span scopes;             /* that it has; may be empty */
	bool basic; /* the client proves itself in a header */
	bool ended; /* the refresh token was refused */
	struct span adds[PROVIDER_MAX_ADDS]; /* for headers with a `member` */
	uint64_t expires; /* seconds since 1970; 0: unknown */
	/* The JSON texts to replace, without quotes; p NULL: absent. */
	struct span expires_at, id_at, renewed_at, ended_at;
};

/* Spans into the text of the answer. */
struct oauth_answer {
	struct span access;
	struct span refresh; /* empty: the old one stays valid */
	struct span id;      /* empty: none */
	uint64_t lifetime;   /* seconds; 0: unknown */
};

/*
 * Parse a login file or an answer. Returns 0, or -1 with `*why`, a constant
 * text that names the mistake.
 */
int oauth_parse_file(const struct provider_login *, struct span text,
    struct oauth_file *, const char **why);
int oauth_parse_answer(
    struct span text, struct oauth_answer *, const char **why);
/*
 * Decode the claims of a JWT. Returns 0, or -1 if it is not a JWT or does not
 * fit.
 */
int oauth_jwt_claims(struct span token, uint8_t *dst, size_t cap, size_t *len);
/* Returns "exp" of a JWT, or 0 if there is none. */
uint64_t oauth_jwt_expires(struct span token);

enum oauth_verdict {
	OAUTH_GOOD,
	OAUTH_LATER,   /* a failure of the endpoint */
	OAUTH_REFUSED, /* this login has ended: a person must log in */
};

/* Judge the endpoint's status alone. */
enum oauth_verdict oauth_verdict(unsigned status);

/*
 * Returns true if an answer says that the refresh token is good for nothing any
 * more (RFC 6749 section 5.2).
 */
bool oauth_is_over(struct span text);

/*
 * Write the request's body with the refresh token, client and secret of the
 * file. Returns 0, or -1 with ENOBUFS.
 */
int oauth_compose(const struct provider_login *, const struct oauth_file *,
    uint8_t *dst, size_t cap, size_t *len);

/*
 * Write the value of Authorization for client_secret_basic (RFC 6749 section
 * 2.3.1). Returns 0, or -1 with ENOBUFS.
 */
int oauth_basic(struct span client, struct span secret, uint8_t *dst,
    size_t cap, size_t *len);

/*
 * Returns true if a login's resource is the server with this host, port, path
 * (without slashes at its end) and query.
 */
bool oauth_is_resource(struct span resource, const char *host, uint16_t port,
    struct span path, struct span query);

struct oauth_new {
	struct span access, refresh, id; /* id may be empty */
	uint64_t expires, now;           /* seconds; expires 0: unknown */
};

/*
 * Describe the new file as parts of the old one and of `*n`; `numbers` is
 * memory for the times. Returns the number of parts.
 */
size_t oauth_splice(const struct provider_login *, const struct oauth_file *,
    struct span text, const struct oauth_new *n, char numbers[64],
    struct span parts[OAUTH_PARTS]);

/*
 * Describe the same file with the note that its login has ended, at `now` in
 * seconds. Returns the number of parts, or 0 if the file has no room for it.
 */
size_t oauth_splice_ended(const struct oauth_file *, struct span text,
    uint64_t now, char number[32], struct span parts[OAUTH_PARTS]);

/*
 * The next step for a login file that was read under the lock. The same file
 * serves other sessions and the vendor's program, and each of them may have
 * renewed it meanwhile.
 */
enum oauth_step {
	OAUTH_STORE,  /* write the tokens in use to the file */
	OAUTH_ADOPT,  /* another session renewed it: use its tokens */
	OAUTH_KEEP,   /* the tokens in use are in the file, and valid */
	OAUTH_RENEW,  /* request new tokens */
	OAUTH_GIVE_UP /* the refresh token is spent or missing */
};

struct oauth_have {
	bool bare;            /* login files without a token */
	struct span access;   /* the token in use */
	bool rejected;        /* the provider answered 401 to it */
	struct span spent;    /* the refresh token that it was obtained with */
	struct span dead;     /* the refresh token that was refused */
	uint64_t now, margin; /* seconds */
};

enum oauth_step oauth_next(
    const struct oauth_have *, const struct oauth_file *);
/*
 * Returns true for ASCII that needs no escape in JSON or a header; spaces are
 * permitted.
 */
bool oauth_is_text(struct span, size_t max);
/* The same, without spaces. */
bool oauth_is_token(struct span, size_t max);

/* Append a field to a form; a space becomes %20. */
void oauth_put_form(struct sink *, const char *name, struct span value);
/* Append a member, after { if it is the first; the value needs no escape. */
void oauth_put_json(struct sink *, const char *name, struct span value);
/*
 * Returns how many seconds before its end a token of this lifetime is renewed.
 */
uint64_t oauth_margin(uint64_t lifetime);

#endif
