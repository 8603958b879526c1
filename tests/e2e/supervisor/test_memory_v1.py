#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests the memory limit by control groups of version 1, in a group that root
makes and gives to a user: segments of System V that no process has attached
count, which they do nowhere else. Root runs this with --user NAME; where
version 2 has the memory controller, there is nothing to test."""
import os
import pwd
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
LIMIT = 160
# 40 segments of 8 MiB: written, and no longer attached.
AGENT = """import ctypes
c = ctypes.CDLL(None)
c.shmat.restype = ctypes.c_void_p
c.shmdt.argtypes = [ctypes.c_void_p]
for i in range(40):
    at = c.shmat(c.shmget(0, 8 << 20, 0o1600), None, 0)
    ctypes.memset(at, 1, 8 << 20)
    c.shmdt(at)
    print(i, flush=True)
"""


def group():
    """Returns the path of this process in the memory controller, or None."""
    with open("/proc/self/cgroup", encoding="ascii") as f:
        own = [x.rstrip("\n").split(":", 2)[2] for x in f
               if x.split(":")[1] == "memory"]
    path = "/sys/fs/cgroup/memory" + (own[0] if own else "/none")
    return path if own and os.path.exists(path) else None


def session(work):
    home = os.path.join(work, "home")
    ws = os.path.join(work, "ws")
    os.makedirs(ws)
    os.mkdir(home, 0o700)
    h.put(os.path.join(home, "config.json"),
          '{"dockerResources":{"memoryMb":%d}}' % LIMIT)
    h.put(os.path.join(ws, "eat.py"), AGENT)
    r = subprocess.run(
        [h.program("icctl"), "start", "--workspace", ws, "--", "python3",
         "/workspace/eat.py"], env={**os.environ, "HOME": work,
                                    "IRONCURTAIN_HOME": home},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240,
        check=False)
    made = len(r.stdout.split())
    t.equal(r.returncode, 137, "the kernel ends the agent")
    t.ok(LIMIT // 8 - 8 <= made <= LIMIT // 8, "at its limit",
         f"{made} segments; {r.stderr}")
    t.contains(r.stderr, f"the agent used {LIMIT} MiB of memory",
               "and the end says so")
    t.equal([x for x in os.listdir(group()) if x.startswith("ironcurtain-")],
            [], "no group is left")


def outside(user):
    """As root: make the group, and become the user in it."""
    who = pwd.getpwnam(user)
    path = os.path.join(group(), f"ic-test-{os.getpid()}")
    os.mkdir(path)
    try:
        for name in ("", "cgroup.procs"):
            os.chown(os.path.join(path, name), who.pw_uid, who.pw_gid)

        def become():
            h.put(os.path.join(path, "cgroup.procs"), "0")
            os.initgroups(user, who.pw_gid)
            os.setgid(who.pw_gid)
            os.setuid(who.pw_uid)
        return subprocess.run(
            ["/usr/bin/python3", "-B", os.path.abspath(__file__), "--inside"],
            preexec_fn=become, check=False, cwd="/",
            env={**os.environ, "HOME": who.pw_dir}).returncode
    finally:
        os.rmdir(path)


if __name__ == "__main__":
    if sys.argv[1:] == ["--inside"]:
        with tempfile.TemporaryDirectory(prefix="ic-v1-") as directory:
            session(directory)
        t.done()
    if len(sys.argv) != 3 or sys.argv[1] != "--user":
        sys.exit("usage: test_memory_v1.py --user NAME, as root")
    if group() is None:
        print("1..0 # SKIP no memory controller of version 1")
        sys.exit(0)
    sys.exit(outside(sys.argv[2]))
