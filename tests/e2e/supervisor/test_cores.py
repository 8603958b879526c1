#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A crash in a sandbox starts no program of the host: every process of a
session has a limit of 1 on core dumps, and nothing in a sandbox can lower it to
0, with which the kernel would run the handler of core_pattern as root."""
import os
import resource
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
# The limit that ulimit -Hc prints; a test cannot raise it.
HARD = resource.getrlimit(resource.RLIMIT_CORE)[1]
AGENT = """
import resource, os, signal, json
def get(): return resource.getrlimit(resource.RLIMIT_CORE)
told = [get()]
for pair in ((0, 1), (0, 0), (1, 1)):
    resource.setrlimit(resource.RLIMIT_CORE, pair)
    told.append(get())
try:
    resource.prlimit(os.getpid(), resource.RLIMIT_CORE, (0, 1))
    told.append("lowered")
except PermissionError:
    told.append("refused")
told.append(get())
told.append(resource.prlimit(os.getpid(), resource.RLIMIT_CORE))
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
told.append(resource.getrlimit(resource.RLIMIT_CPU))
with open("/workspace/told", "w") as f: json.dump(told, f)
signal.pause()
"""


def parents():
    """Returns pid -> parent of every process."""
    found = {}
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8") as f:
                found[int(name)] = int(f.read().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            pass
    return found


def descendants(pid):
    """Returns the numbers of all processes below that one, and its own."""
    every, found = parents(), [pid]
    for p in found:
        found += [q for q, parent in every.items() if parent == p]
    return found


def core_limits(pid):
    """Returns the program, and both limits on core dumps, or None if it has
    ended."""
    try:
        with open(f"/proc/{pid}/limits", encoding="ascii") as f:
            row = [x for x in f if x.startswith("Max core file")][0].split()
        with open(f"/proc/{pid}/comm", encoding="ascii") as f:
            return f.read().strip(), row[4], row[5]
    except (OSError, IndexError):
        return None


def session(work, before=(), **kw):
    s = h.Session(work, {"echo": h.echo_server(os.path.join(
        work, "log", "log.jsonl"))}, [h.rule("all", "allow")],
        {"echo": h.ECHO_TOOLS}, runtime="bwrap", **kw)
    s.argv[:0] = before
    return s


def test_everywhere(work):
    if HARD == 0:
        t.skip("limits on core dumps", "the hard limit is 0 already")
        return
    s = session(work, options=["--", h.PYTHON, "/workspace/agent.py"])
    h.put(os.path.join(s.workspace, "agent.py"), AGENT)
    told = os.path.join(s.workspace, "told")
    with s:
        h.wait_for(lambda: os.path.exists(told) and os.path.getsize(told),
                   "the agent did not begin")
        rows = [r for r in map(core_limits, descendants(s.pid)) if r]
        names = {r[0] for r in rows}
        t.ok(len(rows) >= 12 and {"auditd", "policyd", "mitmd", "mcp-backd",
                                  "bwrap"} <= names,
             "all processes of the session are found", names)
        # ASan's runtime lowers the soft limit of each program that it is in;
        # workers and sandboxes set theirs afterwards.
        asan = ("icctl", "0", "1") if h.sanitized() else None
        t.equal([r for r in rows if r[1:] != ("1", "1") and r != asan], [],
                "each has a hard and a soft limit of 1")
    with open(told, encoding="ascii") as f:
        t.equal(f.read(), "[[1, 1], [1, 1], [1, 1], [1, 1], \"refused\", "
                "[1, 1], [1, 1], [60, 60]]",
                "the agent may ask for 0, and keeps 1; other limits change")


def test_already(work):
    """A hard limit of 0 cannot be raised: the session starts all the same."""
    s = session(work, ["prlimit", "--core=0:0"], options=[
        "--", "/bin/sh", "-c", "ulimit -Hc"])
    r = subprocess.run(s.argv, env=s.env, stdin=subprocess.DEVNULL,
                       capture_output=True, text=True, timeout=60, check=False)
    t.ok(r.returncode == 0 and r.stdout.splitlines()[-1:] == ["0"],
         "a user's hard limit of 0 stays", f"{r.returncode} {r.stderr}")


def doctor(work, pattern, before=()):
    """Returns the line of doctor about crashes on a machine with that pattern.
    """
    path = h.put(os.path.join(work, "pattern"), pattern + "\n")
    r = subprocess.run(
        ["unshare", "-Urm", "sh", "-c", 'mount --bind "$1" '
         "/proc/sys/kernel/core_pattern || exit 77; shift; exec \"$@\"", "sh",
         path, *before, h.program("icctl"), "doctor"],
        env={**os.environ, "IRONCURTAIN_HOME": work}, capture_output=True,
        text=True, timeout=120, check=False)
    return None if r.returncode == 77 else [
        x for x in r.stdout.splitlines() if " crashes " in x]


def test_doctor(work):
    rows = [("core", [], []),
            ("|/usr/share/apport/apport %p", [], []),
            ("|/usr/share/apport/apport %p", ["prlimit", "--core=0:0"],
             ["handled by /usr/share/apport/apport %p",
              "hard limit on core dumps is 0"]),
            ("@/run/systemd/coredump", [],
             ["handed to /run/systemd/coredump", "no limit keeps"])]
    for pattern, before, parts in rows:
        if HARD == 0 and not parts:
            t.skip(f"doctor about {pattern}", "the hard limit is 0 already")
            continue
        told = doctor(work, pattern, before)
        if told is None:
            t.skip("doctor about crashes", "no user namespaces")
            return
        t.ok(bool(told) == bool(parts) and all(
            p in " ".join(told) for p in parts),
             f"doctor about {' '.join([*before, pattern])}", told)


def main():
    if not shutil.which("bwrap"):
        t.skip("core dumps", "bubblewrap is not installed")
        t.done()
    for test in (test_everywhere, test_already, test_doctor):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


if __name__ == "__main__":
    main()
