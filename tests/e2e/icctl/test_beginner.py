#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A beginner's commands, in a home without a configuration: each has the right
exit status and says what helps. No answer has a line of more than 700 letters,
a NULL of C, or the name of a source file."""
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from beginner_data import ROWS  # noqa: E402

t = h.Tap()


def rows():
    for line in ROWS.strip().splitlines():
        command, status, text = line.split(" | ", 2) \
            if line.count(" | ") == 2 else re.match(
                r"(.*?) \| (\d+) \| (.*)", line).groups()
        yield command, int(status), text


def run(env, cwd, command):
    return subprocess.run(
        [h.program("icctl"), *shlex.split(command)], env=env, cwd=cwd,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        timeout=60 * h.PATIENCE)


def odd_places(work, env):
    """A home or a current directory that is not there is named."""
    gone, shut = os.path.join(work, "gone"), os.path.join(work, "shut")
    os.mkdir(shut, mode=0o000)
    rows_ = [({"HOME": "me"}, "must be an absolute path", 3),
             ({"IRONCURTAIN_HOME": "me"}, "must be an absolute path", 3),
             ({"IRONCURTAIN_HOME": "/bin/sh"}, "/bin/sh: Not a directory. To "
              "keep sessions in another place: export", 3)]
    if os.geteuid() != 0:
        rows_.append(({"HOME": shut}, "/.ironcurtain: Permission denied. To "
                      "keep", 3))
    for change, text, status in rows_:
        for command in ("ls", "status", "start -- /bin/true",
                        "config set openHosts ask"):
            r = run({**env, **change}, work, "--json " + command)
            t.ok(r.returncode == status and text in r.stderr and
                 json.loads(r.stdout)["ok"] is False,
                 f"{change}: {command}: {status}", (r.returncode, r.stderr))
    for command, text in (
            ("start -- /bin/true", "the current directory is gone"),
            ("project", "the current directory is gone"),
            ("doctor", "the current directory is gone: it was removed. Go to "
             "another one")):
        os.mkdir(gone)
        r = subprocess.run(
            ["/bin/sh", "-c", f"rmdir {gone}; exec \"$0\" {command}",
             h.program("icctl")], env=env, cwd=gone, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, check=False)
        said = " ".join((r.stdout + r.stderr).split())
        t.ok(r.returncode != 0 and text in said and "no-project" not in said,
             f"no current directory: {command}", (r.returncode, said))


def main():
    with h.workdir() as work:
        cwd = os.path.join(work, "shop")
        h.put(os.path.join(cwd, "README"), "a shop\n")
        h.put(os.path.join(cwd, "my notes"), "sell more\n")
        os.mkdir(os.path.join(cwd, "our shop"))
        home = os.path.join(work, "user")
        os.mkdir(home)
        env = {"PATH": "/usr/bin:/bin", "HOME": home, "LANG": "C.UTF-8"}
        # Those that follow a log come first: no other command's session, which
        # may live for a moment, is there yet.
        todo = sorted(rows(), key=lambda r: not r[0].startswith("logs -f"))
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            done = pool.map(lambda r: run(env, cwd, r[0]), todo)
            for (command, status, text), r in zip(todo, done):
                said = " ".join((r.stdout + " " + r.stderr).split())
                t.ok(r.returncode == status and text in said and
                     "(null)" not in said and
                     not re.search(r"\.c:\d", said) and
                     max(map(len, r.stderr.splitlines()), default=0) < 700,
                     f"icctl {command}: {status}", (r.returncode, said))
        t.ok(len(todo) >= 120, f"{len(todo)} commands of a beginner")
        odd_places(work, env)
        t.equal(os.listdir(os.path.join(home, ".ironcurtain", "sessions"))
                if os.path.isdir(os.path.join(home, ".ironcurtain",
                                              "sessions")) else [], [],
                "none of them has left a session")
    t.done()


main()
