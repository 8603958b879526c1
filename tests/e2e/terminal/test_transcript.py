#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests the transcript of an agent's output (icctl start --transcript): whole
lines, no control character, its place and its limits."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from terminal import Terminal  # noqa: E402

t = h.Tap()
EVIL = (r"printf 'plain\n\033[31mred\033[0m \033]0;title\007end\n"
        r"gone\rback\n\033]52;c;aGk=\007x\302\233y\342\200\256z\tb   \n"
        r"w\303\244hr\344\270\255\nhalf'; printf 'err\n' >&2; "
        r"sleep 0.3; printf ' line\n'; "
        r"head -c 5000 /dev/zero | tr '\0' q; echo; printf last")


def env_of(work):
    for name in ("home", "project"):
        os.makedirs(os.path.join(work, name), mode=0o700)
    return {"PATH": "/usr/bin:/bin", "HOME": work, "LANG": "C.UTF-8",
            "IRONCURTAIN_HOME": os.path.join(work, "home"), "TERM": "xterm"}


def argv(work, *args):
    return [h.program("icctl"), "start", "--workspace",
            os.path.join(work, "project"), *args]


def session(work):
    """Returns the directory of the newest session."""
    place = os.path.join(work, "home", "sessions")
    return max((os.path.join(place, x) for x in os.listdir(place)),
               key=lambda d: os.stat(os.path.join(d, "start.json")).st_mtime_ns)


def text_of(work):
    with open(os.path.join(session(work), "transcript.txt"), "rb") as f:
        return f.read()


def clean(data):
    return all(b == 10 or b >= 32 and b != 127 for b in data) and not any(
        c in data.decode() for c in "\x9b\u202e")


def start(work, env, *args):
    return subprocess.run(argv(work, *args), env=env, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=60 * h.PATIENCE, check=False)


def test_lines(work):
    env = env_of(work)
    r = start(work, env, "--transcript", "--", "sh", "-c", EVIL)
    t.equal(r.returncode, 0, f"the agent ends: {r.stderr[-300:]}")
    data = text_of(work)
    lines = data.decode().split("\n")
    t.ok(clean(data), "it has no control character", data[:300])
    for want in ("plain", "red end", "back", "half line", "w\u00e4hr\u4e2d",
                 "q" * 5000, "err", "last"):
        t.ok(want in lines, f"a line: {want[:20]}", lines)
    t.equal(lines[-1], "", "it ends with a newline")
    t.equal(os.stat(os.path.join(session(work), "transcript.txt")
                    ).st_mode & 0o777, 0o600, "it is the user's alone")
    r = start(work, env, "--", "sh", "-c", "echo x")
    t.ok("transcript.txt" not in os.listdir(session(work)),
         "there is none unless it is wanted")
    r = start(work, env, "--transcript", "--detach", "--", "cat")
    t.ok(r.returncode != 0 and "icctl history" in r.stderr,
         "a conversation is kept anyway", r.stderr)


def test_screen(work):
    env = env_of(work)
    term = Terminal(argv(work, "--transcript", "--", "sh", "-c",
                         "for i in $(seq 60); do echo row $i; done; "
                         r"printf '\033[2;5Hmiddle\033]0;t\007'; read x"),
                    env, rows=24, cols=80)
    term.until(rb"middle")
    term.key(b"\n")
    while term.read(10):
        pass
    term.end()
    data = text_of(work)
    lines = data.decode().split("\n")
    t.ok(clean(data), "a full screen: no control character", data[:300])
    t.ok(lines[0] == "row 1" and lines.index("row 20") == 19,
         "what scrolled off its top", lines[:25])
    t.ok(any("middle" in x for x in lines) and "row 60" in lines,
         "and what stood on it at the end", lines[-30:])


def main():
    for test in (test_lines, test_screen):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


main()
