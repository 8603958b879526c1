#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The settings of pod.yaml, as a container of Docker: an unprivileged user in a user
namespace, no capability, no new privileges, a read-only root, a secret that root
owns, and the seccomp profile that seccomp-profile makes. The demo runs in it, and a
call is approved by `docker exec`.

usage: pod.py BUILD USER

Runs as root, and makes an image of the distribution's packages, once."""
import json
import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
import runtimes  # noqa: E402
from tap import Tap  # noqa: E402

UID = 1000
PACKAGES = ("python3", "ca-certificates", "bubblewrap", "openssl", "libjson-c5",
            "libbsd0", "libseccomp2", "libssl3", "libnghttp2-14", "libzstd1",
            "zlib1g", "libncursesw6", "libvterm0", "libmicrohttpd12",
            "libcurl3-gnutls", "libcurl4")
SECCOMP = "/usr/share/containers/seccomp.json"
# A session in the container, whose call waits.
WAITS = r"""
import json, os, sys
sys.path.insert(0, "/tests/lib")
import harness as h
with h.workdir() as work:
    s = h.Session(work, {"echo": h.echo_server(os.path.join(work, "log", "l"))},
                  [h.rule("ask", "escalate", server=["echo"])],
                  {"echo": h.ECHO_TOOLS})
    with s:
        call = s.client().start_call("echo__echo", {"text": "by exec"})
        hold = s.held()
        print(json.dumps({"dir": s.dir, "id": hold["id"],
                          "digest": hold["digest"]}), flush=True)
        print(json.dumps(h.text_of(call.wait())), flush=True)
"""
t = Tap()


def words(work, name):
    """Returns the options that pod.yaml's members become."""
    room = f"rw,nosuid,nodev,exec,mode=700,uid={UID},gid={UID}"
    return ["--rm", "--name", name, "--network", "none", "--user",
            f"{UID}:{UID}", "--read-only", "--cap-drop", "ALL", "--security-opt",
            "no-new-privileges", "--security-opt",
            "seccomp=" + os.path.join(work, "ironcurtain.json"),
            "--security-opt", "systempaths=unconfined",
            *[w for p in ("/state", "/work", "/tmp", "/home/agent")
              for w in ("--tmpfs", f"{p}:{room}")],
            "-v", os.path.join(work, "secret") + ":/secrets:ro",
            "-v", os.path.join(work, "prefix") + ":/usr/local:ro",
            "-v", os.path.join(work, "tests") + ":/tests:ro",
            "-e", "HOME=/home/agent", "-e", "IC_PREFIX=/usr/local",
            "-e", "IC_PATIENCE=3", "-e", "LANG=C.UTF-8", "-w", "/work",
            runtimes.IMAGE]


def run(docker, *args, **kw):
    return subprocess.run([runtimes.DOCKER, "-H", docker.host, *args],
                          capture_output=True, text=True, check=False, **kw)


def test_demo(docker, options):
    r = run(docker, "run", *options, "/usr/bin/python3", "-B",
            "/tests/e2e/demo.py", "--prefix", "/usr/local", timeout=300)
    said = re.findall(r"^ +(yes|NO) +(.*)$", r.stdout, re.M)
    t.ok(r.returncode == 0 and [x for x, _ in said] == ["yes"] * 8,
         "the demo in a container as pod.yaml's: 8 of 8",
         f"{said}\n{r.stdout[-900:]}\n{r.stderr[-900:]}")


def test_exec(docker, options, name):
    with subprocess.Popen(
            [runtimes.DOCKER, "-H", docker.host, "run", *options,
             "/usr/bin/python3", "-B", "-c", WAITS], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True) as p:
        line = p.stdout.readline()
        if not t.ok(line, "a session in the container", "" if line else
                    p.stderr.read()):
            return
        told = json.loads(line)
        inside = run(docker, "exec", name, "cat", "/proc/self/status", "/secrets/key",
                     timeout=60).stdout
        t.ok("NoNewPrivs:\t1" in inside and "CapBnd:\t0000000000000000" in inside
             and "a secret" in inside, "without privileges, with its secret",
             inside)
        r = run(docker, "exec", name, "/usr/local/bin/icctl", "--session",
                told["dir"], "approve", told["id"], "--digest", told["digest"],
                timeout=60)
        t.equal(r.returncode, 0, f"a call is approved by exec: {r.stderr}")
        t.contains(p.stdout.readline(), "by exec", "and is made")
        p.wait(60)


def make(path):
    """Makes the archive of a small Debian, unless it is there."""
    if not os.path.exists(path):
        subprocess.run(["mmdebstrap", "--format=tar", "--variant=minbase", "--quiet",
                        "--include=" + ",".join(PACKAGES), "bookworm",
                        path + ".new"], check=True)
        os.rename(path + ".new", path)


def mapped(user):
    """Returns the uid and gid of the container's root."""
    found = []
    for name in ("/etc/subuid", "/etc/subgid"):
        with open(name, encoding="ascii") as f:
            found += [int(x.split(":")[1]) for x in f if x.startswith(user + ":")][:1]
    return found


def place(source, path, owner):
    """Copies a tree, as the container's root would own it."""
    shutil.copytree(source, path, symlinks=True)
    for at, _, names in os.walk(path):
        for name in (".", *names):
            os.chown(os.path.join(at, name), *owner, follow_symlinks=False)


def main():
    build, user = sys.argv[1:3]
    if not os.path.exists(SECCOMP):
        t.skip("the pod", SECCOMP + " is not there (package podman)")
        t.done()
    owner = mapped(user)
    if len(owner) != 2:
        t.skip("the pod", f"{user} has no range in /etc/subuid")
        t.done()
    tar = build + "/runtimes/pod.tar"
    make(tar)
    work = tempfile.mkdtemp(prefix="ic-pod-")
    os.chmod(work, 0o755)
    place(build + "/stage/usr/local", os.path.join(work, "prefix"), owner)
    place(os.path.join(TOP, "tests"), os.path.join(work, "tests"), owner)
    os.mkdir(os.path.join(work, "secret"))
    key = os.path.join(work, "secret", "key")
    with open(key, "w", encoding="ascii") as f:
        f.write("a secret\n")
    # As fsGroup does: root's file, which the group reads.
    os.chown(key, owner[0], owner[1] + UID)
    os.chmod(key, 0o440)
    with open(os.path.join(work, "ironcurtain.json"), "wb") as f:
        subprocess.run([build + "/stage/usr/local/share/ironcurtain/engines/"
                        "seccomp-profile"], stdout=f, check=True)
    docker = None
    try:
        docker = runtimes.Docker(work, pwd.getpwnam(user),
                                 ["--userns-remap=" + user])
        docker.load(tar)
        with t.case("demo"):
            test_demo(docker, words(work, "ic-pod-demo"))
        with t.case("exec"):
            test_exec(docker, words(work, "ic-pod"), "ic-pod")
    finally:
        if docker is not None:
            docker.end()
        shutil.rmtree(work, ignore_errors=True)
    t.done()


if __name__ == "__main__":
    main()
