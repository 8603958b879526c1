# SPDX-License-Identifier: ISC
"""Requests that an agent may send to mitm-proxy.sock, and their answers.
CONNECT: name, bytes, status, text (without its number). REQUESTS, in the
tunnel to api.anthropic.com: name, bytes, status, code of the body, and the
message in session.log. KEY is replaced by the session's placeholder key."""

HOST = b"Host: api.anthropic.com\r\n"
KEY = b"x-api-key: KEY\r\n"
JSON = b"Content-Type: application/json\r\n"
POST = b"POST /v1/messages HTTP/1.1\r\n"
BODY = b"Content-Length: 2\r\n\r\n{}"
GET = b"GET /api/hello HTTP/1.1\r\n"
END = b"\r\n"
CH = POST + HOST + KEY + JSON + b"Transfer-Encoding: chunked\r\n\r\n"
TO = b"CONNECT api.anthropic.com:443 HTTP/1.1\r\n"
HC = b"Host: api.anthropic.com:443\r\n"

CONNECT = [
    ("a plain request", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", 405,
     "IronCurtain: This proxy takes CONNECT to port 443 of the hosts on the "
     "list only; there is no plain HTTP. Use https. Do not retry. Allowed: "
     "api.anthropic.com:443, platform.claude.com:443, "
     "api.openai.com:443.", "GET /"),
    ("a proxy request for http",
     b"GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n", 405,
     "IronCurtain: This proxy takes CONNECT to port 443 of the hosts on the "
     "list only; there is no plain HTTP. Use https. Do not retry. Allowed: "
     "api.anthropic.com:443, platform.claude.com:443, "
     "api.openai.com:443.", "GET http://example.com/"),
    ("a host off the list",
     b"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n", 403,
     "IronCurtain: example.com is not in \"destinations\" of config.json. Do not "
     "retry. The user can add it there, for the next session. "
     "Allowed: api.anthropic.com:443, platform.claude.com:443, "
     "api.openai.com:443.",
     "CONNECT example.com:443"),
    ("another port",
     b"CONNECT api.anthropic.com:80 HTTP/1.1\r\nHost: x\r\n\r\n", 403,
     "IronCurtain: This host or port is not on the session's list. The user "
     "can add a provider or a destination to config.json, for the next "
     "session. Do not retry.",
     "CONNECT api.anthropic.com:80"),
    ("no port", b"CONNECT api.anthropic.com HTTP/1.1\r\nHost: x\r\n\r\n", 403,
     "IronCurtain: This host or port is not on the session's list. The user "
     "can add a provider or a destination to config.json, for the next "
     "session. Do not retry.",
     "CONNECT api.anthropic.com"),
    ("a dot at the end",
     b"CONNECT api.anthropic.com.:443 HTTP/1.1\r\nHost: x\r\n\r\n", 403,
     "IronCurtain: This host or port is not on the session's list. The user "
     "can add a provider or a destination to config.json, for the next "
     "session. Do not retry.",
     "CONNECT api.anthropic.com.:443"),
    ("the sandbox itself",
     b"GET http://[::1]:8123/ HTTP/1.1\r\nHost: x\r\n\r\n", 403,
     "IronCurtain: This address is the sandbox itself, and this proxy leads "
     "out of it. A server in the sandbox is reached without the proxy: as "
     "http://localhost:PORT or http://127.0.0.1:PORT, which NO_PROXY names, "
     "or with the client's own option for no proxy. Do not retry.",
     "GET http://[::1]:8123/"),
    ("an address", b"CONNECT 192.0.2.1:443 HTTP/1.1\r\nHost: x\r\n\r\n", 403,
     "IronCurtain: This host or port is not on the session's list. The user "
     "can add a provider or a destination to config.json, for the next "
     "session. Do not retry.",
     "CONNECT 192.0.2.1:443"),
    ("a user name",
     b"CONNECT u@api.anthropic.com:443 HTTP/1.1\r\nHost: x\r\n\r\n", 403,
     "IronCurtain: This host or port is not on the session's list. The user "
     "can add a provider or a destination to config.json, for the next "
     "session. Do not retry.",
     "CONNECT u@api.anthropic.com:443"),
    ("a body", TO + HC + b"Content-Length: 5\r\n\r\nhello", 400,
     "IronCurtain: The request is not well-formed HTTP as this proxy "
     "takes it: one Host, a plain path without escapes, one way to tell the "
     "body's length. Correct the request. Do not retry. What is wrong: body "
     "on a method that has none.",
     "CONNECT api.anthropic.com:443: body on a method that has none"),
    ("bytes before the answer", TO + HC + b"\r\n\x16\x03\x01", 400,
     "IronCurtain: Bytes came after the CONNECT request and before its "
     "answer. Wait for 200, then begin TLS. Do not retry.",
     "CONNECT api.anthropic.com:443"),
    ("two hosts", TO + HC + b"Host : x\r\n\r\n", 400,
     "IronCurtain: The request is not well-formed HTTP as this proxy "
     "takes it: one Host, a plain path without escapes, one way to tell the "
     "body's length. Correct the request. Do not retry. What is wrong: space "
     "before colon.", "space before colon"),
    ("no version", b"CONNECT api.anthropic.com:443\r\n\r\n", 400,
     "IronCurtain: The request is not well-formed HTTP as this proxy "
     "takes it: one Host, a plain path without escapes, one way to tell the "
     "body's length. Correct the request. Do not retry. What is wrong: "
     "request line without a version.", "request line without a version"),
    ("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400,
     "IronCurtain: The request is not well-formed HTTP as this proxy "
     "takes it: one Host, a plain path without escapes, one way to tell the "
     "body's length. Correct the request. Do not retry. What is wrong: "
     "HTTP/2 preface.", "HTTP/2 preface"),
    ("TLS without CONNECT", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
     400,
     "IronCurtain: The request is not well-formed HTTP as this proxy "
     "takes it: one Host, a plain path without escapes, one way to tell the "
     "body's length. Correct the request. Do not retry. What is wrong: bad "
     "character in method.", "bad character in method"),
    ("SOCKS", b"\x05\x01\x00", 400,
     "IronCurtain: The request is not well-formed HTTP as this proxy "
     "takes it: one Host, a plain path without escapes, one way to tell the "
     "body's length. Correct the request. Do not retry. What is wrong: bad "
     "character in method.", "bad character in method"),
    ("JSON-RPC", b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n', 400,
     "IronCurtain: The request is not well-formed HTTP as this proxy "
     "takes it: one Host, a plain path without escapes, one way to tell the "
     "body's length. Correct the request. Do not retry. What is wrong: bad "
     "character in method.", "bad character in method"),
    ("bare line feeds", TO.replace(b"\r", b"") + b"\n", 400,
     "IronCurtain: The request is not well-formed HTTP as this proxy "
     "takes it: one Host, a plain path without escapes, one way to tell the "
     "body's length. Correct the request. Do not retry. What is wrong: bare "
     "LF.", "bare LF"),
    ("an endless head", TO + b"X: " + b"y" * 70000, 431,
     "IronCurtain: The headers are too large, or one of them holds bytes "
     "that may not be forwarded. Do not retry. What is wrong: the head of a "
     "CONNECT is larger than 8 KiB.",
     "the head of a CONNECT is larger than 8 KiB"),
]

REQUESTS = [
    ("a space before the colon", GET + b"Host : api.anthropic.com\r\n\r\n",
     400, "malformed", "space before colon"),
    ("a folded header", GET + HOST + KEY + b" more\r\n\r\n", 400, "malformed",
     "folded header line"),
    ("a header without a colon", GET + HOST + b"x-api-key\r\n\r\n", 400,
     "malformed", "header line without a colon"),
    ("a header without a name", GET + HOST + b": x\r\n\r\n", 400, "malformed",
     "header name is empty"),
    ("a NUL in a header", GET + HOST + b"accept: a\0b\r\n\r\n", 400,
     "malformed", "NUL in head"),
    ("a bare CR", GET + HOST + b"accept: a\rb\r\n\r\n", 400, "malformed",
     "bare CR"),
    ("bare line feeds", GET.replace(b"\r", b"") + b"\n", 400, "malformed",
     "bare LF"),
    ("no version", b"GET /api/hello\r\n\r\n", 400, "malformed",
     "request line without a version"),
    ("HTTP/1.0", b"GET /api/hello HTTP/1.0\r\n" + HOST + KEY + END, 400,
     "malformed", "HTTP version is not 1.1"),
    ("HTTP/2.0", b"GET /api/hello HTTP/2.0\r\n" + HOST + END, 400, "malformed",
     "HTTP version is not 1.1"),
    ("the preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400,
     "malformed", "HTTP/2 preface"),
    ("a method in lower case", b"get /api/hello HTTP/1.1\r\n" + HOST + END,
     400, "malformed", "method is not upper case"),
    ("two spaces", b"GET  /api/hello HTTP/1.1\r\n" + HOST + END, 400,
     "malformed", "target is empty"),
    ("an empty line first", b"\r\n" + GET + HOST + KEY + END, 400, "malformed",
     "empty line before the request"),
    ("a target in absolute form",
     b"GET https://api.anthropic.com/api/hello HTTP/1.1\r\n" + HOST + KEY +
     END, 400, "malformed",
     "GET https://api.anthropic.com/api/hello: target is not in origin form"),
    ("UTF-8 in the target", b"GET /\xc3\xa4 HTTP/1.1\r\n" + HOST + END, 400,
     "malformed", "non-ASCII byte in target"),
    ("101 headers", GET + HOST + b"".join(
        b"X-%d: y\r\n" % i for i in range(101)) + END, 431, "headers",
     "more than 100 headers"),
    ("a head of over 64 KiB", GET + HOST + b"X: " + b"y" * 70000, 431,
     "headers", "head is larger than 64 KiB"),
    ("no Host", GET + KEY + END, 400, "malformed",
     "GET /api/hello: no Host header"),
    ("Host twice", GET + HOST + HOST + KEY + END, 400, "malformed",
     "GET /api/hello: Host given twice"),
    ("another Host", GET + b"Host: api.openai.com\r\n" + KEY + END, 400,
     "malformed", "GET /api/hello: Host is not the host of this connection"),
    ("Content-Length twice", POST + HOST + KEY + JSON +
     b"Content-Length: 2\r\n" + BODY, 400, "malformed",
     "POST /v1/messages: Content-Length given twice"),
    ("two lengths in one", POST + HOST + KEY + JSON +
     b"Content-Length: 2, 2\r\n\r\n{}", 400, "malformed",
     "POST /v1/messages: Content-Length is a list"),
    ("a signed length", POST + HOST + KEY + JSON +
     b"Content-Length: +2\r\n\r\n{}", 400, "malformed",
     "POST /v1/messages: Content-Length is not plain digits"),
    ("a huge length", POST + HOST + KEY + JSON +
     b"Content-Length: 99999999999999999999\r\n\r\n{}", 400, "malformed",
     "POST /v1/messages: Content-Length is too large"),
    ("both framings", POST + HOST + KEY + JSON +
     b"Transfer-Encoding: chunked\r\n" + BODY, 400, "malformed",
     "POST /v1/messages: both Content-Length and Transfer-Encoding"),
    ("another coding", POST + HOST + KEY + JSON +
     b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 400, "malformed",
     "POST /v1/messages: Transfer-Encoding is not exactly chunked"),
    ("a look-alike", POST + HOST + KEY + JSON +
     b"Content_Length: 2\r\n\r\n{}", 400, "malformed",
     "POST /v1/messages: look-alike of Content-Length"),
    ("a body on GET", GET + HOST + KEY + BODY, 400, "malformed",
     "GET /api/hello: body on a method that has none"),
    ("a chunk's size in letters", CH + b"zz\r\n", 400, "malformed",
     "POST /v1/messages: bad character in chunk size"),
    ("a chunk extension", CH + b"2;a=b\r\n{}\r\n0\r\n\r\n", 400, "malformed",
     "POST /v1/messages: chunk extension"),
    ("a trailer", CH + b"2\r\n{}\r\n0\r\nX: y\r\n\r\n", 400, "malformed",
     "POST /v1/messages: trailer in a request"),
    ("a chunk that is too long", CH + b"2\r\n{}{}\r\n0\r\n\r\n", 400,
     "malformed", "POST /v1/messages: no CRLF after a chunk"),
    ("TE", GET + HOST + KEY + b"TE: chunked\r\n\r\n", 400, "malformed",
     "GET /api/hello: TE header"),
    ("Connection names a header", GET + HOST + KEY +
     b"Connection: x-api-key\r\n\r\n", 400, "malformed",
     "GET /api/hello: Connection other than close or keep-alive"),
    ("an escape in the path", b"GET /api%2fhello HTTP/1.1\r\n" + HOST + KEY +
     END, 400, "malformed",
     "GET /api%2fhello: the path holds an escape, a dot or empty segment, or "
     "characters other than letters, digits and -._:"),
    ("dots in the path", b"GET /api/../api/hello HTTP/1.1\r\n" + HOST + KEY +
     END, 400, "malformed",
     "GET /api/../api/hello: the path holds an escape, a dot or empty "
     "segment, or characters other than letters, digits and -._:"),
    ("two slashes", b"GET //api/hello HTTP/1.1\r\n" + HOST + KEY + END, 400,
     "malformed",
     "GET //api/hello: the path holds an escape, a dot or empty segment, or "
     "characters other than letters, digits and -._:"),
    ("a fragment", b"GET /api/hello#x HTTP/1.1\r\n" + HOST + KEY + END, 400,
     "malformed",
     "GET /api/hello#x: the path holds an escape, a dot or empty segment, or "
     "characters other than letters, digits and -._:"),
    ("a query with an escape", b"POST /v1/messages?beta=%74rue HTTP/1.1\r\n" +
     HOST + KEY + JSON + BODY, 400, "malformed",
     "POST /v1/messages?beta=%74rue: the query is not NAME=VALUE&... without "
     "escapes, each name once"),
    ("a parameter off the list", b"POST /v1/messages?x=1 HTTP/1.1\r\n" +
     HOST + KEY + JSON + BODY, 403, "query", "POST /v1/messages?x=1"),
    ("a parameter twice", b"POST /v1/messages?beta=true&beta=true "
     b"HTTP/1.1\r\n" + HOST + KEY + JSON + BODY, 400, "malformed",
     "POST /v1/messages?beta=true&beta=true: the query is not NAME=VALUE&... "
     "without escapes, each name once"),
    ("an endpoint off the list", b"GET /v1/files HTTP/1.1\r\n" + HOST + KEY +
     END, 403, "endpoint", "GET /v1/files"),
    ("another method", b"DELETE /v1/messages HTTP/1.1\r\n" + HOST + KEY +
     END, 405, "method", "DELETE /v1/messages"),
    ("TRACE", b"TRACE /v1/messages HTTP/1.1\r\n" + HOST + KEY + END, 405,
     "method", "TRACE /v1/messages: method is never served"),
    ("CONNECT within", b"CONNECT example.com:443 HTTP/1.1\r\n" + HOST + KEY +
     END, 405, "method", "CONNECT example.com:443: method is never served"),
    ("no key", GET + HOST + END, 403, "no-key", "GET /api/hello"),
    ("another key", GET + HOST + b"x-api-key: sk-ant-api03-other\r\n\r\n",
     403, "wrong-key", "GET /api/hello"),
    ("an empty key", GET + HOST + b"x-api-key:\r\n\r\n", 403, "wrong-key",
     "GET /api/hello"),
    ("a key without its prefix", GET + HOST + b"authorization: KEY\r\n\r\n",
     403, "wrong-key", "GET /api/hello"),
    ("the key twice", GET + HOST + KEY + KEY + END, 403, "two-keys",
     "GET /api/hello"),
    ("the key in two headers", GET + HOST + KEY +
     b"authorization: Bearer KEY\r\n\r\n", 403, "two-keys", "GET /api/hello"),
    ("a foreign key beside it", GET + HOST + KEY +
     b"x-goog-api-key: AIza\r\n\r\n", 403, "foreign-key", "GET /api/hello"),
    ("a proxy's credential", GET + HOST + KEY +
     b"proxy-authorization: Basic eDp5\r\n\r\n", 403, "foreign-key",
     "GET /api/hello"),
    ("another content type", POST + HOST + KEY +
     b"Content-Type: text/plain\r\n" + BODY, 415, "type", "POST /v1/messages"),
    ("no content type", POST + HOST + KEY + BODY, 415, "type",
     "POST /v1/messages"),
    ("a body that is not coded as it says", POST + HOST + KEY + JSON +
     b"Content-Encoding: gzip\r\n" + BODY, 400, "coded-body",
     "POST /v1/messages"),
    ("too long a body", POST + HOST + KEY + JSON +
     b"Content-Length: 33554433\r\n\r\n", 413, "too-large",
     "POST /v1/messages"),
    ("a WebSocket", GET + HOST + KEY + b"Connection: Upgrade\r\n"
     b"Upgrade: websocket\r\n\r\n", 426, "upgrade",
     "GET /api/hello: Upgrade header"),
    ("h2c", GET + HOST + KEY + b"Upgrade: h2c\r\n\r\n", 426, "upgrade",
     "GET /api/hello: Upgrade header"),
    ("another Expect", POST + HOST + KEY + JSON + b"Expect: 200-ok\r\n" +
     BODY, 417, "expect", "POST /v1/messages: Expect other than 100-continue"),
    ("a listed header twice", GET + HOST + KEY +
     b"accept: a\r\naccept: b\r\n\r\n", 400, "malformed",
     "GET /api/hello: a header that is forwarded is given twice"),
    ("UTF-8 in a listed header", GET + HOST + KEY + b"accept: \xc3\xa4\r\n"
     b"\r\n", 431, "headers",
     "GET /api/hello: a header that is forwarded is too long, or holds more "
     "than printable ASCII"),
]
