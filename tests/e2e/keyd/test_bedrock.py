#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Amazon Bedrock: the agent signs with a placeholder key, keyd signs with the
real one. The provider verifies every signature with its own code; usage is
read from event streams; keys are renewed by their command; the secret key and
the session token never appear in an answer."""
import base64
import json
import os
import secrets
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import cloud_helper as c  # noqa: E402
import h2  # noqa: E402
import harness as h  # noqa: E402
import joins  # noqa: E402

t = h.Tap()
INVOKE = f"/model/{c.MODEL}/invoke"
STREAM = f"/model/{c.MODEL}/invoke-with-response-stream"


def key_of(s):
    env = s.agent_env()
    return env.get("AWS_ACCESS_KEY_ID") or env["AWS_BEARER_TOKEN_BEDROCK"]


def usages(s):
    return [(u.get("model"), u["in"], u["out"]) for u in s.events("usage")]


def signed(p, n=None):
    seen = p.seen()
    t.ok(seen and (n is None or len(seen) == n) and
         all(r["keyOk"] for r in seen), "the provider found each signed right",
         [(r["target"], r["unsigned"], r["status"]) for r in seen])
    return seen


def variables():
    """Keys in the environment; every kind of request; the head and its parts.
    """
    aws = c.Aws()
    with h.workdir() as work:
        p = c.provider(work, aws)
        with h.Session(work, provider=p, config=c.bedrock(p),
                       env=aws.env()) as s:
            env = s.agent_env()
            key = key_of(s)
            t.ok(key.startswith("AKIAIRONCURTAIN") and
                 env["AWS_SECRET_ACCESS_KEY"] == key and
                 "AWS_SESSION_TOKEN" not in env and
                 "AWS_BEARER_TOKEN_BEDROCK" not in env,
                 "the agent has a sentinel for both parts", env)
            t.equal(env["AWS_REGION"], c.REGION, "and the region")
            m = s.model(host=c.RUNTIME, key=key)
            r = c.ask(m, key, INVOKE, c.claude())
            t.equal((r.status, r.json().get("content")),
                    (200, [{"type": "text", "text": "FINAL: hello"}]),
                    "InvokeModel")
            r = c.ask(m, key, STREAM, c.claude(), headers=[
                ("x-amzn-bedrock-trace", "ENABLED"), ("Cookie", "a=b"),
                ("anthropic-beta", "a,  b")])
            events, left = c.frames(r.body)
            texts = [json.loads(base64.b64decode(json.loads(e)["bytes"]))
                     for _, e in events]
            t.ok(r.status == 200 and left == b"" and texts[-1]["type"] ==
                 "message_stop" and r.header("content-type") ==
                 "application/vnd.amazon.eventstream",
                 "InvokeModelWithResponseStream", r.body[:300])
            r = c.ask(m, key, f"/model/{c.ARN}/invoke", c.claude())
            t.equal(r.status, 200, "an ARN of an inference profile")
            r = c.ask(m, key, INVOKE.replace(":", "%3A"), c.claude())
            t.equal(r.status, 200, "a colon written %3A")
            talk = {"messages": [{"role": "user",
                                  "content": [{"text": "hi"}]}]}
            r = c.ask(m, key, f"/model/{c.MODEL}/converse", talk)
            t.equal((r.status, r.json()["stopReason"]), (200, "end_turn"),
                    "Converse")
            r = c.ask(m, key, f"/model/{c.MODEL}/converse-stream", talk)
            t.equal([e["usage"]["inputTokens"] for e in map(
                json.loads, (x for _, x in c.frames(r.body)[0]))
                     if "usage" in e], [100], "ConverseStream")
            r = c.ask(m, key, "/model/" + c.MODEL.replace("us.", "global.")
                      .replace(":", "%3A") + "/converse",
                      {**talk, "serviceTier": {"type": "priority"}})
            t.equal(r.status, 200, "Converse, a global model, written %3A")
            r = c.ask(m, key, INVOKE, c.claude(), headers=[
                ("X-Amzn-Bedrock-Service-Tier", "flex")])
            t.equal(r.status, 200, "InvokeModel of a tier")
            r = c.ask(m, key, f"/model/{c.MODEL}/count-tokens",
                      {"input": {"converse": talk}})
            t.equal((r.status, r.json()), (200, {"inputTokens": 100}),
                    "CountTokens")
            r = c.ask(m, key, INVOKE, c.claude(), signed=False)
            t.equal(r.status, 200, "the sentinel as a bearer is signed, too")
            m.close()
            m = s.model(host=c.CONTROL, key=key)
            r = c.ask(m, key, "/inference-profiles?type=SYSTEM_DEFINED",
                      method="GET", host=c.CONTROL)
            t.equal(r.status, 200, "ListInferenceProfiles, on its own host")
            r = c.ask(m, key, INVOKE, c.claude(), host=c.CONTROL)
            t.equal(r.status, 403, "which takes no InvokeModel")
            m.close()
            seen = signed(p, 11)
            head(seen[1], aws, key)
            h.wait_for(lambda: len(usages(s)) >= 9, "usage")
            t.equal(sorted(usages(s)), [("claude-opus-5-5", 100, 20)] +
                    [("claude-sonnet-4-5-20250929", 100, 20)] * 5 +
                    [("claude-sonnet-4-5-20250929-v1:0", 100, 20)] * 3,
                    "usage is read from JSON and event streams")
            tiers = [(u.get("tier"), u.get("regional"))
                     for u in s.events("usage") if u.get("tier")]
            t.equal(sorted(tiers, key=str), [("flex", True),
                                             ("priority", None)],
                    "the tiers that were asked for, and where")
            t.equal(joins.check_requests(s.audit(), seen), [],
                    "what the provider saw is in the log")
            text = json.dumps(s.audit()) + s.session_log()
            t.ok(not any(x in text for x in aws.parts()),
                 "neither secret nor token is in a log")
        p.end()


def head(r, aws, key):
    lines = r["head"].split("\r\n")
    names = [line.split(":")[0] for line in lines[1:] if line]
    t.equal(lines[0], f"POST {STREAM} HTTP/1.1", "the request line")
    t.equal(names[:5], ["host", "authorization", "x-amz-content-sha256",
                        "x-amz-date", "x-amz-security-token"],
            "the head begins as it must")
    t.ok(f"Credential={aws.id}/" in lines[2] and "x-amzn-bedrock-trace" in
         lines[2] and "anthropic-beta" in lines[2],
         "signed with the real id, and what the agent asked for", lines[2])
    t.ok("cookie" not in names and key not in r["head"],
         "nothing of the agent's signature goes on")


def refused():
    """A wrong key, region, path or body."""
    aws = c.Aws(session=False)
    with h.workdir() as work:
        p = c.provider(work, aws)
        with h.Session(work, provider=p, config=c.bedrock(p),
                       env=aws.env()) as s:
            key = key_of(s)
            other = c.Aws()

            def code(**kw):
                m = s.model(host=c.RUNTIME, key=key)
                kw = {"target": INVOKE, "body": c.claude(), "key": key, **kw}
                r = c.ask(m, **kw)
                m.close()
                return r.status, r.json()["message"]

            for name, kw, want, part in (
                    ("somebody's own key", {"key": other.id,
                                            "secret": other.secret}, 403,
                     "not this session's key"),
                    ("another region", {"region": "us-east-1"}, 403,
                     "not this session's key"),
                    ("another service", {"service": "s3"}, 403,
                     "not this session's key"),
                    ("a session token besides", {"headers": [
                        ("X-Amz-Security-Token", other.token)]}, 403,
                     "carries credentials"),
                    ("a bearer that is not ours", {
                        "key": "bedrock-api-key-x", "signed": False}, 403,
                     "not this session's key"),
                    ("a path without a model", {
                        "target": "/model/invoke"}, 403, "endpoint"),
                    ("another operation", {
                        "target": f"/model/{c.MODEL}/invoke-with-bidirectional"
                        "-stream"}, 403, "endpoint"),
                    ("a guardrail's path", {
                        "target": "/guardrail/x/version/1/apply"}, 403,
                     "endpoint"),
                    ("signed in the query", {
                        "target": INVOKE + "?X-Amz-Signature=00"}, 403,
                     "query"),
                    ("a document in S3", {
                        "target": f"/model/{c.MODEL}/converse",
                        "body": {"messages": [{"content": [{"document": {
                            "source": {"s3Location": {
                                "uri": "s3://a/b"}}}}]}]}}, 403, "URL"),
                    ("a body in base64", {
                        "target": f"/model/{c.MODEL}/count-tokens",
                        "body": {"input": {"invokeModel": {
                            "body": "e30="}}}}, 403, "URL")):
                status, text = code(**kw)
                t.ok(status == want and part in text, f"refused: {name}",
                     (status, text))
            m = s.model(host=c.RUNTIME.replace(c.REGION, "us-east-1"),
                        key=key)
            t.equal(m.connect_response.status, 403,
                    "no tunnel leads to another region")
            m.close()
            t.equal(p.seen(), [], "the provider saw none of it")
            # The filtered body is hashed and signed.
            status = s.model(host=c.RUNTIME, key=key)
            r = c.ask(status, key, INVOKE, c.claude(tools=[
                {"type": "web_search_20250305", "name": "web_search"},
                {"name": "a", "input_schema": {}}]))
            seen = signed(p, 1)
            t.equal((r.status, json.loads(seen[0]["body"])["tools"]),
                    (200, [{"name": "a", "input_schema": {}}]),
                    "what the filter left is what was signed")
        p.end()


def forms():
    """A credentials file, a Bedrock API key, and a command that is run again.
    """
    aws, bearer = c.Aws(session=False), "ABSK" + secrets.token_urlsafe(60)
    with h.workdir() as work:
        p = c.provider(work, aws, keys=[bearer])
        path = os.path.join(work, "credentials")
        with open(path, "w", encoding="utf-8") as f:
            f.write("[other]\naws_access_key_id = no\n[default]\n"
                    f"aws_access_key_id = {aws.id}\n"
                    f"aws_secret_access_key = {aws.secret}\n")
        os.chmod(path, 0o600)
        for name, credential, env in (
                ("a credentials file", {"file": path}, {}),
                ("a Bedrock API key", {"env": "AWS_BEARER_TOKEN_BEDROCK"},
                 {"AWS_BEARER_TOKEN_BEDROCK": bearer}),
                ("JSON in a variable", {"env": "MY_AWS"},
                 {"MY_AWS": json.dumps(aws.process())})):
            with h.Session(work, provider=p, config=c.bedrock(p, credential),
                           env=env, session_dir=os.path.join(
                               work, name.replace(" ", "-"))) as s:
                t.ok("AWS_BEARER_TOKEN_BEDROCK" in s.agent_env(),
                     f"{name}: the agent has one text")
                m = s.model(host=c.RUNTIME, key=key_of(s))
                r = c.ask(m, key_of(s), INVOKE, c.claude(), signed=False)
                t.equal(r.status, 200, f"{name}: as a bearer")
                r = c.ask(m, key_of(s), INVOKE, c.claude())
                t.equal(r.status, 200, f"{name}: signed")
        t.equal([bool(r["unsigned"]) for r in p.seen()],
                [False, False, True, True, False, False],
                "what the provider got is what the real one is")
        signed(p)
        p.end()


def command():
    """The command is run again before the keys expire."""
    first, second = c.Aws(), c.Aws()
    with h.workdir() as work:
        p = c.provider(work, first, second)
        path = os.path.join(work, "answers.json")
        runs = os.path.join(work, "runs")
        script = os.path.join(work, "creds.py")
        with open(path, "w", encoding="utf-8") as f:
            json.dump([first.process(7), second.process(3600)], f)
        with open(script, "w", encoding="utf-8") as f:
            f.write("import json, os\n"
                    f"n = os.path.exists({runs!r})\n"
                    f"open({runs!r}, 'a').write('x')\n"
                    f"print(json.dumps(json.load(open({path!r}))[int(n)]))\n")
        credential = {"command": [h.PYTHON, script]}
        with h.Session(work, provider=p,
                       config=c.bedrock(p, credential)) as s:
            key = key_of(s)
            m = s.model(host=c.RUNTIME, key=key)
            # A lifetime as short as this ends 10 seconds early.
            r = c.ask(m, key, INVOKE, c.claude())
            t.equal(r.status, 200, "a request that had to wait for new keys")
            r = c.ask(m, key, INVOKE, c.claude())
            t.equal(r.status, 200, "and one that had not")
            seen = signed(p, 2)
            t.ok(all(second.id in r["head"] for r in seen),
                 "both with the second answer's keys")
            with open(runs, encoding="ascii") as f:
                t.equal(len(f.read()), 2, "the command was run twice")
            t.ok("asked" in [e["detail"]["what"] for e in
                             s.events("credential")],
                 "which is in the log", s.events("credential"))
            shown = json.loads(s.icctl("--json", "keys").stdout)["keys"][0]
            t.equal((shown["provider"], shown["kind"], shown["state"]),
                    ("bedrock", "command", "loaded"), "icctl keys")
        p.end()


def write(path, text):
    with open(path + ".new", "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path + ".new", 0o600)
    os.rename(path + ".new", path)


def section(aws):
    return (f"[default]\naws_access_key_id = {aws.id}\n"
            f"aws_secret_access_key = {aws.secret}\n"
            f"aws_session_token = {aws.token}\n")


def expired():
    """AWS reports that the session token has expired, early or without an
    announced time: the file is read, or the command run, again, and the agent
    sees one 200."""
    for name in "file", "command":
        first, second = c.Aws(), c.Aws()
        with h.workdir() as work:
            p = c.provider(work, second, expired=[first])
            path = os.path.join(work, "credentials")
            if name == "file":
                write(path, section(first))
                credential, new = {"file": path}, section(second)
            else:
                write(path, json.dumps(first.process(3600)))
                credential = {"command": ["/bin/cat", path]}
                new = json.dumps(second.process(3600))
            with h.Session(work, provider=p,
                           config=c.bedrock(p, credential)) as s:
                key = key_of(s)
                m = s.model(host=c.RUNTIME, key=key)
                write(path, new)
                r = c.ask(m, key, INVOKE, c.claude("x" * 100000))
                t.equal((r.status, r.json().get("content")),
                        (200, [{"type": "text", "text": "FINAL: hello"}]),
                        f"{name}: the agent sees one 200")
                seen = signed(p, 2)
                t.equal([(a.id in r["head"], r["status"], r["bodyBytes"])
                         for a, r in zip((first, second), seen)],
                        [(True, 403, seen[0]["bodyBytes"]),
                         (True, 200, seen[0]["bodyBytes"])],
                        f"{name}: sent twice, the second time with new keys")
                r = c.ask(m, key, STREAM, c.claude())
                t.equal((r.status, len(p.seen())), (200, 3),
                        f"{name}: then with those")
                t.equal([e["detail"]["what"] for e in
                         s.events("credential")], ["asked"],
                        f"{name}: which is in the log, once")
                t.equal([e["status"] for e in h.wait_for(
                    lambda: len(s.events("modelResponse")) > 1 and
                    s.events("modelResponse"), "modelResponse")], [200, 200],
                        f"{name}: and one answer to each")
            p.end()


def over():
    """The file has nothing newer: the agent gets AWS's error."""
    aws = c.Aws()
    with h.workdir() as work:
        p = c.provider(work, expired=[aws])
        path = os.path.join(work, "credentials")
        write(path, section(aws))
        with h.Session(work, provider=p,
                       config=c.bedrock(p, {"file": path})) as s:
            key = key_of(s)
            m = s.model(host=c.RUNTIME, key=key)
            r = c.ask(m, key, INVOKE, c.claude())
            t.ok(r.status == 403 and "is expired" in r.json()["message"] and
                 r.header("x-amzn-errortype").startswith("ExpiredToken"),
                 "still expired: the answer of AWS", (r.status, r.body))
            t.equal(len(signed(p)), 2, "after a second try")
        with h.Session(work, provider=p, config=c.bedrock(p), env=aws.env(),
                       session_dir=os.path.join(work, "variables")) as s:
            key = key_of(s)
            m = s.model(host=c.RUNTIME, key=key)
            t.equal(c.ask(m, key, INVOKE, c.claude()).status, 403,
                    "of variables nothing newer can be had")
            t.equal(len(signed(p)), 3, "and it is not tried twice")
        p.end()


def ask2(s, key, target, body):
    """The same over HTTP/2, like AWS SDKs for JavaScript."""
    m = h2.through(s.dir, c.RUNTIME)
    data = json.dumps(body).encode()
    r = m.wait(m.request([
        (":method", "POST"), (":scheme", "https"), (":authority", c.RUNTIME),
        (":path", target), ("content-type", "application/json"),
        ("content-length", str(len(data)))] + [
            (n.lower(), v) for n, v in c.sign(
                key, c.RUNTIME, "POST", target, data)], data))
    m.close()
    return r


def budget():
    """A budget that ends a stream says so in its last message; the next
    request is refused in the form of AWS."""
    aws = c.Aws()
    talk = {"messages": [{"role": "user", "content": [{"text": "hi"}]}]}
    for name, target, body, key_of_limit, limit in (
            ("Invoke", STREAM, c.claude(), "maxTotalTokens", 50),
            ("Converse", f"/model/{c.MODEL}/converse-stream", talk,
             "maxSessionSeconds", 2)):
        with h.workdir() as work:
            p = c.provider(work, aws, options=["--delay", "700"])
            with h.Session(work, provider=p, env=aws.env(), config={
                    **c.bedrock(p),
                    "resourceBudget": {key_of_limit: limit}}) as s:
                key = key_of(s)
                m = s.model(host=c.RUNTIME, key=key)
                ask = (lambda: ask2(s, key, target, body)) \
                    if name == "Invoke" else \
                    (lambda: c.ask(m, key, target, body))
                r = ask()
                events, left = c.frames(r.body)
                kinds = [e[":message-type"] for e, _ in events]
                t.ok(r.status == 200 and left == b"" and len(kinds) > 1 and
                     set(kinds[:-1]) == {"event"} and
                     kinds[-1] == "exception",
                     f"{name}: whole messages, the last an exception",
                     (r.status, kinds, left))
                head, payload = events[-1]
                t.equal((head[":exception-type"], head[":content-type"]),
                        ("validationException", "application/json"),
                        f"{name}: which no SDK tries again")
                text = json.loads(payload)["message"]
                t.ok(text.startswith("IronCurtain: ") and
                     key_of_limit in text and "icctl budget set" in text and
                     "Do not retry" in text,
                     f"{name}: what ran out, and what raises it", text)
                r = ask()
                error = json.loads(r.body)
                t.ok(r.status == 400 and list(error) == ["message"] and
                     r.header("x-amzn-errortype") == "ValidationException"
                     and r.header("x-should-retry") == "false" and
                     key_of_limit in error["message"],
                     f"{name}: the next one is refused as AWS would",
                     (r.status, r.body))
                t.equal(len(p.seen()), 1, f"{name}: and sent no more")
                end = h.wait_for(lambda: [
                    e for e in s.events("modelResponse") if e.get("error")],
                    "no modelResponse")
                t.contains(end[0]["error"], "budget", f"{name}: in the log")
            p.end()


def bad():
    """Invalid credentials: the session reports them and does not start."""
    aws = c.Aws()
    with h.workdir() as work:
        p = c.provider(work, aws)
        for name, env, config, part in (
                ("no secret", {"AWS_ACCESS_KEY_ID": aws.id}, {},
                 "AWS_SECRET_ACCESS_KEY is not set"),
                ("a quote in it", {**aws.env(), "AWS_SECRET_ACCESS_KEY":
                                   'a"b'}, {}, "AWS_SECRET_ACCESS_KEY: contains"),
                ("a slash in the id", {**aws.env(), "AWS_ACCESS_KEY_ID":
                                       "A/B"}, {}, "no access key id"),
                ("no region's name", aws.env(), {"region": "us west"},
                 "lower case letters"),
                ("half JSON", {"MY_AWS": '{"Version": 1}'},
                 {"credential": {"env": "MY_AWS"}}, "no access key id")):
            s = h.Session(work, provider=p, env=env,
                          config=c.bedrock(p, **config))
            r = subprocess.run(s.argv, env=s.env, capture_output=True,
                               text=True, timeout=20, check=False)
            t.ok(r.returncode != 0 and part in r.stderr, f"refused: {name}",
                 r.stderr[-400:])
            t.ok(not any(x in r.stderr + r.stdout for x in aws.parts()),
                 f"{name}: without a value")
        p.end()


def reflected():
    """Secret key or session token in an answer: cut, alarm, locked."""
    aws = c.Aws()
    for name, text in (("secret", aws.secret), ("token", aws.token)):
        for target in (INVOKE, STREAM):
            with h.workdir() as work:
                p = c.provider(work, aws, options=[
                    "--reflect", "raw", f"--reflect-text={text}"])
                with h.Session(work, provider=p, config=c.bedrock(p),
                               env=aws.env()) as s:
                    m = s.model(host=c.RUNTIME, key=key_of(s))
                    try:
                        r = c.ask(m, key_of(s), target, c.claude())
                        got = r.body
                    except Exception:  # pylint: disable=broad-except
                        got = m.buf
                    encoded = base64.b64encode(
                        f'"{text}"'.encode())[4:-4]
                    t.ok(text.encode()[:12] not in got and
                         encoded[:16] not in got,
                         f"{name}, {target.split('/')[-1]}: does not come "
                         "through", got[-200:])
                    alarm = h.wait_for(lambda: s.events("alarm"), "alarm")[0]
                    t.equal(alarm["kind"], "credential-reflected",
                            f"{name}, {target.split('/')[-1]}: alarm")
                p.end()


CASES = {"variables": variables, "refused": refused, "forms": forms,
         "command": command, "expired": expired, "over": over,
         "budget": budget, "bad": bad, "reflected": reflected}

if __name__ == "__main__":
    for case_name in sys.argv[1:] or CASES:
        with t.case(case_name):
            CASES[case_name]()
    t.done()
