#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""500 slow clients at once, of each kind: CONNECT byte by byte, a TLS
handshake that stops, a head and a body byte by byte, an answer that is not
read. Another client is served meanwhile, and afterwards descriptors and memory
are as before. Its 99th percentiles are printed next to those that it had
alone, just before.

IC_FULL=1: each kind lasts a minute (default: 2 s), and the 99th percentiles
must be within twice the quiet ones. Run it on an otherwise idle machine.
IC_CROWD_SECONDS: another duration. IC_CROWD_KINDS: only these kinds, separated
by spaces."""
import contextlib
import os
import socket
import ssl
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import rules  # noqa: E402
import rules_replies  # noqa: E402
import test_rules as table  # noqa: E402

t = table.t
CROWD = 500
ALL = "connect tls head body unread"
KINDS = (os.environ.get("IC_CROWD_KINDS") or ALL).split()
FULL = os.environ.get("IC_FULL") == "1"
SECONDS = float(os.environ.get("IC_CROWD_SECONDS") or (60 if FULL else 2))
ROUND = 0.5  # interval between a client's bytes, s; not all at once
SLACK = 8 << 20  # memory that an allocator may keep
BIG = 1 << 20  # more than all buffers on the way hold
CONNECT = (b"CONNECT api.anthropic.com:443 HTTP/1.1\r\n"
           b"Host: api.anthropic.com:443\r\n\r\n")
HEAD = rules.get(b"x-app: " + b"y" * 4000 + b"\r\n")
BODY = (b"POST /api/event_logging/batch HTTP/1.1\r\n" + rules.HOST[rules.A] +
        rules.KEY[rules.A] + rules.JSON + b"Content-Length: 100000\r\n\r\n")
UNREAD = rules.get(b"x-stainless-reply: 1\r\n")


class Slow:
    """A slow client: sends its bytes one at a time."""

    def __init__(self, b, kind):
        self.b, self.kind, self.at = b, kind, 0
        self.sock = None
        self.drip = {"connect": CONNECT, "head": b.fill(rules.A, HEAD),
                     "body": b"x" * 100000}.get(kind, b"")

    def open(self):
        self.close()
        self.at = 0
        sock = socket.socket(socket.AF_UNIX)
        self.sock = sock
        # Before a timeout is set: a full queue must be waited for.
        sock.connect(self.b.session.ready["sockets"]["mitm"])
        sock.settimeout(20)
        if self.kind == "connect":
            return
        sock.sendall(CONNECT)
        sock.recv(4096)
        if self.kind == "tls":
            sock.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
            return
        self.sock = self.b.context.wrap_socket(
            sock, server_hostname="api.anthropic.com")
        if self.kind == "body":
            self.sock.sendall(self.b.fill(rules.A, BODY))
        elif self.kind == "unread":
            self.sock.sendall(self.b.fill(rules.A, UNREAD))

    def step(self):
        """Send another byte; reconnect if the deadline has closed the
        connection."""
        if self.kind == "tls":
            with contextlib.suppress(BlockingIOError):
                if self.sock.recv(1, socket.MSG_DONTWAIT) == b"":
                    self.open()
        if self.at >= len(self.drip):
            return
        try:
            self.sock.send(self.drip[self.at:self.at + 1])
            self.at += 1
        except OSError:
            self.open()

    def close(self):
        if self.sock:
            self.sock.close()


def crowd(b, kind, ready, stop):
    """Runs in its own process: opens the connections, reports, and sends bytes
    until told to stop. It runs at low priority, so that the cost of the crowd
    to mitmd is measured, and not the cost of this interpreter to a machine
    with two cores."""
    os.nice(19)
    slow = [Slow(b, kind) for _ in range(CROWD)]
    for s in slow:
        s.open()
    os.write(ready, b"x")
    os.set_blocking(stop, False)
    while True:
        began = time.monotonic()
        for i, s in enumerate(slow, 1):
            s.step()
            wait = began + ROUND * i / CROWD - time.monotonic()
            if wait > 0.002:
                time.sleep(wait)
        with contextlib.suppress(BlockingIOError):
            if os.read(stop, 1) == b"":
                return
        time.sleep(max(0, began + ROUND - time.monotonic()))


@contextlib.contextmanager
def crowded(b, kind):
    ready, ready_in = os.pipe()
    stop, stop_in = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(ready)
            os.close(stop_in)
            crowd(b, kind, ready_in, stop)
            code = 0
        except BaseException as e:  # pylint: disable=broad-except
            os.write(2, f"# {kind}: {type(e).__name__}: {e}\n".encode())
        os._exit(code)
    os.close(ready_in)
    os.close(stop)
    try:
        if os.read(ready, 1) != b"x":
            raise RuntimeError(f"{kind}: the crowd did not come")
        yield
    finally:
        os.close(stop_in)
        os.close(ready)
        _, status = os.waitpid(pid, 0)
        t.equal(status, 0, f"{kind}: they were all taken")


class Good:
    """The other client, with one kept connection and new ones."""

    def __init__(self, b):
        self.b = b
        self.data = b.fill(rules.A, rules.get())
        self.kept = b.session.model()

    def times(self, seconds):
        """p99 of requests on the kept connection, and on new ones."""
        kept, new = [], []
        end = time.monotonic() + seconds
        while time.monotonic() < end or len(kept) < 50:
            kept.append(self.once(self.kept))
            if len(kept) % 5 == 0:
                began = time.perf_counter()
                m = self.b.session.model()
                self.once(m)
                m.close()
                new.append(time.perf_counter() - began)
        return [sorted(x)[len(x) * 99 // 100] * 1000 for x in (kept, new)]

    def once(self, m):
        began = time.perf_counter()
        m.send_raw(self.data)
        why = table.passed(m.read_response("GET"))
        if why:
            raise RuntimeError(why)
        return time.perf_counter() - began


def usage(b):
    """name -> (descriptors, resident bytes) of the workers with connections.
    """
    found = {}
    for name, pids in b.session.workers().items():
        if name not in ("mitmd", "keyd", "dialerd"):
            continue
        for pid in pids:
            fds = os.stat(f"/proc/{pid}/fd").st_size    # Linux 6.2
            with open(f"/proc/{pid}/status", encoding="ascii") as f:
                rss = next(int(line.split()[1]) << 10 for line in f
                           if line.startswith("VmRSS"))
            found[f"{name} {pid}"] = (fds, rss)
    return found


def as_before(b, before):
    """Returns the usage once it is as before, else None."""
    now = usage(b)
    for name, (fds, _) in now.items():
        # Spare connections to the provider are permitted.
        if fds > before[name][0] + 4:
            return None
    return now


def one_kind(b, good, kind, before):
    seen = len(b.provider.seen())
    quiet = good.times(min(SECONDS, 20))
    with crowded(b, kind):
        if kind == "unread":  # its provider has 500 answers to begin
            h.wait_for(lambda: len(b.provider.seen()) >= seen + CROWD,
                       "answers have not begun", 60)
            good.times(1)
        busy = good.times(SECONDS)
        during = usage(b)
    t.ok(True, f"{kind}: another client is served meanwhile")
    now = h.wait_for(lambda: as_before(b, before),
                     f"descriptors stay: {before}, {usage(b)}", 40)
    t.ok(True, f"{kind}: descriptors are as before")
    print(f"# {kind}: p99 kept {quiet[0]:.1f} -> {busy[0]:.1f} ms, new "
          f"{quiet[1]:.1f} -> {busy[1]:.1f} ms")
    for name, q, p in zip(("kept", "new"), quiet, busy):
        if FULL:
            t.ok(p <= 2 * q, f"{kind}: p99 {name} within twice the quiet one",
                 (q, p))
    for name, (fds, rss) in before.items():
        print(f"#   {name}: fds {fds} -> {during[name][0]} -> "
              f"{now[name][0]}; MiB {rss / (1 << 20):.1f} -> "
              f"{during[name][1] / (1 << 20):.1f} -> "
              f"{now[name][1] / (1 << 20):.1f}")
    return now


def main():
    unknown = set(KINDS) - set(ALL.split())
    if unknown:
        sys.exit(f"IC_CROWD_KINDS: {unknown}: none of {ALL}")
    big = rules_replies.reply(b"x" * BIG)
    with h.workdir() as work, t.case("crowd"):
        b = table.Bench(work, [big])
        b.context = ssl.create_default_context(cafile=os.path.join(
            b.session.dir, "orientation", "ca-cert.pem"))
        good = Good(b)
        good.times(1)
        before = usage(b)
        if not all(fds for fds, _ in before.values()):
            t.skip("descriptors", "this kernel does not count them")
        for kind in KINDS:
            with t.case(kind):
                now = one_kind(b, good, kind, before)
                if h.sanitized():
                    t.skip(f"{kind}: memory", "ASan keeps what was freed")
                    continue
                t.ok(all(rss <= before[n][1] + SLACK
                         for n, (_, rss) in now.items()),
                     f"{kind}: memory is as before", now)
        t.equal(b.session.events("alarm"), [], "nobody took it for an attack")
        good.kept.close()
        b.close()
    t.done()


if __name__ == "__main__":
    main()
