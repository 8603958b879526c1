/* SPDX-License-Identifier: ISC */
/*
 * Requests that an agent might try, and the answers. "evil" marks text that
 * must not come back in the answer.
 */
#ifndef MITM_ROWS_H
#define MITM_ROWS_H

#include "unit/mitmd/rig.h"

struct connect_row {
	const char *name;
	const char *text;
	int status;
};

#define C(target) "CONNECT " target " HTTP/1.1\r\nHost: evil\r\n\r\n"

static const struct connect_row connect_rows[] = {
	{"another host", C("other.example.net:443"), 403},
	{"port 80", C(RIG_HOST ":80"), 403},
	{"port 0", C(RIG_HOST ":0"), 403},
	{"port +443", C(RIG_HOST ":+443"), 403},
	{"port 0443", C(RIG_HOST ":0443"), 403},
	{"port 65979", C(RIG_HOST ":65979"), 403},
	{"port 443 twice", C(RIG_HOST ":443:443"), 403},
	{"no port", C(RIG_HOST), 403},
	{"empty port", C(RIG_HOST ":"), 403},
	{"empty host", C(":443"), 403},
	{"userinfo", C("evil@" RIG_HOST ":443"), 403},
	{"host as userinfo", C(RIG_HOST ":443@evil"), 403},
	{"host as userinfo, port", C(RIG_HOST ":443@evil:443"), 403},
	{"trailing dot", C(RIG_HOST ".:443"), 403},
	{"leading dot", C("." RIG_HOST ":443"), 403},
	{"IPv4", C("127.0.0.1:443"), 403},
	{"IPv4 decimal", C("2130706433:443"), 403},
	{"IPv4 octal", C("0177.0.0.1:443"), 403},
	{"IPv4 hex", C("0x7f.1:443"), 403},
	{"IPv6", C("[::1]:443"), 403},
	{"mapped IPv6", C("[::ffff:127.0.0.1]:443"), 403},
	{"%00", C(RIG_HOST "%00.evil:443"), 403},
	{"backslash", C(RIG_HOST "\\evil:443"), 403},
	{"fragment", C(RIG_HOST "#evil:443"), 403},
	{"slash", C(RIG_HOST "/:443"), 403},
	{"scheme", C("https://" RIG_HOST ":443"), 403},
	{"punycode", C("xn--pi-6kc.example.com:443"), 403},
	{"prefix of the host", C("pi.example.com:443"), 403},
	{"suffix of the host", C("api.example.com.other:443"), 403},
	{"space in the target", C(RIG_HOST ":443 evil"), 400},
	{"non-ASCII", C("\xd0\xb0pi.example.com:443"), 400},
	{"bare LF", "CONNECT " RIG_HOST ":443 HTTP/1.1\n\n", 400},
	{"lower case", "connect " RIG_HOST ":443 HTTP/1.1\r\n\r\n", 400},
	{"HTTP/2.0", "CONNECT " RIG_HOST ":443 HTTP/2.0\r\n\r\n", 400},
	{"a body", "CONNECT " RIG_HOST ":443 HTTP/1.1\r\n"
	    "content-length: 4\r\n\r\n", 400},
	{"chunks", "CONNECT " RIG_HOST ":443 HTTP/1.1\r\n"
	    "transfer-encoding: chunked\r\n\r\n", 400},
	{"of plain http", "GET http://evil.example.com/ HTTP/1.1\r\n"
	    "Host: evil\r\n\r\n", 405},
	{"of origin form", "GET /evil HTTP/1.1\r\nHost: evil\r\n\r\n", 405},
	{"of h2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400},
};

struct request_row {
	const char *name;
	const char *text;
	int status;
	const char *code;
	bool closes;
};

#define K "x-api-key: " RIG_KEY "\r\n"
#define H "host: " RIG_HOST "\r\n"
#define T "content-type: application/json\r\n"
#define L "content-length: 2\r\n\r\n{}"
#define P(more) "POST /v1/messages HTTP/1.1\r\n" more
#define G(target) "GET " target " HTTP/1.1\r\n" H K "\r\n"

static const struct request_row request_rows[] = {
	/* methods */
	{"TRACE", "TRACE /v1/messages HTTP/1.1\r\n" H K "\r\n", 405, "method",
	    true},
	{"TRACK", "TRACK /v1/messages HTTP/1.1\r\n" H K "\r\n", 405, "method",
	    true},
	{"CONNECT inside", "CONNECT " RIG_HOST ":443 HTTP/1.1\r\n" H K "\r\n",
	    405, "method", true},
	{"OPTIONS *", "OPTIONS * HTTP/1.1\r\n" H K "\r\n", 400, "malformed",
	    true},
	{"OPTIONS", "OPTIONS /v1/messages HTTP/1.1\r\n" H K "\r\n", 405,
	    "method", false},
	{"lower case", "post /v1/messages HTTP/1.1\r\n" H K L, 400,
	    "malformed", true},
	{"GET of a POST", G("/v1/messages"), 405, "method", false},
	{"h2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, "malformed",
	    true},
	/* hosts */
	{"no Host", P(K T L), 400, "malformed", true},
	{"two Hosts", P(H H K T L), 400, "malformed", true},
	{"another Host", P("host: evil\r\n" K T L), 400, "malformed", true},
	{"Host with a port", P("host: " RIG_HOST ":80\r\n" K T L), 400,
	    "malformed", true},
	{"absolute form", "POST https://" RIG_HOST "/v1/messages HTTP/1.1\r\n"
	    H K T L, 400, "malformed", true},
	/* framing */
	{"CL and TE", P(H K T "transfer-encoding: chunked\r\n" L), 400,
	    "malformed", true},
	{"CL twice", P(H K T "content-length: 2\r\n" L), 400, "malformed",
	    true},
	{"CL list", P(H K T "content-length: 2, 2\r\n\r\n{}"), 400,
	    "malformed", true},
	{"CL +2", P(H K T "content-length: +2\r\n\r\n{}"), 400, "malformed",
	    true},
	{"CL 0x2", P(H K T "content-length: 0x2\r\n\r\n{}"), 400, "malformed",
	    true},
	{"TE gzip", P(H K T "transfer-encoding: gzip\r\n\r\n"), 400,
	    "malformed", true},
	{"TE look-alike", P(H K T "transfer_encoding: chunked\r\n" L), 400,
	    "malformed", true},
	{"space before colon", P(H K T "x-rig-a : b\r\n" L), 400, "malformed",
	    true},
	{"obs-fold", P(H K T "x-rig-a: b\r\n c\r\n" L), 400, "malformed", true},
	{"bare LF", "POST /v1/messages HTTP/1.1\n" H K T L, 400, "malformed",
	    true},
	{"a chunk extension", P(H K T "transfer-encoding: chunked\r\n\r\n"
	    "2;a=b\r\n{}\r\n0\r\n\r\n"), 400, "malformed", true},
	{"a trailer", P(H K T "transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n"
	    "0\r\nx-api-key: evil\r\n\r\n"), 400, "malformed", true},
	{"a body on GET", "GET /v1/models/a HTTP/1.1\r\n" H K L, 400,
	    "malformed", true},
	/* paths */
	{"%2e%2e", G("/v1/models/%2e%2e"), 400, "malformed", true},
	{"%2f", G("/v1/models%2fa"), 400, "malformed", true},
	{"//", G("/v1//models/a"), 400, "malformed", true},
	{"/./", G("/v1/./models"), 400, "malformed", true},
	{"/../", G("/v1/models/../a"), 400, "malformed", true},
	{"..", G("/v1/models/.."), 400, "malformed", true},
	{";param", G("/v1/models/a;evil"), 400, "malformed", true},
	{"backslash", G("/v1/models\\a"), 400, "malformed", true},
	{"fragment", G("/v1/models/a#evil"), 400, "malformed", true},
	{"trailing slash", G("/v1/models/a/"), 400, "malformed", true},
	{"mixed case", G("/V1/models/a"), 403, "endpoint", false},
	{"off the list", G("/v1/evil"), 403, "endpoint", false},
	{"longer than the list", G("/v1/models/a/b"), 403, "endpoint", false},
	/* queries */
	{"key in the query", G("/v1/models/a?key=evil"), 403, "query", false},
	{"an empty query", G("/v1/models/a?"), 400, "malformed", true},
	{"a parameter twice", "POST /v1/messages?beta=true&beta=true HTTP/1.1"
	    "\r\n" H K T L, 400, "malformed", true},
	{"an escape in it", "POST /v1/messages?beta=tru%65 HTTP/1.1\r\n" H K T
	    L, 400, "malformed", true},
	{"another value", "POST /v1/messages?beta=evil HTTP/1.1\r\n" H K T L,
	    403, "query", false},
	/* hop by hop */
	{"WebSocket", "GET /v1/messages HTTP/1.1\r\n" H K
	    "connection: Upgrade\r\nupgrade: websocket\r\n\r\n", 426,
	    "upgrade", true},
	{"Connection names the key", P(H K T "connection: x-api-key\r\n" L),
	    400, "malformed", true},
	{"TE: chunked", P(H K T "te: chunked\r\n" L), 400, "malformed", true},
	{"Expect something", P(H K T "expect: evil\r\n" L), 417, "expect", true},
	/* keys */
	{"no key", P(H T L), 403, "no-key", false},
	{"an empty key", P(H T "x-api-key:\r\n" L), 403, "wrong-key", false},
	{"a prefix of it", P(H T "x-api-key: sk-rig-\r\n" L), 403, "wrong-key",
	    false},
	{"it and more", P(H T "x-api-key: " RIG_KEY "x\r\n" L), 403,
	    "wrong-key", false},
	{"a bearer without scheme", P(H T "authorization: " RIG_KEY "\r\n" L),
	    403, "wrong-key", false},
	{"basic", P(H T "authorization: Basic " RIG_KEY "\r\n" L), 403,
	    "wrong-key", false},
	{"a scheme where none is", P(H T "x-api-key: Bearer " RIG_KEY "\r\n" L),
	    403, "wrong-key", false},
	{"it twice", P(H K K T L), 403, "two-keys", false},
	{"in both headers", P(H K T "authorization: Bearer " RIG_KEY "\r\n" L),
	    403, "two-keys", false},
	{"another's header", P(H K T "x-goog-api-key: evil\r\n" L), 403,
	    "foreign-key", false},
	{"a proxy's", P(H K T "proxy-authorization: evil\r\n" L), 403,
	    "foreign-key", false},
	{"an underscore", P(H K T "x_api_key: evil\r\n" L), 403, "foreign-key",
	    false},
	{"in a listed family", P(H K T "x-rig-api-key: evil\r\n" L), 403,
	    "foreign-key", false},
	{"only in a cookie", P(H T "cookie: k=" RIG_KEY "\r\n" L), 403,
	    "no-key", false},
	/* the rest */
	{"a route with its own answer", G("/v1/settings"), 404, "not-offered",
	    false},
	{"no content type", P(H K L), 415, "type", false},
	{"another content type", P(H K "content-type: text/evil\r\n" L), 415,
	    "type", false},
	{"brotli", P(H K T "content-encoding: br\r\n" L), 415, "encoding",
	    false},
	{"two codings", P(H K T "content-encoding: gzip, zstd\r\n" L), 415,
	    "encoding", false},
	{"a coding twice", P(H K T "content-encoding: gzip\r\n"
	    "content-encoding: gzip\r\n" L), 400, "malformed", false},
	{"not zstd", P(H K T "content-encoding: zstd\r\n" L), 400,
	    "coded-body", false},
	{"not gzip", P(H K T "content-encoding: gzip\r\n" L), 400,
	    "coded-body", false},
	{"too large", P(H K T "content-length: 1000001\r\n\r\n"), 413,
	    "too-large", false},
	{"far too large", P(H K T "content-length: 9999999999\r\n\r\n"), 413,
	    "too-large", true},
	{"a listed header twice", P(H K T "accept: a\r\naccept: b\r\n" L), 400,
	    "malformed", false},
	{"bytes that do not go on", P(H K T "x-rig-a: \xc3\xa4\r\n" L), 431,
	    "headers", false},
	{"refused with a chunked body", P(H T "transfer-encoding: chunked\r\n"
	    "\r\n2\r\n{}\r\n0\r\n\r\n"), 403, "no-key", false},
};

#undef C
#undef P
#undef G
#undef K
#undef H
#undef T
#undef L

#endif
