# SPDX-License-Identifier: ISC
"""Rows 1, 4, 14, 15, 21, 28 for a provider's answers: the answer as the agent
gets it, or 502, or cut."""
import collections

from rules import no

Reply = collections.namedtuple("Reply", "parts close")
# want: (head, body) as the agent gets them, a Refused, or "cut"
Case = collections.namedtuple("Case", "row name reply want")

OK = b"HTTP/1.1 200 OK\r\n"
JSON = b"Content-Type: application/json\r\n"
BODY = b'{"a":"b"}'
PRE = "the provider"
MALFORMED = no("provider", PRE + "'s answer is malformed")
CODED = no("provider", PRE + "'s answer has a coding that was not asked for; "
           "whoever runs the upstream must turn off its compression")
REDIRECT = no("provider", PRE + " redirects, which is not followed")
INTERIM = no("provider", PRE + " sent too many interim answers")
SILENT = no("provider", PRE + " closed the connection without an answer")


def reply(body, lines=JSON, status=OK, length=None):
    n = len(body) if length is None else length
    return Reply([status + lines + b"Content-Length: %d\r\n\r\n" % n + body],
                 False)


def raw(*parts, close=True):
    return Reply(list(parts), close)


def agent(body, lines=b"content-type: application/json\r\n",
          status=b"HTTP/1.1 200 OK\r\n"):
    return (status + lines + b"content-length: %d\r\n\r\n" % len(body), body)


def chunked(tail, lines=JSON):
    return OK + lines + b"Transfer-Encoding: chunked\r\n\r\n" + tail


STREAM = (OK + b"content-type: application/json\r\n"
          b"transfer-encoding: chunked\r\n\r\n")


def codings():
    out = []
    for v in (b"gzip", b"br", b"zstd", b"deflate", b"compress", b"x-gzip",
              b"gzip, identity", b"identity, gzip", b"", b"aes128gcm",
              b"Identity, br", b"dcb"):
        out.append(Case(1, f"Content-Encoding {v!r}", reply(
            BODY, JSON + b"Content-Encoding: " + v + b"\r\n"), CODED))
    for v in (b"identity", b"Identity"):
        out.append(Case(1, f"Content-Encoding {v!r}", reply(
            BODY, JSON + b"Content-Encoding: " + v + b"\r\n"), agent(BODY)))
    return out


def moved():
    out = []
    for status in (b"300 Multiple Choices", b"301 Moved", b"302 Found",
                   b"303 See Other", b"305 Use Proxy", b"306 x",
                   b"307 Temporary Redirect", b"308 Permanent Redirect",
                   b"399 x"):
        for where in (b"https://evil.test/", b"/v1/files", b""):
            out.append(Case(4, f"{status!r} to {where!r}", reply(
                b"", b"Location: " + where + b"\r\n",
                b"HTTP/1.1 " + status + b"\r\n"), REDIRECT))
    for line in (b"Location: https://evil.test/", b"Refresh: 0; url=//x",
                 b"Alt-Svc: h3=\":443\"", b"Link: </x>; rel=preload",
                 b"WWW-Authenticate: Basic", b"Proxy-Authenticate: Basic",
                 b"Proxy-Connection: close", b"Keep-Alive: timeout=5",
                 b"Upgrade: h2c", b"Trailer: x", b"Via: 1.1 x",
                 b"Server: nginx", b"X-Powered-By: x", b"Strict-Transport-"
                 b"Security: max-age=1", b"Access-Control-Allow-Origin: *",
                 b"Content-Location: /x", b"Content-Disposition: attachment",
                 b"Connection: keep-alive", b"Set-Cookie: a=b",
                 b"Clear-Site-Data: *", b"X-Forwarded-For: 1.1.1.1",
                 b"Authorization: x", b"X-Api-Key: x", b"Age: 0",
                 b"Nel: {}", b"Report-To: {}", b"Retry-After-x: 1"):
        out.append(Case(4, f"{line!r} is dropped", reply(
            BODY, JSON + line + b"\r\n"), agent(BODY)))
    for line in (b"Set-Cookie: a=b", b"set-cookie: __cf_bm=x; path=/",
                 b"Set-Cookie2: x", b"SET-COOKIE: a",
                 b"Set-Cookie: a=b\r\nSet-Cookie: c=d", b"Set-Cookie: ",
                 b"Set-Cookie: a=b; Domain=evil.test",
                 b"set-cookie: KEY=1", b"Cookie: a=b", b"Set-cookie:x",
                 b"Set-Cookie: a\tb"):
        out.append(Case(28, f"{line!r} is dropped", reply(
            BODY, JSON + line + b"\r\n"), agent(BODY)))
    passed = b"request-id: req_1\r\nretry-after: 5\r\nx-should-retry: true\r\n"
    out.append(Case(4, "what is on the list passes", reply(
        BODY, JSON + passed.title() + b"Server: x\r\n"), agent(
            BODY, b"content-type: application/json\r\n"
            b"request-id: Req_1\r\nretry-after: 5\r\nx-should-retry: True\r\n"
            )))
    for code, phrase in ((400, b"Bad Request"), (401, b"Unauthorized"),
                         (403, b"Forbidden"), (404, b"Not Found"),
                         (429, b"Too Many Requests"),
                         (500, b"Internal Server Error"),
                         (503, b"Service Unavailable"), (529, b"Overloaded")):
        line = b"HTTP/1.1 %d " % code
        out.append(Case(4, f"{code} passes, not its phrase", reply(
            BODY, status=line + b"evil\r\n"),
            agent(BODY, status=line + phrase + b"\r\n")))
    for code in (407, 421, 418, 511, 599):
        line = b"HTTP/1.1 %d " % code
        out.append(Case(4, f"{code} passes, not its phrase", reply(
            BODY, status=line + b"evil\r\n"),
            agent(BODY, status=line + b"Status\r\n")))
    return out


def interim():
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    good = OK + JSON + b"Content-Length: 9\r\n\r\n" + BODY
    out = []
    for n in (1, 2, 7, 8):
        out.append(Case(14, f"{n} of 103", raw(hints * n + good, close=False),
                        agent(BODY)))
    for n in (9, 10, 100):
        out.append(Case(14, f"{n} of 103", raw(hints * n + good), INTERIM))
    for line in (b"100 Continue", b"102 Processing", b"199 x"):
        out.append(Case(14, f"{line!r}", raw(
            b"HTTP/1.1 " + line + b"\r\n\r\n" + good, close=False),
            agent(BODY)))
    out.append(Case(14, "101", raw(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"),
        MALFORMED))
    out.append(Case(14, "1xx in parts", raw(
        hints[:10], hints[10:], good[:5], good[5:], close=False),
        agent(BODY)))
    return out


def malformed():
    L = b"Content-Length: 9\r\n"
    T = b"Transfer-Encoding: chunked\r\n"
    out = []
    for lines in (L + L, L + b"Content-Length: 5\r\n", L + T, T + L, T + T,
                  b"Content-Length: 9, 9\r\n", b"Content-Length: +9\r\n",
                  b"Content-Length: -9\r\n", b"Content-Length: 0x9\r\n",
                  b"Content-Length:\r\n", b"Content-Length : 9\r\n",
                  b"Content_Length: 9\r\n", b"Content-Length: 09\r\n",
                  b"Content-Length: " + b"9" * 20 + b"\r\n",
                  b"Transfer-Encoding: gzip, chunked\r\n",
                  b"Transfer-Encoding: identity\r\n",
                  b"Transfer_Encoding: chunked\r\n", b"x\r\n" + L,
                  b": x\r\n" + L, b"x : y\r\n" + L, b"x: y\r\n z\r\n" + L,
                  b"x: \0\r\n" + L, b"x: a\rb\r\n" + L, b"x: a\nb\r\n" + L):
        out.append(Case(15, f"{lines!r}", raw(
            OK + JSON + lines + b"\r\n" + BODY), MALFORMED))
    for status in (b"HTTP/1.1 2x0 OK", b"HTTP/1.1 000 OK", b"HTTP/1.1 999 x",
                   b"HTTP/2 200", b"HTTP/1.1 20 OK", b"HTTP/1.1 2000 OK",
                   b"HTTP/1.1  200 OK", b"HTTP/1.1\t200 OK", b"ICY 200 OK",
                   b"220 smtp ESMTP", b"{\"a\":1}", b"http/1.1 200 OK",
                   b" HTTP/1.1 200 OK", b"HTTP/1.1 -20 OK"):
        out.append(Case(15, f"{status!r}", raw(
            status + b"\r\n" + JSON + L + b"\r\n" + BODY), MALFORMED))
    for tail in (b"zz\r\n", b"+9\r\n", b"0x9\r\n", b"09\r\n", b"9;a=b\r\n",
                 b"9\n", b"9 \r\n", b"\r\n", b"f" * 16 + b"\r\n",
                 b"9\r\n" + BODY + b"0\r\n\r\n", b"9\r\n" + BODY + b"\n",
                 b"9\r\n" + BODY + b"\r\n", b"9\r\n" + BODY + b"\r\n0\r\n",
                 b"9\r\n" + BODY[:4], b"9\r\n" + BODY + b"\r\n0\r\nx\r\n\r\n",
                 b"9\r\n" + BODY + b"\r\n0\r\na: b\n\r\n"):
        out.append(Case(15, f"chunks {tail!r}", raw(chunked(tail)), "cut"))
    out.append(Case(15, "a short body", raw(
        OK + JSON + b"Content-Length: 90\r\n\r\n" + BODY), "cut"))
    for part in (b"HTTP/1.1 200 OK\r\nContent-Le", b"HTTP/1"):
        out.append(Case(15, f"{part!r}", raw(part), no(
            "provider", PRE + "'s answer ended too early")))
    out.append(Case(15, "nothing", raw(), SILENT))
    for name in (b"x-api-key: x", b"content-length: 5", b"set-cookie: a=b",
                 b"request-id: evil", b"transfer-encoding: chunked",
                 b"content-encoding: gzip", b"location: //x",
                 b"grpc-status: 0", b"a: ", b"x: y\r\nz: w", b"trailer: x"):
        out.append(Case(15, f"trailer {name!r} is dropped", raw(
            chunked(b"9\r\n" + BODY + b"\r\n0\r\n" + name + b"\r\n\r\n"),
            close=False), (STREAM, BODY)))
    for lines, tail in ((b"Transfer-Encoding: Chunked\r\n", b"9\r\n%s\r\n0\r\n\r\n"),
                        (b"Transfer-Encoding:\t chunked \r\n",
                         b"9;a=b\r\n%s\r\n0;c\r\n\r\n"),
                        (T, b"0009 \r\n%s\r\n000\r\n\r\n")):
        out.append(Case(15, f"{lines + tail!r} is read", raw(
            OK + JSON + lines + b"\r\n" + tail % BODY, close=False), (STREAM, BODY)))
    for line in (b"Content-Length:  9\r\n", b"Content-Length: 9 \t\r\n"):
        out.append(Case(15, f"{line!r} is read", raw(
            OK + JSON + line + b"\r\n" + BODY, close=False), agent(BODY)))
    return out


def reuse():
    """Whatever the connection did, the next request gets its own answer."""
    good = OK + JSON + b"Content-Length: 9\r\n\r\n" + BODY
    evil = OK + JSON + b"Content-Length: 4\r\n\r\nevil"
    out = []
    for name, r in (
            ("a second answer behind it", raw(good + evil, close=False)),
            ("a second answer, in another record", raw(good, evil,
                                                       close=False)),
            ("bytes behind it", raw(good + b"x", close=False)),
            ("half an answer behind it", raw(good + OK, close=False)),
            ("behind the chunks", raw(chunked(
                b"9\r\n" + BODY + b"\r\n0\r\n\r\n") + evil, close=False)),
            ("Connection: close", raw(
                OK + JSON + b"Connection: close\r\nContent-Length: 9\r\n\r\n"
                + BODY)),
            ("until it closes", raw(OK + JSON + b"\r\n" + BODY)),
            ("HTTP/1.0", raw(b"HTTP/1.0 200 OK\r\n" + JSON +
                             b"Content-Length: 9\r\n\r\n" + BODY)),
            ("closed without a word", raw(good)),
            ("an error", raw(good.replace(b"200 OK", b"500 x"),
                             close=False))):
        want = agent(BODY)
        if "chunks" in name or "until" in name:
            want = (STREAM, BODY)
        if name == "an error":
            want = agent(BODY,
                         status=b"HTTP/1.1 500 Internal Server Error\r\n")
        out.append(Case(21, name, r, want))
        out.append(Case(21, name + ", and the next", reply(b"next"),
                        agent(b"next")))
    return out


def split():
    """A good answer is the same however it is split (row 3)."""
    good = OK + JSON + b"request-id: r\r\nContent-Length: 9\r\n\r\n" + BODY
    lines = b"content-type: application/json\r\nrequest-id: r\r\n"
    out = [Case(3, f"cut at {i}", raw(good[:i], good[i:], close=False),
                agent(BODY, lines)) for i in range(1, len(good), 7)]
    out.append(Case(3, "byte by byte", raw(
        *[bytes([c]) for c in good], close=False), agent(BODY, lines)))
    stream = chunked(b"4\r\n" + BODY[:4] + b"\r\n5\r\n" + BODY[4:] +
                     b"\r\n0\r\n\r\n")
    out.append(Case(3, "chunks byte by byte", raw(
        *[bytes([c]) for c in stream], close=False), (STREAM, BODY)))
    return out


def cases():
    return codings() + moved() + interim() + malformed() + reuse() + split()
