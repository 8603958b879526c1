#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Keys that a gateway makes for one session are taken back at its end, by `icctl
close` and by `icctl gc`, by the session's name alone."""
import os
import signal
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
# The stand-in gateway's keys are files; what it was asked is in a log.
SCRIPT = """#!/bin/sh
echo "$*" >>"@/asked"
[ ! -e "@/down" ] || exit 1
[ ! -e "@/down-$1" ] || exit 1
case $1 in
make) echo "sk-ant-api03-made-for-$2-0123456789abcdef" |
  tee "@/keys/$2" ;;
delete) rm "@/keys/$2" ;;
drop) rm "@/keys/$2-2" ;;
esac
"""


class Place:
    def __init__(self, work):
        self.work = work
        self.bin = os.path.join(work, "bin")
        os.makedirs(os.path.join(self.bin, "keys"), mode=0o700)
        self.script = h.put(os.path.join(self.bin, "key"),
                            SCRIPT.replace("@", self.bin), 0o755)

    def session(self, name):
        words = lambda do: [self.script, do, "{session}"]  # noqa: E731
        return h.Session(self.work, config={"credentials": {
            "anthropic": {"command": words("make"),
                          "revoke": words("delete")}}},
            session_dir=os.path.join(self.work, "home", "sessions", name))

    def keys(self):
        return sorted(os.listdir(os.path.join(self.bin, "keys")))

    def asked(self):
        with open(os.path.join(self.bin, "asked"), encoding="utf-8") as f:
            return f.read().splitlines()

    def down(self, is_down):
        path = os.path.join(self.bin, "down")
        if is_down:
            h.put(path, "")
        else:
            os.unlink(path)


def killed(s):
    """Kills every process of the session."""
    pids = [pid for each in s.workers().values() for pid in each]
    os.kill(s.pid, signal.SIGSTOP)
    for pid in [*pids, s.pid]:
        h.kill(pid)
    s.process.p.wait()


def test_end(p):
    with p.session("first"):
        t.equal(p.keys(), ["first"], "a key is made for the session's name")
    t.equal((p.keys(), p.asked()), ([], ["make first", "delete first"]),
            "at the end it is revoked by that name, and no key is told")
    t.ok(not os.path.exists(os.path.join(
        p.work, "home", "sessions", "first", "revoke.json")),
        "nothing remains to be done")


def test_down(p):
    with p.session("second") as s:
        p.down(True)
    t.equal(p.keys(), ["second"], "a gateway that is down keeps the key")
    t.contains(s.session_log(), "icctl close", "the log says what to do")
    r = s.icctl("gc", "--older-than", "0m")
    t.ok("could not be revoked" in r.stdout and os.path.isdir(s.dir),
         "icctl gc keeps what names it", r.stdout + r.stderr)
    p.down(False)
    r = s.icctl("close", s.dir)
    t.equal((r.returncode, p.keys()), (0, []),
            "icctl close does it once the gateway is there")


def test_partly(p):
    """Two keys, of which one cannot be revoked at the end: only that one is
    tried again."""
    s = p.session("both")
    s.config["credentials"]["openai"] = {
        "command": [p.script, "make", "both-2"],
        "revoke": [p.script, "drop", "{session}"]}
    s.write("config.json", s.config)
    with s:
        t.equal(p.keys(), ["both", "both-2"], "two keys")
        h.put(os.path.join(p.bin, "down-drop"), "")
    t.equal(p.keys(), ["both-2"], "one cannot be revoked")
    os.unlink(os.path.join(p.bin, "down-drop"))
    before = len(p.asked())
    r = s.icctl("close", s.dir)
    t.equal((p.keys(), p.asked()[before:]), ([], ["drop both"]),
            "only that one is tried again")
    t.equal(r.returncode, 0, "and icctl close is content")


def test_killed(p):
    for name, verb in (("third", "close"), ("fourth", "gc")):
        s = p.session(name).start()
        killed(s)
        t.equal(p.keys(), [name], "after kill -9 the key is still there")
        r = s.icctl(*(["close", s.dir] if verb == "close" else ["gc"]))
        t.equal((p.keys(), p.asked()[-1]), ([], "delete " + name),
                f"icctl {verb} revokes it")
        t.ok(s.audit("stop") and "killed from outside" in
             str(s.audit("stop")[-1]), f"and closes the log ({verb})",
             r.stdout + r.stderr)


def test_several(p):
    """icctl close takes several directories, as an epilog gives them."""
    both = [p.session(name).start() for name in ("fifth", "sixth")]
    killed(both[0])
    r = both[1].icctl("--json", "close", both[0].dir, both[1].dir)
    t.ok(r.returncode == 1 and '"already":false' in r.stdout and
         "still running" in r.stderr,
         "those that can be closed are; one that runs is named",
         r.stdout + r.stderr)
    both[1].stop()
    t.equal(p.keys(), [], "no key is left")


def main():
    with h.workdir() as work:
        p = Place(work)
        for test in (test_end, test_down, test_partly, test_killed,
                      test_several):
            with t.case(test.__name__):
                test(p)
    t.done()


if __name__ == "__main__":
    main()
