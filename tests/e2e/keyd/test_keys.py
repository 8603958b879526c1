#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Credentials in a running session: listed without their values, replaced
without ending it, chosen by a profile, taken from the secret service."""
import json
import os
import re
import secrets
import select
import socket
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from oauth_helper import Login, TokenServer, tokens  # noqa: E402

t = h.Tap()


def key():
    return "sk-ant-api03-real-" + secrets.token_hex(20)


def used(p):
    return [v for n, v in p.seen()[-1]["headers"] if n.lower() == "x-api-key"]


def ask(s):
    m = s.model()
    r = m.message("hello")
    m.close()
    return r.status


def leaks(s, values):
    found = []
    for root, _, names in os.walk(s.dir):
        for n in names:
            path = os.path.join(root, n)
            if os.path.isfile(path):
                with open(path, "rb") as f:
                    text = f.read()
                found += [path for v in values if v.encode() in text]
    return found


def variable(s, p, new):
    """A key from a variable: icctl's own variable replaces it."""
    env = dict(s.env)
    del s.env["OPENAI_API_KEY"]
    r = s.icctl("keys", "reload", "openai")
    t.ok(r.returncode == 1 and "Set OPENAI_API_KEY to the new key and run "
         "this again" in r.stderr and "--file" in r.stderr,
         "icctl has no such variable: what to do", r.stderr)
    s.env["OPENAI_API_KEY"] = "no key\x01"
    r = s.icctl("keys", "reload", "openai")
    t.ok(r.returncode == 1 and "old one stays" in r.stderr,
         "a bad value is refused", r.stderr)
    s.env["OPENAI_API_KEY"] = new
    r = s.icctl("keys", "reload", "openai")
    t.equal((r.returncode, r.stderr), (0, ""), "its own value is handed over")
    m = s.model("api.openai.com")
    t.equal(m.message("hello", "openai").status, 200, "the session goes on")
    m.close()
    t.equal([v for n, v in p.seen()[-1]["headers"]
             if n.lower() == "authorization"], ["Bearer " + new],
            "with the new key")
    s.env.update(env)
    # Another descriptor is not taken for a key.
    for name, flags in (("a file", os.O_RDONLY), ("a pipe to write", None)):
        r, w = os.pipe() if flags is None else (os.open(s.home, flags), -1)
        reply = by_hand(s, {"op": "keys-reload", "id": "openai"},
                        [w if flags is None else r])
        t.ok(not reply["ok"] and "not a pipe" in reply["error"],
             f"{name} is refused", reply)
        for fd in (r, w):
            if fd != -1:
                os.close(fd)
    # A descriptor that no request takes is closed: its pipe ends.
    r, w = os.pipe()
    t.ok(by_hand(s, {"op": "ping"}, [w, w, w])["ok"], "nor kept")
    os.close(w)
    ended = select.select([r], [], [], 10)[0]
    t.ok(ended and os.read(r, 1) == b"", "but closed")
    os.close(r)


def by_hand(s, request, fds):
    with socket.socket(socket.AF_UNIX) as c:
        c.settimeout(10)
        c.connect(os.path.join(s.dir, "control.sock"))
        socket.send_fds(c, [json.dumps(request).encode() + b"\n"], fds)
        return json.loads(c.makefile().readline())


def test_rotation():
    with h.workdir() as work, t.case("rotation"):
        keys = [key() for _ in range(4)]
        path = os.path.join(work, "key")
        h.put(path, keys[0] + "\n", 0o600)
        p = h.Provider(work, *[x for k in keys for x in ("--key", k)])
        config = {"credentials": {"anthropic": {"file": path},
                                  "openai": {"env": "OPENAI_API_KEY"}}}
        with h.Session(work, provider=p, config=config) as s:
            ask(s)
            t.equal(used(p), [keys[0]], "the first key")
            listed = s.icctl("keys").stdout
            entries = {k["provider"]: k for k in json.loads(
                s.icctl("--json", "keys").stdout)["keys"]}
            a, o = entries["anthropic"], entries["openai"]
            t.equal((a["kind"], a["source"], a["state"], a["requests"]),
                    ("file", path, "loaded", 1), "icctl keys: what, whence")
            t.ok(a["used_ms"] < 60000 and a["age_ms"] >= a["used_ms"],
                 "how old, when used", a)
            t.equal((o["kind"], o["source"], o["used_ms"]),
                    ("environment", "OPENAI_API_KEY", None), "or never")
            t.ok("last used" in listed and "not used yet" in listed and
                 keys[0][:24] not in listed, "for people, without values",
                 listed)
            t.ok(", in 1 request\n" in listed, "and in plain words", listed)
            h.put(path, keys[1], 0o600)
            t.equal(s.icctl("keys", "reload", "anthropic").returncode, 0,
                    "another key in its file: reload")
            t.equal(ask(s), 200, "the session goes on")
            t.equal(used(p), [keys[1]], "with the new key")
            h.put(path, "not a key\n", 0o600)
            r = s.icctl("keys", "reload", "anthropic")
            t.ok(r.returncode == 1 and "old one stays" in r.stderr,
                 "a bad one is refused", r.stderr)
            ask(s)
            t.equal(used(p), [keys[1]], "and the old one stays")
            variable(s, p, keys[3])
            other = os.path.join(work, "other")
            h.put(other, keys[2], 0o600)
            t.equal(s.icctl("keys", "reload", "anthropic", "--file",
                            other).returncode, 0, "from another file")
            ask(s)
            t.equal(used(p), [keys[2]], "once")
            os.chmod(other, 0o644)
            r = s.icctl("keys", "reload", "anthropic", "--file", other)
            t.ok(r.returncode == 1 and "chmod 600" in r.stderr,
                 "not from one that others read", r.stderr)
            t.equal(s.icctl("keys", "reload", "nobody").returncode, 1,
                    "no such provider")
            t.equal([e["detail"]["what"] for e in s.events("credential")],
                    ["replaced", "failed", "failed", "replaced", "replaced"],
                    "all recorded")
            t.equal(leaks(s, keys), [], "no value in the session's files")
        p.end()


def test_profiles():
    with h.workdir() as work, t.case("profiles"):
        pair = tokens()
        login = Login(work, pair)
        server = TokenServer(work, seeds=[pair])
        one = key()
        p = h.Provider(work, "--key", one)
        path = os.path.join(work, "key")
        h.put(path, one, 0o600)
        config = {"profiles": {
            "key": {"providers": {"anthropic": {
                "upstream": p.url, "ca": p.ca,
                "credential": {"file": path}}}},
            "login": {"providers": {"anthropic": {
                **server.settings(), "credential": {
                    "login": "claude-code", "file": login.path}}}}},
            "credentials": {"openai": {"env": "OPENAI_API_KEY"}}}
        with h.Session(work, config=config,
                       options=["--profile", "key"]) as s:
            t.equal(ask(s), 200, "a profile's key, at its upstream")
            t.equal(used(p), [one], "is that one")
            t.ok("OPENAI_API_KEY" not in s.agent_env(),
                 "what it does not name is not offered")
        with h.Session(work, config=config, session_dir=work + "/s2",
                       options=["--profile", "login"]) as s:
            m = s.model()
            r = m.message("hello")
            m.close()
            t.ok(r.status == 200 and server.seen()[-1]["token"] == pair[0],
                 "another profile: a login", r.status)
            listed = s.icctl("keys").stdout
            t.ok("login of claude-code" in listed and "expires in" in listed
                 and pair[0][:24] not in listed, "in icctl keys", listed)
            new = tokens()
            grant = server.order("/grant")
            new = (grant["access"], grant["refresh"])
            login.put(new)
            t.equal(s.icctl("keys", "reload", "anthropic").returncode, 0,
                    "a new login in the file: reload")
            ask(s)
            t.equal(server.seen()[-1]["token"], new[0], "is used")
            t.equal(leaks(s, pair + new), [], "no token in its files")
        for name, part in (("none", "there is no such profile"),):
            try:
                h.Session(work, config=config, session_dir=work + "/s3",
                          options=["--profile", name]).start()
                t.ok(False, f"--profile {name} is refused")
            except RuntimeError as e:
                t.contains(str(e), part, f"--profile {name} is refused")
        p.end()
        server.end()


# Variables with which the user moves a vendor's login.
MOVED = [("claude-code", "CLAUDE_CONFIG_DIR", ""),
         ("codex", "CODEX_HOME", ""),
         ("anthropic-cli", "ANTHROPIC_CONFIG_DIR", "credentials"),
         ("anthropic-cli", "XDG_CONFIG_HOME", "anthropic/credentials")]


def test_moved():
    for kind, name, below in MOVED:
        with h.workdir() as work, t.case(name):
            pair = tokens()
            server = TokenServer(work, seeds=[pair])
            top = os.path.join(work, "moved")
            made = Login(work, pair, kind=kind)
            os.makedirs(os.path.join(top, below), mode=0o700)
            path = os.path.join(top, below, os.path.basename(made.path))
            os.rename(made.path, path)
            provider = "chatgpt" if kind == "codex" else "anthropic"
            s = h.Session(work, config={
                "providers": {provider: server.settings()},
                "credentials": {provider: {"login": kind}}},
                env={name: top, "ANTHROPIC_API_KEY": "",
                     "CODEX_ACCESS_TOKEN": ""})
            listed = [x for x in json.loads(s.icctl(
                "--json", "login").stdout)["logins"] if x["login"] == kind]
            t.equal([(x["file"], x["there"]) for x in listed],
                    [(path, True)], f"{name}: icctl login finds it")
            with s:
                k = json.loads(s.icctl("--json", "keys").stdout)["keys"]
                t.equal([(x["source"], x["state"]) for x in k],
                        [(path, "loaded")], f"{name}: so do sessions")
                if provider == "anthropic":
                    m = s.model()
                    m.message("hello")
                    m.close()
                    t.equal(server.seen()[-1]["token"], pair[0],
                            f"{name}: and use it")
            server.end()


def test_service():
    with h.workdir() as work, t.case("secret service"):
        one = key()
        p = h.Provider(work, "--key", one)
        tool = os.path.join(work, "secret-tool")
        h.put(tool, '#!/bin/sh\n[ "$*" = "lookup service anthropic user me" ]'
              f' && printf %s {one}\n', 0o700)
        config = {"credentials": {"anthropic": {"secret-service": {
            "service": "anthropic", "user": "me"}}}}
        with h.Session(work, provider=p, config=config, env={
                "PATH": work + ":/usr/bin:/bin"}) as s:
            t.equal(ask(s), 200, "a key of the secret service")
            t.equal(used(p), [one], "is used")
        p.end()


def test_login():
    with h.workdir() as work, t.case("login"):
        Login(os.path.join(work), tokens())
        home = os.path.join(work, "home")
        os.makedirs(home + "/.claude", mode=0o700)
        secret = key()
        h.put(home + "/.claude/.credentials.json", secret, 0o600)
        s = h.Session(os.path.join(work, "s"), env={
            "HOME": home, "ANTHROPIC_API_KEY": secret})
        r = s.icctl("login")
        t.ok(r.returncode == 0 and "codex login" in r.stdout and
             "ANTHROPIC_API_KEY is set; login of Claude Code" in r.stdout and
             secret not in r.stdout,
             "icctl login says what is there and what to do", r.stdout)
        t.contains(s.icctl("login", "claude-code").stdout,
                   ".claude/.credentials.json: there",
                   "of one: where its file is")
        r = s.icctl("--json", "login")
        t.equal({x["login"]: x["there"] for x in
                 json.loads(r.stdout)["logins"]},
                {"claude-code": True, "anthropic-cli": False, "codex": False,
                 "gcloud": False}, "in JSON, too")
        r = s.icctl("login", "my-gateway")
        t.ok(r.returncode == 1 and "my-gateway" in r.stderr and
             os.path.join(s.home, "providers", "NAME.json") in r.stderr,
             "an unknown provider is an error that names its file", r.stderr)
        r = s.icctl("login", "bedrock").stdout
        t.ok(r.count("bedrock: key\n") == 1 and "AWS_ACCESS_KEY_ID" in r and
             "AWS_BEARER_TOKEN_BEDROCK" in r, "one with two variables, once",
             r)
        t.equal(s.icctl("login", "--bedrock").returncode, 64,
                "an option that there is not")


def test_refused():
    """The reason why a provider fails is reported once, and kept."""
    with h.workdir() as work, t.case("refused"):
        p = h.Provider(work)
        s = h.Session(work, provider=p, env={"ANTHROPIC_API_KEY": key()})
        with s:
            t.equal([ask(s) for _ in range(3)], [401] * 3, "a wrong key: 401")
            status = h.wait_for(
                lambda: [x for x in [s.icctl("status").stdout]
                         if "REFUSED (401)" in x], "status does not say it")
            t.ok(re.search(r"anthropic: REFUSED \(401\): .* "
                           r"\(\d+ times?, last .* ago\)", status[0]),
                 "icctl status says why, how often and when", status[0])
            r = s.icctl("keys").stdout
            t.ok(re.search(r"last failure .* ago: REFUSED \(401\)", r),
                 "icctl keys, too", r)
            p.end()
            h.wait_for(lambda: ask(s) == 502, "it is still reached")
            h.wait_for(lambda: s.process.stderr().count("provider anth") == 2,
                       "the second reason is not told")
            said = [x for x in s.process.stderr().splitlines()
                    if "provider anthropic: " in x]
            t.ok(len(said) == 2 and "REFUSED (401)" in said[0]
                 and "REFUSED" not in said[1],
                 "one line on standard error for each reason", said)


test_rotation()
test_refused()
test_profiles()
test_moved()
test_service()
test_login()
t.done()
