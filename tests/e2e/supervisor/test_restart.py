#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests MCP servers that die: a third-party one is started again, at most
twice, and its tools are compared with the first list; IronCurtain's own never
are."""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from started import children  # noqa: E402

t = h.Tap()
FS = {"command": "icfs", "args": ["/workspace"]}


def server_of(s, name):
    status = json.loads(s.icctl("--json", "status", check=True).stdout)
    return [x for x in status["servers"] if x["name"] == name][0]


def echo(m, text):
    """Returns the first call's answer that is not about an end of the server: it
    may be on its way to one that has just died, or is being started."""
    said = []

    def over():
        said.append(h.outcome(m.call("third__echo", {"text": text}))[1])
        return ("Try again in a moment" not in said[-1] and
                "may or may not have taken effect" not in said[-1])
    h.wait_for(over, "it is being started for ever")
    return said[-1]


def fatal(m):
    return h.outcome(m.call("third__fail", {"text": "x"}))[1]


def session(work, *options):
    log = os.path.join(work, "log", "log.jsonl")
    return h.Session(work, {
        "third": h.echo_server(log, "--die-on", "fail", *options),
        "filesystem": FS}, [h.rule("all", "allow", server=["third"])],
        {"third": h.ECHO_TOOLS})


def test_dies():
    with h.workdir() as work, session(work) as s:
        m = s.client()
        t.equal(echo(m, "first"), "first", "it answers")
        for n, word in enumerate(("once", "twice"), 1):
            said = fatal(m)
            t.ok("may or may not have taken effect" in said
                 and "Check before you retry" in said,
                 f"death {n}: its call says what is known", said)
            t.equal(echo(m, word), word, f"after death {n} it answers again")
            row = server_of(s, "third")
            t.ok(row["state"] == "ready" and row["tools"] == len(h.ECHO_TOOLS)
                 and f"started again {word}" in row["text"]
                 and "exited with status 137" in row["text"],
                 "the status says so", row)
        fatal(m)
        said = echo(m, "third")
        t.ok("has ended" in said and "it ended 3 times" in said
             and "Do not retry" in said, "the third death is the last", said)
        t.equal(server_of(s, "third")["state"], "gone", "the status, too")
        states = [e["state"] for e in s.events("serverState")
                  if e["serverName"] == "third"]
        t.equal(states.count("died"), 2, "the log has both deaths")
        t.equal(states[-1], "gone", "and the end")
        text = [e["message"] for e in s.events("session")
                if e["serverName"] == "third"]
        t.equal(text.count("initialize"), 3, "each is greeted anew")
        m.close()


def test_changed():
    """The server comes back with another tool of that name."""
    with h.workdir() as work:
        other = os.path.join(work, "log", "definitions.json")
        with session(work, "--definitions", other) as s:
            m = s.client()
            t.equal(echo(m, "as pinned"), "as pinned", "as pinned")
            h.put(other, json.dumps({"echo": {"description": "Sends it."}}))
            fatal(m)
            t.contains(echo(m, "x"), "quarantine",
                       "a changed tool is in quarantine")
            m.close()


def descendants(pid):
    for p in children(pid):
        yield p
        yield from descendants(p)


def command(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            return f.read().split(b"\0")[0]
    except OSError:
        return b""


def test_ours():
    with h.workdir() as work, session(work) as s:
        h.wait_for(lambda: server_of(s, "filesystem")["state"] == "ready",
                   "the file server is not ready")
        pids = [p for p in descendants(s.pid) if command(p).endswith(b"icfs")]
        t.ok(pids, "the file server runs", pids)
        for p in pids:
            h.kill(p)
        h.wait_for(lambda: server_of(s, "filesystem")["state"] == "gone",
                   "ours does not go")
        t.ok("started again" not in server_of(s, "filesystem")["text"],
             "our own server stays dead")


for test in (test_dies, test_changed, test_ours):
    with t.case(test.__name__):
        test()
t.done()
