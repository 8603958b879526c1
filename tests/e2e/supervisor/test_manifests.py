#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The manifests for Kubernetes are checked against its published schemas, and
each name of a member against the table of its official client. Each manifest is
also changed in ways that must be found, so that the check is one."""
import glob
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
MODULES = os.path.join(os.environ.get("IC_MANIFESTS", ""), "node_modules")
CHECK = os.path.join(h.STANDINS, "manifests.mjs")
SHIPPED = os.path.join(h.PREFIX, "share", "ironcurtain", "engines",
                       "kubernetes")
# A name that is not known, a value of another type, and one that is missing.
CHANGES = (("restartPolicy:", "restartPolicies:"),
           ("containers:", "container:"),
           ("readOnlyRootFilesystem:", "readOnlyRootFileSystem:"),
           ("runAsUser: 1000", "runAsUser: some"),
           ("mountPath:", "mountPaths:"),
           ("podSelector:", "podSelectors:"),
           ("port: 53", "port: [53]"))


def check(path):
    return subprocess.run(["node", CHECK, MODULES, path], capture_output=True,
                          text=True, timeout=60 * h.PATIENCE, check=False)


def main():
    if not os.path.isdir(os.path.join(MODULES, "kubernetes-models")):
        t.skip("the schemas of Kubernetes cannot be had from npm")
        t.done()
        return
    files = sorted(glob.glob(os.path.join(SHIPPED, "*.yaml")))
    t.ok(len(files) >= 4, "there are manifests", files)
    for path in files:
        name = os.path.basename(path)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        r = check(path)
        t.equal((r.returncode, r.stdout), (0, ""), f"{name} is valid")
        for old, new in CHANGES:
            if not re.search(rf"^[^#]*{re.escape(old)}", text, re.M):
                continue
            with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
                f.write(text.replace(old, new))
                f.flush()
                r = check(f.name)
            t.ok(r.returncode == 1 and r.stdout, f"{name}: {new} is found", r)
    t.done()


if __name__ == "__main__":
    main()
