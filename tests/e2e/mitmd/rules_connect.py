# SPDX-License-Identifier: ISC
"""Row 7: CONNECT requests and their answers."""
import re

from rules import FORM

LIST = ("Allowed: api.anthropic.com:443, platform.claude.com:443, "
     "api.openai.com:443.")
OFF = ("This host or port is not on the session's list. The user can add a "
       "provider or a destination to config.json, for the next session. "
       "Do not retry.")
# A target that is NAME:443 is named, with the key that would allow it.
NAMED = ("%s is not in \"destinations\" of config.json. Do not retry. The user "
         "can add it there, for the next session. " + LIST)
PUBLIC = re.compile(rb"((?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+"
                    rb"[a-z][a-z0-9-]{0,61}):443")
ONLY = ("This proxy takes CONNECT to port 443 of the hosts on the list only; "
        "there is no plain HTTP. Use https. Do not retry. " + LIST)
LOCAL = ("This address is the sandbox itself, and this proxy leads out of it. A "
         "server in the sandbox is reached without the proxy: as "
         "http://localhost:PORT or http://127.0.0.1:PORT, which NO_PROXY "
         "names, or with the client's own option for no proxy. Do not retry.")
EARLY = ("Bytes came after the CONNECT request and before its answer. Wait "
         "for 200, then begin TLS. Do not retry.")
NAME = b"api.anthropic.com"

TARGETS = [
    b"evil.test:443", b"api.anthropic.com.evil.test:443", NAME,
    b"xapi.anthropic.com:443", b"anthropic.com:443", b"x." + NAME + b":443",
    NAME + b":", NAME + b":0", NAME + b":80", NAME + b":8443",
    NAME + b":65536", NAME + b":65979", NAME + b":+443", NAME + b":0443",
    NAME + b":443.", NAME + b":443:443", NAME + b":0x1bb", NAME + b":4430",
    NAME + b":44", NAME + b":-443", NAME + b":443,80", NAME + b".:443",
    NAME + b"..:443", b"." + NAME + b":443", b"u@" + NAME + b":443",
    b"u:p@" + NAME + b":443", NAME + b":443@evil.test",
    NAME + b":443@evil.test:443", b"evil.test@" + NAME + b":443",
    NAME + b"%00.evil.test:443", NAME + b"%2eevil.test:443",
    NAME + b"\\:443", b"\\" + NAME + b":443", NAME + b"\\@evil.test:443",
    NAME + b"#:443", NAME + b":443#", NAME + b":443#@evil.test",
    NAME + b":443?", NAME + b":443/", NAME + b":443/x", b"/" + NAME + b":443",
    b"//" + NAME + b":443", b"https://" + NAME + b":443",
    b"https://" + NAME, b"*", b"*:443", b":443", b"443", b"[" + NAME +
    b"]:443", b"api.anthropic.com;:443", b"api%2eanthropic%2ecom:443",
    b"::1:443",
    b"[fe80::1%25lo]:443", b"169.254.169.254:443", b"169.254.169.254:80",
    b"[64:ff9b::7f00:1]:443", b"xn--pi-7ma.anthropic.com:443",
    b"metadata.google.internal:443",
    b"x" * 254 + b":443", b"x" * 4000 + b":443", b"api.anthropic.com,evil:443",
    b"$HOME:443", b"`id`:443", b"$(id):443", b"..:443", b"-:443",
]
LOOPBACK = [
    b"127.0.0.1:443", b"127.1:443", b"0:443", b"2130706433:443",
    b"0177.0.0.1:443", b"0x7f.0.0.1:443", b"0x7f000001:443", b"127.8.9.1:80",
    b"[::1]:443", b"[::1]:8443", b"[::ffff:127.0.0.1]:443", b"[::]:443",
    b"localhost:443", b"localhost.:443", b"app.localhost:443",
    b"ironcurtain:443",
]
GOOD = [NAME + b":443", NAME.upper() + b":443", b"API.openai.COM:443"]


def connect(target, more=b""):
    return b"CONNECT " + target + b" HTTP/1.1\r\nHost: x\r\n" + more + b"\r\n"


def off(target):
    m = PUBLIC.fullmatch(target)
    if m is None or len(m[1]) > 253:
        return OFF
    return NAMED % m[1].decode()


def why(text):
    return FORM + " What is wrong: " + text + "."


def cases():
    """[(name, bytes, status, text)]"""
    out = [(f"{t[:60]!r}", connect(t), 403, off(t)) for t in TARGETS]
    out += [(f"{t!r}", connect(t), 403, LOCAL) for t in LOOPBACK]
    for t, text in ((b"\xe2\x80\x8b" + NAME + b":443",
                     "non-ASCII byte in target"),
                    (NAME[:-1] + b"\xd0\xbc:443", "non-ASCII byte in target"),
                    (NAME + b"\xe3\x80\x82:443", "non-ASCII byte in target"),
                    (NAME + b"\0.evil.test:443", "NUL in head"),
                    (NAME + b"\0:443", "NUL in head"),
                    (NAME + b":443\r\nHost: x", "request line without a "
                     "version"),
                    (NAME + b"\t:443", "control character in target"),
                    (NAME + b":443\x7f", "control character in target"),
                    (NAME + b" :443", "no HTTP version after the target"),
                    (b"", "target is empty"),
                    (NAME + b"\r:443", "request line without a version"),
                    (NAME + b"\n:443", "request line without a version")):
        out.append((f"{t!r}", connect(t), 400, why(text)))
    both = connect(NAME + b":443")
    for more in (both, b"\x16", b"\x16\x03\x01\x02\x00", b"x", b"\r\n",
                 b"GET / HTTP/1.1\r\n\r\n", b"\0", connect(b"evil.test:443")):
        out.append((f"and then {more[:20]!r}", both + more, 400, EARLY))
    for line in (b"GET / ", b"GET http://api.anthropic.com/ ", b"POST / ",
                 b"GET https://api.anthropic.com/v1/models ", b"OPTIONS * ",
                 b"HEAD / ", b"GET http://evil.test/ ", b"TRACE / ",
                 b"GET http://169.254.169.254/latest/meta-data ",
                 b"DELETE ftp://x/ ",
                 b"CONNECTX api.anthropic.com:443 "):
        out.append((f"{line!r}", line + b"HTTP/1.1\r\nHost: x\r\n\r\n", 405,
                    ONLY))
    for line in (b"GET http://[::1]:8123/ ", b"PUT http://127.0.0.1/ ",
                 b"GET http://localhost:3000/x?y ", b"POST http://ironcurtain ",
                 b"OPTIONS http://ip6-localhost/ "):
        out.append((f"{line!r}", line + b"HTTP/1.1\r\nHost: x\r\n\r\n", 403,
                    LOCAL))
    for more, text in (
            (b"Content-Length: 1\r\n", "body on a method that has none"),
            (b"Transfer-Encoding: chunked\r\n",
             "body on a method that has none"),
            (b"Content-Length: 0\r\nContent-Length: 0\r\n",
             "Content-Length given twice"),
            (b"x : y\r\n", "space before colon"), (b" x\r\n",
                                                   "folded header line"),
            (b"x\r\n", "header line without a colon"),
            (b"x\0: y\r\n", "NUL in head"), (b"x: y\n", "bare LF"),
            (b": y\r\n", "header name is empty")):
        out.append((f"{more!r}", connect(NAME + b":443", more), 400,
                    why(text)))
    for line, text in ((b"connect " + NAME + b":443 HTTP/1.1",
                        "method is not upper case"),
                       (b"CONNECT " + NAME + b":443 HTTP/2.0",
                        "HTTP version is not 1.1"),
                       (b"CONNECT " + NAME + b":443",
                        "request line without a version"),
                       (b"CONNECT  " + NAME + b":443 HTTP/1.1",
                        "target is empty")):
        out.append((f"{line!r}", line + b"\r\nHost: x\r\n\r\n", 400,
                    why(text)))
    return out
