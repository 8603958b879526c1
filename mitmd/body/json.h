/* SPDX-License-Identifier: ISC */
/*
 * Strict JSON over bytes that are all there, token by token: no tree, no
 * recursion, no allocation.  Refused are what json.h refuses (a member name
 * twice after unescaping, lone surrogates, ill-formed UTF-8, depth), so that
 * whoever reads the same bytes after us, leniently or not, reads the same.
 * A scanner is large and made once; body_json_begin makes it ready.
 */
#ifndef BODY_JSON_H
#define BODY_JSON_H

#include "common/span.h"

#define BODY_MAX_DEPTH 128U
#define BODY_MAX_KEYS 32768U /* of all objects that are open */
#define BODY_MAX_KEY 4096U   /* bytes, as written */
#define BODY_BUCKETS 16384U

enum body_token_type {
	BODY_OBJECT, /* opens */
	BODY_ARRAY,
	BODY_CLOSE,
	BODY_STRING, /* without its quotes, escapes as written */
	BODY_ATOM,   /* number, true, false, null */
	BODY_COMMA,
	BODY_DONE,
	BODY_BAD, /* json->why, json->at */
};

struct body_token {
	enum body_token_type type;
	struct span key;   /* as written; p NULL: no member of an object */
	struct span value; /* of strings and atoms */
	size_t from;       /* where the member or element begins */
	size_t start;      /* where its value does */
	size_t end;        /* after the token */
};

struct body_key {
	uint32_t off, len;
	uint32_t hash;
	uint32_t next; /* in its bucket, + 1 */
	uint16_t depth;
};

struct body_json {
	const uint8_t *base, *p, *end;
	const char *why; /* constant text */
	size_t at;
	unsigned depth;
	unsigned want;
	bool object[BODY_MAX_DEPTH];
	uint32_t first[BODY_MAX_DEPTH]; /* of its keys */
	struct span key;
	size_t from;
	uint64_t seed[2];
	uint32_t nkeys;
	struct body_key keys[BODY_MAX_KEYS];
	uint32_t bucket[BODY_BUCKETS];
};

/* seed: random, so that no body makes names collide. Text < 4 GiB. */
void body_json_begin(struct body_json *, struct span, const uint64_t seed[2]);
enum body_token_type body_json_next(struct body_json *, struct body_token *);

/*
 * The text of a string as written into dst[cap]; bytes, or -1 when it does
 * not fit. The string was read by body_json_next.
 */
int body_json_unescape(struct span, uint8_t *dst, size_t cap);
/* body/escape.c, for body/json.c. The escape whose backslash is at p: its
 * length, or 0; *cp: the character. */
size_t body_json_escape(const uint8_t *p, const uint8_t *end, uint32_t *cp);

/* body/json.c's and body/keys.c's own. */
int body_json_fail(struct body_json *, const char *why, const uint8_t *at);
int body_keys_add(struct body_json *, struct span key);
void body_keys_drop(struct body_json *, uint32_t first);

#endif
