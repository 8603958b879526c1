#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The memory of a session's host side, as one JSON line: idle with three MCP
servers, and with streams open.

Our processes are not dumpable, so their own user cannot read what they share.
bench.py starts this in a user namespace of its own, with the capabilities of
that namespace: it may then read what it started, as root may everywhere."""
import argparse
import ctypes
import json
import os
import sys
import time

from rig import Child, Failed, Rig, family, memory, ours

PR_CAP_AMBIENT, CLEAR_ALL = 47, 4
FIRST = 10


def settle(pids, seconds=0.7):
    """Until they sleep: their processor time stands still."""
    def used():
        total = 0
        for pid in pids:
            with open(f"/proc/{pid}/schedstat", encoding="ascii") as f:
                total += int(f.read().split()[0])
        return total
    last = used()
    for _ in range(20):
        time.sleep(seconds)
        now = used()
        if now - last < 2_000_000:
            return
        last = now


def each(pids):
    """name -> kilobytes of each process of that name."""
    found = {}
    for pid, name in sorted(pids.items()):
        found.setdefault(name, []).append(memory([pid])[0])
    return found


def hold(rig, streams):
    """That many streams, with an event a second on each."""
    return Child(rig.model_argv("ironcurtain", "--mode", "hold", "--conns",
                                str(streams), "--count", "1000000",
                                "--every-us", "1000000"), ready=True)


def measure(rig, streams):
    s = rig.new_session(servers=3)
    s.start()
    rig.stack.callback(s.stop)
    rig.session, rig.pids = s, ours(s.pid)
    client = s.mcp()
    client.initialize()
    client.list_tools()     # waits for the servers
    client.close()
    mine = ours(s.pid)
    settle(mine)
    idle, kind = memory(mine)
    wrappers = [p for p, n in family(s.pid).items() if n == "bwrap"]
    result = {"kind": kind, "idle_kb": idle, "each": each(mine),
              "wrappers": len(wrappers), "processes": len(mine),
              "wrappers_kb": memory(wrappers)[0]}
    # The first few bring in what is there once for all.
    loads = [hold(rig, FIRST)]
    try:
        time.sleep(2)
        few, _ = memory(mine)
        loads.append(hold(rig, streams - FIRST))
        time.sleep(3)   # an event or two on each
        full, _ = memory(mine)
        result["each_full"] = each(mine)
    finally:
        for load in loads:
            load.kill()
    result.update(first=FIRST, first_kb=few, streams=streams, full_kb=full,
                  stream_kb=(full - few) / (streams - FIRST))
    settle(mine)
    result["after_kb"] = memory(mine)[0]
    return result


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--prefix", required=True)
    p.add_argument("--build", required=True)
    p.add_argument("--work", required=True)
    p.add_argument("--streams", type=int, default=100)
    opts = p.parse_args()
    opts.pin = False
    # What we start has none of our capabilities.
    ctypes.CDLL(None).prctl(PR_CAP_AMBIENT, CLEAR_ALL, 0, 0, 0)
    os.makedirs(opts.work, exist_ok=True)
    with Rig(opts, opts.work) as rig:
        try:
            print(json.dumps(measure(rig, opts.streams)))
        except Failed as e:
            sys.exit(f"memory: {e}")


if __name__ == "__main__":
    main()
