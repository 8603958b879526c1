#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Every call by which icctl makes or writes a file says that the disk is full,
one after the other, in each command that makes a policy: one line names the
place and what to do, and all that is in force stays as it is. `compile` and
`annotate`, with many files, are done with the word "all"."""
import json
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import compiling as c  # noqa: E402
import harness as h  # noqa: E402

t = h.Tap()
CALLS = ("write", "mkdir", "rename", "fsync", "openat")
IN_FORCE = ("compiled-policy.json", "dynamic-lists.json",
            "tool-annotations.json", "constitution.md",
            "servers/fetch/compiled-policy.json")
REMEDY = "No space left on device. Make room there, and run this again"
EVERY = sys.argv[1:] == ["all"]


def script(*sites):
    """Returns the steps of a model that lets these news sites be read."""
    rules = [c.rule("fetch-news", "allow", server="fetch",
                    domains={"roles": ["fetch-url"], "allowed": ["@news"]},
                    description=f"Reading {len(sites)} of @news is allowed.")]
    lists = [{"name": "news", "type": "domains", "principle": "news",
              "generationPrompt": "News sites", "requiresMcp": False}]
    tests = [c.scenario("News", "http_fetch", {"url": f"https://{sites[0]}/"},
                        "allow"),
             c.scenario("Else", "http_fetch", {"url": "https://else.example/"},
                        "not-allow")]
    rows = {"prefilter": c.prefilter("fetch"), "values":
            {"values": list(sites)},
            "rules": {"rules": rules, "listDefinitions": lists},
            "scenarios": {"scenarios": tests}, "judge": c.verdicts(2),
            "customize": {"reply": "So be it.",
                          "constitution": "Read the news, and no more.\n"},
            "annotate": {"tools": []}}
    return [{"step": k, "reply": v} for k, v in rows.items()]


def state(m):
    """Returns all that is in force: as a session would find it."""
    base = m.path("in-force") if os.path.isdir(m.path("in-force")) else m.path()
    found = {}
    for name in IN_FORCE:
        path = os.path.join(base, name)
        found[name] = open(path, "rb").read() if os.path.exists(path) else None
    for name in ("constitution.md", "constitution-user.md"):
        with open(os.path.join(m.home, name), "rb") as f:
            found["home " + name] = f.read()
    return found


class Keep:
    """The files of a home, which can be put back."""
    # Commands read what earlier sessions left: with the same ones each time,
    # the nth call is the same.
    DIRS = ("policy", "policy-cache", "policies", "sessions")

    def __init__(self, m, place):
        self.m, self.place = m, place
        shutil.rmtree(place, ignore_errors=True)
        os.makedirs(place)
        for d in self.DIRS:
            if os.path.isdir(os.path.join(m.home, d)):
                shutil.copytree(os.path.join(m.home, d),
                                os.path.join(place, d))
        shutil.copy(os.path.join(m.home, "constitution-user.md"), place)

    def back(self):
        for d in self.DIRS:
            shutil.rmtree(os.path.join(self.m.home, d), ignore_errors=True)
            if os.path.isdir(os.path.join(self.place, d)):
                shutil.copytree(os.path.join(self.place, d),
                                os.path.join(self.m.home, d))
        shutil.copy(os.path.join(self.place, "constitution-user.md"),
                    self.m.home)


def traced(m, args, answers, *options):
    """Run icctl under strace. Returns the result, and the calls."""
    out = os.path.join(m.work, "calls")
    r = subprocess.run(
        ["strace", "-qq", "-y", "-o", out, *options, h.program("icctl"), *args],
        env={**m.env, "ASAN_OPTIONS": "detect_leaks=0"}, input=answers,
        capture_output=True, text=True,
        timeout=60 * h.PATIENCE, check=False)
    with open(out, encoding="utf-8", errors="replace") as f:
        return r, [x for x in f.read().splitlines() if "(" in x and
                   not x.startswith(("---", "+++"))]


def place(m, line):
    """Returns the file of the user's that a call is about, or None."""
    found = re.findall(r'^\w+\(\d+<([^>]*)>', line) or \
        re.findall(r'"([^"]*)"', line)[-1:]
    path = found[0] if found else ""
    return path if path.startswith(m.user + "/") else None


def attempt(m, keep, name, args, answers, call, n, want):
    keep.back()
    before = state(m)
    r, lines = traced(m, args, answers, "-e", "trace=" + call, "-e",
                      f"inject={call}:error=ENOSPC:when={n}")
    hit = [x for x in lines if "(INJECTED)" in x]
    path = place(m, hit[0]) if hit else None
    if path is None or (call == "openat" and "O_CREAT" not in hit[0]):
        t.ok(False, f"{name}: {call} {n} of {want} was not met",
             (hit, r.stdout, r.stderr))
        return None
    said = [x for x in r.stderr.splitlines() if x.startswith("icctl: ") and
            "dropped" not in x and "was not found as it was" not in x]
    short = re.sub(r"\.\w{6}$", "", os.path.relpath(path, m.home))
    short = re.sub(r"[0-9a-f]{64}", "HASH", short)
    if r.returncode == 0:
        # Nothing was lost: what is new is in force, or nothing was to be.
        return short, "passed"
    same = state(m) == before
    t.ok(same and len(said) == 1 and REMEDY in said[0] and
         m.home + "/" in said[0],
         f"{name}: {call} {n}, {short}", (r.returncode, same, hit,
                                          r.stdout[-600:], r.stderr))
    return short, "failed"


def each(m, name, args, answers="", least=1):
    """Fail every write of a command, one after the other."""
    sessions = os.path.join(m.home, "sessions")
    for old in os.listdir(sessions):
        if os.path.exists(os.path.join(sessions, old, "session.json")):
            shutil.rmtree(os.path.join(sessions, old))
    keep = Keep(m, os.path.join(m.work, "kept"))
    passed, failed = [], []
    r, lines = traced(m, args, answers, "-e", "trace=" + ",".join(CALLS))
    t.ok(r.returncode == 0, f"{name}: works", r.stdout + r.stderr)
    for call in CALLS:
        mine = [x for x in lines if x.startswith(call + "(")]
        rows = [(i + 1, place(m, x)) for i, x in enumerate(mine)
                if place(m, x) is not None and "EEXIST" not in x and
                (call != "openat" or "O_CREAT" in x)]
        for n, path in rows if EVERY else sample(rows):
            got = attempt(m, keep, name, args, answers, call, n, path)
            if got is not None:
                (passed if got[1] == "passed" else failed).append(
                    (call, got[0]))
    keep.back()
    t.ok(len(failed) >= least, f"{name}: {len(failed)} writes failed",
         (failed, passed))
    unexpected = [x for x in passed if x[0] != "fsync" and
                  "in-force" not in x[1]]
    t.equal(unexpected, [], f"{name}: none is ignored")
    r, _ = traced(m, args, answers, "-e", "trace=none")
    t.ok(r.returncode == 0, f"{name}: with room it works", r.stderr)
    keep.back()


def sample(rows):
    """Without files whose names say that another one stands for them."""
    seen, out = set(), []
    for n, path in rows:
        kind = re.sub(r"\.\w{6}$", "", path)
        kind = re.sub(r"[0-9a-f]{64}", "HASH", kind)
        if kind not in seen:
            out.append((n, path))
        seen.add(kind)
    return out


def main():
    if not shutil.which("bwrap") or subprocess.run(
            ["strace", "-qq", "true"], capture_output=True,
            check=False).returncode != 0:
        t.skip("full disk", "bubblewrap or strace is missing")
        t.done()
    with h.workdir() as work:
        m = c.Home(work, [], options=("--reload-script",))
        try:
            m.script(script("a.example"))
            digest = m.digest(m.policy("compile"))
            r = m.policy("compile", "--accept", str(digest))
            t.ok(r.returncode == 0, "a policy is in force", r.stderr)
            m.put("constitution-user.md", "Read all of the news.\n")
            m.script(script("a.example", "b.example"))
            digest = str(m.digest(m.policy("compile", "--no-cache")))
            if EVERY:
                each(m, "compile", ["policy", "compile", "--no-cache",
                                    "--accept", digest], least=30)
                each(m, "compile from the cache", [
                    "policy", "compile", "--accept", digest], least=25)
            m.policy("compile", "--accept", digest)
            m.script(script("a.example", "c.example"))
            digest = str(m.digest(m.policy("refresh-lists", "--no-cache")))
            each(m, "refresh-lists", ["policy", "refresh-lists", "--accept",
                                      digest], least=3)
            each(m, "customize", ["policy", "customize"],
                 "no more\ny\n\n", least=3)
            if EVERY:
                annotate(m)
            unrecorded(m)
            records(m)
        finally:
            m.end()
    t.done()


def annotate(m):
    """A model says for the first time what a server's tools do."""
    m.put("mcp-servers.json", json.dumps({"echo": h.echo_server(
        os.path.join(m.work, "log", "echo"))}), 0o600)
    m.script([{"step": "annotate", "reply": {"tools": [
        {"toolName": k, "comment": f"Does {k}.", "args": v}
        for k, v in h.ECHO_TOOLS.items()]}}])
    each(m, "annotate", ["policy", "annotate", "--server", "echo",
                         "--no-cache"], least=20)
    os.unlink(os.path.join(m.home, "mcp-servers.json"))


def unrecorded(m):
    """A reply that could not be recorded, for want of room or since icctl was
    killed there, is kept: the next command asks for the others only, and
    records it with its question."""
    args = ["policy", "compile"]
    log = m.path("llm-interactions.jsonl")
    cache = os.path.join(m.home, "policy-cache")
    m.script(script("a.example", "b.example"))
    shutil.rmtree(cache)
    _, lines = traced(m, args, "", "-e", "trace=write")
    sites = [i + 1 for i, x in enumerate(
        x for x in lines if x.startswith("write(")) if place(m, x) == log]
    t.equal(len(sites), 5, "unrecorded: five replies are recorded")
    for k, n in enumerate(sites):
        how = ":signal=KILL" if k % 2 else ""
        shutil.rmtree(cache)
        rows, asked = len(h.read_lines(log)), m.asked()
        traced(m, args, "", "-e", "trace=write",
               "-e", f"inject=write:error=ENOSPC{how}:when={n}")
        kept = [x for x in os.listdir(cache) if x.endswith(".json.new")]
        r = m.policy("compile")
        new = h.read_lines(log)[rows:]
        fresh = [x for x in new if not x["cached"]]
        t.ok(len(kept) == 1 and m.asked() == asked + 5 and
             f"5 replies of the model, {k + 1} from the cache" in r.stdout and
             len({x["inputHash"] for x in fresh}) == len(fresh) == 5 and
             all("request" in x for x in fresh) and len(new) == 5 + k and
             not any(x.endswith(".new") for x in os.listdir(cache)),
             f"unrecorded: reply {k + 1}{how} is not asked for again",
             (kept, m.asked() - asked, r.stdout, r.stderr,
              [(x["stepName"], x["cached"]) for x in new]))


def records(m):
    """learn and propose, of a log."""
    log = m.put("sessions/one/audit.jsonl", "".join(json.dumps({
        "event": "call", "serverName": "filesystem", "toolName":
        "read_text_file", "arguments": {"path": os.path.join(
            m.user, "Documents", x)}, "policyDecision": {
                "status": "escalate", "rule": "ask"},
        "escalationResult": "approved"}) + "\n" for x in ("a", "b")))
    each(m, "learn", ["policy", "learn", log, "--into",
                      os.path.join(m.home, "learned.json")])
    each(m, "propose", ["policy", "propose", os.path.dirname(log)], "y\n",
         least=4)


main()
