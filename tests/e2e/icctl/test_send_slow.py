#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A program that reads the events of its turn slowly misses none of them, and is
told how the turn ended: what no longer waits for it is in the record."""
import json
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "lib")]
import harness as h  # noqa: E402
from test_conversation import Talk  # noqa: E402

t = h.Tap()
SAID = 15 << 20
AGENT = f"""#!/bin/sh
case $(cat) in
much) head -c {SAID} /dev/zero | tr '\\0' x ;;
end) head -c {SAID} /dev/zero | tr '\\0' x; echo; echo said; sleep 1000 ;;
*) echo hello ;;
esac
"""


def agent(work):
    path = os.path.join(work, "workspace", "agent.sh")
    h.put(path, AGENT, 0o755)
    os.chmod(os.path.dirname(path), 0o700)
    return ["--", "/workspace/agent.sh"]


def of_turn(k, turn):
    """The events from the first one of the turn to its last."""
    events = k.kept()
    its = [i for i, e in enumerate(events) if e.get("turn") == turn]
    return events[its[0]:its[-1] + 1] if its else []


def has_ended(k, turn):
    return any(e["event"] == "turn_end" for e in of_turn(k, turn))


def test_slow(work):
    with Talk(work, *agent(work)) as k:
        p = k.popen("send", "--json", "much")
        h.wait_for(lambda: has_ended(k, 1), "the turn does not end", 60)
        out, _ = p.communicate(timeout=60 * h.PATIENCE)
        events = [json.loads(x) for x in out.splitlines()]
        while events and "turn" not in events[0]:
            events.pop(0)
        t.equal(p.returncode, 0, "the turn has ended well")
        t.ok(events == of_turn(k, 1), "each event once, and in order",
             [e["event"] for e in events][-5:])
        t.equal(sum(len(e["text"]) for e in events
                    if e["event"] == "agent_text"), SAID, "all that it said")
        status, events = k.send("hi")
        t.ok(status == 0 and events[-1]["event"] == "turn_end",
             "the conversation goes on", events)


def test_ended(work):
    """The session ends while the program has not read all."""
    with Talk(work, *agent(work)) as k:
        p = k.popen("send", "--json", "end")
        h.wait_for(lambda: any("said" in e.get("text", "")[-10:]
                               for e in of_turn(k, 1)), "nothing is said", 60)
        k.icctl("stop")
        out, _ = p.communicate(timeout=60 * h.PATIENCE)
        last = json.loads(out.splitlines()[-1])
        t.ok(p.returncode != 0 and (last.get("code") == "SESSION_CLOSED" or
                                    last.get("event") == "turn_end"),
             "the session has ended, and that is said", last)


if __name__ == "__main__":
    for test in (test_slow, test_ended):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()
