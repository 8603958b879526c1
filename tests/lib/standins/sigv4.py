# SPDX-License-Identifier: ISC
"""AWS Signature Version 4 after its public description, for a stand-in that
verifies requests and for tests of the signer.  Shares no code with the
product."""
import hashlib
import hmac
import re
import urllib.parse


def quote(text, safe=""):
    return urllib.parse.quote(text, safe=safe)


def signature(secret, region, service, method, path, query, date, body,
              fields):
    """Returns the signature; fields: (lower-case name, value) of everything
    signed; path: as on the wire; body: hex of its SHA-256."""
    fields = sorted(fields)
    pairs = [p.partition("=")[::2] for p in query.split("&") if p]
    canonical = "\n".join([
        method, quote(path, "/"),
        "&".join(f"{quote(n)}={quote(v)}" for n, v in sorted(pairs)),
        *[f"{n}:{re.sub(' +', ' ', v.strip(' '))}" for n, v in fields], "",
        ";".join(n for n, _ in fields), body])
    scope = f"{date[:8]}/{region}/{service}/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", date, scope,
                      hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + secret).encode()
    for part in (date[:8], region, service, "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def authorization(ident, secret, region, service, method, path, query, date,
                  body, fields):
    names = ";".join(sorted(n for n, _ in fields))
    return (f"AWS4-HMAC-SHA256 Credential={ident}/{date[:8]}/{region}/"
            f"{service}/aws4_request, SignedHeaders={names}, Signature=" +
            signature(secret, region, service, method, path, query, date,
                      body, fields))


FORM = re.compile(
    r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/([^/]+)/aws4_request"
    r", SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})")


def verify(headers, method, target, body, keys, region, service="bedrock",
           now=None):
    """Returns "" if one of keys (id -> (secret, token)) signed the request as
    the service requires, else the fault.  headers: [(name, value)]; body:
    bytes."""
    got = {}
    for name, value in headers:
        if name.lower() in got:
            return f"{name} twice"
        got[name.lower()] = value
    m = FORM.fullmatch(got.get("authorization", ""))
    if not m:
        return "no signature"
    ident, day, in_region, in_service, names, sig = m.groups()
    if ident not in keys:
        return "a key that is not ours"
    secret, token = keys[ident]
    names = names.split(";")
    if (in_region, in_service) != (region, service):
        return "another scope"
    if names != sorted(set(names)) or "host" not in names:
        return "signed headers out of order, or without host"
    if any(n not in names for n in got if n.startswith("x-amz-")):
        return "an x-amz- header is not signed"
    if any(n not in got for n in names):
        return "a signed header is missing"
    if got.get("x-amz-security-token", "") != (token or ""):
        return "the session token is wrong"
    date = got.get("x-amz-date", "")
    if date[:8] != day:
        return "the date is wrong"
    if now is not None and abs(now - parse_date(date)) > 300:
        return "the date is far off"
    digest = hashlib.sha256(body).hexdigest()
    if got.get("x-amz-content-sha256", digest) != digest:
        return "the body is another"
    path, _, query = target.partition("?")
    want = signature(secret, region, service, method, path, query, date,
                     digest, [(n, got[n]) for n in names])
    return "" if hmac.compare_digest(want, sig) else "the signature is wrong"


def parse_date(text):
    import calendar
    import time
    return calendar.timegm(time.strptime(text, "%Y%m%dT%H%M%SZ"))
