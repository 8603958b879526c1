#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""git over https through the proxy of a git server: fetch, clone and push
reach the host of the server's list; a remote that changes after the check, or
a redirect, leads nowhere."""
import os
import shutil
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "lib"), HERE]
import git_hostile as hostile  # noqa: E402
import harness as h  # noqa: E402
from test_git import SERVER, TOOLS  # noqa: E402

t = h.Tap()


class Far(h.Process):
    """A host of git repositories; its CA is in the directory."""

    def __init__(self, work, name):
        self.log = os.path.join(work, name + ".jsonl")
        self.ca = os.path.join(work, "ca", "ca.pem")
        self.root = os.path.join(work, "far")
        super().__init__([
            h.PYTHON, os.path.join(h.STANDINS, "git_https.py"), "--ca-dir",
            os.path.join(work, "ca"), "--root", self.root, "--log", self.log],
            os.path.join(work, name + ".err"))
        self.at = f"localhost:{self.ready['port']}"
        self.url = f"https://{self.at}/up.git"

    def seen(self):
        return h.read_lines(self.log)


def commit(path, name):
    hostile.write(os.path.join(path, name), name + "\n")
    hostile.git(path, "add", name)
    hostile.git(path, "-c", "user.name=a", "-c", "user.email=a@b", "commit",
                "-q", "-m", name)


def head_of(path, ref="HEAD"):
    return subprocess.run(["git", "-C", path, "rev-parse", "-q", "--verify",
                           ref], env=hostile.ENV, stdout=subprocess.PIPE,
                          check=False).stdout.decode().strip()


def make_far(work):
    """Make far/up.git, bare, with one commit. Returns it and the
    repository it was cloned from."""
    up, source = os.path.join(work, "far", "up.git"), os.path.join(work, "src")
    os.makedirs(source)
    hostile.git(source, "init", "-q", "-b", "main")
    commit(source, "first")
    os.makedirs(os.path.dirname(up))
    hostile.git(work, "clone", "-q", "--bare", source, up)
    hostile.git(up, "config", "http.receivepack", "true")
    return up, source


def call(s, m, tool, **args):
    """Returns the text of the answer; a pending call is denied."""
    c = m.start_call("git__" + tool, args)
    h.wait_for(lambda: c.done.is_set() or s.pending(), "an end", 60)
    if not c.done.is_set():
        for hold in s.pending():
            s.icctl("deny", hold["id"])
    return h.text_of(c.wait())


def test_fetch(s, m, far, up, source):
    repo = os.path.join(s.workspace, "repo")
    os.makedirs(repo)
    hostile.git(repo, "init", "-q", "-b", "main")
    hostile.git(repo, "remote", "add", "origin", far.url)
    text = call(s, m, "git_fetch", path="/workspace/repo", remote="origin")
    t.ok(text.startswith("exit 0"), "git fetch over https", text)
    t.equal(head_of(repo, "refs/remotes/origin/main"), head_of(up),
            "brings what is there")
    d = s.events("call")[-1]["policyDecision"]
    t.equal((d["status"], d["rule"]), ("allow", "listed"),
            "allowed by the rule for that host")
    made = s.events("connect")
    t.equal({(e["serverName"], f"{e['host']}:{e['port']}") for e in made},
            {("git", far.at)}, "by the server's egress, and in the log")
    t.ok([r for r in far.seen() if r.get("path") == "/up.git/git-upload-pack"],
         "the far side served it", far.seen())
    commit(source, "second")
    hostile.git(source, "push", "-q", up, "main")
    text = call(s, m, "git_fetch", path="/workspace/repo")
    t.equal(head_of(repo, "refs/remotes/origin/main"), head_of(source),
            "what came since, by the default remote")
    text = call(s, m, "git_clone", path="/workspace/copy", url=far.url)
    copy = os.path.join(s.workspace, "copy")
    t.equal((text[:6], head_of(copy)), ("exit 0", head_of(source)),
            "git clone over https")
    commit(copy, "third")
    text = call(s, m, "git_push", path="/workspace/copy", remote="origin")
    t.ok(head_of(up) == head_of(copy), "git push over https", text)


def test_elsewhere(s, m, far, other):
    """Another host is off the list, however git was led there."""
    repo = os.path.join(s.workspace, "repo")
    before = len(other.seen())
    text = call(s, m, "git_run", path="/workspace/repo",
                words=["ls-remote", other.url])
    t.ok("403" in text and "exit 0" not in text, "another port: 403", text)
    config = os.path.join(repo, ".git", "config")
    with open(config, encoding="utf-8") as f:
        good = f.read()
    stop, swaps = threading.Event(), [0]

    def swap():
        while not stop.wait(0.003):
            swaps[0] += 1
            text = good.replace(far.url, other.url) if swaps[0] % 2 else good
            hostile.write(config + ".new", text)
            os.rename(config + ".new", config)
    subprocess.run(["git", "ls-remote", other.url], stdout=subprocess.DEVNULL,
                   env={**hostile.ENV, "GIT_SSL_CAINFO": other.ca}, check=True)
    t.ok(len(other.seen()) > before, "baseline: git without us gets there")
    before = len(other.seen())
    swapper = threading.Thread(target=swap)
    swapper.start()
    reached = led = 0
    try:
        for _ in range(25):
            text = call(s, m, "git_fetch", path="/workspace/repo",
                        remote="origin")
            reached += text.startswith("exit 0")
            led += "403" in text
    finally:
        stop.set()
        swapper.join()
    t.equal(other.seen()[before:], [],
            f"a remote changed after the check goes nowhere: of 25 fetches "
            f"{reached} reached the host, {led} were led elsewhere")
    t.ok(reached + led != 0, "(some passed the check)")
    t.equal({f"{e['host']}:{e['port']}" for e in s.events("connect")},
            {far.at}, "no connection to it was begun")


def main():
    if not shutil.which("git") or not os.path.exists(
            "/usr/lib/git-core/git-http-backend"):
        t.skip("git", "git and its http-backend are not installed")
        return t.done()
    with h.workdir() as work:
        up, source = make_far(work)
        far, other = Far(work, "one"), Far(work, "two")
        ca = os.path.join(work, "ca-shown")
        os.makedirs(ca)
        shutil.copy(far.ca, ca)
        servers = {"git": {
            "command": h.PYTHON, "args": [SERVER],
            "env": {"GIT_SSL_CAINFO": os.path.join(ca, "ca.pem")},
            "sandbox": {
                "filesystem": {"allowRead": [h.STANDINS, ca]},
                "network": {"allowPrivate": True,
                            "allowedDomains": [far.at]}}}}
        rules = [h.rule("listed", "allow", "The company's git.",
                        server=["git"], domains={
                            "allowed": ["localhost"],
                            "roles": ["git-remote-url"]}),
                 h.rule("rest", "allow", "What stays here.",
                        server=["git"], tool=["git_run"])]
        s = h.Session(work, servers, rules, {"git": TOOLS})
        with s:
            m = s.client()
            with t.case("fetch"):
                test_fetch(s, m, far, up, source)
            with t.case("elsewhere"):
                test_elsewhere(s, m, far, other)
            m.close()
        for p in (far, other):
            p.end()
    return t.done()


if __name__ == "__main__":
    sys.exit(main())
