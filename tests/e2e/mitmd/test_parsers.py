#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Requests to a provider mean the same to every parser: the requests of the
rule book's table, as the recording provider received them, are replayed byte
for byte to nginx, haproxy, apache2 and node, each followed by another request.
All of them must find two requests and the same method, path, headers and body.

The result of the first three is what they pass on to a server in Python."""
import base64
import contextlib
import hashlib
import http.server
import json
import os
import shutil
import socket
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import rules  # noqa: E402
import rules_wild  # noqa: E402
import test_rules as table  # noqa: E402
from agent import Closed  # noqa: E402
from agent_model import Model  # noqa: E402

t = table.t
PROBE = b"GET /end HTTP/1.1\r\nHost: end\r\nConnection: close\r\n\r\n"
# Hop-by-hop headers, and those that proxies add.
HOPS = {"connection", "host", "x-forwarded-for", "x-forwarded-host",
        "x-forwarded-server", "keep-alive", "via", "content-length",
        "transfer-encoding", "cache-control", "max-forwards"}

NODE = r"""
const crypto = require('crypto');
require('http').createServer({maxHeaderSize: 1 << 17}, (req, res) => {
  const hash = crypto.createHash('sha256');
  let n = 0;
  req.on('data', (d) => { hash.update(d); n += d.length; });
  req.on('end', () => {
    const list = [];
    for (let i = 0; i < req.rawHeaders.length; i += 2)
      list.push([req.rawHeaders[i], req.rawHeaders[i + 1]]);
    res.end(JSON.stringify({method: req.method, target: req.url,
      headers: list, length: n, sha256: hash.digest('hex')}));
  });
}).listen(process.argv[2]);
"""
NGINX = """
daemon off; master_process off; worker_processes 1;
pid {dir}/nginx.pid; error_log {dir}/error.log;
events {{ worker_connections 64; }}
http {{
  access_log off; client_max_body_size 0; underscores_in_headers on;
  large_client_header_buffers 4 64k;
  client_body_temp_path {dir}/b; proxy_temp_path {dir}/p;
  fastcgi_temp_path {dir}/f; uwsgi_temp_path {dir}/u; scgi_temp_path {dir}/s;
  server {{
    listen unix:{where};
    location / {{
      proxy_pass http://127.0.0.1:{port};
      proxy_http_version 1.1; proxy_set_header Host $http_host;
    }}
  }}
}}
"""
HAPROXY = """
global
  tune.bufsize 131072
  stats socket {dir}/stats
defaults
  mode http
  timeout client 30s
  timeout server 30s
  timeout connect 5s
frontend f
  bind unix@{where}
  default_backend b
backend b
  server s 127.0.0.1:{port}
"""
APACHE = """
ServerRoot {dir}
ServerName localhost
Listen 127.0.0.1:{where}
PidFile {dir}/pid
ErrorLog {dir}/error.log
Mutex file:{dir}
DefaultRuntimeDir {dir}
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule proxy_module {modules}/mod_proxy.so
LoadModule proxy_http_module {modules}/mod_proxy_http.so
HttpProtocolOptions Strict
LimitRequestFieldSize 65536
LimitRequestLine 16384
ProxyPass / http://127.0.0.1:{port}/ nocanon
ProxyPreserveHost On
"""
MODULES = "/usr/lib/apache2/modules"


class Echo(http.server.BaseHTTPRequestHandler):
    """Reports Python's own reading of a request."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do(self):
        if self.headers.get("transfer-encoding"):
            body = b""
            while n := int(self.rfile.readline(), 16):
                body += self.rfile.read(n)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
        said = json.dumps({
            "method": self.command, "target": self.path,
            "headers": self.headers.items(), "length": len(body),
            "sha256": hashlib.sha256(body).hexdigest()}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    do_GET = do_POST = do


class Backend(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        pass  # a proxy that resets a connection


class Server:
    """One of the servers, in its own directory; `where`: path or port."""

    def __init__(self, name, work, port):
        self.dir = os.path.join(work, name)
        os.mkdir(self.dir)
        self.where = os.path.join(self.dir, "sock")
        if name == "apache2":
            with socket.create_server(("127.0.0.1", 0)) as s:
                self.where = s.getsockname()[1]
        conf = os.path.join(self.dir, "conf")
        text = {"nginx": NGINX, "haproxy": HAPROXY, "apache2": APACHE}.get(name)
        with open(conf, "w", encoding="ascii") as f:
            f.write(text.format(dir=self.dir, where=self.where, port=port,
                                modules=MODULES) if text else NODE)
        argv = {"nginx": ["nginx", "-p", self.dir, "-e", self.dir + "/error",
                          "-c", conf],
                "haproxy": ["haproxy", "-q", "-f", conf],
                "apache2": ["apache2", "-DFOREGROUND", "-f", conf],
                "node": ["node", conf, str(self.where)]}[name]
        argv[0] = program(name)
        self.err = open(os.path.join(self.dir, "stderr"), "wb")
        self.p = subprocess.Popen(argv, stdin=subprocess.DEVNULL,
                                  stdout=self.err, stderr=self.err,
                                  cwd=self.dir)
        h.wait_for(self.listens, f"{name} does not listen")

    def listens(self):
        if self.p.poll() is not None:
            with open(self.err.name, encoding="utf-8") as f:
                raise RuntimeError(f.read())
        with contextlib.suppress(OSError):
            self.connect().close()
            return True
        return False

    def connect(self):
        where = self.where
        if isinstance(where, int):
            where = f"127.0.0.1:{where}"
        return Model(direct=where, connect=False, timeout=20)

    def end(self):
        self.p.terminate()
        self.p.wait(10)
        self.err.close()


def program(name):
    return shutil.which(name, path="/usr/sbin:/usr/bin:/usr/local/bin")


def emitted():
    """[(head, body)]: the table's valid requests as the provider got them."""
    with h.workdir() as work:
        b = table.Bench(work, options=["--bodies"])
        cases = table.table_cases()
        wild = rules_wild.Wild(cases, 1)
        for case in cases + [wild.next(i) for i in range(1500)]:
            if all(isinstance(w, rules.Sent) for w in table.wants_of(case)):
                table.run(b, case)
        seen = b.provider.seen()
        b.close()
        found = {}
        for r in seen:
            body = base64.b64decode(r["bodyBase64"]) if "bodyBase64" in r \
                else r.get("body", "").encode()
            found[base64.b64decode(r["raw"]), body] = None
        return list(found)


def means(head, body):
    """The meaning of the bytes by RFC 9112, by a simple reading with split().
    """
    lines = head.decode("ascii").split("\r\n")
    method, target, _ = lines[0].split(" ")
    headers = [line.split(": ", 1) for line in lines[1:] if line]
    return {"method": method, "target": target, "length": len(body),
            "sha256": hashlib.sha256(body).hexdigest(),
            "headers": ends(headers)}


def ends(headers):
    return sorted((n.lower(), v.strip()) for n, v in headers
                  if n.lower() not in HOPS)


def replay(server, head, body):
    """None, or the difference in one server's reading."""
    m = server.connect()
    try:
        m.send_raw(head + body + PROBE)
        first = m.read_response("GET")
        second = m.read_response("GET")
        rest = m.read_all()
    except (Closed, OSError, ValueError) as e:
        return f"{type(e).__name__}: {e}"
    finally:
        m.close()
    if first.status != 200 or second.status != 200 or rest:
        return f"{first.status}, {second.status}, {rest!r}"
    got, probe = json.loads(first.body), json.loads(second.body)
    got["headers"] = ends(got["headers"])
    if (probe["method"], probe["target"], probe["length"]) != (
            "GET", "/end", 0):
        return f"what stands behind it is {probe}"
    want = means(head, body)
    return None if got == want else f"{got}\nwanted\n{want}"


def main():
    requests = emitted()
    t.ok(len(requests) > 60, f"{len(requests)} different requests of ours")
    backend = Backend(("127.0.0.1", 0), Echo)
    threading.Thread(target=backend.serve_forever, daemon=True).start()
    for name in ("nginx", "haproxy", "apache2", "node"):
        if not program(name) or (name == "apache2" and
                                 not os.path.isdir(MODULES)):
            t.skip(name, "it is not installed")
            continue
        with h.workdir() as work, t.case(name):
            server = Server(name, work, backend.server_address[1])
            bad = [(head, why) for head, body in requests
                   if (why := replay(server, head, body))]
            t.ok(not bad, f"{name} reads all of them as they are meant",
                 f"{len(bad)} differ\n" + "\n".join(
                     f"{x!r}\n{why}" for x, why in bad[:5]))
            # The test must notice a difference.
            odd = b"GET /x HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\n"
            t.ok(replay(server, odd, b"ab"), f"{name}: a body that is too "
                 "short is told from a whole one")
            server.end()
    backend.shutdown()
    t.done()


if __name__ == "__main__":
    main()
