#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The real git MCP server from npm, pinned in agents.json, works on a
repository full of traps: none springs, and no remote off the list is reached.
Without IronCurtain the same server springs them."""
import json
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "lib"), HERE]
import git_hostile as hostile  # noqa: E402
import harness as h  # noqa: E402

t = h.Tap()
REAL = os.path.join(os.environ.get("IC_AGENTS", ""), "node_modules",
                    "@cyanheads/git-mcp-server/dist/index.js")
SHIPPED = os.path.join(h.PREFIX, "share/ironcurtain/policies")
IDENTITY = {k: v for k, v in hostile.ENV.items() if k.startswith(
    ("GIT_AUTHOR", "GIT_COMMITTER"))}
RULES = [
    h.rule("listed-hosts", "allow", "Remotes on github.com.", server=["git"],
           domains={"allowed": ["github.com"], "roles": ["git-remote-url"]}),
    h.rule("session", "allow", "What the server remembers.", server=["git"],
           tool=["git_clear_working_dir", "git_wrapup_instructions"]),
    h.rule("other-remotes", "escalate", "Another remote.", server=["git"],
           roles=["git-remote-url"]),
]


def calls(repo):
    """Returns tools and arguments, in an order in which most can succeed."""
    at = {"path": repo.seen}

    lines = ["one\n"]

    def change():
        lines.append("more\n")
        hostile.write(os.path.join(repo.host, "a.txt"), "".join(lines))
        hostile.write(os.path.join(repo.host, "b.bin"), "bin\nbin\n")
        hostile.write(os.path.join(repo.host, "n.big"), "big\n")
        hostile.write(os.path.join(repo.host, "n.eq"), "eq\n")

    yield from (
        ("git_set_working_dir", at), ("git_status", at), change,
        ("git_status", at), ("git_diff", at),
        ("git_diff", dict(at, includeUntracked=True)),
        ("git_add", dict(at, paths=["a.txt", "b.bin"])),
        ("git_add", dict(at, paths=["n.eq"])),
        ("git_add", dict(at, paths=["n.big"])),
        ("git_commit", dict(at, message="two")),
        ("git_log", dict(at, maxCount=5, patch=True)),
        ("git_log", dict(at, showSignature=True)),
        ("git_show", dict(at, object="HEAD")),
        ("git_blame", dict(at, filePath="b.bin")),
        ("git_branch", dict(at, mode="create", branchName="other")),
        ("git_branch", dict(at, mode="list")),
        ("git_checkout", dict(at, target="other")),
        ("git_checkout", dict(at, target="main")),
        ("git_tag", dict(at, mode="create", tagName="v", message="v")),
        ("git_tag", dict(at, mode="verify", tagName="v")),
        change,
        ("git_stash", dict(at, mode="push")),
        ("git_stash", dict(at, mode="pop")),
        ("git_reset", dict(at, mode="hard", confirmed=True)),
        ("git_merge", dict(at, branch="side")),
        ("git_merge", dict(at, branch="side", abort=True)),
        ("git_reset", dict(at, mode="hard", confirmed=True)),
        ("git_cherry_pick", dict(at, commits=["side"])),
        ("git_cherry_pick", dict(at, commits=["side"], abort=True)),
        ("git_rebase", dict(at, upstream="HEAD~1", interactive=True)),
        ("git_rebase", dict(at, mode="abort")),
        repo.stop_rebase,
        ("git_rebase", dict(at, mode="continue")),
        ("git_rebase", dict(at, mode="abort")),
        ("git_reflog", at), ("git_changelog_analyze",
                             dict(at, reviewTypes=["features"])),
        ("git_worktree", dict(at, mode="add", worktreePath=repo.seen + "/wt",
                              branch="wt")),
        ("git_worktree", dict(at, mode="list")),
        ("git_remote", dict(at, mode="list")),
        ("git_clean", dict(at, force=True, dryRun=True)),
        ("git_fetch", dict(at, remote="ext")),
        ("git_fetch", dict(at, remote="ssh")),
        ("git_fetch", dict(at, remote="pack")),
        ("git_push", dict(at, remote="pack", branch="main")),
        ("git_pull", dict(at, remote="ssh", branch="main")),
        ("git_fetch", dict(at, remote="listed")),
        ("git_push", dict(at, remote="listed", branch="main")),
        ("git_init", {"path": repo.seen + "/fresh"}),
        ("git_clear_working_dir", {"confirm": "Y"}))


def entry(**more):
    return {"command": "node", "args": [REAL],
            "env": {"MCP_TRANSPORT_TYPE": "stdio", "MCP_LOG_LEVEL": "error",
                    **IDENTITY}, **more}


def without_us(work):
    """Run the server alone, as a user would start it."""
    host = os.path.join(work, "baseline")
    os.makedirs(host)
    repo = hostile.Hostile(host, host)
    env = dict(hostile.ENV, HOME=work, PATH="/usr/bin:/bin",
               MCP_TRANSPORT_TYPE="stdio", MCP_LOG_LEVEL="error")
    p = subprocess.Popen([shutil.which("node"), REAL], env=env, cwd=work,
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL)

    def say(message):
        p.stdin.write(json.dumps(dict(message, jsonrpc="2.0")).encode() +
                      b"\n")
        p.stdin.flush()

    def ask(ident, method, params):
        say({"id": ident, "method": method, "params": params})
        for line in p.stdout:
            if json.loads(line).get("id") == ident:
                return
    ask(0, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                          "clientInfo": {"name": "test", "version": "1"}})
    say({"method": "notifications/initialized"})
    for i, step in enumerate(calls(repo), 1):
        if callable(step):
            step()
        else:
            ask(i, "tools/call", {"name": step[0], "arguments": step[1]})
    p.kill()
    p.wait()
    sprung = repo.sprung()
    for name in ("clean", "equals", "ext", "fsmonitor", "process", "ssh",
                 "subfsmonitor", "hook-pre-commit", "hook-post-checkout"):
        t.ok(name in sprung, f"baseline: trap {name} springs", sprung)


def finish(s, m, tool, args):
    """Returns the answer; a pending call is approved, as a careless person
    would."""
    call = m.start_call("git__" + tool, args)
    h.wait_for(lambda: call.done.is_set() or s.pending(), tool, timeout=60)
    if not call.done.is_set():
        s.icctl("approve", s.pending()[0]["id"])
    return call.wait(60)


def with_us(s, repo):
    m = s.mcp()
    m.initialize()
    tools = [x["name"] for x in m.list_tools()]
    t.equal(len(tools), 28, "the server lists its 28 tools")
    failed = []
    for step in calls(repo):
        if callable(step):
            step()
            continue
        r = finish(s, m, *step)
        if r.get("isError"):
            failed.append((step[0], step[1].get("remote") or
                           step[1].get("mode"), h.text_of(r)[:160].replace("\n", " ")))
    t.equal(repo.sprung(), [], "no trap springs")
    broken = {f[0] for f in failed} - {
        "git_fetch", "git_push", "git_pull", "git_merge", "git_rebase",
        "git_cherry_pick", "git_tag"}
    # Each file has a filter, which is not in the sandbox.
    t.equal(broken, {"git_add", "git_commit", "git_stash"},
            "what speaks to nobody, and commits nothing, works all the same")
    t.ok(all("the filter of this file is not in this sandbox" in f[2]
             for f in failed if f[0] == "git_add"),
         "git says that it has no filter for the file", failed)
    for f in failed:
        print("#", *f)
    reasons = [e["policyDecision"] for e in s.events("call")
               if e["toolName"] in ("git_fetch", "git_push")]
    t.ok(any("https://github.com/o/r.git" in d["reason"] and
             d["status"] == "allow" for d in reasons),
         "the listed remote is allowed, by what it leads to", reasons)
    t.ok(all(d["status"] != "allow" or "github.com" in d["reason"]
             for d in reasons), "no other is", reasons)
    checked = s.icctl("policy", "check")
    t.equal(checked.returncode, 0, "icctl policy check is content")
    t.ok("git__" not in checked.stdout and "no mistakes" in checked.stdout,
         "every tool that it lists is annotated", checked.stdout)
    m.close()


def main():
    if not os.path.exists(REAL) or not shutil.which("node"):
        t.skip("git MCP server", f"{REAL} is not installed "
               "(./dev test agents)")
        return t.done()
    with h.workdir() as work:
        without_us(work)
        with open(os.path.join(SHIPPED, "tool-annotations.json"),
                  encoding="utf-8") as f:
            shipped = json.load(f)["servers"]["git"]["tools"]
        s = h.Session(work, {"git": entry()}, RULES,
                      {"git": {x["toolName"]: x["args"] for x in shipped}},
                      env={"PATH": os.environ.get("PATH", "/usr/bin:/bin")})
        os.makedirs(os.path.join(s.workspace, "repo"))
        repo = hostile.Hostile(os.path.join(s.workspace, "repo"),
                               "/workspace/repo")
        hostile.git(repo.host, "config", "remote.listed.url",
                    "https://github.com/o/r.git")
        with s:
            with_us(s, repo)
    return t.done()


if __name__ == "__main__":
    sys.exit(main())
