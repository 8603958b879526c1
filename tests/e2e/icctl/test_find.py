#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Which session icctl is about: the only one, or the one that --session names
by its directory, its id, or a part of the id that no other session has."""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
FIRST, SECOND, ENDED = "20261122-120510-aa17", "20261122-120511-bb17", \
    "20261122-090000-aa99"


def session(work, name, **more):
    where = os.path.join(work, "home", "sessions", name)
    return h.Session(work, session_dir=where, **more)


def named(s, part):
    """Returns the id of the session that this part means, or the refusal."""
    r = subprocess.run([h.program("icctl"), "--json", "--session", part,
                        "status"], env=s.env, capture_output=True, text=True,
                       timeout=60, check=False)
    return json.loads(r.stdout)["session"] if r.returncode == 0 else r


def test_parts(first, work):
    t.equal(named(first, "aa17"), FIRST, "a part of the id")
    t.equal(named(first, "120511"), SECOND, "any part")
    t.equal(named(first, FIRST), FIRST, "or all of it")
    r = named(first, "17")
    t.equal((r.returncode, sorted(r.stderr.splitlines())), (3, sorted([
        "icctl: \"17\" is in the ids of 2 sessions; say more of it:",
        "  " + FIRST, "  " + SECOND])), "a part of two ids is refused")
    r = named(first, "aa")
    t.ok(r.returncode == 3 and ENDED in r.stderr and FIRST in r.stderr,
         "a session that has ended counts", r)
    r = named(first, "cc")
    t.equal((r.returncode, r.stderr),
            (3, "icctl: no session has \"cc\" in its id, and there is no "
             "directory of that name. Their ids: icctl ls\n"),
            "a part of none")
    r = named(first, work + "/nowhere")
    t.equal((r.returncode, r.stderr),
            (3, f"icctl: there is no directory {work}/nowhere\n"),
            "a directory that is not there")


def test_several(first, hold, work):
    def icctl(*args):
        return subprocess.run([h.program("icctl"), *args], env=first.env,
                              capture_output=True, text=True, timeout=60,
                              check=False)

    r = icctl("show", hold)
    t.ok(r.returncode == 0 and hold in r.stdout,
         "the id of a pending call says which session is meant", r)
    r = icctl("approve", "zzzz")
    lines = r.stderr.splitlines()
    t.equal((r.returncode, lines[0]),
            (3, "icctl: several sessions run; say which with --session, by "
             "its id or a part of it that no other has:"),
            "none is chosen when several run")
    t.equal(sorted(lines[1:]), sorted([
        f"  {FIRST}  none  {work}/workspace  1 pending: {hold}",
        f"  {SECOND}  none  {work}/workspace"]),
        "each with agent, workspace and the ids of its pending calls")


def main():
    with h.workdir() as work:
        log = os.path.join(work, "log", "echo.jsonl")
        servers = {"echo": h.echo_server(log)}
        for part in ("home", "home/sessions", "home/sessions/" + ENDED):
            os.mkdir(os.path.join(work, part), 0o700)
        with session(work, FIRST, servers=servers, rules=[
                h.rule("ask", "escalate")],
                annotations={"echo": h.ECHO_TOOLS}) as first, \
                session(work, SECOND, servers=servers):
            m = first.client()
            call = m.start_call("echo__echo", {"text": "x"})
            hold = first.held()["id"]
            test_parts(first, work)
            test_several(first, hold, work)
            out = first.icctl("status").stdout
            t.contains(out, f"pending     1 for you to answer (icctl watch): "
                       f"{hold}\n", "icctl status names the pending calls")
            r = subprocess.run([h.program("icctl"), "deny", hold],
                               env=first.env, capture_output=True, text=True,
                               timeout=60, check=False)
            t.ok(r.returncode == 0 and call.wait().get("isError"),
                 "and it is answered without --session", r)
            m.close()
    t.done()


if __name__ == "__main__":
    main()
