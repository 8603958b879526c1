#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A limit of the sandbox that a turn's programs reach is named in that turn, and
again in the next one that reaches it. The end of a turn can be notified."""
import os
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from test_conversation import Talk, texts  # noqa: E402

t = h.Tap()
AGENT = """#!/bin/sh
case $(cat) in
fill) head -c 20000000 /dev/zero 2>/dev/null >/tmp/x; echo full ;;
free) rm /tmp/x; echo free ;;
more) python3 -c 'import time; x = bytearray(400 << 20); time.sleep(60)' ;;
*) echo nothing ;;
esac
"""


def named(events):
    """Returns the limits that are named before the turn's end."""
    end = next(i for i, e in enumerate(events) if e["event"] == "turn_end")
    return [e["text"] for e in events[:end]
            if e["event"] == "alarm" and e["kind"] == "limit"]


def test_turns(work):
    told = os.path.join(work, "told")
    tell = h.put(os.path.join(work, "tools", "tell"),
                 f'#!/bin/sh\necho "$*" >{told}.new\nmv {told}.new {told}\n',
                 0o755)
    config = {"limits": {"tmpMb": 8}, "dockerResources": {"memoryMb": 256},
              "notify": [tell], "notifyOn": ["turn"]}
    s = h.Session(work, config=config)
    h.put(os.path.join(work, "workspace", "agent.sh"), AGENT, 0o755)
    with Talk(work, "--", "/workspace/agent.sh", session=s) as k:
        if k.started.returncode != 0:
            raise RuntimeError(k.started.stderr)
        t.equal(named(k.send("nothing")[1]), [], "no limit is reached")
        h.wait_for(lambda: os.path.exists(told), "a notice of the turn")
        with open(told, encoding="utf-8") as f:
            text = f.read()
        t.ok(text.startswith("turn 1 of ") and text.endswith(": completed\n"),
             "the notify command is told of a finished turn", text)
        for again in ("", " again"):
            text = named(k.send("fill")[1])
            t.ok(len(text) == 1 and "8 MiB of /tmp" in text[0] and
                 "limits.tmpMb in config.json" in text[0],
                 f"/tmp is full{again}: the same turn names the limit", text)
        k.send("free")
        t.equal(named(k.send("nothing")[1]), [], "and no later one")
        _, events = k.send("more")
        said = texts(events, "error") + " ".join(named(events))
        t.ok("256" in said and "dockerResources.memoryMb" in said,
             "too much memory: the turn that it ends names the limit", events)


def main():
    if not shutil.which("bwrap"):
        t.skip("turn_limits", "bubblewrap is not installed")
        t.done()
    with h.workdir() as work, t.case("turns"):
        test_turns(work)
    t.done()


if __name__ == "__main__":
    main()
