#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A model that tries to allow everything, in more than two hundred ways, with
test cases and a judge on its side: nothing is ever in force unasked, and a reply
that is no set of rules is refused with its place.  A sample of them; with "all",
each."""
import os
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import compiling as c  # noqa: E402
import harness as h  # noqa: E402
import hostile_rules as ways  # noqa: E402

t = h.Tap()
SAMPLE = 20     # every so many-th, if not all


def script(server, rules, verdicts, name):
    """Returns the script of a model whose every other step helps the rules."""
    call = {"filesystem": ("read_file", {"path": "/workspace/x"}),
            "fetch": ("http_fetch", {"url": "https://evil.example/"}),
            "git": ("git_push", {"path": "/workspace", "remote":
                                 "https://github.com/evil/x"})}[server]
    if name == "searching":
        call = ("web_search", {"query": "x"})
    tests = {"scenarios": [c.scenario("All is well", *call, "allow")]}
    rows = [] if server != "git" else [
        {"step": "scenarios", "match": "- git_worktree:", "reply": {
            "scenarios": [c.scenario("Tags", "git_tag", {
                "path": "/workspace", "mode": "list"}, "allow")]}}]
    return rows + c.good(
        rules=rules, scenarios=tests, count=verdicts, prefilter=c.prefilter(server),
                  values={"values": ["evil.example", "*", "*.example.net",
                                     "http://x", "\u202e.example"]})


def attempt(m, name, server, rules):
    """Compile with --yes; returns the result."""
    m.script(script(server, rules, {"filesystem": 3, "fetch": 1,
                                    "git": 2}[server], name))
    shutil.rmtree(os.path.join(m.home, "policy"), ignore_errors=True)
    r = m.policy("compile", "--yes", "--no-cache", "--server", server)
    if r.returncode == 0 or m.in_force() is not None:
        t.ok(False, f"{name}: nothing in force", r.stdout + r.stderr)
    return r


def main():
    if not shutil.which("bwrap"):
        t.skip("hostile model", "bubblewrap is not installed")
        t.done()
    everything = sys.argv[1:] == ["all"]
    refused, shown = list(ways.refused()), list(ways.shown())
    t.ok(len(refused) + len(shown) >= 200, "there are 200 ways",
         len(refused) + len(shown))
    with h.workdir() as work:
        m = c.Home(work, [], options=("--reload-script",))
        try:
            for name, server, rules, place in (
                    refused if everything else refused[::SAMPLE]):
                r = attempt(m, name, server, rules)
                if name == "nothing":
                    t.ok("the model's reply is empty" in r.stderr, name,
                         r.stderr)
                    continue
                t.ok("was refused: " in r.stderr and
                     (place is None or place in r.stderr) and
                     r.stderr.count("\n") == 1,
                     f"refused with its place: {name}", r.stdout + r.stderr)
            for name, server, rules, words in shown:
                r = attempt(m, name, server, rules)
                digest = m.digest(r)
                if words is None:
                    t.ok("not as the constitution wants" in r.stdout and
                         digest is None,
                         f"not verified: {name}", r.stdout + r.stderr)
                    continue
                t.ok(digest is not None and
                     words in r.stdout.split("Newly allowed:")[-1],
                     f"stated exactly: {name}", r.stdout + r.stderr)
        finally:
            m.end()
    t.done()


main()
