#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests the shipped policies: no warnings, each rule explained and reached by
a call that it alone decides, and chosen by name at start, in config.json and
by icctl."""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
SHARE = os.path.join(h.PREFIX, "share", "ironcurtain", "policies")
NAMES = {"default": SHARE, "read-only": os.path.join(SHARE, "read-only"),
         "coding": os.path.join(SHARE, "coding"),
         "record": os.path.join(SHARE, "record")}
OUT, IN = "/srv/other", "/workspace/x"
DOCS, CODE = "https://docs.python.org/3/", "https://github.com/a/b"
ELSE = "https://elsewhere.example/a/b"

# The rule of the policy "record" that asks about each tool.
RECORD = {"read_file": "read", "write_file": "write", "move_file": "read",
          "edit_file": "read", "git_log": "read", "git_add": "read",
          "git_init": "write", "git_rebase": "read", "git_push": "remote",
          "git_clone": "remote", "git_fetch": "remote",
          "git_remote": "remote", "http_fetch": "fetch"}


def wanted(name, row):
    """Returns how that policy decides the call of a row."""
    (_, tool, _), by_name = row
    want = by_name.get(name, by_name[""])
    if name != "record" or "structural-" in want:
        return want
    return "escalate record-" + RECORD.get(tool, "rest")


# Tool and arguments -> each policy's answer as "decision rule"; a rule that no
# row of this table reaches is a failure.
SANDBOX = "allow structural-sandbox-allow"
KEPT = "deny structural-read-only-workspace"
CALLS = [
    (("filesystem", "read_file", {"path": IN}), {"": SANDBOX}),
    (("filesystem", "write_file", {"path": IN, "content": ""}),
     {"": SANDBOX, "read-only": KEPT}),
    (("filesystem", "move_file", {"source": IN, "destination": IN + "y"}),
     {"": SANDBOX, "read-only": KEPT}),
    (("filesystem", "read_file", {"path": OUT}),
     {"": "escalate escalate-read-outside"}),
    (("filesystem", "write_file", {"path": OUT, "content": ""}),
     {"": "escalate escalate-write-outside",
      "read-only": "deny deny-change-outside"}),
    (("filesystem", "move_file", {"source": OUT, "destination": IN}),
     {"": "escalate escalate-read-outside",
      "read-only": "deny deny-change-outside",
      "coding": "deny deny-delete-outside"}),
    (("filesystem", "edit_file", {"path": OUT, "edits": [], "dryRun": True}),
     {"": "escalate escalate-read-outside"}),
    (("documents", "move_file", {"source": IN, "destination": IN + "y"}),
     {"": "escalate escalate-read-outside",
      "read-only": "deny deny-change-outside",
      "coding": "allow allow-documents-workspace"}),
    (("documents", "read_file", {"path": IN}),
     {"": "escalate escalate-read-outside",
      "read-only": "allow allow-documents-workspace-read",
      "coding": "allow allow-documents-workspace"}),
    (("documents", "list_allowed_directories", {}),
     {"": "allow allow-documents-introspection"}),
    (("git", "git_log", {"path": "/workspace"}), {"": SANDBOX}),
    (("git", "git_reset", {"path": "/workspace", "mode": "hard"}),
     {"": SANDBOX, "read-only": KEPT}),
    (("git", "git_log", {"path": OUT}),
     {"": "escalate escalate-git-read-outside"}),
    (("git", "git_add", {"path": OUT}),
     {"": "escalate escalate-git-read-outside",
      "read-only": "deny deny-git-change-outside"}),
    (("git", "git_init", {"path": OUT}),
     {"": "escalate escalate-git-change-outside",
      "read-only": "deny deny-git-change-outside"}),
    (("git", "git_rebase", {"path": OUT}),
     {"": "escalate escalate-git-read-outside",
      "read-only": "deny deny-git-change-outside",
      "coding": "deny deny-git-history-outside"}),
    (("git", "git_push", {"path": "/workspace", "remote": CODE}),
     {"": "escalate escalate-git-remote",
      "read-only": "deny deny-git-push"}),
    (("git", "git_clone", {"url": CODE, "localPath": IN}),
     {"": "escalate escalate-git-remote",
      "read-only": "deny deny-git-remote-read",
      "coding": "allow allow-git-read-remote"}),
    (("git", "git_fetch", {"path": "/workspace", "remote": ELSE}),
     {"": "escalate escalate-git-remote",
      "read-only": "deny deny-git-remote-read"}),
    (("git", "git_fetch", {"path": "/workspace", "remote": "origin"}),
     {"": "escalate escalate-git-remote",
      "read-only": "deny deny-git-remote-read",
      "coding": "escalate structural-unknown-remote"}),
    (("git", "git_remote", {"path": "/workspace", "mode": "add",
                            "name": "x", "url": CODE}),
     {"": "escalate escalate-git-remote",
      "read-only": "deny deny-git-remote-change"}),
    (("git", "git_clear_working_dir", {"confirm": True}),
     {"": "allow allow-git-session"}),
    (("fetch", "http_fetch", {"url": DOCS}),
     {"": "allow allow-fetch-documentation"}),
    (("fetch", "http_fetch", {"url": CODE}),
     {"": "escalate escalate-fetch-other",
      "coding": "allow allow-fetch-source"}),
    (("fetch", "http_fetch", {"url": "https://raw.githubusercontent.com/a"}),
     {"": "escalate escalate-fetch-other",
      "coding": "allow allow-fetch-source"}),
    (("fetch", "http_fetch", {"url": ELSE}),
     {"": "escalate escalate-fetch-other"}),
    (("fetch", "http_fetch", {"url": "https://127.0.0.1/"}),
     {"": "deny default-deny"}),
    (("fetch", "web_search", {"query": "x"}),
     {"": "escalate escalate-web-search"}),
    (("fetch", "unheard", {}), {"": "deny structural-unknown-tool"}),
    (("unheard", "of", {}), {"": "deny structural-unknown-tool"}),
]


def icctl(home, *args, stdin=""):
    return subprocess.run(
        [h.program("icctl"), *args], input=stdin, capture_output=True,
        text=True, timeout=60, check=False,
        env={**os.environ, "IRONCURTAIN_HOME": home, "HOME": home})


def rules_of(directory):
    with open(os.path.join(directory, "compiled-policy.json"),
              encoding="utf-8") as f:
        return json.load(f)["rules"]


def test_shipped(work):
    home, sandbox = os.path.join(work, "home"), os.path.join(work, "sandbox")
    for d in (home, sandbox):
        os.makedirs(d, mode=0o700)
    lines = "".join(json.dumps({"serverName": s, "toolName": n,
                                "arguments": a}) + "\n"
                    for (s, n, a), _ in CALLS)
    for name, directory in NAMES.items():
        r = icctl(home, "policy", "check", "--policy", name)
        rules = rules_of(directory)
        t.equal((r.returncode, r.stdout.split(", ")[0]),
                (0, f"good: {len(rules)} rules"),
                f"{name}: check finds nothing, and says what it has read")
        t.equal([x["name"] for x in rules
                 if not all(x.get(k) for k in ("description", "principle",
                                               "reason"))], [],
                f"{name}: each rule says what it does and why")
        r = icctl(home, "policy", "eval", "--policy", name, "--sandbox",
                  sandbox, stdin=lines)
        got = [json.loads(x) for x in r.stdout.splitlines()]
        wrong = [(c[0][:2], g["decision"], g["rule"])
                 for c, g in zip(CALLS, got)
                 if f"{g['decision']} {g['rule']}" != wanted(name, c)]
        t.equal((len(got), wrong), (len(CALLS), []),
                f"{name}: decides as its rules say")
        # Only the first of several rules that ask about a call is named.
        asked = {x for g in got for x in g.get("escalatedRoles", ())}
        t.equal({x["name"] for x in rules
                 if not set(x["if"].get("roles", "?")) <= asked} -
                {g["rule"] for g in got}, set(),
                f"{name}: each rule is reached")
    # A path so deep that the confined policyd looks it up in pieces.
    deep = "d/" * 200
    os.makedirs(os.path.join(sandbox, deep))
    r = icctl(home, "policy", "eval", "--policy", "default", "--sandbox",
              sandbox, stdin=json.dumps({
                  "serverName": "filesystem", "toolName": "read_file",
                  "arguments": {"path": f"/workspace/{deep}x"}}) + "\n")
    t.contains(r.stdout, "structural-sandbox-allow", "200 directories deep")
    r = icctl(home, "policy", "diff", "default", "read-only")
    t.contains(r.stdout, "deny-change-outside", "diff takes names")
    for bad, why in (("reed-only", "Known: default, "),
                     ("../policies", "../policies: No such file"),
                     (".hidden", "No such file")):
        r = icctl(home, "policy", "check", "--policy", bad)
        t.equal(r.returncode, 1, f"--policy {bad}: refused")
        t.contains(r.stdout + r.stderr, why, f"--policy {bad}: and why")


def write_outside(s):
    m = s.client()
    r = m.call("filesystem__write_file", {
        "path": os.path.join(s.work, "user", "x"), "content": ""})
    m.close()
    return h.text_of(r)


def test_sessions(work):
    said = {"read-only": "DENIED: This policy changes nothing outside",
            "default": "ESCALATION REQUIRED: Writing outside the workspace",
            "mine": "DENIED: mine alone"}
    for name, config in (("read-only", False), ("read-only", True),
                         ("default", False), ("mine", False)):
        d = os.path.join(work, f"{name}{config}")
        os.makedirs(d)
        opts = ["--escalations", "deny"]
        s = h.Session(d, {"filesystem": {"command": "icfs",
                                         "args": ["/workspace"]}},
                      config={"policy": {"name": name}} if config else {},
                      options=opts + ([] if config else ["--policy", name]),
                      rules=[h.rule("never", "deny")],
                      annotations={"filesystem": {"write_file": {
                          "path": ["write-path"], "content": ["none"]}}})
        own = os.path.join(s.home, "policies", "mine")
        os.makedirs(own)
        rules = rules_of(SHARE)
        rules.insert(0, h.rule("mine", "deny", "mine alone",
                               server=["filesystem"], roles=["write-path"]))
        for f in ("tool-annotations.json", "dynamic-lists.json"):
            os.symlink(os.path.join(SHARE, f), os.path.join(own, f))
        with open(os.path.join(own, "compiled-policy.json"), "w",
                  encoding="utf-8") as f:
            json.dump({"rules": rules}, f)
        with s:
            t.contains(write_outside(s), said[name],
                       f"{name}: in force, by {'config' if config else '-'}")
            where = {"mine": own}.get(name, NAMES.get(name))
            t.contains(s.icctl("status").stdout,
                       f"{where}/compiled-policy.json",
                       f"{name}: status says which")
    d = os.path.join(work, "lost")
    os.makedirs(d)
    s = h.Session(d, options=["--policy", "lost"])
    r = subprocess.run(s.argv, env=s.env, capture_output=True, text=True,
                       timeout=30, check=False)
    t.equal(r.returncode, 78, "a policy that is not there: no start")
    t.contains(r.stderr, "Known: default, ", "and which there are")


def main():
    for case in (test_shipped, test_sessions):
        with h.workdir() as work, t.case(case.__name__):
            case(work)
    t.done()


if __name__ == "__main__":
    main()
