# SPDX-License-Identifier: ISC
"""Rows 9, 13, 14, 15: framing, hop-by-hop headers, Expect, trailers."""
from rules import (A, GETS, HELLO, HOST, JSON, KEY, MESSAGES, O, POSTS, TURN,
                   Case, get, got, no, post, posted, size)

DIGITS = "Content-Length is not plain digits"
SPACE = "white space about a framing header"
CODING = "Transfer-Encoding is not exactly chunked"
CONTROL = "control character in header value"
NAME = "bad character in header name"


def framed(lines, host=A, body=b"{}"):
    """A POST with these lines for its framing."""
    return POSTS[host][0] + HOST[host] + KEY[host] + JSON + lines + \
        b"\r\n" + body


def lengths():
    rows = [(v, DIGITS) for v in (
        b"+2", b"-2", b"-0", b"0x2", b"2.0", b"2e0", b"2;", b"2 2", b"2\t2",
        b"two", b"_2", b"2_", b"1_0", b"'2'", b"\"2\"", b"2h", b"\xb2",
        b"\xef\xbc\x92", b"0b10", b"0o2", b"(2)", b"2/2", b"*", b"NaN",
        b"\xd9\xa2", b"~2", b"2%", b"#2", b"2:", b"inf", b"2=")]
    rows += [(v, "Content-Length is a list") for v in (
        b"2,2", b"2, 2", b",2", b"2,", b"2,3", b"2,x")]
    rows += [(v, "Content-Length has a leading zero") for v in (
        b"00", b"02", b"000000000000000000002", b"0000")]
    rows += [(v, "Content-Length is too large") for v in (
        b"9" * 20, b"18446744073709551618", b"9223372036854775808",
        b"9999999999999999999", b"1" + b"0" * 40)]
    rows += [(b"", "Content-Length is empty")]
    out = []
    for host in (A, O):
        for v, why in rows:
            out.append(Case(9, f"Content-Length {v!r}", host,
                            framed(b"Content-Length: " + v + b"\r\n", host),
                            no("malformed", why)))
    for v in (b"33554433", b"99999999", b"9223372036854775807"):
        out.append(Case(9, f"Content-Length {v!r}", A,
                        framed(b"Content-Length: " + v + b"\r\n", body=b""),
                        no("too-large")))
    for lines in (b"Content-Length:  2\r\n", b"Content-Length: 2 \r\n",
                  b"Content-Length:\t2\r\n", b"Content-Length: 2\t\r\n",
                  b"Content-Length: \t2\r\n", b"content-length:   2\r\n",
                  b"Transfer-Encoding:  chunked\r\n",
                  b"Transfer-Encoding:\tchunked\r\n",
                  b"Transfer-Encoding: chunked \r\n",
                  b"Transfer-Encoding: chunked\t\r\n"):
        out.append(Case(9, f"{lines!r}", A, framed(lines),
                        no("malformed", SPACE)))
    for lines in (b"Content-Length: 2\x0b\r\n", b"Content-Length: \x0c2\r\n",
                  b"Transfer-Encoding: \x0bchunked\r\n",
                  b"Transfer-Encoding: chunked\x0c\r\n",
                  b"Transfer-Encoding: chun\x7fked\r\n"):
        out.append(Case(9, f"{lines!r}", A, framed(lines),
                        no("malformed", CONTROL)))
    return out


def double():
    twice = no("malformed", "Content-Length given twice")
    both = no("malformed",
              "both Content-Length and Transfer-Encoding")
    again = no("malformed", "Transfer-Encoding given twice")
    L, T = b"Content-Length: 2\r\n", b"Transfer-Encoding: chunked\r\n"
    x = b"x-app: cli\r\n"
    rows = [(L + L, twice), (L + b"Content-Length: 3\r\n", twice),
            (b"Content-Length: 0\r\n" + L, twice),
            (L + b"CONTENT-LENGTH: 2\r\n", twice), (L + x + L, twice),
            (b"content-length: 2\r\ncontent-length: x\r\n", twice),
            (L + T, both), (T + L, both), (T + b"content-length: 0\r\n", both),
            (L + x + T, both), (L + b"Transfer-Encoding: identity\r\n", both),
            (L + b"transfer-encoding: x\r\n", both),
            (L + b"Transfer-Encoding:\r\n", both),
            (b"Content-Length: 5\r\n" + T, both),
            (T + T, again), (T + b"transfer-encoding: gzip\r\n", again),
            (b"Transfer-Encoding: gzip\r\n" + T, again), (T + x + T, again)]
    return [Case(9, f"{lines!r}", host, framed(lines, host), want)
            for host in (A, O) for lines, want in rows]


def codings():
    out = []
    for v in (b"", b"Chunked", b"CHUNKED", b"gzip", b"identity", b"x",
              b"chunked,", b",chunked", b"chunked, chunked", b"gzip, chunked",
              b"chunked, gzip", b"chunked;q=1", b"chunked; x", b"\"chunked\"",
              b"'chunked'", b"xchunked", b"chunkedx", b"chun ked",
              b"chunked\xa0", b"\xa0chunked", b"chun\xc4\xb1ked", b"cow",
              b"chunke", b"deflate", b"compress", b"trailers", b"chunked\x85",
              b"chunKed", b"chunked=1", b"*"):
        for host in (A, O):
            out.append(Case(9, f"Transfer-Encoding {v!r}", host, framed(
                b"Transfer-Encoding: " + v + b"\r\n", host),
                no("malformed", CODING)))
    for name in (b"Content_Length", b"content_length", b"CONTENT_LENGTH",
                 b"CONTENT_length"):
        out.append(Case(9, f"{name!r}", A, framed(name + b": 2\r\n"),
                        no("malformed", "look-alike of Content-Length")))
    for name in (b"Transfer_Encoding", b"transfer_encoding",
                 b"TRANSFER_ENCODING"):
        out.append(Case(9, f"{name!r}", A, framed(name + b": chunked\r\n"),
                        no("malformed", "look-alike of Transfer-Encoding")))
    for name, why in (
            (b"Content-Length ", "space before colon"),
            (b"Content-Length\t", "space before colon"),
            (b"Transfer-Encoding ", "space before colon"),
            (b" Content-Length", "folded header line"),
            (b"\tTransfer-Encoding", "folded header line"),
            (b"Transfer-Encod\xc4\xb1ng", NAME), (b"Content\xa0Length", NAME),
            (b"Content-Length\x0b", NAME), (b"Transfer-Encoding\x0c", NAME),
            (b"Transfer Encoding", "space before colon"),
            (b"(Content-Length", NAME), (b"Content-Length\0", "NUL in head"),
            (b"\xef\xbb\xbfContent-Length", NAME), (b"\"Content-Length\"",
                                                    NAME),
            (b"Content\\Length", NAME), (b"Content/Length", NAME),
            (b"Content-Length\x7f", NAME), (b"", "header name is empty")):
        out.append(Case(9, f"name {name!r}", A, framed(name + b": 2\r\n"),
                        no("malformed", why)))
    return out


def heads():
    """Malformed lines, versions, ends of lines."""
    full = HELLO + HOST[A] + KEY[A]
    version = "HTTP version is not 1.1"
    missing = "no HTTP version after the target"
    rows = [
        (full + b" folded\r\n\r\n", "folded header line"),
        (full + b"\tfolded\r\n\r\n", "folded header line"),
        (HELLO + b" " + HOST[A] + b"\r\n", "folded header line"),
        (full + b"x\r\n\r\n", "header line without a colon"),
        (full + b": x\r\n\r\n", "header name is empty"),
        (full + b"x: a\nb: c\r\n\r\n", "bare LF"),
        (full + b"x: a\rb: c\r\n\r\n", "bare CR"),
        (full + b"x: a\r\r\n\r\n", "bare CR"),
        (full + b"\n", "bare LF"), (full + b"\rx", "bare CR"),
        (full.replace(b"\r\n", b"\n") + b"\n", "bare LF"),
        (full.replace(b"\r\n", b"\r") + b"\r\r", "bare CR"),
        (full + b"x: \0\r\n\r\n", "NUL in head"),
        (full + b"x\0y: z\r\n\r\n", "NUL in head"),
        (full + b"x: \x01\r\n\r\n", CONTROL),
        (full + b"x: \x7f\r\n\r\n", CONTROL),
        (full + b"x: \x1b[31m\r\n\r\n", CONTROL),
        (full + b"x: a\x08b\r\n\r\n", CONTROL),
        (full + b"x y: z\r\n\r\n", "space before colon"),
        (full + b"x@y: z\r\n\r\n", NAME), (full + b"x[0]: z\r\n\r\n", NAME),
        (full + b"x;: z\r\n\r\n", NAME), (full + b"x,y: z\r\n\r\n", NAME),
        (full + b"x=y: z\r\n\r\n", NAME), (full + b"{x}: z\r\n\r\n", NAME),
        (b"\r\n" + full + b"\r\n", "empty line before the request"),
        (b"\n" + full + b"\r\n", "empty line before the request"),
        (b"\0" + full + b"\r\n", "NUL in head"),
        (b"\x16\x03\x01" + full + b"\r\n", "bad character in method"),
        (b"\xef\xbb\xbf" + full + b"\r\n", "bad character in method"),
    ]
    for v, why in ((b"HTTP/1.0", version), (b"HTTP/1.2", version),
                   (b"HTTP/2", version), (b"HTTP/2.0", version),
                   (b"HTTP/0.9", version), (b"HTTP/1.10",
                                            "text after the HTTP version"),
                   (b"HTTP/01.1", version), (b"HTTP/1,1", version),
                   (b"HTTP/+1.1", version), (b"HTTP/11", version),
                   (b"http/1.1", missing), (b"Http/1.1", missing),
                   (b"HTTPS/1.1", missing), (b"ICY/1.1", missing),
                   (b"HTTP /1.1", missing), (b"HTTP/ 1.1", version),
                   (b" HTTP/1.1", missing),
                   (b"HTTP/1.1 ", "text after the HTTP version"),
                   (b"HTTP/1.1 x", "text after the HTTP version"),
                   (b"HTTP/1.1\t", "text after the HTTP version"),
                   (b"HTTP/1.1;", "text after the HTTP version"),
                   (b"HTTP/\xd9\xa1.1", version)):
        rows.append((b"GET /api/hello " + v + b"\r\n" + HOST[A] + b"\r\n",
                     why))
    rows += [(b"GET /api/hello\r\n" + HOST[A] + b"\r\n",
              "request line without a version"),
             (b"GET\r\n\r\n", "bad character in method"),
             (b"GET \r\n\r\n", "request line without a version"),
             (b"GET\t/api/hello\tHTTP/1.1\r\n\r\n",
              "bad character in method"),
             (b"GET /api/hello\tHTTP/1.1\r\n\r\n",
              "control character in target"),
             (b"GET  /api/hello HTTP/1.1\r\n\r\n", "target is empty"),
             (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/2 preface"),
             (b"HTTP/1.1 200 OK\r\n\r\n", "bad character in method")]
    out = [Case(9, f"{data[-60:]!r}", A, data, no("malformed", why))
           for data, why in rows]
    out.append(Case(9, "101 headers", A, get(b"".join(
        b"x-%d: y\r\n" % i for i in range(99))),
        no("headers", "more than 100 headers")))
    out.append(Case(9, "100 headers", A, get(b"".join(
        b"x-%d: y\r\n" % i for i in range(98))), got()))
    out.append(Case(9, "64 KiB", A, HELLO + HOST[A] + b"x: " + b"y" * 65536,
                    no("headers", "head is larger than 64 KiB")))
    return out


def chunked(tail, host=A):
    return framed(b"Transfer-Encoding: chunked\r\n", host, tail)


def chunks():
    bad = "bad character in chunk size"
    zero, ext = "chunk size has a leading zero", "chunk extension"
    end = "no CRLF after a chunk"
    rows = [
        (b"+2\r\n{}\r\n0\r\n\r\n", bad), (b"-2\r\n", bad), (b"0x2\r\n", bad),
        (b"0X2\r\n", bad), (b"2_\r\n", bad), (b"_2\r\n", bad),
        (b"g\r\n", bad), (b"\xef\xbc\x92\r\n", bad), (b"2h\r\n", bad),
        (b"2.\r\n", bad), (b"2,\r\n", bad), (b"\"2\"\r\n", bad),
        (b"2\0\r\n", bad), (b" 2\r\n", bad), (b"\t2\r\n", bad),
        (b"2\x0b\r\n", bad), (b"2\x0c\r\n", bad), (b"2#\r\n", bad),
        (b"2 \r\n", "white space after a chunk size"),
        (b"2\t\r\n", "white space after a chunk size"),
        (b"2 ;x\r\n", "white space after a chunk size"),
        (b"02\r\n", zero), (b"002\r\n", zero), (b"00\r\n", zero),
        (b"000000000000000000002\r\n", zero),
        (b"f" * 16 + b"\r\n", "chunk size is over 15 digits"),
        (b"1" + b"0" * 15 + b"\r\n", "chunk size is over 15 digits"),
        (b"2;\r\n{}\r\n0\r\n\r\n", ext), (b"2;a\r\n", ext),
        (b"2;a=b\r\n", ext), (b"2;a=\"b\"\r\n", ext), (b"2;\n\r\n", ext),
        (b"2;a\n\r\n", ext), (b"0;x\r\n\r\n", ext),
        (b"\r\n{}", "chunk size is empty"),
        (b"2\r\n{}\r\n\r\n", "chunk size is empty"),
        (b"2\n{}\r\n0\r\n\r\n", "bare LF in a chunk line"),
        (b"\n", "bare LF in a chunk line"),
        (b"2\r{}\r\n0\r\n\r\n", "bare CR in a chunk line"),
        (b"2\r\r\n", "bare CR in a chunk line"),
        (b"2\r\n{}\n0\r\n\r\n", end), (b"2\r\n{}\r0\r\n\r\n", end),
        (b"2\r\n{}0\r\n\r\n", end), (b"1\r\n{}\r\n0\r\n\r\n", end),
        (b"2\r\n{} \r\n", end), (b"2\r\n{}X\n", end),
        (b"2\r\n{}\r\n0\n\n", "bare LF in a chunk line"),
        (b"2\r\n{}\r\n0\r\n\n", "bare LF after the last chunk"),
        (b"2\r\n{}\r\n0\r\n\rX", "bare CR after the last chunk"),
        (b"2\r\n{}\r\n0\r\r\n", "bare CR in a chunk line"),
        (b"2\r\n{}\r\n-0\r\n\r\n", bad), (b"2\r\n{}\r\n0 \r\n\r\n",
                                          "white space after a chunk size"),
    ]
    out = [Case(9, f"chunk {tail!r}", host, chunked(tail, host),
                no("malformed", why)) for host in (A, O)
           for tail, why in rows]
    n = b"%x" % len(TURN)
    for tail in (n + b"\r\n" + TURN + b"\r\n0\r\n\r\n",
                 n.upper() + b"\r\n" + TURN + b"\r\n0\r\n\r\n",
                 b"1\r\n{\r\n%x\r\n" % (len(TURN) - 1) + TURN[1:] +
                 b"\r\n0\r\n\r\n",
                 b"".join(b"1\r\n%c\r\n" % c for c in TURN) + b"0\r\n\r\n"):
        out.append(Case(9, f"good chunks {tail[:20]!r}", A, chunked(tail),
                        posted()))
        out.append(Case(9, f"byte by byte {tail[:20]!r}", A,
                        (chunked(tail), 0), posted()))
    return out


def bodies():
    """Bodies of requests that have none, and bytes after a request."""
    none = no("malformed", "body on a method that has none")
    out = []
    for lines, body in ((b"Content-Length: 2\r\n", b"{}"),
                        (b"Content-Length: 1\r\n", b"x"),
                        (b"Transfer-Encoding: chunked\r\n", b"0\r\n\r\n"),
                        (b"Transfer-Encoding: chunked\r\n",
                         b"2\r\n{}\r\n0\r\n\r\n")):
        for host in (A, O):
            out.append(Case(9, f"GET with {lines!r}", host, GETS[host] +
                            HOST[host] + KEY[host] + lines + b"\r\n" + body,
                            none))
    smuggled = b"GET /api/oauth/usage HTTP/1.1\r\n" + HOST[A] + KEY[A] + \
        b"\r\n"
    out += [
        Case(9, "a length of 0 on GET", A, get(b"Content-Length: 0\r\n"),
             got()),
        Case(9, "pipelined", A, get() + get(), [got(), got()]),
        Case(9, "five pipelined", A, get() * 5, [got()] * 5),
        Case(9, "POST, then GET", A, post() + get(), [posted(), got()]),
        Case(9, "a request in a body", A, post(
            line=b"POST /api/event_logging/batch HTTP/1.1\r\n", body=smuggled),
            posted(line=b"POST /api/event_logging/batch HTTP/1.1\r\n",
                   body=smuggled)),
        Case(9, "bytes after the body", A, post() + b"x\r\n\r\n",
             [posted(), no("malformed", "method is not upper case")]),
        Case(9, "CL.0", A, framed(b"Content-Length: 0\r\n", body=smuggled),
             [posted(body=b""), got(line=b"GET /api/oauth/usage HTTP/1.1")]),
        Case(9, "bytes after the last chunk", A, chunked(
            b"%x\r\n" % len(TURN) + TURN + b"\r\n0\r\n\r\nX\r\n\r\n"),
            [posted(), no("malformed", "bad character in method")]),
        Case(9, "a request after the last chunk", A, chunked(
            b"%x\r\n" % len(TURN) + TURN + b"\r\n0\r\n\r\n") + get(),
            [posted(), got()]),
        Case(9, "a refused one, then a good one", A, MESSAGES.replace(
            b"messages", b"files") + HOST[A] + KEY[A] + JSON +
            b"Content-Length: %d\r\n\r\n" % size(smuggled, A) + smuggled +
            get(),
            [no("endpoint"), got()]),
        Case(9, "a good one, then a bad one", A, get() + get(b"x\0: y\r\n"),
             [got(), no("malformed", "NUL in head")]),
        Case(9, "a bad one, then a good one", A, get(b"x : y\r\n") + get(),
             no("malformed", "space before colon")),
    ]
    for cut in range(1, 40, 3):
        data = get()
        out.append(Case(9, f"cut at {cut}", A, (data, cut),
                        got()))
    return out


# ---- row 13: hop by hop --------------------------------------------------
def hops():
    named = "Connection other than close or keep-alive"
    out = []
    for v in (b"x-api-key", b"close, x-api-key", b"keep-alive, x-api-key",
              b"close, close", b"close,", b"", b"keepalive", b"upgrade",
              b"Upgrade, HTTP2-Settings", b"te", b"content-length",
              b"transfer-encoding", b"host", b"close;", b"\"close\"",
              b"keep-alive, close", b"closed", b"xclose", b"cl ose",
              b"authorization", b"x-forwarded-for", b"accept-encoding"):
        for host in (A, O):
            out.append(Case(13, f"Connection {v!r}", host, get(
                b"Connection: " + v + b"\r\n", host), no("malformed", named)))
    for second in (b"Connection: close\r\n", b"connection: keep-alive\r\n"):
        out.append(Case(13, "Connection twice", A, get(
            b"Connection: close\r\n" + second),
            no("malformed", "Connection given twice")))
    for v in (b"close", b"Close", b"CLOSE", b"keep-alive", b"Keep-Alive"):
        out.append(Case(13, f"Connection {v!r}", A, get(
            b"Connection: " + v + b"\r\n"), got()))
    # Headers that clients send to a hop by habit are read, and end there.
    for v in (b"trailers", b"", b"gzip, trailers", b"deflate;q=0.3"):
        out.append(Case(13, f"TE {v!r}", A, get(b"TE: " + v + b"\r\n"),
                        got()))
        out.append(Case(13, f"TE {v!r}, named in Connection", A, get(
            b"TE: " + v + b"\r\nConnection: TE, close\r\n"), got()))
    for v in (b"chunked", b"trailers, chunked", b"x-api-key", b"gzip,"):
        out.append(Case(13, f"TE {v!r}", A, get(b"TE: " + v + b"\r\n"),
                        no("malformed", "TE header")))
    for v in (b"30", b"timeout=5", b"timeout=5, max=100"):
        out.append(Case(13, f"Keep-Alive {v!r}", A, get(
            b"Keep-Alive: " + v + b"\r\n"), got()))
    for v in (b"", b"5,", b"a b", b"\"5\"", b"5\r\nKeep-Alive: 5"):
        out.append(Case(13, f"Keep-Alive {v!r}", A, get(
            b"Keep-Alive: " + v + b"\r\n"),
            no("malformed", "Keep-Alive header")))
    for v in (b"", b"AAMAAABkAARAAAAAAAIAAAAA", b"x"):
        out.append(Case(13, f"HTTP2-Settings {v!r}", A, get(
            b"HTTP2-Settings: " + v + b"\r\n"),
            no("malformed", "HTTP2-Settings header")))
    for v in (b"h2c", b"websocket", b"WebSocket", b"h2", b"TLS/1.0", b"",
              b"HTTP/2.0", b"foo/2", b"websocket, h2c", b"connect-udp"):
        for extra in (b"", b"Connection: Upgrade\r\n",
                      b"Connection: Upgrade, HTTP2-Settings\r\n"):
            out.append(Case(13, f"Upgrade {v!r}", A, get(
                extra + b"Upgrade: " + v + b"\r\n"), no("upgrade")))
    return out


# ---- row 14: Expect ------------------------------------------------------
def expects():
    out = []
    for v in (b"", b"200-ok", b"100-continue, x", b"100-continue,",
              b"100 -continue", b"100_continue", b"100-continue;q=1",
              b"x=100-continue", b"\"100-continue\"", b"102-processing",
              b"100-cont\xc4\xb1nue", b"100-continu", b"100-continuee",
              b"1oo-continue", b"100"):
        for host in (A, O):
            out.append(Case(14, f"Expect {v!r}", host, post(
                b"Expect: " + v + b"\r\n", host), no("expect")))
    out += [
        Case(14, "Expect twice", A, post(b"Expect: 100-continue\r\n" * 2),
             no("expect")),
        Case(14, "Expect on GET", A, get(b"Expect: 100-continue\r\n"),
             no("expect")),
        Case(14, "Expect and no body", A, post(
            b"Expect: 100-continue\r\n", body=b""), no("expect")),
        Case(14, "x-expect", A, post(b"x-expect: 1\r\n"), posted()),
        Case(14, "Expect with a space", A, post(b"Expect : 100-continue\r\n"),
             no("malformed", "space before colon")),
    ]
    for v in (b"100-continue", b"100-Continue", b"100-CONTINUE",
              b" 100-continue  "):
        for host in (A, O):
            out.append(Case(14, f"Expect {v!r}", host, post(
                b"Expect: " + v + b"\r\n", host), posted(host=host)))
    return out


# ---- row 15: trailers ----------------------------------------------------
def trailers():
    why = "trailer in a request"
    out = []
    for name in (b"x-api-key: KEY", b"authorization: Bearer KEY", b"x: y",
                 b"content-length: 2", b"transfer-encoding: chunked",
                 b"host: evil.test", b"cookie: a=b", b"trailer: x",
                 b"content-type: text/plain", b"x", b":", b" x: y", b"\tx",
                 b"GET / HTTP/1.1", b"grpc-status: 0", b"\x01", b"0"):
        for host in (A, O):
            out.append(Case(15, f"trailer {name!r}", host, chunked(
                b"2\r\n{}\r\n0\r\n" + name + b"\r\n\r\n", host),
                no("malformed", why)))
    for v in (b"x-api-key", b"x", b"content-length"):
        lines = b"Trailer: " + v + b"\r\n"
        out.append(Case(15, f"Trailer: {v!r} is dropped", A, post(lines),
                        posted()))
    return out


def cases():
    return lengths() + double() + codings() + heads() + chunks() + bodies() + \
        hops() + expects() + trailers()
