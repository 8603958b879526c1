#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Control groups of version 2, in a machine that has them with controllers: a
session in a group that was given to its user, and one in a scope. Each limit is reached on purpose,
by the agent and by an MCP server, and named with its key.

usage: cgroups.py UID, as root"""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
TOP = "/sys/fs/cgroup/ironcurtain-test"
GROUP = os.path.join(TOP, "session")
CONFIG = {"dockerResources": {"memoryMb": 128, "cpus": 1},
          "limits": {"processes": 40, "serverMemoryMb": 96}}
AGENT = r"""
import os, subprocess, sys, time
out = open("/workspace/told", "w", buffering=1)
eat = "x = []\nwhile True: x.append(bytearray(1 << 20))"
out.write("eater %d\n" % subprocess.run([sys.executable, "-c", eat]).returncode)
n = 0
try:
    while n < 500:
        if os.fork() == 0:
            time.sleep(600)
        n += 1
except OSError:
    pass
out.write("forked %s\n" % (n < 45))
while not os.path.exists("/workspace/go"):
    time.sleep(0.05)
if os.path.exists("/workspace/die"):
    exec(eat)
"""


def write(path, text):
    with open(path, "w", encoding="ascii") as f:
        f.write(text)


def read(*path):
    with open(os.path.join(GROUP, *path), encoding="ascii") as f:
        return f.read().strip()


def divide():
    """Leaves the delegated group, so that the session's can have controllers.
    """
    os.mkdir(os.path.join(TOP, "test"))
    write(os.path.join(TOP, "test", "cgroup.procs"), "0")
    os.mkdir(GROUP)
    write(os.path.join(TOP, "cgroup.subtree_control"), "+memory +pids +cpu")


def session(work, name, env=None, enter=True):
    sdir = os.path.join(work, name)
    os.makedirs(sdir)
    eater = {"command": h.PYTHON, "args": [
        os.path.join(h.STANDINS, "mcp_hungry.py")],
        "sandbox": {"filesystem": {"allowRead": [h.STANDINS]}}}
    s = h.Session(sdir, runtime="bwrap", servers={"eater": eater},
                  config=CONFIG, env=env, options=("--agent", "command", "--",
                                          "/usr/bin/python3",
                                          "/workspace/agent.py"))
    h.put(os.path.join(s.workspace, "agent.py"), AGENT)
    if not enter:
        return s
    # icsupervisor alone is in its group.
    s.argv = ["/bin/sh", "-c", f'echo 0 >{GROUP}/cgroup.procs; exec "$0" "$@"',
              *s.argv]
    return s


def told(s):
    path = os.path.join(s.workspace, "told")
    return open(path, encoding="ascii").read() if os.path.exists(path) else ""


def check_force(s):
    shown = json.loads(s.icctl("--json", "status").stdout)["limits"]
    t.equal(shown["controlGroup"], f"{GROUP} (memory pids cpu)",
            "status names the group and its controllers")
    t.equal([shown["memory"], shown["serverMemory"], shown["processors"]],
            ["128 MiB, by a control group", "96 MiB, by a control group",
             "1, by a control group"], "and what it enforces")
    t.equal(s.events("start")[0]["detail"]["limits"], shown,
            "the first record says the same")
    t.equal([read("agent", f) for f in ("memory.max", "pids.max", "cpu.max")],
            [str(128 << 20), "42", "100000 100000"], "the agent's limits")
    t.ok(read("agent", "memory.swap.max") == "0", "and no swap")
    names = sorted(n for n in os.listdir(GROUP)
                   if os.path.isdir(os.path.join(GROUP, n)))
    t.ok(names[0] == "agent" and names[-1] == "supervisor" and
         read("supervisor", "cgroup.procs").split()[0] == str(s.pid),
         "icsupervisor and the sandboxes have groups of their own", names)
    t.ok(not read("cgroup.procs"), "and nothing is left above them")


def reached(work):
    with session(work, "reached") as s:
        h.wait_for(lambda: "forked" in told(s), "the agent did not go on", 120)
        t.contains(told(s), "eater -9", "the kernel ends what takes too much "
                   "memory, and the agent goes on")
        t.contains(told(s), "forked True", "a fork too many fails")
        check_force(s)
        log = h.wait_for(lambda: "dockerResources.memoryMb" in s.session_log()
                         and "limits.serverMemoryMb" in s.session_log() and
                         s.session_log(), "no message", 60)
        t.ok("at which the kernel ends its processes" in log and
             "MCP server eater" in log,
             "both limits are named, with their keys", log)
        h.put(os.path.join(s.workspace, "go"), "")
        t.equal(s.wait(60), 0, "and the session ends well")
    t.equal(read("cgroup.subtree_control"), "", "the group is given back")
    t.equal([n for n in os.listdir(GROUP)
             if os.path.isdir(os.path.join(GROUP, n))], [],
            "without groups below it")


def ended(work):
    with session(work, "ended") as s:
        h.wait_for(lambda: "forked" in told(s), "the agent did not go on", 120)
        h.put(os.path.join(s.workspace, "die"), "")
        h.put(os.path.join(s.workspace, "go"), "")
        t.equal(s.wait(60), 137, "an agent that is ended ends the session")
        t.contains(s.process.stderr(), "dockerResources.memoryMb",
                   "with the limit's key")


def manager(env):
    """Starts the user's systemd in a group of its own."""
    place = os.path.join(TOP, "manager")
    os.mkdir(place)
    p = subprocess.Popen(
        ["/bin/sh", "-c", f"echo 0 >{place}/cgroup.procs; "
         "exec /usr/lib/systemd/systemd --user"],
        env={**os.environ, **env}, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    h.wait_for(lambda: subprocess.run(
        ["busctl", "--user", "--quiet", "status",
         "org.freedesktop.systemd1"], env={**os.environ, **env},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        check=False).returncode == 0, "the manager does not answer", 60)
    return p


def scope(work):
    """The user's systemd is asked for a group."""
    env = {"XDG_RUNTIME_DIR": f"/run/user/{os.getuid()}"}
    systemd = manager(env)
    try:
        with session(work, "scope", env, enter=False) as s:
            h.wait_for(lambda: "forked" in told(s), "no agent", 120)
            shown = json.loads(s.icctl("--json", "status").stdout)["limits"]
            path = shown["controlGroup"].split()[0]
            t.ok(path.startswith(os.path.join(TOP, "manager")) and
                 path.endswith(".scope") and "memory" in
                 shown["controlGroup"], "the session has a scope", shown)
            t.contains(told(s), "eater -9", "in which memory is limited")
            with open(os.path.join(path, "agent", "memory.max"),
                      encoding="ascii") as f:
                t.equal(f.read().strip(), str(128 << 20), "as configured")
            with open(f"/proc/{s.pid}/cgroup", encoding="ascii") as f:
                t.contains(f.read(), ".scope/supervisor",
                           "icsupervisor is in it")
            h.put(os.path.join(s.workspace, "go"), "")
            t.equal(s.wait(60), 0, "it ends well")
        h.wait_for(lambda: not os.path.exists(path), "the scope stayed", 30)
        t.ok(True, "and the scope is gone")
    finally:
        systemd.terminate()
        systemd.wait(30)


def main():
    divide()
    with h.workdir() as work:
        for case in (reached, ended, scope):
            with t.case(case.__name__):
                case(work)
    t.done()


def delegate(uid):
    """As root: gives a group to the user, and becomes that user in it."""
    top = "/sys/fs/cgroup/ironcurtain-test"
    os.mkdir(top)
    write("/sys/fs/cgroup/cgroup.subtree_control", "+memory +pids +cpu")
    for name in ("", "cgroup.procs", "cgroup.subtree_control",
                 "cgroup.threads"):
        os.chown(os.path.join(top, name), uid, uid)
    write(os.path.join(top, "cgroup.procs"), "0")
    os.makedirs(f"/run/user/{uid}", mode=0o700)
    os.chown(f"/run/user/{uid}", uid, uid)
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    os.execv(sys.executable, [sys.executable, "-B", os.path.abspath(__file__)])


if __name__ == "__main__":
    if len(sys.argv) == 2:
        delegate(int(sys.argv[1]))
    main()
