# SPDX-License-Identifier: ISC
"""A repository in which every setting is a trap: each would run a program that
leaves a mark (a canary), or lead to another host."""
import os
import subprocess

ENV = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent",
       "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null",
       "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.invalid",
       "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.invalid",
       "LANG": "C.UTF-8"}
HOOKS = ["applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-applypatch",
         "post-checkout", "post-commit", "post-index-change", "post-merge",
         "post-rewrite", "pre-applypatch", "pre-auto-gc", "pre-commit",
         "pre-merge-commit", "pre-push", "pre-rebase", "prepare-commit-msg",
         "reference-transaction"]


def git(repo, *words, check=True):
    return subprocess.run(["git", "-C", repo, *words], env=ENV, check=check,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT).stdout.decode()


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, mode)


class Hostile:
    """A hostile repository; host: its directory; seen: its path as the git
    server sees it."""

    def __init__(self, host, seen):
        self.host, self.seen = host, seen
        self.marks = os.path.join(host, "marks")
        self.build()
        self.arm(host, seen)

    def trap(self, name, tail="exit 1"):
        """Make a program that leaves a mark. Returns its path as the server
        sees it."""
        write(os.path.join(self.host, "traps", name),
              f"#!/bin/sh\n: > {self.seen}/marks/{name}\n{tail}\n", 0o755)
        return f"{self.seen}/traps/{name}"

    def build(self):
        h = self.host
        os.makedirs(self.marks)
        git(h, "init", "-q", "-b", "main")
        write(os.path.join(h, ".git/info/exclude"), "marks/\ntraps/\n")
        write(os.path.join(h, "a.txt"), "one\n")
        write(os.path.join(h, "b.bin"), "bin\n")
        write(os.path.join(h, "c.mrg"), "base\n")
        write(os.path.join(h, ".gitattributes"),
              "*.txt filter=f\n*.bin diff=d\n*.mrg merge=m\n*.big filter=p\n"
              "*.eq filter=x=y\n")
        git(h, "add", "-A")
        git(h, "commit", "-qm", "one")
        git(h, "checkout", "-qb", "side")
        write(os.path.join(h, "c.mrg"), "side\n")
        git(h, "commit", "-qam", "side")
        git(h, "checkout", "-q", "main")
        write(os.path.join(h, "c.mrg"), "main\n")
        git(h, "commit", "-qam", "main")
        sub = os.path.join(h, "sub")
        os.makedirs(sub)
        git(sub, "init", "-q", "-b", "main")
        write(os.path.join(sub, "s.txt"), "s\n")
        git(sub, "add", "-A")
        git(sub, "commit", "-qm", "s")
        git(h, "-c", "protocol.file.allow=always", "submodule", "-q", "add",
            "./sub", check=False)
        write(os.path.join(h, ".gitmodules"),
              "[submodule \"sub\"]\n\tpath = sub\n"
              "\turl = ext::sh -c touch% /marks\n")
        git(h, "add", "-A", check=False)
        git(h, "commit", "-qm", "sub", check=False)

    def arm(self, host, seen):
        for name in HOOKS:
            self.trap("hook-" + name, "exit 0")
            write(os.path.join(host, ".git/hooks", name),
                  f"#!/bin/sh\n: > {seen}/marks/hook-{name}\n", 0o755)
        pass_on = "exec cat"
        # It ends after 40 bytes from git, so that git behaves the same each
        # time.
        greeted = "head -c 40 > /dev/null; exit 1"
        settings = [
            ("filter.f.clean", self.trap("clean", pass_on)),
            ("filter.f.smudge", self.trap("smudge", pass_on)),
            ("filter.f.required", "true"),
            ("filter.p.process", self.trap("process", greeted)),
            ("filter.x=y.clean", self.trap("equals", pass_on)),
            ("diff.d.textconv", self.trap("textconv", 'exec cat "$1"')),
            ("diff.external", self.trap("extdiff", "exit 0")),
            ("diff.d.command", self.trap("diffcommand", "exit 0")),
            ("merge.m.driver", self.trap("merge") + " %O %A %B"),
            ("core.fsmonitor", self.trap("fsmonitor")),
            ("core.sshCommand", self.trap("ssh")),
            ("core.gitProxy", self.trap("gitproxy")),
            ("core.askPass", self.trap("askpass")),
            ("core.editor", self.trap("editor")),
            ("sequence.editor", self.trap("sequence")),
            ("core.pager", self.trap("pager", pass_on)),
            ("credential.helper", self.trap("credential")),
            ("gpg.program", self.trap("gpg")),
            ("commit.gpgSign", "true"),
            ("tag.gpgSign", "true"),
            ("alias.trap", "!" + self.trap("alias", "exit 0")),
            ("trailer.t.command", self.trap("trailer")),
            ("trailer.t.key", "T"),
            ("trailer.t.ifmissing", "add"),
            ("protocol.ext.allow", "always"),
            ("protocol.allow", "always"),
            ("submodule.sub.update", "!" + self.trap("subupdate")),
            ("submodule.recurse", "true"),
            ("remote.ext.url", f"ext::{self.trap('ext')} %S"),
            ("remote.ssh.url", "git@trap.invalid:x/y"),
            ("remote.pack.url", seen),
            ("remote.pack.uploadpack", self.trap("uploadpack")),
            ("remote.pack.receivepack", self.trap("receivepack")),
            ("remote.helper.url", "https://trap.invalid/x"),
            ("remote.helper.vcs", "trap"),
        ]
        for name, value in settings:
            git(host, "config", name, value)
        submodule = os.path.join(host, "sub")
        git(submodule, "config", "core.fsmonitor", self.trap("subfsmonitor"))
        git(submodule, "config", "filter.f.clean",
            self.trap("subclean", pass_on))
        # A rebase that stopped before a command that the agent chose.
        self.trap("exec", "exit 0")

    def stop_rebase(self):
        """Leave a rebase in progress, whose next step is a command."""
        state = os.path.join(self.host, ".git/rebase-merge")
        os.makedirs(state, exist_ok=True)
        head = git(self.host, "rev-parse", "HEAD").strip()
        for name, text in (("git-rebase-todo", f"exec {self.seen}/traps/exec"),
                           ("git-rebase-todo.backup", ""),
                           ("head-name", "refs/heads/main"), ("onto", head),
                           ("orig-head", head), ("msgnum", "1"), ("end", "1"),
                           ("interactive", ""), ("done", "")):
            write(os.path.join(state, name), text + "\n")

    def sprung(self):
        """Returns the traps that were sprung."""
        return sorted(os.listdir(self.marks))


# The work in such a repository, as words for git; a callable is done by the
# agent itself between two of them.
def work(repo):
    def change():
        write(os.path.join(repo.host, "a.txt"), "one\ntwo\n")
        write(os.path.join(repo.host, "b.bin"), "bin\nbin\n")
        write(os.path.join(repo.host, "n.big"), "big\n")
        write(os.path.join(repo.host, "n.eq"), "eq\n")
        write(os.path.join(repo.host, "sub/s.txt"), "s\nt\n")

    yield from (["status"], change, ["status", "--short"], ["diff"],
                ["add", "a.txt"], ["add", "b.bin"], ["add", "n.eq"], ["add", "n.big"],
                ["commit", "-m", "two"], ["log", "-p", "-2"],
                ["show", "HEAD"], ["blame", "b.bin"],
                ["commit", "--allow-empty", "--trailer", "T: x", "-m", "m"],
                ["commit", "--allow-empty"],
                ["checkout", "-b", "other"], ["checkout", "main"],
                ["checkout", "--", "a.txt"], ["tag", "-a", "v", "-m", "v"],
                ["stash"], ["stash", "pop"], ["reset", "--hard"],
                ["merge", "--no-edit", "side"], ["merge", "--abort"],
                ["reset", "--hard"], ["rebase", "-i", "HEAD~1"],
                ["rebase", "--abort"], repo.stop_rebase,
                ["rebase", "--continue"], ["rebase", "--abort"],
                ["trap"], ["submodule", "update", "--init"],
                ["fetch", "ext"], ["fetch", "ssh"], ["fetch", "pack"],
                ["push", "pack", "main:x"], ["fetch", "helper"],
                ["ls-remote", "ext"], ["gc", "--auto"],
                ["worktree", "add", "wt"], ["archive", "HEAD"])
