/* SPDX-License-Identifier: ISC */
/*
 * Rewrites a registry's metadata of one package, whole in memory, with only the
 * versions that may be installed. The text is read token by token, without a
 * tree (body/json.h), and strictly: metadata of another shape or for another
 * package is refused. The registry may lie, but only about what the user trusts
 * it for by naming it: when something was published.
 */
#ifndef REGISTRY_FILTER_H
#define REGISTRY_FILTER_H

#include "body/json.h"
#include "common/buf.h"
#include "registry/rules.h"

#define REGISTRY_MAX_DOC (64U << 20) /* bytes read, or written */
#define REGISTRY_MAX_ENTRIES 32768U  /* versions or files of a package */
#define REGISTRY_MAX_REFUSED 16U     /* refused versions with a reason */

/* The form that the client asked for. */
enum registry_form {
	REGISTRY_FORM_NPM,          /* the full document */
	REGISTRY_FORM_NPM_SHORT,    /* only what an installation needs */
	REGISTRY_FORM_PYPI_JSON,    /* PEP 691 */
	REGISTRY_FORM_PYPI_HTML,    /* PEP 503 */
	REGISTRY_FORM_PYPI_HTML_V1, /* the same under its versioned type */
	REGISTRY_FORM_CRATES,
	REGISTRY_FORM_CRATES_CONFIG,
};

/* Returns the form for an Accept header; p NULL: none. */
enum registry_form registry_form(enum registry, struct span accept);
/*
 * Returns the Content-Type of an answer in this form, and the Accept to send to
 * the registry.
 */
const char *registry_form_type(enum registry_form);
const char *registry_form_accept(enum registry_form);

#define REGISTRY_ID 16U
/* A version or file in the metadata, and the verdict about it. */
struct registry_entry {
	uint8_t id[REGISTRY_ID]; /* hash of registry_path.id */
	uint16_t days;
	uint8_t reason; /* enum registry_reason */
};

void registry_id(struct span, uint8_t dst[REGISTRY_ID]);

struct registry_refused {
	char version[REGISTRY_MAX_VERSION + 1];
	struct registry_verdict verdict;
};

/*
 * A version and its time of publication, parsed and as the registry wrote it.
 */
struct registry_row {
	struct span version, text;
	int64_t when;
	bool kept;
};

struct registry_filter {
	/* input */
	const struct registry_rules *rules;
	const char *package;
	enum registry_form form;
	int64_t now;
	int64_t modified; /* the file's modification time; 0: unknown */
	uint64_t seed[2]; /* as in body/json.h */
	/* output */
	struct buf out;
	struct registry_entry *entries; /* the caller may take ownership */
	unsigned nentries;
	unsigned kept, gone; /* versions or files */
	struct registry_refused refused[REGISTRY_MAX_REFUSED]; /* the newest */
	unsigned nrefused;
	const char *why; /* constant text */
	/* internals */
	struct span text;
	struct body_json json;
	struct registry_row *rows;
	unsigned nrows;
};

/*
 * Filter the text. Returns 0, or -1 with `why` if it is not valid metadata. The
 * struct is large: allocate it once, zeroed, and release its memory with
 * registry_filter_free().
 */
int registry_filter(struct registry_filter *, struct span text);
void registry_filter_free(struct registry_filter *);

/*
 * registry/npm.c, registry/pypi.c, registry/crates.c: the filter of each form.
 */
int registry_npm(struct registry_filter *);
int registry_pypi(struct registry_filter *);
int registry_crates(struct registry_filter *);
int registry_crates_config(struct registry_filter *);

/* registry/scan.c: shared by these filters. */
int registry_bad(struct registry_filter *, const char *why);
/* Start the scanner at the beginning of a part of the text. */
void registry_scan(struct registry_filter *, struct span);
/*
 * Returns the next member or element of the open container, skipping the comma,
 * or BODY_CLOSE at its end.
 */
enum body_token_type registry_next(
    struct registry_filter *, struct body_token *);
/* Returns the whole value that `t` began, as written; p is NULL on BODY_BAD. */
struct span registry_value(struct registry_filter *, struct body_token *);
/* Returns true if the name or string, as written, is this text. */
bool registry_is(struct span written, const char *);
/* Returns a string without escapes, or p NULL. */
struct span registry_plain(const struct body_token *);
/*
 * Copy a string or null into dst[cap] with a NUL. Returns 0, or -1 if it has
 * another type or is too long.
 */
int registry_text(const struct body_token *, char *dst, size_t cap);
/*
 * Judge a version or file, count it, and record the verdict for later requests.
 * Returns false if it must not be listed.
 */
bool registry_admit(struct registry_filter *, struct span id,
    struct span version, int64_t when);
/* Add a row. `text` is its time of publication, or p NULL. */
int registry_row(
    struct registry_filter *, struct span version, struct span text);
/* Sort the rows by version and drop duplicates. */
void registry_sort(struct registry_filter *);
struct registry_row *registry_find_row(struct registry_filter *, struct span);

#endif
