#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Variables of the TypeScript IronCurtain: a start names what to do instead of
each that is set. Its commands, options and keys are in bad_args.py and
bad_config.py."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from started import Place  # noqa: E402

t = h.Tap()
NAMES = {"ALLOWED_DIRECTORY": "--workspace DIR",
         "AUDIT_LOG_PATH": "--session-dir DIR",
         "PROXY_SOCKET_PATH": "sockets/proxy.sock"}


def start(p, env):
    r = subprocess.run(
        [h.program("icctl"), "start", "--workspace", p.project, "--", "true"],
        env={**p.env, **env}, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=60 * h.PATIENCE, check=False)
    t.equal(r.returncode, 0, "the session runs")
    return r.stderr.splitlines()


def main():
    with h.workdir() as work:
        p = Place(work)
        said = start(p, {name: "/x" for name in NAMES})
        for name, instead in NAMES.items():
            t.ok(any(f"{name} has no effect here" in line and instead in line
                     for line in said), name, said)
        said = start(p, {})
        t.ok(not any("has no effect here" in line for line in said),
             "without them nothing is said", said)
    t.done()


main()
