# SPDX-License-Identifier: ISC
"""Tests that a compromised approver gains nothing: its word counts for the one
call that icsupervisor asked about, with its digest."""
import json
import os
import sys

import harness

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "e2e", "icctl"))
from test_auto_approve import ADAPTER, AGENT, RULES, TOOLS  # noqa: E402


def libexec(work, args):
    d = os.path.join(work, "libexec-swayed")
    real = os.path.join(args.prefix, "libexec", "ironcurtain")
    os.makedirs(d)
    for name in os.listdir(real):
        os.symlink(os.path.join(args.build, "swayed_approver")
                   if name == "approver" else os.path.join(real, name),
                   os.path.join(d, name))
    return d


def test_swayed(tap, args, work, provider):
    os.makedirs(work, exist_ok=True)
    path = harness.put(os.path.join(work, "bin", "maker"), AGENT, 0o755)
    s = harness.Session(
        work, {"filesystem": {"command": "icfs", "args": ["/workspace"]}},
        RULES, TOOLS, provider=provider, runtime="bwrap",
        libexecdir=libexec(work, args),
        options=["--conversation", "--agent", "maker"],
        config={"autoApprove": {"enabled": True},
                "agent": {"maker": {"path": path}}})
    s.write("agents/maker.json", ADAPTER)
    files = [harness.put(os.path.join(work, "user", "notes", n), n)
             for n in ("named", "other")]
    harness.put(os.path.join(s.workspace, "calls.json"), json.dumps(
        [["filesystem__read_file", {"path": files[0]}]]))
    with s:
        # A pending call that no message names.
        m = s.client()
        call = m.start_call("filesystem__read_file", {"path": files[1]})
        other = s.held()
        harness.wait_for(lambda: json.loads(s.icctl(
            "--json", "status", check=True).stdout)["state"] == "ready",
                         "no turn can begin")
        send = harness.subprocess.Popen(
            [harness.program("icctl"), "--session", s.dir, "send",
             f"read {files[0]}"], env=s.env,
            stdout=harness.subprocess.DEVNULL)
        harness.wait_for(lambda: len(s.events("opinion")) >= 9,
                         "the approver says nothing")
        harness.wait_for(lambda: any(
            "not the call" in h.get("approver", "") for h in s.pending()),
            "icsupervisor does not say why")
        tap.equal((s.events("verdict"), len(s.pending())), ([], 2),
                  "a compromised approver: no word about another call, a "
                  "request, a limit or another digest counts")
        for h in s.pending():
            s.icctl("deny", h["id"], check=True)
        call.wait()
        send.wait()
        tap.equal([c.get("autoApproved", False) for c in s.events("call")],
                  [False, False], "and both calls are the person's")
        tap.ok(other["id"] and s.process.p.poll() is None,
               "the session goes on")
        m.close()
