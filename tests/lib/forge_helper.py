# SPDX-License-Identifier: ISC
"""A stand-in of a forge, and what talks to it in a sandbox: the real gh, and a
plain client."""
import http.client
import os
import ssl
import subprocess
import urllib.parse

import harness as h
from bridge import Bridge

TOKEN = "github_pat_real0123456789abcdefABCDEF012345"


class Forge(h.Process):
    def __init__(self, work, program, *options):
        self.dir = os.path.join(work, "forge")
        os.makedirs(self.dir)
        self.log = os.path.join(self.dir, "log.jsonl")
        super().__init__([h.PYTHON, os.path.join(h.STANDINS, program),
                          "--ca-dir", self.dir, "--log", self.log, "--token",
                          TOKEN, *options], os.path.join(self.dir, "stderr"))
        self.url = f"https://127.0.0.1:{self.ready['port']}"
        self.ca = os.path.join(self.dir, "ca.pem")

    def seen(self):
        return h.read_lines(self.log) if os.path.exists(self.log) else []


class Gh:
    """gh as in an agent's sandbox: with a proxy, a CA and a placeholder."""

    def __init__(self, s, work):
        self.bridge = Bridge(s.ready["sockets"]["mitm"])
        self.repo = os.path.join(work, "repo")
        self.env = {"PATH": "/usr/bin:/bin", "HOME": work,
                    "GH_CONFIG_DIR": os.path.join(work, "gh"),
                    "GH_TOKEN": s.agent_env()["GH_TOKEN"],
                    "GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1",
                    "HTTPS_PROXY": self.bridge.url, "NO_COLOR": "1",
                    "GIT_CONFIG_NOSYSTEM": "1",
                    "SSL_CERT_FILE": os.path.join(s.dir, "orientation",
                                                  "ca-cert.pem")}
        git = ["git", "-C", self.repo]
        os.makedirs(self.repo)
        for args in (["init", "-q", "-b", "fix/tax"],
                     ["remote", "add", "origin",
                      "https://github.com/me/shop.git"],
                     ["-c", "user.name=a", "-c", "user.email=a@b.test",
                      "commit", "-q", "--allow-empty", "-m", "first"]):
            subprocess.run(git + args, env=self.env, check=True)

    def __call__(self, *args, timeout=60):
        return subprocess.run(["gh", *args], env=self.env, text=True,
                              cwd=self.repo, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=timeout,
                              check=False)


class Client:
    """Requests as a tool in the sandbox makes them."""

    def __init__(self, s, host, header, value):
        self.host, self.fixed = host, {header: value}
        self.bridge = Bridge(s.ready["sockets"]["mitm"])
        self.proxy = urllib.parse.urlparse(self.bridge.url)
        self.context = ssl.create_default_context(cafile=os.path.join(
            s.dir, "orientation", "ca-cert.pem"))
        self.connection = None

    def __call__(self, method, target, body=None, **headers):
        if self.connection is None:
            self.connection = http.client.HTTPSConnection(
                self.proxy.hostname, self.proxy.port, context=self.context,
                timeout=60)
            self.connection.set_tunnel(self.host, 443)
        headers = {**self.fixed, **headers}
        if body is not None:
            headers["content-type"] = "application/json"
            body = body.encode("utf-8", "surrogatepass")
        try:
            self.connection.request(method, target, body, headers)
            r = self.connection.getresponse()
            answer = r.read().decode("utf-8", "replace")
            if r.getheader("connection") == "close":
                self.connection = None
            return r.status, answer
        except (http.client.HTTPException, OSError):
            self.connection = None
            raise
