#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Runs the official conformance suite of MCP, for both of its revisions, against
its server directly and through a session, and compares what passes. Only where
the suite's own client would have to be asked may the session differ; those
questions go to a person here, whose answers must lead to the same results."""
import glob
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import mcp_front  # noqa: E402

t = h.Tap()
AT = os.environ.get("IC_CONFORMANCE", "")
NODE = next(iter(glob.glob(os.path.join(
    AT, "node_modules", "node-linux-*", "bin", "node"))), "")
SUITE = os.path.join(AT, "node_modules", "@modelcontextprotocol",
                     "conformance", "dist", "index.js")
SERVER = os.path.join(h.STANDINS, "mcp_suite.py")
# The suite's client wants to be asked, or not to be.
ASKED = {
    "2025-11-25": {"tools-call-sampling", "tools-call-elicitation",
                   "elicitation-sep1034-defaults",
                   "elicitation-sep1330-enums"},
    "2026-07-28": {"input-required-result-" + x for x in (
        "basic-elicitation", "basic-sampling", "basic-list-roots",
        "request-state", "multiple-input-requests", "multi-round",
        "missing-input-response", "non-tool-request", "result-type",
        "tampered-state", "capability-check", "ignore-extra-params",
        "validate-input")},
}
META = {mcp_front.META + "protocolVersion": "2026-07-28",
        mcp_front.META + "clientCapabilities": {"elicitation": {}}}
SERVERS = {"new": [], "old": ["--legacy"]}
FORMS = {
    "old": [
        ("test_elicitation", {"message": "Which?"}, [["response=this"]],
         {"response": "this"}),
        ("test_elicitation_sep1034_defaults", {}, [["age=31"]],
         {"name": "John Doe", "age": 31, "score": 95.5, "status": "active",
          "verified": True}),
        ("test_elicitation_sep1330_enums", {}, [
            ["untitledSingle=option2", "titledSingle=value3",
             "legacyEnum=opt1", "untitledMulti=option1,option3",
             "titledMulti=value2"]],
         {"untitledSingle": "option2", "titledSingle": "value3",
          "legacyEnum": "opt1", "untitledMulti": ["option1", "option3"],
          "titledMulti": ["value2"]})],
    "new": [
        ("test_input_required_result_elicitation", {}, [["name=Ada"]],
         {"user_name": {"name": "Ada"}}),
        ("test_input_required_result_request_state", {}, [["ok=true"]],
         {"confirm": {"ok": True}}),
        ("test_input_required_result_tampered_state", {}, [["ok=true"]],
         {"confirm": {"ok": True}}),
        ("test_input_required_result_multi_round", {},
         [["name=Ada"], ["color=red"]], None)],
}
RULES = [h.rule("all", "allow", server=["new", "old"]),
         *(h.rule(x, "allow", server=["new", "old"], **{x: ["*"]})
           for x in ("resources", "prompts", "completion"))]


def run(url, revision, out):
    """Returns {scenario: [(check, its status, message)]} of what is scored."""
    os.makedirs(out)
    r = subprocess.run([NODE, SUITE, "server", "--url", url, "--requirements",
                        revision, "-o", out], stdin=subprocess.DEVNULL,
                       capture_output=True, text=True, timeout=900,
                       check=False)
    ran, scored = {}, r.stdout.split("=== SUMMARY")[0].split(
        "=== Running scenario: ")[1:]
    for name in (x.split()[0] for x in scored):
        found = glob.glob(os.path.join(out, f"server-{name}-20*",
                                       "checks.json"))
        with open(found[0], encoding="utf-8") as f:
            ran[name] = [(c["id"], c["status"], c.get("errorMessage"))
                         for c in json.load(f)]
    return ran


def count(ran, of):
    return sum(status == "SUCCESS" for name in of
               for _, status, _ in ran.get(name, []))


def wanted(revision):
    """Returns the scenarios of the server that the revision requires."""
    path = os.path.join(AT, "node_modules", "@modelcontextprotocol",
                        "conformance", "requirements", revision + ".yaml")
    names, inside = [], False
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line[:1].isalpha():
                inside = line.startswith("server:")
            elif inside and line.strip().startswith("- "):
                names.append(line.split()[1])
    return names


def same(what, of, first, second):
    """Check that what passes directly passes through the session, too."""
    for name in of:
        lost = [c for c in second.get(name, []) if c[1] == "FAILURE"]
        t.ok(count(second, [name]) >= count(first, [name]) and not lost,
             f"{what} {name}", lost)


def suite(revision, work, direct, fronts):
    of = wanted(revision)
    t.ok(len(of) > 20, f"{revision} requires scenarios of a server", of)
    first = run(direct, revision, os.path.join(work, "direct-" + revision))
    for name in of:
        bad = [c for c in first.get(name, []) if c[1] == "FAILURE"]
        t.ok(count(first, [name]) and not bad, f"{revision} {name} directly",
             bad)
    for server, front in fronts.items():
        rest = [x for x in of if x not in ASKED[revision]]
        second = run(front, revision,
                     os.path.join(work, f"{server}-{revision}"))
        same(f"{revision} through the session, {server} server:", rest, first,
             second)
        print(f"# {revision}: {count(first, of)} checks pass directly, "
              f"{count(second, of)} through the session, {server} server; of "
              f"the {len(rest)} scenarios in which nobody is asked, "
              f"{count(first, rest)} and {count(second, rest)}", flush=True)


def asked(s, server, modern):
    """Have a person answer the questions for the client of the suite."""
    who = f"{'new' if modern else 'old'} agent, {server} server: "
    m = s.mcp()
    if not modern:
        m.initialize()
    for tool, args, answers, content in FORMS[server]:
        p = m.start("tools/call", {
            "name": f"{server}__{tool}", "arguments": args,
            **({"_meta": META} if modern else {})})
        for sets in answers:
            r = s.icctl("answer", s.held()["id"],
                        *(x for one in sets for x in ("--set", one)))
            t.ok(r.returncode == 0, who + tool + " is answered", r.stderr)
            h.wait_for(lambda: p.done.is_set() or s.pending(), tool)
        text = h.text_of(p.wait())
        t.ok(content is None and "Both rounds" in text or
             json.dumps(content, sort_keys=True) in text,
             who + tool + " has the answer", text)
    m.close()


def servers(**more):
    return {name: {"command": h.PYTHON, "args": [SERVER, *options],
                   "sandbox": {"filesystem": {"allowRead": [h.STANDINS]}},
                   **more} for name, options in SERVERS.items()}


def ready(s):
    h.wait_for(lambda: all(x["state"] == "ready" for x in json.loads(
        s.icctl("--json", "status").stdout)["servers"]), "the servers", 60)


def main():
    if not os.path.exists(NODE) or not os.path.exists(SUITE):
        t.skip("conformance", "./dev test conformance installs the suite")
        t.done()
        return
    config = {"policy": {"trustedServers": list(SERVERS)}}
    with h.workdir() as work:
        path = os.path.join(work, "suite.sock")
        p = subprocess.Popen([h.PYTHON, SERVER, "--listen", path],
                             stdin=subprocess.DEVNULL)
        h.wait_for(lambda: os.path.exists(path), "the server")
        # The suite waits 30 s for an answer that only a person can give.
        with h.Session(work, servers(elicitation="decline"), rules=RULES,
                       config=config) as s:
            ready(s)
            direct = mcp_front.Front(path)
            fronts = {x: mcp_front.Front(s.ready["sockets"]["mcp"], x)
                      for x in SERVERS}
            for revision in ASKED:
                suite(revision, work, direct.url,
                      {x: f.url for x, f in fronts.items()})
            for f in (direct, *fronts.values()):
                f.end()
        p.kill()
        p.wait()
        with h.Session(work, servers(), rules=RULES, config=config,
                       session_dir=os.path.join(work, "second")) as s:
            ready(s)
            for server in SERVERS:
                for modern in (False, True):
                    asked(s, server, modern)
    t.done()


if __name__ == "__main__":
    main()
