#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Logins of vendors' programs: used, and renewed in time and after a 401, by
two sessions and another program at once, never with a spent refresh token; and
failures of the renewal."""
import fcntl
import json
import os
import sys
import threading
import urllib.parse

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from oauth_helper import BODY, Login, OtherUser, TokenServer, tokens  # noqa: E402,E501

t = h.Tap()


def send(s, body=BODY, host="api.anthropic.com", var="ANTHROPIC_API_KEY",
         target="/v1/messages", headers=(), m=None):
    model = m or s.model(host, key=s.agent_env()[var])
    r = model.request("POST", target, [
        ("Authorization", "Bearer " + model.key),
        ("Content-Type", "application/json"), *headers], body)
    if m is None:
        model.close()
    return r


def session(work, login, server, name="a", **kw):
    config = login.config(server)
    config.update(kw.pop("config", {}))
    env = {"ANTHROPIC_API_KEY": "", "OPENAI_API_KEY": "", **kw.pop("env", {})}
    return h.Session(os.path.join(work, name), config=config, env=env, **kw)


def headers_of(entry, name):
    return [v for k, v in entry["headers"] if k == name]


def test_use():
    with h.workdir() as work, t.case("use"):
        pair = tokens()
        login = Login(work, pair)
        server = TokenServer(work, seeds=[pair])
        with session(work, login, server) as s:
            sentinel = s.agent_env()["ANTHROPIC_API_KEY"]
            t.ok(sentinel.startswith("sk-ant-oat01-ironcurtain-"),
                 "the sentinel looks like a token", sentinel)
            r = send(s)
            t.equal(r.status, 200, "a request with a login is answered")
            seen = server.seen()[-1]
            t.equal(headers_of(seen, "authorization"),
                    ["Bearer " + pair[0]], "with the real token")
            t.equal(headers_of(seen, "anthropic-beta"), ["oauth-2025-04-20"],
                    "and the header that goes along")
            send(s, headers=[("anthropic-beta",
                              "a-1, oauth-2025-04-20,b-2")])
            t.equal(headers_of(server.seen()[-1], "anthropic-beta"),
                    ["a-1, oauth-2025-04-20,b-2"], "not twice")
            send(s, headers=[("anthropic-beta", "a-1")])
            t.equal(headers_of(server.seen()[-1], "anthropic-beta"),
                    ["a-1,oauth-2025-04-20"], "nor in the way of others")
            m = s.model(key=sentinel)
            r = m.request("POST", "/v1/messages", [
                ("x-api-key", sentinel),
                ("Content-Type", "application/json")], BODY)
            t.ok(r.status == 200 and not headers_of(server.seen()[-1],
                                                    "x-api-key"),
                 "a sentinel in the key's header: the token in its own")
            m.close()
            t.equal(server.order("/state")["asked"], 0,
                    "a good token is not renewed")
        server.end()


def test_expiry():
    with h.workdir() as work, t.case("expiry"):
        pair = tokens()
        login = Login(work, pair, seconds=200)
        before = login.read()
        server = TokenServer(work, seeds=[pair])
        with session(work, login, server) as s:
            t.equal(send(s).status, 200, "within its last five minutes")
            h.wait_for(lambda: login.pair() != pair, "file not renewed")
            t.equal(server.order("/state")["refreshed"], 1, "it is renewed")
            now = login.read()
            old, new = before["claudeAiOauth"], now["claudeAiOauth"]
            t.ok(new["expiresAt"] > old["expiresAt"] + 3000000,
                 "the file says until when", new["expiresAt"])
            for v in (old, new):
                for k in ("accessToken", "refreshToken", "expiresAt"):
                    v.pop(k)
            t.equal(now, before, "all else in the file is as it was")
            t.equal(os.stat(login.path).st_mode & 0o777, 0o600,
                    "it is the user's alone")
            t.equal(send(s).status, 200, "the next request")
            t.equal(server.seen()[-1]["token"], login.pair()[0],
                    "goes with the new token")
            t.equal(server.seen("token")[0]["kind"],
                    "application/x-www-form-urlencoded", "asked by a form")
            e = h.wait_for(lambda: s.events("credential"), "no record")
            t.equal((e[0]["detail"]["what"], e[0]["detail"]["provider"],
                     e[0]["detail"]["kind"]),
                    ("renewed", "anthropic", "claude-code"),
                    "the audit log says so")
            t.equal(sorted(os.listdir(login.dir)), [".credentials.json"],
                    "no lock and no other file is left")
        server.end()


def test_torn():
    """The token endpoint stops within a record of TLS, of which keyd has taken
    a part from the socket: everything else goes on."""
    with h.workdir() as work, t.case("torn"):
        pair = tokens()
        login = Login(work, pair, seconds=200)
        server = TokenServer(work, seeds=[pair])
        server.order("/set?torn=1")
        with session(work, login, server) as s:
            t.equal(send(s).status, 200, "the first request")
            h.wait_for(lambda: server.seen("torn"), "nobody asks for a token")
            t.equal(send(s).status, 200, "the next one, meanwhile")
        server.end()


def is_locked(path):
    try:
        fd = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    finally:
        os.close(fd)


def test_lock():
    """Sessions exclude each other by locking a file: NFS cannot lock a
    directory."""
    with h.workdir() as work, t.case("lock"):
        pair = tokens()
        login = Login(work, pair, seconds=200)
        server = TokenServer(work, seeds=[pair])
        server.order("/set?delay=1")
        with session(work, login, server) as s:
            t.equal(send(s).status, 200, "a request within the last minutes")
            own = os.path.join(login.dir, ".ironcurtain.lock")
            h.wait_for(lambda: is_locked(own), "no file is locked")
            t.ok(True, "a file is locked while a token is renewed")
            h.wait_for(lambda: login.pair() != pair, "file not renewed")
            h.wait_for(lambda: not os.path.exists(own), "the lock stays")
            t.ok(True, "and is gone after that")
        server.end()


def test_unauthorized():
    with h.workdir() as work, t.case("401"):
        pair = tokens()
        login = Login(work, pair)
        server = TokenServer(work, seeds=[pair])
        big = json.dumps({"model": "m", "x": "y" * 3000000}).encode()
        with session(work, login, server) as s:
            m = s.model(key=s.agent_env()["ANTHROPIC_API_KEY"])
            for n, body in enumerate((BODY, big, b"")):
                server.order("/expire")
                r = send(s, body=body, m=m)
                t.equal(r.status, 200, f"401, renewed, sent again: "
                        f"{len(body)} bytes of body")
                seen = server.seen()[-2:]
                t.equal([e["good"] for e in seen], [False, True],
                        "once without, once with a good token")
                t.equal([e["bytes"] for e in seen], [len(body)] * 2,
                        "the body was whole both times")
                t.equal(server.order("/state")["refreshed"], n + 1,
                        "renewed once")
            server.order("/set?reject=2")
            r = send(s, m=m)
            t.ok(r.status == 403 and b"icctl login" in r.body,
                 "401 with a fresh token, too: 403 that says what to do",
                 (r.status, r.body))
            m.close()
            t.equal(send(s).status, 200, "the next one may do")
            # several at once: one renewal
            before = server.order("/state")["refreshed"]
            server.order("/expire")
            got = []
            threads = [threading.Thread(
                target=lambda: got.append(send(s).status))
                for _ in range(12)]
            for x in threads:
                x.start()
            for x in threads:
                x.join()
            t.equal(got, [200] * 12, "twelve at once, all answered")
            t.equal(server.order("/state")["refreshed"], before + 1,
                    "with one renewal")
        server.end()


def test_shapes():
    for kind, host, var, target in (
            ("anthropic-cli", "api.anthropic.com", "ANTHROPIC_API_KEY",
             "/v1/messages"),
            ("codex", "chatgpt.com", "CODEX_ACCESS_TOKEN",
             "/backend-api/codex/responses")):
        with h.workdir() as work, t.case(kind):
            server = TokenServer(work, "--jwt")
            grant = server.order("/grant")
            pair = (grant["access"], grant["refresh"])
            login = Login(work, pair, seconds=3600, kind=kind)
            before = login.read()
            with session(work, login, server) as s:
                r = send(s, host=host, var=var, target=target)
                t.equal(r.status, 200, f"{kind}: used")
                server.order("/expire")
                r = send(s, host=host, var=var, target=target)
                t.equal(r.status, 200, f"{kind}: renewed")
                t.equal(server.seen("token")[0]["kind"], "application/json",
                        f"{kind}: asked with JSON")
                h.wait_for(lambda: login.pair() != pair, "not renewed")
                now = login.read()
                if kind == "codex":
                    t.equal(headers_of(server.seen()[-1],
                                       "chatgpt-account-id"),
                            ["acct-real-0001"], "codex: with the account")
                    t.ok(now["last_refresh"] > before["last_refresh"] and
                         now["tokens"]["id_token"] != "old.id.token",
                         "codex: ID token and time are new", now)
                else:
                    t.ok(now["expires_at"] >= before["expires_at"],
                         "anthropic-cli: the time is new")
            server.end()


def test_failures():
    with h.workdir() as work, t.case("failures"):
        pair = tokens()
        login = Login(work, pair)
        server = TokenServer(work, seeds=[pair])
        with session(work, login, server) as s:
            send(s)
            server.order("/set?status=500")
            server.order("/expire")
            r = send(s)
            t.ok(r.status == 502 and b"cannot be renewed" in r.body,
                 "the token endpoint's trouble: 502", (r.status, r.body))
            t.equal(login.pair(), pair, "the file is untouched")
            e = h.wait_for(lambda: s.events("credential"), "no record")[-1]
            t.equal(e["detail"]["what"], "failed", "recorded")
            # a malformed 200: nothing of it is used
            server.order("/set?status=200&raw=" + urllib.parse.quote(
                '{"access_token":"a1","access_token":"b2"}'))
            h.wait_for(lambda: send(s).status == 502 and
                       len(s.events("credential")) > 1, "not asked again", 15)
            t.ok("malformed" in s.events("credential")[-1]["detail"]["reason"]
                 and login.pair() == pair, "a malformed answer: not taken",
                 s.events("credential")[-1])
            server.order("/set?status=0&raw=")
            h.wait_for(lambda: send(s).status == 200, "not tried again", 15)
            t.ok(True, "renewed when it answers again")
            server.order("/revoke")
            server.order("/expire")
            r = send(s)
            t.ok(r.status == 403 and b"icctl login" in r.body,
                 "the login is over: 403, not to be retried",
                 (r.status, r.body))
            h.wait_for(lambda: s.events("alarm"), "no alarm")
            t.equal(s.events("alarm")[0]["kind"] if "kind" in
                    s.events("alarm")[0] else
                    s.events("alarm")[0].get("detail", {}).get("kind"),
                    "login-refused", "an alarm")
            asked = server.order("/state")["asked"]
            t.equal(send(s).status, 403, "still")
            t.equal(server.order("/state")["asked"], asked,
                    "nobody is asked in vain")
            t.contains(s.session_log(), "Log in again: icctl login anthropic",
                       "the user is told")
            status = json.loads(s.icctl("--json", "status").stdout)
            t.equal([k["credential"] for k in status["credentials"]],
                    ["refused"], "icctl status says so")
            grant = server.order("/grant")
            login.put((grant["access"], grant["refresh"]))
            h.wait_for(lambda: send(s).status == 200, "new login", 20)
            t.ok(True, "a new login is noticed")
        server.end()


def rounds(work, n):
    """`n` expirations, while two sessions and another program use the file."""
    pair = tokens()
    login = Login(work, pair)
    server = TokenServer(work, seeds=[pair])
    other = OtherUser(login, server)
    bad = []
    with session(work, login, server, "a") as a, \
            session(work, login, server, "b") as b:
        models = [x.model(key=x.agent_env()["ANTHROPIC_API_KEY"])
                  for x in (a, b)]

        def one(f):
            try:
                status = f()
            except Exception as e:  # pylint: disable=broad-except
                status = repr(e)
            if status != 200:
                bad.append(status)

        for _ in range(n):
            server.order("/expire")
            users = [lambda: send(a, m=models[0]).status,
                     lambda: send(b, m=models[1]).status, other.ask]
            threads = [threading.Thread(target=one, args=(f,))
                       for f in users]
            for x in threads:
                x.start()
            for x in threads:
                x.join()
        state = server.order("/state")
        t.equal(bad[:5], [], f"{n} expiries: every request is answered")
        t.equal(state["revoked"], 0, f"{n} expiries: no token sent twice")
        t.ok(n <= state["refreshed"] <= 2 * n,
             f"{n} expiries: {state['refreshed']} renewals, "
             f"{other.renewed} by the other program, which took "
             f"{other.adopted} from us", state)
        for m in models:
            m.close()
    server.end()


def test_together():
    n = int(os.environ.get("IC_EXPIRIES") or "12")
    with h.workdir() as work, t.case("together"):
        rounds(work, n)


def main():
    test_use()
    test_expiry()
    test_torn()
    test_lock()
    test_unauthorized()
    test_shapes()
    test_failures()
    test_together()
    t.done()


main()
