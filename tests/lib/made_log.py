# SPDX-License-Identifier: ISC
"""Makes audit logs: chained records as ironcurtain-audit(5) describes them, for
tests of their readers."""
import hashlib
import json
import os
import time


class MadeLog:
    def __init__(self, at=None):
        self.lines = []
        self.prev = "0" * 64
        self.seq = 1
        self.at = at or time.time()

    def add(self, event, **members):
        record = {"event": event, "mono": self.seq * 1000, "prev": self.prev,
                  "seq": self.seq, "time": time.strftime(
                      "%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime(self.at)),
                  **members}
        body = json.dumps(record, sort_keys=True, separators=(",", ":"),
                          ensure_ascii=False)
        self.prev = hashlib.sha256(body.encode()).hexdigest()
        self.lines.append(f'{body[:-1]},"hash":"{self.prev}"}}\n')
        self.seq += 1
        return self

    def start(self, agent="claude-code", workspace="/home/me/shop"):
        return self.add("start", detail={
            "agent": agent, "format": 2, "version": "0.1.0",
            "workspace": workspace})

    def state(self, micro, opened=0):
        return self.add("state", detail={
            "microUsd": micro, "ms": 1000, "openMicroUsd": opened,
            "openTokens": 0, "steps": 1, "tokens": 1})

    def usage(self, model, n=100):
        return self.add("usage", cacheRead=0, cacheWrite=0, exchange=1,
                        model=model, out=n, provider=0, reasoning=0,
                        stream=1, **{"in": n})

    def call(self, tool="read", status="allow", arguments=None, **more):
        return self.add("call", arguments=arguments or {}, id=self.seq,
                        policyDecision={"reason": "because", "rule": "a-rule",
                                        "status": status},
                        serverName="files", toolName=tool, **more)

    def stop(self):
        return self.add("stop", detail={"reason": "it ended", "status": 0})

    def text(self):
        return "".join(self.lines).encode()

    def write(self, directory, name="audit.jsonl"):
        os.makedirs(directory, mode=0o700, exist_ok=True)
        path = os.path.join(directory, name)
        with open(path, "wb") as f:
            f.write(self.text())
        os.chmod(path, 0o600)
        return path
