# SPDX-License-Identifier: ISC
"""A stand-in for a PostgreSQL server: protocol 3 with SCRAM-SHA-256, one user and
one database. `how` makes it hostile. It records what its clients send, and shares
no code with the product."""
import base64
import hashlib
import hmac
import os
import socket
import struct
import threading

PARAMETERS = {"server_version": "15.99 (stand-in)", "server_encoding": "UTF8",
              "client_encoding": "UTF8", "DateStyle": "ISO, MDY",
              "integer_datetimes": "on", "standard_conforming_strings": "on"}


def message(kind, body):
    return kind + struct.pack(">I", len(body) + 4) + body


def auth(number, rest=b""):
    return message(b"R", struct.pack(">I", number) + rest)


def error(code, text):
    return message(b"E", b"SFATAL\0VFATAL\0C%s\0M%s\0\0" %
                   (code.encode(), text.encode()))


def exact(c, n):
    got = b""
    while len(got) < n:
        if not (part := c.recv(min(n - len(got), 65536))):
            raise EOFError
        got += part
    return got


def packet(c, kind=True):
    """Returns the type, if there is one, and the body of the next message."""
    head = exact(c, 5 if kind else 4)
    n = struct.unpack(">I", head[-4:])[0] - 4
    if n > 1 << 20:
        raise ValueError    # a start looks what listens, as other clients
    return head[:-4], exact(c, n)


def row(*values):
    out = struct.pack(">H", len(values))
    for v in values:
        out += struct.pack(">I", len(v)) + v.encode()
    return message(b"D", out)


def columns(n):
    return message(b"T", struct.pack(">H", n) + (
        b"c\0" + struct.pack(">IHIHIH", 0, 0, 25, 0xffff, 0, 0)) * n)


class Server:
    """how: "" (good) or one of the names below. roles: what the user can become."""

    def __init__(self, user, database, password, how="", roles=(), rounds=4096):
        self.user, self.database, self.password = user, database, password
        self.how, self.roles, self.rounds = how, roles, rounds
        self.startups, self.queries, self.cancels, self.seen = [], [], [], b""
        self.waiting, self.keys = {}, {}
        self.bound = b""    # the hash of its certificate, where TLS is
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.to = f"127.0.0.1:{self.port}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                c, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(c,), daemon=True).start()

    def close(self):
        self.listener.close()

    def serve(self, c):
        try:
            with c:
                self.client(c)
        except (EOFError, OSError, ValueError, struct.error, KeyError,
                IndexError):
            pass    # not a client of ours: a start looks at what listens

    def client(self, c):
        _, body = packet(c, False)
        code = struct.unpack(">I", body[:4])[0]
        if code == 80877102:
            self.cancel(*struct.unpack(">I4s", body[4:]))
            return
        words = [w.decode() for w in body[4:].split(b"\0")][:-2]
        asked = dict(zip(words[::2], words[1::2]))
        self.startups.append(asked)
        if not self.login(c, asked):
            return
        pid, key = len(self.keys) + 70, os.urandom(4)
        self.keys[pid] = key
        self.waiting[pid] = threading.Event()
        out = auth(0)
        for name, value in {**PARAMETERS, "TimeZone": "UTC", **asked}.items():
            if name not in ("user", "database"):
                out += message(b"S", f"{name}\0{value}\0".encode())
        if self.how == "no key":
            c.sendall(out + message(b"Z", b"I"))
            return
        out += message(b"K", struct.pack(">I", pid) + key)
        if self.how == "endless":
            c.sendall(out)
            while True:
                c.sendall(message(b"N", b"SNOTICE\0Mmore\0\0") * 100)
        c.sendall(out + message(b"Z", b"I"))
        self.serve_queries(c, pid, asked)

    def refuse(self, c):
        """Returns True if the client was answered in one of the hostile ways."""
        how = self.how
        if how == "trust":
            c.sendall(auth(0) + message(b"Z", b"I"))
        elif how == "md5":
            c.sendall(auth(5, b"salt"))
        elif how == "cleartext":
            c.sendall(auth(3))
        elif how == "gss":
            c.sendall(auth(7))
        elif how == "other":
            c.sendall(auth(10, b"SCRAM-SHA-256-PLUS\0OAUTHBEARER\0\0"))
        elif how == "tls":
            c.sendall(error("28000", "no pg_hba.conf entry for host "
                            "\"127.0.0.1\", no encryption"))
        elif how == "http":
            c.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        elif how == "huge":
            c.sendall(b"R" + struct.pack(">I", 1 << 30) + bytes(65536))
        elif how == "early":
            c.sendall(message(b"Z", b"I"))
        elif how == "echo":
            c.sendall(error("58000", "you said " + self.password))
        elif how != "silent":
            return False
        try:
            while (part := c.recv(65536)):
                self.seen += part
        except OSError:
            pass
        return True

    def login(self, c, asked):
        if self.refuse(c):
            return False
        if asked["database"] != self.database:
            c.sendall(error("3D000", "database does not exist"))
            return False
        head = b"n,,"
        mechanisms = b"SCRAM-SHA-256\0"
        if self.bound and self.how != "no binding":
            head = b"p=tls-server-end-point,,"
            mechanisms = b"SCRAM-SHA-256-PLUS\0" + mechanisms
        c.sendall(auth(10, mechanisms + b"\0"))
        _, body = packet(c)
        self.seen += body
        first = body[body.index(head) + len(head):]
        salt = hashlib.sha256(self.user.encode()).digest()[:16]
        nonce = first.split(b",r=")[1] + base64.b64encode(os.urandom(9))
        if self.how == "nonce":
            nonce = base64.b64encode(os.urandom(30))
        rounds = 10_000_000_000 if self.how == "rounds" else self.rounds
        challenge = b"r=%s,s=%s,i=%d" % (nonce, base64.b64encode(salt), rounds)
        c.sendall(auth(11, challenge))
        _, body = packet(c)
        self.seen += body
        bare, proof = body.rsplit(b",p=", 1)
        channel = b"c=" + base64.b64encode(head + self.bound) + b","
        if not bare.startswith(channel):
            c.sendall(error("28000", "SCRAM channel binding check failed"))
            return False
        salted = hashlib.pbkdf2_hmac("sha256", self.password.encode(), salt,
                                     self.rounds)
        said = b",".join((first, challenge, bare))
        client = hmac.digest(salted, b"Client Key", "sha256")
        sign = hmac.digest(hashlib.sha256(client).digest(), said, "sha256")
        right = bytes(a ^ b for a, b in zip(client, sign))
        if base64.b64decode(proof) != right and self.how != "false":
            c.sendall(error("28P01", "password authentication failed"))
            return False
        key = hmac.digest(salted, b"Server Key", "sha256")
        if self.how in ("signature", "false"):
            key = os.urandom(32)
        if self.how != "unsigned":
            c.sendall(auth(12, b"v=" + base64.b64encode(
                hmac.digest(key, said, "sha256"))))
        return True

    def cancel(self, pid, key):
        self.cancels.append((pid, key))
        if self.keys.get(pid) == key:
            self.waiting[pid].set()

    def serve_queries(self, c, pid, asked):
        while True:
            kind, body = packet(c)
            if kind == b"X":
                return
            sql = body[:-1].decode()
            self.queries.append(sql)
            if "pg_has_role" in sql:
                out = columns(1) + b"".join(row(r) for r in self.roles)
                if self.how == "rows":
                    out += message(b"D", b"\0\1\377\377\377\377")
            elif "sleep" in sql:
                done = self.waiting[pid].wait(60)
                out = error("57014", "canceled") if done else b""
            else:
                out = columns(2) + row(asked["user"],
                                       asked.get("application_name", "-"))
            c.sendall(out + message(b"C", b"SELECT 1\0") + message(b"Z", b"I"))
            if self.how == "notice":
                c.sendall(message(b"N", b"SNOTICE\0Mearly bird\0\0"))
