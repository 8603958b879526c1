#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Registries that a person opens because npm, pip and cargo ask for them: each
is opened as a registry, under the rules of packageInstall, and the index
together with the files."""
import os
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import registry_clients  # noqa: E402
import registry_data  # noqa: E402
from bridge import Bridge  # noqa: E402
from test_registry import Registry, get  # noqa: E402

t = h.Tap()
PAIRS = {
    "npm.test": {"npm.test": "npm"},
    "pypi.test": {"pypi.test": "pypi",
                  "files.pythonhosted.test": "files"},
    "index.crates.test": {"index.crates.test": "index",
                          "static.crates.test": "static"},
}


class Person(threading.Thread):
    """Approves whatever is asked, and remembers it."""

    def __init__(self, s):
        super().__init__(daemon=True)
        self.s, self.seen, self.ended = s, [], threading.Event()
        self.start()

    def run(self):
        while not self.ended.wait(0.1):
            for hold in self.s.pending():
                self.seen.append(hold)
                self.s.icctl("approve", hold["id"])

    def end(self):
        self.ended.set()
        self.join()


def main():
    tree = registry_data.tree("files.pythonhosted.test", "static.crates.test")
    with h.workdir() as work:
        r = Registry(work, tree)
        config = {
            "packageInstall": {"quarantineDays": 2, "deniedPackages": [
                "evil", "evil-*"]},
            "proxyTools": {"enabled": False, "hosts": {
                first: {"ca": r.ca, "upstream": {
                    name: f"{r.url}/{path}" for name, path in both.items()}}
                for first, both in PAIRS.items()}}}
        with h.Session(work, config=config,
                       options=("--open-hosts", "ask")) as s:
            bridge = Bridge(s.ready["sockets"]["mitm"])
            person = Person(s)
            clients = registry_clients.Clients(
                t, s, r, work, bridge, tree, "index.crates.test")
            for case in (clients.npm, clients.pip, clients.cargo):
                with t.case(case.__name__):
                    case()
            a = get(s, "npm.test", "/good-lib/-/good-lib-1.1.0.tgz")
            t.ok(a.status == 403 and "only 1 day(s) old" in a.json()["error"],
                 "a young version is not delivered", a.body)
            person.end()
            t.equal({e["kind"] for e in s.events("hostOpen")} & {"web", "git"},
                    set(), "none of them is opened as a web host")
            t.ok(person.seen and all(
                "as a package registry" in x["effect"] for x in person.seen),
                 "and the questions say so", person.seen)
        r.end()
    t.done()


if __name__ == "__main__":
    main()
