#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Measures the memory of a session's host side, alone and with three MCP
servers, or of another proxy: idle, and with streams open, each with one event
per second. Prints one line of JSON.

IronCurtain's processes are not dumpable, so their own user cannot read which
memory they share. bench.py starts this program in a new user namespace, with
that namespace's capabilities: it may then read the processes that it started,
as root may everywhere."""
import argparse
import ctypes
import json
import os
import sys
import time

from rig import Child, Failed, Rig, family, memory, ours

PR_CAP_AMBIENT, CLEAR_ALL = 47, 4
# The first streams allocate memory that all streams share.
FIRST = 10


def settle(pids, seconds=0.7):
    """Waits until the processes are idle: their processor time stands
    still."""
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
    """Returns name -> kilobytes of each process of that name."""
    found = {}
    for pid, name in sorted(pids.items()):
        found.setdefault(name, []).append(memory([pid])[0])
    return found


def start_session(rig):
    """Starts a session, with the wrappers of its servers."""
    s = rig.new_session(servers=3)
    s.start()
    rig.stack.callback(s.stop)
    rig.session, rig.pids = s, ours(s.pid)
    client = s.client()     # waits for the servers
    client.close()
    mine = ours(s.pid)
    settle(mine)
    wrappers = [p for p, n in family(s.pid).items() if n == "bwrap"]
    return mine, {"each": each(mine), "wrappers": len(wrappers),
                  "wrappers_kb": memory(wrappers)[0]}


def lone(rig):
    """Returns the kilobytes of a session without servers, with one
    credential, before any other program here uses its libraries."""
    with rig.lone_session() as s:
        mine = ours(s.pid)
        settle(mine)
        return memory(mine)[0]


def start_proxy(rig, target):
    mine = family(rig.start_proxy(target).p.pid)
    settle(mine)
    return mine, {}


def measure(rig, target, steps):
    """steps: rising numbers of streams; the last but one is at least 2."""
    ironcurtain = target == "ironcurtain"
    alone = lone(rig) if ironcurtain else None
    mine, result = (start_session(rig) if ironcurtain
                    else start_proxy(rig, target))
    idle, kind = memory(mine)
    result.update(target=target, kind=kind, processes=len(mine), idle_kb=idle,
                  lone_kb=alone, streams={})
    loads, have = [], 0
    try:
        for n in steps:
            loads.append(Child(rig.model_argv(
                target, "--mode", "hold", "--conns", str(n - have), "--count",
                "1000000", "--every-us", "1000000"), ready=True))
            have = n
            time.sleep(2)   # one or two events on each
            result["streams"][n] = memory(mine)[0]
        if ironcurtain:
            result["each_full"] = each(mine)
    finally:
        for load in loads:
            load.kill()
    kb = result["streams"]
    result["stream_kb"] = (kb[steps[-1]] - kb[FIRST]) / (steps[-1] - FIRST)
    settle(mine)
    result["after_kb"] = memory(mine)[0]
    return result


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--prefix", required=True)
    p.add_argument("--build", required=True)
    p.add_argument("--work", required=True)
    p.add_argument("--target", default="ironcurtain")
    p.add_argument("--streams", type=int, default=1000)
    opts = p.parse_args()
    opts.pin = False
    # Children must have none of these capabilities.
    ctypes.CDLL(None).prctl(PR_CAP_AMBIENT, CLEAR_ALL, 0, 0, 0)
    os.makedirs(opts.work, exist_ok=True)
    steps = [n for n in (1, FIRST, 100) if n < opts.streams]
    with Rig(opts, opts.work) as rig:
        try:
            print(json.dumps(measure(rig, opts.target,
                                     [*steps, opts.streams])))
        except (Failed, RuntimeError) as e:
            sys.exit(f"memory: {e}")


if __name__ == "__main__":
    main()
