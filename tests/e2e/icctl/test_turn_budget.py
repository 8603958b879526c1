#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Limits of one turn: the turn that reaches one ends cleanly, and the next one
begins with a full budget."""
import os
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from test_conversation import (CALL_AGENT, CALLER, Talk, adapted,  # noqa: E402
                               ends_properly, shell, texts)
from test_turn_trouble import ADAPTER, AGENT, replies  # noqa: E402

t = h.Tap()


def spent(events, name, status, key):
    result = [e for e in events if e["event"] == "result"][0]
    names = [e["event"] for e in events]
    t.ok(status == 1 and ends_properly(events) and
         result.get("code") == "BUDGET_EXHAUSTED" and
         key in result["why"] and "the turn ends" in result["why"] and
         "trouble" not in result and
         events[-1]["status"] == "failed" and "budget_exhausted" in names,
         name, events[-6:])


def used(events, key):
    """Returns how much of a limit the turn's usage event says is used up."""
    usage = [e for e in events if e["event"] == "usage"][0]
    return usage["budget"]["limits"][key]["used"]


def limits(**keys):
    return {"resourceBudget": {**h.NO_BUDGET, **keys}}


def test_steps(work):
    with adapted(work, CALLER, CALL_AGENT + "import time\ntime.sleep(1000)\n",
                 servers={"echo": h.echo_server(os.path.join(work, "log",
                                                             "echo"))},
                 rules=[h.rule("echo", "allow", server=["echo"])],
                 annotations={"echo": h.ECHO_TOOLS},
                 config=limits(maxTurnSteps=3)) as k:
        for turn in ("one", "two"):
            status, events = k.send("echo__echo echo__echo echo__echo")
            spent(events, f"turn {turn} has three steps", status,
                  "maxTurnSteps")
            done = [e for e in events if e["event"] == "tool_call"
                    and e["decision"] == "allow"]
            t.equal(len(done), 3, "which are made")
        t.equal(k.s.pending(), [], "no question outlives its turn")
        r = k.icctl("budget")
        t.ok("maxTurnSteps" in r.stdout and "maxTurnTokens" not in r.stdout,
             "icctl budget shows it", r.stdout)


def test_seconds(work):
    s = h.Session(work, config=limits(maxTurnSeconds=1))
    with Talk(work, *shell(work), session=s) as k:
        status, events = k.send("wait")
        spent(events, "a turn's time", status, "maxTurnSeconds")
        t.ok("waiting" in texts(events), "it had begun", events)
        t.ok(used(events, "maxTurnSeconds") >= 1,
             "its usage says how long it took",
             used(events, "maxTurnSeconds"))
        held = [e for e in events if e["event"] == "escalation_end"]
        t.ok(held and all(e.get("turn") == 1 for e in held),
             "the question about the limit ends in its turn", held)
        status, events = k.send("deaf")
        spent(events, "one that ignores the signal is killed", status,
              "maxTurnSeconds")
        status, events = k.send("hello")
        t.ok(status == 0 and "told: hello" in texts(events),
             "the conversation goes on", events)


def test_tokens(work):
    path = h.put(os.path.join(work, "bin", "poll"), AGENT, 0o755)
    p = h.Provider(work, "--replies", replies(work))
    s = h.Session(work, provider=p, config=limits(maxTurnTokens=4))
    s.write("agents/poll.json", ADAPTER)
    s.write("config.json", {**s.config, "agent": {"poll": {"path": path}}})
    with Talk(work, "--agent", "poll", session=s) as k:
        status, events = k.send("ask 0")
        t.equal(status, 0, "two tokens of four")
        t.equal(used(events, "maxTurnTokens"), 2,
                "which its usage says")
        status, events = k.send("ask 0")
        t.equal(status, 0, "and again")
        status, events = k.send("ask " + "0 " * 200)
        spent(events, "a turn that takes more", status, "maxTurnTokens")
        status, events = k.send("ask 0")
        t.equal(status, 0, "the next one has its own")
    p.end()


def main():
    if not shutil.which("bwrap"):
        t.skip("budgets of turns", "bubblewrap is not installed")
        t.done()
    for test in (test_steps, test_seconds, test_tokens):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


if __name__ == "__main__":
    main()
