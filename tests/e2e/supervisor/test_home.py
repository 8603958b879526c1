#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""--home project: the agent's home stays from session to session of a workspace,
one session at a time, with new placeholder keys; and what a hostile agent leaves
in it neither leads the next start out of it nor breaks its removal."""
import concurrent.futures
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from started import Place  # noqa: E402

t = h.Tap()
KEEP = ("--home", "project")
ADAPTER = {"name": "keeper", "title": "Keeper", "providers": ["anthropic"],
           "program": ["bash"], "taskArgs": ["-c", "{task}"], "args": [],
           "home": {".keeper/key": "{key:anthropic}", ".keeper.json": {}}}
# Left by the second session, whose start has to replace them.
TRAPS = ("ln -sf /etc/passwd ~/.keeper/key; mkfifo ~/.keeper/.key.new; "
         "ln -sf / ~/..keeper.json.new; chmod 0 ~")
IN_THE_WAY = "rm -f ~/.keeper.json; mkdir -p ~/.keeper.json/x"
WAITS = "cat ~/.keeper/key; echo; echo up; read x < /workspace/in"


def start(p, text, *options, agent="keeper", stdin=""):
    return subprocess.run(
        [h.program("icctl"), "start", "--quiet", "--workspace", p.project,
         *options, "--agent", agent, "--task", text], env=p.env, text=True,
        input=stdin, capture_output=True, timeout=60, check=False)


def homes(p):
    r = subprocess.run([h.program("icctl"), "--json", "home"], env=p.env,
                       text=True, capture_output=True, timeout=30, check=True)
    return json.loads(r.stdout)["homes"]


def icctl(p, *args):
    return subprocess.run([h.program("icctl"), *args], env=p.env, text=True,
                          capture_output=True, timeout=60, check=False)


def make(work):
    # Nothing is asked of the provider, and no name has to be resolved.
    p = Place(work, {"credentials": {
        "anthropic": {"env": "ANTHROPIC_API_KEY"}}, "providers": {
            "anthropic": {"upstream": "https://127.0.0.1:9"}}})
    p.env["ANTHROPIC_API_KEY"] = h.ANTHROPIC_KEY
    os.makedirs(os.path.join(p.home, "agents"), mode=0o700)
    h.put(os.path.join(p.home, "agents", "keeper.json"), json.dumps(ADAPTER),
          0o600)
    return p


def contents(top):
    for at, _, files in os.walk(top):
        for name in files:
            with open(os.path.join(at, name), "rb") as f:
                yield f.read()


def together(*calls):
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return [x.result() for x in [pool.submit(*c) for c in calls]]


def test_stays(p, other):
    r = start(p, "mkdir -p ~/.cache; echo one | tee ~/.cache/c > ~/history; "
              "cat ~/.keeper/key", *KEEP)
    first = r.stdout
    t.ok(r.returncode == 0 and first, "a session in a home that stays",
         r.stderr)
    r = start(p, "cat ~/history ~/.cache/c ~/.keeper/key; " + TRAPS, *KEEP)
    t.ok(r.stdout.startswith("one\none\n"),
         "the next one finds history and caches", r.stdout + r.stderr)
    t.ok(r.stdout[8:] not in ("", first), "and a new placeholder key",
         r.stdout)
    own, far = together(
        (start, p, "cat ~/history"),
        (start, p, "cat ~/history; " + IN_THE_WAY, *KEEP, "--workspace",
         other))
    t.ok("No such file" in own.stderr + own.stdout,
         "a session without the option does not", own)
    t.ok("No such file" in far.stderr + far.stdout,
         "nor one of another workspace", far)
    (one,) = [x for x in homes(p) if x["workspace"] == p.project]
    top = os.path.join(p.home, "homes", one["id"])
    real = h.ANTHROPIC_KEY.encode()
    t.ok(one["agent"] == "keeper" and not one["inUse"] and
         not any(real in x for x in contents(os.path.dirname(top))),
         "icctl home lists it; no credential is in any of them", one)
    return one["id"]


def test_one_at_a_time(p, ident):
    fifo = os.path.join(p.project, "in")
    os.mkfifo(fifo)
    q = subprocess.Popen(
        [h.program("icctl"), "start", "--quiet", "--workspace", p.project,
         *KEEP, "--agent", "keeper", "--task", WAITS], env=p.env,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL)
    key = q.stdout.readline().decode()
    t.ok(re.fullmatch(r"sk-ant-\S{20,}\n", key),
         "links, a FIFO and lost rights are replaced", key)
    t.equal(q.stdout.readline(), b"up\n", "a session that waits")
    r = start(p, "true", *KEEP)
    t.ok(r.returncode != 0 and "uses the home of keeper" in r.stderr and
         "without --home project" in r.stderr,
         "a second one in the same home is refused", r.stderr)
    r = icctl(p, "home", "rm", ident)
    t.ok(r.returncode == 1 and "uses it" in r.stderr and
         any(x["inUse"] for x in homes(p)), "and so is its removal", (r, homes(p)))
    r = icctl(p, "gc", "--older-than", "0")
    t.ok(r.returncode == 0 and [x for x in homes(p) if x["id"] == ident],
         "and gc leaves it alone", r.stderr)
    with open(fifo, "w", encoding="ascii") as f:
        f.write("\n")
    t.equal(q.wait(30), 0, "it ends in order")
    t.ok(not any(x["inUse"] for x in homes(p)), "and lets go of the home")
    q.stdout.close()


def blocked(p, r):
    said = re.search("icctl home rm ([0-9a-f]{32})", r.stderr)
    t.ok(r.returncode == 78 and said,
         "what cannot be replaced: the start says how to go on",
         (r.returncode, r.stderr))
    ident = said[1] if said else "0" * 32
    top = os.path.join(p.home, "homes", ident)
    there = os.path.isdir(top)
    r = icctl(p, "home", "rm", ident)
    t.ok(there and r.returncode == 0 and not os.path.exists(top),
         "and so the home is removed", r.stderr)


def test_hostile(p, other):
    """Agents have put traps where the next start writes; the victim is a
    directory of the host."""
    victim = os.path.join(p.user, "victim")
    os.makedirs(victim)
    h.put(os.path.join(victim, "key"), "mine")
    r = start(p, "cat ~/.keeper/key; rm -rf ~/.keeper; "
              f"ln -s {victim} ~/.keeper", *KEEP)
    t.equal(r.returncode, 0, "an agent leaves another link")
    for r in together((start, p, "true", *KEEP),
                      (start, p, "true", *KEEP, "--workspace", other)):
        blocked(p, r)
    with open(os.path.join(victim, "key"), encoding="ascii") as f:
        t.ok(f.read() == "mine" and os.listdir(victim) == ["key"],
             "nothing was written outside")


def test_refused(p):
    for options, text in (
            (("--clone", p.project), "--clone"),
            (("--runtime", "none"), "no home")):
        r = icctl(p, "start", *KEEP, *options)
        t.ok(r.returncode == 78 and "--home project" in r.stderr and
             text in r.stderr, f"refused: {text}", r.stderr)
    r = start(p, "true", "--home", "mine")
    t.ok(r.returncode == 64 and "project or session" in r.stderr,
         "refused: another word", r.stderr)
    before = homes(p)
    r = start(p, "true", *KEEP, agent="nobody")
    t.ok(r.returncode != 0 and homes(p) == before,
         "a start that comes to nothing leaves no home", r.stderr)
    r = icctl(p, "home", "rm", "../sessions")
    t.ok(r.returncode == 1 and "no home of this id" in r.stderr and
         os.path.isdir(os.path.join(p.home, "sessions")),
         "a path is not an id", r.stderr)


def main():
    with h.workdir() as work:
        p = make(work)
        other = os.path.join(work, "other")
        os.makedirs(other)
        with t.case("stays"):
            ident = test_stays(p, other)
        with t.case("one at a time"):
            test_one_at_a_time(p, ident)
        with t.case("hostile"):
            test_hostile(p, other)
        with t.case("refused"):
            test_refused(p)
    t.done()


if __name__ == "__main__":
    main()
