#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests the system calls in a sandbox, for an agent and for an MCP server:
each attempt is also made outside, to show that only the sandbox refuses it."""
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
SAME = "as bare"
# name -> (agent, server)
WANT = {
    "O_TMPFILE": (SAME, SAME),
    "O_TMPFILE, setuid": ("EPERM", "EPERM"),
    "O_TMPFILE, setgid": ("EPERM", "EPERM"),
    "O_CREAT, setuid": ("EPERM", "EPERM"),
    "chmod": (SAME, SAME),
    "chmod, setuid": ("EPERM", "EPERM"),
    "fchmodat2, setuid": ("EPERM", "EPERM"),
    "mknod, setuid": ("EPERM", "EPERM"),
    "netlink, routes": (SAME, "EAFNOSUPPORT"),
    **{f"netlink, protocol {n}": ("EPROTONOSUPPORT", "EAFNOSUPPORT")
       for n in (2, 4, 9, 12, 15, 16, 31)},
    **{f"socket, family {n}": ("EAFNOSUPPORT", "EAFNOSUPPORT")
       for n in (17, 21, 38, 40, 44)},
    **{n: ("ENOSYS", "ENOSYS") for n in
       ("statmount", "listmount", "lsm_list_modules", "open_tree_attr",
        "file_getattr", "number_500", "clone3", "openat2")},
    **{n: ("EPERM", "EPERM") for n in
       ("io_uring_setup", "bpf", "userfaultfd", "perf_event_open", "setns",
        "open_tree", "keyctl", "add_key", "new user namespace", "mount")},
    "mseal": (SAME, SAME), "futex_waitv": (SAME, SAME),
    "/proc/keys": ("EACCES", "EACCES"),
    "/proc/key-users": ("EACCES", "EACCES"),
    "/proc/kallsyms": ("EACCES", "EACCES"),
    "/proc/self/stat": (SAME, SAME),
}


def read(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def bare(work, program):
    out, place = os.path.join(work, "bare.json"), os.path.join(work, "place")
    os.makedirs(place)
    subprocess.run([h.PYTHON, program, out, place], check=True)
    return read(out)


def test_boxes(work):
    program = os.path.join(h.STANDINS, "box_attempts.py")
    outside = bare(work, program)
    s = h.Session(work, {"attempts": {
        "command": h.PYTHON, "args": [
            program, "/workspace/server.json", "/workspace"],
        "sandbox": {"filesystem": {"allowRead": [h.STANDINS]}}}},
        [h.rule("no", "deny")], {}, runtime="bwrap", options=[
            "--", "/usr/bin/python3", "/workspace/attempts.py",
            "/workspace/agent.json", "/workspace"])
    shutil.copy(program, os.path.join(s.workspace, "attempts.py"))
    with s:
        s.process.p.wait(60)
    agent = read(os.path.join(s.workspace, "agent.json"))
    server = read(os.path.join(s.workspace, "server.json"))
    t.equal(sorted(outside), sorted(WANT), "every attempt has its row")
    for name, (as_agent, as_server) in WANT.items():
        missing = outside[name] in ("ENOSYS", "ENOENT") and \
            as_agent not in (SAME, "ENOSYS")
        for who, got, want in (("agent", agent[name], as_agent),
                               ("server", server[name], as_server)):
            want = outside[name] if want == SAME else want
            # A feature that the machine lacks needs no filter.
            t.ok(got == want or missing and got in ("ENOENT", "ENOSYS"),
                 f"{name}: {outside[name]} bare, {got} as {who}", want)


def test_first(work):
    """An agent attaches to process 1 of its sandbox, and exits; the session
    ends with it."""
    s = h.Session(work, {}, [h.rule("no", "deny")], {}, runtime="bwrap",
                  options=["--", "/usr/bin/python3", "/workspace/attach.py"])
    h.put(os.path.join(s.workspace, "attach.py"), "\n".join((
        "import ctypes",
        "libc = ctypes.CDLL(None, use_errno=True)",
        "got = [libc.ptrace(r, 1, 0, 0) == -1 and ctypes.get_errno()",
        "       for r in (16, 0x4206)]",
        "open('/workspace/got', 'w').write(str(got))", "")))
    s.start()
    try:
        status = s.process.p.wait(20)
    except subprocess.TimeoutExpired:
        status = "none within 20 s"
    t.equal(status, 0, "a session whose agent attached to process 1 ends")
    s.stop()
    with open(os.path.join(s.workspace, "got"), encoding="utf-8") as f:
        t.equal(f.read(), "[1, 1]", "the debugger is refused")


def test_doctor(work):
    """doctor reports a small limit of locked memory."""
    s = h.Session(work)
    if os.geteuid() == 0:
        return t.skip("doctor", "root may lock all")
    for kib, want in ((64, True), (4096, False)):
        r = subprocess.run(["prlimit", f"--memlock={kib * 1024}:",
                            h.program("icctl"), "doctor"], env=s.env,
                           capture_output=True, text=True, check=False)
        if "prlimit: failed" in r.stderr:
            t.skip(f"doctor with {kib} KiB", r.stderr.strip())
            continue
        t.equal("keys of at most 512 characters" in r.stdout, want,
                f"doctor with {kib} KiB of memory that may be locked")


def main():
    if not shutil.which("bwrap"):
        t.skip("box", "bubblewrap is not installed")
        t.done()
    with h.workdir() as work, t.case("boxes"):
        test_boxes(work)
    for test in (test_first, test_doctor):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


if __name__ == "__main__":
    main()
