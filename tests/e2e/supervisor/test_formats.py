#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Sessions that earlier versions left (tests/e2e/formats): their logs are
verified, their conversation is shown, and they are resumed."""
import json
import os
import shutil
import socket
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
KEPT = os.path.join(HERE, "..", "formats")
AGENT = "#!/bin/sh\ncat >>/workspace/said\necho done\n"


def read_json(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def place(s, version, workspace):
    """Puts the files into a session directory; only places of this machine
    are changed, none of which is in the log."""
    record = read_json(os.path.join(KEPT, version, "session.json"))
    d = os.path.join(s.home, "sessions", record["session"])
    os.makedirs(os.path.join(d, "home"), mode=0o700)
    os.chmod(d, 0o700)
    for name in os.listdir(os.path.join(KEPT, version)):
        shutil.copy(os.path.join(KEPT, version, name), d)
        os.chmod(os.path.join(d, name), 0o600)
    st = os.stat(workspace)
    record.update(workspace=workspace, workspaceDev=str(st.st_dev),
                  workspaceIno=str(st.st_ino), host=socket.gethostname())
    h.put(os.path.join(d, "session.json"), json.dumps(record), 0o600)
    start = read_json(os.path.join(d, "start.json"))
    start["options"] = [["workspace", workspace]]
    h.put(os.path.join(d, "start.json"), json.dumps(start), 0o600)
    return record["session"], d


def test_version(work, version):
    s = h.Session(work)
    h.put(os.path.join(work, "workspace", "agent.sh"), AGENT, 0o755)
    os.chmod(os.path.join(work, "workspace"), 0o700)
    name, d = place(s, version, os.path.join(work, "workspace"))

    def icctl(*args, want=0):
        r = s.icctl(*args)
        t.ok(r.returncode == want, f"{version}: icctl {' '.join(args)}",
             r.stdout + r.stderr)
        return r.stdout

    t.ok(json.loads(icctl("--json", "audit", "verify", d))["closed"],
         f"{version}: its log is whole")
    t.contains(icctl("ls"), name, f"{version}: it is listed")
    t.contains(icctl("--session", name, "history"), "two",
               f"{version}: its messages are shown")
    icctl("resume", "--detach", name, "--", "/workspace/agent.sh")
    try:
        icctl("--session", name, "send", "three")
    finally:
        icctl("--session", name, "stop")
    s.dir = d
    t.equal([e["detail"]["turn"] for e in s.events("turn")], [1, 2, 3],
            f"{version}: the new run counts on in the same log")
    t.ok(json.loads(icctl("--json", "audit", "verify", d))["closed"],
         f"{version}: which is whole again")


def main():
    if not shutil.which("bwrap"):
        t.skip("formats", "bubblewrap is not installed")
        t.done()
    for version in sorted(x for x in os.listdir(KEPT) if x != "README.md"):
        with h.workdir() as work, t.case(version):
            test_version(work, version)
    t.done()


if __name__ == "__main__":
    main()
