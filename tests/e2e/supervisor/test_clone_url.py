#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""`icctl start --clone URL`: git in a sandbox gets the repository through a git
destination before the agent starts, and nothing else can be cloned so."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import trap_repo as trap  # noqa: E402
from started import Place  # noqa: E402

t = h.Tap()
HOST = "github.test"
TOKEN = "ghp_real0123456789abcdefABCDEF0123456789"
URL = f"https://{HOST}/owner/repo.git"


class Server(h.Process):
    def __init__(self, work):
        self.dir = os.path.join(work, "git")
        self.root = os.path.join(self.dir, "root")
        seed = os.path.join(self.dir, "seed")
        trap.make(seed, {"README": "hello\n"})
        trap.git(seed, "branch", "topic")
        for name in ("owner/repo.git", "else/repo.git"):
            trap.git(self.dir, "clone", "-q", "--bare", seed,
                     os.path.join(self.root, name))
        empty = os.path.join(self.root, "owner", "empty.git")
        os.makedirs(empty)
        trap.git(empty, "init", "-q", "--bare")
        self.log = os.path.join(self.dir, "log.jsonl")
        super().__init__([h.PYTHON, os.path.join(h.STANDINS, "git_server.py"),
                          "--ca-dir", self.dir, "--root", self.root, "--log",
                          self.log, "--token", TOKEN],
                         os.path.join(self.dir, "stderr"))


def start(p, url, *options, command=("true",)):
    return subprocess.run(
        [h.program("icctl"), "start", "--clone", url, *options, "--",
         *command], env={**p.env, "GITHUB_TOKEN": TOKEN}, cwd=p.work,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
        check=False)


def cloned(p, g):
    r = start(p, URL, command=(
        "sh", "-c", "cat README; git symbolic-ref HEAD; git remote -v; "
        "env; echo mine > new"))
    t.ok(r.returncode == 0 and r.stdout.startswith(
        "hello\nrefs/heads/main\n"), "the agent finds a clone",
        r.stdout + r.stderr)
    t.ok(URL in r.stdout and TOKEN not in r.stdout, "origin has no token")
    t.ok(f"a clone of {URL}" in r.stderr and "1 file in no commit" in
         r.stderr, "the summary", r.stderr)
    seen = h.read_lines(g.log)
    t.ok(seen and all(x["authorized"] for x in seen), "the server saw the "
         "real token")
    with open(os.path.join(p.session(), "audit.jsonl"),
              encoding="utf-8") as f:
        t.contains(f.read(), "owner/repo.git/info/refs", "it is in the log")
    hold = subprocess.run(["grep", "-rl", TOKEN, p.session()], check=False,
                          capture_output=True, text=True).stdout
    t.equal(hold, "", "the token is nowhere in the session")
    s = os.path.basename(p.session())
    out = p.icctl("diff", s).stdout
    t.ok("+mine" in out and "README" not in out, "icctl diff", out)
    r = p.icctl("pull", s)
    t.ok(r.returncode == 64 and "--into DIR" in r.stderr, "pull asks where to",
         r.stderr)
    mine = os.path.join(p.work, "mine")
    trap.git(p.work, "clone", "-q", os.path.join(g.dir, "seed"), mine)
    r = p.icctl("pull", s, "--into", mine)
    t.equal((r.returncode, r.stderr), (0, ""), "pull --into")
    t.equal(trap.git(mine, "show", f"ironcurtain/{s}/unsaved:new"), "mine\n",
            "is the work")
    r = start(p, URL + "#topic", command=("git", "symbolic-ref", "HEAD"))
    t.equal(r.stdout, "refs/heads/topic\n", "#REF")
    r = subprocess.run([h.program("icctl"), "resume", s, "--", "cat", "new"],
                       env={**p.env, "GITHUB_TOKEN": TOKEN},
                       stdin=subprocess.DEVNULL, capture_output=True,
                       text=True, timeout=60, check=False)
    t.equal(r.stdout, "mine\n", "a resumed session keeps its clone")


def refused(p, g):
    for url, why in (
            ("https://other.test/owner/repo.git", "no git destination"),
            (f"https://me:secret12@{HOST}/owner/repo.git", "password"),
            (f"http://{HOST}/owner/repo.git", "only https"),
            (f"ssh://{HOST}/owner/repo.git", "only https"),
            (f"git@{HOST}:owner/repo.git", "only https"),
            (f"https://{HOST}:8443/owner/repo.git", "no git destination"),
            ("file:///etc", "only https"), ("ext::sh -c x", "No such file"),
            (URL + "#-x", "no branch or tag"),
            (URL + "#a..b", "no branch or tag")):
        r = start(p, url)
        t.ok(r.returncode == 78 and why in r.stderr and "secret12" not in
             r.stderr, f"refused: {url}", r.stderr)
    r = start(p, URL, "--with-changes")
    t.contains(r.stderr, "are for --clone DIR", "--with-changes")
    t.ok(not os.path.isdir(os.path.join(p.home, "sessions")) or
         os.listdir(os.path.join(p.home, "sessions")) == [],
         "refused starts leave nothing")
    for url, why in ((f"https://{HOST}/else/repo.git", "403"),
                     (f"https://{HOST}/owner/none.git", "not found"),
                     (URL + "#none", "none"),
                     (f"https://{HOST}/owner/empty.git", "no commit yet")):
        r = start(p, url, command=("echo", "the agent ran"))
        t.ok(r.returncode == 78 and why in r.stderr and "git clone URL DIR"
             in r.stderr and "agent ran" not in r.stdout,
             f"not cloned, and no agent: {url}", r.stdout + r.stderr)


def main():
    for part in (cloned, refused):
        with h.workdir() as work, t.case(part.__name__):
            g = Server(work)
            try:
                part(Place(work, {"destinations": {"github": {
                    "kind": "git", "hosts": [HOST],
                    "upstream": f"https://127.0.0.1:{g.ready['port']}",
                    "ca": os.path.join(g.dir, "ca.pem"),
                    "credential": {"env": "GITHUB_TOKEN"},
                    "repositories": ["owner/*"]}}}), g)
            finally:
                g.end()
    t.done()


main()
