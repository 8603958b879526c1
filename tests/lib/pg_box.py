# SPDX-License-Identifier: ISC
"""A session whose agent is a client of PostgreSQL that has no password."""
import json
import os

import harness as h

# Runs in the sandbox; does each line of /workspace/do, answers in done.N.
AGENT = r"""
import json, os, select, socket, struct, subprocess, time
def exact(c, n):
    got = b""
    while len(got) < n:
        part = c.recv(n - len(got))
        if not part:
            raise EOFError
        got += part
    return got
def read(c):
    head = exact(c, 5)
    return head[:1].decode(), exact(c, struct.unpack(">I", head[1:])[0] - 4)
def fields(body):
    return {p[:1].decode(): p[1:].decode() for p in body.split(b"\0") if p}
def packet(body):
    return struct.pack(">I", len(body) + 4) + body
def startup(values, version=0x30000):
    return packet(struct.pack(">I", version) + b"".join(
        k.encode() + b"\0" + v.encode() + b"\0" for k, v in values.items())
        + b"\0")
def connect():
    c = socket.create_connection(("127.0.0.1", 5432), 30)
    c.settimeout(30)
    return c
def until_ready(c, out):
    while True:
        kind, body = read(c)
        out["kinds"] = out.get("kinds", "") + kind
        if kind == "S":
            k, v = body.split(b"\0")[:2]
            out.setdefault("parameters", {})[k.decode()] = v.decode()
        elif kind == "K":
            out["key"] = [struct.unpack(">I", body[:4])[0], body[4:].hex()]
        elif kind == "D":
            at, row = 2, []
            for _ in range(struct.unpack(">H", body[:2])[0]):
                n = struct.unpack(">i", body[at:at + 4])[0]
                row.append(body[at + 4:at + 4 + n].decode())
                at += 4 + n
            out.setdefault("rows", []).append(row)
        elif kind == "E":
            out["error"] = fields(body)
            if out["error"].get("S") == "FATAL":
                return False
        elif kind == "N":
            out["notice"] = fields(body)["M"]
        elif kind == "Z":
            return True
def login(values, sql="", before=(), version=0x30000):
    c, out = connect(), {"said": ""}
    for code in before:
        c.sendall(struct.pack(">II", 8, code))
        out["said"] += exact(c, 1).decode()
    c.sendall(startup(values, version))
    try:
        if until_ready(c, out) and sql:
            c.sendall(b"Q" + packet(sql.encode() + b"\0"))
            until_ready(c, out)
    except (EOFError, ConnectionError) as e:
        out["lost"] = type(e).__name__
    return out
def raw(data):
    c = connect()
    try:
        for part in data:
            part, times = part if isinstance(part, list) else (part, 1)
            c.sendall(bytes.fromhex(part) * times)
        c.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    got = b""
    try:
        while True:
            part = c.recv(65536)
            if not part:
                break
            got += part
    except OSError:
        pass
    return got.decode("latin1")
def cancel(spoil=0):
    c, out = connect(), {}
    c.sendall(startup({}))
    until_ready(c, out)
    c.sendall(b"Q" + packet(b"SELECT pg_sleep(40)\0"))
    pid, key = out["key"][0], bytearray.fromhex(out["key"][1])
    key[3] ^= spoil
    # A server forgets what comes before the query has begun.
    for _ in range(1 if spoil else 30):
        k = connect()
        k.sendall(struct.pack(">III", 16, 80877102, pid) + key)
        k.recv(1)
        if not spoil and select.select([c], [], [], 1)[0]:
            break
    if spoil:
        c.settimeout(1)
        try:
            c.recv(1)
        except TimeoutError:
            return "still there"
    until_ready(c, out)
    return out["error"]["C"]
def program(argv, env):
    r = subprocess.run(argv, env={**os.environ, **env}, capture_output=True,
                       text=True, timeout=120)
    return [r.returncode, r.stdout + r.stderr]
done = 0
while True:
    try:
        lines = open("/workspace/do").read().splitlines()
    except OSError:
        lines = []
    for line in lines[done:]:
        what = json.loads(line)
        try:
            out = globals()[what[0]](*what[1:])
        except Exception as e:
            out = {"lost": repr(e)}
        with open("/workspace/new", "w") as f:
            json.dump(out, f)
        done += 1
        os.rename("/workspace/new", "/workspace/done.%d" % done)
    time.sleep(0.02)
"""


class Box:
    """The service "db" logs in with the password of a file; without `login`, its
    clients do."""

    def __init__(self, work, to, login, password="", **config):
        self.s = h.Session(work, runtime="bwrap", options=(
            "--agent", "command", "--", "/usr/bin/python3", "-c", AGENT),
            config={"services": {"db": {"port": 5432, "to": to, **({"login": {
                "kind": "postgres", **login}} if login else {})}}, **config})
        if password:
            h.put(os.path.join(work, "password"), password + "\n")
            os.chmod(os.path.join(work, "password"), 0o600)
        self.n = 0

    def do(self, *what):
        self.n += 1
        with open(os.path.join(self.s.workspace, "do"), "a",
                  encoding="ascii") as f:
            f.write(json.dumps(what) + "\n")
        path = os.path.join(self.s.workspace, f"done.{self.n}")
        h.wait_for(lambda: os.path.exists(path), f"{what} was not done", 60)
        with open(path, encoding="utf-8") as f:
            return json.load(f)
