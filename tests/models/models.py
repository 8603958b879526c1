#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Checks the models of this directory with Spin, over all interleavings, and that
each mutant of a model (a guard that is left out) fails. A mutant that passes
means that the model does not look at what the guard is for."""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
from tap import Tap  # noqa: E402

MODELS = {
    "approvals": [["NO_DIGEST", "NO_CHECK_AT_HUB"], ["NO_REMAKE"], ["TWICE"],
                  ["NO_EXPIRY"], ["PASS_FIRST"]],
    "release": [["SEND_FIRST"], ["FAIL_OPEN"], ["NO_LIMIT"], ["CREDIT_EARLY"],
                ["TWICE"], ["FORGET"]],
    "rotate": [["TELL_FIRST"], ["NO_SETTLE"], ["EFFECT_FIRST"], ["RENAME_ONCE"]],
}


def errors(model, defines, work):
    """Returns the number of errors that Spin finds, and what it printed."""
    words = [f"-D{d}" for d in defines]
    subprocess.run(["spin", *words, "-a", os.path.join(HERE, model + ".pml")],
                   cwd=work, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["gcc", "-w", "-O1", "-DSAFETY", "-DCOLLAPSE", "-o", "pan",
                    "pan.c"], cwd=work, check=True)
    # All interleavings: a search that is cut short is no proof.
    r = subprocess.run(["./pan", "-m1000000", "-c1"], cwd=work, text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       check=False)
    found = [line for line in r.stdout.splitlines() if "errors: " in line]
    if not found or "max search depth too small" in r.stdout:
        return None, r.stdout
    return int(found[0].split("errors: ")[1].split()[0]), r.stdout


def main():
    if not shutil.which("spin"):
        print("1..0 # SKIP spin is not here: apt-get install spin")
        return 0
    t = Tap()
    with tempfile.TemporaryDirectory() as work:
        for model, mutants in MODELS.items():
            n, said = errors(model, [], work)
            t.ok(n == 0, f"{model}: no interleaving breaks it", said)
            for mutant in mutants:
                n, said = errors(model, mutant, work)
                t.ok(n is not None and n > 0,
                     f"{model} without a guard fails: {' '.join(mutant)}", said)
    return t.done()


if __name__ == "__main__":
    sys.exit(main())
