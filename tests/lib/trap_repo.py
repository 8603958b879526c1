# SPDX-License-Identifier: ISC
"""A repository that makes git run programs, in every way that a clone, a diff,
a commit or a fetch might meet. Each program leaves a file with its own name, and
each trap has a control: a plain git command with which it springs."""
import os
import subprocess

PLAIN = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent",
         "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "x",
         "GIT_AUTHOR_EMAIL": "x@example", "GIT_COMMITTER_NAME": "x",
         "GIT_COMMITTER_EMAIL": "x@example", "GIT_TERMINAL_PROMPT": "0"}


def git(repo, *args, check=True, text=None):
    r = subprocess.run(["git", "-C", repo, *args], env=PLAIN, input=text,
                       capture_output=True, timeout=60, check=False)
    if check and r.returncode != 0:
        raise RuntimeError(f"git {args}: {r.stderr.decode(errors='replace')}")
    return r.stdout.decode(errors="replace")


def make(repo, files):
    """A repository with one commit of these files."""
    os.makedirs(repo)
    git(repo, "init", "-q", "-b", "main")
    for name, text in files.items():
        path = os.path.join(repo, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "one")


# Configuration, and the plain command with which it springs.
CONFIG = {
    "fsmonitor": ("core.fsmonitor", ["status"]),
    "clean": ("filter.trap.clean", ["add", "f.clean"]),
    "smudge": ("filter.trap.smudge", ["checkout-index", "-f", "f.clean"]),
    "process": ("filter.proc.process", ["add", "f.proc"]),
    "textconv": ("diff.trap.textconv", ["diff", "HEAD", "--", "f.conv"]),
    "command": ("diff.ext.command", ["diff", "HEAD", "--", "f.ext"]),
    "external": ("diff.external", ["diff", "HEAD", "--", "f"]),
    "editor": ("core.editor", ["commit", "--allow-empty"]),
    "pager": ("core.pager", ["-p", "log"]),
    "gpg": ("gpg.program", ["commit", "--allow-empty", "-m", "x", "-S"]),
    "askpass": ("core.askPass", None),
    "ssh": ("core.sshCommand", ["ls-remote", "ssh://example.invalid/x"]),
    "alias": ("alias.trap", ["trap"]),
    "uploadpack": ("remote.origin.uploadpack", ["fetch", "origin"]),
    "pack_objects": ("uploadpack.packObjectsHook", None),
    "credential": ("credential.helper", None),
}
HOOKS = {
    "pre-commit": ["commit", "--allow-empty", "-m", "x"],
    "post-commit": ["commit", "--allow-empty", "-m", "x"],
    "post-checkout": ["checkout", "-q", "HEAD"],
    "post-index-change": ["update-index", "--force-remove", "gone"],
    "reference-transaction": ["update-ref", "refs/heads/t", "HEAD"],
    "commit-msg": ["commit", "--allow-empty", "-m", "x"],
    "prepare-commit-msg": ["commit", "--allow-empty", "-m", "x"],
}


FILES = {"f": "x\n", "f.clean": "1\n", "f.proc": "1\n", "f.conv": "1\n",
         "f.ext": "1\n"}
NAMES = [*CONFIG, *HOOKS]


def arm(repo, marks, names=None):
    """Set the traps. Their programs leave files in the directory `marks`, or, in
    a sandbox, in the repository itself."""
    def program(name):
        path = os.path.join(repo, ".git", "trap-" + name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"#!/bin/sh\n: > {marks}/{name}\n"
                    f": > /workspace/SPRUNG-{name}\n"
                    f": > /objects/SPRUNG-{name}\ncat\nexit 0\n")
        os.chmod(path, 0o755)
        return path
    names = names or NAMES
    os.makedirs(os.path.join(repo, ".git", "hooks"), exist_ok=True)
    with open(os.path.join(repo, ".git", "info", "attributes"), "w",
              encoding="utf-8") as f:
        f.write("*.clean filter=trap\n*.proc filter=proc\n*.conv diff=trap\n"
                "*.ext diff=ext\n")
    for name in names:
        path = program(name)
        if name in HOOKS:
            os.rename(path, os.path.join(repo, ".git", "hooks", name))
            continue
        git(repo, "config", CONFIG[name][0],
            "!" + path if name == "alias" else path)
    if "uploadpack" in names:
        git(repo, "config", "remote.origin.url", repo)


def lure(repo):
    """Files that the attributes name, changed since the last commit."""
    for name in FILES:
        with open(os.path.join(repo, name), "a", encoding="utf-8") as f:
            f.write("more\n")


def controls(work):
    """Returns the names of the traps that have a control and did not spring
    when a plain git was used, each in a repository of its own."""
    lame, n = [], 0
    marks = os.path.join(work, "marks")
    os.makedirs(marks, exist_ok=True)
    for name, words in [(n, w) for n, (_, w) in CONFIG.items()
                        if w is not None] + list(HOOKS.items()):
        repo = os.path.join(work, "control-" + name)
        make(repo, FILES)
        arm(repo, marks, [name])
        lure(repo)
        argv = ["git", "-C", repo, *words]
        # A pager runs on a terminal only.
        if name.startswith("pager"):
            argv = ["script", "-qec", " ".join(argv), "/dev/null"]
        subprocess.run(argv, env=PLAIN, stdin=subprocess.DEVNULL,
                       capture_output=True, timeout=60, check=False)
        n += 1
        if not os.path.exists(os.path.join(marks, name)):
            lame.append(name)
    return n, lame
