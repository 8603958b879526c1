#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Sessions that cannot start: an agent that nobody knows, agents' files that are
broken in many ways, a full disk. Each gives one line that names the thing and
the remedy, and leaves nothing behind."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from started import Place  # noqa: E402

t = h.Tap()
# name, text of agents/x.json, further options, words of the message
BROKEN = [
    ("no JSON", "{", (), "x.json:1:2: ends too early"),
    ("a list", "[]", (), "x.json:1:1: must be an object"),
    ("nothing", "", (), "x.json"),
    ("too deep", '{"name":"x","home":' + "[" * 90 + "]" * 90 + "}", (),
     "nested more than 64 deep"),
    ("a member twice", '{"name":"x","name":"x"}', (), "x.json:1:"),
    ("an unknown member", '{"name":"x","programm":["y"]}', (),
     "programm: unknown key (did you mean program?)"),
    ("another name", '{"name":"y"}', (), 'name: must be "x"'),
    ("acp that is a text", '{"name":"x","acp":"--acp"}', (),
     "acp: must be an array of strings"),
    ("acp of numbers", '{"name":"x","acp":[1]}', (), "acp"),
    ("a program that is not there",
     '{"name":"x","program":["no-such-program"],"taskArgs":["{task}"]}', (),
     "agent x: no-such-program not found in PATH. Install it, or say where"),
    ("no arguments for a task", '{"name":"x","program":["true"]}', (),
     "--agent x needs a --task"),
    ("no arguments for an editor",
     '{"name":"x","program":["true"],"taskArgs":["{task}"]}', ("--acp",),
     'the file of agent x does not say how it serves an editor ("acp"'),
]


def run(p, *args, prefix=(), env=None):
    return subprocess.run(
        [*prefix, h.program("icctl"), "start", "--workspace", p.project,
         *args], env={**p.env, **(env or {})}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=60 * h.PATIENCE, check=False)


def left(p):
    """Returns what is below the home's directories of sessions."""
    return [os.path.join(d, n) for top in ("sessions", "run")
            for d, dirs, files in os.walk(os.path.join(p.home, top))
            for n in [*dirs, *files]]


def check(p, what, r, words):
    lines = r.stderr.splitlines()
    t.ok(r.returncode in (71, 78) and len(lines) == 1 and words in lines[0],
         f"{what}: one line", (r.returncode, r.stderr))
    t.equal(left(p), [], f"{what}: nothing is left")


def agents(work):
    p = Place(work)
    check(p, "an unknown agent", run(p, "--agent", "clod"),
          "--agent clod: no agent has this name (")
    for what, text, options, words in BROKEN:
        h.put(os.path.join(p.home, "agents", "x.json"), text, 0o600)
        task = () if options or "needs" in words else ("--task", "do it")
        check(p, what, run(p, "--agent", "x", *task, *options), words)
    os.remove(os.path.join(p.home, "agents", "x.json"))
    os.mkdir(os.path.join(p.home, "agents", "x.json"))
    check(p, "a directory", run(p, "--agent", "x", "--task", "y"), "x.json")


def disk(work):
    """The home is on a file system of 64 KiB, and then of 2 MiB."""
    p = Place(work)
    small = os.path.join(work, "small")
    os.mkdir(small)
    for size in ("65536", "1000000"):
        prefix = ("bwrap", "--dev-bind", "/", "/", "--size", size, "--tmpfs",
                  small, "--", "/bin/sh", "-c", '"$@"; s=$?; find ' + small +
                  " -mindepth 3 >&2; exit $s", "sh")
        r = run(p, "--", "/bin/true", prefix=prefix,
                env={"IRONCURTAIN_HOME": os.path.join(small, "home")})
        if "bwrap:" in r.stderr:
            t.skip(f"a disk of {size} bytes", r.stderr)
            continue
        check(p, f"a disk of {size} bytes", r,
              "free some space there, 1114112 bytes of disk are needed for "
              "the log: No space left on device")


with h.workdir() as top:
    for case in (agents, disk):
        place = os.path.join(top, case.__name__)
        os.mkdir(place)
        with t.case(case.__name__):
            case(place)
t.done()
