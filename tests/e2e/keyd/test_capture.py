#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A login that the agent itself begins in the sandbox: by a copied code, by a
device code, by Codex's own device flow. The real tokens are kept where later
sessions find them, and never reach the sandbox, which gets placeholders."""
import json
import os
import stat
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from capture_helper import (  # noqa: E402
    CLAUDE, CODEX, AuthServer, claude_login, post)
from traces import files_have, memory_has  # noqa: E402

t = h.Tap()
BODY = json.dumps({"model": "m", "max_tokens": 5, "messages":
                   [{"role": "user", "content": "hi"}]}).encode()
ENV = {"ANTHROPIC_API_KEY": "", "OPENAI_API_KEY": ""}
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"


def session(work, server, provider="anthropic", login="claude-code",
            name="a", **kw):
    config = server.config(provider, login)
    config.update(kw.pop("config", {}))
    s = h.Session(os.path.join(work, name), config=config, env=ENV, **kw)
    s.home = os.path.join(work, "home")  # one user, several sessions
    os.makedirs(s.home, mode=0o700, exist_ok=True)
    s.write("config.json", config)
    s.write("mcp-servers.json", {})
    s.env["IRONCURTAIN_HOME"] = s.home
    return s


def send(s, key, host="api.anthropic.com", path="/v1/messages"):
    m = s.model(host, key=key)
    r = m.request("POST", path, [
        ("Authorization", f"Bearer {key}"),
        ("Content-Type", "application/json")], BODY)
    m.close()
    return r


def leaks(s, server):
    """Files of session and workspace that contain a real token."""
    return [f for token in server.issued() for d in (s.dir, s.workspace)
            for f in files_have(d, token.encode())]


def holders(s, server):
    """Processes of the session with a real token, except keyd; only as root.
    """
    every = {**s.workers(), "icsupervisor": [s.pid]}
    t.ok(len(every) > 5, "processes are searched", every)
    return sorted({name for name, pids in every.items() if name != "keyd"
                   for pid in pids for token in server.issued()
                   if memory_has(pid, token.encode())})


def login_file(s, name):
    with open(os.path.join(s.home, "logins", name), encoding="utf-8") as f:
        return json.load(f)


def error(r):
    try:
        return r.status, json.loads(r.body).get("error")
    except ValueError:
        return r.status, r.body[:200]


def test_code(work, server):
    with session(work, server) as s:
        t.ok("ANTHROPIC_API_KEY" not in s.agent_env(),
             "the session starts without a key", s.agent_env())
        keys = json.loads(s.icctl("--json", "keys").stdout)["keys"]
        t.equal([k["state"] for k in keys], ["waiting"], "icctl keys says so")
        m = s.model("platform.claude.com", key=None)
        r = m.request("GET", "/v1/oauth/hello", [], b"")
        t.equal(r.status, 200, "what precedes the login passes")
        r = m.request("GET", "/v1/oauth/hello",
                      [("Authorization", "Bearer sk-ant-x")], b"")
        t.ok(r.status == 403 and b"takes no key" in r.body,
             "with a key it does not", (r.status, r.body))
        m.close()
        r = claude_login(s, server)
        t.equal(r.status, 200, "a code is exchanged")
        got = json.loads(r.body)
        key = got["access_token"]
        t.ok(key.startswith("sk-ant-oat01-ironcurtain-") and
             got["refresh_token"] == key, "for sentinels", got)
        t.equal((got["expires_in"], got["scope"], got["token_type"]),
                (3600, "user:inference user:profile", "Bearer"),
                "lifetime and scope are the real ones")
        t.equal(got["account"]["email_address"], "real.person@example.com",
                "so is the account")
        asked = server.seen("login")[-1]
        t.equal((asked["kind"], asked["fields"]["client_id"]),
                ("application/json", CLAUDE), "the endpoint was asked")
        t.ok("user-agent" not in dict(asked["headers"]),
             "in keyd's own words", asked["headers"])
        r = send(s, key)
        t.equal(r.status, 200, "a model request with the sentinel")
        seen = server.seen()[-1]
        t.equal((seen["good"], seen["token"]), (True, server.issued()[0]),
                "goes with the real token")
        t.ok(("anthropic-beta", "oauth-2025-04-20") in
             [tuple(x) for x in seen["headers"]], "as a login's do")
        m = s.model(key=key)
        r = m.request("GET", "/api/oauth/profile",
                      [("Authorization", "Bearer " + key)], b"")
        t.equal(r.status, 200, "so does what follows a login")
        m.close()
        h.wait_for(lambda: [e for e in s.events("credential")
                            if e["detail"]["what"] == "captured"],
                   "no record")
        t.equal([(e["detail"]["provider"], e["detail"]["kind"],
                  e["detail"]["reason"]) for e in s.events("credential")],
                [("anthropic", "claude-code",
                  "POST platform.claude.com/v1/oauth/token")],
                "the audit log has it, and by which route")
        f = login_file(s, "anthropic-claude-code.json")["claudeAiOauth"]
        t.equal([f["accessToken"], f["refreshToken"]], server.issued(),
                "it is kept in the vendor's layout")
        path = os.path.join(s.home, "logins")
        t.equal([oct(stat.S_IMODE(os.stat(p).st_mode)) for p in (
            path, path + "/anthropic-claude-code.json")],
            ["0o700", "0o600"], "for the user alone")
        t.equal(os.listdir(path), ["anthropic-claude-code.json"],
                "and nothing beside it")
        out = s.icctl("keys").stdout
        t.ok("login of claude-code" in out and "loaded" in out and
             "anthropic-claude-code.json" in out, "icctl keys shows it", out)
        t.contains(s.session_log(), "icctl keys forget anthropic",
                   "the user is told")
        refused(s, server, key)
        refresh(s, server, key)
        t.equal(leaks(s, server), [], "no real token is in any file")
        if os.geteuid() == 0:
            t.equal(holders(s, server), [],
                    "nor in any process but keyd")
        audit = json.dumps(s.audit())
        t.ok(not any(x in audit for x in server.issued()),
             "nor in the audit log")


def refused(s, server, key):
    """Requests that are refused without asking anybody."""
    before = len(server.seen("login"))
    host, path = "platform.claude.com", "/v1/oauth/token"
    base = {"grant_type": "authorization_code", "code": "c",
            "client_id": CLAUDE, "code_verifier": "v"}
    for what, fields, want in (
            ("a member that is not listed", {**base, "client_secret": "s"},
             (400, "invalid_request")),
            ("another client", {**base, "client_id": "x"},
             (403, "unauthorized_client")),
            ("no code", {k: v for k, v in base.items() if k != "code"},
             (400, "invalid_request")),
            ("another grant", {**base, "grant_type": "password"},
             (400, "invalid_request")),
            ("a nested value", {**base, "code": {"a": 1}},
             (400, "invalid_request")),
            ("a member twice", '{"grant_type":"authorization_code","code":'
             '"a","code":"b","client_id":"' + CLAUDE + '"}',
             (400, "invalid_request")),
            ("no JSON", "grant_type=authorization_code",
             (400, "invalid_request")),
            ("a line break in a value", {**base, "code": "a\r\nb"},
             (400, "invalid_request")),
            ("a real refresh token", {
                "grant_type": "refresh_token", "client_id": CLAUDE,
                "refresh_token": "sk-ant-ort01-foreign-" + "x" * 40},
             (403, "invalid_grant"))):
        t.equal(error(post(s, host, path, fields)), want, what + ": refused")
    r = post(s, host, path, {**base, "code": "x" * 20000})
    t.equal(r.status, 413, "a body over 16 KiB: refused")
    r = post(s, host, path, base, headers=[("x-api-key", key)])
    t.equal(r.status, 403, "a key along with it: refused")
    r = post(s, host, "/v1/oauth/revoke", base)
    t.equal(r.status, 403, "another endpoint there: refused")
    r = post(s, "api.anthropic.com", "/api/oauth/claude_cli/create_api_key",
             {}, headers=[("Authorization", "Bearer " + key)])
    t.equal(r.status, 403, "so is the making of a real key")
    t.equal(len(server.seen("login")), before, "nobody was asked")
    t.ok([a for a in s.events("alarm") if "foreign-token" in json.dumps(a)],
         "the foreign token raised an alarm")


def refresh(s, server, key):
    """In the sandbox: keyd answers from its own renewal."""
    host, path = "platform.claude.com", "/v1/oauth/token"
    fields = {"grant_type": "refresh_token", "refresh_token": key,
              "client_id": CLAUDE, "scope": "user:inference"}
    before = len(server.seen("login"))
    r = post(s, host, path, fields)
    got = json.loads(r.body)
    t.ok(r.status == 200 and got["access_token"] == key and
         3000 < got["expires_in"] <= 3600, "a refresh with the sentinel",
         (r.status, r.body))
    t.equal(len(server.seen("login")), before, "while the token is good: "
            "nobody is asked")
    old = server.issued()
    server.order("expire")
    t.equal(send(s, key).status, 200, "401: renewed, sent again")
    t.ok(len(server.issued()) == len(old) + 2, "with a new token")
    h.wait_for(lambda: login_file(s, "anthropic-claude-code.json")
               ["claudeAiOauth"]["refreshToken"] == server.issued()[-1],
               "the kept file was not renewed")
    t.ok(json.loads(post(s, host, path, fields, form=True).body)
         ["refresh_token"] == key, "a refresh as a form")


def test_kept(work, server):
    config = {"credentials": {}}
    for name, config in (("b", {}), ("c", {"credentials": {
            "anthropic": {"login": "claude-code"}}})):
        with session(work, server, name=name, config=config) as s:
            key = s.agent_env()["ANTHROPIC_API_KEY"]
            t.equal(send(s, key).status, 200,
                    f"{name}: a later session uses the login")
            t.equal(server.seen()[-1]["token"], server.issued()[-2],
                    f"{name}: as it was renewed last")
            r = post(s, "platform.claude.com", "/v1/oauth/token", {})
            t.equal(r.status, 400 if name == "b" else 403,
                    f"{name}: a login may begin only where that was said")
    out = s.icctl("login", "anthropic").stdout
    t.ok("anthropic-claude-code.json" in out, "icctl login shows it", out)
    r = s.icctl("keys", "forget", "anthropic")
    t.ok(r.returncode == 0 and "removed" in r.stdout, "icctl keys forget",
         (r.stdout, r.stderr))
    t.equal(os.listdir(os.path.join(work, "home", "logins")), [],
            "removes it")
    r = s.icctl("keys", "forget", "anthropic")
    t.ok(r.returncode == 1 and "no login" in r.stderr, "once",
         (r.returncode, r.stderr))


def test_answers(work, server):
    """Answers of the endpoint that do not pass, and its errors, which do."""
    ok = {"token_type": "Bearer", "access_token": "sk-ant-oat01-hostile-" +
          "a" * 40, "refresh_token": "sk-ant-ort01-hostile-" + "b" * 40,
          "expires_in": 60}
    real = ok["access_token"].encode()
    with session(work, server, name="d") as s:
        r = send(s, "sk-ant-oat01-guess")
        t.ok(r.status == 403 and b"Log in with the agent's own login" in
             r.body and b"icctl login" in r.body,
             "before the login nothing passes: what to do", r.body)
        before = len(server.seen())
        m = s.model(key=None)
        r = m.request("POST", "/v1/messages",
                      [("Content-Type", "application/json")], BODY)
        m.close()
        t.ok(r.status == 403 and b"icctl login" in r.body and
             len(server.seen()) == before, "nor without any key", r.body)
        for what, text, coding in (
                ("no JSON", "access_token=" + ok["access_token"], ""),
                ("a member twice", json.dumps(ok)[:-1] +
                 ',"access_token":"x"}', ""),
                ("no token", json.dumps({"token_type": "Bearer"}), ""),
                ("another type", json.dumps({**ok, "token_type": "mac"}), ""),
                ("a token that is not known", json.dumps(
                    {**ok, "session_token": "s" * 40}), ""),
                ("an escaped token", json.dumps(ok).replace("hostile",
                                                            "\\u0068"), ""),
                ("a coding", json.dumps(ok), "gzip"),
                ("too large", json.dumps({**ok, "pad": "p" * 70000}), ""),
                ("a token in the account", json.dumps(
                    {**ok, "account": {"uuid": ok["access_token"]}}), "")):
            server.order("raw", text, status=200, coding=coding)
            r = claude_login(s, server)
            t.ok(r.status == 502 and real not in r.body,
                 f"an answer with {what}: 502", (r.status, r.body))
        for status, text, want in (
                (400, '{"error":"authorization_pending"}',
                 "authorization_pending"),
                (400, '{"error":"slow_down","interval":9}', "slow_down"),
                (400, '{"error":"invalid_grant","x":"' + ok["access_token"] +
                 '"}', "invalid_grant"),
                (401, '{"error":{"type":"authentication_error"}}',
                 "invalid_request"),
                (429, ok["access_token"], "invalid_request"),
                (503, "<html>", "server_error")):
            server.order("raw", text, status=status)
            r = claude_login(s, server)
            t.equal((*error(r), real in r.body), (status, want, False),
                    f"{status} {want} passes, composed anew")
        t.equal(os.path.exists(os.path.join(s.home, "logins",
                                            "anthropic-claude-code.json")),
                False, "nothing was kept")
        t.equal(claude_login(s, server).status, 200, "then a good one")
        replaced(s, server)
        h.wait_for(lambda: login_file(s, "anthropic-claude-code.json")
                   ["claudeAiOauth"]["accessToken"] == server.issued()[-2],
                   "not kept")
        t.equal(leaks(s, server), [], "no real token is in any file")
        # RFC 8628, on the token endpoint itself
        code = server.order("device")["code"]
        fields = {"grant_type": DEVICE, "device_code": code,
                  "client_id": CLAUDE}
        where = ("platform.claude.com", "/v1/oauth/token")
        t.equal(error(post(s, *where, fields, form=True)),
                (400, "authorization_pending"), "a device code: pending")
        server.order("approve")
        asker, answers, hold = asked(
            s, lambda: post(s, *where, fields, form=True))
        s.icctl("approve", hold["id"], check=True)
        asker.join(30)
        r = answers[0]
        t.ok(r.status == 200 and b"ironcurtain" in r.body,
             "approved: sentinels", (r.status, r.body))
        t.equal(error(post(s, *where, fields, form=True)),
                (400, "expired_token"), "once")


def asked(s, login):
    """A login that waits for its user: its thread, its answer, its pending
    call."""
    answers = []
    asker = threading.Thread(target=lambda: answers.append(login()),
                             daemon=True)
    asker.start()
    return asker, answers, s.held()


def replaced(s, server):
    """A login that would replace a working one: the user is asked, with the
    account's name; until then the old one stays."""
    path = "anthropic-claude-code.json"

    def again():
        return asked(s, lambda: claude_login(s, server))

    h.wait_for(lambda: os.path.exists(os.path.join(s.home, "logins", path)),
               "the first one is not kept")
    old = login_file(s, path)["claudeAiOauth"]["accessToken"]
    asker, answers, hold = again()
    t.equal((hold["server"], hold["tool"], hold.get("login")),
            ("anthropic", "login", True), "another login is held")
    t.equal(hold["resources"], [{
        "argument": "account", "role": "account",
        "value": "real.person@example.com"}], "with the account's name")
    t.contains(s.icctl("show", hold["id"]).stdout,
               "Replaces the login of anthropic that works by one of the "
               "account real.person@example.com", "icctl show says it")
    t.equal((login_file(s, path)["claudeAiOauth"]["accessToken"], answers),
            (old, []), "the kept one is the old one meanwhile")
    r = claude_login(s, server)
    t.equal(error(r), (403, "access_denied"), "a third one does not wait")
    s.icctl("deny", hold["id"], check=True)
    asker.join(30)
    t.equal(error(answers[0]), (403, "access_denied"), "denied: refused")
    t.equal(login_file(s, path)["claudeAiOauth"]["accessToken"], old,
            "and the old one stays")
    asker, answers, hold = again()
    s.icctl("approve", hold["id"], check=True)
    asker.join(30)
    t.equal(answers[0].status, 200, "and another instead, once approved")
    lines = [(e["event"], e.get("verdict")) for e in s.audit()
             if e["event"] in ("hold", "verdict")]
    t.equal(lines, [("hold", None), ("verdict", "deny"), ("hold", None),
                    ("verdict", "approve")], "the log has both")


def test_codex(work, server):
    host = "auth.openai.com"
    with session(work, server, "chatgpt", "codex", name="e") as s:
        r = post(s, host, "/api/accounts/deviceauth/usercode",
                 {"client_id": CODEX})
        dev = json.loads(r.body)
        t.ok(r.status == 200 and dev["user_code"] == "ABCD-1234",
             "codex: a user code", (r.status, r.body))
        poll = {"device_auth_id": dev["device_auth_id"],
                "user_code": dev["user_code"]}
        r = post(s, host, "/api/accounts/deviceauth/token", poll)
        t.equal(r.status, 403, "codex: pending")
        server.order("approve")
        r = post(s, host, "/api/accounts/deviceauth/token", poll)
        got = json.loads(r.body)
        r = post(s, host, "/oauth/token", {
            "grant_type": "authorization_code",
            "code": got["authorization_code"],
            "redirect_uri": "https://auth.openai.com/deviceauth/callback",
            "client_id": CODEX, "code_verifier": got["code_verifier"]},
            form=True)
        t.equal(r.status, 200, "codex: exchanged")
        got = json.loads(r.body)
        key = got["access_token"]
        t.ok(all(got[k].count(".") == 2 for k in
                 ("access_token", "id_token")), "codex: JWTs that are none",
             got)
        t.ok("real" not in json.dumps(got), "codex: nothing real in them",
             got)
        r = send(s, key, "chatgpt.com", "/backend-api/codex/responses")
        t.equal(r.status, 200, "codex: a model request with the sentinel")
        seen = server.seen()[-1]
        t.ok(seen["good"] and ["chatgpt-account-id", "acct-real-77777777"] in
             seen["headers"], "codex: goes with token and account", seen)
        h.wait_for(lambda: os.path.exists(os.path.join(
            s.home, "logins", "chatgpt-codex.json")), "not kept")
        f = login_file(s, "chatgpt-codex.json")
        t.equal(sorted(f["tokens"].values()),
                sorted([*server.issued(), "acct-real-77777777"]),
                "codex: kept whole")
        r = post(s, host, "/oauth/token", {
            "client_id": CODEX, "grant_type": "refresh_token",
            "refresh_token": got["refresh_token"]})
        t.ok(json.loads(r.body)["access_token"] == key,
             "codex: a refresh in the box", r.body)
        t.equal(leaks(s, server), [], "codex: no real token is in any file")
        if os.geteuid() == 0:
            t.equal(holders(s, server), [],
                    "codex: nor in any process but keyd")
    with session(work, server, "chatgpt", "codex", name="f") as s:
        key = s.agent_env()["CODEX_ACCESS_TOKEN"]
        r = send(s, key, "chatgpt.com", "/backend-api/codex/responses")
        t.ok(r.status == 200 and ["chatgpt-account-id", "acct-real-77777777"]
             in server.seen()[-1]["headers"],
             "codex: a later session has it", (r.status, r.body))


def main():
    with h.workdir() as work, t.case("code"):
        server = AuthServer(work)
        test_code(work, server)
        test_kept(work, server)
        test_answers(work, server)
        server.end()
    with h.workdir() as work, t.case("codex"):
        server = AuthServer(work, "--jwt")
        test_codex(work, server)
        server.end()
    t.done()


if __name__ == "__main__":
    main()
