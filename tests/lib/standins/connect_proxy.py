#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A corporate proxy for tests: accepts CONNECT with Basic credentials on
127.0.0.1, resolves names by its own map, and records its requests. Shares no
code with the product.  Prints {"port": N}; ends with its parent.

--hold TARGET: a CONNECT to it is never answered. --intercept TARGET: inside
its tunnel the proxy speaks TLS itself, with a certificate that its CA
(--ca-dir) made for the host, and plain HTTP to the real target. --mode FILE:
while that file contains {"bytes": TEXT, "hold": BOOL}, every CONNECT is
answered with that text, and then the connection is closed, or held."""
import argparse
import base64
import json
import os
import socket
import ssl
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from provider_ca import make_certificates  # noqa: E402


def copy(a, b):
    try:
        while data := a.recv(65536):
            b.sendall(data)
        b.shutdown(socket.SHUT_WR)
    except OSError:
        pass


class Proxy:
    def __init__(self, o):
        self.o = o
        self.map = dict(m.rsplit("=", 1) for m in o.map)
        self.log = open(o.log, "a", encoding="utf-8")
        self.lock = threading.Lock()
        self.want = None
        if o.user is not None:
            pair = f"{o.user}:{o.password}".encode()
            self.want = "Basic " + base64.b64encode(pair).decode()

        self.contexts = {t: self.context(i, t)
                         for i, t in enumerate(o.intercept)}

    def context(self, i, target):
        make_certificates(self.o.ca_dir, [target.rsplit(":", 1)[0]], f"l{i}")
        c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        c.load_cert_chain(*(os.path.join(self.o.ca_dir, f"l{i}.{x}")
                            for x in ("pem", "key")))
        return c

    def intercept(self, s, target):
        """Read one request that should be private, and answer it."""
        s.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        try:
            s = self.contexts[target].wrap_socket(s, server_side=True)
            lines, fields, rest = self.head(s)
            self.write(ev="intercepted", target=target, lines=lines)
            up = socket.create_connection(
                ("127.0.0.1", int(self.map[target])), 10)
            fields = [f for f in fields if f[0] != "connection"]
            up.sendall("\r\n".join(
                [lines[0], *(f"{n}: {v}" for n, v in fields),
                 "Connection: close", "", ""]).encode("latin-1") + rest)
            copy(up, s)
            up.close()
            s.close()
        except OSError as e:
            self.write(ev="mistrusted", target=target, why=str(e))

    def write(self, **entry):
        with self.lock:
            self.log.write(json.dumps(entry) + "\n")
            self.log.flush()

    def head(self, s):
        data = b""
        while b"\r\n\r\n" not in data:
            part = s.recv(4096)
            if not part or len(data) > 65536:
                raise OSError("no head")
            data += part
        head, rest = data.split(b"\r\n\r\n", 1)
        lines = head.decode("latin-1").split("\r\n")
        fields = [(n.lower(), v.strip()) for n, _, v in
                  (line.partition(":") for line in lines[1:])]
        return lines, fields, rest

    def judge(self, lines, fields):
        method, target, version = (lines[0].split(" ") + ["", ""])[:3]
        given = [v for n, v in fields if n == "proxy-authorization"]
        if method != "CONNECT" or version != "HTTP/1.1":
            return 405, "Method Not Allowed", target
        if self.want is not None and given != [self.want]:
            return 407, "Proxy Authentication Required", target
        if target in self.o.forbid:
            return 403, "Forbidden", target
        if target not in self.map:
            return 502, "Bad Gateway", target
        return 200, "Connection established", target

    def serve(self, s):
        try:
            lines, fields, rest = self.head(s)
        except OSError as e:
            self.write(ev="bad", why=str(e))
            s.close()
            return
        status, reason, target = self.judge(lines, fields)
        mode = None
        if os.path.exists(self.o.mode or ""):
            with open(self.o.mode, encoding="utf-8") as f:
                mode = json.load(f)
        self.write(ev="connect", target=target, lines=lines,
                   rest=rest.decode("latin-1"),
                   status=mode["bytes"][:40] if mode else status)
        if mode:
            s.sendall(mode["bytes"].encode("latin-1"))
            if mode.get("hold"):
                while s.recv(4096):
                    pass
            s.close()
            return
        if target in self.o.hold:
            while s.recv(4096):
                pass
            s.close()
            return
        if status != 200:
            more = 'Proxy-Authenticate: Basic realm="corp"\r\n' \
                if status == 407 else ""
            page = "<html>a page of the proxy's own</html>"
            s.sendall(f"HTTP/1.1 {status} {reason}\r\n{more}Content-Type: "
                      f"text/html\r\nContent-Length: {len(page)}\r\n\r\n{page}"
                      .encode())
            s.close()
            return
        if target in self.contexts:
            self.intercept(s, target)
            return
        where = self.map[target]
        up = socket.create_connection(("127.0.0.1", int(where)), 10)
        # Real proxies send such headers, which have no meaning here.
        s.sendall(b"HTTP/1.1 200 Connection established\r\n"
                  b"Proxy-Agent: stand-in\r\nContent-Length: 0\r\n\r\n" + rest)
        other = threading.Thread(target=copy, args=(up, s), daemon=True)
        other.start()
        copy(s, up)
        other.join()
        s.close()
        up.close()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--log", required=True)
    p.add_argument("--user")
    p.add_argument("--password", default="")
    p.add_argument("--map", action="append", default=[])
    p.add_argument("--forbid", action="append", default=[])
    p.add_argument("--hold", action="append", default=[])
    p.add_argument("--mode")
    p.add_argument("--intercept", action="append", default=[])
    p.add_argument("--ca-dir")
    proxy = Proxy(p.parse_args())
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    print(json.dumps({"port": listener.getsockname()[1]}), flush=True)

    def accept():
        while True:
            s, _ = listener.accept()
            threading.Thread(target=proxy.serve, args=(s,),
                             daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(0.5)
    sys.exit(0)


if __name__ == "__main__":
    main()
