# SPDX-License-Identifier: ISC
"""An authorization server for remote MCP servers, over TLS, in the test's own
process: metadata, registration, authorization with PKCE, tokens that rotate,
revocation.  It checks what a client must send and keeps what it saw.  Shares no
code with the product."""
import base64
import hashlib
import http.server
import json
import os
import secrets
import ssl
import threading
import time
import urllib.parse

from provider_ca import make_certificates


def b64(raw):
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, body, status=200, **headers):
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        headers.setdefault("Content_Type", "application/json")
        for k, v in headers.items():
            self.send_header(k.replace("_", "-"), v)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def do_GET(self):
        s = self.server.site
        path, _, query = self.path.partition("?")
        with s.lock:
            s.seen.append(("GET", self.path, {}, {}))
        if path in s.documents:
            doc = s.documents[path]
            if callable(doc):
                doc(self)
            else:
                self.answer(doc)
        elif path == s.prefix + "/authorize":
            self.authorize(s, dict(urllib.parse.parse_qsl(query)))
        else:
            self.answer({"error": "not_found"}, 404)

    def authorize(self, s, q):
        s.asked.append(q)
        if q.get("response_type") != "code" or \
                q.get("code_challenge_method") != "S256" or \
                not q.get("state") or not q.get("resource"):
            self.answer({"error": "invalid_request"}, 400)
            return
        back = {"state": q["state"]}
        if s.deny:
            back.update(error="access_denied", error_description=s.deny)
        else:
            code = "code-" + secrets.token_hex(16)
            with s.lock:
                s.codes[code] = q
            back["code"] = code
        if s.iss is not None:
            back["iss"] = s.iss
        back.update(s.back)
        self.send_response(302)
        self.send_header("Location", q["redirect_uri"] + "?" +
                         urllib.parse.urlencode(back))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self):
        s = self.server.site
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.headers.get("Content-Type") == "application/json":
            form = json.loads(raw)
        else:
            form = dict(urllib.parse.parse_qsl(raw.decode()))
        headers = {k.lower(): v for k, v in self.headers.items()}
        with s.lock:
            s.seen.append(("POST", self.path, headers, form))
        if self.path == s.prefix + "/register":
            if s.register_raw is not None:
                s.register_raw(self)
                return
            client = {"client_id": "client-" + secrets.token_hex(8), **form}
            if form.get("token_endpoint_auth_method") != "none":
                client["client_secret"] = "cs-" + secrets.token_hex(24)
                client["client_secret_expires_at"] = 0
            with s.lock:
                s.clients[client["client_id"]] = client
            self.answer(client, 201)
        elif self.path == s.prefix + "/token":
            if s.token_raw is not None:
                s.token_raw(self)
                return
            status, body = s.token(form, headers)
            if s.delay:
                time.sleep(s.delay)
            self.answer(body, status)
        elif self.path == s.prefix + "/revoke":
            with s.lock:
                s.revoked.append(form.get("token"))
            self.answer({})
        else:
            self.answer({"error": "not_found"}, 404)


class AuthServer:
    """issuer: its address; documents: path -> JSON or function(handler);
    seen: (method, path, headers, form); asked: queries of /authorize."""

    def __init__(self, work, host, address, prefix="/t1", port=0, tls=None):
        self.dir = tls or os.path.join(work, "tls-auth")
        make_certificates(self.dir, [host], stem="auth")
        self.ca = os.path.join(self.dir, "ca.pem")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.path.join(self.dir, "auth.pem"),
                                os.path.join(self.dir, "auth.key"))
        s = http.server.ThreadingHTTPServer((address, port), Handler)
        s.daemon_threads = True
        s.request_queue_size = 128
        s.handle_error = lambda *_: None
        s.socket = context.wrap_socket(s.socket, server_side=True,
                                       do_handshake_on_connect=False)
        s.site = self
        self.lock = threading.Lock()
        self.prefix, self.host = prefix, host
        self.origin = f"https://{host}:{s.server_address[1]}"
        self.issuer = self.origin + prefix
        self.iss, self.deny, self.back = self.issuer, "", {}
        self.seen, self.asked, self.revoked = [], [], []
        self.clients, self.codes = {}, {}
        self.access = {}    # token -> (expiry, scopes)
        self.refresh = {}   # token -> family
        self.spent = {}     # token -> when
        self.dead = set()
        self.grace = 0
        self.lost = 0
        self.expires_in, self.rotate, self.delay = 3600, True, 0
        self.register_raw = self.token_raw = None
        self.scope = None   # granted, whatever is asked for
        self.answers = {}   # further members of token answers
        self.counts = {"refreshed": 0, "revoked": 0}
        self.metadata = {
            "issuer": self.issuer,
            "authorization_endpoint": self.issuer + "/authorize",
            "token_endpoint": self.issuer + "/token",
            "registration_endpoint": self.issuer + "/register",
            "revocation_endpoint": self.issuer + "/revoke",
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
            "token_endpoint_auth_methods_supported": ["none"],
            "scopes_supported": ["issues:read", "offline_access"]}
        self.documents = {
            "/.well-known/oauth-authorization-server" + prefix: self.metadata}
        threading.Thread(target=s.serve_forever, daemon=True).start()

    def issue(self, scope, family):
        access = "at-" + secrets.token_hex(24)
        refresh = "rt-" + secrets.token_hex(24)
        self.access[access] = (time.time() + self.expires_in, scope)
        self.refresh[refresh] = family
        out = {"access_token": access, "token_type": "Bearer",
               "refresh_token": refresh, "scope": scope}
        if self.expires_in:
            out["expires_in"] = self.expires_in
        out.update(self.answers)
        return {k: v for k, v in out.items() if v is not None}

    def client(self, form, headers):
        """Returns true if the client is known and proves itself."""
        cid, secret = form.get("client_id"), form.get("client_secret")
        if "authorization" in headers:
            if cid or secret:
                return False
            pair = base64.b64decode(headers["authorization"][6:]).decode()
            cid, secret = map(urllib.parse.unquote, pair.split(":", 1))
        c = self.clients.get(cid)
        if c is None:
            return False
        return c.get("client_secret") == secret

    def token(self, form, headers):
        with self.lock:
            if not self.client(form, headers):
                return 401, {"error": "invalid_client"}
            if form.get("grant_type") == "authorization_code":
                return self.by_code(form)
            if form.get("grant_type") == "refresh_token":
                return self.by_refresh(form)
            return 400, {"error": "unsupported_grant_type"}

    def by_code(self, form):
        q = self.codes.pop(form.get("code"), None)
        want = b64(hashlib.sha256(
            form.get("code_verifier", "").encode()).digest())
        if q is None or q["code_challenge"] != want or \
                q["redirect_uri"] != form.get("redirect_uri"):
            return 400, {"error": "invalid_grant"}
        if q["resource"] != form.get("resource"):
            return 400, {"error": "invalid_target"}
        return 200, self.issue(self.scope or q.get("scope", ""),
                               len(self.refresh))

    def by_refresh(self, form):
        token = form.get("refresh_token")
        family = self.refresh.get(token)
        if not form.get("resource"):
            return 400, {"error": "invalid_target"}
        if family is None or family in self.dead:
            return 400, {"error": "invalid_grant"}
        if token in self.spent and \
                time.time() - self.spent[token] > self.grace:
            self.dead.add(family)
            self.counts["revoked"] += 1
            return 400, {"error": "invalid_grant"}
        self.counts["refreshed"] += 1
        out = self.issue(self.scope or "issues:read", family)
        if self.rotate:
            self.spent.setdefault(token, time.time())
        else:
            del out["refresh_token"]
        return 200, out

    def accepts(self, header):
        token = (header or "").removeprefix("Bearer ")
        with self.lock:
            until, _ = self.access.get(token, (0, ""))
        return until > time.time()

    def expire(self):
        """Every token that is out is refused from now on."""
        with self.lock:
            for t in self.access:
                self.access[t] = (0, "")

    def forms(self, grant):
        with self.lock:
            return [f for _, _, _, f in self.seen
                    if f.get("grant_type") == grant]
