#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A git server for tests: smart and dumb HTTP over TLS on 127.0.0.1, with
git's own http-backend, for anyone who has the token.  Shares no code with the
product. Prints {"port": N} when it listens; each request is a JSON line of the
log, written before it is answered."""
import argparse
import base64
import hashlib
import http.server
import json
import os
import subprocess
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import https  # noqa: E402

BACKEND = "/usr/lib/git-core/git-http-backend"
LOCK = threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def body(self):
        if self.headers.get("transfer-encoding"):
            return b""
        return self.rfile.read(int(self.headers.get("content-length") or 0))

    def record(self, body, good):
        line = {"ev": "request", "method": self.command, "target": self.path,
                "headers": list(self.headers.items()), "bodyBytes": len(body),
                "bodySha256": hashlib.sha256(body).hexdigest(),
                "authorized": good}
        with LOCK, open(self.server.args.log, "a", encoding="utf-8") as f:
            f.write(json.dumps(line) + "\n")

    def reply(self, status, headers, body):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def lfs(self, body):
        """Answer as Gitea does, which repeats the request's credential; the
        object's name says by its first letter where it is."""
        if self.path.endswith("/batch"):
            asked = json.loads(body)
            head = {"Authorization": self.headers.get("authorization") or ""}
            out = []
            for o in asked["objects"]:
                host = "store.test/x" if o["oid"][0] == "a" else \
                    "github.test" + self.path[:-len("/batch")]
                href = f"https://{host}/{o['oid']}"
                if o["oid"][0] == "c":
                    href = f"https://x:{head['Authorization'][6:]}@host/"
                if o["oid"][0] == "d":
                    href += "?t=" + head["Authorization"][6:]
                out.append({**o, "actions": {asked["operation"]: {
                    "href": href, "header": head, "expires_in": 60}}})
            self.reply(200, [("content-type",
                              "application/vnd.git-lfs+json")],
                       json.dumps({"transfer": "basic",
                                   "objects": out}).encode())
        elif "/b" in self.path[-65:]:
            self.reply(302, [("location", "https://store.test/x/b")], b"")
        else:
            path = os.path.join(self.server.args.root, self.path[-64:])
            try:
                with open(path, "rb") as f:
                    self.reply(200, [("content-type",
                                      "application/octet-stream")], f.read())
            except OSError:
                self.reply(404, [], b"")

    def serve(self):
        args = self.server.args
        body = self.body()
        given = self.headers.get("authorization") or ""
        want = base64.b64encode(
            f"{args.user}:{args.token}".encode()).decode()
        good = given == "Basic " + want or args.anonymous and not given
        self.record(body, good)
        if args.echo:
            self.reply(200, [("content-type", "text/plain")],
                       f"you sent {given}\n{given[6:]}\n".encode() +
                       base64.b64decode(given[6:] or b""))
            return
        if self.path.startswith("/x/"):
            self.reply(200, [], b"stored elsewhere")
            return
        if not good:
            self.reply(401, [("www-authenticate", "Basic realm=\"git\"")],
                       b"no\n")
            return
        if "/info/lfs/" in self.path or "/gitlab-lfs/" in self.path:
            self.lfs(body)
            return
        path, _, query = self.path.partition("?")
        env = {"PATH": "/usr/bin:/bin", "GIT_PROJECT_ROOT": args.root,
               "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path,
               "QUERY_STRING": query, "REQUEST_METHOD": self.command,
               "CONTENT_TYPE": self.headers.get("content-type") or "",
               "CONTENT_LENGTH": str(len(body)), "REMOTE_USER": "agent",
               "REMOTE_ADDR": "127.0.0.1",
               "GIT_PROTOCOL": self.headers.get("git-protocol") or "",
               "HTTP_CONTENT_ENCODING":
                   self.headers.get("content-encoding") or "",
               "GIT_CONFIG_COUNT": "1",
               "GIT_CONFIG_KEY_0": "safe.directory",
               "GIT_CONFIG_VALUE_0": "*"}
        r = subprocess.run([BACKEND], env=env, input=body,
                           capture_output=True, check=False)
        head, _, out = r.stdout.partition(b"\r\n\r\n")
        status, headers = 200, []
        for text in head.decode().split("\r\n"):
            name, _, value = text.partition(": ")
            if name.lower() == "status":
                status = int(value.split()[0])
            elif name:
                headers.append((name, value))
        self.reply(status, headers, out)

    do_GET = do_POST = do_HEAD = serve


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--ca-dir", required=True)
    p.add_argument("--root", required=True)
    p.add_argument("--log", required=True)
    p.add_argument("--token", required=True)
    p.add_argument("--user", default="x-access-token")
    p.add_argument("--echo", action="store_true")
    p.add_argument("--anonymous", action="store_true")
    args = p.parse_args()
    https.serve(Handler, args, ["github.test", "store.test"], "git")


if __name__ == "__main__":
    main()
