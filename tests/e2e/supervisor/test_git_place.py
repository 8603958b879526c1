#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The user's git in a sandbox: each row is a set-up of git in which the same
commit is made outside and inside, in place and in a clone, and compared member
by member."""
import json
import os
import shlex
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from started import Place  # noqa: E402

t = h.Tap()
CLONED = ("no configuration", "includeIf gitdir", "odd characters",
          "line endings")
FORMAT = "%an%n%ae%n%cn%n%ce%n%T%n%G?%n%B"
COMMIT = "echo two > f; git add -A && git commit -qm 'a message'"


class World:
    """A home with a configuration of git, and a repository in it."""

    def __init__(self, p, name, where="work/p"):
        self.p = p
        shutil.rmtree(p.user)
        os.makedirs(p.user, mode=0o700)
        self.name = name
        self.env = {}
        self.repo = os.path.join(p.user, where)
        self.commands = COMMIT

    def put(self, name, text):
        h.put(os.path.join(self.p.user, name), text)

    def git(self, *args, cwd=None, check=True):
        return subprocess.run(
            ["git", *args], env={**self.p.env, **self.env},
            cwd=cwd or self.repo, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=60, check=check).stdout

    def make(self, *options, **files):
        """The repository, with one commit of somebody else."""
        os.makedirs(self.repo, exist_ok=True)
        self.git("init", "-q", "-b", "main", *options)
        for name, text in {"f": "one\n", **files}.items():
            h.put(os.path.join(self.repo, name), text)
        self.git("add", "-A")
        self.git("-c", "user.name=S", "-c", "user.email=s@example",
                 "-c", "commit.gpgSign=false", "commit", "-qm", "one")

    def start(self, script, *options, cwd=None, quiet=True):
        cwd = cwd or self.repo
        if quiet:
            options = ("--quiet", *options)
        return subprocess.run(
            [h.program("icctl"), "start", *options, "--", "sh",
             "-c", script], env={**self.p.env, **self.env, "PWD": cwd},
            cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=120, check=False)

    def outside(self):
        """The members of the commit that the user's own git makes; the
        repository is as before."""
        copy = self.repo + ".kept"
        shutil.copytree(self.repo, copy, symlinks=True)
        r = subprocess.run(
            ["sh", "-c", self.commands], cwd=self.repo, check=False,
            env={**self.p.env, **self.env, "PWD": self.repo},
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=60)
        made = self.git("log", "-1", "--format=" + FORMAT)
        shutil.rmtree(self.repo)
        os.rename(copy, self.repo)
        return made if r.returncode == 0 else "refused\n"

    def inside(self, *options, cwd=None):
        r = self.start(self.commands + " && git log -1 --format='" + FORMAT +
                       "'", *options, cwd=cwd)
        return (r.stdout if r.returncode == 0 else "refused\n"), r.stderr

    def compare(self, clone=True, cwd=None):
        """Returns what was said at the starts."""
        want = self.outside()
        said = []
        for how, options in (("in a clone", ("--clone", ".")),
                             ("in place", ())):
            if how == "in a clone" and not clone:
                continue
            got, err = self.inside(*options, cwd=cwd)
            t.equal(got, want, f"{self.name}, {how}: the members of a commit")
            said.append(err)
        if want == "refused\n":
            t.ok(all("git config --global user.name" in x for x in said),
                 f"{self.name}: the start says how to set it", said)
        else:
            t.ok(not any("git config --global" in x for x in said),
                 f"{self.name}: nothing is missing", said)
        return said


def person(p):
    """Author and committer."""
    jane = "[user]\n\tname = Jane Doe\n\temail = jane@home.example\n"
    rows = {
        "a plain configuration": {".gitconfig": jane},
        "no configuration": {},
        "XDG": {".config/git/config": jane},
        "XDG below the home's": {
            ".config/git/config": jane,
            ".gitconfig": "[user]\n\temail = two@home.example\n"},
        "includeIf gitdir": {
            ".gitconfig": jane + '[includeIf "gitdir:~/work/"]\n'
                                 "\tpath = ~/.gitconfig.work\n",
            ".gitconfig.work": "[user]\n\temail = jane@work.example\n"},
        "includeIf gitdir of another place": {
            ".gitconfig": jane + '[includeIf "gitdir:~/other/"]\n'
                                 "\tpath = ~/.gitconfig.work\n",
            ".gitconfig.work": "[user]\n\temail = jane@work.example\n"},
        "includeIf onbranch": {
            ".gitconfig": jane + '[includeIf "onbranch:main"]\n'
                                 "\tpath = b\n",
            "b": "[user]\n\temail = jane@main.example\n"},
        "includeIf hasconfig": {
            ".gitconfig": jane + '[includeIf "hasconfig:remote.*.url:'
                                 'https://git.example.com/**"]\n'
                                 "\tpath = b\n",
            "b": "[user]\n\temail = jane@remote.example\n"},
        "include": {
            ".gitconfig": "[include]\n\tpath = ~/.gitconfig.local\n",
            ".gitconfig.local": jane},
        "includes in a chain, relative, behind links": {
            ".config/git/config": "[include]\n\tpath = ../../dot/one\n",
            "dot/one": "[include]\n\tpath = two\n",
            "dot/two": "[include]\n\tpath = ~/link\n",
            "target": jane, "link": None},
        "an include that is not there": {
            ".gitconfig": jane + "[include]\n\tpath = ~/none\n"},
        "author and committer": {
            ".gitconfig": jane + "[author]\n\tname = A\n\temail = a@example\n"
                                 "[committer]\n\temail = c@example\n"},
        "only author and committer": {
            ".gitconfig": "[author]\n\tname = A\n\temail = a@example\n"
                          "[committer]\n\tname = C\n\temail = c@example\n"},
        "only an author": {
            ".gitconfig": "[author]\n\tname = A\n\temail = a@example\n"},
        "odd characters": {
            ".gitconfig": "[user]\n\tname = \"Zo\u00eb \\\"Q\\\" O'Do\\\\e; #1"
                          " \u65e5\u672c\\n<x>\"\n\temail = \"z+q@x.example "
                          "\"\n"},
        "useConfigOnly": {
            ".gitconfig": "[user]\n\tname = Jane\n\tuseConfigOnly = true\n"},
        "two values": {".gitconfig": jane + "[user]\n\tname = Later\n"},
        "line endings": {
            ".gitconfig": jane + "[core]\n\tautocrlf = input\n",
            "work/p/crlf": "a\r\nb\r\n"},
        "a template of attributes": {
            ".gitconfig": jane, ".config/git/attributes": "*.win text\n",
            "work/p/x.win": "a\r\n"},
    }
    for name, files in rows.items():
        w = World(p, name)
        w.make()
        w.git("remote", "add", "origin", "https://git.example.com/me/p.git")
        for f, text in files.items():
            if text is None:
                os.symlink("target", os.path.join(p.user, f))
            elif f.startswith("work/p/"):
                w.commands = (f"printf '{text.encode('unicode_escape').decode()}'"
                              f" > {f[7:]}; " + COMMIT)
            else:
                w.put(f, text)
        # A clone is made of the same settings, and takes its time.
        w.compare(clone=name in CLONED)
    variables(p, jane)
    later(p, jane)
    w = World(p, "the repository's own name")
    w.put(".gitconfig", jane)
    w.make()
    w.git("config", "user.email", "own@example")
    w.compare()
    w = World(p, "a place behind a link", "real/p")
    w.put(".gitconfig", jane + '[includeIf "gitdir:~/work/"]\n'
                               "\tpath = ~/.gitconfig.work\n")
    w.put(".gitconfig.work", "[user]\n\temail = jane@work.example\n")
    w.make()
    os.symlink("real", os.path.join(p.user, "work"))
    w.repo = os.path.join(p.user, "work/p")
    for options in (("--clone", "."), ()):
        got, _ = w.inside(*options)
        t.equal(got.split("\n")[1:2], ["jane@work.example"],
                "a place behind a link counts by the user's name for it")


def merges(p):
    """Settings of the user's that change the text of a merge, and what a rebase
    and a patch leave behind."""
    jane = "[user]\n\tname = Jane\n\temail = jane@home.example\n"
    for name, settings, commands in (
            ("a merge", "[merge]\n\tlog = true\n\tsuppressDest = trunk\n",
             "git checkout -q -b side && git mv f g && git commit -qm moved && "
             "git checkout -q -b trunk main && echo 2 >f && "
             "git commit -qam changed && git merge -q --no-edit side"),
            ("a patch", "[apply]\n\twhitespace = fix\n",
             "echo 'a  ' >f && patch=$(git diff) && git checkout -q f && "
             "echo \"$patch\" | git apply && git commit -qam x"),
            ("a rebase", "[rebase]\n\tupdateRefs = true\n",
             "git checkout -q -b top && echo 1 >a && git add a && "
             "git commit -qm a && git branch mid && echo 2 >b && git add b && "
             "git commit -qm b && git checkout -q main && echo 3 >f && "
             "git commit -qam c && git rebase -q main top && "
             "git checkout -q mid")):
        w = World(p, name)
        w.put(".gitconfig", jane + settings)
        w.make(f="".join(f"{i}\n" for i in range(30)))
        w.commands = commands
        w.compare(clone=False)


def later(p, jane):
    """Identities by what is odd, not there yet, or outside of the repository."""
    work = "[user]\n\temail = jane@work.example\n"
    w = World(p, "includeIf onbranch, an odd name")
    w.put(".gitconfig", jane + '[includeIf "onbranch:fix/**"]\n\tpath = b\n')
    w.put("b", work)
    w.make()
    w.git("checkout", "-q", "-b", "fix/#12-caf\u00e9@home")
    w.compare()
    for name, path in (("~", "~/.gitconfig.work"),
                       ("an absolute path", p.user + "/.gitconfig.work")):
        w = World(p, f"an include of the repository's own, by {name}")
        w.put(".gitconfig", jane)
        w.put(".gitconfig.work", work)
        w.make()
        w.git("config", "include.path", path)
        w.compare()
    w = World(p, "a conditional include of the repository's own")
    w.put(".gitconfig", jane)
    w.put(".gitconfig.work", work)
    w.make()
    w.git("config", "includeIf.onbranch:other.path", "~/.gitconfig.work")
    w.compare(clone=False)
    # A directory that becomes a repository, or has some.
    w = World(p, "git init", "work")
    w.put(".gitconfig", jane + '[includeIf "gitdir:~/work/"]\n\tpath = b\n')
    w.put("b", work)
    os.makedirs(w.repo)
    for where in (".", "sub"):
        r = w.start(f"git init -q {where}; cd {where}; git commit -q "
                    "--allow-empty -m x; git log --format=%ae")
        t.equal(r.stdout, "jane@work.example\n",
                f"git init in {where}: the identity of that place")


def variables(p, jane):
    for name, env in {
            "GIT_AUTHOR and EMAIL": {
                "GIT_AUTHOR_NAME": "Env A", "GIT_AUTHOR_EMAIL": "ea@example",
                "GIT_COMMITTER_NAME": "Env C", "EMAIL": "e@example"},
            # Nobody is "agent" for want of a full name.
            "EMAIL alone": {"EMAIL": "e@example"},
            "GIT_CONFIG_GLOBAL": {"GIT_CONFIG_GLOBAL": p.user + "/other"},
            "GIT_CONFIG_COUNT": {
                "GIT_CONFIG_COUNT": "2", "GIT_CONFIG_KEY_0": "user.name",
                "GIT_CONFIG_VALUE_0": "By variable",
                "GIT_CONFIG_KEY_1": "include.path",
                "GIT_CONFIG_VALUE_1": "~/other"},
            "XDG_CONFIG_HOME": {"XDG_CONFIG_HOME": p.user + "/xdg"}}.items():
        w = World(p, name)
        w.make()
        w.env = env
        w.put("other", "[user]\n\tname = Other\n\temail = other@example\n")
        w.put("xdg/git/config", "[user]\n\tname = X\n\temail = x@example\n")
        if name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_COUNT"):
            w.put(".gitconfig", jane)
        w.compare(clone=False)


def secrets(p):
    """Nothing else of the configuration comes in."""
    w = World(p, "secrets")
    w.put(".gitconfig", "[user]\n\tname = J\n\temail = j@example\n"
          "[http]\n\textraheader = hunter2hunter2\n[credential]\n"
          "\thelper = hunter2hunter2\n[include]\n\tpath = ~/.more\n"
          "[alias]\n\tx = !hunter2hunter2\n")
    w.put(".more", "[url \"https://hunter2hunter2@x/\"]\n\tinsteadOf = y\n")
    w.make()
    w.start("true")
    found = subprocess.run(
        ["grep", "-rl", "hunter2", p.session()], capture_output=True,
        text=True, check=False).stdout
    t.equal(found, "", "no other setting is anywhere in the session")
    # A clone is resumed with the identity of the place that it came from.
    w = World(p, "resume")
    w.put(".gitconfig", '[includeIf "gitdir:~/work/"]\n\tpath = ~/w\n')
    w.put("w", JANE)
    w.make()
    w.start("true", "--clone", ".")
    r = subprocess.run(
        [h.program("icctl"), "resume", os.path.basename(p.session()), "--",
         "git", "config", "user.email"], env=p.env, cwd=p.work,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
        check=False)
    t.contains(r.stdout, "jane@home.example", "a clone that is resumed")
    # An agent that could write what is included has no say in who commits.
    w = World(p, "an include in the workspace")
    w.put(".gitconfig", "[user]\n\tname = J\n\temail = j@example\n[include]\n"
          "\tpath = ~/work/p/agents\n")
    w.make(agents="[user]\n\tname = Mallory\n")
    got, err = w.inside()
    t.ok(got.startswith("J\n") and "/work/p/agents" in err,
         "a file that the agent can write is left out, and named", got + err)


def ignore(p):
    for name, files in {
            "the usual ignore file": {".config/git/ignore": ".DS_Store\n"},
            "core.excludesFile": {
                ".gitconfig": "[core]\n\texcludesFile = ~/.ign\n",
                ".ign": ".DS_Store\n"}}.items():
        w = World(p, name)
        for f, text in files.items():
            w.put(f, text)
        with open(os.path.join(p.user, ".gitconfig"), "a",
                  encoding="utf-8") as f:
            f.write("[user]\n\tname = J\n\temail = j@example\n")
        w.make()
        h.put(os.path.join(w.repo, ".DS_Store"), "x")
        for err in w.compare():
            t.ok("in no commit" not in err, f"{name}: no warning", err)
        r = w.start("git status --short")
        t.equal(r.stdout, "", f"{name}: git status")
        t.ok("in no commit" not in r.stderr, f"{name}: no warning in place",
             r.stderr)


JANE = "[user]\n\tname = Jane\n\temail = jane@home.example\n"


def files(top):
    """Everything in a directory: {path: content}."""
    out = {}
    for d, _, names in os.walk(top):
        for n in names:
            with open(os.path.join(d, n), "rb") as f:
                out[os.path.relpath(os.path.join(d, n), top)] = f.read()
    return out


HOSTILE = """
C=$(git rev-parse --git-common-dir); G=$(git rev-parse --git-dir)
for f in config config.worktree commondir hooks/pre-commit info/attributes \
    info/exclude objects/info/alternates modules/x/config HEAD index \
    rebase-merge/git-rebase-todo sequencer/todo worktrees/other/HEAD \
    worktrees/other/gitdir worktrees/new/gitdir packed-refs; do
  mkdir -p $C/$(dirname $f); echo evil > $C/$f
  mv $C/$f $C/$f.old; rm -f $C/$f
done 2>/dev/null
for f in $G/gitdir $G/commondir /workspace/.git; do
  echo evil > $f; mv $f $f.old; rm -f $f
done 2>/dev/null
git worktree prune; git gc -q --prune=now; git worktree prune --expire now
git status --short
"""


def linked(p):
    """A linked worktree."""
    w = World(p, "a linked worktree", "main")
    w.put(".gitconfig", JANE)
    w.make()
    w.git("pack-refs", "--all")
    tree = {}
    for name in ("one", "two", "other"):
        tree[name] = os.path.join(p.user, "trees", name)
        w.git("worktree", "add", "-q", tree[name], "-b", name)
    h.put(os.path.join(tree["other"], "staged"), "s\n")
    w.git("add", "staged", cwd=tree["other"])
    w.git("-c", "user.name=Jane", "status", cwd=tree["two"])
    subprocess.run(["sh", "-c", COMMIT], cwd=tree["one"], env=p.env,
                   check=True, timeout=60)
    want = w.git("log", "-1", "--format=" + FORMAT, cwd=tree["one"])
    got, err = w.inside(cwd=tree["two"])
    t.equal(got, want, "the members of a commit in a linked worktree")
    t.equal(w.git("log", "-1", "--format=" + FORMAT, cwd=tree["two"]), want,
            "and the user has it")
    t.ok("--clone ." in err and "linked worktree" in err,
         "the start says what git cannot do there", err)
    w.git("commit", "-q", "--allow-empty", "-m", "e", cwd=tree["two"])
    got, _ = w.inside("--clone", ".", cwd=tree["one"])
    t.equal(got, "refused\n", "a clone of a worktree begins at its branch")
    w.start("git commit -q --allow-empty -m x && git rebase -q --force-rebase "
            "HEAD~1 && git stash list", cwd=tree["two"])
    t.equal(w.git("log", "-1", "--format=%s", cwd=tree["two"]), "x\n",
            "a rebase ends well")
    keep = os.path.join(w.repo, ".git")

    def follows():
        return {n: x for n, x in files(keep).items()
                if not n.startswith(("objects/", "refs/", "logs/",
                                     "worktrees/two/")) or
                n in ("objects/info/alternates", "worktrees/two/gitdir",
                      "worktrees/two/commondir")}
    before = follows()
    r = w.start(HOSTILE, cwd=tree["two"])
    t.equal(follows(), before,
            "nothing that git runs or follows can be written")
    t.equal(r.stdout, "", "and git goes on working")
    t.equal(w.git("status", "--short", cwd=tree["other"]), "A  staged\n",
            "the other worktree is untouched")
    r = w.start("d=$(git rev-parse --git-dir)/rebase-merge; mkdir $d; echo "
                "'exec evil' > $d/git-rebase-todo", cwd=tree["two"],
                quiet=False)
    t.contains(r.stderr, "worktrees/two/rebase-merge before you continue",
               "a list of commands that the agent leaves is named")
    return w, tree


def bare(p):
    """Worktrees beside a bare repository: .git names it, or it is .bare."""
    w = World(p, "worktrees of a bare repository", "main")
    w.put(".gitconfig", JANE)
    w.make()
    top = os.path.join(p.user, "proj")
    w.git("clone", "-q", "--bare", w.repo, os.path.join(top, ".bare"))
    h.put(os.path.join(top, ".git"), "gitdir: ./.bare\n")
    for name in ("in", "out"):
        w.git("worktree", "add", "-q", "-b", name, name, cwd=top)
    got, _ = w.inside(cwd=os.path.join(top, "in"))
    subprocess.run(["sh", "-c", COMMIT], cwd=os.path.join(top, "out"),
                   env=p.env, check=True, timeout=60)
    want = w.git("log", "-1", "--format=" + FORMAT,
                 cwd=os.path.join(top, "out"))
    t.equal(got, want, "the members of a commit beside a bare repository")
    t.equal(w.git("log", "-1", "--format=" + FORMAT,
                  cwd=os.path.join(top, "in")), want, "and the user has it")


def pruned(p):
    """`git worktree prune` and `git gc` in the main checkout."""
    w = World(p, "worktrees elsewhere", "main")
    w.put(".gitconfig", JANE)
    w.make()
    feat = os.path.join(p.user, "feat")
    w.git("worktree", "add", "-q", feat, "-b", "feat")
    w.git("worktree", "add", "-q", "wt/inner", "-b", "inner")
    h.put(os.path.join(feat, "staged"), "s\n")
    w.git("add", "staged", cwd=feat)
    r = w.start("git worktree prune -v; git -c gc.worktreePruneExpire=now gc "
                "-q; cd wt/inner && echo x > n && git add n && git commit -qm "
                "inner && git worktree list | wc -l")
    t.equal((r.returncode, r.stdout), (0, "3\n"),
            "a worktree in the workspace works, and none is lost", )
    t.equal(w.git("status", "--short", cwd=feat), "A  staged\n",
            "what is staged elsewhere is untouched")
    t.equal(w.git("log", "-1", "--format=%s", cwd=w.repo + "/wt/inner"),
            "inner\n", "the commit in the inner worktree is there")
    # As newer versions of git write it (worktree.useRelativePaths).
    side = os.path.join(p.user, "side")
    w.git("worktree", "add", "-q", side, "-b", "side")
    h.put(os.path.join(w.repo, ".git/worktrees/side/gitdir"),
          "../../../../side/.git\n")
    h.put(os.path.join(side, ".git"), "gitdir: ../main/.git/worktrees/side\n")
    r = w.start("git worktree prune -v; ls .git/worktrees")
    t.equal(r.stdout, "feat\ninner\nside\n",
            "one that is named by a relative path is not lost")
    # An agent may write any path there; only a file that points back counts.
    h.put(os.path.join(w.repo, ".git/worktrees/feat/gitdir"),
          "/usr/bin/git\n")
    r = w.start("git --version")
    t.equal(r.returncode, 0, "a path that an agent wrote stands for nothing")


def elsewhere(p):
    """Other checkouts whose git directory is elsewhere."""
    w = World(p, "a submodule", "lib")
    w.put(".gitconfig", JANE + "[protocol \"file\"]\n\tallow = always\n")
    w.make()
    lib = w.repo
    w.repo = os.path.join(p.user, "main")
    w.make()
    w.git("submodule", "-q", "add", lib, "sub")
    w.git("commit", "-qm", "sub")
    sub = os.path.join(w.repo, "sub")
    before = files(os.path.join(w.repo, ".git/modules"))
    r = w.start("git log --format=%s; echo x > f; git commit -qam y; echo $?",
                cwd=sub)
    t.equal(r.stdout, "one\n128\n", "git reads in a submodule")
    t.contains(r.stderr, "cannot commit. With a clone everything works: icctl "
               "start --clone .", "and says how to commit")
    t.equal(files(os.path.join(w.repo, ".git/modules")), before,
            "nothing was written")
    r = w.start(COMMIT + "; git log --format=%s", "--clone", ".", cwd=sub)
    t.equal(r.stdout, "a message\none\n", "a clone of a submodule")
    subprocess.run([h.program("icctl"), "pull"], env={**p.env, **w.env},
                   cwd=sub, stdin=subprocess.DEVNULL, timeout=60, check=False,
                   capture_output=True)
    t.equal(w.git("-C", sub, "log", "-1", "--format=%s",
                  "--branches=ironcurtain/*"),
            "a message\n", "and its work is pulled into the submodule")
    link = os.path.join(p.user, "link")
    os.makedirs(link)
    os.symlink(os.path.join(lib, ".git"), os.path.join(link, ".git"))
    for name, start, want in (
            ("a .git that is a link", link, "--clone ."),
            ("a part of a repository", os.path.join(lib, "part"),
             "--clone " + lib)):
        os.makedirs(start, exist_ok=True)
        r = w.start("git log", cwd=start)
        t.ok(r.returncode != 0 and want in r.stderr,
             f"{name}: the start says --clone", r.stderr)
        r = w.start("git log --format=%s", "--clone",
                    want[8:], cwd=start)
        t.equal(r.stdout, "one\n", f"{name}: which works")
    # An agent has written .git: another repository is not shown.
    for text in (os.path.join(lib, ".git"), "../main/.git/modules/sub"):
        forged = os.path.join(p.user, "forged")
        h.put(os.path.join(forged, ".git"), f"gitdir: {text}\n")
        r = w.start("git log; ls -A ../user 2>&1", cwd=forged)
        t.ok("one" not in r.stdout and "--clone" in r.stderr,
             "a .git that leads to another repository shows nothing",
             r.stdout + r.stderr)


SCRUB = """#!/bin/sh
exec sed 's/secret=.*/secret=/'
"""
LFS = """#!/bin/sh
# A stand-in for git-lfs: a pointer holds the length.
case $1 in
clean) echo "pointer $(wc -c)" ;;
smudge) cat ;;
*) exit 1 ;;
esac
"""


def filters(p):
    """Filters of the user's git: what is committed never changes."""
    for name, local in (("a filter of the user's", False),
                        ("a filter of the repository's", True)):
        w = World(p, name)
        tool = os.path.join(p.user, "bin/scrub")
        h.put(tool, SCRUB, 0o755)
        text = f"[filter \"scrub\"]\n\tclean = {tool}\n\tsmudge = cat\n"
        w.put(".gitconfig", JANE + ("" if local else text))
        w.make(**{".gitattributes": "*.conf filter=scrub\n"})
        if local:
            w.git("config", "filter.scrub.clean", tool)
        h.put(os.path.join(w.repo, "a.conf"), "secret=hunter2\n")
        h.put(os.path.join(w.repo, "g"), "plain\n")
        for options in (("--clone", ".", "--with", "a.conf"), ()):
            r = w.start("git add a.conf; echo $?; git add g && git commit -qm "
                        "g; echo $?; git log --all -p | grep -c hunter2",
                        *options)
            got = r.stdout.split("\n")
            t.ok(got[0] != "0" and got[-2] == "0",
                 f"{name}: the secret is in no commit {options}",
                 r.stdout + r.stderr)
            if options:
                told = subprocess.run(
                    [h.program("icctl"), "pull"], cwd=w.repo, text=True,
                    env={**p.env, **w.env}, stdin=subprocess.DEVNULL,
                    capture_output=True, timeout=60, check=False)
                t.ok("left out, because a filter" in told.stderr + told.stdout
                     and ": a.conf\n" in told.stderr + told.stdout and
                     "hunter2" not in w.git("log", "--all", "-p"),
                     f"{name}: nor does icctl pull make one",
                     told.stdout + told.stderr)
            t.ok("filter" in r.stderr and "scrub" in r.stderr and
                 (local or "is not in this sandbox. Without it another text "
                  "would be committed" in r.stderr),
                 f"{name}: git add says why", r.stderr)
        r = w.start("rm .gitattributes && git checkout -- .gitattributes && "
                    "git status --short -uno; echo kept", quiet=False)
        t.ok(local or ("attributes of git give to it" in r.stderr and
                       r.stdout == "kept\n"),
             f"{name}: files are checked out, and the start names it",
             r.stdout + r.stderr)
        w.git("reset", "-q", "--hard")
        r = w.start("touch f; git status --short -uno; git checkout -q -b x && "
                    "git log --format=%s -1")
        t.equal(r.stdout.split("\n")[0] in ("g", "one"), True,
                f"{name}: other files are as ever")
    w = World(p, "a filter that the repository does not require")
    w.put(".gitconfig", JANE + "[filter \"scrub\"]\n\tclean = scrub\n")
    w.make(**{".gitattributes": "*.conf filter=scrub\n"})
    w.git("config", "filter.scrub.required", "false")
    r = w.start("echo hunter2 > a.conf; git add a.conf; git commit -qam x >&2; "
                "git ls-files; git status --short; rm a.conf; git status -s; "
                "git commit -q --allow-empty -m y && git log -1 --format=%s")
    t.ok("a.conf\n" not in r.stdout.replace("?? a.conf", "") and
         "is not in this sandbox. Without" in r.stderr and
         r.stdout.endswith("y\n"), f"{w.name}: its files are refused as well",
         r.stdout + r.stderr)
    # Attributes that are in no commit.
    w = World(p, "a filter of .git/info/attributes")
    w.put(".gitconfig", JANE + "[filter \"scrub\"]\n\tclean = scrub\n")
    w.make()
    h.put(os.path.join(w.repo, ".git/info/attributes"), "*.x filter=scrub\n")
    r = w.start("echo y > a.x; git add a.x", quiet=False)
    t.ok("the filter scrub of your git is not in the sandbox" in r.stderr and
         "leave this file as it is" in r.stderr, f"{w.name}: named", r.stderr)
    # Filters of any name, and attributes of every place.
    w = World(p, "a filter with an odd name")
    odd = ["a/b:\"c'$(x)", "caf\u00e9", "y" * 150, "f3", "f79"]
    w.put(".gitconfig", JANE + "".join(
        '[filter "' + n.replace('"', '\\"') + '"]\n\tclean = scrub\n'
        for n in odd + [f"f{i}" for i in range(80)]))
    w.make()
    r = w.start(f"for n in {shlex.join(odd)}; do echo hunter2 > x; echo \"x "
                "filter=$n\" > .gitattributes; git add x; git ls-files x; "
                "git rm -q --cached x; done")
    t.ok("x\n" not in r.stdout and len(odd) ==
         r.stderr.count("fatal: x: clean filter"),
         f"{w.name}: git refuses its files", r.stdout + r.stderr)
    w = World(p, "more filters than there is room for")
    w.put(".gitconfig", JANE + "".join(
        f'[filter "f{i}"]\n\tclean = scrub\n' for i in range(1200)))
    w.make()
    w.git("config", "filter.f1.clean", "cat")
    r = w.start("echo hunter2 > x; echo x filter=f7 > .gitattributes; git add x; "
                "git -c filter.f7.clean=cat ls-files")
    t.ok("git does not work in this sandbox" in r.stderr and
         "too long" in r.stderr and r.stderr.count("fatal: bad config line") == 2
         and r.stdout == "", f"{w.name}: there is no git", r.stdout + r.stderr)
    for name, where in (("attributes for all repositories",
                         ".config/git/attributes"),
                        ("attributes of a directory", "work/p/a/b/.gitattributes")):
        w = World(p, name)
        w.put(".gitconfig", JANE + "[filter \"scrub\"]\n\tclean = scrub\n")
        w.make(x="x\n")
        w.put(where, "*.x filter=scrub\n")
        w.git("add", "-A")
        w.git("commit", "-q", "--allow-empty", "-m", "attributes")
        r = w.start("mkdir -p a/b; echo y > a/b/a.x; git add a/b/a.x")
        t.ok("the filter scrub of your git is not in the sandbox" in r.stderr
             and "leave this file as it is" in r.stderr, f"{name}: named",
             r.stderr)
    # git-lfs, in a directory that the user shows.
    w = World(p, "git-lfs")
    tools = os.path.join(p.user, "tools")
    h.put(os.path.join(tools, "git-lfs"), LFS, 0o755)
    w.put(".gitconfig", JANE + "[filter \"lfs\"]\n\tclean = git-lfs clean -- "
          "%f\n\tsmudge = git-lfs smudge -- %f\n\trequired = true\n")
    # The machine's own git-lfs names a process in /etc/gitconfig, which git
    # would prefer.
    w.env = {"PATH": tools + ":/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM": "1"}
    w.make(**{".gitattributes": "*.bin filter=lfs -text\n",
              "big.bin": "x" * 3000})
    size = "git cat-file -s HEAD:big.bin"
    t.equal(w.git("cat-file", "-s", "HEAD:big.bin"), "13\n",
            "a pointer outside")
    if os.path.exists("/usr/bin/git-lfs"):
        t.skip("git-lfs is refused where it is missing", "it is installed")
        return
    r = w.start("echo y >> big.bin; git add -A; git commit -qm x >&2; " + size)
    t.equal(r.stdout, "13\n", "without git-lfs no file goes in whole")
    t.contains(r.stderr, "uses git-lfs, which the sandbox does not have",
               "and the start says so")


def real_lfs(p):
    """git-lfs itself, set up by `git lfs install` for the user."""
    if not os.path.exists("/usr/bin/git-lfs"):
        t.skip("git-lfs itself", "it is not installed")
        return
    w = World(p, "git-lfs itself")
    w.put(".gitconfig", JANE)
    os.makedirs(w.repo)
    w.git("lfs", "install", "--skip-repo")
    w.make(**{".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n",
              "big.bin": "x" * 300000})
    show = "git cat-file -p HEAD:big.bin; git lfs fsck; git status --short"
    want = w.git("cat-file", "-p", "HEAD:big.bin")
    t.ok(want.startswith("version https://git-lfs"), "a pointer outside", want)
    r = w.start("printf y >>big.bin; git add -A; git commit -qm x; " + show)
    got = r.stdout.split("\n")
    t.equal([got[0], *got[2:]],
            ["version https://git-lfs.github.com/spec/v1", "size 300001",
             "Git LFS fsck OK", ""], "it commits a pointer in the sandbox")
    want = w.git("cat-file", "-p", "HEAD:big.bin")
    t.ok("size 300001" in want and w.git("lfs", "fsck") == "Git LFS fsck OK\n",
         "which is whole outside", want)
    r = w.start("git rm -q --cached big.bin; rm big.bin; git reset -q --hard; "
                "wc -c <big.bin")
    t.equal(r.stdout, "300001\n", "and checks the file out")


def aliases(p):
    """The user's own words for git's: those that are git's words run; a shell's
    stay out, and so does one with a token in it."""
    w = World(p, "aliases")
    w.put(".gitconfig", JANE + "[alias]\n\tci = \"commit -q -m \\\"an alias's\\\"\"\n"
          "\tall = add -A\n\tdo-all = !git add -A\n[include]\n\tpath = more\n")
    w.put("more", "[alias]\n\tll = log -1 --format=%s\n\tfar = -c "
          "http.extraHeader=" + "ghp_" + "a1B2" * 9 + " fetch\n")
    w.make()
    w.commands = "echo two > f; git all && git ci && git ll >/dev/null"
    t.contains(w.outside(), "an alias's", "the aliases are right outside")
    w.compare()
    r = w.start("git do-all x; echo $?; git far; git config --get alias.far",
                quiet=False)
    t.ok(r.stdout.startswith("1\n") and "ghp_" not in r.stdout + r.stderr and
         all(f"The alias {n} of the user's git runs a command that is not in "
             "this sandbox" in r.stderr for n in ("do-all", "far")) and
         "aliases of your git that run other commands are not in the sandbox: "
         "do-all, far\n" in " ".join(r.stderr.split(" ")),
         "a shell's words and a token stay outside, and are named",
         r.stdout + r.stderr)


def dubious(p):
    """A repository of another owner, which the user's git trusts by name."""
    w = World(p, "of another owner")
    w.put(".gitconfig", JANE + f"[safe]\n\tdirectory = {w.repo}\n")
    w.make()
    # git's own way to test this without a second user.
    w.commands = "export GIT_TEST_ASSUME_DIFFERENT_OWNER=1; " + COMMIT
    w.compare(clone=False)


def cloned(p):
    """Shapes of repositories of which --clone cannot take everything."""
    w = World(p, "a partial clone")
    w.put(".gitconfig", JANE + "[protocol \"file\"]\n\tallow = always\n")
    w.make()
    for n in range(3):
        h.put(os.path.join(w.repo, "f"), f"{n}\n")
        w.git("commit", "-qam", "more")
    w.git("config", "uploadpack.allowFilter", "true")
    part = os.path.join(p.user, "part")
    w.git("clone", "-q", "--filter=blob:none", "--no-checkout",
          "file://" + w.repo, part)
    r = w.start("git log --format=%s", "--clone", ".", cwd=part)
    t.ok(r.returncode != 0 and "partial clone that lacks 4 objects" in r.stderr
         and "git fetch --refetch --no-filter" in r.stderr,
         "a partial clone says what is missing", r.stderr)
    w.git("fetch", "-q", "--refetch", "--no-filter", cwd=part)
    r = w.start("git log --format=%s -1", "--clone", ".", cwd=part)
    t.equal(r.stdout, "more\n", "and works when it is there")
    w.git("submodule", "-q", "add", "file://" + w.repo, "sub")
    w.git("commit", "-qm", "sub")
    r = w.start("ls -A sub", "--clone", ".")
    t.equal(r.stdout, "", "a submodule is empty in a clone")
    t.contains(r.stderr, "submodules are not in the clone",
               "and the start says so")
    w = World(p, "sha256")
    w.put(".gitconfig", JANE)
    w.make("--object-format=sha256")
    w.compare()


def remotes(p):
    """Remotes by ssh."""
    h.put(os.path.join(p.home, "config.json"), json.dumps({"destinations": {
        "forge": {"kind": "git", "hosts": ["git.example.com"],
                  "repositories": ["me/*"]}}}), 0o600)
    w = World(p, "ssh")
    w.put(".gitconfig", JANE)
    w.make()
    w.git("remote", "add", "origin", "git@git.example.com:me/shop.git")
    forms = ["git@git.example.com:me/shop.git",
             "ssh://git@git.example.com/me/shop.git",
             "git.example.com:me/shop.git", "git@git.example.com:/me/shop.git",
             "git.example.com:/me/shop.git",
             "forge@git.example.com:me/shop.git",
             "ssh://forge@git.example.com:2222/me/shop.git",
             "ssh://git@git.example.com//me/shop.git"]
    for n, form in enumerate(("git@other.example.com:me/shop.git", *forms)):
        w.git("remote", "add", f"r{n + 2}", form)
    r = w.start("for r in $(git remote | grep -vx r2); do "
                "git remote get-url $r; done; git ls-remote r2")
    t.equal(r.stdout.split(), ["https://git.example.com/me/shop.git"] *
            (len(forms) + 1),
            "every form becomes https for a host of a git destination")
    t.contains(r.stderr, "There is no git over ssh in this sandbox",
               "one sentence for another host")
    t.contains(r.stderr, "the remote r2 is on other.example.com, by ssh",
               "which the start names")
    r = w.start("git remote get-url origin", "--clone", ".")
    t.equal(r.stdout, "https://git.example.com/me/shop.git\n", "in a clone, too")
    w = World(p, "beginnings of addresses")
    w.put(".gitconfig", JANE + "".join(
        f'[url "{to}"]\n\t{what} = {short}\n' for to, what, short in (
            ("git@git.example.com:", "insteadOf", "work:"),
            ("ssh://git@git.example.com:22/me/", "insteadOf", "mine:"),
            ("https://jane:hunter2hunter2@git.example.com/", "insteadOf", "pw:"),
            ("git@git.example.com:", "insteadOf", "https://git.example.com/"),
            ("git@git.example.com:", "pushInsteadOf", "https://other.example/"),
            ("git@far.example.com:", "insteadOf", "far:"))))
    w.make()
    for n, url in enumerate(("work:me/shop.git", "mine:shop.git",
                             "pw:me/shop.git",
                             "https://git.example.com/me/shop.git")):
        w.git("remote", "add", f"r{n}", url)
    w.git("remote", "add", "push", "https://other.example/me/shop.git")
    show = "for r in $(git remote); do git remote get-url --push $r; done"
    r = w.start(show)
    t.equal(r.stdout.split(), ["https://git.example.com/me/shop.git"] * 5,
            "the user's own beginnings of addresses lead to the destination")
    t.ok("by ssh" not in r.stderr and "hunter2" not in r.stdout + r.stderr,
         "and nothing is said", r.stderr)
    w.git("remote", "add", "far", "far:me/shop.git")
    r = w.start(show)
    t.contains(r.stderr, "the remote far is on far.example.com, by ssh",
               "but of one that leads elsewhere")


def signing(p):
    """Signing is off, and said; so are hooks that the sandbox lacks."""
    for name, local in (("the user", ()), ("the repository", ("--local",))):
        w = World(p, f"signing by {name}")
        w.put(".gitconfig", JANE)
        w.make()
        where = local or ("--global",)
        w.git("config", *where, "commit.gpgsign", "true")
        w.git("config", *where, "user.signingkey", "ABCD1234")
        w.git("config", *where, "tag.forceSignAnnotated", "true")
        w.git("config", *where, "core.hooksPath", "~/hooks")
        for options in (("--clone", "."), ()):
            got, err = w.inside(*options)
            t.ok(got.startswith("Jane\n") and "\nN\n" in got,
                 f"{w.name} {options}: a commit without", got + err)
            r = w.start("git tag -m t v1 && git cat-file -t v1", *options)
            t.equal(r.stdout, "tag\n", f"{w.name} {options}: and a tag")
            w.git("tag", "-d", "v1", check=False)
            t.ok("are not signed" in err and
                 "the hooks in ~/hooks (core.hooksPath)" in err,
                 f"{w.name} {options}: and the start says so", err)


def signed(p):
    """`icctl pull --sign`: the user's own key, after a question."""
    w = World(p, "pull --sign")
    key = os.path.join(p.user, "key")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key],
                   check=True, timeout=60)
    with open(key + ".pub", encoding="ascii") as f:
        w.put("allowed", "jane@home.example " + f.read())
    w.put(".gitconfig", JANE + "[gpg]\n\tformat = ssh\n[user]\n\tsigningKey ="
          " ~/key.pub\n[commit]\n\tgpgSign = true\n[gpg \"ssh\"]\n"
          "\tallowedSignersFile = ~/allowed\n")
    w.make()
    trap = os.path.join(p.user, "trap")
    h.put(trap, f"#!/bin/sh\n: > {p.user}/SPRUNG\n", 0o755)
    # An agent may have written the repository's configuration.
    w.git("config", "gpg.ssh.program", trap)
    r = w.start("echo two > f; git commit -qam two; git checkout -qb x; echo x "
                "> g; git add g; git commit -qm three; git checkout -q main; "
                "echo h > h; git add h; git commit -qm four; git merge -q -m "
                "merge x", "--clone", ".")
    t.contains(r.stderr, "icctl pull --sign", "the start names it")

    def pull(answer, *options):
        return subprocess.run(
            [h.program("icctl"), "pull", "--sign", *options], env=p.env,
            cwd=w.repo, input=answer, capture_output=True, text=True,
            timeout=120, check=False)
    r = pull("n\n")
    t.ok(r.returncode != 0 and "two, by Jane <jane@home.example>" in r.stdout
         and "4 commits of the agent" in r.stdout and
         "nothing was signed" in r.stderr, "what is signed is shown first",
         r.stdout + r.stderr)
    t.equal(w.git("branch", "--format=%(refname:short)"), "main\n",
            "a refusal pulls nothing")
    os.rename(key, key + ".gone")
    r = pull("y\n")
    t.ok(r.returncode != 0 and "gave no signature" in r.stderr and
         w.git("branch", "--format=%(refname:short)") == "main\n",
         "without the key nothing is pulled", r.stderr)
    os.rename(key + ".gone", key)
    r = pull("", "--yes")
    name = os.path.basename(p.session())
    w.git("config", "--unset", "gpg.ssh.program")
    got = w.git("log", "--topo-order", "--format=%G? %an %ae %s",
                f"ironcurtain/{name}/main", "--not", "main")
    t.equal(sorted(got.splitlines()), [
        "G Jane jane@home.example " + x
        for x in ("four", "merge", "three", "two")],
        "each commit is signed, and else as the agent made it")
    t.equal(w.git("rev-parse", f"ironcurtain/{name}/main^2"),
            w.git("rev-parse", f"ironcurtain/{name}/x"),
            "branches meet in the same signed commits")
    inside = subprocess.run(
        ["git", "-C", os.path.join(p.session(), "sandbox"), "rev-parse",
         "main^{tree}"], env=p.env, capture_output=True, text=True,
        check=False).stdout
    t.equal(w.git("rev-parse", f"ironcurtain/{name}/main^{{tree}}"), inside,
            "the files are the agent's")
    t.equal(w.git("fsck", "--strict"), "", "git fsck has nothing to say")
    t.ok(not os.path.exists(os.path.join(p.user, "SPRUNG")),
         "a program that the repository names does not run")


def tokens(p):
    """Secrets in the workspace are named, and their values are not."""
    token = "hunter2" + "q7" * 17
    w = World(p, "tokens")
    w.put(".gitconfig", JANE)
    w.make(**{".env.example": "API_TOKEN=" + token + "\n",
              "notes.txt": "password = " + token + "\n"})
    os.chmod(os.path.join(w.repo, "notes.txt"), 0o600)
    h.put(os.path.join(w.repo, ".pgpass"), "# a:b:c:d:e\ndb:5432:app:me:\n")
    h.put(os.path.join(w.repo, ".env"), "STRIPE_KEY=${STRIPE}\n", 0o600)
    r = w.start("true")
    t.ok("secrets in" not in r.stderr, "nothing is said without one", r.stderr)
    w.git("remote", "add", "origin",
          f"https://user:{token}@git.example.com/me/p.git")
    r = w.start("true")
    t.contains(r.stderr, ".git/config (", "a token in an address")
    w.git("remote", "remove", "origin")
    w.git("config", "http.https://git.example.com/.extraheader",
          "AUTHORIZATION: basic " + token)
    pem = "-----BEGIN PRIVATE KEY-----\n" + token + "\n"
    found = {".env": f"DB_PASSWORD={token}\n", "sub/deploy.key": pem,
             ".npmrc": f"//r.example/:_authToken={token}\n",
             "infra/prod.tfvars": f'db_password = "{token}"\n',
             "caf\u00e9 \u6587/it's.env": f"A_TOKEN={token}\n",
             "config/master.key": token + "\n", ".dev.vars": f"API_KEY={token}\n",
             "android/key.properties": f"storePassword={token}\n",
             ".pgpass": f"# mine\ndb:5432:app:me:{token}\n",
             "api/.env.live": f"STRIPE_KEY=sk_live_{token}\n",
             "any/name": pem}
    for name, text in found.items():
        h.put(os.path.join(w.repo, name), text,
              0o600 if name == "any/name" else 0o644)
    os.symlink("../../.gitconfig", os.path.join(w.repo, ".netrc"))
    r = w.start("true")
    for name in (*found, ".git/config"):
        t.contains(r.stderr, name + " (", f"{name} is named")
    t.ok(token not in r.stderr and ".netrc" not in r.stderr and
         "--clone ." in r.stderr, "never a value; and a clone is offered",
         r.stderr)
    t.contains(r.stderr, "or have it find one of these files empty: --cover",
               "covering one is offered")
    covers = [x for n in found for x in ("--cover", n)]
    r = w.start(f"cat {shlex.join(found)}; mv .env x; echo y >sub/deploy.key; "
                "rm -f .npmrc; ls -A; cat x", *covers)
    t.ok(token not in r.stdout and ".env\n" in r.stdout and
         not any(n + " (" in r.stderr for n in found) and
         ".git/config (" in r.stderr, "covered files are empty in the sandbox",
         r.stdout + r.stderr)
    t.equal([open(os.path.join(w.repo, n), encoding="utf-8").read()
             for n in found], list(found.values()), "and whole outside")
    for bad in (".git/config", "../x", "/etc/passwd", "sub", ".netrc", "none"):
        r = w.start("true", "--cover", bad)
        t.ok(r.returncode not in (0, 1) and "--cover" in r.stderr,
             f"--cover {bad} is refused", f"{r.returncode} {r.stderr}")
    r = w.start("cat .git/config; ls -A", "--clone", ".")
    t.ok(token not in r.stdout and ".env\n" not in r.stdout and
         "secrets in" not in r.stderr, "which has none of them",
         r.stdout + r.stderr)


def covered(p):
    """Whoever replaces a covered file outside ends the session."""
    w = World(p, "covered")
    w.put(".gitconfig", JANE)
    w.make()
    h.put(os.path.join(w.repo, ".env"), "DB_PASSWORD=hunter2hunter2\n")
    with subprocess.Popen(
            [h.program("icctl"), "start", "--cover", ".env", "--", "sh", "-c",
             "echo >began; exec sleep 600"], env={**w.p.env, **w.env},
            cwd=w.repo, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True) as run:
        h.wait_for(lambda: os.path.exists(os.path.join(w.repo, "began")),
                   "the agent does not begin")
        h.put(os.path.join(w.repo, ".new"), "DB_PASSWORD=another-one\n")
        os.rename(os.path.join(w.repo, ".new"), os.path.join(w.repo, ".env"))
        out = run.communicate(timeout=60 * h.PATIENCE)[0]
    t.ok(run.returncode == 78 and ".env was replaced or removed" in out,
         "the session ends, and says why", f"{run.returncode} {out}")


def main():
    for part in (person, merges, secrets, ignore, filters, real_lfs, aliases,
                 dubious, cloned, remotes, signing, signed, tokens, covered, linked,
                 bare, pruned, elsewhere):
        with h.workdir() as work, t.case(part.__name__):
            part(Place(work))
    t.done()


main()
