#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""ic-reader by itself: what it is confined by, that it answers one text after
the other, and that it ends when it is sent what is no request.  The same of
ic-mention and ic-locate, which answer once."""
import os
import re
import socket
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
READER = os.path.join(h.PREFIX, "libexec", "ironcurtain", "ic-reader")
LOCATE = os.path.join(os.path.dirname(READER), "ic-locate")
MENTION = os.path.join(os.path.dirname(READER), "ic-mention")
PROVIDER, CONFIG, SERVERS, PRICES, AGENT = range(5)
PARTS = 6


class Reader:
    def __enter__(self):
        self.s, theirs = socket.socketpair()
        self.s.settimeout(30)
        self.p = subprocess.Popen([READER], stdin=theirs, stdout=theirs,
                                  stderr=subprocess.PIPE, env={})
        theirs.close()
        return self

    def __exit__(self, *_):
        self.s.close()
        self.p.wait(30)
        self.p.stderr.close()

    def send(self, kind, *parts):
        parts = [p.encode() for p in parts] + [b""] * (PARTS - len(parts))
        self.s.sendall(struct.pack("=7I", kind, *map(len, parts)) +
                       b"".join(parts))

    def get(self, n):
        got = b""
        while len(got) < n:
            more = self.s.recv(n - len(got))
            if not more:
                raise EOFError(got)
            got += more
        return got

    def ask(self, kind, *parts):
        self.send(kind, *parts)
        return self.get(struct.unpack("=I", self.get(4))[0])


def test_answers():
    with Reader() as r:
        t.equal(r.ask(CONFIG, "/x/config.json", "/home/u", "", "{}")[:1], b"G",
                "a configuration is handed over")
        t.equal(r.ask(CONFIG, "/x/config.json", "/home/u", "", '{"agnt": 1}')
                .startswith(b"F/x/config.json: agnt: unknown key"), True,
                "and so is what is wrong with another one")
        t.equal(r.ask(PROVIDER, "{}")[:1], b"E", "a provider without a name")
        with open(os.path.join(h.PREFIX, "share/ironcurtain/providers",
                               "anthropic.json"), encoding="utf-8") as f:
            facts = r.ask(PROVIDER, f.read()).split(b"\0")
        t.ok(b"nanthropic" in facts and b"hapi.anthropic.com" in facts and
             facts[-2] == b".", "facts of a provider", facts)
        servers = '{"a": {"command": "a", "args": ["${KEY}"]}}'
        t.ok(b"from-the-user" in r.ask(
            SERVERS, "/x/s.json", "/home/u", servers, "", "",
            "KEY=from-the-user\0"), "servers, with a variable of the user's")
        t.ok(r.ask(SERVERS, "/x/s.json", "/home/u", servers)
             .startswith(b"F/x/s.json: a.args: ${KEY} is not set"),
             "and without it, what is wrong")
        prices = '{"models": [{"model": "*", "in": 1, "out": 2}]}'
        t.equal(r.ask(PRICES, "", "", "/x/prices.json", prices)[:1], b"G",
                "prices")
        t.equal(r.ask(PRICES, "/x/p.json", '{"models": 1}', "/y", prices),
                b"F/x/p.json: models: must be a list of objects",
                "and what is wrong with the user's own")
        t.equal(r.ask(AGENT, "/x/a.json", "a", '{"name": "a"}')[:1], b"G",
                "an agent's file")
        t.equal(r.ask(AGENT, "/x/a.json", "a", '{"name": "a", "logins": [1]}'),
                b"F/x/a.json: logins[0]: must be an object",
                "and what is wrong with another one")
        if h.sanitized():
            return
        with open(f"/proc/{r.p.pid}/status", encoding="ascii") as f:
            status = dict(re.findall(r"^(\w+):\s+(\S+)", f.read(), re.M))
        t.equal((status["Seccomp"], status["NoNewPrivs"],
                 int(status["CapEff"], 16), int(status["CapBnd"], 16)),
                ("2", "1", 0, 0), "it is confined")
        t.equal(os.access(f"/proc/{r.p.pid}/mem", os.R_OK), False,
                "and others do not see into it")


def test_bad():
    for what, bytes_ in (("no kind of file", struct.pack("=7I", 9, *[0] * PARTS)),
                         ("a text of 4 GiB",
                          struct.pack("=7I", CONFIG, *[0] * 5, 0xffffffff))):
        with Reader() as r:
            r.s.sendall(bytes_)
            t.equal(r.s.recv(1), b"", f"{what}: it ends")
            t.ok(r.p.wait(30) != 0, f"{what}: as a failure")
    with Reader() as r:
        r.s.sendall(b"abc")
        r.s.shutdown(socket.SHUT_WR)
        t.equal(r.p.wait(30), 0, "a request that is cut: it ends")


def mention(*reports):
    p = subprocess.run([MENTION, "call"], capture_output=True, env={}, timeout=60,
                       input=b"".join(r.encode() + b"\0" for r in reports))
    return p.stdout if p.returncode == 0 else p.returncode


def test_mention():
    call = ("sread /srv/a/b.txt", "h/home/u", "rread-path", "v/srv/a/b.txt")
    for what, reports, want in (
            ("a call that the message names", call,
             b"nread-path: /srv/a/b.txt\n\0.\0"),
            ("a file below what is named",
             ("sread /srv/a", "h/home/u", "rread-path", "v/x", "p/srv/a/b.txt"),
             b"nread-path: something 1 level below /srv/a, its name ends in "
             b".txt\n\0.\0"),
            ("a call that it does not name",
             ("sread it", *call[1:]), b"wyour message does not name everything "
             b"that the call touches\0.\0"),
            ("a program that is written",
             ("sedit /srv/a/b.txt", call[1], "rwrite-path", call[3], "x"),
             b"wthe call writes a program\0.\0"),
            ("a call that touches nothing", call[:2], None),
            ("a value of no thing", (call[0], "v/srv/a/b.txt"), 1),
            ("too many things", call[:2] + call[2:] * 33, 1),
            ("no report", ("?",), 1)):
        got = mention(*reports)
        t.ok(got == want if want else got[:1] == b"w", what, got)


def test_locate():
    with tempfile.TemporaryDirectory() as d:
        def put(path, text, mode=0o755):
            path = os.path.join(d, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            os.chmod(path, mode)
            return path
        node = put("bin/node", "x")
        tool = put("tools/tool", "#!/usr/bin/env node\n")
        put("home/node_modules/pkg/package.json", '{"bin": "cli.js"}')
        cli = put("home/node_modules/pkg/cli.js", "#!/usr/bin/env node\n")
        job = [f"h{d}/home", f"b{d}/own", f"e{d}/bin", f"d{d}/tools", "cnpx",
               "a-y", "apkg", "aword", "c./tool", "fnpx", "cnpx", "agone"]
        p = subprocess.Popen([LOCATE, "start"], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, env={})
        p.stdin.write(b"".join(r.encode() + b"\0" for r in job[:1]))
        p.stdin.flush()
        if not h.sanitized():
            h.wait_for(lambda: status_of(p.pid).get("Seccomp") == "2",
                    "ic-locate is confined")
            got = status_of(p.pid)
            t.equal((got["NoNewPrivs"], int(got["CapEff"], 16),
                     int(got["CapBnd"], 16)), ("1", 0, 0),
                    "ic-locate is confined before it reads what it looks for")
        out, _ = p.communicate(
            b"".join(r.encode() + b"\0" for r in job[1:]), timeout=60)
        found, ours, other, gone, end = split_found(out)
        for report in (found, ours):
            code = report.pop(-2)
            t.ok(re.fullmatch(r"I[0-9a-f]{64} \S+ \S+", code),
                 "a program's code has a digest, a name and a version", code)
        t.equal(found, [f"P{node}", "Wnode", f"W{cli}", "Wword", f"T{node}",
                        f"T{d}/home/node_modules", "G"], "a package of npx")
        t.equal(ours, [f"P{tool}", "W./tool", f"T{tool}", f"T{node}", "G"],
                "a script, and its interpreter")
        t.equal(other, ["Fnpx: not found in PATH. Install it, or write its "
                        "whole path"], "an agent that has the name of npx")
        t.ok(gone[0].startswith("Fnpx gone: not installed"), "one that is not "
             "there", gone)
        t.equal(end, ["."], "and no more")


def status_of(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return dict(re.findall(r"^(\w+):\s+(\S+)", f.read(), re.M))


def split_found(out):
    """Returns the reports about each program."""
    parts = [[]]
    for r in out.decode().split("\0")[:-1]:
        parts[-1].append(r)
        if r[0] in "GF":
            parts.append([])
    return parts


def main():
    test_answers()
    test_bad()
    test_mention()
    test_locate()
    return t.done()


sys.exit(main())
