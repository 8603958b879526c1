#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A token endpoint and the provider that accepts its tokens, on one TLS port
of 127.0.0.1 with a CA of its own.  A refresh token works once: used again, its
whole family is revoked, as by the real providers.  A second, plain port takes
orders: /expire, /set?key=value, /state.  Shares no code with the product."""
import argparse
import contextlib
import json
import os
import secrets
import sys
import threading
import time
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from token_http import TokenHandler, b64, serve  # noqa: E402


def jwt(seconds):
    claims = {"exp": int(time.time()) + seconds, "iss": "stand-in"}
    return ".".join((b64(b'{"alg":"RS256","typ":"JWT"}'),
                     b64(json.dumps(claims).encode()),
                     b64(secrets.token_bytes(256))))


class State:
    def __init__(self, args):
        self.lock = threading.Lock()
        self.args = args
        self.access = {}        # token -> expiry
        self.refresh = {}       # token -> family
        self.spent = {}
        self.dead = set()       # families
        self.expires_in = args.expires_in
        self.status = 0         # for the next answers of the token endpoint
        self.echo = ""          # for the provider's answers
        self.raw = ""           # replaces the bodies of its next answers
        self.delay = 0.0
        self.torn = 0           # only a part of a TLS record comes as answer
        self.reject = 0         # this many requests get 401, whatever their token
        self.counts = {"refreshed": 0, "revoked": 0, "asked": 0, "good": 0,
                       "unauthorized": 0, "kinds": []}
        self.log = open(args.log, "a", encoding="utf-8")
        for path in args.seed:
            with open(path, encoding="utf-8") as f:
                seed = json.load(f)
            self.access[seed["access"]] = time.time() + self.expires_in
            self.refresh[seed["refresh"]] = len(self.refresh)

    def write(self, entry):
        self.log.write(json.dumps(entry) + "\n")
        self.log.flush()

    def new(self, family):
        if self.args.jwt:
            access = jwt(self.expires_in)
        else:
            access = "sk-ant-oat01-" + secrets.token_hex(24)
        refresh = "sk-ant-ort01-" + secrets.token_hex(24)
        self.access[access] = time.time() + self.expires_in
        self.refresh[refresh] = family
        return access, refresh

    def token(self, fields):
        """Returns the status and the answer."""
        self.counts["asked"] += 1
        token = fields.get("refresh_token", "")
        if fields.get("grant_type") != "refresh_token" or \
                not fields.get("client_id"):
            return 400, {"error": "invalid_request"}
        family = self.refresh.get(token)
        if family is None or family in self.dead:
            return 400, {"error": "invalid_grant"}
        if self.args.google:
            return self.google(fields)
        if token in self.spent:
            self.dead.add(family)
            self.counts["revoked"] += 1
            return 400, {"error": "invalid_grant",
                         "error_description": "refresh token reused"}
        self.spent[token] = True
        self.counts["refreshed"] += 1
        access, refresh = self.new(family)
        answer = {"token_type": "Bearer", "access_token": access,
                  "refresh_token": refresh, "expires_in": self.expires_in,
                  "scope": "user:inference"}
        if self.args.jwt:
            answer["id_token"] = jwt(self.expires_in)
        return 200, answer

    def google(self, fields):
        """Like Google's: refresh tokens work any number of times, and the
        program that got them has a secret, too."""
        if f"{fields['client_id']}:{fields.get('client_secret')}" != \
                self.args.google:
            return 401, {"error": "invalid_client"}
        self.counts["refreshed"] += 1
        access = "ya29.real-" + secrets.token_urlsafe(120)
        self.access[access] = time.time() + self.expires_in
        return 200, {"access_token": access, "expires_in": self.expires_in,
                     "scope": "https://www.googleapis.com/auth/cloud-platform",
                     "token_type": "Bearer", "id_token": jwt(3600)}


class Handler(TokenHandler):
    def do_POST(self):
        body = self.body()
        path = self.path.split("?")[0]
        if path == "/oauth/token":
            self.token(body)
        else:
            self.provider(path, body)

    def do_GET(self):
        self.provider(self.path.split("?")[0], b"")

    def token(self, body):
        s = self.state
        kind = self.headers.get("Content-Type", "")
        fields = self.fields(body)
        with s.lock:
            delay, status, raw = s.delay, s.status, s.raw
            if kind not in s.counts["kinds"]:
                s.counts["kinds"].append(kind)
        if s.torn:
            self.tear()
            return
        time.sleep(delay)
        with s.lock:
            if status:
                s.counts["asked"] += 1
                answer = {"error": "scripted"}
            else:
                status, answer = s.token(fields)
            s.write({"ev": "token", "status": status, "kind": kind,
                     "host": self.headers.get("Host"),
                     "refresh": fields.get("refresh_token")})
        text = raw.encode() if raw else json.dumps(answer).encode()
        self.reply(status, text)

    def tear(self):
        """Write a part of a record, and wait until the other side gives up."""
        fd = self.connection.fileno()
        os.write(fd, b"\x17\x03\x03\x01\x00" + bytes(10))
        with self.state.lock:
            self.state.write({"ev": "torn"})
        with contextlib.suppress(OSError):
            while os.read(fd, 4096):
                pass
        self.close_connection = True

    def provider(self, path, body):
        s = self.state
        token = self.bearer()
        with s.lock:
            good = s.access.get(token, 0) > time.time()
            if s.reject > 0:
                s.reject -= 1
                good = False
            s.counts["good" if good else "unauthorized"] += 1
            s.write({"ev": "request", "path": path, "good": good,
                     "token": token, "bytes": len(body),
                     "body": body.decode("latin-1")[:200],
                     "headers": self.all_headers()})
        if not good:
            self.reply(401, b'{"type":"error","error":{"type":'
                       b'"authentication_error","message":"expired"}}')
        else:
            self.reply(200, b'{"type":"message","role":"assistant",'
                       b'"content":[{"type":"text","text":"hello%s"}]}' %
                       s.echo.encode())


class Orders(Handler):
    def do_GET(self):
        s = self.state
        url = urllib.parse.urlsplit(self.path)
        with s.lock:
            if url.path == "/expire":
                s.access.clear()
            elif url.path == "/revoke":
                s.dead.update(s.refresh.values())
            elif url.path == "/grant":
                access, refresh = s.new(max([0, *s.refresh.values()]) + 1)
                self.reply(200, json.dumps(
                    {"access": access, "refresh": refresh}).encode())
                return
            elif url.path == "/set":
                for k, v in urllib.parse.parse_qsl(url.query, True):
                    setattr(s, k, type(getattr(s, k))(v))
            self.reply(200, json.dumps(s.counts).encode())


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--dir", required=True)
    p.add_argument("--log", required=True)
    p.add_argument("--seed", action="append", default=[])
    p.add_argument("--expires-in", type=int, default=3600)
    p.add_argument("--jwt", action="store_true")
    p.add_argument("--google", help="CLIENT:SECRET that must come along")
    args = p.parse_args()
    Handler.state = State(args)
    serve(args.dir, Handler, Orders)


if __name__ == "__main__":
    main()
