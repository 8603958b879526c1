#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A git server over https: TLS with a CA of its own in front of git's
http-backend. Records its requests, one JSON object per line.  Its first line
on stdout is its port.  Shares no code with the product."""
import argparse
import http.server
import json
import os
import ssl
import subprocess
import sys

from provider_ca import make_certificates

BACKEND = "/usr/lib/git-core/git-http-backend"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):      # pylint: disable=arguments-differ
        pass

    def body(self):
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def serve(self):
        path, _, query = self.path.partition("?")
        self.server.note(method=self.command, path=path, query=query,
                         host=self.headers.get("Host"))
        env = {"PATH": "/usr/bin:/bin", "GIT_PROJECT_ROOT": self.server.root,
               "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path,
               "QUERY_STRING": query, "REQUEST_METHOD": self.command,
               "CONTENT_TYPE": self.headers.get("Content-Type", ""),
               "HTTP_CONTENT_ENCODING":
               self.headers.get("Content-Encoding", ""),
               "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
               "REMOTE_USER": "somebody", "REMOTE_ADDR": "127.0.0.1"}
        out = subprocess.run([BACKEND], env=env, input=self.body(),
                             stdout=subprocess.PIPE, check=False).stdout
        head, _, rest = out.partition(b"\r\n\r\n")
        fields = [line.split(": ", 1) for line in head.decode().split("\r\n")
                  if ": " in line]
        status = [int(v[:3]) for n, v in fields if n == "Status"] + [200]
        self.send_response(status[0])
        for name, value in fields:
            if name != "Status":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        self.wfile.write(rest)

    do_GET = do_POST = serve


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, opts):
        super().__init__(("127.0.0.1", 0), Handler)
        self.root, self.log = opts.root, opts.log
        make_certificates(opts.ca_dir, ["localhost"])
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.path.join(opts.ca_dir, "leaf.pem"),
                                os.path.join(opts.ca_dir, "leaf.key"))
        self.context = context

    def note(self, **what):
        with open(self.log, "a", encoding="utf-8") as f:
            f.write(json.dumps(what) + "\n")

    def get_request(self):
        sock, address = super().get_request()
        self.note(connection=address[1])
        sock.settimeout(30)
        return self.context.wrap_socket(
            sock, server_side=True, do_handshake_on_connect=False), address

    def handle_error(self, request, client_address):
        self.note(error=repr(sys.exc_info()[1]))


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--ca-dir", required=True)
    a.add_argument("--root", required=True, help="bare repositories")
    a.add_argument("--log", required=True)
    opts = a.parse_args()
    server = Server(opts)
    print(json.dumps({"port": server.server_address[1]}), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
