#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Many requests at once against a limit that has room for one: one is sent, and
the others are told to come back, whichever provider they go to. When it has
ended, what it did not use can be used again."""
import json
import os
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
ONE = 120  # tokens of one answer of the stand-in
MANY = 20
PRICES = {"models": [{"model": "test-model", "in": 1000, "out": 5000}]}
COST = (100 * 1000 + 20 * 5000) / 1e6
KINDS = {"anthropic": ("api.anthropic.com", "rate_limit_error"),
         "openai": ("api.openai.com", "requests")}


def limits(**given):
    return {"resourceBudget": {**h.NO_BUDGET, **given}}


def used(s, key):
    r = s.icctl("--json", "budget", check=True)
    return json.loads(r.stdout)["budget"]["limits"][key]["used"]


def at_once(s, kinds):
    """Send all of them together. Returns (kind, answer) of each."""
    got, start = [], threading.Barrier(len(kinds))

    def one(kind):
        m = s.model(KINDS[kind][0])
        m.sock.settimeout(60)
        start.wait()
        got.append((kind, m.message("hi", kind, stream=True)))
        m.close()

    threads = [threading.Thread(target=one, args=(k,)) for k in kinds]
    for x in threads:
        x.start()
    for x in threads:
        x.join()
    return got


def test_many(key, limit, each, kinds):
    name = f"{key}, {len(set(kinds))} providers"
    with h.workdir() as work, t.case(name):
        p = h.Provider(work, "--delay", "300")
        s = h.Session(work, provider=p, config=limits(**{key: limit}))
        s.write("prices.json", PRICES)
        with s:
            got = at_once(s, kinds)
            t.equal(sum(r.status == 200 for _, r in got), 1,
                    f"{name}: one passes")
            t.equal(len(p.seen()), 1, f"{name}: and is sent")
            no = [(k, r) for k, r in got if r.status != 200]
            t.ok(all(r.status == 429 and r.header("retry-after") and
                     r.header("x-should-retry") is None and
                     KINDS[k][1] in r.body.decode() for k, r in no),
                 f"{name}: the others come back later",
                 [(r.status, r.headers, r.body) for _, r in no][:2])
            h.wait_for(lambda: abs(used(s, key) - each) < 1e-9,
                       f"{key} is {used(s, key)}")
            t.equal(s.model().message("hi").status, 200,
                    f"{name}: what was not used is given back")
            h.wait_for(lambda: abs(used(s, key) - 2 * each) < 1e-9,
                       f"{key} is {used(s, key)}")
            r = s.model().message("hi")
            t.ok(r.status == 400 and key.encode() in r.body,
                 f"{name}: the limit is reached", (r.status, r.body))
        p.end()


def test_far():
    """Far from the limit nothing is refused."""
    with h.workdir() as work:
        p = h.Provider(work)
        with h.Session(work, provider=p,
                       config=limits(maxTotalTokens=1000000)) as s:
            got = at_once(s, ["anthropic"] * MANY)
            t.equal([r.status for _, r in got], [200] * MANY,
                    "all at once, far from the limit")
            for _ in range(5):
                t.equal(s.model().message("hi").status, 200, "and later")
        p.end()


if __name__ == "__main__":
    start = time.monotonic()
    test_many("maxTotalTokens", 2 * ONE - 10, ONE, ["anthropic"] * MANY)
    test_many("maxEstimatedCostUsd", 2 * COST - 0.01, COST,
              ["anthropic"] * MANY)
    test_many("maxTotalTokens", 2 * ONE - 10, ONE,
              ["anthropic", "openai"] * (MANY // 2))
    test_far()
    print(f"# {time.monotonic() - start:.1f} s")
    t.done()
