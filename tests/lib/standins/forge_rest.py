#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A stand-in of GitLab's or Gitea's API for tests: REST over TLS on 127.0.0.1,
for who has the token. Answers have what real ones have beside what was asked
for: the token with which a project registers its runners, and mail addresses.
Shares no code with the product. Prints {"port": N}; each request is a JSON line
of the log, written before it is answered."""
import argparse
import http.server
import json
import os
import re
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import https  # noqa: E402

LOCK = threading.Lock()
SECRET = "GR1348941runners"
PERSON = {"id": 5, "username": "octo", "login": "octo", "state": "active",
          "email": "octo@example.org"}
PROJECT = {"id": 77, "path_with_namespace": "me/shop", "full_name": "me/shop",
           "name": "shop", "default_branch": "main", "runners_token": SECRET,
           "_links": {"runners_token": SECRET}}
CHANGE = {"id": 900, "iid": 12, "number": 12, "title": "Fix tax",
          "state": "open", "source_branch": "fix/tax", "target_branch": "main",
          "pull_request": {"merged": False},
          "target_project": {"id": 77, "runners_token": SECRET}}
ROWS = [
    (r"/user", PERSON),
    (r"/users", [PERSON]),
    (r"/users/5", PERSON),
    (r"/projects/77", PROJECT),
    (r"/projects/78", dict(PROJECT, id=78, path_with_namespace="else/secret")),
    (r"/projects/me%2Fshop|/repos/me/shop", PROJECT),
    (r".*/(merge_requests|issues|pulls)/12", CHANGE),
    (r".*/trace", b"line one\nline two\n"),
    (r".*\.diff", b"diff --git a/x b/x\n"),
    (r".*/jobs/99", {"id": 99, "name": "build", "ref": "fix/tax"}),
    (r".*/pipelines/4711", {"id": 4711, "ref": "fix/tax"}),
    (r".*/(merge_requests|issues|pulls|jobs|notes|comments)", [CHANGE]),
    (r".*", {"id": 1}),
]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, out):
        raw = isinstance(out, bytes)
        body = out if raw else json.dumps(out).encode()
        self.send_response(status)
        # An old GitLab gives JSON this name for who asks for it.
        plain = raw or self.headers.get("accept") == "text/plain"
        self.send_header("content-type",
                         "text/plain" if plain else "application/json")
        self.send_header("x-total", "1")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def serve(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        given = self.headers.get("private-token") or re.sub(
            "^token ", "", self.headers.get("authorization") or "")
        good = given == self.server.args.token
        line = {"ev": "request", "method": self.command, "target": self.path,
                "body": body.decode("utf-8", "replace"), "authorized": good}
        with LOCK, open(self.server.args.log, "a", encoding="utf-8") as f:
            f.write(json.dumps(line) + "\n")
        if not good:
            self.reply(401, {"message": "401 Unauthorized"})
            return
        path = re.sub(r"^/api/v\d", "", self.path.partition("?")[0])
        for pattern, out in ROWS:
            if re.fullmatch(pattern, path):
                self.reply(201 if self.command == "POST" else 200, out)
                return

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = serve


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--ca-dir", required=True)
    p.add_argument("--log", required=True)
    p.add_argument("--token", required=True)
    p.add_argument("--host", required=True)
    args = p.parse_args()
    https.serve(Handler, args, [args.host], "forge")


if __name__ == "__main__":
    main()
