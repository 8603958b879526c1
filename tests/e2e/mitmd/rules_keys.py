# SPDX-License-Identifier: ISC
"""Rows 12, 16 to 19, 28, 29: the headers and the keys that pass."""
import gzip

from rules import (A, GETS, KEY, O, POSTS, Case, get, got, no, post, posted,
                   sent)

NON_ASCII = ("a header that is forwarded is too long, or holds more than "
             "printable ASCII")


# ---- rows 12 and 28: headers that are dropped or pass ---------------------
DROPPED = [
    b"X-HTTP-Method: DELETE", b"X-HTTP-Method-Override: DELETE",
    b"X-Method-Override: PUT", b"X-Original-URL: /v1/files",
    b"X-Rewrite-URL: /v1/files", b"X-Original-Host: evil.test",
    b"X-Forwarded-For: 127.0.0.1", b"X-Forwarded-Host: evil.test",
    b"X-Forwarded-Proto: http", b"X-Forwarded-Port: 80",
    b"X-Forwarded-Prefix: /admin", b"X-Forwarded-Server: x",
    b"Forwarded: for=127.0.0.1;host=evil.test", b"Via: 1.1 evil",
    b"X-Host: evil.test", b"X-Real-IP: 127.0.0.1", b"True-Client-IP: ::1",
    b"X-Client-IP: 127.0.0.1", b"CF-Connecting-IP: 127.0.0.1",
    b"X-Cluster-Client-IP: 127.0.0.1", b"Proxy-Connection: keep-alive",
    b"Proxy: http://evil.test", b"Destination: /v1/files",
    b"X-Envoy-Original-Path: /v1/files", b"X-Accel-Redirect: /x",
    b"X-Sendfile: /etc/passwd", b"Referer: http://evil.test/",
    b"Origin: http://evil.test", b"Range: bytes=0-1", b"If-Match: *",
    b"If-Range: x", b"Cache-Control: no-cache", b"Pragma: no-cache",
    b"Accept-Encoding: gzip, br, zstd", b"Accept-Charset: utf-7",
    b"Content-Location: /x", b"Content-MD5: x", b"Digest: sha-256=x",
    b"From: a@b.test", b"Max-Forwards: 0", b"Trailer: x", b"DNT: 1",
    b"Sec-Fetch-Site: same-origin", b"Priority: u=1", b"Traceparent: 00-0-0-0",
    b"X-Request-ID: 1", b"X_Forwarded_For: 1.1.1.1", b"x-app_: 1",
    b"x-anthropic-beta: x", b"MCP-Session-Id: x", b"Early-Data: 1",
    b"Warning: 199", b"Link: <x>", b"Location: /x", b"Refresh: 0",
    b"Alt-Svc: h3=\":443\"", b"Set-Cookie: a=b", b"Status: 200",
    b"Alt-Used: evil.test", b"X-Amz-Security: x", b"Depth: infinity",
]
COOKIES = [
    b"Cookie: a=b", b"Cookie: session=KEY", b"cookie: ", b"COOKIE: x",
    b"Cookie: a=b; c=d", b"Cookie: __Secure-x=1", b"Cookie2: $Version=1",
    b"Cookie: sk-ant-api03-x", b"Cookie: a=\"b\"", b"Cookie: a",
    b"Cookie: a=b\r\nCookie: c=d",
]
# Names on the list: the value as sent, and as received.
PASSED = {
    A: [(b"accept", b"*/*"), (b"accept-language", b"en"),
        (b"anthropic-version", b"2023-06-01"), (b"anthropic-beta", b"a,b"),
        (b"anthropic-dangerous-direct-browser-access", b"true"),
        (b"user-agent", b"x/1 (y; z)"), (b"x-app", b"cli"),
        (b"x-claude-code-session-id", b"1-2-3"), (b"x-stainless-os", b"Linux"),
        (b"x-stainless-retry-count", b"0"), (b"x-session-id", b"q"),
        (b"x-client-request-id", b"r"), (b"x-service-name", b"s"),
        (b"if-none-match", b"\"abc\""), (b"accept", b"text/event-stream"),
        (b"user-agent", b"y" * 8000), (b"x-app", b""),
        (b"anthropic-x", b"a\tb"), (b"user-agent", b"!\"#$%&'()*+,-./:;<=>?@"),
        (b"user-agent", b"[\\]^_`{|}~")],
    O: [(b"accept", b"*/*"), (b"openai-beta", b"responses=v1"),
        (b"openai-organization", b"org-1"), (b"openai-project", b"p"),
        (b"user-agent", b"codex/1"), (b"x-stainless-lang", b"js"),
        (b"originator", b"codex_cli_rs"), (b"session_id", b"s-1"),
        (b"conversation_id", b"c"), (b"version", b"0.1"),
        (b"thread-id", b"i"), (b"x-codex-turn", b"1")],
}


def forwarded():
    out = []
    for host in (A, O):
        for line in DROPPED:
            out.append(Case(12, f"{line!r}", host, get(line + b"\r\n", host),
                            got(host=host)))
        for line in COOKIES:
            out.append(Case(28, f"{line!r}", host, get(line + b"\r\n", host),
                            got(host=host)))
        for name, value in PASSED[host]:
            for form in (name, name.upper(), name.title()):
                out.append(Case(12, f"{form!r}: {value[:20]!r}", host, get(
                    form + b":  " + value + b" \r\n", host),
                    got([(name, value)], host)))
            out.append(Case(12, f"{name!r} twice", host, get(
                (name + b": a\r\n") * 2, host), no(
                    "malformed", "a header that is forwarded is given twice")))
            for value in (b"\xc3\xa4", b"a\x80b", b"y" * 8193):
                out.append(Case(12, f"{name!r}: {value[:4]!r}", host, get(
                    name + b": " + value + b"\r\n", host),
                    no("headers", NON_ASCII)))
    every = [(n, v) for n, v in PASSED[A][2:14]]
    out.append(Case(12, "in the order given", A, get(b"".join(
        n + b": " + v + b"\r\n" + DROPPED[i] + b"\r\n"
        for i, (n, v) in enumerate(every))), got(every)))
    out.append(Case(12, "and reversed", A, get(b"".join(
        n.upper() + b": " + v + b"\r\n" for n, v in reversed(every))),
        got(every[::-1])))
    return out


# ---- row 16: the key in the wrong place ----------------------------------
FOREIGN = [
    b"x-goog-api-key: AIzaSy", b"api-key: x", b"apikey: x", b"X-Api_Key: x",
    b"x_api_key: KEY", b"proxy-authorization: Basic eDp5",
    b"Proxy-Authorization: Bearer KEY", b"x-authorization: Bearer KEY",
    b"X-Auth-Token: x", b"x-access-token: x", b"X-Amz-Security-Token: x",
    b"ocp-apim-api-key: x", b"x-openai-api-key: sk-x",
    b"x-anthropic-api-key: KEY", b"openai-api-key: x", b"X-MyAuthorization: x",
    b"x-vault-token-api-key: x", b"x-gitlab-api-token: x",
    b"anthropic-api-key: KEY", b"x-stainless-api-key: KEY",
    b"x-stainless-authorization: x", b"Api_Key: x", b"x-goog-apikey: x",
]


def misplaced():
    out = []
    for host in (A, O):
        for line in FOREIGN:
            for data in (get(line + b"\r\n", host),
                         get(host=host, key=line + b"\r\n" + KEY[host])):
                out.append(Case(16, f"{line!r}", host, data,
                                no("foreign-key")))
            out.append(Case(16, f"only {line!r}", host, get(
                host=host, key=line + b"\r\n"), no("foreign-key")))
        out.append(Case(16, "the key twice", host, get(KEY[host], host),
                        no("two-keys")))
        out.append(Case(16, "the key, then another", host, get(
            KEY[host].replace(b"KEY", b"x"), host), no("two-keys")))
    out += [
        Case(16, "both headers", A, get(b"authorization: Bearer KEY\r\n"),
             no("two-keys")),
        Case(16, "x-api-key at OpenAI", O, get(b"x-api-key: KEY\r\n", O),
             no("foreign-key")),
        Case(16, "only x-api-key at OpenAI", O, get(
            host=O, key=b"x-api-key: KEY\r\n"), no("foreign-key")),
        Case(16, "as a bearer token", A, get(
            key=b"Authorization: Bearer KEY\r\n"), sent(
                GETS[A], cred=b"authorization: Bearer REAL\r\n")),
        Case(16, "upper case name", A, get(key=b"X-Api-Key:KEY\r\n"), got()),
        Case(16, "in the query", A, get(
            line=b"GET /api/hello?key=KEY HTTP/1.1\r\n"), no("query")),
        Case(16, "in the path", A, get(
            line=b"GET /api/KEY HTTP/1.1\r\n"), no("endpoint")),
        Case(16, "in a cookie alone", A, get(key=b"Cookie: KEY\r\n"),
             no("no-key")),
    ]
    for host in (A, O):
        # No substring is replaced anywhere: the header arrives unchanged.
        for where in (b"user-agent", b"accept", b"x-stainless-x"):
            out.append(Case(16, f"in {where!r}", host, get(
                where + b": KEY\r\n", host), got([(where, b"KEY")], host)))
        text = POSTS[host][1].replace(b"hi", b"my key is KEY")
        out.append(Case(16, "in the body", host, post(host=host, body=text),
                        posted(host=host, body=text)))
        text = text.replace(b"is", b"REAL?")
        out.append(Case(16, "in the body, with a guess", host,
                        post(host=host, body=text.replace(b"REAL", b"sk-")),
                        posted(host=host, body=text.replace(b"REAL",
                                                            b"sk-"))))
    return out


# ---- rows 17, 18, 19: wrong keys, no key, another provider's key ----------
WRONG = [
    b"", b"x", b"KE", b"KEYx", b"xKEY", b"KEY,KEY", b"KEY KEY", b"KEY;",
    b"\"KEY\"", b"'KEY'", b"Bearer KEY KEY", b"key", b"%4bEY", b"KEY=",
    b"sk-ant-api03-ironcurtain-", b"sk-ironcurtain-", b"null", b"undefined",
    b"0", b"*", b"sk-ant-api03-" + b"A" * 86 + b"-AAAAAAAA", b"KEY\xa0",
    b"REALLY", b"KEY\tx", b"-KEY", b"KEY.",
]


def keys():
    out = []
    wrong = no("wrong-key")
    for value in WRONG:
        out.append(Case(17, f"{value!r}", A, get(
            key=b"x-api-key: " + value + b"\r\n"), wrong))
        for host in (A, O):
            out.append(Case(17, f"Bearer {value!r}", host, get(
                host=host, key=b"Authorization: Bearer " + value + b"\r\n"),
                wrong))
    for value in (b"KEY", b"bearer KEY", b"BEARER KEY", b"Bearer  KEY",
                  b"Bearer\tKEY", b"Basic KEY", b"Bearer", b"Bearer:KEY",
                  b"Token KEY", b"BearerKEY", b"Bearer,KEY", b"Negotiate x"):
        for host in (A, O):
            out.append(Case(17, f"{value!r}", host, get(
                host=host, key=b"Authorization: " + value + b"\r\n"), wrong))
    none = no("no-key")
    for host, lines in ((A, (
            b"GET /api/hello", b"GET /api/oauth/usage",
            b"GET /api/claude_code/settings", b"POST /v1/messages",
            b"POST /v1/messages/count_tokens", b"POST /api/eval/x",
            b"POST /api/event_logging/batch", b"POST /v1/messages?beta=true",
            b"GET /mcp-registry/v0/servers",
            b"GET /api/claude_code_penguin_mode")), (
                O, (b"POST /v1/responses", b"POST /v1/chat/completions",
                    b"GET /v1/models", b"GET /v1/models?client_version=1"))):
        for line in lines:
            data = get if line.startswith(b"GET") else post
            out.append(Case(18, f"{line!r}", host, data(
                host=host, line=line + b" HTTP/1.1\r\n", key=b""), none))
            out.append(Case(18, f"{line!r}, a cookie", host, data(
                host=host, line=line + b" HTTP/1.1\r\n",
                key=b"Cookie: x-api-key=KEY\r\n"), none))
    for value in (b"OTHER", b"OTHERKEY", b"KEYOTHER", b"REAL", b"OTHERREAL"):
        for host, heads in ((A, (b"x-api-key: ", b"authorization: Bearer ")),
                            (O, (b"Authorization: Bearer ",))):
            for head in heads:
                out.append(Case(19, f"{value!r} in {head!r}", host, get(
                    host=host, key=head + value + b"\r\n"), wrong))
        out.append(Case(19, f"{value!r} beside the right one", A, get(
            b"authorization: Bearer " + value + b"\r\n"), no("two-keys")))
    return out


# ---- row 29: an answer repeats nothing of the request ---------------------
def injection():
    out = []
    for text in (b"MARK", b"MARK<script>", b"MARK\"}", b"MARK'--", b"MARK,x",
                 b"MARK\\u0000", b"MARK%0d%0aX:y", b"MARK${x}", b"MARK%n%s"):
        for host in (A, O):
            path = b"GET /" + text + b" HTTP/1.1\r\n"
            plain = text == b"MARK"
            why = no("endpoint") if plain else no(
                "malformed", "the path holds an escape, a dot or empty "
                "segment, or characters other than letters, digits and -._:")
            out.append(Case(29, f"path {text!r}", host, get(
                host=host, line=path), why))
            out.append(Case(29, f"key {text!r}", host, get(
                host=host, key=KEY[host].replace(b"KEY", text)),
                no("wrong-key")))
            out.append(Case(29, f"Host {text!r}", host, GETS[host] +
                            b"Host: " + text + b"\r\n\r\n", no(
                                "malformed",
                                "Host is not the host of this connection")))
    return out


# ---- content types and codings -------------------------------------------
def contents():
    out = []
    for host in (A, O):
        for v in (b"text/plain", b"application/jsonx", b"application/xml",
                  b"multipart/form-data; boundary=x", b"", b"json",
                  b"application/x-www-form-urlencoded", b"application",
                  b"text/json", b"application/json+x", b"application/json,x",
                  b"application/ json", b"*/*"):
            out.append(Case(12, f"type {v!r}", host, post(
                host=host, kind=b"Content-Type: " + v + b"\r\n"), no("type")))
        out.append(Case(12, "no type", host, post(host=host, kind=b""),
                        no("type")))
        for v in (b"br", b"deflate", b"compress", b"gzip, gzip", b"x",
                  b"aws-chunked", b"gzip;q=1", b"zstd, gzip"):
            out.append(Case(12, f"coding {v!r}", host, post(
                b"Content-Encoding: " + v + b"\r\n", host), no("encoding")))
        out.append(Case(12, "no coding", host, post(
            b"Content-Encoding:\r\n", host), posted(host=host)))
        text = POSTS[host][1]
        packed = gzip.compress(text, mtime=0)
        out.append(Case(12, "gzip is undone", host, post(
            b"Content-Encoding: gzip\r\n", host, body=packed),
            posted(host=host)))
        for body in (b"x", packed[:-1], packed + b"x", text, b"\x1f\x8b",
                     packed[:10] + b"\xff" * 20):
            out.append(Case(12, f"gzip {body[:4]!r}", host, post(
                b"Content-Encoding: gzip\r\n", host, body=body),
                no("coded-body")))
        for body in (b"[]", b"x", b"{", b"{}x", b"{\"a\":1,\"a\":2}",
                     b"{\"a\":1,\"\\u0061\":2}", b"\xff", b"\xef\xbb\xbf{}",
                     b"{'a':1}", b"{\"a\":NaN}", b"{\"a\":01}", b"{\"a\":1,}",
                     b"null", b"\"x\"", b"{} {}", b"{\"a\":\"\xc0\xae\"}",
                     b"{\"a\":\"\\ud800\"}", b"{\"a\":\"\n\"}", b"[" * 100,
                     b"{\"a\":" * 100, b" ", b"{\"a\":\"\\x\"}"):
            out.append(Case(12, f"body {body[:20]!r}", host, post(
                host=host, body=body), no("json", ...)))
    return out


def cases():
    return forwarded() + misplaced() + keys() + injection() + contents()
