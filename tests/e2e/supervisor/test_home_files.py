#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Files of the user's in the agent's home: which are copied and which stay, and
that no link leads to another one."""
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
LIST = [".mine/RULES.md", ".mine/skills", ".mine/link", ".mine/none",
        ".linked/RULES.md", ".mine/pipe"]
ADAPTER = {"name": "mine", "program": ["mine"], "providers": [],
           "taskArgs": ["{task}"], "homeFiles": LIST,
           "home": {".mine/RULES.md": "Ours."}}
# Files that are left out, and the reason that is given.
STAYS = {
    "auth.json": ("{}", "hold credentials"),
    "id_ed25519": ("x", "hold credentials"),
    ".env": ("A=1", "hold credentials"),
    "sub/Server.PEM": ("x", "hold credentials"),
    "key.md": ("use sk-ant-" + "a1_-" * 6, "looks like a key: sk-ant-"),
    "hub.md": ("token: ghp_" + "a1B2" * 9, "looks like a key: ghp_"),
    "pair.md": ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl", "PRIVATE KEY"),
    "large.bin": ("x" * ((1 << 20) + 1), "more than 1 MiB"),
    "/".join("abcdefghi") + "/deep.md": ("x", "too deep"),
}


def mine(s, *names):
    return os.path.join(s.user_home, ".mine", *names)


def start(s, *options):
    """Run the agent, and return what icctl says and the agent's home."""
    r = subprocess.run(
        [h.program("icctl"), "start", *options, "--agent", "mine",
         "--workspace", s.workspace, "Work."], env=s.env, text=True,
        stdin=subprocess.DEVNULL, capture_output=True,
        timeout=60 * h.PATIENCE, check=False)
    d = os.path.join(s.home, "sessions")
    made = sorted(os.listdir(d), key=lambda n: os.path.getmtime(
        os.path.join(d, n))) if os.path.isdir(d) else []
    return r, made and os.path.join(d, made[-1], "home")


def text(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return f.read()


def rig(work):
    s = h.Session(work)
    path = h.put(os.path.join(work, "bin", "mine"), "#!/bin/sh\nls -lR ~/.mine",
                 0o755)
    s.write("agents/mine.json", ADAPTER)
    s.write("config.json", {**s.config, "agent": {"mine": {"path": path}}})
    return s


def test_copies(work):
    s = rig(work)
    h.put(mine(s, "RULES.md"), "Be brief. A task-with-a-long-hyphenated-name-"
          "is-no-key, nor is sk-learn.\n")
    h.put(mine(s, "skills", "one", "SKILL.md"), "Do this.")
    h.put(mine(s, "skills", "one", ".git", "config"), "x")
    h.put(mine(s, "other.md"), "Not in the list.")
    for name, (content, _) in STAYS.items():
        h.put(mine(s, "skills", *name.split("/")), content)
    secret = h.put(os.path.join(work, "secret.md"), "secret")
    os.symlink(secret, mine(s, "link"))
    os.symlink(secret, mine(s, "skills", "one", "linked.md"))
    os.symlink(mine(s), os.path.join(s.user_home, ".linked"))
    os.mkfifo(mine(s, "pipe"))
    r, home = start(s)
    t.equal(r.returncode, 0, "the session runs")
    t.equal(text(home, ".mine/RULES.md"), "Ours.\n" + text(mine(
        s, "RULES.md")), "the user's text follows the adapter's")
    t.equal(text(home, ".mine/skills/one/SKILL.md"), "Do this.", "a tree")
    t.equal(os.stat(os.path.join(home, ".mine/skills/one/SKILL.md")).st_mode &
            0o777, 0o400, "a copy is read-only")
    found = sorted(os.path.relpath(os.path.join(d, n), home)
                   for top in (".mine", ".linked")
                   for d, _, names in os.walk(os.path.join(home, top))
                   for n in names)
    t.equal(found, [".mine/RULES.md", ".mine/skills/one/SKILL.md"],
            "and nothing else")
    log = r.stderr + text(os.path.dirname(home), "session.log")
    for name, (_, why) in STAYS.items():
        t.ok(any(why in x and (name in x or "deep" in name)
                 for x in log.splitlines()), f"{name} stays, and why", log)
    for name, why in ((".mine/link", "symbolic link"), (
            ".mine/skills/one/linked.md", "symbolic link"),
            (".linked/RULES.md", "no plain directory on its way: .linked"),
            (".mine/pipe", "no plain file")):
        t.ok(any(f"~/{name} is not copied: " in x and why in x
                 for x in log.splitlines()) or "more files are" in log,
             f"{name} stays", log)
    t.ok("none is not copied" not in log, "a file that is not there is none")
    t.ok("2 files of yours are in the agent's home" in log, "it is noted", log)
    # Off, by config.json.
    agent = {"path": os.path.join(work, "bin", "mine"), "homeFiles": False}
    s.write("config.json", {**s.config, "agent": {"mine": agent}})
    r, home = start(s)
    t.equal((text(home, ".mine/RULES.md"), os.listdir(os.path.join(
        home, ".mine"))), ("Ours.", ["RULES.md"]), "none, if so configured")


def test_many(work):
    s = rig(work)
    for i in range(1005):
        h.put(mine(s, "skills", f"{i}.md"), "x")
    r, home = start(s)
    t.equal(len(os.listdir(os.path.join(home, ".mine", "skills"))), 1000,
            "at most 1000 files")
    t.ok("there are more than 1000 files" in r.stderr, "which is said",
         r.stderr)


def test_bad(work):
    s = rig(work)
    for change, why in (
            ({"homeFiles": ["../x"]}, "must be a path below your home"),
            ({"homeFiles": ["/etc/passwd"]}, "must be a path below"),
            ({"homeFiles": ["a//b"]}, "must be a path below"),
            ({"homeFiles": [""]}, "must be a path below"),
            ({"homeFiles": "x"}, "homeFiles: must be"),
            ({"home": {".mine/RULES.md": {}}}, "which your file cannot")):
        s.write("agents/mine.json", {**ADAPTER, **change})
        r, _ = start(s)
        t.ok(r.returncode == 78 and why in r.stderr, f"refused: {change}",
             r.stderr)


def main():
    if not shutil.which("bwrap"):
        t.skip("home_files", "bubblewrap is not installed")
        t.done()
    for test in (test_copies, test_many, test_bad):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


if __name__ == "__main__":
    main()
