#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The real Claude Code with a login: it finds one in its box that looks like
its own, the provider sees the real token, and that is nowhere but in keyd."""
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
        home = os.path.join(s.user_home, ".claude")
        os.makedirs(home, mode=0o700)
        fd = os.open(home + "/.credentials.json",
                     os.O_WRONLY | os.O_CREAT, 0o600)
        with os.fdopen(fd, "w") as f:
            json.dump({"claudeAiOauth": {
                "accessToken": token, "refreshToken": refresh,
                "expiresAt": int(time.time() * 1000) + 7200000,
                "scopes": ["user:inference"],
                "subscriptionType": "max"}}, f)
        r = subprocess.run(
            [h.program("icctl"), "start", "--agent", "claude-code",
             "--workspace", s.workspace, "Say the word."], env=s.env,
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=120, check=False)
        sessions = os.path.join(s.home, "sessions")
        s.dir = os.path.join(sessions, os.listdir(sessions)[0])
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


def main():
    if not os.path.exists(CLAUDE):
        t.skip("claude-code", "not installed (./dev test agents)")
    else:
        with t.case("claude-code"):
            run_claude()
    t.done()


main()
