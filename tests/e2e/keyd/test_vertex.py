#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Google Vertex: Claude and Gemini in one project and region; tokens from a
variable, from a command that is run again after a 401, and from gcloud's
application-default login, with which keyd requests them; the login's refresh
token and client secret never appear in an answer."""
import json
import os
import secrets
import subprocess
import sys
import urllib.parse

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import cloud_helper as c  # noqa: E402
import harness as h  # noqa: E402
import joins  # noqa: E402
from oauth_helper import TokenServer  # noqa: E402

t = h.Tap()
CLAUDE = f"{c.VPATH}/anthropic/models/claude-sonnet-4-5@20250929"
GEMINI = f"{c.VPATH}/google/models/gemini-2.5-pro"
TURN = {"anthropic_version": "vertex-2023-10-16", "max_tokens": 10,
        "messages": [{"role": "user", "content": "hi"}]}


def token():
    return "ya29.real-" + secrets.token_urlsafe(120)


def ask(s, target, body=None, host=c.VERTEX, key=None, headers=(), m=None):
    key = key or s.agent_env()["CLOUDSDK_AUTH_ACCESS_TOKEN"]
    m = m or s.model(host=host, key=key)
    r = m.request("POST", target, [("Authorization", f"Bearer {key}"),
                                   ("Content-Type", "application/json"),
                                   *headers],
                  json.dumps(TURN if body is None else body).encode())
    m.close()
    return r


def variable():
    real = token()
    with h.workdir() as work:
        p = h.Provider(work, "--key", real, "--bodies")
        with h.Session(work, provider=p, config=c.vertex(p),
                       env={"CLOUDSDK_AUTH_ACCESS_TOKEN": real}) as s:
            env = s.agent_env()
            t.ok(env["CLOUDSDK_AUTH_ACCESS_TOKEN"].startswith(
                "ya29.ironcurtain-"), "the agent has a sentinel")
            t.equal((env["CLOUD_ML_REGION"],
                     env["ANTHROPIC_VERTEX_PROJECT_ID"]),
                    (c.LOCATION, c.PROJECT), "and region and project")
            r = ask(s, CLAUDE + ":rawPredict")
            t.equal((r.status, r.json()["model"]),
                    (200, "claude-sonnet-4-5"), "rawPredict")
            r = ask(s, CLAUDE + ":streamRawPredict", {**TURN, "stream": True},
                    headers=[("x-goog-user-project", c.PROJECT)])
            t.ok(r.status == 200 and b"message_stop" in r.body,
                 "streamRawPredict", r.body[:200])
            talk = {"contents": [{"role": "user", "parts": [{"text": "x"}]}]}
            r = ask(s, GEMINI + ":generateContent", talk)
            t.equal(r.status, 200, "generateContent")
            r = ask(s, GEMINI.replace("/v1/", "/v1beta1/") +
                    ":streamGenerateContent?alt=sse", talk)
            t.ok(r.status == 200 and b"usageMetadata" in r.body,
                 "streamGenerateContent", r.body[:200])
            for name, target, kw, want, part in (
                    ("another project", CLAUDE.replace(c.PROJECT, "other") +
                     ":rawPredict", {}, 403, "endpoint"),
                    ("another region", CLAUDE.replace(c.LOCATION, "us-east1")
                     + ":rawPredict", {}, 403, "endpoint"),
                    ("another publisher", f"{c.VPATH}/x/models/y:rawPredict",
                     {}, 403, "endpoint"),
                    ("another method", CLAUDE + ":predict", {}, 403,
                     "endpoint"),
                    ("a batch job", f"/v1/projects/{c.PROJECT}/locations/"
                     f"{c.LOCATION}/batchPredictionJobs", {}, 403,
                     "endpoint"),
                    ("two @", CLAUDE + "@x:rawPredict", {}, 400, "-._:@"),
                    ("an escape", CLAUDE.replace("@", "%40") + ":rawPredict",
                     {}, 400, "-._:@"),
                    ("another key", CLAUDE + ":rawPredict", {"key": token()},
                     403, "not this session's key"),
                    ("a file in a bucket", GEMINI + ":generateContent",
                     {"body": {"contents": [{"parts": [{"fileData": {
                         "fileUri": "gs://a/b"}}]}]}}, 403, "URL")):
                r = ask(s, target, **kw)
                t.ok(r.status == want and part in
                     r.json()["error"]["message"], f"refused: {name}",
                     (r.status, r.body))
            m = s.model(host="us-central1-aiplatform.googleapis.com", key="x")
            t.equal(m.connect_response.status, 403,
                    "no tunnel leads to another region")
            r = ask(s, CLAUDE + ":rawPredict", {**TURN, "tools": [
                {"type": "web_search_20250305", "name": "web_search"},
                {"name": "a", "input_schema": {}}]})
            seen = p.seen()
            t.equal([x["name"] for x in json.loads(seen[-1]["body"])[
                "tools"]], ["a"], "the provider's own tool is taken out")
            t.ok(len(seen) == 5 and all(x["keyOk"] for x in seen),
                 "five requests came through, each with the real token",
                 [(x["target"], x["keyOk"]) for x in seen])
            t.equal(joins.check_requests(s.audit(), seen), [],
                    "what the provider saw is in the log")
            h.wait_for(lambda: len(s.events("usage")) >= 5, "usage")
            t.equal(sorted({(u["model"], u["in"], u["out"])
                            for u in s.events("usage")}),
                    [("claude-sonnet-4-5", 100, 20),
                     ("test-model", 100, 20)], "usage")
        p.end()


def command():
    """An expired token: the command is run once and the request sent again;
    the agent gets a second 401."""
    old, new = token(), token()
    with h.workdir() as work:
        p = h.Provider(work, "--key", new, "--bodies")
        runs = os.path.join(work, "runs")
        script = ["/bin/sh", "-c", f"if [ -e {runs} ]; then echo {new}; "
                  f"else echo {old}; fi; echo x >> {runs}"]
        with h.Session(work, provider=p, config=c.vertex(
                p, {"command": script, "shell": True})) as s:
            t.equal([ask(s, CLAUDE + ":rawPredict").status
                     for _ in range(3)], [200] * 3, "answered")
            t.equal([r["status"] for r in p.seen()], [401, 200, 200, 200],
                    "the first was sent twice")
            bodies = {r["body"] for r in p.seen()}
            t.equal(len(bodies), 1, "with the same body")
            with open(runs, encoding="ascii") as f:
                t.equal(f.read().split(), ["x"] * 2, "two runs")
        p.end()
        p = h.Provider(work, "--key", token(), name="never")
        with h.Session(work, provider=p, session_dir=os.path.join(
                work, "second"), config=c.vertex(p, {
                    "command": script, "shell": True})) as s:
            t.equal([ask(s, CLAUDE + ":rawPredict").status
                     for _ in range(3)], [401] * 3,
                    "what no command mends is passed on")
            with open(runs, encoding="ascii") as f:
                t.ok(len(f.read().split()) <= 4,
                     "and the command is not run for each")
        p.end()


class Adc:
    """gcloud's application_default_credentials.json."""

    def __init__(self, work, **more):
        self.secret = "d-" + secrets.token_urlsafe(18)
        self.refresh = "1//0" + secrets.token_urlsafe(60)
        self.client = "764086051850-x.apps.googleusercontent.com"
        self.path = os.path.join(work, "adc", "a.json")
        os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
        with open(self.path, "w", encoding="utf-8") as f:
            json.dump({"account": "", "client_id": self.client,
                       "client_secret": self.secret,
                       "quota_project_id": "quota-1",
                       "refresh_token": self.refresh,
                       "type": "authorized_user",
                       "universe_domain": "googleapis.com", **more}, f,
                      indent=2)
        os.chmod(self.path, 0o600)

    def start(self, work, *options, secret=None):
        server = TokenServer(work, "--google",
                             f"{self.client}:{secret or self.secret}",
                             *options, seeds=[("none", self.refresh)])
        config = {"credentials": {"vertex": {"login": "gcloud",
                                             "file": self.path}},
                  "providers": {"vertex": {
                      "region": c.LOCATION, "project": c.PROJECT,
                      **server.settings()}}}
        return server, config


def login():
    with h.workdir() as work:
        adc = Adc(work)
        server, config = adc.start(work)
        with open(adc.path, encoding="utf-8") as f:
            before = f.read()
        with h.Session(work, config=config) as s:
            t.equal([ask(s, CLAUDE + ":rawPredict").status
                     for _ in range(2)], [200, 200], "answered")
            seen = server.seen()
            t.ok(all(dict(r["headers"]).get("x-goog-user-project") ==
                     "quota-1" for r in seen), "with the quota's project")
            t.equal(server.order("/state")["refreshed"], 1,
                    "one token for both")
            server.order("/expire")
            t.equal(ask(s, CLAUDE + ":rawPredict").status, 200,
                    "a token that is refused is renewed, the request sent "
                    "again")
            t.equal(server.order("/state")["refreshed"], 2, "once")
            with open(adc.path, encoding="utf-8") as f:
                t.equal(f.read(), before, "the file is as it was")
            text = json.dumps(s.audit()) + s.session_log()
            tokens = [r["token"] for r in seen]
            t.ok(not any(x in text for x in [adc.refresh, adc.secret,
                                             *tokens]), "no log has a secret")
            keys = json.loads(s.icctl("--json", "keys").stdout)["keys"][0]
            t.equal((keys["kind"], keys["login"], keys["state"],
                     keys["renewals"]), ("login", "gcloud", "loaded", 2),
                    "icctl keys")
        server.end()


def wrong():
    with h.workdir() as work:
        adc = Adc(work)
        server, config = adc.start(work, secret="another")
        with h.Session(work, config=config) as s:
            r = ask(s, CLAUDE + ":rawPredict")
            t.ok(r.status == 403 and "icctl login" in r.body.decode(),
                 "a login that is refused", (r.status, r.body))
        server.end()
    for name, more, part in (
            ("a service account's key", {"type": "service_account",
                                         "refresh_token": None},
             "no login of this kind"),
            ("without the client's secret", {"client_secret": None},
             "no login of this kind")):
        with h.workdir() as work:
            adc = Adc(work, **more)
            server, config = adc.start(work)
            s = h.Session(work, config=config)
            r = subprocess.run(s.argv, env=s.env, capture_output=True,
                               text=True, timeout=20, check=False)
            t.ok(r.returncode != 0 and part in r.stderr, f"refused: {name}",
                 r.stderr[-400:])
            server.end()
    with h.workdir() as work:
        p = h.Provider(work)
        config = c.vertex(p)
        del config["providers"]["vertex"]["project"]
        s = h.Session(work, provider=p, config=config, env={
            "CLOUDSDK_AUTH_ACCESS_TOKEN": token()})
        r = subprocess.run(s.argv, env=s.env, capture_output=True, text=True,
                           timeout=20, check=False)
        t.ok(r.returncode != 0 and "needs a project" in r.stderr and
             "ANTHROPIC_VERTEX_PROJECT_ID" in r.stderr,
             "without a project it says what is missing", r.stderr[-400:])
        p.end()


def reflected():
    for which in ("refresh", "secret"):
        with h.workdir() as work:
            adc = Adc(work)
            server, config = adc.start(work)
            text = getattr(adc, which)
            server.order("/set?" + urllib.parse.urlencode({"echo": text}))
            with h.Session(work, config=config) as s:
                try:
                    got = ask(s, CLAUDE + ":rawPredict").body
                except Exception:  # pylint: disable=broad-except
                    got = b""
                t.ok(text.encode()[:12] not in got,
                     f"{which}: does not come through", got[:300])
                alarm = h.wait_for(lambda: s.events("alarm"), "alarm")[0]
                t.equal(alarm["kind"], "credential-reflected",
                        f"{which}: alarm")
            server.end()


CASES = {"variable": variable, "command": command, "login": login,
         "wrong": wrong, "reflected": reflected}

if __name__ == "__main__":
    for case_name in sys.argv[1:] or CASES:
        with t.case(case_name):
            CASES[case_name]()
    t.done()
