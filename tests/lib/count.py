# SPDX-License-Identifier: ISC
"""Counts testlog.json files of meson: prints "passed failed skipped",
including subtests of TAP. If two files have the same test, the last one
counts. With --failed: the names of the tests that failed; with --lines: the
failures in them, one per line."""
import json
import re
import sys


def read(names):
    tests = {}
    for name in names:
        with open(name, encoding="utf-8") as log:
            for line in log:
                test = json.loads(line)
                tests[test["name"]] = test
    return tests


def bad(test):
    return test["result"] not in ("OK", "EXPECTEDFAIL", "SKIP")


def lines(test):
    found = re.findall(r"^not ok \d.*", test.get("stdout", ""), re.M)
    return found or [test["result"].lower()]


def counts(tests):
    passed = failed = skipped = 0
    for test in tests:
        out = test.get("stdout", "")
        good = len(re.findall(r"^ok \d", out, re.M))
        skip = len(re.findall(r"^ok \d.*# SKIP", out, re.M))
        if test["result"] == "SKIP":
            skipped += 1
        elif bad(test):
            passed += good - skip
            failed += len(lines(test))
        else:
            passed += max(good - skip, 1)
            skipped += skip
    return passed, failed, skipped


def main(args):
    mode = args.pop(0) if args[0].startswith("--") else ""
    tests = read(args).values()
    if mode == "--failed":
        print(*(t["name"].rsplit(" / ", 1)[1] for t in tests if bad(t)))
    elif mode == "--lines":
        for t in filter(bad, tests):
            for line in lines(t):
                print(f"{t['name']}: {line}")
    else:
        print(*counts(tests))


main(sys.argv[1:])
