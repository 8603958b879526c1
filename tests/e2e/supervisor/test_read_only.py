#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests workspaces that are read-only, by DIR:ro and by a policy that says so:
no program in a sandbox can write them, the agent is told, and so is the
person."""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
# Each write is tried, and the home and /tmp are there to be written.
TRY = ("for d in %s; do for f in $d/new $d/old; do "
       "(echo agent >$f) 2>/dev/null && echo wrote $f; done; "
       "rm -f $d/old 2>/dev/null; mv $d/sub $d/bus 2>/dev/null && "
       "echo moved; done; cat /workspace/old; "
       "echo x >~/x && echo x >/tmp/x && echo home and tmp")
FS = {"filesystem": {"command": "icfs", "args": ["/workspace"]}}


def workspace(s):
    h.put(os.path.join(s.workspace, "old"), "old\n")
    os.makedirs(os.path.join(s.workspace, "sub"), exist_ok=True)


def entries(s):
    names = sorted(os.listdir(s.workspace))
    with open(os.path.join(s.workspace, "old"), encoding="utf-8") as f:
        return names, f.read()


def run(s):
    workspace(s)
    dirs = "/workspace"
    if "same" in s.argv:
        dirs += f" {s.workspace}"
    s.argv += ["--", "/bin/sh", "-c", TRY % dirs]
    return subprocess.run(s.argv, env=s.env, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True,
                          timeout=60 * h.PATIENCE, check=False)


def read_only(s):
    """Name the session's workspace as DIR:ro."""
    s.argv[s.argv.index("--workspace") + 1] += ":ro"
    return s


def test_agent(work):
    for n, (name, options) in enumerate((
            ("DIR:ro", []), ("the policy", ["--policy", "read-only"]),
            ("DIR:ro, same path", ["--workspace-path", "same"]))):
        s = h.Session(os.path.join(work, str(n)), runtime="bwrap",
                      options=options)
        if name.startswith("DIR"):
            read_only(s)
        r = run(s)
        t.ok(r.stdout.splitlines()[1:] == ["old", "home and tmp"] and
             entries(s) == (["old", "sub"], "old\n"),
             f"{name}: the agent's shell changes nothing",
             f"{r.stdout} {r.stderr} {entries(s)}")
        with open(os.path.join(s.dir, "session.json"), encoding="utf-8") as f:
            kept = json.load(f)
        first = s.events("start")[0]["detail"]
        t.equal((kept.get("workspaceReadOnly"), kept["workspace"],
                 first.get("workspaceReadOnly")),
                (True, os.path.realpath(s.workspace), True),
                f"{name}: the session's file and its log say so")
    s = h.Session(os.path.join(work, "baseline"), runtime="bwrap")
    r = run(s)
    t.ok("wrote /workspace/new" in r.stdout and "moved" in r.stdout,
         "without either it does", r.stdout + r.stderr)


def views(mark):
    """Returns whether the marked server's mounts of the workspace are writable."""
    out = {}
    for pid in os.listdir("/proc"):
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                if mark.encode() not in f.read():
                    continue
            with open(f"/proc/{pid}/mountinfo", encoding="utf-8") as f:
                for line in f:
                    words = line.split()
                    if "workspace" in words[4]:
                        out[words[4]] = "rw" in words[5].split(",")
        except OSError:
            continue
    return out


def test_servers(work):
    """A server's own entry, and a rule, cannot make it writable."""
    outer = os.path.join(work, "around")
    os.makedirs(os.path.join(outer, "workspace", "sub"))
    echo = h.echo_server(f"{work}/probe/echo.log", sandbox={
        "filesystem": {"allowWrite": [
            outer, os.path.join(outer, "workspace", "sub")]}},
        env={"READ_ONLY_TEST": work})
    roles = ["read-path", "write-path"]
    s = h.Session(
        work, {**FS, "probe": echo}, options=["--escalations", "deny"],
        rules=[h.rule("all", "allow", server=["filesystem"], roles=roles,
                      paths={"roles": roles, "within": outer}),
               h.rule("probe", "allow", server=["probe"])],
        annotations={"filesystem": {
            "write_file": {"path": ["write-path"], "content": ["none"]},
            "read_text_file": {"path": ["read-path"]}},
            "probe": h.ECHO_TOOLS})
    s.argv[s.argv.index("--workspace") + 1] = outer + "/workspace"
    s.workspace = outer + "/workspace"
    workspace(read_only(s))
    with s:
        m = s.client()
        bad, text = h.outcome(m.call("filesystem__write_file", {
            "path": "/workspace/new", "content": "x"}))
        t.ok(bad and "DENIED: The workspace is read-only in this session" in
             text, "a tool that writes is denied, with the reason", text)
        bad, text = h.outcome(m.call("filesystem__write_file", {
            "path": os.path.join(s.workspace, "new"), "content": "x"}))
        t.ok(bad and "DENIED" in text, "also by the host's path", text)
        t.equal(h.outcome(m.call("filesystem__read_text_file", {
            "path": "/workspace/old"})), (False, "old\n"), "reading is served")
        t.equal(views(f"READ_ONLY_TEST={work}"),
                {"/workspace": False, s.workspace: False,
                 s.workspace + "/sub": False},
                "no mount of it in a server's view is writable")
        t.equal(entries(s), (["old", "sub"], "old\n"), "it is as it was")
        r = s.icctl("status")
        t.contains(r.stdout, "the workspace is read-only", "icctl status")
        r = s.icctl("--json", "status")
        t.equal(json.loads(r.stdout)["workspaceReadOnly"], True, "as JSON")
        m.close()


def test_told(work):
    """The agent's instructions say so; another session's do not."""
    for name, want in (("ro", True), ("rw", False)):
        s = h.Session(os.path.join(work, name), runtime="bwrap")
        s.argv += ["--", "/bin/sh", "-c", "read x"]
        if want:
            s.argv[s.argv.index("--workspace") + 1] += ":ro"
        with s:
            m = s.mcp()
            text = m.initialize()["instructions"]
            t.equal("It is read-only in this session" in text, want,
                    f"{name}: what the agent is told")
            t.equal("you may write below /workspace" in text, not want,
                    f"{name}: and where it may write")
            m.close()


def test_reload(work):
    s = h.Session(work, FS, rules=[h.rule("x", "allow", tool=["x"])],
                  annotations={"filesystem": {"write_file": {
                      "path": ["write-path"], "content": ["none"]}}})
    with s:
        m = s.client()
        write = ("filesystem__write_file", {"path": "/workspace/new",
                                            "content": "x"})
        t.equal(h.outcome(m.call(*write))[0], False, "before: it writes")
        r = s.icctl("policy", "reload", "--policy", "read-only")
        t.ok(r.returncode == 0 and "until this session ends" in
             r.stdout + r.stderr, "a reload says what it cannot change",
             r.stdout + r.stderr)
        bad, text = h.outcome(m.call(*write))
        t.ok(bad and "workspace is read-only" in text, "tools obey it", text)
        m.close()


def icctl(home, work, *args):
    env = {"PATH": "/usr/bin:/bin", "HOME": os.path.join(work, "user"),
           "IRONCURTAIN_HOME": home, "LANG": "C.UTF-8"}
    return subprocess.run([h.program("icctl"), *args], env=env, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=60 * h.PATIENCE, check=False)


def test_icctl(work):
    """Starts say it, and a resumed session has it again."""
    home, place = os.path.join(work, "home"), os.path.join(work, "a:ro")
    os.makedirs(os.path.join(work, "user"))
    os.makedirs(home, mode=0o700)
    os.makedirs(place)
    h.put(os.path.join(work, "a", "old"), "old\n")
    cd = ["--", "/bin/sh", "-c", "echo x >new; cat old; echo end"]
    r = icctl(home, work, "start", "--workspace", place, *cd)
    said = r.stderr
    t.ok("a, read-only, policy default" in said and "old\nend" in r.stdout and
         "the workspace is read-only, as its :ro says" in said,
         "icctl start says it", r.stdout + said)
    sid = sorted(os.listdir(os.path.join(home, "sessions")))[-1]
    r = icctl(home, work, "resume", sid, *cd)
    t.ok("a, read-only, policy default" in r.stderr and "end" in r.stdout,
         "icctl resume has it again", r.stdout + r.stderr)
    t.equal(os.listdir(os.path.join(work, "a")), ["old"], "nothing written")
    # Such a name with a slash behind it is a directory's own.
    r = icctl(home, work, "start", "--workspace", place + "/", *cd)
    t.ok(os.path.exists(os.path.join(place, "new")) and
         "read-only" not in r.stderr, "a directory whose name ends so",
         r.stderr)
    r = icctl(home, work, "persona", "new", "looker", "--workspace",
              os.path.join(work, "a") + ":ro")
    r = icctl(home, work, "start", "--persona", "looker", *cd)
    t.ok("a, read-only" in r.stderr, "a persona's workspace", r.stderr)
    icctl(home, work, "persona", "new", "reader", "--policy", "read-only",
          "--workspace", os.path.join(work, "a"))
    r = icctl(home, work, "start", "--persona", "reader", *cd)
    t.ok("a, read-only" in r.stderr and "as the policy says" in r.stderr and
         os.listdir(os.path.join(work, "a")) == ["old"],
         "a persona's policy", r.stderr)
    r = icctl(home, work, "start", "--workspace",
              os.path.join(work, "none") + ":ro", *cd)
    t.ok("written with a slash behind it" in r.stderr, "no such directory",
         r.stderr)


def main():
    for case in (test_agent, test_servers, test_told, test_reload, test_icctl):
        with h.workdir() as work, t.case(case.__name__):
            case(work)
    t.done()


if __name__ == "__main__":
    main()
