#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""An agent holds as many descriptors in flight as it can, by sending them over
a socket from which nobody receives. The kernel counts those of all processes of
a user together, and passes no other for a process whose own limit on open files
they exceed.

The baseline is a session that was started with a lower limit than the attacker's:
what needs a descriptor waits there, without using the processor, and the reason
is shown. Other sessions of the user work as always."""
import json
import os
import resource
import socket
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
HARD = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
# Small, since programs beside this test have the soft limit of 1024 that is
# usual. A count exceeds its limit by less than a message with 253.
ATTACKER = 600
WEAK = 450
BLOCKED = 2.0
HOLD = """
import os, resource, socket, time
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
while not os.path.exists("/workspace/hold"):
    time.sleep(0.02)
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
null = os.open("/dev/null", os.O_RDONLY)
held = 0
try:
    while held != MOST:
        socket.send_fds(a, [b"x"], [null] * 100)
        held += 100
    why = 0
except OSError as e:
    why = e.errno
with open("/workspace/new", "w") as f:
    print(hard, held, why, file=f)
os.rename("/workspace/new", "/workspace/held")
while not os.path.exists("/workspace/end"):
    time.sleep(0.02)
"""
LARGE = 300000  # more than a datagram of 64 KiB


def in_flight():
    """Returns the number of this user's descriptors in flight."""
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    ours = resource.getrlimit(resource.RLIMIT_NOFILE)
    low, high = 0, ours[1]
    while low < high:
        middle = (low + high) // 2
        resource.setrlimit(resource.RLIMIT_NOFILE, (middle, ours[1]))
        try:
            socket.send_fds(a, [b"x"], [0])
            b.recv(1)   # and drops it
            high = middle
        except OSError:
            low = middle + 1
    resource.setrlimit(resource.RLIMIT_NOFILE, ours)
    a.close()
    b.close()
    return low


def build(work, name, provider, most=None):
    place = os.path.join(work, name)
    os.makedirs(place, mode=0o700)
    s = h.Session(
        place, {"echo": h.echo_server(os.path.join(place, "log", "l"))},
        [h.rule("ok", "allow", tool=["echo", "big"])], {"echo": h.ECHO_TOOLS},
        provider=provider)
    if most:
        s.argv = limited(most, s.argv)
    return s


def limited(most, argv):
    return ["/usr/bin/prlimit", f"--nofile={most}:{most}", "--", *argv]


def cpu(pids):
    """Returns the seconds of processor time that the processes have used."""
    ticks = 0
    for pid in pids:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            ticks += sum(map(int, f.read().rsplit(")", 1)[1].split()[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def works(s, client, what):
    """Everything in a session that needs a descriptor of its own."""
    r = client.call("echo__big", {"bytes": LARGE})
    t.equal(len(h.text_of(r)), LARGE, f"{what}: a large result")
    r = client.call("echo__echo", {"text": "y" * LARGE})
    t.equal(len(h.text_of(r)), LARGE, f"{what}: large arguments")
    m = s.model()
    t.equal(m.message("hello").status, 200, f"{what}: a new connection to "
            "the provider")
    m.close()


class Waiting:
    """Two calls of the weak session, which must wait."""

    def __init__(self, s, client):
        self.s = s
        self.pids = [p for pids in s.workers().values() for p in pids]
        before = cpu(self.pids)
        self.large = client.start_call("echo__big", {"bytes": LARGE})
        self.model = threading.Thread(target=self.ask, daemon=True)
        self.status = None
        self.model.start()
        self.waited = not self.large.done.wait(BLOCKED) and \
            self.status is None
        self.used = cpu(self.pids) - before

    def ask(self):
        m = self.s.model()
        self.status = m.message("hello").status
        m.close()


def weak_is_stopped(work, provider, weak, client):
    """The baseline. Returns what waits."""
    w = Waiting(weak, client)
    t.ok(w.waited, "baseline: a large result and a connection wait")
    if h.sanitized():
        t.skip("baseline: processor time", "ASan needs more")
    else:
        t.ok(w.used < BLOCKED / 4, "baseline: without using the processor",
             w.used)
    for worker in ("mcp-backd echo", "keyd anthropic"):
        lines = [x for x in weak.session_log().splitlines()
                 if worker in x and "in flight" in x]
        t.equal(len(lines), 1, f"baseline: {worker} says why, once")
    shown = h.wait_for(
        lambda: [a["text"] for a in json.loads(
            weak.icctl("--json", "status").stdout)["alarms"]
            if "in flight" in a["text"]], "no alarm")
    t.ok("most of them python3" in shown[0], "baseline: an alarm names the program",
         shown)
    r = subprocess.run(
        [*build(work, "late", provider, WEAK).argv], env=weak.env,
        capture_output=True, text=True, timeout=60 * h.PATIENCE, check=False)
    t.ok(r.returncode == 71 and "icctl doctor" in r.stderr,
         "baseline: another such session does not start", r.stderr)
    return w


def doctor(s, most):
    """Returns the row of icctl doctor, run with this limit."""
    r = subprocess.run(
        limited(most, [h.program("icctl"), "--json", "doctor"]), env=s.env,
        capture_output=True, text=True, timeout=60 * h.PATIENCE, check=False)
    return next(c for c in json.loads(r.stdout)["checks"]
                if c["check"] == "descriptors")


def attack(work, name, most=None, count=None):
    place = os.path.join(work, name)
    os.makedirs(place, mode=0o700)
    s = h.Session(place, None, [h.rule("no", "deny")], {},
                  config={"limits": {"openFiles": ATTACKER}},
                  runtime="bwrap",
                  options=["--", "/usr/bin/python3", "-c",
                           f"MOST = {count}\n" + HOLD])
    if most:
        s.argv = limited(most, s.argv)
    return s


def hoarder(s):
    """Its session cannot pass descriptors, and its agent holds many."""
    t.equal(s.wait(30), 137, "an agent that holds many ends its own session")
    said = s.events("stop")[-1]["detail"]["reason"]
    t.ok("the agent holds" in said and "in flight" in said,
         "and the reason is on record", said)


def released(weak, client, w):
    r = w.large.wait(20 * h.PATIENCE)
    t.equal(len(h.text_of(r)), LARGE, "the baseline's result comes")
    w.model.join(20 * h.PATIENCE)
    t.equal(w.status, 200, "and so does its answer")
    works(weak, client, "the baseline afterwards")


def run(work):
    provider = h.Provider(work)
    weak = build(work, "weak", provider, WEAK)
    other = build(work, "other", provider)
    with attack(work, "attacker") as attacker, weak, other, \
            attack(work, "hoarder", WEAK, 100) as second:
        client, good = weak.client(), other.client()
        works(weak, client, "the baseline before")
        h.put(second.workspace + "/hold", "")
        h.wait_for(lambda: os.path.exists(second.workspace + "/held"),
                   "the second holds none")
        h.put(attacker.workspace + "/hold", "")
        path = attacker.workspace + "/held"
        h.wait_for(lambda: os.path.exists(path), "it holds none")
        with open(path, encoding="ascii") as f:
            hard, held, why = map(int, f.read().split())
        t.equal((hard, why), (ATTACKER, 109), "the agent gets ETOOMANYREFS")
        t.ok(held > WEAK, f"it holds {held} descriptors in flight")
        w = weak_is_stopped(work, provider, weak, client)
        hoarder(second)
        row = doctor(other, WEAK)
        t.ok(row["result"] == "WRONG" and "held by: python3" in row["remedy"],
             "icctl doctor names the program", row)
        works(other, good, "another session")
        with build(work, "new", provider) as new:
            works(new, new.client(), "a new session")
        t.equal(other.events("alarm"), [], "another session: no alarm")
        h.put(attacker.workspace + "/end", "")
        t.equal(attacker.wait(20), 0, "the attacker's agent ends")
        released(weak, client, w)
    provider.end()


def main():
    before = in_flight()
    if HARD < 4 * ATTACKER:
        t.skip("descriptors in flight", "the hard limit on open files is low")
    elif before > 100:
        t.skip("descriptors in flight",
               f"other programs of this user hold {before}")
    elif os.geteuid() == 0:
        t.skip("descriptors in flight", "root is never refused")
    else:
        with h.workdir() as work, t.case("in flight"):
            run(work)
    t.done()


if __name__ == "__main__":
    main()
