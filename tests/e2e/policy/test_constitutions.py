#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Twenty constitutions over the four annotated servers, from start to finish:
each becomes a policy in force that decides as its sentences say, and the same
bytes a second time.  A sample of them; with "all", each."""
import json
import os
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import compiling as c  # noqa: E402
import harness as h  # noqa: E402

t = h.Tap()
R, W, D = "read-path", "write-path", "delete-path"
DIRS = ("Documents", "Notes", "Photos", "src", "Mail")
HOSTS = ("docs.example.com", "*.wiki.example.org", "news.example.net")


def files(server, i):
    """Returns rules, sentences and scenarios about files."""
    where, roles = DIRS[i % 5], ((R,), (R, W), (R, W, D))[i % 3]
    rest = i % 2 == 0
    rules = [c.rule(f"{server}-in-{where.lower()}", "allow", server=server,
                    description=f"{', '.join(roles)} within ~/{where}: "
                    "reading, writing and deleting.",
                    paths=c.paths(f"~/{where}", *roles))]
    if rest:
        rules.append(c.rule(f"{server}-ask", "escalate", server=server,
                            description="Any other file asks.",
                            roles=[R, W, D]))
    words = {1: "read", 2: "read and change", 3: "read, change and delete"}
    text = (f"{server}: you may {words[len(roles)]} what is in ~/{where}. "
            + ("Ask about every other file." if rest else ""))
    other = "escalate" if rest else "deny"
    calls = [("read_file", {"path": f"~/{where}/a"}, "allow"),
             ("read_file", {"path": f"~/{where}2/a"}, other),
             ("write_file", {"path": f"~/{where}/a", "content": "x"},
              "allow" if W in roles else other),
             ("move_file", {"source": f"~/{where}/a",
                            "destination": f"~/{where}/b"},
              "allow" if D in roles else other)]
    return rules, text, calls, []


def web(server, i):
    hosts, by_list = list(HOSTS[:1 + i % 3]), i % 4 == 0
    rules = [c.rule("fetch-sites", "allow", server=server,
                    description="Reading @sites is allowed." if by_list else
                    "Reading these hosts is allowed.",
                    domains={"roles": ["fetch-url"], "allowed":
                             ["@sites"] if by_list else hosts}),
             c.rule("fetch-ask", "escalate", server=server,
                    description="Reading any other host asks.",
                    domains={"roles": ["fetch-url"], "allowed": ["*"]})]
    lists = [{"name": "sites", "type": "domains", "principle": "sites",
              "generationPrompt": "Good sites", "requiresMcp": False}]
    calls = [("http_fetch", {"url": "https://docs.example.com/x"}, "allow"),
             ("http_fetch", {"url": "https://evil.example/"}, "escalate")]
    return (rules, f"{server}: you may read {', '.join(hosts)}.", calls,
            lists if by_list else [])


def git(server, i):
    then = "escalate" if i % 2 else "deny"
    rules = [c.rule("git-push-ours", "allow", server=server,
                    description="Pushing to github.com/acme/app is allowed.",
                    tool=["git_push"],
                    domains={"roles": ["git-remote-url"],
                             "allowed": ["github.com/acme/app"]})]
    if then == "escalate":
        rules.append(c.rule("git-ask", "escalate", server=server,
                            description="Pushing anywhere else asks.",
                            tool=["git_push"], roles=["git-remote-url"]))
    calls = [("git_push", {"path": "/workspace", "remote":
                           "https://github.com/acme/app"}, "allow"),
             ("git_push", {"path": "/workspace", "remote":
                           "https://github.com/evil/app"}, then)]
    return rules, f"{server}: push to github.com/acme/app.", calls, []


MAKERS = {"filesystem": files, "documents": files, "fetch": web, "git": git}


def constitution(i):
    """Returns the servers, and what each of them says."""
    servers = [s for k, s in enumerate(MAKERS) if i >> k & 1 or k == i % 4]
    return {s: MAKERS[s](s, i) for s in servers}


def script(says):
    rows = [{"step": "prefilter", "reply": c.prefilter(*says)},
            {"step": "values", "reply": {"values": list(HOSTS)}}]
    for server, (rules, _, calls, lists) in says.items():
        at = f'name="server">\n{server}\n'
        rows.append({"step": "rules", "match": at, "reply": {
            "rules": rules, **({"listDefinitions": lists} if lists else {})}})
        if server == "git":
            rows.append({"step": "scenarios", "match": "- git_worktree:",
                         "reply": {"scenarios": [c.scenario(
                             "Tags", "git_tag", {"path": "/workspace", "mode":
                                                 "list"}, "allow")]}})
        rows.append({"step": "scenarios", "match": at, "reply": {
            "scenarios": [c.scenario(f"{server} {k}", *call)
                          for k, call in enumerate(calls)]}})
        n = len(calls) + {"filesystem": 2, "git": 1}.get(server, 0)
        rows.append({"step": "judge", "match": at, "reply": c.verdicts(n)})
    return rows


def try_one(m, i):
    says = constitution(i)
    m.put("constitution-user.md",
          "\n".join(text for _, text, _, _ in says.values()) + "\n")
    m.script(script(says))
    shutil.rmtree(m.path(), ignore_errors=True)
    r = m.policy("compile")
    first = m.digest(r)
    r = m.policy("compile", "--accept", str(first))
    t.ok(r.returncode == 0, f"{i}: in force: {', '.join(says)}",
         r.stdout + r.stderr)
    got = m.run("policy", "eval", answers="".join(json.dumps({
        "serverName": s, "toolName": tool, "arguments": args}) + "\n"
        for s, (_, _, calls, _) in says.items() for tool, args, _ in calls))
    t.equal([json.loads(x)["decision"] for x in got.stdout.splitlines()],
            [then for _, _, calls, _ in says.values() for _, _, then in calls],
            f"{i}: decides as its sentences say")
    before = m.read("compiled-policy.json")
    shutil.rmtree(m.path())
    m.policy("cache", "clear")
    t.equal(m.digest(m.policy("compile")), first,
            f"{i}: asks for the same yes a second time")
    t.equal(m.read("pending", "compiled-policy.json"), before,
            f"{i}: and has the same bytes")


def main():
    if not shutil.which("bwrap"):
        t.skip("constitutions", "bubblewrap is not installed")
        t.done()
    with h.workdir() as work:
        m = c.Home(work, [], options=("--reload-script",))
        for d in DIRS:
            os.makedirs(os.path.join(m.user, d), exist_ok=True)
        try:
            for i in range(0, 20, 1 if sys.argv[1:] == ["all"] else 7):
                try_one(m, i)
        finally:
            m.end()
    t.done()


main()
