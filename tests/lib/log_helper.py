# SPDX-License-Identifier: ISC
"""Sessions whose audit log is looked at: they have an echo server, and know how
often their own log says that the earlier runs are intact."""
import os

import harness as h

INTACT = "earlier runs is intact"


def build(work, **kw):
    log = os.path.join(work, "log-echo", "log.jsonl")
    s = h.Session(work, {"echo": h.echo_server(log)},
                  [h.rule("echo", "allow", tool=["echo", "slow"])],
                  {"echo": h.ECHO_TOOLS}, **kw)
    s.intact = s.session_log().count(INTACT)
    return s


def path(s, name):
    return os.path.join(s.dir, name)


def read(name):
    with open(name, "rb") as f:
        return f.read()


def write(name, data):
    with open(name, "wb") as f:
        f.write(data)
    os.chmod(name, 0o600)
