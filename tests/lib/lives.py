# SPDX-License-Identifier: ISC
"""A conversation that is started in the background, dies and is resumed."""
import json
import os
import subprocess

import harness as h

# Keeps what it is told in its home; its arguments are shown.
AGENT = r"""#!/bin/sh
m=$(cat)
printf 'args: %s\n' "$*"
printf 'before: %s\n' "$(cat ~/told 2>/dev/null | tr '\n' ' ')"
printf '%s\n' "$m" >>~/told
case $m in
wait) sleep 1000 ;;
esac
"""
ADAPTER = {
    "name": "parrot", "program": ["parrot"], "providers": [],
    "args": ["--screen"], "continue": ["--screen", "--go-on"],
    "turn": ["--new", "{conversation}"],
    "resume": ["--again", "{conversation}"], "state": ["none", "told"]}


class Life:
    """A session that is started, dies and is resumed."""

    def __init__(self, work, *start, config=None, workspace=None, agent=AGENT,
                 adapter=None, **kw):
        """kw: for h.Session, such as servers and rules."""
        self.s = h.Session(work, **kw)
        path = os.path.join(work, "bin", "parrot")
        h.put(path, agent, 0o755)
        self.s.write("agents/parrot.json", adapter or ADAPTER)
        self.s.write("config.json", {**self.s.config, **(config or {}),
                                     "agent": {"parrot": {"path": path}}})
        self.workspace = workspace or self.s.workspace
        r = self.icctl("start", "--detach", "--json", "--agent", "parrot",
                       "--workspace", self.workspace, *start)
        self.pid = 0
        self.take(r)

    def take(self, r):
        if r.returncode == 0:
            told = json.loads(r.stdout)
            self.dir, self.id, self.pid = (told["dir"], told["session"],
                                           told["pid"])
        else:
            print("#", r.stderr.replace("\n", "\n# "))
        return r

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def icctl(self, *args, **kw):
        kw.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.run([h.program("icctl"), *args], env=self.s.env,
                              capture_output=True, text=True, check=False,
                              timeout=60 * h.PATIENCE, **kw)

    def resume(self, *args):
        return self.take(self.icctl("resume", "--json", self.id, *args))

    def send(self, message):
        r = self.icctl("send", "--json", "--session", self.id, "--", message)
        return [json.loads(x) for x in r.stdout.splitlines()]

    def gone(self):
        # It is init's child, which may take its status much later.
        h.wait_for(lambda: not h.alive(self.pid),
                   "the session does not end")

    def stop(self):
        if self.pid:
            self.icctl("stop", "--session", self.id)
            self.gone()
            self.pid = 0

    def kill(self):
        h.kill(self.pid)
        self.gone()
        # auditd, which outlives it, writes the last record.
        h.wait_for(lambda: self.records()[-1]["event"] == "stop",
                   "no closing record")
        self.pid = 0

    def path(self, name):
        return os.path.join(self.dir, name)

    def kept(self):
        return h.read_lines(self.path("events.jsonl"))

    def records(self):
        return h.read_lines(self.path("audit.jsonl"))

    def budget(self, key):
        r = self.icctl("--json", "--session", self.id, "budget")
        return json.loads(r.stdout)["budget"]["limits"][key]["used"]
