# SPDX-License-Identifier: ISC
"""An mcp-backd that icsupervisor starts during a session, for a server that
serves one approved call: it is as confined as those started at the beginning,
and gets no more than they do."""
import json
import os
import pwd
import subprocess

import harness
import live

SERVER = {"command": harness.PYTHON, "args": [
    os.path.join(harness.STANDINS, "mcp_outside.py"), "hang", "/workspace"],
          "sandbox": {"filesystem": {"allowRead": [harness.STANDINS]}}}
RULES = [harness.rule("ask", "escalate", server=["probe"])]
TOOLS = {"probe": {"look": {"path": ["read-path"]}}}


class Session(harness.Session):
    """A session whose icctl runs as its owner, whoever runs the test."""
    owner = None

    def icctl(self, *args, check=False, timeout=30):
        who = {} if self.owner is None else {
            "user": self.owner.pw_uid, "group": self.owner.pw_gid,
            "extra_groups": []}
        return subprocess.run(
            [harness.program("icctl"), "--session", self.dir, *args],
            env=self.env, capture_output=True, text=True, timeout=timeout,
            check=check, **who)


def session(args, work, user):
    os.makedirs(os.path.join(work, "out"), mode=0o755)
    with open(os.path.join(work, "out", "a"), "w", encoding="utf-8") as f:
        f.write("approved")
    s = Session(work, {"probe": SERVER}, RULES, TOOLS,
                prefix=args.prefix)
    if user:
        s.owner = pwd.getpwnam(user)
        subprocess.run(["chown", "-R", user, work], check=True)
        s.argv = ["/usr/bin/setpriv", f"--reuid={user}",
                  f"--regid={s.owner.pw_gid}",
                  "--clear-groups", "--", *s.argv]
    return s


def approved(s):
    """Makes one call and yields the workers that status lists during it."""
    m = s.client()
    m.start_call("probe__look", {"path": os.path.join(s.work, "out", "a")})
    s.icctl("approve", s.held()["id"], check=True)
    harness.wait_for(lambda: s.events("call"), "it was not called")
    status = json.loads(s.icctl("--json", "status", check=True).stdout)
    return [w for w in status["workers"] if w["name"].startswith("mcp-backd")]


def facts(pid):
    """Checks everything that any user may read about the process."""
    st = live.status(pid)
    with open(f"/proc/{pid}/cmdline", "rb") as f:
        line = f.read()
    return {"line": line, "limits": live.limits(pid),
            "owner": os.stat(f"/proc/{pid}/mem").st_uid,
            **{k: st[k] for k in live.expect_status("mcp-backd")},
            "filters": st.get("Seccomp_filters")}


def inside(pid):
    """Checks everything that only root may read."""
    with open(f"/proc/{pid}/environ", "rb") as f:
        env = f.read().strip(b"\0")
    ours = {n: os.readlink(f"/proc/self/ns/{n}") for n in live.NAMESPACES}
    return {"environment": env, "descriptors": live.classify(
        "mcp-backd", live.descriptors(pid)),
            "namespaces": sorted(n for n in live.NAMESPACES if os.readlink(
                f"/proc/{pid}/ns/{n}") != ours[n])}


def test_instance(tap, args, work, who, user=None):
    with session(args, work, user) as s:
        backs = approved(s)
        tap.equal([b["name"] for b in backs],
                  ["mcp-backd probe", "mcp-backd probe/32"],
                  f"{who}: an mcp-backd for one call")
        first, second = (facts(b["pid"]) for b in backs)
        tap.equal(second, first, f"{who}: as the first one: filter, "
                  "capabilities, limits, not dumpable, no arguments")
        want = live.expect_status("mcp-backd")
        tap.equal({k: second[k] for k in want}, want,
                  f"{who}: which is what every worker has")
        tap.equal(backs[1]["confinement"], backs[0]["confinement"],
                  f"{who}: and what its HELLO says")
        if os.geteuid() != 0:
            return
        first, second = (inside(b["pid"]) for b in backs)
        tap.equal(second, first, f"{who}: environment, descriptors, "
                  "namespaces as the first one")
        tap.equal(second["descriptors"][:2], (4, 2),
                  f"{who}: four channels, two pipes, nothing else")
        tap.equal(second["environment"], b"", f"{who}: no environment")
