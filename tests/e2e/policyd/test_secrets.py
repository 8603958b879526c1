#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests auditRedaction: secrets in arguments, in records of pending calls and
on a server's stderr are not in the session's files, also values that only the
session knows; the person and the server get all of it; `icctl policy learn`
still sees hosts and paths; with it off all is there."""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
# All are invented; in two halves, as in the unit test's table.
CARRIED = {name: a + b for name, a, b in (
    ("github", "github_", "pat_11ABCDEFG0abcdefghijkl_MNOPQRSTUVWXYZabcdefghijk"
     "lmnopqrstuvwxyz0123456789ABCDEFGH"),
    ("jwt", "eyJhbGc", "iOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3OD"
     "kwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"),
    ("bearer", "Authori", "zation: Bearer 9f8e7d6c5b4a39281706f5e4d3c2b1a0"),
    ("address", "postgre", "s://app:S3cr3tPassw0rd@db.example.com:5432/app"),
    ("pem", "-----BE", "GIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAxyz012345678"
     "9abcdefghij\n-----END RSA PRIVATE KEY-----"))}
SECRETS = ["MNOPQRSTUVWXYZabcdefghijk", "dozjgNryP4J3jVmNHl0w5N",
           "9f8e7d6c5b4a3928", "S3cr3tPassw0rd", "MIIEowIBAAKCAQEAxyz"]
# No form tells these.
KNOWN, MEMBER, QUERY = "quiet river stone", "correct-horse-7", "opaque-0451-zz"
# stderr is written before the server begins, which the argument list shows.
TALK = """import os, runpy, sys
w = sys.stderr.write
w("key " + os.environ["QUIET"] + "\\n")
w("-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBgkq\\n-----END PRIVATE KEY-----\\n")
w("a word after it\\n")
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
RULES = [h.rule("free", "allow", tool=["echo"]),
         h.rule("ask", "escalate", tool=["get"])]
TOOLS = {"echo": {**h.ECHO_TOOLS, "get": {"text": ["fetch-url"]}}}


KEY = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
# Arguments, and what the log has of them.
SHAPES = [
    ({"args": ["--password", MEMBER, "--region", "eu"]},
     {"args": ["--password", "***", "--region", "eu"]}),
    ({"header": ["Authorization", MEMBER]},
     {"header": ["Authorization", "***"]}),
    ({"passwords": [MEMBER, MEMBER]}, {"passwords": ["***", "***"]}),
    ({"secrets": {"db": {"live": MEMBER}}, "tokens": {"input": 12345}},
     {"secrets": {"db": {"live": "***"}}, "tokens": {"input": 12345}}),
    ({"columns": ["user", "password"], "rows": [["bob", MEMBER], ["al", None]],
      "tags": ["a", "b-7"]},
     {"columns": ["user", "password"], "rows": [["bob", "***"], ["al", None]],
      "tags": ["a", "b-7"]}),
    ({"data": [[MEMBER, 1], [MEMBER, 2]],
      "columns": [{"name": "api_key", "type": "text"}, {"name": "n"}]},
     {"data": [["***", 1], ["***", 2]],
      "columns": [{"name": "api_key", "type": "text"}, {"name": "n"}]}),
    ({"columns": ["user", "email"], "rows": [["bob", "bob-7@example.org"]]},
     {"columns": ["user", "email"], "rows": [["bob", "bob-7@example.org"]]}),
    ({"kty": "oct", "kid": "a", "k": MEMBER},
     {"kty": "oct", "kid": "a", "k": "***"}),
    ({"kind": "Secret", "data": {"host": "b3BhcXVl", "port": 5432}},
     {"kind": "Secret", "data": {"host": "***", "port": 5432}}),
    ({"kind": "List", "items": [{"kind": "ConfigMap", "data": {"host": "b3BhcXVl"}},
                                {"kind": "Secret", "stringData": {"x": MEMBER}}]},
     {"kind": "List", "items": [{"kind": "ConfigMap", "data": {"host": "b3BhcXVl"}},
                                {"kind": "Secret", "stringData": {"x": "***"}}]}),
    ({"values": [["user", "password"], ["bob", MEMBER], ["al", MEMBER]]},
     {"values": [["user", "password"], ["bob", "***"], ["al", "***"]]}),
    ({"pairs": [["token", "kind"], ["user", "bob"]]},
     {"pairs": [["token", "kind"], ["user", "bob"]]}),
    ({"text": f"user,password\nbob,{MEMBER}\n"},
     {"text": "user,password\nbob,***\n"}),
    ({"sql": f"INSERT INTO u (id, password) VALUES (1, '{MEMBER}'), (2, 'o''pen');"},
     {"sql": "INSERT INTO u (id, password) VALUES (1, '***'), (2, '***');"}),
    ({"by": {KEY: 1, "b": 2}}, {"by": {"***": "***"}}),
    ({"run": f"mysql -uroot -p{MEMBER} db"}, {"run": "mysql -uroot -p*** db"}),
    ({"names": ["password", "token"], "k": "v"},
     {"names": ["password", "token"], "k": "v"})]


def session(work, **config):
    entry = h.echo_server(os.path.join(work, "log", "log.jsonl"),
                          "--alias", "get=echo",
                          sandbox={"network": {"allowedDomains":
                                               ["example.com"]}})
    entry["args"] = ["-c", TALK, *entry["args"]]
    return h.Session(work, {"echo": entry}, RULES, TOOLS, config={
        "serverCredentials": {"echo": {"QUIET": KNOWN}}, **config})


def files(s):
    """Returns all text that the session keeps."""
    text = ""
    for name in ("audit.jsonl", "session.log"):
        with open(os.path.join(s.dir, name), encoding="utf-8",
                  errors="replace") as f:
            text += f.read()
    return text


def last(s):
    return [e for e in s.events("call") if e["toolName"] == "echo"][-1]


def carried(s, m):
    for name, value in CARRIED.items():
        r = m.call("echo__echo", {"text": "use " + value})
        t.equal(h.text_of(r), "use " + value, f"{name}: the server has it")
    r = m.call("echo__echo", {"text": "say " + KNOWN})
    t.equal(h.text_of(r), "say " + KNOWN, "a known value: the server has it")
    t.equal(last(s)["arguments"], {"text": "say ***"}, "the log does not")
    m.call("echo__echo", {"text": "x", "password": MEMBER, "n": {
        "headers": [{"name": "Authorization", "value": MEMBER}]}})
    t.equal(last(s)["arguments"], {
        "text": "x", "password": "***",
        "n": {"headers": [{"name": "Authorization", "value": "***"}]}},
            "members by their names")
    t.ok(last(s)["redacted"] and last(s)["judgedWhole"],
         "the record says what it has", last(s))
    for n, (sent, kept) in enumerate(SHAPES):
        m.call("echo__echo", {"text": "x", "n": sent})
        t.equal(last(s)["arguments"], {"text": "x", "n": kept},
                f"shape {n}: {kept}")
    plain = "commit 0f3bb7e4c1d2e3f4a5b6c7d8e9f0a1b2c3d4e5f6, 123e4567-e89b-" \
        "12d3-a456-426614174000"
    m.call("echo__echo", {"text": plain})
    t.equal(last(s)["arguments"], {"text": plain}, "what is no secret stays")


def pending(s, m):
    url = "https://example.com/a/b?token=" + QUERY
    call = m.start_call("echo__get", {"text": url})
    hold = s.held()
    t.ok(QUERY in json.dumps(hold) and
         QUERY in s.icctl("show", hold["id"]).stdout,
         "the person sees all of a pending call", hold)
    s.icctl("approve", hold["id"], check=True)
    t.equal(h.text_of(call.wait()), url, "and it is sent as it was shown")
    t.ok("https://example.com/a/b?token=***" in s.events("hold")[-1]["effect"],
         "its record has host and path", s.events("hold")[-1])


def masked(work):
    with session(work) as s:
        m = s.client()
        carried(s, m)
        pending(s, m)
        h.wait_for(lambda: "a word after it" in s.session_log(), "stderr")
        m.close()
    text = files(s)
    for secret in SECRETS + [KNOWN, MEMBER, QUERY, "MIIEvQIBADANBgkq"]:
        t.ok(secret not in text, f"not in the session's files: {secret}")
    t.contains(s.session_log(), "stderr: key ***", "the rest of stderr is")
    r = s.icctl("policy", "learn", s.dir)
    t.ok('"allow"' in r.stdout and "example.com" in r.stdout and
         "not learned" not in r.stdout, "policy learn has host and path",
         r.stdout + r.stderr)
    r = s.icctl("policy", "replay", s.dir)
    t.equal(r.returncode, 0, "policy replay decides all as before")


def off(work):
    with session(work, auditRedaction={"enabled": False}) as s:
        m = s.client()
        m.call("echo__echo", {"text": KNOWN, "password": MEMBER})
        t.equal(last(s)["arguments"], {"text": KNOWN, "password": MEMBER},
                "switched off, the log has all")
        h.wait_for(lambda: "key " + KNOWN in s.session_log(), "stderr")
        m.close()


with h.workdir() as directory:
    masked(os.path.join(directory, "on"))
    off(os.path.join(directory, "off"))
t.done()
