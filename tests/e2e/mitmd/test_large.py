#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Large answers of each framing arrive whole, with every byte in its place,
for a client that reads slowly: it waits until everything on the way is full,
and then takes a little at a time. The pieces that keyd and mitmd could not
write at once have waited in each of them."""
import fcntl
import hashlib
import os
import random
import socket
import ssl
import struct
import sys
import termios

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import rules  # noqa: E402
import rules_replies  # noqa: E402
import test_rules as table  # noqa: E402

t = table.t
SIZE = 6 << 20      # more than all buffers on the way hold
FULL = 128 << 10    # bytes at the client that mean: they are full
TAKES = (1, 700, 4096, 16384, 100000)   # bytes of one read
CONNECT = (b"CONNECT api.anthropic.com:443 HTTP/1.1\r\n"
           b"Host: api.anthropic.com:443\r\n\r\n")
CLOSE = b"Connection: close\r\n"


def chunks(body, rnd):
    """Returns the body in chunks of a few bytes to more than keyd reads."""
    out = []
    while body:
        n = rnd.choice((1, 30, 4000, 16384, 70000, 300000))
        out.append(b"%x\r\n%s\r\n" % (len(body[:n]), body[:n]))
        body = body[n:]
    return b"".join(out) + b"0\r\n\r\n"


def waiting(sock):
    """Returns the number of bytes that the socket has for its reader."""
    return struct.unpack("i", fcntl.ioctl(sock, termios.FIONREAD,
                                          b"\0" * 4))[0]


class Client:
    """Reads an answer through TLS in pieces of any size."""

    def __init__(self, b, which, more=b""):
        raw = socket.socket(socket.AF_UNIX)
        raw.settimeout(30)
        raw.connect(b.session.ready["sockets"]["mitm"])
        raw.sendall(CONNECT)
        raw.recv(4096)
        context = ssl.create_default_context(cafile=os.path.join(
            b.session.dir, "orientation", "ca-cert.pem"))
        self.sock = context.wrap_socket(raw,
                                        server_hostname="api.anthropic.com")
        self.sock.sendall(b.fill(rules.A, rules.get(
            b"x-stainless-reply: %d\r\n" % which + more)))
        h.wait_for(lambda: waiting(self.sock) >= FULL,
                   "the answer does not pile up")
        self.buf = b""
        self.reads = 0

    def more(self):
        self.reads += 1
        data = self.sock.recv(TAKES[self.reads % len(TAKES)])
        if not data:
            raise EOFError("the connection ended")
        self.buf += data

    def take(self, n):
        while len(self.buf) < n:
            self.more()
        data, self.buf = self.buf[:n], self.buf[n:]
        return data

    def line(self):
        while b"\r\n" not in self.buf:
            self.more()
        line, _, self.buf = self.buf.partition(b"\r\n")
        return line

    def answer(self):
        """Returns (status, headers, the body, its end by the framing)."""
        status = self.line()
        headers = dict(line.lower().split(b": ", 1)
                       for line in iter(self.line, b""))
        if b"content-length" in headers:
            return status, headers, self.take(int(headers[b"content-length"]))
        body = []
        while n := int(self.line(), 16):
            body.append(self.take(n))
            self.line()
        self.line()
        return status, headers, b"".join(body)

    def ended(self):
        """Returns true if the connection ends in order, by close_notify."""
        try:
            return self.buf == b"" and self.sock.recv(1) == b""
        except ssl.SSLError:
            return False


def test_framing(b, which, name, want):
    for more, after in ((b"", "the connection serves the next request"),
                        (CLOSE, "the connection ends in order")):
        c = Client(b, which, more)
        status, headers, body = c.answer()
        t.equal((status, len(body), hashlib.sha256(body).hexdigest()),
                (b"HTTP/1.1 200 OK", len(want),
                 hashlib.sha256(want).hexdigest()),
                f"{name}: arrives whole")
        if more:
            t.ok(c.ended(), f"{name}: {after}", headers)
        else:
            c.sock.sendall(b.fill(rules.A, rules.get(b"")))
            t.equal(c.answer()[2], table.ANSWER, f"{name}: {after}")
        c.sock.close()


def main():
    rnd = random.Random(1)
    body = rnd.randbytes(SIZE)
    binary = b"Content-Type: application/octet-stream\r\n"
    text = b'{"a":"' + body.hex().encode()[:SIZE] + b'"}'
    head = rules_replies.OK + binary
    answers = [
        ("a length", rules_replies.reply(body, binary), body),
        ("JSON with a length", rules_replies.reply(text), text),
        ("chunks", rules_replies.raw(
            head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks(body, rnd),
            close=False), body),
        ("until close", rules_replies.raw(head + b"\r\n" + body), body),
    ]
    with h.workdir() as work, t.case("large"):
        b = table.Bench(work, [a[1] for a in answers])
        for i, (name, _, want) in enumerate(answers, 1):
            with t.case(name):
                test_framing(b, i, name, want)
        t.equal(b.session.events("alarm"), [], "nobody took it for an attack")
        b.close()
    t.done()


if __name__ == "__main__":
    main()
