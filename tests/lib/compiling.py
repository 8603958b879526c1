# SPDX-License-Identifier: ISC
"""Compiles policies in tests: a home with a provider whose model is scripted
step by step, and the scripts of a model that does as it should."""
import json
import os
import subprocess

import harness as h

PREFILTER = ("filesystem", "documents", "git", "fetch")


def rule(name, then, server="filesystem", description=None, **cond):
    return {"name": name, "description": description or name,
            "principle": "The owner says so.",
            "if": {"server": [server], **cond}, "then": then,
            "reason": f"{name} is what the constitution says"}


def paths(within, *roles):
    return {"roles": list(roles), "within": within}


READ_DOCS = rule("filesystem-read-documents", "allow",
                 description="Reading files within ~/Documents is allowed.",
                 paths=paths("~/Documents", "read-path"))
ASK_REST = rule("filesystem-ask-reading", "escalate",
                description="Reading any other file asks the owner.",
                roles=["read-path"])
GOOD_RULES = {"rules": [READ_DOCS, ASK_REST]}


def scenario(description, tool, arguments, expected):
    return {"description": description, "toolName": tool,
            "arguments": arguments, "expectedDecision": expected,
            "reasoning": "The constitution says so."}


GOOD_SCENARIOS = {"scenarios": [
    scenario("Read a document", "read_text_file",
             {"path": "~/Documents/a.txt"}, "allow"),
    scenario("Read the shell's start-up file", "read_text_file",
             {"path": "~/.bashrc"}, "escalate"),
    scenario("Write a document", "write_file",
             {"path": "~/Documents/a.txt", "content": "x"}, "not-allow")]}


def prefilter(*relevant, servers=PREFILTER):
    return {"servers": [{"name": s, "relevant": s in relevant,
                         "reason": "by its tools"} for s in servers]}


def verdicts(n, first=0, **changed):
    """Returns verdicts on n scenarios, which agree; changed: "s3" -> members
    of the third."""
    out = []
    for i in range(first, first + n):
        v = {"scenario": i, "agrees": True, "blame": "none", "reason": "fine"}
        v.update(changed.get(f"s{i}", {}))
        out.append(v)
    return {"verdicts": out}


def good(rules=None, scenarios=None, count=None, **steps):
    """Returns the script of a model that compiles for the file server."""
    scenarios = scenarios or GOOD_SCENARIOS
    n = count or len(scenarios["scenarios"]) + 2
    rows = {"prefilter": prefilter("filesystem"),
            "rules": rules or GOOD_RULES, "scenarios": scenarios,
            "judge": verdicts(n), "repair": {"operations": []}, **steps}
    return [{"step": k, "reply": v} for k, v in rows.items()]


class Home:
    """A user's home with IronCurtain, a provider and a constitution."""

    def __init__(self, work, script, constitution="Read my ~/Documents.\n",
                 config=None, name="home", options=()):
        self.work = work
        self.user = os.path.join(work, "user-" + name)
        self.home = os.path.join(self.user, ".ironcurtain")
        os.makedirs(os.path.join(self.user, "Documents"), 0o700,
                    exist_ok=True)
        os.makedirs(self.home, 0o700, exist_ok=True)
        self.provider = h.Provider(work, "--bodies", *options,
                                   script={"policy": script},
                                   name="provider-" + name)
        p = self.provider
        self.put("config.json", json.dumps({
            "providers": {"anthropic": {"upstream": p.url, "ca": p.ca}},
            "credentials": {"anthropic": {"env": "ANTHROPIC_API_KEY"}},
            **(config or {})}), 0o600)
        if constitution is not None:
            self.put("constitution-user.md", constitution)
        self.env = {"PATH": "/usr/bin:/bin", "HOME": self.user,
                    "LANG": "C.UTF-8", "ANTHROPIC_API_KEY": h.ANTHROPIC_KEY,
                    "SOURCE_DATE_EPOCH": "1763942400"}

    def put(self, name, text, mode=0o644):
        return h.put(os.path.join(self.home, name), text, mode)

    def newest_session(self):
        """Returns the directory of the session that began last.  Ids of one
        second are in no order."""
        sessions = os.path.join(self.home, "sessions")
        return max((os.path.join(sessions, x) for x in os.listdir(sessions)),
                   key=lambda d: os.stat(os.path.join(
                       d, "start.json")).st_mtime_ns
                   if os.path.exists(os.path.join(d, "start.json")) else 0)

    def script(self, rows, task=None):
        """Replace the script: the provider reads it for each request."""
        path = os.path.join(self.provider.dir, "script.json")
        with open(path + ".new", "w", encoding="utf-8") as f:
            json.dump({"policy": rows, **({"task": task} if task else {})}, f)
        os.rename(path + ".new", path)

    def run(self, *args, answers="", timeout=120, env=None):
        return subprocess.run(
            [h.program("icctl"), *args], env={**self.env, **(env or {})},
            input=answers, capture_output=True, text=True,
            timeout=timeout * h.PATIENCE, check=False)

    def policy(self, *args, **kw):
        return self.run("policy", *args, **kw)

    def path(self, *name):
        return os.path.join(self.home, "policy", *name)

    def read(self, *name):
        with open(self.path(*name), "rb") as f:
            return f.read()

    def json(self, *name):
        return json.loads(self.read(*name))

    def in_force(self):
        """Returns the rules in force, or None if none were compiled."""
        if not os.path.exists(self.path("compiled-policy.json")):
            return None
        return self.json("compiled-policy.json")["rules"]

    def digest(self, result):
        """Returns the digest that a command asks for, or None."""
        words = result.stdout.split()
        return words[words.index("--accept") + 1] \
            if words.count("--accept") else None

    def asked(self):
        """Returns how often the model was asked."""
        return sum(r["target"].startswith("/v1/messages")
                   for r in self.provider.seen())

    def end(self):
        self.provider.end()
