#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A thousand recorded sessions, replayed through real relays on one hub, beside a
real one: all are there, each answer reaches the session that it is for, and what
that costs is printed.

usage: test_hub_long.py [SESSIONS]"""
import asyncio
import json
import os
import random
import resource
import signal
import socket
import statistics
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from test_hub import ICCTL, Hub, hub_file, relay_of, session  # noqa: E402

t = h.Tap()
EACH = 125      # sessions of one relay, which follows 128
ANSWERS = 100
WINDOW = 20     # seconds in which the work is measured
EVERY = 5       # seconds between two records of a session


def record(s, hold):
    """Returns the session's replies and its log."""
    said = {}
    with socket.socket(socket.AF_UNIX) as c:
        c.connect(os.path.join(s.dir, "control.sock"))
        with c.makefile("rw", encoding="utf-8") as f:
            for op, more in (("status", {}), ("show", {"id": hold["id"]}),
                             ("watch", {})):
                f.write(json.dumps({"op": op, **more}) + "\n")
                f.flush()
                said[op] = json.loads(f.readline())
    with open(os.path.join(s.dir, "audit.jsonl"), encoding="utf-8") as f:
        said["log"] = f.readlines()
    said["call"] = next(x for x in said["log"] if '"event":"call"' in x)
    said["hold"] = hold
    return said


class Replayed:
    """A directory that looks like a running session, and its socket."""

    def __init__(self, place, name, said, answers):
        self.name, self.said, self.answers = name, said, answers
        self.dir = os.path.join(place, "sessions", name)
        os.makedirs(self.dir, mode=0o700)
        self.log = h.put(os.path.join(self.dir, "audit.jsonl"),
                         "".join(said["log"]))
        os.symlink(self.dir, os.path.join(place, "run", name))

    async def serve(self):
        await asyncio.start_unix_server(
            self.client, os.path.join(self.dir, "control.sock"),
            limit=1 << 20)

    async def client(self, reader, writer):
        while line := await reader.readline():
            req = json.loads(line)
            op = req["op"]
            after = None
            if op == "watch":
                reply = {**self.said["watch"], "session": self.name}
            elif op == "approve":
                self.answers.write(json.dumps([self.name, req]) + "\n")
                self.answers.flush()
                hold = self.said["hold"]
                reply = {"ok": True, "hold": hold, "state": "approved"}
                after = {"event": "holdEnd", "id": hold["id"],
                         "state": "approved"}
            else:
                reply = self.said.get(op, {"ok": True})
            for o in filter(None, (reply, after)):
                writer.write(json.dumps(o).encode() + b"\n")
            await writer.drain()

    async def work(self, wait):
        await asyncio.sleep(wait)
        while True:
            with open(self.log, "a", encoding="utf-8") as f:
                f.write(self.said["call"])
            await asyncio.sleep(EVERY)


async def replay(work, n, said):
    with open(os.path.join(work, "answers"), "a", encoding="utf-8") as f:
        all_ = []
        for i in range(n):
            place = os.path.join(work, f"m{i // EACH}")
            os.makedirs(os.path.join(place, "run"), mode=0o700, exist_ok=True)
            all_.append(Replayed(place, f"s{i}", said, f))
            await all_[-1].serve()
        h.put(os.path.join(work, "ready"), "")
        await asyncio.gather(*(r.work(EVERY * i / n)
                               for i, r in enumerate(all_)))


def replaying(work, n, said):
    """Starts the process that plays the sessions. Returns its pid."""
    pid = os.fork()
    if pid == 0:
        try:
            asyncio.run(replay(work, n, said))
        finally:
            os._exit(1)
    h.wait_for(lambda: os.path.exists(os.path.join(work, "ready")),
               "the sessions are not ready", 120)
    return pid


def family(pid):
    """Returns the process and all that it has started: pid -> name."""
    found, todo = {}, [pid]
    while todo:
        one = todo.pop()
        try:
            with open(f"/proc/{one}/comm", encoding="ascii") as f:
                found[one] = f.read().strip()
            with open(f"/proc/{one}/task/{one}/children",
                      encoding="ascii") as f:
                todo += map(int, f.read().split())
        except OSError:
            pass
    return found


def cost(pids):
    """Returns their memory in MiB, and their seconds of a processor."""
    memory = seconds = 0
    for pid in pids:
        with open(f"/proc/{pid}/status", encoding="ascii") as f:
            rows = dict(line.split(":", 1) for line in f)
        memory += int(rows["VmRSS"].split()[0]) / 1024
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            user, system = f.read().rsplit(")", 1)[1].split()[11:13]
        seconds += (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
    return memory, seconds


def figures(hub):
    """Reads the hub's lines for a while, and prints what that cost."""
    parts = {"hub": [hub.p.pid], "readers": [], "relays": []}
    for pid, name in family(hub.p.pid).items():
        if pid != hub.p.pid:
            parts["readers" if name == "ic-hear" else "relays"].append(pid)
    before = {k: cost(v)[1] for k, v in parts.items()}
    until, lines = time.monotonic() + WINDOW, 0
    while time.monotonic() < until:
        hub.take(60)
        lines += 1
    for k, pids in parts.items():
        memory, seconds = cost(pids)
        print(f"# {k}: {len(pids)} processes, {memory:.1f} MiB, "
              f"{100 * (seconds - before[k]) / WINDOW:.1f} % of a processor")
    print(f"# at {lines / WINDOW:.0f} lines a second")
    return len(parts["readers"])


def answered(hub, work, hold, n):
    """Answers calls of sessions all over, one after the other."""
    took, good, asked = [], 0, random.sample(range(n), min(n, ANSWERS))
    for i in asked:
        name = f"m{i // EACH}/s{i}"
        began = time.monotonic()
        reply = hub.reply(hub.ask("approve", name, id=hold["id"],
                                  digest=hold["digest"]), 60)
        took.append(1000 * (time.monotonic() - began))
        good += reply["ok"]
    took.sort()
    print(f"# an answer took {statistics.median(took):.1f} ms, "
          f"95 of 100 at most {took[len(took) * 95 // 100]:.1f}, "
          f"the slowest {took[-1]:.1f}")
    t.equal(good, len(asked), f"{len(asked)} answers are taken")
    with open(os.path.join(work, "answers"), encoding="utf-8") as f:
        got = [json.loads(x) for x in f]
    t.equal([x[0] for x in got], [f"s{i}" for i in asked],
            "each by the session that it was for, and once")
    t.equal({x[1]["digest"] for x in got}, {hold["digest"]},
            "with the digest that was shown")
    hub.until("ends of calls", lambda: not any(
        (f"m{i // EACH}/s{i}", hold["id"]) in hub.holds for i in asked), 60)
    t.ok(True, "which wait no longer on the hub")


def run(work, one, n):
    a = one.client()
    a.start_call("echo__env", {}).wait()
    call = a.start_call("echo__echo", {"text": "real"})
    hold = one.held()
    pid = replaying(work, n, record(one, hold))
    homes = range((n + EACH - 1) // EACH)
    relays = [("real", relay_of(one))] + [
        (f"m{i}", ["/usr/bin/env", f"IRONCURTAIN_HOME={work}/m{i}", ICCTL,
                   "relay"]) for i in homes]
    try:
        began = time.monotonic()
        hub = Hub(work, hub_file(work, relays))
        hub.until("all sessions and their calls", lambda: len(
            hub.rows) == n + 1 and len(hub.holds) == n + 1, 240)
        print(f"# {n} sessions and their calls were there after "
              f"{time.monotonic() - began:.1f} s")
        t.ok(True, f"{n} recorded sessions and a real one are on one hub")
        t.equal(figures(hub), len(relays), "each relay has a reader")
        answered(hub, work, hold, n)
        r = hub.reply(hub.ask("approve", "real/one", id=hold["id"],
                              digest=hold["digest"]), 60)
        t.ok(r["ok"] and "real" in h.text_of(call.wait()),
             "the real one is answered among them", r)
        t.equal(hub.end(), 0, "the hub ends")
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 3 * n + 100:
        t.skip("a thousand sessions", f"only {hard} open files are allowed")
        t.done()
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 3 * n + 100), hard))
    with h.workdir() as work, session(work, "one") as one, \
            t.case("recorded sessions"):
        run(work, one, n)
    t.done()


if __name__ == "__main__":
    main()
