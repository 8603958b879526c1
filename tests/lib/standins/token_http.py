# SPDX-License-Identifier: ISC
"""Shared by the stand-ins of token endpoints: a TLS port of 127.0.0.1 with a
CA of its own, and a second, plain port that takes a test's orders."""
import base64
import json
import os
import ssl
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from provider_ca import make_certificates


def b64(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class TokenHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state = None

    def log_message(self, *_):
        pass

    def reply(self, status, body, coding=None):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        if coding:
            self.send_header("Content-Encoding", coding)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def fields(self, body):
        """Returns the fields of a form, or of JSON."""
        if self.headers.get("Content-Type", "").startswith("application/json"):
            return json.loads(body)
        return dict(urllib.parse.parse_qsl(body.decode(), True, True))

    def all_headers(self):
        return [(k.lower(), v) for k, v in self.headers.items()]

    def bearer(self):
        auth = self.headers.get("Authorization", "")
        return auth[7:] if auth.startswith("Bearer ") else ""


def serve(directory, handler, orders):
    """Print the ports, then serve until killed."""
    make_certificates(directory, ["localhost", "auth.example"])
    ThreadingHTTPServer.daemon_threads = True
    ThreadingHTTPServer.request_queue_size = 64
    tls = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ctx.load_cert_chain(os.path.join(directory, "leaf.pem"),
                        os.path.join(directory, "leaf.key"))
    tls.socket = ctx.wrap_socket(tls.socket, server_side=True,
                                 do_handshake_on_connect=False)
    plain = ThreadingHTTPServer(("127.0.0.1", 0), orders)
    threading.Thread(target=plain.serve_forever, daemon=True).start()
    print(json.dumps({"port": tls.server_port, "orders": plain.server_port}),
          flush=True)
    tls.serve_forever()
