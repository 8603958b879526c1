#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests a system without some layers of confinement: missing ones are reported
everywhere, and a session that requires one does not start."""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
GONE = {"userns", "netns", "ipcns", "utsns", "root", "caps0"}
# Prevents further user namespaces in this one; the host is not changed.
POOR = ["unshare", "-U", "--map-current-user", "--keep-caps", "sh", "-c",
        "echo 0 >/proc/sys/user/max_user_namespaces && "
        "exec setpriv --inh-caps=-all --ambient-caps=-all --bounding-set=-all "
        '"$@"', "sh"]


def poor(s):
    s.argv = POOR + s.argv
    return s


def possible():
    r = subprocess.run([*POOR, "true"], capture_output=True, text=True,
                       check=False)
    return r.returncode == 0, r.stderr.strip()


def refused(s, what, name):
    r = subprocess.run(s.argv, env=s.env, capture_output=True, text=True,
                       timeout=30, check=False)
    t.ok(r.returncode == 71 and f"runs without {what}" in r.stderr and
         "icctl doctor" in r.stderr, name, f"{r.returncode} {r.stderr}")


def test_poor(work):
    s = poor(h.Session(work, {}, [h.rule("no", "deny")], {}))
    with s:
        missing = s.ready["missing"]
        t.ok(set(missing["mitmd"].split()) == GONE, "READY names the layers",
             missing)
        t.ok("root" not in missing["policyd"].split() and
             "netns" in missing["policyd"].split(),
             "but for those that a worker does without by design", missing)
        t.equal(s.process.stderr().count("refuses layers of confinement: "
                "userns netns ipcns utsns root caps0"), 1,
                "one line on standard error")
        t.equal(s.events("start")[0]["detail"]["missing"], missing,
                "the first record names them")
        with open(os.path.join(s.dir, "session.json"),
                  encoding="utf-8") as f:
            t.equal(json.load(f)["missing"], missing, "session.json, too")
        r = s.icctl("status")
        t.contains(r.stdout, "without userns netns", "and icctl status")
    s = poor(h.Session(work, {}, [h.rule("no", "deny")], {},
                       options=["--require", "netns"]))
    refused(s, "netns", "--require refuses to start without one")
    s = poor(h.Session(work, {}, [h.rule("no", "deny")], {}, config={
        "confinement": {"require": "all"}}))
    refused(s, "userns netns", "confinement.require, too")
    s = poor(h.Session(work, {}, [h.rule("no", "deny")], {}, config={
        "confinement": {"require": ["nnp", "landlock:99"]}}))
    refused(s, "landlock", "and so does a version of Landlock")


def test_rich(work):
    """Returns a session with workers of every kind."""
    provider = h.Provider(work)
    s = h.Session(work, {"quiet": {
        "command": "/bin/sleep", "args": ["600"], "sandbox": {"network": {
            "allowedDomains": ["localhost:9"], "allowPrivate": True}}}},
        [h.rule("no", "deny")], {}, provider=provider, config={
            "proxy": {"url": "http://127.0.0.1:9",
                      "credential": {"env": "PROXY_PAIR"}}},
        env={"PROXY_PAIR": "corp:" + "x" * 20},
        options=["--require", "all"])
    with s:
        kinds = {name.split()[0] for name in s.ready["confinement"]}
        t.ok({"dialerd", "tunneld", "egressd", "mcp-backd", "keyd"} <= kinds,
             "all kinds of workers run", kinds)
        got = {x for v in s.ready["missing"].values() for x in v.split()}
        t.ok(got <= {"secretmem"}, "where nothing is refused, all starts", got)
        t.ok("refuses layers" not in s.process.stderr(), "and nothing is said")
    provider.end()


def main():
    can, why = possible()
    for test in (test_poor, test_rich):
        if h.sanitized() or not can:
            t.skip(test.__name__, "sanitized: no filters" if can else
                   f"no user namespace to begin with: {why}")
            continue
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


if __name__ == "__main__":
    main()
