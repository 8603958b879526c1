#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A stand-in of GitHub's API for tests: REST and GraphQL over TLS on 127.0.0.1,
for who has the token. It answers each query of GraphQL with made-up values for
exactly the fields that were asked for, so that real tools can be its clients.
Shares no code with the product. Prints {"port": N}; each request is a JSON line
of of the log, written before it is answered. For logs and files it redirects to
BLOBS, which it serves as well."""
import argparse
import hashlib
import http.server
import io
import json
import os
import re
import sys
import threading
import zipfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import https  # noqa: E402

LOCK = threading.Lock()
TOKEN = re.compile(r'[\s,]+|#[^\n]*|(\.\.\.|[!$()\[\]{}:=@|&])|([_A-Za-z]\w*)'
                   r'|("(?:\\.|[^"\\])*")|(-?\d+(?:\.\d+)?)')
NUMBERS = {"issueCount", "databaseId", "totalCount", "additions", "deletions",
           "changedFiles", "position", "size"}
FALSE = {"isInMergeQueue", "isMergeQueueEnabled", "requiresStrictStatusChecks",
         "closed", "isBot", "hasNextPage", "isDraft", "isCrossRepository",
         "isFork", "isArchived", "isPrivate", "locked", "viewerDidAuthor",
         "isRequired", "isInOrganization", "includesCreatedEdit",
         "isMinimized", "maintainerCanModify", "isPrerelease", "isPinned",
         "isBlankIssuesEnabled", "isEmpty", "isMirror", "isTemplate"}
TRUE = {"hasIssuesEnabled", "viewerCanAdminister", "mergeCommitAllowed",
        "squashMergeAllowed", "rebaseMergeAllowed", "isLatest", "isViewer",
        "hasWikiEnabled", "hasDiscussionsEnabled"}
NULL = {"parent", "milestone", "mergeCommit", "mergedBy", "autoMergeRequest",
        "mirrorUrl", "templateRepository"}
WORDS = {"state": "OPEN", "status": "COMPLETED", "conclusion": "SUCCESS",
         "headRefName": "fix/tax", "baseRefName": "main", "login": "me",
         "mergeable": "MERGEABLE", "mergeStateStatus": "CLEAN",
         "viewerPermission": "ADMIN", "stateReason": "",
         "viewerDefaultMergeMethod": "MERGE", "oid": "a" * 40,
         "visibility": "PUBLIC", "title": "Totals are wrong",
         "body": "The sum is off by one.", "nameWithOwner": "me/shop"}
FIELDS = {"PullRequest": ["isInMergeQueue", "isMergeQueueEnabled",
                          "reviewDecision", "statusCheckRollup"],
          "Issue": ["stateReason", "projectItems"],
          "WorkflowRun": ["event"],
          "Repository": ["visibility", "pullRequestTemplates",
                         "autoMergeAllowed"]}
# The node of each id, by its beginning.
NODES = [("R_foreign", "Repository", "else/secret"),
         ("PR_foreign", "PullRequest", "else/secret"),
         ("I_foreign", "Issue", "else/secret"), ("R_", "Repository", "me/shop"),
         ("PR_", "PullRequest", "me/shop"), ("I_", "Issue", "me/shop"),
         ("L_", "Label", "me/shop"), ("U_", "User", None),
         ("IC_", "IssueComment", "me/shop"), ("B_", "Bot", None)]
IDS = {"repository": "R_shop", "pullRequest": "PR_12", "issue": "I_12",
       "issueOrPullRequest": "I_12", "labels": "L_bug", "owner": "U_me",
       "assignableUsers": "U_you", "viewer": "U_me"}
MADE = "2026-01-02T03:04:05Z"


class Query:
    """Reads a document and answers its operation."""

    def __init__(self, text, variables):
        self.at, self.words, self.fragments = 0, [], {}
        self.variables = variables or {}
        i = 0
        while i < len(text):
            m = TOKEN.match(text, i)
            if not m:
                raise ValueError(text[i:i + 20])
            i = m.end()
            if m.lastindex:
                self.words.append(m.group(m.lastindex))
        self.operation = None
        while self.at < len(self.words):
            self.definition()

    def peek(self):
        return self.words[self.at] if self.at < len(self.words) else None

    def take(self):
        self.at += 1
        return self.words[self.at - 1]

    def definition(self):
        if self.peek() == "{":
            self.operation = ("query", self.selection())
            return
        kind = self.take()
        if kind == "fragment":
            name = self.take()
            self.at += 2
            self.fragments[name] = self.selection()
            return
        if self.peek() not in ("(", "{"):
            self.take()
        if self.peek() == "(":
            while self.take() != ")":
                pass
        self.operation = (kind, self.selection())

    def value(self):
        x = self.take()
        if x == "[":
            out = []
            while self.peek() != "]":
                out.append(self.value())
            self.take()
            return out
        if x == "{":
            out = {}
            while self.peek() != "}":
                name = self.take()
                self.take()
                out[name] = self.value()
            self.take()
            return out
        if x == "$":
            return self.variables.get(self.take())
        return json.loads(x) if x[0] == '"' else x

    def arguments(self):
        out = {}
        if self.peek() != "(":
            return out
        self.take()
        while self.peek() != ")":
            name = self.take()
            self.take()
            out[name] = self.value()
        self.take()
        return out

    def selection(self):
        self.take()
        out = []
        while self.peek() != "}":
            x = self.take()
            if x == "...":
                y = self.take()
                out.append(("on", self.take(), self.selection())
                           if y == "on" else ("spread", y))
                continue
            alias = x
            if self.peek() == ":":
                self.take()
                x = self.take()
            args = self.arguments()
            out.append(("field", alias, x, args, self.selection()
                        if self.peek() == "{" else None))
        self.take()
        return out

    def fill(self, selection, path=(), node=None, of=None):
        out = {}
        for s in selection:
            if s[0] == "on":
                if node and s[1] != node[1] or not node and s[1] in (
                        "StatusContext", "Mannequin", "Bot", "Organization",
                        "Team"):
                    continue
                out.update(self.fill(s[2], path, node))
            elif s[0] == "spread":
                out.update(self.fill(self.fragments[s[1]], path, node))
            else:
                out[s[1]] = self.field(s, path, node, of)
        return out

    def field(self, s, path, node, of):
        _, _, name, args, selection = s
        if selection is None:
            return self.leaf(name, path, node)
        here = path + (name,)
        if name == "node" and "id" in args:
            found = [n for n in NODES if str(args["id"]).startswith(n[0])]
            return self.fill(selection, here, found[0]) if found else None
        if name == "repository" and node:
            return node[2] and {k: v for k, v in self.fill(
                selection, here, ("R_", "Repository", node[2])).items()}
        if name in NULL:
            return None
        # Nobody has opened a pull request of this branch.
        if args.get("headRefName") == "fix/new":
            return {a[1]: [] for a in selection if a[0] == "field" and
                    a[2] in ("nodes", "edges")}
        if name == "__type":
            return self.fill(selection, here, None, args["name"])
        if name in ("fields", "enumValues") and "__type" in path:
            return [{"name": x} for x in FIELDS.get(of, ["name"])]
        if name in ("nodes", "edges"):
            return [self.fill(selection, here)]
        if name in ("reactionGroups", "issueTemplates", "contactLinks",
                    "pullRequestTemplates"):
            return []
        return self.fill(selection, here)

    @staticmethod
    def leaf(name, path, node):
        last = path[-1] if path else ""
        whose = node[2] if node else "me/shop"
        if name == "__typename":
            return (node[1] if node else
                    "CheckRun" if "contexts" in path else
                    "User" if last in ("author", "requestedReviewer") else
                    "Issue" if last == "issueOrPullRequest" else "PullRequest")
        if name == "nameWithOwner":
            return whose
        if name == "number":
            return 12
        if name == "name":
            if node and node[1] == "Repository":
                return whose.split("/")[1]
            return ("main" if last in ("defaultBranchRef", "ref") else
                    "shop" if "epository" in last else "bug")
        if name == "login":
            if node and node[1] == "Repository":
                return whose.split("/")[0]
            return "you" if "assignableUsers" in path else "me"
        if name == "state" and ("contexts" in path or
                                "statusCheckRollup" in path):
            return "SUCCESS"
        if name == "id":
            return next((IDS[p] for p in reversed(path) if p in IDS), "X_1")
        if name in NUMBERS:
            return 1
        if name in FALSE:
            return False
        if name in TRUE:
            return True
        if name.endswith("At"):
            return MADE
        if name in ("url", "detailsUrl", "targetUrl", "link"):
            kind = "pull" if "pull" in "".join(path).lower() else "issues"
            return f"https://github.com/me/shop/{kind}/12"
        return WORDS.get(name, "x")


RUN = {"id": 4711, "name": "CI", "display_title": "tax", "event": "push",
       "path": ".github/workflows/ci.yml", "head_branch": "fix/tax",
       "head_sha": "a" * 40, "run_number": 1, "run_attempt": 1,
       "status": "completed", "conclusion": "failure", "workflow_id": 5,
       "html_url": "https://github.com/me/shop/actions/runs/4711",
       "jobs_url": "https://api.github.com/repos/me/shop/actions/runs/4711/"
                   "jobs",
       "rerun_url": "https://api.github.com/repos/me/shop/actions/runs/4711/"
                    "rerun",
       "created_at": MADE, "updated_at": MADE, "run_started_at": MADE,
       "head_commit": {"message": "tax", "id": "a" * 40},
       "head_repository": {"owner": {"login": "me"}, "name": "shop"},
       "repository": {"full_name": "me/shop"}}
JOB = {"id": 99, "name": "build", "status": "completed", "run_id": 4711,
       "conclusion": "failure", "started_at": MADE, "completed_at": MADE,
       "html_url": "https://github.com/me/shop/actions/runs/4711/job/99",
       "url": "https://api.github.com/repos/me/shop/actions/jobs/99",
       "steps": [{"name": "test", "status": "completed", "number": 1,
                  "conclusion": "failure"}]}
WORKFLOW = {"id": 5, "name": "CI", "path": ".github/workflows/ci.yml",
            "state": "active"}
RELEASE = {"id": 7, "tag_name": "v1", "name": "v1", "draft": False,
           "prerelease": False, "body": "first", "created_at": MADE,
           "published_at": MADE, "author": {"login": "me"},
           "url": "https://api.github.com/repos/me/shop/releases/7",
           "html_url": "https://github.com/me/shop/releases/tag/v1",
           "upload_url": "", "assets": [
               {"id": 31, "name": "shop.tar", "size": 5,
                "url": "https://api.github.com/repos/me/shop/releases/assets/"
                       "31"}]}
BLOBS = "productionresultssa7.blob.core.windows.net"
SIGNED = "sig=SIGNED0123456789"


def packed(**files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        for name, text in files.items():
            z.writestr(name.replace("__", "/"), text)
    return out.getvalue()


LOGS = packed(**{"build__1_test.txt": MADE + " one line of the log\n"})
FILES = packed(**{"report.txt": "one artifact"})
# The number of a run, and where its logs are said to be.
PLACES = {
    1: ["http://" + BLOBS + "/logs"], 2: ["https://evil.example/logs"],
    3: ["https://127.0.0.1/logs"], 4: ["https://me:pw@" + BLOBS + "/logs"],
    5: ["https://" + BLOBS + ":444/logs"],
    6: ["https://api.github.com/repos/me/shop/actions/runs/6/logs"],
    7: [], 8: ["https://" + BLOBS + "/logs"] * 2,
    9: ["https://" + BLOBS + "/" + "x" * 5000], 10: ["/logs"],
    11: ["https://" + BLOBS + "/loop?" + SIGNED],
    12: ["https://" + BLOBS + "/missing"], 13: ["https://" + BLOBS + "/huge"],
    14: ["https://" + BLOBS + "\t/logs"], 15: ["https://" + BLOBS],
    16: ["https://" + BLOBS.upper() + "/logs"],
    17: ["https://x." + BLOBS + "/logs"], 18: ["//" + BLOBS + "/logs"],
    19: ["https://" + BLOBS + "/logs#part"], 20: ["https://" + BLOBS + "/cut"],
    21: ["https://" + BLOBS + "\\@evil.example/logs"],
    22: ["https://[::1]/logs"], 23: ["https://" + BLOBS + "./logs"]}
REST = [
    (r"/actions/runs/\d+/(rerun|rerun-failed-jobs|cancel)", 202, {}),
    (r"/actions/runs/\d+(/attempts/\d+)?/jobs", 200,
     {"total_count": 1, "jobs": [JOB]}),
    (r"/actions/jobs/\d+", 200, JOB),
    (r"/actions/runs/\d+(/attempts/\d+)?", 200, RUN),
    (r"/actions/(workflows/\w+/)?runs", 200,
     {"total_count": 1, "workflow_runs": [RUN]}),
    (r"/actions/workflows", 200, {"total_count": 1, "workflows": [WORKFLOW]}),
    (r"/actions/workflows/[\w.]+", 200, WORKFLOW),
    (r"/check-runs/\d+/annotations", 200, []),
    (r"/actions/runs/\d+/artifacts", 200, {"total_count": 1, "artifacts": [
        {"id": 2100, "name": "report", "size_in_bytes": len(FILES),
         "expired": False, "archive_download_url": "https://api.github.com/"
         "repos/me/shop/actions/artifacts/2100/zip"}]}),
    (r"/releases", 200, [RELEASE]),
    (r"/releases/.*", 200, RELEASE),
    (r"/pulls/\d+", 200, b"diff --git a/x b/x\n"),
    (r"/issues/\d+/comments", 201, {"id": 1}),
    (r"", 200, {"full_name": "me/shop", "name": "shop", "private": False,
                "owner": {"login": "me"}, "default_branch": "main"}),
]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def record(self, body, good):
        line = {"ev": "request", "method": self.command, "target": self.path,
                "host": self.headers.get("host"),
                "headers": list(self.headers.items()),
                "body": body.decode("utf-8", "replace"),
                "bodySha256": hashlib.sha256(body).hexdigest(),
                "authorized": good}
        with LOCK, open(self.server.args.log, "a", encoding="utf-8") as f:
            f.write(json.dumps(line) + "\n")

    def reply(self, status, out):
        body = out if isinstance(out, bytes) else json.dumps(out).encode()
        self.send_response(status)
        self.send_header("content-type", "text/plain" if isinstance(out, bytes)
                         else "application/json; charset=utf-8")
        # No fine-grained token has scopes.
        if self.server.args.token.startswith("ghp_"):
            self.send_header("x-oauth-scopes", "repo, read:org")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def redirect(self, places):
        self.send_response(302)
        for place in places:
            self.send_header("location", place)
        self.send_header("content-length", "0")
        self.end_headers()

    def file(self):
        """Answer as a host of files."""
        path = self.path.partition("?")[0]
        if path == "/loop":
            self.redirect(["https://" + BLOBS + "/loop"])
        elif path == "/missing":
            self.reply(404, {"message": "gone"})
        elif path in ("/huge", "/cut"):
            self.send_response(200)
            self.send_header("content-length",
                             str(10 ** 9 if path == "/huge" else 100))
            self.end_headers()
            self.wfile.write(b"half")
            self.close_connection = True
        else:
            self.reply(200, {"/artifact": FILES, "/asset": b"asset"}.get(
                path, LOGS))

    def place(self):
        """Return where the answer is, or None if it is here."""
        for pattern, path in ((r"/runs/(\d+)(?:/attempts/\d+)?/logs", "/logs"),
                              (r"/jobs/(\d+)/logs", "/logs"),
                              (r"/artifacts/(\d+)/zip", "/artifact"),
                              (r"/releases/assets/(\d+)", "/asset")):
            m = re.search(pattern + "$", self.path)
            if m:
                return PLACES.get(int(m[1]), [f"https://{BLOBS}{path}?{SIGNED}"])
        return None

    def serve(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        given = self.headers.get("authorization") or ""
        good = given == "token " + self.server.args.token
        self.record(body, good)
        if self.headers.get("host") == BLOBS:
            self.file()
        elif not good:
            self.reply(401, {"message": "Bad credentials"})
        elif self.place() is not None:
            self.redirect(self.place())
        elif self.path == "/graphql":
            asked = json.loads(body)
            try:
                q = Query(asked["query"], asked.get("variables"))
                self.reply(200, {"data": q.fill(q.operation[1])})
            except (ValueError, IndexError, KeyError, TypeError) as e:
                self.reply(200, {"errors": [{"message": repr(e)}]})
        elif self.path.partition("?")[0] in ("/", "/user"):
            self.reply(200, {"login": "me", "id": 1})
        else:
            path = re.sub(r"^/repos/[^/]+/[^/?]+", "",
                          self.path.partition("?")[0])
            for pattern, status, out in REST:
                if re.fullmatch(pattern, path):
                    self.reply(status, out)
                    return
            self.reply(404, {"message": "Not Found"})

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = serve


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--ca-dir", required=True)
    p.add_argument("--log", required=True)
    p.add_argument("--token", required=True)
    args = p.parse_args()
    https.serve(Handler, args, ["api.github.com", BLOBS], "forge")


if __name__ == "__main__":
    main()
