#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Compares the signer with a second implementation: 3,000 requests of every
shape that keyd may send, and some that it may not. argv[1]: test_sigv4."""
import os
import random
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "lib", "standins"))
import sigv4  # noqa: E402

WORD = "abcXYZ019._:-"
VALUE = [chr(c) for c in range(0x21, 0x7f)] + [" "] * 30


def text(r, alphabet, low, high):
    return "".join(r.choice(alphabet) for _ in range(r.randint(low, high)))


def request(r):
    path = "".join("/" + text(r, list(WORD) + ["%3A", "%2F", "@"], 1, 30)
                   for _ in range(r.randint(1, 6)))
    query = "&".join(f"{text(r, WORD, 1, 9)}={text(r, WORD, 0, 9)}"
                     for _ in range(r.randint(0, 6)))
    names = {text(r, "abcxyz-", 1, 12) for _ in range(r.randint(0, 12))}
    fields = [("host", "bedrock-runtime.us-west-2.amazonaws.com")]
    fields += [(n, text(r, VALUE, 0, 40)) for n in sorted(names)
               if n != "host"]
    r.shuffle(fields)
    return (text(r, "AKID0123456789", 16, 40), text(r, VALUE, 1, 90).strip()
            or "k", r.choice(["us-west-2", "eu-central-1"]), "bedrock",
            r.choice(["GET", "POST"]), r.choice(["", "/gateway/x"]), path,
            query, "20261122T041002Z", text(r, "0123456789abcdef", 64, 64),
            fields)


def main():
    r = random.Random(20261122)
    cases = [request(r) for _ in range(3000)]
    lines = "".join("\t".join([*c[:10], *[x for f in c[10] for x in f]]) +
                    "\n" for c in cases)
    out = subprocess.run([sys.argv[1], "--sign"], input=lines, text=True,
                         capture_output=True, check=True).stdout.splitlines()
    bad = 0
    for c, got in zip(cases, out):
        want = sigv4.authorization(c[0], c[1], c[2], c[3], c[4], c[5] + c[6],
                                   c[7], c[8], c[9], c[10])
        if got != want:
            bad += 1
            if bad < 4:
                print(f"# {c}\n# got  {got}\n# want {want}")
    print("1..2")
    print(f"{'ok' if len(out) == len(cases) else 'not ok'} 1 - "
          f"{len(out)} of {len(cases)} were signed")
    print(f"{'ok' if bad == 0 else 'not ok'} 2 - {bad} differ from the second "
          "implementation")


main()
