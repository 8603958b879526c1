# SPDX-License-Identifier: ISC
"""ic-signed checks the signatures of an answer. It has the user's rights,
because it starts sandboxes: here is what it is given of a session, which is
nothing, and that no other program of the user's can change its verdict."""
import json
import os
import re
import socket
import subprocess

import harness
import live

# It notes what it was started with, and goes on as the real one.
SPY = """#!/bin/sh
(ls -l /proc/$$/fd >{note}.fds)
(cat /proc/$$/environ >{note}.environ)
exec {real} "$@"
"""


def spied(work, prefix):
    """Returns programs of which ic-signed notes what it is started with."""
    real = os.path.join(prefix, "libexec", "ironcurtain")
    place = os.path.join(work, "libexec")
    os.makedirs(place)
    for name in os.listdir(real):
        if name != "ic-signed":
            os.symlink(os.path.join(real, name), os.path.join(place, name))
    harness.put(os.path.join(place, "ic-signed"), SPY.format(
        note=os.path.join(work, "note"),
        real=os.path.join(real, "ic-signed")), 0o755)
    return place


def note(work, name):
    with open(os.path.join(work, "note." + name), "rb") as f:
        return f.read()


def test_given(tap, args, work):
    """Looks at what icsupervisor gives it for an answer."""
    os.makedirs(work)
    approvers = harness.put(os.path.join(work, "approvers"),
                            "ann ssh-ed25519 AAAA\n")
    with harness.Session(
            work, {"echo": harness.echo_server(
                os.path.join(work, "log", "log"))},
            [harness.rule("ask", "escalate", server=["echo"])],
            {"echo": harness.ECHO_TOOLS}, prefix=args.prefix,
            config={"approvers": {"file": approvers, "needed": 1}},
            libexecdir=spied(work, args.prefix)) as s:
        s.client().start_call("echo__echo", {"text": "x"})
        hold = s.held()
        with socket.socket(socket.AF_UNIX) as c:
            c.connect(os.path.join(s.dir, "control.sock"))
            c.sendall(json.dumps({
                "op": "approve", "id": hold["id"], "digest": hold["digest"],
                "signed": "eve 1\n"}).encode() + b"\n")
            with c.makefile("rb") as f:
                reply = json.loads(f.readline())
        tap.ok(reply["code"] == "not-signed", "ic-signed: it has checked an "
               "answer", reply)
        tap.equal(note(work, "environ"), b"", "ic-signed: no environment")
        found = dict(re.findall(r" (\d+) -> (.*)\n",
                                note(work, "fds").decode()))
        # The shell has its script open.
        found = {k: v for k, v in found.items()
                 if not v.endswith("/libexec/ic-signed")}
        tap.ok(sorted(found) == ["0", "1", "2", "3"] and
               found["0"].startswith("/memfd:job") and
               found["1"].startswith("pipe:") and
               os.path.basename(found["3"]).startswith("bwrap") and
               not found["2"].startswith("socket:"),
               "ic-signed: its job, its report, messages and bubblewrap, and "
               "no channel of the session's", found)


def test_private(tap, args):
    """Attacks it while it waits for its job."""
    program = os.path.join(args.prefix, "libexec", "ironcurtain", "ic-signed")
    with subprocess.Popen(["/bin/sh", "-c", 'exec 3</bin/sh; exec "$0" answer',
                           program], stdin=subprocess.PIPE, env={}) as p, \
            subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE) as plain:
        harness.wait_for(lambda: live.limits(p.pid)["Max cpu time"][0] == "10",
                         "ic-signed has not begun")
        owners = [os.stat(f"/proc/{x.pid}/mem").st_uid for x in (p, plain)]
        tap.equal(owners, [0, os.geteuid()], "ic-signed: not dumpable, unlike "
                  "another program of the user's")
        lim = live.limits(p.pid)["Max core file size"]
        tap.ok(lim[1] in ("0", "1"), "ic-signed: no core", lim)
        if os.geteuid() != 0:
            tap.equal([readable(x.pid) for x in (p, plain)], [False, True],
                      "ic-signed: its memory is shut for them")
        p.kill()
        plain.kill()


def readable(pid):
    try:
        with open(f"/proc/{pid}/mem", "rb"):
            return True
    except PermissionError:
        return False


def test_signed(tap, args, work):
    test_given(tap, args, work)
    test_private(tap, args)
