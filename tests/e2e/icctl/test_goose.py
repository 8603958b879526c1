#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The adapter for Goose, with a stand-in that behaves as Goose's documentation
says: a task with a call that waits, a conversation that remembers, the terminal,
and what the provider receives of the orientation."""
import json
import os
import shlex
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import agents_helper as agents  # noqa: E402
import harness as h  # noqa: E402
from tmux import PROGRAM, Tmux  # noqa: E402

t = h.Tap()
MODEL = "claude-sonnet-4-5"
SCRIPT = [{"tool": "echo__echo$", "args": {"text": "honk"}},
          {"text": "FINAL: $RESULT"}]


def rig(work, script, then="escalate"):
    """Returns a session's surroundings, and the provider."""
    p = h.Provider(work, "--bodies", script=script)
    goose = os.path.join(work, "bin", "goose")
    with open(os.path.join(h.STANDINS, "goose.py"), encoding="utf-8") as f:
        h.put(goose, f.read(), 0o755)
    s = h.Session(work, {"echo": h.echo_server(os.path.join(work, "log", "echo"))},
                  [h.rule("echo", then, "Echoes are loud.", server=["echo"])],
                  {"echo": h.ECHO_TOOLS}, provider=p,
                  config={"agent": {"goose": {"path": goose}}})
    return s, p


def icctl(s, *args):
    return subprocess.run([h.program("icctl"), *args], env=s.env,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=60 * h.PATIENCE, check=False)


def told(p, who):
    agents.check_told(t, who, p, ("echo__echo", "data and no instruction"))
    agents.check_model(t, who, p, MODEL)


def test_task(work):
    s, p = rig(work, SCRIPT)
    out, _ = agents.check_held_run(
        t, s, "goose", [*agents.command(s, "goose", "--model", MODEL),
                        "Honk, please."],
        ("echo", "echo"), h.ANTHROPIC_KEY, ("sk-",))
    t.ok("FINAL:" in out and "honk" in out, "goose: has the result", out)
    told(p, "goose")
    p.end()


def test_conversation(work):
    s, p = rig(work, [{"text": "It is noted."}])
    r = icctl(s, "start", "--detach", "--agent", "goose", "--model", MODEL,
              "--workspace", s.workspace)
    t.equal(r.returncode, 0, "goose: a conversation starts")
    for word in ("first-word", "second-word"):
        r = icctl(s, "send", f"Remember the {word}.")
        t.equal((r.returncode, r.stdout.strip()), (0, "It is noted."),
                f"goose: answers the {word}")
    icctl(s, "stop")
    body = p.seen()[-1]["body"]
    t.ok("first-word" in body and "second-word" in body,
         "goose: the second turn has the first message", body[-600:])
    p.end()


def test_terminal(work):
    if PROGRAM is None:
        t.skip("goose, terminal", "tmux is not here: apt-get install tmux")
        return
    s, p = rig(work, SCRIPT, "allow")
    tmux = Tmux(work, s.env, rows=40, cols=110)
    try:
        tmux.run(shlex.join(agents.command(s, "goose", "--model", MODEL)))
        tmux.until("( O)>", 60)
        tmux.text("Honk.")
        tmux.keys("Enter")
        tmux.until("FINAL", 60)
        told(p, "goose, interactively")
        s.dir = agents.latest(s)
        t.equal(s.icctl("stop").returncode, 0, "goose: stopped")
    finally:
        tmux.end()
        p.end()


def test_refused(work):
    s, p = rig(work, SCRIPT)
    r = icctl(s, "start", "--agent", "goose", "--workspace", s.workspace, "x")
    t.ok(r.returncode == 78 and "agent goose: which model? Give --model" in
         r.stderr, "goose: a model must be named", r.stderr)
    with open(os.path.join(s.home, "config.json"), encoding="utf-8") as f:
        config = json.load(f)
    config["credentials"] = {"openrouter": {"env": "OR_KEY"}}
    s.write("config.json", config)
    s.env["OR_KEY"] = "sk-or-v1-none"
    r = icctl(s, "start", "--agent", "goose", "--model", "x/y", "--workspace",
              s.workspace, "x")
    t.ok("this goose is another" in r.stderr + r.stdout and
         "'GOOSE_PROVIDER': 'openrouter'" in r.stderr + r.stdout,
         "goose: the provider of the only credential is used",
         (r.stdout, r.stderr))
    p.end()


def main():
    if not shutil.which("bwrap"):
        t.skip("goose", "bubblewrap is not installed")
        t.done()
    for test in (test_task, test_conversation, test_terminal, test_refused):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


if __name__ == "__main__":
    main()
