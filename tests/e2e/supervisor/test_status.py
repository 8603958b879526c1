#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests exit statuses and reasons: stopped with and without an agent, every
process of a session signalled as container engines do, a sandbox that cannot
be made, limits that are too small. Other programs rely on these statuses."""
import json
import os
import platform
import random
import resource
import signal
import socket
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from traces import children  # noqa: E402

t = h.Tap()
ROUNDS = 8
SANDBOX = ["/usr/bin/bwrap", "--dev-bind", "/", "/", "--die-with-parent"]


def build(work, *command, runtime="bwrap", **kw):
    options = ["--", *command] if command else []
    return h.Session(work, runtime=runtime, options=options, **kw)


def running(work, *command, **kw):
    """Starts a session and waits until its agent has created a file in the
    workspace."""
    s = build(work, "sh", "-c", "touch begun; " + " ".join(command),
              **kw).start()
    begun = os.path.join(s.workspace, "begun")
    h.wait_for(lambda: os.path.exists(begun), "the agent did not begin")
    return s


def test_stop():
    for how, want in (("icctl stop", 143), ("SIGTERM", 143), ("SIGINT", 130),
                      ("SIGHUP", 129), ("SIGQUIT", 131)):
        with h.workdir() as work, t.case(how):
            s = running(work, "sleep 60")
            if how == "icctl stop":
                s.icctl("stop", check=True)
            else:
                h.kill(s.pid, getattr(signal, how))
            t.equal(s.wait(), want, f"{how} while an agent runs: {want}")
            last = s.audit()[-1]
            t.equal((last["event"], last["detail"]["status"]),
                    ("stop", want), f"{how}: and so says the log")
        with h.workdir() as work, t.case(how):
            s = build(work, runtime="none").start()
            if how == "icctl stop":
                s.icctl("stop", check=True)
            else:
                h.kill(s.pid, getattr(signal, how))
            t.equal(s.wait(), 0, f"{how} without an agent: 0")


def test_own():
    """The agent's exit status becomes the session's."""
    for command, want in (("exit 0", 0), ("exit 7", 7),
                          ("kill -TERM $$", 143), ("kill -KILL $$", 137)):
        with h.workdir() as work, t.case(command):
            s = build(work, "sh", "-c", command).start()
            t.equal(s.wait(20), want, f"an agent that runs {command}: {want}")
            t.contains(s.audit()[-1]["detail"]["reason"], "the agent",
                       f"{command}: the log says that it was the agent")


def test_everyone():
    """An engine signals all processes of a session, in any order."""
    reasons = []
    for n in range(ROUNDS):
        with h.workdir() as work, t.case(f"everyone {n}"):
            s = running(work, "trap '' TERM; sleep 60")
            pids = [s.pid, *children(s.pid)]
            random.Random(n).shuffle(pids)
            for pid in pids:
                h.kill(pid, signal.SIGTERM)
            status = s.wait()
            reasons.append((status, s.audit()[-1]["detail"]["reason"],
                            s.events("workerEnd")))
    t.equal([r for r in reasons if r != (143, "asked to stop by SIGTERM", [])],
            [], f"{ROUNDS} times every process was sent SIGTERM: each was a "
            "stop, and no worker's death")


def test_zombie(provider):
    with h.workdir() as work, t.case("zombie"), \
            h.Session(work, provider=provider) as s:
        def states():
            found = []
            for pid in children(s.pid):
                try:
                    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
                        name, rest = f.read().split("(", 1)[1].rsplit(")", 1)
                    if name == "resolver":
                        found.append(rest.split()[0])
                except OSError:
                    pass
            return found
        # No server has network: one of the two resolvers has ended.
        h.wait_for(lambda: "Z" not in states() and len(states()) < 2,
                   f"dialerd's resolvers: {states()}")
        t.ok(True, "no resolver of dialerd that ended is left as a zombie")


def no_hostname():
    """Returns a compiled seccomp filter: EPERM for sethostname, all else
    allowed."""
    number = {"x86_64": 170, "aarch64": 161}[platform.machine()]
    rows = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x50001),
            (0x06, 0, 0, 0x7fff0000)]
    return b"".join(struct.pack("HBBI", *row) for row in rows)


def outer(name):
    """Returns a command line under which no sandbox can be made, for one
    cause."""
    if name == "no namespaces":
        return [*SANDBOX, "--unshare-user", "--disable-userns", "--"], ()
    if name == "masked /proc":
        return [*SANDBOX, "--unshare-user", "--unshare-pid", "--proc",
                "/proc", "--ro-bind", "/dev/null", "/proc/version", "--"], ()
    fd = os.memfd_create("filter", 0)
    os.write(fd, no_hostname())
    os.lseek(fd, 0, os.SEEK_SET)
    return [*SANDBOX, "--seccomp", str(fd), "--"], (fd,)


def test_unmade():
    """icctl doctor is green if and only if a session can run."""
    causes = {"no namespaces": "user namespaces",
              "masked /proc": "unmask it",
              "no sethostname": "sethostname"}
    for name, advice in causes.items():
        with h.workdir() as work, t.case(name):
            s = build(work, "true")
            argv, fds = outer(name)
            r = subprocess.run([*argv, *s.argv], env=s.env, pass_fds=fds,
                               capture_output=True, text=True, timeout=60,
                               check=False)
            if not os.path.exists(os.path.join(s.dir, "audit.jsonl")):
                t.skip(name, "cannot be arranged here: "
                       + r.stderr.splitlines()[0])
                continue
            t.equal(r.returncode, 71, f"{name}: exit status 71")
            t.contains(r.stderr, "the sandbox could not be created: bwrap: ",
                       f"{name}: the reason is bubblewrap's own")
            t.contains(r.stderr, advice, f"{name}: and what to do about it")
            t.contains(s.audit()[-1]["detail"]["reason"],
                       "the sandbox could not be created", f"{name}: in the log")
            for fd in fds:
                os.lseek(fd, 0, os.SEEK_SET)
            r = subprocess.run([*argv, h.program("icctl"), "--json",
                                "doctor"], env=s.env, pass_fds=fds,
                               capture_output=True, text=True, timeout=60,
                               check=False)
            row = [c for c in json.loads(r.stdout)["checks"]
                   if c["check"] == "sandbox"][0]
            t.equal((r.returncode, row["result"]), (1, "MISSING"),
                    f"{name}: icctl doctor is not green")
            t.contains(row["remedy"], advice, f"{name}: with the same advice")
            for fd in fds:
                os.close(fd)
    with h.workdir() as work, t.case("doctor"):
        s = build(work, "true")
        r = s.icctl("--json", "doctor", timeout=60)
        row = [c for c in json.loads(r.stdout)["checks"]
               if c["check"] == "sandbox"]
        t.equal([c["result"] for c in row], ["ok"],
                "icctl doctor is green where a session runs")
        t.equal(s.start().wait(20), 0, "and it runs")


def test_limits():
    """Too few descriptors: one line names the limit and the necessary
    value."""
    for most in (16, 64, 128, 300):
        with h.workdir() as work, t.case(f"ulimit -n {most}"):
            s = build(work, runtime="none")

            def limit(most=most):
                resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
            r = subprocess.run(s.argv, env=s.env, preexec_fn=limit,
                               capture_output=True, text=True, timeout=30,
                               check=False)
            t.equal(r.returncode, 71, f"at most {most} open files: status 71")
            t.contains(r.stderr, "open files",
                       f"at most {most} open files: the message says so")
            for command in (("web", "--port", "0"), ("policy", "check")):
                r = subprocess.run([h.program("icctl"), *command], env=s.env,
                                   preexec_fn=limit, capture_output=True,
                                   text=True, timeout=30, check=False)
                t.ok(r.returncode == 1 and "(ulimit -Hn)" in
                     r.stdout + r.stderr, f"at most {most} open files: icctl "
                     f"{command[0]} says so", r.stdout + r.stderr)
    with h.workdir() as work, t.case("ulimit -f 0"):
        s = build(work, runtime="none")

        def small():
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        r = subprocess.run(s.argv, env=s.env, preexec_fn=small,
                           capture_output=True, text=True, timeout=30,
                           check=False)
        t.equal(r.returncode, 71, "files may have no size: status 71")
        t.contains(r.stderr, "File too large", "and the reason is said")
        t.equal(os.listdir(os.path.join(s.home, "run")), [],
                "and no link is left")
        t.ok(not os.path.exists(s.dir), "nor the directory")


def cpu(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        return sum(map(int, f.read().rsplit(")", 1)[1].split()[11:13]))


def test_no_file_left():
    """With every descriptor in use, a client is refused and told why, and
    icsupervisor sleeps; when there is one again, clients are served."""
    with h.workdir() as work, t.case("no file left"):
        s = build(work, runtime="none").start()
        t.equal(s.icctl("status").returncode, 0, "no file left: before")
        soft, hard = resource.prlimit(s.pid, resource.RLIMIT_NOFILE)
        used = os.stat(f"/proc/{s.pid}/fd").st_size     # Linux 6.2
        if used == 0:
            t.skip("no file left", "this kernel does not count them")
            s.stop()
            return
        resource.prlimit(s.pid, resource.RLIMIT_NOFILE, (used + 8, hard))
        before, clients = cpu(s.pid), []
        for _ in range(31):
            c = socket.socket(socket.AF_UNIX)
            c.settimeout(20)
            c.connect(os.path.join(s.dir, "control.sock"))
            clients.append(c)
        t.ok(b"no open file left" in clients[-1].recv(4096),
             "no file left: the last of many is told")
        r = s.icctl("status")
        t.ok(r.returncode != 0 and "no open file left" in r.stderr,
             "no file left: icctl says so", r.stdout + r.stderr)
        t.ok(cpu(s.pid) - before < 20, "no file left: it does not spin",
             cpu(s.pid) - before)
        for c in clients:
            c.close()
        resource.prlimit(s.pid, resource.RLIMIT_NOFILE, (soft, hard))
        t.equal(s.icctl("status").returncode, 0, "no file left: afterwards")
        t.equal(s.stop(), 0, "no file left: the session ends well")


def main():
    test_stop()
    test_own()
    test_everyone()
    with h.workdir() as outside:
        provider = h.Provider(outside)
        test_zombie(provider)
        provider.end()
    test_unmade()
    test_limits()
    test_no_file_left()
    t.done()


if __name__ == "__main__":
    main()
