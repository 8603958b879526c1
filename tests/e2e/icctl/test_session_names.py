#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Names of sessions that are paths, empty, long or full of control characters:
every command refuses them in words, and prints nothing of them unescaped."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
NAMES = ("../../etc", "/etc", "/", ".", "", "a" * 5000, "x\x1b]0;y\x07",
         "/dev/null", "/proc/self/root", "run/../..", "\u202e")
# With --session, or as an argument of their own.
GLOBAL = (["send", "hi"], ["interrupt"], ["status"], ["stop"], ["pending"],
          ["watch"], ["grants"], ["budget"], ["audit", "verify"],
          ["unlock"], ["metrics"], ["approve", "abcd"])
OWN = ("history", "logs", "attach", "close", "resume", "diff", "pull")


def main():
    with h.workdir() as work:
        home = os.path.join(work, "home")
        os.makedirs(home, mode=0o700)
        env = {"PATH": "/usr/bin:/bin", "HOME": work, "LANG": "C.UTF-8",
               "IRONCURTAIN_HOME": home}
        for name in NAMES:
            bad = []
            for words in [["--session", name, *w] for w in GLOBAL] + [
                    [w, name] for w in OWN]:
                r = subprocess.run(
                    [h.program("icctl"), *words], env=env, text=True,
                    stdin=subprocess.DEVNULL, capture_output=True,
                    timeout=60, check=False)
                if r.returncode not in (1, 3, 64) or not (
                        r.stderr or r.stdout) or any(
                            c in r.stdout + r.stderr
                            for c in "\x1b\x07\u202e"):
                    bad.append((words, r.returncode, r.stdout, r.stderr))
            t.equal(bad, [], f"the name {name[:20]!r}")
        t.equal(os.listdir(home), [], "no file was made")
    t.done()


main()
