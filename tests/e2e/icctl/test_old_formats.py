#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Reads what earlier versions have written: each directory of tests/fixtures/
is the home of a user, with a configuration, a policy, pins and two
conversations."""
import json
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "lib"))
import harness as h  # noqa: E402
import old_home  # noqa: E402

FIXTURES = os.path.join(HERE, "..", "..", "fixtures")
t = h.Tap()


class Old:
    """A home as an earlier version left it."""

    def __init__(self, name):
        place = old_home.PLACE
        shutil.rmtree(place)
        shutil.copytree(os.path.join(FIXTURES, name), place)
        for d in ("workspace", "user", "log"):
            os.makedirs(os.path.join(place, d), exist_ok=True)
        for top, dirs, files in os.walk(place):
            for x in dirs + files:
                path = os.path.join(top, x)
                os.chmod(path, os.stat(path).st_mode & 0o700)
        os.chmod(place, 0o700)
        with open(os.path.join(place, "said.json"), encoding="utf-8") as f:
            self.said = json.load(f)
        self.home = os.path.join(place, "home")
        for which in ("ended", "killed"):
            self.adopt(os.path.join(self.home, "sessions", self.said[which],
                                    "session.json"))
        self.env = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8",
                    "HOME": os.path.join(place, "user"),
                    "IRONCURTAIN_HOME": self.home,
                    "ANTHROPIC_API_KEY": h.ANTHROPIC_KEY,
                    "OPENAI_API_KEY": h.OPENAI_KEY}

    def adopt(self, path):
        """Gives a session this workspace, which is another directory than the
        one that it ran in."""
        with open(path, encoding="utf-8") as f:
            session = json.load(f)
        st = os.stat(session["workspace"])
        h.put(path, json.dumps({**session, "workspaceDev": str(st.st_dev),
                                "workspaceIno": str(st.st_ino)}), 0o600)

    def icctl(self, *args):
        return subprocess.run([h.program("icctl"), *args], env=self.env,
                              capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL,
                              timeout=60 * h.PATIENCE)

    def log(self, which):
        return os.path.join(self.home, "sessions", self.said[which],
                            "audit.jsonl")


def read(old, name):
    rows = {x["id"]: x for x in json.loads(
        old.icctl("--json", "ls").stdout)}
    for which, state in (("ended", "closed"), ("killed", "crashed")):
        row = rows.get(old.said[which], {})
        t.equal((row.get("state"), row.get("agent")), (state, "parrot"),
                f"{name}: the session that has {which} is listed so")
        r = old.icctl("audit", "verify", old.log(which))
        t.ok(r.returncode == 0, "its log verifies", r.stdout + r.stderr)
        r = old.icctl("--json", "--session", old.said[which], "history")
        events = [json.loads(x)["event"] for x in r.stdout.splitlines()]
        t.equal(events, old.said[f"history {which}"], "its history is read")
    r = old.icctl("policy", "check")
    t.ok(r.returncode == 0, "the policy is in force", r.stdout + r.stderr)
    r = old.icctl("policy", "replay", old.log("ended"))
    t.contains(r.stdout, "4 calls, ", "the recorded calls are decided again")


def go_on(old):
    """Goes on with both conversations, and starts a new session."""
    for which, words in (("ended", []), ("killed", ["--after-crash"])):
        r = old.icctl("resume", "--json", old.said[which], *words)
        if not t.ok(r.returncode == 0, f"the session that has {which} goes on",
                    r.stdout + r.stderr):
            continue
        r = old.icctl("send", "--json", "--session", old.said[which], "more")
        t.contains(r.stdout, "before: " + ("one two" if which == "ended"
                                           else "three"),
                   "with what the agent remembers")
        r = old.icctl("--json", "trust", "--session", old.said[which])
        t.ok(r.returncode == 0 and "redefined" not in r.stdout,
             "and the tools as they were", r.stdout + r.stderr)
        old.icctl("stop", "--session", old.said[which])
        r = old.icctl("audit", "verify", old.log(which))
        t.ok(r.returncode == 0, "its log goes on", r.stdout + r.stderr)
    r = old.icctl("start", "--quiet", "--workspace",
                  os.path.join(old_home.PLACE, "workspace"), "--", "true")
    t.ok(r.returncode == 0, "a new session starts", r.stderr)


def main():
    if not old_home.enter():
        t.skip("old formats", "no namespace for /srv can be made here")
        t.done()
    for name in sorted(os.listdir(FIXTURES)):
        if os.path.isdir(os.path.join(FIXTURES, name)):
            old = Old(name)
            read(old, name)
            go_on(old)
    t.done()


main()
