# SPDX-License-Identifier: ISC
"""Rows 5, 6, 8, 10, 11: method, host, path and query."""
from rules import (A, GETS, HOST, JSON, KEY, O, Case, get, got, no,
                   post, posted, sent)

PATH = ("the path holds an escape, a dot or empty segment, or characters other "
        "than letters, digits and -._:")
QUERY = ("the query is not NAME=VALUE&... without escapes, each name once")
CONTROL, ASCII = "control character in target", "non-ASCII byte in target"


def target(t, method=b"GET", host=A):
    return method + b" " + t + b" HTTP/1.1\r\n" + HOST[host] + KEY[host] + \
        (JSON + b"Content-Length: 2\r\n\r\n{}" if method == b"POST" else
         b"\r\n")


# ---- row 5: methods ------------------------------------------------------
def methods():
    lower, char = "method is not upper case", "bad character in method"
    never = no("method")
    rows = [(m, no("malformed", lower)) for m in (
        b"get", b"Get", b"gET", b"GEt", b"post", b"pOST", b"trace", b"connect",
        b"options", b"delete", b"xget")]
    rows += [(m, no("malformed", char)) for m in (
        b"G(T", b"G\tT", b"\"GET\"", b"GET,POST", b"GET;", b"GE\x00T"[:2] +
        b"\xc3\x89T", b"GET:", b"@GET", b"{GET}", b"GET=1", b"[GET]",
        b"GET/", b"\\GET", b"\xefGET", b"<GET>")]
    rows += [(m, never) for m in (
        b"TRACE", b"TRACK", b"CONNECT", b"OPTIONS", b"PUT", b"PATCH",
        b"DELETE", b"PROPFIND", b"PURGE", b"LINK", b"UNLINK", b"SEARCH",
        b"MKCOL", b"COPY", b"MOVE", b"LOCK", b"REPORT", b"QUERY", b"DEBUG",
        b"GETT", b"GE", b"XGET", b"POSTGET", b"G")]
    out = []
    for host in (A, O):
        line = GETS[host].split(b" ")[1]
        for m, want in rows:
            out.append(Case(5, f"{m!r}", host, target(line, m, host), want))
    out += [
        Case(5, "POST on a path for GET", A, target(b"/api/hello", b"POST"),
             never),
        Case(5, "GET on a path for POST", A, target(b"/v1/messages"), never),
        Case(5, "GET on a path for POST", O, target(b"/v1/responses", host=O),
             never),
        Case(5, "OPTIONS *", A, target(b"*", b"OPTIONS"),
             no("malformed", "target is not in origin form")),
        Case(5, "33 letters", A, target(b"/api/hello", b"G" * 33),
             no("malformed", "method is too long")),
        Case(5, "no method", A, b" /api/hello HTTP/1.1\r\n" + HOST[A] +
             b"\r\n", no("malformed", "method is empty")),
        Case(5, "GET", A, get(), got()), Case(5, "GET", O, get(host=O),
                                              got(host=O)),
        Case(5, "POST", A, post(), posted()),
        Case(5, "POST", O, post(host=O), posted(host=O)),
    ]
    return out


# ---- rows 6 and 8: the host ----------------------------------------------
def hosts():
    other = no("malformed", "Host is not the host of this connection")
    out = []
    for host in (A, O):
        swapped = O if host == A else A
        name = host.encode()
        bad = [
            swapped.encode(), name + b".", name + b":80", name + b":443 x",
            name + b":0443", name + b":+443", name + b":", name + b":4430",
            name + b".:443", b"x" + name, b"x." + name, name + b".evil.test",
            name.split(b".", 1)[1], b"www." + name, b"127.0.0.1", b"[::1]",
            b"localhost", b"", name + b"," + name, name + b" " + name,
            name + b"#", name + b"/", name + b"?", b"u@" + name,
            name + b"@evil.test", b"https://" + name, b"//" + name,
            name.replace(b".", b"\xe3\x80\x82"), name.replace(b"a", b"\xd0\xb0"),
            name.replace(b".", b"..", 1), b"*", b"*." + name, b"\"" + name +
            b"\"", name + b"%00", name + b"\\", name + b";", b"0x7f000001",
            b"2130706433", b"api", b"xn--" + name, name + b":443:443",
        ]
        for value in bad:
            out.append(Case(8, f"Host {value!r}", host, GETS[host] +
                            b"Host: " + value + b"\r\n" + KEY[host] + b"\r\n",
                            other))
        for value in (name, name.upper(), name.title(), name + b":443",
                      b" \t" + name + b" \t "):
            out.append(Case(6, f"Host {value!r}", host, GETS[host] + b"host:" +
                            value + b"\r\n" + KEY[host] + b"\r\n",
                            got(host=host)))
        twice = no("malformed", "Host given twice")
        for second in (HOST[host], HOST[swapped], b"HOST: evil.test\r\n",
                       b"host:\r\n"):
            out.append(Case(8, f"and {second!r}", host, get(second, host),
                            twice))
        out += [
            Case(8, "none", host, GETS[host] + KEY[host] + b"\r\n",
                 no("malformed", "no Host header")),
            Case(8, "look-alike", host, GETS[host] + b"H\xc3\xb6st: x\r\n" +
                 b"\r\n", no("malformed", "bad character in header name")),
            Case(8, "X-Host alone", host, GETS[host] + b"X-" + HOST[host] +
                 KEY[host] + b"\r\n", no("malformed", "no Host header")),
            Case(8, "Host with a space", host, GETS[host] + b"Host : x\r\n\r\n",
                 no("malformed", "space before colon")),
        ]
        for form in (b"https://" + name + b"/api/hello", b"http://" + name +
                     b"/", b"https://evil.test/", b"HTTPS://" + name,
                     name + b":443", b"*", b"ftp://" + name + b"/",
                     b"api/hello", b"?x=1", b"@evil.test/", b"file:///x",
                     b"%2fapi/hello", b"\\api", b"urn:x"):
            out.append(Case(8, f"target {form!r}", host,
                            target(form, host=host),
                            no("malformed", "target is not in origin form")))
    return out


# ---- row 10: paths -------------------------------------------------------
TRICKS = [
    b"%2e%2e", b"%2E", b"%2f", b"%2F", b"%5c", b"%00", b"%0d%0a", b"%20",
    b"%25", b"%252e", b"%c0%ae", b"%e0%80%af", b"%u002e", b"%", b"%zz", b"..",
    b".", b"..;", b".;x", b";x", b"x;a=b", b"x,y", b"x=y", b"x@y", b"x!",
    b"x$", b"x'y", b"(x)", b"*", b"x+y", b"~", b"~root", b"x\\y", b"\\",
    b"..\\..", b"{x}", b"[x]", b"<x>", b"x|y", b"^", b"`id`", b"\"x\"", b"x#",
    b"#", b"$(id)", b"${x}", b"x&y",
]


def paths():
    bad = no("malformed", PATH)
    out = []
    for host, base, method in ((A, b"/v1/messages", b"POST"),
                               (A, b"/api/hello", b"GET"),
                               (O, b"/v1/responses", b"POST")):
        first, last = base.rsplit(b"/", 1)
        for trick in TRICKS:
            for t in (base + b"/" + trick, first + b"/" + trick + b"/" + last):
                out.append(Case(10, f"{t!r}", host, target(t, method, host),
                                bad))
        for t in (b"/" + base, base + b"/", first + b"//" + last,
                  base[:-1] + b"%%%02x" % base[-1],
                  b"/." + base, b"/.." + base, base + b"/..", base + b"/.",
                  base + b"/../" + last, base + b"#", base + b"#x", b"/",
                  b"//evil.test" + base, base + b"%20", base + b"/x" * 16):
            out.append(Case(10, f"{t[:60]!r}", host, target(t, method, host),
                            bad))
        for t in (base.upper(), base.title(), base + b"x", base[:-1],
                  base + b".", base + b"/x", b"/v2" + base, base + b":x",
                  base + b"...", base + b".json", base + b"_", b"/x" + base,
                  b"/v1/files", b"/v1/organizations", b"/.well-known/x",
                  b"/v1/models/x/y", b"/v1", b"/favicon.ico",
                  b"/v1:messages"):
            out.append(Case(10, f"{t!r}", host, target(t, method, host),
                            no("endpoint")))
        for t, why in ((b"\xc3\xa4", ASCII), (b"\xc0\xae", ASCII),
                       (b"\xff", ASCII), (b"\xef\xbc\x8f", ASCII),
                       (b"\x7f", CONTROL), (b"\x01", CONTROL),
                       (b"\x1b[0m", CONTROL), (b"\t", CONTROL),
                       (b"\x0b", CONTROL), (b"\x0c", CONTROL),
                       (b"\0", "NUL in head")):
            out.append(Case(10, f"{t!r} in it", host,
                            target(base + t, method, host),
                            no("malformed", why)))
        out.append(Case(10, "a space in it", host,
                        target(base + b" x", method, host),
                        no("malformed", "no HTTP version after the target")))
        out.append(Case(10, "a space behind it", host,
                        target(base + b" ", method, host),
                        no("malformed", "no HTTP version after the target")))
        out.append(Case(10, "8193 bytes", host,
                        target(base + b"x" * 8192, method, host),
                        no("malformed", "target is too long")))
    for t in (b"/api/eval/x", b"/api/eval/sdk-1.2:3_4", b"/api/eval/...",
              b"/api/eval/" + b"z" * 500):
        line = b"POST " + t + b" HTTP/1.1\r\n"
        out.append(Case(10, f"{t[:30]!r}", A, post(line=line),
                        posted(line=line)))
    return out


# ---- row 11: the query ---------------------------------------------------
def queries():
    bad, off = no("malformed", QUERY), no("query")
    out = []
    for q in (b"", b"&", b"=", b"a", b"beta", b"beta=", b"=true", b"beta=true&",
              b"&beta=true", b"beta=true&&beta=true", b"beta=%74rue",
              b"%62eta=true", b"beta=true%00", b"beta=true%26x=1",
              b"beta=true;x=1", b"beta==true", b"beta=true=x", b"beta=tr/ue",
              b"beta=true&beta=true", b"be ta=true"[:2] + b"+=true", b"?",
              b"beta=true?", b"beta=true#x", b"beta[]=true", b"beta.=x&",
              b"a:b=1", b"x=" + b"y" * 129, b"x=\\", b"x='", b"x=a,b", b"x=~",
              b"x=*", b"x=(1)", b"x=%2e", b"beta=true&x", b"x=$HOME",
              b"x=a|b", b"x={}", b"x=@", b"x=\"y\""):
        out.append(Case(11, f"{q[:40]!r}", A, post(
            line=b"POST /v1/messages?" + q + b" HTTP/1.1\r\n"), bad))
    for q in (b"key=x", b"key=KEY", b"api_key=KEY", b"beta=false", b"beta=TRUE",
              b"Beta=true", b"beta=1", b"x=1", b"beta=true&x=1", b"x=1&y=2",
              b"access_token=KEY", b"alt=sse", b"debug=1", b"_method=DELETE",
              b"x=1&x=2", b"beta=true&key=sk-ant-api03-x"):
        out.append(Case(11, f"{q!r}", A, post(
            line=b"POST /v1/messages?" + q + b" HTTP/1.1\r\n"), off))
        out.append(Case(11, f"{q!r}", O, get(
            host=O, line=b"GET /v1/models?" + q + b" HTTP/1.1\r\n"), off))
    for q in (b"client_version=", b"client_version=a%20b",
              b"client_version=1&client_version=1"):
        out.append(Case(11, f"{q!r}", O, get(
            host=O, line=b"GET /v1/models?" + q + b" HTTP/1.1\r\n"), bad))
    for line in (b"GET /api/hello?x=1", b"GET /api/hello?beta=true",
                 b"GET /api/oauth/usage?key=KEY"):
        out.append(Case(11, f"{line!r}", A, get(line=line + b" HTTP/1.1\r\n"),
                        off))
    for line in (b"POST /v1/messages?beta=true",
                 b"POST /v1/messages/count_tokens?beta=true"):
        line += b" HTTP/1.1\r\n"
        out.append(Case(11, f"{line!r}", A, post(line=line),
                        posted(line=line)))
    for host, line in (
            (O, b"GET /v1/models?client_version=1.2.3"),
            (O, b"GET /v1/models?client_version=a-b_c:d"),
            (A, b"GET /mcp-registry/v0/servers?limit=100"),
            (A, b"GET /mcp-registry/v0/servers?cursor=a.b&limit=1&search=x"),
            (A, b"GET /mcp-registry/v0/servers?search=x&limit=1&version=v")):
        line += b" HTTP/1.1\r\n"
        out.append(Case(11, f"{line!r}", host, get(host=host, line=line),
                        sent(line, host)))
    for q in (b"limit=x", b"limit=-1", b"limit=12345678901", b"limit=1.5",
              b"page=1"):
        out.append(Case(11, f"{q!r}", A, get(
            line=b"GET /mcp-registry/v0/servers?" + q + b" HTTP/1.1\r\n"),
            off))
    return out


def cases():
    return methods() + hosts() + paths() + queries()
