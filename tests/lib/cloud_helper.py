# SPDX-License-Identifier: ISC
"""For tests of Bedrock and Vertex: keys, configuration, bodies, and a client
that signs with the placeholder key as an SDK would."""
import hashlib
import json
import os
import secrets
import sys
import time

import harness as h

sys.path.insert(0, h.STANDINS)
import sigv4  # noqa: E402
from provider_cloud import frames  # noqa: E402,F401

REGION = "us-west-2"
RUNTIME = f"bedrock-runtime.{REGION}.amazonaws.com"
CONTROL = f"bedrock.{REGION}.amazonaws.com"
MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
ARN = (f"arn:aws:bedrock:{REGION}:123456789012:application-inference-profile"
       "%2Fabcd1234")
PROJECT = "real-project-1"
LOCATION = "us-east5"
VERTEX = f"{LOCATION}-aiplatform.googleapis.com"
VPATH = f"/v1/projects/{PROJECT}/locations/{LOCATION}/publishers"


class Aws:
    """An account with keys of its own, which the provider knows."""

    def __init__(self, session=True):
        self.id = "ASIA" + secrets.token_hex(8).upper()
        self.secret = secrets.token_urlsafe(30)[:40].replace("_", "/")
        self.token = "IQoJb3JpZ2lu" + secrets.token_hex(300) if session \
            else None

    def env(self):
        env = {"AWS_ACCESS_KEY_ID": self.id,
               "AWS_SECRET_ACCESS_KEY": self.secret}
        if self.token:
            env["AWS_SESSION_TOKEN"] = self.token
        return env

    def process(self, seconds=None):
        """Returns the output of a credential_process."""
        made = {"Version": 1, "AccessKeyId": self.id,
                "SecretAccessKey": self.secret}
        if self.token:
            made["SessionToken"] = self.token
        if seconds is not None:
            made["Expiration"] = time.strftime(
                "%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds))
        return made

    def parts(self):
        return [p for p in (self.secret, self.token) if p]


def provider(work, *accounts, options=(), script=None, name="provider",
             keys=(), expired=()):
    path = os.path.join(work, f"{name}-aws.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"region": REGION, "expired": [a.id for a in expired],
                   "keys": {a.id: [a.secret, a.token]
                            for a in (*accounts, *expired)}}, f)
    for key in keys:
        options = [*options, "--key", key]
    return h.Provider(work, "--sigv4", path, "--bodies", *options,
                      script=script, name=name)


def bedrock(p, credential=None, **more):
    """Returns members of config.json for Bedrock."""
    return {"credentials": {"bedrock": credential or
                            {"env": "AWS_ACCESS_KEY_ID"}},
            "providers": {"bedrock": {
                "region": REGION, "ca": p.ca,
                "upstream": {RUNTIME: p.url, CONTROL: p.url}, **more}}}


def vertex(p, credential=None, **more):
    return {"credentials": {"vertex": credential or
                            {"env": "CLOUDSDK_AUTH_ACCESS_TOKEN"}},
            "providers": {"vertex": {
                "region": LOCATION, "project": PROJECT, "ca": p.ca,
                "upstream": p.url, **more}}}


def claude(text="hello", **more):
    return {"anthropic_version": "bedrock-2023-05-31", "max_tokens": 100,
            "messages": [{"role": "user", "content": text}], **more}


def sign(key, host, method, target, body, region=REGION, service="bedrock",
         secret=None, more=()):
    """Returns the headers that an SDK sends; key: the placeholder key, which
    is both id and secret."""
    date = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    path, _, query = target.partition("?")
    digest = hashlib.sha256(body).hexdigest()
    fields = [("host", host), ("x-amz-date", date),
              ("x-amz-content-sha256", digest), *more]
    return [("X-Amz-Date", date), ("x-amz-content-sha256", digest), *more,
            ("Authorization", sigv4.authorization(
                key, secret or key, region, service, method, path, query,
                date, digest, fields))]


def ask(m, key, target, body=None, method="POST", signed=True, host=RUNTIME,
        headers=(), **kw):
    data = b"" if body is None else json.dumps(body).encode()
    auth = sign(key, host, method, target, data, **kw) if signed else \
        [("Authorization", f"Bearer {key}")]
    if body is not None:
        auth.append(("Content-Type", "application/json"))
    return m.request(method, target, auth + list(headers),
                     data if body is not None else None)
