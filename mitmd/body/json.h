/* SPDX-License-Identifier: ISC */
/*
 * Strict JSON over a complete text, token by token: no tree, no recursion, no
 * allocation. It refuses what common/json/json.h refuses (duplicate member
 * names after unescaping, lone surrogates, ill-formed UTF-8, excessive depth),
 * so that any later reader of the same bytes, lenient or not, reads the same. A
 * scanner is large: allocate it once and prepare it with body_json_begin().
 */
#ifndef BODY_JSON_H
#define BODY_JSON_H

#include "common/span.h"

#define BODY_MAX_DEPTH 128U
#define BODY_MAX_KEYS 32768U /* in all open objects together */
#define BODY_MAX_KEY 4096U   /* bytes, as written */
#define BODY_BUCKETS 16384U

enum body_token_type {
	BODY_OBJECT, /* opens */
	BODY_ARRAY,
	BODY_CLOSE,
	BODY_STRING, /* without quotes, escapes as written */
	BODY_ATOM,   /* number, true, false, null */
	BODY_COMMA,
	BODY_DONE,
	BODY_BAD, /* see json->why and json->at */
};

struct body_token {
	enum body_token_type type;
	struct span key;   /* as written; p is NULL outside objects */
	struct span value; /* text of a string or atom */
	size_t from;       /* offset of the member or element */
	size_t start;      /* offset of its value */
	size_t end;        /* after the token */
};

struct body_key {
	uint32_t off, len;
	uint32_t hash;
	uint32_t next; /* index in its bucket plus 1 */
	uint16_t depth;
};

struct body_json {
	const uint8_t *base, *p, *end;
	const char *why; /* constant text */
	size_t at;
	unsigned depth;
	unsigned want;
	bool object[BODY_MAX_DEPTH];
	uint32_t first[BODY_MAX_DEPTH]; /* index of its first key */
	struct span key;
	size_t from;
	uint64_t seed[2];
	uint32_t nkeys;
	struct body_key keys[BODY_MAX_KEYS];
	uint32_t bucket[BODY_BUCKETS];
};

/*
 * Begin to read a text, which is under 4 GiB. Before its first text, the
 * structure is all zero. `seed` is random, so that no body can provoke hash
 * collisions.
 */
void body_json_begin(struct body_json *, struct span, const uint64_t seed[2]);
enum body_token_type body_json_next(struct body_json *, struct body_token *);

/*
 * Unescape a string that body_json_next() returned into dst[cap]. Returns the
 * number of bytes, or -1 if it does not fit.
 */
int body_json_unescape(struct span, uint8_t *dst, size_t cap);
/*
 * body/escape.c: Decode the escape whose backslash is at `p` into `*cp`.
 * Returns its length, or 0.
 */
size_t body_json_escape(const uint8_t *p, const uint8_t *end, uint32_t *cp);

/* Shared by body/json.c and body/keys.c. */
int body_json_fail(struct body_json *, const char *why, const uint8_t *at);
int body_keys_add(struct body_json *, struct span key);
void body_keys_drop(struct body_json *, uint32_t first);

#endif
