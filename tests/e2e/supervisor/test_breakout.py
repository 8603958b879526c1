#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests the break-out test at start. It passes in an unchanged sandbox; with
each layer removed in turn, by a bubblewrap that ignores an option, and with a
faulty report, the agent is not started, and the message names the layer."""
import json
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()

# bubblewrap's options are in the file of --args; `a` is the list of them.
WRAPPER = """#!/usr/bin/python3 -I
import os
a = os.fsdecode(os.pread(3, 1 << 20, 0)).split(chr(0))[:-1]
PROBE = %r
def drop(*names):
    for name, n in names:
        while name in a:
            at = a.index(name)
            del a[at:at + n]
def probe(text):
    # ic-bridge is bound by descriptor; this program takes its place.
    at = a.index("/opt/ironcurtain/bin/ic-bridge")
    a[at - 2:at] = ["--ro-bind", PROBE]
    with open(PROBE, "w") as f:
        f.write("#!/usr/bin/python3 -I" + chr(10) + text)
%s
fd = os.memfd_create("args")
os.write(fd, b"".join(os.fsencode(s) + bytes(1) for s in a))
os.lseek(fd, 0, 0)
os.dup2(fd, 3)
for n in os.listdir("/proc/self/fd"):
    # This script's own file, by which it was started, is nobody else's.
    if os.path.islink("/proc/self/fd/" + n) and (
            os.readlink("/proc/self/fd/" + n) == "/usr/bin/bwrap"):
        os.close(int(n))
os.execv(%r, ["bwrap"] + __import__("sys").argv[1:])
"""
SHARED = ["--unshare-user", "--unshare-ipc", "--unshare-uts"]
# In place of ic-bridge, with its connection to icsupervisor.
LIAR = """import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect("/run/ironcurtain/bridge.sock")
def send(kind, data):
    s.sendall(bytes((kind, 0, 0, 0)) + len(data).to_bytes(4, "little") + data)
def await_frame():
    head = s.recv(8, socket.MSG_WAITALL)
    if len(head) < 8:
        sys.exit(1)
    return s.recv(int.from_bytes(head[4:], "little"), socket.MSG_WAITALL)
def report(nonce, found):
    count = int.from_bytes(ask[16:20], "little")
    return nonce + b"".join(
        n.to_bytes(4, "little") + found.to_bytes(4, "little")
        for n in range(count))
def agent():
    open("/workspace/began", "w")
%s
await_frame()
agent()
"""
HELLO = "send(1, bytes((1, 0, 0, 0)))\nask = await_frame()\n"


def liar(script):
    return f"probe({LIAR % script!r})"


def lie(nonce="ask[:16]", found=1, written="r"):
    return liar(f"{HELLO}r = report({nonce}, {found})\nsend(2, {written})")


# name, edit of the wrapper, icsupervisor's message
LAYERS = [
    ("the system-call filter", 'drop(("--seccomp", 2))',
     "the sandbox lacks the system-call filter"),
    ("the network namespace",
     f'drop(("--unshare-all", 1)); '
     f'a[:0] = {SHARED + ["--unshare-pid"]}',
     "the sandbox lacks the network namespace"),
    ("the process namespace",
     'drop(("--unshare-all", 1), ("--as-pid-1", 1), ("--proc", 2)); '
     f'a[:0] = {SHARED + ["--unshare-net"]}; a += ["--ro-bind", "/proc", '
     '"/proc"]',
     "the sandbox lacks the process namespace"),
    ("process 1", 'drop(("--as-pid-1", 1))',
     "the sandbox lacks the protection of its first processes"),
    ("the read-only root", 'drop(("--remount-ro", 2))',
     "the sandbox lacks the read-only mounts"),
    ("a package cache that can be written",
     'a[:0] = ["--tmpfs", "/opt/ironcurtain/caches/pip"]',
     "writing to a shared package cache: succeeded"),
    ("the mount namespace", 'a += ["--ro-bind", SESSION, SESSION]',
     "the sandbox lacks the mount namespace"),
    ("capabilities", 'a += ["--cap-add", "CAP_NET_RAW"]',
     "the sandbox lacks the user namespace without capabilities"),
    ("the masks in /proc",
     'at = a.index("/proc/kallsyms"); del a[at - 2:at + 1]',
     "the sandbox lacks the masks in /proc"),
    ("an open file", 'os.dup2(os.open("/etc/hostname", 0), 60)',
     "the sandbox lacks open files of its own"),
    ("an open terminal", 'os.dup2(os.openpty()[1], 0)',
     "the sandbox lacks the separation from the terminal"),
    ("a report that is empty", 'probe("pass")',
     "ic-bridge ended before it was over"),
    ("a report that is cut", lie(written="r[:99]"), "99 bytes instead of"),
    ("a report that is too long", lie(written="r + r"),
     "bytes instead of"),
    ("a report of another start", lie(nonce="bytes(16)"),
     "is not of this start"),
    ("a report of successes", lie(found=0),
     "sending a datagram to a host: succeeded"),
    ("a second greeting", liar(HELLO + "send(1, bytes((1, 0, 0, 0)))"),
     "ic-bridge broke the protocol: it sent a frame that was not expected"),
    ("a connection that is closed", liar(HELLO + "s.close(); sys.exit(0)"),
     "ic-bridge ended before it was over"),
]


# Layers that only the sandbox of an MCP server loses, and what is named.
SERVER_LAYERS = [
    ("the system-call filter",
     'if "/workspace" in a and "/home/agent" not in a: '
     'drop(("--seccomp", 2))', "the system-call filter"),
    ("the read-only root",
     'if "/workspace" in a and "/home/agent" not in a: '
     'drop(("--remount-ro", 2))', "the read-only mounts"),
    ("the masks in /proc",
     'if "/workspace" in a and "/home/agent" not in a: '
     'at = a.index("/proc/kallsyms"); del a[at - 2:at + 1]',
     "the masks in /proc"),
]


def start(s, *command):
    s.argv += ["--", *command]
    return subprocess.run(s.argv, env=s.env, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True,
                          timeout=60 * h.PATIENCE, check=False)


def test_passes(work):
    s = h.Session(work, runtime="bwrap")
    r = start(s, "/bin/sh", "-c", "ls /proc/1/fd /proc/1/root; "
              "ls /proc/self/fd; ls /run/ironcurtain; echo began")
    t.equal((r.returncode, "began" in r.stdout), (0, True),
            "the agent is started after the test")
    t.equal(r.stdout.split("\n", 1)[1].split(),
            ["0", "1", "2", "3", "mitm-proxy.sock", "proxy.sock",
             "terminal.sock", "began"], "the agent has no file of the test, "
            "process 1 shows nothing, and ic-bridge's socket is gone")
    with open(os.path.join(s.dir, "session.json"), encoding="utf-8") as f:
        told = json.load(f)["breakoutTest"]
    with open(os.path.join(s.dir, "audit.jsonl"), encoding="utf-8") as f:
        logged = [e["detail"] for e in map(json.loads, f)
                  if e.get("event") == "breakoutTest"]
    t.ok(told["attempts"] >= 100 and logged == [told],
         "session.json and the log have its result", f"{told} {logged}")
    t.ok(os.geteuid() == 0 or told["outside"] >= 12,
         "the workers were attacked from outside", str(told))


def other_bwrap(work, s, edit):
    """Returns the beginning of a command line under which that bubblewrap is
    in its place."""
    wrapper, real, probe = (os.path.join(work, n)
                            for n in ("wrapper", "real", "probe"))
    for path, text in ((real, ""), (probe, ""), (wrapper, WRAPPER % (
            probe, edit.replace("SESSION", repr(s.dir)), real))):
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, 0o755)
    return [h.PYTHON, os.path.join(h.STANDINS, "other_bwrap.py"), wrapper,
            real]


def with_wrapper(work, edit):
    """Returns the session and the result of a start with that bubblewrap, or
    None if this machine allows no namespace to put it in place."""
    s = h.Session(work, runtime="bwrap")
    s.argv[:0] = other_bwrap(work, s, edit)
    r = start(s, "/bin/sh", "-c", "echo began >/workspace/began")
    refused = r.returncode == 77 and not os.path.exists(s.dir)
    return s, None if refused else r


def test_unchanged(work):
    _, r = with_wrapper(work, "")
    if r is None:
        t.skip("the wrapper alone changes nothing", "no user namespaces")
    else:
        t.ok(r.returncode == 0, "the wrapper alone changes nothing", r.stderr)


def test_layers(work):
    for i, (name, edit, want) in enumerate(LAYERS):
        s, r = with_wrapper(os.path.join(work, str(i)), edit)
        if r is None:
            t.skip(f"refused without {name}", "no user namespaces")
            continue
        began = os.path.exists(os.path.join(s.workspace, "began"))
        t.ok(r.returncode == 71 and not began and want in r.stderr
             and "the agent is not started" in r.stderr,
             f"refused: {name}", f"{r.returncode} {began} {r.stderr}")


def doctor(s, before=(), image=(), path=()):
    """Returns icctl doctor --attack and what it prints as JSON."""
    env = {**s.env, "PATH": ":".join([*path, s.env["PATH"]])}
    r = subprocess.run([*before, h.program("icctl"), "--json", "doctor",
                        "--attack", *image], env=env, capture_output=True,
                       text=True, timeout=120 * h.PATIENCE, check=False)
    return r, json.loads(r.stdout) if r.stdout else {}


def test_doctor(work):
    """The same test for a person: every attempt, and what stopped it."""
    s = h.Session(work, runtime="bwrap")
    r, told = doctor(s)
    runs = {a["runtime"]: a for a in told["attacks"]}
    t.ok(r.returncode == 0 and set(runs) >= {"bwrap", "none"},
         "icctl doctor --attack tries each runtime", r.stdout[:500])
    every = runs["bwrap"]["inside"] + runs["bwrap"]["outside"]
    t.ok(len(runs["bwrap"]["inside"]) >= 100 and
         all(a["held"] and a["found"] for a in every),
         "at least a hundred attempts, all of which are stopped",
         [a for a in every if not a["held"]])
    server = runs["bwrap"]["server"]
    t.ok(len(server) >= 100 and all(a["held"] and a["found"] for a in server),
         "and as many from an MCP server's sandbox",
         [a for a in server if not a["held"]])
    for name in ("bwrap", "none"):
        workers = {a["worker"].split()[0] for a in runs[name]["outside"]}
        t.ok(os.geteuid() == 0 or workers >= {
            "auditd", "dialerd", "keyd", "mcp-backd", "mcp-proxyd", "mitmd",
            "policyd"}, f"{name}: and every worker is attacked", workers)
    engine = h.put(os.path.join(work, "engine", "docker"),
                   "#!/bin/sh\necho no engine listens >&2\nexit 1\n", 0o755)
    r, told = doctor(s, other_bwrap(
        work, s, f'drop(("--unshare-all", 1)); '
        f'a[:0] = {SHARED + ["--unshare-pid"]}'),
                     image=["an-image"], path=[os.path.dirname(engine)])
    if r.returncode == 77:
        t.skip("what is not stopped is named", "no user namespaces")
        return
    asked = [c for c in told["checks"] if c["check"] == "docker"]
    t.ok(len(asked) == 1 and "no engine listens" in
         asked[0]["found"] + asked[0]["remedy"],
         "with an image the engine is asked, and its words are shown", asked)
    broken = [a for a in told["attacks"] if a["runtime"] == "bwrap"][0]
    escaped = [a for a in broken["inside"] if not a["held"]]
    t.ok(r.returncode == 1 and escaped and
         {a["guard"] for a in escaped} == {"the network namespace"},
         "what is not stopped is named", escaped)
    escaped = [a for a in broken["server"] if not a["held"]]
    t.ok({a["guard"] for a in escaped} == {"the network namespace"} and
         {"connecting to a host", "network routes"} & {
             a["what"] for a in escaped},
         "in an MCP server's sandbox, too", escaped)
    for name, edit, guard in SERVER_LAYERS:
        r, told = doctor(s, other_bwrap(work, s, edit))
        server = [a["server"] for a in told["attacks"]
                  if a["runtime"] == "bwrap"][0]
        escaped = [a for a in server if not a["held"]]
        t.ok(r.returncode == 1 and guard in {a["guard"] for a in escaped},
             f"a server without {name}", escaped or r.stderr)


def main():
    if not shutil.which("bwrap"):
        t.skip("break-out test", "bubblewrap is not installed")
        t.done()
    for test in (test_passes, test_unchanged, test_layers, test_doctor):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


if __name__ == "__main__":
    main()
