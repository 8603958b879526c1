#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Says which programs use no library that MemorySanitizer cannot see into: it
reports what such a library has written as not initialized.

usage: pure.py PROGRAM...      prints those of them
       pure.py --tests BUILD   prints the names of tests that are such programs,
                               in the suites unit, replay and hostile
       pure.py --valgrind BUILD  prints those of the suite unit that are programs

libc is seen through the sanitizer, libbsd through msan.c; libseccomp, the resolver
and the library of the fuzzer write only memory of their own."""
import json
import os
import subprocess
import sys

SEEN = ("linux-vdso.", "ld-linux", "libc.", "libm.", "libbsd.", "libmd.", "libseccomp.",
        "libresolv.", "libstdc++.", "libgcc_s.", "libpthread.", "librt.", "libdl.")


# Tests that have libseccomp compare memory of its own.
UNSEEN = {"bpf"}

# Tests whose subject is a limit of descriptors, which valgrind applies itself, and
# after the call: see valgrind.sh.
LIMITED = {"mitm_full", "spare"}


def is_pure(program):
    r = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    names = [os.path.basename(line.split()[0]) for line in r.stdout.splitlines() if line.strip()]
    return r.returncode == 0 and all(n.startswith(SEEN) for n in names)


def main(*args):
    if args[0] not in ("--tests", "--valgrind"):
        print(*(p for p in args if is_pure(p)), sep="\n")
        return
    said = subprocess.run(["meson", "introspect", args[1], "--tests"], check=True,
                          capture_output=True, text=True).stdout
    for test in json.loads(said):
        suites = {s.split(":")[-1] for s in test["suite"]}
        with open(test["cmd"][0], "rb") as f:
            program = f.read(4) == b"\x7fELF" and test["cmd"][0].startswith(
                os.path.abspath(args[1]) + "/")
        if args[0] == "--valgrind":
            wanted = "unit" in suites and test["name"] not in LIMITED
        else:
            wanted = suites & {"unit", "replay", "hostile"} and program and \
                test["name"] not in UNSEEN and is_pure(test["cmd"][0])
        if wanted and program:
            print(test["name"])


main(*sys.argv[1:])
