#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Toolchains in containers of one real engine, which IC_RUNTIME names: those of
the table (tests/e2e/supervisor/toolchain_rows.py) that the image has. Each
builds, tests and fetches a small project there as it does outside, where the
machine has the same programs, and otherwise without a mistake."""
import json
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "lib"),
                os.path.join(HERE, "..", "e2e", "supervisor")]
import harness as h  # noqa: E402
from started import Place  # noqa: E402
from test_toolchains_long import (HOST, files, inside, outside,  # noqa: E402
                                  runs, serve)
from toolchain_rows import ROWS, mirror  # noqa: E402

t = h.Tap()
NAME = os.environ["IC_RUNTIME"]


class Contained(Place):
    """Sessions in a container of the test's image."""

    def __init__(self, work, config):
        super().__init__(work, config)
        self.env.update(json.loads(os.environ["IC_ENGINE_ENV"]))

    def argv(self, *command, options=()):
        return super().argv(*command, options=(
            "--runtime", NAME, "--image", os.environ["IC_IMAGE"], *options))


def has(p):
    """Returns the programs that the image has."""
    wanted = sorted({n for row in ROWS for n in row.needs})
    r = p.run("/bin/sh", "-c", "for n in " + " ".join(wanted) +
              "; do command -v $n >/dev/null && echo $n; done; true",
              timeout=300)
    t.equal(r.returncode, 0, f"a session in {NAME} starts")
    return set(r.stdout.decode().split())


def row_runs(row, work, config, url, server):
    p = Contained(work, config)
    beside = os.path.join(work, "outside")
    os.makedirs(beside)
    files(row, beside, url)
    files(row, p.project, f"https://{HOST}")
    server.seen.clear()
    got = inside(row, p)
    want = outside(row, p, beside, url) if runs(row, p.env["PATH"]) else got
    good = True
    for (what, _), w, g in zip(row.commands, want, got):
        same = w[0] == g[0] == 0 and w[1] == g[1]
        good = good and same
        t.ok(same, f"{NAME}: {row.name}: {what} prints the same",
             f"outside {w}, inside {g}")
    if "{M}" in row.commands[2][1]:
        t.ok(server.seen, f"{NAME}: {row.name}: the mirror was asked")
    return "runs" if good else "differs"


def main():
    only, table = sys.argv[1:], []
    with h.workdir() as top:
        mirror(top)
        _, url = serve(top)
        server, upstream = serve(top, f"https://{HOST}")
        config = {"destinations": {"repo": {
            "kind": "web", "hosts": [HOST], "upstream": upstream}}}
        with h.workdir() as work:
            there = has(Contained(work, config))
        for row in ROWS:
            if (only and row.name not in only) or \
                    not set(row.needs) <= there:
                continue
            with h.workdir() as work, t.case(row.name):
                table.append((row.name, row_runs(row, work, config, url,
                                                 server)))
    t.ok(len(table) >= 4 or only, f"{len(table)} toolchains in {NAME}", table)
    for name, how in table:
        print(f"# {NAME}: {name:10} {how}")
    t.done()


if __name__ == "__main__":
    main()
