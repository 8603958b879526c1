#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Real agents that speak the Agent Client Protocol, with an editor that is a
test: a tool call that waits for a person, and the answer of the model."""
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import agents_helper as agents  # noqa: E402
import harness as h  # noqa: E402
from editor import Editor  # noqa: E402

t = h.Tap()
RULES = [h.rule("ask", "escalate", "A person decides.",
                roles=["read-path"])]


def gemini(work):
    p = h.Provider(work, "--bodies", script=[
        {"tool": "echo__lookup$", "args": {"path": "/etc/hostname"}},
        {"text": "It is noted."}])
    log = os.path.join(work, "log", "echo")
    s = h.Session(
        work, provider=p, servers={"echo": h.echo_server(log)}, rules=RULES,
        annotations={"echo": h.ECHO_TOOLS}, env=agents.ENV,
        config={"agent": {"gemini-cli": {"path": agents.GEMINI}},
                "providers": {"google": {"upstream": p.url, "ca": p.ca}},
                "credentials": {"google": {"env": "GEMINI_API_KEY"}}})
    e = Editor(s, "gemini", "--model", agents.MODELS["gemini-cli"])
    r = e.initialize()
    t.ok(r["result"]["authMethods"] == [] and
         r["result"]["agentInfo"]["name"] == "gemini-cli",
         "gemini-cli: answers the editor, and offers no login", r)
    r = e.request("session/new", cwd=s.workspace, mcpServers=[])
    n = e.start_request("session/prompt", sessionId=r["result"]["sessionId"],
                        prompt=[{"type": "text", "text": "Look it up."}])
    ident = h.wait_for(lambda: re.findall(
        r"pending call .*icctl approve (\w{4})", e.said()),
        "no call was held", 60)
    s.dir = agents.latest(s)
    t.equal(s.icctl("approve", ident[0]).returncode, 0,
            "gemini-cli: its tool call waits, and is approved")
    r = e.until(lambda m: m.get("id") == n and "method" not in m, 120)
    t.equal(r.get("result", {}).get("stopReason"), "end_turn",
            "gemini-cli: the turn ends")
    t.contains(e.texts(), "It is noted.", "gemini-cli: the answer is shown")
    t.ok(e.updates("tool_call"), "gemini-cli: and so is the tool call")
    t.contains(str([x.get("body") for x in p.seen()]),
               "Do not retry a denied call", "gemini-cli: is told where it is")
    t.equal(e.end(), 0, "gemini-cli: it ends with the editor")


with h.workdir() as top:
    if agents.installed(t, "gemini-cli with an editor", agents.GEMINI):
        with t.case("gemini-cli"):
            gemini(top)
t.done()
