#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""`icctl doctor --attack IMAGE` in one real engine, which IC_RUNTIME names: the
break-out test is made in a container of that image, and all of it holds."""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
NAME = os.environ["IC_RUNTIME"]


def doctor(image):
    env = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"],
           "LANG": "C.UTF-8", **json.loads(os.environ["IC_ENGINE_ENV"])}
    r = subprocess.run(
        [h.program("icctl"), "--json", "doctor", "--attack", image], env=env,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd="/",
        timeout=180 * h.PATIENCE, check=False)
    told = json.loads(r.stdout)
    return told, [c for c in told["checks"] if c["check"] == NAME]


def test_attack(image):
    told, checks = doctor(image)
    t.ok(len(checks) == 1 and checks[0]["result"] == "ok" and
         ", 0 succeeded" in checks[0]["found"],
         "the break-out test runs in a container, and holds", str(checks))
    runs = [a for a in told["attacks"] if a.get("runtime") == NAME]
    t.ok(len(runs) == 1 and len(runs[0]["inside"]) >= 100 and
         len(runs[0]["outside"]) >= 90,
         "attempts are made in the container and on the workers",
         str([(len(a.get("inside", [])), len(a.get("outside", [])))
              for a in runs]))
    lost = [x for a in runs for k in ("inside", "outside", "server")
            for x in a.get(k, []) if not x["held"]]
    t.equal(lost, [], "each attempt is reported as held")


def test_missing():
    _, checks = doctor("ironcurtain-no-such-image")
    t.ok(len(checks) == 1 and checks[0]["result"] == "MISSING" and
         "ironcurtain-no-such-image" in
         checks[0]["found"] + checks[0]["remedy"],
         "an image that is not there is named", str(checks))


def main():
    test_attack(os.environ["IC_IMAGE"])
    test_missing()
    t.done()


if __name__ == "__main__":
    main()
