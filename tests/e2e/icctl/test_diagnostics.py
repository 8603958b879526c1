#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""icctl diagnostics: what a report needs is there, and what was said is not."""
import json
import os
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from test_conversation import CALL_AGENT, CALLER, adapted  # noqa: E402

t = h.Tap()
SECRET = "correct-horse-battery"


def test_all(work):
    # It calls the first word of the message only.
    agent = CALL_AGENT.replace('{"text": "hello"}', f'{{"text": "{SECRET}"}}') \
        .replace("read().split()", "read().split()[:1]") \
        + f"print('{SECRET}', file=sys.stderr)\n"
    with adapted(work, CALLER, agent,
                 servers={"echo": h.echo_server(os.path.join(work, "log",
                                                             "echo"))},
                 rules=[h.rule("echo", "allow", server=["echo"])],
                 annotations={"echo": h.ECHO_TOOLS}) as k:
        _, events = k.send("echo__echo " + SECRET)
        t.ok(any(SECRET in e.get("text", "") for e in events),
             "the words are in the session", events)
        r = k.icctl("diagnostics", k.told["session"], "--json")
        said = json.loads(r.stdout)
        t.equal(r.returncode, 0, "a session that runs")
        t.ok(said["machine"]["ironcurtain"] and said["doctor"] and
             said["state"] == "ready" and said["status"]["workers"],
             "machine, doctor and state", list(said))
        t.ok(any(x.get("event") == "turn_end" for x in said["events"]) and
             any(x.get("event") == "start" for x in said["records"]),
             "the last records", said["records"][:3])
        t.ok(SECRET not in r.stdout and h.ANTHROPIC_KEY not in r.stdout,
             "without messages, arguments, results and keys")
        r = k.icctl("diagnostics", k.told["session"])
        t.ok("== doctor ==" in r.stdout and "== records ==" in r.stdout and
             SECRET not in r.stdout, "the same as text", r.stdout[:400])
        r = k.icctl("diagnostics", "--log", k.told["session"])
        t.ok("== log ==" in r.stdout and SECRET in r.stdout and
             "no keys" not in r.stdout and "words of the agent" in r.stdout,
             "with the log, if asked for")
    r = k.icctl("diagnostics", "--json", k.told["session"])
    t.equal(json.loads(r.stdout)["state"], "closed", "and one that has ended")
    r = k.icctl("diagnostics", "--json")
    t.ok("records" not in json.loads(r.stdout), "without a session: the machine")
    r = k.icctl("diagnostics", "--log")
    t.ok(r.returncode == 64 and "icctl diagnostics --log SESSION" in r.stderr,
         "a log belongs to a session", r)
    r = k.icctl("diagnostics", "--all")
    t.equal(r.returncode, 64, "an unknown option")
    r = k.icctl("diagnostics", "nonesuch")
    t.equal(r.returncode, 3, "an unknown session")


def main():
    if not shutil.which("bwrap"):
        t.skip("diagnostics", "bubblewrap is not installed")
        t.done()
    with h.workdir() as work, t.case("diagnostics"):
        test_all(work)
    t.done()


if __name__ == "__main__":
    main()
