#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""An authorization server and the provider that accepts its tokens, on one TLS
port of 127.0.0.1 with a CA of its own: authorization codes with PKCE, device
codes as in RFC 8628 and as Codex uses them, refresh tokens that work once.  A
second, plain port takes orders: the user's actions in a browser, answers to
give instead, and which tokens were issued.  Shares no code with the product.
"""
import argparse
import hashlib
import json
import os
import secrets
import sys
import threading
import time
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from token_http import TokenHandler, b64, serve  # noqa: E402

DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
ACCOUNT = "acct-real-" + "7" * 8


def challenge(verifier):
    return b64(hashlib.sha256(verifier.encode()).digest())


def jwt(seconds, **more):
    claims = {"exp": int(time.time()) + seconds, "iss": "stand-in",
              "email": "real.person@example.com", "pad": "p" * 600,
              "https://api.openai.com/auth": {
                  "chatgpt_account_id": ACCOUNT, "chatgpt_plan_type": "plus",
                  "chatgpt_user_id": "user-real"}, **more}
    return ".".join((b64(b'{"alg":"RS256","typ":"JWT"}'),
                     b64(json.dumps(claims).encode()),
                     b64(secrets.token_bytes(256))))


class State:
    def __init__(self, args):
        self.lock = threading.Lock()
        self.args = args
        self.codes = {}         # code -> challenge
        self.devices = {}       # device code -> approved
        self.access = {}        # token -> expiry
        self.refresh = {}       # token -> spent
        self.issued = []        # every token that is a secret
        self.raw = []           # (status, text, content encoding) of the next answers
        self.expires_in = args.expires_in
        self.log = open(args.log, "a", encoding="utf-8")

    def write(self, entry):
        self.log.write(json.dumps(entry) + "\n")
        self.log.flush()

    def grant(self):
        if self.args.jwt:
            access = jwt(self.expires_in, jti=secrets.token_hex(8))
            refresh = "rt_real_" + secrets.token_urlsafe(48)
        else:
            access = "sk-ant-oat01-real-" + secrets.token_urlsafe(64)
            refresh = "sk-ant-ort01-real-" + secrets.token_urlsafe(64)
        self.access[access] = time.time() + self.expires_in
        self.refresh[refresh] = False
        self.issued += [access, refresh]
        answer = {"token_type": "Bearer", "access_token": access,
                  "expires_in": self.expires_in, "refresh_token": refresh,
                  "scope": "user:inference user:profile",
                  "account": {"uuid": "11111111-2222-4333-8444-555555555555",
                              "email_address": "real.person@example.com"},
                  "organization": {"uuid": "66666666-2222-4333-8444-5555",
                                   "name": "Real Org"}}
        if self.args.jwt:
            answer["id_token"] = jwt(self.expires_in, aud="codex")
            self.issued.append(answer["id_token"])
            del answer["account"], answer["organization"]
        return 200, answer

    def token(self, f):
        if not f.get("client_id"):
            return 400, {"error": "invalid_client"}
        kind = f.get("grant_type")
        if kind == "authorization_code":
            want = self.codes.pop(f.get("code"), None)
            if want is None or want != challenge(f.get("code_verifier", "")):
                return 400, {"error": "invalid_grant"}
            return self.grant()
        if kind == DEVICE:
            approved = self.devices.get(f.get("device_code"))
            if approved is None:
                return 400, {"error": "expired_token"}
            if not approved:
                return 400, {"error": "authorization_pending"}
            del self.devices[f["device_code"]]
            return self.grant()
        if kind == "refresh_token":
            if self.refresh.get(f.get("refresh_token"), True):
                return 400, {"error": "invalid_grant"}
            self.refresh[f["refresh_token"]] = True
            return self.grant()
        return 400, {"error": "unsupported_grant_type"}

    def poll(self, f):
        """The polling of Codex, whose answer is a code to exchange."""
        approved = self.devices.get(f.get("device_auth_id"))
        if not approved:
            return 403, {"error": "pending"}
        del self.devices[f["device_auth_id"]]
        code, verifier = secrets.token_urlsafe(24), secrets.token_urlsafe(48)
        self.codes[code] = challenge(verifier)
        return 200, {"authorization_code": code,
                     "code_challenge": challenge(verifier),
                     "code_verifier": verifier}


class Handler(TokenHandler):
    def do_POST(self):
        s = self.state
        body = self.body()
        path = self.path.split("?")[0]
        if path not in ("/v1/oauth/token", "/oauth/token") and \
                "/deviceauth/" not in path:
            self.provider(path, body)
            return
        kind = self.headers.get("Content-Type", "")
        fields = self.fields(body)
        coding = None
        with s.lock:
            if path.endswith("/usercode"):
                name = "dev-" + secrets.token_hex(8)
                s.devices[name] = False
                status, answer = 200, {"device_auth_id": name,
                                       "user_code": "ABCD-1234",
                                       "interval": "1"}
            elif path.endswith("/deviceauth/token"):
                status, answer = s.poll(fields)
            elif s.raw:
                status, answer, coding = s.raw.pop(0)
            else:
                status, answer = s.token(fields)
            s.write({"ev": "login", "path": path, "status": status,
                     "kind": kind, "fields": fields, "body": body.decode(),
                     "headers": self.all_headers()})
        text = answer if isinstance(answer, str) else json.dumps(answer)
        self.reply(status, text.encode(), coding)

    def do_GET(self):
        self.provider(self.path.split("?")[0], b"")

    def provider(self, path, body):
        s = self.state
        token = self.bearer()
        with s.lock:
            good = s.access.get(token, 0) > time.time()
            s.write({"ev": "request", "path": path, "good": good,
                     "token": token, "bytes": len(body),
                     "headers": self.all_headers()})
        if path == "/v1/oauth/hello":
            self.reply(200, b'{"message":"hello"}')
        elif not good:
            self.reply(401, b'{"error":{"message":"expired"}}')
        elif path == "/api/oauth/profile":
            self.reply(200, json.dumps({
                "account": {"uuid": "1", "email": "real.person@example.com",
                            "has_claude_max": True, "display_name": "R"},
                "organization": {"uuid": "2", "name": "Real Org",
                                 "organization_type": "claude_max",
                                 "rate_limit_tier": "x"}}).encode())
        elif path == "/backend-api/wham/accounts/check":
            self.reply(200, json.dumps({"accounts": [{
                "id": ACCOUNT, "account_routing_override": "NO_CONSTRAINT",
                "workspace_backend_origin": "https://chatgpt.com"}]}).encode())
        else:
            self.reply(200, b'{"type":"message","role":"assistant",'
                       b'"content":[{"type":"text","text":"hello"}]}')


class Orders(Handler):
    def do_POST(self):
        self.do_GET()

    def do_GET(self):
        s = self.state
        body = self.body()
        url = urllib.parse.urlsplit(self.path)
        q = dict(urllib.parse.parse_qsl(url.query, True))
        answer = {}
        with s.lock:
            if url.path == "/authorize":    # the user agrees in a browser
                answer["code"] = secrets.token_urlsafe(24)
                s.codes[answer["code"]] = q["challenge"]
            elif url.path == "/device":     # a device code of RFC 8628
                answer["code"] = "dc-" + secrets.token_urlsafe(24)
                s.devices[answer["code"]] = False
            elif url.path == "/approve":
                for k in s.devices:
                    s.devices[k] = True
            elif url.path == "/expire":
                s.access.clear()
            elif url.path == "/raw":
                s.raw.append((int(q["status"]), body.decode(),
                              q.get("coding") or None))
            elif url.path == "/set":
                s.expires_in = int(q["expires_in"])
            answer["issued"] = s.issued
        self.reply(200, json.dumps(answer).encode())


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--dir", required=True)
    p.add_argument("--log", required=True)
    p.add_argument("--expires-in", type=int, default=3600)
    p.add_argument("--jwt", action="store_true")
    args = p.parse_args()
    Handler.state = State(args)
    serve(args.dir, Handler, Orders)


if __name__ == "__main__":
    main()
