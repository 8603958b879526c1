#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The events of 16 turns with each real agent, against the manual's schema:
good ones, tools that are denied, fail or wait, and ugly ones: a provider that
is overloaded, breaks off, refuses or is gone, whose quota is used up, that fails
again and again, or stops in the middle of a stream; an agent that is killed or
interrupted, a limit that is used up. Every turn ends with one usage, one result
and one turn_end. With "all", each agent; otherwise Claude Code alone."""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import agent_life as life  # noqa: E402
import agents_helper as agents  # noqa: E402
import harness as h  # noqa: E402
from fits import events_schema, fits  # noqa: E402

t = h.Tap()
ENDS = ["usage", "result", "turn_end"]
SCHEMA = events_schema(h.PREFIX)
TOOLS = {"read_text_file": life.FILES["read_text_file"],
         "list_directory": {"path": ["read-path"]},
         "get_file_info": {"path": ["read-path"]}}
RULES = [h.rule("list", "deny", "Nobody lists papers.", server=["documents"],
                tool=["list_directory"]),
         h.rule("ask", "escalate", "Papers are private.",
                server=["documents"], tool=["get_file_info"]),
         h.rule("read", "allow", server=["documents"],
                tool=["read_text_file"])]


def script(papers):
    def call(tool, name):
        return {"tool": f"documents__{tool}$",
                "args": {"path": os.path.join(papers, name)}}
    read, final = call("read_text_file", "a.txt"), {"text": "FINAL: $RESULT"}
    held = [call("get_file_info", "a.txt"), final]
    turns_of = {
        "plain": [{"text": "It is noted."}],
        "reads": [read, read, final],
        "denied": [call("list_directory", ""), final],
        "missing": [call("read_text_file", "none"), final],
        "busy": [{"status": 529, "times": 1, "type": "overloaded_error",
                  "text": "It is noted."}],
        "breaks": [{"text": "It is noted.", "broken": 1}],
        "quota": [{"status": 429, "times": 9999, "type": "rate_limit_error",
                   "headers": {"Retry-After": "7200"}, "text": "no"}],
        "fails": [{"status": 500, "times": 9999, "text": "no"}],
        "stalls": [{"text": "It is never said.", "stalls": True}],
        "length": [{"text": "It is cut", "stop": "length"}],
        "refused": [{"text": "No.", "stop": "refused"}],
        # Gemini CLI ends a turn whose calls are all the same.
        "endless": [{**read, "args": {**read["args"], "head": n}}
                    for n in range(1, 61)],
        "answered": held, "killed": held, "interrupted": held}
    # No answer of a tool has such a word.
    return {"turn-" + name: steps for name, steps in turns_of.items()}


def inside(k, path):
    """Returns the processes of the agent's program. Some write over their
    arguments, so that only their interpreter tells."""
    found = []
    name = os.path.basename(path).encode()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                words = f.read().split(b"\0")
            program = os.path.basename(os.readlink(f"/proc/{pid}/exe"))
        except OSError:
            continue
        if descends(int(pid), k.pid) and program != "bwrap" and (
                program == "node" or name in map(os.path.basename, words)):
            found.append(int(pid))
    return found


def descends(pid, top):
    while pid > 1:
        if pid == top:
            return True
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii",
                      errors="replace") as f:
                pid = int(f.read().rsplit(")", 1)[1].split()[1])
        except OSError:
            return False
    return False


def turn(k, name, during=None, when=None):
    """Sends a message, and checks each event that is printed. `during` is called
    when a call waits, or `when` holds, unless the turn has ended by then."""
    p = k.sending(f"turn-{name}: go on.")
    if during and when:
        h.wait_for(lambda: p.poll() is not None or when(), name, 60)
        during()
    elif during:
        k.held()
        during()
    out, err = p.communicate(timeout=60 * h.PATIENCE)
    events = [json.loads(x) for x in out.splitlines()]
    bad = [(fits(SCHEMA, e), e) for e in events if fits(SCHEMA, e)]
    t.ok(events and not bad, f"{k.agent}: {name}: as the schema says",
         bad[:3] or err[-500:])
    return [e["event"] for e in events], events


def status(events):
    return [e["status"] for e in events if e["event"] == "turn_end"]


def interrupted(k, p):
    """Turns of which their agents would make hours: they are interrupted."""
    def interrupt():
        k.icctl("interrupt", "--session", k.id)

    def told(name):
        of = [e["turn"] for e in k.kept() if e["event"] == "turn_start" and
              e["message"].startswith(f"turn-{name}:")]
        return [e for e in k.kept() if e.get("turn") in of and
                "by itself" in e.get("text", "")]
    _, events = turn(k, "quota", interrupt, lambda: told("quota"))
    ended, = [e for e in events if e["event"] == "result"]
    until = [e["until"] for e in events if e.get("kind") == "quota"]
    now = json.loads(k.icctl("status", "--json", "--session", k.id).stdout)
    t.equal((ended.get("trouble"), [now.get("quotaUntil")], now["state"],
             len(until)), ("quota", until, "quota", 1),
            f"{k.agent}: a used-up quota, with its time")
    # Some try for a while, others for ever.
    _, events = turn(k, "fails", interrupt, lambda: told("fails"))
    t.ok(status(events)[0] in ("interrupted", "failed") and
         any("FAILING (500)" in e.get("text", "") for e in events),
         f"{k.agent}: a provider that fails again and again", events[-6:])
    before = len(h.read_lines(p.log_path))
    _, events = turn(k, "stalls", interrupt, lambda: [
        e for e in h.read_lines(p.log_path)[before:] if e["ev"] == "stalled"])
    t.equal(status(events), ["interrupted"],
            f"{k.agent}: interrupted in the middle of a stream")


def turns(k, p, path):
    for name in ("plain", "reads", "denied", "missing", "busy", "breaks",
                 "length", "refused"):
        names, events = turn(k, name)
        if name in ("plain", "reads", "denied", "missing"):
            t.ok(status(events) == ["completed"],
                 f"{k.agent}: {name}: done", events)
        if name == "denied":
            t.ok("denied" in [e.get("decision") for e in events] or
                 "deny" in [e.get("decision") for e in events],
                 f"{k.agent}: the denied call is told", events)
    _, events = turn(k, "endless")
    t.ok("budget_exhausted" in [e["event"] for e in events],
         f"{k.agent}: a limit is used up", events[-6:])
    names, _ = turn(k, "answered", lambda: k.s.icctl(
        "approve", k.held()["id"], check=True))
    t.ok({"escalation", "escalation_end"} <= set(names),
         f"{k.agent}: a call that waits is told", names)

    def kill():
        pids = inside(k, path)
        t.ok(pids, f"{k.agent}: its processes are found")
        for pid in pids:
            try:
                h.kill(pid)
            except ProcessLookupError:
                pass
    _, events = turn(k, "killed", kill)
    t.equal(status(events), ["failed"], f"{k.agent}: killed in a turn")
    _, events = turn(k, "interrupted", lambda: k.icctl(
        "interrupt", "--session", k.id))
    t.equal(status(events), ["interrupted"], f"{k.agent}: interrupted")
    interrupted(k, p)
    p.end()
    _, events = turn(k, "plain")
    t.ok(status(events) != ["completed"],
         f"{k.agent}: without a provider it fails", events[-4:])


def run(work, agent, path):
    papers = os.path.join(work, "papers")
    h.put(os.path.join(papers, "a.txt"), "the paper\n")
    p = h.Provider(work, "--bodies", script=script(papers))
    s = h.Session(
        work, {"documents": {
            "command": h.program("icfs"), "args": [papers], "workspace": False,
            "sandbox": {"filesystem": {"allowRead": [papers]}}}},
        RULES, {"documents": TOOLS}, provider=p, env=agents.ENV,
        config=life.config(
            agent, p, agent={agent: {"path": path}}, resourceBudget={
                **h.NO_BUDGET, "maxTurnSteps": 24, "maxTurnSeconds": 30}))
    k = life.Life(t, s, agent, "--model", agents.MODELS[agent])
    try:
        turns(k, p, path)
        kept = k.kept()
    finally:
        k.end()
        p.end()
    bad = [(fits(SCHEMA, e), e) for e in kept if fits(SCHEMA, e)]
    t.ok(not bad, f"{agent}: each event that is kept is as the schema says",
         bad[:3])
    seen = {}
    for e in kept:
        if e["event"] in ("turn_start", *ENDS):
            seen.setdefault(e["turn"], []).append(e["event"])
    odd = {n: x for n, x in seen.items() if x != ["turn_start", *ENDS]}
    t.ok(len(seen) == 16 and not odd, f"{agent}: 16 turns end properly",
         (len(seen), odd))


def main():
    for agent, path in agents.chosen(t):
        with h.workdir() as work, t.case(agent):
            run(work, agent, path)
    t.done()


if __name__ == "__main__":
    main()
