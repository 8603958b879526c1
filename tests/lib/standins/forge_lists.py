#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A stand-in of a forge that is asked what a token can do: the repositories of
GitHub, GitLab or Gitea, in pages, and GitLab's object about a token, over TLS
on 127.0.0.1. The members are those of the real answers. --scene names what is
answered. Shares no code with the product. Prints {"port": N}; each request is a
JSON line of the log, written before it is answered."""
import argparse
import http.server
import json
import os
import re
import sys
import threading
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import https  # noqa: E402

LOCK = threading.Lock()
WORDS = ("archive assignees blobs branches collaborators comments commits "
         "compare contents contributors deployments downloads events forks "
         "git_commits git_refs git_tags hooks issue_comment issue_events issues "
         "keys labels languages merges milestones notifications pulls releases "
         "stargazers statuses subscribers subscription tags teams trees").split()


def github(name, level):
    """level: 0 may only read, 1 may push, 2 administers."""
    owner, short = name.split("/")
    api = "https://api.github.com/repos/" + name
    return {"id": 1296269, "node_id": "R_kgDOABPHjQ", "name": short,
            "full_name": name, "private": True, "owner": {
                "login": owner, "id": 1, "type": "User", "site_admin": False,
                "url": "https://api.github.com/users/" + owner},
            "html_url": "https://github.com/" + name, "description": None,
            "fork": False, "url": api,
            **{w + "_url": f"{api}/{w}{{/sha}}" for w in WORDS},
            "created_at": "2026-01-02T03:04:05Z", "size": 108, "topics": [],
            "default_branch": "main", "visibility": "private", "license": None,
            "permissions": {"admin": level == 2, "maintain": level == 2,
                            "push": level > 0, "triage": level > 0,
                            "pull": True}}


def gitlab(name, level, group=None, runners=False):
    out = {"id": 77, "path_with_namespace": name, "name": name.split("/")[1],
           "default_branch": "main", "visibility": "private", "namespace": {
               "id": 3, "kind": "user", "full_path": name.split("/")[0]},
           "_links": {"self": "https://gitlab.example.org/api/v4/projects/77"},
           "container_registry_enabled": True, "shared_with_groups": [],
           "permissions": {
               which: None if at is None else {
                   "access_level": at, "notification_level": 3}
               for which, at in (("project_access", level),
                                 ("group_access", group))}}
    if runners:
        out["runners_token"] = "GR1348941runners"
    return out


def gitea(name, level):
    owner, short = name.split("/")
    return {"id": 5, "owner": {"id": 1, "login": owner, "is_admin": False},
            "name": short, "full_name": name, "private": True, "fork": False,
            "permissions": {"admin": level == 2, "push": level > 0,
                            "pull": True}, "default_branch": "main",
            "internal_tracker": {"enable_time_tracker": True}}


def many(make, n, *last):
    """A full page of repositories that can only be read, and others."""
    return [make(f"else/r{i}", 0) for i in range(n)] + list(last)


SELF = {"id": 4, "name": "shop", "revoked": False, "scopes": ["api"],
        "user_id": 9, "active": True, "expires_at": "2026-12-30"}
# Scenes: paths, each with a status and an answer; a list is cut into pages.
SCENES = {
    "hub": {"/user/repos": (200, many(
        github, 99, github("me/shop", 2), github("me/diary", 2),
        github("me/site", 1)))},
    "old": {"/api/v3/user/repos": (200, [github("me/shop", 2),
                                         github("me/diary", 2)])},
    "app": {"/api/v3/user/repos": (403, {
        "message": "Resource not accessible by integration",
        "documentation_url": "https://docs.github.com/rest"})},
    "object": {"/api/v3/user/repos": (200, {"message": "moved", "total_count": 1})},
    "ends": {"/api/v3/user/repos": (200, many(github, 150))},
    "lab": {"/api/v4/personal_access_tokens/self": (200, dict(
        SELF, scopes=["api", "create_runner"])), "/api/v4/projects": (
            200, [gitlab("me/shop", 40, None, True),
                  *many(gitlab, 100, gitlab("me/diary", None, 50))])},
    "tea": {"/api/v1/user/repos": (200, [gitea("me/shop", 2), *many(
        gitea, 60, gitea("me/diary", 1))])},
}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, out, headers=()):
        body = json.dumps(out).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json; charset=utf-8")
        if self.server.args.scene == "old":
            self.send_header("x-oauth-scopes", "repo, read:org")
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def page(self, path, query, rows):
        """Answer with the page that was asked for, and name the next one."""
        at = int(query.get("page", ["1"])[0])
        size = int((query.get("per_page") or query.get("limit") or ["30"])[0])
        if at > 1 and self.server.args.scene == "ends":
            self.reply(502, {"message": "Server Error"})
            return
        headers, more = [], len(rows) > at * size
        if path.startswith("/api/v1"):
            headers = [("x-total-count", str(len(rows)))]
            size = min(size, 30)  # its administrator's limit
        elif "projects" in path:
            headers = [("x-next-page", str(at + 1) if more else "")]
        elif more:
            headers = [("link", f'<https://{self.headers["host"]}{path}?page='
                        f'{at + 1}>; rel="next"')]
        self.reply(200, rows[(at - 1) * size:at * size], headers)

    def do_GET(self):
        given = self.headers.get("private-token") or re.sub(
            "^token ", "", self.headers.get("authorization") or "")
        good = given == self.server.args.token
        with LOCK, open(self.server.args.log, "a", encoding="utf-8") as f:
            f.write(json.dumps({"ev": "request", "target": self.path,
                                "authorized": good}) + "\n")
        path, _, query = self.path.partition("?")
        status, out = SCENES[self.server.args.scene].get(
            path, (404, {"message": "Not Found"}))
        if not good:
            self.reply(401, {"message": "Bad credentials"})
        elif isinstance(out, list):
            self.page(path, urllib.parse.parse_qs(query), out)
        else:
            self.reply(status, out)


def main():
    p = argparse.ArgumentParser()
    for name in ("--ca-dir", "--log", "--token", "--scene"):
        p.add_argument(name, required=True)
    args = p.parse_args()
    https.serve(Handler, args, ["forge.example.org"], "forge")


if __name__ == "__main__":
    main()
