#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The rule book of requests with keys, as a table, against the programs as
they are shipped: a request to be refused is answered with exactly its status,
code and text, and none of it reaches the provider; the provider receives, byte
for byte, the head and body in the table.

    test_rules.py [table|replies|generated [COUNT [SEED]]]..."""
import base64
import collections
import contextlib
import hashlib
import itertools
import json
import os
import re
import ssl
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import rules  # noqa: E402
import rules_connect  # noqa: E402
import rules_framing  # noqa: E402
import rules_keys  # noqa: E402
import rules_replies  # noqa: E402
import rules_target  # noqa: E402
import rules_wild  # noqa: E402
from agent import Closed, Malformed  # noqa: E402

t = h.Tap()
GONE = (Closed, Malformed, ConnectionError, ssl.SSLError, TimeoutError)
IDENT = re.compile(r" \(request ([0-9a-f]{8})\)$")
ENVS = {rules.A: "ANTHROPIC_API_KEY", rules.O: "OPENAI_API_KEY"}
REALS = {rules.A: h.ANTHROPIC_KEY, rules.O: h.OPENAI_KEY}
ANSWER = b'{"from":"the provider"}'


class Bench:
    """A session, its recording provider, and the requests expected there."""

    def __init__(self, work, replies=(), options=()):
        path = os.path.join(work, "replies.json")
        first = rules_replies.reply(ANSWER)
        with open(path, "w", encoding="utf-8") as f:
            json.dump([{"parts": [base64.b64encode(p).decode() for p in
                                  r.parts], "close": r.close}
                       for r in (first, *replies)], f)
        self.provider = h.Provider(work, "--replies", path, *options)
        self.session = h.Session(work, provider=self.provider).start()
        env = self.session.agent_env()
        self.keys = {host: env[name].encode() for host, name in ENVS.items()}
        self.expected = []      # (host, head, body hash) in order
        got = {k: len(v) for k, v in self.keys.items()}
        assert got == rules.SIZES, got
        self.open = {}  # host -> a kept connection

    def fill(self, host, data):
        other = rules.O if host == rules.A else rules.A
        return data.replace(b"OTHER", self.keys[other]).replace(
            b"REAL", REALS[host].encode()).replace(b"KEY", self.keys[host])

    def expect(self, host, want):
        """Add to the requests that the provider must receive."""
        head, mark, rest = want.head.partition(b"accept-encoding: ")
        head = head.replace(b"REAL", REALS[host].encode()).replace(
            b"HOSTPORT", b"127.0.0.1:%d" % self.provider.port)
        body = self.fill(host, want.body)
        rest = self.fill(host, rest)
        self.expected.append((head + mark + rest, len(body),
                              hashlib.sha256(body).hexdigest()))

    def model(self, host, fresh=False):
        m = None if fresh else self.open.pop(host, None)
        return m or self.session.model(host)

    def keep(self, host, m, keep):
        if keep and host not in self.open:
            self.open[host] = m
        else:
            m.close()

    def seen(self):
        return [(base64.b64decode(r["raw"]), r["bodyBytes"], r["bodySha256"])
                for r in self.provider.seen()]

    def close(self):
        for m in self.open.values():
            m.close()
        self.session.stop()
        self.provider.end()


AWS = {403: "AccessDeniedException", 404: "ResourceNotFoundException"}


def shape(r, code):
    """(message, None), or (None, the difference from a refusal)."""
    error = json.loads(r.body)
    if set(error) != {"type", "error"} or error["type"] != "error" or \
            set(error["error"]) != {"type", "code", "message"} or \
            error["error"]["type"] != "ironcurtain_refused" or \
            error["error"]["code"] != code:
        return None, f"{r.body!r}"
    return error["error"]["message"], None


def aws_shape(r):
    """The same for an answer to clients of AWS."""
    error = json.loads(r.body)
    if set(error) != {"message"} or r.header("x-amzn-errortype") != \
            AWS.get(r.status, "ValidationException"):
        return None, f"{r.headers} {r.body!r}"
    return error["message"], None


def refusal(r, want, aws=False):
    """None, or the difference between the answer and this refusal."""
    status, text, more = rules.CODES[want.code]
    names = [n for n, _ in r.headers]
    head = ["Content-Type", "Content-Length"] + (
        ["x-amzn-errortype"] if aws else []) + (
        ["x-should-retry"] if status < 500 else []) + (
        ["Upgrade"] if status == 426 else []) + ["Connection"]
    if (r.status, r.reason) != (status, rules.PHRASES[status]):
        return f"{r.status} {r.reason}, {r.body!r}"
    if names != head or r.header("content-type") != "application/json":
        return f"headers {r.headers}"
    if status < 500 and r.header("x-should-retry") != "false":
        return "it may be retried"
    said, why = aws_shape(r) if aws else shape(r, want.code)
    if why:
        return why
    if not IDENT.search(said):
        return f"no number: {said}"
    said = IDENT.sub("", said)
    text = "IronCurtain: " + text
    if more == "why" and want.why is ...:
        good = said.startswith(text + " What is wrong: ")
    elif more == "detail" and want.why and want.why is not ...:
        # The host stands before what keyd says, in place of the text.
        text = f"IronCurtain: HOST: {want.why}."
        good = any(said == f"IronCurtain: {host}: {want.why}."
                   for host in rules.HOST) or \
            said.startswith("IronCurtain: ") and aws and \
            said.endswith(f": {want.why}.")
    elif more == "allowed":
        good = said.startswith(text + " Allowed: ")
    elif more and want.why:
        text += (" What is wrong: " + want.why + "." if more == "why" else
                 " " + want.why)
        good = said == text
    else:
        good = said == text
    return None if good else f"{said!r}\nwanted {text!r}"


def any_refusal(r, status):
    """A refusal with this status, and any code that fits the rest."""
    if r.status != status:
        return f"{r.status} {r.body!r}\nwanted {status}"
    code = json.loads(r.body)["error"].get("code")
    return refusal(r, rules.no(code, ...)) if code in rules.CODES else code


def passed(r):
    if r.status != 200 or r.body != ANSWER:
        return f"not the provider's answer: {r.status} {r.body!r}"
    return None


def method_of(data):
    return "HEAD" if data.startswith(b"HEAD ") else "GET"


def wants_of(case):
    return case.want if isinstance(case.want, list) else [case.want]


def cuts(data, cut):
    if cut == 0:
        return [data[i:i + 1] for i in range(len(data))]
    return [data[:cut], data[cut:]] if cut > 0 else [data]


def fresh(case):
    """Wrong keys are counted: after five on a connection, it waits."""
    return any(not isinstance(w, rules.Sent) for w in wants_of(case))


def run(b, case):
    """Send one case. Returns None, or the difference."""
    data, cut = case.data if isinstance(case.data, tuple) else (case.data, -1)
    parts = cuts(b.fill(case.host, data), cut)
    m = b.model(case.host, fresh(case))
    keep = True
    try:
        try:
            for part in parts:
                m.send_raw(part)
        except GONE:
            pass  # answered before all of it was sent
        for want in wants_of(case):
            r = m.read_response(method_of(parts[0]))
            said = (r.header("connection") or "keep-alive").lower()
            keep = "close" not in said
            if isinstance(want, rules.Sent):
                bad = passed(r)
                b.expect(case.host, want)
            elif isinstance(want, int):
                bad = any_refusal(r, want)
            else:
                bad = refusal(r, want)
                if not bad and want.code in rules.ENDS and keep and not (
                            want.why or "").startswith("a header that is"):
                    bad = "the connection goes on"
            if bad:
                return bad
        if keep and not fresh(case):
            return None
        if not keep and m.read_all() != b"":
            return "bytes after the last answer"
        return canary(b, m, case.host) if keep else None
    except GONE as e:
        keep = False
        return f"{type(e).__name__}: {e}"
    finally:
        b.keep(case.host, m, keep and not fresh(case))


def canary(b, m, host):
    """After a refusal that keeps the connection, the next request is
    understood."""
    m.send_raw(b.fill(host, rules.get(host=host)))
    b.expect(host, rules.got(host=host))
    return passed(m.read_response("GET"))


def first_difference(got, want):
    for i, (a, b) in enumerate(itertools.zip_longest(got, want)):
        if a != b:
            return f"request {i} of {len(want)}:\n{a}\nwanted\n{b}"
    return None


def settle(b, name):
    """The provider received exactly the expected requests."""
    for m in b.open.values():
        m.close()
    b.open.clear()
    b.session.stop()
    why = first_difference(b.seen(), b.expected)
    t.ok(not why, f"{name}: the provider got exactly these "
         f"{len(b.expected)} requests, byte for byte", why)
    left = [x["left"] for x in h.read_lines(b.provider.log_path)
            if x["ev"] == "closed" and x["left"]]
    t.equal(left, [], f"{name}: and no byte besides")
    log = json.dumps(b.session.audit()) + b.session.session_log()
    t.ok(not any(k in log for k in REALS.values()),
         f"{name}: no real key in our logs")


def report(groups, name):
    """One check for each row; names its failures."""
    for row, results in sorted(groups.items()):
        bad = [f"{n}: {why}" for n, why in results if why]
        t.ok(not bad, f"{name}: row {row}: {len(results)} requests",
             f"{len(bad)} failed\n" + "\n".join(bad[:30]))


def table_cases():
    return rules_target.cases() + rules_framing.cases() + rules_keys.cases()


def connect_case(s, data, status, text):
    m = s.model(connect=False)
    try:
        m.send_raw(data)
        r = m.read_response("GET")
    except GONE as e:
        return f"{type(e).__name__}: {e}"
    finally:
        m.close()
    said = r.body.decode()
    if r.status != status or r.header("connection") != "close" or \
            not re.fullmatch(re.escape("IronCurtain: " + text) +
                             r" \(request [0-9a-f]{8}\)\n", said):
        return f"{r.status} {said!r}\nwanted {status} {text!r}"
    return None


def tunnels(b, groups):
    s = b.session
    for name, data, status, text in rules_connect.cases():
        groups[7].append((name, connect_case(s, data, status, text)))
    for target in rules_connect.GOOD:
        m = s.model(connect=False)
        m.send_raw(rules_connect.connect(target))
        r = m.read_response("CONNECT", body=False)
        groups[7].append((f"{target!r}", None if r.status == 200 else
                          f"{r.status}"))
        m.close()
    for sni in ("evil.test", "", "api.openai.com", "api.anthropic.com.",
                "x.api.anthropic.com", "anthropic.com", "localhost",
                "api-anthropic.com", "apixanthropic.com", "127.0.0.1",
                "xn--api.anthropic.com", "a" * 63 + ".com"):
        why = None
        try:
            s.model(sni=sni).close()
            why = "the handshake was finished"
        except (*GONE, OSError):
            pass
        groups[6].append((f"SNI {sni!r}", why))


def test_table():
    groups = collections.defaultdict(list)
    with h.workdir() as work:
        b = Bench(work)
        cases = table_cases()
        for case in cases:
            groups[case.row].append((case.name, run(b, case)))
        tunnels(b, groups)
        report(groups, "table")
        total = sum(map(len, groups.values()))
        t.ok(total >= 1000, f"table: {total} hand-written requests")
        t.equal({r: len(g) for r, g in groups.items() if len(g) < 10}, {},
                "table: every row at least ten")
        settle(b, "table")
        b.close()


# ---- answers of the provider ----------------------------------------------
def half_closed(port):
    """Returns True if the provider has ended a connection that keyd has not
    closed yet."""
    with open("/proc/net/tcp", encoding="ascii") as f:
        rows = [line.split() for line in list(f)[1:]]
    return any(int(r[1].split(":")[1], 16) == port and r[3] in ("04", "05")
               for r in rows)


def calm(b, case, alarms):
    """Wait until keyd has seen everything that the provider sent after its
    answer: if the next request is already on its way, the result is a race."""
    if case.row != 21:
        return
    if case.name == "a second answer, in another record":
        h.wait_for(lambda: len(b.session.events("alarm")) > alarms,
                   "no alarm about bytes while idle")
    h.wait_for(lambda: not half_closed(b.provider.port),
               "keyd keeps a connection that has ended")


def run_reply(b, number, case):
    m = b.model(rules.A)
    number = b"x-stainless-reply: %d\r\n" % number
    keep = False
    try:
        m.send_raw(b.fill(rules.A, rules.get(number)))
        b.expect(rules.A, rules.got(rules.headers_of(number)))
        if case.want == "cut":
            try:
                r = m.read_response("GET")
                return f"whole: {r.status} {r.body!r}"
            except GONE:
                return None
        r = m.read_response("GET")
        keep = "close" not in (r.header("connection") or "")
        if isinstance(case.want, rules.Refused):
            return refusal(r, case.want)
        got = (r.head, r.body)
        return None if got == case.want else f"got {got}\nwanted {case.want}"
    except GONE as e:
        keep = False
        return f"{type(e).__name__}: {e}"
    finally:
        b.keep(rules.A, m, keep)


def test_replies():
    groups = collections.defaultdict(list)
    cases = rules_replies.cases()
    with h.workdir() as work:
        b = Bench(work, [c.reply for c in cases])
        for i, case in enumerate(cases):
            alarms = len(b.session.events("alarm"))
            groups[case.row].append((case.name, run_reply(b, i + 1, case)))
            calm(b, case, alarms)
        report(groups, "replies")
        settle(b, "replies")
        b.close()


def test_generated(count=3000, seed=20261122):
    with h.workdir() as work:
        b = Bench(work)
        wild = rules_wild.Wild(table_cases(), seed)
        bad, kinds = [], collections.Counter()
        for i in range(count):
            case = wild.next(i)
            why = run(b, case)
            kinds[case.row] += 1
            if why:
                bad.append(f"{i}: {case.name}\n{case.data!r}\n{why}")
        print(f"# {dict(kinds)}")
        t.ok(not bad, f"generated: {count} requests of seed {seed} come to "
             "what the reference says", f"{len(bad)} failed\n" +
             "\n".join(bad[:10]))
        settle(b, "generated")
        b.close()


class Penalty:
    """Row 17: the fifth wrong key is answered after 30 seconds. Begun first
    and checked last."""

    def __init__(self, stack):
        self.b = b = Bench(stack.enter_context(h.workdir()))
        stack.callback(b.close)
        self.m = b.session.model()
        self.wrong = rules.get(key=b"x-api-key: guess\r\n")
        quick = []
        for _ in range(4):
            self.m.send_raw(self.wrong)
            quick.append(refusal(self.m.read_response(),
                                 rules.no("wrong-key")))
        t.equal(quick, [None] * 4, "penalty: four guesses are answered")
        self.m.send_raw(self.wrong)
        self.began = time.monotonic()

    def look(self):
        b, early = self.b, time.monotonic() - self.began < 28
        if early:
            self.m.sock.settimeout(0.2)
            try:
                got = self.m.sock.recv(1)
            except TimeoutError:
                got = None
            t.equal(got, None, "penalty: the fifth is not, for a while")
            self.m.sock.settimeout(40)
        other = b.session.model()
        t.equal(canary(b, other, rules.A), None,
                "penalty: another connection is served")
        other.close()
        r = self.m.read_response()
        took = time.monotonic() - self.began
        t.equal(refusal(r, rules.no("wrong-key")), None,
                "penalty: it is refused in the end")
        t.ok(not early or 29 < took < 45, "penalty: after 30 s", took)
        t.equal(len(b.session.events("alarm")), 1, "penalty: with an alarm")
        t.equal(canary(b, self.m, rules.A), None,
                "penalty: then the right key is taken")
        self.m.close()
        settle(b, "penalty")


PARTS = {"table": test_table, "replies": test_replies,
         "generated": test_generated}


def main():
    args = sys.argv[1:]
    if not args and os.environ.get("IC_RULES"):
        args = ["table", "replies", "generated", os.environ["IC_RULES"]]
    args = args or list(PARTS)
    with contextlib.ExitStack() as stack:
        penalty = None
        if args[0] == "table":
            with t.case("penalty begins"):
                penalty = Penalty(stack)
        while args:
            name, numbers = args.pop(0), []
            while args and args[0].isdigit():
                numbers.append(int(args.pop(0)))
            with t.case(name):
                PARTS[name](*numbers)
        if penalty:
            with t.case("penalty"):
                penalty.look()
    t.done()


if __name__ == "__main__":
    main()
