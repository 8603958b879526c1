#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Reaches each limit of a sandbox on purpose, as the agent and as an MCP
server. The offending part ends, the rest continues, and the message names the
limit and the key that raises it."""
import contextlib
import json
import os
import resource
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
SMALL = {"dockerResources": {"memoryMb": 256, "cpus": 1},
         "limits": {"processes": 40, "tmpMb": 8, "shmMb": 4, "homeMb": 64,
                    "serverMemoryMb": 128}}
FORKS = """
import os, signal, sys, time
n = 0
try:
    while n < 1000:
        if os.fork() == 0:
            signal.pause()
        n += 1
except BlockingIOError:
    pass
print("forked", n)
"""
# Lets the session see the state before the agent ends.
WAIT = """
import os, time
while not any(f == "go" for f in os.listdir("/workspace")):
    time.sleep(0.05)
"""
TELL = """
import sys
sys.stdout = open("/workspace/told", "w", buffering=1)
"""
EAT = """
held = []
while True:
    held.append(bytearray(8 << 20))
"""
SHARED = """
import mmap
held = []
while True:
    m = mmap.mmap(-1, 8 << 20)
    m.write(bytes(8 << 20))
    held.append(m)
"""
MEMFD = """
import os
held = []
while True:
    held.append(os.memfd_create("x"))
    os.write(held[-1], bytes(8 << 20))
"""
PTYS = """
import os, time
os.fork()  # Two processes: one may have as few as 1024 descriptors.
held = [os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY) for _ in range(520)]
while True:
    time.sleep(1)
"""
HOME = """
import os, time
for i in range(4):
    with open(os.environ["HOME"] + f"/f{i}", "wb") as f:
        f.write(bytes(30 << 20))
while True:
    time.sleep(1)
"""
DEEP = """
import os, time
os.chdir(os.environ["HOME"])
for i in range(300):
    os.mkdir("d")
    os.chdir("d")
while True:
    time.sleep(1)
"""


@contextlib.contextmanager
def session(work, name, program, config=None, servers=None):
    place = os.path.join(work, name)
    os.makedirs(place, mode=0o700)
    s = h.Session(place, servers, [h.rule("no", "deny")], {},
                  config={**SMALL, **(config or {})}, runtime="bwrap",
                  options=["--", "/usr/bin/python3", "-c", TELL + program])
    with s:
        yield s


def told(s):
    with open(s.workspace + "/told", encoding="utf-8") as f:
        return f.read()


def ended(work, name, program, words):
    """The session ends the program, with these words in the log."""
    with session(work, name, program) as s:
        status = s.wait(60)
        said = s.session_log()
        t.equal(status, 137, f"{name}: the status is 137")
        t.ok(all(w in said for w in words), f"{name}: the message", said)
        last = s.events("stop")[-1]
        t.ok(words[0] in last["detail"]["reason"], f"{name}: on record", last)


def refused(work, name, program, words, output):
    """The program is refused more, and continues."""
    with session(work, name, program + WAIT) as s:
        h.wait_for(lambda: all(w in s.session_log() for w in words),
                   f"{name}: no message")
        shown = json.loads(s.icctl("--json", "status").stdout)
        t.ok(any(words[0] in a["text"] for a in shown["alarms"]),
             f"{name}: icctl status says so", shown["alarms"])
        h.put(s.workspace + "/go", "")
        t.equal(s.wait(30), 0, f"{name}: the agent went on")
        t.ok(output in told(s), f"{name}: it was refused", told(s))
        t.equal(s.session_log().count(words[0]), 1, f"{name}: said once")


def agents(work):
    refused(work, "processes", FORKS, ["processes and threads",
                                       "limits.processes"], "forked 3")
    for name, key in (("/dev/shm", "shmMb"), ("/tmp", "tmpMb")):
        refused(work, key, f"""
import os
try:
    with open("{name}/x", "wb", 0) as f:
        while f.write(bytes(1 << 20)): pass
except OSError as e:
    print("full", e)
""", [f"MiB of {name}", f"limits.{key}"], "full [Errno 28]")
    for name, program in (("memory", EAT), ("shared memory", SHARED),
                          ("memfds", MEMFD)):
        ended(work, name, program,
              ["MiB of memory", "its limit is 256",
               "dockerResources.memoryMb"])
    ended(work, "ptys", PTYS, ["pseudo-terminals", "its limit is 1024"])
    ended(work, "home", HOME, ["home directory has", "limits.homeMb"])
    ended(work, "deep", DEEP, ["nested more than 256 deep", "limits.homeMb"])


def inside(work):
    """The limits that a program in the sandbox can see and raise."""
    program = """
import os, resource
def tell(*a): print("SEEN", *a)
tell("nproc", resource.getrlimit(resource.RLIMIT_NPROC))
tell("nofile", resource.getrlimit(resource.RLIMIT_NOFILE)[1])
tell("fsize", resource.getrlimit(resource.RLIMIT_FSIZE)[1] >> 20)
for what in (resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE,
             resource.RLIMIT_NOFILE):
    try:
        resource.setrlimit(what, (1 << 40, 1 << 40))
        tell("raised", what)
    except (ValueError, OSError):
        tell("not raised")
tell("cpus", len(os.sched_getaffinity(0)))
for cpus in (range(64), [63], [0]):
    try:
        os.sched_setaffinity(0, cpus)
        tell("other cpus")
    except OSError as e:
        tell("refused", e.errno)
score = lambda: open("/proc/self/oom_score_adj").read().strip()
open("/proc/self/oom_score_adj", "w").write("0")
while score() != "1000":
    pass
tell("oom", score())
try:
    open("/dev/x", "w")
    tell("/dev is writable")
except OSError as e:
    tell("/dev:", e.errno)
"""
    with session(work, "inside", program) as s:
        t.equal(s.wait(30), 0, "inside: it ended well")
        said = told(s)
        # In a container its control group counts processes, and /dev is
        # root's.
        wants = ("/dev: ",) if os.environ.get("IC_RUNTIME") else (
            "/dev: 30", "nproc (40, 40)")
        most = min(16384, resource.getrlimit(resource.RLIMIT_NOFILE)[1] // 2)
        for want in (f"nofile {most}", "fsize 64", "cpus 1", "oom 1000", *wants):
            t.ok("SEEN " + want in said, f"inside: {want}", said)
        t.equal(said.count("SEEN not raised"), 3, "inside: none can be raised")
        if os.cpu_count() > 1 and not os.environ.get("IC_RUNTIME"):
            t.equal(said.count("SEEN refused 1"),
                    0 if s.events("start")[0]["detail"]["limits"]
                    ["processors"].endswith("group") else 3,
                    "inside: other processors cannot be chosen")


def recorded(work):
    """The limits in force are the same in session.json, the first record and
    status."""
    with session(work, "recorded", "import os" + WAIT,
                {"dockerResources": {"memoryMb": None, "cpus": None},
                 "limits": {}}) as s:
        shown = json.loads(s.icctl("--json", "status").stdout)["limits"]
        t.equal(shown["memory"], "no limit", "status: null is no limit")
        t.ok(shown["processes"].startswith("512"), "status: a default", shown)
        t.ok("in each process" in shown["openFiles"], "status: open files",
             shown)
        group = shown["controlGroup"]
        t.ok(group.startswith("none: ") or group.startswith("/"),
             "status: the control group, or why there is none", shown)
        with open(s.dir + "/session.json", encoding="utf-8") as f:
            t.equal(json.load(f)["limits"], shown, "session.json: the same")
        t.equal(s.events("start")[0]["detail"]["limits"], shown,
                "first record: the same")
        t.ok("limits of the sandboxes" in s.icctl("status").stdout,
             "icctl status: for people")
        h.put(s.workspace + "/go", "")
        t.equal(s.wait(30), 0, "recorded: it ended well")


def server(work):
    """A server that exceeds its limit ends alone; one that forks too often is
    refused."""
    eater = {"command": h.PYTHON, "args": [
        os.path.join(h.STANDINS, "mcp_hungry.py")],
        "sandbox": {"filesystem": {"allowRead": [h.STANDINS]}}}
    with session(work, "server", "import os" + WAIT,
                 servers={"eater": eater}) as s:
        h.wait_for(lambda: "limits.serverMemoryMb" in s.session_log(),
                   "server: no message")
        t.ok("MCP server eater" in s.session_log(), "server: it is named",
             s.session_log())
        h.wait_for(lambda: json.loads(s.icctl("--json", "status").stdout)
                   ["servers"][0]["state"] == "gone", "server: it is not gone")
        h.put(s.workspace + "/go", "")
        t.equal(s.wait(30), 0, "server: the session went on")


def main():
    with h.workdir() as work:
        for case in (inside, agents, recorded, server):
            with t.case(case.__name__):
                case(work)
    t.done()


if __name__ == "__main__":
    main()
