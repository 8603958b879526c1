#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Logins at remote MCP servers: discovery, registration, PKCE, the browser's
way back, the token in the store, sessions that use and renew it, and the end of
a login. The test is the browser, and the servers check what they are sent."""
import ctypes
import fcntl
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from agent import RpcError  # noqa: E402
import mcp_login as ml  # noqa: E402
import public_net  # noqa: E402

t = h.Tap()
ANNOTATIONS = {"far": {"act": {"how": ["none"]}, "read": {"text": ["none"]}}}
RULES = [h.rule("act", "allow", server=["far"], tool=["act", "read"])]


def session(work, far, auth, name="far"):
    entry = {"url": far.url, "ca": far.ca}
    return h.Session(work, {name: entry},
                     rules=[{**r, "if": {**r["if"], "server": [name]}}
                            for r in RULES],
                     annotations={name: ANNOTATIONS["far"]})


def state(s, name="far"):
    rows = json.loads(s.icctl("--json", "status").stdout)["servers"]
    return next(r for r in rows if r["name"] == name)


def ready(s, name="far"):
    h.wait_for(lambda: state(s, name)["state"] == "ready",
               "the server is ready")


def kept(s):
    with open(os.path.join(s.home, "logins", "mcp-far.json"),
              encoding="utf-8") as f:
        return json.load(f)


def replace(s, token):
    with open(os.path.join(s.home, "logins", "mcp-far.json"), "w",
              encoding="utf-8") as f:
        json.dump(token, f)


def test_first(work):
    far, auth = ml.pair(work)
    s = session(work, far, auth)
    status, text = ml.log_in(s.env, "far", far.ca)
    t.equal(status, 0, "a login")
    if status != 0:
        print("#", text.replace("\n", "\n# "))
        return
    for word in (far.url, auth.issuer, "issues:read offline_access"):
        t.contains(text, word, f"it shows {word}")
    q = auth.asked[0]
    t.equal((q["resource"], q["scope"], q["code_challenge_method"]),
            (far.url, "issues:read offline_access", "S256"), "what is asked")
    f = auth.forms("authorization_code")[0]
    t.equal((f["resource"], f["client_id"] in auth.clients,
             f["redirect_uri"]), (far.url, True, q["redirect_uri"]),
            "what is sent for the token")
    token = kept(s)
    t.equal(os.stat(os.path.join(s.home, "logins", "mcp-far.json")).st_mode
            & 0o777, 0o600, "the file is the user's alone")
    t.ok(token["access_token"] not in text, "no token is printed")
    with s:
        ready(s)
        m = s.client()
        t.equal(h.text_of(m.call("far__act", {"how": "good"})), "done",
                "a session uses it")
        t.equal(far.seen[-1][1]["authorization"],
                "Bearer " + token["access_token"], "with the token")
        auth.expire()


def words(m, how="good", name="far"):
    """Returns what the agent reads of a call."""
    try:
        return str(h.text_of(m.call(name + "__act", {"how": how})))
    except RpcError as e:
        return e.error["message"]


def test_renewed(work):
    """A refused token is renewed once, and the call after it is made; a refused
    refresh removes nothing and says what to do; a login made meanwhile is
    used."""
    far, auth = ml.pair(work)
    auth.metadata["token_endpoint_auth_methods_supported"] = [
        "client_secret_post"]
    s = session(work, far, auth, "Far")
    ml.log_in(s.env, "Far", far.ca)
    with s:
        ready(s, "Far")
        m = s.client()
        first = kept(s)
        login = ml.Login(s.env, "Far")
        back = ml.browse(login.url, far.ca)
        auth.expire()
        calls = far.calls("good")
        t.contains(words(m, name="Far"), "send the request again",
                   "a call whose token is refused is not sent twice")
        t.equal(far.calls("good"), calls + 1, "it was sent once")
        h.wait_for(lambda: kept(s) != first, "the token is renewed")
        t.equal(words(m, name="Far"), "done",
                "the next call goes with the new token")
        f = auth.forms("refresh_token")
        t.equal((len(f), f[0]["resource"], f[0]["client_id"],
                 f[0]["refresh_token"]),
                (1, far.url, first["client_id"], first["refresh_token"]),
                "one refresh, with resource and client")
        ml.come_back(back)
        status, text = login.end()
        t.equal(status, 0, "a login during which a session renewed it")
        if status != 0:
            print("#", text.replace("\n", "\n# "))
        auth.dead.update(auth.refresh.values())
        auth.expire()
        words(m, name="Far")
        h.wait_for(lambda: "mcp login Far" in words(m, name="Far"),
                   "the agent reads that it needs a login", 30)
        h.wait_for(lambda: kept(s).get("ended_at", 0) > 0, "the end is noted")
        t.ok(kept(s)["refresh_token"] in auth.refresh,
             "a refused refresh removes nothing, and is noted", kept(s).keys())
        h.wait_for(lambda: "icctl mcp login Far" in
                   s.session_log() + s.process.stderr(),
                   "the person reads it as well")
        status, text = ml.log_in(s.env, "Far", far.ca)
        t.ok(status == 0 and "uses it" in text,
             "a login while the session runs", text)
        h.wait_for(lambda: words(m, name="Far") == "done",
                   "the session uses it", 15)


def test_later(work):
    """The first login while a session runs; then its end."""
    far, auth = ml.pair(work)
    auth.metadata["token_endpoint_auth_methods_supported"] = [
        "client_secret_basic"]
    s = session(work, far, auth)
    with s:
        h.wait_for(lambda: state(s)["state"] == "gone", "not logged in")
        t.contains(state(s)["text"], "icctl mcp login far",
                   "status says what to do")
        t.ok("authorization" not in far.seen[0][1], "sent without a token")
        said = words(s.client())
        t.ok("only after the user has given it a new login" in said and
             "not be started again" not in said,
             "the agent reads what begins it again", said)
        status, text = ml.log_in(s.env, "far", far.ca)
        t.ok(status == 0 and "uses it" in text, "a login", text)
        ready(s)
        m = s.client()
        h.wait_for(lambda: words(m) == "done", "the session uses it")
        t.contains(words(m, "status 403"), "icctl mcp login --scope SCOPE far",
                   "a call that lacks a scope says what to do")
        auth.answers, auth.grace = {
            "refresh_token": kept(s)["refresh_token"]}, 1e9
        for when in ("", ", again with the same refresh token"):
            auth.expire()
            words(m)
            h.wait_for(lambda: words(m) == "done", "and renews it" + when)
        rows = json.loads(s.icctl("--json", "mcp", "status").stdout)
        t.equal((rows["servers"][0]["state"], rows["servers"][0]["issuer"],
                 rows["servers"][0]["renews"]),
                ("login", auth.issuer, True), "mcp status")
        t.contains(s.icctl("mcp", "ls").stdout, "logged in at", "mcp ls")
        replace(s, {**kept(s), "access_token": "at-of-another",
                 "resource": "https://mcp.example.com/mcp"})
        auth.expire()
        words(m)
        h.wait_for(lambda: "another address" in
                   s.session_log() + s.process.stderr(),
                   "a login that is made for another address is not taken")
        words(m)
        t.equal([x for x in far.seen if "at-of-another" in
                 x[1].get("authorization", "")], [],
                "its token is sent to nobody")
    tokens = kept(s)
    t.equal(tokens["client_secret"],
            auth.clients[tokens["client_id"]]["client_secret"],
            "the client has a secret, which renewals sent")
    r = s.icctl("mcp", "logout", "far")
    t.equal((r.returncode, auth.revoked), (0, [tokens["refresh_token"]]),
            "logout revokes it")
    t.equal([n for n in os.listdir(os.path.join(s.home, "logins"))
             if n.startswith("mcp-")], [], "and removes the files")
    t.contains(s.icctl("mcp", "status").stdout, "no login", "mcp status")


def test_scope(work):
    """A call that lacks a scope is shown to the person, with the login's scopes
    and those that are wanted: a login answers it, and a no is remembered."""
    far, auth = ml.pair(work)
    s = session(work, far, auth)
    ml.log_in(s.env, "far", far.ca)
    with s:
        ready(s)
        m = s.client()
        words(m, "scope issues:read offline_access")
        t.equal(s.pending(), [], "scopes that the login has are not asked for")
        words(m, "scope issues:read issues:admin")
        hold = s.held()
        t.equal((hold["server"], hold["rule"]), ("mcp-far", "login-scope"),
                "a scope that it lacks is pending")
        for text in ("has the scopes: issues:read offline_access.",
                     "icctl mcp login --scope 'issues:read issues:admin' far"):
            t.contains(hold["effect"], text, "which shows " + text)
        words(m, "scope issues:read issues:admin")
        t.equal(len(s.pending()), 1, "once")
        s.icctl("deny", hold["id"], check=True)
        h.wait_for(lambda: not s.pending(), "the no")
        words(m, "scope issues:read issues:admin")
        t.equal(s.pending(), [], "and a no is remembered")
        words(m, "scope issues:write")
        t.equal(len(s.held()["id"]) > 0, True, "another scope is pending")
        status, text = ml.log_in(s.env, "far", far.ca, "--scope",
                                 "issues:write")
        t.ok(status == 0 and "uses it" in text, "a login with it", text)
        h.wait_for(lambda: not s.pending(), "which answers it")
        t.equal(auth.asked[-1]["scope"],
                "issues:read offline_access issues:write", "old and new")
        words(m, "scope " + " ".join(f"s{i}" for i in range(500)))
        words(m, "scope a'b")
        t.equal(s.pending(), [], "nobody is shown 500 scopes, or a quote")


def test_open(work):
    """A server that lets everybody begin, and wants a login for what follows;
    whose document is that of its whole host; and which a session has given up
    when the login comes that has the scope."""
    far, auth = ml.pair(work)

    def accepts(header):
        return far.seen[-1][2]["method"] == "initialize" or \
            auth.accepts(header)
    far.accepts = accepts
    at = "/.well-known/oauth-protected-resource"
    far.documents = {at: {**far.documents[at + "/mcp"],
                          "resource": far.origin}}
    far.challenge = 'Bearer scope="issues:read"'
    s = session(work, far, auth)
    status, text = ml.log_in(s.env, "far", far.ca)
    t.ok(status == 0, "a login at a server that lets everybody begin", text)
    t.equal((auth.asked[-1]["scope"], auth.asked[-1]["resource"],
             auth.forms("authorization_code")[-1]["resource"]),
            ("issues:read offline_access", far.origin, far.origin),
            "with the scope of its challenge, for the whole host")
    far.how = "scope issues:write"
    with s:
        h.wait_for(lambda: state(s)["state"] == "gone", "it is given up")
        hold = s.held()
        t.contains(hold["effect"], "issues:write", "a scope is missing")
        far.how = ""
        status, text = ml.log_in(s.env, "far", far.ca, "--scope",
                                 "issues:write")
        t.ok(status == 0 and "uses it" in text, "a login with it", text)
        ready(s)
        t.equal(words(s.client()), "done", "and the session goes on")
        auth.expire()
        m = s.client()
        words(m)
        h.wait_for(lambda: words(m) == "done", "and renews it")
        t.equal(auth.forms("refresh_token")[-1]["resource"], far.origin,
                "for the whole host")
    keep = far.documents[at]
    for name, where, resource in (
            ("another host's", at, "https://evil.com"),
            ("a folder's", at, far.origin + "/m"),
            ("the host's, where the server's belongs", at + "/mcp",
             far.origin)):
        far.documents = {where: {**keep, "resource": resource}}
        status, text = ml.log_in(s.env, "far", far.ca)
        t.ok(status == 1 and "another resource" in text,
             f"a document that is {name} is refused", text)


def test_given_up(work):
    """A server begins a session and wants a login for what follows: the login
    begins another session, and the first one is ended."""
    far, auth = ml.pair(work)
    far.accepts = lambda header: far.seen[-1][2]["method"] in (
        "server/discover", "initialize") or auth.accepts(header)
    s = session(work, far, auth)
    with s:
        h.wait_for(lambda: state(s)["state"] == "gone", "it is given up")
        t.equal((far.session, far.ends), (1, []), "within a session of it")
        status, text = ml.log_in(s.env, "far", far.ca)
        t.ok(status == 0 and "uses it" in text, "a login", text)
        ready(s)
        h.wait_for(lambda: far.ends, "the end of the first session")
        t.equal([x["mcp-session-id"] for _, x in far.ends], ["session-1"],
                "the first session is ended, and not the second")
    t.equal([x["mcp-session-id"] for _, x in far.ends],
            ["session-1", f"session-{far.session}"],
            "which ends with ours")


def test_state(work):
    """Sessions, doctor and logout tell the state of a login."""
    far, auth = ml.pair(work)
    s = session(work, far, auth)
    r = s.icctl("--json", "doctor", timeout=120)
    rows = [c["found"] for c in json.loads(r.stdout)["checks"]
            if c["check"] == "remote server"]
    t.equal(rows, ["far: no key and no login"], "doctor before a login")
    ml.log_in(s.env, "far", far.ca)
    with s:
        ready(s)
        m = s.client()
        h.wait_for(lambda: state(s).get("expires", 0) > 0,
                   "when the token expires")
        t.contains(s.icctl("status").stdout, "token for ", "status")
        auth.dead.update(auth.refresh.values())
        auth.expire()
        words(m)
        h.wait_for(lambda: state(s)["refused"], "it was not renewed")
        words(m)
        text = s.icctl("status").stdout
        for says in ("needs a login: icctl mcp login far", "ago: "):
            t.contains(text, says, f"status says {says}")
        status, text = ml.log_in(s.env, "far", far.ca)
        h.wait_for(lambda: "failure" not in state(s) and
                   not state(s)["refused"],
                   f"a new login: {status} {text}")
        # A session renews the login while logout begins.
        lock = open(os.path.join(s.home, "logins", ".ironcurtain.lock"), "w",
                    encoding="utf-8")
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = kept(s)
        libc = ctypes.CDLL(None)
        opened = libc.inotify_init1(os.O_CLOEXEC)
        libc.inotify_add_watch(opened, lock.name.encode(), 0x20)    # IN_OPEN
        p = subprocess.Popen(
            [h.program("icctl"), "--session", s.dir, "mcp", "logout", "far"],
            env=s.env, stdout=subprocess.PIPE, text=True)
        os.read(opened, 4096)
        os.close(opened)
        replace(s, {**before, "refresh_token": "rt-newer"})
        os.unlink(lock.name)
        lock.close()
        text = p.communicate(timeout=60 * h.PATIENCE)[0]
        t.equal(auth.revoked, ["rt-newer"], "what was renewed is revoked")
        t.contains(text, f"icctl stop {os.path.basename(s.dir)}",
                   "logout says how a session is ended")


def test_over(work):
    """A session that starts when the login has ended: its agent reads at once
    what to do, and a login begins the server."""
    far, auth = ml.pair(work)
    s = session(work, far, auth)
    ml.log_in(s.env, "far", far.ca)
    auth.dead.update(auth.refresh.values())
    auth.expire()
    with s:
        h.wait_for(lambda: state(s)["state"] == "gone", "it is given up")
        t.contains(words(s.client()), "icctl mcp login far",
                   "a call of a server whose login is refused")
    with session(work, far, auth) as s:
        m = s.client()
        asked = len(auth.forms("refresh_token"))
        t.contains(words(m), "icctl mcp login far",
                   "a call of one whose login had ended before the start")
        t.equal((state(s)["state"], len(auth.forms("refresh_token"))),
                ("gone", asked), "which asks for no token")
        status, text = ml.log_in(s.env, "far", far.ca)
        t.ok(status == 0 and "uses it" in text, "a login", text)
        ready(s)
        t.equal(words(m), "done", "which begins it")


def test_roots(work):
    """A server's own CA is not that of its issuer."""
    roots = os.environ.get(public_net.ROOTS)
    if roots is None:
        t.skip("roots", "this machine has no root certificates")
        return
    far, auth = ml.pair(work, auth_tls="tls-auth")
    s = session(work, far, auth)
    status, text = ml.log_in(s.env, "far", auth.ca)
    t.ok(status == 1 and "certificate" in text,
         "an issuer that nobody vouches for", text)
    with open(auth.ca, encoding="utf-8") as f, \
            open(roots, "w", encoding="utf-8") as to:
        to.write(f.read())
    status, text = ml.log_in(s.env, "far", auth.ca)
    t.equal(status, 0, "an issuer that the system trusts")
    if status != 0:
        print("#", text.replace("\n", "\n# "))
    with s:
        ready(s)
        m = s.client()
        auth.expire()
        words(m)
        h.wait_for(lambda: words(m) == "done", "and a session renews there")
    entry = os.path.join(s.home, "mcp-servers.json")
    with open(entry, encoding="utf-8") as f:
        all_of = json.load(f)
    all_of["far"]["ca"] = auth.ca
    with open(entry, "w", encoding="utf-8") as f:
        json.dump(all_of, f)
    with open(far.ca, encoding="utf-8") as f, \
            open(roots, "w", encoding="utf-8") as to:
        to.write(f.read())
    status, text = ml.log_in(s.env, "far", auth.ca)
    t.ok(status == 1 and "certificate" in text,
         "the server itself is checked with its own CA alone", text)


def test_behind(work):
    """A login, and a session that renews it, through a corporate proxy that
    alone knows the names."""
    far, auth = ml.pair(work, address="127.0.0.1")
    log = os.path.join(work, "proxy.jsonl")
    hosts = [u.split("/")[2] for u in (far.url, auth.origin)]
    proxy = h.Process([h.PYTHON, os.path.join(h.STANDINS, "connect_proxy.py"),
                       "--log", log, "--user", "me", "--password", "p@ss-word",
                       *(x for host in hosts for x in
                         ("--map", f"{host}={host.rsplit(':', 1)[1]}"))],
                      os.path.join(work, "proxy.err"))
    url = f"http://me:p%40ss-word@127.0.0.1:{proxy.ready['port']}"
    s = h.Session(work, {"far": {"url": far.url, "ca": far.ca}}, rules=RULES,
                  annotations=ANNOTATIONS, env={"https_proxy": url})
    status, text = ml.log_in(s.env, "far", far.ca,
                             address="127.0.0.1")
    t.equal(status, 0, "a login behind a proxy")
    if status != 0:
        print("#", text.replace("\n", "\n# "))
    t.ok("p@ss-word" not in text, "whose password is not printed")
    with s:
        ready(s)
        m = s.client()
        auth.expire()
        words(m)
        h.wait_for(lambda: words(m) == "done", "a session, and a refresh")
    t.equal({e["target"] for e in h.read_lines(log) if e["ev"] == "connect"},
            set(hosts), "everything went through the proxy")
    status, text = ml.log_in({**s.env, "https_proxy": url.replace("word", "x")},
                             "far", far.ca, address="127.0.0.1")
    t.ok(status == 1 and "407" in text, "a wrong password of the proxy", text)
    proxy.end()


def drop(d, *keys):
    return {k: v for k, v in d.items() if k not in keys}


def refusals(far, auth):
    """Yields a name, a function that spoils one thing, and words of the
    refusal."""
    resource = "/.well-known/oauth-protected-resource/mcp"
    server = "/.well-known/oauth-authorization-server/t1"
    good = dict(auth.metadata)

    def doc(**members):
        def spoil():
            auth.documents[server] = {**good, **members}
        return spoil

    def res(**members):
        def spoil():
            far.documents[resource] = {
                **far.documents[resource], **members}
        return spoil

    def token(**members):
        return lambda: auth.answers.update(members)

    def redirect(handler):
        handler.answer(b"", 302, Location="https://10.9.9.9/")

    def gone(handler):
        handler.answer(b"no", 500)

    def trouble():
        far.how, far.accepts = "status 500", lambda _: True
        far.documents.clear()

    yield "a server in trouble", trouble, "status 500"
    yield ("a challenge of another host", lambda: setattr(
        far, "challenge", 'Bearer resource_metadata="https://evil.com/x"'),
        "another host")
    yield ("another resource", res(resource="https://evil.com/mcp"),
           "another resource")
    yield ("an issuer on this machine",
           res(authorization_servers=["https://localhost/x"]), "host")
    yield ("an issuer that leads to a private address",
           res(authorization_servers=["https://rebound.linear-like.com"]),
           "a private address")
    yield ("a redirect", lambda: auth.documents.update({server: redirect}),
           "a redirect, which is not followed")
    yield ("an error of the server",
           lambda: auth.documents.update({server: gone}), "no metadata")
    yield "another issuer", doc(issuer=auth.issuer + "/"), "another issuer"
    yield ("no PKCE", doc(code_challenge_methods_supported=["plain"]),
           "PKCE")
    yield ("a script as endpoint",
           doc(authorization_endpoint="javascript:alert(1)"), "https://")
    yield ("parameters of ours",
           doc(authorization_endpoint=auth.issuer +
               "/authorize?redirect_uri=https://evil.com"), "parameters")
    yield ("no registration", doc(registration_endpoint=None), "Register one")
    yield ("a refused registration", lambda: setattr(
        auth, "register_raw", lambda q: q.answer(
            {"error": "invalid_redirect_uri"}, 403)), "status 403")
    yield ("a registration for another address", lambda: setattr(
        auth, "register_raw", lambda q: q.answer(
            {"client_id": "x", "redirect_uris": ["https://evil.com"]}, 201)),
        "redirect_uris")
    yield ("a client_id with a line break", lambda: setattr(
        auth, "register_raw", lambda q: q.answer(
            {"client_id": "x\r\ny"}, 201)), "client_id")
    yield ("a denial", lambda: setattr(auth, "deny", "\x1b[31mno"),
           "access_denied")
    yield "a mac token", token(token_type="mac"), "no usable token"
    yield "a DPoP token", token(token_type="DPoP"), "no usable token"
    yield "no type of token", token(token_type=None), "token_type"
    yield "an empty token", token(access_token=""), "no usable token"
    yield ("a token with a line break", token(access_token="a\r\nb"),
           "no usable token")
    yield "a huge token", token(access_token="a" * 60000), "too large"
    yield "a negative lifetime", token(expires_in=-1), "lifetime"
    yield "a lifetime in words", token(expires_in="1h"), "lifetime"
    yield "an error beside a token", token(error="x"), "an error"
    yield ("a refused code", lambda: setattr(
        auth, "token_raw", lambda q: q.answer(
            {"error": "invalid_grant"}, 400)), "invalid_grant")
    yield ("a redirect of the token endpoint", lambda: setattr(
        auth, "token_raw", redirect), "redirect")


def test_refused(work):
    """Each mistake of a server ends the login, and leaves no file."""
    far, auth = ml.pair(work)
    s = session(work, far, auth)
    keep = (far.challenge, dict(far.documents), dict(auth.documents))
    for name, spoil, says in refusals(far, auth):
        with t.case(name):
            far.challenge = keep[0]
            far.documents, auth.documents = dict(keep[1]), dict(keep[2])
            auth.register_raw = auth.token_raw = None
            auth.deny, auth.answers = "", {}
            far.how, far.accepts = "", auth.accepts
            spoil()
            status, text = ml.log_in(s.env, "far", far.ca, "--yes")
            t.ok(status == 1 and says in text and "\x1b" not in text,
                 f"refused: {name}", text)
    far.how, far.accepts = "", auth.accepts
    far.documents, auth.documents = dict(keep[1]), dict(keep[2])
    status, text = ml.log_in(s.env, "far", far.ca, "--scope", "x" * 9000)
    t.ok(status == 1 and "the scopes have more than 8192 bytes" in text,
         "too many scopes", text)
    servers = os.path.join(s.home, "mcp-servers.json")
    for oauth, says in (({"isuer": auth.issuer}, "oauth.isuer: unknown key"),
                        ({"issuer": 5}, "oauth.issuer: must be a string"),
                        ({"callbackPort": 0}, "oauth.callbackPort: "),
                        (auth.issuer, "far.oauth: must be an object")):
        with open(servers, encoding="utf-8") as f:
            all_of = json.load(f)
        all_of["far"]["oauth"] = oauth
        with open(servers, "w", encoding="utf-8") as f:
            json.dump(all_of, f)
        status, text = ml.log_in(s.env, "far", far.ca)
        t.ok(status == 1 and says in text, f"refused: oauth {oauth}", text)
    t.equal([n for n in os.listdir(os.path.join(s.home, "logins"))
             if "json" in n], [], "no file is left")


def test_pasted(work):
    """Without a browser here; a page that calls the port changes nothing."""
    far, auth = ml.pair(work)
    s = session(work, far, auth)
    login = ml.Login(s.env, "far", "--no-browser")
    back = ml.browse(login.url, far.ca)
    for name, headers in (("a page", [("Origin", "https://evil.com")]),
                          ("a script", [("Sec-Fetch-Mode", "cors")])):
        t.equal(ml.come_back(back, headers)[0], 400, f"{name} is refused")
    t.equal(ml.come_back(back.replace("state=", "state=x"))[0], 400,
            "another state")
    login.say(back.replace("state=", "state=x"))
    login.say(back)
    status, text = login.end()
    t.ok(status == 0, "a pasted address", text)
    t.contains(text, "its state is not that of this login",
               "and one of another login")


def main():
    why = public_net.enter(ml.MCP_HOST, ml.AUTH_HOST,
                           private=["rebound.linear-like.com"])
    if why is not None:
        t.skip("logins", f"no network of its own: {why}")
        t.done()
        return
    only = sys.argv[1:]
    for test in (test_first, test_renewed, test_later, test_scope, test_open,
                 test_given_up, test_state, test_over, test_roots,
                 test_behind, test_refused, test_pasted):
        if only and test.__name__[5:] not in only:
            continue
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


main()
