# SPDX-License-Identifier: ISC
"""A conversation with a real agent, started in the background, whose supervisor
is killed and which is resumed."""
import json
import os
import subprocess

import harness as h

PROVIDERS = {"claude-code": ("anthropic", "ANTHROPIC_API_KEY"),
             "codex": ("openai", "OPENAI_API_KEY"),
             "opencode": ("anthropic", "ANTHROPIC_API_KEY"),
             "gemini-cli": ("google", "GEMINI_API_KEY")}
FILES = {"read_text_file": {"path": ["read-path"], "head": ["none"],
                            "tail": ["none"]}}
RULES = [h.rule("papers", "escalate", "Papers are private.",
                server=["documents"], roles=["read-path"])]


def config(agent, p, /, **more):
    """Returns a configuration in which the agent's provider is `p`."""
    name, env = PROVIDERS[agent]
    return {"providers": {name: {"upstream": p.url, "ca": p.ca}},
            "credentials": {name: {"env": env}}, **more}


class Life:
    """A conversation that dies and is resumed."""

    def __init__(self, t, s, agent, *start):
        """s: a harness.Session that is not started; start: options."""
        self.t, self.s, self.agent, self.pid = t, s, agent, 0
        self.take(self.icctl("start", "--detach", "--json", "--agent", agent,
                             "--workspace", s.workspace, *start))

    def icctl(self, *args):
        return subprocess.run(
            [h.program("icctl"), *args], env=self.s.env,
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=120 * h.PATIENCE, check=False)

    def take(self, r):
        if r.returncode != 0:
            raise RuntimeError(r.stderr)
        told = json.loads(r.stdout)
        self.s.dir, self.id, self.pid = (told["dir"], told["session"],
                                         told["pid"])

    def sending(self, message):
        return subprocess.Popen(
            [h.program("icctl"), "send", "--json", "--session", self.id,
             message], env=self.s.env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def ended(self, process, text, what):
        """Check that the turn has answered with the text."""
        out, err = process.communicate(timeout=120 * h.PATIENCE)
        events = [json.loads(x) for x in out.splitlines()]
        said = "".join(e["text"] for e in events
                       if e["event"] == "agent_text")
        self.t.ok(process.returncode == 0 and text in said,
                  f"{self.agent}: {what}",
                  (process.returncode, out[-1500:], err[-500:],
                   self.s.session_log()[-1000:]))

    def held(self):
        h.wait_for(self.s.pending, "nothing was held", 90)
        return self.s.pending()[0]

    def kill(self):
        h.kill(self.pid)
        h.wait_for(lambda: not h.alive(self.pid), "it does not die")
        h.wait_for(lambda: self.s.audit()[-1]["event"] == "stop",
                   "no closing record")
        self.pid = 0

    def resume(self):
        """Returns what it says to a person."""
        r = self.icctl("resume", "--json", self.id, "--after-crash")
        self.take(r)
        return r.stderr

    def kept(self):
        return h.read_lines(os.path.join(self.s.dir, "events.jsonl"))

    def cut(self, number, message):
        """A turn with a call that waits, which its supervisor does not
        survive."""
        turn = self.sending(message)
        hold = self.held()
        self.kill()
        turn.communicate(timeout=60 * h.PATIENCE)
        self.t.contains(self.resume(), "documents/read_text_file, which "
                        "waited for you", f"{self.agent}: resume says which "
                        "call has expired")
        names = [e["event"] for e in self.kept() if e.get("turn") == number]
        self.t.equal([names.count(n) for n in ("usage", "result", "turn_end")],
                     [1, 1, 1],
                     f"{self.agent}: killed in a turn, which gets its ends")
        h.wait_for(lambda: self.s.events("expired"), "nothing has expired")
        expired = [c["toolName"] for e in self.s.events("expired")
                   for c in e["detail"]["calls"]]
        self.t.equal(expired, ["read_text_file"],
                     f"{self.agent}: the call that waited is recorded as "
                     "expired")
        r = self.icctl("--json", "history", self.id)
        states = [(e["state"], e.get("turn"))
                  for e in map(json.loads, r.stdout.splitlines())
                  if e["event"] == "escalation_end" and e["id"] == hold["id"]]
        self.t.equal(states, [("expired", number)],
                     f"{self.agent}: and in its history")
        self.t.equal(self.s.pending(), [],
                     f"{self.agent}: and no longer waits")

    def used(self):
        """Returns what was used of each limit of the session's budget."""
        r = self.icctl("--json", "--session", self.id, "budget")
        return {k: v["used"] for k, v in
                json.loads(r.stdout)["budget"]["limits"].items()}

    def check_log(self, lives):
        r = self.icctl("audit", "verify",
                       os.path.join(self.s.dir, "audit.jsonl"))
        self.t.equal(r.returncode, 0, f"{self.agent}: the chain of its {lives} "
                     "lives is whole")

    def end(self):
        if self.pid:
            self.icctl("stop", "--session", self.id)
            h.wait_for(lambda: not h.alive(self.pid), "it does not stop")
            self.pid = 0
