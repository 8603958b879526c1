/* SPDX-License-Identifier: ISC */
/*
 * What keyd knows of OAuth (RFC 6749): login files of vendors' programs, the
 * request that renews one, its answer.  Pure functions over spans in secret
 * memory: nothing is copied out of it.  A file is ours to read, not to lay
 * out: of a new one only the tokens and times differ from the old one, byte
 * for byte.  The answer comes from the network and may be anything.
 */
#ifndef KEYD_OAUTH_H
#define KEYD_OAUTH_H

#include "common/sink.h"
#include "provider/provider.h"

#define OAUTH_MAX_FILE 65536U
#define OAUTH_MAX_TOKEN 4096U /* as of any credential */
#define OAUTH_MAX_ADD 256U    /* value of a header out of the file */
#define OAUTH_MAX_ANSWER 16384U
#define OAUTH_PARTS 16U

/* Spans into the file's text. */
struct oauth_file {
	struct span access, refresh; /* either may be empty */
	struct span client, secret;  /* of the program; empty: it has none */
	struct span adds[PROVIDER_MAX_ADDS]; /* of those with a member */
	uint64_t expires; /* seconds since 1970; 0: unknown */
	/* Where new values go: the JSON texts, without quotes; or p NULL. */
	struct span expires_at, id_at, renewed_at;
};

/* Spans into the answer's text. */
struct oauth_answer {
	struct span access;
	struct span refresh; /* empty: the old one stays */
	struct span id;	     /* empty: none */
	uint64_t lifetime;   /* seconds; 0: it does not say */
};

/* -1: *why is constant text that names what is wrong. */
int oauth_parse_file(const struct provider_login *, struct span text,
    struct oauth_file *, const char **why);
int oauth_parse_answer(
    struct span text, struct oauth_answer *, const char **why);
/* A JWT's claims, decoded. -1: it is none, or does not fit. */
int oauth_jwt_claims(struct span token, uint8_t *dst, size_t cap, size_t *len);
/* "exp" of a JWT; 0 when there is none. */
uint64_t oauth_jwt_expires(struct span token);

enum oauth_verdict {
	OAUTH_GOOD,
	OAUTH_LATER,   /* the endpoint's own trouble */
	OAUTH_REFUSED, /* this login is over: a person must log in */
};

/* Of the endpoint's status alone; what it says besides is not believed. */
enum oauth_verdict oauth_verdict(unsigned status);

/* The request's body: refresh, client and secret of the file. -1 ENOBUFS. */
int oauth_compose(const struct provider_login *, const struct oauth_file *,
    uint8_t *dst, size_t cap, size_t *len);

struct oauth_new {
	struct span access, refresh, id; /* id may be empty */
	uint64_t expires, now;		 /* seconds; expires 0: unknown */
};

/*
 * The new file as parts of the old one and of *n; numbers: memory for the
 * times. How many.
 */
size_t oauth_splice(const struct provider_login *, const struct oauth_file *,
    struct span text, const struct oauth_new *n, char numbers[64],
    struct span parts[OAUTH_PARTS]);

/*
 * What to do with a login file that was read under the lock.  The same file
 * serves other sessions and the vendor's program, each of which may have
 * renewed it since we last looked.
 */
enum oauth_step {
	OAUTH_STORE,  /* ours is its successor */
	OAUTH_ADOPT,  /* somebody renewed it: theirs is ours now */
	OAUTH_KEEP,   /* it is what we have, and good */
	OAUTH_RENEW,  /* ask for a new one */
	OAUTH_GIVE_UP /* its refresh token is spent or missing */
};

struct oauth_have {
	bool bare;		    /* files of this login hold no token */
	struct span access;	    /* in use */
	bool rejected;		    /* the provider said 401 to it */
	struct span spent;	    /* refresh token that it was made of */
	struct span dead;	    /* refresh token that was refused */
	uint64_t now, margin;	    /* seconds */
};

enum oauth_step oauth_next(
    const struct oauth_have *, const struct oauth_file *);
/* ASCII that JSON and a header can hold as it is, spaces included. */
bool oauth_is_text(struct span, size_t max);
/* The same without them. */
bool oauth_is_token(struct span, size_t max);

/* One more field of a form; a space becomes %20. */
void oauth_put_form(struct sink *, const char *name, struct span value);
/* One more member, or with { the first; the value needs no escape. */
void oauth_put_json(struct sink *, const char *name, struct span value);
/* Seconds before its end at which a token of this lifetime is renewed. */
uint64_t oauth_margin(uint64_t lifetime);

#endif
