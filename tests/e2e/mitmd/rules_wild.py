# SPDX-License-Identifier: ISC
"""Generated requests: valid ones changed in one to four places. Their expected
results come from a second implementation of the rule book, written from its
text and independent of the product. It predicts only as much as is certain: a
refusal with this status, or exactly this head."""
import random
import re

import rules
from rules import A, O

TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]"
WORD = rb"[A-Za-z0-9._:-]"
# provider -> [(method, path pattern, parameters)], from its shipped file
ROUTES = {
    A: [(b"POST", rb"/v1/messages(/count_tokens)?", {b"beta": rb"true"}),
        (b"POST", rb"/api/event_logging/(v2/)?batch", {}),
        (b"POST", rb"/api/eval/" + WORD + rb"+", {}),
        (b"GET", rb"/api/hello", {}), (b"GET", rb"/api/oauth/usage", {}),
        (b"GET", rb"/api/claude_code/(settings|policy_limits)", {}),
        (b"GET", rb"/api/claude_code/organizations/metrics_enabled", {}),
        (b"GET", rb"/api/claude_code_penguin_mode", {}),
        (b"GET", rb"/mcp-registry/v0/servers", {
            b"limit": rb"[0-9]{1,10}", b"cursor": WORD + rb"{1,128}",
            b"search": WORD + rb"{1,128}", b"version": WORD + rb"{1,128}",
            b"visibility": WORD + rb"{1,128}"})],
    O: [(b"POST", rb"/v1/(responses|chat/completions)", {}),
        (b"GET", rb"/v1/models", {b"client_version": WORD + rb"{1,128}"})],
}
KINDS = {A: {b"x-api-key": b"", b"authorization": b"Bearer "},
         O: {b"authorization": b"Bearer "}}
LISTED = {
    A: rb"accept|accept-language|anthropic-.+|content-type|if-modified-since|"
       rb"if-none-match|user-agent|x-app|x-claude-.+|x-client-request-id|"
       rb"x-organization-uuid|x-service-name|x-session-id|x-stainless-.+",
    O: rb"accept|accept-language|content-type|conversation_id|"
       rb"idempotency-key|openai-.+|originator|session-id|session_id|"
       rb"thread-id|user-agent|version|x-client-request-id|x-codex-.+|"
       rb"x-openai-.+|x-stainless-.+",
}
SECRET = re.compile(rb".*(authorization|auth-token|access-token|"
                    rb"security-token|api-token|api-key|apikey)", re.S)


class No(Exception):
    """Refused; args: the status."""


def read_head(data):
    """(method, target, [(name, value)], rest)"""
    head, rest = data.split(b"\r\n\r\n", 1)
    if b"\0" in head or b"\n" in head.replace(b"\r\n", b"") or \
            b"\r" in head.replace(b"\r\n", b""):
        raise No(400)
    lines = head.split(b"\r\n")
    m = re.fullmatch(rb"([A-Z-]{1,32}) ([\x21-\x7e]+) "
                     rb"HTTP/1\.1", lines[0])
    if not m or m[1] == b"PRI":
        raise No(400)
    headers = []
    for line in lines[1:]:
        h = re.fullmatch(rb"(" + TOKEN + rb"+):([\t\x20-\x7e\x80-\xff]*)",
                         line)
        if not h:
            raise No(400)
        name, value = h[1].lower(), h[2]
        if b"KEY" in h[1]:
            raise No(0)
        if name in (b"content-length", b"transfer-encoding") and \
                re.search(rb"^( ?[ \t][ \t]|\t)|[ \t]$", value) and \
                value != b" ":
            raise No(400)
        headers.append((name, value.strip(b" \t")))
    if len(headers) > 100:
        raise No(431)
    return m[1], m[2], headers, rest


def only(headers, name):
    found = [v for n, v in headers if n == name]
    if len(found) > 1:
        raise No(400)
    return found[0] if found else None


def framing(method, headers):
    """None, a length, or "chunked"."""
    for name, _ in headers:
        if name.replace(b"-", b"_") in (b"content_length",
                                       b"transfer_encoding") and b"_" in name:
            raise No(400)
    length = only(headers, b"content-length")
    coding = only(headers, b"transfer-encoding")
    if length is not None and coding is not None:
        raise No(400)
    if coding not in (None, b"chunked"):
        raise No(400)
    if length is not None:
        if not re.fullmatch(rb"0|[1-9][0-9]{0,18}", length) or \
                int(length) >= 1 << 63:
            raise No(400)
        length = int(length)
    found = "chunked" if coding else length
    if method in (b"GET", b"HEAD", b"DELETE", b"CONNECT", b"OPTIONS",
                  b"TRACE", b"TRACK") and found:
        raise No(400)
    return found


def hop_words(name, value):
    """The words of a header for this hop; more than it may have is refused."""
    words = [w.strip(b" \t").lower() for w in value.split(b",")]
    if name == b"connection":
        allowed = rb"close|keep-alive|te"
        if len(set(words)) < len(words) or \
                {b"close", b"keep-alive"} <= set(words):
            raise No(400)
    elif name == b"te":
        if value == b"":
            return []
        allowed = rb"(trailers|(x-)?gzip|deflate|(x-)?compress)[ \t]*(;.*)?"
    else:
        allowed = rb"[0-9a-z=-]+"
    if not all(re.fullmatch(allowed, w) for w in words):
        raise No(400)
    return words


def hop(host, method, target, headers, framed):
    if method in (b"CONNECT", b"TRACE", b"TRACK"):
        raise No(405)
    if not target.startswith(b"/"):
        raise No(400)
    if any(n == b"upgrade" for n, _ in headers):
        raise No(426)
    seen = hosts = 0
    words = {}
    for name, value in headers:  # the first offence is reported
        if name == b"expect":
            if value.lower() != b"100-continue" or seen or not framed:
                raise No(417)
            seen = 1
        elif name == b"http2-settings":
            raise No(400)
        elif name == b"host":
            hosts += 1
            if value.lower() not in (host.encode(), host.encode() + b":443") \
                    or hosts > 1:
                raise No(400)
        elif name in (b"connection", b"te", b"keep-alive"):
            if name in words:
                raise No(400)
            words[name] = hop_words(name, value)
    if not hosts or (b"te" in words.get(b"connection", []) and
                     b"te" not in words):
        raise No(400)


def route(host, method, target):
    path, mark, query = target.partition(b"?")
    parts = path[1:].split(b"/")
    if len(parts) > 16 or len(path) > 2048 or not all(
            re.fullmatch(WORD + rb"+", p) and p not in (b".", b"..")
            for p in parts):
        raise No(400)
    matching = [r for r in ROUTES[host] if re.fullmatch(r[1], path)]
    if not matching:
        raise No(403)
    matching = [r for r in matching if r[0] == method]
    if not matching:
        raise No(405)
    if not mark:
        return
    good, names = True, []
    for pair in query.split(b"&"):
        m = re.fullmatch(rb"([A-Za-z0-9._-]{1,64})=(" + WORD + rb"{1,128})",
                         pair)
        if not m:
            raise No(400)
        value = matching[0][2].get(m[1])
        if not value or not re.fullmatch(value, m[2]):
            good = False
        elif m[1] in names:
            raise No(400)
        else:
            names.append(m[1])
    if not good or len(query) > 2048:
        raise No(403 if len(query) <= 2048 else 400)


def headers_on(host, headers):
    """Returns (credential header, those that pass)."""
    kind, on, type_ = None, [], None
    for name, value in headers:
        folded = name.replace(b"_", b"-")
        if name in KINDS[host]:
            if kind or value != KINDS[host][name] + b"KEY":
                raise No(403)
            kind = name
        elif SECRET.fullmatch(folded):
            raise No(403)
        elif name == b"content-encoding":
            raise No(0)  # not checked here
        elif re.fullmatch(LISTED[host], name):
            if name in [n for n, _ in on]:
                raise No(400)
            if not re.fullmatch(rb"[a-z0-9][a-z0-9_-]*", name) or \
                    not re.fullmatch(rb"[\t\x20-\x7e]{0,8192}", value):
                raise No(431)
            on.append((name, value))
            type_ = value if name == b"content-type" else type_
    if not kind:
        raise No(403)
    return kind + b": " + KINDS[host][kind] + b"REAL\r\n", on, type_


def unchunk(rest):
    """Returns (body, rest)."""
    body = b""
    while True:
        m = re.match(rb"(0|[1-9a-fA-F][0-9a-fA-F]{0,14})\r\n", rest)
        if not m:
            raise No(400)
        n, rest = int(m[1], 16), rest[m.end():]
        if n == 0:
            if rest[:2] != b"\r\n":
                raise No(400)
            return body, rest[2:]
        if rest[n:n + 2] != b"\r\n":
            raise No(400)
        body, rest = body + rest[:n], rest[n + 2:]


def judge(host, data):
    """("refused", status) or ("sent", Sent) for the first request in `data`;
    None if the answer depends on later bytes."""
    if b"\r\n\r\n" not in data or \
            b"KEY" in data.split(b"\r\n")[0] + data.split(b"\r\n\r\n", 1)[1]:
        return None
    known, framed, rest = False, None, b""
    try:
        method, target, headers, rest = read_head(data)
        framed = framing(method, headers)
        hop(host, method, target, headers, framed)
        known = re.match(rb"/[^/]", target) is not None
        route(host, method, target)
        cred, on, type_ = headers_on(host, headers)
        if framed and (type_ or b"").split(b";")[0].strip(
                b" \t").lower() != b"application/json":
            raise No(415)
        if framed == "chunked":
            known = False
            body, rest = unchunk(rest)
        else:
            if (framed or 0) > 32 << 20:
                raise No(413)
            body, rest = rest[:framed or 0], rest[framed or 0:]
            if len(body) < (framed or 0):
                return None
    except No as e:
        # If the connection is kept, the next request's start must be certain.
        if not e.args[0] or (known and not whole(framed, rest)):
            return None
        return "refused", e.args[0]
    if rest or (body not in (b"", rules.TURN, rules.INPUT) and
                not re.match(rb"/api/ev", target)):
        return None
    line = method + b" " + target + b" HTTP/1.1"
    return "sent", rules.sent(line, host, on, body, cred)


def whole(framed, rest):
    """Returns True if the body is all of the rest."""
    if framed == "chunked":
        try:
            return unchunk(rest)[1] == b""
        except No:
            return False
    return len(rest) == (framed or 0)


BYTES = [bytes([c]) for c in range(256)]
INSERTS = [
    b"\r\n", b"\n", b"\r", b"\0", b" ", b"\t", b":", b"%2e", b"%2f", b"//",
    b"/../", b"/./", b"?", b"&", b"=", b";", b"#", b"\\", b",", b"\xff",
    b"chunked", b"KEY", b"Host: evil.test\r\n", b"0\r\n\r\n", b"\r\n\r\n",
    b"x-api-key: KEY\r\n", b"Authorization: Bearer KEY\r\n",
    b"Content-Length: 0\r\n", b"Content-Length: 5\r\n",
    b"Transfer-Encoding: chunked\r\n", b"Connection: close\r\n",
    b"Connection: x-api-key\r\n", b"Expect: 100-continue\r\n",
    b"Upgrade: h2c\r\n", b"TE: trailers\r\n", b"Cookie: a=b\r\n",
    b"X-Forwarded-For: 1.1.1.1\r\n", b"accept: */*\r\n", b"x-app: cli\r\n",
    b"Proxy-Authorization: x\r\n", b"HTTP/1.1", b"_", b"-", b"9" * 20,
]


class Wild:
    """Changed copies of the table's valid requests."""

    def __init__(self, cases, seed):
        self.random = random.Random(seed)
        self.good = [c for c in cases if isinstance(c.want, rules.Sent) and
                     isinstance(c.data, bytes) and len(c.data) < 2000]

    def change(self, data):
        r = self.random
        head = data.index(b"\r\n\r\n") + 4
        # Most rules are about heads.
        at = r.randrange(head if r.random() < 0.9 else len(data))
        how = r.randrange(6)
        lines = data[:head].split(b"\r\n")
        if how == 0:
            return data[:at] + r.choice(BYTES) + data[at + 1:]
        if how == 1:
            return data[:at] + r.choice(INSERTS) + data[at:]
        if how == 2:
            return data[:at] + data[at + r.randrange(1, 6):]
        i = r.randrange(len(lines) - 2)
        if how == 3:  # a line again, elsewhere
            lines.insert(r.randrange(1, len(lines) - 1), lines[i])
        elif how == 4:
            del lines[i]
        else:  # a line of another valid request
            other = r.choice(self.good).data.split(b"\r\n\r\n")[0].split(
                b"\r\n")
            lines.insert(r.randrange(1, len(lines) - 1), r.choice(other))
        return b"\r\n".join(lines) + data[head:]

    def next(self, number):
        """Returns a case; its row is the kind of its result."""
        while True:
            base = self.random.choice(self.good)
            data = base.data
            for _ in range(self.random.choice((0, 1, 1, 1, 2, 2, 4))):
                if b"\r\n\r\n" in data:
                    data = self.change(data)
            verdict = judge(base.host, data)
            if verdict is None:
                continue
            kind, want = verdict
            return rules.Case(f"{kind} {want if kind == 'refused' else ''}",
                              f"from {base.name}", base.host, data, want)
