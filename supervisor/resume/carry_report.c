/* SPDX-License-Identifier: ISC */
/*
 * The members of `struct carry` as reports: one table writes and reads those
 * that have a fixed size, and lists have a report for each row.
 */
#include "resume/carry_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "resume/carry_members.h"

#define REPORT_DEPTH 96

/* clang-format off */
#define AT(m) offsetof(struct carry, m), sizeof(((struct carry *)NULL)->m)

/* The letters are those from CARRY_FIRST on, in the order of the rows. */
const struct carry_row carry_rows[] = {
	{KIND_BOOL, AT(any)}, {KIND_BOOL, AT(closed)}, {KIND_BOOL, AT(orphan)},
	{KIND_TEXT, AT(why)}, {KIND_I64, AT(status)}, {KIND_TEXT, AT(worker)},
	{KIND_TEXT, AT(how)}, {KIND_TEXT, AT(boot)}, {KIND_TEXT, AT(host)},
	{KIND_TEXT, AT(policy)},
#define SPENT(s)							\
	{KIND_U64, AT(s.tokens)}, {KIND_U64, AT(s.micro_usd)},		\
	{KIND_U64, AT(s.steps)}, {KIND_U64, AT(s.calls)},		\
	{KIND_U64, AT(s.requests)}, {KIND_DOUBLE, AT(s.more_tokens)},	\
	{KIND_DOUBLE, AT(s.more_usd)}
	SPENT(last), SPENT(older), SPENT(run),
#undef SPENT
	{KIND_BOOL, AT(orderly)}, {KIND_BOOL, AT(whole_run)},
	{KIND_BOOL, AT(messages)}, {KIND_BOOL, AT(open_known)},
	{KIND_U64, AT(open_tokens)}, {KIND_U64, AT(open_micro_usd)},
	{KIND_U64, AT(ms)}, {KIND_BOOL, AT(paused)}, {KIND_BOOL, AT(begun)},
	{KIND_U64, AT(mono_state)}, {KIND_U64, AT(mono_last)},
	{KIND_U32, AT(turn)},
};
/* clang-format on */

const size_t carry_nrows = nitems(carry_rows);
_Static_assert(
    CARRY_FIRST + nitems(carry_rows) < 128, "there are letters for all");

static bool
take_double(const char *text, double *out)
{
	char *end;
	double d = strtod(text, &end);

	if (end == text || *end != '\0' || !isfinite(d) || d < 0)
		return false;
	*out = d;
	return true;
}

static bool
take_signed(const char *text, int64_t *out)
{
	const bool less = text[0] == '-';
	uint64_t n;

	if (span_u64(span_str(text + less), INT64_MAX, &n) == -1)
		return false;
	*out = less ? -(int64_t)n : (int64_t)n;
	return true;
}

static bool
member_take(struct carry *c, unsigned i, const char *text)
{
	const struct carry_row *m = &carry_rows[i];
	char *p = (char *)c + m->at;
	uint32_t small;
	uint64_t n;
	int64_t s;
	double d;

	switch (m->kind) {
	case KIND_BOOL:
	case KIND_U32:
	case KIND_U64:
		if (span_u64(span_str(text),
			m->kind == KIND_BOOL  ? 1
			: m->kind == KIND_U32 ? UINT32_MAX
					      : UINT64_MAX,
			&n) == -1)
			return false;
		small = (uint32_t)n;
		if (m->kind == KIND_BOOL)
			*(bool *)p = n == 1;
		else if (m->kind == KIND_U32)
			memcpy(p, &small, sizeof(small));
		else
			memcpy(p, &n, sizeof(n));
		return true;
	case KIND_I64:
		if (!take_signed(text, &s))
			return false;
		memcpy(p, &s, sizeof(s));
		return true;
	case KIND_DOUBLE:
		if (!take_double(text, &d))
			return false;
		memcpy(p, &d, sizeof(d));
		return true;
	case KIND_TEXT:
		return strlcpy(p, text, m->size) < m->size;
	}
	return false;
}

/* Take a word that ends in a space, or the last one. */
static bool
next_word(const char **rest, struct span *word)
{
	const size_t n = strcspn(*rest, " ");

	*word = span_of(*rest, n);
	*rest += n + ((*rest)[n] == ' ');
	return n != 0;
}

static bool
take_limit(struct carry *c, const char *text)
{
	struct span word;
	uint64_t key;

	return next_word(&text, &word) &&
	       span_u64(word, BUDGET_KEYS - 1, &key) == 0 &&
	       take_double(text, &c->limits[key]) && (c->limited[key] = true);
}

static bool
take_hold(struct carry *c, const char *text)
{
	return c->nholds < CARRY_HOLDS && span_u64(span_str(text), UINT64_MAX,
					      &c->holds[c->nholds++].id) == 0;
}

/* Take the server or the tool of the last call that waited. */
static bool
take_held(struct carry *c, const char *text, bool tool)
{
	struct carry_hold *h;

	if (c->nholds == 0)
		return false;
	h = &c->holds[c->nholds - 1];
	return tool ? strlcpy(h->tool, text, sizeof(h->tool)) < sizeof(h->tool)
		    : strlcpy(h->server, text, sizeof(h->server)) <
			  sizeof(h->server);
}

static bool
take_grant(struct carry *c, const char *text)
{
	struct carry_grant *g;
	struct span key, call;

	if (c->ngrants == CARRY_GRANTS)
		return false;
	g = &c->grants[c->ngrants++];
	g->text = json_object_new_object();
	g->bound = json_object_new_object();
	return next_word(&text, &key) && next_word(&text, &call) &&
	       span_u64(key, UINT64_MAX, &g->key) == 0 &&
	       span_u64(call, UINT64_MAX, &g->call) == 0 &&
	       take_signed(text, &g->made);
}

/* Take the text of the last grant into one of its objects. */
static bool
take_object(struct carry *c, const char *text, bool bound)
{
	struct json_tokener *tok = json_tokener_new_ex(REPORT_DEPTH);
	struct json_object *o = NULL, **to;
	const size_t n = strlen(text);

	if (tok != NULL && n <= INT32_MAX)
		o = json_tokener_parse_ex(tok, text, (int)n);
	json_tokener_free(tok);
	if (c->ngrants == 0 || !json_object_is_type(o, json_type_object)) {
		json_object_put(o);
		return false;
	}
	to = bound ? &c->grants[c->ngrants - 1].bound
		   : &c->grants[c->ngrants - 1].text;
	json_object_put(*to);
	*to = o;
	return true;
}

bool
carry_take(struct carry *c, int letter, const char *text)
{
	if (letter >= CARRY_FIRST && letter < CARRY_FIRST + (int)carry_nrows)
		return member_take(c, (unsigned)(letter - CARRY_FIRST), text);
	switch (letter) {
	case LIST_LIMIT:
		return take_limit(c, text);
	case LIST_LOCKED:
		return c->nlocked < CARRY_LOCKED &&
		       strlcpy(c->locked[c->nlocked++], text,
			   sizeof(c->locked[0])) < sizeof(c->locked[0]);
	case LIST_HOLD:
		return take_hold(c, text);
	case LIST_SERVER:
		return take_held(c, text, false);
	case LIST_TOOL:
		return take_held(c, text, true);
	case LIST_GRANT:
		return take_grant(c, text);
	case LIST_TEXT:
		return take_object(c, text, false);
	case LIST_BOUND:
		return take_object(c, text, true);
	default:
		return false;
	}
}
