#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A provider for tests of bodies: TLS on 127.0.0.1 with a CA of its own, each
byte of each body hashed as it passes. The request's path says what happens:

  /b/ID.SIZE.FRAMING.PIECES.PACE.END.WHEN

SIZE bytes of text(ID) are answered with that FRAMING (length, chunks, close),
written in PIECES (whole, mixed, tiny), read at a PACE (fast, slow, stop), with
an END (none: the connection serves the next request; notify: close_notify with
the last bytes, then wait for the other side's; fin, rst: break at a random
byte). WHEN: after the body, beside it (duplex), or before it (early). The log
has a line for each: what was read and what was sent, with their hashes.
"""
import argparse
import hashlib
import json
import os
import random
import select
import socket
import ssl
import struct
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from provider_ca import make_certificates  # noqa: E402

# A prime, so that bytes that are off by a slot, a record or a page differ.
PERIOD = 1048573
BLOCK = random.Random(20261128).randbytes(PERIOD)
TWICE = BLOCK + BLOCK
LIMIT = 120             # seconds: longer means failure
BLOCKED = 0.2           # seconds without room: everything on the way is full


def text(number, at, n):
    """Returns bytes at..at+n of the body with this number."""
    out = []
    while n > 0:
        begin = (at + number * 7919) % PERIOD
        part = TWICE[begin:begin + min(n, PERIOD)]
        out.append(part)
        at += len(part)
        n -= len(part)
    return out[0] if len(out) == 1 else b"".join(out)


def digest(number, n):
    """Returns the hash of the first n bytes of that body."""
    h = hashlib.sha256()
    for at in range(0, n, 262144):
        h.update(text(number, at, min(262144, n - at)))
    return h.hexdigest()


class Pieces:
    """The lengths of one side's writes or reads."""

    def __init__(self, kind, number):
        self.kind, self.r = kind, random.Random(f"{kind} {number}")

    def next(self):
        if self.kind == "tiny":
            return self.r.randrange(1, 60)
        if self.kind == "mixed":
            return self.r.choice((1, 7, 1000, 4096, 16384, 16385, 65536,
                                  131072, self.r.randrange(1, 70000)))
        return 65536


def flag(directory, what, number):
    return os.path.join(directory, f"{what}-{number}")


def touch(path):
    with open(path, "w", encoding="ascii"):
        pass


def wait_for_file(path):
    for _ in range(LIMIT * 200):
        if os.path.exists(path):
            return True
        select.select([], [], [], 0.005)
    return False


class Plan:
    def __init__(self, path):
        parts = path.split("/")[-1].split(".")
        self.number, self.size = int(parts[0]), int(parts[1])
        self.framing, self.pieces, self.pace, self.end, self.when = parts[2:]


class Broken(Exception):
    """The connection ends here, as planned or not."""


class Wire:
    """A connection with TLS that two threads use at once, one for reading and
    one for writing: OpenSSL takes one call at a time, so none may block."""

    def __init__(self, sock):
        sock.setblocking(False)
        self.sock, self.lock = sock, threading.Lock()

    def _wait(self, writes, seconds):
        both = [self.sock]
        return any(select.select([] if writes else both,
                                 both if writes else [], [], seconds))

    def recv(self, n):
        """Returns some bytes, or b"" at close_notify; else OSError."""
        while True:
            try:
                with self.lock:
                    return self.sock.recv(n)
            except ssl.SSLWantReadError:
                if not self._wait(False, LIMIT):
                    raise TimeoutError("nothing comes") from None
            except ssl.SSLWantWriteError:
                self._wait(True, LIMIT)

    def send(self, data, blocked=lambda: None):
        """Send all. Calls blocked() while there is no room."""
        while data:
            try:
                with self.lock:
                    n = self.sock.send(data[:16384])
                data = data[n:]
            except ssl.SSLWantWriteError:
                for _ in range(int(LIMIT / BLOCKED)):
                    if self._wait(True, BLOCKED):
                        break
                    blocked()
                else:
                    raise TimeoutError("nothing is taken") from None
            except ssl.SSLWantReadError:
                self._wait(False, LIMIT)


class Connection:
    def __init__(self, server, sock):
        self.server, self.sock, self.buf = server, sock, b""
        self.wire = Wire(sock)

    def more(self, n=262144):
        try:
            data = self.wire.recv(n)
        except OSError as e:
            raise Broken(f"read: {e}") from e
        if not data:
            raise Broken("read: the other side has ended")
        self.buf += data

    def line_end(self, mark):
        while mark not in self.buf:
            self.more()
        head, self.buf = self.buf.split(mark, 1)
        return head

    def send(self, data, plan):
        """Write all; while it blocks, say so."""
        try:
            self.wire.send(data, lambda: touch(
                flag(self.server.dir, "blocked", plan.number)))
        except OSError as e:
            raise Broken(f"write: {e}") from e

    def read_body(self, plan, head, seen):
        """Read the request's body into `seen`."""
        left = 0
        for line in head.split(b"\r\n"):
            if line.lower().startswith(b"content-length:"):
                left = int(line.split(b":")[1])
        sum_, slow = hashlib.sha256(), Pieces("mixed", plan.number)
        seen.update(got=0, got_sha=sum_.hexdigest())
        stop = plan.pace == "stop"
        while left:
            if not self.buf:
                self.more(min(slow.next(), 3000) if plan.pace == "slow"
                          else 262144)
            part = self.buf[:left]
            self.buf = self.buf[len(part):]
            sum_.update(part)
            left -= len(part)
            seen["got"] += len(part)
            seen["got_sha"] = sum_.hexdigest()
            if stop and seen["got"] >= 65536:
                stop = False
                wait_for_file(flag(self.server.dir, "full", plan.number))

    def write_body(self, plan, seen, begin, end):
        """Write bytes begin..end of the answer."""
        pieces = Pieces(plan.pieces, plan.number)
        while begin < end:
            n = min(pieces.next(), end - begin)
            part = text(plan.number, begin, n)
            if plan.framing == "chunks":
                self.send(b"%x\r\n%s\r\n" % (n, part), plan)
            else:
                self.send(part, plan)
            seen["sent"] += n
            begin += n

    def answer_head(self, plan):
        if plan.end == "notify" or plan.framing == "close":
            self.cork(1)
        head = (b"HTTP/1.1 200 OK\r\n"
                b"Content-Type: application/octet-stream\r\n")
        if plan.framing == "length":
            head += b"Content-Length: %d\r\n" % plan.size
        elif plan.framing == "chunks":
            head += b"Transfer-Encoding: chunked\r\n"
        self.send(head + b"\r\n", plan)

    def cork(self, on):
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, on)

    def finish(self, plan, seen):
        """The last bytes, with the end of the connection if so planned."""
        last = b"0\r\n\r\n" if plan.framing == "chunks" else b""
        if plan.end == "notify" or plan.framing == "close":
            if seen["sent"] < plan.size:
                self.write_body(plan, seen, seen["sent"], plan.size)
            self.send(last, plan)
            with self.wire.lock:
                try:
                    self.sock.unwrap()
                except OSError:
                    pass        # close_notify is sent, and none is here yet
                self.cork(0)
                touch(flag(self.server.dir, "blocked", plan.number))
                try:
                    self.sock.settimeout(LIMIT)
                    self.sock.unwrap()
                except OSError:
                    pass        # a plain end will do
            raise Broken("")
        self.write_body(plan, seen, seen["sent"], plan.size)
        self.send(last, plan)

    def break_off(self, plan, seen):
        """Write a part of the answer and break."""
        stop = random.Random(f"break {plan.number}").randrange(plan.size + 1)
        self.write_body(plan, seen, 0, stop)
        if plan.end == "rst":
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                 struct.pack("ii", 1, 0))
        raise Broken("")

    def exchange(self):
        head = self.line_end(b"\r\n\r\n")
        plan = Plan(head.split(b" ")[1].decode("ascii"))
        seen = {"number": plan.number, "got": 0, "sent": 0, "why": ""}
        reader = None
        touch(flag(self.server.dir, "begun", plan.number))
        try:
            if plan.when == "after":
                self.read_body(plan, head, seen)
            elif plan.when == "duplex":
                reader = threading.Thread(target=self.beside,
                                          args=(plan, head, seen))
                reader.start()
            self.answer_head(plan)
            if plan.end in ("fin", "rst"):
                self.break_off(plan, seen)
            if reader is not None:
                self.write_body(plan, seen, 0, plan.size // 2)
                reader.join()
            elif plan.framing != "close" and plan.end != "notify":
                self.write_body(plan, seen, 0, plan.size)
            else:
                self.write_body(plan, seen, 0, max(0, plan.size - 5000))
            self.finish(plan, seen)
            if plan.when == "early":
                self.read_body(plan, head, seen)
        except Broken as e:
            seen["why"] = str(e)
            raise
        finally:
            touch(flag(self.server.dir, "blocked", plan.number))
            seen["sent_sha"] = digest(plan.number, seen["sent"])
            self.server.write(seen)

    def beside(self, plan, head, seen):
        try:
            self.read_body(plan, head, seen)
        except Broken as e:
            seen["why"] = str(e)

    def serve(self):
        try:
            while True:
                self.exchange()
        except Broken:
            pass
        finally:
            self.sock.close()


class Server:
    def __init__(self, opts):
        self.dir = opts.dir
        self.lock = threading.Lock()
        self.log = open(os.path.join(opts.dir, "log.jsonl"), "a",
                        encoding="utf-8")
        make_certificates(opts.dir, ["localhost"])
        self.ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.ctx.load_cert_chain(os.path.join(opts.dir, "leaf.pem"),
                                 os.path.join(opts.dir, "leaf.key"))

    def write(self, seen):
        with self.lock:
            self.log.write(json.dumps(seen) + "\n")
            self.log.flush()

    def connection(self, raw):
        try:
            raw.settimeout(LIMIT)
            sock = self.ctx.wrap_socket(raw, server_side=True,
                                        suppress_ragged_eofs=False)
        except OSError:
            raw.close()
            return
        Connection(self, sock).serve()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--dir", required=True)
    server = Server(p.parse_args())
    listener = socket.create_server(("127.0.0.1", 0), backlog=256)
    print(json.dumps({"port": listener.getsockname()[1]}), flush=True)
    while True:
        sock, _ = listener.accept()
        threading.Thread(target=server.connection, args=(sock,),
                         daemon=True).start()


if __name__ == "__main__":
    main()
