#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests `icctl image build --devcontainer` with a stand-in engine: what of the
workspace's devcontainer.json has an effect, that it is shown before it is built,
and hostile files, each key among them; and that `icctl start` uses the image only
if it is told to, and never builds it."""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from image_helper import OURS, Images, of  # noqa: E402

t = h.Tap()
FILE = ".devcontainer/devcontainer.json"


def workspace(e, content, **files):
    """Writes devcontainer.json and files beside it."""
    for name, text in {"devcontainer.json": content, **files}.items():
        path = os.path.join(e.s.workspace, ".devcontainer", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        h.put(path, text if isinstance(text, str) else json.dumps(text))


def build(e, *args, **kw):
    return e.run("image", "build", "--devcontainer", "--workspace",
                 e.s.workspace, *args, **kw)


def test_image(work):
    e = Images(work)
    workspace(e, '// of the project\n{"image": "some/image:1", /* x */\n'
              '"containerEnv": {"A": "b \\"c\\" $HOME \\\\"},}\n')
    r = build(e)
    t.ok(r.returncode == 1 and not e.builds() and "never built" in r.stdout and
         "+ image some/image:1" in r.stdout and r.stderr.endswith(
             "not built\n"), "it is shown, and without a yes not built",
         r.stdout + r.stderr)
    r = build(e, "--yes")
    built = e.builds()
    t.ok(r.returncode == 0 and len(built) == 1 and built[0]["dockerfile"] ==
         'FROM some/image:1\nENV A="b \\"c\\" \\$HOME \\\\"\nUSER root\n'
         "ENTRYPOINT []\nCMD []\n", "an image, with constant variables",
         (r.stderr, built))
    t.ok(of(built[0]["args"], "--tag")[0].startswith(OURS + "devcontainer:"),
         "its name is the workspace's")
    r = build(e)
    t.ok(r.returncode == 0 and "nothing has changed" in r.stdout and
         len(e.builds()) == 1, "the same is not built again, nor asked about",
         r.stdout)


def test_dockerfile(work):
    e = Images(work, "podman")
    workspace(e, {"build": {"dockerfile": "Dockerfile", "context": ".."}},
              Dockerfile="FROM x\nRUN \x1b]0;evil\x07\n")
    h.put(os.path.join(e.s.workspace, "used"), "one")
    os.symlink("/etc/shadow", os.path.join(e.s.workspace, "link"))
    os.mkfifo(os.path.join(e.s.workspace, "pipe"))
    r = build(e, "claude-code", "--yes", "--network", "none")
    built = e.builds()
    t.ok(r.returncode == 0 and len(built) == 3, "three images", r.stderr)
    t.equal((built[0]["dockerfile"], built[0]["context"],
             of(built[0]["args"], "--network")),
            ("FROM x\nRUN \x1b]0;evil\x07\n",
             [FILE[:-17] + "Dockerfile", FILE, "link", "used"], ["none"]),
            "from a copy of the context, with links as links, and no pipe")
    where = built[0]["args"][-1]
    t.ok(where.startswith("/tmp/ic-image-") and not os.path.exists(where),
         "which is not the workspace, and is removed", where)
    t.ok("\x1b" not in r.stdout + r.stderr, "escaped", r.stdout)
    t.ok(of(built[2]["args"], "--build-arg") ==
         ["BASE=" + of(built[1]["args"], "--tag")[0]] and of(
             built[2]["args"], "--tag")[0].startswith(
                 OURS + "devcontainer-claude-code:"),
         "the agent comes on top of it", built[2]["args"])
    h.put(os.path.join(e.s.workspace, "used"), "two")
    r = build(e, "claude-code")
    t.ok(r.returncode == 1 and "compared with the last build" in r.stdout and
         r.stdout.count("used\n") == 2 and len(e.builds()) == 3,
         "a later build shows what changed", r.stdout)


# Each key that other tools act on: its value, and the name that is shown.
HOSTILE = {
    "initializeCommand": "touch /pwned", "onCreateCommand": "x",
    "updateContentCommand": "x", "postCreateCommand": ["x"],
    "postStartCommand": {"a": "x"}, "postAttachCommand": "x",
    "mounts": ["source=/,target=/host,type=bind"],
    "runArgs": ["--privileged", "-v", "/:/host"], "features": {"x/y:1": {}},
    "forwardPorts": [22], "appPort": 22, "portsAttributes": {},
    "workspaceMount": "source=/,target=/workspace,type=bind",
    "workspaceFolder": "/", "privileged": True, "init": True,
    "capAdd": ["ALL"], "securityOpt": ["seccomp=unconfined"],
    "remoteUser": "root", "containerUser": "root", "updateRemoteUserUID": True,
    "userEnvProbe": "none", "overrideCommand": False, "shutdownAction": "none",
    "remoteEnv": {"A": "${localEnv:SECRET}"}, "customizations": {"x": {}},
    "hostRequirements": {"gpu": True}, "secrets": {"KEY": {}},
    "dockerComposeFile": "c.yml", "service": "x", "runServices": ["x"],
    "dockerFile": "Dockerfile", "waitFor": "x", "extensions": ["x"],
}


def test_keys(work):
    e = Images(work)
    workspace(e, {**HOSTILE, "image": "some/image", "name": "shown nowhere",
                  "containerEnv": {"S": "${localEnv:SECRET}", "T": "u"},
                  "build": {"args": {"A": "${localEnv:SECRET}"},
                            "options": ["--network=host"], "target": "x",
                            "cacheFrom": "evil"}})
    e.env["SECRET"] = "the-secret"
    r = build(e, "--yes")
    line = [x for x in r.stderr.splitlines() if "without effect here: " in x]
    named = line[0].split(": ")[-1].split(", ") if line else []
    t.equal(sorted(named), sorted([
        *HOSTILE, "build.args", "build.options", "build.target",
        "build.cacheFrom", "containerEnv.S"]), "each is named as ignored")
    text = json.dumps([(c["args"], c.get("dockerfile"))
                       for c in e.calls("build")])
    t.ok(r.returncode == 0 and not any(x in text for x in (
        "privileged", "the-secret", "SECRET", ":/host", "=host", "evil", "seccomp",
        "pwned", "/:/")) and 'ENV T=\\"u\\"' in text,
         "and none has an effect", text)
    t.ok(not {"run", "exec"} & {a for c in e.calls("--host")
                                for a in c["args"]}, "nothing is run")


REFUSED = [
    ("no image", {"features": {}}, 'has neither "image" nor "build"'),
    ("an image that is an option", {"image": "--privileged"},
     "image: must be an image's name"),
    ("an image that varies", {"image": "${localEnv:X}"},
     "image: must be an image's name"),
    ("a list", "[]", "must hold an object"),
    ("no JSON", "{", "line 1"),
    ("a key that is there twice", '{"image": "a", "image": "b"}', "line 1"),
    ("a number", {"image": 1}, "image: must be a string"),
    ("a Dockerfile outside", {"build": {"dockerfile": "../../secret"}},
     "leads out of the workspace"),
    ("an absolute Dockerfile", {"build": {"dockerfile": "/etc/passwd"}},
     "must be a path in the workspace"),
    ("a missing Dockerfile", {"build": {"dockerfile": "none"}},
     "No such file"),
    ("a directory", {"build": {"dockerfile": "."}}, "must be a regular file"),
    ("a context outside", {"build": {"dockerfile": "Dockerfile",
                                     "context": "../.."}},
     "leads out of the workspace"),
    ("a context through a link", {"build": {"dockerfile": "Dockerfile",
                                            "context": "link"}},
     "leads out of the workspace or through a symbolic link"),
    ("a Dockerfile through a link", {"build": {"dockerfile": "linked"}},
     "through a symbolic link"),
    ("a variable with a line break", {"image": "a", "containerEnv": {
        "A": "b\nUSER root"}}, "containerEnv.A: must be a variable"),
    ("a variable's name with a blank", {"image": "a", "containerEnv": {
        "A B": "c"}}, "containerEnv.A B: must be a variable"),
    ("too many variables", {"image": "a", "containerEnv": {
        f"A{i}": "b" for i in range(65)}}, "at most 64"),
    ("a large file", json.dumps({"image": "a", "x": "y" * (1 << 20)}),
     "larger than 1 MiB"),
    ("deep", '{"a":' * 5000 + "1" + "}" * 5000, "line 1"),
]


def test_refused(work):
    e = Images(work)
    secret = os.path.join(os.path.dirname(e.s.workspace), "secret")
    h.put(secret, "FROM the-secret\n")
    for what, content, want in REFUSED:
        workspace(e, content, Dockerfile="FROM x\n")
        for name, target in (("link", "/etc"), ("linked", secret)):
            path = os.path.join(e.s.workspace, ".devcontainer", name)
            if not os.path.islink(path):
                os.symlink(target, path)
        r = build(e, "--yes")
        t.ok(r.returncode == 1 and want in r.stderr and r.stderr.count("\n")
             == 1 and "the-secret" not in r.stdout + r.stderr,
             f"refused: {what}", f"{r.returncode} {r.stdout} {r.stderr[-600:]}")
    t.ok(not os.path.exists(e.s.user_home + "/engine.jsonl"),
         "no engine is asked before it is read")


def test_files(work):
    """The file itself: missing, a link, a pipe, a directory."""
    e = Images(work)
    r = build(e)
    t.ok(r.returncode == 1 and "there is neither" in r.stderr,
         "refused: none", r.stderr)
    path = os.path.join(e.s.workspace, ".devcontainer.json")
    h.put(os.path.join(work, "other.json"), '{"image": "a"}')
    os.symlink(os.path.join(work, "other.json"), path)
    r = build(e, "--yes")
    t.ok(r.returncode == 1 and "through a symbolic link" in r.stderr,
         "refused: a link", r.stderr)
    os.unlink(path)
    os.mkfifo(path)
    r = build(e, "--yes")
    t.ok(r.returncode == 1 and "is not a regular file" in r.stderr,
         "refused: a pipe, without waiting for it", r.stderr)
    os.unlink(path)
    h.put(path, '{"image": "a"}')
    r = build(e, "--network", "host")
    t.ok(r.returncode == 64 and "--network host is not for" in r.stderr,
         "refused: the network of this machine", r.stderr)
    r = e.run("--json", "image", "build", "--devcontainer", "--workspace",
              e.s.workspace)
    t.ok(r.returncode == 1 and "--yes says that you agree" in r.stderr and
         json.loads(r.stdout)["ok"] is False,
         "refused: --json without --yes", (r.stdout, r.stderr))


def test_limits(work):
    e = Images(work)
    workspace(e, {"build": {"dockerfile": "Dockerfile"}},
              Dockerfile="FROM x\n")
    at = os.path.join(e.s.workspace, ".devcontainer")
    with open(os.path.join(at, "hole"), "wb") as f:
        f.truncate((256 << 20) + 1)
    r = build(e, "--yes")
    t.ok(r.returncode == 1 and "more than 256 MiB" in r.stderr,
         "refused: a large context", r.stderr)
    os.unlink(os.path.join(at, "hole"))
    os.makedirs(os.path.join(at, *["d"] * 40))
    r = build(e, "--yes")
    t.ok(r.returncode == 1 and "directories deep" in r.stderr,
         "refused: a deep context", r.stderr)
    os.makedirs(os.path.join(at, "many"))
    for i in range(4097):
        os.mknod(os.path.join(at, "many", str(i)))
    os.rename(os.path.join(at, "d"), os.path.join(e.s.workspace, "d"))
    r = build(e, "--yes")
    t.ok(r.returncode == 1 and "more than 4096 files" in r.stderr and
         not e.builds(), "refused: too many files", r.stderr)


def test_disk(work):
    """No space is left in /tmp."""
    e = Images(work)
    workspace(e, {"build": {"dockerfile": "Dockerfile"}},
              Dockerfile="FROM x\n", large="x" * 200000)
    e.prefix = ["bwrap", "--dev-bind", "/", "/", "--size", "65536", "--tmpfs",
                "/tmp", "--bind", work, work]
    r = build(e, "--yes")
    t.ok(r.returncode == 1 and not e.builds() and r.stderr.count("\n") == 1 and
         "No space left on device" in r.stderr,
         "a full disk is one clear line", r.stderr)


def start(e, *args):
    return e.run("start", "--runtime", "docker", "--workspace",
                 e.s.workspace, *args)


def test_start(work):
    e = Images(work, image=None)
    workspace(e, {"image": "some/image"})
    r = start(e, "--image", "devcontainer", "claude-code", "Say a word.")
    t.ok(r.returncode == 78 and not e.builds() and
         "icctl image build --devcontainer claude-code --runtime docker" in
         r.stderr, "start builds nothing, and says how to", r.stderr)
    r = start(e, "claude-code", "Say a word.")
    t.ok(f"has a {FILE}, which is not used" in r.stderr and
         [c["args"][-1] for c in e.calls("inspect")
          if "image" in c["args"]][-1] == OURS + "claude-code",
         "unless it is told to, it does not use it, and says so", r.stderr)
    build(e, "claude-code", "--yes")
    e.answer(image={"id": "sha256:" + "ab" * 32, "volumes": None},
             run="docker: no")
    r = start(e, "--image", "devcontainer", "claude-code", "Say a word.")
    tag = of(e.builds()[-1]["args"], "--tag")[0]
    t.ok(e.calls("run") and [c["args"][-1] for c in e.calls("inspect")
                             if "image" in c["args"]][-1] == tag,
         "the image that was built is used", r.stderr)
    test_clone(e, tag)


def test_clone(e, tag):
    """A clone's own path is new each time: the repository's counts, whose file
    the user has seen. What the clone says is of no effect."""
    def clone(source):
        return subprocess.run(
            [*e.prefix, h.program("icctl"), "start", "--runtime", "docker",
             "--clone", source, "--image", "devcontainer", "claude-code",
             "Say a word."], env=e.env, text=True, capture_output=True,
            stdin=subprocess.DEVNULL, timeout=60 * h.PATIENCE, check=False)
    top = e.s.workspace
    git = ["git", "-C", top, "-c", "user.name=a", "-c", "user.email=a@b"]
    for args in (["init", "-q", "-b", "main"], ["add", "-A"],
                 ["commit", "-qm", "one"]):
        subprocess.run([*git, *args], check=True, env=e.env)
    before = len(e.calls("run"))
    r = clone(top + "#main")
    asked = [c["args"][-1] for c in e.calls("inspect") if "image" in c["args"]]
    t.ok(asked[-1] == tag and len(e.calls("run")) > before,
         "a clone has the image of its repository", r.stderr)
    e.answer(image=None)
    r = clone(top)
    t.ok(r.returncode == 78 and "icctl image build --devcontainer claude-code "
         "--workspace" in r.stderr and "--runtime docker" in r.stderr,
         "or it is said how to build that", r.stderr)
    r = clone("https://example.com/x")
    t.ok(r.returncode == 78 and "Clone it yourself" in r.stderr,
         "a URL has none", r.stderr)


def main():
    for test in (test_image, test_dockerfile, test_keys, test_refused,
                 test_files, test_limits, test_disk, test_start):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


if __name__ == "__main__":
    main()
