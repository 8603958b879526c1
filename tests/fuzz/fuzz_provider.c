/* SPDX-License-Identifier: ISC */
/*
 * A provider file, or a request against one, of any bytes. The first byte says
 * which: 0 a file, 1 a target ("METHOD path?query") or 2 packed headers against
 * a fixed provider. Accepted input must meet the conditions that keyd relies
 * on.
 */
#include <stdint.h>
#include <stdlib.h>

#include "mitmd/provider/provider.h"

static const char fixed[] =
    "{\"name\":\"f\",\"host\":\"f.example\",\"credential\":{\"env\":\"F\","
    "\"sentinel\":\"s-\",\"headers\":[{\"name\":\"x-api-key\"},"
    "{\"name\":\"authorization\",\"prefix\":\"Bearer \"}]},"
    "\"requestHeaders\":[\"accept\",\"x-f-*\"],\"responseHeaders\":[],"
    "\"routes\":[{\"method\":\"GET\",\"path\":\"/a/*/b\",\"query\":{"
    "\"n\":\"number\",\"t\":\"token\",\"l\":[\"x\",\"y\"]}},"
    "{\"method\":\"POST\",\"path\":\"/m/*:run\",\"body\":{\"types\":"
    "[\"application/json\"]}},{\"method\":\"GET\",\"path\":\"/gone\","
    "\"answer\":404}]}";

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/* An accepted path or query contains nothing that needs an escape. */
static void
require_plain(struct span s, const char *more)
{
	for (size_t i = 0; i < s.len; i++) {
		if ((s.p[i] < 'a' || s.p[i] > 'z') &&
		    (s.p[i] < 'A' || s.p[i] > 'Z') &&
		    (s.p[i] < '0' || s.p[i] > '9') &&
		    (s.p[i] == '\0' || strchr(more, s.p[i]) == NULL))
			abort();
	}
}

static void
fuzz_target(const struct provider *p, struct span in)
{
	struct span method = in, path, query = {NULL, 0};
	const uint8_t *at;
	unsigned route = 0;

	if (in.len == 0 || (at = memchr(in.p, ' ', in.len)) == NULL)
		return;
	method.len = (size_t)(at - in.p);
	path = span_of(at + 1, in.len - method.len - 1);
	if (path.len != 0 && (at = memchr(path.p, '?', path.len)) != NULL) {
		query = span_of(at + 1, (size_t)(path.p + path.len - at) - 1);
		path.len = (size_t)(at - path.p);
	}
	if (provider_match(p, 0, method, path, query, &route) != PROVIDER_OK)
		return;
	require_plain(path, "/._:-");
	require_plain(query, "=&._:-");
	if (provider_match_route(p, route, 0, path, query) != PROVIDER_OK &&
	    p->routes[route].answer == 0)
		abort();
}

static void
fuzz_headers(const struct provider *p, struct span in)
{
	struct span name, value;
	unsigned kind = 99;

	if (provider_headers_ok(p, false, in, &kind) == -1)
		return;
	if (kind >= p->nkinds || provider_unpack(&in, &name, &value) != 1)
		abort();
	while (in.len != 0) {
		if (provider_unpack(&in, &name, &value) != 1 ||
		    !provider_listed(&p->request, name) ||
		    provider_secretive(name))
			abort();
		require_plain(name, "-_");
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct provider *known;
	struct provider *p;
	struct span in;
	char err[256];

	if (known == NULL &&
	    (known = provider_parse(SPAN(fixed), err, sizeof(err))) == NULL)
		abort();
	if (size == 0)
		return 0;
	in = span_of(data + 1, size - 1);
	switch (data[0]) {
	case 0:
		p = provider_parse(in, err, sizeof(err));
		if (p != NULL) {
			fuzz_target(p, SPAN("GET /a/b?c=d"));
			require_plain(p->hosts[0], ".-");
		} else if (strlen(err) == 0) {
			abort();
		}
		provider_free(p);
		break;
	case 1:
		fuzz_target(known, in);
		break;
	case 2:
		fuzz_headers(known, in);
		break;
	default:
		break;
	}
	return 0;
}
