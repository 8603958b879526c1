# SPDX-License-Identifier: ISC
"""./dev bench --start: when each process of a start was executed and when its
filter was installed, seen by strace, which makes all of it slower: what counts
is who waits for whom, and for how long in proportion."""
import json
import os
import re
import subprocess
import time

LINE = re.compile(r"(\d+)(?:<(.*?)>)? +([\d.]+) (.*)")
# Between these two a worker loads, warms its libraries up and is confined.
FILTER = re.compile(r"seccomp\(SECCOMP_SET_MODE_FILTER, 0, 0x")


def rows(text, begin):
    """Returns [pid, name, ms of its exec, ms of its filter or None]."""
    found, waiting = {}, {}
    for line in text.splitlines():
        m = LINE.match(line)
        if m is None:
            continue
        pid, name, at, what = int(m[1]), m[2], float(m[3]), m[4]
        ms = (at - begin) * 1e3
        if pid in found and name:
            found[pid][1] = name
        call = what
        if what.startswith("<... "):
            call = waiting.pop(pid, "")
        elif what.endswith("<unfinished ...>"):
            waiting[pid] = what
            continue
        if not what.endswith("= 0"):
            continue
        if call.startswith("execve"):
            found[pid] = [pid, name or "?", ms, None]
        elif FILTER.match(call) and pid in found:
            found[pid][3] = ms
    return sorted(found.values(), key=lambda r: r[2])


def trace(rig):
    """Starts a session with three servers under strace. Returns the rows and
    the milliseconds until READY."""
    s = rig.new_session(servers=3)
    out = os.path.join(rig.work, "strace")
    s.argv = ["strace", "-f", "-Y", "--seccomp-bpf", "-ttt", "-o", out, "-e",
              "trace=execve,execveat,seccomp", *s.argv]
    begin = time.time()
    try:
        s.start()
        ready = (time.time() - begin) * 1e3
    finally:
        s.stop()
    with open(out, encoding="utf-8", errors="replace") as f:
        return [r for r in rows(f.read(), begin) if r[2] < 2 * ready], ready


def report(rig, as_json):
    if subprocess.run(["strace", "-V"], check=False,
                      stdout=subprocess.DEVNULL).returncode != 0:
        raise SystemExit("bench: --start needs strace")
    trace(rig)  # once for the caches
    found, ready = trace(rig)
    if as_json:
        print(json.dumps({"ready_ms": ready, "processes": [
            dict(zip(("pid", "name", "exec_ms", "confined_ms"), r))
            for r in found]}))
        return
    print(f"{'ms':>7}  {'process':24}{'confined after':>15}")
    said = False
    for _, name, at, confined in found:
        if at > ready and not said:
            print(f"{ready:7.1f}  READY")
            said = True
        took = "" if confined is None else f"{confined - at:.1f}"
        print(f"{at:7.1f}  {name:24}{took:>15}".rstrip())
    if not said:
        print(f"{ready:7.1f}  READY")
