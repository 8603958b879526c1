#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""An upgrade beneath a running session: all programs are replaced, those of
libexec by some that cannot work, and the session goes on with its own, says
so, and is ended in order by another icctl."""
import json
import os
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "icctl"))
import harness as h  # noqa: E402
from test_conversation import Talk, texts  # noqa: E402

t = h.Tap()
AGENT = "#!/bin/sh\ncat >>/workspace/said\necho done\n"


def replace(path, make):
    """As a package manager does: a new file takes the name."""
    make(path + ".new")
    os.rename(path + ".new", path)


def other(path):
    h.put(path, "#!/bin/sh\nexit 99\n", 0o755)


def link(old, new):
    """A copy that is never written to."""
    try:
        os.link(old, new)
    except OSError:
        shutil.copy(old, new)


def copy_of(path):
    return lambda new: shutil.copy(path, new)


def upgrade(prefix, libexec):
    for name in os.listdir(libexec):
        replace(os.path.join(libexec, name), other)
    for name in ("icctl", "icsupervisor"):
        path = os.path.join(prefix, "bin", name)
        replace(path, copy_of(path))


def test_upgrade(work, prefix, libexec):
    h.put(os.path.join(work, "workspace", "agent.sh"), AGENT, 0o755)
    os.chmod(os.path.join(work, "workspace"), 0o700)
    with Talk(work, "--", "/workspace/agent.sh") as k:
        t.ok(k.started.returncode == 0, "a session starts", k.started.stderr)
        t.ok("done" in texts(k.send("one")[1]), "and takes a turn")
        status = json.loads(k.icctl("--json", "status").stdout)
        t.ok("upgraded" not in status, "nothing is said of an upgrade", status)
        before = len(k.s.events("checkpoint"))
        kept = {name: os.path.join(work, "kept", name) for name in os.listdir(libexec)}
        os.makedirs(os.path.join(work, "kept"))
        for name, to in kept.items():
            os.link(os.path.join(libexec, name), to)
        upgrade(prefix, libexec)
        h.put(os.path.join(work, "workspace", "new"), "x")
        t.ok("done" in texts(k.send("two")[1]), "a turn after the upgrade")
        h.wait_for(lambda: len(k.s.events("checkpoint")) > before,
                   "no checkpoint: ic-snap is another program")
        t.ok(True, "programs that the session starts later are its own")
        status = json.loads(k.icctl("--json", "status").stdout)
        t.equal(status.get("upgraded"), True, "status says so, as JSON")
        r = k.icctl("status")
        t.contains(r.stdout, "those that the session began with",
                   "and to a person")
        for name, old in kept.items():
            replace(os.path.join(libexec, name), lambda new, old=old: os.link(old, new))
        r = k.icctl("stop")
        t.ok(r.returncode == 0, "another icctl ends it", r.stderr)
    end, = k.s.events("stop")
    t.ok(not k.s.events("workerStopped") + k.s.events("workerEnd"),
         "in order, and with all its workers", end)


def main():
    if not shutil.which("bwrap"):
        t.skip("upgrade", "bubblewrap is not installed")
        t.done()
    with h.workdir() as work:
        prefix = os.path.join(work, "installed")
        shutil.copytree(h.PREFIX, prefix, copy_function=link)
        h.PREFIX = prefix
        test_upgrade(work, prefix, os.path.join(prefix, "libexec", "ironcurtain"))
    t.done()


if __name__ == "__main__":
    main()
