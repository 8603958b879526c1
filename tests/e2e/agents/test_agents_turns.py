#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Conversations with the real agents: three turns in one session, of which the
later ones remember the earlier ones.  The scripted provider shows what each
agent sends: the last request holds all three messages.  With "all", each of
them; otherwise Claude Code alone."""
import json
import os
import secrets
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import agents_helper as agents  # noqa: E402
import harness as h  # noqa: E402

t = h.Tap()
MORE = {"opencode": ("anthropic", "ANTHROPIC_API_KEY"),
        "gemini-cli": ("google", "GEMINI_API_KEY")}


def config(agent, path, provider):
    made = {"agent": {agent: {"path": path}}}
    if agent in MORE:
        name, env = MORE[agent]
        made["providers"] = {name: {"upstream": provider.url,
                                    "ca": provider.ca}}
        made["credentials"] = {name: {"env": env}}
    return made


def icctl(s, *args):
    return subprocess.run([h.program("icctl"), *args], env=s.env,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=120 * h.PATIENCE, check=False)


def check_turn(s, agent, number, word):
    r = icctl(s, "send", "--json", f"Remember the word {word}.")
    events = [json.loads(x) for x in r.stdout.splitlines()]
    names = [e["event"] for e in events]
    t.ok(r.returncode == 0 and "agent_text" in names,
         f"{agent}: turn {number} is answered",
         (r.returncode, r.stdout[-1500:], r.stderr[-500:],
          s.session_log()[-1500:]))
    t.equal([names.count(n) for n in ("usage", "result", "turn_end")],
            [1, 1, 1], f"{agent}: turn {number} ends as it must")


def run(agent, path):
    words = [f"word-{secrets.token_hex(6)}" for _ in range(3)]
    with h.workdir() as work:
        p = h.Provider(work, "--bodies", script=[{"text": "It is noted."}])
        s = h.Session(work, provider=p, config=config(agent, path, p),
                      env=agents.ENV)
        r = icctl(s, "start", "--detach", "--agent", agent, "--model",
                  agents.MODELS[agent], "--workspace", s.workspace)
        if not t.ok(r.returncode == 0, f"{agent}: starts", r.stderr):
            return
        s.dir = os.path.join(s.home, "sessions", r.stdout.strip())
        try:
            for i, word in enumerate(words):
                check_turn(s, agent, i + 1, word)
        finally:
            icctl(s, "stop")
        last = [e.get("body", "") for e in p.seen()
                if words[2] in e.get("body", "")]
        t.ok(any(words[0] in b and words[1] in b for b in last),
             f"{agent}: the third request has the first two messages",
             [b[-600:] for b in last] or [e["target"] for e in p.seen()])
        agents.check_model(t, agent, p, agents.MODELS[agent])
        p.end()


def main():
    for agent, path in agents.chosen(t):
        with t.case(agent):
            run(agent, path)
    t.done()


if __name__ == "__main__":
    main()
