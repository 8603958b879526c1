#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The end of a session lists the files of the user's own workspace that the
agent changed and that programs of the host run later."""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import trap_repo as trap  # noqa: E402
from started import Place  # noqa: E402

t = h.Tap()


def run(p, script, *options, path=None):
    """Returns the messages of a session, and its session.json."""
    env = {**p.env, "PATH": path or p.env["PATH"]}
    r = subprocess.run(
        [h.program("icctl"), "start", *options, "--", "sh", "-c", script],
        env=env, cwd=p.project, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=60, check=False)
    if r.returncode != 0:
        raise RuntimeError(r.stderr)
    with open(os.path.join(p.session(), "session.json"),
              encoding="utf-8") as f:
        return r.stderr, json.load(f)


def listed(o):
    return sorted(f["path"] for f in o["runsLater"]["files"])


def project(p, files):
    trap.git(p.project, "init", "-q")
    for name in files:
        h.put(os.path.join(p.project, name), "x\n")
    os.makedirs(os.path.join(p.project, ".git", "hooks"), exist_ok=True)


def usual(p):
    """Files that were changed, and none that were not."""
    project(p, ["Makefile", "package.json", ".vscode/tasks.json", "sub/x.c",
                ".git/hooks/post-commit", ".git/hooks/x.sample", "bin/old",
                "deep/a/Makefile", ".idea/x.xml"])
    for name in ("bin/old", ".git/hooks/post-commit"):
        os.chmod(os.path.join(p.project, name), 0o755)
    said, o = run(p, "true")
    t.equal(listed(o), [], "nothing was changed")
    t.ok("may run" not in said, "and nothing is said", said)
    said, o = run(
        p, "echo y >> Makefile; echo x > .git/hooks/pre-commit; "
        "echo x >> .git/hooks/x.sample; git config alias.x '!x'; "
        "echo x > sub/x.c; mkdir -p new/.vscode; echo x > new/.vscode/a.json; "
        "echo x > deep/a/package.json; echo x > .envrc; "
        "echo x > bin/tool; chmod +x bin/tool; echo x > bin/readme; "
        "ln -s /tmp/x .husky; printf x > \"$(printf 'deep/a.code-workspace')\"",
        path=p.project + "/bin:" + p.env["PATH"])
    want = [".envrc", ".git/config", ".git/hooks/pre-commit", ".husky",
            "Makefile", "bin/tool", "deep/a.code-workspace",
            "deep/a/package.json", "new/.vscode/a.json"]
    t.equal(listed(o), sorted(want), "what was changed, or is new")
    t.ok(o["runsLater"]["whole"], "and that is all")
    t.ok("9 changed files may run" in said and
         "  .git/hooks/pre-commit (git)\n" in said and
         "  bin/tool (PATH)\n" in said, "the summary names them", said)
    r = p.icctl("--session", os.path.basename(p.session()), "status")
    t.ok(r.returncode == 3 and "  .envrc (direnv)\n" in r.stdout and
         "closed" in r.stdout, "so does icctl status", r.stdout + r.stderr)
    o = json.loads(p.icctl("--session", os.path.basename(p.session()),
                           "--json", "status").stdout)
    t.equal(listed(o), sorted(want), "with --json, too")
    r = subprocess.run([h.program("icctl"), "resume",
                        os.path.basename(p.session()), "--", "true"],
                       env=p.env, stdin=subprocess.DEVNULL, timeout=60,
                       capture_output=True, text=True, check=False)
    t.ok(r.returncode == 0 and "may run" not in r.stderr,
         "a further run tells its own changes only", r.stderr)


def tricks(p):
    """Times that are set back, files that are moved, names with escapes."""
    project(p, ["other/pre-push", "other/Makefile", ".github/workflows/x.yml",
                ".git/hooks/commit-msg", "t.sh"])
    said, o = run(
        p, "mv .git/hooks .git/h; mv other .git/hooks; "
        "echo x > Makefile; touch -d 2001-01-01 Makefile; "
        "mv .github/workflows/x.yml .github/workflows/y.yml; "
        "ln t.sh justfile; echo x > \"$(printf '\\033]0;a\\007\\n.envrc')\"; "
        "mkdir \"$(printf 'd\\033[31m')\"; "
        "echo x > \"$(printf 'd\\033[31m')/.envrc\"")
    t.equal(listed(o), sorted([
        ".git/hooks/Makefile", ".git/hooks/pre-push", "Makefile", "justfile",
        ".github/workflows/y.yml", "d\\x1b[31m/.envrc"]),
        "a moved directory, a time set back, a rename, a second name")
    t.ok("\x1b" not in said, "names are escaped", said)
    os.rename(p.project + "/.git/hooks", p.project + "/.git/hooks2")
    os.symlink("hooks2", p.project + "/.git/hooks")
    said, o = run(p, "rm .git/hooks; ln -s h .git/hooks")
    t.equal(listed(o), [".git/hooks"], "a directory that is a link")
    said, o = run(p, "for i in $(seq 60); do mkdir d$i; echo > d$i/Makefile; "
                  "done")
    t.ok(o["runsLater"]["total"] == 60 and len(listed(o)) == 50 and
         "and 50 more" in said, "a long list is cut", said)
    deep = "/".join("abcdefghij")
    said, o = run(p, f"mkdir -p {deep}; echo x > {deep}/Makefile")
    t.ok(not o["runsLater"]["whole"] and "too deep" in said,
         "what is too deep to be seen is admitted", said)


def other(p):
    """No list where the user does not work."""
    _, o = run(p, "echo x > Makefile", "--workspace", "none")
    t.ok("runsLater" not in o, "--workspace none")


def main():
    for part in (usual, tricks, other):
        with h.workdir() as work, t.case(part.__name__):
            part(Place(work))
    t.done()


main()
