#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Conversations with real agents in containers of one real engine, which
IC_RUNTIME names: three turns that remember the earlier ones, a call that is
approved, the death of the supervisor between turns and during one, and what is
there after each resume.  The arguments name the agents; without any, all.
runtimes.py starts the engine and this."""
import os
import secrets
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
import agent_life as life  # noqa: E402
import agents_helper as agents  # noqa: E402
import harness as h  # noqa: E402
from test_agents import CLIENT, ENV, NAME, build, t  # noqa: E402


def session(work, agent, p, papers):
    return h.Session(
        work, {"documents": {
            "command": h.program("icfs"), "args": [papers], "workspace": False,
            "sandbox": {"filesystem": {"allowRead": [papers]}}}},
        life.RULES, {"documents": life.FILES}, provider=p, env=ENV,
        config=life.config(agent, p, resourceBudget={
            **h.NO_BUDGET, "maxTotalTokens": 10000000, "maxSteps": 1000}))


def containers(s):
    """Returns the ids of the session's containers."""
    r = subprocess.run(
        [CLIENT, "ps", "--all", "--no-trunc", "--quiet", "--filter",
         "label=ironcurtain.session=" + os.path.basename(s.dir)],
        env={**s.env, **ENV}, capture_output=True, text=True, check=True,
        cwd="/")
    return set(r.stdout.split())


def killed(k, earlier):
    """A killed supervisor leaves no container behind."""
    h.wait_for(lambda: not earlier & containers(k.s),
               "the container is still there", 30)
    t.ok(True, f"{k.agent}: no container is left after kill -9")


def check_spent(k, before):
    after = k.used()
    t.ok(before["maxTotalTokens"] and
         all(after[n] >= v for n, v in before.items() if "Turn" not in n),
         f"{k.agent}: nothing that was spent is given back", (before, after))


def lives(k, note, word):
    k.ended(k.sending(f"first: remember {note}."), "noted", "a turn")
    turn = k.sending("second: read the paper.")
    k.s.icctl("approve", k.held()["id"], check=True)
    k.ended(turn, word, "what was approved is in its answer")
    before, earlier = k.used(), containers(k.s)
    t.equal(len(earlier), 1, f"{k.agent}: in one container")
    k.kill()
    killed(k, earlier)
    k.resume()
    check_spent(k, before)
    k.ended(k.sending("third: do you know it?"), "yes",
            "killed between turns, it goes on")
    before, earlier = k.used(), containers(k.s)
    k.cut(4, "fourth: read it again.")
    killed(k, earlier)
    check_spent(k, before)
    k.ended(k.sending("fifth: what was it?"), "over",
            "killed during a turn, it goes on")
    for name in ("third:", "fifth:"):
        bodies = [e["body"] for e in k.s.provider.seen() if name in e["body"]]
        t.ok(any(note in b and word in b for b in bodies),
             f"{k.agent}: and in its turn {name[:-1]} it remembers",
             [b[-800:] for b in bodies])


def run(work, agent):
    word, note = (f"{x}-{secrets.token_hex(6)}" for x in ("paper", "note"))
    paper = h.put(os.path.join(work, "papers", "a.txt"), word)
    read = {"tool": "documents__read_text_file$", "args": {"path": paper}}
    p = h.Provider(work, "--bodies", script={
        "first": [{"text": "It is noted."}],
        "second": [read, {"text": "FINAL: $RESULT"}],
        "third": [{"text": "It is: yes."}],
        "fourth": [read, {"text": "FINAL: $RESULT"}],
        "fifth": [{"text": "It is over."}]})
    s = session(work, agent, p, os.path.dirname(paper))
    r = build(s, agent)
    if r.returncode != 0:
        raise RuntimeError(r.stderr)
    k = life.Life(t, s, agent, "--runtime", NAME, "--model",
                  agents.MODELS[agent])
    try:
        lives(k, note, word)
        results = [c.get("escalationResult") for c in s.audit()
                   if c["event"] == "call"]
        t.equal(results[:1], ["approved"], f"{agent}: the log has the answer")
    finally:
        k.end()
        p.end()
    t.equal(containers(s), set(), f"{agent}: no container is left")
    k.check_log("three")


def main():
    for agent in sys.argv[1:] or list(agents.MODELS):
        with h.workdir() as work, t.case(agent):
            run(work, agent)
    t.done()


if __name__ == "__main__":
    main()
