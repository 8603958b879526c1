#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The demo: a real session in a real sandbox, with a scripted agent, a simulated
provider and a recording MCP server.  These three share no code with the
product and keep their own logs; the verdict at the end is derived from those
logs and the audit log, not from the product's messages.

--break GUARD removes one guard, to show that the verdict detects it:
key (the agent is given the real key), reflect (the provider returns it),
allow-all (a policy that allows everything), network (no sandbox),
approval (the rule allows a call that should be held)."""
import argparse
import hashlib
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
sys.dont_write_bytecode = True

GUARDS = ["key", "reflect", "allow-all", "network", "approval"]


def first_line(text):
    lines = str(text).strip().splitlines() or [""]
    return lines[0][:150] + (" …" if len(lines) > 1 or len(lines[0]) > 150
                             else "")


def spoken(body):
    """Returns the text in a reply of the model's API."""
    try:
        reply = json.loads(body)
        if "error" in reply:
            return reply["error"]["message"]
        return reply["content"][0]["text"]
    except (ValueError, KeyError, IndexError, TypeError):
        return body


class Screen:
    """Output for a person; colour only on a terminal."""

    def __init__(self):
        self.colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ

    def paint(self, code, text):
        return f"\033[{code}m{text}\033[0m" if self.colour else text

    def say(self, text=""):
        print(text, flush=True)

    def step(self, who, text):
        self.say(f"  {self.paint('36', f'{who:<10}')} {text}")

    def verdict(self, good, text):
        mark = self.paint("32", "yes") if good else self.paint("31", "NO ")
        self.say(f"  {mark}  {text}")
        return good


class Demo:
    def __init__(self, opts, work):
        import harness as h
        self.h, self.opts, self.work = h, opts, work
        self.screen = Screen()
        self.documents = os.path.join(work, "documents")
        self.logs = os.path.join(work, "server-log")
        self.secret = "salary-" + secrets.token_hex(8)
        for d in (self.documents, self.logs):
            os.makedirs(d)
        self.paper = os.path.join(self.documents, "salaries.txt")
        with open(self.paper, "w", encoding="utf-8") as f:
            f.write(self.secret + "\n")
        self.server_log = os.path.join(self.logs, "log.jsonl")
        broken = opts.guard
        self.provider = h.Provider(
            work, *(["--reflect", "raw"] if broken == "reflect" else []),
            script=[{"text": "Hello from the model."}])
        self.session = h.Session(
            work, self.servers(), self.rules(), self.annotations(),
            provider=self.provider,
            env={"PATH": h.PREFIX + "/bin:/usr/bin:/bin"})

    def servers(self):
        return {
            "filesystem": {"command": self.h.program("icfs"),
                           "args": ["/workspace"]},
            "documents": self.h.echo_server(
                self.server_log, workspace=False,
                sandbox={"filesystem": {"allowRead": [self.documents]}}),
        }

    def rules(self):
        h, broken = self.h, self.opts.guard
        if broken == "allow-all":
            return [h.rule("everything", "allow")]
        return [
            h.rule("documents-ask", "allow" if broken == "approval" else
                   "escalate", "Documents are private: a person decides.",
                   server=["documents"], tool=["lookup"]),
        ]

    def annotations(self):
        return {
            "filesystem": {"write_file": {"path": ["write-path"],
                                          "content": ["none"]},
                           "read_text_file": {"path": ["read-path"]}},
            "documents": {"lookup": {"path": ["read-path"]}, "env": {}},
        }

    def steps(self):
        h = self.h
        return [
            {"mcp": "list"},
            {"mcp": "call", "tool": "filesystem__write_file", "args":
             {"path": "/workspace/notes.txt", "content": "by the agent\n"}},
            {"mcp": "call", "tool": "documents__env", "args": {}},
            {"mcp": "call", "tool": "documents__lookup",
             "args": {"path": self.paper}, "timeout": 60},
            {"model": {"kind": "anthropic", "text": "hello"}},
            {"model": {"kind": "anthropic", "target": "/v1/files"}},
            {"net": f"127.0.0.1:{self.provider.port}"},
            {"env": "ANTHROPIC_API_KEY"},
        ] + ([{"read": "/workspace/leaked"}] if self.opts.guard == "key"
             else []) + [{"say": h.__name__}]

    def prepare(self):
        workspace = self.session.workspace
        for name in ("agent.py", "agent_mcp.py", "agent_model.py"):
            shutil.copy(os.path.join(self.h.STANDINS, name), workspace)
        with open(os.path.join(workspace, "steps.json"), "w",
                  encoding="utf-8") as f:
            json.dump(self.steps(), f)
        if self.opts.guard == "key":
            with open(os.path.join(workspace, "leaked"), "w",
                      encoding="utf-8") as f:
                f.write(self.h.ANTHROPIC_KEY)

    def command(self):
        """The session, in the foreground, as `icctl start` runs it."""
        s, h = self.session, self.h
        argv = [h.program("icctl"), "start", "--workspace", s.workspace,
                "--agent", "command", "--", h.PYTHON, "/workspace/agent.py",
                "run", "/workspace/steps.json"]
        if self.opts.guard != "network":
            return argv
        # The same agent without a sandbox, started beside the session.
        s.start()
        env = {**s.env, **s.agent_env()}
        return ["/usr/bin/env", "-i", *[f"{k}={v}" for k, v in env.items()
                                        if k != "HTTPS_PROXY"],
                f"HTTPS_PROXY={s.ready['sockets']['mitm']}",
                f"SSL_CERT_FILE={s.dir}/orientation/ca-cert.pem",
                h.PYTHON, f"{s.workspace}/agent.py", "run", "--socket",
                s.ready["sockets"]["mcp"], f"{s.workspace}/steps.json"]

    def answer(self, ended):
        """The person in the other terminal: icctl pending, show, approve."""
        h, s = self.h, self.session
        if self.opts.guard != "network":
            h.wait_for(lambda: ended.is_set() or self.find_session(),
                       "no session came up")
        hold = h.wait_for(lambda: ended.is_set() or s.pending(),
                          "nothing was held", 60)
        if ended.is_set():
            return
        hold = hold[0]
        self.screen.say()
        self.screen.say("  $ icctl show " + hold["id"])
        for line in s.icctl("show", hold["id"]).stdout.splitlines()[:-2]:
            self.screen.say("    " + line)
        self.seen_before = self.lookups()
        done = s.icctl("approve", hold["id"])
        self.screen.say(f"  $ icctl approve {hold['id']}")
        self.screen.say("    " + (done.stdout or done.stderr).strip()
                        .splitlines()[-1][:110])
        self.screen.say()

    def find_session(self):
        """Finds the session by its link in run/, as icctl start chose the
        name."""
        run = os.path.join(self.session.home, "run")
        names = [n for n in (os.listdir(run) if os.path.isdir(run) else [])
                 if os.path.islink(os.path.join(run, n))]
        if names:
            self.session.dir = os.path.realpath(os.path.join(run, names[0]))
        return bool(names)

    def lookups(self):
        """Returns the calls of lookup in the server's own log."""
        found = []
        for line in self.h.read_lines(self.server_log):
            if line["ev"] != "line":
                continue
            message = json.loads(line["text"])
            if message.get("method") == "tools/call":
                found.append(message["params"])
        return found

    def run(self):
        say, step = self.screen.say, self.screen.step
        self.seen_before = None
        self.prepare()
        say("IronCurtain demo: an agent in a sandbox, a policy, a person, "
            "a provider.\n")
        step("you", "icctl start --agent command -- python3 agent.py …")
        ended = threading.Event()
        self.process = subprocess.Popen(
            self.command(), env=self.session.env, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
        person = threading.Thread(target=self.person, args=(ended,))
        person.start()
        # stderr is short (a few lines), so it can be read later.
        self.results = []
        self.output = ""
        for line in self.process.stdout:
            self.output += line
            self.show(json.loads(line))
        self.errors = self.process.stderr.read()
        self.status = self.process.wait(30)
        ended.set()
        person.join()
        if self.opts.guard == "network":
            self.session.stop()
        else:
            self.newest_session()

    def person(self, ended):
        try:
            self.answer(ended)
        except Exception as e:  # pylint: disable=broad-except
            self.screen.say(f"  the person failed: {e}")

    def newest_session(self):
        top = os.path.join(self.session.home, "sessions")
        names = sorted(os.listdir(top)) if os.path.isdir(top) else []
        if names:
            self.session.dir = os.path.join(top, names[-1])

    def show(self, r):
        do, step = r["do"], self.screen.step
        self.results.append(r)
        if do.get("mcp") == "list":
            step("agent", f"sees {len(r.get('tools', []))} tools: "
                 + ", ".join(r.get("tools", []))[:90])
        elif "mcp" in do:
            args = json.dumps(do["args"])[:60]
            step("agent", f"calls {do['tool']} {args}")
            step("", ("refused: " if r.get("isError") else "answer: ")
                 + first_line(r.get("text", r.get("error"))))
        elif "model" in do:
            step("agent", "asks the model at api.anthropic.com"
                 + do["model"].get("target", "/v1/messages"))
            step("", f"HTTP {r.get('status', r.get('error'))}: "
                 + first_line(spoken(r.get("body", ""))))
        elif "net" in do:
            step("agent", f"tries the network, {do['net']}: "
                 + ("CONNECTED" if r["ok"] else str(r["error"])))
        elif "env" in do:
            step("agent", f"its key is {str(r.get('value'))[:30]}…")

    def result(self, **want):
        for r in self.results:
            if all(r["do"].get(k) == v for k, v in want.items()):
                return r
        return {}

    def judge(self):
        h, s, v = self.h, self.session, self.screen.verdict
        self.screen.say("\nWhat the provider, the MCP server and the audit "
                        "log say about it:\n")
        audit = s.audit()
        calls = {c["toolName"]: c for c in audit if c["event"] == "call"}
        seen = self.provider.seen()
        server = self.lookups()
        key = h.ANTHROPIC_KEY
        note = os.path.join(s.workspace, "notes.txt")
        held = calls.get("lookup", {})
        good = [
            v(os.path.exists(note) and
              calls.get("write_file", {}).get("policyDecision", {})
              .get("status") == "allow",
              "the allowed call happened, and the log says why"),
            v(not any(c["name"] == "env" for c in server) and
              calls.get("env", {}).get("policyDecision", {})
              .get("status") == "deny" and
              self.result(tool="documents__env").get("isError") is True,
              "the denied call never reached its server"),
            v(self.seen_before == [] and
              held.get("escalationResult") == "approved" and
              [c["name"] for c in server] == ["lookup"] and
              self.secret in str(self.result(tool="documents__lookup")),
              "the held call reached its server only after the approval"),
            v(len(seen) == 1 and seen[0]["keyOk"] and
              seen[0]["target"] == "/v1/messages" and
              any(r.get("status") == 200 and "Hello from the model" in
                  r.get("body", "") for r in self.results),
              "the provider saw one request, with the real key, and answered"),
            v(key not in self.output and key not in self.errors and
              key not in json.dumps(audit) and
              str(self.result(env="ANTHROPIC_API_KEY").get("value"))
              .startswith("sk-ant-api03-ironcurtain-"),
              "the agent had a sentinel key and never saw the real one"),
            v(any("target" in r["do"].get("model", {}) and
                  r.get("status") == 403 for r in self.results),
              "an endpoint off the list was refused, not passed on"),
            v(self.results != [] and
              not any("net" in r["do"] and r["ok"] for r in self.results),
              "the network was not there"),
            v(self.verify(), "icctl audit verify: "
              + self.verified.splitlines()[0] if self.verified else
              "icctl audit verify"),
        ]
        return all(good)

    verified = ""

    def verify(self):
        """Verifies the log by icctl, and by independent code."""
        r = self.session.icctl("audit", "verify",
                               os.path.join(self.session.dir, "audit.jsonl"))
        self.verified = r.stdout or r.stderr
        prev = "0" * 64
        with open(os.path.join(self.session.dir, "audit.jsonl"), "rb") as f:
            for line in f.read().splitlines():
                body, digest = line[:-75] + b"}", line[-66:-2].decode()
                if hashlib.sha256(body).hexdigest() != digest or \
                        json.loads(line)["prev"] != prev:
                    return False
                prev = digest
        return r.returncode == 0 and prev != "0" * 64

    def close(self):
        self.provider.end()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.
                                RawDescriptionHelpFormatter)
    p.add_argument("--prefix", default=os.environ.get("IC_PREFIX",
                                                      "/usr/local"))
    p.add_argument("--break", dest="guard", choices=GUARDS)
    opts = p.parse_args()
    os.environ["IC_PREFIX"] = opts.prefix
    import harness as h
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with h.workdir() as work:
        demo = Demo(opts, work)
        try:
            demo.run()
            good = demo.judge()
            if not good and demo.errors:
                print("\nstderr of the session:\n" + demo.errors[-2000:])
        finally:
            demo.close()
    print("\n" + ("All of it held." if good else
                  "SOMETHING DID NOT HOLD; see above."))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
