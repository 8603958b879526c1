#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""`icctl doctor` finds in the user's files what a start would find: programs of
servers, views, policies. It starts none of the user's servers."""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
SHIPPED = os.path.join(os.path.dirname(h.program("icctl")), "..", "share",
                       "ironcurtain", "policies")


def doctor(work):
    r = subprocess.run(
        [h.program("icctl"), "--json", "doctor"], cwd=work,
        env={"PATH": "/usr/bin:/bin", "HOME": os.path.join(work, "user"),
             "IRONCURTAIN_HOME": os.path.join(work, "home")},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=90,
        check=False)
    return r.returncode, json.loads(r.stdout)


def rows(found, *names):
    return [c for c in found["checks"] if c["check"] in names]


def bad(found):
    return [c for c in found["checks"] if c["result"] in ("MISSING", "WRONG")]


def servers(work, entries):
    h.put(os.path.join(work, "home", "mcp-servers.json"), json.dumps(entries),
          0o600)


def good(work, trace):
    servers(work, {"echo": {"command": "/usr/bin/touch", "args": [trace],
                            "sandbox": {"filesystem": {
                                "allowWrite": [os.path.dirname(trace)]}}}})
    status, found = doctor(work)
    t.equal((status, bad(found)), (0, []), "nothing is wrong: it is green")
    t.equal([c["found"] for c in rows(found, "MCP server")][0],
            "echo: " + os.path.realpath("/usr/bin/touch"),
            "a server's program is shown")
    file = os.path.join(work, "home", "mcp-servers.json")
    t.equal([c["found"] for c in rows(found, "MCP servers")],
            [f"{file}: 1 server of your own, and the built-in file server"],
            "servers are counted as the file has them")
    t.ok(not os.path.exists(trace), "and not started")
    t.ok(not os.path.exists(os.path.join(work, "home", "pins.json")),
         "no tool is pinned by it")


def wrong_server(work):
    servers(work, {"gone": {"command": "npx", "args": ["-y", "@a/b-server"]},
                   "lost": {"command": "no-such-program"},
                   "filesystem": False})
    status, found = doctor(work)
    t.ok(rows(found, "MCP servers")[0]["found"].endswith(
        ": 2 servers of your own; the built-in file server is off"),
         "or without the built-in one", rows(found, "MCP servers"))
    got = {c["found"]: c["remedy"] for c in bad(found)}
    t.equal((status, sorted(got)), (1, ["gone cannot run", "lost cannot run"]),
            "programs that are not there")
    t.contains(got["gone cannot run"], "npm install --prefix", "what to do")
    t.contains(got["lost cannot run"], "no-such-program", "which one it is")


def wrong_view(work):
    servers(work, {"echo": {"command": "/usr/bin/true", "sandbox": {
        "filesystem": {"allowRead": [os.path.join(work, "user")]}}}})
    status, found = doctor(work)
    t.ok(status == 1 and [c for c in bad(found) if c["check"] == "session" and
                          "home directory" in c["found"]],
         "a view that no start would make", bad(found))
    servers(work, {})


def policies(work):
    mine = os.path.join(work, "home", "policies")
    for name in ("fine", "broken"):
        shutil.copytree(os.path.join(SHIPPED, "coding"),
                        os.path.join(mine, name))
    path = os.path.join(mine, "broken", "compiled-policy.json")
    os.chmod(path, 0o644)
    with open(path, encoding="utf-8") as f:
        text = f.read()
    with open(path, "w", encoding="utf-8") as f:
        f.write(text.replace('"allow"', '"alow"', 1))
    status, found = doctor(work)
    got = {c["found"].split(":")[0]: c for c in rows(found, "policy")}
    t.equal(sorted((os.path.basename(n), c["result"])
                   for n, c in got.items()),
            [("broken", "note"), ("fine", "ok"), ("in force", "ok")],
            "each policy is checked")
    t.ok(status == 0 and "1 error" in got[os.path.join(mine, "broken")][
        "found"], "one that is not in force stops no session", got)
    t.ok(got[os.path.join(mine, "broken")]["remedy"] ==
         "see them: icctl policy check --policy " +
         os.path.join(mine, "broken"), "with the command that shows more",
         got)


def ignored(work):
    """Keys of the original system that have no effect are named."""
    home = os.path.join(work, "home")
    os.makedirs(home, mode=0o700)
    h.put(os.path.join(home, "config.json"),
          '{"webSearch": {"provider": "x"}}', 0o600)
    env = {"PATH": "/usr/bin:/bin", "HOME": work, "IRONCURTAIN_HOME": home}
    r = subprocess.run([h.program("icctl"), "doctor"], env=env, check=False,
                       capture_output=True, text=True, timeout=120)
    t.ok("webSearch" in r.stdout and "have no effect here" in r.stdout,
         "doctor names keys without effect", r.stdout)
    project = os.path.join(work, "project")
    os.mkdir(project, 0o700)
    r = subprocess.run([h.program("icctl"), "start", "--", "true"], env=env,
                       cwd=project, capture_output=True, text=True,
                       check=False, timeout=60, stdin=subprocess.DEVNULL)
    t.ok(r.returncode == 0 and "without effect here: webSearch (instead: " in r.stderr and
         "icctl mcp add" in r.stderr,
         "and so does a start", r.stderr)


def agents(work):
    """icctl agents: what each agent still needs."""
    path = os.path.join(work, "bin")
    h.put(os.path.join(path, "codex"), "#!/bin/sh\n", 0o755)

    def listed(*options, **env):
        return subprocess.run(
            [h.program("icctl"), *options, "agents"], check=False,
            env={"PATH": f"{path}:/usr/bin:/bin", "HOME": work, **env},
            capture_output=True, text=True, timeout=60)

    r = listed("--json", OPENAI_API_KEY="x")
    found = {a["name"]: a for a in json.loads(r.stdout)["agents"]}
    t.ok(found["codex"]["ready"] and
         found["codex"]["program"] == os.path.join(path, "codex"),
         "an agent with its program and a key is ready", found["codex"])
    t.ok(not found["claude-code"]["ready"] and
         "its program, claude" in found["claude-code"]["needs"] and
         "ANTHROPIC_API_KEY" in found["claude-code"]["needs"],
         "one without says what it needs", found["claude-code"])
    t.ok(found["command"]["ready"], "a command needs nothing")
    t.ok("policy-compiler" not in found, "one that icctl starts is not there")
    r = listed()
    t.ok(r.returncode == 0 and "codex  Codex CLI" in r.stdout and
         "a credential: OPENAI_API_KEY" in r.stdout, "and so for people", r)


def main():
    with h.workdir() as work:
        os.makedirs(os.path.join(work, "user"))
        os.makedirs(os.path.join(work, "home"), mode=0o700)
        trace = os.path.join(work, "trace", "started")
        os.makedirs(os.path.dirname(trace))
        for part in (lambda: good(work, trace), lambda: wrong_server(work),
                     lambda: wrong_view(work), lambda: policies(work),
                     lambda: ignored(os.path.join(work, "ignored")),
                     lambda: agents(os.path.join(work, "agents"))):
            part()
    t.done()


if __name__ == "__main__":
    main()
