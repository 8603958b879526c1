# SPDX-License-Identifier: ISC
"""Login files, the token server, and another user of the same file, which
respects the locks of Claude Code as that program does."""
import contextlib
import json
import os
import secrets
import ssl
import time
import urllib.error
import urllib.request

import harness as h

BODY = json.dumps({"model": "m", "max_tokens": 5, "messages":
                   [{"role": "user", "content": "hi"}]}).encode()


class TokenServer(h.Process):
    """A token server; seed: login files whose tokens it knows from the start.
    """

    def __init__(self, work, *options, seeds=(), name="oauth"):
        self.dir = os.path.join(work, name)
        os.makedirs(self.dir, exist_ok=True)
        self.log_path = os.path.join(self.dir, "log.jsonl")
        argv = [h.PYTHON, os.path.join(h.STANDINS, "oauth.py"), "--dir",
                self.dir, "--log", self.log_path, *options]
        for i, (access, refresh) in enumerate(seeds):
            path = os.path.join(self.dir, f"seed{i}.json")
            with open(path, "w", encoding="utf-8") as f:
                json.dump({"access": access, "refresh": refresh}, f)
            argv += ["--seed", path]
        super().__init__(argv, os.path.join(self.dir, "stderr"))
        self.ca = os.path.join(self.dir, "ca.pem")
        self.url = f"https://127.0.0.1:{self.ready['port']}"
        self.token_url = self.url + "/oauth/token"

    def order(self, what):
        url = f"http://127.0.0.1:{self.ready['orders']}{what}"
        with urllib.request.urlopen(url, timeout=20) as r:
            return json.load(r)

    def seen(self, kind="request"):
        return [e for e in h.read_lines(self.log_path) if e["ev"] == kind]

    def settings(self):
        return {"upstream": self.url, "token": self.token_url, "ca": self.ca}


def tokens():
    return ("sk-ant-oat01-" + secrets.token_hex(24),
            "sk-ant-ort01-" + secrets.token_hex(24))


class Login:
    """A login file in a directory of its own."""

    def __init__(self, work, pair, seconds=3600, kind="claude-code", **more):
        self.kind = kind
        names = {"claude-code": ("claude", ".credentials.json"),
                 "anthropic-cli": ("anthropic", "default.json"),
                 "codex": ("codex", "auth.json")}
        d, name = names[kind]
        self.dir = os.path.join(work, d)
        os.makedirs(self.dir, mode=0o700, exist_ok=True)
        self.path = os.path.join(self.dir, name)
        self.more = more
        self.put(pair, seconds)

    def put(self, pair, seconds=3600):
        end = time.time() + seconds
        if self.kind == "claude-code":
            text = {"claudeAiOauth": {
                "accessToken": pair[0], "refreshToken": pair[1],
                "expiresAt": int(end * 1000), "scopes": ["user:inference"],
                "subscriptionType": "max"}, "mcpOAuth": {"a": {"b": 1}}}
        elif self.kind == "anthropic-cli":
            text = {"version": "1.0", "type": "oauth_token",
                    "access_token": pair[0], "refresh_token": pair[1],
                    "expires_at": int(end), "scope": "x y"}
        else:
            text = {"OPENAI_API_KEY": None, "tokens": {
                "id_token": "old.id.token", "access_token": pair[0],
                "refresh_token": pair[1], "account_id": "acct-real-0001"},
                "last_refresh": "2026-01-01T00:00:00.000000Z"}
        text.update(self.more)
        self.write(text)

    def write(self, value):
        temp = self.path + ".new"
        fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(fd, "w") as f:
            json.dump(value, f, indent=2)
        os.rename(temp, self.path)

    def read(self):
        with open(self.path, encoding="utf-8") as f:
            return json.load(f)

    def pair(self):
        v = self.read()
        if self.kind == "claude-code":
            v = v["claudeAiOauth"]
            return v["accessToken"], v["refreshToken"]
        v = v.get("tokens", v)
        return v["access_token"], v["refresh_token"]

    def config(self, server, provider=None):
        provider = provider or ("chatgpt" if self.kind == "codex"
                                else "anthropic")
        return {"credentials": {provider: {"login": self.kind,
                                           "file": self.path}},
                "providers": {provider: server.settings()}}


class OtherUser:
    """Uses the file as the vendor's program does: read, make a request, and on
    401 take the locks, read again, renew, write."""

    def __init__(self, login, server):
        self.login, self.server = login, server
        self.ctx = ssl.create_default_context(cafile=server.ca)
        self.renewed = self.adopted = 0

    def request(self, url, body, headers):
        r = urllib.request.Request(url, body, headers)
        try:
            with urllib.request.urlopen(r, timeout=30, context=self.ctx) as a:
                return a.status, a.read()
        except urllib.error.HTTPError as e:
            return e.code, e.read()

    def ask(self):
        token = self.login.pair()[0]
        head = {"Authorization": "Bearer " + token,
                "Content-Type": "application/json"}
        status, _ = self.request(self.server.url + "/v1/messages", BODY, head)
        if status != 401:
            return status
        self.renew(token)
        head["Authorization"] = "Bearer " + self.login.pair()[0]
        return self.request(self.server.url + "/v1/messages", BODY, head)[0]

    @contextlib.contextmanager
    def locks(self):
        paths = [self.login.dir + "/.oauth_refresh.lock",
                 self.login.dir + ".lock"]
        taken = []
        try:
            while len(taken) < len(paths):
                try:
                    os.mkdir(paths[len(taken)])
                    taken.append(paths[len(taken)])
                except FileExistsError:
                    while taken:
                        os.rmdir(taken.pop())
                    time.sleep(0.02)
            yield
        finally:
            while taken:
                os.rmdir(taken.pop())

    def renew(self, bad):
        with self.locks():
            value = self.login.read()
            login = value["claudeAiOauth"]
            if login["accessToken"] != bad:
                self.adopted += 1
                return
            status, text = self.request(
                self.server.token_url, json.dumps({
                    "grant_type": "refresh_token", "client_id": "cli",
                    "refresh_token": login["refreshToken"]}).encode(),
                {"Content-Type": "application/json"})
            if status != 200:
                raise RuntimeError(f"other user: {status} {text!r}")
            answer = json.loads(text)
            login.update(accessToken=answer["access_token"],
                         refreshToken=answer["refresh_token"],
                         expiresAt=int((time.time() + answer["expires_in"])
                                       * 1000))
            self.login.write(value)
            self.renewed += 1
