/* SPDX-License-Identifier: ISC */
/*
 * Names and values of headers: which are well-formed, which carry a credential,
 * and which no provider file may pass on in either direction. Takes untrusted
 * bytes and keeps no state.
 */
#include "provider/class.h"

#include "provider/provider.h"

/*
 * Never on an allow-list, in either direction: credentials, cookies, framing,
 * hop-by-hop headers, and headers that send a client elsewhere. A trailing *
 * matches all such names.
 */
static const char *const names_forbidden[] = {
    "accept-encoding",
    "alt-svc",
    "api-key",
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "cookie*",
    "expect",
    "forwarded",
    "host",
    "http2-settings",
    "keep-alive",
    "link",
    "location",
    "proxy-*",
    "refresh",
    "set-cookie*",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
    "www-authenticate",
    "x-access-token",
    "x-api-key",
    "x-auth-token",
    "x-forwarded-*",
    "x-goog-api-key",
    "x-host",
    "x-http-method*",
    "x-original-*",
    "x-rewrite-*",
};

bool
provider_name_ok(struct span s)
{
	uint8_t c;

	if (s.len == 0 || s.len > PROVIDER_MAX_NAME || s.p[0] == '-' ||
	    s.p[0] == '_')
		return false;
	for (size_t i = 0; i < s.len; i++) {
		c = s.p[i];
		if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' &&
		    c != '_')
			return false;
	}
	return true;
}

bool
provider_value_ok(struct span s)
{
	if (s.len > PROVIDER_MAX_VALUE)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		if ((s.p[i] < 0x20 && s.p[i] != '\t') || s.p[i] > 0x7e)
			return false;
	}
	return true;
}

/* ASCII to lower case, `_` to `-`. */
static uint8_t
names_fold(uint8_t c)
{
	if (c >= 'A' && c <= 'Z')
		return (uint8_t)(c + ('a' - 'A'));
	return c == '_' ? '-' : c;
}

static bool
names_end(struct span s, struct span suffix)
{
	if (s.len < suffix.len)
		return false;
	s.p += s.len - suffix.len;
	for (size_t i = suffix.len; i-- > 0;) {
		if (names_fold(s.p[i]) != suffix.p[i])
			return false;
	}
	return true;
}

bool
provider_secretive(struct span s)
{
	uint8_t last;

	if (s.len == 0)
		return false;
	/* Decide most names by their last byte. */
	last = names_fold(s.p[s.len - 1]);
	if (last == 'n')
		return names_end(s, SPAN("authorization")) ||
		       names_end(s, SPAN("auth-token")) ||
		       names_end(s, SPAN("access-token")) ||
		       names_end(s, SPAN("security-token")) ||
		       names_end(s, SPAN("private-token")) ||
		       names_end(s, SPAN("api-token"));
	return last == 'y' &&
	       (names_end(s, SPAN("api-key")) || names_end(s, SPAN("apikey")));
}

bool
provider_is_kind(struct span s)
{
	return provider_name_ok(s) && provider_secretive(s) &&
	       !span_starts(s, SPAN("proxy-"));
}

/* Returns true if some name matches both; either may end in *. */
static bool
names_overlap(struct span name, const char *forbidden)
{
	struct span f = span_str(forbidden);
	bool star = name.p[name.len - 1] == '*', fstar;

	fstar = f.p[f.len - 1] == '*';
	name.len -= star;
	f.len -= fstar;
	return span_eq(name, f) || (star && span_starts(f, name)) ||
	       (fstar && span_starts(name, f));
}

bool
provider_is_allowed(struct span s)
{
	struct span name = s;
	size_t n = nitems(names_forbidden);

	if (s.len != 0 && s.p[s.len - 1] == '*') {
		/* A family of names ends in a dash: "x-app-*". */
		name.len--;
		if (name.len < 3 || name.p[name.len - 1] != '-')
			return false;
	}
	if (!provider_name_ok(name) || provider_secretive(name))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (names_overlap(s, names_forbidden[i]))
			return false;
	}
	return true;
}
