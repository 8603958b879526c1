#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Toolchains in the user's home: the start names the directories of PATH that
the sandbox does not see; "agentView" shows them, read-only and in the user's
order, without their credentials; and what may not be shown is refused."""
import os
import shutil
import socket
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from started import Place  # noqa: E402

t = h.Tap()
TOKEN = "cargo-token-which-is-secret"
TOOLS = {".nvm/versions/node/v22.1.0/bin/node": "node of nvm",
         ".cargo/bin/cargo": "cargo of rustup", "bin/mytool": "mine",
         "bin/node": "another node"}
DIRS = [".nvm/versions/node/v22.1.0/bin", ".cargo/bin", "bin"]


def place(work, *shown):
    p = Place(work, {"agentView": {"allowRead": list(shown)}} if shown else {})
    for name, says in TOOLS.items():
        path = os.path.join(p.user, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        h.put(path, f"#!/bin/sh\necho {says}\n", 0o755)
    h.put(os.path.join(p.user, ".cargo", "credentials.toml"),
          f'[registry]\ntoken = "{TOKEN}"\n', 0o600)
    p.env["PATH"] = ":".join([os.path.join(p.user, d) for d in DIRS] +
                             ["/usr/bin", "/bin"])
    return p


def test_unseen(work):
    p = place(work)
    r = p.run("/bin/sh", "-c", "command -v cargo; command -v mytool; echo $PATH")
    said = r.stderr.decode()
    t.contains(said, "your PATH has 3 directories that the sandbox does not "
               "see: ~/.nvm/versions/node/v22.1.0/bin, ~/.cargo/bin, ~/bin. "
               "To show them, read-only: {\"agentView\":{\"allowRead\":"
               "[\"~/.nvm\", \"~/.cargo/bin\", \"~/bin\"]}} in config.json",
               "the start names what is not seen, and what shows it")
    t.equal(said.count("\n"), 1, "in one line")
    t.ok(f"{p.user}" not in r.stdout.decode(), "and none of it is in PATH",
         r.stdout)


def test_shown(work):
    p = place(work, "~/.nvm", "~/.cargo", "~/bin")
    os.symlink(os.path.join(p.user, "bin"), os.path.join(p.user, "links"))
    p.env["PATH"] += ":" + os.path.join(p.user, "links")
    r = p.run("/bin/sh", "-c", "for p in node cargo mytool; do command -v $p; "
              "done; node; mytool; "
              "echo $PATH; echo $NVM_DIR; cat ~/../../$1; "
              "for f in $2 $3; do (: > $f) 2>/dev/null && echo wrote $f; done; "
              "mkdir -p ~/.cargo/bin && echo own",
              "-", os.path.join(p.user, ".cargo/credentials.toml"),
              os.path.join(p.user, "bin/new"), os.path.join(p.user, "bin/node"))
    lines = r.stdout.decode().splitlines()
    t.equal(r.stderr, b"", "nothing is said")
    t.equal(lines[:3], [os.path.join(p.user, x) for x in (
        ".nvm/versions/node/v22.1.0/bin/node", ".cargo/bin/cargo",
        "bin/mytool")], "the same programs as outside, in the user's order")
    t.equal(lines[3:5], ["node of nvm", "mine"], "and they run")
    user = [x for x in lines[5].split(":") if x.startswith(p.user)]
    t.equal(user, [os.path.join(p.user, d) for d in DIRS],
            "a link in PATH that leads to another is not there twice")
    t.equal(lines[6], os.path.join(p.user, ".nvm"), "a manager finds its own")
    t.equal(lines[7:], ["own"], "the credential is empty, nothing there can be "
            "written, and the agent's own place can")
    with open(os.path.join(p.user, ".cargo", "credentials.toml"),
              encoding="utf-8") as f:
        t.contains(f.read(), TOKEN, "outside it is as it was")


def refused(work, shown, want, prepare=None):
    p = place(work, shown)
    if prepare:
        prepare(p)
    r = p.run("/bin/echo", "ran")
    t.ok(r.returncode == 78 and r.stdout == b"" and
         want.encode() in r.stderr, f"{shown} is refused: {want}",
         f"{r.returncode} {r.stdout} {r.stderr}")


def test_refused(work):
    def sock(p):
        s = socket.socket(socket.AF_UNIX)
        s.bind(os.path.join(p.user, "bin", "control"))

    def fifo(p):
        os.mkfifo(os.path.join(p.user, ".nvm", "pipe"))

    cases = [("~", "home"), ("/", "/"), ("~/nothing", "No such file"),
             ("{work}/home", "refused"), ("{work}/home/sessions", "refused"),
             ("{work}/project", "can write"), ("{work}", "refused"),
             ("/usr/share", "the sandbox has its own"),
             ("/tmp", "the sandbox has its own"),
             ("/proc", "the sandbox has its own"),
             ("~/bin", "a socket", sock), ("~/.nvm", "a FIFO", fifo),
             ("~/.ssh", "credentials",
              lambda p: os.mkdir(os.path.join(p.user, ".ssh"))),
             ("~/bin/../.ssh", "must be absolute"), ("~/*", "patterns")]
    for i, (shown, want, *prepare) in enumerate(cases):
        place_ = os.path.join(work, str(i))
        os.mkdir(place_)
        refused(place_, shown.format(work=place_), want, *prepare)


def test_engines(work):
    """An engine of containers says why it cannot work, whether the machine has
    it or not."""
    p = Place(work)
    for name in ("docker", "podman", "buildah"):
        r = p.run("/bin/sh", "-c", f"{name} run --rm alpine")
        said = r.stderr.decode()
        t.ok(r.returncode == 125 and r.stdout == b"" and
             said.startswith(f"{name}: ") and said.count("\n") == 1 and
             "namespaces" in said and "icctl image build" in said and
             "services" in said,
             f"{name} says why in one line", f"{r.returncode} {said}")


def main():
    if not shutil.which("bwrap"):
        t.skip("toolchains", "bubblewrap is not installed")
        t.done()
    for test in (test_unseen, test_shown, test_refused,
                 test_engines):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


if __name__ == "__main__":
    main()
