/* SPDX-License-Identifier: ISC */
/* The requests that icwebd takes: paths, heads, and tokens. */
#include <string.h>

#include "tap.h"
#include "workers/icwebd/webd.h"

#define HOSTS "127.0.0.1:80\nlocalhost:80\n"

static void
test_find(void)
{
	static const struct {
		const char *method, *path;
		unsigned want;
	} rows[] = {
	    {"GET", "/", 0},
	    {"GET", "/page.js", 0},
	    {"GET", "/page.js/", 404},
	    {"GET", "//", 404},
	    {"GET", "", 404},
	    {"HEAD", "/", 405},
	    {"get", "/", 405},
	    {"POST", "/", 405},
	    {"POST", "/api/answer", 0},
	    {"GET", "/api/answer", 405},
	    {"PUT", "/api/answer", 405},
	    {"POST", "/api/answers", 404},
	    {"POST", "/API/answer", 404},
	};
	struct web_route to;
	const char *why;

	for (size_t i = 0; i < nitems(rows); i++) {
		why = NULL;
		is_int(route_find(rows[i].method, rows[i].path, &to, &why),
		    rows[i].want, "%s %s", rows[i].method, rows[i].path);
		ok(rows[i].want == 0 || why != NULL, "a refusal has a reason");
	}
}

static void
test_check(void)
{
	static const struct {
		const char *host, *origin, *site, *type;
		unsigned file, api; /* wanted */
	} rows[] = {
	    {"127.0.0.1:80", "http://127.0.0.1:80", "same-origin",
		"application/json", 0, 0},
	    {"LOCALHOST:80", "http://localhost:80", NULL, "application/json", 0,
		0},
	    {"localhost:80", "http://127.0.0.1:80", NULL, "application/json", 0,
		403},
	    {"127.0.0.1:80", NULL, "none", NULL, 0, 403},
	    {"127.0.0.1:80", "http://127.0.0.1:80", "none", "application/json",
		0, 403},
	    {"127.0.0.1:80", "http://127.0.0.1:80", "same-site",
		"application/json", 403, 403},
	    {"127.0.0.1:80", "http://127.0.0.1:80", "Same-Origin",
		"application/json", 403, 403},
	    {"127.0.0.1:80", "http://127.0.0.1:80", "same-origin",
		"text/plain", 0, 415},
	    {"127.0.0.1:80", "http://127.0.0.1:80", "same-origin",
		"application/json; charset=x", 0, 415},
	    {"127.0.0.1:80", "https://127.0.0.1:80", "same-origin",
		"application/json", 0, 403},
	    {"127.0.0.1:80", "http://127.0.0.1:80/", "same-origin",
		"application/json", 0, 403},
	    {"127.0.0.1:8", "http://127.0.0.1:8", NULL, NULL, 421, 421},
	    {"127.0.0.1:80\n", NULL, NULL, NULL, 421, 421},
	    {"", NULL, NULL, NULL, 421, 421},
	    {NULL, NULL, NULL, NULL, 421, 421},
	};
	static const struct web_file file;
	const struct web_route page = {.file = &file},
			       api = {.route = PROTO_WEB_ANSWER};
	const char *why;

	for (size_t i = 0; i < nitems(rows); i++) {
		struct web_head h = {.host = rows[i].host,
		    .origin = rows[i].origin,
		    .site = rows[i].site,
		    .type = rows[i].type};

		is_int(route_check(&page, &h, HOSTS, &why), rows[i].file,
		    "row %zu: a file", i);
		is_int(route_check(&api, &h, HOSTS, &why), rows[i].api,
		    "row %zu: a request", i);
		h.twice = true;
		is_int(route_check(&page, &h, HOSTS, &why), 400,
		    "row %zu: a head that is there twice", i);
	}
}

static void
test_token(void)
{
	char hex[65] = "000102030405060708090a0b0c0d0e0f"
		       "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";
	uint8_t token[32];

	is_int(route_token(span_str(hex), token), 0, "64 digits");
	is_int(token[10], 0x0a, "a byte of it");
	is_int(token[31], 0xff, "the last one");
	is_int(route_token(span_of(hex, 63), token), -1, "63 digits");
	hex[5] = 'A';
	is_int(route_token(span_str(hex), token), -1, "capitals");
	hex[5] = 'g';
	is_int(route_token(span_str(hex), token), -1, "no digit");
	hex[5] = '\0';
	is_int(route_token(span_of(hex, 64), token), -1, "NUL");
}

int
main(void)
{
	test_find();
	test_check();
	test_token();
	return tap_done();
}
