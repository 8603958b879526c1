#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A package registry for tests, over TLS: answers from a file of paths,
misbehaves where that file says so, and records every request.

--tree: JSON, path -> {"body": base64, "type", "status", "headers": {}, "cut":
announce more than is sent, "announce": a length, "stream": that many spaces in
chunks after the body, "stall": seconds}."""
import argparse
import base64
import http.server
import json
import os
import signal
import ssl
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from provider_ca import make_certificates  # noqa: E402


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def handle(self):
        try:
            super().handle()
        except OSError:
            self.close_connection = True

    def note(self):
        length = int(self.headers.get("content-length") or 0)
        self.rfile.read(length)
        line = json.dumps({"ev": "request", "method": self.command,
                           "path": self.path, "body": length,
                           "headers": self.headers.items()})
        with self.server.lock, open(self.server.log, "a",
                                    encoding="ascii") as f:
            f.write(line + "\n")

    def answer(self):
        self.note()
        row = self.server.tree.get(self.path)
        if row is None:
            row = {"status": 404, "body": base64.b64encode(b"{}").decode()}
        body = base64.b64decode(row.get("body", ""))
        time.sleep(row.get("stall", 0))
        self.send_response(row.get("status", 200))
        self.send_header("Content-Type", row.get("type", "application/json"))
        self.send_header("ETag", '"tag"')
        self.send_header("Set-Cookie", "a=b")
        for name, value in row.get("headers", {}).items():
            self.send_header(name, value)
        if "stream" in row:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.stream(body, row["stream"])
            return
        length = row.get("announce", len(body) + (100 if row.get("cut") else 0))
        self.send_header("Content-Length", str(length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        if length != len(body):
            self.close_connection = True

    def stream(self, body, left):
        piece = b" " * (1 << 20)
        self.wfile.write(b"%x\r\n%s\r\n" % (len(body), body))
        while left > 0:
            n = min(left, len(piece))
            self.wfile.write(b"%x\r\n%s\r\n" % (n, piece[:n]))
            left -= n
        self.wfile.write(b"0\r\n\r\n")

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = answer


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def finish_request(self, request, client_address):
        try:
            request.settimeout(60)
            request = self.context.wrap_socket(request, server_side=True)
        except OSError:
            return
        super().finish_request(request, client_address)

    def handle_error(self, *_):
        pass


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--ca-dir", required=True)
    p.add_argument("--log", required=True)
    p.add_argument("--tree", required=True)
    opts = p.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    make_certificates(opts.ca_dir, ["registry.test"])
    server = Server(("127.0.0.1", 0), Handler)
    server.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.context.load_cert_chain(os.path.join(opts.ca_dir, "leaf.pem"),
                                   os.path.join(opts.ca_dir, "leaf.key"))
    server.log, server.lock = opts.log, threading.Lock()
    with open(opts.tree, encoding="utf-8") as f:
        server.tree = json.load(f)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({"port": server.server_address[1]}), flush=True)
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(1)


if __name__ == "__main__":
    main()
