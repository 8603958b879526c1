#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A recording web site for tests: HTTPS on loopback, in the test's own
process.  Shares no code with the product."""
import http.server
import os
import ssl
import subprocess
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, body, status=200, **headers):
        self.send_response(status)
        headers.setdefault("Content_Type", "text/plain")
        for k, v in headers.items():
            self.send_header(k.replace("_", "-"), v)
        self.send_header("Content-Length", str(len(body)))
        try:
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)
        except OSError:
            self.close_connection = True

    def chunks(self, size):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        piece = b"c" * 4096
        try:
            for _ in range(size // len(piece)):
                self.wfile.write(b"1000\r\n" + piece + b"\r\n")
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.close_connection = True

    def handle_any(self):
        s = self.server
        s.seen.append((self.command, self.path, [
            (k.lower(), v) for k, v in self.headers.items()]))
        if self.path == "/away":
            self.answer(b"", 302, Location="https://evil.example.com/x")
        elif self.path == "/set":
            self.answer(b"ok", Set_Cookie="a=b", X_Other="y", ETag='"1"')
        elif self.path == "/huge":
            self.answer(b"h" * s.huge)
        elif self.path == "/chunks":
            self.chunks(s.huge)
        elif self.path == "/wait":
            s.release.wait(30)
            self.answer(b"late")
        elif self.path == "/none":
            self.answer(b"nothing", 404)
        else:
            self.answer(f"{s.name} {self.path}".encode())

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = handle_any


class Web:
    """A web site; url, ca: its address and CA; seen: (method, path, headers)
    of each request."""

    def __init__(self, work, name, huge=1 << 20, host="localhost"):
        self.ca = os.path.join(work, f"{name}.pem")
        key = os.path.join(work, f"{name}.key")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
             "ec_paramgen_curve:P-256", "-nodes", "-days", "1", "-subj",
             "/CN=localhost", "-addext", f"subjectAltName=DNS:{host}",
             "-keyout", key, "-out", self.ca], check=True,
            capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.ca, key)
        s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        s.daemon_threads = True
        s.seen, s.name, s.huge = [], name, huge
        s.release = threading.Event()
        s.socket = context.wrap_socket(s.socket, server_side=True)
        threading.Thread(target=s.serve_forever, daemon=True).start()
        self.server = s
        self.seen, self.release = s.seen, s.release
        self.url = f"https://localhost:{s.server_address[1]}"

    def paths(self):
        return [path for _, path, _ in self.seen]
