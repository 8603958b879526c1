#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""An agent cannot use up tables of the kernel that other programs of the user
need: pending signals, timers and message queues."""
import json
import os
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
AGENT = """
import ctypes, json, os, resource, signal
libc = ctypes.CDLL(None, use_errno=True)
made, timer = 0, ctypes.c_void_p()
while made < 8192 and libc.timer_create(0, None, ctypes.byref(timer)) == 0:
    made += 1
told = {"timers": made, "error": ctypes.get_errno(),
        "signals": resource.getrlimit(resource.RLIMIT_SIGPENDING),
        "queues": resource.getrlimit(resource.RLIMIT_MSGQUEUE)}
with open("/workspace/new", "w") as f: json.dump(told, f)
os.rename("/workspace/new", "/workspace/told")
signal.pause()
"""


def test_tables(work):
    s = h.Session(work, runtime="bwrap", options=[
        "--", h.PYTHON, "/workspace/agent.py"])
    h.put(os.path.join(s.workspace, "agent.py"), AGENT)
    path = os.path.join(s.workspace, "told")
    with s:
        h.wait_for(lambda: os.path.exists(path), "the agent did not begin")
        with open(path, encoding="ascii") as f:
            told = json.load(f)
    t.ok(0 < told["timers"] <= 4096 and told["error"] == 11,
         "an agent has at most 4096 timers", told)
    t.ok(max(told["signals"]) <= 4096 and max(told["queues"]) <= 262144,
         "pending signals and message queues have hard limits", told)


def main():
    if not shutil.which("bwrap"):
        t.skip("tables of the kernel", "bubblewrap is not installed")
        t.done()
    with h.workdir() as work, t.case("test_tables"):
        test_tables(work)
    t.done()


if __name__ == "__main__":
    main()
