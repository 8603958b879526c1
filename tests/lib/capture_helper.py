# SPDX-License-Identifier: ISC
"""The authorization server, and the steps by which an agent's program logs in.
"""
import hashlib
import base64
import json
import os
import secrets
import urllib.parse
import urllib.request

import harness as h

CLAUDE = "9d1c250a-e61b-44d9-88ed-5944d1962f5e"
CODEX = "app_EMoamEEZ73f0CkXaXp7hrann"
HOSTS = {"anthropic": ("api.anthropic.com", "platform.claude.com",
                       "/v1/oauth/token"),
         "chatgpt": ("chatgpt.com", "auth.openai.com", "/oauth/token")}


class AuthServer(h.Process):
    def __init__(self, work, *options, name="auth"):
        self.dir = os.path.join(work, name)
        os.makedirs(self.dir, exist_ok=True)
        self.log_path = os.path.join(self.dir, "log.jsonl")
        super().__init__(
            [h.PYTHON, os.path.join(h.STANDINS, "authserver.py"), "--dir",
             self.dir, "--log", self.log_path, *options],
            os.path.join(self.dir, "stderr"))
        self.ca = os.path.join(self.dir, "ca.pem")
        self.url = f"https://127.0.0.1:{self.ready['port']}"

    def order(self, what, body=None, **q):
        url = (f"http://127.0.0.1:{self.ready['orders']}/{what}?" +
               urllib.parse.urlencode(q))
        data = None if body is None else body.encode()
        with urllib.request.urlopen(url, data, timeout=20) as r:
            return json.load(r)

    def issued(self):
        return self.order("state")["issued"]

    def seen(self, kind="request"):
        return [e for e in h.read_lines(self.log_path) if e["ev"] == kind]

    def config(self, provider, login):
        """Returns config.json for a session in which that login may begin."""
        api, auth, path = HOSTS[provider]
        return {"credentials": {provider: {"capture": login}},
                "providers": {provider: {
                    "upstream": {api: self.url, auth: self.url},
                    "token": self.url + path, "ca": self.ca}}}


class Pkce:
    def __init__(self):
        self.verifier = secrets.token_urlsafe(48)
        self.challenge = base64.urlsafe_b64encode(hashlib.sha256(
            self.verifier.encode()).digest()).decode().rstrip("=")


def post(s, host, path, fields, form=False, headers=()):
    """Post as the agent does: through the session's proxy, without a key."""
    body = (urllib.parse.urlencode(fields) if form
            else fields if isinstance(fields, str) else json.dumps(fields))
    m = s.model(host, key=None)
    r = m.request("POST", path, [
        ("Content-Type", "application/x-www-form-urlencoded" if form
         else "application/json"), *headers], body.encode())
    m.close()
    return r


def claude_login(s, server, **more):
    """Exchange the code that the user copies. Returns the answer."""
    p = Pkce()
    code = server.order("authorize", challenge=p.challenge)["code"]
    return post(s, "platform.claude.com", "/v1/oauth/token", {
        "grant_type": "authorization_code", "code": code,
        "redirect_uri": "https://platform.claude.com/oauth/code/callback",
        "client_id": CLAUDE, "code_verifier": p.verifier,
        "state": secrets.token_urlsafe(32), **more})
