/* SPDX-License-Identifier: ISC */
/*
 * Provider files that load, and those that do not, with the exact message;
 * routes, queries, header lists and packed headers. The shipped files are
 * checked against what the agents are known to send.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "mitmd/provider/provider.h"
#include "tap.h"
#include "unit/provider/rows.h"

static struct provider *
load(const char *dir, const char *name)
{
	static char text[65536];
	char path[512], err[256] = "";
	struct provider *p;
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.json", dir, name);
	if ((f = fopen(path, "re")) != NULL) {
		n = fread(text, 1, sizeof(text), f);
		fclose(f);
	}
	p = provider_parse(span_of(text, n), err, sizeof(err));
	ok(p != NULL && span_is(p->name, name), "%s.json loads%s%s", name,
	    err[0] != '\0' ? ": " : "", err);
	if (p == NULL)
		exit(tap_done());
	return p;
}

static void
test_bad(void)
{
	char text[2048], err[256];
	struct provider *p;

	for (size_t i = 0; i < nitems(bad_rows); i++) {
		const struct bad_row *row = &bad_rows[i];

		snprintf(text, sizeof(text), "%s%s%s", row->before, row->what,
		    row->after);
		errno = 0;
		p = provider_parse(span_str(text), err, sizeof(err));
		ok(p == NULL && errno == EINVAL, "refused: %s", row->what);
		/*
		 * The list of permitted values follows; bad_provider.py
		 * compares it.
		 */
		err[strlen(row->err) < sizeof(err) ? strlen(row->err) : 0] =
		    '\0';
		is_str(err, row->err, "... says why");
		provider_free(p);
	}
	p = provider_parse(SPAN("{}"), NULL, 0);
	ok(p == NULL && errno == EINVAL, "no room for a message is fine");
}

static const char *
result_name(enum provider_result r)
{
	static const char *const names[] = {"ok", "bad path", "bad query",
	    "no route", "no method", "no parameter"};

	return names[r];
}

static void
test_match(const struct provider *p, const struct match_row *rows, size_t n)
{
	struct span method, path, query;
	enum provider_result r;
	const char *mark, *space;
	unsigned route;

	for (size_t i = 0; i < n; i++) {
		const struct match_row *row = &rows[i];

		space = strchr(row->text, ' ');
		method = span_of(row->text, (size_t)(space - row->text));
		path = span_str(space + 1);
		query = span_of(NULL, 0);
		if ((mark = strchr(space + 1, '?')) != NULL) {
			path.len = (size_t)(mark - space - 1);
			query = span_str(mark + 1);
		}
		route = 9999;
		r = provider_match(p, 0, method, path, query, &route);
		is_str(result_name(r), result_name(row->result), "%s",
		    row->text);
		if (r == PROVIDER_OK)
			ok(provider_match_route(p, route, 0, path, query)
			    == (p->routes[route].answer != 0 ?
			    PROVIDER_NO_ROUTE : PROVIDER_OK),
			    "... and keyd's check agrees");
		else
			ok(route == 9999, "... names no route");
	}
	is_int(provider_match(p, 0, SPAN("GET"), span_of("/\0v1", 4),
	    span_of(NULL, 0), &route), PROVIDER_BAD_PATH, "NUL in a path");
}

static void
test_names(const struct provider *p)
{
	for (size_t i = 0; i < nitems(name_rows); i++) {
		const struct name_row *row = &name_rows[i];

		ok(provider_listed(&p->request, span_str(row->name)) ==
		    row->request, "request header %s %s", row->name,
		    row->request ? "goes on" : "does not");
		ok(provider_listed(&p->response, span_str(row->name)) ==
		    row->response, "response header %s %s", row->name,
		    row->response ? "goes on" : "does not");
		ok(provider_secretive(span_str(row->name)) == row->secretive,
		    "... %s", row->secretive ? "secret" : "not secret");
	}
	ok(!provider_listed(&p->request, span_of("", 0)), "an empty name");
	is_int(provider_kind(p, SPAN("x-api-key")), 0, "a kind of key");
	is_int(provider_kind(p, SPAN("authorization")), 1, "another");
	is_int(provider_kind(p, SPAN("api-key")), -1, "not its own");
}

static void
test_values(void)
{
	static uint8_t big[PROVIDER_MAX_VALUE + 1];

	memset(big, 'a', sizeof(big));
	ok(provider_value_ok(SPAN("a b\tc~!")), "a value");
	ok(provider_value_ok(SPAN("")), "an empty one");
	ok(!provider_value_ok(SPAN("a\r\nb")), "CR LF");
	ok(!provider_value_ok(SPAN("a\0b")), "NUL");
	ok(!provider_value_ok(SPAN("a\x7f")), "DEL");
	ok(!provider_value_ok(SPAN("\xc3\xa4")), "not ASCII");
	ok(provider_value_ok(span_of(big, PROVIDER_MAX_VALUE)), "the longest");
	ok(!provider_value_ok(span_of(big, sizeof(big))), "one more");
	ok(!provider_name_ok(SPAN("A")) && !provider_name_ok(SPAN("")) &&
	    !provider_name_ok(SPAN("a b")) && !provider_name_ok(SPAN("a:")) &&
	    !provider_name_ok(SPAN("-a")) && provider_name_ok(SPAN("a-_1")),
	    "names");
}

static void
test_types(const struct provider *p)
{
	const struct provider_route *r = &p->routes[0];

	ok(provider_type_ok(r, SPAN("application/json")), "a content type");
	ok(provider_type_ok(r, SPAN("Application/JSON ; charset=utf-8")),
	    "upper case, parameters");
	ok(!provider_type_ok(r, SPAN("application/jsonx")), "a longer one");
	ok(!provider_type_ok(r, SPAN("application/jso")), "a shorter one");
	ok(!provider_type_ok(r, SPAN(" ; application/json")), "none before ;");
	ok(!provider_type_ok(r, SPAN("")), "an empty one");
	ok(!provider_type_ok(r, span_of(NULL, 0)), "none");
}

/* Pack a list of (name, value) pairs. */
static struct span
pack(struct buf *b, const char *const *pairs)
{
	buf_reset(b, 0);
	for (; pairs[0] != NULL; pairs += 2)
		provider_pack(b, span_str(pairs[0]), span_str(pairs[1]));
	return buf_span(b);
}

static void
test_packed(const struct provider *p)
{
	struct span name, value, s;
	struct buf b;
	unsigned kind = 99;

	buf_init(&b, PROVIDER_MAX_BLOB);
	for (size_t i = 0; i < nitems(packed_rows);
	     i++) {
		const struct packed_row *row = &packed_rows[i];

		s = pack(&b, row->pairs);
		ok((provider_headers_ok(p, false, s, &kind) == 0) == row->good,
		    "packed headers: %s", row->name);
	}
	s = pack(&b, packed_rows[0].pairs);
	ok(provider_headers_ok(p, true, s, &kind) == -1,
	    "a kind on a bare route");
	s = pack(&b, packed_rows[0].pairs + 2);
	ok(provider_headers_ok(p, true, s, &kind) == 0, "none there");
	s = pack(&b, packed_rows[0].pairs);
	ok(provider_headers_ok(p, false, s, &kind) == 0 && kind == 1, "the kind");
	for (size_t n = 0; n < s.len; n++) {
		if (provider_headers_ok(p, false, span_of(s.p, n), &kind) == 0 &&
		    n != 16 && n != 16 + 13)
			ok(false, "cut at %zu", n);
	}
	ok(provider_unpack(&s, &name, &value) == 1 &&
	    span_is(name, PROVIDER_CREDENTIAL) && span_is(value, "1"),
	    "the first entry");
	s = span_of("\5\0a", 3);
	ok(provider_unpack(&s, &name, &value) == -1 && errno == EBADMSG &&
	    s.len == 3, "cut short");
	s = span_of(NULL, 0);
	is_int(provider_unpack(&s, &name, &value), 0, "the end");
	buf_free(&b);
}

/* If two routes fit, the one that asks applies, whatever mitmd says. */
static void
test_strictest(void)
{
	static const char *const order[] = {
	    TOP ",\"routes\":[{\"method\":\"GET\",\"path\":\"/a/*\"},"
	    "{\"method\":\"GET\",\"path\":\"/a/b\",\"ask\":true}]}",
	    TOP ",\"routes\":[{\"method\":\"GET\",\"path\":\"/a/b\","
	    "\"ask\":true},{\"method\":\"GET\",\"path\":\"/a/*\"}]}"};
	const struct span path = SPAN("/a/b"), other = SPAN("/a/c");
	const struct span none = span_of(NULL, 0);
	struct provider *p;
	unsigned route, loose;
	char err[256] = "";

	for (unsigned i = 0; i < 2; i++) {
		p = provider_parse(span_str(order[i]), err, sizeof(err));
		ok(p != NULL, "overlapping routes %u %s", i, err);
		if (p == NULL)
			continue;
		loose = i;
		is_int(provider_match(p, 0, SPAN("GET"), path, none, &route),
		    PROVIDER_OK, "a request that fits both");
		is_int(route, 1 - loose, "... is asked about");
		is_int(provider_match_route(p, loose, 0, path, none),
		    PROVIDER_NO_ROUTE, "... and is not sent unasked");
		is_int(provider_match_route(p, 1 - loose, 0, path, none),
		    PROVIDER_OK, "... but is as asked");
		is_int(provider_match(p, 0, SPAN("GET"), other, none, &route),
		    PROVIDER_OK, "one that fits the other alone");
		is_int(route, loose, "... is not asked about");
		provider_free(p);
	}
}

int
main(int argc, char **argv)
{
	static const struct provider_list none = {NULL, 0};
	struct provider *a, *o;
	char err[256];

	if (argc != 2)
		return 2;
	a = load(argv[1], "anthropic");
	o = load(argv[1], "openai");
	test_bad();
	test_match(a, anthropic_rows,
	    nitems(anthropic_rows));
	test_match(o, openai_rows, nitems(openai_rows));
	test_names(a);
	test_values();
	test_types(a);
	test_packed(a);
	test_strictest();
	ok(!provider_listed(&none, SPAN("accept")), "an empty list");
	provider_free(o);
	o = provider_parse(SPAN(GOOD("\"GET\"", "\"/v1/*:run\"", "")), err,
	    sizeof(err));
	ok(o != NULL, "a star with an end");
	test_match(o, star_rows, nitems(star_rows));
	ok(memcmp(a->digest, o->digest, 32) != 0, "digests differ");
	provider_free(o);
	provider_free(a);
	provider_free(NULL);
	return tap_done();
}
