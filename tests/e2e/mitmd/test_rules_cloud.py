#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The rule book for Bedrock and Vertex: the table of rules_cloud.py, run like
test_rules.py. A refusal has exactly its status, code and text; the provider
receives, byte for byte, the expected head, except for date and signature,
which a second implementation verifies."""
import json
import os
import re
import secrets
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import cloud_helper as c  # noqa: E402
import harness as h  # noqa: E402
import rules  # noqa: E402
import rules_cloud as table  # noqa: E402
from test_rules import refusal  # noqa: E402

t = h.Tap()
HOSTS = {"bedrock": c.RUNTIME, "vertex": c.VERTEX}
ENVS = {"bedrock": "AWS_ACCESS_KEY_ID", "vertex":
        "CLOUDSDK_AUTH_ACCESS_TOKEN"}
BODY = b"{}"
SIGNED = re.compile(
    r"authorization: AWS4-HMAC-SHA256 Credential=(\w+)/\d{8}/[a-z0-9-]+/"
    r"bedrock/aws4_request, SignedHeaders=([a-z0-9;-]+), "
    r"Signature=[0-9a-f]{64}\r\n"
    r"x-amz-content-sha256: ([0-9a-f]{64})\r\nx-amz-date: \d{8}T\d{6}Z\r\n")


def expected(provider, method, target, port, aws, token):
    """The head, with a word in place of the signature."""
    auth = f"SIGNED {aws.id} content-type;host;x-amz-content-sha256;" \
        "x-amz-date\r\n" if provider == "bedrock" else \
        f"authorization: Bearer {token}\r\n"
    return (f"{method} {target} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n{auth}"
            "accept-encoding: identity\r\n"
            f"content-length: {len(BODY)}\r\n"
            "content-type: application/json\r\n\r\n")


def main():
    aws, token = c.Aws(session=False), "ya29.real-" + secrets.token_hex(60)
    with h.workdir() as work:
        p = c.provider(work, aws, keys=[token])
        config = c.bedrock(p)
        other = c.vertex(p)
        for part in ("credentials", "providers"):
            config[part].update(other[part])
        with h.Session(work, provider=p, config=config, env={
                **aws.env(), "CLOUDSDK_AUTH_ACCESS_TOKEN": token}) as s:
            env = s.agent_env()
            want_heads, bad, counts = [], [], {}
            for row, provider, method, target, headers, want in table.CASES:
                key = env[ENVS[provider]]
                m = s.model(host=HOSTS[provider], key=key)
                r = m.request(method, target, [
                    (n, v.replace("KEY", key)) for n, v in headers] +
                    [("Content-Type", "application/json")],
                    None if method in ("GET", "DELETE") else BODY)
                m.close()
                counts[row] = counts.get(row, 0) + 1
                if want is None:
                    want_heads.append(expected(provider, method, target,
                                               p.port, aws, token))
                    got = p.seen()[-1:]
                    why = None if got and got[0]["keyOk"] else \
                        f"did not reach the provider: {r.status} {r.body}"
                else:
                    code, text = want
                    why = refusal(r, rules.no(code, text or ...),
                                  provider == "bedrock")
                if why:
                    bad.append((row, provider, method, target, headers, why))
            for one in bad[:10]:
                t.ok(False, f"row {one[0]}: {one[3]}", one)
            t.ok(not bad, f"{len(table.CASES)} requests: {counts}", len(bad))
            seen = p.seen()
            heads = [SIGNED.sub(lambda x: f"SIGNED {x[1]} {x[2]}\r\n",
                                r["head"]) for r in seen]
            t.equal(heads, want_heads,
                    "the provider got exactly what was to be passed")
            t.ok(all(r["keyOk"] for r in seen), "each with the real key",
                 [r["unsigned"] for r in seen if not r["keyOk"]])
            text = json.dumps(s.audit()) + s.session_log()
            t.ok(aws.secret not in text and token not in text,
                 "no log has it")
        p.end()
    t.done()


if __name__ == "__main__":
    main()
