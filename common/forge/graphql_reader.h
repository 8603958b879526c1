/* SPDX-License-Identifier: ISC */
/* The reader of GraphQL; shared by graphql*.c alone. */
#ifndef FORGE_GRAPHQL_READER_H
#define FORGE_GRAPHQL_READER_H

#include "common/forge/forge_priv.h"
#include "common/forge/lex.h"

#define GRAPHQL_MAX_DEPTH 20U
#define GRAPHQL_MAX_FIELDS 2000U
#define GRAPHQL_MAX_VALUES 4000U /* in arguments and variables */
#define GRAPHQL_MAX_NESTED 12U   /* levels in a value */
#define GRAPHQL_MAX_FRAGMENTS 64U
#define GRAPHQL_MAX_VARIABLES 128U
#define GRAPHQL_MAX_STEPS 200000U /* words read, fragments put in place */

struct fragment {
	struct span name, on;
	uint32_t body; /* the token "{" */
	bool open;     /* being put in place */
	bool used;
};

struct variable {
	struct span name;
	const struct value *value; /* NULL: none was given */
};

struct reader {
	struct value_pool *pool;
	struct forge_fail *fail;
	const struct forge_type *query;
	struct lex lex;
	uint32_t at; /* the next token */
	uint32_t steps;
	struct fragment fragments[GRAPHQL_MAX_FRAGMENTS];
	size_t nfragments;
	struct variable variables[GRAPHQL_MAX_VARIABLES];
	size_t nvariables;
	const struct value *given; /* the JSON member `variables` */
	struct span operation;     /* its name */
	bool found, mutation;
	uint32_t definitions; /* the token "(", or the body */
	uint32_t body;
	unsigned fields, values;
};

/* graphql_token.c */
/* Refuse the document, with the place of the next token. Returns -1. */
int graphql_fail(struct reader *, const char *why);
/* Returns the text of the next token. */
struct span graphql_text(const struct reader *);
/* Returns true if the next token is this punctuator, or of this kind. */
bool graphql_is(const struct reader *, char);
bool graphql_is_kind(const struct reader *, enum lex_kind);
void graphql_next(struct reader *);
/* Take a punctuator, or a name. Returns 0, or -1 with the failure noted. */
int graphql_expect(struct reader *, char);
int graphql_name(struct reader *, struct span *);

/* graphql_value.c */
/*
 * Read `name: value` into an object. A variable without a value leaves it out;
 * if `constant`, variables are refused. Returns 0, or -1 with the failure
 * noted.
 */
int graphql_member(
    struct reader *, struct value *object, bool constant, unsigned depth);
/* Read the definitions of variables, and take their values. */
int graphql_variables(struct reader *);

#endif
