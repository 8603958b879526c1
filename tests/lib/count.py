# SPDX-License-Identifier: ISC
"""Counts a meson testlog.json: "passed failed skipped", subtests of TAP included."""
import json
import re
import sys

passed = failed = skipped = 0
with open(sys.argv[1], encoding="utf-8") as log:
    for line in log:
        test = json.loads(line)
        out = test.get("stdout", "")
        good = len(re.findall(r"^ok \d", out, re.M))
        bad = len(re.findall(r"^not ok \d", out, re.M))
        skip = len(re.findall(r"^ok \d.*# SKIP", out, re.M))
        if test["result"] == "SKIP":
            skipped += 1
        elif test["result"] in ("OK", "EXPECTEDFAIL"):
            passed += max(good - skip, 1)
            skipped += skip
        else:
            passed += good - skip
            failed += max(bad, 1)
print(passed, failed, skipped)
