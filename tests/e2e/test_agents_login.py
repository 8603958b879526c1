#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The real Claude Code and Codex with a login: they find one in the box that
looks like their own, the provider sees the real token, and that is nowhere but in keyd."""
import base64
import json
import os
import secrets
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
import harness as h  # noqa: E402
from test_agents import MODULES, files_have  # noqa: E402

t = h.Tap()
CLAUDE = os.path.join(MODULES, "@anthropic-ai/claude-code-linux-x64/claude")
CODEX = os.path.join(MODULES, "codex-linux-x64/vendor/"
                     "x86_64-unknown-linux-musl/bin/codex")


def write_login(s, folder, name, value):
    home = os.path.join(s.user_home, folder)
    os.makedirs(home, mode=0o700)
    fd = os.open(os.path.join(home, name), os.O_WRONLY | os.O_CREAT, 0o600)
    with os.fdopen(fd, "w") as f:
        json.dump(value, f)


def start(s, agent):
    r = subprocess.run(
        [h.program("icctl"), "start", "--agent", agent, "--workspace",
         s.workspace, "Say the word."], env=s.env, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=120, check=False)
    sessions = os.path.join(s.home, "sessions")
    s.dir = os.path.join(sessions, os.listdir(sessions)[0])
    return r


def run_claude():
    word = "word-" + secrets.token_hex(8)
    token = "sk-ant-oat01-real-" + secrets.token_hex(24)
    refresh = "sk-ant-ort01-real-" + secrets.token_hex(24)
    with h.workdir() as work:
        p = h.Provider(work, "--key", token, script=[{"text": "It is " + word}])
        s = h.Session(work, {}, provider=p, config={
            "agent": {"claude-code": {"path": CLAUDE}}, "credentials": {}},
            env={"PATH": os.environ.get("PATH", "/usr/bin:/bin"),
                 "ANTHROPIC_API_KEY": ""})
        write_login(s, ".claude", ".credentials.json", {"claudeAiOauth": {
            "accessToken": token, "refreshToken": refresh,
            "expiresAt": int(time.time() * 1000) + 7200000,
            "scopes": ["user:inference"], "subscriptionType": "max"}})
        r = start(s, "claude-code")
        t.ok(r.returncode == 0 and word in r.stdout,
             "claude-code: answers", (r.returncode, r.stdout[-600:],
                                      r.stderr[-600:],
                                      s.session_log()[-1500:]))
        seen = [e for e in p.seen() if e["target"].startswith("/v1/messages")]
        auth = [v for e in seen for n, v in e["headers"]
                if n.lower() == "authorization"]
        t.ok(seen and auth == ["Bearer " + token] * len(seen),
             "claude-code: the provider saw the real token", auth)
        beta = [v for e in seen for n, v in e["headers"]
                if n.lower() == "anthropic-beta"]
        t.ok(all("oauth-2025-04-20" in v for v in beta) and beta,
             "claude-code: with the header of a login", beta)
        made = [x for e in seen for n, x in e["headers"]
                if n.lower() == "x-api-key"]
        t.equal(made, [], "claude-code: and no key")
        env = s.agent_env()
        t.ok("ANTHROPIC_API_KEY" not in env,
             "claude-code: it was given no key either")
        box = files_have(s.dir, b"sk-ant-oat01-ironcurtain-")
        t.ok(any(x.endswith(".credentials.json") for x in box),
             "claude-code: it found a login of sentinels", box)
        for value in (token, refresh):
            t.equal(files_have(s.dir, value.encode()) +
                    files_have(s.workspace, value.encode()), [],
                    "claude-code: no real token in any file of the session")
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
        p = h.Provider(work, "--key", token, script=[{"text": "It is " + word}])
        s = h.Session(work, {}, provider=p, config={
            "agent": {"codex": {"path": CODEX}}, "credentials": {},
            "providers": {"chatgpt": {"upstream": p.url, "ca": p.ca}}},
            env={"PATH": os.environ.get("PATH", "/usr/bin:/bin"),
                 "ANTHROPIC_API_KEY": "", "OPENAI_API_KEY": ""})
        write_login(s, ".codex", "auth.json", {
            "OPENAI_API_KEY": None, "tokens": {
                "id_token": jwt(), "access_token": token,
                "refresh_token": refresh, "account_id": "acct-real-1"},
            "last_refresh": "2026-11-01T00:00:00Z"})
        r = start(s, "codex")
        t.ok(r.returncode == 0 and word in r.stdout, "codex: answers",
             (r.returncode, r.stdout[-600:], r.stderr[-1500:],
              s.session_log()[-1500:], [e["target"] for e in p.seen()]))
        seen = [e for e in p.seen()
                if e["target"].startswith("/backend-api/codex/responses")]
        auth = [v for e in seen for n, v in e["headers"]
                if n.lower() == "authorization"]
        t.ok(seen and auth == ["Bearer " + token] * len(seen),
             "codex: the provider saw the real token", auth)
        t.equal({v for e in seen for n, v in e["headers"]
                 if n.lower() == "chatgpt-account-id"}, {"acct-real-1"},
                "codex: and the real account")
        t.ok("OPENAI_API_KEY" not in s.agent_env(),
             "codex: it was given no key")
        for value in (token, refresh):
            t.equal(files_have(s.dir, value.encode()) +
                    files_have(s.workspace, value.encode()), [],
                    "codex: no real token in any file of the session")
        p.end()


def main():
    for name, path, run in (("claude-code", CLAUDE, run_claude),
                            ("codex", CODEX, run_codex)):
        if not os.path.exists(path):
            t.skip(name, "not installed (./dev test agents)")
            continue
        with t.case(name):
            run()
    t.done()


main()
