/* SPDX-License-Identifier: ISC */
/* Looks at the next token of a GraphQL document, and takes it. */
#include "common/forge/graphql_reader.h"

int
graphql_fail(struct reader *r, const char *why)
{
	return forge_refuse(r->fail, "at byte %u of the query: %s",
	    r->lex.tokens[r->at].at, why);
}

struct span
graphql_text(const struct reader *r)
{
	return lex_text(&r->lex, &r->lex.tokens[r->at]);
}

bool
graphql_is(const struct reader *r, char c)
{
	const struct lex_token *t = &r->lex.tokens[r->at];

	return t->kind == LEX_PUNCTUATOR && r->lex.text.p[t->at] == (uint8_t)c;
}

bool
graphql_is_kind(const struct reader *r, enum lex_kind kind)
{
	return r->lex.tokens[r->at].kind == kind;
}

void
graphql_next(struct reader *r)
{
	if (!graphql_is_kind(r, LEX_END))
		r->at++;
	r->steps++;
}

int
graphql_expect(struct reader *r, char c)
{
	static const char *const names[] = {"\"(\" is missing",
	    "\")\" is missing", "\":\" is missing", "\"{\" is missing",
	    "\"$\" is missing", "\"]\" is missing"};
	static const char chars[] = "():{$]";

	if (!graphql_is(r, c))
		return graphql_fail(r, names[strchr(chars, c) - chars]);
	graphql_next(r);
	return 0;
}

int
graphql_name(struct reader *r, struct span *out)
{
	if (!graphql_is_kind(r, LEX_NAME))
		return graphql_fail(r, "a name is missing");
	*out = graphql_text(r);
	if (out->len > 100)
		return graphql_fail(r, "a name is too long");
	graphql_next(r);
	return 0;
}
