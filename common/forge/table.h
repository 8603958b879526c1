/* SPDX-License-Identifier: ISC */
/*
 * The tables of each forge, which tables.py makes out of github.api, gitlab.api
 * and gitea.api: the types and edges of GraphQL that may be asked for, the
 * mutations with their closed inputs, the routes of REST, and the sentences.
 * They are data and constant; private to this folder and to its tests.
 */
#ifndef FORGE_TABLE_H
#define FORGE_TABLE_H

#include "common/forge/tree.h"

/* The form of a value. */
enum forge_form {
	FORGE_STRING,
	FORGE_INT,
	FORGE_BOOL,
	FORGE_ID,
	FORGE_ENUM,
	FORGE_INPUT,
};

/* How a value is treated. */
enum forge_role {
	FORGE_PLAIN,
	FORGE_TEXT,	/* markup, which may act by itself */
	FORGE_NAME,	/* a branch, a tag or a login: shown without quotes */
	FORGE_REF,	/* names a thing, see `is` */
	FORGE_LOGIN,	/* the login of a person, a bot or a team */
	FORGE_OWNER,	/* the owner of a listed repository */
	FORGE_REPO,	/* the name that belongs to the member `owner` */
	FORGE_SEARCH,	/* a search, which has to be bound */
	FORGE_FIXED,	/* always the word that `words` has */
	FORGE_NONE,	/* always null */
};

/* An argument, a member of an input, or a member of a REST body. */
struct forge_member {
	const char *name;
	enum forge_form form;
	enum forge_role role;
	bool list;
	bool required;
	uint32_t is;			/* FORGE_REF: FORGE_IS_* */
	const char *named;		/* its type's name in GraphQL */
	const char *const *words;	/* FORGE_ENUM: ends with NULL */
	const struct forge_member *members;	/* FORGE_INPUT: ends with one */
};						/* that has no name */

/* A step of a GraphQL query: a field of a type, and the type it leads to. */
struct forge_edge {
	const char *name;
	const struct forge_member *args;	/* ends with one without a name */
	const struct forge_type *to;		/* NULL: a scalar */
};

struct forge_type {
	const char *name;	/* in GraphQL */
	const struct forge_edge *edges;		/* ends with one without name */
	const struct forge_type *const *parts;	/* "... on": ends with NULL */
	const char *const *unsent;	/* may be asked for; ends with NULL */
};

struct forge_field {
	const char *name;
	const char *input;	/* the type of its argument `input` */
	enum forge_class class;
	const struct forge_member *members;
	const struct forge_type *payload;
	const char *say;
};

/* How one part of a path is read. */
enum forge_part_kind {
	FORGE_PART_WORD,	/* exactly `name` */
	FORGE_PART_OWNER,	/* with the next part, a listed repository */
	FORGE_PART_REPO,
	FORGE_PART_PROJECT,	/* both in one, with %2F between them */
	FORGE_PART_NUMBER,	/* digits */
	FORGE_PART_TEXT,	/* a label */
	FORGE_PART_REF,		/* a tag, a branch, a commit, or two of them */
	FORGE_PART_REST,	/* one or more parts: the path of a file */
	FORGE_PART_SUFFIX,	/* digits, and `suffix` after them */
};

struct forge_part {
	enum forge_part_kind kind;
	const char *name;
	const char *suffix;
};

#define FORGE_ROUTE_FOLLOW	0x1U
#define FORGE_ROUTE_CUT		0x2U	/* members named in `cuts` are cut */
#define FORGE_ROUTE_KEEP	0x4U	/* all others than `keeps` are cut */
#define FORGE_ROUTE_RAW		0x8U	/* Accept may ask for other types */

struct forge_route {
	const char *name;
	const char *method;
	const struct forge_part *parts;		/* ends with one without name */
	enum forge_class class;
	unsigned flags;
	const struct forge_member *path;	/* references in the path */
	const struct forge_member *query;
	const struct forge_member *body;	/* NULL: none is permitted */
	const char *say;
};

/* Paths and mutations that nothing permits, for the text of the refusal. */
struct forge_never {
	const char *path;	/* parts; "*" is one part, "**" are any */
	const char *method;	/* NULL: all but GET and HEAD; "*": all */
	const char *why;
};

struct forge_table {
	const struct forge_type *query;		/* NULL: no GraphQL */
	const struct forge_field *mutations;
	const struct forge_route *routes;
	const struct forge_never *never;
	const char *const *cuts;	/* members of answers */
	const char *const *keeps;
	const char *const *follow;	/* hosts; "*.x" is any below x */
	const char *const *accepts;
};

const struct forge_table *forge_table(enum forge_kind);

/* Find a member by its name, or return NULL. */
const struct forge_member *forge_member_find(
    const struct forge_member *, struct span name);

/* Write why a request is refused. Always returns -1. */
int forge_refuse(struct forge_fail *, const char *, ...)
    __attribute__((format(printf, 2, 3)));
/* Read the body of a request as JSON. NULL after a refusal. */
const struct value *forge_body_read(
    struct value_pool *, struct span body, struct forge_fail *);
/* Make at most 60 bytes of a hostile text printable, for forge_refuse(). */
#define FORGE_BRIEF 128U
const char *forge_brief(struct span, char out[FORGE_BRIEF]);

#endif
