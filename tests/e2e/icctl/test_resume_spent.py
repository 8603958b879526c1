#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""An agent that brings its session down on purpose gets nothing back: over ten
deaths of each kind, calls, tokens, cost and time only grow, a limit that is
reached stays reached, and a provider that is locked stays locked."""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import traces  # noqa: E402
from lives import ADAPTER, Life  # noqa: E402

t = h.Tap()
ROUNDS = 10
KEYS = ("maxSteps", "maxTotalTokens", "maxEstimatedCostUsd",
        "maxSessionSeconds")
LIMITS = {"maxSteps": 200, "maxTotalTokens": 1000000,
          "maxEstimatedCostUsd": 100, "maxSessionSeconds": 3600}


class Spender(Life):
    def __init__(self, work, p, **limits):
        self.m = None
        self.served = os.path.join(work, "log", "log.jsonl")
        super().__init__(
            work, provider=p, adapter={**ADAPTER, "providers": ["anthropic"]},
            servers={"echo": h.echo_server(self.served)},
            rules=[h.rule("echo", "allow", tool=["echo", "slow"])],
            annotations={"echo": h.ECHO_TOOLS},
            config={"resourceBudget": {**LIMITS, **limits}})
        self.connect()

    def connect(self):
        self.s.dir = self.dir
        self.s.ready = {"sockets": {
            "mcp": self.path("sockets/proxy.sock"),
            "mitm": self.path("sockets/mitm-proxy.sock")}}
        self.m = self.s.client()

    def ask(self):
        """A request to the model. Returns its status."""
        return self.s.model(key=self.s.agent_env()["ANTHROPIC_API_KEY"]
                            ).message("hello").status

    def used(self):
        return [self.budget(k) for k in KEYS]

    def die(self, how):
        self.m.close()
        if how == "a worker":
            h.kill(self.worker("mcp-proxyd"))
            self.gone()
        elif how == "all of it":
            pids = [self.pid] + traces.children(self.pid)
            for pid in pids:
                h.kill(pid)
            for pid in pids:
                h.wait_for(lambda pid=pid: not h.alive(pid), "its end")
        else:
            super().kill()
        self.pid = 0

    def worker(self, name):
        for pid in traces.children(self.pid):
            with open(f"/proc/{pid}/comm", encoding="ascii") as f:
                if f.read().strip() == name:
                    return pid
        raise RuntimeError(name)

    def again(self):
        r = self.resume("--after-crash")
        if r.returncode != 0:
            raise RuntimeError(r.stderr)
        self.connect()

    def stop(self):
        if self.m:
            self.m.close()
        super().stop()


def rounds(k, how):
    before = k.used()
    for i in range(ROUNDS):
        t.ok(not k.m.call("echo__echo", {"text": str(i)}).get("isError"),
             f"{how}, round {i}: a call")
        t.equal(k.ask(), 200, "and a request")
        h.wait_for(lambda b=before: all(x > y for x, y in zip(k.used(), b)),
                   "all of it is counted")
        spent = k.used()
        if how == "during a call":
            k.m.start_call("echo__slow", {"ms": 60000})
            # A call that is not in the log yet has not been made.
            h.wait_for(lambda n=i: sum(
                e["event"] == "call" and e["toolName"] == "slow"
                for e in k.records()) > n, "it is recorded")
            h.wait_for(lambda s=spent: k.used()[0] > s[0], "it is counted")
            spent = k.used()
        k.die(how)
        k.again()
        before = k.used()
        t.ok(all(x >= y for x, y in zip(before[:3], spent)),
             "nothing is given back", (before, spent))
        # Time that was not yet written down when all died is a moment at most.
        t.ok(before[3] >= spent[3] - (2 if how == "all of it" else 0),
             "nor time", (before, spent))
    r = k.icctl("--session", k.id, "audit", "verify")
    t.equal(r.returncode, 0, "the chain of its lives is whole")


def test_deaths(p):
    for how in ("between turns", "during a call", "a worker", "all of it"):
        with h.workdir() as work, t.case(how), Spender(work, p) as k:
            rounds(k, how)


def test_exact(p):
    """Requests that are no steps are none after a death either."""
    with h.workdir() as work, t.case("exact"), Spender(work, p) as k:
        model = k.s.model(key=k.s.agent_env()["ANTHROPIC_API_KEY"])
        for _ in range(5):
            t.equal(model.request("GET", "/api/claude_code/settings",
                                  model.key_headers("anthropic")).status, 404,
                    "a request of Claude Code's to its provider")
        t.equal(k.ask(), 200, "and one to a model")
        sent = [e["route"] for e in k.records()
                if e["event"] == "modelRequest"]
        steps = [e for e in k.records() if e["event"] == "state"][0][
            "detail"]["turnRoutes"][0]
        t.equal([n in steps for n in sent], [False] * 5 + [True],
                f"the log tells them apart: {sent}, {steps}")
        # At once: the state that has it is a second late.
        k.die("all of it")
        k.again()
        t.equal(k.used()[0], 1, "one step")
        k.m.close()


def test_burst(p):
    """However fast an agent calls, each call of a run that was killed counts,
    and counts once."""
    with h.workdir() as work, t.case("burst"), \
            Spender(work, p, maxSteps=1000000) as k:
        for life in range(2):
            # So many that states are written amid them.
            seen = 0
            while seen < 2 + life:
                for i in range(50):
                    k.m.call("echo__echo", {"text": str(i)})
                seen = sum(e["event"] == "state" and "grants" not in e["detail"]
                           for e in k.records()) // 2
            k.die("all of it")
            # The same call again and again is refused, and only counted.
            calls = sum(e.get("count", 1) for e in k.records()
                        if e["event"] in ("call", "refusedCalls"))
            k.again()
            t.equal(k.used()[0], calls, f"life {life}: all {calls} calls")
        k.m.close()


def test_reached(p):
    """A limit that is reached is reached after a death, too."""
    with h.workdir() as work, t.case("reached"), \
            Spender(work, p, maxSteps=3) as k:
        for _ in range(3):
            k.m.call("echo__echo", {"text": "x"})
        for _ in range(3):
            r = k.m.call("echo__echo", {"text": "too many"})
            t.ok(r.get("isError") and "maxSteps" in h.text_of(r),
                 "a call beyond it is refused", r)
            k.die("between turns")
            r = k.resume("--after-crash")
            if r.returncode != 0:
                t.ok("maxSteps" in r.stderr, "or nothing begins", r.stderr)
                break
            k.connect()
        # Results of the last few milliseconds before a SIGKILL may be missing
        # from the log; a call is always in it before it is made.
        calls = [e for e in k.records() if e["event"] == "call"
                 and e["policyDecision"]["status"] == "allow"]
        t.equal(len(calls), 3, "three calls were allowed")
        served = [json.loads(e["text"]) for e in h.read_lines(k.served)
                  if e["ev"] == "line"]
        t.equal(sum(e.get("method") == "tools/call" for e in served), 3,
                "the server was called three times")


def main():
    with h.workdir() as work:
        p = h.Provider(work)
        try:
            test_deaths(p)
            test_exact(p)
            test_burst(p)
            test_reached(p)
        finally:
            p.end()
    t.done()


if __name__ == "__main__":
    main()
