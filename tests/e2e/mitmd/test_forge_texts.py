#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Forges through a whole session, with a plain client: none of the hostile texts
of tests/unit/forge arrives at GitHub, and what arrives is what was checked; what
glab and tea send arrives at GitLab and Gitea, each change after an approval by
name, and no secret of an answer comes back."""
import json
import os
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from forge_helper import Client, Forge, TOKEN  # noqa: E402

t = h.Tap()
TEXTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                     "unit", "forge", "hostile_graphql.txt")
API = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..",
                   "common", "forge")
SECRETS = ("GR1348941runners", "octo@example.org")


def session(work, g, kind, host, **settings):
    return h.Session(work, env={"SHOP_TOKEN": TOKEN}, config={
        "destinations": {"shop": {
            "kind": "forge", "forge": kind, "hosts": [host],
            "upstream": g.url, "ca": g.ca, "merge": "ask",
            "credential": {"env": "SHOP_TOKEN"},
            "repositories": ["me/shop", "me/tools"], **settings}}})


def body_of(row):
    if row[0] == "b":
        return row[2]
    variables = f',"variables":{row[3]}' if len(row) > 3 else ""
    return '{"query":' + json.dumps(row[2]) + variables + "}"


def test_texts(s, g, client):
    with open(TEXTS, encoding="utf-8") as f:
        rows = [x.rstrip("\n").split("\t") for x in f if x[0] != "#"]
    wrong, sent = [], 0
    for row in rows:
        if "mutation" in row[2] and row[0] == "a":
            continue
        before = len(g.seen())
        status, answer = client("POST", "/graphql", body_of(row))
        arrived = g.seen()[before:]
        sent += 1
        if row[0] == "a":
            if [x["body"] for x in arrived] != [row[1]]:
                wrong.append((row, status, answer, arrived))
        elif arrived or status != 200 or "errors" not in json.loads(answer):
            wrong.append((row, status, answer, arrived))
    t.equal(wrong[:3], [], f"{sent} texts: none of the hostile ones arrives")
    t.ok(sent >= 200, "at least 200")
    t.equal(s.pending(), [], "and none is asked about")


def test_never(g, client):
    before = len(g.seen())
    targets = [("GET", "/repos/me/other"), ("GET", "/repos/me/shop/keys"),
               ("GET", "/repos/me/shop/%6beys"), ("GET", "/repos//me/shop"),
               ("GET", "/repos/me/shop/../other"),
               ("GET", "/repos/me/shop%2f..%2fother"),
               ("GET", "/repos/me/shop;a=b"), ("GET", "/repos/me/shop/"),
               ("GET", "/repos/me/shop/actions/secrets"),
               ("GET", "/REPOS/me/shop"), ("GET", "/graphql?query={viewer}"),
               ("POST", "/repos/me/shop/keys"), ("PUT", "/graphql"),
               ("PUT", "/repos/me/shop/contents/a"), ("DELETE", "/repos/me/shop"),
               ("PATCH", "/repos/me/shop"), ("POST", "/repos/me/shop/hooks"),
               ("POST", "/repos/me/shop/git/refs"), ("POST", "/gists"),
               ("PUT", "/repos/me/shop/actions/workflows/5/disable")]
    statuses = {client(method, target, None if method == "GET" else "{}")[0]
                for method, target in targets}
    t.ok(statuses <= {400, 403, 404, 405}, f"{len(targets)} paths that are "
         f"never permitted are refused: {statuses}")
    t.equal(len(g.seen()), before, "and none arrives")


# How a path can be spelled that a server may read as the same one.
SPELLINGS = (
    lambda p: p, str.upper, str.title, lambda p: p + "/", lambda p: p + "/x/..",
    lambda p: p + ";x=y", lambda p: p + "%00", lambda p: p + ".json",
    lambda p: p + "?x=y", lambda p: p + "#x", lambda p: p.replace("/", "//"),
    lambda p: p.replace("/", "/./"),
    lambda p: p[0] + p[1:].replace("/", "%2f"),
    lambda p: p[0] + p[1:].replace("/", "\\"),
    lambda p: "".join(c if c == "/" else f"%{ord(c):02x}" for c in p),
    lambda p: "".join(c if c == "/" else f"%25{ord(c):02x}" for c in p))


def never(kind, rest):
    """Yields the method and the path of each row of the list."""
    prefix = {"github": "", "gitlab": "/api/v4", "gitea": "/api/v1"}[kind]
    with open(os.path.join(API, kind + ".api"), encoding="ascii") as f:
        rows = [x.partition(": ")[0].split()[1:] for x in f
                if x.startswith("never ")]
    for method, path in rows:
        path = path.replace("/**", rest)
        for name in (["me%2Fshop"] if path.startswith("/projects/") else
                     ["me", "shop"]):
            path = path.replace("*", name, 1)
        yield ({"*": "GET", "!": "POST"}.get(method, method),
               prefix + path.replace("*", "7"))


def test_all_never(g, client, kind):
    before, statuses = len(g.seen()), set()
    tries = [(method, spelling(path)) for method, path in never(kind, "")
             for spelling in SPELLINGS] + list(never(kind, "/7"))
    for method, path in tries:
        statuses.add(client(method, path,
                            None if method == "GET" else "{}")[0])
    t.ok(statuses <= {400, 403, 404, 405} and len(tries) > 16 * 50,
         f"{kind}: {len(tries)} spellings of what is never permitted are "
         f"refused: {statuses}")
    t.equal(g.seen()[before:][:3], [], "and none arrives")


READS = {
    "gitlab": [
        "/api/v4/user", "/api/v4/projects/me%2Fshop?license=true",
        "/api/v4/users?username=octo",
        "/api/v4/projects/me%2Fshop/issues?page=1&per_page=30&state=opened",
        "/api/v4/projects/me%2Fshop/issues/12",
        "/api/v4/projects/me%2Fshop/issues/12/notes?page=1&per_page=20",
        "/api/v4/projects/me%2Fshop/merge_requests?per_page=30&scope=all&"
        "state=opened",
        "/api/v4/projects/me%2Fshop/merge_requests/12",
        "/api/v4/projects/me%2Fshop/merge_requests/12/diffs",
        "/api/v4/projects/me%2Fshop/merge_requests/12/approvals",
        "/api/v4/projects/me%2Fshop/pipelines/4711/jobs",
        "/api/v4/projects/me%2Fshop/jobs/99/trace",
        "/api/v4/projects/me%2Fshop/repository/files/src%2Fa.c?ref=main",
        "/api/v4/projects/me%2Fshop/releases?page=1&per_page=30"],
    "gitea": [
        "/api/v1/version", "/api/v1/user", "/api/v1/repos/me/shop",
        "/api/v1/repos/me/shop/issues?limit=30&page=1&state=open&type=issues",
        "/api/v1/repos/me/shop/issues/12",
        "/api/v1/repos/me/shop/issues/12/comments",
        "/api/v1/repos/me/shop/pulls?limit=30&page=1&state=open",
        "/api/v1/repos/me/shop/pulls/12",
        "/api/v1/repos/me/shop/pulls/12.diff",
        "/api/v1/repos/me/shop/pulls/12/reviews",
        "/api/v1/repos/me/shop/releases?limit=30&page=1"]}
# A change, what is sent for it, and what a person reads.
WRITES = {
    "gitlab": [
        ("POST", "/api/v4/projects/me%2Ftools/merge_requests",
         {"source_branch": "fix/tax", "target_branch": "main", "title": "Tax",
          "description": "Closes #3", "target_project_id": 77,
          "assignee_ids": [5]},
         "Opens a merge request in me/shop, from me/tools: \"Tax\", fix/tax "
         "into main, assigned to octo."),
        ("PUT", "/api/v4/projects/me%2Fshop/merge_requests/12",
         {"state_event": "close"},
         "Closes me/shop !12 \"Fix tax\" (open, fix/tax into main)."),
        ("POST", "/api/v4/projects/me%2Fshop/issues/12/notes",
         {"body": "Looks good"}, "Comments on me/shop #12 \"Fix tax\" (open"),
        ("POST", "/api/v4/projects/me%2Fshop/jobs/99/retry", None,
         "Re-runs the CI job 99 of \"build\" on fix/tax in me/shop."),
        ("PUT", "/api/v4/projects/me%2Fshop/merge_requests/12/merge",
         {"squash": True}, "Merges me/shop !12")],
    "gitea": [
        ("POST", "/api/v1/repos/me/shop/pulls",
         {"head": "fix/tax", "base": "main", "title": "Tax", "body": "x"},
         "Opens a pull request in me/shop: \"Tax\", fix/tax into main."),
        ("PATCH", "/api/v1/repos/me/shop/pulls/12",
         {"title": "Fix tax", "state": "closed", "base": ""},
         "Closes me/shop #12 \"Fix tax\" (open)."),
        ("POST", "/api/v1/repos/me/shop/issues/12/comments", {"body": "Done"},
         "Comments on me/shop #12 \"Fix tax\" (open).")]}
REFUSED = {
    "gitlab": [
        ("GET", "/api/v4/projects/else%2Fsecret", None),
        ("GET", "/api/v4/projects/77", None),
        ("GET", "/api/v4/projects/me%2Fshop/variables", None),
        ("GET", "/api/v4/projects/me/shop", None),
        ("POST", "/api/v4/projects/me%2Fshop/issues/12/notes",
         {"body": "x\n/merge"}),
        ("DELETE", "/api/v4/projects/me%2Fshop", None)],
    "gitea": [
        ("GET", "/api/v1/repos/else/secret", None),
        ("GET", "/api/v1/repos/me/shop/keys", None),
        ("POST", "/api/v1/admin/users", {}),
        ("PUT", "/api/v1/repos/me/shop/contents/a", {})]}


def held(s, client, method, target, body):
    """Make a request, and approve it when it is asked about. Returns status,
    answer and what a person saw."""
    result = []
    text = None if body is None else json.dumps(body)
    thread = threading.Thread(target=lambda: result.append(
        client(method, target, text)), daemon=True)
    thread.start()
    hold = h.wait_for(lambda: s.pending() or not thread.is_alive(), "a call")
    shown = ""
    if hold is not True:
        shown = s.icctl("show", hold[0]["id"]).stdout
        s.icctl("approve", hold[0]["id"])
    thread.join(60)
    return *(result or [(0, "")])[0], shown


def test_rest(s, g, client, kind):
    for target in READS[kind]:
        before = len(g.seen())
        status, answer = client("GET", target)
        t.equal((status, [x["target"] for x in g.seen()[before:]]),
                (200, [target]), f"{target} is read")
        t.ok(not any(x in answer for x in SECRETS), "without secrets")
    status, answer = client("GET", READS[kind][-1].partition("/releases")[0],
                            accept="text/plain")
    t.ok(not any(x in answer for x in SECRETS),
         f"nor with another name: {status}")
    t.equal(s.pending(), [], "reading asks nobody")
    for method, target, body, sentence in WRITES[kind]:
        before = len(g.seen())
        status, answer, shown = held(s, client, method, target, body)
        made = [x for x in g.seen()[before:] if x["method"] == method]
        t.ok(sentence in shown, f"a person reads: {sentence}" if sentence in
             shown else f"a person reads: {shown}")
        t.equal((status in (200, 201), [x["target"] for x in made],
                 [json.loads(x["body"] or "null") for x in made]),
                (True, [target], [body]), "and what was approved arrives")
        t.ok(not any(x in answer for x in SECRETS), "its answer is clean")
    before = len(g.seen())
    for method, target, body in REFUSED[kind]:
        status, answer = client(method, target,
                                None if body is None else json.dumps(body))
        t.ok(status in (403, 404), f"{method} {target} is refused: {status}")
    status, answer = client("POST", "/api/v4/projects/me%2Ftools/"
                            "merge_requests", json.dumps(
                                {"source_branch": "a", "target_branch": "b",
                                 "title": "T", "target_project_id": 78})) \
        if kind == "gitlab" else (403, "")
    t.ok(status in (403, 404), "a target on another list is refused")
    t.equal([x for x in g.seen()[before:] if x["method"] != "GET"], [],
            "nothing of them arrives")
    t.ok(all(x["authorized"] for x in g.seen()), "all had the real token")


def github():
    with h.workdir() as work:
        g = Forge(work, "forge.py")
        with session(work, g, "github", "api.github.com") as s:
            client = Client(s, "api.github.com", "authorization",
                            "token " + s.agent_env()["GH_TOKEN"])
            with t.case("test_texts"):
                test_texts(s, g, client)
            with t.case("test_never"):
                test_never(g, client)
                test_all_never(g, client, "github")
            t.equal(s.events("alarm"), [], "no alarm")
        g.end()


def test_rights(work, g, host, header, variable):
    """A token of more rights than Developer has is refused when it shows."""
    with session(os.path.join(work, "rights"), g, "gitlab", host) as s:
        client = Client(s, host, header, s.agent_env()[variable])
        status, answer = client("GET", "/api/v4/projects/me%2Fshop")
        t.ok(status == 403 and "Developer" in answer and
             not any(x in answer for x in SECRETS),
             "a token that sees runners_token is refused", answer)
        h.wait_for(lambda: "Developer" in s.icctl("status").stdout,
                   "status says nothing of it")
        t.ok(True, "and status says so")


def other(kind, header, prefix, variable):
    host = kind + ".example.org"
    with h.workdir() as work:
        g = Forge(work, "forge_rest.py", "--host", host)
        if kind == "gitlab":
            with t.case("rights"):
                test_rights(work, g, host, header, variable)
        with session(work, g, kind, host, classic=True) as s:
            client = Client(s, host, header, prefix + s.agent_env()[variable])
            with t.case(kind):
                test_rest(s, g, client, kind)
                test_all_never(g, client, kind)
            log = json.dumps(s.audit()) + s.session_log()
            t.ok(TOKEN not in log and SECRETS[0] not in log,
                 "no secret in our logs")
            t.ok("(null)" not in log, "each reason in them names something")
            t.equal([x for x in s.events("modelResponse") if
                     x["status"] == 200 and x["received"] == 0], [],
                    "and each answer has its size")
            t.equal(s.events("alarm"), [], "no alarm")
        g.end()


def test_asked(s, g, client):
    before = len(g.seen())
    for method, target, body, sentence in (
            ("GET", "/repos/me/shop", None,
             "Reads the repository of me/shop."),
            ("POST", "/graphql", {"query": "{viewer{login}}"}, "Reads.")):
        status, _, shown = held(s, client, method, target, body)
        t.ok(sentence in shown, f"{method} {target}: a person reads: "
             f"{sentence if sentence in shown else shown}")
        t.equal(status, 200, "and it is sent")
    t.equal(len(g.seen()) - before, 2, "each once")


def asked():
    """With "read": "ask", a person is asked about reads, too."""
    with h.workdir() as work:
        g = Forge(work, "forge.py")
        with session(work, g, "github", "api.github.com", read="ask") as s:
            client = Client(s, "api.github.com", "authorization",
                            "token " + s.agent_env()["GH_TOKEN"])
            with t.case("test_asked"):
                test_asked(s, g, client)
            t.equal(s.events("alarm"), [], "no alarm")
        g.end()


github()
asked()
other("gitlab", "private-token", "", "GITLAB_TOKEN")
other("gitea", "authorization", "token ", "GITEA_TOKEN")
t.done()
