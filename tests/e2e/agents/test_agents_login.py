#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Runs the real Claude Code and Codex with a login: in the sandbox they find
one that looks like their own, the provider receives the real token, and only
keyd has it."""
import base64
import json
import os
import secrets
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import agents_helper as agents  # noqa: E402
import harness as h  # noqa: E402
import traces  # noqa: E402

t = h.Tap()


def write_login(s, folder, name, value):
    home = os.path.join(s.user_home, folder)
    os.makedirs(home, mode=0o700)
    fd = os.open(os.path.join(home, name), os.O_WRONLY | os.O_CREAT, 0o600)
    with os.fdopen(fd, "w") as f:
        json.dump(value, f)


def run_claude():
    word = "word-" + secrets.token_hex(8)
    token = "sk-ant-oat01-real-" + secrets.token_hex(24)
    refresh = "sk-ant-ort01-real-" + secrets.token_hex(24)
    with h.workdir() as work:
        p = h.Provider(work, "--key", token,
                       script=[{"text": "It is " + word}])
        s = h.Session(work, {}, provider=p, config={
            "agent": {"claude-code": {"path": agents.CLAUDE}},
            "credentials": {}}, env={**agents.ENV, "ANTHROPIC_API_KEY": ""})
        write_login(s, ".claude", ".credentials.json", {"claudeAiOauth": {
            "accessToken": token, "refreshToken": refresh,
            "expiresAt": int(time.time() * 1000) + 7200000,
            "scopes": ["user:inference"], "subscriptionType": "max"}})
        agents.check_answer(t, s, "claude-code", p, word)
        seen = [e for e in p.seen() if e["target"].startswith("/v1/messages")]
        auth = agents.headers(seen, "authorization")
        t.ok(seen and auth == ["Bearer " + token] * len(seen),
             "claude-code: the provider saw the real token", auth)
        beta = agents.headers(seen, "anthropic-beta")
        t.ok(all("oauth-2025-04-20" in v for v in beta) and beta,
             "claude-code: with the header of a login", beta)
        t.equal(agents.headers(seen, "x-api-key"), [],
                "claude-code: and no key")
        env = s.agent_env()
        t.ok("ANTHROPIC_API_KEY" not in env,
             "claude-code: it was given no key either")
        box = traces.files_have(s.dir, b"sk-ant-oat01-ironcurtain-")
        t.ok(any(x.endswith(".credentials.json") for x in box),
             "claude-code: it found a login of sentinels", box)
        agents.check_files(t, s, "claude-code", (token, refresh))
        p.end()


def jwt():
    def b(data):
        return base64.urlsafe_b64encode(data).decode().rstrip("=")
    claims = {"exp": int(time.time()) + 864000, "https://api.openai.com/auth":
              {"chatgpt_account_id": "acct-real-1"}, "pad": "x" * 900}
    return ".".join((b(b'{"alg":"RS256"}'), b(json.dumps(claims).encode()),
                     b(secrets.token_bytes(256))))


def run_codex():
    word = "word-" + secrets.token_hex(8)
    token, refresh = jwt(), "rt-real-" + secrets.token_hex(24)
    with h.workdir() as work:
        p = h.Provider(work, "--key", token,
                       script=[{"text": "It is " + word}])
        s = h.Session(work, {}, provider=p, config={
            "agent": {"codex": {"path": agents.CODEX}}, "credentials": {},
            "providers": {"chatgpt": {"upstream": p.url, "ca": p.ca}}},
            env={**agents.ENV, "ANTHROPIC_API_KEY": "", "OPENAI_API_KEY": ""})
        write_login(s, ".codex", "auth.json", {
            "OPENAI_API_KEY": None, "tokens": {
                "id_token": jwt(), "access_token": token,
                "refresh_token": refresh, "account_id": "acct-real-1"},
            "last_refresh": "2026-11-01T00:00:00Z"})
        agents.check_answer(t, s, "codex", p, word)
        seen = [e for e in p.seen()
                if e["target"].startswith("/backend-api/codex/responses")]
        auth = agents.headers(seen, "authorization")
        t.ok(seen and auth == ["Bearer " + token] * len(seen),
             "codex: the provider saw the real token", auth)
        t.equal(set(agents.headers(seen, "chatgpt-account-id")),
                {"acct-real-1"}, "codex: and the real account")
        t.ok("OPENAI_API_KEY" not in s.agent_env(),
             "codex: it was given no key")
        agents.check_files(t, s, "codex", (token, refresh))
        p.end()


def main():
    for name, path, run in (("claude-code", agents.CLAUDE, run_claude),
                            ("codex", agents.CODEX, run_codex)):
        if agents.installed(t, name, path):
            with t.case(name):
                run()
    t.done()


main()
