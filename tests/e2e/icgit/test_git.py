#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Git servers and hostile repositories: no program that a repository names
runs, and no remote off the list is reached; policy decides by the URLs of a
remote and not by its name.  Each test has a baseline without IronCurtain, in
which these things happen."""
import os
import shutil
import socket
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "lib"), HERE]
import git_hostile as hostile  # noqa: E402
import harness as h  # noqa: E402

t = h.Tap()
SERVER = os.path.join(h.STANDINS, "mcp_git.py")
LISTED = "github.com"
PATH = ["read-path", "write-path"]
TOOLS = {"git_run": {"path": PATH, "words": ["commit-message"]},
         "git_fetch": {"path": PATH, "remote": ["git-remote-url"]},
         "git_push": {"path": PATH, "remote": ["git-remote-url"]},
         "git_clone": {"path": PATH, "url": ["git-remote-url"]},
         "git_direct": {"path": PATH, "program": ["commit-message"]}}
RULES = [
    h.rule("listed-hosts", "allow", "Remotes on github.com.",
           server=["git"], domains={"allowed": [LISTED],
                                    "roles": ["git-remote-url"]}),
    h.rule("no-more", "deny", "No other remote.", server=["git"],
           roles=["git-remote-url"], tool=["git_clone"]),
]


def entry(**more):
    return {"command": h.PYTHON, "args": [SERVER],
            "sandbox": {"filesystem": {"allowRead": [h.STANDINS]}}, **more}


def tried(repo, run):
    """Do all the work. Returns the output of git, for inspection."""
    said = []
    for step in hostile.work(repo):
        if callable(step):
            step()
        else:
            said.append((step, run(step)))
    return said


def test_baseline(work):
    """Without IronCurtain, nearly every trap springs."""
    host = os.path.join(work, "baseline")
    os.makedirs(host)
    repo = hostile.Hostile(host, host)
    tried(repo, lambda words: hostile.git(host, *words, check=False))
    sprung = set(repo.sprung())
    for name in ("alias", "clean", "editor", "equals", "ext", "extdiff",
                 "fsmonitor", "gpg", "merge", "process", "sequence", "ssh",
                 "subfsmonitor", "textconv", "trailer", "uploadpack",
                 "receivepack", "exec", "hook-pre-commit",
                 "hook-post-checkout", "hook-reference-transaction"):
        t.ok(name in sprung, f"baseline: trap {name} springs", sorted(sprung))


def test_hostile(s, repo):
    m = s.client()

    def run(words):
        r = m.call("git__git_run", {"path": "/workspace/repo",
                                    "words": ["--no-pager", *words]})
        return h.text_of(r)
    said = tried(repo, run)
    t.equal(repo.sprung(), [], "no trap springs through the git server")
    by = {" ".join(w): text for w, text in said}
    for words in ("status", "diff", "commit -m two", "log -p -2",
                  "checkout -b other", "tag -a v -m v", "add b.bin"):
        t.ok(by[words].startswith("exit 0"), f"git {words} works all the same",
             by[words][:300])
    for words, name, of in (("add a.txt", "a.txt", "f"),
                            ("add n.big", "n.big", "p"),
                            ("add n.eq", "n.eq", "x=y")):
        t.ok(not by[words].startswith("exit 0") and
             f"{name}: clean filter '{of}' failed" in by[words] and
             "the filter of this file is not in this sandbox" in by[words],
             f"git {words}, whose filter does not run, says so", by[words])
    who = run(["log", "-1", "--grep=two", "--format=%an <%ae>"])
    t.contains(who, "Jane Döe <j@example.invalid>", "commits are the user's")
    t.contains(run(["mine"]), "not a git command",
               "the rest of his configuration is not there")
    t.contains(by["diff"], "+two", "git diff shows a difference")
    t.contains(by["fetch ext"], "not allowed", "ext:: is no transport")
    for program in ("/usr/bin/git", "/usr/lib/git-core/git"):
        if os.path.exists(program):
            m.call("git__git_direct", {"path": "/workspace/repo",
                                       "program": program})
    t.equal(repo.sprung(), [], "nor by git's whole path")
    r = m.call("git__git_run", {"path": "/workspace/repo", "words": [
        "clone", "--recurse-submodules", "x", "y"]})
    t.contains(h.text_of(r), "refused by IronCurtain",
               "submodules are not recursed into")
    m.close()


def plain_repo(s, name, **settings):
    host = os.path.join(s.workspace, name)
    os.makedirs(host)
    hostile.git(host, "init", "-q", "-b", "main")
    for key, value in settings.items():
        hostile.git(host, "config", "--add",
                    key.replace("__", "."), value)
    return "/workspace/" + name


def config(host, *pairs):
    for key, value in pairs:
        hostile.git(host, "config", "--add", key, value)


def decided(s, m, tool, args, server="git"):
    """Returns (status, rule, reason) of a call from the log; a pending call is
    denied."""
    call = m.start_call(f"{server}__{tool}", args)
    hold = h.wait_for(lambda: call.done.is_set() or s.pending(), "an end")
    if not call.done.is_set():
        hold = s.pending()[0]
        s.icctl("deny", hold["id"])
    call.wait()
    d = [e for e in s.events("call") if e["toolName"] == tool][-1]
    return d["policyDecision"]


GOOD, EVIL = f"https://{LISTED}/o/r.git", "https://evil.example/x"
CASES = [
    # description, settings, remote, whether it is allowed
    ("a remote on the list", [("remote.origin.url", GOOD)], "origin", True),
    ("the default remote on the list", [("remote.origin.url", GOOD)], None,
     True),
    ("a URL on the list", [("remote.origin.url", GOOD)], GOOD, True),
    ("a remote off the list", [("remote.origin.url", EVIL)], "origin", False),
    ("the default remote off the list", [("remote.origin.url", EVIL)], None,
     False),
    ("pushurl", [("remote.origin.url", GOOD), ("remote.origin.pushurl", EVIL)],
     "origin", False),
    ("a second URL", [("remote.origin.url", GOOD),
                      ("remote.origin.url", EVIL)], "origin", False),
    ("insteadOf", [("remote.origin.url", GOOD),
                   ("url.https://evil.example/.insteadOf",
                    f"https://{LISTED}/")], "origin", False),
    ("insteadOf of a URL", [("url.https://evil.example/.insteadOf",
                             f"https://{LISTED}/")], GOOD, False),
    ("pushInsteadOf of a URL", [("url.https://evil.example/.pushInsteadOf",
                                 f"https://{LISTED}/")], GOOD, False),
    ("insteadOf towards the list", [
        ("remote.origin.url", "gh:o/r"),
        (f"url.https://{LISTED}/.insteadOf", "gh:")], "origin", True),
    ("a remote called as a URL", [(f"remote.{GOOD}.url", EVIL)], GOOD, False),
    ("pushurl of a remote called as a URL",
     [(f"remote.{GOOD}.pushurl", EVIL)], GOOD, False),
    ("branch.main.remote", [("remote.origin.url", GOOD),
                            ("remote.evil.url", EVIL),
                            ("branch.main.remote", "evil")], None, False),
    ("branch.main.pushRemote", [("remote.origin.url", GOOD),
                                ("branch.main.pushRemote", EVIL)], None, False),
    ("remote.pushDefault", [("remote.origin.url", GOOD),
                            ("remote.pushDefault", EVIL)], None, False),
    ("the sole remote", [("remote.upstream.url", EVIL)], None, False),
    ("a group of that name", [("remote.origin.url", GOOD),
                              ("remote.evil.url", EVIL),
                              ("remotes.origin", "evil")], "origin", False),
    ("a helper", [("remote.origin.url", GOOD), ("remote.origin.vcs", "evil")],
     "origin", False),
    ("a user in ssh's form", [("remote.origin.url",
                               f"git@{LISTED}:o/r.git")], "origin", True),
    ("no such remote", [], "origin", False),
    ("a path", [("remote.origin.url", "/workspace/other")], "origin", False),
    ("ext::", [("remote.origin.url", "ext::sh -c true")], "origin", False),
    ("an option", [("remote.origin.url", "--upload-pack=x")], "origin", False),
    ("a URL with a password", [("remote.origin.url",
                                f"https://u:secret@{LISTED}/x")], "origin",
     False),
]


def test_remotes(s):
    m = s.client()
    for i, (what, settings, remote, allowed) in enumerate(CASES):
        path = plain_repo(s, f"r{i}")
        config(os.path.join(s.workspace, f"r{i}"), *settings)
        args = {"path": path}
        if remote is not None:
            args["remote"] = remote
        d = decided(s, m, "git_push", args)
        t.equal(d["status"] == "allow", allowed,
                f"{what}: {'allowed' if allowed else 'not allowed'} "
                f"({d['rule']})")
        if not allowed:
            t.ok("secret" not in d["reason"], "no password in the log", d)
    host = os.path.join(s.workspace, "inc")
    path = plain_repo(s, "inc")
    config(host, ("remote.origin.url", GOOD), ("include.path", "../../more"))
    with open(os.path.join(s.workspace, "more"), "w", encoding="utf-8") as f:
        f.write(f"[remote \"origin\"]\n\tpushurl = {EVIL}\n")
    d = decided(s, m, "git_push", {"path": path, "remote": "origin"})
    t.ok(d["status"] != "allow" and "evil.example" in d["reason"],
         "an included file counts, and the reason says where it leads", d)
    os.unlink(os.path.join(s.workspace, "more"))
    os.mkfifo(os.path.join(s.workspace, "more"))
    d = decided(s, m, "git_push", {"path": path, "remote": "origin"})
    t.equal(d["rule"], "structural-unknown-remote",
            "a repository that git cannot read in time: a person decides")
    calls = [e for e in s.events("session") if e["message"] == "remotes"]
    t.ok(len(calls) >= len(CASES), "every question is in the log", len(calls))
    names = [x["name"] for x in m.list_tools()]
    t.ok(not any("remotes" in n for n in names),
         "the agent does not see who is asked", names)
    r = m.call("git.remotes__remotes", {"path": path, "remotes": [""]})
    t.contains(h.text_of(r), "Unknown tool", "nor may it ask")
    d = decided(s, m, "git_clone", {"path": "/workspace/new", "url": EVIL})
    t.equal(d["status"], "deny", "a clone is judged by the URL it is given")
    m.close()


# Attributes of a filter that nobody here has, where they are, and what is added.
# git-lfs is usually in the user's configuration, which no server sees.
FILTERED = [
    ("in the repository", ".gitattributes", "*.bin filter=lfs\n", "a.bin"),
    ("below", "deep/.gitattributes", "*.bin filter=lfs\n", "deep/b.bin"),
    ("by a macro", ".gitattributes", "[attr]big filter=lfs -text\n*.bin big\n",
     "a.bin"),
    ("in an ignored folder", "out/.gitattributes", "*.bin filter=strip\n",
     "out/c.bin"),
    ("outside the files", ".git/info/attributes", "*.bin filter=x=y\n",
     "a.bin"),
    ("of the user", None, "*.user filter=strip\n", "a.user"),
    ("in the index alone", "gone/.gitattributes", "*.bin filter=strip\n",
     "gone/d.bin"),
    ("that the configuration names", "my-attributes", "*.bin filter=own\n",
     "a.bin")]
TAKING = [["add", "-f", "{}"], ["add", "-A", "-f"], ["stage", "-f", "{}"],
          ["commit", "-am", "all"], ["commit", "-m", "one", "--", "{}"],
          ["stash"], ["stash", "push", "-m", "x"], ["stash", "create"],
          ["update-index", "--add", "{}"], ["hash-object", "-w", "{}"]]


def test_filters(s):
    """A filter that is not here never changes what is committed."""
    m = s.client()

    def run(path, *words):
        return h.text_of(m.call("git__git_run", {"path": path,
                                                 "words": list(words)}))
    for n, (what, where, text, name) in enumerate(FILTERED):
        path = plain_repo(s, f"filter{n}")
        host = os.path.join(s.workspace, f"filter{n}")
        hostile.write(os.path.join(host, name), "pointer\n")
        hostile.git(host, "add", "-f", name)
        hostile.git(host, "commit", "-qm", "one")
        if where is not None:
            hostile.write(os.path.join(host, where), text)
        if where == "gone/.gitattributes":
            hostile.git(host, "add", where)
            os.unlink(os.path.join(host, where))
        if where == "my-attributes":
            hostile.git(host, "config", "core.attributesFile",
                        f"{path}/{where}")
        hostile.write(os.path.join(host, name), "the whole content\n")
        hostile.write(os.path.join(host, ".gitignore"), "out/\n")
        hostile.write(os.path.join(host, "plain.txt"), "text\n")
        known = hostile.git(host, "cat-file", "--batch-all-objects",
                            "--batch-check")
        for words in TAKING if n == 0 else TAKING[:1]:
            said = run(path, *(x.format(name) for x in words))
            t.ok(said[:6] != "exit 0" and f"{name}: clean filter '" in said and
                 "commit it outside. Do not retry." in said,
                 f"attributes {what}: git {' '.join(words)} is refused", said)
        now = hostile.git(host, "cat-file", "--batch-all-objects",
                          "--batch-check")
        t.ok(not set(hostile.git(host, "hash-object", "--no-filters", name)
                     .split()) & set(now.split()) and
             hostile.git(host, "rev-list", "--all", "--count") == "1\n",
             f"attributes {what}: nothing of the file is in the repository",
             (known, now))
        if where is None:
            hostile.write(os.path.join(host, "x.junk"), "junk\n")
            t.ok("x.junk" not in run(path, "status", "--short"),
                 "a file that the user's git ignores everywhere is ignored")
        said = run(path, "add", "plain.txt") + run(path, "commit", "-m", "two")
        t.ok(said.count("exit 0") == 2,
             f"attributes {what}: another file is committed", said)
        for words in (["status"], ["diff"], ["checkout", "--", name],
                      ["log", "-p"], ["reset", "--hard"], ["checkout", "-b",
                                                           "other"]):
            said = run(path, *words)
            t.ok(said[:6] == "exit 0", f"attributes {what}: git "
                 f"{' '.join(words)} works", said)
        with open(os.path.join(host, name), encoding="utf-8") as f:
            t.equal(f.read(), "pointer\n", "and gives what was committed")
    m.close()


def test_network(work):
    """A git server with network: its list holds, whatever proxies a repository
    configures, and policy checks its remotes."""
    with_net = entry()
    with_net["sandbox"]["network"] = {"allowedDomains": ["listed.invalid"]}
    s = h.Session(work, {"git": with_net}, RULES, {"git": TOOLS})
    with s:
        path = plain_repo(s, "r")
        config(os.path.join(s.workspace, "r"),
               ("http.proxy", "http://evil.example:1"),
               ("http.https://github.com.proxy", "http://evil.example:2"),
               ("remote.o.url", GOOD),
               ("remote.o.proxy", "http://evil.example:3"))
        m = s.client()
        for where in (GOOD, "o"):
            r = m.call("git__git_run", {"path": path,
                                        "words": ["ls-remote", where]})
            t.contains(h.text_of(r), "403", f"{where}: off the server's list")
        m.call("git__git_run", {"path": path, "words": [
            "ls-remote", "https://listed.invalid/x"]})
        t.equal({e.get("host") for e in s.events("connect")},
                {"listed.invalid"}, "git goes by our proxy and no other")
        d = decided(s, m, "git_fetch", {"path": path, "remote": "o"})
        t.equal((d["status"], d["rule"]),
                ("escalate", "structural-domain-escalate"),
                "the gate sees where the remote leads")
        m.close()


def other_name(server, rules):
    """The same rules apply to a server with another name."""
    return [{**r, "if": {**r["if"], "server": [server]}} for r in rules]


def test_names(work):
    """The program decides: git in the sandbox of any server is the wrapper,
    and a server is a git server if the configuration says so."""
    hosts = {}
    for name in ("repos", "company"):
        hosts[name] = os.path.join(work, "workspace", name)
        os.makedirs(hosts[name])
    s = h.Session(work, {"repos": entry(), "company": entry(git=True)},
                  other_name("company", RULES) + [
                      h.rule("all", "allow", server=["repos"])],
                  {"repos": TOOLS, "company": TOOLS})
    trap = hostile.Hostile(hosts["repos"], "/workspace/repos")
    with s:
        m = s.client()

        def run(words):
            return h.text_of(m.call("repos__git_run", {
                "path": "/workspace/repos", "words": ["--no-pager", *words]}))
        said = tried(trap, run)
        t.equal(trap.sprung(), [], "no trap springs through another server")
        t.ok(any(x.startswith("exit 0") for w, x in said if w == ["status"]),
             "where git works all the same", said[:3])
        hostile.git(hosts["company"], "init", "-q", "-b", "main")
        config(hosts["company"], ("remote.good.url", GOOD),
               ("remote.evil.url", GOOD), ("remote.evil.pushurl", EVIL))
        for remote, allowed in (("good", True), ("evil", False)):
            d = decided(s, m, "git_push", {"path": "/workspace/company",
                                           "remote": remote}, "company")
            t.equal(d["status"] == "allow", allowed,
                    f"a git server of another name: its remote {remote}")
        m.close()
    servers = {"git": entry(), "company": entry(git=True)}
    try:
        h.Session(work, servers, RULES, {"git": TOOLS},
                  session_dir=os.path.join(work, "two")).start().stop()
        t.ok(False, "two git servers are refused")
    except RuntimeError as e:
        t.contains(str(e), 'company.git: git is a git server already',
                   "two git servers are refused")


def test_race(s):
    """The agent changes a remote between check and use: the server cannot
    connect anywhere."""
    path = plain_repo(s, "race")
    host = os.path.join(s.workspace, "race")
    got, done = [], threading.Event()
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        port = listener.getsockname()[1]
        evil = f"https://127.0.0.1:{port}/x"

        def accept():
            while True:
                try:
                    c, _ = listener.accept()
                except OSError:
                    return
                got.append(c.getpeername())
                c.close()

        def swap():
            flip = False
            while not done.wait(0.05):
                flip = not flip
                hostile.write(os.path.join(host, ".git/config"),
                              "[remote \"origin\"]\n\turl = "
                              f"{evil if flip else GOOD}\n")
        threading.Thread(target=accept, daemon=True).start()
        subprocess.run(["git", "ls-remote", evil], env=hostile.ENV,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       check=False)
        t.ok(got, "baseline: git reaches the listener")
        got.clear()
        swapper = threading.Thread(target=swap)
        swapper.start()
        m = s.client()
        # The number that falls into one window depends on the machine's speed:
        # make at least 20, and continue until one did, for at most a minute.
        allowed = tried = 0
        end = time.monotonic() + 60
        while tried < 20 or allowed == 0 and time.monotonic() < end:
            d = decided(s, m, "git_fetch", {"path": path, "remote": "origin"})
            allowed += d["status"] == "allow"
            tried += 1
        done.set()
        swapper.join()
        t.equal(got, [], f"of {allowed} allowed fetches none reaches it")
        t.ok(allowed != 0, "and some were allowed", f"none of {tried}")
        m.close()


def main():
    if not shutil.which("git"):
        t.skip("git", "git is not installed")
        return t.done()
    with h.workdir() as work:
        test_baseline(work)
        s = h.Session(work, {"git": entry()}, RULES, {"git": TOOLS})
        # The user's own identity, and settings of the user that no repository
        # may use.
        hostile.write(os.path.join(s.user_home, ".gitconfig"),
                      "[user]\n\tname = Jane Döe\n\temail = j@example.invalid"
                      "\n[alias]\n\tmine = status\n")
        hostile.write(os.path.join(s.user_home, ".config/git/attributes"),
                      next(x[2] for x in FILTERED if x[1] is None))
        hostile.write(os.path.join(s.user_home, ".config/git/ignore"),
                      "*.junk\n")
        os.makedirs(os.path.join(s.workspace, "repo"))
        repo = hostile.Hostile(os.path.join(s.workspace, "repo"),
                               "/workspace/repo")
        with s:
            test_hostile(s, repo)
            test_filters(s)
            test_remotes(s)
            test_race(s)
    with h.workdir() as work:
        test_network(work)
    with h.workdir() as work, t.case("names"):
        test_names(work)
    return t.done()


if __name__ == "__main__":
    sys.exit(main())
