#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests questions of MCP servers to the person: what is shown, how it is answered,
what is refused, and what the log has of it."""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
SEAT = {"message": "Which seat?", "requestedSchema": {
    "type": "object", "required": ["seat"], "properties": {
        "seat": {"type": "string", "enum": ["window", "aisle"]},
        "bags": {"type": "integer", "minimum": 0, "maximum": 3,
                 "default": 1}}}}


def server(log, *args):
    return {"command": h.PYTHON, "args": [
        os.path.join(h.STANDINS, "mcp_asks.py"), *args, log],
        "sandbox": {"filesystem": {
            "allowRead": [h.STANDINS], "allowWrite": [os.path.dirname(log)]}}}


def got(p):
    """What came back to the server."""
    return json.loads(h.text_of(p.wait()))


def form(s, m):
    p = m.start_call("asks__ask", {"ask": [SEAT]})
    hold = s.held()
    shown = s.icctl("show", hold["id"]).stdout
    t.ok(shown.index("asks asks you during its call ask") <
         shown.index("Which seat?") < shown.index("seat: one of"),
         "the server is named first, then its call, then its words", shown)
    t.ok("no password" in shown, "and that no secret is asked for", shown)
    r = s.icctl("answer", hold["id"], "--set", "seat=window")
    t.ok(r.returncode == 0, "it is answered", r.stdout + r.stderr)
    t.equal(got(p), [{"action": "accept",
                      "content": {"seat": "window", "bags": 1}}],
            "the server gets the answer, with the default")


def main():
    with h.workdir() as work:
        log = h.put(os.path.join(work, "log", "lines"), "")
        servers = {"asks": server(log)}
        trusted = {"policy": {"trustedServers": ["asks"]}}
        with h.Session(work, servers, config=trusted) as s:
            m = s.client()
            form(s, m)
    t.done()


main()
