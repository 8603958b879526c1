#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A provider that sends the credential back, in any of its forms, anywhere in
its answer, split anywhere into TLS records: the answer ends there, an alarm is
in the log, and the provider is locked until the user unlocks it. Look-alikes
pass. (20,000 such answers: tests/unit/keyd/test_reflect.c.)"""
import base64
import json
import os
import random
import sys
import urllib.parse

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import rules  # noqa: E402
import rules_replies  # noqa: E402
import test_rules as table  # noqa: E402
from agent import Closed, Malformed  # noqa: E402

t = table.t
PLACEMENTS = int(os.environ.get("IC_REFLECT", "150"))
LOCKED = ("This provider cannot be used now. Do not retry. this provider is "
          "locked, because its credential came back in an answer; the user "
          "can run: icctl unlock")


def forms(key):
    """name -> a form of the key."""
    raw = key.encode()
    found = {"raw": raw, "hex": raw.hex().encode(),
             "HEX": raw.hex().upper().encode()}
    for skew in range(3):
        packed = base64.b64encode(b"x" * skew + raw).rstrip(b"=")
        first = skew + 1 if skew else 0
        last = len(packed) - (1 if (skew + len(raw)) % 3 else 0)
        found[f"base64 at {skew}"] = packed[first:last]
        found[f"base64url at {skew}"] = packed[first:last].translate(
            bytes.maketrans(b"+/", b"-_"))
    found["URL"] = urllib.parse.quote(key, safe="").encode()
    found["JSON"] = json.dumps(key)[1:-1].encode()
    found["escaped"] = "".join("\\u%04x" % b for b in raw).encode()
    found["percent"] = "".join("%%%02x" % b for b in raw).encode()
    found["lines"] = b"\\n".join(
        found["base64 at 0"][i:i + 30] for i in range(0, len(raw) * 4 // 3, 30))
    found["all but one"] = raw[:-1]
    found["first half"], found["second half"] = raw[:len(raw) // 2 + 8], raw[-30:]
    return found


def chunks(r, body):
    out, at = b"", 0
    while at < len(body):
        n = r.choice((1, 2, 7, 50, 200))
        part = body[at:at + n]
        out += b"%x\r\n%s\r\n" % (len(part), part)
        at += n
    return out + b"0\r\n\r\n"


def answer(r, form, where):
    """A reply with the form at this place, in records of random sizes."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
    body = b'data: {"text":"' + b"word " * r.randrange(60)
    if where == "body":
        body += form
    body += b" and more" * r.randrange(60) + b'"}\n\n'
    if where == "header":
        head += b"request-id: req_" + form + b"\r\n"
    elif where == "dropped":
        head += b"Set-Cookie: s=" + form + b"\r\n"
    elif where == "status":
        head = head.replace(b"OK", form)
    if r.random() < 0.5:
        data = head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks(r, body)
    else:
        data = head + b"Content-Length: %d\r\n\r\n" % len(body) + body
    cuts = sorted(r.randrange(1, len(data)) for _ in range(r.randrange(6)))
    parts = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)])]
    return rules_replies.Reply([p for p in parts if p], False), body


def ask(b, number):
    """(status or None, all bytes of the answer, body)"""
    m = b.session.model()
    line = b"x-stainless-reply: %d\r\n" % number
    try:
        m.send_raw(b.fill(rules.A, rules.get(line)))
        r = m.read_response("GET")
        return r.status, r.head + r.body, r.body
    except (Closed, Malformed, OSError):
        return None, m.buf, b""
    finally:
        m.close()


def one(b, number, form):
    """None, or what happened instead of a cut, an alarm and a lock."""
    status, got, _ = ask(b, number)
    if status not in (None, 502):
        return f"it is answered: {status} {got!r}"
    # The prefix, which is not secret, and seven characters, however coded.
    n = 21 * -(-len(form) // len(h.ANTHROPIC_KEY))
    if any(form[k:k + n] in got for k in range(len(form) - n + 1)):
        return f"it got out: {got!r}"
    status, got, body = ask(b, 0)
    said = json.loads(body)["error"]["message"] if status == 403 else ""
    if table.IDENT.sub("", said) != "IronCurtain: " + LOCKED:
        return f"not locked: {status} {got!r}"
    return None if b.session.icctl("unlock").returncode == 0 else "no unlock"


def main():
    r = random.Random(20261122)
    kinds = forms(h.ANTHROPIC_KEY)
    cases, alike = [], []
    for i in range(PLACEMENTS):
        name = r.choice(sorted(kinds))
        where = r.choice(("body", "body", "body", "header", "dropped",
                          "status"))
        form = kinds[name]
        cases.append((f"{i}: {name} in {where}", form,
                      answer(r, form, where)[0]))
        other = bytearray(form)
        for at in range(r.randrange(10), len(form), 10):
            other[at] = ord("!") if other[at] != ord("!") else ord("?")
        other = bytes(other)
        alike.append(answer(r, other, r.choice(("body", "dropped"))))
    with h.workdir() as work:
        b = table.Bench(work, [c[2] for c in cases] + [a[0] for a in alike])
        good = [i for i, (_, body) in enumerate(alike) if ask(
            b, 1 + len(cases) + i)[::2] == (200, body)]
        t.equal(len(good), len(alike), "look-alikes pass whole")
        t.equal(b.session.events("alarm"), [], "without an alarm")
        bad = [(name, why) for i, (name, form, _) in enumerate(cases)
               if (why := one(b, i + 1, form))]
        t.ok(not bad, f"{len(cases)} answers with the key: each is cut, the "
             "provider locked", "\n".join(map(str, bad[:20])))
        h.wait_for(lambda: len(b.session.events("alarm")) >= len(cases),
                   "alarms are missing")
        t.equal(len(b.session.events("alarm")), len(cases),
                "with an alarm each")
        t.equal(len(b.provider.seen()), len(cases) + len(alike),
                "nothing is sent while it is locked")
        log = json.dumps(b.session.audit()) + b.session.session_log()
        t.ok(not any(f.decode() in log for f in kinds.values()),
             "no form of the key is in our logs")
        b.close()
    t.done()


if __name__ == "__main__":
    main()
