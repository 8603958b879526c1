# SPDX-License-Identifier: ISC
"""Extends an audit log by many records whose chain holds."""
import hashlib
import json
import re


def extend(path, size):
    """Appends copies of the log's second record until it has that size."""
    with open(path, "rb") as f:
        lines = f.read().splitlines()
    last = json.loads(lines[-1])
    have, prev, seq = sum(len(x) + 1 for x in lines), last["hash"], last["seq"]
    head, rest = lines[1].split(b',"prev":"', 1)
    between, rest = rest[64:].split(b',"seq":', 1)
    tail = re.sub(rb"^[0-9]+", b"", rest).rsplit(b',"hash":', 1)[0]
    out = []
    with open(path, "ab") as f:
        while have < size:
            seq += 1
            body = b"%s,\"prev\":\"%s%s,\"seq\":%d%s" % (
                head, prev.encode(), between, seq, tail)
            prev = hashlib.sha256(body + b"}").hexdigest()
            out.append(b"%s,\"hash\":\"%s\"}\n" % (body, prev.encode()))
            have += len(out[-1])
            if len(out) == 10000:
                f.write(b"".join(out))
                out.clear()
        f.write(b"".join(out))
