#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""What an agent finds in a sandbox that `icctl start` makes for a person who
has configured nothing but git."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()


def start(home, workspace, script, **env):
    return subprocess.run(
        [h.program("icctl"), "start", "--workspace", workspace, "--", "sh",
         "-c", script], env={"PATH": os.environ["PATH"], "HOME": home, **env},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
        check=False)


def main(work):
    home, workspace = os.path.join(work, "home"), os.path.join(work, "project")
    os.makedirs(home)
    os.makedirs(workspace)
    commit = ("git init -q . && echo 1 >file && git add file && "
              "git commit -q -m first && git log --format='%an <%ae>'")
    r = start(home, workspace, commit)
    t.ok(r.returncode != 0 and "Author identity unknown" in r.stderr,
         "without a name of the user's git cannot commit", r)
    h.put(os.path.join(home, ".gitconfig"),
          "[user]\n\tname = Ada Lovelace\n\temail = ada@example.org\n"
          "[alias]\n\tsecret = status\n")
    r = start(home, workspace, commit + " && cat ~/.gitconfig")
    t.equal(r.stdout.splitlines()[0], "Ada Lovelace <ada@example.org>",
            "git commits as the user")
    t.ok("secret" not in r.stdout,
         "and sees nothing else of the user's configuration", r.stdout)
    r = start(home, workspace, 'echo "$TERM/$COLORTERM"', TERM="xterm",
              COLORTERM="truecolor")
    t.equal(r.stdout, "xterm/truecolor\n", "the terminal's colours are known")
    r = start(home, workspace, 'echo "<$COLORTERM>"', COLORTERM="a\nb")
    t.equal(r.stdout, "<>\n", "a value that is no word is not passed on")


if __name__ == "__main__":
    with h.workdir() as directory:
        main(directory)
    t.done()
