#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests the completions in the shells themselves: bash, zsh and fish load them
without a word, and offer commands, options, sessions and files where icctl
takes these."""
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from terminal import Terminal  # noqa: E402

t = h.Tap()
SHARE = os.path.join(os.path.dirname(os.path.dirname(h.program("icctl"))),
                     "share")
FILES = {"bash": "bash-completion/completions/icctl",
         "zsh": "zsh/site-functions/_icctl",
         "fish": "fish/vendor_completions.d/icctl.fish"}
# In bash, the function of a real completion fills COMPREPLY.
BASH = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_icctl
printf '%s\\n' "${COMPREPLY[@]}"
"""
# All of this on one screen, without questions or colours.
ZSH = """
fpath=(%s $fpath)
autoload -Uz compinit
compinit -u -D
setopt no_beep no_always_last_prompt no_list_ambiguous
LISTMAX=10000
zstyle ':completion:*' list-prompt ''
PS1='ready> '
"""


class Shells:
    """A home with one session that runs, one that has ended, and a policy."""

    def __init__(self, work):
        self.home = os.path.join(work, "home")
        self.env = {"HOME": work, "IRONCURTAIN_HOME": self.home,
                    "PATH": os.path.dirname(h.program("icctl")) +
                    ":/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "dumb"}
        for name in ("sessions/one-runs", "sessions/two-ended", "run"):
            os.makedirs(os.path.join(self.home, name))
        os.symlink("../sessions/one-runs",
                   os.path.join(self.home, "run/one-runs"))
        self.cwd = os.path.join(work, "cwd")
        h.put(os.path.join(self.cwd, "a-file"), "")
        self.zsh = None

    def bash(self, *words):
        r = subprocess.run(["bash", "--norc", "-c", BASH, "bash",
                            os.path.join(SHARE, FILES["bash"]), *words],
                           env=self.env, cwd=self.cwd, capture_output=True,
                           text=True, timeout=30, check=False)
        return r.stdout.split("\n")[:-1], r.stderr

    def fish(self, *words):
        line = " ".join(words).replace("'", "\\'")
        r = subprocess.run(
            ["fish", "--no-config", "-c", "source $argv[1]; "
             "complete -C $argv[2]", os.path.join(SHARE, FILES["fish"]), line],
            env=self.env, cwd=self.cwd, capture_output=True, text=True,
            timeout=30, check=False)
        return [x.split("\t")[0] for x in r.stdout.split("\n")[:-1]], r.stderr

    def zsh_start(self):
        rc = h.put(os.path.join(self.cwd, "..", "zdot", ".zshrc"),
                   ZSH % os.path.join(SHARE, "zsh/site-functions"))
        self.zsh = Terminal(
            [shutil.which("zsh"), "-i"],
            {**self.env, "ZDOTDIR": os.path.dirname(rc)}, 400, 250)
        self.zsh.until(b"ready> ")

    def zsh_offers(self, line):
        """Returns all that zsh prints at two tabs, up to its next prompt."""
        os.write(self.zsh.fd, line.encode() + b"\t\t\x15echo $((5000 + 55))\r")
        out = self.zsh.until(rb"(?s)\n5055.*ready> ")
        return out.decode(errors="replace")

    def end(self):
        if self.zsh is not None:
            os.write(self.zsh.fd, b"\x04")
            self.zsh.end()


def written(s, name):
    """Returns the long options in the usage of a command."""
    r = subprocess.run([h.program("icctl"), name, "--help"], env=s.env,
                       capture_output=True, text=True, timeout=30, check=False)
    usage = r.stdout if name == "start" else r.stdout.split("\n\n")[0]
    return re.findall(r"(?<![\w-])--[a-z][a-z-]+", usage)


def commands(s):
    """Both loads, and the options of every command: those of bash and of fish
    are the same, and nothing is offered that does not fit what is typed."""
    names, said = s.bash("icctl", "")
    t.equal(said, "", "bash loads it without a word")
    t.ok(len(names) > 30 and {"start", "status", "logs"} <= set(names),
         "bash offers the commands", names)
    if shutil.which("fish"):
        r = s.fish("icctl", "st")
        t.equal((sorted(r[0]), r[1]), (["start", "status", "stop"], ""),
                "fish does, without a word")
    names = [x for x in names if not x.startswith("-")]
    bad, differ, lacks = [], [], []
    for name in names:
        options, said = s.bash("icctl", name, "-")
        bad += [(name, x) for x in options if not x.startswith("-")]
        bad += [(name, said)] if said else []
        options = {x for x in options if x not in ("--", "-")}
        if shutil.which("fish"):
            offered, said = s.fish("icctl", name, "-")
            if set(offered) != options or said:
                differ.append((name, sorted(set(offered) ^ options), said))
        lacks += [(name, x) for x in written(s, name) if x not in options]
    t.equal(bad, [], "bash: what is offered fits, for every command")
    t.equal(lacks, [], "and each option that its usage has is offered")
    if shutil.which("fish"):
        t.equal(differ, [], "fish offers the same options as bash")
    else:
        t.skip("fish", "no fish: apt-get install fish")


PLACES = (
    (("logs", ""), ["one-runs", "two-ended"]),
    (("logs", "-"), ["--json", "--session", "-f"]),
    (("resume", ""), ["two-ended"]),
    (("attach", ""), ["one-runs"]),
    (("send", "--file", ""), ["a-file"]),
    (("start", "--policy", "re"), ["read-only", "record"]),
    (("job", "add", "x", "--policy", "re"), ["read-only", "record"]),
    (("job", "edit", "x", "--agent", "cod"), ["codex"]),
    (("persona", "new", "x", "--agent", "cod"), ["codex"]),
    (("persona", "new", "x", "--policy", "re"), ["read-only", "record"]),
)


def places(s):
    for words, want in PLACES:
        text = " ".join(("icctl", *words))
        got, said = s.bash("icctl", *words)
        t.equal((sorted(got), said), (want, ""), f"bash: {text}")
        if shutil.which("fish"):
            got, said = s.fish("icctl", *words)
            t.equal((sorted(got), said), (want, ""), f"fish: {text}")


def zsh(s):
    if not shutil.which("zsh"):
        t.skip("zsh", "no zsh: apt-get install zsh")
        return
    s.zsh_start()
    out = s.zsh_offers("icctl s")
    t.ok("start" in out and "status" in out and "send" in out,
         "zsh offers the commands", out)
    for line, want in (("icctl logs ", ("one-runs", "two-ended")),
                       ("icctl start --policy re", ("read-only", "record")),
                       ("icctl resume --", ("--after-crash", "--keep-grants")),
                       ("icctl send --", ("--file", "--schema"))):
        out = s.zsh_offers(line)
        t.ok(all(x in out for x in want), f"zsh: {line}", out)
    names = [x for x in s.bash("icctl", "")[0] if not x.startswith("-")]
    wrong = []
    for name in names:
        options, _ = s.bash("icctl", name, "--")
        options = [x for x in options if x not in ("--", "--json",
                                                   "--session")]
        if len(options) < 2:
            continue        # zsh completes a single one in the line
        out = s.zsh_offers(f"icctl {name} --")
        if ("_arguments:" in out or "not found" in out or
                any(x not in out for x in options)):
            wrong.append((name, options, out))
    t.equal(wrong, [], "zsh offers every command's options")


def main():
    for part in (commands, places, zsh):
        with h.workdir() as work, t.case(part.__name__):
            s = Shells(work)
            try:
                part(s)
            finally:
                s.end()
    t.done()


if __name__ == "__main__":
    main()
