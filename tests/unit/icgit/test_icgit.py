# SPDX-License-Identifier: ISC
"""icgit in place of git: the configuration of a repository is overridden,
programs that the caller's environment or options would run are refused, and
any other program cannot be executed."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
from tap import Tap  # noqa: E402

ICGIT = os.path.abspath(sys.argv[1])
TOP = os.path.realpath(tempfile.mkdtemp(prefix="test_icgit."))
REPO, GIT = TOP + "/repo", TOP + "/bin/git"
TRAP, MARK = TOP + "/trap", TOP + "/mark"
ENV = {"PATH": "/usr/bin:/bin", "HOME": TOP, "LANG": "C.UTF-8",
       "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1",
       "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.invalid",
       "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.invalid"}
tap = Tap()
ok = tap.ok


def run(program, *words, **env):
    # icgit replaces itself by git, so a sanitizer must not report its memory
    # as leaked.
    env = dict(ENV, ASAN_OPTIONS="detect_leaks=0", **env)
    p = subprocess.run([program, *words], cwd=REPO, env=env,
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, timeout=60, check=False)
    return p.returncode, p.stdout.decode("utf-8", "replace")


def sprung():
    if os.path.exists(MARK):
        os.unlink(MARK)
        return True
    return False


# The configuration of a repository, and the values that git uses.
CONFIG = {
    "alias.x": "", "alias.status": "", "browser.b.cmd": "false",
    "commit.gpgSign": "false", "core.alternateRefsCommand": "",
    "core.askPass": "", "core.editor": ":", "core.fsmonitor": "false",
    "core.gitProxy": "", "core.hooksPath": "/dev/null", "core.pager": "cat",
    "core.sshCommand": "false", "credential.helper": "",
    "credential.https://github.com.helper": "", "diff.d.command": "",
    "diff.d.textconv": "", "diff.external": "", "difftool.t.cmd": "false",
    "fetch.bundleURI": "", "fetch.recurseSubmodules": "false",
    "filter.f.clean": "", "filter.f.smudge": "", "filter.f.process": "",
    "filter.f.required": "false", "filter.a=b.clean": "",
    "filter.a.b.clean": "", "filter.\u00e4 \"'$(x).smudge": "",
    "gc.auto": "0", "gpg.program": "false", "gpg.ssh.program": "false",
    "gpg.ssh.defaultKeyCommand": "", "guitool.g.cmd": "false",
    "http.proxy": "", "http.https://github.com.proxy": "",
    "http.curloptResolve": "", "http.extraHeader": "",
    "http.https://github.com.extraHeader": "", "http.cookieFile": "",
    "http.sslVerify": "true", "http.https://x.sslVerify": "true",
    "http.followRedirects": "false", "init.templateDir": "",
    "interactive.diffFilter": "", "log.showSignature": "false",
    "maintenance.auto": "false", "man.m.cmd": "false",
    "merge.m.driver": "false", "merge.default": "text",
    "mergetool.t.cmd": "false", "pager.log": "false",
    "protocol.ext.allow": "never", "push.gpgSign": "false",
    "push.recurseSubmodules": "no", "remote.r.proxy": "",
    "remote.r.vcs": "", "remote.r.promisor": "false",
    "sequence.editor": ":", "status.submoduleSummary": "false",
    "submodule.recurse": "false", "submodule.s.update": "none",
    "tag.gpgSign": "false", "tag.forceSignAnnotated": "false",
    "tar.x.command": "false", "trailer.t.command": "", "trailer.t.cmd": "",
    "transfer.bundleURI": "false", "uploadpack.packObjectsHook": "",
}
REFUSED = [
    ["--exec-path=/tmp", "status"], ["fetch", "--upload-pack=x", "o"],
    ["fetch", "--upload-pack", "x", "o"], ["fetch", "--uploa=x", "o"],
    ["push", "--receive-pack=x", "o"], ["push", "--exec=x", "o"],
    ["push", "--exec", "x", "o"], ["rebase", "--exec", "x", "HEAD"],
    ["clone", "--recurse-submodules", "x", "y"],
    ["clone", "--recursive", "x", "y"], ["clone", "--recurs", "x", "y"],
    ["fetch", "--recurse-submodules", "o"],
    ["pull", "--recurse-submodules=on-demand"],
]
# Ways to make plain git run a program: by option, name or environment.
RUNS = [
    (["x"], {}, [("alias.x", "!{T}")]),
    (["-c", "alias.y=!{T}", "y"], {}, []),
    (["-c", "core.fsmonitor={T}", "status"], {}, []),
    (["-c", "core.editor={T}", "commit", "--allow-empty"], {}, []),
    (["-c", "diff.external={T}", "diff"], {}, []),
    (["diff"], {"GIT_EXTERNAL_DIFF": "{T}"}, []),
    (["commit", "--allow-empty"], {"GIT_EDITOR": "{T}"}, []),
    (["commit", "--allow-empty"], {"EDITOR": "{T}"}, []),
    (["status"], {"GIT_CONFIG_COUNT": "1",
                  "GIT_CONFIG_KEY_0": "core.fsmonitor",
                  "GIT_CONFIG_VALUE_0": "{T}"}, []),
    (["status"], {"GIT_CONFIG_GLOBAL": "{T}.config"}, []),
    (["fetch", "ext::{T} %S"], {"GIT_ALLOW_PROTOCOL": "ext"}, []),
    (["fetch", "git@x.invalid:y"], {"GIT_SSH_COMMAND": "{T}"}, []),
    (["fetch", "git@x.invalid:y"], {"GIT_SSH": "{T}"}, []),
    (["fetch", "r"], {}, [("remote.r.uploadpack", "{T}"),
                          ("remote.r.url", "{R}")]),
    (["push", "r", "main"], {"GIT_ALLOW_PROTOCOL": "file"},
     [("remote.r.receivepack", "{T}"), ("remote.r.url", "{R}")]),
    (["grep", "-O{T}", "one"], {}, []),
    (["difftool", "-y", "-x", "{T}"], {}, []),
]


def fill(text):
    return text.replace("{T}", TRAP).replace("{R}", REPO)


def make():
    os.makedirs(REPO)
    os.makedirs(TOP + "/bin")
    shutil.copy(ICGIT, GIT)
    with open(TRAP, "w", encoding="utf-8") as f:
        f.write(f"#!/bin/sh\n: > {MARK}\nexit 0\n")
    os.chmod(TRAP, 0o755)
    with open(TRAP + ".config", "w", encoding="utf-8") as f:
        f.write(f"[core]\n\tfsmonitor = {TRAP}\n")
    run("git", "init", "-q", "-b", "main")
    for text in ("one\n", "two\n"):
        with open(REPO + "/a", "w", encoding="utf-8") as f:
            f.write(text)
        run("git", "add", "a")
        run("git", "commit", "-qm", text)
    with open(REPO + "/a", "w", encoding="utf-8") as f:
        f.write("three one\n")


def test_config():
    keep = open(REPO + "/.git/config", "rb").read()
    for name, want in CONFIG.items():
        yes = want in ("false", "true", "no", "0") and not name.endswith(
            ("cmd", "ommand", "driver", "fsmonitor", "log", "program"))
        run("git", "config", name, "1" if yes else TRAP)
    for name, want in CONFIG.items():
        got = run(GIT, "config", "--get", name)
        ok(got == (0, want + "\n"), f"{name} is {want!r}", got)
    code, text = run(GIT, "status", "--short")
    ok(code == 0 and "M a" in text and not sprung(),
       "with all of it git works, and nothing runs", text)
    with open(REPO + "/.git/config", "wb") as f:
        f.write(keep)


def test_refused():
    for words in REFUSED:
        code, text = run(GIT, *words)
        ok(code == 128 and "refused by IronCurtain" in text,
           "refused: " + " ".join(words), (code, text))


def test_runs():
    for words, env, config in RUNS:
        keep = open(REPO + "/.git/config", "rb").read()
        for name, value in config:
            run("git", "config", fill(name), fill(value))
        words = [fill(w) for w in words]
        env = {k: fill(v) for k, v in env.items()}
        what = " ".join(w.replace(TOP, "") for w in words + list(env))
        run("git", *words, **env)
        ok(sprung(), f"baseline: git {what} runs the trap")
        run(GIT, *words, **env)
        ok(not sprung(), f"git {what} does not")
        with open(REPO + "/.git/config", "wb") as f:
            f.write(keep)


def test_many():
    keep = open(REPO + "/.git/config", "rb").read()
    with open(REPO + "/.git/config", "ab") as f:
        for i in range(20000):
            f.write(b'[filter "f%d"]\n\tclean = x\n' % i)
    code, text = run(GIT, "status")
    ok(code == 128 and "more filters" in text,
       "more filters than can be turned off: refused", (code, text[:300]))
    with open(REPO + "/.git/config", "wb") as f:
        f.write(keep + b"[broken\n")
    code, text = run(GIT, "status")
    ok(code == 128 and "bad config" in text,
       "a broken configuration: git says so", (code, text))
    with open(REPO + "/.git/config", "wb") as f:
        f.write(keep)


def test_server():
    asks = [{"path": REPO, "remotes": ["nothing"]}, {"path": "x",
            "remotes": []}, {"path": REPO, "remotes": "x"},
            {"path": REPO, "remotes": ["x"] * 9}, {"path": TOP + "/none",
            "remotes": ["https://a/b"]}, {"path": REPO, "remotes": [1]},
            {"path": REPO, "remotes": ["-x"]}, {"path": REPO,
            "remotes": [""]}, {}]
    lines = [{"jsonrpc": "2.0", "id": f"r{i}", "method": "tools/call",
              "params": {"name": "remotes", "arguments": a}}
             for i, a in enumerate(asks)]
    p = subprocess.run([ICGIT], env=ENV, cwd="/", check=False,
                       input="\n".join(map(json.dumps, lines)).encode() +
                       b"\n{\n", stdout=subprocess.PIPE)
    got = [json.loads(x) for x in p.stdout.splitlines()]
    ok(len(got) == len(asks) + 1 and p.returncode == 0,
       "each question has its answer", got)
    for a, g in zip(asks, got):
        ok(g.get("result", {}).get("isError"), f"not known: {a}"[:90].replace(
            TOP, ""), g)


make()
test_config()
test_refused()
test_runs()
test_many()
test_server()
shutil.rmtree(TOP)
tap.done()
