/* SPDX-License-Identifier: ISC */
/*
 * Calls to a forge. The first byte says what the rest is: a query of GraphQL, a
 * whole body, a request of REST of each forge, a call tree as a broken mitmd
 * could send it, or an answer of a forge. Whatever is accepted is composed, and
 * what was composed is read, checked and composed to the same bytes; it can be
 * said.
 */
#include "check.h"
#include "common/forge/say.h"
#include "common/json/json.h"

#define MAX_INPUT (128U << 10)

static struct span repositories[] = {SPAN("me/shop"), SPAN("me/tools")};
static struct forge_grant grant = {
    .repositories = repositories, .nrepositories = nitems(repositories)};
static struct value_pool *pool;
static struct forge_fail why;

/* Check a tree; if it is accepted, nothing of it may get lost on the way. */
static void
check(const struct value *tree)
{
	struct forge_request one, two;
	struct forge_call call, again;
	struct forge_said said;
	const struct value *v;

	if (forge_check(&grant, tree, &call, &why) == -1) {
		CHECK(why.why[0] != '\0');
		return;
	}
	CHECK(call.class != FORGE_NEVER);
	forge_request_init(&one);
	forge_request_init(&two);
	forge_said_init(&said);
	if (forge_compose(&call, &one) == 0) {
		v = forge_request_read(&grant, pool, span_str(one.method),
		    buf_span(&one.target), buf_span(&one.body), &why);
		CHECK(v != NULL);
		CHECK(forge_check(&grant, v, &again, &why) == 0);
		CHECK(forge_compose(&again, &two) == 0);
		CHECK(span_eq(buf_span(&one.target), buf_span(&two.target)));
		CHECK(span_eq(buf_span(&one.body), buf_span(&two.body)));
		CHECK(call.class == again.class && call.nrefs == again.nrefs);
	}
	if (forge_say(&call, NULL, &said) == 0) {
		CHECK(utf8_valid(buf_span(&said.sentence)));
		CHECK(utf8_valid(buf_span(&said.text)));
		CHECK(memchr(buf_span(&said.sentence).p, '\x1b',
			  said.sentence.len) == NULL);
		CHECK(said.text.len == 0 || memchr(buf_span(&said.text).p,
						'\x1b', said.text.len) == NULL);
	}
	forge_said_free(&said);
	forge_request_free(&one);
	forge_request_free(&two);
}

static void
request(const char *method, struct span target, struct span body)
{
	const struct value *v;

	v = forge_request_read(
	    &grant, pool, span_str(method), target, body, &why);
	if (v != NULL)
		check(v);
	else
		CHECK(why.why[0] != '\0');
}

static void
query(struct span text)
{
	struct buf body;

	buf_init(&body, MAX_INPUT * 6);
	buf_adds(&body, "{\"query\":");
	if (utf8_valid(text) && json_write_string(&body, text) == 0) {
		buf_adds(&body, ",\"variables\":{\"a\":\"me\",\"b\":\"shop\","
				"\"c\":[\"OPEN\"],\"d\":{\"subjectId\":\"I_1\","
				"\"body\":\"x\"}}}");
		request("POST", SPAN("/graphql"), buf_span(&body));
	}
	buf_free(&body);
}

/* A method by its number, a target, and a body on the next line. */
static void
rest(struct span s)
{
	static const char *const methods[] = {
	    "GET", "POST", "PUT", "PATCH", "DELETE"};
	const uint8_t *line;
	struct span target;
	size_t n;

	if (s.len < 1)
		return;
	n = s.p[0] % nitems(methods);
	s = span_of(s.p + 1, s.len - 1);
	line = s.len == 0 ? NULL : memchr(s.p, '\n', s.len);
	target = span_of(s.p, line == NULL ? s.len : (size_t)(line - s.p));
	request(methods[n], target,
	    line == NULL ? SPAN("")
			 : span_of(line + 1, s.len - target.len - 1));
}

static void
answer(struct span s)
{
	struct forge_ref ref = {.kind = FORGE_REF_NODE,
	    .is = FORGE_IS_ISSUE | FORGE_IS_PULL | FORGE_IS_USER |
		  FORGE_IS_LABEL | FORGE_IS_COMMENT,
	    .id = SPAN("I_1"),
	    .role = "id"};
	struct forge_found f, again;
	const struct value *v;

	if (forge_lookup_read(&grant, pool, &ref, s, &f, &why) == 0) {
		CHECK((v = forge_found_tree(pool, &f)) != NULL);
		CHECK(forge_found_read(&grant, &ref, v, &again) == 0);
		CHECK(f.is == again.is && f.number == again.number &&
		      span_eq(f.title, again.title));
	}
	if ((v = value_decode(pool, s)) != NULL)
		(void)forge_found_read(&grant, &ref, v, &f);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct value *v;
	struct span s;

	if (size < 1 || size > MAX_INPUT)
		return 0;
	CHECK((pool = value_pool_new(64U << 20)) != NULL);
	s = span_of(data + 1, size - 1);
	grant.kind = FORGE_GITHUB;
	switch (data[0]) {
	case 'q':
		query(s);
		break;
	case 'b':
		request("POST", SPAN("/graphql"), s);
		break;
	case 'r':
		rest(s);
		break;
	case 'l':
		grant.kind = FORGE_GITLAB;
		rest(s);
		break;
	case 'e':
		grant.kind = FORGE_GITEA;
		rest(s);
		break;
	case 't':
		if ((v = value_decode(pool, s)) != NULL)
			check(v);
		break;
	case 'j':
		/* A tree as JSON, which is easier to change. */
		if ((v = json_read(pool, s, NULL)) != NULL)
			check(v);
		break;
	case 'a':
		answer(s);
		break;
	default:
		break;
	}
	value_pool_free(pool);
	return 0;
}
