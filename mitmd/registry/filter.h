/* SPDX-License-Identifier: ISC */
/*
 * A registry's metadata of one package, whole in memory, composed anew with
 * the versions that may be installed and nothing else.  Read token by token,
 * without a tree (body/json.h); strict: what is not the shape that is
 * expected, or names another package, is no metadata.  The registry may lie;
 * what it can gain is what the user agreed to by naming it: that it says when
 * something was published.
 */
#ifndef REGISTRY_FILTER_H
#define REGISTRY_FILTER_H

#include "body/json.h"
#include "common/buf.h"
#include "registry/rules.h"

#define REGISTRY_MAX_DOC (64U << 20) /* read, or composed */
#define REGISTRY_MAX_ENTRIES 32768U  /* versions or files of a package */
#define REGISTRY_MAX_REFUSED 16U     /* of which it is said why */

/* What the client asked for. */
enum registry_form {
	REGISTRY_FORM_NPM,          /* the full document */
	REGISTRY_FORM_NPM_SHORT,    /* what an installation needs */
	REGISTRY_FORM_PYPI_JSON,    /* PEP 691 */
	REGISTRY_FORM_PYPI_HTML,    /* PEP 503 */
	REGISTRY_FORM_PYPI_HTML_V1, /* the same, so called */
	REGISTRY_FORM_CRATES,
	REGISTRY_FORM_CRATES_CONFIG,
};

/* Out of an Accept header; p NULL: none. */
enum registry_form registry_form(enum registry, struct span accept);
/* What an answer of that form is called; what is asked for upstream. */
const char *registry_form_type(enum registry_form);
const char *registry_form_accept(enum registry_form);

#define REGISTRY_ID 16U
/* What the metadata lists, and whether it may be had. */
struct registry_entry {
	uint8_t id[REGISTRY_ID]; /* of registry_path.id */
	uint16_t days;
	uint8_t reason; /* enum registry_reason */
};

void registry_id(struct span, uint8_t dst[REGISTRY_ID]);

struct registry_refused {
	char version[REGISTRY_MAX_VERSION + 1];
	struct registry_verdict verdict;
};

/* A version, when it was published, and how the registry wrote that. */
struct registry_row {
	struct span version, text;
	int64_t when;
	bool kept;
};

struct registry_filter {
	/* in */
	const struct registry_rules *rules;
	const char *package;
	enum registry_form form;
	int64_t now;
	int64_t modified; /* all of it was there by then; 0: not known */
	uint64_t seed[2]; /* as in body/json.h */
	/* out */
	struct buf out;
	struct registry_entry *entries; /* the caller may take them */
	unsigned nentries;
	unsigned kept, gone; /* versions or files */
	struct registry_refused refused[REGISTRY_MAX_REFUSED]; /* newest */
	unsigned nrefused;
	const char *why; /* constant text */
	/* the work */
	struct span text;
	struct body_json json;
	struct registry_row *rows;
	unsigned nrows;
};

/*
 * 0 with the result; -1: it is not what it should be, see why.  The struct is
 * large: have one, all zero.  registry_filter_free gives back what it has.
 */
int registry_filter(struct registry_filter *, struct span text);
void registry_filter_free(struct registry_filter *);

/* registry/npm.c, registry/pypi.c, registry/crates.c: one form each. */
int registry_npm(struct registry_filter *);
int registry_pypi(struct registry_filter *);
int registry_crates(struct registry_filter *);
int registry_crates_config(struct registry_filter *);

/* registry/scan.c, for those */
int registry_bad(struct registry_filter *, const char *why);
/* The scanner, at the beginning of a part of the text. */
void registry_scan(struct registry_filter *, struct span);
/*
 * The next token that is a member or element of what is open, skipping the
 * comma: BODY_CLOSE at its end.
 */
enum body_token_type registry_next(
    struct registry_filter *, struct body_token *);
/* The rest of the value that t began: all of it, as written. BODY_BAD: p NULL
 */
struct span registry_value(struct registry_filter *, struct body_token *);
/* Is the name or string, as written, this text? */
bool registry_is(struct span written, const char *);
/* A string without escapes, or p NULL. */
struct span registry_plain(const struct body_token *);
/* A string or null into dst with a NUL; -1: another type, or too long. */
int registry_text(const struct body_token *, char *dst, size_t cap);
/* Judges, counts, notes it for later requests. false: not to be listed. */
bool registry_admit(struct registry_filter *, struct span id,
    struct span version, int64_t when);
/* One more row; text: of a time, or p NULL. */
int registry_row(
    struct registry_filter *, struct span version, struct span text);
/* Sorted by version, each once. */
void registry_sort(struct registry_filter *);
struct registry_row *registry_find_row(struct registry_filter *, struct span);

#endif
