#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A model provider for tests: TLS on 127.0.0.1, its own CA, scripted answers,
and a record of every byte of every request head.  Shares no code with the
product.  Prints {"port": N, "ca": FILE} when it listens; runs until stdin
closes (--stdin) or a signal.

The log has one JSON object a line: "open" and "closed" of each connection
("left": bytes that were no complete request) and "request" for each request,
written before its answer (after it with --early).
"""
import argparse
import base64
import hashlib
import json
import os
import re
import signal
import socket
import ssl
import struct
import sys
import threading
import time
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from provider_apis import DEFAULT_SCRIPT, answer  # noqa: E402
from provider_ca import make_certificates  # noqa: E402
from provider_cloud import EVENTS, chunk, cloud  # noqa: E402
import sigv4  # noqa: E402
import ws  # noqa: E402
from provider_bad import BAD_FRAMING, CLOSES  # noqa: E402

NAMES = ["api.anthropic.com", "api.openai.com", "localhost"]
MAX_HEAD = 1 << 18


class Gone(Exception):
    """The peer has closed the connection, or this server has to stop."""


class Request:
    def __init__(self, head):
        self.head = head
        lines = head.decode("latin-1").split("\r\n")
        parts = lines[0].split(" ")
        self.method, self.target, self.version = (parts + ["", "", ""])[:3]
        self.headers = []
        for line in lines[1:]:
            if line:
                name, _, value = line.partition(":")
                self.headers.append((name, value.strip(" \t")))
        self.body = b""
        self.complete = False

    def all(self, name):
        return [v for n, v in self.headers if n.lower() == name]

    def keys(self):
        """Returns every credential that a request carries."""
        found = [v for n in ("x-api-key", "api-key", "x-goog-api-key")
                 for v in self.all(n)]
        return found + [re.sub("^[Bb]earer ", "", v)
                        for v in self.all("authorization")]


class Connection:
    def __init__(self, provider, sock, number):
        self.provider, self.number = provider, number
        self.sock = sock
        self.buf = b""
        self.sent = 0           # bytes of this reply
        self.stops = []         # (bytes of the reply, action after them)

    def more(self):
        data = self.sock.recv(65536)
        if not data:
            raise Gone("peer")
        self.buf += data

    def take(self, n):
        while len(self.buf) < n:
            self.more()
        data, self.buf = self.buf[:n], self.buf[n:]
        return data

    def take_line(self):
        while b"\r\n" not in self.buf:
            self.more()
        line, self.buf = self.buf.split(b"\r\n", 1)
        return line

    def read_head(self):
        while b"\r\n\r\n" not in self.buf:
            if len(self.buf) > MAX_HEAD:
                raise Gone("head too large")
            self.more()
        end = self.buf.index(b"\r\n\r\n") + 4
        return Request(self.take(end))

    def read_body(self, req):
        try:
            if req.all("transfer-encoding"):
                size = -1
                while size != 0:
                    size = int(self.take_line(), 16)
                    req.body += self.take(size)
                    self.take_line()
            else:
                left = int((req.all("content-length") or ["0"])[0])
                # Adding to bytes would copy a long body each time.
                parts = []
                try:
                    while left > 0:
                        if not self.buf:
                            self.more()
                        parts.append(self.take(min(left, len(self.buf))))
                        left -= len(parts[-1])
                finally:
                    req.body += b"".join(parts)
            req.complete = True
        except (Gone, OSError, ValueError):
            pass

    def send(self, data):
        for limit, stop in self.stops:
            if limit is not None and self.sent + len(data) >= limit:
                self.sock.sendall(data[:limit - self.sent])
                stop()
        self.sock.sendall(data)
        self.sent += len(data)

    def reset(self):
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                             struct.pack("ii", 1, 0))
        raise Gone("reset")

    def close(self, why):
        """Close with close_notify, unless the connection was reset or never
        finished its handshake."""
        if why != "reset" and isinstance(self.sock, ssl.SSLSocket):
            try:
                self.sock.setblocking(False)
                self.sock.unwrap()
            except (OSError, ValueError):
                pass
        self.sock.close()

    def stall(self):
        while self.sock.recv(65536):
            pass
        raise Gone("peer, while stalled")

    def send_reply(self, status, reason, headers, pieces, chunked,
                   head_only=False):
        """Send a reply; pieces: parts of the body, each sent as one chunk."""
        lines = [f"HTTP/1.1 {status} {reason}"]
        lines += [f"{n}: {v}" for n, v in headers]
        lines.append("Transfer-Encoding: chunked" if chunked else
                     f"Content-Length: {sum(map(len, pieces))}")
        self.send("\r\n".join(lines + ["", ""]).encode("latin-1"))
        if head_only:
            return
        for n, piece in enumerate(pieces):
            if n and self.provider.opts.delay:
                time.sleep(self.provider.opts.delay / 1000)
            if piece is None:
                self.provider.log("stalled", conn=self.number)
                self.stall()
            self.send(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else
                      piece)
        if chunked:
            self.send(b"0\r\n\r\n")


class Provider:
    """opts: the namespace of parse_args(). Use start(), port, stop()."""

    def __init__(self, opts):
        self.opts = opts
        self.requests = []
        self.changed = threading.Condition()
        self.port = None
        self.log_fd = None
        self.opts_script = opts.script
        self.read_script()
        self.replies = []
        if opts.replies:
            with open(opts.replies, encoding="utf-8") as f:
                self.replies = json.load(f)
        self.keys = list(opts.key)
        self.signers = None
        if opts.sigv4:
            with open(opts.sigv4, encoding="utf-8") as f:
                self.signers = json.load(f)
        if opts.key_file:
            with open(opts.key_file, encoding="utf-8") as f:
                self.keys.append(f.read().strip())
        self.connections = 0
        self.stopping = False

    def read_script(self):
        self.script = DEFAULT_SCRIPT
        if self.opts_script:
            with open(self.opts_script, encoding="utf-8") as f:
                self.script = json.load(f)

    def start(self):
        o = self.opts
        names = (o.name or NAMES) if not o.wrong_name else ["wrong.example"]
        make_certificates(o.ca_dir, names)
        if o.log:
            self.log_fd = os.open(o.log, os.O_WRONLY | os.O_CREAT |
                                  os.O_APPEND | os.O_CLOEXEC, 0o600)
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.minimum_version = ssl.TLSVersion.TLSv1_2
        if o.tls12:
            self.tls.maximum_version = ssl.TLSVersion.TLSv1_2
        self.tls.load_cert_chain(os.path.join(o.ca_dir, "leaf.pem"),
                                 os.path.join(o.ca_dir, "leaf.key"))
        self.tls.set_alpn_protocols(["http/1.1"])
        self.tls.sni_callback = self.note_sni
        self.listener = socket.create_server(("127.0.0.1", o.port))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def stop(self):
        self.stopping = True
        self.listener.close()

    @staticmethod
    def note_sni(sock, name, _context):
        sock.standin_sni = name

    def log(self, event, **fields):
        line = json.dumps({"ev": event, "time": time.time(), **fields})
        with self.changed:
            if event == "request":
                self.requests.append(json.loads(line))
            if self.log_fd is not None:
                os.write(self.log_fd, line.encode() + b"\n")
            self.changed.notify_all()

    def wait_requests(self, n, timeout=10):
        with self.changed:
            return self.changed.wait_for(lambda: len(self.requests) >= n,
                                         timeout)

    def accept(self):
        while not self.stopping:
            try:
                raw, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.serve, daemon=True,
                             args=(raw, self.connections)).start()

    def serve(self, raw, number):
        served, why = 0, "us"
        conn = Connection(self, raw, number)
        try:
            raw.settimeout(self.opts.timeout)
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            conn.sock = sock = self.tls.wrap_socket(raw, server_side=True)
            self.log("open", conn=number, tls=sock.version(),
                     sni=getattr(sock, "standin_sni", None),
                     alpn=sock.selected_alpn_protocol(),
                     resumed=sock.session_reused)
            keep = True
            while keep:
                req = conn.read_head()
                served += 1
                keep = self.exchange(conn, req, served)
        except (Gone, ws.Bad) as e:
            why = str(e)
        except OSError as e:
            why = f"{type(e).__name__}: {e}"
        self.log("closed", conn=number, requests=served, why=why,
                 left=base64.b64encode(conn.buf).decode())
        conn.close(why)

    def record(self, conn, req, nth, status):
        body = {}
        if self.opts.bodies:
            try:
                body["body"] = req.body.decode("utf-8")
            except UnicodeDecodeError:
                body["bodyBase64"] = base64.b64encode(req.body).decode()
        self.log("request", conn=conn.number, nth=nth, method=req.method,
                 target=req.target, version=req.version, headers=req.headers,
                 head=req.head.decode("latin-1"),
                 raw=base64.b64encode(req.head).decode(),
                 bodyBytes=len(req.body), bodyComplete=req.complete,
                 bodySha256=hashlib.sha256(req.body).hexdigest(),
                 keyOk=self.key_ok(req), status=status,
                 unsigned=self.unsigned(req), **body)

    def unsigned(self, req):
        """Returns "" if the request is signed correctly, else the fault."""
        s = self.signers
        return "not asked for" if s is None else sigv4.verify(
            req.headers, req.method, req.target, req.body, s["keys"],
            s["region"], now=time.time())

    def key_ok(self, req):
        found = req.keys()
        if self.signers is not None:
            return len(found) == 1 and (
                found[0] in self.keys or self.unsigned(req) == "")
        return len(found) == 1 and (not self.keys or found[0] in self.keys)

    def expired(self, req):
        found = re.search(r"Credential=([^/]+)/", "".join(
            req.all("authorization")))
        return self.signers is not None and found is not None and \
            found[1] in self.signers.get("expired", [])

    def exchange(self, conn, req, nth):
        """Process one request. Returns whether the connection stays open."""
        o = self.opts
        conn.sent = 0
        odd = (len(self.requests) >= o.after and
               (not o.only or re.search(o.only, req.target)))
        if not o.early:
            conn.read_body(req)
        if odd and (o.bad_framing or o.raw_reply):
            return self.misframe(conn, req, nth)
        if o.websocket and req.all("upgrade") and self.key_ok(req):
            return self.websocket(conn, req, nth)
        if self.replies:
            return self.listed(conn, req, nth)
        reply = self.reply(req, odd)
        if not o.early:
            self.record(conn, req, nth, reply[0])
        conn.stops = [(o.reset_at, conn.reset), (o.stall, conn.stall)] \
            if odd else []
        try:
            conn.send_reply(*reply, head_only=req.method == "HEAD")
            if odd and o.idle_bytes:
                time.sleep(o.idle_delay / 1000)
                conn.sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4"
                                  b"\r\n\r\nidle")
        finally:
            if o.early:
                conn.read_body(req)
                self.record(conn, req, nth, reply[0])
        if not req.complete:
            raise Gone("peer, inside a body")
        return "close" not in [v.lower() for v in req.all("connection")]

    def websocket(self, conn, req, nth):
        self.record(conn, req, nth, 101)
        accept = ws.accept_of((req.all("sec-websocket-key") + [""])[0])
        more = {"accept": "", "extension":
                "Sec-WebSocket-Extensions: permessage-deflate\r\n", "protocol":
                "Sec-WebSocket-Protocol: x\r\n"}.get(self.opts.websocket, "")
        if self.opts.websocket == "accept":
            accept = ws.accept_of("another")
        conn.send(("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                   f"Connection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n"
                   f"{more}x-request-id: ws\r\n\r\n").encode())
        ws.Server(conn, req.keys()[0], self.log, self.ws_answer).run()
        return False

    def ws_answer(self, body):
        """Returns the events of a turn, one message each."""
        kind, *rest = answer(self.script, "POST", "/v1/responses",
                             {**body, "stream": True})
        for piece in rest[0] if kind == "sse" else [json.dumps(rest[1])]:
            piece = piece.decode() if isinstance(piece, bytes) else piece
            for line in piece.splitlines():
                if line.startswith("data: {"):
                    yield line[6:].encode()

    def misframe(self, conn, req, nth):
        kind = self.opts.bad_framing
        self.record(conn, req, nth, f"bad-framing {kind}" if kind else "raw")
        if kind:
            conn.send(BAD_FRAMING[kind])
            return kind not in CLOSES
        with open(self.opts.raw_reply, "rb") as f:
            conn.send(f.read())
        return False

    def listed(self, conn, req, nth):
        """Returns the reply that x-stainless-reply selects by number, or the
        first."""
        which = int((req.all("x-stainless-reply") or ["0"])[0])
        reply = self.replies[which]
        self.record(conn, req, nth, f"listed {which}")
        for part in reply["parts"]:
            conn.send(base64.b64decode(part))
        if not req.complete:
            raise Gone("peer, inside a body")
        return not reply.get("close")

    def reply(self, req, odd):
        """Returns (status, reason, headers, pieces, chunked)."""
        o = self.opts
        headers = [("Content-Type", "application/json"),
                   ("request-id", "req_standin")]
        reason, chunked = "OK", False
        kind, *rest = self.content(req, odd)
        if kind in ("sse", "aws"):
            status, pieces, chunked = 200, rest[0], True
            headers[0] = ("Content-Type", EVENTS if kind == "aws" else
                          "text/event-stream")
        else:
            status, pieces = rest[0], [json.dumps(rest[1]).encode()]
            headers += rest[2:]
        if odd and o.reflect:
            echo = o.reflect_text or (req.keys() or ["no key"])[0]
            if o.reflect == "base64":
                echo = base64.b64encode(echo.encode()).decode()
            if o.reflect_in == "header":
                headers.append(("request-id", "req_" + echo))
            elif o.reflect_in == "status":
                reason = echo
            else:
                pieces, chunked = self.reflect(pieces, kind, echo, chunked)
        return status, reason, headers, pieces, chunked

    def reflect(self, pieces, kind, echo, chunked):
        """Returns the echo within the body; cut in two at --reflect-split."""
        if kind == "sse":
            text = b'event: ping\ndata: {"type":"ping","echo":"' + \
                echo.encode() + b'"}\n\n'
            where = len(pieces) // 2
        elif kind == "aws":
            text, where = chunk({"type": "ping", "echo": echo}), 1
            return pieces[:where] + [text] + pieces[where:], True
        else:
            text = b'{"echo":"' + echo.encode() + b'",' + pieces[0][1:]
            where, pieces = 0, []
        split = self.opts.reflect_split
        if split is None:
            return pieces[:where] + [text] + pieces[where:], chunked
        at = text.index(echo.encode()) + split
        parts = [p for p in (text[:at], text[at:]) if p]
        return pieces[:where] + parts + pieces[where:], True

    def content(self, req, odd):
        if not self.key_ok(req):
            return "json", 401, {"type": "error", "error": {
                "type": "authentication_error", "message": "wrong key"}}
        if self.expired(req):
            return ("json", 403, {"message": "The security token included in "
                                  "the request is expired"},
                    ("x-amzn-ErrorType", "ExpiredTokenException:http://"
                     "internal.amazon.com/coral/com.amazon.coral.service/"))
        if odd and self.opts.status:
            return "json", self.opts.status, {"type": "error", "error": {
                "type": "api_error", "message": "as told by --status"}}
        if req.all("upgrade"):
            return "json", 426, {"error": {"message": "no upgrade here"}}
        body = req.body
        try:
            if req.all("content-encoding") in (["gzip"], ["deflate"]):
                body = zlib.decompressobj(47).decompress(body)
            body = json.loads(body) if body else None
        except (ValueError, zlib.error):
            body = None
        if self.opts.reload_script:
            self.read_script()
        script = self.judged(req.body) or self.script
        return cloud(script, req.method, req.target.split("?")[0],
                     body) or answer(script, req.method, req.target, body)

    def judged(self, body):
        """Returns the script of the approver's question, if it is one. The
        file is read each time: the answer, "obey" (approve if anything in the
        question but the person's message says so), or "hang"."""
        if not self.opts.judge or b"watches a coding agent" not in body:
            return None
        with open(self.opts.judge, encoding="utf-8") as f:
            text = f.read()
        if text == "hang":
            time.sleep(60)
        if text == "obey":
            call = re.search(rb'\\"call\\":.*', body)
            yes = call and b"approve" in call[0].lower()
            text = json.dumps({"decision": "approve" if yes else "escalate",
                               "reasoning": "as told"})
        return [{"text": text}]


def parse_args(argv=None):
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.
                                RawDescriptionHelpFormatter)
    a = p.add_argument
    a("--ca-dir", required=True, help="ca.pem is written here")
    a("--port", type=int, default=0)
    a("--log", help="JSON lines, appended")
    a("--bodies", action="store_true", help="log bodies too")
    a("--script", help="JSON list of steps (provider_apis.py)")
    a("--reload-script", action="store_true",
      help="read the script again for each request")
    a("--replies", help="JSON list of {parts: [base64, each a write], close}")
    a("--key", action="append", default=[], help="the real key; else 401")
    a("--key-file")
    a("--sigv4", help="{region, keys: {id: [secret, token]}, expired: [id]}: "
      "or signed so")
    a("--name", action="append", help="certificate names")
    a("--timeout", type=float, default=600, help="of a socket, seconds")
    a("--tls12", action="store_true")
    a("--judge", help="file with the answer to the approver's question")
    a("--websocket", nargs="?", const="yes",
      choices=["yes", "accept", "extension", "protocol"],
      help="take upgrades; or answer them wrongly")
    a("--stdin", action="store_true", help="end when stdin closes")
    a("--delay", type=float, default=0, help="ms between body pieces")
    m = p.add_argument_group("misbehaviour")
    b = m.add_argument
    b("--after", type=int, default=0, help="the first N requests are normal")
    b("--only", help="regex of the targets concerned")
    b("--status", type=int)
    b("--reflect", choices=["raw", "base64"], help="the key comes back")
    b("--reflect-text", help="not the key, but this")
    b("--reflect-in", choices=["body", "header", "status"], default="body")
    b("--reflect-split", type=int, help="cut into two chunks there")
    b("--early", action="store_true", help="answer before the body is read")
    b("--reset-at", type=int, help="RST after N bytes of the reply")
    b("--stall", type=int, nargs="?", const=0, help="silent after N bytes")
    b("--bad-framing", choices=sorted(BAD_FRAMING))
    b("--raw-reply", help="file to send as the reply, then close")
    b("--idle-bytes", action="store_true", help="send on the idle connection")
    b("--idle-delay", type=float, default=20, help="ms after the reply")
    b("--wrong-name", action="store_true", help="certificate for another name")
    return p.parse_args(argv)


def main():
    opts = parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    provider = Provider(opts).start()
    print(json.dumps({"port": provider.port, "ca": os.path.join(
        opts.ca_dir, "ca.pem")}), flush=True)
    try:
        if opts.stdin:
            sys.stdin.buffer.read()
        else:
            signal.pause()
    except KeyboardInterrupt:
        pass
    provider.stop()


if __name__ == "__main__":
    main()
