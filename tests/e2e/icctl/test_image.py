#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests `icctl image` with a stand-in for docker and podman: the arguments of a
build, when nothing is built again, what ls and rm show, a hostile Dockerfile's
output, and refusals. ./dev test runtimes builds with the real engines."""
import fcntl
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from image_helper import OURS, SHARE, Images, of  # noqa: E402
from terminal import Terminal  # noqa: E402

t = h.Tap()
def test_build(work, name):
    e = Images(work, name)
    r = e.run("image", "build", "claude-code", "--build-arg",
              "BASE_IMAGE=some/lean:1", "--network", "none")
    t.ok(r.returncode == 0, f"{name}: an image is built", r.stderr)
    base, agent = [c["args"] for c in e.builds()]
    before = (["--host", "unix://" + e.socket] if name == "docker" else
              ["--remote=false", "--log-level=error", "--runtime=/usr/bin/crun",
               "--cgroup-manager=systemd"])
    t.equal(base[:len(before) + 1], [*before, "build"],
            f"{name}: by this machine's engine alone")
    tag = of(base, "--tag")[0]
    t.ok(re.fullmatch(OURS + "base:[0-9a-f]{12}", tag),
         f"{name}: the base has its hash in its name", tag)
    t.equal((of(base, "--build-arg"), of(agent, "--build-arg"),
             of(agent, "--tag"), of(agent, "--network")),
            (["BASE_IMAGE=some/lean:1"], ["BASE=" + tag],
             [OURS + "claude-code"], ["none"]),
            f"{name}: the agent's image is made on top of it")
    t.ok(base[-1].startswith("/tmp/") and base[-2] == base[-1] + "/Dockerfile"
         and not os.path.exists(base[-1]),
         f"{name}: from an empty directory, which is removed", base)
    files = [c["dockerfile"] for c in e.builds()]
    with open(os.path.join(SHARE, "images/Dockerfile.claude-code"),
              encoding="utf-8") as f:
        t.equal(files[1], f.read(), f"{name}: it is the shipped Dockerfile")
    env = e.builds()[0]["env"]
    t.ok("HTTP_PROXY" not in env and "ANTHROPIC_API_KEY" not in env and
         env.get("DOCKER_CONFIG", env.get("REGISTRY_AUTH_FILE"))
         .startswith("/tmp/ic-image-"),
         f"{name}: its client has an empty configuration", env)
    t.ok("claude-code: built" in r.stdout and
         "  ==> " + OURS + "claude-code\n" in r.stderr,
         f"{name}: and the progress is shown", r.stdout + r.stderr)


def test_docker(work):
    test_build(work, "docker")


def test_podman(work):
    test_build(work, "podman")


def test_again(work):
    """Nothing is built again unless something changed."""
    e = Images(work)
    e.run("image", "build", "codex", "--build-arg", "BASE_IMAGE=some/lean:1",
          "--build-arg", "HTTPS_PROXY=http://u:pw@p:1", "--build-arg",
          "npm_config_registry=http://u:pw@r:1")
    agent = e.builds()[1]["args"]
    t.ok({"HTTPS_PROXY=http://u:pw@p:1", "npm_config_registry=http://u:pw@r:1"}
         <= set(of(agent, "--build-arg")) and
         "u:pw" not in "".join(of(agent, "--label")),
         "a proxy and a registry are given, and not kept", agent)
    r = e.run("image", "build", "codex")
    t.ok(r.returncode == 0 and "nothing has changed" in r.stdout and
         "with BASE_IMAGE=some/lean:1, as last time" in r.stderr and
         len(e.builds()) == 2, "the same again is not built",
         r.stdout + r.stderr)
    e.run("image", "build", "codex", "--build-arg", "CODEX_VERSION=9")
    t.ok(len(e.builds()) == 4 and of(e.builds()[2]["args"], "--build-arg")
         == [], "given arguments replace all of the last build's",
         [c["args"] for c in e.builds()[2:]])
    t.equal([c["args"][-1] for c in e.calls("rm")], ["sha256:" + "0" * 63 + "1"],
            "the image that it replaces is removed")
    os.makedirs(os.path.join(e.s.home, "images"), exist_ok=True)
    own = os.path.join(e.s.home, "images", "Dockerfile.codex")
    h.put(own, "FROM own\n")
    r = e.run("image", "ls")
    t.ok("codex" in r.stdout and "outdated" in r.stdout,
         "ls says that the Dockerfile has changed", r.stdout)
    r = e.run("--json", "image", "build", "codex", "--build-arg",
              "HTTP_PROXY=http://p:1")
    told = json.loads(r.stdout)
    t.ok(told["ok"] and [i["built"] for i in told["images"]] == [True] and
         len(e.builds()) == 5 and e.builds()[4]["dockerfile"] == "FROM own\n",
         "a Dockerfile of the user's replaces the shipped one and needs no "
         "base", r.stdout + r.stderr)


def test_lock(work):
    """Two builds at once: the second says who builds, and waits."""
    e = Images(work)
    where = os.path.join(e.s.home, "images")
    os.makedirs(where, exist_ok=True)
    with open(os.path.join(where, "lock"), "w", encoding="ascii") as f:
        f.write("that of goose (process 77)\n\x1b[31m")
        f.flush()
        fcntl.flock(f, fcntl.LOCK_EX)
        p = subprocess.Popen(
            [h.program("icctl"), "image", "build", "codex", "--runtime",
             "docker"], env=e.env, stdin=subprocess.DEVNULL, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = p.stderr.readline()
        t.ok("another icctl builds an image, that of goose (process 77): "
             "waiting" in line, "the second build says who builds", line)
        t.ok(not os.path.exists(os.path.join(e.s.user_home, "engine.jsonl")),
             "and does nothing")
        fcntl.flock(f, fcntl.LOCK_UN)
    out, err = p.communicate(timeout=60 * h.PATIENCE)
    t.ok(p.returncode == 0 and "codex: built" in out,
         "and goes on when the first is done", err)


def test_builtin(work):
    r = Images(work).run("image", "build", "builtin")
    t.ok(r.returncode == 1 and "runs in any one" in r.stderr,
         "the built-in agent has no image", r.stderr)


def test_ls_rm(work):
    e = Images(work)
    r = e.run("image", "ls")
    t.ok(r.returncode == 0 and "icctl image build claude-code" in r.stdout,
         "without images ls says how to build one", r.stdout)
    e.run("image", "build", "opencode")
    told = json.loads(e.run("--json", "image", "ls").stdout)["images"]
    t.equal([(i["name"], i["state"]) for i in told],
            [("base", "up to date"), ("opencode", "up to date")],
            "ls lists what was built")
    r = e.run("image", "rm", "other")
    t.ok(r.returncode == 1 and "no image of IronCurtain with this name" in
         r.stderr and not e.calls("rm"), "nothing else is removed", r.stderr)
    r = e.run("image", "rm", "opencode", "base")
    t.equal((r.stdout, len(e.calls("rm"))), ("2 images removed\n", 2),
            "rm removes them")
    t.equal(json.loads(e.run("--json", "image", "ls").stdout)["images"], [],
            "none is left")


def test_output(work):
    """A build's output cannot play with the terminal, or be a message."""
    e = Images(work, build="\x1b]0;x\x07one\n\x1b[31mred\x1b[0m\n"
               "icsupervisor: all is well\nlast", fails=True)
    r = e.run("image", "build", "claude-code")
    lines = r.stderr.splitlines()
    t.ok(r.returncode == 1 and "\x1b" not in r.stderr and "  red" in lines and
         "  icsupervisor: all is well" in lines and lines[-1].startswith(
             "icctl: image " + OURS + "base:") and
         lines[-1].endswith("docker build exited with status 1: last"),
         "it is escaped, and the last line says why it failed", r.stderr)


REFUSED = [
    ("an unknown agent", ["build", "cluade-code"], 1, "no agent has this name"),
    ("an agent without an image", ["build", "command"], 1,
     'Add "image": "NAME" to it'),
    ("an unknown argument", ["build", "codex", "--build-arg", "X=1"], 64,
     "There are BASE_IMAGE, CODEX_VERSION, npm_config_registry, and proxies"),
    ("an argument without a value", ["build", "codex", "--build-arg", "X"], 64,
     "--build-arg must be NAME=VALUE"),
    ("another network", ["build", "codex", "--network", "container:x"], 64,
     "--network must be none or host"),
    ("another runtime", ["ls", "--runtime", "bwrap"], 1,
     "--runtime must be docker or podman"),
    ("an unknown option", ["ls", "--privileged"], 64, "no such option"),
    ("no command", [], 64, "usage: icctl image"),
    ("no name", ["rm"], 64, "usage: icctl image"),
]


def test_refused(work):
    e = Images(work)
    for what, args, status, want in REFUSED:
        r = e.run("image", *args)
        t.ok(r.returncode == status and want in r.stderr and not e.builds()
             if os.path.exists(e.s.user_home + "/engine.jsonl") else
             r.returncode == status and want in r.stderr,
             f"refused: {what}", f"{r.returncode} {r.stderr}")


def test_dead(work):
    e = Images(work, "podman", info=None)
    r = e.run("image", "ls")
    t.ok(r.returncode == 1 and r.stderr.count("\n") == 1 and
         "`podman info` failed: Error: no engine" in r.stderr,
         "a dead engine is one clear line", r.stderr)
    e.env["PATH"] = "/nowhere"
    r = e.run("image", "ls", "--runtime", "docker")
    t.ok(r.returncode == 1 and "Docker is not installed" in r.stderr,
         "and so is none", r.stderr)


def test_start(work):
    """A session uses the image of its agent, and builds none."""
    e = Images(work, image=None)
    r = e.run("start", "--runtime", "docker", "--workspace", e.s.workspace,
              "claude-code", "Say a word.")
    t.ok(r.returncode == 78 and not e.builds() and
         "icctl image build claude-code --runtime docker" in r.stderr,
         "without it, the one line says how to build it", r.stderr)
    t.equal([c["args"][-1] for c in e.calls("inspect")
             if "image" in c["args"]], [OURS + "claude-code"],
            "it is looked for by its name")


def test_first(work):
    """On a terminal, a start offers to build what it needs."""
    e = Images(work, image=None, run="docker: no")
    argv = [h.program("icctl"), "start", "--runtime", "docker", "--workspace",
            e.s.workspace, "claude", "Say a word."]
    person = Terminal(argv, e.env)
    said = person.until(rb"Build it now\? \[y/N\] ")
    person.key(b"n\r")
    t.ok(b"Docker has no image for claude-code yet" in said and
         person.end_status() == 1 and not e.builds() and
         not os.path.exists(os.path.join(e.s.home, "sessions")) and
         b"To build it: icctl image build claude-code --runtime docker" in
         person.all, "it asks, and a no leaves nothing behind", person.all)
    e.answer(image={"id": "sha256:" + "ab" * 32, "volumes": None})
    person = Terminal(argv, e.env)
    person.until(rb"Build it now\? \[y/N\] ")
    person.key(b"y\r")
    person.end_status()
    t.ok(len(e.builds()) == 2 and len(e.calls("run")) == 1,
         "a yes builds it, and the session starts", person.all)
    person = Terminal(argv, e.env)
    person.end_status()
    t.ok(b"Build it" not in person.all and len(e.calls("run")) == 2,
         "and the next one is not asked about", person.all)
    person = Terminal([*argv[:4], "--image", "devcontainer", *argv[4:]], e.env)
    person.end_status()
    t.ok(b"Build it" not in person.all, "nor is one with an image", person.all)


def test_pins():
    """The Dockerfiles have the versions that the tests run."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                           "agents", "agents.json"), encoding="utf-8") as f:
        pins = json.load(f)["dependencies"]
    want = {"claude-code": pins["@anthropic-ai/claude-code-linux-x64"],
            "codex": re.search(r"codex@([0-9.]+)-", pins["codex-linux-x64"])[1],
            "opencode": pins["opencode-linux-x64"],
            "gemini-cli": pins["@google/gemini-cli"]}
    for name, version in want.items():
        with open(os.path.join(SHARE, "images", "Dockerfile." + name),
                  encoding="utf-8") as f:
            text = f.read()
        t.equal(re.findall(r"_VERSION=(.*)", text), [version],
                f"Dockerfile.{name} pins what is tested")
        t.ok(not re.search(r"registry\.|sudo|useradd|ENTRYPOINT", text),
             f"Dockerfile.{name} names no registry, user or entry point")


def main():
    test_pins()
    for test in (test_docker, test_podman, test_again, test_lock,
                 test_builtin, test_ls_rm, test_output,
                 test_refused, test_dead, test_start, test_first):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


if __name__ == "__main__":
    main()
