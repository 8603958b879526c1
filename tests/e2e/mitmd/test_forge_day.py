#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""An agent's day in one sandbox, with the real git and gh: from an issue to an
open pull request whose checks pass. A person is asked twice: about the push, and
about the pull request."""
import json
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from forge_helper import Forge, TOKEN  # noqa: E402

t = h.Tap()
PUSH_TOKEN = "ghp_real0123456789abcdefABCDEF0123456789"
DAY = """set -e
cd /workspace
git clone -q https://github.com/me/shop.git
cd shop
gh issue list
gh issue view 12
git config user.name agent
git config user.email agent@example.org
git checkout -q -b fix/new
echo right >totals
git add totals
git commit -q -m 'Fix the totals'
git push -q -u origin fix/new
gh pr create -t 'Fix the totals' -b 'Closes #12' -H fix/new
gh pr view 12
gh pr diff 12
gh pr checks 12
gh run list
"""


class Git(h.Process):
    """A server with the repository me/shop, for who has the token."""

    def __init__(self, work):
        self.dir = os.path.join(work, "git")
        self.repo = os.path.join(self.dir, "root", "me", "shop.git")
        seed = os.path.join(self.dir, "seed")
        os.makedirs(self.repo)
        for args in (["init", "-q", "--bare", "-b", "main", self.repo],
                     ["-C", self.repo, "config", "http.receivepack", "true"],
                     ["init", "-q", "-b", "main", seed],
                     ["-C", seed, "-c", "user.name=a", "-c",
                      "user.email=a@b.test", "commit", "-q", "--allow-empty",
                      "-m", "first"],
                     ["-C", seed, "push", "-q", self.repo, "main"]):
            subprocess.run(["git", *args], check=True, env={
                "PATH": "/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM": "1",
                "HOME": "/nonexistent"})
        super().__init__([
            h.PYTHON, os.path.join(h.STANDINS, "git_server.py"), "--ca-dir",
            self.dir, "--root", os.path.join(self.dir, "root"), "--log",
            os.path.join(self.dir, "log.jsonl"), "--token", PUSH_TOKEN],
            os.path.join(self.dir, "stderr"))

    def branch(self, name):
        return subprocess.run(
            ["git", "-C", self.repo, "show", f"{name}:totals"],
            capture_output=True, text=True, check=False, env={
                "PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}).stdout


def config(forge, git):
    return {"destinations": {
        "shop": {"kind": "forge", "forge": "github",
                 "hosts": ["api.github.com"], "upstream": forge.url,
                 "ca": forge.ca, "credential": {"env": "SHOP_TOKEN"},
                 "repositories": ["me/shop"]},
        "code": {"kind": "git", "hosts": ["github.com"],
                 "upstream": f"https://127.0.0.1:{git.ready['port']}",
                 "ca": os.path.join(git.dir, "ca.pem"),
                 "credential": {"env": "CODE_TOKEN"},
                 "repositories": ["me/shop"]}}}


def test_day(work):
    forge, git = Forge(work, "forge.py"), Git(work)
    script = f"({DAY}) >out 2>&1; echo $? >code; exec sleep 60"
    s = h.Session(os.path.join(work, "s"), runtime="bwrap", env={
        "SHOP_TOKEN": TOKEN, "CODE_TOKEN": PUSH_TOKEN},
        config=config(forge, git),
        options=("--agent", "command", "--", "/bin/sh", "-c", script))
    code, asked, shown = os.path.join(s.workspace, "code"), [], ""
    with s:
        while True:
            h.wait_for(lambda: os.path.exists(code) or s.pending(),
                       "the agent did not end", 60)
            pending = s.pending()
            if not pending:
                break
            for hold in pending:
                asked.append(hold["id"])
                shown += s.icctl("show", hold["id"]).stdout
                s.icctl("approve", hold["id"], check=True)
            h.wait_for(lambda: not [p for p in s.pending()
                                    if p["id"] in asked], "not approved", 60)
        with open(os.path.join(s.workspace, "out"), encoding="utf-8") as f:
            out = f.read()
        t.equal(h.wait_for(lambda: open(code, encoding="ascii").read(),
                           "no status", 10), "0\n", "the day ends well")
        print("# " + out.replace("\n", "\n# "))
        t.equal(len(asked), 2, "a person is asked twice")
        t.contains(shown, "refs/heads/fix/new", "about the push")
        t.contains(shown, 'Opens a pull request in me/shop: "Fix the totals", '
                   "fix/new into main", "about the pull request")
        t.contains(shown, "Closes #12 by itself", "and what that closes")
        t.contains(out, "https://github.com/me/shop/pull/12", "it is open")
        t.contains(out, "pass", "its checks pass")
        t.equal(git.branch("fix/new"), "right\n", "the branch is there")
        made = [json.loads(x["body"]) for x in forge.seen()
                if "createPullRequest" in x["body"]]
        t.equal(len(made), 1, "one pull request was made")
        log = json.dumps(s.audit()) + s.session_log() + out
        t.ok(TOKEN not in log and PUSH_TOKEN not in log,
             "no token in what the agent saw, or in our logs")
        t.equal(s.events("alarm"), [], "no alarm")
    forge.end()
    git.end()


def main():
    if shutil.which("gh") is None:
        t.skip("an agent's day", "there is no gh here")
    else:
        with h.workdir() as work, t.case("day"):
            test_day(work)
    t.done()


main()
