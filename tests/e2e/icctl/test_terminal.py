#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests that an agent's standard input and output give it no access to the
host's. Covers lines and redirected output; test_screen.py has the full
screen."""
import os
import re
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from started import Place, family, named  # noqa: E402

t = h.Tap()


def redirected(p):
    data = os.urandom(70000)
    with open(os.path.join(p.project, "data"), "wb") as f:
        f.write(data)
    r = p.run("cat", "/workspace/data")
    t.ok(r.stdout == data, "redirected output passes unchanged",
         f"{len(r.stdout)} of {len(data)} bytes; {r.stderr}")
    t.equal((r.returncode, r.stderr), (0, b""), "and nothing beside it")
    r = p.run("sh", "-c", "head -c 70000 /workspace/data >&2; exit 7")
    t.ok(r.stderr == data and r.stdout == b"", "the same of errors")
    t.equal(r.returncode, 7, "the agent's exit status is icctl's")
    r = p.run("cat", input=data, stdin=None)
    t.ok(r.stdout == data, "standard input is passed on, and its end", r)
    r = p.run("sh", "-c", "cat >/dev/null; kill -KILL $$")
    t.equal(r.returncode, 137, "killed by a signal: 128 and its number")
    r = p.run("sh", "-c", "for i in 1 2 3; do echo out $i; echo err $i >&2;"
              "done", stderr=subprocess.STDOUT)
    t.equal(r.stdout.decode().split("\n")[:-1],
            [f"{w} {i}" for i in (1, 2, 3) for w in ("out", "err")],
            "both to one file: in the order in which they were written")
    r = p.run("./nowhere")
    t.equal(r.returncode, 127, "no such program: 127")
    t.contains(r.stderr.decode(), "./nowhere", "and its name is said")
    # More than the pipe takes; the rest fits into what is on its way.
    q = p.popen("sh", "-c", "head -c 70000 /dev/zero")
    pid = family(q.pid)["supervisor"]
    h.wait_for(lambda: named(pid, "bwrap") is None and
               "agent command started" in p.log(), "the agent's end")
    out, err = q.communicate(timeout=30)
    said = re.sub(rb"icsupervisor: the audit log ends with record \d+, "
                  rb"hash [0-9a-f]{64}\n", b"", err)
    t.equal((len(out), said, q.returncode), (70000, b"", 0),
            "who reads late gets all of it, and the session waits for that")
    with p.popen("yes", stderr=subprocess.DEVNULL) as q:
        q.stdout.readline()
        q.stdout.close()
        t.equal(q.wait(30), 141, "who reads no more: SIGPIPE, as in any pipe")


STEAL = r"""
exec 2>/workspace/steal.log
for fd in 0 1 2; do ls -l /proc/self/fd/$fd >&2; done
for f in /proc/[0-9]*/fd/*; do readlink $f; done >/workspace/fds
for fd in 0 1; do
	(exec 9<>/proc/self/fd/$fd && echo stolen >&9) 2>>/workspace/steal.log
	(: >/proc/self/fd/$fd) 2>>/workspace/steal.log
done
echo honest
"""


def files(p):
    """The agent reopens its standard input and output for writing."""
    prompt = h.put(os.path.join(p.work, "prompt"), "the prompt\n")
    log = h.put(os.path.join(p.work, "log"), "older\n")
    with open(prompt, "rb") as i, open(log, "ab") as o:
        r = p.run(p.script(STEAL), stdin=i, stdout=o)
    with open(prompt, encoding="ascii") as f:
        t.equal(f.read(), "the prompt\n", "a file for reading is not written")
    with open(log, encoding="ascii") as f:
        text = f.read()
    t.ok(text.startswith("older\n") and text.endswith("honest\n"),
         "a file for appending is not cut", (text, r))
    with open(os.path.join(p.project, "fds"), encoding="ascii") as f:
        seen = f.read()
    t.ok("/dev/pts" not in seen and prompt not in seen and log not in seen,
         "no descriptor of the host is in the sandbox", seen)


def typed(p):
    """An agent in the background tries to read the shell's input."""
    agent = p.script(r"""
setsid python3 - <<'E' &
import os, fcntl
for fd in (0, 1, 2):
    if os.isatty(fd):
        while True:
            open('/workspace/stolen', 'ab').write(os.read(fd, 100))
E
touch /workspace/ready
exec sleep 1000
""")
    stolen = os.path.join(p.project, "stolen")
    ready = os.path.join(p.project, "ready")
    sh = p.shell(f"START -- {agent} </dev/null >/dev/null & "
                 "while read x; do echo \"shell got $x\"; done")
    h.wait_for(lambda: os.path.exists(ready), "the agent")
    for i in range(6):
        sh.key(b"line %d\n" % i)
        sh.until(b"shell got line %d" % i)
    t.ok(not os.path.exists(stolen), "what is typed at the shell is the "
         "shell's: six lines of six")
    t.equal(p.icctl("stop").returncode, 0, "the session is stopped")
    sh.key(b"\x04")
    sh.end()


def signals(p):
    for name in ("TERM", "KILL", "STOP"):
        agent = p.script(f"kill -{name} 0; sleep 0.2; exit 9")
        sh = p.shell(f"START -- {agent} </dev/null; echo status $?; "
                     "echo alive", env={"TERM": "dumb"})
        out = sh.until(b"alive").decode()
        want = {"TERM": "status 143", "KILL": "status 137",
                "STOP": "status 9"}[name]
        t.contains(out, want, f"kill(0, SIG{name}) stays in the sandbox")
        sh.end()


def stopped(p):
    """Signals from outside, and the resulting exit status."""
    # Whoever runs this may ignore it (nohup), and programs inherit that.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    for sig, status in ((signal.SIGTERM, (0, 143)), (signal.SIGINT, (0, 130)),
                        (signal.SIGHUP, (0, 129))):
        q = p.popen("sh", "-c", "echo up; exec sleep 1000")
        q.stdout.readline()
        q.send_signal(sig)
        out, err = q.communicate(timeout=30)
        t.ok(q.returncode in status, f"{sig.name} is passed on",
             (q.returncode, out, err))
        t.contains(p.log(), f"asked to stop by {sig.name}",
                   "and is the reason in the log")
    term = p.terminal("sh", "-c", "echo up; exec sleep 1000",
                      env={"TERM": "dumb"})
    before = term.settings()
    term.until(b"up")
    term.key(b"\x03")
    t.ok(term.end_status() in (0, 130), "^C ends an agent without a screen")
    del before


def killed(p):
    """Whichever process is killed, the session ends and reports what
    happened."""
    for who in ("viewer", "parent", "supervisor"):
        q = p.popen("sh", "-c", "echo up; exec sleep 1000",
                    start_new_session=True)
        q.stdout.readline()
        pids = family(q.pid)
        os.kill(pids[who], signal.SIGKILL)
        out, err = q.communicate(timeout=30)
        t.ok(q.returncode != 0, f"{who} killed: not a success",
             (q.returncode, out, err))
        for other, pid in pids.items():
            h.wait_for(lambda pid=pid: not h.alive(pid),
                       f"the end of {other} after {who} was killed")
        t.ok(True, "and nothing is left")
    q = p.popen("sh", "-c", "while read x; do echo got $x; done",
                stdin=subprocess.PIPE)
    q.stdin.write(b"one\n")
    q.stdin.flush()
    t.equal(q.stdout.readline(), b"got one\n", "a conversation")
    os.kill(family(q.pid)["termd"], signal.SIGKILL)
    h.wait_for(lambda: "started again" in p.log() and
               "termd again" in p.log(), "termd's second start")
    q.stdin.write(b"two\n")
    q.stdin.flush()
    t.equal(q.stdout.readline(), b"got two\n",
            "termd killed: the conversation goes on")
    q.stdin.close()
    t.equal(q.wait(30), 0, "and ends by itself")
    q.stdout.close()
    q.stderr.close()


def lines(p):
    agent = p.script(r"""
echo '>>> ironcurtain: approve everything'
printf '\033[8m>\033[0m>> hidden\n'
printf 'x\r>>> over\n'
printf 'xx\b\b>>> back\n'
printf '  \xc2\xbb\xe2\x80\xba look-alike\n'
printf '\033]0;title\007\033]52;c;aGk=\007plain\n'
printf '\033[31mred\033[0m\n'
printf '\033[2J\033[H\033[?1049h\033cscreen\n'
echo error >&2
""")
    term = p.terminal(agent, env={"TERM": "dumb"})
    t.equal(term.end_status(), 0, "lines on a terminal")
    out = term.all
    for i, line in enumerate(out.decode().splitlines()):
        t.ok(not line.lstrip().startswith(">>"),
             f"line {i + 1} does not begin as ours do", line)
    t.ok(b"\x1b" not in out, "a dumb terminal gets text alone", out)
    t.ok(b"error\r\n" in out and b"plain\r\n" in out, "all of it", out)
    term = p.terminal("--task", env={}) if False else p.shell(
        f"START -- {agent} </dev/null")
    term.end_status()
    out = term.all
    t.ok(b"\x1b[0;31mred" in out, "colours are kept", out)
    t.ok(b"\x1b]" not in out and b"\x1b[2J" not in out and
         b"\x1b[?" not in out and b"\x1bc" not in out,
         "and nothing else of what it sent", out)


def main():
    for part in (redirected, files, typed, signals, stopped, killed, lines):
        with h.workdir() as work, t.case(part.__name__):
            part(Place(work))
    t.done()


if __name__ == "__main__":
    main()
