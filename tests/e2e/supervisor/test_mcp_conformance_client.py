#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The client scenarios of the official conformance suite of MCP, for each
revision that they apply to: logins, headers, questions and event streams. The
suite's servers are behind a front of TLS (tests/lib/mcp_scenario.py), in a
network of the test's own. Arguments: names of scenarios, or parts of them."""
import glob
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import mcp_login as ml  # noqa: E402
import public_net  # noqa: E402
from test_mcp_conformance import NODE, SUITE  # noqa: E402

t = h.Tap()
CLIENT = os.path.join(os.path.dirname(os.path.abspath(h.__file__)),
                      "mcp_scenario.py")
DATED = ("2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
# Checks that are no success, on purpose: model providers refuse the whole
# request for a schema with alternatives at its root, so that they are left out.
EXPECTED = {("json-schema-2020-12-preservation",
             "sep-2106-client-composition-keywords-preserved")}


def scenarios():
    """Returns (name, revision) of the scenarios of dated revisions: each with
    the newest of the older ones, and with 2026-07-28."""
    text = subprocess.run([NODE, SUITE, "list"], capture_output=True,
                          text=True, check=True).stdout
    text = text.split("Client scenarios")[1].split("Authorization server")[0]
    found = []
    for line in text.splitlines():
        if not line.startswith("  - "):
            continue
        name, of = line[4:].rstrip("]").split(" [")
        of = [x for x in of.split(",") if x in DATED]
        old = [x for x in of if x != DATED[-1]]
        found += [(name, x) for x in old[-1:] + [x for x in of[-1:]
                                                 if x == DATED[-1]]]
    return found


def run(name, revision, work):
    """Returns (check, status, message) of everything that is no success, and
    how many checks there were; the client's words go to the test's output."""
    out = os.path.join(work, f"{name.replace('/', '-')}-{revision}")
    os.makedirs(out)
    r = subprocess.run(
        [NODE, SUITE, "client", "--command",
         f"{h.PYTHON} -B {CLIENT}", "--scenario", name, "--spec-version",
         revision, "--timeout", "120000", "-o", out],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    found = glob.glob(os.path.join(out, "**", "checks.json"), recursive=True)
    if not found:
        return [("it ran", "FAILURE", r.stdout + r.stderr)], 0
    with open(found[0], encoding="utf-8") as f:
        checks = json.load(f)
    bad = [(c["id"], c["status"], c.get("errorMessage") or c["description"])
           for c in checks if c["status"] in ("FAILURE", "WARNING")]
    if bad:
        for part in ("stdout.txt", "stderr.txt"):
            with open(os.path.join(os.path.dirname(found[0]), part),
                      encoding="utf-8") as f:
                print("#", f.read().replace("\n", "\n# "))
    return bad, sum(c["status"] == "SUCCESS" for c in checks)


def main():
    if not os.path.exists(NODE) or not os.path.exists(SUITE):
        t.skip("conformance", "./dev test conformance installs the suite")
        t.done()
        return
    why = public_net.enter(ml.MCP_HOST, ml.AUTH_HOST)
    if why is not None:
        t.skip("conformance", f"no network of its own: {why}")
        t.done()
        return
    only, passed = sys.argv[1:], 0
    with h.workdir() as work:
        for name, revision in scenarios():
            if only and not any(x in name for x in only):
                continue
            bad, good = run(name, revision, work)
            bad = [b for b in bad if (name, b[0]) not in EXPECTED]
            t.ok(good and not bad, f"{name} {revision}", bad)
            passed += good
            print(f"# {name} {revision}: {good} checks pass", flush=True)
    t.ok(passed, "checks pass", passed)
    t.done()


if __name__ == "__main__":
    main()
