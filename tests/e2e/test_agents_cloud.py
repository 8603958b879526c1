#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The real Claude Code with Amazon Bedrock and with Google Vertex in place of
Anthropic, chosen by a profile: streaming, with a tool call that is held and
approved.  The stand-in verifies each signature with the real key, by code of
its own; the real keys are searched for in all that the box has."""
import json
import os
import secrets
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
import cloud_helper as c  # noqa: E402
import harness as h  # noqa: E402
import joins  # noqa: E402
import test_agents as agents  # noqa: E402

t = agents.t
PROGRAM = os.path.join(agents.MODULES,
                       "@anthropic-ai/claude-code-linux-x64/claude")


def profile(config):
    """As a profile, beside a key of Anthropic's that is not to be used."""
    (name, credential), = config["credentials"].items()
    settings = {**config["providers"][name], "credential": credential}
    return {"credentials": {"anthropic": {"env": "ANTHROPIC_API_KEY"}},
            "profiles": {"cloud": {"providers": {name: settings}}},
            "agent": {"claude-code": {"path": PROGRAM}}}


def run(name, p, work, config, env, needles):
    paper = "paper-" + secrets.token_hex(12)
    where = os.path.join(work, "a.txt")
    with open(where, "w", encoding="utf-8") as f:
        f.write(paper)
    log = os.path.join(work, "mcp", "log.jsonl")
    s = h.Session(work, {"echo": h.echo_server(log)}, [
        h.rule("lookups", "escalate", "Somebody should look.",
               server=["echo"], tool=["lookup"])],
        {"echo": {"lookup": {"path": ["read-path"]}}}, provider=None,
        config=profile(config), env={
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"), **env})
    process = subprocess.Popen(
        [h.program("icctl"), "start", "--agent", "claude-code", "--profile",
         "cloud", "--workspace", s.workspace, "Look the paper up."],
        env=s.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True)
    try:
        link = os.path.join(s.home, "run")
        h.wait_for(lambda: process.poll() is not None or (
            os.path.isdir(link) and os.listdir(link)), "no session", 60)
        if process.poll() is None:
            s.dir = os.path.realpath(os.path.join(link, os.listdir(link)[0]))
            h.wait_for(lambda: process.poll() is not None or s.pending(),
                       "nothing was held", 90)
        if process.poll() is None:
            hold = s.pending()[0]
            t.equal((hold["server"], hold["tool"]), ("echo", "lookup"),
                    f"{name}: held")
            sentinel = [v for v in s.agent_env().values()
                        if v.startswith(("AKIAIRON", "ya29.iron"))][0]
            agents.search(s, name, process.pid, needles[0], sentinel)
            t.equal(s.icctl("approve", hold["id"]).returncode, 0,
                    f"{name}: approved")
        out, err = process.communicate(timeout=90)
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(10)
    t.ok(process.returncode == 0, f"{name}: ends with 0",
         f"{process.returncode}\n{out[-1500:]}\n{err[-1500:]}\n"
         + s.session_log()[-1500:])
    t.ok("FINAL:" in out, f"{name}: its answer", out[-800:])
    seen = p.seen()
    t.ok(len(seen) >= 2 and all(r["keyOk"] for r in seen),
         f"{name}: the provider saw the real key alone",
         [(r["target"], r["keyOk"], r["unsigned"]) for r in seen])
    t.ok(any("stream" in r["target"] for r in seen),
         f"{name}: it streamed", [r["target"] for r in seen])
    audit = s.audit()
    t.equal([x.get("escalationResult") for x in audit
             if x["event"] == "call"], ["approved"],
            f"{name}: the log says approved")
    t.equal(joins.check_requests(audit, seen), [],
            f"{name}: what the provider saw is in the log")
    t.ok([u for u in audit if u["event"] == "usage" and u["out"]],
         f"{name}: usage is counted")
    text = json.dumps(audit) + s.session_log() + out + err
    t.ok(not any(n in text for n in needles),
         f"{name}: no log or output holds a key")
    return seen


SCRIPT = [{"tool": "echo__lookup$", "args": {"path": "/workspace/a"}},
          {"text": "FINAL: $RESULT"}]


def bedrock():
    aws = c.Aws()
    with h.workdir() as work:
        p = c.provider(work, aws, script=SCRIPT)
        seen = run("bedrock", p, work, c.bedrock(p), aws.env(),
                   [aws.secret, aws.token])
        t.ok(all(r["unsigned"] == "" for r in seen),
             "bedrock: every request is signed right",
             [r["unsigned"] for r in seen])
        p.end()


def bearer():
    key = "ABSK" + secrets.token_urlsafe(60)
    with h.workdir() as work:
        p = c.provider(work, script=SCRIPT, keys=[key])
        run("bedrock, API key", p, work, c.bedrock(
            p, {"env": "AWS_BEARER_TOKEN_BEDROCK"}),
            {"AWS_BEARER_TOKEN_BEDROCK": key}, [key])
        p.end()


def vertex():
    real = "ya29.real-" + secrets.token_urlsafe(120)
    with h.workdir() as work:
        p = h.Provider(work, "--key", real, "--bodies", script=SCRIPT)
        run("vertex", p, work, c.vertex(p), {
            "CLOUDSDK_AUTH_ACCESS_TOKEN": real}, [real])
        p.end()


CASES = {"bedrock": bedrock, "bearer": bearer, "vertex": vertex}

if __name__ == "__main__":
    if not os.path.exists(PROGRAM):
        t.skip("claude-code", "is not installed (./dev test agents)")
        t.done()
    for case_name in sys.argv[1:] or CASES:
        with t.case(case_name):
            CASES[case_name]()
    t.done()
