#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Floods from every edge, one after the other in one session: it survives, a
server beside the flood answers, and the log counts the refused requests and
calls without growing by a record of each.

    IC_FLOOD_SECONDS: duration of each flood (default: 2).
    IC_FLOODS: names of the floods to run, separated by spaces."""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import floods  # noqa: E402
import harness as h  # noqa: E402

t = h.Tap()
SECONDS = float(os.environ.get("IC_FLOOD_SECONDS") or 2)
KINDS = (os.environ.get("IC_FLOODS") or " ".join(floods.KINDS)).split()


# Records of the quiet server's calls, which are made beside each flood.
CALL_BYTES = 780


def counts(s):
    return json.loads(s.icctl("--json", "status", check=True).stdout)["counts"]


def refused(s):
    return counts(s)["refused"]


def logged(s):
    return sum(os.path.getsize(os.path.join(s.dir, x))
               for x in os.listdir(s.dir)
               if x.startswith("audit.") and x.endswith(".jsonl"))


def flood(s, m, kind):
    f = floods.Flood(s, m, kind, SECONDS)
    found = floods.latencies(m, SECONDS)
    said = f.end()
    t.ok(len(found) >= 5, f"{kind}: the quiet server answers "
         f"({len(found)} calls, p99 "
         f"{floods.percentile(found, 99) * 1000:.1f} ms)")
    t.equal(s.process.p.poll(), None, f"{kind}: the session lives")
    return said, len(found)


def calls_refused(s):
    """Returns the refused calls with a record, and those that are counted."""
    return (sum(e["policyDecision"]["status"] != "allow"
                for e in s.events("call")),
            sum(e["count"] for e in s.events("refusedCalls")))


def main(work, p, endless):
    config = {"providers": {"openai": {
        "upstream": f"http://127.0.0.1:{endless.ready['port']}"}}}
    with h.Session(work, floods.servers(work), floods.RULES, floods.TOOLS,
                   provider=p, config=config) as s:
        m = s.client()
        for kind in KINDS:
            with t.case(kind):
                size, before = logged(s), refused(s)
                refusals = (len(s.events("refused"))
                            if kind in floods.CONNECT else 0)
                said, calls = flood(s, m, kind)
                grown = logged(s) - size - calls * CALL_BYTES
                print(f"# {kind}: {grown / SECONDS / 1000:.0f}"
                      " kB/s of log beside the quiet server's")
                if kind in ("denied", "cancels"):
                    t.ok(grown / SECONDS < 300000,
                         "the log grows by less than 300 kB/s", grown)
                if kind in floods.PROVIDER:
                    t.ok(int(said) > 100, f"the agent read {said.strip()} "
                         "bytes of answers")
                if kind in floods.CONNECT:
                    h.wait_for(lambda b=before: refused(s) - b == int(said),
                               "not all were counted")
                    t.ok(int(said) > 500, f"{said.strip()} tunnels were "
                         "refused, and each is counted")
                    lines = len(s.events("refused"))
                    t.ok(lines - refusals < 250 + 20 * SECONDS
                         + (100 * (SECONDS + 1) if kind == "hosts" else 0),
                         "but few of them have a line of their own", lines)
        m.close()
        total, denied = refused(s), counts(s)["denied"]
        t.equal(s.stop(), 0, "the session ends as it should")
        t.equal(sum(e.get("count", 1)
                    for e in s.audit("refused", "connectDenied")),
                total, "what the log's lines count is what status said")
        whole, counted = calls_refused(s)
        t.equal(whole + counted, denied, "of refused calls as well")
        if "denied" in KINDS:
            t.ok(20 <= whole <= 100, "few refused calls have a record", whole)


with h.workdir() as w:
    provider = h.Provider(w)
    flooding = h.Process([h.PYTHON, os.path.join(h.STANDINS,
                                                 "provider_flood.py")],
                         os.path.join(w, "flooding"))
    try:
        main(w, provider, flooding)
    finally:
        flooding.end()
        provider.end()
t.done()
