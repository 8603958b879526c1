# SPDX-License-Identifier: ISC
"""`icctl mcp login` against stand-ins, with the test as the browser."""
import http.client
import os
import re
import socket
import ssl
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import harness as h
from mcp_auth import AuthServer
from mcp_http import McpHttp

MCP_HOST, AUTH_HOST = "mcp.linear-like.com", "auth.linear-like.com"
ADDRESS = "193.0.2.10"


def pair(work, name="far", auth_host=AUTH_HOST, tls="tls", auth_tls=None,
         address=ADDRESS, **more):
    """Returns a remote MCP server and the server to log in at."""
    d = os.path.join(work, tls)
    far = McpHttp(work, name, host=MCP_HOST, address=address, tls=d, **more)
    auth = AuthServer(work, auth_host, address,
                      tls=os.path.join(work, auth_tls) if auth_tls else d)
    far.accepts = auth.accepts
    where = "/.well-known/oauth-protected-resource/mcp"
    far.challenge = (f'Bearer resource_metadata="{far.origin}{where}", '
                     'scope="issues:read"')
    far.documents[where] = {"resource": far.url, "authorization_servers":
                            [auth.issuer], "scopes_supported":
                            ["issues:read", "issues:write"]}
    return far, auth


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def browse(url, ca, address=None):
    """Returns the address that the issuer, which is at `address`, sends the
    browser to."""
    if address is not None:
        u = urllib.parse.urlsplit(url)
        c = http.client.HTTPSConnection(u.netloc, timeout=20)
        c.sock = ssl.create_default_context(cafile=ca).wrap_socket(
            socket.create_connection((address, u.port)),
            server_hostname=u.hostname)
        c.request("GET", f"{u.path}?{u.query}")
        return c.getresponse().headers.get("Location")
    opener = urllib.request.build_opener(
        NoRedirect, urllib.request.HTTPSHandler(
            context=ssl.create_default_context(cafile=ca)))
    try:
        with opener.open(url, timeout=20):
            return None
    except urllib.error.HTTPError as e:
        return e.headers.get("Location")


def come_back(url, headers=(), method="GET"):
    """Returns status and page of the callback."""
    u = urllib.parse.urlsplit(url)
    c = http.client.HTTPConnection(u.hostname, u.port, timeout=20)
    c.request(method, f"{u.path}?{u.query}", headers=dict(headers))
    r = c.getresponse()
    text = r.read().decode()
    c.close()
    return r.status, text


class Login:
    """`icctl mcp login` that runs; url: the address to open."""

    def __init__(self, env, name, *options, confirm=None):
        self.p = subprocess.Popen(
            [h.program("icctl"), "mcp", "login", *options, name],
            env={**env, "DISPLAY": "", "WAYLAND_DISPLAY": ""},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        self.out, self.err, self.url = [], [], None
        self.errs = threading.Thread(target=self._errors, daemon=True)
        self.errs.start()
        if confirm is not None:
            self.say(confirm)
        for line in self.p.stdout:
            self.out.append(line)
            if re.match(r"https://\S+\?\S*response_type=code", line):
                self.url = line.strip()
                break

    def _errors(self):
        for line in self.p.stderr:
            self.err.append(line)

    def say(self, text):
        self.p.stdin.write(text + "\n")
        self.p.stdin.flush()

    def end(self, timeout=60):
        """Returns the status and everything that was printed."""
        try:
            self.p.stdin.close()
        except BrokenPipeError:
            pass
        self.out += self.p.stdout.readlines()
        status = self.p.wait(timeout)
        self.errs.join(10)
        self.text = "".join(self.out + self.err)
        return status, self.text


def log_in(env, name, ca, *options, address=None):
    """Log in as a person does. Returns status and text."""
    login = Login(env, name, *options)
    if login.url is not None:
        back = browse(login.url, ca, address)
        if back is not None:
            come_back(back)
    return login.end()
