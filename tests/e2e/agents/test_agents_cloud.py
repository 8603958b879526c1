#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Runs the real Claude Code with Amazon Bedrock and with Google Vertex in
place of Anthropic, chosen by a profile: streaming, with a tool call that is
held and approved. The simulated provider verifies each signature with the real
key, by independent code; the real keys are searched for in everything that the
sandbox can read."""
import json
import os
import secrets
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import agents_helper as agents  # noqa: E402
import cloud_helper as c  # noqa: E402
import harness as h  # noqa: E402

t = h.Tap()


def profile(config):
    """Adds a profile, beside a key of Anthropic's that must not be used."""
    (name, credential), = config["credentials"].items()
    settings = {**config["providers"][name], "credential": credential}
    return {"credentials": {"anthropic": {"env": "ANTHROPIC_API_KEY"}},
            "profiles": {"cloud": {"providers": {name: settings}}},
            "agent": {"claude-code": {"path": agents.CLAUDE}}}


def command(s):
    return agents.command(s, "claude-code", "--profile", "cloud")


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
        config=profile(config), env={**agents.ENV, **env})
    out, err = agents.check_held_run(
        t, s, name, [*command(s), "Look the paper up."],
        ("echo", "lookup"), needles[0], ("AKIAIRON", "ya29.iron"))
    t.ok("FINAL:" in out, f"{name}: its answer", out[-800:])
    seen = p.seen()
    t.ok(len(seen) >= 2 and all(r["keyOk"] for r in seen),
         f"{name}: the provider saw the real key alone",
         [(r["target"], r["keyOk"], r["unsigned"]) for r in seen])
    t.ok(any("stream" in r["target"] for r in seen),
         f"{name}: it streamed", [r["target"] for r in seen])
    agents.check_logs(t, s, name, seen, needles, out + err)
    t.ok([u for u in s.events("usage") if u["out"]],
         f"{name}: usage is counted")
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


def budget():
    """The budget ends while Claude Code reads a stream: it reports the reason,
    and does not retry for long."""
    aws = c.Aws()

    def begun():
        """Returns true once the cost of the stream so far is known."""
        reply = json.loads(s.icctl("--json", "budget").stdout)
        if "budget" not in reply:       # the session is still starting
            return False
        tokens = reply["budget"]["limits"]["maxTotalTokens"]["used"]
        seen = [x["target"] for x in p.seen() if "/model/" in x["target"]]
        before = [x for x in seen if "stream" not in x]
        return len(seen) > len(before) and tokens > 120 * len(before)

    with h.workdir() as work:
        p = c.provider(work, aws, options=["--only", "stream", "--stall",
                                           "900"])
        s = h.Session(work, provider=None, config=profile(c.bedrock(p)),
                      env={**agents.ENV, **aws.env()})
        with agents.running(s, [*command(s), "Say hello."]) as process:
            agents.wait_or_end(process, lambda: os.path.exists(os.path.join(
                s.dir, "control.sock")), "no control socket", 60)
            agents.wait_or_end(process, begun, "no stream began", 60)
            s.icctl("budget", "set", "maxTotalTokens", "1", check=True)
            text = "".join(process.communicate(timeout=90))
        t.ok("maxTotalTokens" in text and "icctl budget set" in text,
             "budget: Claude Code says what ran out and what raises it",
             text[-1500:])
        t.ok("FINAL:" not in text, "budget: the answer did not end", text)
        # Claude Code then asks without a stream, each time with less content.
        seen = [x["bodySha256"] for x in s.audit()
                if x["event"] == "modelRequest" and x["seq"] > [
                    y["seq"] for y in s.audit() if y["event"] == "budget"][0]]
        t.ok(len(seen) < 6 and len(seen) == len(set(seen)),
             "budget: and sends no request twice", seen)
        t.equal(len([x for x in p.seen() if "stream" in x["target"]]), 1,
                "budget: of which the provider sees none")
        p.end()


def vertex():
    real = "ya29.real-" + secrets.token_urlsafe(120)
    with h.workdir() as work:
        p = h.Provider(work, "--key", real, "--bodies", script=SCRIPT)
        run("vertex", p, work, c.vertex(p), {
            "CLOUDSDK_AUTH_ACCESS_TOKEN": real}, [real])
        p.end()


CASES = {"bedrock": bedrock, "bearer": bearer, "budget": budget,
         "vertex": vertex}

if __name__ == "__main__":
    if not agents.installed(t, "claude-code", agents.CLAUDE):
        t.done()
    for case_name in sys.argv[1:] or CASES:
        with t.case(case_name):
            CASES[case_name]()
    t.done()
