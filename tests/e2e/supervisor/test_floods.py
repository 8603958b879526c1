#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Floods from every edge, one after the other in one session: it survives, a
server beside the flood answers, and the log counts the refused requests.

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


def refused(s):
    return json.loads(s.icctl("--json", "status", check=True).stdout)[
        "counts"]["refused"]


def logged(s):
    return os.path.getsize(os.path.join(s.dir, "audit.jsonl"))


def flood(s, m, kind):
    f = floods.Flood(s, m, kind, SECONDS)
    found = floods.latencies(m, SECONDS)
    said = f.end()
    t.ok(len(found) >= 5, f"{kind}: the quiet server answers "
         f"({len(found)} calls, p99 "
         f"{floods.percentile(found, 99) * 1000:.1f} ms)")
    t.equal(s.process.p.poll(), None, f"{kind}: the session lives")
    return said


def main(work, p, endless):
    config = {"providers": {"openai": {
        "upstream": f"http://127.0.0.1:{endless.ready['port']}"}}}
    with h.Session(work, floods.servers(work), floods.RULES, floods.TOOLS,
                   provider=p, config=config) as s:
        m = s.client()
        for kind in KINDS:
            with t.case(kind):
                size, before = logged(s), refused(s)
                refusals = len(s.events("refused"))
                said = flood(s, m, kind)
                print(f"# {kind}: {(logged(s) - size) / SECONDS / 1000:.0f}"
                      " kB/s of log")
                if kind in floods.PROVIDER:
                    t.ok(int(said) > 100, f"the agent read {said.strip()} "
                         "bytes of answers")
                if kind == "connect":
                    h.wait_for(lambda b=before: refused(s) - b == int(said),
                               "not all were counted")
                    t.ok(int(said) > 500, f"{said.strip()} tunnels were "
                         "refused, and each is counted")
                    lines = len(s.events("refused"))
                    t.ok(lines - refusals < 250 + 20 * SECONDS,
                         "but few of them have a line of their own", lines)
        m.close()
        total = refused(s)
        t.equal(s.stop(), 0, "the session ends as it should")
        t.equal(sum(e.get("count", 1) for e in s.audit()
                    if e["event"] in ("refused", "connectDenied")),
                total, "what the log's lines count is what status said")


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
