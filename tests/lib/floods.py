# SPDX-License-Identifier: ISC
"""Floods from every edge of a session, and the response times of another
server during them.  A flood by the agent or by icctl is a process of its own:
`python3 floods.py KIND SESSION-DIR SECONDS`."""
import json
import os
import select
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import h2  # noqa: E402
import harness as h  # noqa: E402

HOST = "api.anthropic.com"
SERVER = ("answers", "repeated", "errors", "pages", "requests", "changes",
          "progress", "large", "stderr", "connects")
# Tunnels to one host that is not on the list, and to ever new ones.
CONNECT = ("connect", "hosts")
AGENT = ("h2", "http1", *CONNECT, "denied", "pings", "cancels")
USER = ("status",)
# A provider's endless answers, to requests of an agent that reads them.
PROVIDER = ("chunks", "events", "comments", "interim", "trailers", "head")
KINDS = (*SERVER, *AGENT, *USER, *PROVIDER)
# Refused CONNECTs, requests and calls may share one line in the log, with a
# count.
TOOLS = {"busy": h.ECHO_TOOLS,
         "flood": {"flood": {"kind": ["none"], "seconds": ["none"],
                             "target": ["none"]}},
         "quiet": h.ECHO_TOOLS}
RULES = [h.rule("all", "allow", server=["busy", "flood", "quiet"],
                tool=["flood", "echo"])]


def servers(work):
    return {
        "quiet": h.echo_server(os.path.join(work, "logs-q", "quiet")),
        "busy": h.echo_server(os.path.join(work, "logs-b", "busy")),
        "flood": {"command": h.PYTHON,
                  "args": [os.path.join(h.STANDINS, "mcp_flood.py")],
                  "sandbox": {"network": {"allowedDomains": ["a.test:443"]},
                              "filesystem": {"allowRead": [h.STANDINS]}}}}


class Load:
    """Send what `text` returns, as fast as it is accepted, and read the
    answers."""

    def __init__(self, sock, text):
        self.sock, self.text, self.left = sock, text, b""
        sock.setblocking(False)

    def turn(self):
        select.select([self.sock], [self.sock], [], 0.5)
        try:
            while True:
                if not self.sock.recv(1 << 18):
                    return False
        except (BlockingIOError, *h2.WANT):
            pass
        try:
            self.left = self.left or self.text()
            self.left = self.left[self.sock.send(self.left):]
        except (BlockingIOError, *h2.WANT):
            pass
        return True


def mcp(directory, text):
    """Returns a connection that has completed the handshake."""
    s = socket.socket(socket.AF_UNIX)
    s.connect(os.path.join(directory, "sockets", "proxy.sock"))
    s.sendall(json.dumps({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {},
                   "clientInfo": {"name": "flood", "version": "1"}}
    }).encode() + b"\n")
    s.recv(65536)
    return Load(s, text)


class Numbers:
    """Lines with a new id each time, 64 at a time."""

    def __init__(self, *texts):
        self.texts, self.n = texts, 0

    def __call__(self):
        out = []
        for _ in range(64):
            self.n += 1
            out += [t.replace("ID", str(self.n)) for t in self.texts]
        return "".join(out).encode()


CALL = ('{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":'
        '"%s","arguments":{"text":"ID"}}}\n')


def connection(directory, kind):
    if kind == "denied":
        return mcp(directory, Numbers(CALL % "quiet__fail"))
    if kind == "pings":
        return mcp(directory, Numbers(
            '{"jsonrpc":"2.0","id":ID,"method":"ping"}\n'))
    if kind == "cancels":
        return mcp(directory, Numbers(
            CALL % "busy__echo",
            '{"jsonrpc":"2.0","method":"notifications/cancelled",'
            '"params":{"requestId":ID}}\n'))
    c = h2.through(directory, HOST, alpn="h2" if kind == "h2" else "http/1.1")
    if kind == "http1":
        return Load(c.sock, lambda: b"GET /nope HTTP/1.1\r\nhost: " +
                    HOST.encode() + b"\r\n\r\n")
    c.window(0, 1 << 30)
    block = h2.encode([(":method", "GET"), (":scheme", "https"),
                       (":authority", HOST), (":path", "/nope")])
    stream = [1]

    def frames():
        out = b""
        for _ in range(40):
            out += c.pack(h2.HEADERS, h2.END_STREAM | h2.END_HEADERS,
                          stream[0], block)
            stream[0] += 2
        return out
    return Load(c.sock, frames)


def connects(directory, until, fresh):
    """Open tunnels to a host that is not on the list, or to a `fresh` one each
    time. Returns how many were refused."""
    path, n = os.path.join(directory, "sockets", "mitm-proxy.sock"), 0
    while time.monotonic() < until:
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(10)
            try:
                s.connect(path)
                host = f"n{n}.evil.test" if fresh else "evil.test"
                s.sendall(f"CONNECT {host}:443 HTTP/1.1\r\n\r\n".encode())
                n += s.recv(4096).startswith(b"HTTP/1.1 403")
            except OSError:
                continue
    return n


def status(directory, until):
    request = b'{"op":"status"}\n'
    while time.monotonic() < until:
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(10)
            try:
                s.connect(os.path.join(directory, "control.sock"))
                s.sendall(request)
                s.recv(65536)
            except OSError:
                continue


def asked(directory, kind, until):
    """Reads endless answers, one after the other; how many bytes they had."""
    with open(os.path.join(directory, "orientation", "agent.env"),
              encoding="utf-8") as f:
        env = dict(line.rstrip("\n").split("=", 1) for line in f
                   if "=" in line)
    body = json.dumps({"model": "m", "stream": True, "messages": [
        {"role": "user", "content": f"flood-{kind}"}]}).encode()
    request = (f"POST /v1/chat/completions HTTP/1.1\r\n"
               f"Host: api.openai.com\r\nContent-Type: application/json\r\n"
               f"Authorization: Bearer {env['OPENAI_API_KEY']}\r\n"
               f"Content-Length: {len(body)}\r\n\r\n").encode() + body
    n = 0
    while time.monotonic() < until:
        with h2.through(directory, "api.openai.com",
                        alpn="http/1.1").sock as s:
            s.sendall(request)
            s.settimeout(1)
            while time.monotonic() < until:
                try:
                    got = s.recv(1 << 18)
                except TimeoutError:
                    continue
                n += len(got)
                if not got:
                    break
    return n


def run(kind, directory, seconds):
    until = time.monotonic() + seconds
    if kind in CONNECT:
        print(connects(directory, until, kind == "hosts"))
    elif kind == "status":
        status(directory, until)
    elif kind in PROVIDER:
        print(asked(directory, kind, until))
    else:
        loads = [connection(directory, kind) for _ in range(4)]
        while time.monotonic() < until:
            if not all([one.turn() for one in loads]):
                sys.exit("a connection was closed")


class Flood:
    """One flood, in a session whose client is `m`."""

    def __init__(self, s, m, kind, seconds):
        self.kind, self.m, self.process = kind, m, None
        if kind in SERVER:
            target = "no.test:443"
            m.call("flood__flood", {"kind": kind, "seconds": seconds,
                                    "target": target})
        else:
            self.process = subprocess.Popen(
                [sys.executable, os.path.abspath(__file__), kind, s.dir,
                 str(seconds)], stdout=subprocess.PIPE, text=True)

    def end(self):
        """Returns the output of the flood's process."""
        if self.process is None:
            return ""
        return self.process.communicate(timeout=60)[0]


def latencies(m, seconds):
    """Returns the response times of calls to the quiet server, one after the
    other, in s, sorted."""
    until, found = time.monotonic() + seconds, []
    while time.monotonic() < until:
        before = time.monotonic()
        text = str(before)  # the same arguments again would count as a loop
        r = m.call("quiet__echo", {"text": text})
        found.append(time.monotonic() - before)
        if h.text_of(r) != text:
            raise RuntimeError(f"the quiet server: {r}")
    return sorted(found)


def percentile(values, p):
    return values[min(len(values) - 1, int(len(values) * p / 100))]


if __name__ == "__main__":
    run(sys.argv[1], sys.argv[2], float(sys.argv[3]))
