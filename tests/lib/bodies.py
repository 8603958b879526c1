# SPDX-License-Identifier: ISC
"""Bodies through a session, with each byte hashed at both ends: the provider
(standins/provider_bodies.py), an agent over HTTP/1.1, one over HTTP/2, and the
comparison. An agent writes and reads at the pace that it is told to."""
import fcntl
import hashlib
import json
import os
import select
import signal
import socket
import ssl
import struct
import sys
import termios
import threading
import time

import harness as h
import h2

sys.path.insert(0, h.STANDINS)
import provider_bodies as corpus  # noqa: E402

HOST = "bodies.test"
KEY = "bodies-real-key-0123456789abcdef"
MAX = 64 << 20
# Nothing of this is held, or looked into: bodies pass as they come.
FILE = {
    "name": "bodies", "host": HOST,
    "credential": {"env": "BODIES_API_KEY", "sentinel": "sk-bodies-sentinel-",
                   "headers": [{"name": "x-api-key"}]},
    "requestHeaders": ["content-type"], "responseHeaders": ["content-type"],
    "routes": [
        {"method": "GET", "path": "/b/*"},
        {"method": "POST", "path": "/b/*",
         "body": {"types": ["application/octet-stream"], "max": MAX}}]}
WAIT = 60               # seconds for one exchange: longer means failure


class Server(h.Process):
    def __init__(self, work):
        self.dir = os.path.join(work, "bodies")
        os.makedirs(self.dir)
        super().__init__([h.PYTHON, os.path.join(h.STANDINS, "provider_bodies.py"),
                          "--dir", self.dir], os.path.join(work, "bodies.err"))
        self.ca = os.path.join(self.dir, "ca.pem")
        self.url = f"https://localhost:{self.ready['port']}"
        self.read, self.lines, self.lock = 0, {}, threading.Lock()

    def seen(self, number):
        """Returns what the provider saw of that exchange, once it is over."""
        def look():
            with self.lock, open(os.path.join(self.dir, "log.jsonl"),
                                 "rb") as f:
                f.seek(self.read)
                for line in f:
                    if not line.endswith(b"\n"):
                        break
                    self.read += len(line)
                    got = json.loads(line)
                    self.lines[got["number"]] = got
            return self.lines.get(number)
        return h.wait_for(look, f"the provider has not ended {number}", WAIT)

    def flag(self, what, number):
        return corpus.flag(self.dir, what, number)


def session(work, server):
    s = h.Session(work, env={"BODIES_API_KEY": KEY}, config={
        "providers": {"bodies": {"upstream": server.url, "ca": server.ca}},
        "credentials": {"bodies": {"env": "BODIES_API_KEY"}}})
    s.write("providers/bodies.json", FILE)
    return s


class Row:
    """One exchange. up: bytes of the request's body, or None; the other
    members are those of the stand-in's path, and how the agent does it."""
    last = 0
    lock = threading.Lock()

    def __init__(self, down=0, up=None, framing="length", up_framing="length",
                 pieces="mixed", up_pieces="mixed", pace="fast",
                 up_pace="fast", end="none", when="after"):
        with Row.lock:
            Row.last += 1
            self.number = Row.last
        self.down, self.up = down, up
        self.framing, self.up_framing = framing, up_framing
        self.pieces, self.up_pieces = pieces, up_pieces
        self.pace, self.up_pace = pace, up_pace
        self.end, self.when = end, when

    @property
    def path(self):
        return "/b/" + ".".join(str(v) for v in (
            self.number, self.down, self.framing, self.pieces, self.up_pace,
            self.end, self.when))

    def __str__(self):
        text = f"{self.number}: {self.down} down, {self.framing}, " \
            f"{self.pieces}, read {self.pace}"
        if self.up is not None:
            text += f"; {self.up} up, {self.up_framing}, {self.up_pieces}, " \
                f"read {self.up_pace}, answered {self.when}"
        return text + ("" if self.end == "none" else f"; {self.end}")

    def up_parts(self):
        pieces, at = corpus.Pieces(self.up_pieces, self.number), 0
        while at < self.up:
            n = min(pieces.next(), self.up - at)
            yield corpus.text(-self.number, at, n)
            at += n


class Sink:
    """The body that an agent reads: its length and its hash."""

    def __init__(self):
        self.n, self.sum = 0, hashlib.sha256()
        self.begin = b""        # for the text of a refusal

    def __iadd__(self, data):
        self.begin = (self.begin + data[:400])[:400]
        self.n += len(data)
        self.sum.update(data)
        return self

    def right(self, number):
        """Returns true if the bytes so far are the first of that body."""
        return self.sum.hexdigest() == corpus.digest(number, self.n)


class Cut(Exception):
    """The answer ends before its end."""


def unread(sock):
    """Returns the bytes that the other end has not read from the socket."""
    return struct.unpack("i", fcntl.ioctl(sock, termios.TIOCOUTQ,
                                          b"\0" * 4))[0]


def certificate(s):
    return os.path.join(s.dir, "orientation", "ca-cert.pem")


def tunnel(s, timeout=WAIT, buffers=None):
    """Returns a socket on which TLS with the host will begin."""
    raw = socket.socket(socket.AF_UNIX)
    if buffers is not None:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffers)
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffers)
    raw.settimeout(timeout)
    raw.connect(s.ready["sockets"]["mitm"])
    raw.sendall(f"CONNECT {HOST}:443 HTTP/1.1\r\nHost: {HOST}:443\r\n\r\n"
                .encode())
    head = b""
    while b"\r\n\r\n" not in head:
        head += raw.recv(1)
    return raw


class Agent1:
    """A connection over HTTP/1.1."""

    def __init__(self, s, server, buffers=None):
        self.server = server
        self.key = s.agent_env()["BODIES_API_KEY"]
        self.sock = ssl.create_default_context(
            cafile=certificate(s)).wrap_socket(
                tunnel(s, buffers=buffers), server_hostname=HOST,
                suppress_ragged_eofs=False)
        self.wire, self.buf = corpus.Wire(self.sock), b""
        self.status, self.body = 0, Sink()

    def close(self):
        self.sock.close()

    def send_head(self, row):
        lines = ["%s %s HTTP/1.1" % ("GET" if row.up is None else "POST",
                                     row.path),
                 f"Host: {HOST}", f"x-api-key: {self.key}"]
        if row.up is not None:
            lines += ["Content-Type: application/octet-stream",
                      "Transfer-Encoding: chunked"
                      if row.up_framing == "chunks"
                      else f"Content-Length: {row.up}"]
        self.wire.send("\r\n".join(lines + ["", ""]).encode())

    def send_body(self, row, stop=None):
        """Send the body, or `stop` bytes of it. Tells the provider when
        everything on the way is full."""
        full, sent = self.server.flag("full", row.number), 0
        for part in row.up_parts():
            if stop is not None:
                part = part[:stop - sent]
            if row.up_framing == "chunks" and part:
                part = b"%x\r\n%s\r\n" % (len(part), part)
            self.wire.send(part, lambda: corpus.touch(full))
            sent += len(part)
            if sent == stop:
                return
        if row.up_framing == "chunks":
            self.wire.send(b"0\r\n\r\n")
        corpus.touch(full)

    def more(self, n=262144):
        try:
            data = self.wire.recv(n)
        except OSError as e:
            raise Cut(str(e)) from e
        if not data:
            raise Cut("the connection ended")
        self.buf += data

    def line(self):
        while b"\r\n" not in self.buf:
            self.more()
        line, self.buf = self.buf.split(b"\r\n", 1)
        return line

    def take(self, n, sizes):
        """Put n bytes into the body."""
        while n:
            if not self.buf:
                self.more(sizes())
            part, self.buf = self.buf[:n], self.buf[n:]
            self.body += part
            n -= len(part)

    def read(self, row):
        """Read an answer: self.status, self.body. Raises Cut."""
        self.status, self.body = 0, Sink()
        pieces = corpus.Pieces("mixed", -row.number)
        if row.pace == "stop":
            corpus.wait_for_file(self.server.flag("blocked", row.number))

        def sizes():
            return min(pieces.next(), 3000) if row.pace == "slow" else 262144

        self.status = int(self.line().split(b" ")[1])
        headers = dict(line.lower().split(b": ", 1)
                       for line in iter(self.line, b""))
        if b"content-length" in headers:
            self.take(int(headers[b"content-length"]), sizes)
            return
        while n := int(self.line(), 16):
            self.take(n, sizes)
            self.line()
        self.line()

    def run(self, row):
        self.send_head(row)
        writer = None
        if row.up is not None:
            writer = threading.Thread(target=self.quietly, daemon=True,
                                      args=(self.send_body, row))
            writer.start()
        try:
            self.read(row)
        finally:
            if writer is not None:
                writer.join(WAIT)

    @staticmethod
    def quietly(function, *args):
        try:
            function(*args)
        except OSError:
            pass


class Agent2(h2.Connection):
    """A connection over HTTP/2: any number of exchanges at a time."""

    def __init__(self, s, server, window=65535, buffers=None):
        self.server, self.key = server, s.agent_env()["BODIES_API_KEY"]
        self.frames = []        # lengths of the DATA frames
        self.room = {0: 65535}
        self.uploads = {}       # stream -> [row, parts, the rest of a part]
        super().__init__(tunnel(s, buffers=buffers), certificate(s), HOST,
                         timeout=WAIT, settings=[(4, window)])
        if window > 65535:
            self.window(0, window - 65535)
            self.auto = False

    def raw(self, data):
        """Write all, and read meanwhile: mitmd reads nothing while nobody
        takes its answers."""
        self.sock.setblocking(False)
        while data:
            try:
                data = data[self.sock.send(data[:16384]):]
            except ssl.SSLWantWriteError:
                r, w, _ = select.select([self.sock], [self.sock], [], WAIT)
                if not r and not w:
                    raise TimeoutError("nothing is taken") from None
                if r:
                    self.pull()
            except OSError as e:
                raise h2.Ended(str(e)) from e

    def pull(self):
        """Take what has come from the socket."""
        try:
            data = self.sock.recv(262144)
        except ssl.SSLWantReadError:
            return
        if not data:
            raise h2.Ended("closed")
        self.buf += data

    def _exactly(self, n):
        while len(self.buf) < n:
            before = len(self.buf)
            self.pull()
            if len(self.buf) == before and not select.select(
                    [self.sock], [], [], WAIT)[0]:
                raise TimeoutError("nothing comes")
        data, self.buf = self.buf[:n], self.buf[n:]
        return data

    def begin(self, row):
        fields = [(":method", "GET" if row.up is None else "POST"),
                  (":scheme", "https"), (":authority", HOST),
                  (":path", row.path), ("x-api-key", self.key)]
        if row.up is not None:
            fields.append(("content-type", "application/octet-stream"))
            if row.up_framing == "length":
                fields.append(("content-length", str(row.up)))
        stream = self.request(fields, end=row.up is None)
        self.answers[stream].body = Sink()
        if row.up is not None:
            self.room[stream] = self.settings.get(4, 65535)
            self.uploads[stream] = [row, row.up_parts(), b""]
        return stream

    def step(self):
        kind, flags, stream, payload = super().step()
        if kind == h2.DATA and payload:
            self.frames.append(len(payload))
        elif kind == h2.WINDOW_UPDATE:
            n = struct.unpack(">I", payload)[0]
            self.room[stream] = self.room.get(stream, 0) + n
        elif kind == h2.SETTINGS and not flags & 1:
            for s in self.uploads:
                self.room[s] += self.settings.get(4, 65535) - 65535
        return kind, flags, stream, payload

    def push(self):
        """Send what the windows of the uploads admit. Returns true if
        anything was sent."""
        sent = False
        for stream, u in list(self.uploads.items()):
            if self.answers[stream].reset is not None:
                del self.uploads[stream]
                continue
            if not u[2]:
                u[2] = next(u[1], b"")
            part = u[2][:max(0, min(16384, self.room[0], self.room[stream]))]
            if u[2] and not part:
                corpus.touch(self.server.flag("full", u[0].number))
                continue
            u[2] = u[2][len(part):]
            end = not u[2] and self.last(u)
            self.frame(h2.DATA, h2.END_STREAM if end else 0, stream, part)
            self.room[0] -= len(part)
            self.room[stream] -= len(part)
            sent = True
            if end:
                del self.uploads[stream]
                corpus.touch(self.server.flag("full", u[0].number))
        return sent

    @staticmethod
    def last(u):
        u[2] = next(u[1], b"")
        return not u[2]

    def readable(self):
        return self.buf or self.sock.pending() or \
            select.select([self.sock], [], [], 0)[0]

    def finish(self, streams):
        """Go on until all these streams have ended."""
        while not all(self.answers[s].ended or self.answers[s].reset is not None
                      for s in streams):
            if self.push() and not self.readable():
                continue
            self.step()


def check(row, server, status, body, ended):
    """Returns what is wrong with an exchange that should be whole, or ""."""
    if status != 200 or not ended:
        return f"status {status}, ended: {ended}, {body.n} bytes" + \
            (f": {body.begin!r}" if status not in (0, 200) else "")
    if body.n != row.down or not body.right(row.number):
        return f"wrong answer: {body.n} bytes, right: {body.right(row.number)}"
    seen = server.seen(row.number)
    if (seen["sent"], seen["sent_sha"]) != (row.down, body.sum.hexdigest()):
        return f"the provider sent something else: {seen}"
    if row.up is not None and row.when != "early" and (
            seen["got"] != row.up or
            seen["got_sha"] != corpus.digest(-row.number, row.up)):
        return f"wrong at the provider: {seen}"
    return ""


def run1(s, server, row, agent=None, buffers=None):
    """One exchange over HTTP/1.1. Returns what is wrong with it, or ""."""
    a = agent or Agent1(s, server, buffers)
    ended = True
    try:
        a.run(row)
    except (Cut, OSError) as e:
        ended = str(e) or type(e).__name__
    if agent is None:
        a.close()
    return check(row, server, a.status, a.body, ended is True) + \
        ("" if ended is True else f" ({ended})")


def run2(s, server, rows, window=65535, buffers=None):
    """The exchanges, at once, on one connection over HTTP/2. Returns what is
    wrong with them, and the connection."""
    a = Agent2(s, server, window, buffers)
    why = ""
    try:
        streams = [a.begin(row) for row in rows]
        a.finish(streams)
    except (h2.Ended, h2.Bad, OSError) as e:
        why = f" ({e}, GOAWAY {a.goaway})"
    wrong = []
    for row, n in zip(rows, sorted(k for k in a.answers if k)):
        got = a.answers[n]
        if not isinstance(got.body, Sink):
            got.body = Sink()
        bad = check(row, server, got.status, got.body, got.ended)
        if bad or why:
            wrong.append(f"{row}: {bad}, reset {got.reset}{why}")
    a.close()
    return wrong, a


class Stopped:
    """Processes of a session that stand still."""

    def __init__(self, s):
        self.pids = s.workers()

    def stop(self, name):
        for pid in self.pids[name]:
            os.kill(pid, signal.SIGSTOP)

    def go(self, name):
        for pid in self.pids[name]:
            os.kill(pid, signal.SIGCONT)


def until(predicate, what):
    """Wait without a pause worth naming."""
    end = time.monotonic() + WAIT
    while not predicate():
        if time.monotonic() > end:
            raise TimeoutError(what)
        select.select([], [], [], 0.001)
