#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Files of the user's in the agent's home: which are copied and which stay, and
which links are followed."""
import json
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
LIST = [".mine/RULES.md", ".mine/skills", ".mine/none", ".mine/pipe"]
LINKS = [".mine/a.md", ".mine/b", ".mine/c.md", ".whole/d.md", ".mine/e.md",
         ".mine/f.md", ".mine/g.md", ".mine/h", ".mine/i.md", ".mine/j.md",
         ".mine/k.md", ".mine/l", ".mine/m.md", ".mine/n.md"]
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
    os.mkfifo(mine(s, "pipe"))
    r, home = start(s)
    t.equal(r.returncode, 0, "the session runs")
    t.equal(text(home, ".mine/RULES.md"), "Ours.\n" + text(mine(
        s, "RULES.md")), "the user's text follows the adapter's")
    t.equal(text(home, ".mine/skills/one/SKILL.md"), "Do this.", "a tree")
    t.equal(os.stat(os.path.join(home, ".mine/skills/one/SKILL.md")).st_mode &
            0o777, 0o400, "a copy is read-only")
    found = sorted(os.path.relpath(os.path.join(d, n), home)
                   for d, _, names in os.walk(os.path.join(home, ".mine"))
                   for n in names)
    t.equal(found, [".mine/RULES.md", ".mine/skills/one/SKILL.md"],
            "and nothing else")
    log = r.stderr + text(os.path.dirname(home), "session.log")
    for name, (_, why) in STAYS.items():
        t.ok(any(why in x and (name in x or "deep" in name)
                 for x in log.splitlines()), f"{name} stays, and why", log)
    t.ok("~/.mine/pipe is not copied: it is no plain file" in log or
         "more files are" in log, "a FIFO stays", log)
    t.ok("none is not copied" not in log, "a file that is not there is none")
    t.ok("2 files of yours are in the agent's home" in log, "it is noted", log)
    # Off, by config.json.
    agent = {"path": os.path.join(work, "bin", "mine"), "homeFiles": False}
    s.write("config.json", {**s.config, "agent": {"mine": agent}})
    r, home = start(s)
    t.equal((text(home, ".mine/RULES.md"), os.listdir(os.path.join(
        home, ".mine"))), ("Ours.", ["RULES.md"]), "none, if so configured")


def test_links(work):
    """Dotfiles as stow, chezmoi and home-manager keep them: links."""
    s = rig(work)
    s.write("agents/mine.json", {**ADAPTER, "homeFiles": LINKS, "home": {}})
    home = s.user_home
    dots = os.path.join(home, "dotfiles")
    os.mkdir(mine(s))
    h.put(os.path.join(dots, "a.md"), "A")
    h.put(os.path.join(dots, "skills", "one", "SKILL.md"), "B")
    h.put(os.path.join(dots, "skills", "id_rsa"), "x")
    os.symlink("../a.md", os.path.join(dots, "skills", "again.md"))
    os.symlink("..", os.path.join(dots, "skills", "one", "up"))
    h.put(os.path.join(dots, "whole", "d.md"), "D")
    h.put(os.path.join(home, ".ssh", "notes"), "E")
    h.put(os.path.join(s.workspace, "f.md"), "F")
    h.put(os.path.join(dots, "key.md"), "use ghp_" + "a1B2" * 9)
    h.put(os.path.join(s.home, "j.md"), "J")
    os.chmod(h.put(os.path.join(dots, "open.md"), "K"), 0o666)
    h.put(os.path.join(work, "shared", "m.md"), "M")
    os.chmod(os.path.join(work, "shared"), 0o777)
    os.symlink(os.path.join(dots, "a.md"), os.path.join(s.workspace, "back"))
    for name, target in {
            ".mine/a.md": "../dotfiles/a.md", ".mine/b": dots + "/skills",
            ".mine/c.md": "a.md", ".whole": "dotfiles/whole",
            ".mine/e.md": "../.ssh/notes",
            ".mine/f.md": s.workspace + "/f.md",
            ".mine/g.md": "g.md", ".mine/h": home,
            ".mine/i.md": "../dotfiles/key.md",
            ".mine/j.md": s.home + "/j.md",
            ".mine/k.md": "../dotfiles/open.md", ".mine/l": "nowhere",
            ".mine/m.md": work + "/shared/m.md",
            ".mine/n.md": s.workspace + "/back"}.items():
        os.symlink(target, os.path.join(home, name))
    r, copy = start(s)
    t.equal(r.returncode, 0, "the session runs")
    found = {os.path.relpath(os.path.join(d, n), copy): text(d, n)
             for top in (".mine", ".whole")
             for d, _, names in os.walk(os.path.join(copy, top))
             for n in names}
    t.equal(found, {".mine/a.md": "A", ".mine/b/one/SKILL.md": "B",
                    ".mine/b/again.md": "A", ".mine/c.md": "A",
                    ".whole/d.md": "D"}, "links of the user's are followed")
    log = r.stderr + text(os.path.dirname(copy), "session.log")
    for name, why in ((".mine/b/id_rsa", "hold credentials"),
                      (".mine/b/one/up", "in a circle"),
                      (".mine/e.md", "hold credentials: .ssh"),
                      (".mine/f.md", "an agent can write"),
                      (".mine/g.md", "in a circle"),
                      (".mine/h", "home directory"),
                      (".mine/i.md", "looks like a key: ghp_"),
                      (".mine/j.md", "IRONCURTAIN_HOME"),
                      (".mine/k.md", "another user can change"),
                      (".mine/l", "leads nowhere"),
                      (".mine/m.md", "another user can change"),
                      (".mine/n.md", "an agent can write")):
        t.ok(any(f"~/{name} is not copied: " in x and why in x
                 for x in log.splitlines()), f"{name} stays: {why}", log)


def test_lost(work):
    """Settings that the agent has outside and not here are named."""
    s = rig(work)
    with open(os.path.join(h.PREFIX, "share", "ironcurtain", "agents",
                           "claude-code.json"), encoding="utf-8") as f:
        shipped = json.load(f)["leftOut"]
    s.write("agents/mine.json", {
        **ADAPTER, "title": "Mine", "leftOut": shipped + [
            "home/.mine/plugins * plugins", "workspace/gone.json a b"]})
    s.write("mcp-servers.json", {})      # our own file server is there
    r, _ = start(s)
    t.ok("does not have here" not in r.stderr, "nothing is said without one",
         r.stderr)
    servers = {f"s{i}": {"command": "x"} for i in range(7)}
    own = {"mcpServers": {**servers, "bad\x1b[31m": {}, "off": {
        "command": "x", "disabled": True}, "filesystem": {}}}
    h.put(os.path.join(s.workspace, ".mcp.json"), json.dumps(own))
    h.put(os.path.join(s.user_home, "dot", "settings.json"), json.dumps(
        {"hooks": {"PreToolUse": [], "Stop": []},
         "enabledPlugins": {"a@b": True, "c@d": False}}))
    os.mkdir(os.path.join(s.user_home, ".claude"))
    os.symlink("../dot/settings.json",
               os.path.join(s.user_home, ".claude", "settings.json"))
    h.put(mine(s, "plugins", "one.js"), "")
    r, _ = start(s)
    line = " ".join(r.stderr.split())
    for want in ("Mine does not have here: MCP servers of .mcp.json (bad",
                 "s4, and more); hooks of ~/.claude/settings.json "
                 "(PreToolUse, Stop); plugins of ~/.claude/settings.json "
                 "(a@b); plugins of ~/.mine/plugins (one.js). To have these "
                 "servers, under the policy: icctl mcp import .mcp.json"):
        t.contains(line, want, want)
    t.ok("\x1b" not in r.stderr and "off" not in line.split("hooks of")[0]
         .split(".mcp.json (")[1], "escaped, and none that is off", line)
    # An agent cannot have other files read by a link.
    os.rename(os.path.join(s.workspace, ".mcp.json"),
              os.path.join(s.user_home, "x.json"))
    os.symlink(os.path.join(s.user_home, "x.json"),
               os.path.join(s.workspace, ".mcp.json"))
    r, _ = start(s)
    t.ok(".mcp.json" not in r.stderr, "no link of the workspace is followed",
         r.stderr)


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
    for test in (test_copies, test_links, test_lost, test_many, test_bad):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


if __name__ == "__main__":
    main()
