#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A file that a real agent removes with its shell comes back, and one that it
makes goes away. With "all", each agent; otherwise Claude Code alone."""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import agent_life as life  # noqa: E402
import agents_helper as agents  # noqa: E402
import harness as h  # noqa: E402

t = h.Tap()
SHELL = "^(Bash|bash|run_shell_command|shell_command|exec_command)$"
# Codex refuses rm -f.
COMMAND = "rm precious.txt && echo made >made.txt"
ARGS = {"command": COMMAND, "description": "Tidy up."}


def run(agent, path):
    with h.workdir() as work:
        p = h.Provider(work, script=[
            {"tool": SHELL, "args": {"cmd": COMMAND} if agent == "codex" else
             ARGS}, {"text": "FINAL: $RESULT"}])
        s = h.Session(work, env=agents.ENV, config=life.config(
            agent, p, agent={agent: {"path": path}}))
        precious, made = (os.path.join(s.workspace, n)
                          for n in ("precious.txt", "made.txt"))
        h.put(precious, "the only copy\n")
        k = life.Life(t, s, agent, "--model", agents.MODELS[agent])
        try:
            k.ended(k.sending("Tidy up."), "FINAL", "a turn")
            t.ok(not os.path.exists(precious) and os.path.exists(made),
                 f"{agent}: its shell removes a file", k.kept()[-6:])
            r = k.icctl("--json", "--session", k.id, "undo", "--yes")
            plan = json.loads(r.stdout) if r.stdout.startswith("{") else {}
            t.equal([[x["path"] for x in plan.get(what, [])]
                     for what in ("comeBack", "goAway")],
                    [["precious.txt"], ["made.txt"]],
                    f"{agent}: that is what is undone {r.stderr}")
            with open(precious, encoding="ascii") as f:
                t.equal((f.read(), os.path.exists(made)),
                        ("the only copy\n", False),
                        f"{agent}: and the file is back")
        finally:
            k.icctl("stop", k.id)
            p.end()


def main():
    for agent, path in agents.chosen(t):
        with t.case(agent):
            run(agent, path)
    t.done()


if __name__ == "__main__":
    main()
