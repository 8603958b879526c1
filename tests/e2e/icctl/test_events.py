#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The events of 50 turns, good and ugly ones, against the manual's schema: an
agent that dies, says nothing, prints what cannot be read or too much, a
provider that is gone, a budget that is used up, a session that is killed in a
turn. Every turn ends with one usage, one result and one turn_end."""
import concurrent.futures
import json
import os
import shutil
import signal
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from fits import events_schema, fits  # noqa: E402
from test_conversation import (ADAPTER, JSON_AGENT, CALL_AGENT,  # noqa: E402
                               CALLER, Talk, adapted, shell)
import test_turn_trouble as trouble  # noqa: E402

class Tap(h.Tap):
    """May be used by several threads."""
    lock = threading.RLock()

    def ok(self, *args, **kw):
        with self.lock:
            return super().ok(*args, **kw)


t = Tap()
SCHEMA = events_schema(h.PREFIX)
ENDS = ["usage", "result", "turn_end"]
turns = 0
NOISY = r"""#!/bin/sh
m=$(cat)
echo "heard $m"
(trap '' INT TERM; while :; do echo noise; done) &
"""


def check(k, name, want):
    """Check all that the session has kept: `want` turns, each with its ends."""
    global turns
    events = k.kept()
    bad = [(fits(SCHEMA, e), e) for e in events if fits(SCHEMA, e)]
    t.ok(not bad, f"{name}: each event is as the schema says", bad[:3])
    seen = {}
    for e in events:
        if e["event"] in ("turn_start", *ENDS):
            seen.setdefault(e["turn"], []).append(e["event"])
    odd = {n: x for n, x in seen.items() if x != ["turn_start", *ENDS]}
    t.ok(not odd and len(seen) == want, f"{name}: {want} turns end properly",
         (len(seen), odd))
    with t.lock:
        turns += len(seen)


def test_shell(work):
    with Talk(work, *shell(work)) as k:
        for m in ["hello", "die", "silent", "colour", "leave"] * 4:
            k.send(m)
        k.send("many")
        p = k.popen("send", "--json", "wait")
        while "waiting" not in p.stdout.readline():
            pass
        k.icctl("interrupt")
        p.communicate()
        p = k.popen("send", "--json", "wait")
        while "waiting" not in p.stdout.readline():
            pass
        os.kill(k.told["pid"], signal.SIGKILL)
        p.communicate()
        h.wait_for(lambda: not os.path.exists(f"/proc/{k.told['pid']}/ns"),
                   "it lives")
        r = k.icctl("resume", "--json", "--after-crash", k.told["session"],
                    "--", "/workspace/agent.sh")
        k.told = json.loads(r.stdout)
        k.send("again")
        check(k, "a command", 24)


def test_parser(work):
    with adapted(work, ADAPTER, JSON_AGENT) as k:
        for m in range(8):
            k.send(f"message {m}")
        check(k, "an agent whose output cannot be read", 8)


def test_budget(work):
    with adapted(work, CALLER, CALL_AGENT,
                 servers={"echo": h.echo_server(os.path.join(work, "log",
                                                             "echo"))},
                 rules=[h.rule("echo", "allow", server=["echo"])],
                 annotations={"echo": h.ECHO_TOOLS},
                 config={"resourceBudget": {**h.NO_BUDGET, "maxTurnSteps": 2,
                                            "maxSteps": 12}}) as k:
        for _ in range(6):
            k.send("echo__echo echo__echo echo__echo")
        t.equal(k.icctl("send", "more").returncode, 1, "the budget is out")
        names = {e["event"] for e in k.kept()}
        t.ok({"tool_call", "tool_result", "budget_exhausted"} <= names,
             "calls and limits are among the events", names)
        check(k, "a budget", 6)


def test_provider(work):
    path = h.put(os.path.join(work, "bin", "poll"), trouble.AGENT, 0o755)
    p = h.Provider(work, "--replies", trouble.replies(work))
    s = h.Session(work, provider=p)
    s.write("agents/poll.json", trouble.ADAPTER)
    s.write("config.json", {**s.config, "agent": {"poll": {"path": path}}})
    with Talk(work, "--agent", "poll", session=s) as k:
        for m in ["ask 0", "ask 1", "ask 3", "ask 4", "say limit reached",
                  "say far too long", "go"]:
            k.send(m)
        p.end()
        for _ in range(2):
            _, events = k.send("ask 0")
            t.equal(events[-1]["status"], "failed", "the provider is gone")
        check(k, "a provider", 9)


def test_background(work):
    """An agent that goes on after its turn, and never stops writing."""
    adapter = {"name": "noisy", "program": ["noisy"], "providers": [],
               "turn": [], "background": True}
    with adapted(work, adapter, NOISY) as k:
        for m in ("one", "two", "three", "four"):
            _, events = k.send(m)
        t.ok(any("heard four" in e.get("text", "") for e in events),
             "each turn is heard", events[-4:])
        check(k, "processes in the background", 4)


def alone(test):
    """The sessions are independent of each other, and run at once."""
    with h.workdir() as work, t.case(test.__name__):
        test(work)


def main():
    if not shutil.which("bwrap"):
        t.skip("events", "bubblewrap is not installed")
        t.done()
    tests = (test_shell, test_parser, test_budget, test_provider,
             test_background)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        list(pool.map(alone, tests))
    t.ok(turns >= 50, f"{turns} turns were looked at")
    bad = {"event": "turn_end", "ts": "2026-11-23T01:02:03.456Z",
           "session": "s", "turn": 1, "status": "done"}
    t.ok(fits(SCHEMA, bad) and fits(SCHEMA, {**bad, "event": "none"}),
         "the schema refuses what is not there")
    t.done()


if __name__ == "__main__":
    main()
