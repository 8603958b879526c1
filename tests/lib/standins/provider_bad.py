# SPDX-License-Identifier: ISC
"""Answers that no reader may accept: malformed framing, by name.  Each is the
complete reply; a lenient reader would get `BODY` from it."""
BODY = b'{"type":"message","text":"bad framing"}'
_OK = b"HTTP/1.1 200 OK\r\n"
_JSON = b"Content-Type: application/json\r\n"
_LEN = b"Content-Length: %d\r\n" % len(BODY)
_TE = b"Transfer-Encoding: chunked\r\n"
_CHUNK = b"%x\r\n%s\r\n" % (len(BODY), BODY)
_END = b"0\r\n\r\n"


def _head(*lines):
    return _OK + _JSON + b"".join(lines) + b"\r\n"


BAD_FRAMING = {
    # two readings of the length
    "cl-te": _head(_LEN, _TE) + _CHUNK + _END,
    "te-cl": _head(_TE, _LEN) + _CHUNK + _END,
    "cl-cl": _head(_LEN, b"Content-Length: 5\r\n") + BODY,
    "cl-cl-same": _head(_LEN, _LEN) + BODY,
    "cl-list": _head(b"Content-Length: 5, 5\r\n") + BODY,
    "cl-plus": _head(b"Content-Length: +39\r\n") + BODY,
    "cl-minus": _head(b"Content-Length: -1\r\n") + BODY,
    "cl-hex": _head(b"Content-Length: 0x27\r\n") + BODY,
    "cl-huge": _head(b"Content-Length: 99999999999999999999\r\n") + BODY,
    "cl-empty": _head(b"Content-Length:\r\n") + BODY,
    "cl-space": _head(b"Content-Length : 39\r\n") + BODY,
    "cl-underscore": _head(b"Content_Length: 39\r\n") + BODY,
    # the length does not match the body
    "cl-short": _head(b"Content-Length: 5\r\n") + BODY,
    "cl-long": _head(b"Content-Length: 5000\r\n") + BODY,
    "te-twice": _head(_TE, _TE) + _CHUNK + _END,
    "te-gzip": _head(b"Transfer-Encoding: gzip, chunked\r\n") + _CHUNK + _END,
    "te-identity": _head(b"Transfer-Encoding: identity\r\n") + BODY,
    "te-http10": b"HTTP/1.0 200 OK\r\n" + _TE + b"\r\n" + _CHUNK + _END,
    # chunks
    "chunk-junk": _head(_TE) + b"xyz\r\n" + BODY,
    "chunk-plus": _head(_TE) + b"+27\r\n" + BODY + b"\r\n" + _END,
    "chunk-0x": _head(_TE) + b"0x27\r\n" + BODY + b"\r\n" + _END,
    "chunk-zeros": _head(_TE) + b"0000" + _CHUNK + _END,
    "chunk-huge": _head(_TE) + b"fffffffffffffffff\r\n" + BODY,
    "chunk-ext": _head(_TE) + b"27;a=b\r\n" + BODY + b"\r\n" + _END,
    "chunk-lf": _head(_TE) + b"27\n" + BODY + b"\r\n" + _END,
    "chunk-no-crlf": _head(_TE) + b"27\r\n" + BODY + _END,
    "chunk-cut": _head(_TE) + b"100\r\n" + BODY,
    "no-final": _head(_TE) + _CHUNK,
    "final-cut": _head(_TE) + _CHUNK + b"0\r\n",
    "trailer-bad": _head(_TE) + _CHUNK + b"0\r\nno colon\r\n\r\n",
    "trailer-flood": _head(_TE) + _CHUNK + b"0\r\n" + b"a: b\r\n" * 5000 +
                     b"\r\n",
    "after-end": _head(_TE) + _CHUNK + _END + _head(_LEN) + BODY,
    # heads
    "bare-lf": b"HTTP/1.1 200 OK\nContent-Length: 2\n\n{}",
    "bare-cr": _head(b"A: b\rC: d\r\n", _LEN) + BODY,
    "fold": _head(b"A: b\r\n c\r\n", _LEN) + BODY,
    "nul": _head(b"A: b\0c\r\n", _LEN) + BODY,
    "no-colon": _head(b"nonsense\r\n", _LEN) + BODY,
    "empty-name": _head(b": x\r\n", _LEN) + BODY,
    "status-junk": b"HTTP/1.1 2x0 OK\r\n" + _LEN + b"\r\n" + BODY,
    "status-0": b"HTTP/1.1 000 OK\r\n" + _LEN + b"\r\n" + BODY,
    "status-999": b"HTTP/1.1 999 OK\r\n" + _LEN + b"\r\n" + BODY,
    "http2": b"HTTP/2 200\r\n" + _LEN + b"\r\n" + BODY,
    "http09": BODY,
    "not-http": b"220 smtp.example ESMTP\r\n",
    "empty": b"",
    "head-cut": _OK + b"Content-Le",
    "headers-flood": _OK + b"a: b\r\n" * 5000 + b"\r\n",
    "head-64k": _OK + b"a: " + b"x" * 100000 + b"\r\n\r\n",
    # content that must not be passed on, or not followed
    "1xx-flood": b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 1000 +
                 _head(_LEN) + BODY,
    "1xx-body": b"HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\nhello" +
                _head(_LEN) + BODY,
    "101": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
           b"Connection: Upgrade\r\n\r\n",
    "204-body": b"HTTP/1.1 204 No Content\r\n" + _LEN + b"\r\n" + BODY,
    "redirect": b"HTTP/1.1 307 Temporary Redirect\r\nLocation: "
                b"https://evil.example/\r\nContent-Length: 0\r\n\r\n",
    "encoded": _head(b"Content-Encoding: gzip\r\n", _LEN) + BODY,
}

# After these, the peer can see the end only when the connection closes.
CLOSES = {"cl-long", "chunk-cut", "no-final", "final-cut", "empty",
          "head-cut", "http09", "not-http", "chunk-huge", "te-identity"}
